"""The text of an open article, stretch by stretch."""

import pytest

from tests.answering import answering
from utils.errors import BadRequest, NotAvailable, Unreachable


@pytest.fixture
def pmcid(world):
    return world.paper("pmc_cloud").pmcid


def test_a_whole_article_by_stretches_is_all_of_it(library, world, pmcid):
    whole = library.pubmed.article_text(pmcid, max_chars=50_000)
    assert whole.next_start is None
    assert whole.total_chars == len(whole.text) > 5000
    parts, start = [], 0
    while start is not None:
        stretch = library.pubmed.article_text(pmcid, start=start, max_chars=900)
        assert 0 < len(stretch.text) <= 900
        parts.append(stretch.text)
        start = stretch.next_start
    assert "".join(parts) == whole.text
    assert len(world.requests) == 1


def test_it_says_what_there_is_and_whose_it_is(library, world, pmcid):
    record = world.paper("pmc_cloud")
    read = library.pubmed.article_text(record.pmid, max_chars=200)
    assert (read.ids.pmcid, read.license) == (pmcid, "CC BY")
    assert dict(read.sections).keys() >= {"TITLE", "ABSTRACT", "INTRO", "METHODS", "REF"}
    assert read.text.startswith(f"# {record.plain_title}\n\n## Background\n\n")


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("METHODS", "METHODS"),
        ("materials and methods", "METHODS"),
        ("method", "METHODS"),
        ("Introduction", "INTRO"),
        ("discussion", "DISCUSS"),
        ("conclusions", "CONCL"),
        ("references", "REF"),
        (" figures ", "FIG"),
    ],
)
def test_sections_in_bioc_s_words_and_in_the_usual_ones(library, pmcid, asked, meant):
    read = library.pubmed.article_text(pmcid, section=asked, max_chars=50_000)
    assert read.section == meant
    assert read.total_chars == dict(read.sections)[meant] == len(read.text)


def test_an_unknown_section_names_the_known_ones(library, pmcid):
    with pytest.raises(BadRequest, match="ABSTRACT, INTRO") as refused:
        library.pubmed.article_text(pmcid, section="nonsense")
    assert "'nonsense'" in refused.value.message


@pytest.mark.parametrize("branch", ["efetch_only", "embargoed"])
def test_what_bioc_does_not_have_is_not_offered(library, world, branch):
    with pytest.raises(NotAvailable) as missing:
        library.pubmed.article_text(world.paper(branch).pmcid)
    assert "download" in missing.value.hint


@pytest.mark.parametrize(
    ("paper", "options"),
    [
        ("10.1234/x", {}),
        ("arXiv:2601.00001", {}),
        ("nothing", {}),
        ("", {}),
        ("PMC1", {"start": -1}),
        ("PMC1", {"max_chars": 0}),
        ("PMC1", {"max_chars": 50_001}),
    ],
)
def test_what_cannot_be_asked_is_refused_without_a_request(library, world, paper, options):
    with pytest.raises(BadRequest) as refused:
        library.pubmed.article_text(paper, **options)
    assert refused.value.hint
    assert not world.requests


def test_a_doi_is_sent_to_the_converter(library):
    with pytest.raises(BadRequest, match="convert_ids"):
        library.pubmed.article_text("10.1234/x")


def test_down_is_not_missing(library, world, pmcid):
    world.mood("down", "bioc")
    with pytest.raises(Unreachable):
        library.pubmed.article_text(pmcid)


def test_sections_torn_apart_are_put_together(library, monkeypatch):
    rows = [("RESULTS", "title_2", "A"), ("TABLE", "table", "1\t2"), ("RESULTS", "paragraph", "b")]
    passages = [{"infons": {"section_type": s, "type": k}, "text": t} for s, k, t in rows]
    answering(monkeypatch, [{"documents": [{"id": "PMC7", "passages": passages}]}])
    read = library.pubmed.article_text("PMC7")
    assert read.text == "### A\n\nb\n\n1\t2"
    assert read.sections == (("RESULTS", 8), ("TABLE", 3))
