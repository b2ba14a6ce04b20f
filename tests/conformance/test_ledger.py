"""The ledger of requirements (`items`), held against every door that a requirement names."""

import asyncio
import json
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
from fastmcp import Client

from tests.conformance.__main__ import table
from tests.conformance.items import ITEMS
from tests.endpoint import SECRET, Endpoint
from utils import Library, cli

SERVER = str(Path(__file__).resolve().parents[2] / "server.py")
CASES = [(item, door) for item in ITEMS for door in item.doors]
IDS = [f"{item.document} {item.paragraph} {item.about} [{door}]" for item, door in CASES]


@pytest.fixture(scope="module")
def places(_running_world, tmp_path_factory):
    """The settings of a door: each has a shelf and a clock of its own."""
    folder = tmp_path_factory.mktemp("ledger")
    addresses = {name.lower(): value for name, value in _running_world.environment().items()}

    def of(door):
        where = {"papers_dir": folder / door, "papers_pace_dir": folder / f"{door} pace"}
        return {**addresses, **where}

    return of


@pytest.fixture(scope="module")
def stdio(places):
    """A call to one server process."""
    names = {name.upper(): str(value) for name, value in places("stdio").items()}
    process = subprocess.Popen(
        [sys.executable, SERVER],
        env={**names, "MCP_TOOLSETS": "all"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    numbers = count(1)

    def send(message):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        process.stdin.flush()

    def ask(method, params):
        number = next(numbers)
        send({"id": number, "method": method, "params": params})
        while True:
            answer = json.loads(process.stdout.readline())
            if answer.get("id") == number and "method" not in answer:
                return answer["result"]

    about = {"capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
    greeting = ask("initialize", {"protocolVersion": "2025-06-18", **about})
    assert greeting["serverInfo"]["title"] == "Papershelf"
    send({"method": "notifications/initialized"})

    def call(item, arguments):
        result = ask("tools/call", {"name": item.tool, "arguments": arguments})
        if result.get("isError"):
            return json.loads(result["content"][0]["text"])
        return result["structuredContent"]

    yield call
    process.kill()
    process.communicate()


@pytest.fixture(scope="module")
def http(places):
    """A call to one endpoint."""
    library = Library(**places("http"), mcp_toolsets=("all",), mcp_auth_secret_key=SECRET)
    with Endpoint(library) as endpoint:

        async def calling(tool, arguments):
            async with Client(endpoint.url, auth=endpoint.token()) as client:
                return await client.call_tool(tool, arguments, raise_on_error=False)

        def call(item, arguments):
            result = asyncio.run(calling(item.tool, arguments))
            return result.meta if result.is_error else result.structured_content

        yield call


@pytest.fixture
def shell(places, monkeypatch, capsys):
    """A command with ``--json``: its row, or its rows as papers."""
    for name, value in places("shell").items():
        monkeypatch.setenv(name.upper(), str(value))

    def call(item, words):
        cli.main([*words, "--json"])
        rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        return {**rows[0], "papers": rows}

    return call


def filled(value, world):
    """A call with the PMIDs of the world's papers put in."""
    if isinstance(value, dict):
        return {name: filled(one, world) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [filled(one, world) for one in value]
    if isinstance(value, str) and value.startswith("{"):
        return world.paper(value.strip("{}")).pmid
    return value


@pytest.mark.parametrize(("item", "door"), CASES, ids=IDS)
def test_requirement(request, world, item, door):
    ask = request.getfixturevalue(door)
    call = item.shell if door == "shell" else item.arguments
    got = ask(item, filled(call, world))
    got.pop("untrusted", None)
    assert item.check(got), got


def test_the_ledger_can_be_read():
    assert len(set(IDS)) == len(IDS)
    assert f"{len(ITEMS)} items" in table().splitlines()[-1]


@pytest.fixture(scope="module")
def tools(places):
    """Every tool as a host sees it."""

    async def listed():
        from utils.tools import build

        library = Library(**places("listing"), mcp_toolsets=("all",))
        async with Client(build(library)) as client:
            return await client.list_tools()

    return asyncio.run(listed())


def test_003_titles_schemas_and_names_of_all_tools(tools):
    """003 checklist; contracts §3: title, description, closed input, output schema, hints."""
    assert len(tools) > 40
    for tool in tools:
        assert tool.title, tool.name
        assert tool.title != tool.name
        assert tool.description, tool.name
        assert tool.input_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False, tool.name
        assert tool.output_schema, tool.name
        assert tool.annotations.read_only_hint is not None, tool.name
        assert tool.name.replace("_", "").isalnum()
        assert len(tool.name) <= 128


def test_002_python_names_files_as_the_other_doors_do(places, world):
    library = Library(**places("python"))
    done = library.download(world.paper("pmc_cloud").pmid)
    assert Path(done.file_path).name == "10.9103_signals.2025.0001.txt"
    assert library.search("zzzqqq").total == 0
    library.shelf.close()
