"""The schema of a dataset: its tables, columns and relations.

The schema is read from the file itself, in the child process of `.sql_query`, where a broken file
does no harm.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import BadRequest
from ...system.plain_text import one_line, shorten
from .sql_query import MOST_CHARS, MOST_ROWS, ask
from .tables import ABOUT, quoted

_SHOWN = 40  # columns of one table
SECONDS = 20.0  # for all rows of a table to be counted
_COUNTED = 100  # tables in one statement
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

    def describe(self) -> str:
        """Its columns in a line; those without a type are text."""
        shown = ", ".join(_describe_columns(self.columns[:_SHOWN]))
        more = len(self.columns) - _SHOWN
        return f"{shown}, and {more} more" if more > 0 else shown


def _describe_columns(columns: Iterable[Column]) -> Iterator[str]:
    for column in columns:
        kind = column.type.lower()
        words = [shorten(quoted(column.name), 60), "" if kind == "text" else kind]
        if column.refers_to:
            words.append(f"-> {column.refers_to}")
        elif column.key:
            words.append("key")
        yield " ".join(filter(None, words))


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
    """

    about: dict[str, str]
    tables: tuple[Table, ...]
    relations: tuple[str, ...]

    def text(self) -> str:
        """All of it as a short text, for a model to read."""
        title = one_line(self.about.get("title", ""))
        lines = [title] if title else []
        lines.append("Columns without a type are text.")
        lines += [
            f"{table.name} ({table.rows:,} rows): {table.describe()}" for table in self.tables
        ]
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
    tables = tuple(_tables(file))
    relations = tuple(
        f"{table.name}.{column.name} -> {column.refers_to}"
        for table in tables
        for column in table.columns
        if column.refers_to
    )
    return Schema(about(file), tables, relations)


def about(file: Path) -> dict[str, str]:
    """The description of the dataset in *file*; empty where it has none.

    Raises
    ------
    StoreFailed
        The file is no dataset, or broken.
    """
    try:
        answer = ask(file, f"SELECT name, value FROM {ABOUT}", max_rows=1000, max_chars=MOST_CHARS)  # noqa: S608
    except BadRequest:
        return {}
    return {str(name): str(value) for name, value in answer.rows}


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
        page = ask(
            file, sql, start=start, max_rows=MOST_ROWS, max_chars=MOST_CHARS, seconds=SECONDS
        )
        yield from page.rows
        start = page.next_start
