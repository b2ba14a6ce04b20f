"""PubMed's XML as NLM really sends it: three thousand oddities, ninety efetch answers, books."""

import ast
import csv
import gzip
import html
import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from utils.errors import BadContent
from utils.model.paper import Paper
from utils.readers.pubmed import iterate_records

pytestmark = pytest.mark.shared
SHARED = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "pubmed"


def papers_in(source: bytes) -> list[Paper]:
    papers = list(iterate_records(source))
    assert all(isinstance(paper, Paper) for paper in papers)
    return papers  # type: ignore[return-value]


@pytest.fixture(scope="module")
def sources() -> list[str]:
    return [
        gzip.decompress(path.read_bytes()).decode()
        for path in sorted((SHARED / "bulk").glob("*.xml.gz"))
    ]


@pytest.fixture(scope="module")
def bulk(sources: list[str]) -> dict[str, Paper]:
    return {paper.ids.pmid: paper for text in sources for paper in papers_in(text.encode())}


@pytest.fixture(scope="module")
def labels() -> list[dict[str, Any]]:
    lines = (SHARED / "bulk_index.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def features(paper: Paper) -> dict[str, bool]:
    """What the index calls a record's features, as we read them."""
    kinds = {notice.kind for notice in paper.notices}
    return {
        "noabs": not paper.abstract, "vern": bool(paper.vernacular_title), "mesh": bool(paper.mesh),
        "kw": bool(paper.keywords), "transtitle": paper.title.startswith("["),
        "oneauth": len(paper.authors) == 1, "noauth": not paper.authors,
        "Collective": any(author.collective for author in paper.authors),
        "orcid": any(author.orcid for author in paper.authors), "nopagin": not paper.pages,
        "otherabs": bool(paper.other_abstracts), "pmc": bool(paper.ids.pmcid),
        "cc:RetractionIn": "retraction" in kinds, "cc:ErratumIn": "erratum" in kinds,
        "cc:CommentIn": "comment" in kinds, "cc:UpdateIn": "update" in kinds,
        "cc:ExpressionOfConcernIn": "expression_of_concern" in kinds,
    }  # fmt: skip


def test_the_bulk_files_are_read_whole_and_in_order(
    bulk: dict[str, Paper], labels: list[dict[str, Any]]
) -> None:
    assert list(bulk) == [row["pmid"] for row in labels]
    assert len(bulk) == 3073


def test_own_identifiers_are_those_of_the_index(
    bulk: dict[str, Paper], labels: list[dict[str, Any]]
) -> None:
    for row in labels:
        ids = bulk[row["pmid"]].ids
        assert (ids.doi, ids.pmcid) == ((row["doi"] or "").lower(), row["pmcid"] or "")


def test_every_label_of_the_bulk_records_is_met(
    bulk: dict[str, Paper], labels: list[dict[str, Any]]
) -> None:
    wrong = []
    for row in labels:
        paper, known = bulk[row["pmid"]], set(row["features"])
        told = features(paper)
        told |= {f"pt:{kind}": True for kind in paper.publication_types}
        wrong += [(row["pmid"], name) for name, is_so in told.items() if is_so != (name in known)]
        said = {name for name in told if name.startswith("pt:")}
        said |= {f"lang:{language}" for language in paper.languages}
        listed = {name for name in known if name.startswith(("lang:", "pt:"))}
        wrong += [(row["pmid"], name) for name in listed - said]
        # A label for suffixes counts the blank ones, one for structure the single paragraphs.
        if any(author.suffix for author in paper.authors) and "suffix" not in known:
            wrong.append((row["pmid"], "suffix"))
        if "MedlineDate" in known and not paper.published:
            wrong.append((row["pmid"], "MedlineDate"))
    assert wrong == []


def test_bulk_records_are_filled(bulk: dict[str, Paper]) -> None:
    for paper in bulk.values():
        assert re.fullmatch(r"\d{4}(-\d\d){0,2}", paper.published)
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", paper.entered)
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", paper.revised)
        assert paper.journal
        assert paper.journal_abbreviation
        assert paper.languages
    # One erratum of 2021 really has no title at all.
    assert [pmid for pmid, paper in bulk.items() if not paper.title] == ["33977567"]


def letters(text: str) -> str:
    plain = unicodedata.normalize("NFKD", html.unescape(text))
    return "".join(char for char in plain.casefold() if char.isalnum())


def untagged(text: str) -> str:
    return letters(re.sub(r"<[^>]*>", "", text))


def raw_records(sources: list[str]) -> Iterator[tuple[str, str]]:
    """PMID and source of each record, cut out by pattern: a second opinion that is no parser."""
    for text in sources:
        for found in re.findall(r"<PubmedArticle>(.*?)</PubmedArticle>", text, re.S):
            pmid = re.search(r"<PMID[^>]*>(\d+)", found)
            assert pmid
            yield pmid[1], re.sub(r"<OtherAbstract.*?</OtherAbstract>", "", found, flags=re.S)


def raw_abstract(source: str) -> str:
    """Labels and texts of all paragraphs, letters only."""
    whole = ""
    for attributes, text in re.findall(
        r"<AbstractText((?:[^>]*[^>/])?)>(.*?)</AbstractText>", source, re.S
    ):
        label = re.search(r' Label="([^"]*)"', attributes)
        title = letters(label[1]) if label else ""
        repeated = label and html.unescape(text).upper().startswith(f"{label[1].upper()}:")
        whole += ("" if repeated or title == "unlabelled" else title) + untagged(text)
    return whole


def test_no_letter_of_a_title_or_abstract_is_lost(
    bulk: dict[str, Paper], sources: list[str]
) -> None:
    titles = abstracts = 0
    for pmid, source in raw_records(sources):
        title = re.search(r"<ArticleTitle>(.*?)</ArticleTitle>", source, re.S)
        if title:
            assert letters(bulk[pmid].title) == untagged(title[1])
            titles += 1
        abstract = raw_abstract(source)
        assert letters(bulk[pmid].abstract) == abstract
        abstracts += bool(abstract)
    assert (titles, abstracts) == (3063, 1760)  # ten records have an empty title


def test_every_real_efetch_answer_is_read() -> None:
    papers, refused = [], []
    for path in sorted(path for path in (SHARED / "efetch").rglob("*") if path.is_file()):
        body = path.read_bytes()
        try:
            found = papers_in(body)
        except BadContent:
            refused.append(body[:1])
            continue
        assert len(found) == len(re.findall(rb"<Pubmed(?:Book)?Article>", body))
        papers += found
    assert refused == [b"{", b"{"]  # two esearch answers that lie among them
    assert len(papers) == 101
    for paper in papers:
        assert paper.ids.pmid
        assert paper.title
        assert paper.published


def test_real_books_are_read() -> None:
    known = {
        "agr_literature_service/21413221": ("C. elegans II", "C. elegans II", "NBK19997", "1997"),
        "agr_literature_service/33054145": (
            "FAQ: If the Yeast Ain’t Happy, Ain’t Nobody Happy: The Microbiology of Beer",
            "FAQ: If the Yeast Ain’t Happy, Ain’t Nobody Happy: The Microbiology of Beer",
            "NBK562899",
            "2012",
        ),
        "hawc/2b5800dd": (
            "Single Large-Scale Mitochondrial DNA Deletion Syndromes",
            "GeneReviews®",
            "NBK1203",
            "1993",
        ),
    }
    for name, told in known.items():
        (book,) = papers_in((SHARED / "efetch" / f"{name}.xml").read_bytes())
        assert (book.title, book.journal, book.pages, book.published) == told
        assert book.abstract


def test_the_published_table_of_pubmedpy_agrees() -> None:
    table = SHARED.parent / "gold" / "pubmed_tables" / "pubmedpy_efetch.tsv"
    body = (SHARED / "efetch" / "pubmedpy" / "efetch.xml").read_bytes()
    papers = {paper.ids.pmid: paper for paper in papers_in(body)}
    with table.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    assert len(rows) == len(papers)
    for row in rows:
        paper = papers[row["pmid"]]
        assert (paper.ids.doi, paper.ids.pmcid) == (row["doi"], row["pmcid"])
        assert (paper.title, paper.journal_abbreviation) == (row["title"], row["journal"])
        ours = [(author.given, author.family, author.affiliations) for author in paper.authors]
        assert ours == [
            (author.get("fore_name", ""), author["last_name"], tuple(author["affiliations"]))
            for author in ast.literal_eval(row["authors"])
        ]
        # Theirs is the electronic date wherever there is one; PubMed cites the issue's.
        theirs = row["publication_date"]
        assert theirs.startswith(paper.published) or paper.published > theirs
