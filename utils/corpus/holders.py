"""Who holds a lock in PostgreSQL, and since when: so that who waits for it can be told.

Of a lock on a file: `..system.locks`. PostgreSQL shows who holds an advisory lock in ``pg_locks``
(a key of 64 bits as its two halves, ``objsubid`` 1) and ``pg_stat_activity``; what is another
role's reads as null there
(https://www.postgresql.org/docs/current/view-pg-locks.html, …/monitoring-stats.html).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sqlalchemy import Connection, text

from ..model.paper import moment
from ..system.locks import UNKNOWN, describe_process
from ..system.plain_text import one_line

_LONGEST = 200
_LONGEST_NAME = 63  # of an application, in bytes
_HOLDER = text(
    "SELECT application_name, extract(epoch FROM state_change) AS since "
    "FROM pg_locks JOIN pg_stat_activity USING (pid) "
    "WHERE locktype = 'advisory' AND granted AND objsubid = 1 "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
    "AND classid = CAST(:high AS oid) AND objid = CAST(:low AS oid)"
)


class Lock(NamedTuple):
    """What can be done with a lock: try to take it, sign it, and read who has."""

    acquire: Callable[[], bool]
    sign: Callable[[], None]
    holder: Callable[[], str]


def sign_connection(connection: Connection) -> None:
    """Have the server show who holds the locks of this connection."""
    name = f"papershelf: {describe_process()}".encode()[:_LONGEST_NAME].decode("utf-8", "ignore")
    connection.execute(text("SELECT set_config('application_name', :name, false)"), {"name": name})


def holder_at_server(connection: Connection, key: int) -> str:
    """Whose connection holds the advisory lock *key*, and since when, as far as we may see it."""
    halves = {"high": str(key >> 32 & 0xFFFFFFFF), "low": str(key & 0xFFFFFFFF)}
    row = connection.execute(_HOLDER, halves).first()
    if row is None or not row.application_name:
        return UNKNOWN
    name = one_line(row.application_name[:_LONGEST]).removeprefix("papershelf: ")
    return f"{name}, since {moment(float(row.since))}" if row.since else name
