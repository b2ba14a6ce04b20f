"""The tables of a ledger, their version, and how a new one is made.

``names`` maps every name of a looked-up paper to the first of the list that had it; ``round``
counts how often a paper was reopened, and an attempt belongs to the round it was made in. Version 2
says which version of the paper a text is, and tells records from abstracts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path

from ..system import sqlite

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


def migrate(db: sqlite3.Connection) -> tuple[sqlite3.Connection, int]:
    """Migrate a ledger of an earlier version; returns the connection to use, and the version.

    Where the shelf is read-only, a copy in memory is migrated.

    Raises
    ------
    sqlite3.Error
        It cannot be read, or the disk refuses.
    """
    if (version := sqlite.version(db)) != 1:
        return db, version
    try:
        _migrate_to_2(db)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_READONLY:
            raise
        db = in_memory(db)
        _migrate_to_2(db)
        db.execute("PRAGMA query_only = ON")
    return db, sqlite.version(db)


def _migrate_to_2(db: sqlite3.Connection) -> None:
    with sqlite.transaction(db):
        if sqlite.version(db) == 1:  # no other process was faster
            for statement in _TO_2:
                db.execute(statement)


def in_memory(db: sqlite3.Connection) -> sqlite3.Connection:
    """A copy of *db*, which is closed."""
    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    with closing(db):
        db.backup(copy)
    return copy


def create_file(
    path: Path, facts: Mapping[str, str], papers: Iterable[tuple[str, str, str | None]]
) -> None:
    """Make the file of a new ledger, all or nothing, with the job's facts and what was asked for.

    Raises
    ------
    sqlite3.Error, OSError
        The disk refused.
    """
    part = path.with_suffix(".part")
    # Also what belonged to a file that was deleted by hand: SQLite would take it for this one's.
    for name in (part.name, f"{part.name}-journal", f"{path.name}-wal", f"{path.name}-shm"):
        path.with_name(name).unlink(missing_ok=True)
    with closing(sqlite.connect(part, patience_s=0)) as db:
        db.executescript(f"BEGIN; {TABLES} PRAGMA user_version = {VERSION};")
        db.executemany("INSERT INTO job VALUES (?, ?)", facts.items())
        db.executemany(INSERT_ASKED, papers)
        db.execute("COMMIT")
        db.execute("PRAGMA journal_mode = WAL")  # of two who did this later, one would be refused
    part.replace(path)
