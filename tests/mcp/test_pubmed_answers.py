"""Toolset ``pubmed``: the text beside the structure, refusals, and trouble upstream."""

import json

import pytest
from anyio import create_task_group
from fastmcp import Client

from tests.answering import answering
from tests.mcp.calling import answer, call
from utils.mcp import build

pytestmark = pytest.mark.anyio
TOOLSETS = ("pubmed",)


STORMY = ("get_pubmed_paper", {"pmid": "41000001"})
CALLS = {
    "search_pubmed_articles": {"query_term": "cells", "fetch_brief_summaries": 5},
    "fetch_article_details": {"pmids": ["41000001"], "detail_level": "full_xml"},
    "get_article_relationships": {"source_pmid": "41000001", "max_related_results": 50},
    "get_pubmed_paper": {"pmid": "41000001"}, "convert_ids": {"ids": ["41000001"]},
    "match_citations": {"citations": [{"journal": "J", "author": "x"}]},
    "spell_check": {"query": "corall"}, "lookup_mesh": {"term": "neoplasms"},
}  # fmt: skip


@pytest.mark.parametrize("tool", CALLS)
async def test_text_beside_the_structure_is_marked(library, world, tool):
    result = await call(library, tool, CALLS[tool])
    block = result.content[0]
    assert not result.is_error
    assert block.meta == {"untrusted": True}
    assert block.annotations.audience == ["assistant"]
    assert block.annotations.priority


async def test_the_text_alone_tells_what_was_found(library, world):
    record, retracted = world.paper("pmc_cloud"), world.paper("retracted")

    async def text(tool, **arguments):
        return (await call(library, tool, arguments)).content[0].text

    found = await call(library, "search_pubmed_articles", {"query_term": "cells"})
    assert all(pmid in found.content[0].text for pmid in found.structured_content["pmids"])
    names_ = await text("convert_ids", ids=[record.doi])
    assert record.pmid in names_
    assert record.pmcid in names_
    assert "retracted: true" in await text("get_pubmed_paper", pmid=retracted.pmid)
    assert "add the journal" in await text("match_citations", citations=[{"author": "Nobody"}])


@pytest.mark.parametrize("tool", CALLS)
async def test_trouble_is_an_envelope_that_says_where_and_what_next(library, world, tool):
    world.mood("storm", seconds=600)
    result = await call(library, tool, CALLS[tool])
    error = result.meta["error"]
    assert (result.is_error, error["code"]) == (True, "RATE_LIMIT")
    assert "127.0.0.1" in error["message"]
    assert json.loads(result.content[0].text)["error"] == error
    assert result.structured_content is None


BAD = {
    "short query": ("search_pubmed_articles", {"query_term": "ab"}, "query_term"),
    "too many": ("search_pubmed_articles", {"query_term": "abc", "max_results": 1001}, "1000"),
    "brief": ("search_pubmed_articles", {"query_term": "abc", "fetch_brief_summaries": 101}, "100"),
    "sort": ("search_pubmed_articles", {"query_term": "abc", "sort_by": "title"}, "relevance"),
    "date": (
        "search_pubmed_articles",
        {"query_term": "abc", "date_range": {"min_date": "in May"}},
        "YYYY",
    ),
    "date field": (
        "search_pubmed_articles",
        {"query_term": "abc", "date_range": {"colour": "2020"}},
        "colour",
    ),
    "no pmids": ("fetch_article_details", {"pmids": []}, "at least 1 item"),
    "201 pmids": ("fetch_article_details", {"pmids": ["1"] * 201}, "200"),
    "no pmid": ("fetch_article_details", {"pmids": ["PMC5", "x"]}, "PMC5"),
    "a PMCID": ("get_pubmed_paper", {"pmid": "PMC5"}, "convert_ids"),
    "a DOI": ("get_article_relationships", {"source_pmid": "10.1000/a"}, "convert_ids"),
    "no id": ("convert_ids", {"ids": ["nonsense", ""]}, "nonsense"),
    "no type": (
        "search_pubmed_articles",
        {"query_term": "abc", "filter_by_publication_types": ["Review", '" "']},
        "type 2",
    ),
    "flag for a number": ("lookup_mesh", {"term": "a", "max_results": True}, "max_results"),
    "text for a number": (
        "search_pubmed_articles",
        {"query_term": "abc", "max_results": "seven"},
        "max_results",
    ),
    "NUL": ("search_pubmed_articles", {"query_term": "ab\0c"}, "Character 3 of the query"),
    "escape": ("spell_check", {"query": "corall\x1b[2J"}, "Character 7 of the query"),
    "C1": ("lookup_mesh", {"term": "neo\x9bplasms"}, "Character 4 of the term"),
    "delete": (
        "match_citations",
        {"citations": [{"journal": "J"}, {"journal": "J", "author": "a\x7f"}]},
        "author of citation 2",
    ),
    "long field": ("match_citations", {"citations": [{"journal": "x" * 501}]}, "500"),
    "odd type": (
        "search_pubmed_articles",
        {"query_term": "abc", "filter_by_publication_types": ["Rev\x00iew"]},
        "publication type 1",
    ),
    "level": ("fetch_article_details", {"pmids": ["1"], "detail_level": "all"}, "medline_text"),
    "kind": ("get_article_relationships", {"source_pmid": "1", "relationship_type": "x"}, "cited"),
    "51": ("get_article_relationships", {"source_pmid": "1", "max_related_results": 51}, "50"),
    "style": ("get_article_relationships", {"source_pmid": "1", "citation_styles": ["x"]}, "ris"),
    "no style": ("get_article_relationships", {"source_pmid": "1", "citation_styles": []}, "1"),
    "paper": ("get_pubmed_paper", {"pmid": "abc"}, "abc"),
    "nothing": ("get_pubmed_paper", {}, "pmid"),
    "bibtex": ("pubmed_to_bibtex", {"pmid": ""}, "PMID"),
    "201 ids": ("convert_ids", {"ids": ["1"] * 201}, "200"),
    "51 citations": ("match_citations", {"citations": [{"journal": "x"}] * 51}, "50"),
    "empty citation": ("match_citations", {"citations": [{"key": "a"}]}, "is empty"),
    "unknown field": ("match_citations", {"citations": [{"title": "a"}]}, "title"),
    "empty word": ("spell_check", {"query": " "}, "empty"),
    "21 terms": ("lookup_mesh", {"term": "a", "max_results": 21}, "20"),
    "unknown argument": ("lookup_mesh", {"term": "a", "colour": 3}, "colour"),
}  # fmt: skip


@pytest.mark.parametrize(("tool", "arguments", "said"), BAD.values(), ids=BAD.keys())
async def test_every_limit_is_told_in_words_without_a_request(
    library, world, tool, arguments, said
):
    result = await call(library, tool, arguments)
    error = result.meta["error"]
    assert (result.is_error, error["code"]) == (True, "VALIDATION")
    assert said in error["message"] + "".join(error["suggestions"])
    assert error["suggestions"]
    assert not world.requests


async def test_a_long_question_is_not_echoed_at_length(library, world):
    words = "coral" * 3900
    result = await call(library, "search_pubmed_articles", {"query_term": words})
    found = result.structured_content
    asked = (found["search_parameters"]["query_term"], found["effective_search_term"])
    for text in (*asked, found["e_search_url"]):
        assert len(text) < 2100
        assert "cut:" in text
    assert len(found["warnings"]) <= 21
    assert len(json.dumps(result.structured_content)) + len(result.content[0].text) < 30_000
    spelled = await answer(library, "spell_check", query=words)
    assert len(spelled["query"]) < 2100


async def test_warnings_are_counted_where_they_are_too_many(library, world, monkeypatch):
    lost = {"phrasesnotfound": [f"word{number}" * 200 for number in range(50)]}
    reply = {"count": "0", "idlist": [], "querytranslation": "", "errorlist": lost}
    answering(monkeypatch, {"esearchresult": reply})
    warnings = (await answer(library, "search_pubmed_articles", query_term="abc"))["warnings"]
    assert len(warnings) == 21
    assert warnings[-1] == "… and 31 more"
    assert all(len(one) < 550 for one in warnings)


async def test_some_could_be_asked_and_others_not(library, world):
    pmid = world.paper("pmc_cloud").pmid
    world.mood("storm", "europepmc", seconds=600)
    found = await answer(library, "convert_ids", ids=[pmid, "39999999", "PMC"])
    assert [one["status"] for one in found["records"]] == ["found", "failed", "invalid"]


async def test_equal_calls_in_a_storm_are_all_told_of_the_limit(library, world):
    world.mood("storm", seconds=600)
    async with Client(build(library)) as client, create_task_group() as group:
        codes = []

        async def one():
            result = await client.call_tool(*STORMY, raise_on_error=False)
            codes.append(result.meta["error"]["code"])

        for _ in range(3):
            group.start_soon(one)
    assert codes == ["RATE_LIMIT"] * 3


async def test_a_paper_that_is_not_there_is_not_found(library, world):
    for tool in ("get_pubmed_paper", "pubmed_to_bibtex"):
        error = (await call(library, tool, {"pmid": "39999999"})).meta["error"]
        assert error["code"] == "NOT_FOUND"
