"""What a model reads of an answer, by the host it works in, over stdio and HTTP, in both eras."""

import json
from contextlib import asynccontextmanager

import pytest
from fastmcp import Client
from mcp.types import Implementation

from tests.clients.python_clients import Place, environment, official_client
from tests.endpoint import SECRET, Endpoint
from tests.examples import has_turn
from tests.mcp.test_rendering import lost
from tests.mcp.test_stdio import hosted
from utils import Library
from utils.mcp import build
from utils.mcp.delivery import FORM_BY_HOST, Host, normalize_host_name

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])
FORM = {
    "claude-code": "structured", "codex-mcp-client": "structured",
    "Visual Studio Code": "structured", "Visual-Studio-Code": "structured",
    "Visual Studio Code - Insiders": "structured", "openai-mcp": "structured",
    "gemini-cli-mcp-client": "text", "gemini-cli-mcp-client-papershelf": "text",
    "claude-ai": "text", "claude-ai (via mcp-remote 0.1.18)": "text", "cursor-vscode": "text",
    "Goose": "text", "github-copilot-developer": "text", "mcp": "both", "opencode": "both",
    "claude-codec": "both", "": "both",
}  # fmt: skip


@pytest.mark.parametrize(("name", "form"), FORM.items(), ids=FORM.keys())
def test_a_host_is_known_by_its_name_however_it_is_spelled(name, form):
    assert Host(normalize_host_name(name), "2025-11-25").choose_form("auto") == form


@pytest.mark.parametrize("setting", ["auto", "structured", "text", "both"])
def test_an_old_protocol_gets_text_whatever_the_setting(setting):
    for name in ("claude-code", "mcp", ""):
        assert Host(name, "2025-03-26").choose_form(setting) == "text"
    assert Host("claude-code", "2025-06-18").choose_form("text") == "text"
    assert Host("", "2025-06-18").choose_form("structured") in {"structured", "both"}


def test_names_of_any_kind_are_bounded():
    assert normalize_host_name("x" * 10_000) == "x" * 64
    assert normalize_host_name("\r\nmcp-session-id: evil\u202e") == "mcp-session-id-evil"
    assert all(name == normalize_host_name(name) for name in FORM_BY_HOST)


@asynccontextmanager
async def as_host(server, name, mode, **options):
    known = {"client_info": Implementation(name=name, version="1")} if name else {}
    async with Client(server, mode=mode, **known, **options) as client:
        yield client


def shown(result, form):
    """What the model reads of a result, in a host that shows it in this form."""
    if form == "structured":
        return json.dumps(result.structured_content, ensure_ascii=False)
    return "\n".join(block.text for block in result.content if block.type == "text")


@ERAS
@pytest.mark.parametrize("name", ["claude-code", "gemini-cli-mcp-client-shelf", "mcp"])
async def test_the_model_reads_the_whole_text_of_a_paper_once(library, world, mode, name):
    library.download(world.paper("pmc_cloud").pmid)
    words = library.read(world.paper("pmc_cloud").pmid).text
    form = FORM.get(name, "text")
    async with as_host(build(library), name, mode) as client:
        tools = {tool.name: tool for tool in await client.list_tools()}
        result = await client.call_tool("read_paper", {"paper": world.paper("pmc_cloud").pmid})
    structure = result.structured_content
    assert words in (structure["text"] if form == "structured" else shown(result, form))
    assert bool(tools["read_paper"].output_schema) == (form != "text")
    assert (structure is None) == (form == "text")
    if form == "structured":
        assert len(shown(result, "text")) < 2500
        assert structure["untrusted"]


async def test_hosts_of_one_server_do_not_disturb_each_other(library, world):
    server = build(library)
    found = {}
    async with (
        as_host(server, "claude-code", "legacy") as one,
        as_host(server, "goose", "legacy") as two,
        as_host(server, "mcp", "auto") as three,
    ):
        for client in (one, two, three, two, one):
            result = await client.call_tool("search_pubmed", {"query": "coral"})
            form = "text" if client is two else "structured"
            found.setdefault(client, shown(result, form))
            assert shown(result, form) == found[client]
            assert (result.structured_content is None) == (client is two)


async def test_the_setting_overrules_the_name(settings, world):
    for setting, structured, whole in (
        ("structured", True, False),
        ("text", False, True),
        ("both", True, True),
    ):
        library = Library(**settings, mcp_delivery=setting)
        async with as_host(build(library), "claude-code", "auto") as client:
            result = await client.call_tool("search_pubmed", {"query": "coral"})
            schemas = [tool.output_schema for tool in await client.list_tools()]
        assert bool(result.structured_content) == structured == all(schemas)
        found = library.search("coral").papers[0].abstract
        assert (not lost(found, shown(result, "text"))) == whole


async def test_a_tool_with_a_page_keeps_the_structure_and_has_no_links(settings, world):
    library = Library(**settings, mcp_toolsets=("core", "review"))
    job = library.harvest([world.paper("pmc_cloud").pmid])
    list(job)
    async with as_host(build(library), "claude-ai", "auto") as client:
        schemas = {tool.name: tool.output_schema for tool in await client.list_tools()}
        result = await client.call_tool("review_board", {})
        assert {name for name, schema in schemas.items() if schema} == {"review_board"}
        assert result.structured_content["job_id"] == job.job_id
        told = {**result.structured_content}
        del told["untrusted"]
        assert not lost(told, shown(result, "text"))
        assert [block.type for block in result.content] == ["text"]


async def test_an_error_is_whole_in_its_text_in_every_host(library):
    for name in ("claude-code", "goose", "mcp"):
        async with as_host(build(library), name, "auto") as client:
            refused = await client.call_tool("read_paper", {"paper": "1"}, raise_on_error=False)
        assert refused.is_error
        assert json.loads(shown(refused, "text"))["error"]["suggestions"]
        assert refused.structured_content is None


# --- protocols ------------------------------------------------------------------------------------

PROTOCOLS = pytest.mark.parametrize(
    "protocol", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
)
SINCE_2024 = {"text", "image", "resource"}


def opening(protocol, name):
    known = {"capabilities": {}, "clientInfo": {"name": name, "version": "1"}}
    return {"method": "initialize", "params": {"protocolVersion": protocol, **known}}


def calling(tool, **arguments):
    return {"method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def assert_fits(protocol, tools, result, link):
    """Nothing newer than the protocol is sent, and the link in every case."""
    kinds = {block["type"] for block in result["content"]}
    texts = "\n".join(block.get("text", "") for block in result["content"])
    if protocol < "2025-06-18":
        assert kinds <= SINCE_2024
        assert "structuredContent" not in result
        assert not any("outputSchema" in tool for tool in tools)
        assert f"Resource: {link}" in texts
    else:
        assert "resource_link" in kinds
        assert result["structuredContent"]["success"]
        assert all("outputSchema" in tool for tool in tools)


@PROTOCOLS
def test_over_stdio_nothing_is_newer_than_the_protocol(world, tmp_path, protocol):
    with hosted(world, tmp_path) as host:
        host.ask(1, opening(protocol, "claude-code"))
        host.send('{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        tools = host.ask(2, {"method": "tools/list"})["result"]["tools"]
        pmid = world.paper("pmc_cloud").pmid
        result = host.ask(3, calling("download_paper", pmid=pmid))["result"]
    assert_fits(protocol, tools, result, "papers://")


def said(answer):
    """The message of an answer over HTTP, as JSON or as an event."""
    text = answer.text
    return json.loads(next((line[6:] for line in text.splitlines() if line[:6] == "data: "), text))


@PROTOCOLS
@pytest.mark.parametrize("name", ["claude-code", "goose"])
def test_over_http_the_session_id_carries_the_name(settings, world, protocol, name):
    library = Library(**settings, mcp_auth_secret_key=SECRET)
    with Endpoint(library) as endpoint:

        def ask(request, **headers):
            body = {"jsonrpc": "2.0", "id": 1, **request}
            return endpoint.post(endpoint.token(), body, **headers)

        begun = ask(opening(protocol, name))
        session = begun.headers["mcp-session-id"]
        assert session.isascii()
        known = {"mcp_session_id": session}
        if protocol >= "2025-06-18":  # which has the header
            known["mcp_protocol_version"] = protocol
        tools = said(ask({"method": "tools/list"}, **known))["result"]["tools"]
        pmid = world.paper("pmc_cloud").pmid
        result = said(ask(calling("download_paper", pmid=pmid), **known))["result"]
    if name == "claude-code":
        assert_fits(protocol, tools, result, "papers://")
    else:
        assert "structuredContent" not in result
        assert not any("outputSchema" in tool for tool in tools)


async def test_over_http_real_clients_get_what_their_host_shows(settings, world):
    library = Library(**settings, mcp_auth_secret_key=SECRET)
    words = library.search("coral").papers[0].abstract
    with Endpoint(library) as endpoint:
        for mode in ("auto", "legacy"):
            for name in ("claude-code", "gemini-cli-mcp-client", "mcp", ""):
                async with as_host(endpoint.url, name, mode, auth=endpoint.token()) as client:
                    result = await client.call_tool("search_pubmed", {"query": "coral"})
                form = FORM[name]
                assert (not lost(words, shown(result, "text"))) == (form != "structured")
                structure = result.structured_content
                assert (structure is None) == (form == "text")
                assert form == "text" or structure["papers"][0]["abstract"] == words


def test_who_says_no_name_gets_both(settings, world):
    """In 2026-07-28 the name is optional."""
    library = Library(**settings, mcp_auth_secret_key=SECRET)
    known = "io.modelcontextprotocol/"
    meta = {f"{known}protocolVersion": "2026-07-28", f"{known}clientCapabilities": {}}
    request = calling("search_pubmed", query="coral")
    request["params"]["_meta"] = meta
    routed = {"mcp_protocol_version": "2026-07-28", "mcp_method": "tools/call"}
    with Endpoint(library) as endpoint:
        body = {"jsonrpc": "2.0", "id": 1, **request}
        answer = said(endpoint.post(endpoint.token(), body, mcp_name="search_pubmed", **routed))
    structure = answer["result"]["structuredContent"]
    del structure["untrusted"]
    assert not lost(structure, answer["result"]["content"][0]["text"])


PROTOCOL_DATES = ["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"]
HOSTS = {"claude-code": "structured", "goose": "text", "mcp": "both"}


@pytest.mark.parametrize("protocol", PROTOCOL_DATES)
@pytest.mark.parametrize("way", ["stdio", "http"])
async def test_the_official_client_reads_whole_answers_in_any_protocol(
    settings, world, tmp_path, monkeypatch, protocol, way
):
    """It holds what it gets against the schemas that it was told, as hosts built on it do."""
    monkeypatch.setattr("mcp.client.session.LATEST_HANDSHAKE_VERSION", protocol)
    mode = "auto" if protocol == "2026-07-28" else "legacy"
    library = Library(**settings, mcp_auth_secret_key=SECRET)
    words = library.search("coral").papers[0].abstract
    place = Place(environment(world, tmp_path), log=tmp_path / "stderr")
    with Endpoint(library) as endpoint:
        if way == "http":
            place = Place(url=endpoint.url, token=endpoint.token())
        for turn, (name, usual) in enumerate(HOSTS.items()):
            if way == "stdio" and not has_turn(turn - PROTOCOL_DATES.index(protocol)):
                continue  # a process for each; over HTTP all of them call one server
            known = Implementation(name=name, version="1")
            async with official_client(place, mode, client_info=known) as session:
                assert session.protocol_version == protocol
                await session.listing()
                step = {"kind": "tool", "name": "search_pubmed", "arguments": {"query": "coral"}}
                result = await session.take(step)
            form = "text" if protocol < "2025-06-18" else usual
            text = "\n".join(block["text"] for block in result["content"])
            assert (not lost(words, text)) == (form != "structured")
            assert ("structuredContent" in result) == (form != "text")
            if form != "text":
                assert result["structuredContent"]["papers"][0]["abstract"] == words
