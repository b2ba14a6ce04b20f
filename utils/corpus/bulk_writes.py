"""Write many rows by the driver's own ``executemany``.

SQLAlchemy prepares the values of each row, which takes as long as storing the row. Statements that
write every record or passage of a corpus therefore go to the driver, with plain values.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection

from .compression import compress_text

_SIGNS = {"sqlite": "?", "postgresql": "%s"}


def insert_rows(
    connection: Connection,
    table: str,
    columns: tuple[str, ...],
    rows: Sequence[tuple[Any, ...]],
    on_conflict: str = "",
) -> None:
    """Insert rows; *on_conflict* is the end of the statement, if a row may exist."""
    sign = _SIGNS[connection.dialect.name]
    _execute_for_rows(connection, _build_insert(table, columns, sign) + on_conflict, rows)


def update_rows(
    connection: Connection,
    table: str,
    columns: tuple[str, ...],
    keys: tuple[str, ...],
    rows: Sequence[tuple[Any, ...]],
) -> None:
    """Update rows; each has the values of *columns* and then those of *keys*."""
    sign = _SIGNS[connection.dialect.name]
    _execute_for_rows(connection, _build_update(table, columns, keys, sign), rows)


def to_stored_text(connection: Connection, text: str) -> str | bytes:
    """Return a text as `.schema.CompressedText` stores it."""
    return compress_text(text) if connection.dialect.name == "sqlite" else text


def _execute_for_rows(
    connection: Connection, statement: str, rows: Sequence[tuple[Any, ...]]
) -> None:
    if rows:
        connection.exec_driver_sql(statement, list(rows))


@lru_cache
def _build_insert(table: str, columns: tuple[str, ...], sign: str) -> str:
    names = ", ".join(f'"{name}"' for name in columns)
    return f"INSERT INTO {table} ({names}) VALUES ({', '.join([sign] * len(columns))})"  # noqa: S608


@lru_cache
def _build_update(table: str, columns: tuple[str, ...], keys: tuple[str, ...], sign: str) -> str:
    values = ", ".join(f'"{name}" = {sign}' for name in columns)
    where = " AND ".join(f'"{name}" = {sign}' for name in keys)
    return f"UPDATE {table} SET {values} WHERE {where}"  # noqa: S608
