"""Answers kept on the disk: the cache of small ones, and the journal of what sites sent for papers.

The response cache remembers which PMCID, which open copy, which abstract. It lies in diskcache,
which by default unpickles what it finds: whoever can write the folder could run code
(CVE-2025-69872, no fixed release). So pickles are refused, as values and as keys, and the folder is
made for its owner only. Everything in it can be asked again: a cache that cannot be opened, read or
written fails no download.

The journal keeps answers about papers before they are read or judged, shared by all processes of a
shelf. A harvest that was killed, or is repeated, takes the answers that it already had, and a
request made again carries the validators of the last answer. Entries lie in an index like the
response cache, bodies that are not small beside it, by checksum (`..system.bodies`). Kept of an
answer: status, type, validators, the address without secrets, and the body. No cookie, no key, and
no header that could echo one.

A large body that broke off is kept, and the rest is requested (RFC 9110, 14), but only where the
site says how long the body is, which one it is (a strong ETag, or a date of change that is safely
in the past), and sends it uncompressed. The request for the rest names that body (``If-Range``), so
that a new one comes whole; an answer that begins elsewhere is refused, and the whole is asked for.
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import os
import re
import shutil
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from operator import methodcaller
from pathlib import Path
from typing import IO, Any

import diskcache
from diskcache.core import MODE_PICKLE

from ..errors import BadContent, StoreFailed, Unreachable
from ..system import bodies
from ..system.safe_files import create_folder, create_shared, inherit_group
from .messages import DAYS, SECRETS, Answer, Request, is_fresh, redact

log = logging.getLogger(__name__)

_DAY_S = 86400.0
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
        create_folder(path.parent, 0o700)
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
        """Return the value under *kind* and *name*; None if absent, too old or unreadable."""
        return self.get_many(kind, [name]).get(name)

    def get_many(self, kind: str, names: Iterable[str]) -> dict[str, Any]:
        """Return the values of *names*; unknown names are left out."""
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
                    cache.set(f"{kind}:{name}", value, expire=days * _DAY_S)

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
                    create_folder(folder, 0o700)
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
    """Return whether the file itself is broken, not merely busy, full or read-only."""
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(
        error, sqlite3.OperationalError
    )


FOLDER = "fetched"
_SMALL = 8 * 1024  # bytes that lie in the index itself
_HEADERS = ("Content-Type", "ETag", "Last-Modified")
_VARYING = ("accept", "accept-language")  # headers on which an answer depends
# About us, about the moment, or a piece that nobody asked for.
_NO_ANSWER = frozenset({206, 401, 402, 407, 408, 425, 429})
_SWEEP_EVERY = 2000  # bodies
LARGE = 1024 * 1024
"""Bytes from which a body is worth the trouble."""
KEPT_DAYS = 1.0
_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)", re.A)
_STRONG_S = 60.0  # a date of change this far before the answer names one body and no other


@dataclass(frozen=True, slots=True)
class Entry:
    """An answer, the time it was given *at*, and the name of the *last* request, which gave it."""

    answer: Answer
    at: float
    last: str

    @property
    def validators(self) -> dict[str, str]:
        """Headers that ask whether it has changed; empty where the site gave no validator."""
        headers = self.answer.headers
        conditions = {"ETag": "If-None-Match", "Last-Modified": "If-Modified-Since"}
        if self.answer.status != 200 or not self.answer.body:
            return {}
        return {conditions[name]: headers[name] for name in conditions if name in headers}


class Journal:
    """The journal of one shelf.

    Parameters
    ----------
    folder : Path
        ``.papershelf/fetched``; made (0700) with the first entry. Where the disk refuses, nothing
        is kept: requests are repeated, no paper is lost.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bodies = bodies.Bodies(folder / bodies.FOLDER)
        self.index = ResponseCache(folder / "index")
        self._lock = threading.Lock()
        self._put = 0
        self._warned = False

    def recall(self, name: str) -> Entry | None:
        """Return the answer under this name; None if there is none, or its body is gone."""
        row = self.index.get("answer", name)
        try:
            return self._read(row) if row else None
        except (LookupError, TypeError, ValueError, AttributeError):
            return None  # what another version wrote counts as forgotten

    def fresh(self, name: str, misses: float = DAYS) -> Answer | None:
        """Return an answer that may be used now; one that is an error for *misses* days only."""
        kept = self.recall(name)
        if kept is None or not is_fresh(kept.at, misses if kept.answer.status >= 400 else DAYS):
            return None
        return kept.answer

    def keep(self, name: str, answer: Answer, last: str = "") -> None:
        """Write down an answer; *last* names the request that gave it, if that is another one."""
        if row := self._row(answer, last or name):
            rows = {name: row, row["last"]: row}
            self.index.put_many("answer", rows, bodies.KEPT_DAYS)

    def _row(self, answer: Answer, last: str) -> dict[str, Any] | None:
        """An entry, its body on the disk; None where the disk refuses."""
        row: dict[str, Any] = {
            "status": answer.status,
            "url": answer.url,
            "media": answer.media,
            "charset": answer.charset,
            "headers": {n: v for n in _HEADERS if (v := answer.headers.get(n))},
            "at": time.time(),
            "last": last,
        }
        if len(answer.body) <= _SMALL:
            row["body"] = base64.b85encode(answer.body).decode()
        elif sha256 := self._put_body(answer.body):
            row["sha256"] = sha256
        else:
            return None
        return row

    def item(self, url: str) -> Answer | None:
        """The part of a batch's answer that *url* would ask for alone; 404 when there was none."""
        return self.fresh(request_name(Request("GET", url)))

    def keep_items(self, brought: Mapping[str, bytes]) -> None:
        """Write down the parts of a batch's answer by the URLs that would ask for each alone."""
        rows = {}
        for url, body in brought.items():
            answer = Answer(200 if body else 404, redact(url), body)
            if row := self._row(answer, request_name(Request("GET", url))):
                rows[row["last"]] = row
        self.index.put_many("answer", rows, bodies.KEPT_DAYS)

    def forget(self, name: str) -> None:
        """Remove an entry: its answer turned out to be none."""
        self.index.forget("answer", name)

    def _read(self, row: Mapping[str, Any]) -> Entry | None:
        body: bytes | None
        body = base64.b85decode(row["body"]) if "body" in row else self.bodies.get(row["sha256"])
        if body is None:
            return None
        texts = {name: str(row[name]) for name in ("url", "media", "charset")}
        answer = Answer(int(row["status"]), body=body, headers=dict(row["headers"]), **texts)
        return Entry(answer, float(row["at"]), str(row["last"]))

    def _put_body(self, body: bytes) -> str:
        with self._lock:
            sweeps = self._put % _SWEEP_EVERY == 0
            self._put += 1
        try:
            if sweeps:
                self.bodies.sweep()
                sweep_parts(self.folder / "parts")
            return self.bodies.put(body)
        except StoreFailed as error:
            self._warn_once(error)
            return ""

    def _warn_once(self, error: StoreFailed) -> None:
        if not self._warned:
            log.warning("What sites send cannot be kept in %s (%s).", self.folder, error.message)
        self._warned = True


class PendingEntry:
    """The place in the journal of one request under way.

    Parameters
    ----------
    journal : Journal
    name : str
        Of the request.
    """

    def __init__(self, journal: Journal, name: str) -> None:
        self._journal = journal
        self._name = name
        self._part = PartialBody(journal.folder / "parts", name, journal.index)

    def ask(self, hop: Request, carry: Callable[[Request, PartialBody], Answer]) -> Answer:
        """Send a request with *carry*, for the rest of a body or only if it has changed, if it may.

        Raises
        ------
        Unreachable
            The site has not the rest of what it began to send; it is asked for the whole next.
        """
        entry, last = self._journal.recall(self._name), request_name(hop)
        rest = self._part.headers(last)
        validators = entry.validators if entry and entry.last == last and not rest else {}
        try:
            conditional = replace(hop, headers={**hop.headers, **rest, **validators})
            answer = carry(conditional, self._part)
        except BadContent:
            self._part.forget()
            raise
        finally:
            self._part.close()
        if entry and validators and answer.status == 304:
            return entry.answer
        if rest and answer.status == 416:
            self._part.forget()
            msg = f"{answer.host} has not the rest of what it began to send."
            raise Unreachable(msg, "It is asked for the whole.", status=416)
        if answer.status in (200, 206):
            self._part.forget()
        return replace(answer, status=200) if rest and answer.status == 206 else answer

    def write(self, hop: Request, answer: Answer, allow: Collection[int]) -> None:
        """Keep an answer, unless its status is about us or about the moment."""
        status = answer.status
        is_answer = 200 <= status < 300 or 400 <= status < 500 or status in allow
        if is_answer and status not in _NO_ANSWER:
            self._journal.keep(self._name, answer, request_name(hop))

    def forget(self, hop: Request) -> None:
        """Remove what was written: it turned out to be no answer."""
        self._journal.forget(self._name)
        self._journal.forget(request_name(hop))


def request_name(hop: Request) -> str:
    """The name of a request: the same for all that get the same answer.

    Parameters that identify us are left out of what we send along, not out of addresses that others
    gave: there, a ``key`` may be that of an article.
    """
    headers = {name.lower(): value for name, value in hop.headers.items()}
    identity = [
        hop.method,
        hop.url.partition("#")[0],
        _anonymous_pairs(hop.params),
        _anonymous_pairs(hop.form),
        hop.json,
        [headers.get(name, "") for name in _VARYING],
        any(name in headers for name in ("authorization", "x-api-key")),
    ]
    return hashlib.sha256(json.dumps(identity, default=str).encode()).hexdigest()


def _anonymous_pairs(given: Mapping[str, Any] | None) -> list[tuple[str, Any]]:
    pairs = [(name, value) for name, value in (given or {}).items() if name.lower() not in SECRETS]
    return sorted(pairs, key=lambda pair: pair[0])


class PartialBody:
    """The part of one large body that has arrived.

    Parameters
    ----------
    folder : Path
        Where parts lie; made (0700) with the first.
    name : str
        Of the request.
    index : Memory
        Knows which body a part is of.
    """

    def __init__(self, folder: Path, name: str, index: ResponseCache) -> None:
        self._path = folder / f"{name}.part"
        self._name = name
        self._index = index
        self._file: IO[bytes] | None = None
        self._hop = ""
        self._asked_from = 0
        self._length = 0

    def headers(self, hop: str) -> dict[str, str]:
        """Return headers that ask *hop* for the rest; empty where the whole must be asked for."""
        body = self._index.get("part", self._name)
        self._hop, self._asked_from = hop, 0
        if not body or body["hop"] != hop or not 0 < (size := self._size()) < body["length"]:
            return {}
        self._asked_from, self._length = size, body["length"]
        # Not compressed: a range of the compressed body would be another one.
        return {
            "Range": f"bytes={size}-",
            "If-Range": body["validator"],
            "Accept-Encoding": "identity",
        }

    def begin(self, status: int, headers: Mapping[str, str]) -> bytes:
        """Begin to keep a body; what was here of it already.

        Raises
        ------
        Unreachable
            The site sends another piece than was asked for; the part is deleted.
        """
        if status == 206:
            return self._resume(headers)
        if status == 200:
            self._begin_whole(headers)
        return b""

    def add(self, block: bytes) -> None:
        """Keep a block. Where the disk refuses, the part is deleted and nothing more is kept."""
        if self._file:
            try:
                self._file.write(block)
            except OSError:
                self.forget()

    def close(self) -> None:
        """Stop writing; the part can be resumed later."""
        if self._file:
            with suppress(OSError):
                self._file.close()
            self._file = None

    def forget(self) -> None:
        """Delete the part: the body is complete, or cannot be resumed."""
        self.close()
        if self._path.exists():
            self._index.forget("part", self._name)
            with suppress(OSError):
                self._path.unlink()

    def _begin_whole(self, headers: Mapping[str, str]) -> None:
        self.forget()
        length = headers.get("Content-Length", "")
        if not (length.isdigit() and int(length) >= LARGE and _can_be_cut(headers)):
            return
        body = {"hop": self._hop, "length": int(length), "validator": validator(headers)}
        if body["validator"]:
            self._index.put("part", self._name, body, KEPT_DAYS)
            self._open("wb")

    def _resume(self, headers: Mapping[str, str]) -> bytes:
        range_ = _RANGE.fullmatch(headers.get("Content-Range", "").strip())
        expected = (self._asked_from, self._length - 1, self._length)
        if not range_ or tuple(map(int, range_.groups())) != expected or not _can_be_cut(headers):
            self.forget()
            msg = "The site sent another piece of the file than was asked for."
            raise Unreachable(msg, "It is asked for the whole.")
        try:
            here = self._path.read_bytes()[: self._asked_from]
        except OSError:
            here = b""
        if len(here) != self._asked_from:
            self.forget()
            raise Unreachable("The first piece of the file is gone.", "The whole is asked for.")
        self._open("ab")
        return here

    def _open(self, mode: str) -> None:
        try:
            create_folder(self._path.parent, 0o700)
            how = os.O_TRUNC if mode == "wb" else os.O_APPEND
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | how, 0o600)
            inherit_group(self._path)
            # Not buffered: what came before a kill is to be there after it.
            self._file = os.fdopen(descriptor, mode, buffering=0)
        except OSError:
            self._file = None

    def _size(self) -> int:
        try:
            return self._path.stat().st_size
        except OSError:
            return 0


def sweep_parts(folder: Path) -> None:
    """Delete the parts nobody resumed within `KEPT_DAYS`."""
    with suppress(OSError):
        for path in folder.glob("*.part"):
            with suppress(OSError):
                if path.stat().st_mtime < time.time() - KEPT_DAYS * 86400:
                    path.unlink()


def validator(headers: Mapping[str, str]) -> str:
    """The header value that names a body to the byte; empty where the site gives none.

    >>> validator({"ETag": '"1"'}), validator({"ETag": 'W/"1"'})
    ('"1"', '')
    """
    if (tag := headers.get("ETag", "")).startswith('"'):
        return tag
    changed = headers.get("Last-Modified", "")
    try:
        before = parsedate_to_datetime(headers.get("Date", "")) - parsedate_to_datetime(changed)
    except (TypeError, ValueError):
        return ""
    return changed if before.total_seconds() >= _STRONG_S and "ETag" not in headers else ""


def _can_be_cut(headers: Mapping[str, str]) -> bool:
    plain = headers.get("Content-Encoding", "identity").strip().lower() in ("", "identity")
    return plain and headers.get("Accept-Ranges", "bytes").strip().lower() != "none"
