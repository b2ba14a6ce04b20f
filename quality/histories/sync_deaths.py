"""Syncs that are killed again and again.

``python -m quality.histories.sync_deaths FOLDER SEED KILLS``.

Every child takes up the same sync and dies before or after a commit or a request drawn by lot, or
at any instant. After every death the database is read without Papershelf's help: what was merged
stays, each record once with its membership, and the watermark moves with the last of them. A
corpus that is whole is synced again with a PubMed that deleted, revised and took in records; one
that came to its end is followed by the next, of a new corpus. The counts that the last call tells
are those of all calls together.
"""

import json
import os
import random
import signal
import sqlite3
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import event

from tests.killed import Fate, Stage
from tests.world import World
from utils import Library
from utils.http.transport import Transport

_TERM, _PAPERS, _BATCH, _PAGE = "crowd[ti]", 60, 10, 7
_FIRST, _FEW = 30_000_001, 6  # so many are deleted, revised and taken in
_STEPS = 110  # of some hundred commits and requests, before and after
_LONGEST_S = 2.0
_NEVER = threading.Event()


class Kept(NamedTuple):
    """What another program finds: counts, and how many have which version."""

    records: int = 0
    members: int = 0
    gone: int = 0
    first_versions: int = 0
    second_versions: int = 0
    watermark: str = ""


_WHOLE = Kept(_PAPERS, _PAPERS, 0, _PAPERS, 0, "2023-01-01")
_AGAIN = Kept(_PAPERS + _FEW, _PAPERS, _FEW, _PAPERS, _FEW, "2023-02-01")
_TOLD = {"inserted": (_PAPERS, _FEW), "updated": (0, 2 * _FEW), "skipped": (0, _PAPERS - 2 * _FEW)}


def library_of(world: World, folder: Path, **settings: Any) -> Library:
    addresses = {name.lower(): value for name, value in world.environment().items()}
    folders = {"papers_dir": folder / "papers", "papers_pace_dir": folder / "pace"}
    return Library(**addresses, **folders, **settings, ncbi_request_delay_ms=0)


def child(world: World, folder: Path, at: int, seconds: float = 0.0) -> int:
    """Sync in a process of its own, which dies at a step or after *seconds*; how it ended."""

    def work() -> None:
        from utils.corpus import sync, sync_jobs

        sync.MAX_IDS_PER_REQUEST, sync_jobs._PAGE = _BATCH, _PAGE
        sync_till(at, library_of(world, folder), folder, "k", _TERM)

    return ended(work, seconds)


def sync_till(at: int, library: Library, folder: Path, *asked: str, full: bool = False) -> None:
    """Sync, and die at a step (0: live); what was told goes into the folder."""
    if at:
        fate, engine = Fate(at), library.corpus.database.engine
        fate.around(Transport, "send_request")
        event.listen(engine, "commit", lambda _: fate.step())
        event.listen(engine, "checkin", lambda *_: fate.step())
    done = library.corpus.sync(*asked, full=full)
    (folder / "told.json").write_text(json.dumps(asdict(done)), encoding="utf-8")


def ended(work: Callable[[], object], seconds: float = 0.0) -> int:
    """How a process of its own ended that does *work*, killed after *seconds* (0: not)."""
    pid = os.fork()
    if pid:
        if seconds:
            _NEVER.wait(seconds)
            os.kill(pid, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    try:
        work()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        os._exit(1)


def kept(folder: Path) -> Kept:
    """What another program would find out."""
    path = folder / "papers/.papershelf/corpus/corpus.db"
    found: dict[str, Any] = {}
    if path.exists():
        count = "SELECT count(*) FROM corpus_records"
        queries = {
            "records": count,
            "members": "SELECT count(*) FROM corpus_members",
            "gone": f"{count} WHERE gone",
            "first_versions": f"{count} WHERE version = 1",
            "second_versions": f"{count} WHERE version = 2",
            "watermark": "SELECT coalesce(max(last_edat), '') FROM corpus_checkpoints",
        }
        with closing(sqlite3.connect(path, timeout=30)) as db:
            with suppress(sqlite3.OperationalError):  # killed before there were tables
                found = {name: db.execute(query).fetchone()[0] for name, query in queries.items()}
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    return Kept(**found)


def is_open(folder: Path) -> bool:
    """Whether a job waits to be taken up: the call that ends it looks for what came since."""
    path = folder / "papers/.papershelf/corpus/corpus.db"
    if path.exists():
        query = "SELECT count(*) FROM corpus_sync_jobs WHERE state = 'open'"
        with closing(sqlite3.connect(path)) as db, suppress(sqlite3.OperationalError):
            return bool(db.execute(query).fetchone()[0])
    return False


def examine(before: Kept, after: Kept, again: bool) -> None:
    """What was merged stays; nothing is there twice, or told before it is there."""
    versions = after.first_versions + after.second_versions
    assert before.records <= after.records == versions, after
    assert before.gone <= after.gone, after
    assert before.second_versions <= after.second_versions, after
    if again:
        assert after.watermark == _WHOLE.watermark or after == _AGAIN, after
    else:
        assert after.records == after.members == after.first_versions, after
        assert not after.watermark or after == _WHOLE, after


def change(world: World) -> None:
    """Delete, revise and take in a few each."""
    for number in range(_FEW):
        world.delete(str(_FIRST + number))
        old = world.record(str(_FIRST + 20 + 3 * number))
        assert old
        world.put(replace(old, title=f"{old.title}, revised", revised="2023-03-01"))
        world.put(replace(old, pmid=str(31_000_000 + number), entered="2023-02-01"))


class Run:
    """Corpora one after another, until so many children have died."""

    def __init__(self, world: World, chance: random.Random, kills: int) -> None:
        self.world, self.chance, self.kills = world, chance, kills
        self.deaths = self.syncs = self.asked = self.taken_up = 0

    def sync(self, folder: Path, again: bool) -> None:
        """Kill a sync as often as is still due, then let it come to its end."""
        before = kept(folder)
        while self.deaths < self.kills:
            at = round(_STEPS ** self.chance.random()) + self.chance.randrange(3)
            seconds = self.chance.random() * _LONGEST_S if self.chance.random() < 0.3 else 0.0
            was_open = is_open(folder)
            status = child(self.world, folder, 0 if seconds else at, seconds)
            examine(before, after := kept(folder), again)
            before = after
            if status == 0:
                self.taken_up += was_open
                break
            assert status == -signal.SIGKILL, status
            self.deaths += 1
        whole = _AGAIN if again else _WHOLE
        if before != whole:
            self.taken_up += is_open(folder)
            assert child(self.world, folder, 0) == 0
            told = json.loads((folder / "told.json").read_text(encoding="utf-8"))
            wanted = {name: counts[again] for name, counts in _TOLD.items()}
            assert {name: told[name] for name in _TOLD} == wanted, (before, told)
        assert kept(folder) == whole, kept(folder)
        self.syncs += 1

    def corpus(self, folder: Path) -> None:
        """Sync a new corpus, change PubMed, and sync it again."""
        self.world.reset()
        # Clocks of children that die do not move on this one's: nobody is too fast here.
        self.world.desk.turn = lambda *_: 1  # type: ignore[method-assign]
        self.sync(folder, again=False)
        if is_open(folder):  # a further one was killed: how its end tells of changes is not this
            assert child(self.world, folder, 0) == 0
            self.taken_up += 2
        change(self.world)
        self.sync(folder, again=True)
        requests = [r for r in self.world.requests if r.path.endswith("efetch.fcgi")]
        self.asked += len(requests)


def main() -> None:
    """Kill so many, and say how it went in JSON."""
    folder, seed, kills = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    Stage()
    import utils.corpus.sync  # noqa: F401 - else every child does

    with World(crowd=_PAPERS) as world:
        run = Run(world, random.Random(seed), kills)
        while run.deaths < kills:
            run.corpus(folder / str(run.syncs))
    # What is staged is never asked for again: a death costs one batch at the most.
    # Who ends another's job looks once more for what came since.
    most = (run.syncs + run.taken_up) * -(-(_PAPERS + _FEW) // _BATCH) + run.deaths
    assert run.asked <= most, (run.asked, most)
    sys.stdout.write(json.dumps({"syncs": run.syncs, "deaths": run.deaths}))


if __name__ == "__main__":
    main()
