"""Example statements for a dataset, made from what its columns hold, and run before they are shown.

A sample of the rows shows which column names a record, which repeats and which is a date.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from ..errors import BadRequest
from .asking import ask
from .columns import Column, Table, main_table
from .names import ABOUT, quoted

COUNT = 3
_SAMPLE = 1000  # rows
_SAMPLED_TABLES, _SAMPLED_COLUMNS = 8, 100
_LABELS = ("title", "name", "symbol", "description", "label", "definition", "term", "caption")
_TERMS = (*_LABELS, "heading", "descriptor", "keyword", "alias", "type", "value", "organism")
_DAY = "[12][0-9][0-9][0-9]*"
_SHORT, _READABLE = 60, 200  # characters on average


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
