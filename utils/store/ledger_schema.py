"""The tables of a ledger, and their version.

``names`` maps every name of a looked-up paper to the first of the list that had it; ``round``
counts how often a paper was reopened, and an attempt belongs to the round it was made in.
"""

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
VERSION = 1
