"""Use SQLite in the whole program: connections, transactions, errors, versions and locks.

Transactions begin where we say (``isolation_level=None``), writers lock at the beginning (``BEGIN
IMMEDIATE``), and threads may hand a connection on, one using it at a time.

`try_lock` is the lock among processes that also works on network drives, where files can be locked
at all: an exclusive transaction on a file of its own, freed by the system when its holder ends,
however it does (sqlite.org/lockingv3.html).
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from .safe_files import create_shared, disk_errors, exclusive_lock

FILE_ENDINGS = ("", "-wal", "-shm")
"""What a database in WAL mode consists of, as endings of its file's name."""

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
    create_shared(path)
    return sqlite3.connect(path, timeout=patience_s, isolation_level=None, check_same_thread=False)


def enable_wal(db: sqlite3.Connection, path: Path, synchronous: str) -> None:
    """Let readers continue while another connection writes.

    *synchronous* says when the disk has what was committed: at once (``FULL``), or before the file
    is tidied the next time (``NORMAL``).
    """
    if db.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        # Two who change a new file at once wait for each other; SQLite refuses one of them.
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
def file_transaction(
    path: Path, schemas: Sequence[str], patience_s: float = 30.0
) -> Iterator[sqlite3.Connection]:
    """Run a transaction on a connection of its own: cheap, and safe with threads and forks.

    For what need not outlive a power cut. The tables are made by *schemas* where they are lacking.
    """
    with closing(open_database(path, patience_s)) as db:
        db.execute("PRAGMA synchronous = OFF")
        with transaction(db):
            for schema in schemas:
                db.execute(schema)
            yield db


@contextmanager
def try_lock(path: Path, patience_s: float = 0.0) -> Iterator[bool]:
    """Hold the lock at *path* among all processes; yield False if another process holds the lock.

    Raises
    ------
    sqlite3.Error
        There is no such lock to be had: a disk that is full or closed to us.
    """
    with closing(open_database(path, patience_s)) as db:
        yield try_lock_file(db)


def try_lock_file(db: sqlite3.Connection) -> bool:
    """Lock the whole file of this connection until it is closed; False if another process has it.

    Raises
    ------
    sqlite3.Error
        As for `try_lock`.
    """
    try:
        db.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        if is_busy(error):
            return False
        raise
    return True


def read_schema_version(db: sqlite3.Connection) -> int:
    """Return the version of the tables, by ``user_version``; 0 for a new file."""
    [(number,)] = db.execute("PRAGMA user_version")
    return int(number)


def build_damaged_path(path: Path) -> Path:
    """Return a new name for a damaged file, in the same folder."""
    return path.with_name(f"{path.name}.damaged-{time.time_ns()}")


def move_aside(path: Path, aside: Path) -> None:
    """Rename a database and its companion files, to make room for a new one.

    Raises
    ------
    StoreFailed
        The disk refuses.
    """
    for ending in FILE_ENDINGS:
        with disk_errors(path, "set aside"), suppress(FileNotFoundError):
            Path(f"{path}{ending}").replace(f"{aside}{ending}")


def is_damaged(error: BaseException) -> bool:
    """Return whether the error means that the file is damaged, or not a database."""
    return _get_primary_code(error) in _DAMAGED_CODES


def is_busy(error: BaseException) -> bool:
    """Return whether another connection held the lock for longer than the timeout."""
    return _get_primary_code(error) in _BUSY_CODES


def is_disk_full(error: BaseException) -> bool:
    """Return whether the disk may be full, for which SQLite has several codes."""
    return _get_primary_code(error) in _NO_SPACE_CODES


def _get_primary_code(error: BaseException) -> int:
    """Return the primary SQLite error code; 0 for other errors."""
    return (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
