"""Store everything that happened in a review, with time and version, in ``review.db``.

Events are never changed. A record keeps its key (``ps-…``) permanently, because screening programs
return it with their decisions. Decisions are stored as each file states them; for one screener,
stage and record the latest decision counts. Of the answers about a pair of records (is one the
duplicate of the other?), the latest answer of anybody counts.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..command_line import command_line
from ..errors import StoreFailed, UnknownName
from ..lists.decisions import Decision, PairChoice, ScreenedRecord, Stage
from ..lists.pasted import ListEntry
from ..model.job import JobSearch
from ..model.paper import Paper, paper_from_row, to_row, utc_now
from ..system import safe_files, sqlite
from ..system.nearest import suggest_nearest_name
from ..system.plain_text import one_line
from ..system.process import get_version

LEDGER_FILE = "review.db"
SCHEMA_VERSION = 1
AT_UPDATES = "at each update"
"""Marks the citation searches that updates make, in the column ``limits``."""
_LOCK_TIMEOUT_S = 30.0
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
# Ledgers of earlier versions get these with their next event.
_ADDED_TABLES = (
    """CREATE TABLE IF NOT EXISTS notes (event INTEGER NOT NULL, key TEXT NOT NULL,
        screener TEXT NOT NULL, note TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS rayyan_keys (rayyan_key TEXT PRIMARY KEY, key TEXT NOT NULL)""",
)
_DUPLICATES = "duplicates"
"""The stage of answers about pairs; their key in the table has both keys of the pair."""
_DUPLICATE_REASON = re.compile(r"duplicate of (ps-[0-9a-f]{12})")
# The latest decision for each screener, stage and record.
_LATEST_DECISIONS = """SELECT key, stage, screener, choice, reasons FROM decisions WHERE rowid IN
    (SELECT max(rowid) FROM decisions GROUP BY key, stage, screener)
    AND choice <> 'withdrawn' ORDER BY rowid"""
# The searches of the latest update, and all citation searches.
_CURRENT_SEARCHES = """SELECT arm, kind, search, limits FROM searches
    WHERE event = (SELECT max(number) FROM events WHERE what = 'update')
    OR event IN (SELECT number FROM events WHERE what = 'snowball') ORDER BY rowid"""


@dataclass(frozen=True, slots=True)
class ReviewEvent:
    """An event of a review: time, version of Papershelf, kind and details."""

    number: int
    at: str
    version: str
    what: str
    detail: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ReviewRecord:
    """A record of the review; each paper has one record.

    Parameters
    ----------
    arm : str
        ``databases`` (and registers), or ``other`` methods.
    event : int
        The number of the event that added the record.
    """

    key: str
    asked: str
    arm: str
    event: int
    paper: Paper

    @property
    def entry(self) -> ListEntry:
        """The record as an entry of a harvest's list."""
        return ListEntry(self.asked, self.paper.ids, None if self.paper.ids else self.paper)


@dataclass(frozen=True, slots=True)
class PairAnswer:
    """The latest answer about two records: *key* is the duplicate of *other*, or is not."""

    key: str
    other: str
    choice: PairChoice
    screener: str


@dataclass(frozen=True, slots=True)
class SearchRun:
    """The last run of a search: its arm, the kind of source, and its limits in words."""

    arm: str
    kind: str
    search: JobSearch
    limits: str = ""


def _add_up_citation_hits(before: SearchRun, one: SearchRun) -> SearchRun:
    """Add the hits of two citation searches."""
    hits, taken = before.search.hits + one.search.hits, before.search.taken + one.search.taken
    return replace(one, search=replace(one.search, hits=hits, taken=taken))


def make_record_key(entry: ListEntry) -> str:
    """Return the permanent key of a record, a hash of the text of its first entry.

    >>> from utils.model.identifiers import Ids
    >>> make_record_key(ListEntry("PMID 1", Ids(pmid="1")))
    'ps-2fab71005cea'
    """
    return f"ps-{hashlib.sha256(entry.asked.encode()).hexdigest()[:12]}"


def build_unknown_review_error(folder: Path) -> UnknownName:
    """Return the error for a missing review, with the reviews that are there."""
    names = sorted(path.parent.name for path in folder.parent.glob(f"*/{LEDGER_FILE}"))
    known = f"There are: {', '.join(names)}." if names else ""
    msg = f"There is no review {one_line(folder.name)[:60]}."
    new = f"To make one: {command_line('review new NAME')}"
    return UnknownName(msg, suggest_nearest_name(folder.name, names) or known, new)


class ReviewLedger:
    """The ledger of one review; each step is a transaction, and other processes can read."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / LEDGER_FILE
        if not self.path.exists():
            raise build_unknown_review_error(folder)

    @classmethod
    def create(cls, folder: Path) -> ReviewLedger:
        """Create a ledger in *folder*; an existing ledger is left unchanged."""
        path = folder / LEDGER_FILE
        opened = closing(sqlite.open_database(path, _LOCK_TIMEOUT_S))
        with _convert_to_store_failed(path), opened as db, sqlite.transaction(db):
            if sqlite.read_schema_version(db) == 0:
                for table in _TABLES:
                    db.execute(table)
                db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        ledger = cls(folder)
        if not any(True for _ in ledger.list_events()):
            with ledger.record_event("new", {"review": folder.name}):
                pass
        return ledger

    # -- writing -----------------------------------------------------------------------------

    @contextmanager
    def record_event(self, what: str, detail: Mapping[str, Any]) -> Iterator[EventWriter]:
        """Record an event with all its rows in one transaction."""
        with self._open_connection() as db, sqlite.transaction(db):
            insert = "INSERT INTO events (at, version, what, detail) VALUES (?, ?, ?, ?)"
            for table in _ADDED_TABLES:
                db.execute(table)
            done = db.execute(insert, (utc_now(), get_version(), what, _to_json(detail)))
            yield EventWriter(db, int(done.lastrowid or 0))

    # -- reading -----------------------------------------------------------------------------

    def list_events(self) -> Iterator[ReviewEvent]:
        """Yield all events, oldest first."""
        for number, at, made_by, what, detail in self._fetch_rows(
            "SELECT number, at, version, what, detail FROM events ORDER BY number"
        ):
            yield ReviewEvent(number, at, made_by, what, json.loads(detail))

    def list_records(self) -> list[ReviewRecord]:
        """Return all records, in the order in which they were added."""
        return [
            ReviewRecord(key, asked, arm, event, paper_from_row(json.loads(paper)))
            for key, asked, arm, event, paper in self._fetch_rows(
                "SELECT key, asked, arm, event, paper FROM records ORDER BY number"
            )
        ]

    def list_searches(self) -> list[SearchRun]:
        """Return the last run of each search; citation searches by updates are summed up."""
        made: dict[object, SearchRun] = {}
        for at, (arm, kind, search, limits) in enumerate(self._fetch_rows(_CURRENT_SEARCHES)):
            one = SearchRun(arm, kind, JobSearch(**json.loads(search)), limits)
            same = one.search.name if limits == AT_UPDATES else at
            before = made.get(same)
            made[same] = _add_up_citation_hits(before, one) if before else one
        return list(made.values())

    def list_decisions(self) -> dict[str, list[Decision]]:
        """Return the latest decision of every screener at every stage, by record key."""
        made: dict[str, list[Decision]] = {}
        for key, decision in self._list_latest_decisions():
            if isinstance(decision, Decision):
                made.setdefault(key, []).append(decision)
        return made

    def list_pair_answers(self) -> list[PairAnswer]:
        """Return the latest answer about each pair of records, in the order of the answers."""
        made: dict[frozenset[str], PairAnswer] = {}
        for _, answer in self._list_latest_decisions():
            if isinstance(answer, PairAnswer):
                pair = frozenset((answer.key, answer.other))
                made.pop(pair, None)
                made[pair] = answer
        return list(made.values())

    def _list_latest_decisions(self) -> Iterator[tuple[str, Decision | PairAnswer]]:
        """Yield decisions by record key, and answers about pairs.

        An exclusion "duplicate of KEY" is an answer, too: the desk once wrote answers so, and a
        screening program may.
        """
        keys = {key for (key,) in self._fetch_rows("SELECT key FROM records")}
        for place, stage, screener, choice, told in self._fetch_rows(_LATEST_DECISIONS):
            decision = Decision(screener, choice, stage, tuple(json.loads(told)))
            if stage == _DUPLICATES:
                [other] = decision.reasons
                key = place.replace(other, "").strip()
                yield place, PairAnswer(key, other, choice, screener)
            elif (other := _find_duplicate_reason(decision, keys)) and other != place:
                yield place, PairAnswer(place, other, "duplicate", screener)
            else:
                yield place, decision

    def find_former_decision(self, key: str, stage: Stage, screener: str) -> Decision | None:
        """Return the decision before a screener's latest one on a record; None without one."""
        rows = self._fetch_rows(
            """SELECT choice, reasons FROM decisions WHERE key = ? AND stage = ? AND screener = ?
            ORDER BY rowid DESC LIMIT 1 OFFSET 1""",
            (key, stage, screener),
        )
        if not rows or rows[0][0] == "withdrawn":
            return None
        return Decision(screener, rows[0][0], stage, tuple(json.loads(rows[0][1])))

    def list_screened_batches(self) -> list[list[str]]:
        """Return the keys of records by the import that first decided on them, oldest first."""
        batches: dict[int, list[str]] = {}
        query = """SELECT min(event), key FROM decisions WHERE stage = 'title_abstract'
            GROUP BY key ORDER BY 1, min(rowid)"""
        for event, key in self._fetch_rows(query):
            batches.setdefault(event, []).append(key)
        return list(batches.values())

    def list_labels(self) -> dict[str, list[str]]:
        """Return the labels of records, by record key."""
        made: dict[str, list[str]] = {}
        for key, label in self._fetch_rows("SELECT DISTINCT key, label FROM labels ORDER BY rowid"):
            made.setdefault(key, []).append(label)
        return made

    def list_notes(self) -> dict[str, list[tuple[str, str]]]:
        """Return the notes of screeners, by record key: screener and note."""
        made: dict[str, list[tuple[str, str]]] = {}
        query = "SELECT DISTINCT key, screener, note FROM notes ORDER BY rowid"
        for key, screener, note in self._select_from_added_table("notes", query):
            made.setdefault(key, []).append((screener, note))
        return made

    def list_rayyan_keys(self) -> dict[str, str]:
        """Return the keys of records, by Rayyan's keys in earlier imports."""
        return dict(
            self._select_from_added_table("rayyan_keys", "SELECT rayyan_key, key FROM rayyan_keys")
        )

    def list_unmatched_rows(self) -> list[tuple[int, str, str, str]]:
        """Return the unmatched rows of decision files: event, place, title, reason."""
        return list(
            self._fetch_rows("SELECT event, place, title, why FROM unmatched ORDER BY rowid")
        )

    def _fetch_rows(self, query: str, values: Sequence[str] = ()) -> list[Any]:
        with self._open_connection() as db:
            return db.execute(query, values).fetchall()

    def _select_from_added_table(self, table: str, query: str) -> list[Any]:
        """Return the rows of an added table; none where the ledger does not have it yet."""
        tables = self._fetch_rows("SELECT name FROM sqlite_master WHERE type = 'table'")
        return self._fetch_rows(query) if (table,) in tables else []

    @contextmanager
    def _open_connection(self) -> Iterator[sqlite3.Connection]:
        """Open the database of the ledger, and close it at the end of the block."""
        with (
            _convert_to_store_failed(self.path),
            closing(sqlite.open_database(self.path, _LOCK_TIMEOUT_S)) as db,
        ):
            if (found := sqlite.read_schema_version(db)) != SCHEMA_VERSION:
                msg = f"The ledger {self.path} is of another version ({found})."
                raise StoreFailed(msg, "It was made by a newer Papershelf: update this one.")
            yield db


class EventWriter:
    """Writes the rows of one event."""

    def __init__(self, db: sqlite3.Connection, number: int) -> None:
        self._db = db
        self.number = number

    def set_event_detail(self, detail: Mapping[str, Any]) -> None:
        """Set the details of the event once they are known."""
        update = "UPDATE events SET detail = ? WHERE number = ?"
        self._db.execute(update, (_to_json(detail), self.number))

    def add_records(self, arm: str, entries: Iterable[tuple[ListEntry, Paper]]) -> int:
        """Add the records that are new; return their number."""
        insert = """INSERT OR IGNORE INTO records (key, asked, arm, event, paper)
            VALUES (?, ?, ?, ?, ?)"""
        rows = [
            (make_record_key(entry), entry.asked, arm, self.number, _to_json(to_row(paper)))
            for entry, paper in entries
        ]
        before = self._db.total_changes
        self._db.executemany(insert, rows)
        return self._db.total_changes - before

    def update_records(self, papers: Mapping[str, Paper]) -> None:
        """Replace the papers of records, by record key."""
        rows = [(_to_json(to_row(paper)), key) for key, paper in papers.items()]
        self._db.executemany("UPDATE records SET paper = ? WHERE key = ?", rows)

    def add_searches(self, searches: Iterable[SearchRun]) -> None:
        """Add the searches of an update."""
        rows = [
            (self.number, one.arm, one.kind, _to_json(asdict(one.search)), one.limits)
            for one in searches
        ]
        self._db.executemany("INSERT INTO searches VALUES (?, ?, ?, ?, ?)", rows)

    def add_decisions(self, matched: Iterable[tuple[str, ScreenedRecord]]) -> int:
        """Add the contents of a decision file, by record key; return the number of decisions."""
        at, rows, labels = utc_now(), [], []
        notes, rayyan_keys = [], []
        for key, one in matched:
            notes += [(self.number, key, *note) for note in one.notes]
            rayyan_keys += [(one.rayyan_key, key)] if one.rayyan_key else []
            labels += [(self.number, key, label) for label in one.labels]
            rows += [(self.number, *_to_columns(key, d), at) for d in one.decisions]
        self._db.executemany("INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        self._db.executemany("INSERT INTO labels VALUES (?, ?, ?)", labels)
        self._db.executemany("INSERT INTO notes VALUES (?, ?, ?, ?)", notes)
        self._db.executemany("INSERT OR REPLACE INTO rayyan_keys VALUES (?, ?)", rayyan_keys)
        return len(rows)

    def withdraw_decision(self, key: str, stage: Stage, screener: str) -> None:
        """Withdraw a screener's decision on a record; the row of the decision stays."""
        row = (self.number, key, stage, screener, "withdrawn", "[]", utc_now())
        self._db.execute("INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def add_unmatched_rows(self, rows: Sequence[tuple[str, str, str]]) -> None:
        """Add rows that match no record: place, title, reason."""
        made = [(self.number, *row) for row in rows]
        self._db.executemany("INSERT INTO unmatched VALUES (?, ?, ?, ?)", made)


def filter_decisions_by_stage(decisions: Iterable[Decision], stage: Stage) -> list[Decision]:
    """Return the decisions of one stage."""
    return [one for one in decisions if one.stage == stage]


def _to_columns(key: str, one: Decision) -> tuple[str, str, str, str, str]:
    """Return a decision's columns; the key of an answer about a pair has both keys."""
    place = " ".join(sorted((key, *one.reasons))) if one.stage == _DUPLICATES else key
    return place, one.stage, one.screener, one.choice, _to_json(one.reasons)


def _find_duplicate_reason(decision: Decision, keys: Collection[str]) -> str:
    """Return the record of which an excluded record is the duplicate; "" without one."""
    if (decision.stage, decision.choice) != ("title_abstract", "exclude"):
        return ""
    found = [match[1] for one in decision.reasons if (match := _DUPLICATE_REASON.fullmatch(one))]
    return next((key for key in found if key in keys), "")


@contextmanager
def _convert_to_store_failed(path: Path) -> Iterator[None]:
    """Raise SQLite's errors as `StoreFailed`."""
    try:
        with safe_files.disk_errors(path):
            yield
    except sqlite3.Error as error:
        what = "is damaged" if sqlite.is_damage_error(error) else "cannot be read or written"
        hint = "Check the disk, its permissions and other users of it; then try again."
        raise StoreFailed(f"The ledger {path} {what}: {error}.", hint) from error


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
