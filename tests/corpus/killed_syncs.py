"""Syncs that are killed again and again: ``python -m tests.corpus.killed_syncs FOLDER SEED KILLS``.

Every child takes up the same sync and dies before or after a commit or a request drawn by lot.
After every death the database is read without Papershelf's help: nothing of the sync is in it, or
all. A sync that came to its end is followed by the next, of a new corpus.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import sys
import traceback
from contextlib import closing, suppress
from pathlib import Path

from sqlalchemy import event

from tests.killed import Fate, Stage
from tests.world import World
from utils import Library
from utils.web.transport import Transport

_TERM, _PAPERS, _BATCH = "crowd[ti]", 60, 10
_STEPS = 70  # of some sixty commits and requests, before and after


def library_of(world: World, folder: Path) -> Library:
    addresses = {name.lower(): value for name, value in world.environment().items()}
    folders = {"papers_dir": folder / "papers", "papers_pace_dir": folder / "pace"}
    return Library(**addresses, **folders, ncbi_request_delay_ms=0)


def child(world: World, folder: Path, at: int) -> int:
    """Sync in a process of its own, which dies at a step; how it ended."""
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    try:
        import utils.corpus.sync as module

        module.BATCH = _BATCH
        corpus = library_of(world, folder).corpus
        if at:
            fate = Fate(at)
            fate.around(Transport, "carry")
            event.listen(corpus.database.engine, "commit", lambda _: fate.step())
            event.listen(corpus.database.engine, "checkin", lambda *_: fate.step())
        corpus.sync("k", _TERM)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        os._exit(1)


def kept(folder: Path) -> tuple[int, int, int, int]:
    """Records, members, watermarks, highest version: as another program would find out."""
    path = folder / "papers/.papershelf/corpus/corpus.db"
    counts = [0, 0, 0, 0]
    if path.exists():
        queries = (
            "SELECT count(*) FROM corpus_records",
            "SELECT count(*) FROM corpus_members",
            "SELECT count(last_edat) FROM corpus_checkpoints",
            "SELECT coalesce(max(version), 0) FROM corpus_records",
        )
        with closing(sqlite3.connect(path, timeout=30)) as db:
            with suppress(sqlite3.OperationalError):  # killed before there were tables
                counts = [db.execute(query).fetchone()[0] for query in queries]
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    return counts[0], counts[1], counts[2], counts[3]


def main() -> None:
    """Kill so many, and say how it went in JSON."""
    folder, seed, kills = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    Stage()
    import utils.corpus.sync  # noqa: F401 - else every child does

    deaths, syncs, asked = 0, 0, 0
    whole = (_PAPERS, _PAPERS, 1, 1)
    with World(crowd=_PAPERS) as world:
        while deaths < kills:
            world.reset()
            # Clocks of children that die do not move on this one's: nobody is too fast here.
            world.desk.turn = lambda *_: 1  # type: ignore[method-assign]
            at = folder / str(syncs)
            while deaths < kills:
                status = child(world, at, round(_STEPS ** chance.random()) + chance.randrange(3))
                assert kept(at) in {(0, 0, 0, 0), whole}, kept(at)
                if status == 0:
                    break
                assert status == -signal.SIGKILL, status
                deaths += 1
            if kept(at) != whole:
                assert child(world, at, 0) == 0
            assert kept(at) == whole, kept(at)
            syncs += 1
            fetched = [r for r in world.requests if r.path.endswith("efetch.fcgi")]
            asked += len(fetched)
    # What is staged is never asked for again: a death costs one batch at the most.
    assert asked <= syncs * _PAPERS // _BATCH + deaths, asked
    sys.stdout.write(json.dumps({"syncs": syncs, "deaths": deaths}))


if __name__ == "__main__":
    main()
