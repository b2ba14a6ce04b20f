"""FastMCP's client and the official Python SDK, over stdio and HTTP, in both protocol eras."""

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx2
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from mcp import Client as OfficialClient
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import PromptReference, ResourceTemplateReference

from tests.clients.tour import Session, begin_review
from tests.world import World
from utils.demo.wire import Call, Reply

ROOT = Path(__file__).resolve().parents[2]
MODES = ("auto", "legacy")  # the stateless era where the server has it, and the one before


class PatientWorld(World):
    """The stand-in internet for a server on a clock of its own: a minute between two requests."""

    def _answer(self, site: str, call: Call) -> Reply:
        self._minutes = getattr(self, "_minutes", 0) + 1
        return super()._answer(site, replace(call, at=call.at + self._minutes * 60))


@dataclass
class Place:
    """Where a server is: a command to start, or an address and a token."""

    environment: dict[str, str] = field(default_factory=dict)
    url: str = ""
    token: str = ""
    log: Path = Path(os.devnull)
    command: list[str] = field(
        default_factory=lambda: [sys.executable, "-m", "tests.clients.hasty_server"]
    )

    @property
    def transport(self) -> str:
        return "http" if self.url else "stdio"


def environment(world: World, folder: Path) -> dict[str, str]:
    """What a server process is told of *world*; on its shelf is a review."""
    begin_review(folder / "papers")
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    folders = {"PAPERS_DIR": str(folder / "papers"), "PAPERS_PACE_DIR": str(folder / "pace")}
    return {**kept, **world.environment(), **folders, "MCP_TOOLSETS": "all"}


class _Taken:
    """Steps of the tour by the methods of a client; its names are the same in both packages."""

    def __init__(self, client: Any, suffix: str) -> None:
        self._client, self._suffix = client, suffix
        self.protocol_version = client.protocol_version

    async def _ask(self, method: str, *arguments: Any) -> dict[str, Any]:
        answer = await getattr(self._client, f"{method}{self._suffix}")(*arguments)
        return answer.model_dump(by_alias=True, mode="json", exclude_none=True)

    async def listing(self) -> dict[str, list[dict[str, Any]]]:
        listed: dict[str, list[dict[str, Any]]] = {}
        for what in ("tools", "resources", "resource_templates", "prompts"):
            page = await self._ask(f"list_{what}")
            [name] = [name for name, value in page.items() if isinstance(value, list)]
            listed[name] = page[name]
        return listed

    async def take(self, step: dict[str, Any]) -> dict[str, Any]:
        kind = step["kind"]
        if kind in ("tool", "refusal"):
            return await self._ask("call_tool", step["name"], step["arguments"])
        if kind == "resource":
            return await self._ask("read_resource", step["uri"])
        if kind == "prompt":
            return await self._ask("get_prompt", step["name"], step["arguments"])
        kinds = {"ref/resource": ResourceTemplateReference, "ref/prompt": PromptReference}
        reference = kinds[step["ref"]["type"]](**step["ref"])
        return await self._ask("complete", reference, {"value": "", **step["argument"]})


@asynccontextmanager
async def fastmcp_client(place: Place, mode: str) -> AsyncIterator[Session]:
    if place.url:
        client = Client(place.url, auth=place.token, mode=mode)
    else:
        command, *arguments = place.command
        transport = StdioTransport(
            command, arguments, env=place.environment, cwd=str(ROOT), keep_alive=False,
            log_file=place.log,
        )  # fmt: skip
        client = Client(transport, mode=mode)
    async with client:
        yield _Taken(client, "_mcp")


@asynccontextmanager
async def official_client(place: Place, mode: str, **known: Any) -> AsyncIterator[Session]:
    if place.url:
        sent = {"authorization": f"Bearer {place.token}"}
        async with httpx2.AsyncClient(headers=sent, timeout=60) as wire:
            server = streamable_http_client(place.url, http_client=wire)
            async with OfficialClient(server, mode=mode, **known) as one:
                yield _Taken(one, "")
        return
    command, *arguments = place.command
    server = StdioServerParameters(command=command, args=arguments, env=place.environment, cwd=ROOT)
    with place.log.open("w", encoding="utf-8") as log:
        async with OfficialClient(stdio_client(server, errlog=log), mode=mode, **known) as one:
            yield _Taken(one, "")


Enter = Callable[[Place, str], AbstractAsyncContextManager[Session]]
CLIENTS: dict[str, Enter] = {"FastMCP": fastmcp_client, "Python SDK": official_client}
