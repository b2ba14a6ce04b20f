"""What ten tasks of research cost a model: calls, tokens, and whether the answer is right.

``uv run python -m quality.benchmarks.research_tasks [--only WORD] [--rival FOLDER]``

Each task is done three times over stdio against the stand-in internet, with an empty shelf: with
the tools as they are, without those for many papers, and with a rival's (`research_rival`), where
npm has installed it in FOLDER. Tokens are bytes by four, of all that a model writes and is shown,
with a host that shows it structures, and one that shows it texts.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from quality.benchmarks import research_rival
from quality.clients.research import TASKS, Desk, Script, Task
from tests.clients.python_clients import CLIENTS, PatientWorld, Place, environment

PAPERS = 200


@asynccontextmanager
async def desk_at(place: Place, mode: str = "auto") -> AsyncIterator[Desk]:
    async with CLIENTS["Python SDK"](place, mode) as session:
        yield Desk(session)


async def done(task: Task, script: Script, world: PatientWorld, place: Place, mode: str) -> str:
    """Calls, tokens for both kinds of host, and whether it was right, as cells of a table."""
    async with desk_at(place, mode) as desk:
        try:
            found = await script(desk, world)
            right = task.right(world, found)
        except (LookupError, TypeError) as error:  # an answer lacks what the task needs
            return f"{desk.calls} | – | – | no answer: {error!r} {desk.texts[-1][:200]!r}"
    unsaid = desk.says(found) if script is task.now else []
    tokens = desk.tokens
    mark = "right" if right and not unsaid else f"text lacks {unsaid[:3]}" if right else "wrong"
    return f"{desk.calls} | {tokens['structure']:,} | {tokens['text']:,} | {mark}"


async def run(only: str, rival: Path | None) -> None:
    with PatientWorld(field=PAPERS) as world:
        for task in TASKS:
            if only not in task.asked:
                continue
            cells = []
            for script in (task.now, task.before):
                with tempfile.TemporaryDirectory() as folder:
                    told = environment(world, Path(folder)) | {"MCP_DELIVERY": "both"}
                    cells.append(await done(task, script, world, Place(told), "auto"))
            theirs = research_rival.SCRIPTS.get(task.asked)
            if rival and theirs:
                with tempfile.TemporaryDirectory() as folder:
                    place = research_rival.place(world, rival, Path(folder))
                    cells.append(await done(task, theirs, world, place, "legacy"))
            show(task, cells)


def show(task: Task, cells: list[Any]) -> None:
    print(f"| {task.asked} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="tasks whose name holds this")
    parser.add_argument("--rival", type=Path, help="a folder with the rival's node_modules")
    asked = parser.parse_args()
    anyio.run(run, asked.only, asked.rival)


if __name__ == "__main__":
    main()
