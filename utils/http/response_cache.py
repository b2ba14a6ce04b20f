"""The cache of small answers between runs: which PMCID, which open copy, which abstract.

On disk through diskcache, which by default unpickles what it finds: whoever can write the folder
could run code (CVE-2025-69872, no fixed release). So pickles are refused, as values and as keys,
and the folder is made for its owner only. Everything in it can be asked again, so a cache that
cannot be opened, read or written fails no download.
"""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from operator import methodcaller
from pathlib import Path
from typing import Any

import diskcache
from diskcache.core import MODE_PICKLE

from ..system.sharing import create_shared, inherit_group, make_folder

log = logging.getLogger(__name__)

_DAY = 86400.0
_SIZE = 256 * 1024 * 1024
_PAGES = 512  # of 4 KB that SQLite keeps; the system keeps more of the file
_PRAGMAS = "SELECT key, value FROM Settings WHERE key LIKE 'sqlite_%'"
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

    def _write(self, full_path: str, *given: Any, **options: Any) -> Any:
        """A large value, in a file of its own."""
        path = Path(full_path)
        make_folder(path.parent, 0o700)
        written = super()._write(full_path, *given, **options)
        inherit_group(path)
        return written


class _OneConnection(diskcache.Cache):  # type: ignore[misc]
    """A cache with one connection for all threads, under a lock.

    diskcache opens one for each thread and keeps it, with thousands of pages in memory.
    """

    _shared: sqlite3.Connection | None = None

    @property
    def _con(self) -> sqlite3.Connection:
        if self._shared is None:
            self._shared = sqlite3.connect(
                Path(self._directory) / "cache.db",
                timeout=self._timeout,
                isolation_level=None,
                check_same_thread=False,
            )
            with suppress(sqlite3.OperationalError):  # a new file has no settings yet
                for name, value in self._shared.execute(_PRAGMAS).fetchall():
                    self.reset(name, value, update=False)
        return self._shared

    def close(self) -> None:
        """Close the connection; the next use opens another one."""
        if self._shared is not None:
            self._shared.close()
            self._shared = None


class ResponseCache:
    """Remembers JSON values by kind and name for a number of days.

    Parameters
    ----------
    folder : Path
        Made (0700) on first use; never on import or construction.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._turn = threading.RLock()
        self._cache: Any = None
        self._pid = os.getpid()
        self._lost = False
        self._warned: set[str] = set()

    def get(self, kind: str, name: str) -> Any | None:
        """What was kept under *kind* and *name*; None when nothing, too old, or unreadable."""
        return self.get_many(kind, [name]).get(name)

    def get_many(self, kind: str, names: Iterable[str]) -> dict[str, Any]:
        """What was kept for each of *names*; the unknown ones are left out."""
        found = {name: self._use(methodcaller("get", f"{kind}:{name}")) for name in names}
        return {name: kept for name, kept in found.items() if kept is not None}

    def put(self, kind: str, name: str, value: Any, days: float) -> None:
        """Remember a JSON *value* for a number of *days*."""
        self.put_many(kind, {name: value}, days)

    def put_many(self, kind: str, values: Mapping[str, Any], days: float) -> None:
        """Remember JSON values by name, all or none of them."""

        def put(cache: Any) -> None:
            with cache.transact():
                for name, value in values.items():
                    cache.set(f"{kind}:{name}", value, expire=days * _DAY)

        self._use(put)

    def forget(self, kind: str, name: str) -> None:
        """Remove what was kept."""
        self._use(lambda cache: cache.delete(f"{kind}:{name}"))

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._turn:
            if self._cache is not None:
                self._cache.close()
                self._cache = None

    def _use(self, use: Callable[[Any], Any]) -> Any:
        """Call *use* with the cache; None where that fails, or there can be no cache."""
        with self._turn:
            if (cache := self._open()) is None:
                return None
            try:
                return use(cache)
            except _TROUBLE as error:
                self._note(error)
        return None

    def _open(self) -> Any:
        """The cache, opened on first use; None where that is impossible."""
        with self._turn:
            if self._pid != os.getpid():  # after a fork: the connection is our parent's
                self._cache, self._pid = None, os.getpid()
            if self._cache is None and not self._lost:
                self._cache = self._open_cache()
                self._lost = self._cache is None
            return self._cache

    def _open_cache(self) -> Any:
        for again in (True, False):
            try:
                for folder in (self._folder.parent, self._folder):
                    make_folder(folder, 0o700)
                create_shared(self._folder / diskcache.core.DBNAME)
                return _OneConnection(
                    str(self._folder),
                    timeout=5,
                    disk=SafeJSONDisk,
                    size_limit=_SIZE,
                    # Beyond the limit the oldest go first; reading never writes.
                    eviction_policy="least-recently-stored",
                    # A mapped file that somebody cuts short kills the process (SIGBUS).
                    sqlite_mmap_size=0,
                    sqlite_cache_size=_PAGES,
                )
            except _TROUBLE as error:
                if not (again and _is_damaged(error)):
                    log.warning("Nothing can be remembered in %s (%s).", self._folder, error)
                    return None
                self._set_aside()
        return None

    def _note(self, error: Exception) -> None:
        """Warn once of each error; set a damaged file aside."""
        why = str(error) or "another process kept it busy"  # diskcache's Timeout says nothing
        if why not in self._warned:
            log.warning("The memory in %s failed (%s): it is done without.", self._folder, why)
        self._warned.add(why)
        if _is_damaged(error):
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


def _is_damaged(error: Exception) -> bool:
    """Whether the file itself is broken, not merely busy, full or read-only."""
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(
        error, sqlite3.OperationalError
    )
