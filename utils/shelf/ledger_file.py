"""The file of a ledger: create, migrate, open and lock it, and convert values to its columns.

``names`` maps every name of a looked-up paper to the first of the list that had it
(`DuplicateFinder`); ``round`` counts how often a paper was reopened, and an attempt belongs to the
round it was made in. Version 2 says which version of the paper a text is, and tells records from
abstracts; a ledger of version 1 is migrated when it is opened. Values are turned into columns, and
back, by the functions from `to_request_row` on.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

from ..command_line import command_line
from ..errors import DamagedStore, InUse, StoreFailed, UnknownName
from ..lists.pasted import ListEntry
from ..model.identifiers import Ids
from ..model.job import PaperState
from ..model.paper import Attempt, Paper, StoredPaper, paper_from_row, to_row
from ..model.versions import infer_requested_version
from ..system import safe_files, sqlite
from ..system.nearest import suggest_nearest_name
from ..system.plain_text import replace_surrogates

TABLES = """
CREATE TABLE job (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE papers (
    number INTEGER PRIMARY KEY,
    asked TEXT NOT NULL,
    ids TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'pending',
    round INTEGER NOT NULL DEFAULT 0,
    rung TEXT NOT NULL DEFAULT '',
    paper TEXT,
    file TEXT NOT NULL DEFAULT '',
    source TEXT NOT NULL DEFAULT '',
    via TEXT NOT NULL DEFAULT '',
    license TEXT NOT NULL DEFAULT '',
    version TEXT NOT NULL DEFAULT '',
    sha256 TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT '',
    detail TEXT NOT NULL DEFAULT '',
    ended_at TEXT NOT NULL DEFAULT ''
);
CREATE INDEX papers_state ON papers (state);
CREATE TABLE names (name TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE attempts (
    at_number INTEGER NOT NULL, round INTEGER NOT NULL, source TEXT NOT NULL,
    outcome TEXT NOT NULL, detail TEXT NOT NULL, url TEXT NOT NULL, status INTEGER NOT NULL,
    seconds REAL NOT NULL, at TEXT NOT NULL
);
CREATE INDEX attempts_number ON attempts (at_number);
"""
INSERT_ASKED = "INSERT INTO papers (asked, ids, paper) VALUES (?, ?, ?)"
VERSION = 2
_TO_2 = (
    "ALTER TABLE papers ADD COLUMN version TEXT NOT NULL DEFAULT ''",
    """UPDATE papers SET version = 'preprint'
    WHERE state = 'full_text' AND via IN ('arxiv', 'europepmc_preprint')""",
    """UPDATE papers SET version = 'published' WHERE state = 'full_text'
    AND via IN ('pmc_cloud', 'efetch', 'europepmc', 'publisher', 'jina')""",
    """UPDATE papers SET state = 'record' WHERE state = 'abstract'
    AND trim(coalesce(json_extract(paper, '$.abstract'), '')) = ''""",
    "PRAGMA user_version = 2",
)


def migrate_ledger(db: sqlite3.Connection) -> tuple[sqlite3.Connection, int]:
    """Migrate a ledger of an earlier version; return the connection, and the version.

    Where the shelf is read-only, a copy in memory is migrated.

    Raises
    ------
    sqlite3.Error
        It cannot be read, or the disk refuses.
    """
    if (version := sqlite.read_schema_version(db)) != 1:
        return db, version
    try:
        _migrate_to_version_2(db)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_READONLY:
            raise
        db = copy_database_to_memory(db)
        _migrate_to_version_2(db)
        db.execute("PRAGMA query_only = ON")
    return db, sqlite.read_schema_version(db)


def _migrate_to_version_2(db: sqlite3.Connection) -> None:
    with sqlite.transaction(db):
        if sqlite.read_schema_version(db) == 1:  # no other process was faster
            for statement in _TO_2:
                db.execute(statement)


def copy_database_to_memory(db: sqlite3.Connection) -> sqlite3.Connection:
    """Return a copy of *db* in memory, and close *db*."""
    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    with closing(db):
        db.backup(copy)
    return copy


def create_ledger_file(
    path: Path, facts: Mapping[str, str], papers: Iterable[tuple[str, str, str | None]]
) -> None:
    """Create the file of a new ledger, all or nothing, with the job's facts and requested papers.

    Raises
    ------
    sqlite3.Error, OSError
        The disk refused.
    """
    part = path.with_suffix(".part")
    # Also what belonged to a file that was deleted by hand: SQLite would take it for this one's.
    for name in (part.name, f"{part.name}-journal", f"{path.name}-wal", f"{path.name}-shm"):
        path.with_name(name).unlink(missing_ok=True)
    with closing(sqlite.open_database(part, patience_s=0)) as db:
        db.executescript(f"BEGIN; {TABLES} PRAGMA user_version = {VERSION};")
        db.executemany("INSERT INTO job VALUES (?, ?)", facts.items())
        db.executemany(INSERT_ASKED, papers)
        db.execute("COMMIT")
        db.execute("PRAGMA journal_mode = WAL")  # of two who did this later, one would be refused
    safe_files.replace_file(part, path)


_PATIENCE_S = 30.0
_NAMED = 5  # harvests that a hint names, the newest


def open_ledger_file(path: Path) -> sqlite3.Connection:
    """Open a ledger's file; on a full disk, a read-only copy in memory."""
    try:
        return _open_database(path)
    except sqlite3.OperationalError as error:
        if not sqlite.is_disk_full_error(error):
            raise
        with suppress(OSError, sqlite3.Error):
            return _open_memory_copy(path)
        raise


def _open_memory_copy(path: Path) -> sqlite3.Connection:
    """Return a read-only copy in memory, because SQLite needs disk space for its own files."""
    with tempfile.TemporaryDirectory(prefix="papershelf-") as folder:
        for part in (path, path.with_name(f"{path.name}-wal")):
            if part.exists():
                shutil.copy(part, folder)
        db = copy_database_to_memory(_open_database(Path(folder, path.name)))
    db.execute("PRAGMA query_only = ON")
    return db


def _open_database(path: Path) -> sqlite3.Connection:
    db = sqlite.open_database(path, _PATIENCE_S)
    sqlite.enable_wal_mode(db, path, "NORMAL")
    return db


@contextmanager
def hold_ledger_lock(path: Path, patience_s: float = 1.0) -> Iterator[None]:
    """Hold the lock of a ledger among processes inside.

    Raises
    ------
    InUse
        Another process holds it.
    """
    with ExitStack() as stack:
        try:
            ours = stack.enter_context(sqlite.hold_process_lock(get_lock_path(path), patience_s))
        except sqlite3.Error as error:
            raise build_ledger_error(get_lock_path(path), error) from error
        if not ours:
            msg = f"The harvest {path.stem} is running in another process."
            raise InUse(msg, f"Wait for it, or follow it: {command_line('harvest status')}")
        yield


def get_lock_path(path: Path) -> Path:
    """Return the path of a ledger's lock file."""
    return path.with_suffix(".lock")


def build_ledger_error(path: Path, error: Exception) -> StoreFailed:
    """Return the error to raise for an error of SQLite or the disk."""
    if access_error := safe_files.find_access_error(path):
        return access_error
    msg = f"The ledger {path.name} could not be used: {error}."
    hint = "Free some disk space, and check that its folder can be written."
    if sqlite.is_lock_timeout(error):
        hint = "Another process holds it: wait until it has finished, or stop it."
    elif sqlite.is_damage_error(error):
        return build_damaged_ledger_error(path, str(error))
    return StoreFailed(msg, hint, file=str(path))


def build_damaged_ledger_error(path: Path, why: str) -> DamagedStore:
    """Return the error for a damaged ledger."""
    hint = (
        "Harvest the same query or list again: the ledger is rebuilt from it, from the shelf and "
        "from stored answers."
    )
    return DamagedStore(f"The ledger {path.name} is damaged: {why}.", hint, file=str(path))


def get_ledgers_folder(shelf: Path) -> Path:
    """Return the folder of a shelf's ledgers."""
    return shelf / ".papershelf" / "jobs"


def build_unknown_harvest_error(path: Path) -> UnknownName:
    """Return the error for a missing harvest; the hint names similar or recent ones."""
    others = sorted(path.parent.glob("*.db"), key=lambda one: -one.stat().st_mtime)
    names = [one.stem for one in others]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    newest = f"There are: {', '.join(names[:_NAMED])}{more}." if names else ""
    known = newest or "There is none on this shelf yet."
    hint = suggest_nearest_name(path.stem, names) or known
    return UnknownName(f"There is no harvest {path.stem}.", hint)


Asked = tuple[str, Ids] | ListEntry
"""The requested text and the identifiers in it, or an entry of a list."""


def to_request_row(entry: Asked) -> tuple[str, str, str | None]:
    """Return text, identifiers and description of a requested paper, as columns of its row."""
    asked, ids, paper, *_ = ListEntry(*entry)
    described = to_json(to_row(paper)) if paper and not ids else None
    return replace_surrogates(asked), to_ids_json(ids), described


def to_ids_json(ids: Ids) -> str:
    """Return identifiers as the JSON of their column; ``{}`` for none."""
    named = {name: value for name, value in to_row(ids).items() if value}
    return to_json(named)


def to_paper_end_columns(
    stored: StoredPaper, sha256: str, reason: str = "", detail: str = ""
) -> dict[str, str]:
    """Return the columns of a paper that ended with a file."""
    return {
        "state": stored.kind,
        "paper": to_json(to_row(stored.paper)),
        "file": Path(stored.path).name,
        "source": stored.source,
        "via": stored.via,
        "license": stored.license,
        "version": stored.version,
        "sha256": sha256,
        "reason": reason,
        "detail": replace_surrogates(detail),
    }


def to_attempt_row(attempt: Attempt) -> tuple[str | int | float, ...]:
    """Return an attempt as a row of the table of attempts."""
    return (
        attempt.source,
        attempt.outcome,
        replace_surrogates(attempt.detail),
        replace_surrogates(attempt.url),
        attempt.status,
        attempt.seconds,
        attempt.at,
    )


def parse_paper_state(text: str) -> PaperState:
    """Return the state in a row; an unknown one counts as pending."""
    states: tuple[PaperState, ...] = get_args(PaperState)
    return next((state for state in states if state == text), "pending")


@lru_cache(maxsize=200)  # between two rungs the same paper is read again, and by each report
def parse_paper_json(row: str) -> Paper:
    """Return the paper in a row's JSON."""
    return paper_from_row(json.loads(row))


def to_json(value: Any) -> str:
    """Return *value* as compact JSON."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


class DuplicateFinder:
    """Finds papers that share an identifier with a paper earlier in the list.

    Parameters
    ----------
    db : sqlite3.Connection
        Of the ledger; it is being written to.
    papers : Mapping[int, Paper]
        Those that are to be entered.
    """

    def __init__(self, db: sqlite3.Connection, papers: Mapping[int, Paper]) -> None:
        names = json.dumps(
            [name for paper in papers.values() for name in list_storable_identifiers(paper.ids)]
        )
        owned = "SELECT name, number FROM names WHERE name IN (SELECT value FROM json_each(?))"
        self._owners: dict[str, int] = dict(db.execute(owned, (names,)))
        told = """SELECT number, ids, asked FROM papers
            WHERE number IN (SELECT value FROM json_each(?))"""
        rows = db.execute(told, (json.dumps([*papers, *self._owners.values()]),)).fetchall()
        self._ids = {number: Ids(**json.loads(ids)) for number, ids, _ in rows}
        self._asked: dict[int, str] = {number: asked for number, _, asked in rows}

    def find_or_add(self, number: int, paper: Paper) -> int:
        """Return the number of the earlier paper that *paper* duplicates; else add it, return 0."""
        names = list_storable_identifiers(paper.ids)
        for first in sorted({self._owners[name] for name in names if name in self._owners}):
            as_asked = {is_preprint_request(self._asked[one]) for one in (first, number)}
            if first != number and len(as_asked) == 1 and not paper.ids.clash(self._ids[first]):
                return first
        self._ids[number] = paper.ids
        self._owners = dict.fromkeys(names, number) | self._owners
        return 0


def list_storable_identifiers(ids: Ids) -> list[str]:
    """Return the identifiers of a paper that a database can store."""
    return [name for name in ids.names() if name == replace_surrogates(name)]


def is_preprint_request(asked: str) -> bool:
    """Return whether a requested text names the preprint of a paper."""
    return infer_requested_version(Ids.maybe(asked)) == "preprint"
