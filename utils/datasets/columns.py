"""Tables of a dataset and their columns, and their description in a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..system.plain_text import shortened
from .names import quoted

_SHOWN = 40  # columns of one table


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
