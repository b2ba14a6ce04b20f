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
from .sql_query import MAX_PAGE_CHARS, MAX_PAGE_ROWS, run_query
from .tables import ABOUT, quote_sql_name

_MAX_LISTED_COLUMNS = 40  # columns of one table
COUNT_MAX_S = 20.0  # for all rows of a table to be counted
_TABLES_PER_COUNT = 100  # tables in one statement
_DATA_TABLES_FILTER = (
    f"m.type = 'table' AND m.name NOT LIKE 'sqlite~_%' ESCAPE '~' AND m.name <> '{ABOUT}'"
)
_COLUMNS_SQL = f"""
    SELECT m.name, c.name, c.type, c.pk FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c
    WHERE {_DATA_TABLES_FILTER} ORDER BY m.rowid, c.cid
"""  # noqa: S608 - names of ours
_LINKS_SQL = f"""
    SELECT m.name, f."from", f."table", f."to"
    FROM sqlite_schema AS m JOIN pragma_foreign_key_list(m.name) AS f WHERE {_DATA_TABLES_FILTER}
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """A column; ``key`` is true in the table's key, ``refers_to`` is ``table.column``."""

    name: str
    type: str
    key: bool = False
    refers_to: str = ""


@dataclass(frozen=True, slots=True)
class TableInfo:
    """A table and the number of its rows."""

    name: str
    rows: int
    columns: tuple[ColumnInfo, ...]

    def describe_columns(self) -> str:
        """Return the columns in one line; columns without a type are text."""
        shown = ", ".join(_iterate_column_descriptions(self.columns[:_MAX_LISTED_COLUMNS]))
        more = len(self.columns) - _MAX_LISTED_COLUMNS
        return f"{shown}, and {more} more" if more > 0 else shown


def _iterate_column_descriptions(columns: Iterable[ColumnInfo]) -> Iterator[str]:
    for column in columns:
        kind = column.type.lower()
        words = [shorten(quote_sql_name(column.name), 60), "" if kind == "text" else kind]
        if column.refers_to:
            words.append(f"-> {column.refers_to}")
        elif column.key:
            words.append("key")
        yield " ".join(filter(None, words))


@dataclass(frozen=True, slots=True)
class DatasetSchema:
    """The tables and relations of a dataset.

    Parameters
    ----------
    about : dict of str
        The table ``_dataset``: id, database, title, form, created, records, warnings, ….
    tables : tuple of Table
        The table of the records first.
    relations : tuple of str
        ``table.column -> table.column``, from the referring table.
    """

    about: dict[str, str]
    tables: tuple[TableInfo, ...]
    relations: tuple[str, ...]

    def to_text(self) -> str:
        """Return the schema as a short text for a language model."""
        title = one_line(self.about.get("title", ""))
        lines = [title] if title else []
        lines.append("Columns without a type are text.")
        lines += [
            f"{table.name} ({table.rows:,} rows): {table.describe_columns()}"
            for table in self.tables
        ]
        return "\n".join(lines)


def read_schema(file: Path) -> DatasetSchema:
    """Return the schema of the dataset in *file*.

    Raises
    ------
    StoreFailed
        The file is not a dataset, or is broken.
    BadRequest
        Counting the rows takes more than 20 s.
    """
    tables = tuple(_read_table_infos(file))
    relations = tuple(
        f"{table.name}.{column.name} -> {column.refers_to}"
        for table in tables
        for column in table.columns
        if column.refers_to
    )
    return DatasetSchema(read_description(file), tables, relations)


def read_description(file: Path) -> dict[str, str]:
    """Return the description of the dataset in *file*; empty if it has no description.

    Raises
    ------
    StoreFailed
        The file is not a dataset, or is broken.
    """
    try:
        sql = f"SELECT name, value FROM {ABOUT}"  # noqa: S608 - a name of ours
        answer = run_query(file, sql, max_results=1000, max_chars=MAX_PAGE_CHARS)
    except BadRequest:
        return {}
    return {str(name): str(value) for name, value in answer.rows}


def _read_table_infos(file: Path) -> Iterator[TableInfo]:
    links = {
        (table, name): f"{above}.{target or 'uid'}"
        for table, name, above, target in _iterate_query_rows(file, _LINKS_SQL)
    }
    columns: dict[str, dict[str, ColumnInfo]] = {}
    for table, name, kind, key in _iterate_query_rows(file, _COLUMNS_SQL):
        link = links.get((table, name), "")
        columns.setdefault(table, {})[name] = ColumnInfo(name, kind, bool(key), link)
    names = list(columns)
    for start in range(0, len(names), _TABLES_PER_COUNT):
        some = names[start : start + _TABLES_PER_COUNT]
        counts = ", ".join(f"(SELECT count(*) FROM {quote_sql_name(name)})" for name in some)  # noqa: S608
        [row] = run_query(file, f"SELECT {counts}", seconds=COUNT_MAX_S).rows
        for name, rows in zip(some, row, strict=True):
            yield TableInfo(name, rows, tuple(columns[name].values()))


def _iterate_query_rows(file: Path, sql: str) -> Iterator[tuple[Any, ...]]:
    start: int | None = 0
    while start is not None:
        page = run_query(
            file,
            sql,
            start=start,
            max_results=MAX_PAGE_ROWS,
            max_chars=MAX_PAGE_CHARS,
            seconds=COUNT_MAX_S,
        )
        yield from page.rows
        start = page.next_start
