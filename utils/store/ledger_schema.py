"""The tables of a ledger, their version, and how a new one is made.

``names`` maps every name of a looked-up paper to the first of the list that had it; ``round``
counts how often a paper was reopened, and an attempt belongs to the round it was made in. A ledger
of version 1 differs in what it counts, not in its tables.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path

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
VERSION = 2
_APART = """UPDATE papers SET state = 'record' WHERE state = 'abstract'
    AND trim(coalesce(json_extract(paper, '$.abstract'), '')) = ''"""


def renewed(db: sqlite3.Connection) -> int:
    """Bring a ledger of version 1 up to date; the version it has then.

    Papers without an abstract ended as ``abstract`` there.
    """
    [(version,)] = db.execute("PRAGMA user_version")
    if version != 1:
        return int(version)
    try:
        db.execute("BEGIN IMMEDIATE")
        db.execute(_APART)
        db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_READONLY:
            raise  # on a shelf that is only read, it is read as it is
    return VERSION


def new_file(path: Path, facts: Mapping[str, str], papers: Iterable[tuple[str, str]]) -> None:
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
    with closing(sqlite3.connect(part, isolation_level=None)) as db:
        db.executescript(f"BEGIN; {TABLES} PRAGMA user_version = {VERSION};")
        db.executemany("INSERT INTO job VALUES (?, ?)", facts.items())
        db.executemany("INSERT INTO papers (asked, ids) VALUES (?, ?)", papers)
        db.execute("COMMIT")
        db.execute("PRAGMA journal_mode = WAL")  # of two who did this later, one would be refused
    part.replace(path)
