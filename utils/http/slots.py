"""How many requests are under way at a site at once, over all threads and processes of this user.

A slot is one byte of a file that all processes share, locked while a request is under way: the
system frees it with its process, however that ends. Such locks do not tell the threads of one
process apart (POSIX), so these are counted here as well. Nothing is ever written into the file.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..system.sharing import inherit_group
from .cancellation import POLL_S, raise_if_cancelled

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

log = logging.getLogger(__name__)

MOST = 64
"""Slots a site can have."""

_NAMES = 2**24  # places for sites in the file; below 2**31 bytes, which is all that Windows locks
_POLL_S = 0.02  # another process gives no sign when it is done


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
        slot = self._wait_for(name, min(most, MOST), patience_s)
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
                self._changed.wait(min(left, POLL_S if all_ours else _POLL_S))
                raise_if_cancelled()
        return slot

    def _take(self, name: str, most: int) -> int | None:
        ours = self._ours[name]
        for slot in range(most):
            if slot not in ours and self._try_lock(_place(name) + slot):
                ours.add(slot)
                return slot
        return None

    def _free(self, name: str, slot: int) -> None:
        with self._changed:
            self._ours[name].discard(slot)
            if not self._ours[name]:
                del self._ours[name]
            with suppress(OSError):
                _unlock(self._file, _place(name) + slot)
            self._changed.notify_all()

    def _try_lock(self, place: int) -> bool:
        """Whether a byte is ours now; where nothing can be locked, this process counts alone."""
        self._open()
        if self._lockable:
            try:
                return _lock(self._file, place)
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


def _place(name: str) -> int:
    """Where the slots of a site begin."""
    digest = hashlib.sha256(name.encode()).digest()
    return int.from_bytes(digest[:8], "big") % _NAMES * MOST


if sys.platform == "win32":

    def _lock(file: int, place: int) -> bool:
        os.lseek(file, place, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

    def _unlock(file: int, place: int) -> None:
        os.lseek(file, place, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

else:

    def _lock(file: int, place: int) -> bool:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def _unlock(file: int, place: int) -> None:
        fcntl.lockf(file, fcntl.LOCK_UN, 1, place)
