"""Small answers worth remembering between two runs: which PMCID, which open copy, which abstract.

On disk through diskcache, which by default unpickles what it finds: whoever can write the folder
could run code (CVE-2025-69872, no fixed release). So pickles are refused, as values and as keys,
and the folder is made for its owner only. What is remembered can always be asked again: a cache
that cannot be opened, read or written is never worth a failed download.
"""

from __future__ import annotations

import logging
import shutil
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import diskcache
from diskcache.core import MODE_PICKLE

from ..sharing import begin, follow, make_folder

log = logging.getLogger(__name__)

_DAY = 86400.0
_SIZE = 256 * 1024 * 1024
_TROUBLE = (OSError, sqlite3.Error, zlib.error, ValueError, TypeError, diskcache.Timeout)


class SafeJSONDisk(diskcache.JSONDisk):  # type: ignore[misc]
    """Compressed JSON; nothing is ever unpickled, whatever a row says it is."""

    def fetch(self, mode: int, filename: str, value: Any, read: bool) -> Any:
        """A value, unless it is a pickle."""
        if mode == MODE_PICKLE:
            msg = "pickled cache value refused"
            raise ValueError(msg)
        return super().fetch(mode, filename, value, read)

    def get(self, key: Any, raw: bool) -> Any:
        """A key, unless it is a pickle."""
        if not raw:
            msg = "pickled cache key refused"
            raise ValueError(msg)
        return super().get(key, raw)

    def _write(self, full_path: str, *given: Any, **named: Any) -> Any:
        """A large value, in a file of its own."""
        path = Path(full_path)
        make_folder(path.parent, 0o700)
        written = super()._write(full_path, *given, **named)
        follow(path)
        return written


class Memory:
    """Remembers JSON values by kind and name for a number of days.

    Parameters
    ----------
    folder : Path
        Made (0700) on first use; never on import or construction.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._cache: Any = None
        self._lost = False
        self._told: set[str] = set()

    def recall(self, kind: str, name: str) -> Any | None:
        """What was kept under *kind* and *name*; None when nothing, too old, or unreadable."""
        return self.recall_many(kind, [name]).get(name)

    def recall_many(self, kind: str, names: Iterable[str]) -> dict[str, Any]:
        """What was kept for each of *names*; the unknown ones are left out."""
        found: dict[str, Any] = {}
        for name in names:
            if (cache := self._open()) is None:
                break
            try:
                kept = cache.get(f"{kind}:{name}")
            except _TROUBLE as error:
                self._note(error)
            else:
                if kept is not None:
                    found[name] = kept
        return found

    def keep(self, kind: str, name: str, value: Any, days: float) -> None:
        """Remember a JSON *value* for a number of *days*."""
        self.keep_many(kind, {name: value}, days)

    def keep_many(self, kind: str, values: Mapping[str, Any], days: float) -> None:
        """Remember JSON values by name, all or none of them."""
        if (cache := self._open()) is None:
            return
        try:
            with cache.transact():
                for name, value in values.items():
                    cache.set(f"{kind}:{name}", value, expire=days * _DAY)
        except _TROUBLE as error:
            self._note(error)

    def forget(self, kind: str, name: str) -> None:
        """As if it had never been kept."""
        if (cache := self._open()) is None:
            return
        try:
            cache.delete(f"{kind}:{name}")
        except _TROUBLE as error:
            self._note(error)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._cache is not None:
                self._cache.close()
                self._cache = None

    def _open(self) -> Any:
        """The cache, or None where there cannot be one."""
        with self._lock:
            if self._cache is None and not self._lost:
                self._cache = self._opened()
                self._lost = self._cache is None
            return self._cache

    def _opened(self) -> Any:
        for again in (True, False):
            try:
                for folder in (self._folder.parent, self._folder):
                    make_folder(folder, 0o700)
                begin(self._folder / diskcache.core.DBNAME)
                return diskcache.Cache(
                    str(self._folder),
                    timeout=5,
                    disk=SafeJSONDisk,
                    size_limit=_SIZE,
                    # Beyond the limit the oldest go first; reading never writes.
                    eviction_policy="least-recently-stored",
                    # A mapped file that somebody cuts short kills the process (SIGBUS).
                    sqlite_mmap_size=0,
                )
            except _TROUBLE as error:
                if not (again and _damaged(error)):
                    log.warning("Nothing can be remembered in %s (%s).", self._folder, error)
                    return None
                self._set_aside()
        return None

    def _note(self, error: Exception) -> None:
        """Say once what went wrong; a damaged file is set aside, anything else may pass."""
        why = str(error) or "another process kept it busy"  # diskcache's Timeout says nothing
        if why not in self._told:
            log.warning("The memory in %s failed (%s): it is done without.", self._folder, why)
        self._told.add(why)
        if _damaged(error):
            self.close()
            self._set_aside()

    def _set_aside(self) -> None:
        log.warning("The memory in %s is damaged and was set aside.", self._folder)
        aside = self._folder.with_name(self._folder.name + ".damaged")
        try:
            shutil.rmtree(aside, ignore_errors=True)
            self._folder.replace(aside)
        except OSError:
            self._lost = True


def _damaged(error: Exception) -> bool:
    """Whether the file itself is broken, not merely busy, full or read-only."""
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(
        error, sqlite3.OperationalError
    )
