"""Names of PDF files: valid on every system, unique, and short enough."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.citations.test_any_paper import PAPERS
from utils.errors import BadRequest
from utils.model.identifiers import Ids
from utils.model.paper import Author, Paper
from utils.packs.names import MAX_NAME_BYTES, UniqueFileNames
from utils.system.safe_files import is_device_name

MOSS = Paper(
    Ids(pmid="7", doi="10.1000/moss"),
    title="Moss: <i>why</i> & how? A 50% answer",
    authors=(Author("Müller"), Author("Roe"), Author("Poe")),
    journal_abbreviation="J Moss",
    published="2019-03",
)


@given(st.lists(PAPERS, max_size=6))
def test_every_name_is_valid_everywhere_and_unlike_the_others(papers):
    names = UniqueFileNames()
    assigned = [names.assign_name(paper) for paper in [*papers, *papers]]
    for name in assigned:
        assert len(name.encode()) <= MAX_NAME_BYTES
        assert name.endswith(".pdf")
        stem = name.removesuffix(".pdf")
        assert stem == stem.strip(" .")
        assert stem
        assert not is_device_name(name)
        assert not set(name) & set('<>:"/\\|?*%#;,&\t\n')
        assert unicodedata.is_normalized("NFC", name)
    folded = {unicodedata.normalize("NFD", name).casefold() for name in assigned}
    assert len(folded) == len(assigned)


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("{author} {year} {title}", "Müller 2019 Moss why how A 50 answer.pdf"),
        ("{authors} - {journal}", "Müller et al - J Moss.pdf"),
        ("{pmid}", "7.pdf"),
        ("{doi}", "10.1000 moss.pdf"),
        ("ref_{pmid}_{pmcid}", "ref_7_.pdf"),
    ],
)
def test_a_pattern_is_filled(pattern, name):
    assert UniqueFileNames(pattern).assign_name(MOSS) == name


@pytest.mark.parametrize("pattern", ["{titel}", "paper", "", "{title", "title}", "{}"])
def test_a_pattern_that_names_nothing_is_refused_with_the_fields(pattern):
    with pytest.raises(BadRequest, match="pattern") as refused:
        UniqueFileNames(pattern)
    assert "{title}" in refused.value.hint


def test_names_that_a_file_system_takes_for_one_are_told_apart():
    names = UniqueFileNames("{title}")
    composed, decomposed = "Größe", unicodedata.normalize("NFD", "GRÖSSE")
    first = names.assign_name(Paper(Ids(), composed))
    second = names.assign_name(Paper(Ids(), decomposed))
    assert (first, second) == ("Größe.pdf", "GRÖSSE 2.pdf")


def test_a_long_title_is_cut_at_a_word_and_a_number_still_has_room():
    names = UniqueFileNames("{title}")
    paper = Paper(Ids(), "Ελληνικά γράμματα " * 30)
    for _ in range(12):
        name = names.assign_name(paper)
        assert len(name.encode()) <= MAX_NAME_BYTES
    assert name.endswith(" 12.pdf")


@pytest.mark.parametrize("title", ["CON", "nul", "", "???", "..."])
def test_a_title_that_is_no_file_name_gets_another(title):
    name = UniqueFileNames("{title}").assign_name(Paper(Ids(pmid="7"), title))
    assert name in {"_CON.pdf", "_nul.pdf", "pmid 7.pdf"}
