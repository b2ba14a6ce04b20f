"""Whatever a record says, every format comes out as text that can be read, kept and parsed."""

import re
import sys

import bibtexparser
import pytest
import rispy
from hypothesis import given
from hypothesis import strategies as st

from tests.citations.round_trips import read_bibtex, read_ris, told_by_bibtex, told_by_ris
from tests.examples import often
from tests.readers.strategies import SPECIAL
from utils.citations import format_bibtex_entry, format_citations, format_ris_record, to_csl_item
from utils.errors import BadRequest
from utils.model.identifiers import Ids
from utils.model.paper import Author, Notice, Paper

FORMATS = ("ris", "bibtex", "apa_string", "mla_string", "plos", "vancouver", "csl_json")
NASTY = (
    *("", ".", "-", "?.", "“", "”.", "TY  - JOUR", "}", "@article{", "<i>",
        '<span class="nocase">'),
    *("van", "JR", "小明", "Jun-ichi (Bob)", "\ue010", "\ud800", "1-2", "12-9", "NBK1", "e1",
        "a b-c"),
)  # fmt: skip
TEXT = st.lists(st.sampled_from((*SPECIAL, *NASTY)) | st.text(max_size=6), max_size=4).map("".join)
AUTHORS = st.builds(Author, TEXT, TEXT, TEXT, TEXT, st.just("") | TEXT)
IDS = st.builds(Ids, doi=TEXT, pmid=TEXT, pmcid=TEXT, arxiv=TEXT)
PAPERS = st.builds(
    Paper,
    ids=IDS,
    title=TEXT,
    abstract=TEXT,
    authors=st.lists(AUTHORS, max_size=8).map(tuple),
    journal=TEXT,
    journal_abbreviation=TEXT,
    issn=TEXT,
    volume=TEXT,
    issue=TEXT,
    pages=TEXT,
    published=TEXT | st.from_regex(r"[0-9]{4}(-[0-9]{2}){0,2}", fullmatch=True),
    languages=st.lists(st.sampled_from(["eng", "fre", "", "x\n"]), max_size=1).map(tuple),
    vernacular_title=TEXT,
    publication_types=st.lists(
        st.sampled_from(["Preprint", "Dataset", "Academic Dissertation", "Newspaper Article"]),
        max_size=1,
    ).map(tuple),
    keywords=st.lists(TEXT, max_size=2).map(tuple),
    notices=st.lists(st.builds(Notice, st.just("retraction"), TEXT, TEXT), max_size=1).map(tuple),
)
UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\ud800-\udfff\ue010-\ue014]")


@pytest.mark.slow
@often(60)
@given(st.lists(PAPERS, min_size=1, max_size=2))
def test_every_format_of_any_paper_is_readable(papers):
    for paper, made in zip(papers, format_citations(papers, FORMATS), strict=True):
        for style in FORMATS[2:-1]:
            assert not UNFIT.search(made[style]), (paper, made[style])
            assert made[style] == made[style].strip()
        [record] = rispy.loads(made["ris"])
        assert record["type_of_reference"]
        library = bibtexparser.parse_string(made["bibtex"])
        assert not library.failed_blocks
        assert len(library.entries) == 1
        assert made["csl_json"]["id"] == library.entries[0].key


WORDS = st.builds(
    Paper,
    ids=st.just(Ids(doi="10.1000/a", pmid="1", pmcid="PMC1")),
    title=TEXT,
    abstract=TEXT,
    journal=TEXT,
    journal_abbreviation=TEXT,
    volume=TEXT,
    issue=TEXT,
    vernacular_title=TEXT,
    keywords=st.lists(TEXT, max_size=3).map(tuple),
)


@often(60)
@given(WORDS)
def test_whatever_the_words_they_come_back(paper):
    item = to_csl_item(paper)
    assert read_bibtex(format_bibtex_entry(paper)) == told_by_bibtex(item)
    assert read_ris(format_ris_record(paper)) == told_by_ris(item)


@pytest.mark.slow
def test_a_long_list_costs_as_much_as_its_papers():
    def calls(count):
        counted = 0

        def count_call(*_):
            nonlocal counted
            counted += 1

        papers = [
            Paper(Ids(), f"Title {at}", authors=(Author("Doe", "Jane"),)) for at in range(count)
        ]
        sys.setprofile(count_call)
        try:
            format_citations(papers, FORMATS)
        finally:
            sys.setprofile(None)
        return counted

    calls(5)  # reads the styles
    few, many = calls(20), calls(80)
    assert many < 4.5 * few  # the square would be sixteen times as many


def test_an_unknown_format_is_refused_by_name():
    with pytest.raises(BadRequest, match="chicago") as refusal:
        format_citations([Paper(Ids())], ["chicago"])
    assert "vancouver" in refusal.value.hint


def test_no_papers_have_no_citations():
    assert format_citations([], FORMATS) == []
