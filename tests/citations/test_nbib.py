"""NBIB: what PubMed saves, readable by Biopython, by the rules of Zotero, and by ourselves."""

import gzip
import io
from dataclasses import replace
from pathlib import Path

import pytest
from Bio import Medline
from hypothesis import given
from hypothesis import strategies as st

from tests.citations.test_any_paper import PAPERS
from tests.examples import often
from utils.citations import format_nbib_record, iterate_nbib_records
from utils.lists.references import read_file_entries
from utils.model.identifiers import Ids
from utils.model.paper import Author, Paper
from utils.readers.pubmed import iterate_records

MOSS = Paper(
    Ids(pmid="7", doi="10.1000/moss", pmcid="PMC9"),
    title="On <i>E. coli</i> &amp; moss",
    abstract="Words that are " + "wrapped " * 40,
    authors=(Author("van der Roe", "Jane A", "JA"), Author(collective="The Moss Group")),
    journal="Journal of tests",
    journal_abbreviation="J Tests",
    issn="1234-5678",
    volume="12",
    issue="3",
    pages="101-12",
    published="2019-05-03",
    languages=("eng",),
    publication_types=("Journal Article",),
    mesh=("*Moss/growth",),
    keywords=("peat",),
)
BARE = replace(MOSS, ids=Ids(doi="10.1000/bare"))
NOBODY = replace(MOSS, ids=Ids(), title="Nobody knows this one")


def read(text: str) -> list[dict[str, object]]:
    return [dict(record) for record in Medline.parse(io.StringIO(text))]


def test_a_record_has_the_tags_of_pubmed() -> None:
    [record] = read(format_nbib_record(MOSS))
    expected = {
        "PMID": "7", "OWN": "NLM", "VI": "12", "IP": "3", "DP": "2019 May 3",
        "TI": "On E. coli & moss.", "PG": "101-12", "LID": "10.1000/moss [doi]",
        "FAU": ["van der Roe, Jane A"], "AU": ["van der Roe JA"], "CN": ["The Moss Group"],
        "TA": "J Tests", "JT": "Journal of tests", "PMC": "PMC9", "OT": ["peat"],
        "MH": ["*Moss/growth"], "PT": ["Journal Article"], "AID": ["10.1000/moss [doi]"],
    }  # fmt: skip
    assert {name: record[name] for name in expected} == expected
    assert str(record["AB"]) == MOSS.abstract.strip()


def test_a_paper_without_pmid_is_a_record_without_that_line() -> None:
    text = format_nbib_record(BARE)
    assert "PMID" not in text
    assert "AID - 10.1000/bare [doi]" in text
    assert text.endswith("\n\n")  # the end of a record, to Zotero and Biopython


def test_our_own_files_come_back_record_by_record() -> None:
    papers = [BARE, MOSS, NOBODY, BARE, replace(MOSS, ids=Ids(arxiv="2001.00001"))]
    entries = list(
        read_file_entries("".join(iterate_nbib_records((one, "") for one in papers)).encode())
    )
    assert [entry.ids for entry in entries] == [one.ids for one in papers]
    said = entries[2].paper
    assert said is not None
    assert (said.title, said.volume, said.pages) == ("Nobody knows this one.", "12", "101-12")
    assert said.authors[0].family == "van der Roe"


def test_a_blank_line_in_front_of_an_owner_begins_no_second_record() -> None:
    text = "PMID- 7\n\nOWN - NLM\nTI  - Moss\n\nPMID- 8\nOWN - NLM\nTI  - Fern\n"
    assert [entry.ids.pmid for entry in read_file_entries(text.encode())] == ["7", "8"]


def test_no_line_is_too_long_and_no_address_is_cut() -> None:
    doi = f"10.1000/{'a-' * 60}z"
    text = format_nbib_record(replace(MOSS, ids=Ids(doi=doi)))
    assert f"AID - {doi} [doi]".split()[2] in text
    assert all(len(line) <= 90 for line in text.splitlines() if doi not in line)


@often(60)
@given(st.lists(PAPERS, min_size=1, max_size=3))
def test_whatever_the_words_every_record_stays_one_record(papers: list[Paper]) -> None:
    text = "".join(iterate_nbib_records((paper, "") for paper in papers))
    assert len(read(text)) == len(papers)


@pytest.mark.shared
def test_records_of_pubmed_come_back(shared: Path) -> None:
    [*files] = sorted((shared / "pubmed" / "bulk").glob("*.xml.gz"))
    body = gzip.decompress(files[0].read_bytes())
    papers = [one for one in iterate_records(body) if isinstance(one, Paper)]
    bare = [replace(one, ids=replace(one.ids, pmid="", pmcid="")) for one in papers]
    for written in (papers, bare):
        entries = list(
            read_file_entries("".join(iterate_nbib_records((one, "") for one in written)).encode())
        )
        assert [entry.ids for entry in entries] == [one.ids for one in written]
