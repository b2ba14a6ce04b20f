"""What kills and neighbours cost: questions asked twice of the stand-in internet.

``uv run python -m benchmarks.harvest_killed [--papers 100] [--kills 20] [--processes 4]``

First one harvest whose process is killed (SIGKILL) at random instants until it has died so often,
and then ends; then several processes that harvest overlapping lists on one shelf at once. Counted
is what was asked a second time, identifier by identifier where many go in one request, beside what
was under way when a process died: that much must be asked again, and nothing else.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.harvests import ids_of, library_of
from tests.world import Record, Request, World

_SECRETS = {"email", "tool", "api_key", "mailto"}
_BRANCHES = {"jina"}  # twenty requests a minute would be all there is to see
_SLOTS = 64


def questions(requests: Iterable[Request]) -> Counter[tuple[str, ...]]:
    """How often each thing was asked; of a batch each identifier is a question."""
    asked: Counter[tuple[str, ...]] = Counter()
    for request in requests:
        if request.status == 429:
            continue
        given = {n: v for n, v in request.params.items() if n not in _SECRETS}
        many = given.pop("id", given.pop("ids", "")).split(",")
        if request.service == "europepmc" and "query" in given:
            many = given.pop("query").split(" OR ")
            given.pop("pageSize", None)
        rest = json.dumps(given, sort_keys=True)
        accept = request.headers.get("accept", "")
        for one in many:
            asked[(request.host, request.path, rest, accept, one)] += 1
    return asked


def repeats(requests: Iterable[Request]) -> Counter[str]:
    """By host, how many questions were asked more than once, each time but the first."""
    found: Counter[str] = Counter()
    for question, count in questions(requests).items():
        if count > 1:
            found[question[0]] += count - 1
    return found


def watch(path: Path) -> None:
    """Have this process say in a mapped file what it has under way; it may die at any instant.

    A question is under way from when it is sent until its answer is handed to who asked.
    """
    import threading

    from utils.web.session import Web
    from utils.web.transport import Courier

    slots = mmap.mmap(os.open(path, os.O_RDWR), _SLOTS * 2)
    numbers = dict.fromkeys(range(_SLOTS))
    mine, lock = threading.local(), threading.Lock()
    carry, attempt = Courier.carry, Web._try  # noqa: SLF001 - it watches from outside

    def carried(self: Any, hop: Any, *rest: Any) -> Any:
        given = {**(hop.params or {}), **(hop.form or {})}
        weight = str(given.get("id") or given.get("ids") or "").count(",") + 1
        if "query" in given:
            weight = str(given["query"]).count(" OR ") + 1
        with lock:
            if mine.__dict__.get("slot") is None:
                mine.slot = numbers.popitem()[0]
        slots[mine.slot * 2 : mine.slot * 2 + 2] = weight.to_bytes(2, "big")
        return carry(self, hop, *rest)

    def tried(self: Any, errand: Any) -> Any:
        mine.slot = None
        try:
            return attempt(self, errand)
        finally:
            if mine.slot is not None:
                slots[mine.slot * 2 : mine.slot * 2 + 2] = bytes(2)
                with lock:
                    numbers[mine.slot] = None

    Courier.carry, Web._try = carried, tried  # type: ignore[method-assign]  # noqa: SLF001


def child() -> None:
    """Harvest what stdin names, beside the mapped file; what a process started by us does."""
    about = json.load(sys.stdin)
    watch(Path(about["watch"]))
    from utils import Library
    from utils.identifiers import Ids

    library = Library(**about["settings"])
    for _ in library.harvest([Ids(**ids) for ids in about["papers"]]):
        pass
    library.shelf.close()


def start(world: World, folder: Path, records: list[Record], name: str) -> Any:
    """A process that harvests *records*, and the file that says what it has under way."""
    folder.mkdir(parents=True, exist_ok=True)
    watched = folder / f"{name}.slots"
    watched.write_bytes(bytes(_SLOTS * 2))
    settings = {name.lower(): value for name, value in world.environment().items()}
    settings |= {"papers_dir": str(folder / "papers"), "papers_pace_dir": str(folder / "pace")}
    papers = [dict(part.split(":", 1) for part in ids_of(r).names()) for r in records]
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.harvest_killed", "--child"], stdin=subprocess.PIPE
    )
    assert process.stdin
    about = {"watch": str(watched), "settings": settings, "papers": papers}
    process.stdin.write(json.dumps(about).encode())
    process.stdin.close()
    return process, watched


def under_way(watched: Path) -> int:
    """How many questions a process that died had under way."""
    slots = watched.read_bytes()
    return sum(int.from_bytes(slots[n : n + 2], "big") for n in range(0, len(slots), 2))


def killed(world: World, folder: Path, records: list[Record], kills: int) -> dict[str, Any]:
    """One harvest that dies so often."""
    chance, lost, deaths = random.Random(7), 0, 0
    while True:
        asked = len(world.requests)
        process, watched = start(world, folder, records, "killed")
        if deaths < kills:
            while len(world.requests) == asked and process.poll() is None:
                time.sleep(0.02)
            pause = 2.5 * chance.random() ** 2
            try:
                process.wait(pause)
            except subprocess.TimeoutExpired:
                process.kill()
        if process.wait() == 0:
            break
        lost += under_way(watched)
        deaths += 1
    return {"deaths": deaths, "under_way": lost, **told(world, folder, records)}


def beside(world: World, folder: Path, records: list[Record], processes: int) -> dict[str, Any]:
    """Several processes at once; each has two of as many parts of the list as there are."""
    parts = [records[n::processes] for n in range(processes)]
    lists = [[*parts[n], *parts[(n + 1) % processes]] for n in range(processes)]
    running = [start(world, folder, one, f"beside{n}")[0] for n, one in enumerate(lists)]
    ended = [process.wait() for process in running]
    return {"ended": ended, **told(world, folder, records)}


def told(world: World, folder: Path, records: list[Record]) -> dict[str, Any]:
    """What was asked, what of it twice, and what came."""
    library = library_of(world, folder)
    found = [library.shelf.find(ids_of(record)) for record in records]
    kinds = Counter(stored.kind if stored else "nothing" for stored in found)
    library.shelf.close()
    twice = repeats(world.requests)
    asked = questions(world.requests)
    return {
        "requests": len(world.requests),
        "questions": len(asked),
        "repeats": twice.total(),
        "by_host": dict(twice),
        "refused": sum(world.refused.values()),
        "kinds": dict(kinds),
    }


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=int, default=100)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child()
        return
    with World(field=2 * options.papers, latency=0.05) as world, tempfile.TemporaryDirectory() as t:
        records = [r for r in world.field if r.branch.split("_")[0] not in _BRANCHES]
        records = records[: options.papers]
        for run, many in ((killed, options.kills), (beside, options.processes)):
            if many:
                world.reset()
                began = time.perf_counter()
                found = run(world, Path(t) / run.__name__, records, many)
                found["seconds"] = round(time.perf_counter() - began, 1)
                print(f"{run.__name__}: {json.dumps(found)}", flush=True)


if __name__ == "__main__":
    main()
