"""What kills and neighbours cost: questions asked twice of the stand-in internet.

``uv run python -m quality.benchmarks.harvest_killed [--papers 100] [--kills 20] [--processes 4]``

First one harvest whose process is killed (SIGKILL) at random instants until it has died so often,
and then ends; then several processes that harvest overlapping lists on one shelf at once. Counted
is what was asked a second time, identifier by identifier where many go in one request, beside what
was under way when a process died: that much must be asked again, and nothing else.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.harvests import ids_of, library_of
from tests.repeats import SLOTS, questions, repeats, under_way, watch
from tests.world import Record, World

_BRANCHES = {"jina"}  # twenty requests a minute would be all there is to see


def child() -> None:
    """Harvest what stdin names, beside the mapped file; what a process started by us does."""
    about = json.load(sys.stdin)
    watch(Path(about["watch"]))
    from utils import Library
    from utils.model.identifiers import Ids

    library = Library(**about["settings"])
    for _ in library.harvest([Ids(**ids) for ids in about["papers"]]):
        pass
    library.shelf.close()


def start(world: World, folder: Path, records: list[Record], name: str) -> Any:
    """A process that harvests *records*, and the file that says what it has under way."""
    folder.mkdir(parents=True, exist_ok=True)
    watched = folder / f"{name}.slots"
    watched.write_bytes(bytes(2 * SLOTS))
    settings = {name.lower(): value for name, value in world.environment().items()}
    settings |= {"papers_dir": str(folder / "papers"), "papers_pace_dir": str(folder / "pace")}
    papers = [dict(part.split(":", 1) for part in ids_of(r).names()) for r in records]
    process = subprocess.Popen(
        [sys.executable, "-m", "quality.benchmarks.harvest_killed", "--child"],
        stdin=subprocess.PIPE,
    )
    assert process.stdin
    about = {"watch": str(watched), "settings": settings, "papers": papers}
    process.stdin.write(json.dumps(about).encode())
    process.stdin.close()
    return process, watched


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
    found = [library.shelf.find_text(ids_of(record)) for record in records]
    kinds = Counter(stored.kind if stored else "nothing" for stored in found)
    library.shelf.close()
    twice = repeats(world.requests)
    asked = questions(world.requests)
    return {
        "requests": len(world.requests),
        "questions": len(asked),
        "repeats": twice.total(),
        "by_host": dict(twice),
        "refused": dict(world.refused),
        "most_at_once": dict(world.peaks),
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
