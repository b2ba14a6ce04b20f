"""The database of the embedded finder: each passage's number and the place of its vector.

Independent of the corpus database (which may be PostgreSQL, or another SQLite): everything in
here is derived, so a damaged file is set aside and made again by indexing.

Every change gets the next *stamp*, written with the rows it touched: a reader that saw stamp 7
reads what is newer, and is up to date.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from ..command_line import command_line
from ..errors import StoreFailed
from ..model.passage import Filters, Passage
from ..system import sqlite
from ..system.plain_text import replace_surrogates
from ..system.safe_files import disk_errors, make_folder

FORMAT = 3
NAME = "words.db"
_BUSY_S = 60.0
_TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
-- What filters ask about: one row for all passages that share it, so a filter looks at few rows.
CREATE TABLE abouts (
    id INTEGER PRIMARY KEY, year INTEGER, journal TEXT, types TEXT, kind TEXT, retracted INTEGER,
    UNIQUE (year, journal, types, kind, retracted)
);
CREATE TABLE passages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL UNIQUE, paper TEXT NOT NULL,
    digest TEXT NOT NULL, about INTEGER NOT NULL, stamp INTEGER NOT NULL, row INTEGER
);
CREATE INDEX changed ON passages (stamp);
CREATE TABLE dead (row INTEGER PRIMARY KEY, stamp INTEGER NOT NULL);
CREATE INDEX died ON dead (stamp);
CREATE TABLE appended (start INTEGER PRIMARY KEY, rows INTEGER NOT NULL, crc INTEGER NOT NULL)
"""
_FIRST_FACTS: dict[str, Any] = {
    "format": FORMAT,
    "stamp": 0,
    "model": "",
    "dim": 0,
    "rows": 0,
    "passages": 0,
    "words": "",
    "words_since": 0,
}
"""``passages`` counts those with words; they have a later stamp than ``words_since``."""
HINT = (
    f"Index again: {command_line('corpus index')}. Nothing is lost, the passages are in the corpus."
)


class FilterFacts(NamedTuple):
    """The fields of a passage that filters compare; lower case, and year 0 if unknown."""

    year: int
    journal: str
    types: str
    kind: str
    retracted: int

    @classmethod
    def from_passage(cls, passage: Passage) -> FilterFacts:
        """Return the filter facts of a passage."""
        types = "".join(
            f"{replace_surrogates(name).casefold()}\n" for name in passage.publication_types
        )
        journal = replace_surrogates(passage.journal).casefold().strip()
        year = passage.year or 0
        return cls(year, journal, f"\n{types}", passage.kind, int(passage.retracted))


def build_filter_condition(filters: Filters) -> tuple[str, list[Any]]:
    """Return the SQL condition of filters on ``abouts``, and its parameters."""
    clauses = [] if filters.retracted else ["retracted = 0"]
    values: list[Any] = []
    if filters.year_from is not None:
        clauses.append("year >= max(1, ?)")
        values.append(filters.year_from)
    if filters.year_to is not None:
        clauses.append("year BETWEEN 1 AND ?")
        values.append(filters.year_to)
    if names := filters.journal_names:
        clauses.append("journal IN (SELECT value FROM json_each(?))")
        values.append(to_json_list([replace_surrogates(name).casefold().strip() for name in names]))
    if filters.publication_types:
        types = [f"\n{replace_surrogates(name).casefold()}\n" for name in filters.publication_types]
        clauses.append(f"({' OR '.join(['instr(types, ?)'] * len(types))})")
        values.extend(types)
    if filters.kind:
        clauses.append("kind = ?")
        values.append(filters.kind)
    return " AND ".join(clauses) or "1", values


def to_json_list(values: Sequence[Any]) -> str:
    """Return a list as one SQL parameter: ``IN (SELECT value FROM json_each(?))``."""
    return json.dumps(list(values))


class IndexDatabase:
    """One connection to ``words.db``, opened at first use and shared by threads in turn."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / NAME
        self._lock = threading.RLock()
        self._db: sqlite3.Connection | None = None
        self._inode = 0

    @contextmanager
    def open_reading(self) -> Iterator[sqlite3.Connection | None]:
        """Open a read transaction; yield None before the first write.

        Raises
        ------
        StoreFailed
            The file is damaged (it is then set aside), busy, or cannot be read.
        """
        with self._lock, self._convert_to_store_failed("read"):
            if not self.path.exists():
                self._close_connection()
                yield None
                return
            with sqlite.transaction(self._open_connection(), writes=False) as db:
                yield db

    @contextmanager
    def open_writing(self) -> Iterator[sqlite3.Connection]:
        """Open the only write transaction, which is committed in full or not at all.

        Raises
        ------
        StoreFailed
            The file is damaged (it is then set aside), busy, or the disk refuses.
        """
        with self._lock, self._convert_to_store_failed("write"):
            make_folder(self.folder)
            with sqlite.transaction(self._open_connection()) as db:
                if not has_index_tables(db):
                    _create_tables(db)
                yield db

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._close_connection()

    def _open_connection(self) -> sqlite3.Connection:
        if self._db is not None and self._inode != self._get_inode():
            self._close_connection()  # another process set the file aside
        if self._db is None:
            db = sqlite.open_database(self.path, _BUSY_S)
            self._db, self._inode = db, self._get_inode()
            # A lost last commit is indexed again; a torn file there is none in WAL either way.
            sqlite.enable_wal_mode(db, self.path, "NORMAL")
            db.execute("PRAGMA mmap_size = 268435456")
        return self._db

    def _get_inode(self) -> int:
        with suppress(FileNotFoundError):
            return self.path.stat().st_ino
        return -1

    def _close_connection(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    @contextmanager
    def _convert_to_store_failed(self, action: str) -> Iterator[None]:
        try:
            with disk_errors(self.path, action):
                yield
        except sqlite3.Error as error:
            if not sqlite.is_damage_error(error):
                hint = "Another process may be indexing, or the disk is full: try again later."
                msg = f"Could not {action} the index of passages: {error}."
                raise StoreFailed(msg, hint, file=str(self.path)) from error
            aside = self._move_damaged_file_aside()
            msg = f"The index of passages was damaged ({error}) and is now {aside.name}."
            raise StoreFailed(msg, HINT, file=str(aside)) from error

    def _move_damaged_file_aside(self) -> Path:
        self._close_connection()
        aside = sqlite.build_damaged_path(self.path)
        # Another process may have done so, and what is there now is new and sound.
        if self._inode == self._get_inode():
            sqlite.move_database_aside(self.path, aside)
        return aside


def get_index_fact(db: sqlite3.Connection, name: str) -> Any:
    """Return a fact about the whole index."""
    return db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()[0]


def set_index_facts(db: sqlite3.Connection, **facts: Any) -> None:
    """Write facts about the whole index."""
    db.executemany("UPDATE facts SET value = ? WHERE name = ?", [(v, k) for k, v in facts.items()])


def increment_change_stamp(db: sqlite3.Connection) -> int:
    """Increment and return the stamp of the current change."""
    stamp = int(get_index_fact(db, "stamp")) + 1
    set_index_facts(db, stamp=stamp)
    return stamp


def has_index_tables(db: sqlite3.Connection) -> bool:
    """Return whether the tables of the index exist."""
    found = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'facts'").fetchone()
    return found is not None


def _create_tables(db: sqlite3.Connection) -> None:
    for statement in _TABLES.split(";\n"):
        db.execute(statement)
    # Never a number that was before: other processes may know files and rows of a lost database.
    facts = _FIRST_FACTS | {"generation": secrets.randbelow(10**9) * 10**6}
    db.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())


def drop_stored_terms(db: sqlite3.Connection) -> None:
    """Convert formats 1 and 2, which also stored the terms of each passage."""
    if get_index_fact(db, "format") < 2:  # its terms were not folded
        set_index_facts(db, words="")
    db.execute("DROP TABLE IF EXISTS texts")
    db.execute("DROP TABLE IF EXISTS words")  # older versions' FTS5
    db.execute("INSERT OR IGNORE INTO facts VALUES ('words_since', -1)")
    set_index_facts(db, format=FORMAT)
