"""Citations against what other programs wrote (``../shared/data/citations``) and real records."""

import gzip
import json
import re

import bibtexparser
import pytest
import rispy

from tests.citations.round_trips import (
    printed,
    read_bibtex,
    read_ris,
    told_by_bibtex,
    told_by_ris,
)
from utils.citations import format_bibtex_entry, format_citations, format_ris_record, to_csl_item
from utils.citations.items import clean_title
from utils.model.identifiers import Ids
from utils.model.paper import Author, Paper
from utils.readers.pubmed import iterate_records

pytestmark = pytest.mark.shared
STYLES = ["apa_string", "mla_string", "plos", "vancouver"]


def published(parts):
    return "-".join(f"{int(part):02}" for part in parts if part)


def from_csl(item):
    people = item.get("author", ())
    return Paper(
        Ids(doi=item.get("DOI", ""), pmid=item.get("PMID", ""), pmcid=item.get("PMCID", "")),
        item.get("title", ""),
        authors=tuple(
            Author(
                name.get("family", ""), name.get("given", ""), collective=name.get("literal", "")
            )
            for name in people
        ),
        journal=item.get("container-title", ""),
        journal_abbreviation=item.get("container-title-short", ""),
        issn=item.get("ISSN", ""),
        volume=item.get("volume", ""),
        issue=item.get("issue", ""),
        pages=item.get("page", ""),
        published=published(item.get("issued", {}).get("date-parts", [[]])[0]),
        abstract=item.get("abstract", ""),
    )


def test_csl_items_of_manubot_come_out_as_they_went_in(shared):
    """All fields that both know; a title loses its last dot, an abstract its tags."""
    compared = 0
    for path in sorted((shared / "citations" / "manubot").rglob("pruned.json")):
        for item in json.loads(path.read_text("utf-8")):
            made = to_csl_item(from_csl(item))
            for field in ("volume", "issue", "page", "container-title", "ISSN", "PMID", "PMCID"):
                if field in item:
                    assert made[field] == item[field]
                    compared += 1
            assert made.get("DOI", "") == item.get("DOI", "").lower()
            assert made.get("title", "") == clean_title(item.get("title", ""))
            assert made.get("author", []) == item.get("author", [])
            if item["issued"]:
                [parts] = item["issued"]["date-parts"]
                assert made["issued"] == {"date-parts": [[int(part) for part in parts]]}
    assert compared > 10


def in_letters(authors):
    """BibTeX's authors as family names with the letters of their initials."""
    names = (re.sub(r"[{}]", "", name).partition(",") for name in re.split(r"\s+and\s+", authors))
    return [(family.strip(), re.sub(r"[^A-Z]", "", given)) for family, _, given in names]


def fields_of(entry):
    [entry] = bibtexparser.parse_string(entry).entries
    return {name.lower(): field.value for name, field in entry.fields_dict.items()}


def from_metapub(known):
    def author(name):
        family, _, rest = name.partition(", ") if "," in name else name.rpartition(" ")
        return Author(family, rest) if "," in name else Author(family, "", rest)

    return Paper(
        Ids(doi=known.get("doi") or "", pmid=known.get("pmid") or ""),
        known["title"],
        authors=tuple(author(name) for name in known.get("authors", ())),
        journal=known.get("journal", ""),
        volume=str(known.get("volume") or ""),
        pages=known.get("book_accession_id") or known.get("pages") or "",
        published=str(known.get("year", "")),
    )


def test_bibtex_of_metapub_says_the_same(shared):
    compared = 0
    for path in sorted((shared / "citations" / "metapub").glob("*bibtex*.json")):
        told = json.loads(path.read_text("utf-8"))
        for case in told["articles"] + told["edge_cases"]:
            entry = case.get("expected_bibtex") or case.get("generated_bibtex")
            if not entry:  # one is about a length only
                continue
            wanted = fields_of(entry)
            known = dict(case.get("input", case))
            known["authors"] = [
                f"{family} {given}" if given.isupper() else f"{family}, {given}"
                for family, given in (
                    re.sub(r"\s+", " ", name).split(", ")
                    for name in wanted.get("author", "").split(" and ")
                    if name
                )
            ]
            made = fields_of(format_bibtex_entry(from_metapub(known)))
            assert printed(made["title"]) == clean_title(wanted["title"])
            assert in_letters(made.get("author", "")) == in_letters(wanted.get("author", ""))
            for field in ("journal", "year", "volume", "doi"):
                if field in wanted and not case.get("is_book"):
                    assert printed(made[field]).lower() == wanted[field].lower()
                    compared += 1
    assert compared > 20


def test_bibtex_of_texmed_says_the_same(shared):
    wanted = fields_of((shared / "citations/sul_pub/pubmed_record_10000166.bib").read_text("utf-8"))
    record = (shared / "pubmed/efetch/sul_pub/pubmed_record_10000166.xml").read_bytes()
    [paper] = iterate_records(b"<PubmedArticleSet>" + record + b"</PubmedArticleSet>")
    made = fields_of(format_bibtex_entry(paper))
    assert in_letters(made["author"]) == in_letters(wanted["author"])
    assert printed(made["title"]) == printed(wanted["title"])
    for field in ("year", "volume", "number", "pages", "pmid"):
        assert made[field] == wanted[field]
    # Not the month: TeXMed took that of the day PubMed entered it.


def records_of(path):
    """The records; rispy wants the blank behind a tag, which editors strip."""
    lines = path.read_text("utf-8-sig").splitlines()
    return rispy.loads("\n".join(f"{line} " if line.endswith("  -") else line for line in lines))


def from_ris(record):
    ends = (record.get("start_page"), record.get("end_page"))
    return Paper(
        Ids(doi=record.get("doi", "")),
        record.get("title") or record.get("primary_title", ""),
        authors=tuple(
            Author(*(part.strip() for part in name.split(",", 1)))
            for name in record.get("authors", record.get("first_authors", ()))
        ),
        journal=record.get("secondary_title", ""),
        volume=record.get("volume", ""),
        issue=record.get("number", ""),
        pages="-".join(filter(None, ends)),
        published=record.get("year", "")[:4],
        abstract=record.get("abstract", ""),
    )


def test_ris_of_reference_managers_says_the_same(shared):
    cited = 0
    for path in sorted((shared / "citations" / "asreview").iterdir()):
        for record in records_of(path):
            paper = from_ris(record)
            [made] = rispy.loads(format_ris_record(paper))
            for field in ("secondary_title", "volume", "number", "start_page", "end_page"):
                assert made.get(field, "") == record.get(field, "")
            assert made.get("title", "") == clean_title(paper.title)
            assert len(made.get("authors", ())) == len(paper.authors)
            [strings] = format_citations([paper], STYLES)
            for text in strings.values():
                assert letters(clean_title(paper.title)) in letters(text)
            cited += bool(paper.title)
    assert cited > 20


def letters(text):
    return re.sub(r"[\W_]", "", text).lower()


def test_recorded_pubmed_records_come_back_whole(shared):
    for path in sorted((shared / "pubmed" / "bulk").glob("*.xml.gz")):
        found = iterate_records(gzip.decompress(path.read_bytes()))
        for paper in [paper for paper in found if isinstance(paper, Paper)][::9]:
            item = to_csl_item(paper)
            assert read_ris(format_ris_record(paper)) == told_by_ris(item), paper.ids
            assert read_bibtex(format_bibtex_entry(paper)) == told_by_bibtex(item), paper.ids


def test_recorded_pubmed_records_are_cited_with_all_that_matters(shared):
    for path in sorted((shared / "pubmed" / "bulk").glob("*.xml.gz")):
        found = iterate_records(gzip.decompress(path.read_bytes()))
        papers = [paper for paper in found if isinstance(paper, Paper)][::40]
        for paper, made in zip(papers, format_citations(papers, STYLES), strict=True):
            for text in made.values():
                assert paper.year in text
                assert paper.volume.replace("-", "–") in text
                assert not re.search(
                    r"\.\.(?!\.)|[?!]\. |  |,,| ,|\( |None", text.replace("...", "")
                ), text
                if paper.authors and paper.authors[0].family:
                    assert paper.authors[0].family.replace("'", "’") in text
