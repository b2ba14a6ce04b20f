"""Run untrusted SQL in a process that can read one file and nothing else.

A statement that a model wrote after reading text from the web is hostile input. Its words are not
inspected; instead SQLite itself is restricted:

- the file is opened read-only and immutable;
- an authorizer allows only the actions and functions that a query needs;
- limits bound the statement's length, depth and memory;
- the operating system forbids this process to write files.

A statement that takes too long is interrupted. If it cannot be interrupted (a single slow
function), the parent kills the process, or a kernel alarm does so if the parent is gone. See
https://www.sqlite.org/security.html.

The process starts without our packages (`ChildPool`, bare) and uses only the standard library,
because a killed process must be replaced at once.
"""

from __future__ import annotations

import json
import math
import re
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain, islice
from typing import Any

from ...readers.child_processes import serve_jobs

MEMORY_MAX_BYTES = 512 << 20  # bytes of address space, Python included
_HEAP_MAX_BYTES = 192 << 20  # bytes of SQLite's own memory; sorting does not go to the disk
_STEPS_PER_CHECK = 2_000  # virtual instructions between two looks at the clock: about 50 µs
_GRACE_S = 1.0  # seconds the kernel waits longer than the parent
_UNREADABLE_CODES = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CANTOPEN}
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 32 << 20,  # bytes of one value, and of one row
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 250_000,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 500,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 1,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_ALLOWED_ACTIONS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE}
# Pragmas that describe tables. They are run once before the authorizer is set: at its first use
# SQLite declares such a table function, which is a write to the schema in memory.
_ALLOWED_PRAGMAS = {
    "table_info",
    "table_xinfo",
    "table_list",
    "foreign_key_list",
    "index_list",
    "index_info",
}
_TABLE_FUNCTIONS = {"json_each", "json_tree", *(f"pragma_{pragma}" for pragma in _ALLOWED_PRAGMAS)}
_OWN_TABLES = {"sqlite_master", "sqlite_schema", *_TABLE_FUNCTIONS}
# SQLite's built-in functions without side effects: no extensions, no tokenizers, no log, and no
# functions that create large blobs.
_ALLOWED_FUNCTIONS = """
    -> ->> abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce concat
    concat_ws cos cosh count cume_dist current_date current_time current_timestamp date datetime
    degrees dense_rank exp first_value floor format glob group_concat hex if ifnull iif instr json
    json_array json_array_length json_error_position json_extract json_group_array
    json_group_object json_insert json_object json_patch json_quote json_remove json_replace
    json_set json_type json_valid julianday lag last_value lead length like likelihood likely ln
    log log10 log2 lower ltrim max min mod nth_value ntile nullif octet_length percent_rank pi pow
    power printf quote radians random rank replace round row_number rtrim sign sin sinh soundex
    sqlite_version sqrt strftime string_agg substr substring sum tan tanh time timediff total trim
    trunc typeof unicode unistr unixepoch unlikely upper
"""
FUNCTIONS = frozenset(_ALLOWED_FUNCTIONS.split())
_encoded = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
# Strings, quoted names and comments, closed or not; no other token starts within them.
_QUOTED_TOKEN = re.compile(
    r"""'[^']*(?:'|\Z) | "(?:[^"]|"")*" | `[^`]*(?:`|\Z) | \[[^]]*(?:]|\Z)
    | --[^\n]* | /\*.*?(?:\*/|\Z)""",
    re.DOTALL | re.VERBOSE,
)


class RunningStatement:
    """One running SQL statement, whose rows are read page by page.

    Parameters
    ----------
    file : str
        The dataset's ``file:`` URI.
    sql : str
        The statement, as it was written.
    """

    def __init__(self, file: str, sql: str) -> None:
        self.until = math.inf
        self.denied = False
        self.database = _open_database(file)
        self._tables = {*_OWN_TABLES, *_list_tables(self.database)}
        self.database.set_progress_handler(self._is_past_deadline, _STEPS_PER_CHECK)
        self.database.set_authorizer(self._authorize_action)
        self._sql = _replace_double_quotes_by_backticks(sql)
        self.rows: Iterator[tuple[Any, ...]] = iter(())

    def execute_and_skip_rows(self, start: int) -> list[str]:
        """Run the statement, skip the rows before *start*, and return the column names."""
        cursor = self.database.execute(self._sql)
        self.rows = islice(cursor, start, None)
        return [column[0] for column in cursor.description or ()]

    def read_page(self, max_rows: int, max_chars: int, *, whole: bool) -> dict[str, Any]:
        """Return the next rows that fit; ``more`` is true if rows remain.

        A single row that is too long has its long texts cut, unless *whole*.
        """
        rows: list[list[Any]] = []
        cut, spent = False, 2
        for row in self.rows:
            cells = [_to_json_value(value) for value in row]
            length = _count_json_bytes(cells) + 1
            if len(rows) == max_rows or (rows and spent + length > max_chars):
                self.rows = chain([row], self.rows)
                return {"rows": rows, "more": True, "cut": cut}
            if spent + length > max_chars and not whole:
                cells, cut = _shorten_row(cells, max_chars - spent - 1), True
                if spent + _count_json_bytes(cells) + 1 > max_chars:
                    return {"wide": True}
            rows.append(cells)
            spent += length
        return {"rows": rows, "more": False, "cut": cut}

    def get_columns_by_table(self) -> dict[str, list[str]]:
        """Return the columns of every table."""
        self.database.set_authorizer(None)
        known: dict[str, list[str]] = {}
        listed = "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c"
        for table, column in self.database.execute(
            f"{listed} WHERE m.type = 'table' AND m.name NOT GLOB 'sqlite_*'"
        ):
            known.setdefault(table, []).append(column)
        return known

    def _is_past_deadline(self) -> bool:
        return time.monotonic() > self.until

    def _authorize_action(
        self, action: int, first: str | None, second: str | None, schema: str | None, _: str | None
    ) -> int:
        """Return SQLite's authorisation code: allow only what a read-only query needs."""
        function = (second or "").lower() if action == sqlite3.SQLITE_FUNCTION else ""
        if (
            action in _ALLOWED_ACTIONS
            or function in FUNCTIONS
            or (action == sqlite3.SQLITE_PRAGMA and first in _ALLOWED_PRAGMAS)
            or (action == sqlite3.SQLITE_READ and schema == "main" and first in self._tables)
            # Rows that are counted and not read, also of a table that the statement defines.
            or (action == sqlite3.SQLITE_READ and not second)
        ):
            return sqlite3.SQLITE_OK
        self.denied = True
        return sqlite3.SQLITE_DENY


def serve() -> None:
    """Answer requests from the parent process: the entry point of the child process."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    serve_jobs(answer_request, MEMORY_MAX_BYTES)


def answer_request(body: bytes) -> dict[str, Any]:
    """Return one page of rows or an error; see `.sql_query` for the parent's side.

    ``keep`` leaves the statement open, and a body without ``sql`` continues it; rows are then
    complete, however long.
    """
    job = json.loads(body)
    with _limit_process_time(job["seconds"] + _GRACE_S):
        return _run_statement_job(job)


_open_statements: list[
    RunningStatement
] = []  # at most one: an export's, which is read page by page


def _run_statement_job(job: dict[str, Any]) -> dict[str, Any]:
    began = time.monotonic()
    statement = None
    try:
        if going_on := "sql" not in job:
            statement = _open_statements.pop()
        else:
            _close_statements(*_open_statements)
            statement = RunningStatement(job["file"], job["sql"])
        statement.until = began + 0.9 * job["seconds"]  # the rest is for the reply
        reply: dict[str, Any] = (
            {} if going_on else {"columns": statement.execute_and_skip_rows(job["start"])}
        )
        reply |= statement.read_page(job["max_rows"], job["max_chars"], whole="keep" in job)
        reply["seconds"] = time.monotonic() - began
        if reply.get("more") and "keep" in job:
            _open_statements.append(statement)
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
        return _to_error_reply(error, statement)
    finally:
        if statement and statement not in _open_statements:
            _close_statements(statement)
    return reply


def _replace_double_quotes_by_backticks(sql: str) -> str:
    """Return *sql* with every "name" as `name`.

    Both mean the same, but SQLite silently treats the first as a string if no such column exists: a
    misspelt column would give a wrong answer instead of an error.
    """
    return _QUOTED_TOKEN.sub(_convert_token_to_backticks, sql)


def _convert_token_to_backticks(found: re.Match[str]) -> str:
    token = found[0]
    if token[0] != '"':
        return token
    name = token[1:-1].replace('""', '"')
    return f"`{name.replace('`', '``')}`"


def _to_error_reply(error: Exception, statement: RunningStatement | None) -> dict[str, Any]:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _UNREADABLE_CODES or statement is None:
        return {"unreadable": str(error)}
    if code == sqlite3.SQLITE_INTERRUPT:
        return {"late": True}
    if code in {sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
        return {"error": "broken"}  # treated like a MemoryError
    reply: dict[str, Any] = {"mistake": str(error), "denied": statement.denied, "known": {}}
    with suppress(sqlite3.Error):  # the time limit still applies
        reply["known"] = statement.get_columns_by_table()
    return reply


def _open_database(file: str) -> sqlite3.Connection:
    database = sqlite3.connect(file, uri=True, isolation_level=None, cached_statements=0)
    database.text_factory = _decode_text
    for pragma in (
        f"hard_heap_limit={_HEAP_MAX_BYTES}",
        "temp_store=MEMORY",
        "query_only=ON",
        "trusted_schema=OFF",
        "cell_size_check=ON",
    ):
        database.execute(f"PRAGMA {pragma}")
    for function in _TABLE_FUNCTIONS:
        database.execute(f"SELECT * FROM {function}(NULL)")  # noqa: S608 - names of our own
    for limit, most in _LIMITS.items():
        database.setlimit(limit, most)
    return database


def _list_tables(database: sqlite3.Connection) -> list[str]:
    return [name for (name,) in database.execute("SELECT name FROM sqlite_schema")]


def _close_statements(*statements: RunningStatement) -> None:
    for statement in statements:
        statement.rows = iter(())
        statement.database.close()
        with suppress(ValueError):
            _open_statements.remove(statement)


def _decode_text(stored: bytes) -> str:
    return stored.decode("utf-8", "replace")


def _to_json_value(value: Any) -> Any:
    """Return *value* as JSON can hold it."""
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _count_json_bytes(cells: list[Any]) -> int:
    return len(_encoded(cells))


def _shorten_row(cells: list[Any], max_chars: int) -> list[Any]:
    """Return *cells* with long texts cut, so that a single long row fits."""
    most = max_chars // max(1, len(cells))
    while most > 20:
        short = [_shorten_cell(cell, most) for cell in cells]
        if _count_json_bytes(short) <= max_chars:
            return short
        most //= 2
    return [_shorten_cell(cell, 20) for cell in cells]


def _shorten_cell(cell: Any, most: int) -> Any:
    if not isinstance(cell, str) or len(cell) <= most:
        return cell
    return f"{cell[:most]}… [cut: {len(cell):,} characters]"


@contextmanager
def _limit_process_time(seconds: float) -> Iterator[None]:
    """End this process after *seconds*, even if the parent process is gone."""
    if not hasattr(signal, "setitimer"):  # Windows
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
