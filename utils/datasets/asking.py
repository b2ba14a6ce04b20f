"""Asking a dataset in SQL: one statement, read only, a page of its rows.

Whoever writes the statement (a model, a person, a page a model has read) is not trusted. It runs
in a process of its own, which can read this file and do nothing else; see `.asking_child` for how.
Rows come in pages that are bounded in number and in characters. The next page runs the statement
again, so it should be put in order: without ORDER BY, SQLite promises none.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import BadRequest, StoreFailed
from ..formats.children import Child, ChildCrashed, ChildFailed, Children
from . import mistakes

SECONDS = 2.0
MAX_ROWS, MAX_CHARS = 100, 20_000
MOST_ROWS, MOST_CHARS, MOST_SECONDS = 10_000, 1_000_000, 60.0
LONGEST = 100_000  # characters of a statement
_LAST_ROW = 10**9
_PAGE_ROWS, _PAGE_CHARS = 5_000, 4_000_000  # of `all_rows`
_CHILDREN = 2  # each may hold as much memory as its limit says


@dataclass(frozen=True, slots=True)
class Asked:
    """One page of an answer.

    Parameters
    ----------
    columns : tuple of str
        Their names as SQLite gives them; two may be the same.
    rows : tuple of tuple
        None, int, float or str in the order of the columns. A blob is the text ``x'…'``, an
        infinite number the text ``inf``: JSON has neither.
    next_start : int or None
        Ask again with this ``start`` for the rows that follow; None where there are none.
    cut : bool
        A row was longer than the whole page, and its long texts are cut (they say so).
    seconds : float
        How long it took.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    next_start: int | None
    cut: bool
    seconds: float


def ask(
    file: Path,
    sql: str,
    *,
    start: int = 0,
    max_rows: int = MAX_ROWS,
    max_chars: int = MAX_CHARS,
    seconds: float = SECONDS,
) -> Asked:
    """Run one reading statement on the dataset in *file*.

    Parameters
    ----------
    file : Path
        A dataset; it is not changed, whatever the statement says.
    sql : str
        SELECT, VALUES, WITH, EXPLAIN, or a pragma that describes tables, such as ``table_info``.
    start, max_rows, max_chars : int
        Leave out *start* rows, then give at most *max_rows* of together at most *max_chars*
        characters of JSON.
    seconds : float
        It is stopped after so long.

    Raises
    ------
    BadRequest
        The statement is wrong, does more than read, or takes too long or too much memory. The
        suggestions are drawn from the mistake: the nearest column, table or function.
    StoreFailed
        The file is no dataset, or broken.
    """
    _check(sql, seconds)
    _within("start", start, 0, _LAST_ROW)
    _within("max_rows", max_rows, 1, MOST_ROWS)
    _within("max_chars", max_chars, 1, MOST_CHARS)
    job = _job(file, sql, seconds, start=start, max_rows=max_rows, max_chars=max_chars)
    try:
        told = _children().ask(job, seconds)
    except ChildFailed as failure:
        raise _given_up(sql, seconds, failure) from failure
    _require_rows(told, file, sql, seconds)
    rows = tuple(map(tuple, told["rows"]))
    next_start = start + len(rows) if told["more"] else None
    return Asked(tuple(told["columns"]), rows, next_start, told["cut"], told["seconds"])


def all_rows(
    file: Path, sql: str, seconds: float
) -> Generator[tuple[list[str], list[list[Any]]], None, None]:
    """Every row of one statement, which runs once: pages of (columns, rows), at least one.

    No cell is cut. A page may take *seconds*; to stop earlier, close the iterator.

    Raises
    ------
    BadRequest, StoreFailed
        As `ask`.
    """
    _check(sql, seconds)
    page = {"max_rows": _PAGE_ROWS, "max_chars": _PAGE_CHARS, "keep": True}
    child = Child(_children().start)  # of our own: the question stays open in it
    try:
        told = child.ask(_job(file, sql, seconds, start=0, **page), seconds)
        _require_rows(told, file, sql, seconds)
        columns = told["columns"]
        yield columns, told["rows"]
        going_on = json.dumps({**page, "seconds": seconds}).encode()
        while told["more"]:
            told = child.ask(going_on, seconds)
            _require_rows(told, file, sql, seconds)
            yield columns, told["rows"]
    except ChildFailed as failure:
        raise _given_up(sql, seconds, failure) from failure
    finally:
        child.kill()


def dismiss() -> int:
    """End the processes that wait for a statement; how many there were."""
    return _children().dismiss()


@cache
def _children() -> Children:
    return Children(f"{__package__}.asking_child", most=_CHILDREN, bare=True)


def _check(sql: str, seconds: float) -> None:
    if not sql.strip():
        raise mistakes.nothing_asked()
    if len(sql) > LONGEST:
        msg = f"The statement has {len(sql):,} characters; {LONGEST:,} is the most."
        raise BadRequest(msg, "Shorten it: a long list of values is better joined from a table.")
    _within("seconds", seconds, 0.05, MOST_SECONDS)


def _within(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        msg = f"{name} is {value}; it must be from {least:,} to {most:,}."
        raise BadRequest(msg, f"Give another {name}.")


def _job(file: Path, sql: str, seconds: float, **page: Any) -> bytes:
    # Immutable: nobody writes to a dataset, so SQLite needs no lock and leaves no file beside it.
    uri = f"{file.absolute().as_uri()}?mode=ro&immutable=1"
    return json.dumps({"file": uri, "sql": sql, "seconds": seconds, **page}).encode()


def _require_rows(told: dict[str, Any], file: Path, sql: str, seconds: float) -> None:
    """Raise what the child *told*, if that is not a page of rows."""
    if bug := told.get("bug"):
        msg = f"Asking {file.name} failed: {bug}"
        raise RuntimeError(msg)
    if why := told.get("unreadable"):
        msg = f"The dataset {file.stem} cannot be read: {why}."
        raise StoreFailed(msg, "Forget it, and stage the records again.", dataset=file.stem)
    if "late" in told:
        raise mistakes.too_late(sql, seconds)
    if "error" in told:
        raise mistakes.too_large()
    if "mistake" in told:
        raise mistakes.explained(sql, told["mistake"], told["denied"], told["known"])
    if not told.get("columns", True):
        raise mistakes.nothing_asked()
    if "wide" in told:
        raise mistakes.too_wide(len(told["columns"]))


def _given_up(sql: str, seconds: float, failure: ChildFailed) -> BadRequest:
    # One that was not late died of its memory, or of the kernel's alarm.
    if isinstance(failure, ChildCrashed):
        return mistakes.too_large()
    return mistakes.too_late(sql, seconds)
