"""Errors for refused statements: SQLite's own message, with the columns of the tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...errors import BadRequest
from ...system.plain_text import one_line, shortened

_MESSAGE = 200  # characters of SQLite's message
_LISTED = 300  # characters of a list of names
_TABLES = 3  # tables whose columns are listed
_FROM = re.compile(r'(?:\bfrom|\bjoin|,)\s*["`]?(\w+)', re.IGNORECASE)


def explain(
    sql: str, message: str, *, denied: bool, columns: Mapping[str, Sequence[str]]
) -> BadRequest:
    """Return the error for a statement that SQLite refused.

    Parameters
    ----------
    sql : str
    message : str
        SQLite's own.
    denied : bool
        The statement does more than read, or calls a function that is not allowed.
    columns : mapping
        The columns of every table of the dataset.
    """
    said = shortened(one_line(message), _MESSAGE).rstrip(".")
    hints = list(_column_hints(sql, columns))
    if denied:
        read_only = "A dataset is read-only: use SELECT, or WITH … SELECT. Export it to change it."
        hints = [read_only, *hints]
    hints = hints or ["Write one SELECT in the SQL of SQLite."]
    return BadRequest(f"SQLite refuses the statement: {said}.", *hints)


def _column_hints(sql: str, columns: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """List the columns of the tables that a statement names, else the tables."""
    named = {name.casefold() for name in _FROM.findall(sql)}
    tables = [table for table in columns if table.casefold() in named]
    for table in tables[:_TABLES]:
        yield f"{table} has the columns {_joined(columns[table])}."
    if columns and not tables:
        yield f"The tables are {_joined(columns)}."


def empty_statement() -> BadRequest:
    """Return the error for an empty statement, or a comment."""
    return BadRequest("There is no statement to run.", "Begin with SELECT.")


def timed_out(seconds: float) -> BadRequest:
    """Return the error for a statement that was stopped."""
    return BadRequest(
        f"The statement took longer than {seconds:g} s and was stopped.",
        "Narrow it with WHERE, join tables ON their keys, and end WITH RECURSIVE by a condition.",
    )


def out_of_memory() -> BadRequest:
    """Return the error for a statement that met the limit of memory."""
    return BadRequest(
        "The statement takes more memory than it may have, and was stopped.",
        "Sort, group and join only the columns you need; leave long texts to a second statement.",
    )


def too_wide(columns: int) -> BadRequest:
    """Return the error for a row that does not fit, even with its texts cut."""
    msg = f"A row of {columns:,} columns has more characters than max_chars."
    return BadRequest(msg, "Name the columns you need in place of *.", "Raise max_chars.")


def _joined(names: Iterable[str]) -> str:
    return shortened(", ".join(map(one_line, names)), _LISTED)
