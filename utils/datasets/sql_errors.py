"""Errors for statements that SQLite refuses, with suggestions.

SQLite names what it could not read (``no such column: titel``); added here are the names that the
dataset has instead, and how SQLite writes what other databases call otherwise. The messages are
those of SQLite 3.40 to 3.51; an unknown one is passed on as it is.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from ..errors import BadRequest
from ..system.plain_text import one_line, shortened
from .sql_child import FUNCTIONS

Known = Mapping[str, Sequence[str]]  # the columns of every table

_SHOWN = 60  # characters of a name
_LISTED = 300  # characters of a list of names
_FROM = r'(?:\bfrom|\bjoin|,)\s*"?(\w+)'  # a table that a statement names, or something else
_KEYWORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "OFFSET", "DISTINCT"),
    *("INNER", "LEFT", "JOIN", "UNION", "EXCEPT", "BETWEEN", "EXISTS", "LIKE", "WITH"),
)
# What other databases write, and how SQLite does.
_INSTEAD = {
    "ilike": "LIKE ignores the case of the letters a to z already.",
    "rlike": "Use LIKE '%part%', or GLOB 'part*'.",
    "regexp": "Use LIKE '%part%', or GLOB 'part*'.",
    "similar": "Use LIKE '%part%', or GLOB 'part*'.",
    "match": "Use LIKE '%part%', or GLOB 'part*'.",
    "all": "EXCEPT and INTERSECT are written without ALL; x > ALL (…) as x > (SELECT max(…)).",
    "any": "Write x IN (SELECT …).",
    "top": "Write LIMIT n at the end of the statement.",
    "fetch": "Write LIMIT n at the end of the statement.",
    "interval": "Write date(day, '-7 days').",
    "extract": "Write CAST(strftime('%Y', day) AS INTEGER).",
    "year": "Write CAST(strftime('%Y', day) AS INTEGER), or substr(day, 1, 4).",
    "month": "Write CAST(strftime('%m', day) AS INTEGER).",
    "date_trunc": "Write substr(day, 1, 7) for the month, substr(day, 1, 4) for the year.",
    "to_date": "Dates are texts like 2026-08-30: compare them as they are, or use date(…).",
    "to_char": "Write strftime('%Y-%m-%d', day).",
    "datediff": "Write julianday(later) - julianday(earlier).",
    "now": "Write datetime('now').",
    "getdate": "Write datetime('now').",
    "curdate": "Write date('now').",
    "concat": "Write first || ' ' || second.",
    "string_agg": "Write group_concat(column, ', ').",
    "listagg": "Write group_concat(column, ', ').",
    "array_agg": "Write json_group_array(column).",
    "separator": "Write group_concat(column, ', ').",
    "unnest": "Write FROM table, json_each(table.column).",
    "len": "Write length(text).",
    "char_length": "Write length(text).",
    "left": "Write substr(text, 1, n).",
    "right": "Write substr(text, -n).",
    "strpos": "Write instr(text, part).",
    "charindex": "Write instr(text, part).",
    "position": "Write instr(text, part).",
    "locate": "Write instr(text, part).",
    "split_part": "Write substr(text, 1, instr(text, ',') - 1).",
    "nvl": "Write coalesce(first, second).",
    "isnull": "Write coalesce(first, second).",
    "if": "Write iif(condition, yes, no).",
    "greatest": "Write max(first, second).",
    "least": "Write min(first, second).",
    "median": "SQLite has no median: number the rows with row_number() OVER (ORDER BY column).",
    "stddev": "Write sqrt(avg(x*x) - avg(x)*avg(x)).",
    "generate_series": "Write WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n "
    "WHERE i < 10).",
    "information_schema.tables": "Write SELECT name FROM sqlite_schema WHERE type = 'table'.",
    "information_schema.columns": "Write SELECT * FROM pragma_table_info('table').",
    "zeroblob": "It makes data out of nothing, and is not needed to read.",
    "randomblob": "It makes data out of nothing, and is not needed to read.",
}


class _SqlError(NamedTuple):
    """An error message of SQLite, taken apart, with its statement."""

    sql: str
    name: str  # what it stumbled over
    known: Known


def explain(sql: str, message: str, denied: tuple[int, str] | None, known: Known) -> BadRequest:
    """The error for a statement that SQLite refused with *message*, or whose action was *denied*.

    *known* are the tables of the dataset with their columns.
    """
    for pattern, describe in _MESSAGES:
        if found := pattern.search(message):
            name = found["name"] if "name" in pattern.groupindex else ""
            msg, *hints = describe(_SqlError(sql, name, known))
            return BadRequest(msg, *hints, sqlite=_shown(message, 200))
    if denied:
        msg, *hints = _denied(sql, *denied, known)
        return BadRequest(msg, *hints, sqlite=_shown(message, 200))
    msg = f"SQLite refuses the statement: {_shown(message, 200)}."
    return BadRequest(msg, "Correct it, or make it simpler.", sqlite=_shown(message, 200))


def no_statement() -> BadRequest:
    """The error for an empty statement, or a comment."""
    return BadRequest("There is no statement to run.", "Begin with SELECT.")


def too_late(sql: str, seconds: float) -> BadRequest:
    """The error for a statement that was stopped."""
    words = set(re.findall(r"[a-z_]+", sql.casefold()))
    hints = []
    if "recursive" in words:
        hints.append("A WITH RECURSIVE needs a condition that ends it, such as WHERE i < 100.")
    if "cross" in words or not words & {"on", "using"}:
        hints.append("Join tables ON their keys: else every row is paired with every other.")
    hints.append("Narrow it with WHERE on a key or an indexed column, or ask for less at a time.")
    hints.append("LIMIT inside a subquery tries it on a few rows; EXPLAIN QUERY PLAN shows scans.")
    return BadRequest(f"The statement took longer than {seconds:g} s and was stopped.", *hints)


def too_large() -> BadRequest:
    """The error for a statement that met the limit of memory."""
    return BadRequest(
        "The statement takes more memory than it may have, and was stopped.",
        "Sort, group and join only the columns you need; leave long texts to a second statement.",
        "Narrow it with WHERE, or group with count(*) in place of group_concat.",
    )


def too_wide(columns: int) -> BadRequest:
    """The error for a row that does not fit, even with its texts cut."""
    msg = f"A row of {columns:,} columns has more characters than max_chars."
    return BadRequest(msg, "Name the columns you need in place of *.", "Raise max_chars.")


def _column(error: _SqlError) -> Iterable[str]:
    qualifier, _, column = error.name.rpartition(".")
    table = _table_of(qualifier.rpartition(".")[2], error)
    yield (
        f"There is no column {_shown(column)} in {table}."
        if table
        else (f"There is no column {_shown(error.name)}.")
    )
    mentioned = _tables_in(error)
    owners = [one for one in error.known if _has(error.known[one], column)]
    if owners and (table or not set(owners) & set(mentioned)):
        yield f"{_shown(column)} is a column of {_listed(owners)}: join it ON its key."
    else:
        here = _near(column, _columns(error.known, [table] if table else mentioned))
        if near := here or _near(column, _columns(error.known, error.known)):
            yield f"Did you mean {_listed(near, ' or ')}?"
    if re.search(rf'"{re.escape(column)}"', error.sql):
        yield f"A text stands between single quotes: '{_shown(column)}'."
    for one in [table] if table else mentioned[:2]:
        yield f"{one} has the columns {_listed(error.known[one])}."
    if not mentioned:
        yield f"The tables are {_listed(error.known)}."


def _table(error: _SqlError) -> Iterable[str]:
    name = error.name.removeprefix("main.")
    yield f"There is no table {_shown(name)}."
    if instead := _INSTEAD.get(name.casefold()):
        yield instead
    elif near := _near(name, {one: one for one in error.known}):
        yield f"Did you mean {_listed(near, ' or ')}?"
    owners = [one for one in error.known if _has(error.known[one], name)]
    if owners:
        yield f"{_shown(name)} is a column of {_listed(owners)}."
    yield f"The tables are {_listed(error.known)}."


def _function(error: _SqlError) -> Iterable[str]:
    yield f"There is no function {_shown(error.name)}."
    if instead := _INSTEAD.get(error.name.casefold()):
        yield instead
    elif near := _near(error.name, {one: one for one in FUNCTIONS}):
        yield f"Did you mean {_listed(near, ' or ')}?"
    else:
        yield "Use SQLite's own functions of text, numbers, dates and JSON."


def _arguments(error: _SqlError) -> Iterable[str]:
    yield f"The function {_shown(error.name)} has too many or too few arguments."
    yield f"Look up how SQLite writes {_shown(error.name)}."


def _syntax(error: _SqlError) -> Iterable[str]:
    yield f"The statement cannot be read near {_shown(error.name)}."
    name = error.name.strip("\"'`[]")
    if instead := _INSTEAD.get(name.casefold()):
        yield instead
    elif misspelt := _find_misspelt_keyword(error):
        yield "Did you mean {1} in place of {0}?".format(*misspelt)
    if name in error.known or any(_has(columns, name) for columns in error.known.values()):
        yield f'Where a name is also a word of SQL, quote it: "{name}".'
    yield "It takes one SELECT in the SQL of SQLite."


def _token(error: _SqlError) -> Iterable[str]:
    token = error.name
    yield f"The statement cannot be read at {_shown(token)}."
    if token[:1] in {"'", '"', "`", "["}:
        yield "A quotation mark is not closed; inside a text, write it twice: 'O''Brien'."
    elif token.startswith(":"):
        yield "Write CAST(x AS INTEGER) in place of x::int."
    else:
        yield "Remove that character, or put the text in single quotes."


def _ambiguous(error: _SqlError) -> Iterable[str]:
    column = error.name.rpartition(".")[2]
    owners = [f"{one}.{column}" for one in error.known if _has(error.known[one], column)]
    yield f"More than one of the tables has a column {_shown(column)}."
    yield f"Write {_listed(owners, ' or ')}, or the alias of the table before the point."


def _fixed(*parts: str) -> Callable[[_SqlError], Iterable[str]]:
    return lambda error: [part.format(_shown(error.name)) for part in parts]


_MESSAGES: tuple[tuple[re.Pattern[str], Callable[[_SqlError], Iterable[str]]], ...] = tuple(
    (re.compile(pattern, re.DOTALL | re.IGNORECASE), describe)
    for pattern, describe in (
        (r"no such column: (?P<name>.*?)(?: - should this be .*)?$", _column),
        (r"no such (?:table|module|view): (?P<name>.*)$", _table),
        (r"no such table-valued function: (?P<name>.*)$", _table),
        (r"vtable constructor failed: (?P<name>.*)$", _table),
        (r"no such function: (?P<name>.*)$", _function),
        (r"not authorized to use function: (?P<name>.*)$", _function),
        (r"wrong number of arguments to function (?P<name>.*?)\(\)", _arguments),
        (r'^near "(?P<name>.*)": syntax error', _syntax),
        (r'^unrecognized token: "(?P<name>.*)"$', _token),
        (r"ambiguous column name: (?P<name>.*)$", _ambiguous),
        (
            r"incomplete input",
            _fixed("The statement ends too early.", "Close every bracket and finish the clause."),
        ),
        (
            r"one statement at a time",
            _fixed("That is more than one statement.", "Ask one SELECT a call, without ;"),
        ),
        (
            r"number of bindings|did not supply a value",
            _fixed("The statement has a placeholder.", "Write the value itself in place of it."),
        ),
        (
            r"null character|surrogates not allowed",
            _fixed("The statement holds a character no SQL has.", "Remove it."),
        ),
        (
            r"misuse of aggregate:? (?:function )?(?P<name>.*)$",
            _fixed("{0} cannot stand there.", "Filter groups with HAVING, or in an outer SELECT."),
        ),
        (
            r"misuse of window function (?P<name>.*)$",
            _fixed("{0} cannot stand there.", "Compute it in a subquery and filter outside."),
        ),
        (
            r"no such collation sequence: (?P<name>.*)$",
            _fixed("There is no collation {0}.", "Use NOCASE, BINARY or RTRIM."),
        ),
        (
            r"malformed JSON|bad JSON path",
            _fixed("A value is no JSON.", "Add WHERE json_valid(column); paths begin with $."),
        ),
        (
            r"string or blob too big",
            _fixed("A value would pass 32 MB.", "Make it shorter with substr, or group less."),
        ),
    )
)


def _denied(sql: str, action: int, name: str, known: Known) -> Iterable[str]:
    """Message and hints for what the authorizer refuses; *action* is SQLite's number for it."""
    if action == sqlite3.SQLITE_READ:
        return _table(_SqlError(sql, name, known))
    if action == sqlite3.SQLITE_PRAGMA:
        looks = "PRAGMA table_info, table_list, foreign_key_list and index_list can be asked."
        return f"PRAGMA {_shown(name)} is refused.", looks
    verb = _verb(sql)
    if action in {sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH}:
        return f"{verb} is refused: a dataset is asked by itself.", "Stage all in one dataset."
    return (
        f"{verb} is refused: a dataset is only read.",
        "Ask with SELECT, or WITH … SELECT.",
        "To work on the data, export them: the export is yours to change.",
    )


def _verb(sql: str) -> str:
    found = re.search(
        r"\b(INSERT|UPDATE|DELETE|REPLACE\s+INTO|CREATE|DROP|ALTER|ATTACH|DETACH|VACUUM|ANALYZE"
        r"|REINDEX|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b",
        sql,
        re.IGNORECASE,
    )
    return one_line(found[0].upper()) if found else "That"


def _find_misspelt_keyword(error: _SqlError) -> tuple[str, str] | None:
    names = {*error.known, *(name for columns in error.known.values() for name in columns)}
    lower = {name.casefold() for name in names}
    for word in re.findall(r"[A-Za-z]{4,10}", error.sql[:2000]):
        near = get_close_matches(word.upper(), _KEYWORDS, 1, 0.72)
        if near and near[0] != word.upper() and word.casefold() not in lower:
            return word, near[0]
    return None


def _table_of(qualifier: str, error: _SqlError) -> str:
    """The table that *qualifier* is, or stands for in the statement; "" where it is unknown."""
    if not qualifier:
        return ""
    alias = rf'{_FROM}"?\s+(?:as\s+)?{re.escape(qualifier)}\b'
    meant = re.findall(alias, error.sql, re.IGNORECASE)
    for name in (*meant, qualifier):
        for table in error.known:
            if table.casefold() == name.casefold():
                return table
    return ""


def _tables_in(error: _SqlError) -> list[str]:
    named = {name.casefold() for name in re.findall(_FROM, error.sql, re.IGNORECASE)}
    return [table for table in error.known if table.casefold() in named]


def _columns(known: Known, tables: Iterable[str]) -> dict[str, str]:
    """``table.column`` of each column."""
    return {f"{table}.{column}": column for table in tables for column in known[table]}


def _has(columns: Sequence[str], column: str) -> bool:
    return column.casefold() in {one.casefold() for one in columns}


def _near(wanted: str, names: Mapping[str, str]) -> list[str]:
    """At most three of *names* (as shown, by what is compared) that are like *wanted*."""
    plain: dict[str, list[str]] = {}
    for shown, name in names.items():
        plain.setdefault(_plain(name), []).append(shown)
    near = get_close_matches(_plain(wanted[:_SHOWN]), plain, 3, 0.6)
    return [shown for one in near for shown in plain[one]][:3]


def _plain(name: str) -> str:
    return name.casefold().replace("_", "")


def _listed(names: Iterable[str], between: str = ", ") -> str:
    return shortened(between.join(one_line(name) for name in names), _LISTED)


def _shown(text: str, most: int = _SHOWN) -> str:
    return shortened(one_line(text), most)
