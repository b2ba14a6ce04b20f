"""PMIDs by the hundred, and the first papers in brief."""

import pytest

from utils.errors import BadRequest, Unreachable


def test_pmids_and_the_first_papers_in_brief(library, world):
    found = library.pubmed.search_articles("cells", max_results=8, summaries=3, sort_by="relevance")
    assert [one.pmid for one in found.summaries] == list(found.hits.pmids[:3])
    assert [r.path for r in world.requests] == ["/esearch.fcgi", "/esummary.fcgi"]
    assert world.requests[0].params["usehistory"] == "y"
    assert world.requests[1].params["WebEnv"] == found.hits.web_env


def test_without_summaries_there_is_one_request_and_no_history(library, world):
    found = library.pubmed.search_articles("cells", max_results=1000)
    assert (found.summaries, found.summary_url) == ((), "")
    assert len(world.requests) == 1
    assert library.pubmed.search_articles("zzqqx", summaries=5).hits.total == 0


def test_types_and_dates_are_part_of_what_is_asked(library, world):
    found = library.pubmed.search_articles(
        "coral", publication_types=("Review",), min_date="2020/05"
    )
    assert found.term == '(coral) AND ("Review"[pt]) AND 2020/05:3000[pdat]'
    sent = world.requests[0].params
    assert (sent["mindate"], sent["maxdate"], sent["datetype"]) == ("2020/05", "3000", "pdat")
    assert "email" not in found.search_url
    assert "mindate=2020%2F05" in found.search_url


def test_pmids_are_an_answer_without_summaries_too(library, world):
    world.mood("down", "eutils", path="esummary")
    found = library.pubmed.search_articles("cells", summaries=2)
    assert found.hits.pmids
    assert "No summaries" in found.warnings[-1]


def test_a_search_that_cannot_be_run_is_an_error(library, world):
    world.mood("down", "eutils")
    with pytest.raises(Unreachable):
        library.pubmed.search_articles("cells", summaries=2)


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("ab", {}),
        ("  a  ", {}),
        ("cells", {"summaries": 101}),
        ("cells", {"summaries": -1}),
        ("cells", {"max_results": 1001}),
        ("cells", {"min_date": "last May"}),
        ("cells", {"min_date": "2021", "max_date": "2020"}),
        ("cells", {"date_type": "crdt"}),
        ("((cells", {}),
        ("cel\x00ls", {}),
        ("cells", {"publication_types": ("Review", "")}),
        ("cells", {"publication_types": ('"',)}),
        ("cells", {"publication_types": ("Review",) * 101}),
    ],
)
def test_what_cannot_be_asked_is_refused_without_a_request(library, world, query, options):
    with pytest.raises(BadRequest):
        library.pubmed.search_articles(query, **options)
    assert not world.requests
