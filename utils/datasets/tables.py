"""The tables of a dataset and their file: keys, relations, indexes; written whole or not at all.

The main table has one row a record and ``uid`` as its key. Every other table has ``uid``, too, so
that any of them joins the main one, and ``position``, the place in its list, from 1. A table
with tables of its own below it has a key of its own, ``<table>_id``, which those refer to.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ..errors import InvariantFailed, StoreFailed
from ..system import sqlite
from ..system.safe_files import disk, part_of, sync_folder
from ..system.sharing import inherit_group

Row: TypeAlias = "Sequence[Any]"
UID, POSITION = "uid", "position"
_BATCH = 200  # rows that wait; a text may have megabytes
_CACHE = 64_000  # KiB


@dataclass(slots=True)
class Table:
    """A table: its own columns with their types, and its relations to others.

    ``columns`` come after the keys in every row; ``keyed`` tells that other tables refer to it;
    ``indexes`` are columns that queries search by.
    """

    name: str
    columns: list[tuple[str, str]]
    parent: Table | None = None
    keyed: bool = False
    indexes: tuple[str, ...] = ()
    uid: str = "INTEGER"

    @property
    def key(self) -> str:
        """The column that other tables refer to."""
        return f"{self.name}_id" if self.parent else UID

    @property
    def main(self) -> Table:
        """The table of the records."""
        return self.parent.main if self.parent else self

    @property
    def keys(self) -> list[str]:
        """The columns before its own: key, parent's key, uid, position, as far as it has them."""
        if self.parent is None:
            return [UID]
        own = [self.key] if self.keyed else []
        link = [] if self.parent.parent is None else [self.parent.key]
        return [*own, *link, UID, POSITION]

    def definition(self) -> str:
        """The statement that creates it."""
        if self.parent is None:
            lines = [f"{UID} {self.uid} PRIMARY KEY NOT NULL"]
        else:
            main, above = self.main, self.parent
            lines = [f"{self.key} INTEGER PRIMARY KEY"] if self.keyed else []
            if above is not main:
                lines.append(f"{above.key} INTEGER NOT NULL REFERENCES {above.name}({above.key})")
            lines.append(f"{UID} {main.uid} NOT NULL REFERENCES {main.name}({UID})")
            lines.append(f"{POSITION} INTEGER NOT NULL")
        lines += [f"{name} {kind}" for name, kind in self.columns]
        if self.parent is not None:
            constraint = "UNIQUE" if self.keyed else "PRIMARY KEY"
            lines.append(f"{constraint} ({self.parent.key}, {POSITION})")
        return f"CREATE TABLE {self.name} (\n  " + ",\n  ".join(lines) + "\n)"

    def index_definitions(self) -> list[str]:
        """The statements that create its indexes, those of its key apart."""
        links = [UID] if self.parent and self.parent.parent else []
        return [
            f"CREATE INDEX {self.name}__{column} ON {self.name}({column})"
            for column in (*links, *self.indexes)
        ]

    def insertion(self) -> str:
        """The statement that adds a row."""
        marks = ", ".join("?" * (len(self.keys) + len(self.columns)))
        return f"INSERT INTO {self.name} VALUES ({marks})"  # noqa: S608  # a name of ours


class Tables:
    """The tables of one dataset, filled row by row."""

    def __init__(self, database: sqlite3.Connection, tables: Sequence[Table]) -> None:
        self.database = database
        self.tables = tables
        self._waiting: dict[str, list[Row]] = {table.name: [] for table in tables}
        self._statements = {table.name: table.insertion() for table in tables}
        for table in tables:
            database.execute(table.definition())

    def add(self, table: Table, row: Row) -> None:
        """Add a row, keys first."""
        waiting = self._waiting[table.name]
        waiting.append(row)
        if len(waiting) >= _BATCH:
            self._flush(table.name)

    def _flush(self, *names: str) -> None:
        for name in names or self._waiting:
            if waiting := self._waiting[name]:
                self.database.executemany(self._statements[name], waiting)
                waiting.clear()

    def forget(self, uid: object) -> None:
        """Delete a record from every table."""
        self._flush()
        for table in reversed(self.tables):
            deletion = f"DELETE FROM {table.name} WHERE {UID} = ?"  # noqa: S608  # a name of ours
            self.database.execute(deletion, (uid,))

    def finish(self) -> dict[str, int]:
        """Write the rows still buffered and the indexes; returns the number of rows by table."""
        self._flush()
        counts: dict[str, int] = {}
        for table in self.tables:
            for statement in table.index_definitions():
                self.database.execute(statement)
            count = f"SELECT count(*) FROM {table.name}"  # noqa: S608  # a name of ours
            [(counts[table.name],)] = self.database.execute(count)
        return counts


@contextlib.contextmanager
def whole_database(file: Path) -> Iterator[sqlite3.Connection]:
    """A database that takes the place of *file* when the block ends, checked and on the disk.

    When the block fails, nothing is left behind and *file* stays as it was.

    Raises
    ------
    StoreFailed
        The disk refuses.
    InvariantFailed
        A row refers to one that is not there.
    """
    part = part_of(file)
    try:
        with _disk_errors(file), contextlib.closing(_open(part)) as database:
            yield database
            _require_references(database, file)
            database.execute("ANALYZE")
            database.commit()
        with disk(file):
            with part.open("rb+") as draft:
                os.fsync(draft.fileno())
            part.replace(file)
            sync_folder(file.parent)
    finally:
        for leftover in (part, part.with_name(f"{part.name}-journal")):
            with contextlib.suppress(OSError):
                leftover.unlink(missing_ok=True)


def _open(part: Path) -> sqlite3.Connection:
    with disk(part):
        part.touch(exist_ok=False)
        inherit_group(part)
    database = sqlite3.connect(part)
    # Nobody else knows the file yet, and when anything fails it is deleted: no journal is needed.
    for pragma in ("journal_mode=OFF", "synchronous=OFF", "locking_mode=EXCLUSIVE"):
        database.execute(f"PRAGMA {pragma}")
    database.execute(f"PRAGMA cache_size=-{_CACHE}")
    database.execute("BEGIN")
    return database


def _require_references(database: sqlite3.Connection, file: Path) -> None:
    if astray := database.execute("PRAGMA foreign_key_check").fetchone():
        msg = f"In {file.name}, a row of {astray[0]} belongs to no row of {astray[2]}."
        raise InvariantFailed(msg, "Stage it again, and report it if it happens again.")


@contextlib.contextmanager
def _disk_errors(file: Path) -> Iterator[None]:
    """Turn a full disk into `StoreFailed`; SQLite's other errors are bugs of ours."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if not sqlite.has_no_room(error):
            raise
        msg = f"Could not write {file}: {error}."
        raise StoreFailed(msg, "Free some space and stage it again.", file=str(file)) from error
