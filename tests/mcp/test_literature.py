"""Toolset ``literature`` as a host meets it, over the protocol."""

import json
from dataclasses import replace

import bibtexparser
import pytest
from fastmcp import Client

from tests.mcp.calling import answer, call
from tests.world.arxiv_papers import everything
from tests.world.semantic_scholar import paper_id
from utils import Library
from utils.mcp import build
from utils.model.paper import format_timestamp

pytestmark = pytest.mark.anyio
TOOLSETS = ("core", "literature")
# Of the document, in snake_case.
PREPRINT = {
    *("id", "title", "authors", "abstract", "published", "updated", "url", "pdf_url"),
    *("categories", "primary_category"),
}
SCHOLAR = {
    *("paper_id", "title", "abstract", "year", "authors", "citation_count", "reference_count"),
    *("influential_citation_count", "url", "venue", "publication_date"),
}
ARXIV_ID = "2511.04014"


async def test_all_toolsets_together_stay_below_twelve_thousand_tokens():
    async with Client(build(Library(mcp_toolsets=("all",)))) as client:
        listed = await client.list_tools()
    wire = [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in listed]
    assert len(json.dumps(wire, separators=(",", ":"), ensure_ascii=False)) / 4 < 12_000


@pytest.mark.story
async def test_a_preprint_has_the_fields_of_the_document(library):
    found = await answer(library, "search_arxiv", query="nucleation lag", max_results=3)
    assert found["papers"][0].keys() >= PREPRINT
    one = await answer(library, "get_arxiv_paper", arxiv_id=f"arXiv:{ARXIV_ID}v1")
    assert one["id"] == f"{ARXIV_ID}v1"
    assert one["pdf_url"].endswith(f"/pdf/{ARXIV_ID}v1")
    assert one["primary_category"] in one["categories"]


async def test_arxiv_is_searched_by_author_years_and_category(library, world):
    found = await answer(
        library,
        "search_arxiv",
        query="nucleation",
        author="Haddad",
        start_year=2025,
        end_year=2026,
        category="q-bio.QM",
        sort_by="submittedDate",
    )
    assert [paper["id"].partition("v")[0] for paper in found["papers"]] == [ARXIV_ID]
    [asked] = [one.params for one in world.requests if one.service == "arxiv"]
    assert asked["sortBy"] == "submittedDate"
    assert "submittedDate:[2025" in asked["search_query"]


async def test_bibtex_names_the_preprint_for_latex(library):
    made = await answer(library, "arxiv_to_bibtex", arxiv_id=ARXIV_ID)
    [entry] = bibtexparser.parse_string(made["bibtex"]).entries
    fields = {name: field.value for name, field in entry.fields_dict.items()}
    assert (fields["eprint"], fields["archivePrefix"]) == (ARXIV_ID, "arXiv")
    assert fields["primaryClass"]


@pytest.mark.parametrize("version", ["1", "2"])
@pytest.mark.parametrize(
    "spelling", ["{}", "arXiv:{}", "https://arxiv.org/abs/{}", "https://doi.org/10.48550/arXiv.{}"]
)
async def test_bibtex_keeps_the_version_that_was_asked_for(library, world, version, spelling):
    twice = [paper for paper in everything(world) if len(paper.versions) > 1]
    assert any(paper.doi for paper in twice)  # printed since: its own address is not the article's
    for preprint in twice[:4]:
        named = f"{preprint.record.arxiv}v{version}"
        made = await answer(library, "arxiv_to_bibtex", arxiv_id=spelling.format(named))
        [entry] = bibtexparser.parse_string(made["bibtex"]).entries
        fields = {name: field.value for name, field in entry.fields_dict.items()}
        assert fields["eprint"] == named
        assert fields["url"] == f"https://arxiv.org/abs/{named}"


async def test_a_scholars_record_has_the_fields_of_the_document(library, world):
    record = world.paper("pmc_cloud")
    one = await answer(library, "get_semantic_scholar_paper", identifier=f"DOI:{record.doi}")
    assert one.keys() >= SCHOLAR
    assert one["paper_id"] == paper_id(record)
    assert one["pmid"] == record.pmid
    assert {"author_id", "name"} == set(one["authors"][0])
    found = await answer(library, "search_semantic_scholar", query=record.plain_title)
    assert {**found["papers"][0], "tldr": one["tldr"]} == one


async def test_a_search_in_bulk_takes_operators(library, world):
    options = {"query": '"in" -drift', "bulk": True, "max_results": 2}
    page = await answer(library, "search_semantic_scholar", **options)
    assert world.requests[-1].params["query"] == '"in" -drift'
    start, token = page["next_start"], page["token"]
    more = await answer(library, "search_semantic_scholar", **options, start=start, token=token)
    assert page["papers"] != more["papers"]


async def test_citing_papers_come_by_the_page(library, world):
    record = world.paper("pmc_cloud")
    page = await answer(library, "get_paper_citations", paper_id=record.pmid, max_results=1)
    assert page["total"] > 1
    more = await answer(
        library, "get_paper_citations", paper_id=record.pmid, start=page["next_start"]
    )
    assert page["papers"][0]["paper_id"] not in [one["paper_id"] for one in more["papers"]]


async def test_semantic_scholars_bibtex_parses(library, world):
    record = world.paper("pmc_cloud")
    made = await answer(library, "semantic_scholar_to_bibtex", identifier=record.doi)
    [entry] = bibtexparser.parse_string(made["bibtex"]).entries
    assert entry.fields_dict["doi"].value == record.doi


async def test_one_search_says_how_each_source_did_and_why_records_are_one(library):
    found = await answer(library, "search_papers", query="CXCL12 CXCR4", max_results=5)
    assert {one["source"] for one in found["sources"]} == {
        *("pubmed", "europepmc", "arxiv", "semantic_scholar")
    }
    first = found["papers"][0]
    assert first["sources"]
    assert all(one["reason"] for one in first["same"])
    assert first["same"][0]["confidence"] == 1
    assert not any(paper["abstract"] for paper in found["papers"])


async def test_a_source_that_is_down_is_named_never_an_empty_list(library, world):
    world.mood("down", "arxiv")
    found = await answer(library, "search_papers", query="nucleation", sources=["arxiv", "pubmed"])
    outcomes = {one["source"]: one["outcome"] for one in found["sources"]}
    assert outcomes["pubmed"] == "answered"
    assert outcomes["arxiv"] in {"unreachable", "busy"}
    alone = await call(library, "search_papers", {"query": "nucleation", "sources": ["arxiv"]})
    assert alone.is_error
    refused = await call(library, "search_arxiv", {"query": "nucleation"})
    assert refused.meta["error"]["code"] in {"UPSTREAM", "RATE_LIMIT"}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search_arxiv", {"query": " "}),
        ("search_arxiv", {"query": "a", "max_results": 101}),
        ("search_arxiv", {"query": "a", "start_year": 2026, "end_year": 2020}),
        ("search_arxiv", {"query": "a", "category": "no.such"}),
        ("get_arxiv_paper", {"arxiv_id": "41000001"}),
        ("search_semantic_scholar", {"query": "a", "fields_of_study": ["Alchemy"]}),
        ("search_semantic_scholar", {"query": "a\u0000b"}),
        ("get_paper_citations", {"paper_id": ""}),
        ("search_papers", {"query": "a", "sources": ["google"]}),
    ],
)
async def test_what_cannot_be_asked_is_refused_without_a_request(library, world, tool, arguments):
    error = (await call(library, tool, arguments)).meta["error"]
    assert error["code"] == "VALIDATION"
    assert error["suggestions"]
    assert not world.requests


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_arxiv_paper", {"arxiv_id": "1912.99999"}),
        ("get_semantic_scholar_paper", {"identifier": "10.9999/none"}),
    ],
)
async def test_what_nobody_knows_is_not_found(library, tool, arguments):
    assert (await call(library, tool, arguments)).meta["error"]["code"] == "NOT_FOUND"


@pytest.mark.parametrize("style", ["bibtex", "ris", "vancouver", "csl-json", "nbib"])
async def test_the_version_that_was_asked_for_is_cited_in_every_style(library, style):
    asked = {"papers": [f"arXiv:{ARXIV_ID}v1", f"arXiv:{ARXIV_ID}", f"arXiv:{ARXIV_ID}v99"]}
    found = await call(library, "cite_papers", {**asked, "style": style})
    of_version, newest, none = found.structured_content["references"]
    assert f"{ARXIV_ID}v1" in of_version["reference"]
    assert f"{ARXIV_ID}v" not in newest["reference"]
    assert "v99" in none["why"]


async def test_a_watch_reports_its_news_once(library, world, clock):
    first = await answer(library, "watch_literature", watch="consolidation")
    assert first["watches"] == [{"name": "consolidation", "kind": "query"}]
    assert first["news"] == []
    day = format_timestamp(clock.time())[:10]
    given = {"pmid": "41999001", "doi": "10.9101/watch.1", "title": "Memory consolidation again"}
    world.put(replace(world.paper("paywall"), published=day, entered=day, **given))
    clock.sleep(86_400)
    found = await answer(library, "watch_literature")
    assert [(one["outcome"], one["pmid"]) for one in found["news"]] == [("new", "41999001")]
    assert (await answer(library, "watch_literature"))["news"] == []
    ended = await answer(library, "watch_literature", watch="consolidation", undo=True)
    assert ended["watches"] == []
