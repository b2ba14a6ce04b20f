"""Toolset ``pubmed`` as a host meets it: over the protocol, in both of its eras."""

import json
import sys
import threading
from contextlib import suppress

import jsonschema
import pytest
from anyio import create_task_group
from fastmcp import Client

from tests.answering import answering
from utils import Library
from utils.article_details import Details
from utils.errors import BadContent, BadRequest
from utils.formats.pubmed.articles import split_xml
from utils.settings import load_settings
from utils.tools import build, pubmed_schemas
from utils.tools.pubmed_rows import details_page
from utils.tools.waiting import Waiting

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])
NAMES = [
    *("search_pubmed_articles", "fetch_article_details", "get_article_relationships"),
    *("get_pubmed_paper", "pubmed_to_bibtex", "convert_ids", "match_citations"),
    *("spell_check", "lookup_mesh"),
]


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def library(settings):
    library = Library(**settings, mcp_toolsets=("pubmed",))
    yield library
    library.shelf.close()


async def call(library, tool, arguments, mode="auto"):
    """One call; a success is held against the tool's own output schema, and names no more."""
    async with Client(build(library), mode=mode) as client:
        result = await client.call_tool(tool, arguments, raise_on_error=False)
        if not result.is_error:
            schema = {t.name: t.output_schema for t in await client.list_tools()}[tool]
            jsonschema.validate(result.structured_content, closed(schema))
        return result


def closed(schema):
    """The schema without room for members it does not name."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: closed(one) for name, one in schema.items()}
    if isinstance(schema.get("properties"), dict):
        inner.setdefault("additionalProperties", False)
    return inner


async def answer(library, tool, mode="auto", **arguments):
    return (await call(library, tool, arguments, mode)).structured_content


def tokens(what):
    return len(json.dumps(what, separators=(",", ":"), ensure_ascii=False)) / 4


async def listed(toolsets):
    async with Client(build(Library(mcp_toolsets=toolsets))) as client:
        return await client.list_tools()


# --- Which tools, and what they cost ---------------------------------------


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


@ERAS
async def test_every_tool_is_well_described(mode):
    async with Client(build(Library(mcp_toolsets=("pubmed",))), mode=mode) as client:
        tools = await client.list_tools()
    for tool in tools:
        assert tool.title
        assert 1 <= tool.description.count(".") <= 2
        closed = [tool.input_schema, *objects_in(tool.input_schema["properties"])]
        assert all(schema["additionalProperties"] is False for schema in closed)
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


@ERAS
async def test_search(library, world, mode):
    found = await answer(
        library,
        "search_pubmed_articles",
        mode,
        query_term="cells",
        max_results=6,
        sort_by="journal_name",
        date_range={"min_date": "2020", "date_type": "edat"},
        filter_by_publication_types=["Journal Article"],
        fetch_brief_summaries=2,
    )
    assert found["search_parameters"]["sort_by"] == "journal_name"
    assert world.requests[0].params["sort"] == "JournalName"
    assert found["effective_search_term"] == '(cells) AND ("Journal Article"[pt])'
    assert found["retrieved_pmid_count"] == len(found["pmids"]) == 6 <= found["total_found"]
    assert [one["pmid"] for one in found["brief_summaries"]] == found["pmids"][:2]
    assert "esearch.fcgi" in found["e_search_url"]
    assert "esummary.fcgi" in found["e_summary_url"]
    assert "tester" not in json.dumps(found)


@ERAS
@pytest.mark.parametrize("level", ["abstract_plus", "full_xml", "medline_text", "citation_data"])
async def test_details_at_every_level(library, world, mode, level):
    wanted = [world.paper("pmc_cloud").pmid, "39999999", world.paper("retracted").pmid]
    found = await answer(library, "fetch_article_details", mode, pmids=wanted, detail_level=level)
    assert [one["pmid"] for one in found["articles"]] == [wanted[0], wanted[2]]
    assert found["not_found_pmids"] == ["39999999"]
    assert found["failed"] == []
    assert found["e_fetch_details"]["request_method"] == "GET"
    begins = {"full_xml": "<PubmedArticle>", "medline_text": "PMID- "}.get(level, "")
    assert found["text"].startswith(begins)
    assert bool(found["text"]) == bool(begins)


async def test_long_text_comes_in_stretches_without_gap_or_overlap(library, world):
    wanted = [record.pmid for record in world.papers if record.pmid][:10]
    options = {"pmids": wanted, "detail_level": "full_xml", "max_chars": 7000}
    text, start, pages, articles = "", 0, 0, {}
    while start is not None:
        page = await answer(library, "fetch_article_details", start=start, **options)
        articles |= {one["pmid"]: one for one in page["articles"]}
        text, start, pages = text + page["text"], page["next_start"], pages + 1
    assert pages > 3
    assert list(articles) == wanted
    for one in articles.values():
        own = text[one["start"] : one["start"] + one["chars"]]
        assert own.startswith(("<PubmedArticle>", "<PubmedBookArticle>"))
        assert f">{one['pmid']}</PMID>" in own
    assert len(world.requests) == 1


async def test_articles_come_whole_and_in_pages(library, world):
    wanted = [record.pmid for record in world.papers if record.pmid][:10]
    seen, start = [], 0
    while start is not None:
        page = await answer(
            library, "fetch_article_details", pmids=wanted, start=start, max_chars=4000
        )
        assert len(json.dumps(page["articles"], ensure_ascii=False)) < 8000
        seen, start = seen + page["articles"], page["next_start"]
    assert [one["pmid"] for one in seen] == wanted


@pytest.mark.parametrize("level", ["abstract_plus", "full_xml", "medline_text", "citation_data"])
async def test_a_page_is_bounded_as_a_whole_and_repeats_nothing(library, world, level):
    known = [record.pmid for record in world.papers if record.pmid][:30]
    unknown = [str(39_000_000 + number) for number in range(150)]
    options = {"pmids": [*unknown, *known, "PMC5"], "detail_level": level, "max_chars": 12_000}
    start, pages = 0, []
    while start is not None:
        page = await answer(library, "fetch_article_details", start=start, **options)
        rest = {name: value for name, value in page.items() if name != "text"}
        assert len(json.dumps(rest, ensure_ascii=False)) + len(page["text"]) < 12_300
        pages, start = [*pages, page], page["next_start"]
    assert len(pages) > 1
    first, *others = pages
    assert len(first["not_found_pmids"]) == 150
    for page in others:
        assert page["requested_pmids"] == page["not_found_pmids"] == page["failed"] == []
        assert page["e_fetch_details"] == {"urls": [], "request_method": ""}


@pytest.mark.parametrize("level", ["abstract_plus", "full_xml"])
async def test_a_start_beyond_the_end_is_an_empty_page_that_says_so(library, world, level):
    pmid = world.paper("pmc_cloud").pmid
    options = {"pmids": [pmid], "detail_level": level, "start": 900_000}
    page = await answer(library, "fetch_article_details", **options)
    assert (page["articles"], page["text"], page["next_start"]) == ([], "", None)
    unit = {"abstract_plus": "ends after 1 article.", "full_xml": "characters."}[level]
    assert unit in page["warnings"][0]
    result = await call(library, "fetch_article_details", options)
    assert page["warnings"][0] in result.content[0].text


async def test_one_malformed_pmid_costs_only_itself(library, world):
    record = world.paper("pmc_cloud")
    wanted = [record.pmid, record.pmcid, record.doi, "12 monkeys", "x" * 999]
    result = await call(library, "fetch_article_details", {"pmids": wanted})
    found = result.structured_content
    assert [one["pmid"] for one in found["articles"]] == [record.pmid]
    assert found["requested_pmids"] == [record.pmid]
    assert {one["code"] for one in found["failed"]} == {"VALIDATION"}
    told = [one["message"] for one in found["failed"]]
    assert ["convert_ids" in one for one in told] == [True, True, False, False]
    assert all("no PMID" in one for one in told)
    assert told[0] in result.content[0].text


async def test_the_same_reason_is_told_once(library, world):
    known, *others = [record.pmid for record in world.papers if record.pmid][:5]
    await answer(library, "fetch_article_details", pmids=[known])
    world.mood("down", "eutils")
    found = await answer(library, "fetch_article_details", pmids=[known, *others])
    assert [one["pmid"] for one in found["failed"]] == others
    assert {one["code"] for one in found["failed"]} == {"UPSTREAM"}
    assert [one["message"] for one in found["failed"][1:]] == [f"As for {others[0]}."] * 3


async def test_grants_and_headings_are_left_out_when_not_wanted(library, world):
    pmid = world.paper("pmc_cloud").pmid
    [one] = (await answer(library, "fetch_article_details", pmids=[pmid]))["articles"]
    assert "mesh_terms" in one
    assert "grant_list" not in one
    found = await answer(
        library,
        "fetch_article_details",
        pmids=[pmid],
        include_mesh_terms=False,
        include_grant_info=True,
    )
    assert "mesh_terms" not in found["articles"][0]
    assert found["articles"][0]["grant_list"] == []
    assert found["e_fetch_details"] == {"urls": [], "request_method": "cache"}


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
        assert [block.type for block in result.content] == ["text", "resource_link"]
        link = result.content[1]
        assert link.annotations.last_modified
        async with Client(build(library)) as client:
            [text] = await client.read_resource(str(link.uri))
        assert "CXCL12" in text.text


@ERAS
@pytest.mark.parametrize("kind", ["pubmed_similar_articles", "pubmed_citedin", "pubmed_references"])
async def test_relationships(library, world, mode, kind):
    found = await answer(
        library,
        "get_article_relationships",
        mode,
        source_pmid=world.paper("pmc_cloud").pmid,
        relationship_type=kind,
        max_related_results=3,
    )
    assert found["retrieved_count"] == len(found["related_articles"]) == 3 <= found["total"]
    assert found["source"] in {"NCBI ELink", "Europe PMC"}
    assert all(one["title"] and one["link_url"] for one in found["related_articles"])
    scored = [one["score"] is not None for one in found["related_articles"]]
    assert set(scored) == {kind == "pubmed_similar_articles"}


@ERAS
async def test_citation_formats(library, world, mode):
    styles = ["ris", "bibtex", "apa_string", "mla_string", "vancouver", "csl_json"]
    found = await answer(
        library,
        "get_article_relationships",
        mode,
        source_pmid=world.paper("pmc_cloud").pmid,
        relationship_type="citation_formats",
        citation_styles=styles,
    )
    made = found["citations"]
    assert list(made) == styles
    arguments = {"source_pmid": found["source_pmid"], "relationship_type": "citation_formats"}
    arguments["citation_styles"] = styles
    text = (await call(library, "get_article_relationships", arguments)).content[0].text
    for style in styles:
        assert (str(made[style]) in text) == (style in ("apa_string", "mla_string", "vancouver"))
    assert made["ris"].startswith("TY  - JOUR")
    assert made["csl_json"]["DOI"] == world.paper("pmc_cloud").doi
    assert all("Sørensen" in made[style] for style in styles[:5])


@ERAS
async def test_one_paper_and_its_bibtex(library, world, mode):
    record = world.paper("pmc_cloud")
    paper = await answer(library, "get_pubmed_paper", mode, pmid=int(record.pmid))
    assert paper["doi"] == record.doi
    assert paper["url"] == f"https://pubmed.ncbi.nlm.nih.gov/{record.pmid}/"
    assert paper["authors"][0].endswith(record.authors[0][0])
    assert paper["mesh_terms"]
    result = await call(library, "pubmed_to_bibtex", {"pmid": record.pmid}, mode)
    assert result.structured_content["bibtex"].startswith("@article{")
    assert "abstract = " in result.structured_content["bibtex"]
    assert result.content[0].text.startswith("@article{")
    assert "abstract = " not in result.content[0].text


@ERAS
async def test_words_and_names(library, world, mode):
    record = world.paper("pmc_cloud")
    converted = await answer(library, "convert_ids", mode, ids=[record.pmid, "nonsense"])
    assert [one["status"] for one in converted["records"]] == ["found", "invalid"]
    assert converted["records"][0]["pmcid"] == record.pmcid
    printed = {"journal": record.journal.short, "year": 2025, "volume": 12, "first_page": "11"}
    matched = await answer(library, "match_citations", mode, citations=[printed, {"journal": "X"}])
    assert [one["pmid"] for one in matched["results"]] == [record.pmid, ""]
    spelled = await answer(library, "spell_check", mode, query="corall")
    assert spelled["corrected_query"] == "coral"
    mesh = await answer(library, "lookup_mesh", mode, term="cancer", max_results=1)
    assert mesh["terms"][0]["search_term"] == '"Neoplasms"[MeSH Terms]'


CALLS = {
    "search_pubmed_articles": {"query_term": "cells", "fetch_brief_summaries": 5},
    "fetch_article_details": {"pmids": ["41000001"], "detail_level": "full_xml"},
    "get_article_relationships": {"source_pmid": "41000001", "max_related_results": 50},
    "get_pubmed_paper": {"pmid": "41000001"},
    "convert_ids": {"ids": ["41000001"]},
    "match_citations": {"citations": [{"journal": "J", "author": "x"}]},
    "spell_check": {"query": "corall"},
    "lookup_mesh": {"term": "neoplasms"},
}


@pytest.mark.parametrize("tool", CALLS)
async def test_text_beside_the_structure_is_short_and_marked(library, world, tool):
    result = await call(library, tool, CALLS[tool])
    block = result.content[0]
    assert not result.is_error
    assert len(block.text) < 2000
    assert block.meta == {"untrusted": True}
    assert block.annotations.audience == ["assistant"]
    assert block.annotations.priority


async def test_the_text_alone_tells_what_was_found(library, world):
    record, retracted = world.paper("pmc_cloud"), world.paper("retracted")

    async def text(tool, **arguments):
        return (await call(library, tool, arguments)).content[0].text

    found = await call(library, "search_pubmed_articles", {"query_term": "cells"})
    assert all(pmid in found.content[0].text for pmid in found.structured_content["pmids"][:20])
    names_ = await text("convert_ids", ids=[record.doi])
    assert record.pmid in names_
    assert record.pmcid in names_
    assert "RETRACTED" in await text("get_pubmed_paper", pmid=retracted.pmid)
    told = await text("fetch_article_details", pmids=[record.pmid, retracted.pmid])
    assert told.count("RETRACTED") == 1
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
        {"query_term": "abc", "date_range": {"min_date": "May 2020"}},
        "YYYY",
    ),
    "date field": (
        "search_pubmed_articles",
        {"query_term": "abc", "date_range": {"from": "2020"}},
        "date_range.from",
    ),
    "no pmids": ("fetch_article_details", {"pmids": []}, "at least 1"),
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
        {"query_term": "abc", "max_results": "7"},
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
    "empty citation": ("match_citations", {"citations": [{"key": "a"}]}, "says nothing"),
    "unknown field": ("match_citations", {"citations": [{"title": "a"}]}, "title"),
    "empty word": ("spell_check", {"query": " "}, "empty"),
    "21 terms": ("lookup_mesh", {"term": "a", "max_results": 21}, "20"),
    "unknown argument": ("lookup_mesh", {"term": "a", "limit": 3}, "limit"),
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
    assert warnings[-1] == "… and 30 more"
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


STORMY = ("get_pubmed_paper", {"pmid": "41000001"})


async def test_a_paper_that_is_not_there_is_not_found(library, world):
    for tool in ("get_pubmed_paper", "pubmed_to_bibtex"):
        error = (await call(library, tool, {"pmid": "39999999"})).meta["error"]
        assert error["code"] == "NOT_FOUND"


@pytest.mark.shared
@pytest.mark.parametrize("level", ["abstract_plus", "full_xml", "citation_data"])
def test_real_records_are_what_the_schema_promises(shared, level):
    records = {}
    for path in (shared / "pubmed" / "efetch").rglob("*.xml"):
        with suppress(BadContent):
            records |= split_xml(path.read_bytes())
    assert len(records) > 80
    found = Details(tuple(records), records, (), {}, (), "")
    validator = jsonschema.Draft202012Validator(closed(pubmed_schemas.DETAILS))
    start, seen = 0, set()
    while start is not None:
        page = details_page(found, level, start, 20_000, mesh=True, grants=True)
        validator.validate(page)
        seen |= {one["pmid"] for one in page["articles"]}
        assert page["next_start"] is None or page["next_start"] > start
        start = page["next_start"]
    assert seen == set(records)


# --- Waiting ---------------------------------------------------------------


@pytest.mark.real_time
async def test_who_asked_for_it_hears_that_a_call_waits(library, world, monkeypatch):
    gate, told = threading.Event(), []

    async def hear(done, total, message):
        told.append((done, total, message))
        gate.set()

    paper = library.paper(world.paper("pmc_cloud").pmid)
    monkeypatch.setattr(Library, "paper", lambda *_: gate.wait(10) and paper)
    monkeypatch.setattr("utils.tools.waiting._STEP_S", 0.05)
    async with Client(build(library), progress_handler=hear) as client:
        result = await client.call_tool("get_pubmed_paper", {"pmid": paper.ids.pmid})
    assert result.structured_content["title"] == paper.title
    assert told[0][0] == 1
    assert "NCBI" in told[0][2]


@pytest.mark.real_time
def test_what_takes_too_long_is_given_up_and_picked_up(monkeypatch):
    monkeypatch.setattr("utils.tools.waiting._STEP_S", 0.01)
    monkeypatch.setattr("utils.tools.waiting.LONGEST_ANSWER_S", 0.05)
    monkeypatch.setattr("utils.tools.waiting.tell", lambda *_: None)
    gate, runs, waiting = threading.Event(), [], Waiting()

    def work():
        runs.append(1)
        gate.wait(10)
        return "done"

    with pytest.raises(Exception, match="keeps this request waiting"):
        waiting.result("x", work)
    gate.set()
    monkeypatch.setattr("utils.tools.waiting.LONGEST_ANSWER_S", 5)
    assert waiting.result("x", work) == "done"
    assert len(runs) == 1
