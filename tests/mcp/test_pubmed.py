"""Toolset ``pubmed`` as a host meets it, over the protocol."""

import json
import re
import sys
import threading
import time

import jsonschema
import pytest
from fastmcp import Client

from tests.mcp.calling import answer, call
from tests.mcp.test_rendering import lost
from tests.processes import LAST_RESORT_S
from utils import Library
from utils.errors import BadRequest
from utils.library.services import PubMed
from utils.mcp import build
from utils.mcp.tool import LongCallRunner
from utils.settings import load_settings

pytestmark = pytest.mark.anyio
TOOLSETS = ("pubmed",)
NAMES = [
    *("search_pubmed_articles", "fetch_article_details", "get_article_relationships"),
    *("get_pubmed_paper", "pubmed_to_bibtex", "convert_ids", "match_citations"),
    *("spell_check", "lookup_mesh"),
]


def tokens(what):
    return len(json.dumps(what, separators=(",", ":"), ensure_ascii=False)) / 4


async def listed(toolsets):
    async with Client(build(Library(mcp_toolsets=toolsets))) as client:
        return await client.list_tools()


# --- Which tools, and what they cost ---------------------------------------


@pytest.mark.story
async def test_toolsets_are_chosen_and_come_in_one_order():
    assert [tool.name for tool in await listed(("pubmed",))] == NAMES
    core = [tool.name for tool in await listed(("core",))]
    assert not set(core) & set(NAMES)
    both = [*core, *NAMES]
    for chosen in (("all",), ("core", "pubmed"), ("pubmed", "core")):
        assert [tool.name for tool in await listed(chosen) if tool.name in both] == both


def test_an_unknown_toolset_is_refused():
    with pytest.raises(BadRequest, match="MCP_TOOLSETS"):
        load_settings(mcp_toolsets="pubmed,magic")


async def test_definitions_stay_within_their_budgets():
    wire = [tool.model_dump(by_alias=True, exclude_none=True) for tool in await listed(("all",))]
    sys.stdout.write("\n".join(f"{tool['name']}: {tokens(tool):.0f} tokens" for tool in wire))
    ours = [tool for tool in wire if tool["name"] in NAMES]
    assert tokens({"tools": ours}) < 3100
    assert tokens({"tools": wire}) < 12_000


async def test_every_tool_is_well_described():
    async with Client(build(Library(mcp_toolsets=("pubmed",)))) as client:
        tools = await client.list_tools()
    for tool in tools:
        assert tool.title
        assert 1 <= tool.description.count(".") <= 2
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        assert tool.output_schema["type"] == "object"
        hints = tool.annotations
        assert (hints.read_only_hint, hints.idempotent_hint, hints.destructive_hint) == (
            True,
            True,
            False,
        )
        assert hints.open_world_hint is True


def objects_in(schema):
    if isinstance(schema, list):
        return [found for one in schema for found in objects_in(one)]
    if not isinstance(schema, dict):
        return []
    own = [schema] if schema.get("type") == "object" else []
    return own + [found for one in schema.values() for found in objects_in(one)]


# --- One by one ------------------------------------------------------------


async def test_search(library, world):
    found = await answer(
        library,
        "search_pubmed_articles",
        query_term="cells",
        max_results=6,
        sort_by="journal_name",
        date_range={"min_date": "2020", "date_type": "edat"},
        filter_by_publication_types=["Journal Article"],
        fetch_brief_summaries=2,
    )
    assert found["search_parameters"]["sort_by"] == "journal"
    assert world.requests[0].params["sort"] == "JournalName"
    assert (
        found["effective_search_term"] == '(cells) AND ("Journal Article"[pt]) AND 2020:3000[edat]'
    )
    assert found["retrieved_pmid_count"] == len(found["pmids"]) == 6 <= found["total_found"]
    assert [one["pmid"] for one in found["brief_summaries"]] == found["pmids"][:2]
    assert "esearch.fcgi" in found["e_search_url"]
    assert "esummary.fcgi" in found["e_summary_url"]
    assert "tester" not in json.dumps(found)


async def test_what_is_on_the_shelf_is_linked(library, world):
    pmid = world.paper("pmc_cloud").pmid
    before = await call(library, "get_pubmed_paper", {"pmid": pmid})
    assert [block.type for block in before.content] == ["text"]
    library.download(pmid)
    for tool, arguments in (
        ("get_pubmed_paper", {"pmid": pmid}),
        ("fetch_article_details", {"pmids": [pmid]}),
    ):
        result = await call(library, tool, arguments)
        assert [block.type for block in result.content] == ["text"]
        [uri] = re.findall(r"^Resource: (\S+)$", result.content[0].text, re.M)
        async with Client(build(library)) as client:
            [text] = await client.read_resource(uri)
        assert "CXCL12" in text.text


@pytest.mark.parametrize("kind", ["pubmed_similar_articles", "pubmed_citedin", "pubmed_references"])
async def test_relationships(library, world, kind):
    found = await answer(
        library,
        "get_article_relationships",
        source_pmid=world.paper("pmc_cloud").pmid,
        relationship_type=kind,
        max_related_results=3,
    )
    assert found["retrieved_count"] == len(found["related_articles"]) == 3 <= found["total"]
    assert found["source"] in {"NCBI ELink", "Europe PMC"}
    assert all(one["title"] and one["link_url"] for one in found["related_articles"])
    scored = [one["score"] is not None for one in found["related_articles"]]
    assert set(scored) == {kind == "pubmed_similar_articles"}


async def test_citation_formats(library, world):
    styles = ["ris", "bibtex", "apa_string", "mla_string", "vancouver", "csl_json"]
    found = await answer(
        library,
        "get_article_relationships",
        source_pmid=world.paper("pmc_cloud").pmid,
        relationship_type="citation_formats",
        citation_styles=styles,
    )
    made = found["citations"]
    assert list(made) == styles
    arguments = {"source_pmid": found["source_pmid"], "relationship_type": "citation_formats"}
    arguments["citation_styles"] = styles
    text = (await call(library, "get_article_relationships", arguments)).content[0].text
    assert not lost(made, text)
    assert made["ris"].startswith("TY  - JOUR")
    assert made["csl_json"]["DOI"] == world.paper("pmc_cloud").doi
    assert all("Sørensen" in made[style] for style in styles[:5])


async def test_one_paper_and_its_bibtex(library, world):
    record = world.paper("pmc_cloud")
    paper = await answer(library, "get_pubmed_paper", pmid=int(record.pmid))
    assert paper["doi"] == record.doi
    assert paper["url"] == f"https://pubmed.ncbi.nlm.nih.gov/{record.pmid}/"
    assert paper["authors"][0].endswith(record.authors[0][0])
    assert paper["mesh_terms"]
    result = await call(library, "pubmed_to_bibtex", {"pmid": record.pmid})
    assert result.structured_content["bibtex"].startswith("@article{")
    assert "abstract = " in result.structured_content["bibtex"]
    assert result.structured_content["bibtex"] in result.content[0].text


async def test_words_and_names(library, world):
    record = world.paper("pmc_cloud")
    converted = await answer(library, "convert_ids", ids=[record.pmid, "nonsense"])
    assert [one["status"] for one in converted["records"]] == ["found", "invalid"]
    assert converted["records"][0]["pmcid"] == record.pmcid
    printed = {"journal": record.journal.short, "year": 2025, "volume": 12, "first_page": "11"}
    matched = await answer(library, "match_citations", citations=[printed, {"journal": "X"}])
    assert [one["pmid"] for one in matched["results"]] == [record.pmid, ""]
    spelled = await answer(library, "spell_check", query="corall")
    assert spelled["corrected_query"] == "coral"
    mesh = await answer(library, "lookup_mesh", term="cancer", max_results=1)
    assert mesh["terms"][0]["search_term"] == '"Neoplasms"[MeSH Terms]'


# --- Waiting ---------------------------------------------------------------


@pytest.mark.real_time
async def test_who_asked_for_it_hears_that_a_call_waits(library, world, monkeypatch):
    gate, told = threading.Event(), []

    async def hear(done, total, message):
        told.append((done, total, message))
        gate.set()

    paper = library.pubmed.paper(world.paper("pmc_cloud").pmid)
    monkeypatch.setattr(PubMed, "paper", lambda *_: gate.wait(LAST_RESORT_S) and paper)
    monkeypatch.setattr("utils.mcp.tool._PROGRESS_INTERVAL_S", 0.05)
    async with Client(build(library), progress_handler=hear) as client:
        result = await client.call_tool("get_pubmed_paper", {"pmid": paper.ids.pmid})
    assert result.structured_content["title"] == paper.title
    assert told[0][0] == 1
    assert "NCBI" in told[0][2]


@pytest.mark.real_time
def test_what_takes_too_long_is_given_up_and_picked_up(monkeypatch):
    monkeypatch.setattr("utils.mcp.tool._PROGRESS_INTERVAL_S", 0.01)
    monkeypatch.setattr("utils.mcp.tool.MAX_ANSWER_S", 0.05)
    monkeypatch.setattr("utils.mcp.tool.send_progress", lambda *_: None)
    gate, runs, waiting = threading.Event(), [], LongCallRunner()

    def work():
        runs.append(1)
        gate.wait(LAST_RESORT_S)
        return "done"

    with pytest.raises(Exception, match="keeps this request waiting"):
        waiting.get_result("x", work)
    gate.set()
    monkeypatch.setattr("utils.mcp.tool.MAX_ANSWER_S", LAST_RESORT_S)
    assert waiting.get_result("x", work) == "done"
    assert len(runs) == 1


@pytest.fixture
def _kept_waiting(monkeypatch, clock):
    """Naps of more than ten seconds last until the end of the test; the call gives up meanwhile."""
    asleep, over = threading.Event(), threading.Event()

    def sleep(nap):
        if nap > 10:
            asleep.set()
            over.wait(10)
        clock.sleep(nap)

    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr("utils.mcp.tool._PROGRESS_INTERVAL_S", 0.5)
    monkeypatch.setattr("utils.mcp.tool.MAX_ANSWER_S", 1.0)
    monkeypatch.setattr("utils.mcp.tool.send_progress", lambda *_: asleep.wait(10))
    yield
    over.set()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search_pubmed", {"query": "coral"}),
        ("spell_check", {"query": "coral"}),
        ("fetch_article_details", {"pmids": ["31452104"]}),
    ],
)
@pytest.mark.usefixtures("_kept_waiting")
async def test_a_wait_ncbi_asked_for_is_told_in_seconds(settings, world, tool, arguments):
    library = Library(**settings, mcp_toolsets=("all",))
    # One of them may go to a call that a test before has left behind.
    world.mood("storm", "eutils", times=5, seconds=45)
    result = await call(library, tool, arguments)
    error = result.meta["error"]
    assert (error["code"], error["details"]["status"]) == ("RATE_LIMIT", 429)
    seconds = error["details"]["retry_after"]
    assert 30 < seconds <= 45
    assert error["suggestions"] == [f"Call again in {seconds:.0f} s with the same arguments."]
