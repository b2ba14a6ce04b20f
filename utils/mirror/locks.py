"""One process at a time on each piece of a mirror's work; who comes second is told who is at it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ..errors import StoreBusy, StoreFailed
from ..system.locks import read_lock_holder, record_lock_holder
from ..system.sqlite import hold_process_lock, is_disk_full_error


@contextmanager
def exclusive_lock(path: Path, what: str) -> Iterator[None]:
    """Hold the lock at *path* during some work; it is released when its process ends.

    Raises
    ------
    StoreBusy
        Another process holds it.
    StoreFailed
        The disk gives no lock.
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
