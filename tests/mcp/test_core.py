"""The tools as a host meets them, over the protocol."""

import json
import re
import sys
from pathlib import Path

import jsonschema
import pytest
from fastmcp import Client
from mcp import MCPError

from tests.processes import LAST_RESORT_S
from utils import Library
from utils.http.work import SharedWork
from utils.mcp import build
from utils.mcp.answers import UNTRUSTED_NOTICE

pytestmark = [pytest.mark.anyio, pytest.mark.story]
NAMES = {
    "search_pubmed", "search_pubmed_lr", "search_pubmed_minimal", "download_paper", "read_paper",
    "list_papers", "harvest_papers", "harvest_status", "download_papers", "read_papers",
    "verify_quotes", "cite_papers",
}  # fmt: skip
WRITING = {"download_paper", "download_papers", "read_papers", "harvest_papers"}


async def call(library, tool, arguments):
    """One call; a success is held against the tool's own output schema."""
    server = build(library)
    async with Client(server) as client:
        result = await client.call_tool(tool, arguments, raise_on_error=False)
        if not result.is_error:
            schema = (await server.get_tool(tool)).output_schema
            jsonschema.validate(result.structured_content, schema)
        return result


def tokens(what):
    return len(json.dumps(what, separators=(",", ":"), ensure_ascii=False)) / 4


async def test_every_tool_is_well_described():
    async with Client(build(Library())) as client:
        tools = await client.list_tools()
    assert {tool.name for tool in tools} == NAMES
    for tool in tools:
        assert tool.title
        assert tool.description
        assert tool.output_schema["type"] == "object"
        assert tool.annotations.read_only_hint == (tool.name not in WRITING)
        assert tool.annotations.destructive_hint is False


async def test_all_definitions_together_stay_within_their_budget():
    async with Client(build(Library())) as client:
        tools = await client.list_tools()
    wire = [tool.model_dump(by_alias=True, exclude_none=True) for tool in tools]
    costs = "\n".join(f"{tool['name']}: {tokens(tool):.0f} tokens" for tool in wire)
    sys.stdout.write(costs)
    assert tokens({"tools": wire}) < 3000


async def test_search_download_read_list(library, world):
    found = await call(library, "search_pubmed", {"query": "CXCL12"})
    paper = found.structured_content["papers"][0]
    assert paper["pmid"]
    assert paper["abstract"]

    got = (await call(library, "download_paper", {"pmid": paper["pmid"]})).structured_content
    assert (got["success"], got["source"], got["kind"]) == (True, "PMC", "full_text")
    assert Path(got["file_path"]).is_absolute()
    assert got["attempts"][-1]["outcome"] == "saved"
    again = await call(library, "download_paper", {"doi": paper["doi"]})
    assert again.structured_content["source"] == "Cache"
    [uri] = re.findall(r"^Resource: (\S+)$", again.content[0].text, re.M)
    assert uri == f"papers://{Path(got['file_path']).name}"
    async with Client(build(library)) as client:
        [page] = await client.read_resource(uri)
    assert paper["title"] in page.text

    read = await call(library, "read_paper", {"paper": paper["pmid"], "max_chars": 500})
    assert len(read.structured_content["text"]) <= 500
    assert read.structured_content["next_start"] == len(read.structured_content["text"])
    assert "title" not in read.structured_content  # it is the first line of the text
    assert read.content[0].text.count(paper["title"].rstrip(".")) <= 2  # and stands above it
    part = await call(library, "read_paper", {"paper": paper["pmid"], "section": "methods"})
    assert part.structured_content["title"] == paper["title"]
    headings = [part["heading"] for part in read.structured_content["outline"]]
    assert "Abstract" in headings

    shelf = await call(library, "list_papers", {"text": "CXCL12"})
    assert shelf.structured_content["total"] == 1


async def test_words_from_elsewhere_are_marked_as_untrusted(library, world):
    await call(library, "download_paper", {"pmid": world.paper("pmc_cloud").pmid})
    read = await call(library, "read_paper", {"paper": world.paper("pmc_cloud").pmid})
    [block] = read.content
    assert block.meta == {"untrusted": True}
    assert read.meta["untrusted"] is True
    assert read.structured_content["untrusted"] == UNTRUSTED_NOTICE
    assert block.annotations.audience == ["assistant"]


async def test_minimal_search_saves_at_least_seventy_percent(library, world):
    whole = await call(library, "search_pubmed", {"query": "2025[dp]", "max_results": 20})
    short = await call(library, "search_pubmed_minimal", {"query": "2025[dp]", "max_results": 20})
    assert tokens(short.structured_content) < 0.3 * tokens(whole.structured_content)


async def test_pair_search_names_the_pair(library, world):
    pair = {"ligand": "CXCL12", "receptor": "CXCR4"}
    found = (await call(library, "search_pubmed_lr", pair)).structured_content
    assert found["papers"][0]["ligand"] == "CXCL12"
    assert found["query"].startswith("(CXCL12[Gene Symbol]")
    assert not found["warnings"]  # that PubMed does not know the tag is not the caller's doing


BAD = {
    "empty query": ("search_pubmed", {"query": " "}),
    "no date": ("search_pubmed", {"query": "a", "min_date": "last May"}),
    "too many": ("search_pubmed", {"query": "a", "max_results": 1001}),
    "unknown argument": ("search_pubmed", {"query": "a", "colour": 3}),
    "wrong type": ("search_pubmed", {"query": "a", "max_results": "many"}),
    "missing argument": ("search_pubmed", {}),
    "no identifier": ("download_paper", {}),
    "malformed": ("download_paper", {"pmid": "abc"}),
    "contradiction": (
        "download_paper",
        {"arxiv_id": "2601.00001", "doi": "10.48550/arXiv.2601.00002"},
    ),
    "outside the shelf": ("download_paper", {"pmid": "1", "output_path": "../x.txt"}),
    "not on the shelf": ("read_paper", {"paper": "31452104"}),
    "no such kind": ("list_papers", {"kind": "poem"}),
}


@pytest.mark.parametrize(("tool", "arguments"), BAD.values(), ids=BAD.keys())
async def test_bad_input_gets_the_envelope_without_a_request(library, world, tool, arguments):
    result = await call(library, tool, arguments)
    assert result.is_error
    error = result.meta["error"]
    assert error["code"] in {"VALIDATION", "NOT_FOUND"}
    assert error["message"]
    assert error["suggestions"]
    assert json.loads(result.content[0].text)["error"] == error
    assert result.structured_content is None
    assert not world.requests


async def test_unknown_section_names_the_sections(library, world):
    pmid = world.paper("pmc_cloud").pmid
    await call(library, "download_paper", {"pmid": pmid})
    result = await call(library, "read_paper", {"paper": pmid, "section": "horoscope"})
    assert "Abstract" in result.meta["error"]["suggestions"][0]


async def test_upstream_trouble_says_which_site_and_what_next(library, world):
    world.mood("storm", "eutils", seconds=600)
    result = await call(library, "search_pubmed", {"query": "coral"})
    error = result.meta["error"]
    assert error["code"] == "RATE_LIMIT"
    assert "127.0.0.1" in error["message"]


async def test_a_bug_is_masked_and_has_the_envelope(library, world, monkeypatch):
    monkeypatch.setattr(Library, "search", lambda *_, **__: 1 / 0)
    result = await call(library, "search_pubmed", {"query": "coral"})
    assert result.is_error
    assert json.loads(result.content[0].text)["error"] == result.meta["error"]
    assert result.meta["error"]["code"] == "UNKNOWN"
    assert "division" not in result.content[0].text
    # Under this name its traceback stands in the log.
    assert re.search(r"request [0-9a-f]{8} in", result.meta["error"]["suggestions"][1])


@pytest.mark.real_time
def test_what_takes_too_long_goes_on_and_is_picked_up():
    import threading

    patience, gate, runs = SharedWork(longest=0.05), threading.Event(), []

    def work():
        runs.append(1)
        gate.wait(LAST_RESORT_S)
        return "done"

    assert patience.wait_for_result("x", work) is None
    gate.set()
    patience._longest = LAST_RESORT_S
    assert patience.wait_for_result("x", work) == "done"
    assert len(runs) == 1


VIOLATIONS = {
    "missing": ({}, "query is missing."),
    "type": ({"query": 7.5}, "query is 7.5; it should be a valid string."),
    "text for a number": ({"query": "a", "max_results": "seven"},
        "max_results is 'seven'; it should be a valid integer"),
    "truth for a number": ({"query": "a", "start": True},
        "start is True; it should be a valid integer."),
    "range": ({"query": "a", "max_results": 5000},
        "max_results is 5000; it should be less than or equal to 1000."),
    "enum": ({"query": "a", "sort_by": "title"}, "it should be 'pub_date', 'relevance', 'author'"),
    "in a list": ({"query": "a", "publication_types": ["a", 3.5]},
        "publication_types[1] is 3.5; it"),
    "long": ({"query": "a", "sort_by": "x" * 999}, f"sort_by is '{'x' * 27}..."),
    "extra": ({"query": "a", "max_result": 3}, "max_result is not an argument of this tool."),
    "half a character": ({"query": "\ud800"}, "half of a surrogate pair"),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "said"), VIOLATIONS.values(), ids=VIOLATIONS.keys())
async def test_a_wrong_argument_is_told_by_name_value_and_what_is_allowed(
    library, world, arguments, said
):
    error = (await call(library, "search_pubmed", arguments)).meta["error"]
    assert error["code"] == "VALIDATION"
    assert said in error["message"]
    assert "Input should" not in error["message"]
    assert error["suggestions"]
    if "max_result" in arguments:
        assert error["suggestions"] == ["Did you mean max_results?"]


@pytest.mark.parametrize("odd", [{"x": 1}, ["41000001", "41000002"], True, 4.1])
async def test_an_identifier_is_text_or_a_whole_number(library, world, odd):
    error = (await call(library, "download_paper", {"pmid": odd})).meta["error"]
    assert error["code"] == "VALIDATION"
    assert not world.requests


async def test_parts_of_an_argument_have_their_own_names(settings, world):
    library = Library(**settings, mcp_toolsets=("pubmed",))
    for tool, arguments, said, hint in (
        ("match_citations", {"citations": [{"title": "a"}]}, "citations[0].title is no", "journal"),
        (
            "fetch_article_details",
            {"pmids": []},
            "pmids should have at least 1 item; it has 0.",
            "again",
        ),
        (
            "spell_check",
            {"query": {"a": 1}},
            "query is {'a': 1}; it should be a valid string.",
            "again",
        ),
    ):
        error = (await call(library, tool, arguments)).meta["error"]
        assert said in error["message"]
        assert hint in error["suggestions"][0]


async def test_many_mistakes_are_not_all_listed(library):
    error = (await call(library, "search_pubmed", dict.fromkeys("abcdefgh", 1))).meta["error"]
    assert len(error["message"]) < 300
    assert "4 more" in error["message"]


async def test_an_unknown_tool_is_told_with_those_there_are(library):
    async with Client(build(library)) as client:
        with pytest.raises(MCPError, match="search_pubmed_minimal") as refused:
            await client.call_tool("nonsense")
        with pytest.raises(MCPError, match="MCP_TOOLSETS=core,pubmed") as elsewhere:
            await client.call_tool("lookup_mesh")
    assert (refused.value.code, elsewhere.value.code) == (-32602, -32602)
    assert "toolset pubmed" in elsewhere.value.data["error"]["message"]
    assert refused.value.data["error"]["code"] == "NOT_FOUND"


async def test_a_page_beyond_the_end_is_empty_and_says_why(library, world):
    pmid = world.paper("pmc_cloud").pmid
    await call(library, "download_paper", {"pmid": pmid})
    found = await call(library, "search_pubmed", {"query": "coral", "start": 500})
    assert (found.structured_content["papers"], found.structured_content["next_start"]) == (
        [],
        None,
    )
    assert "beyond the end" in found.structured_content["warnings"][-1]
    for tool, arguments in (("list_papers", {}), ("read_paper", {"paper": pmid})):
        done = await call(library, tool, {**arguments, "start": 500_000})
        assert not done.is_error
        assert "beyond the end" in done.content[0].text


async def test_each_request_leaves_one_line_with_what_came_of_it(library, world, caplog):
    caplog.set_level("INFO", "utils.mcp.calls")
    async with Client(build(library)) as client:
        await client.call_tool("list_papers", {})
        await client.call_tool("list_papers", {"kind": "poem"}, raise_on_error=False)
        await client.get_prompt("literature_review", {"topic": "coral"})
        for missed in (
            client.call_tool("nonsense"),
            client.read_resource("papers://39999999"),
            client.get_prompt("literature_review"),
        ):
            with pytest.raises(MCPError):
                await missed
    ours = [line for line in caplog.records if line.name == "utils.mcp.calls"]
    told = [line.getMessage().partition(" in ")[0] for line in ours]
    assert told == [
        "list_papers: ok",
        "list_papers: VALIDATION",
        "literature_review: ok",
        "nonsense: NOT_FOUND",
        "papers://39999999: NOT_FOUND",
        "literature_review: VALIDATION",
    ]
