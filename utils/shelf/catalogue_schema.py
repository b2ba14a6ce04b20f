"""The tables of a catalogue, and their version.

``papers`` has one row a text, with its record and its row of ``index.csv``; ``names`` maps every
identifier to the texts of one paper; ``words`` is the full-text index over title and abstract,
where SQLite was built with FTS5. ``unfinished`` names the files that a writer is about to change.
"""

from __future__ import annotations

import logging
import sqlite3

log = logging.getLogger(__name__)
VERSION = 2
_TABLES = """
CREATE TABLE schema_version (version INTEGER NOT NULL);
CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE papers (
    id INTEGER PRIMARY KEY,
    file TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    version TEXT NOT NULL,
    year TEXT NOT NULL,
    journal TEXT NOT NULL,
    retracted INTEGER NOT NULL,
    filed INTEGER NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    line TEXT NOT NULL,
    record TEXT NOT NULL
);
CREATE INDEX papers_file ON papers (file COLLATE NOCASE);
CREATE INDEX papers_version ON papers (version);
CREATE INDEX papers_filed ON papers (filed);
CREATE TABLE names (
    name TEXT NOT NULL,
    paper INTEGER NOT NULL REFERENCES papers (id) ON DELETE CASCADE,
    PRIMARY KEY (name, paper)
) WITHOUT ROWID;
CREATE INDEX names_paper ON names (paper);
CREATE TABLE unfinished (file TEXT PRIMARY KEY, task TEXT NOT NULL, pid INTEGER NOT NULL,
    since REAL NOT NULL) WITHOUT ROWID;
CREATE VIEW texts AS SELECT id,
    json_extract(record, '$.stored.paper.title') AS title,
    json_extract(record, '$.stored.paper.abstract') AS abstract FROM papers;
"""
WORDS = """
CREATE VIRTUAL TABLE words USING fts5 (title, abstract, content='texts', content_rowid='id',
    tokenize="unicode61 remove_diacritics 2");
"""


def read_version(connection: sqlite3.Connection) -> int | None:
    """Return the version of the tables; None when there are none yet."""
    query = "SELECT 1 FROM sqlite_master WHERE name = 'schema_version'"
    if connection.execute(query).fetchone() is None:
        return None
    row = connection.execute("SELECT version FROM schema_version").fetchone()
    return int(row[0]) if row else None


def create_tables(connection: sqlite3.Connection) -> None:
    """Make the tables, inside the caller's transaction."""
    for statement in _TABLES.split(";\n"):
        if statement.strip():
            connection.execute(statement)
    try:
        connection.execute(WORDS)
    except sqlite3.OperationalError as error:
        log.info("SQLite without FTS5 (%s): listings by word look through every paper.", error)
    connection.execute("INSERT INTO schema_version VALUES (?)", (VERSION,))


def has_words(connection: sqlite3.Connection) -> bool:
    """Return whether there is a full-text index."""
    query = "SELECT 1 FROM sqlite_master WHERE name = 'words'"
    return connection.execute(query).fetchone() is not None
