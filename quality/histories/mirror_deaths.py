"""Mirrors that are killed again and again.

``python -m quality.histories.mirror_deaths FOLDER SEED KILLS``.

A child brings a mirror up to date and dies by ``kill -9`` at a random one of its steps (what it
sends, flushes, renames, deletes or commits), or a worker of it does at any instant; the next child
goes on. In the end nothing is lost and nothing doubled: the same parts and the same generation,
byte by byte, as of a run that nobody disturbed, and no file fetched more often than runs died.

A process of its own, because it forks: nothing but the stand-in internet may be running here.
"""

import importlib
import json
import os
import random
import signal
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.killed import Stage, doom
from tests.mirror.small_mirror import article, articles, bytes_of, mirror_of, updated, year
from tests.world import World
from tests.world.citation_collection import Snapshot, zipped
from tests.world.pubmed_files import Bulk, name_of, packed
from utils.mirror import Mirror, compaction, pmc
from utils.mirror.pmc import Choice

_MOST_STEPS = 250  # of some three hundred that it takes
_EACH = 8  # deaths of one mirror
_NEVER = threading.Event()
_LATE = (
    *("pyarrow.parquet", "pyarrow.csv", "duckdb", "lxml.etree", "requests"),
    *("utils.mirror.verify", "utils.mirror.pmc", "utils.mirror.text_passages", "tantivy"),
)


def bulk_of(chance: random.Random) -> Bulk:
    """A year of five files and as many updates: revisions and deletions in awkward order."""
    bulk = year(files=5, each=8)
    for number in range(6, 11):
        pmids = chance.sample(range(1, 50), 6)
        gone = [str(pmid) for pmid in chance.sample(range(1, 50), 3)]
        told = [article(pmid, f"by {number}") for pmid in (*pmids, pmids[0])]
        bulk.updates[name_of(26, number)] = packed(told, gone)
    return bulk


def truth(bulk: Bulk) -> dict[int, str]:
    """What must be live, by a second and simpler reading of the same files."""
    import gzip
    import re

    live: dict[int, str] = {}
    for _, data in sorted({**bulk.baseline, **bulk.updates}.items()):
        body = gzip.decompress(data).decode()
        told, _, gone = body.partition("<DeleteCitation>")
        for found in re.finditer(r"<PMID[^>]*>(\d+)<.*?<ArticleTitle>(.*?)<", told, re.S):
            live[int(found[1])] = found[2]
        for pmid in re.findall(r"<PMID[^>]*>(\d+)<", gone):
            live.pop(int(pmid), None)
    return live


def in_a_child(work: Callable[[], Any], *, at: int = 0, seconds: float = 0) -> int:
    """Do it in a child that dies at a step, or after some seconds (0: at none); how it ended."""
    child = os.fork()
    if child == 0:
        try:
            if at:
                doom(at)
            work()
            os._exit(0)
        except BaseException:  # noqa: BLE001 - whatever it was, this process ends here
            traceback.print_exc()
        finally:
            os._exit(1)
    if seconds:
        _NEVER.wait(seconds)
        os.kill(child, signal.SIGKILL)  # who has ended is still there to be waited for
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill_a_worker(parent: int, chance: random.Random) -> bool:
    """Kill one of the processes that work for *parent*; False where it has none."""
    children = Path(f"/proc/{parent}/task/{parent}/children")
    found = children.read_text(encoding="utf-8").split() if children.exists() else []
    workers = [
        pid
        for pid in found
        if "spawn_main" in Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
    ]
    if not workers:
        return False
    os.kill(int(chance.choice(workers)), signal.SIGKILL)
    return True


def chain(world: World, folder: Path, chance: random.Random, most: int) -> Counter[str]:
    """Kill one mirror until it is through, and look at it."""
    world.reset()
    bulk = bulk_of(chance)
    world.bulk = replace(bulk, updates={})
    mirror, deaths = mirror_of(world, folder / "killed"), Counter[str]()
    for state in (world.bulk, bulk):
        world.bulk = state
        while True:
            at = round(_MOST_STEPS ** chance.random()) if deaths.total() < most else 0
            status = in_a_child(lambda: updated(mirror), at=at)
            if status == 0:
                break
            assert status == -signal.SIGKILL, status
            deaths["at a step"] += 1
    examine(world, folder, bulk, deaths.total())
    return deaths


def examine(world: World, folder: Path, bulk: Bulk, deaths: int) -> None:
    """Compare with a mirror that was made at once, and with the files themselves."""
    fetched = Counter(one.path for one in world.requests if one.path.endswith(".xml.gz"))
    again = fetched.total() - len(fetched)
    assert again <= 6 * deaths, (again, deaths)  # so many may be on their way at a death

    killed, whole = mirror_of(world, folder / "killed"), mirror_of(world, folder / "whole")
    for state in (replace(bulk, updates={}), bulk):
        world.bulk = state
        assert in_a_child(lambda: updated(whole)) == 0

    def look() -> None:
        ours, theirs = bytes_of(killed), bytes_of(whole)
        assert sorted(ours) == sorted(theirs), (set(ours) - set(theirs), set(theirs) - set(ours))
        assert ours == theirs
        rows = killed.sql().sql("SELECT pmid, title FROM records").fetchall()
        assert len(rows) == len(dict(rows)) == killed.current().papers
        assert dict(rows) == truth(bulk)
        assert not [one for one in killed.verify() if one.faults]

    assert in_a_child(look) == 0


def citations_chain(world: World, folder: Path, chance: random.Random, most: int) -> Counter[str]:
    """Kill the making of a table of citations until it is through, and compare it with another."""
    world.reset()
    world.bulk = bulk_of(chance)
    pairs = [(chance.randrange(1, 50), chance.randrange(1, 1_200_000)) for _ in range(80)]
    world.snapshots = [Snapshot("2026-10-05T14:00:00Z", zipped(pairs))]
    killed, whole = (mirror_of(world, folder / name) for name in ("killed", "whole"))
    deaths = Counter[str]()
    for mirror in (killed, whole):
        assert in_a_child(lambda mirror=mirror: updated(mirror)) == 0
    while True:
        at = round(_MOST_STEPS ** chance.random()) if deaths.total() < most else 0
        status = in_a_child(lambda: [*killed.update_citations()], at=at)
        if status == 0:
            break
        assert status == -signal.SIGKILL, status
        deaths["of citations"] += 1
    assert in_a_child(lambda: [*whole.update_citations()]) == 0

    def look() -> None:
        from pyarrow import parquet

        from utils.mirror.citation_table import get_table_files

        ours, theirs = (
            [
                parquet.read_table(path)
                for path in get_table_files(one.folder, one.citations.table.name)
            ]
            for one in (killed, whole)
        )
        assert ours == theirs
        assert killed.citations.table.name == whole.citations.table.name
        assert killed.citations.table.edges == len(set(pairs))

    assert in_a_child(look) == 0
    return deaths


def pmc_chain(world: World, folder: Path, chance: random.Random, most: int) -> Counter[str]:
    """Kill a mirror of PMC, and the making of its index, until both are through."""
    world.reset()
    killed, whole = (mirror_of(world, folder / name) for name in ("killed", "whole"))
    there, deaths = [one for one in world.papers if one.cloud], Counter[str]()
    gone, newer, other = chance.sample(there, 3)
    edited = {
        gone.pmcid: replace(gone, cloud=()),
        newer.pmcid: replace(newer, cloud=(*newer.cloud, 20)),
        other.pmcid: replace(other, license="TDM"),
    }
    for state in ({}, edited):
        world.cloud.edited = dict(state)
        quarter = most // 4 if not state else 3 * most // 4
        _until_through(lambda: [*killed.update_pmc(Choice())], deaths, chance, quarter)
        half = most // 2 if not state else most
        _until_through(lambda: [*killed.index()], deaths, chance, half, "an index of PMC")
    fetched = Counter(one.path for one in world.requests if one.path.endswith(".xml"))
    assert fetched.total() - len(fetched) <= 2 * pmc.BATCH * deaths.total()
    for state in ({}, edited):
        world.cloud.edited = dict(state)
        assert in_a_child(lambda: [[*whole.update_pmc(Choice())], [*whole.index()]]) == 0

    def look() -> None:
        ours, theirs = bytes_of(killed), bytes_of(whole)
        assert sorted(ours) == sorted(theirs), (set(ours) - set(theirs), set(theirs) - set(ours))
        assert ours == theirs
        assert _indexed(killed) == _indexed(whole)
        assert killed.pmc_generations.get_published().papers == len(there) - 1
        assert killed.pmc_status()["articles"] == whole.pmc_status()["articles"]
        assert not [one for one in killed.verify(source="pmc") if one.faults]

    assert in_a_child(look) == 0
    return deaths


def _until_through(
    work: Callable[[], Any],
    deaths: Counter[str],
    chance: random.Random,
    most: int,
    name: str = "of PMC",
) -> None:
    """Let children die at it, at a step or at any instant, until one comes to its end."""
    while True:
        if deaths.total() >= most:
            assert in_a_child(work) == 0
            return
        at = 0 if chance.random() < 0.4 else round(_MOST_STEPS ** chance.random())
        status = in_a_child(work, at=at, seconds=0 if at else chance.random())
        if status == 0:
            return
        assert status == -signal.SIGKILL, status
        deaths[name] += 1


def _indexed(mirror: Mirror) -> list[bytes]:
    """All that the index of PMC's passages shows, each as often as it is there."""
    from tantivy import Query

    searcher = mirror.passage_indexes()[0].take_snapshot().searcher
    hits = searcher.search(Query.all_query(), 100_000).hits
    return sorted(bytes(searcher.doc(at)["shown"][0]) for _, at in hits)


def worker_chain(world: World, folder: Path, chance: random.Random, most: int) -> Counter[str]:
    """Kill workers of one run at any instant; it goes on, and is through in the end."""
    world.reset()
    bulk = bulk_of(chance)
    for number in range(11, 40):
        bulk.updates[name_of(26, number)] = articles(range(number, number + 40), f"by {number}")
    world.bulk = bulk
    mirror, deaths = mirror_of(world, folder / "killed"), Counter[str]()
    child = os.fork()
    if child == 0:
        try:
            done = updated(mirror, engine="processes", workers=2)
            os._exit(0 if not done.failed else 3)
        finally:
            os._exit(1)
    while True:
        _NEVER.wait(chance.random() * 1.5)
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            break
        if deaths.total() < most and kill_a_worker(child, chance):
            deaths["a worker"] += 1
    status = os.waitstatus_to_exitcode(status)
    if status == 3:  # three deaths in a row met the same file: it is set aside, and tried again
        assert in_a_child(lambda: updated(mirror)) == 0
    else:
        assert status == 0, status

    def look() -> None:
        rows = mirror.sql().sql("SELECT pmid, title FROM records").fetchall()
        assert len(rows) == len(dict(rows))
        assert dict(rows) == truth(bulk)
        assert not [one for one in mirror.verify() if one.faults]

    assert in_a_child(look) == 0
    return deaths


def main() -> None:
    """Kill so many, and say how it went in JSON."""
    folder, seed, kills = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chance, deaths, mirrors = random.Random(seed), Counter[str](), 0
    pmc.BATCH, compaction.MIN_SMALL_FILES = 4, 2
    Stage()
    for module in _LATE:
        importlib.import_module(module)
    with World() as world:
        while deaths.total() < kills:
            left = min(_EACH, kills - deaths.total())
            work = {1: citations_chain, 2: pmc_chain, 3: worker_chain}.get(mirrors % 4, chain)
            deaths += work(world, folder / str(mirrors), chance, left)
            mirrors += 1
    sys.stdout.write(json.dumps({"mirrors": mirrors, "deaths": deaths}))


if __name__ == "__main__":
    main()
