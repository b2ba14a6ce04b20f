"""Every item of the ledger over every door it is offered at, against the stand-in internet.

A door is opened once and called for all its items in their order; each item is a test of its own.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from pydantic import SecretStr

from tests.conformance.ledger import LEDGER, Item, operation
from tests.endpoint import SECRET, Endpoint
from tests.world import World
from tests.world.eutils import KEY
from utils import Library, cli
from utils.errors import PaperError
from utils.settings import Settings
from utils.system.plain_text import plain_json

SERVER = str(Path(__file__).resolve().parents[2] / "server.py")
CASES = [(item, door) for item in LEDGER for door in item.doors]
Answers = dict[str, Any]


@pytest.fixture(scope="module")
def here(_running_world: World, tmp_path_factory: Any) -> Iterator[Callable[[str], dict[str, str]]]:
    """The environment of a door, each with a shelf of its own, in a world without memory."""

    def environment(door: str) -> dict[str, str]:
        _running_world.reset()  # each keeps limits of its own, which the door before has used up
        folder = tmp_path_factory.mktemp(door)
        folders = {"PAPERS_DIR": str(folder / "papers"), "PAPERS_PACE_DIR": str(folder / "pace")}
        own = {"NCBI_API_KEY": KEY, "MCP_TOOLSETS": "all", "EMBEDDINGS_PROVIDER": "none"}
        return {**_running_world.environment(), **folders, **own}

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(Settings.model_config, "env_file", None)
        yield environment


def library_of(environment: dict[str, str], **more: Any) -> Library:
    named = {name.lower(): value for name, value in environment.items()}
    return Library(Settings(**named, **more))


async def asked(client: Client, item: Item) -> Any:
    """What MCP answers to an item: a structure, an error's envelope, or a resource's JSON."""
    if item.operation == "initialize":
        return client.initialize_result.server_info.model_dump()
    if item.operation == "tools/list":
        tools = await client.list_tools()
        return {"tools": [one.model_dump(mode="json", by_alias=True) for one in tools]}
    if item.operation == "prompts/list":
        return {"prompts": [one.name for one in await client.list_prompts()]}
    if item.operation == "resources/list":
        templates = [one.uri_template for one in await client.list_resource_templates()]
        return {"uris": [*(str(one.uri) for one in await client.list_resources()), *templates]}
    if "://" in item.operation:
        [content] = await client.read_resource(item.operation)
        return json.loads(content.text)
    tool = operation(item.operation).tool
    result = await client.call_tool(tool, dict(item.arguments), raise_on_error=False)
    return json.loads(result.content[0].text) if result.is_error else result.structured_content


async def over(transport: Any) -> Answers:
    async with Client(transport, mode="legacy") as client:
        return {item.name: await asked(client, item) for item in LEDGER}


@pytest.fixture(scope="module")
def stdio(here: Any) -> Answers:
    """A real process, through real pipes."""
    return anyio.run(over, StdioTransport(sys.executable, [SERVER], env=here("stdio")))


@pytest.fixture(scope="module")
def http(here: Any) -> Answers:
    """A real socket, with a token."""
    library = library_of(here("http"), mcp_auth_secret_key=SecretStr(SECRET))
    with Endpoint(library) as endpoint:
        return anyio.run(over, StreamableHttpTransport(endpoint.url, auth=endpoint.token()))


@pytest.fixture(scope="module")
def shell(here: Any) -> Answers:
    """The shell with ``--json``: its rows."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in here("shell").items():
            patch.setenv(name, value)
        for item in [one for one in LEDGER if "shell" in one.doors]:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                cli.main([*operation(item.operation).shell(item.arguments), "--json"])
            found[item.name] = [json.loads(line) for line in printed.getvalue().splitlines()]
    return found


@pytest.fixture(scope="module")
def python(here: Any) -> Answers:
    """`Library` called by a program: what it returns, or the envelope of what it raises."""
    library, found = library_of(here("python")), {}
    for item in [one for one in LEDGER if "python" in one.doors]:
        try:
            found[item.name] = operation(item.operation).python(library, item.arguments)
        except PaperError as error:
            found[item.name] = error.envelope()
    library.shelf.close()
    return json.loads(plain_json(found))


@pytest.mark.parametrize(
    ("item", "door"), CASES, ids=[f"{item.name} [{door}]" for item, door in CASES]
)
def test_the_ledger(item: Item, door: str, request: pytest.FixtureRequest) -> None:
    item.check(request.getfixturevalue(door)[item.name])


def test_every_document_is_in_the_ledger_and_every_item_once():
    assert {item.document for item in LEDGER} == {"000", "001", "002", "003", "004", "C"}
    assert len({item.name for item in LEDGER}) == len(LEDGER)
    assert {door for _, door in CASES} == {"stdio", "http", "shell", "python"}


def test_all_tools_have_what_hosts_need_of_them(stdio: Answers) -> None:
    """003 checklist; contracts §3: title, description, input, output schema, hints, name.

    That input schemas are closed is not said but done (`tests/tools/test_unknown_arguments.py`).
    """
    [listed] = [stdio[item.name] for item in LEDGER if item.operation == "tools/list"][:1]
    assert len(listed["tools"]) > 40
    for tool in listed["tools"]:
        assert tool["title"] not in ("", tool["name"])
        assert tool["description"], tool["name"]
        assert tool["inputSchema"]["type"] == "object"
        assert tool["outputSchema"], tool["name"]
        assert tool["annotations"]["readOnlyHint"] is not None, tool["name"]
        assert tool["name"].replace("_", "").isalnum()
        assert len(tool["name"]) <= 128
