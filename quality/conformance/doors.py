"""The four doors, each opened for its items and asked for them in their order."""

import contextlib
import io
import json
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import anyio
import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from pydantic import SecretStr

from quality.conformance.items import Item, Met
from quality.conformance.shared_clock import SharedClock
from tests.endpoint import SECRET, Endpoint
from tests.world import World
from tests.world.eutils import KEY
from utils import Library, cli
from utils.errors import PaperError
from utils.settings import Settings
from utils.system.plain_text import to_escaped_json

ROOT = Path(__file__).resolve().parents[2]
Environment = dict[str, str]
Answers = dict[str, tuple[Met, str]]
"""What became of each item, and what is wrong with it: shelves are looked at while they are so."""
_BURST = 40
TOLD = ("dataset", "job_id", "history")  # what later items may name: "<dataset>"


class Stage:
    """The world, the clock, and a folder for each opening of a door."""

    def __init__(self, world: World, folder: Callable[[str], Path], clock: SharedClock) -> None:
        self.world, self.folder, self.clock = world, folder, clock
        self.told: dict[str, str] = {}

    def environment(self, door: str, settings: Mapping[str, str]) -> Environment:
        """What a door is opened with, in a world without memory; an empty value is no value."""
        self.world.reset()  # each keeps limits of its own, which the door before has used up
        self.told.clear()
        folder = self.folder(door)
        own = {
            "PAPERS_DIR": str(folder / "papers"), "PAPERS_PACE_DIR": str(folder / "pace"),
            "NCBI_API_KEY": KEY, "MCP_TOOLSETS": "all", "EMBEDDINGS_PROVIDER": "none",
            "MCP_LOG_LEVEL": "debug", "LOGS_DIR": str(folder / "logs"),
        }  # fmt: skip
        named = {**self.world.environment(), **own, **settings}
        return {name: value for name, value in named.items() if value}

    def arguments(self, item: Item) -> dict[str, Any]:
        """The item's arguments; ``"<dataset>"`` is the name that an earlier answer told."""

        def filled(value: Any) -> Any:
            return self.told.get(value[1:-1], value) if isinstance(value, str) else value

        return {name: filled(value) for name, value in item.arguments.items()}

    @contextlib.contextmanager
    def during(self, item: Item, shelf: Path) -> Iterator[Callable[..., Any]]:
        """Let befall the world what does during the call; gives what checks the answer."""
        for name, text in item.before.items():
            shelf.mkdir(parents=True, exist_ok=True)
            (shelf / name).write_text(text, encoding="utf-8")
        if item.meanwhile:
            item.meanwhile(self.world)
        requests, naps = len(self.world.requests), len(self.clock.naps)

        def met(value: Any, **more: Any) -> tuple[Met, str]:
            value = json.loads(to_escaped_json(value))
            first = value[0] if isinstance(value, list) and value else value
            for name in TOLD if isinstance(first, dict) else ():
                there = first.get(name)
                told = there.get("id") if isinstance(there, dict) else there
                if isinstance(told, str):
                    self.told[name] = told
            seen = self.world.requests[requests:]
            answer = Met(value, tuple(seen), tuple(self.clock.naps[naps:]), shelf, **more)
            try:
                item.check(answer)
            except Exception:  # noqa: BLE001 - the item's test tells it
                return answer, traceback.format_exc(limit=-2)
            return answer, ""

        yield met
        self.world.calm()


def _openings(items: Iterable[Item]) -> Iterator[tuple[Mapping[str, str], list[Item]]]:
    """The items by the settings that the door has to be opened with."""

    def settings(item: Item) -> str:
        return json.dumps(dict(item.settings), sort_keys=True)

    for _, group in groupby(sorted(items, key=settings), settings):
        opened = list(group)
        yield opened[0].settings, opened


def _library(environment: Environment, **more: Any) -> Library:
    named = {name.lower(): value for name, value in environment.items()}
    known = {name: value for name, value in named.items() if name in Settings.model_fields}
    return Library(Settings(**known, **more))


async def _over_mcp(client: Client, item: Item, arguments: dict[str, Any]) -> tuple[Any, Any]:
    """What MCP answers to an item: a structure, an error's envelope, or a resource's JSON."""
    tool = item.called.tool
    if tool == "initialize":
        return client.initialize_result.model_dump(mode="json"), None
    if tool == "tools/list":
        listed = await client.list_tools()
        form = {"mode": "json", "by_alias": True, "exclude_none": True}
        return {"tools": [each.model_dump(**form) for each in listed]}, None
    if tool == "prompts/list":
        return {"prompts": [each.name for each in await client.list_prompts()]}, None
    if tool == "resources/list":
        templates = [each.uri_template for each in await client.list_resource_templates()]
        return {"uris": [*(str(a.uri) for a in await client.list_resources()), *templates]}, None
    try:
        if "://" in tool:
            [content] = await client.read_resource(tool)
            text = content.text
            return json.loads(text) if content.mime_type == "application/json" else text, content
        result = await _in_the_end(client, tool, {**item.called.fixed, **arguments})
    except Exception as error:  # noqa: BLE001 - an error of the protocol is an answer, too
        return {"protocol_error": str(error)}, error
    failed = json.loads(result.content[0].text) if result.is_error else None
    return failed or result.structured_content, result


async def _in_the_end(client: Client, tool: str, arguments: dict[str, Any]) -> Any:
    """The result; what is said to go on is called again with the same arguments, as it says."""
    while True:
        result = await client.call_tool(tool, arguments, raise_on_error=False)
        if "same arguments" not in str(result.content):
            return result


async def _ask(transport: Any, items: list[Item], stage: Stage, shelf: Path) -> Answers:
    answers = {}
    async with Client(transport, mode="legacy") as client:
        for item in items:
            with stage.during(item, shelf) as met:
                value, result = await _over_mcp(client, item, stage.arguments(item))
                answers[item.name] = met(value, result=result)
    return answers


def stdio(items: list[Item], stage: Stage) -> Answers:
    """A real process, through real pipes, on the same clock."""
    answers = {}
    for settings, group in _openings(items):
        environment = stage.environment("stdio", settings) | {"STAGE_CLOCK": str(stage.clock.path)}
        words = ["-m", "quality.conformance.staged_server"]
        transport = StdioTransport(sys.executable, words, env=environment, cwd=str(ROOT))
        shelf = Path(environment["PAPERS_DIR"])
        answers |= anyio.run(_ask, transport, group, stage, shelf)
    return answers


def http(items: list[Item], stage: Stage) -> Answers:
    """A real socket, with a token."""
    answers = {}
    for settings, group in _openings(items):
        environment = stage.environment("http", settings)
        library = _library(environment, mcp_auth_secret_key=SecretStr(SECRET))
        shelf = library.settings.papers_dir
        with Endpoint(library) as endpoint:
            raw = [item for item in group if item.called.tool in ("POST", "GET")]
            called = [item for item in group if item not in raw]
            for start in range(0, len(called), _BURST):  # nobody may ask faster, for long
                token = endpoint.token(subject=f"caller {start}")
                transport = StreamableHttpTransport(endpoint.url, auth=token)
                share = called[start : start + _BURST]
                answers |= anyio.run(_ask, transport, share, stage, shelf)
            for item in raw:
                with stage.during(item, shelf) as met:
                    answers[item.name] = met(_over_http(endpoint, item))
    return answers


def _over_http(endpoint: Endpoint, item: Item) -> dict[str, Any]:
    """One bare request; ``token`` is made, unless it is given as it is."""
    headers = dict(item.arguments)
    path, token = headers.pop("path", ""), headers.pop("token", "")
    if callable(token):
        token = token(endpoint)
    done = endpoint.get(path, **headers) if path else endpoint.post(token, **headers)
    return {"status": done.status_code, "headers": dict(done.headers), "body": done.text}


def shell(items: list[Item], stage: Stage) -> Answers:
    """The shell with ``--json``: its rows and its exit status; ``stdin`` is piped in."""
    answers = {}
    for settings, group in _openings(items):
        environment = stage.environment("shell", settings)
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            for item in group:
                arguments = stage.arguments(item)
                piped = io.BytesIO(arguments.get("stdin", "").encode())
                patch.setattr(sys, "stdin", io.TextIOWrapper(piped, encoding="utf-8"))
                with (
                    stage.during(item, Path(environment["PAPERS_DIR"])) as met,
                    contextlib.redirect_stdout(io.StringIO()) as printed,
                    contextlib.redirect_stderr(io.StringIO()),
                ):
                    words = item.called.shell(arguments)  # type: ignore[misc]
                    status = cli.main([*words, "--json"])
                    rows = [json.loads(line) for line in printed.getvalue().splitlines()]
                    answers[item.name] = met(rows, status=status)
    return answers


def python(items: list[Item], stage: Stage) -> Answers:
    """`Library` called by a program: what it returns, or the envelope of what it raises."""
    answers = {}
    for settings, group in _openings(items):
        library = _library(stage.environment("python", settings))
        for item in group:
            with stage.during(item, library.settings.papers_dir) as met:
                try:
                    value = item.called.python(library, stage.arguments(item))  # type: ignore[misc]
                except PaperError as error:
                    value = error.envelope()
                answers[item.name] = met(value)
        library.shelf.close()
    return answers


@contextlib.contextmanager
def staged(world: World, folder: Callable[[str], Path]) -> Iterator[Stage]:
    """Everything in this process on a clock that moves when somebody sleeps."""
    clock = SharedClock(folder("clock") / "naps")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "sleep", clock.sleep)
        patch.setattr(time, "time", clock.time)
        patch.setattr("utils.settings.ENV_FILE", None)
        yield Stage(world, folder, clock)
