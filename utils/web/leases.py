"""Leases: one paper, one address is worked on by one at a time, over all threads and processes.

A lease is a row in a small SQLite file that says who holds it. That a holder is alive is told by
no clock: it keeps a lock of the operating system on a file of its own for as long as it lives, and
whoever finds that file free takes over what it held. Within a process nobody asks the file: the
names are in a set, and who waits is woken.

Whoever holds several kinds takes them in one order, papers before records before addresses, and
never waits for a paper while holding anything: so nobody waits in a circle.
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
from ..system.sqlite import connect, held, is_damaged, lock, set_aside, written
from .cancellation import go_on

log = logging.getLogger(__name__)

LONGEST_S = 900.0
"""Seconds after which nobody waits any more for what another one holds."""

_LOOK_AGAIN_S = 0.1  # whether another process is through
_FILE = "leases.sqlite"
_SCHEMA = """CREATE TABLE IF NOT EXISTS leases (
    name TEXT PRIMARY KEY, holder TEXT NOT NULL, pid INTEGER NOT NULL) WITHOUT ROWID"""
_PATIENCE_S = 5.0
_YOUNG_S = 60.0  # a file of somebody who may just be about to lock it


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
        """Those of *names* that nobody held; they are ours until `release`. Does not wait."""
        self._renew_after_fork()
        with self._changed:
            free = set(names) - self._ours
            self._ours |= free
        if not free:
            return free
        mine: set[str] = set()
        try:
            mine = self._entered(free)
        finally:
            self._forget(free - mine)
        return mine

    def release(self, names: Collection[str]) -> None:
        """Give back what was taken, and wake who waits for it."""
        if not names:
            return
        try:
            with self._writing() as db:
                db.executemany(
                    "DELETE FROM leases WHERE name = ? AND holder = ?",
                    [(name, self._holder) for name in names],
                )
        except (OSError, sqlite3.Error) as error:
            self._do_without(error)
            self._end_life()  # else the others would wait for us as long as we live
        finally:
            self._forget(names)

    @contextmanager
    def held(self, name: str, about: str) -> Iterator[None]:
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
        with self.some_of([name], about):
            yield

    @contextmanager
    def some_of(self, names: Collection[str], about: str) -> Iterator[set[str]]:
        """Wait until at least one of *names* is free, and hold those that are."""
        began = time.monotonic()
        while not (mine := self.take(names)):
            if time.monotonic() - began > LONGEST_S:
                raise self._too_long(names, about)
            with self._changed:
                self._changed.wait(_LOOK_AGAIN_S)
            go_on()
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
        self._life: weakref.finalize[..., Leases] | None = None
        self._told = False

    def _renew_after_fork(self) -> None:
        """What the parent holds is not ours, and its sign of life neither."""
        if self._pid != os.getpid():
            if self._life:
                self._life.detach()
            self._begin()

    def _forget(self, names: Collection[str]) -> None:
        with self._changed:
            self._ours -= set(names)
            self._changed.notify_all()

    def _end_life(self) -> None:
        with self._changed:
            if self._life:
                self._life()
            self._life, self._holder = None, f"{self._pid}-{secrets.token_hex(8)}"

    def _too_long(self, names: Collection[str], about: str) -> Unreachable:
        who = "another thread"
        with suppress(OSError, sqlite3.Error), self._writing() as db:
            for name in names:
                for (pid,) in db.execute("SELECT pid FROM leases WHERE name = ?", (name,)):
                    who = f"process {pid}" if pid != self._pid else who
        msg = f"Waited {LONGEST_S / 60:.0f} minutes for {about}, which {who} is working on."
        return Unreachable(msg, "Ask again when that one is through, or end it.", lasting=True)

    # -- the others --------------------------------------------------------------------------

    def _entered(self, names: Collection[str]) -> set[str]:
        """Those that no other process holds, entered as ours."""
        try:
            self._show_life()
            with self._writing() as db:
                return {name for name in names if self._enter(db, name)}
        except (OSError, sqlite3.Error) as error:
            self._do_without(error)
            return set(names)

    def _enter(self, db: sqlite3.Connection, name: str) -> bool:
        row = db.execute("SELECT holder FROM leases WHERE name = ?", (name,)).fetchone()
        if row and row[0] != self._holder:
            if self._lives(row[0]):
                return False
            db.execute("DELETE FROM leases WHERE holder = ?", row)
        values = (name, self._holder, self._pid)
        db.execute("INSERT OR REPLACE INTO leases VALUES (?, ?, ?)", values)
        return True

    def _show_life(self) -> None:
        """Lock a file of our own, which the system frees when we end, however we do."""
        with self._changed:
            if self._life:
                return
            make_folder(self._folder, 0o700)
            self._bury_the_dead()
            path = self._path(self._holder)
            taken = lock(sign := connect(path, _PATIENCE_S))
            self._life = weakref.finalize(self, _end, sign, path)
            if not (taken and path.exists()):  # taken for dead before it was locked
                raise FileNotFoundError(path)

    def _lives(self, holder: str) -> bool:
        """Whether the process that goes by this name is there."""
        path = self._path(holder)
        if not path.exists():
            return False
        with held(path) as dead:
            if dead:
                with suppress(OSError):  # Windows deletes no open file
                    path.unlink(missing_ok=True)
            return not dead

    def _bury_the_dead(self) -> None:
        for path in self._folder.glob("*.alive"):
            with suppress(OSError, sqlite3.Error):
                if time.time() - path.stat().st_mtime > _YOUNG_S:
                    self._lives(path.stem)

    def _path(self, holder: str) -> Path:
        return self._folder / f"{holder}.alive"

    def _writing(self) -> AbstractContextManager[sqlite3.Connection]:
        return written(self._folder / _FILE, [_SCHEMA])

    def _do_without(self, error: Exception) -> None:
        """Keep only threads apart for now; a damaged file makes room for a new one."""
        if not self._told:
            log.warning("Processes cannot keep apart what they fetch (%s).", error)
            self._told = True
        if is_damaged(error):
            with suppress(StoreFailed):
                set_aside(self._folder / _FILE, self._folder / "leases.damaged")


def _end(sign: sqlite3.Connection, path: Path) -> None:
    with suppress(OSError, sqlite3.Error):
        sign.close()
        path.unlink(missing_ok=True)
