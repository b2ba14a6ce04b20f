"""What a model receives, by host and by adapter, as the table of ``quality/benchmarks/README.md``.

``PAPERSHELF_ADAPTERS=1 uv run python -m quality.clients.matrix`` writes it. Hosts are known by
their names alone, so that of them it says what is sent; of adapters, what their own code gives a
model.
"""

from __future__ import annotations

import base64
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import anyio
from fastmcp import Client
from mcp.types import Implementation

from quality.clients.adapters import ADAPTERS, WHY_NOT, Shown, shown
from tests.clients.python_clients import ROOT, PatientWorld, environment
from tests.world import World
from tests.world.pmc import media
from utils import Library
from utils.mcp import build

PAGE = ROOT / "quality" / "benchmarks" / "README.md"
MARKS = "<!-- clients: measured -->", "<!-- /clients -->"
HEADS = "client", "protocol", "text", "structure", "link to the paper", "picture"
HOSTS = (
    *("claude-code", "codex-mcp-client", "Visual Studio Code", "openai-mcp"),
    *("claude-ai", "cursor-vscode", "gemini-cli-mcp-client", "github-copilot-developer", "mcp"),
)
ERAS = ("auto", "legacy")


class Received(NamedTuple):
    """A row of the table."""

    client: str
    protocol: str
    text: str
    structure: str
    link: str
    picture: str


def calls(world: World) -> list[tuple[str, dict[str, Any]]]:
    """A paper is filed, read, and one of its pictures looked at."""
    pmid = world.paper("supplemented").pmid
    return [
        ("download_paper", {"pmid": pmid}),
        ("read_paper", {"paper": pmid}),
        ("paper_objects", {"paper": pmid, "which": "Figure 1"}),
    ]


def received(client: str, protocol: str, answers: list[str], world: World, end: str) -> Received:
    """What of the three answers is there; *end* are the last words of what is read."""
    filed, read, figure = answers
    structured = any(name in read for name in ('"structuredContent"', '"structured_content"'))
    times = read.count(end) - structured
    picture = base64.b64encode(media(world.paper("supplemented"))["fig1.jpg"]).decode()
    link = "as a link" if "resource_link" in filed else "–"
    return Received(
        client,
        protocol,
        {0: "in brief", 1: "whole"}.get(times, f"{times} times"),
        "whole" if structured and read.count(end) else "–",
        "as a line" if "Resource: papers://" in filed else link,
        "yes" if picture[:60] in figure else "–",
    )


def row_of(
    adapter: str, settings: Mapping[str, str], came: Shown, world: World, folder: Path
) -> Received:
    """The row of an adapter by what *came*, beginning with the answers to `calls`."""
    said = "".join(f", `{name}={value}`" for name, value in settings.items())
    client = f"{ADAPTERS[adapter][0].replace('==', ' ')}{said}"
    return received(client, came.protocol, came.answers[:3], world, end_of(world, folder))


def end_of(world: World, folder: Path) -> str:
    """The last words of the page that was read."""
    told = environment(world, folder)
    library = Library(**{name.lower(): told[name] for name in ("PAPERS_DIR", "PAPERS_PACE_DIR")})
    return library.read(world.paper("supplemented").pmid).text.rstrip()[-50:]


async def of_host(name: str, mode: str, world: World, folder: Path) -> Received:
    """The row of a host that says *name*."""
    told = {name.lower(): value for name, value in environment(world, folder).items()}
    library = Library(**{name: told[name] for name in told if name not in ("path", "home")})
    answers = []
    who = Implementation(name=name, version="1")
    async with Client(build(library), mode=mode, client_info=who) as client:
        for tool, arguments in calls(world):
            came = await client.call_tool_mcp(tool, arguments)
            answers.append(came.model_dump_json(by_alias=True, exclude_none=True))
        protocol = str(client.protocol_version)
    return received(name, protocol, answers, world, end_of(world, folder))


def hosts(world: World, folder: Path) -> list[Received]:
    """Every host, in both eras; one row where the eras do not differ."""
    rows = []
    for name in HOSTS:
        new, old = (anyio.run(of_host, name, mode, world, folder) for mode in ERAS)
        same = new._replace(protocol=old.protocol) == old
        rows += [new._replace(protocol=f"{old.protocol}, {new.protocol}")] if same else [old, new]
    return rows


def adapters(world: World, folder: Path) -> list[Received]:
    """Every adapter; Google's gives a model all of a result, so that one form is set for it."""
    text: dict[str, str] = {"MCP_DELIVERY": "text"}
    told = [*((name, dict[str, str]()) for name in ADAPTERS), ("google_genai", text)]
    return [
        row_of(name, settings, shown(name, world, folder, calls(world), **settings), world, folder)
        for name, settings in told
    ]


def table(rows: list[Received]) -> str:
    """The rows in Markdown."""
    lines = [HEADS, ["---"] * len(HEADS), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Write the table."""
    if WHY_NOT:
        sys.exit(f"{WHY_NOT}.")
    with tempfile.TemporaryDirectory() as folder, PatientWorld() as world:
        made = table([*hosts(world, Path(folder)), *adapters(world, Path(folder))])
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(f"{MARKS[0]}\n")
    _, _, after = rest.partition(MARKS[1])
    PAGE.write_text(f"{before}{MARKS[0]}\n{made}\n{MARKS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
