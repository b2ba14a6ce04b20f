"""The schema of a dataset: its tables, columns and relations, and example statements.

It is read from the file itself, in the process of `.asking`, where a broken file does no harm.

Tables of a dataset and their columns, and their description in a line.

Example statements for a dataset, made from what its columns hold, and run before they are shown.

A sample of the rows shows which column names a record, which repeats and which is a date.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ..errors import BadRequest
from ..system.plain_text import one_line, shortened
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
COUNT = 3
_SAMPLE = 1000  # rows
_SAMPLED_TABLES, _SAMPLED_COLUMNS = 8, 100
_LABELS = ("title", "name", "symbol", "description", "label", "definition", "term", "caption")
_TERMS = (*_LABELS, "heading", "descriptor", "keyword", "alias", "type", "value", "organism")
_DAY = "[12][0-9][0-9][0-9]*"
_SHORT, _READABLE = 60, 200  # characters on average


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

    def describe(self) -> str:
        """Its columns in a line; those without a type are text."""
        shown = ", ".join(_describe_columns(self.columns[:_SHOWN]))
        more = len(self.columns) - _SHOWN
        return f"{shown}, and {more} more" if more > 0 else shown


def main_table(tables: Sequence[Table]) -> Table | None:
    """The table of the records: the first that refers to no other."""
    for table in tables:
        if not any(column.refers_to for column in table.columns):
            return table
    return tables[0] if tables else None


def _describe_columns(columns: Iterable[Column]) -> Iterator[str]:
    for column in columns:
        kind = column.type.lower()
        words = [shortened(quoted(column.name), 60), "" if kind == "text" else kind]
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
    examples : tuple of Example
        Three statements to begin with.
    """

    about: dict[str, str]
    tables: tuple[Table, ...]
    relations: tuple[str, ...]
    examples: tuple[Example, ...]

    def text(self) -> str:
        """All of it as a short text, for a model to read."""
        title = one_line(self.about.get("title", ""))
        lines = [title] if title else []
        lines.append("Columns without a type are text.")
        lines += [
            f"{table.name} ({table.rows:,} rows): {table.describe()}" for table in self.tables
        ]
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
    tables = tuple(_tables(file))
    relations = tuple(
        f"{table.name}.{column.name} -> {column.refers_to}"
        for table in tables
        for column in table.columns
        if column.refers_to
    )
    return Schema(about(file), tables, relations, tuple(examples(file, tables)))


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


@dataclass(frozen=True, slots=True)
class Example:
    """A statement that answers *question* on this dataset; it has been run, and gave rows."""

    question: str
    sql: str


@dataclass(frozen=True, slots=True)
class _Use:
    """What a column holds in the sample.

    ``filled`` rows with a value, ``kinds`` different ones, ``length`` characters on average;
    ``dated`` of them begin with a year.
    """

    column: Column
    filled: int
    kinds: int
    length: float
    dated: int

    @property
    def name(self) -> str:
        return quoted(self.column.name)

    @property
    def is_date(self) -> bool:
        """Whether the years are something to sort and group by."""
        has_name = any(word in self.column.name for word in ("date", "year", "time"))
        return bool(self.filled and self.filled == self.dated) and (
            has_name or self.column.type == "DATE"
        )

    @property
    def repeats(self) -> float:
        """A score of how worthwhile grouping by it is: many values, of which few are different."""
        if self.length > _SHORT or self.kinds < 2:
            return 0.0
        has_name = 3 if any(word in self.column.name for word in _TERMS) else 1
        return has_name * (self.filled - self.kinds) * min(self.kinds, 20)

    @property
    def is_own(self) -> bool:
        """Whether it describes the record, and is not only a key or a position."""
        return not (self.column.key or self.column.refers_to or self.column.name == "position")


def examples(file: Path, tables: Sequence[Table]) -> Iterator[Example]:
    """Three statements on the dataset in *file*, each of which gives rows."""
    return islice((one for one in _candidates(file, tables) if _gives_rows(file, one)), COUNT)


def _candidates(file: Path, tables: Sequence[Table]) -> Iterator[Example]:
    """The most useful first; the last two are always to be had."""
    main = main_table(tables)
    if main and main.rows:
        uses = _uses(file, main)
        yield _overview(main, uses)
        yield from _shared_values(file, main, uses, tables)
        yield from _record_counts(main, uses)
        yield from _joined_rows(main, uses, tables)
        yield from _ranges(main, uses)
    for table in tables:
        name = quoted(table.name)
        yield Example(f"How many rows has {table.name}?", f"SELECT count(*) FROM {name}")  # noqa: S608
    yield Example("What is this dataset?", f"SELECT name, value FROM {ABOUT}")  # noqa: S608
    yield Example("Which tables are there?", "SELECT name, sql FROM sqlite_schema")
    yield Example("Which SQLite answers?", "SELECT sqlite_version()")


def _overview(main: Table, uses: Sequence[_Use]) -> Example:
    dates = _dates(uses)
    shown = [quoted(main.key), *(use.name for use in _labels(uses)[:2])]
    shown += [use.name for use in dates[:1]]
    order = f"{dates[0].name} DESC" if dates else quoted(main.key)
    sql = f"SELECT {', '.join(shown)} FROM {quoted(main.name)} ORDER BY {order} LIMIT 10"  # noqa: S608
    which = f"newest by {dates[0].column.name}" if dates else "first"
    return Example(f"Which are the {which} in {main.name}?", sql)


def _shared_values(
    file: Path, main: Table, uses: Sequence[_Use], tables: Sequence[Table]
) -> Iterator[Example]:
    """The commonest values of a table below the records, with a record for each."""
    found = [
        (use.repeats, table, link, use)
        for table, link in _below(main, tables)
        for use in _uses(file, table)
        if use.is_own and use.repeats
    ]
    label = _label(main, uses)
    for _, table, link, use in sorted(found, key=lambda one: -one[0])[:1]:
        # Grouped first and joined then: ten records are looked up, not all.
        sql = (
            f"SELECT b.{use.name}, b.records, a.{label} AS example FROM ("  # noqa: S608
            f"SELECT {use.name}, count(DISTINCT {link}) AS records, min({link}) AS one "
            f"FROM {quoted(table.name)} WHERE {use.name} IS NOT NULL "
            f"GROUP BY 1 ORDER BY records DESC LIMIT 10) AS b "
            f"JOIN {quoted(main.name)} AS a ON a.{quoted(main.key)} = b.one ORDER BY b.records DESC"
        )
        question = f"Which {use.column.name} of {table.name} do most records share?"
        yield Example(question, sql)


def _record_counts(main: Table, uses: Sequence[_Use]) -> Iterator[Example]:
    """Records by their commonest words, and by year."""
    name = quoted(main.name)
    words = [use for use in uses if use.is_own and use.repeats and not use.is_date]
    for use in sorted(words, key=lambda use: -use.repeats)[:1]:
        yield Example(
            f"How many records of each {use.column.name}?",
            f"SELECT {use.name}, count(*) AS records FROM {name} "  # noqa: S608
            f"GROUP BY 1 ORDER BY records DESC LIMIT 10",
        )
    for use in _dates(uses)[:1]:
        yield Example(
            f"How many records in each year of {use.column.name}?",
            f"SELECT substr({use.name}, 1, 4) AS year, count(*) AS records FROM {name} "  # noqa: S608
            f"GROUP BY year ORDER BY year DESC LIMIT 10",
        )


def _joined_rows(main: Table, uses: Sequence[_Use], tables: Sequence[Table]) -> Iterator[Example]:
    """Records with what the fullest of the tables below them says."""
    for table, link in _below(main, tables)[:1]:
        own = [column for column in table.columns if column.name not in {"uid", "position"}]
        columns = "".join(f", b.{quoted(column.name)}" for column in own[:3])
        sql = (
            f"SELECT a.{quoted(main.key)}, a.{_label(main, uses)}{columns} "  # noqa: S608
            f"FROM {quoted(main.name)} AS a JOIN {quoted(table.name)} AS b "
            f"ON b.{link} = a.{quoted(main.key)} LIMIT 10"
        )
        yield Example(f"What does {table.name} add to {main.name}?", sql)


def _ranges(main: Table, uses: Sequence[_Use]) -> Iterator[Example]:
    for use in uses:
        if use.is_own and use.column.type in {"INTEGER", "REAL"} and use.kinds > 1:
            low_high = f"min({use.name}), avg({use.name}), max({use.name})"
            question = f"What is the range of {use.column.name}?"
            yield Example(question, f"SELECT {low_high} FROM {quoted(main.name)}")  # noqa: S608
            return


def _dates(uses: Sequence[_Use]) -> list[_Use]:
    """The columns of dates, those with days before those of years."""
    return sorted((use for use in uses if use.is_date), key=lambda use: -use.length)


def _labels(uses: Sequence[_Use]) -> list[_Use]:
    """The columns by which a reader recognises a record, the best first."""
    named = {label: place for place, label in enumerate(_LABELS)}
    fit = [use for use in uses if use.is_own and use.filled and 1 < use.length <= _READABLE]
    texts = [use for use in fit if use.column.type == "TEXT" and not use.is_date]
    return sorted(
        texts,
        key=lambda use: (named.get(use.column.name, len(named)), -use.kinds),
    )


def _label(main: Table, uses: Sequence[_Use]) -> str:
    return next((use.name for use in _labels(uses)), quoted(main.key))


def _below(main: Table, tables: Sequence[Table]) -> list[tuple[Table, str]]:
    """The tables that belong to the records and by which column; the fullest first."""
    below = [(table, link) for table in tables if (link := _link(table, main)) and table.rows]
    return sorted(below, key=lambda pair: -pair[0].rows)[:_SAMPLED_TABLES]


def _link(table: Table, main: Table) -> str:
    """The column by which *table* belongs to the records, or nothing."""
    for column in table.columns:
        if column.refers_to == f"{main.name}.{main.key}":
            return quoted(column.name)
    return ""


def _uses(file: Path, table: Table) -> list[_Use]:
    """What the columns of *table* hold; empty where the sample takes too long."""
    columns = table.columns[:_SAMPLED_COLUMNS]
    counted = ", ".join(
        f"count({name}), count(DISTINCT {name}), coalesce(avg(length({name})), 0), "
        f"coalesce(sum({name} GLOB '{_DAY}'), 0)"
        for name in (quoted(column.name) for column in columns)
    )
    sample = f"(SELECT * FROM {quoted(table.name)} LIMIT {_SAMPLE})"  # noqa: S608
    try:
        [row] = ask(file, f"SELECT {counted} FROM {sample}").rows  # noqa: S608
    except BadRequest:
        return []
    groups = [row[start : start + 4] for start in range(0, len(row), 4)]
    return [_Use(column, *four) for column, four in zip(columns, groups, strict=True)]


def _gives_rows(file: Path, example: Example) -> bool:
    try:
        return bool(ask(file, example.sql, max_rows=1).rows)
    except BadRequest:  # too slow on so large a dataset
        return False
