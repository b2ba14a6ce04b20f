"""Each tutorial is run in the stand-in internet; its page shows what came of it.

A block of a page is run by what it is: commands, Python, or the arguments of a tool; one with a
title that names a file is written there. A block ``text`` behind it is what was printed.
``TUTORIALS=write uv run pytest -m world tests/test_tutorials.py`` writes the outputs anew.
"""

import asyncio
import io
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client

import utils
from tests.world import World
from utils import Library, cli
from utils.command_line import PROGRAM
from utils.mcp import build

DOCS = Path(__file__).resolve().parents[1] / "docs" / "pages"
PAGES = sorted((DOCS / "tutorials").glob("*.md"))
PICTURES = DOCS / "pictures"
BLOCK = re.compile(r"```(\w+)(?: title=\"([^\"]*)\")?\n(.*?)```\n", re.S)
NOT_RUN = "<!-- not run -->\n\n"
# What differs from run to run, and what a page shows in its place.
VARYING = {
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?": "2026-11-26T12:00:00",
    r"\b2\d{3}-\d\d-\d\d\b": "2026-11-26", r"\b\d\d:\d\d\b(?!:)": "12:00",
    r"127\.0\.0\.1:\d+": "127.0.0.1", r"<(/?)untrusted-\w+>": r"<\1untrusted-3f9a>",
}  # fmt: skip


@dataclass
class Block:
    """A block of code in a page."""

    language: str
    title: str
    text: str
    start: int
    end: int
    run: bool


def blocks_of(page: str) -> list[Block]:
    """Return the blocks of a page in their order."""
    return [
        Block(found[1], found[2] or "", found[3], found.start(3), found.end(3),
              not page[: found.start()].endswith(NOT_RUN))
        for found in BLOCK.finditer(page)
    ]  # fmt: skip


class Reader:
    """Somebody who types what a tutorial says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {}

    def follow(self, block: Block) -> str:
        """Do what *block* says; return what was printed."""
        if block.language == "bash":
            printed = "".join(map(self.command, block.text.replace("\\\n", "").splitlines()))
        elif block.language == "python":
            printed = self.python(block.text)
        elif called := re.search(r"calls (\w+)", block.title):
            printed = asyncio.run(self.call(called[1], json.loads(block.text)))
        else:
            (self.folder / block.title).write_text(block.text, encoding="utf-8")
            printed = ""
        return self.as_in_a_page(printed)

    def command(self, line: str) -> str:
        line, _, behind = line.partition(" | head -n ")
        words = shlex.split(line, comments=True)
        if not words:
            return ""
        assert words[0] == "papershelf", f"not a command of ours: {line}"
        printed = io.StringIO()
        with redirect_stdout(printed):
            cli.main(words[1:])
        lines = printed.getvalue().splitlines(keepends=True)
        return "".join(lines[: int(behind)] if behind else lines)

    def python(self, text: str) -> str:
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(text, self.names)
        return printed.getvalue()

    async def call(self, tool: str, arguments: dict[str, Any]) -> str:
        async with Client(build(Library())) as client:
            answer = await client.call_tool(tool, arguments)
        return "".join(f"{one.text}\n" for one in answer.content if one.type == "text")

    def as_in_a_page(self, printed: str) -> str:
        printed = printed.replace(str(self.folder), "/home/you").replace(PROGRAM, "papershelf")
        for pattern, shown in VARYING.items():
            printed = re.sub(pattern, shown, printed)
        lines = (line.rstrip() for line in printed.splitlines())
        return "".join(f"{line}\n" for line in lines if "```" not in line)


@pytest.fixture(scope="module")
def _running_world() -> Iterator[World]:
    with World(field=40) as world:
        yield world


@pytest.fixture
def reader(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    for name, value in world.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setitem(sys.modules, "papershelf", utils)
    return Reader(tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_shows_what_its_commands_print(page: Path, reader: Reader) -> None:
    text = page.read_text(encoding="utf-8")
    blocks = blocks_of(text)
    printed: list[tuple[Block, str]] = []
    for block, behind in zip(blocks, [*blocks[1:], None], strict=True):
        if (block.language, block.title) == ("text", "") or not block.run:
            continue
        came = reader.follow(block)
        if behind and (behind.language, behind.title) == ("text", ""):
            printed.append((behind, came))
    if os.environ.get("TUTORIALS") == "write":
        for block, came in reversed(printed):
            text = text[: block.start] + came + text[block.end :]
        page.write_text(text, encoding="utf-8")
        if page.stem == "review":
            shutil.copy(reader.folder / "papers/reviews/moss/prisma.svg", PICTURES)
        return
    assert [block.text for block, _ in printed] == [came for _, came in printed]
    assert printed
