"""Lock against all threads and processes: leases on papers and addresses, slots at a site.

A lease lets one thread at a time work on a paper or an address. A lease is a row in a small SQLite
file that names its holder. Each holder process locks a file of its own as long as it lives; a
process that finds this file unlocked takes over the leases of the dead holder. Threads of one
process are separated by a set of names and a condition. The order of leases excludes deadlocks:
papers before records before addresses, and no thread waits for a paper while it holds a lease.

A slot limits the number of simultaneous requests to a site. A slot is one byte of a file that all
processes share, locked during a request; the system unlocks the byte when the process ends. Such
locks do not separate the threads of one process (POSIX), so `Slots` counts these itself. Nothing
is ever written into that file.
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
from ..system.safe_files import create_folder, inherit_group_rights
from ..system.sqlite import (
    hold_process_lock,
    is_damage_error,
    move_database_aside,
    open_database,
    open_file_transaction,
    try_lock_database,
)
from .work import CANCEL_POLL_S, raise_if_cancelled

log = logging.getLogger(__name__)

MAX_LEASE_WAIT_S = 900.0
"""Seconds after which waiting for a lease fails."""

_LEASE_POLL_S = 0.1  # between two checks for a free lease
_LEASES_FILE = "leases.sqlite"
_LEASES_SCHEMA = """CREATE TABLE IF NOT EXISTS leases (
    name TEXT PRIMARY KEY, holder TEXT NOT NULL, pid INTEGER NOT NULL) WITHOUT ROWID"""
_DB_TIMEOUT_S = 5.0
_MIN_DEAD_AGE_S = 60.0  # the owner of a younger file may be about to lock it


class Leases:
    """The leases in one folder.

    Parameters
    ----------
    folder : Path
        Created (0700) with the first lease. If that fails, only threads are separated.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._reset_state()

    def take_free_leases(self, names: Collection[str]) -> set[str]:
        """Take the free leases among *names* without waiting, until `release_leases`."""
        self._renew_after_fork()
        with self._changed:
            free = set(names) - self._ours
            self._ours |= free
        if not free:
            return free
        mine: set[str] = set()
        try:
            mine = self._record_leases(free)
        finally:
            self._forget_leases(free - mine)
        return mine

    def release_leases(self, names: Collection[str]) -> None:
        """Release leases, and wake the threads that wait for them."""
        if not names:
            return
        try:
            with self._open_transaction() as db:
                db.executemany(
                    "DELETE FROM leases WHERE name = ? AND holder = ?",
                    [(name, self._holder) for name in names],
                )
        except (OSError, sqlite3.Error) as error:
            self._fall_back_to_threads(error)
            self._delete_alive_file()  # else other processes would wait until this one ends
        finally:
            self._forget_leases(names)

    @contextmanager
    def hold_lease(self, name: str, about: str) -> Iterator[None]:
        """Wait for a lease, and hold it in the block.

        Parameters
        ----------
        name : str
        about : str
            A description of the work, for the error.

        Raises
        ------
        Unreachable
            Another thread or process has held the lease for a quarter of an hour.
        """
        with self.hold_free_leases([name], about):
            yield

    @contextmanager
    def hold_free_leases(self, names: Collection[str], about: str) -> Iterator[set[str]]:
        """Wait until at least one of *names* is free, and hold all free ones in the block."""
        began = time.monotonic()
        while not (mine := self.take_free_leases(names)):
            if time.monotonic() - began > MAX_LEASE_WAIT_S:
                raise self._build_wait_error(names, about)
            with self._changed:
                self._changed.wait(_LEASE_POLL_S)
            raise_if_cancelled()
        try:
            yield mine
        finally:
            self.release_leases(mine)

    # -- this process ------------------------------------------------------------------------

    def _reset_state(self) -> None:
        """Start without leases, under a new holder name."""
        self._pid = os.getpid()
        self._holder = f"{self._pid}-{secrets.token_hex(8)}"
        self._ours: set[str] = set()
        self._changed = threading.Condition()
        self._alive_file: weakref.finalize[..., Leases] | None = None
        self._warned = False

    def _renew_after_fork(self) -> None:
        """Start without leases after a fork: the parent's leases and lock are not ours."""
        if self._pid != os.getpid():
            if self._alive_file:
                self._alive_file.detach()
            self._reset_state()

    def _forget_leases(self, names: Collection[str]) -> None:
        """Remove leases from our set, and wake waiting threads."""
        with self._changed:
            self._ours -= set(names)
            self._changed.notify_all()

    def _delete_alive_file(self) -> None:
        """Delete the file that marks this process as alive, and take a new holder name."""
        with self._changed:
            if self._alive_file:
                self._alive_file()
            self._alive_file, self._holder = None, f"{self._pid}-{secrets.token_hex(8)}"

    def _build_wait_error(self, names: Collection[str], about: str) -> Unreachable:
        """Return the error for a lease that another thread or process holds too long."""
        who = "another thread"
        with suppress(OSError, sqlite3.Error), self._open_transaction() as db:
            for name in names:
                for (pid,) in db.execute("SELECT pid FROM leases WHERE name = ?", (name,)):
                    who = f"process {pid}" if pid != self._pid else who
        msg = f"Waited {MAX_LEASE_WAIT_S / 60:.0f} minutes for {about}, which {who} is working on."
        return Unreachable(msg, "Try again when it has finished, or stop it.", lasting=True)

    # -- other processes-----------------------------------------------------------------------

    def _record_leases(self, names: Collection[str]) -> set[str]:
        """Record the leases that no other process holds; return their names."""
        try:
            self._lock_alive_file()
            with self._open_transaction() as db:
                return {name for name in names if self._record_lease(db, name)}
        except (OSError, sqlite3.Error) as error:
            self._fall_back_to_threads(error)
            return set(names)

    def _record_lease(self, db: sqlite3.Connection, name: str) -> bool:
        """Record a lease as ours; return False if a living process holds it."""
        row = db.execute("SELECT holder FROM leases WHERE name = ?", (name,)).fetchone()
        if row and row[0] != self._holder:
            if self._is_holder_alive(row[0]):
                return False
            db.execute("DELETE FROM leases WHERE holder = ?", row)
        values = (name, self._holder, self._pid)
        db.execute("INSERT OR REPLACE INTO leases VALUES (?, ?, ?)", values)
        return True

    def _lock_alive_file(self) -> None:
        """Lock a file of our own, which the system unlocks when this process ends."""
        with self._changed:
            if self._alive_file:
                return
            create_folder(self._folder, 0o700)
            self._delete_files_of_dead_holders()
            path = self._build_alive_path(self._holder)
            taken = try_lock_database(db := open_database(path, _DB_TIMEOUT_S))
            self._alive_file = weakref.finalize(self, _close_alive_file, db, path)
            if not (
                taken and path.exists()
            ):  # another process took us for dead before the file was locked
                raise FileNotFoundError(path)

    def _is_holder_alive(self, holder: str) -> bool:
        """Return whether a holder's process lives; delete the file of a dead process."""
        path = self._build_alive_path(holder)
        if not path.exists():
            return False
        with hold_process_lock(path) as dead:
            if dead:
                with suppress(OSError):  # Windows cannot delete an open file
                    path.unlink(missing_ok=True)
            return not dead

    def _delete_files_of_dead_holders(self) -> None:
        """Delete the files of dead processes."""
        for path in self._folder.glob("*.alive"):
            with suppress(OSError, sqlite3.Error):
                if time.time() - path.stat().st_mtime > _MIN_DEAD_AGE_S:
                    self._is_holder_alive(path.stem)

    def _build_alive_path(self, holder: str) -> Path:
        """Return the path of the file that marks a holder as alive."""
        return self._folder / f"{holder}.alive"

    def _open_transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        """Return a transaction on the file of leases."""
        return open_file_transaction(self._folder / _LEASES_FILE, [_LEASES_SCHEMA])

    def _fall_back_to_threads(self, error: Exception) -> None:
        """Warn once that leases exclude only threads; move a damaged file aside."""
        if not self._warned:
            log.warning(
                "Leases exclude only threads: processes may fetch the same papers (%s).",
                error,
            )
            self._warned = True
        if is_damage_error(error):
            with suppress(StoreFailed):
                move_database_aside(self._folder / _LEASES_FILE, self._folder / "leases.damaged")


def _close_alive_file(db: sqlite3.Connection, path: Path) -> None:
    """Close and delete the file that marks a process as alive."""
    with suppress(OSError, sqlite3.Error):
        db.close()
        path.unlink(missing_ok=True)


if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


MAX_SLOTS = 64
"""Slots a site can have."""

_MAX_SITES = (
    2**24  # sites in the file, whose locks must be below 2**31 on Windows
)
_SLOT_POLL_S = 0.02  # another process cannot notify us


class Slots:
    """The slots of all sites; created by `get_slots`, one object for a file in each process.

    Parameters
    ----------
    path : str
        The file; its folder must exist.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._changed = threading.Condition()
        self._ours: defaultdict[str, set[int]] = defaultdict(set)
        self._file = -1
        self._lockable = True

    @contextmanager
    def hold_slot(self, name: str, most: int, patience_s: float) -> Iterator[None]:
        """Wait for one of the *most* slots of a site, and hold it in the block.

        Raises
        ------
        TimeoutError
            All slots were taken for *patience_s* seconds.
        OSError
            The file cannot be opened.
        """
        slot = self._wait_for_slot(name, min(most, MAX_SLOTS), patience_s)
        try:
            yield
        finally:
            self._free_slot(name, slot)

    def _wait_for_slot(self, name: str, most: int, patience_s: float) -> int:
        """Return the number of a free slot, after waiting for one."""
        until = time.monotonic() + patience_s
        with self._changed:
            while (slot := self._take_slot(name, most)) is None:
                left = until - time.monotonic()
                if left <= 0:
                    raise TimeoutError(name)
                # If all slots are ours, a thread notifies us; another process cannot.
                all_ours = len(self._ours[name]) >= most
                self._changed.wait(min(left, CANCEL_POLL_S if all_ours else _SLOT_POLL_S))
                raise_if_cancelled()
        return slot

    def _take_slot(self, name: str, most: int) -> int | None:
        """Return the number of a free slot, which is now ours; None if all are taken."""
        ours = self._ours[name]
        for slot in range(most):
            if slot not in ours and self._try_lock_byte(_compute_slot_offset(name) + slot):
                ours.add(slot)
                return slot
        return None

    def _free_slot(self, name: str, slot: int) -> None:
        """Free a slot, and wake waiting threads."""
        with self._changed:
            self._ours[name].discard(slot)
            if not self._ours[name]:
                del self._ours[name]
            with suppress(OSError):
                _unlock_byte(self._file, _compute_slot_offset(name) + slot)
            self._changed.notify_all()

    def _try_lock_byte(self, place: int) -> bool:
        """Return whether this process locked a byte; True if the file supports no locks."""
        self._open_file()
        if self._lockable:
            try:
                return _lock_byte(self._file, place)
            except OSError as error:
                self._lockable = False
                log.warning(
                    "%s cannot be locked (%s): each process limits its own requests only.",
                    self._path,
                    error,
                )
        return True

    def _open_file(self) -> None:
        """Open the file, and reopen it if it was replaced: other processes lock the new file."""
        with suppress(OSError):
            if self._file >= 0 and os.path.samestat(os.fstat(self._file), self._path.stat()):
                return
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        inherit_group_rights(self._path)


def get_slots(path: str) -> Slots:
    """Return the slots in the file *path* (not a link), shared by all threads of a process."""
    return _slots_by_path.get(path) or _slots_by_path.setdefault(path, Slots(path))


_slots_by_path: dict[str, Slots] = {}

# After a fork the locks and the counts belong to the parent only.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_slots_by_path.clear)


def _compute_slot_offset(name: str) -> int:
    """Return the offset of the first lock byte of a site's slots."""
    digest = hashlib.sha256(name.encode()).digest()
    return int.from_bytes(digest[:8], "big") % _MAX_SITES * MAX_SLOTS


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
