"""Semantic Scholar's three questions: what may be asked, and what comes back."""

import pytest

from tests.world import World
from tests.world.kinship import citing
from tests.world.semantic_scholar import CITATIONS, FAMOUS, KEY, paper_id
from utils import Library
from utils.errors import BadRequest, NotFound
from utils.search.site_search import BULK_SORTS


def test_a_search_tells_counts_and_where_papers_are(library, world):
    page = library.semantic_scholar.search("in", max_results=2)
    [first, second] = page.papers
    assert page.total > 2
    assert page.next_start == 2
    assert first.citation_count is not None
    assert first.url.endswith(first.paper.ids.s2)
    assert len(first.author_ids) == len(first.paper.authors) > 0
    rest = library.semantic_scholar.search("in", start=2)
    assert second.paper.ids not in [found.paper.ids for found in rest.papers]


def test_years_and_fields_narrow_a_search(library, world):
    page = library.semantic_scholar.search(
        "wall", min_date="1990", max_date="2000", fields_of_study=["biology", "Medicine "]
    )
    assert [found.paper.year for found in page.papers] == ["1998"]
    asked = world.requests[0].params
    assert (asked["year"], asked["fieldsOfStudy"]) == ("1990-2000", "Biology,Medicine")
    library.semantic_scholar.search("wall", max_date="2000")
    assert world.requests[1].params["year"] == "-2000"


def test_operators_are_dropped_with_a_word_or_meant_in_bulk(library, world):
    plain = library.semantic_scholar.search('"in" -drift')
    assert "plain words" in plain.warnings[0]
    assert world.requests[0].params["query"] == "in drift"
    bulk = library.semantic_scholar.search('"in" -drift', bulk=True, sort_by="citationCount:desc")
    assert world.requests[1].params["query"] == '"in" -drift'
    counts = [found.citation_count for found in bulk.papers]
    assert counts == sorted(counts, reverse=True)
    assert not any("drift" in found.paper.title for found in bulk.papers)


def test_a_search_in_bulk_goes_on_by_token_and_start(settings, tmp_path):
    with World(crowd=1_050) as world:
        addresses = {name.lower(): value for name, value in world.environment().items()}
        library = Library(**{**settings, **addresses})
        page = library.semantic_scholar.search("crowd", bulk=True, max_results=100, start=900)
        assert (page.total, page.next_start, page.token) == (1_050, 0, "TOKEN1000")
        last = library.semantic_scholar.search(
            "crowd", bulk=True, token=page.token, start=page.next_start, max_results=100
        )
        assert (len(last.papers), last.next_start, last.token) == (50, None, "")
        library.shelf.close()


@pytest.mark.parametrize(
    "options",
    [
        {"query": "   "},
        {"query": "a\x00b"},
        {"query": "a\x1bb"},
        {"query": "x" * 2_001},
        {"query": "-"},
        {"max_results": 0},
        {"max_results": 101},
        {"start": -1},
        {"start": 999},
        {"min_date": "20"},
        {"max_date": "99999"},
        {"min_date": "2021", "max_date": "2020"},
        {"fields_of_study": ["Alchemy"]},
        {"token": "TOKEN1000"},
        {"sort_by": "citationCount:desc"},
        {"bulk": True, "start": 1_000},
        {"bulk": True, "sort_by": "relevance"},
        {"bulk": True, "token": "a\nb\x00"},
    ],
)
def test_what_cannot_be_asked_is_refused_unsent(library, world, options):
    with pytest.raises(BadRequest) as caught:
        library.semantic_scholar.search(**{"query": "coral", **options})
    assert caught.value.message.endswith((".", "…"))
    assert world.requests == []


@pytest.mark.parametrize("sort", BULK_SORTS)
def test_every_order_is_known_there(library, world, sort):
    assert library.semantic_scholar.search("coral", bulk=True, sort_by=sort).papers


def test_one_paper_by_any_name(library, world):
    record = world.paper("arxiv_published")
    for name in (record.doi, f"arXiv:{record.arxiv}", record.pmid, paper_id(record)):
        assert library.semantic_scholar.paper(name).paper.title == record.plain_title
    with pytest.raises(NotFound):
        library.semantic_scholar.paper("10.1234/nobody")
    with pytest.raises(BadRequest, match="identifier"):
        library.semantic_scholar.paper("the one on corals")


def test_who_cites_a_paper(library, world):
    page = library.semantic_scholar.citing_papers(world.paper("sici").doi, max_results=5)
    assert (len(page.papers), page.next_start) == (5, 5)
    assert page.total == len(citing(world.paper("sici"), world)) > 10
    whole = [page]
    while whole[-1].next_start is not None:
        page = library.semantic_scholar.citing_papers(
            world.paper("sici").doi, max_results=5, start=whole[-1].next_start
        )
        whole.append(page)
    ids = [found.paper.ids.s2 for one in whole for found in one.papers]
    assert len(ids) == len(set(ids)) == page.total


def test_the_wall_of_citations_is_told(library, world):
    doi = world.paper(FAMOUS).doi
    page = library.semantic_scholar.citing_papers(doi, max_results=100, start=9_950)
    assert (len(page.papers), page.next_start, page.total) == (49, None, CITATIONS)
    assert f"{CITATIONS - 9_999:,}" in page.warnings[0]
    for options in ({"start": 9_999}, {"start": -1}, {"max_results": 0}, {"max_results": 101}):
        with pytest.raises(BadRequest):
            library.semantic_scholar.citing_papers(doi, **options)


def test_with_a_key_nothing_changes_but_the_pool(settings, world):
    library = Library(**{**settings, "semantic_scholar_api_key": KEY})
    world.mood("crowded", "semantic_scholar")
    assert library.semantic_scholar.search("coral").papers
    library.shelf.close()
