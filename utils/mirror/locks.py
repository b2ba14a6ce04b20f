"""Locks and databases of a mirror.

One process at a time does each piece of a mirror's work; a second one is told which process works.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from ..errors import StoreBusy, StoreFailed
from ..system.locks import read_lock_holder, record_lock_holder
from ..system.sqlite import hold_process_lock, is_disk_full_error, open_database

_PATIENCE_S = 30.0


@contextmanager
def open_table(
    path: Path, schema: str, hint: str, *, write: bool = True
) -> Iterator[sqlite3.Connection]:
    """Open a SQLite file with some tables, which are made if they are missing.

    Without *write*, a missing file is not created, and its tables are empty.

    Raises
    ------
    StoreFailed
        The file cannot be read or written; *hint* says what to do if the disk is not full.
    """
    try:
        use_file = write or path.exists()
        made = open_database(path, _PATIENCE_S) if use_file else sqlite3.connect(":memory:")
        with closing(made) as db:
            db.executescript(schema)
            yield db
    except sqlite3.Error as error:
        hint = "Free some space on the disk." if is_disk_full_error(error) else hint
        raise StoreFailed(f"{path} cannot be used: {error}.", hint) from error


@contextmanager
def exclusive_lock(path: Path, what: str) -> Iterator[None]:
    """Hold the lock at *path* during some work; it is released when its process ends.

    Raises
    ------
    StoreBusy
        Another process holds the lock.
    StoreFailed
        The disk refuses to lock the file.
    """
    signed = path.with_suffix(".holder")
    with ExitStack() as held:
        try:
            mine = held.enter_context(hold_process_lock(path))
        except sqlite3.Error as error:
            hint = "Free some space on the disk." if is_disk_full_error(error) else ""
            raise StoreFailed(f"{path} cannot be locked: {error}.", hint) from error
        if not mine:
            holder = read_lock_holder(signed)
            msg = f"Another process is at work on {what}: {holder}."
            hint = "Nothing was done. Wait until it has finished, and run the command again."
            raise StoreBusy(msg, hint, holder=holder, retryable=True)
        record_lock_holder(signed)
        yield
