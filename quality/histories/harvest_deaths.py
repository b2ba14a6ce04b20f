"""Harvests that are killed again and again.

``python -m quality.histories.harvest_deaths FOLDER SEED KILLS``.

Every child takes up the same harvest and dies at a step drawn by lot: before or after a commit, a
flush, a rename, a deletion, a request (so that each of these is met), or at any instant at all
(``kill -9`` from outside). A harvest that came to its end is followed by the next one, until
enough have died. After every death the folder is examined without Papershelf's help; at the end,
no more may have been asked twice than was under way at the deaths.

A process of its own, because it forks: nothing but the stand-in internet may be running here.
"""

import importlib
import json
import os
import random
import signal
import sqlite3
import sys
import threading
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

from tests.harvests import assert_complete, assert_kept, ended, ids_of, library_of, torn
from tests.killed import Stage, doom
from tests.repeats import SLOTS, questions, repeats, under_way, watch
from tests.world import Record, World

Ends = dict[int, tuple[str, str, str]]

_PAPERS = 8
_MOST_STEPS = 500  # of some 700 that a harvest of so many papers takes
_MOST_S = 1.5
_KILLED = -signal.SIGKILL
# Branches of the field that end at a way of another name.
_BRANCHES_BESIDE = {
    "pmc_cloud": ("retracted", "pmc_manuscript"),
    "unpaywall": ("archived",),
    "semantic_scholar": ("scholar_copy",),
}
_NEVER = threading.Event()
_LATE = (
    *("requests", "lxml.html", "bs4", "markdownify", "diskcache", "jinja2", "backoff"),
    *("utils.harvest.jobs", "utils.readers.jats", "utils.readers.html", "utils.reports.page"),
)


class Chain:
    """One harvest, killed until it is through."""

    def __init__(self, world: World, folder: Path, records: list[Record], chance: random.Random):
        self.world = world
        self.folder = folder
        self.records = records
        self.chance = chance
        self.deaths: Counter[str] = Counter()
        self.watched = folder / "under way"
        self.lost = 0  # questions under way at a death

    @property
    def ledgers(self) -> list[Path]:
        return list((self.folder / "papers/.papershelf/jobs").glob("*.db"))

    def go(self, most: int) -> None:
        """Kill at the most so often, then let it come to its end, and look at it."""
        while sum(self.deaths.values()) < most:
            before, had = self._ended(), self._had()
            asked = len(self.world.requests)
            how, status = self._child()
            if status == 0:
                break
            assert status == _KILLED, status
            self.deaths[how] += 1
            self.lost += under_way(self.watched)
            self._examine(before, had, asked)
        before, had, asked = self._ended(), self._had(), len(self.world.requests)
        library = library_of(self.world, self.folder)
        for part in self.folder.rglob("*.part"):  # swept after an hour
            part.unlink()
        assert self._spared() == 0
        harvest = library.harvest(map(ids_of, self.records))
        self._examine(before, had, asked)
        assert_complete(library, harvest, self.records)
        twice = repeats(self.world.requests)
        again = [one for one, count in questions(self.world.requests).items() if count > 1]
        assert twice.total() <= self.lost, (twice, self.lost, again)
        for record, row in zip(self.records, harvest.ledger.read_outcomes(), strict=True):
            branches = (row.via, *_BRANCHES_BESIDE.get(row.via, ()))
            assert row.state == "abstract" or record.branch.startswith(branches), (
                record.branch,
                row,
            )
        library.shelf.close()

    def _child(self) -> tuple[str, int]:
        """Work on the harvest in a child that dies; how it was to die, and how it ended."""
        outside = self.chance.random() < 0.3
        # As many die within the first twenty steps as between the hundredth and the last.
        at = round(_MOST_STEPS ** self.chance.random())
        seconds = _MOST_S * self.chance.random() ** 2
        child = self._fork(0 if outside else at)
        if outside:
            _NEVER.wait(seconds)
            os.kill(child, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return ("at any instant" if outside else "at a step"), status

    def _spared(self) -> int:
        """Work on the harvest in a child that lives; how it ended."""
        return os.waitstatus_to_exitcode(os.waitpid(self._fork(0), 0)[1])

    def _fork(self, at: int) -> int:
        # Always in a child: readers of formats that this process had would be shared by all.
        self.folder.mkdir(parents=True, exist_ok=True)
        self.watched.write_bytes(bytes(2 * SLOTS))
        child = os.fork()
        if child == 0:
            try:
                watch(self.watched)
                if at:
                    doom(at)
                library = library_of(self.world, self.folder)
                for _ in library.harvest(map(ids_of, self.records)):
                    pass
                library.shelf.close()
                os._exit(0)
            finally:
                os._exit(1)
        return child

    def _ended(self) -> Ends:
        return ended(self.ledgers[0]) if self.ledgers else {}

    def _had(self) -> list[Record]:
        """The papers whose texts are on the shelf, as another program would find out.

        For one whose accepted manuscript is there, the published version is still looked for.
        """
        catalogue = self.folder / "papers/.papershelf/catalogue.db"
        if not catalogue.exists():
            return []
        with closing(sqlite3.connect(catalogue, timeout=30)) as db:
            query = """SELECT name FROM names JOIN papers ON id = paper WHERE kind = 'full_text'
                AND json_extract(record, '$.stored.version') <> 'accepted'"""
            with suppress(sqlite3.OperationalError):  # killed before there were tables
                names = {name for (name,) in db.execute(query)}
                return [record for record in self.records if f"pmid:{record.pmid}" in names]
        return []

    def _examine(self, before: Ends, had: list[Record], asked: int) -> None:
        """No file is torn, what had ended is as it was, and nobody was asked for it again."""
        papers = self.folder / "papers"
        assert not torn(papers), torn(papers)
        now = self._ended()
        assert {number: now[number] for number in before} == before
        if self.ledgers:
            assert_kept(papers, self.ledgers[0])
        told = " ".join(f"{r.path} {sorted(r.params.items())}" for r in self.world.requests[asked:])
        for record in [*had, *(self.records[number - 1] for number in before)]:
            names = [name for name in (record.pmid, record.pmcid, record.doi) if name]
            assert not any(name in told for name in names), f"asked for {names} again"


def main() -> None:
    """Kill so many, and say how it went in JSON."""
    folder, seed, kills = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    Stage()
    for module in _LATE:
        importlib.import_module(module)  # else every child does
    deaths: Counter[str] = Counter()
    harvests, told = 0, (0, 0, 0)
    with World(field=200) as world:
        while sum(deaths.values()) < kills:
            world.reset()
            records = chance.sample([r for r in world.field if "pdf" not in r.branch], _PAPERS)
            chain = Chain(world, folder / str(harvests), records, chance)
            chain.go(kills - sum(deaths.values()))
            deaths += chain.deaths
            harvests += 1
            asked, twice, lost = told
            requests = world.requests
            told = asked + len(requests), twice + repeats(requests).total(), lost + chain.lost
    about = dict(zip(("requests", "repeats", "under_way"), told, strict=True))
    sys.stdout.write(json.dumps({"harvests": harvests, "deaths": deaths, **about}))


if __name__ == "__main__":
    main()
