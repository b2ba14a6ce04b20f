"""Query a dataset in SQL: one read-only statement, returned one page of rows at a time.

The author of the statement (a model, a person, a page a model has read) is not trusted. The
statement runs in a process of its own, which can read this file and do nothing else; see
`.sql_child`. Rows come in pages that are bounded in number and in characters. The next page runs
the statement again, so the statement should use ORDER BY: without it, SQLite promises no order.

A refused statement is answered with SQLite's own message and the columns of the tables.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ...errors import BadRequest, StoreFailed
from ...model.tabular import Table, TabularResult
from ...readers.child_processes import ChildCrashError, ChildPool, ChildReadError, ReaderChild
from ...system.plain_text import one_line, shorten

_MESSAGE_MAX_CHARS = 200  # characters of SQLite's message
_LIST_MAX_CHARS = 300  # characters of a list of names
_MAX_LISTED_TABLES = 3  # tables whose columns are listed
_FROM = re.compile(r'(?:\bfrom|\bjoin|,)\s*["`]?(\w+)', re.IGNORECASE)
DEFAULT_TIMEOUT_S = 2.0
MAX_ROWS, MAX_CHARS = 100, 20_000
MAX_PAGE_ROWS, MAX_PAGE_CHARS, MAX_TIMEOUT_S = 10_000, 1_000_000, 60.0
STATEMENT_MAX_CHARS = 100_000  # characters of a statement
_MAX_START = 10**9
_PAGE_ROWS, _PAGE_CHARS = 5_000, 4_000_000  # of `iterate_row_pages`
_CHILDREN = 2  # each may hold as much memory as its limit says


@dataclass(frozen=True, slots=True)
class SqlResultPage(TabularResult):
    """One page of the rows of a statement.

    Parameters
    ----------
    columns : tuple of str
        The columns' names from SQLite; two may be equal.
    rows : tuple of tuple
        None, int, float or str in the order of the columns. A blob is the text ``x'…'``, an
        infinite number the text ``inf``: JSON has neither.
    next_start : int or None
        The ``start`` of the next rows; None at the end.
    cut : bool
        A row was longer than the whole page, and its long texts are cut and marked.
    seconds : float
        The duration.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    next_start: int | None
    cut: bool
    seconds: float

    def to_table(self) -> Table:
        """Return this page of rows; two columns may have the same name."""
        return Table(self.columns, self.rows)


def run_query(
    file: Path,
    sql: str,
    *,
    start: int = 0,
    max_results: int = MAX_ROWS,
    max_chars: int = MAX_CHARS,
    seconds: float = DEFAULT_TIMEOUT_S,
) -> SqlResultPage:
    """Run one read-only statement on the dataset in *file*, and return one page of its rows.

    Parameters
    ----------
    file : Path
        A dataset; it is not changed, whatever the statement says.
    sql : str
        SELECT, VALUES, WITH, EXPLAIN, or a pragma that describes tables, such as ``table_info``.
    start, max_rows, max_chars : int
        Skip *start* rows, then return at most *max_rows*, in all at most *max_chars* characters
        of JSON.
    seconds : float
        The time limit.

    Raises
    ------
    BadRequest
        The statement is wrong, does more than read, or takes too long or too much memory.
    StoreFailed
        The file is not a dataset, or is broken.
    """
    _require_valid_request(sql, seconds)
    _require_in_range("start", start, 0, _MAX_START)
    _require_in_range("max_results", max_results, 1, MAX_PAGE_ROWS)
    _require_in_range("max_chars", max_chars, 1, MAX_PAGE_CHARS)
    job = _encode_query_job(
        file, sql, seconds, start=start, max_rows=max_results, max_chars=max_chars
    )
    try:
        reply = _get_query_processes().read_in_idle_child(job, seconds)
    except ChildReadError as failure:
        raise _build_interruption_error(seconds, failure) from failure
    _raise_if_failed(reply, file, sql, seconds)
    rows = tuple(map(tuple, reply["rows"]))
    next_start = start + len(rows) if reply["more"] else None
    return SqlResultPage(tuple(reply["columns"]), rows, next_start, reply["cut"], reply["seconds"])


def iterate_row_pages(
    file: Path, sql: str, seconds: float
) -> Generator[tuple[list[str], list[list[Any]]], None, None]:
    """Run a statement once, and yield all rows as pages of (columns, rows), at least one.

    No cell is cut. A page may take *seconds*; to stop earlier, close the iterator.

    Raises
    ------
    BadRequest, StoreFailed
        As `run_query`.
    """
    _require_valid_request(sql, seconds)
    page = {"max_rows": _PAGE_ROWS, "max_chars": _PAGE_CHARS, "keep": True}
    child = ReaderChild(
        _get_query_processes().start
    )  # a separate process, in which the statement stays open
    try:
        reply = child.read_in_child(_encode_query_job(file, sql, seconds, start=0, **page), seconds)
        _raise_if_failed(reply, file, sql, seconds)
        columns = reply["columns"]
        yield columns, reply["rows"]
        going_on = json.dumps({**page, "seconds": seconds}).encode()
        while reply["more"]:
            reply = child.read_in_child(going_on, seconds)
            _raise_if_failed(reply, file, sql, seconds)
            yield columns, reply["rows"]
    except ChildReadError as failure:
        raise _build_interruption_error(seconds, failure) from failure
    finally:
        child.kill_process()


def stop_idle_processes() -> int:
    """End the idle processes, and return their number."""
    return _get_query_processes().stop_idle_children()


@cache
def _get_query_processes() -> ChildPool:
    return ChildPool(f"{__package__}.sql_child", most=_CHILDREN, bare=True)


def _require_valid_request(sql: str, seconds: float) -> None:
    if not sql.strip():
        raise build_empty_sql_error()
    if len(sql) > STATEMENT_MAX_CHARS:
        msg = f"The statement has {len(sql):,} characters; {STATEMENT_MAX_CHARS:,} is the most."
        raise BadRequest(msg, "Shorten it: a long list of values is better joined from a table.")
    _require_in_range("seconds", seconds, 0.05, MAX_TIMEOUT_S)


def _require_in_range(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        msg = f"{name} is {value}; it must be from {least:,} to {most:,}."
        raise BadRequest(msg, f"Give another {name}.")


def _encode_query_job(file: Path, sql: str, seconds: float, **page: Any) -> bytes:
    # Immutable: datasets are never written to, so SQLite needs no lock and no other file.
    uri = f"{file.absolute().as_uri()}?mode=ro&immutable=1"
    return json.dumps({"file": uri, "sql": sql, "seconds": seconds, **page}).encode()


def _raise_if_failed(reply: dict[str, Any], file: Path, sql: str, seconds: float) -> None:
    """Raise the matching error unless the reply is a page of rows."""
    if bug := reply.get("bug"):
        msg = f"Asking {file.name} failed: {bug}"
        raise RuntimeError(msg)
    if why := reply.get("unreadable"):
        msg = f"The dataset {file.stem} cannot be read: {why}."
        raise StoreFailed(msg, "Forget it, and stage the records again.", dataset=file.stem)
    if "late" in reply:
        raise build_sql_timeout_error(seconds)
    if "error" in reply:
        raise build_sql_memory_error()
    if "mistake" in reply:
        raise build_rejected_sql_error(
            sql, reply["mistake"], denied=reply["denied"], columns=reply["known"]
        )
    if not reply.get("columns", True):
        raise build_empty_sql_error()
    if "wide" in reply:
        raise build_oversized_row_error(len(reply["columns"]))


def _build_interruption_error(seconds: float, failure: ChildReadError) -> BadRequest:
    # A process that did not time out ran out of memory, or the kernel's alarm ended it.
    if isinstance(failure, ChildCrashError):
        return build_sql_memory_error()
    return build_sql_timeout_error(seconds)


def build_rejected_sql_error(
    sql: str, message: str, *, denied: bool, columns: Mapping[str, Sequence[str]]
) -> BadRequest:
    """Return the error for a statement that SQLite refused.

    Parameters
    ----------
    sql : str
    message : str
        SQLite's own message.
    denied : bool
        The statement does more than read, or calls a function that is not allowed.
    columns : mapping
        The columns of every table of the dataset.
    """
    said = shorten(one_line(message), _MESSAGE_MAX_CHARS).rstrip(".")
    hints = list(_suggest_column_names(sql, columns))
    if denied:
        read_only = "A dataset is read-only: use SELECT, or WITH … SELECT. Export it to change it."
        hints = [read_only, *hints]
    hints = hints or ["Write one SELECT in the SQL of SQLite."]
    return BadRequest(f"SQLite refuses the statement: {said}.", *hints)


def _suggest_column_names(sql: str, columns: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the columns of the tables that a statement names; all tables if it names none."""
    named = {name.casefold() for name in _FROM.findall(sql)}
    tables = [table for table in columns if table.casefold() in named]
    for table in tables[:_MAX_LISTED_TABLES]:
        yield f"{table} has the columns {_join_short_names(columns[table])}."
    if columns and not tables:
        yield f"The tables are {_join_short_names(columns)}."


def build_empty_sql_error() -> BadRequest:
    """Return the error for a statement that is empty or only a comment."""
    return BadRequest("There is no statement to run.", "Begin with SELECT.")


def build_sql_timeout_error(seconds: float) -> BadRequest:
    """Return the error for a statement that exceeded the time limit."""
    return BadRequest(
        f"The statement took longer than {seconds:g} s and was stopped.",
        "Narrow it with WHERE, join tables ON their keys, and end WITH RECURSIVE by a condition.",
    )


def build_sql_memory_error() -> BadRequest:
    """Return the error for a statement that exceeded the memory limit."""
    return BadRequest(
        "The statement needed more memory than allowed, and was stopped.",
        "Sort, group and join only the columns you need; select long texts in a second statement.",
    )


def build_oversized_row_error(columns: int) -> BadRequest:
    """Return the error for a row that exceeds a page even with its texts shortened."""
    msg = f"A row of {columns:,} columns has more characters than max_chars."
    return BadRequest(msg, "Name the columns you need in place of *.", "Raise max_chars.")


def _join_short_names(names: Iterable[str]) -> str:
    return shorten(", ".join(map(one_line, names)), _LIST_MAX_CHARS)
