"""What a dataset holds: its tables, columns and relations, and statements to begin with.

Everything is asked of the file itself, as anybody else would ask it (`.asking`): a broken one
harms nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import BadRequest
from ..plain_text import one_line, shortened
from .asking import MOST_CHARS, MOST_ROWS, ask
from .names import KEYWORDS

SECONDS = 20.0  # for all rows of a table to be counted
ABOUT = "_dataset"
_SHOWN = 40  # columns of one table in the text
_COUNTED = 100  # tables in one statement
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_OURS = f"m.type = 'table' AND m.name NOT LIKE 'sqlite~_%' ESCAPE '~' AND m.name <> '{ABOUT}'"
_COLUMNS = f"""
    SELECT m.name, c.name, c.type, c.pk FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c
    WHERE {_OURS} ORDER BY m.rowid, c.cid
"""  # noqa: S608 - names of ours
_LINKS = f"""
    SELECT m.name, f."from", f."table", f."to"
    FROM sqlite_schema AS m JOIN pragma_foreign_key_list(m.name) AS f WHERE {_OURS}
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class Column:
    """A column; ``key`` if it is part of the table's key, ``refers_to`` as ``table.column``."""

    name: str
    type: str
    key: bool = False
    refers_to: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table and the number of its rows."""

    name: str
    rows: int
    columns: tuple[Column, ...]

    @property
    def key(self) -> str:
        """The first column of its key, or its first column."""
        keys = [column.name for column in self.columns if column.key]
        return keys[0] if keys else self.columns[0].name

    def told(self) -> str:
        """Its columns in a line; those without a type are text."""
        shown = ", ".join(_described(self.columns[:_SHOWN]))
        more = len(self.columns) - _SHOWN
        return f"{shown}, and {more} more" if more > 0 else shown


@dataclass(frozen=True, slots=True)
class Example:
    """A statement that answers *question* on this dataset; it has been run, and gave rows."""

    question: str
    sql: str


@dataclass(frozen=True, slots=True)
class Schema:
    """What a dataset holds.

    Parameters
    ----------
    about : dict of str
        Its own table ``_dataset``: id, database, title, form, created, records, warnings, ….
    tables : tuple of Table
        The table of the records first.
    relations : tuple of str
        ``table.column -> table.column``, from the table that refers.
    examples : tuple of Example
        Three statements to begin with.
    """

    about: dict[str, str]
    tables: tuple[Table, ...]
    relations: tuple[str, ...]
    examples: tuple[Example, ...]

    def text(self) -> str:
        """All of it in few words, as a model reads it."""
        title = one_line(self.about.get("title", ""))
        lines = [title] if title else []
        lines.append("Columns without a type are text.")
        lines += [f"{table.name} ({table.rows:,} rows): {table.told()}" for table in self.tables]
        lines += [f"-- {one.question}\n{one.sql}" for one in self.examples]
        return "\n".join(lines)


def schema(file: Path) -> Schema:
    """What the dataset in *file* holds.

    Raises
    ------
    StoreFailed
        The file is no dataset, or broken.
    BadRequest
        It is so large that counting its rows takes more than 20 s.
    """
    from .examples import examples

    tables = tuple(_tables(file))
    relations = tuple(
        f"{table.name}.{column.name} -> {column.refers_to}"
        for table in tables
        for column in table.columns
        if column.refers_to
    )
    return Schema(about(file), tables, relations, tuple(examples(file, tables)))


def about(file: Path) -> dict[str, str]:
    """What the dataset in *file* says of itself; empty where it has no table that does.

    Raises
    ------
    StoreFailed
        The file is no dataset, or broken.
    """
    try:
        told = ask(file, f"SELECT name, value FROM {ABOUT}", max_rows=1000, max_chars=MOST_CHARS)  # noqa: S608
    except BadRequest:
        return {}
    return {str(name): str(value) for name, value in told.rows}


def quoted(name: str) -> str:
    """*name* as a statement can hold it: in quotation marks only where it needs them.

    >>> quoted("uid"), quoted("order"), quoted('a"b')
    ('uid', '"order"', '"a""b"')
    """
    if _PLAIN.fullmatch(name) and name.lower() not in KEYWORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def main_table(tables: Sequence[Table]) -> Table | None:
    """The table of the records: the first that refers to no other."""
    for table in tables:
        if not any(column.refers_to for column in table.columns):
            return table
    return tables[0] if tables else None


def _tables(file: Path) -> Iterator[Table]:
    links = {
        (table, name): f"{above}.{target or 'uid'}"
        for table, name, above, target in _all_rows(file, _LINKS)
    }
    columns: dict[str, dict[str, Column]] = {}
    for table, name, kind, key in _all_rows(file, _COLUMNS):
        link = links.get((table, name), "")
        columns.setdefault(table, {})[name] = Column(name, kind, bool(key), link)
    names = list(columns)
    for start in range(0, len(names), _COUNTED):
        some = names[start : start + _COUNTED]
        counts = ", ".join(f"(SELECT count(*) FROM {quoted(name)})" for name in some)  # noqa: S608
        [row] = ask(file, f"SELECT {counts}", seconds=SECONDS).rows
        for name, rows in zip(some, row, strict=True):
            yield Table(name, rows, tuple(columns[name].values()))


def _all_rows(file: Path, sql: str) -> Iterator[tuple[Any, ...]]:
    start: int | None = 0
    while start is not None:
        asked = ask(
            file, sql, start=start, max_rows=MOST_ROWS, max_chars=MOST_CHARS, seconds=SECONDS
        )
        yield from asked.rows
        start = asked.next_start


def _described(columns: Iterable[Column]) -> Iterator[str]:
    for column in columns:
        kind = column.type.lower()
        words = [shortened(quoted(column.name), 60), "" if kind == "text" else kind]
        if column.refers_to:
            words.append(f"-> {column.refers_to}")
        elif column.key:
            words.append("key")
        yield " ".join(filter(None, words))
