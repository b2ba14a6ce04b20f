"""Years of cron: ``python -m quality.histories.corpus FOLDER SEED HISTORIES [DATABASE_URL]``.

Between two runs PubMed deletes records, merges one into another, retracts, enters under another
day, takes in late, brings back, and changes words, so that a record is found by one question, by
another, or by none. Runs sync two questions that share records; half of them are killed before or
after a commit or a request drawn by lot, or at any instant, and of those some are only taken up
by the run of another day. Whenever a sync comes to its end, the members of its question are what
PubMed has that matches, each with the contents that PubMed sends, and the deleted are gone; the
sync has said so itself.
"""

from __future__ import annotations

import json
import random
import signal
import sys
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path

from sqlalchemy import text

from quality.histories.sync_deaths import ended, library_of, sync_till
from tests.killed import Stage
from tests.world import Record, World
from utils.corpus.compression import decompress_text
from utils.corpus.database import CorpusDatabase
from utils.corpus.schema import metadata
from utils.corpus.stored_records import serialize_paper_and_hash
from utils.demo.pubmed_xml import pubmed_article
from utils.readers.pubmed import iterate_records
from utils.settings import load_settings

_PAPERS, _RUNS, _CHANGES = 40, 10, 6
_QUESTIONS = {"crowd": "crowd[ti]", "reports": "report[ti]"}  # a word of the title each
_LATE = 4  # days after which PubMed shows what it took in or revised; an overlap is five
_STEPS, _LONGEST_S = 90, 1.5
_KILLED = -signal.SIGKILL


class Calendar(Stage):
    """A clock that sleeping moves on, and nights."""

    @property
    def today(self) -> date:
        return datetime.fromtimestamp(self.now(), UTC).date()

    def pass_days(self, days: int) -> None:
        self._ahead += days * 86_400

    def begin_at_noon(self) -> None:
        """So that no midnight falls into a run."""
        self._ahead += (129_600 - self.now() % 86_400) % 86_400


class PubMed:
    """What PubMed has, and what its nights do to it."""

    def __init__(self, world: World, chance: random.Random, calendar: Calendar) -> None:
        self.world, self.chance, self.calendar = world, chance, calendar
        crowd = [record for record in world.papers if record.branch == "crowd"]
        self.alive = {record.pmid: record for record in crowd}
        self.deleted: dict[str, Record] = {}
        self.unrevised: set[str] = set()  # entered under another day, without any revision
        self.nights = (
            self.delete, self.merge, self.retract, self.enter_again, self.reword, self.add,
            self.revive,
        )  # fmt: skip

    def night(self) -> None:
        """Change a few records."""
        for _ in range(self.chance.randint(1, _CHANGES)):
            self.chance.choice(self.nights)()

    def matching(self, key: str) -> dict[str, Record]:
        word = _QUESTIONS[key].partition("[")[0]
        return {
            pmid: record
            for pmid, record in self.alive.items()
            if word in record.title.lower().split()
        }

    def any_record(self) -> Record:
        return self.alive[self.chance.choice(sorted(self.alive))]

    def put(self, record: Record, *, revised: bool = True) -> None:
        if revised:
            # No revision of a record is older than the one before it.
            record = replace(record, revised=max(self.some_day(), record.last_revised))
            self.unrevised.discard(record.pmid)
        self.alive[record.pmid] = record
        self.deleted.pop(record.pmid, None)
        self.world.put(record)

    def some_day(self) -> str:
        """Today, or a few days before: PubMed shows late what it has done."""
        return str(self.calendar.today - timedelta(days=self.chance.randint(0, _LATE)))

    def delete(self) -> None:
        record = self.any_record()
        self.deleted[record.pmid] = self.alive.pop(record.pmid)
        self.world.delete(record.pmid)

    def merge(self) -> None:
        """One record stays, and takes over words of the other."""
        self.delete()
        kept, other = self.any_record(), list(self.deleted.values())[-1]
        self.put(replace(kept, title=f"{kept.title} and {other.title}"))

    def retract(self) -> None:
        record = self.any_record()
        types = dict.fromkeys((*record.types, "Retracted Publication"))
        self.put(replace(record, types=tuple(types)))

    def enter_again(self) -> None:
        record = self.any_record()
        days = self.chance.choice((0, 3, 40, 4_000, 20_000))
        entered = str(self.calendar.today - timedelta(days=days))
        revised = self.chance.random() < 0.5
        if not revised:
            self.unrevised.add(record.pmid)
        self.put(replace(record, entered=entered, revised=record.last_revised), revised=revised)

    def reword(self) -> None:
        """Found by both questions, by one, or by none."""
        record = self.any_record()
        words = record.title.split()
        words[0] = self.chance.choice(("Crowd", "Alone"))
        words[1] = self.chance.choice(("report", "note", "report"))
        self.put(replace(record, title=" ".join(words)))

    def add(self) -> None:
        new = str(31_000_001 + len(self.alive) + len(self.deleted))
        days = self.chance.choice((0, 2, 4, 400))
        entered = str(self.calendar.today - timedelta(days=days))
        title = self.chance.choice(("Crowd report", "Alone report", "Crowd note"))
        self.put(replace(self.any_record(), pmid=new, title=f"{title} {new}", entered=entered))

    def revive(self) -> None:
        if self.deleted:
            self.put(self.deleted[self.chance.choice(sorted(self.deleted))])


class Cron:
    """Runs of a machine's cron, one after another, of one corpus."""

    def __init__(self, pubmed: PubMed, folder: Path, database_url: str) -> None:
        self.pubmed, self.folder, self.database_url = pubmed, folder, database_url
        self.chance = pubmed.chance
        self.deaths = self.syncs = 0
        self.members: dict[str, set[str]] = {}

    def history(self) -> None:
        for _ in range(_RUNS):
            self.pubmed.calendar.pass_days(self.chance.choice((1, 1, 3, 7, 30, 45)))
            self.pubmed.night()
            for key in _QUESTIONS:
                self.run(key)

    def run(self, key: str) -> None:
        """Sync a question, killed or not; what came to its end is looked at."""
        while self.chance.random() < 0.5:
            status = self.child(key, doomed=True)
            if status == 0:
                break
            assert status == _KILLED, status
            self.deaths += 1
            if self.chance.random() < 0.4:
                return  # till the run of another day
        else:
            assert self.child(key, doomed=False) == 0
        self.syncs += 1
        self.examine(key)

    def child(self, key: str, *, doomed: bool) -> int:
        """Sync in a process of its own; how it ended."""
        outside = doomed and self.chance.random() < 0.3
        at = round(_STEPS ** self.chance.random()) if doomed and not outside else 0
        seconds = self.chance.random() * _LONGEST_S
        sizes = self.chance.choice((7, 9_999)), self.chance.choice((7, 1_000))
        full = self.chance.random() < 0.1
        work = partial(self._sync, key, at, sizes, full)
        return ended(work, seconds if outside else 0.0)

    def _sync(self, key: str, at: int, sizes: tuple[int, int], full: bool) -> None:
        from utils.corpus import sync, sync_jobs

        sync.MAX_IDS_PER_REQUEST, (sync._MAX_SWEPT_HITS, sync_jobs._PAGE) = 10, sizes
        settings = {"database_url": self.database_url} if self.database_url else {}
        library = library_of(self.pubmed.world, self.folder, **settings)
        sync_till(at, library, self.folder, key, _QUESTIONS[key], full=full)

    def examine(self, key: str) -> None:
        """Hold what is stored, read by plain SQL, against PubMed."""
        wanted = self.pubmed.matching(key)
        told = json.loads((self.folder / "told.json").read_text(encoding="utf-8"))
        assert (told["members"], told["members_at_pubmed"]) == (len(wanted), len(wanted)), told
        assert not told["warnings"], told
        query = text(
            "SELECT r.pmid, paper, edat, lr, retracted, gone FROM corpus_members m "
            "JOIN corpus_records r ON r.pmid = m.pmid WHERE query_key = :key"
        )
        settings = load_settings(database_url=self.database_url or None)
        database = CorpusDatabase.from_settings(settings, self.folder / "papers")
        with database.open_reading() as connection:
            stored = {str(row.pmid): row for row in connection.execute(query, {"key": key})}
            gone = text("SELECT pmid FROM corpus_records WHERE gone")
            dead = set(map(str, connection.execute(gone).scalars()))
        database.close()
        assert stored.keys() == wanted.keys(), stored.keys() ^ wanted.keys()
        lost = self.members.get(key, set()) & self.pubmed.deleted.keys()
        assert lost <= dead, lost - dead
        self.members[key] = set(wanted)
        for pmid, record in wanted.items():
            row = stored[pmid]
            kept = decompress_text(row.paper) if isinstance(row.paper, bytes) else row.paper
            assert (bool(row.retracted), bool(row.gone)) == (record.retracted, False), record
            title = json.loads(kept)["title"]
            assert title == f"{record.title}.", record
            if pmid not in self.pubmed.unrevised:
                assert (row.edat, row.lr) == (record.entered, record.last_revised), record
                assert kept == _as_sent(record), record


def _as_sent(record: Record) -> str:
    xml = f"<PubmedArticleSet>{pubmed_article(record)}</PubmedArticleSet>"
    (paper,) = iterate_records(xml.encode())
    return serialize_paper_and_hash(paper)[0]


def main() -> None:
    """Live through so many histories, and say how it went in JSON."""
    folder, seed, histories = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    database_url = sys.argv[4] if sys.argv[4:] else ""
    calendar = Calendar()
    calendar.begin_at_noon()
    import utils.corpus.sync  # noqa: F401 - else every child does

    deaths = syncs = 0
    with World(crowd=_PAPERS, per_day=5) as world:
        for number in range(seed, seed + histories):
            world.reset()
            # Clocks of children that die do not move on this one's: nobody is too fast here.
            world.desk.turn = lambda *_: 1  # type: ignore[method-assign]
            if database_url:
                database = CorpusDatabase.from_settings(
                    load_settings(database_url=database_url), folder
                )
                metadata.drop_all(database.engine)
                database.close()
            cron = Cron(
                PubMed(world, random.Random(number), calendar), folder / str(number), database_url
            )
            try:
                cron.history()
            except BaseException:
                sys.stderr.write(f"history {number}\n")
                raise
            deaths, syncs = deaths + cron.deaths, syncs + cron.syncs
    sys.stdout.write(json.dumps({"histories": histories, "syncs": syncs, "deaths": deaths}))


if __name__ == "__main__":
    main()
