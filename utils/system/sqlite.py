"""Helpers for SQLite: connections, transactions, errors, schema versions and locks.

Transactions begin explicitly (``isolation_level=None``), writers lock at the beginning (``BEGIN
IMMEDIATE``), and threads may share a connection, one using it at a time.

`hold_process_lock` is the lock among processes that also works on network drives, where files can
be locked at all: an exclusive transaction on a file of its own, freed by the system when its holder
ends, however it does (sqlite.org/lockingv3.html).
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from .safe_files import create_shared_file, disk_errors, exclusive_lock

FILE_ENDINGS = ("", "-wal", "-shm")
"""The suffixes of a database and its companion files in WAL mode."""

_DAMAGED_CODES = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_BUSY_CODES = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_NO_SPACE_CODES = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}


def open_database(path: Path, patience_s: float) -> sqlite3.Connection:
    """Return a connection to the file at *path*, which is created if missing; its folder is not.

    Parameters
    ----------
    path : Path
    patience_s : float
        Seconds to wait for another writer.
    """
    create_shared_file(path)
    return sqlite3.connect(path, timeout=patience_s, isolation_level=None, check_same_thread=False)


def enable_wal_mode(db: sqlite3.Connection, path: Path, synchronous: str) -> None:
    """Switch to WAL mode, in which readers continue while another connection writes.

    *synchronous* is when commits are flushed to disk: at once (``FULL``), or at the next checkpoint
    of the database (``NORMAL``).
    """
    if db.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        # SQLite fails if two processes switch a new file at once.
        with exclusive_lock(path.with_name("opening.lock")):
            db.execute("PRAGMA journal_mode = WAL")
    db.execute(f"PRAGMA synchronous = {synchronous}")


@contextmanager
def transaction(db: sqlite3.Connection, *, writes: bool = True) -> Iterator[sqlite3.Connection]:
    """Run the block as a transaction: commit at the end, roll back on an error."""
    db.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
    try:
        yield db
        db.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise


@contextmanager
def open_file_transaction(
    path: Path, schemas: Sequence[str], patience_s: float = 30.0
) -> Iterator[sqlite3.Connection]:
    """Run a transaction on a connection of its own: cheap, and safe with threads and forks.

    For data that need not survive a power cut. *schemas* are statements that create missing tables.
    """
    with closing(open_database(path, patience_s)) as db:
        db.execute("PRAGMA synchronous = OFF")
        with transaction(db):
            for schema in schemas:
                db.execute(schema)
            yield db


@contextmanager
def hold_process_lock(path: Path, patience_s: float = 0.0) -> Iterator[bool]:
    """Hold the lock at *path* against all processes; yield False if another process holds it.

    Raises
    ------
    sqlite3.Error
        The lock file cannot be opened: the disk is full, or we lack the permission.
    """
    with closing(open_database(path, patience_s)) as db:
        yield try_lock_database(db)


def try_lock_database(db: sqlite3.Connection) -> bool:
    """Lock the connection's whole file until it is closed; return False if it is locked already.

    Raises
    ------
    sqlite3.Error
        As for `hold_process_lock`.
    """
    try:
        db.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        if is_lock_timeout(error):
            return False
        raise
    return True


def read_schema_version(db: sqlite3.Connection) -> int:
    """Return the schema version (``user_version``); 0 for a new file."""
    [(number,)] = db.execute("PRAGMA user_version")
    return int(number)


def build_damaged_path(path: Path) -> Path:
    """Return a new name for a damaged file, in its own folder."""
    return path.with_name(f"{path.name}.damaged-{time.time_ns()}")


def move_database_aside(path: Path, aside: Path) -> None:
    """Rename a database and its companion files, to make room for a new one.

    Raises
    ------
    StoreFailed
        The disk refuses.
    """
    for ending in FILE_ENDINGS:
        with disk_errors(path, "set aside"), suppress(FileNotFoundError):
            Path(f"{path}{ending}").replace(f"{aside}{ending}")


def is_damage_error(error: BaseException) -> bool:
    """Return whether the error means that the file is damaged, or not a database."""
    return _get_primary_code(error) in _DAMAGED_CODES


def is_lock_timeout(error: BaseException) -> bool:
    """Return whether another connection held the lock for longer than the timeout."""
    return _get_primary_code(error) in _BUSY_CODES


def is_disk_full_error(error: BaseException) -> bool:
    """Return whether the error may mean a full disk, for which SQLite has several codes."""
    return _get_primary_code(error) in _NO_SPACE_CODES


def _get_primary_code(error: BaseException) -> int:
    """Return the primary SQLite error code; 0 for other errors."""
    return (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
