"""Locks among all threads and processes: leases on papers and addresses, slots at a site.

A lease lets one at a time work on a paper or an address. It is a row in a small SQLite file that
names its holder. A holder keeps an operating-system lock on a file of its own for as long as it
lives; whoever finds that file unlocked takes over its leases. Threads of one process are kept apart
by a set of names and a condition. Deadlocks are excluded by an order: papers before records before
addresses, and nobody waits for a paper while holding anything.

A slot limits how many requests are under way at a site at once. It is one byte of a file that all
processes share, locked while a request is under way; the system frees it with its process, however
that ends. Such locks do not tell the threads of one process apart (POSIX), so `Slots` counts these
itself. Nothing is ever written into that file.
"""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import sqlite3
import sys
import threading
import time
import weakref
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from ..errors import StoreFailed, Unreachable
from ..system.safe_files import create_folder, inherit_group
from ..system.sqlite import connect, file_transaction, is_damaged, lock, set_aside, try_lock
from .work import POLL_S, raise_if_cancelled

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
            create_folder(self._folder, 0o700)
            self._remove_dead()
            path = self._path(self._holder)
            taken = lock(db := connect(path, _PATIENCE_S))
            self._alive_file = weakref.finalize(self, _end, db, path)
            if not (taken and path.exists()):  # taken for dead before it was locked
                raise FileNotFoundError(path)

    def _is_alive(self, holder: str) -> bool:
        """Return whether the process of this name lives; deletes the file of one that does not."""
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


if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


SLOTS_MAX = 64
"""Slots a site can have."""

_SITES_MAX = (
    2**24
)  # places for sites in the file; below 2**31 bytes, which is all that Windows locks
_SLOT_POLL_S = 0.02  # another process gives no sign when it is done


class Slots:
    """The slots of all sites; made by `slots_in`, one for a file in each process.

    Parameters
    ----------
    path : str
        The file; its folder must be there.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._changed = threading.Condition()
        self._ours: defaultdict[str, set[int]] = defaultdict(set)
        self._file = -1
        self._lockable = True

    @contextmanager
    def hold(self, name: str, most: int, patience_s: float) -> Iterator[None]:
        """Wait for one of the *most* slots of a site, and hold it inside.

        Raises
        ------
        TimeoutError
            All were taken for *patience_s* seconds.
        OSError
            The file cannot be opened.
        """
        slot = self._wait_for(name, min(most, SLOTS_MAX), patience_s)
        try:
            yield
        finally:
            self._free(name, slot)

    def _wait_for(self, name: str, most: int, patience_s: float) -> int:
        until = time.monotonic() + patience_s
        with self._changed:
            while (slot := self._take(name, most)) is None:
                left = until - time.monotonic()
                if left <= 0:
                    raise TimeoutError(name)
                # Where all are ours, whoever is done rings; else a process may be done unheard.
                all_ours = len(self._ours[name]) >= most
                self._changed.wait(min(left, POLL_S if all_ours else _SLOT_POLL_S))
                raise_if_cancelled()
        return slot

    def _take(self, name: str, most: int) -> int | None:
        ours = self._ours[name]
        for slot in range(most):
            if slot not in ours and self._try_lock(_first_byte(name) + slot):
                ours.add(slot)
                return slot
        return None

    def _free(self, name: str, slot: int) -> None:
        with self._changed:
            self._ours[name].discard(slot)
            if not self._ours[name]:
                del self._ours[name]
            with suppress(OSError):
                _unlock_byte(self._file, _first_byte(name) + slot)
            self._changed.notify_all()

    def _try_lock(self, place: int) -> bool:
        """Return whether we locked a byte; without locks, this process counts alone."""
        self._open()
        if self._lockable:
            try:
                return _lock_byte(self._file, place)
            except OSError as error:
                self._lockable = False
                log.warning(
                    "%s cannot be locked (%s): each process counts alone", self._path, error
                )
        return True

    def _open(self) -> None:
        """Open the file, again where somebody took it away: others would lock another one."""
        with suppress(OSError):
            if self._file >= 0 and os.path.samestat(os.fstat(self._file), self._path.stat()):
                return
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        inherit_group(self._path)


def slots_in(path: str) -> Slots:
    """The slots kept in the file *path* (no link): all threads of a process must share them."""
    return _known.get(path) or _known.setdefault(path, Slots(path))


_known: dict[str, Slots] = {}

# After a fork the locks stay with the parent, and so does what it counted.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_known.clear)


def _first_byte(name: str) -> int:
    """Return the first byte of a site's slots."""
    digest = hashlib.sha256(name.encode()).digest()
    return int.from_bytes(digest[:8], "big") % _SITES_MAX * SLOTS_MAX


if sys.platform == "win32":

    def _lock_byte(file: int, place: int) -> bool:
        os.lseek(file, place, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

    def _unlock_byte(file: int, place: int) -> None:
        os.lseek(file, place, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

else:

    def _lock_byte(file: int, place: int) -> bool:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def _unlock_byte(file: int, place: int) -> None:
        fcntl.lockf(file, fcntl.LOCK_UN, 1, place)
