"""arXiv for whoever asks: filters, versions, and clear refusals."""

import pytest

from utils.errors import BadRequest, NotFound, Unreachable


def test_a_search_with_every_filter(library, world):
    found = library.arxiv.search(
        "testing",
        author="Ida Moravcová",
        category="q-bio.QM, hep-ex",
        min_date="2010",
        max_date="2020",
        sort_by="submittedDate",
        sort_order="ascending",
        max_results=3,
    )
    days = [paper.published for paper in found.papers]
    assert len(days) == 3
    assert days == sorted(days)
    assert days[0] >= "2010"
    assert found.total > 3
    assert found.next_start == 3
    assert found.effective_query == (
        'all:testing AND au:"Ida Moravcová" AND (cat:q-bio.QM OR cat:hep-ex) AND '
        "submittedDate:[201001010000 TO 202012312359]"
    )
    [request] = world.requests
    assert request.params["search_query"] == found.effective_query
    assert (request.params["sortBy"], request.params["sortOrder"]) == ("submittedDate", "ascending")


def test_a_filter_alone_is_a_question(library):
    found = library.arxiv.search("", category="q-bio")
    assert found.total
    assert all(any(c.startswith("q-bio.") for c in paper.categories) for paper in found.papers)


@pytest.mark.parametrize(
    "options",
    [
        {"max_results": 101},
        {"max_results": 0},
        {"start": -1},
        {"sort_by": "pub_date"},
        {"sort_order": "up"},
        {"category": "cs.ZZ"},
        {"min_date": "2025", "max_date": "2024"},
        {"min_date": "20225"},
        {"min_date": "-5"},
        {"max_date": "1980"},
    ],
)
def test_what_cannot_be_asked_is_not_sent(library, world, options):
    with pytest.raises(BadRequest) as refusal:
        library.arxiv.search("moss", **options)
    assert refusal.value.message
    assert not world.requests


def test_an_empty_question_is_refused(library):
    with pytest.raises(BadRequest, match="no word"):
        library.arxiv.search("  ")


def test_many_hits_come_with_a_word_about_the_wall(library, monkeypatch):
    monkeypatch.setattr("utils.sources.arxiv.LAST_RELIABLE_HIT", 20)
    monkeypatch.setattr("utils.sources.arxiv.LAST_HIT", 40)
    first = library.arxiv.search("testing", max_results=20)
    assert "narrow the search by years" in first.warnings[0]
    assert first.next_start == 20
    last = library.arxiv.search("testing", max_results=20, start=20)
    assert last.next_start is None
    assert "first 40 hits only" in last.warnings[0]


def test_offline_is_said(settings):
    from utils import Library

    library = Library(**settings, papers_offline=True)
    with pytest.raises(Unreachable, match="offline"):
        library.arxiv.search("moss")


@pytest.mark.parametrize(
    ("spelling", "version"),
    [
        ("2601.00001", "2"),
        ("2601.00001v1", "1"),
        ("arXiv:2601.00001v1 [q-bio.PE]", "1"),
        ("https://arxiv.org/abs/2601.00001v1", "1"),
        ("https://arxiv.org/abs/2601.00001v1?context=q-bio#comments", "1"),
        ("https://export.arxiv.org/pdf/2601.00001v2.pdf", "2"),
        ("http://arxiv.org/html/2601.00001", "2"),
        ("10.48550/arXiv.2601.00001", "2"),
        ("10.48550/arxiv.2601.00001v1", "1"),
        ("https://doi.org/10.48550/arXiv.2601.00001", "2"),
    ],
)
def test_a_paper_by_every_spelling_in_its_version(library, spelling, version):
    paper = library.arxiv.paper(spelling)
    assert (paper.ids.arxiv, paper.version) == ("2601.00001", version)


@pytest.mark.parametrize("spelling", ["hep-ex/0307015", "arXiv:hep-ex/0307015v1", "HEP-EX/0307015"])
def test_an_old_identifier(library, spelling):
    assert library.arxiv.paper(spelling).ids.arxiv == "hep-ex/0307015"


def test_an_unknown_paper_is_not_found_and_says_where_to_look(library):
    with pytest.raises(NotFound) as unknown:
        library.arxiv.paper("2601.99999")
    assert "search_arxiv" in unknown.value.hint
    with pytest.raises(NotFound) as too_new:
        library.arxiv.paper("2601.00001v9")
    assert "Leave v9 out" in too_new.value.hint


def test_down_is_not_unknown(library, world):
    world.mood("down", "arxiv")
    with pytest.raises(Unreachable):
        library.arxiv.paper("2601.00001")


@pytest.mark.parametrize("spelling", ["31452104", "10.1038/s41586-020-2649-2", "nonsense", ""])
def test_another_identifier_is_refused(library, world, spelling):
    with pytest.raises(BadRequest):
        library.arxiv.paper(spelling)
    assert not world.requests
