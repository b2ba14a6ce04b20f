"""The client matrix: ``python -m quality.clients [--only NAME]`` sends every client on the tour.

One line for each client, transport and era: how many tools, resources, prompts and completions it
called, and what was not as promised. Clients from npm take part where they are installed, or may be
(``PAPERSHELF_NPM=1``).
"""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio

from quality.clients import npm_clients
from tests.clients import python_clients
from tests.clients.python_clients import MODES, PatientWorld, Place, environment
from tests.clients.tour import HEAD, Visit, steps, visit
from tests.clock import Clock
from tests.endpoint import SECRET, Endpoint
from utils import Library


@contextmanager
def places(world: PatientWorld, folder: Path) -> Iterator[list[Callable[[], Place]]]:
    """A server over HTTP, and how to start one for stdio; each with a shelf of its own."""
    told = environment(world, folder / "http")
    own = {name.lower(): value for name, value in told.items() if name not in ("PATH", "HOME")}
    with Endpoint(Library(**own, mcp_auth_secret_key=SECRET)) as endpoint:
        yield [
            # A caller each: together they would call more often than one may.
            lambda: Place(url=endpoint.url, token=endpoint.token(subject=secrets.token_hex(4))),
            lambda: Place(environment(world, folder / "stdio")),
        ]


async def tour(world: PatientWorld, place: Place) -> list[dict[str, Any]]:
    """The steps, as one client sees them."""
    async with python_clients.fastmcp_client(place, "auto") as session:
        return steps(await session.listing(), world)


async def visits(only: str) -> list[Visit]:
    """Every client, everywhere it can go."""
    seen = []
    folder, why = npm_clients.packages()
    if folder is None:
        sys.stderr.write(f"Without clients from npm: {why}.\n")
    with (
        tempfile.TemporaryDirectory() as papers,
        PatientWorld() as world,
        places(world, Path(papers)) as known,
    ):
        for new_place in known:
            for name, enter in python_clients.CLIENTS.items():
                for mode in MODES if only in name else ():
                    place = new_place()
                    async with enter(place, mode) as session:
                        seen.append(await visit(session, world, name, place.transport))
                    _show(seen[-1])
            told = await tour(world, new_place()) if folder else []
            for name, modes in npm_clients.CLIENTS.items() if folder else ():
                for mode in modes if only in name else ():
                    seen.append(await npm_clients.npm_visit(folder, name, mode, new_place(), told))
                    _show(seen[-1])
    return seen


def _show(seen: Visit) -> None:
    sys.stdout.write(f"{seen.row()}\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="clients whose name holds this")
    only = parser.parse_args().only
    clock = Clock(time.time)
    time.sleep, time.time = clock.sleep, clock.time
    sys.stdout.write(f"{HEAD}\n")
    return 1 if any(seen.faults for seen in anyio.run(visits, only)) else 0


if __name__ == "__main__":
    sys.exit(main())
