"""Leases: one paper, one address is worked on by one at a time, over all threads and processes.

A lease is a row in a small SQLite file that names its holder. A holder keeps an operating-system
lock on a file of its own for as long as it lives; whoever finds that file unlocked takes over its
leases. Threads of one process are kept apart by a set of names and a condition.

Deadlocks are excluded by an order: papers before records before addresses, and nobody waits for a
paper while holding anything.
"""

from __future__ import annotations

import logging
import os
import secrets
import sqlite3
import threading
import time
import weakref
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from ..errors import StoreFailed, Unreachable
from ..system.sharing import make_folder
from ..system.sqlite import connect, file_transaction, is_damaged, lock, set_aside, try_lock
from .cancellation import raise_if_cancelled

log = logging.getLogger(__name__)

LONGEST_S = 900.0
"""Seconds after which waiting for a lease fails."""

_POLL_S = 0.1  # between two looks at whether another process is done
_FILE = "leases.sqlite"
_SCHEMA = """CREATE TABLE IF NOT EXISTS leases (
    name TEXT PRIMARY KEY, holder TEXT NOT NULL, pid INTEGER NOT NULL) WITHOUT ROWID"""
_PATIENCE_S = 5.0
_YOUNG_S = 60.0  # the owner of a younger file may be about to lock it


class Leases:
    """The leases in one folder.

    Parameters
    ----------
    folder : Path
        Made (0700) with the first lease. Where it cannot be, only threads are kept apart.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._begin()

    def take(self, names: Collection[str]) -> set[str]:
        """Take those of *names* that nobody holds; they are ours until `release`. Does not wait."""
        self._renew_after_fork()
        with self._changed:
            free = set(names) - self._ours
            self._ours |= free
        if not free:
            return free
        mine: set[str] = set()
        try:
            mine = self._enter_all(free)
        finally:
            self._forget(free - mine)
        return mine

    def release(self, names: Collection[str]) -> None:
        """Give back leases, and wake the threads that wait for them."""
        if not names:
            return
        try:
            with self._transaction() as db:
                db.executemany(
                    "DELETE FROM leases WHERE name = ? AND holder = ?",
                    [(name, self._holder) for name in names],
                )
        except (OSError, sqlite3.Error) as error:
            self._degrade(error)
            self._drop_alive_file()  # else others would wait for us as long as we live
        finally:
            self._forget(names)

    @contextmanager
    def hold(self, name: str, about: str) -> Iterator[None]:
        """Wait for a lease and hold it inside.

        Parameters
        ----------
        name : str
        about : str
            What is waited for, in words.

        Raises
        ------
        Unreachable
            Somebody else has held it for a quarter of an hour.
        """
        with self.hold_any([name], about):
            yield

    @contextmanager
    def hold_any(self, names: Collection[str], about: str) -> Iterator[set[str]]:
        """Wait until at least one of *names* is free, and hold those that are inside."""
        began = time.monotonic()
        while not (mine := self.take(names)):
            if time.monotonic() - began > LONGEST_S:
                raise self._too_long_error(names, about)
            with self._changed:
                self._changed.wait(_POLL_S)
            raise_if_cancelled()
        try:
            yield mine
        finally:
            self.release(mine)

    # -- ourselves ---------------------------------------------------------------------------

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._holder = f"{self._pid}-{secrets.token_hex(8)}"
        self._ours: set[str] = set()
        self._changed = threading.Condition()
        self._alive_file: weakref.finalize[..., Leases] | None = None
        self._warned = False

    def _renew_after_fork(self) -> None:
        """Start without leases after a fork: those of the parent, and its lock, are not ours."""
        if self._pid != os.getpid():
            if self._alive_file:
                self._alive_file.detach()
            self._begin()

    def _forget(self, names: Collection[str]) -> None:
        with self._changed:
            self._ours -= set(names)
            self._changed.notify_all()

    def _drop_alive_file(self) -> None:
        with self._changed:
            if self._alive_file:
                self._alive_file()
            self._alive_file, self._holder = None, f"{self._pid}-{secrets.token_hex(8)}"

    def _too_long_error(self, names: Collection[str], about: str) -> Unreachable:
        who = "another thread"
        with suppress(OSError, sqlite3.Error), self._transaction() as db:
            for name in names:
                for (pid,) in db.execute("SELECT pid FROM leases WHERE name = ?", (name,)):
                    who = f"process {pid}" if pid != self._pid else who
        msg = f"Waited {LONGEST_S / 60:.0f} minutes for {about}, which {who} is working on."
        return Unreachable(msg, "Ask again when that one is through, or end it.", lasting=True)

    # -- the others --------------------------------------------------------------------------

    def _enter_all(self, names: Collection[str]) -> set[str]:
        """Enter those as ours that no other process holds; which they are."""
        try:
            self._lock_alive_file()
            with self._transaction() as db:
                return {name for name in names if self._enter(db, name)}
        except (OSError, sqlite3.Error) as error:
            self._degrade(error)
            return set(names)

    def _enter(self, db: sqlite3.Connection, name: str) -> bool:
        row = db.execute("SELECT holder FROM leases WHERE name = ?", (name,)).fetchone()
        if row and row[0] != self._holder:
            if self._is_alive(row[0]):
                return False
            db.execute("DELETE FROM leases WHERE holder = ?", row)
        values = (name, self._holder, self._pid)
        db.execute("INSERT OR REPLACE INTO leases VALUES (?, ?, ?)", values)
        return True

    def _lock_alive_file(self) -> None:
        """Lock a file of our own, which the system frees when we end, however we do."""
        with self._changed:
            if self._alive_file:
                return
            make_folder(self._folder, 0o700)
            self._remove_dead()
            path = self._path(self._holder)
            taken = lock(db := connect(path, _PATIENCE_S))
            self._alive_file = weakref.finalize(self, _end, db, path)
            if not (taken and path.exists()):  # taken for dead before it was locked
                raise FileNotFoundError(path)

    def _is_alive(self, holder: str) -> bool:
        """Whether the process of this name lives; deletes the file of one that does not."""
        path = self._path(holder)
        if not path.exists():
            return False
        with try_lock(path) as dead:
            if dead:
                with suppress(OSError):  # Windows deletes no open file
                    path.unlink(missing_ok=True)
            return not dead

    def _remove_dead(self) -> None:
        for path in self._folder.glob("*.alive"):
            with suppress(OSError, sqlite3.Error):
                if time.time() - path.stat().st_mtime > _YOUNG_S:
                    self._is_alive(path.stem)

    def _path(self, holder: str) -> Path:
        return self._folder / f"{holder}.alive"

    def _transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        return file_transaction(self._folder / _FILE, [_SCHEMA])

    def _degrade(self, error: Exception) -> None:
        """Warn once that only threads are kept apart; set a damaged file aside."""
        if not self._warned:
            log.warning("Processes cannot keep apart what they fetch (%s).", error)
            self._warned = True
        if is_damaged(error):
            with suppress(StoreFailed):
                set_aside(self._folder / _FILE, self._folder / "leases.damaged")


def _end(db: sqlite3.Connection, path: Path) -> None:
    with suppress(OSError, sqlite3.Error):
        db.close()
        path.unlink(missing_ok=True)
