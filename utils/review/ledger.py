"""``review.db``: everything that happened in a review, with time and version.

Events are never changed. A record keeps its key (``ps-…``) for good: it is what goes out to
screening programs and comes back. Decisions are kept as each file said them; of one screener, stage
and record the latest counts.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..command_line import command_line
from ..errors import NotFound, StoreFailed
from ..lists.decisions import Decision, ScreenedRecord, Stage
from ..lists.pasted import Entry
from ..model.job import Search
from ..model.paper import Paper, paper_from_row, to_row, utc_now
from ..system import safe_files, sqlite
from ..system.process import get_version

FILE = "review.db"
VERSION = 1
AT_UPDATES = "at each update"
"""The limits of a citation search that updates make."""
_PATIENCE_S = 30.0
_TABLES = (
    """CREATE TABLE events (number INTEGER PRIMARY KEY, at TEXT NOT NULL, version TEXT NOT NULL,
        what TEXT NOT NULL, detail TEXT NOT NULL)""",
    """CREATE TABLE records (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
        asked TEXT NOT NULL, arm TEXT NOT NULL, event INTEGER NOT NULL, paper TEXT NOT NULL)""",
    """CREATE TABLE searches (event INTEGER NOT NULL, arm TEXT NOT NULL, kind TEXT NOT NULL,
        search TEXT NOT NULL, limits TEXT NOT NULL)""",
    """CREATE TABLE decisions (event INTEGER NOT NULL, key TEXT NOT NULL, stage TEXT NOT NULL,
        screener TEXT NOT NULL, choice TEXT NOT NULL, reasons TEXT NOT NULL, at TEXT NOT NULL)""",
    """CREATE TABLE labels (event INTEGER NOT NULL, key TEXT NOT NULL, label TEXT NOT NULL)""",
    """CREATE TABLE unmatched (event INTEGER NOT NULL, place TEXT NOT NULL, title TEXT NOT NULL,
        why TEXT NOT NULL)""",
    "CREATE INDEX decisions_key ON decisions (key)",
)
# Of one screener, stage and record the latest word.
_LATEST = """SELECT key, stage, screener, choice, reasons FROM decisions WHERE rowid IN
    (SELECT max(rowid) FROM decisions GROUP BY key, stage, screener) ORDER BY rowid"""
# Of searches the latest update; citation searching adds up.
_SEARCHES = """SELECT arm, kind, search, limits FROM searches
    WHERE event = (SELECT max(number) FROM events WHERE what = 'update')
    OR event IN (SELECT number FROM events WHERE what = 'snowball') ORDER BY rowid"""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened: when, under which version of Papershelf, and what."""

    number: int
    at: str
    version: str
    what: str
    detail: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Record:
    """A record of the review, each paper once.

    Parameters
    ----------
    arm : str
        ``databases`` (and registers), or ``other`` methods.
    event : int
        The update that brought it.
    """

    key: str
    asked: str
    arm: str
    event: int
    paper: Paper

    @property
    def entry(self) -> Entry:
        """As lists of a harvest have it."""
        return Entry(self.asked, self.paper.ids, None if self.paper.ids else self.paper)


@dataclass(frozen=True, slots=True)
class Searched:
    """A search as it was run last, its arm, the kind of source, and its limits in words."""

    arm: str
    kind: str
    search: Search
    limits: str = ""


def _added(before: Searched, one: Searched) -> Searched:
    hits, taken = before.search.hits + one.search.hits, before.search.taken + one.search.taken
    return replace(one, search=replace(one.search, hits=hits, taken=taken))


def key_of(entry: Entry) -> str:
    """The name of a record for good, made of what first asked for it.

    >>> from utils.model.identifiers import Ids
    >>> key_of(Entry("PMID 1", Ids(pmid="1")))
    'ps-2fab71005cea'
    """
    return f"ps-{hashlib.sha256(entry.asked.encode()).hexdigest()[:12]}"


class ReviewLedger:
    """The ledger of one review. Each step is a transaction; other processes may read along."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        if not self.path.exists():
            raise NotFound(
                f"There is no review {folder.name}.", f"Make one: {command_line('review new NAME')}"
            )

    @classmethod
    def create(cls, folder: Path) -> ReviewLedger:
        """A new ledger in *folder*; one that is there stays as it is."""
        path = folder / FILE
        opened = closing(sqlite.open_database(path, _PATIENCE_S))
        with _errors(path), opened as db, sqlite.transaction(db):
            if sqlite.read_schema_version(db) == 0:
                for table in _TABLES:
                    db.execute(table)
                db.execute(f"PRAGMA user_version = {VERSION}")
        ledger = cls(folder)
        if not any(True for _ in ledger.events()):
            with ledger.event("new", {"review": folder.name}):
                pass
        return ledger

    # -- writing -----------------------------------------------------------------------------

    @contextmanager
    def event(self, what: str, detail: Mapping[str, Any]) -> Iterator[Writer]:
        """One thing that happens, with all it brings, or none of it."""
        with self._opened() as db, sqlite.transaction(db):
            insert = "INSERT INTO events (at, version, what, detail) VALUES (?, ?, ?, ?)"
            done = db.execute(insert, (utc_now(), get_version(), what, _json(detail)))
            yield Writer(db, int(done.lastrowid or 0))

    # -- reading -----------------------------------------------------------------------------

    def events(self) -> Iterator[Event]:
        """All events, the oldest first."""
        for number, at, made_by, what, detail in self._rows(
            "SELECT number, at, version, what, detail FROM events ORDER BY number"
        ):
            yield Event(number, at, made_by, what, json.loads(detail))

    def records(self) -> list[Record]:
        """All records, in the order in which they came."""
        return [
            Record(key, asked, arm, event, paper_from_row(json.loads(paper)))
            for key, asked, arm, event, paper in self._rows(
                "SELECT key, asked, arm, event, paper FROM records ORDER BY number"
            )
        ]

    def searches(self) -> list[Searched]:
        """Each search as it was run last; who cites, as all updates found it together."""
        made: dict[object, Searched] = {}
        for at, (arm, kind, search, limits) in enumerate(self._rows(_SEARCHES)):
            one = Searched(arm, kind, Search(**json.loads(search)), limits)
            same = one.search.name if limits == AT_UPDATES else at
            before = made.get(same)
            made[same] = _added(before, one) if before else one
        return list(made.values())

    def decisions(self) -> dict[str, list[Decision]]:
        """The latest word of every screener at every stage, by the keys of records."""
        made: dict[str, list[Decision]] = {}
        for key, stage, screener, choice, reasons in self._rows(_LATEST):
            decision = Decision(screener, choice, stage, tuple(json.loads(reasons)))
            made.setdefault(key, []).append(decision)
        return made

    def labels(self) -> dict[str, list[str]]:
        """Labels of records, by key."""
        made: dict[str, list[str]] = {}
        for key, label in self._rows("SELECT DISTINCT key, label FROM labels ORDER BY rowid"):
            made.setdefault(key, []).append(label)
        return made

    def unmatched(self) -> list[tuple[int, str, str, str]]:
        """Rows of decision files that are no record of the review: event, place, title, why."""
        return list(self._rows("SELECT event, place, title, why FROM unmatched ORDER BY rowid"))

    def _rows(self, query: str) -> list[Any]:
        with self._opened() as db:
            return db.execute(query).fetchall()

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with _errors(self.path), closing(sqlite.open_database(self.path, _PATIENCE_S)) as db:
            if (found := sqlite.read_schema_version(db)) != VERSION:
                msg = f"The ledger {self.path} is of another version ({found})."
                raise StoreFailed(msg, "It was made by a newer Papershelf: update this one.")
            yield db


class Writer:
    """What one event writes."""

    def __init__(self, db: sqlite3.Connection, number: int) -> None:
        self._db = db
        self.number = number

    def note(self, detail: Mapping[str, Any]) -> None:
        """Say what the event was, once it is known."""
        update = "UPDATE events SET detail = ? WHERE number = ?"
        self._db.execute(update, (_json(detail), self.number))

    def add_records(self, arm: str, entries: Iterable[tuple[Entry, Paper]]) -> int:
        """Add records that are new; how many."""
        insert = """INSERT OR IGNORE INTO records (key, asked, arm, event, paper)
            VALUES (?, ?, ?, ?, ?)"""
        rows = [
            (key_of(entry), entry.asked, arm, self.number, _json(to_row(paper)))
            for entry, paper in entries
        ]
        before = self._db.total_changes
        self._db.executemany(insert, rows)
        return self._db.total_changes - before

    def update_records(self, papers: Mapping[str, Paper]) -> None:
        """Write what is known of records by now, by their keys."""
        rows = [(_json(to_row(paper)), key) for key, paper in papers.items()]
        self._db.executemany("UPDATE records SET paper = ? WHERE key = ?", rows)

    def add_searches(self, searches: Iterable[Searched]) -> None:
        """Write down the searches of an update."""
        rows = [
            (self.number, one.arm, one.kind, _json(asdict(one.search)), one.limits)
            for one in searches
        ]
        self._db.executemany("INSERT INTO searches VALUES (?, ?, ?, ?, ?)", rows)

    def add_decisions(self, matched: Iterable[tuple[str, ScreenedRecord]]) -> int:
        """Write down what a file says of records, by key; how many decisions."""
        at, rows, labels = utc_now(), [], []
        for key, one in matched:
            labels += [(self.number, key, label) for label in one.labels]
            rows += [
                (self.number, key, d.stage, d.screener, d.choice, _json(d.reasons), at)
                for d in one.decisions
            ]
        self._db.executemany("INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        self._db.executemany("INSERT INTO labels VALUES (?, ?, ?)", labels)
        return len(rows)

    def add_unmatched(self, rows: Sequence[tuple[str, str, str]]) -> None:
        """Write down rows that are no record of the review: place, title, why."""
        made = [(self.number, *row) for row in rows]
        self._db.executemany("INSERT INTO unmatched VALUES (?, ?, ?, ?)", made)


def stage_of(decisions: Iterable[Decision], stage: Stage) -> list[Decision]:
    """The decisions of one stage."""
    return [one for one in decisions if one.stage == stage]


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    """SQLite's errors as ours."""
    try:
        with safe_files.disk_errors(path):
            yield
    except sqlite3.Error as error:
        what = "is damaged" if sqlite.is_damaged(error) else "cannot be read or written"
        hint = "Look at the disk, its rights and who else uses it; then do the same again."
        raise StoreFailed(f"The ledger {path} {what}: {error}.", hint) from error


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
