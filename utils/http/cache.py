"""Store answers on the disk: the cache of small answers, and the journal of answers about papers.

The response cache remembers PMCIDs, open copies and abstracts. It uses diskcache, which by default
unpickles stored values: anyone who can write the folder could run code (CVE-2025-69872, no fixed
release). So pickles are rejected, as values and as keys, and the folder is private to its owner.
All contents can be fetched again: a cache that cannot be opened, read or written fails no download.

The journal stores answers about papers before they are read or judged, shared by all processes of a
shelf. A harvest that was killed, or is repeated, reuses these answers, and a repeated request
carries the validators of the last answer. Entries are in an index like the response cache; larger
bodies are in separate files, named by checksum (`..system.bodies`). An entry has status, type,
validators, the address without secrets, and the body: no cookie, no key, and no header that could
echo a key.

A large body that broke off is kept, and the rest is requested (RFC 9110, 14), but only if the site
declares the length of the body, identifies the body (a strong ETag, or a date of change that is
safely in the past), and sends the body uncompressed. The request for the rest names that body
(``If-Range``), so that a changed body is sent as a whole; an answer that begins elsewhere is
rejected, and the whole is requested.
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
from ..system.safe_files import create_folder, create_shared_file, inherit_group_rights
from .messages import ANSWER_DAYS, SECRET_PARAMETERS, Answer, Request, is_answer_fresh, redact_url

log = logging.getLogger(__name__)

_DAY_S = 86400.0
_MAX_CACHE_BYTES = 256 * 1024 * 1024
_SQLITE_CACHE_PAGES = 512  # of 4 KB that SQLite keeps; the system keeps more of the file
_PRAGMAS = "SELECT key, value FROM Settings WHERE key LIKE 'sqlite_%'"
_CACHE_ERRORS = (OSError, sqlite3.Error, zlib.error, ValueError, TypeError, diskcache.Timeout)


class SafeJSONDisk(diskcache.JSONDisk):  # type: ignore[misc]
    """Stores compressed JSON, and never unpickles anything."""

    def fetch(self, mode: int, filename: str, value: Any, read: bool) -> Any:
        """Return a value; raise ValueError for a pickle."""
        if mode == MODE_PICKLE:
            msg = "pickled cache value refused"
            raise ValueError(msg)
        return super().fetch(mode, filename, value, read)

    def get(self, key: Any, raw: bool) -> Any:
        """Return a key; raise ValueError for a pickle."""
        if not raw:
            msg = "pickled cache key refused"
            raise ValueError(msg)
        return super().get(key, raw)

    def _write(self, full_path: str, *given: Any, **options: Any) -> Any:
        """Write a large value to a file of its own."""
        path = Path(full_path)
        create_folder(path.parent, 0o700)
        written = super()._write(full_path, *given, **options)
        inherit_group_rights(path)
        return written


class _SharedConnectionCache(diskcache.Cache):  # type: ignore[misc]
    """A cache with one connection for all threads, under a lock.

    diskcache itself opens one for each thread and keeps it, with thousands of pages in memory.
    """

    _shared: sqlite3.Connection | None = None

    @property
    def _con(self) -> sqlite3.Connection:
        """The connection, opened on first use."""
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
    """Stores JSON values by kind and name for a number of days.

    Parameters
    ----------
    folder : Path
        Created (0700) on first use; never on import or construction.
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
        found = {
            name: self._call_with_cache(methodcaller("get", f"{kind}:{name}")) for name in names
        }
        return {name: kept for name, kept in found.items() if kept is not None}

    def put(self, kind: str, name: str, value: Any, days: float) -> None:
        """Store a JSON *value* for a number of *days*."""
        self.put_many(kind, {name: value}, days)

    def put_many(self, kind: str, values: Mapping[str, Any], days: float) -> None:
        """Store JSON values by name, all or none."""

        def put(cache: Any) -> None:
            with cache.transact():
                for name, value in values.items():
                    cache.set(f"{kind}:{name}", value, expire=days * _DAY_S)

        self._call_with_cache(put)

    def delete(self, kind: str, name: str) -> None:
        """Remove a value."""
        self._call_with_cache(lambda cache: cache.delete(f"{kind}:{name}"))

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._turn:
            if self._cache is not None:
                self._cache.close()
                self._cache = None

    def _call_with_cache(self, use: Callable[[Any], Any]) -> Any:
        """Call *use* with the cache; return None if the call fails or there is no cache."""
        with self._turn:
            if (cache := self._get_cache()) is None:
                return None
            try:
                return use(cache)
            except _CACHE_ERRORS as error:
                self._handle_error(error)
        return None

    def _get_cache(self) -> Any:
        """Return the cache, opened on first use; None if it cannot be opened."""
        with self._turn:
            if self._pid != os.getpid():  # after a fork: the connection is our parent's
                self._cache, self._pid = None, os.getpid()
            if self._cache is None and not self._lost:
                self._cache = self._open_cache()
                self._lost = self._cache is None
            return self._cache

    def _open_cache(self) -> Any:
        """Open the cache; move a damaged file aside and try once more."""
        for again in (True, False):
            try:
                for folder in (self._folder.parent, self._folder):
                    create_folder(folder, 0o700)
                create_shared_file(self._folder / diskcache.core.DBNAME)
                return _SharedConnectionCache(
                    str(self._folder),
                    timeout=5,
                    disk=SafeJSONDisk,
                    size_limit=_MAX_CACHE_BYTES,
                    # Beyond the limit the oldest go first; reading never writes.
                    eviction_policy="least-recently-stored",
                    # A mapped file that is truncated kills the process (SIGBUS).
                    sqlite_mmap_size=0,
                    sqlite_cache_size=_SQLITE_CACHE_PAGES,
                )
            except _CACHE_ERRORS as error:
                if not (again and _is_damaged_file(error)):
                    log.warning("The cache in %s cannot be opened (%s).", self._folder, error)
                    return None
                self._move_aside()
        return None

    def _handle_error(self, error: Exception) -> None:
        """Warn once of each error; move a damaged file aside."""
        why = str(error) or "another process holds it"  # diskcache's Timeout has no message
        if why not in self._warned:
            log.warning(
                "The cache in %s failed (%s): Papershelf continues without it.", self._folder, why
            )
        self._warned.add(why)
        if _is_damaged_file(error):
            self.close()
            self._move_aside()

    def _move_aside(self) -> None:
        """Rename the folder of a damaged cache."""
        log.warning("The cache in %s is damaged and was set aside.", self._folder)
        aside = self._folder.with_name(self._folder.name + ".damaged")
        try:
            shutil.rmtree(aside, ignore_errors=True)
            self._folder.replace(aside)
        except OSError:
            self._lost = True


def _is_damaged_file(error: Exception) -> bool:
    """Return whether the file itself is damaged, not merely busy, full or read-only."""
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(
        error, sqlite3.OperationalError
    )


JOURNAL_FOLDER = "fetched"
_MAX_INDEXED_BYTES = 8 * 1024  # bytes that lie in the index itself
_STORED_HEADERS = ("Content-Type", "ETag", "Last-Modified")
_VARYING_HEADERS = ("accept", "accept-language")  # headers on which an answer depends
# Statuses about us, temporary statuses, and a partial body that was not requested.
_UNSTORED_STATUSES = frozenset({206, 401, 402, 407, 408, 425, 429})
_BODIES_PER_CLEANUP = 2000  # bodies
MIN_RESUMABLE_BYTES = 1024 * 1024
"""The size in bytes from which the parts of a body are kept."""
PART_DAYS = 1.0
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)", re.A)
_MIN_UNCHANGED_S = 60.0  # a date of change this far before the answer names one body and no other


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """An answer, the time *at* which it was given, and the name of its *last* request."""

    answer: Answer
    at: float
    last: str

    @property
    def validators(self) -> dict[str, str]:
        """The headers of a conditional request; empty if the site sent no validator."""
        headers = self.answer.headers
        conditions = {"ETag": "If-None-Match", "Last-Modified": "If-Modified-Since"}
        if self.answer.status != 200 or not self.answer.body:
            return {}
        return {conditions[name]: headers[name] for name in conditions if name in headers}


class Journal:
    """The stored answers about papers of one shelf.

    Parameters
    ----------
    folder : Path
        ``.papershelf/fetched``; created (0700) with the first entry. If the disk refuses, nothing
        is stored: requests are repeated, but no paper is lost.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bodies = bodies.BodyStore(folder / bodies.BODIES_FOLDER)
        self.index = ResponseCache(folder / "index")
        self._lock = threading.Lock()
        self._put = 0
        self._warned = False

    def find_entry(self, name: str) -> JournalEntry | None:
        """Return the entry with this name, or None if the entry or its body is missing."""
        row = self.index.get("answer", name)
        try:
            return self._read_row(row) if row else None
        except (LookupError, TypeError, ValueError, AttributeError):
            return None  # an entry of another version counts as missing

    def find_usable_answer(self, name: str, misses: float = ANSWER_DAYS) -> Answer | None:
        """Return an answer that may be used now; an error may be used for *misses* days only."""
        kept = self.find_entry(name)
        if kept is None or not is_answer_fresh(
            kept.at, misses if kept.answer.status >= 400 else ANSWER_DAYS
        ):
            return None
        return kept.answer

    def store_answer(self, name: str, answer: Answer, last: str = "") -> None:
        """Store an answer; *last* names the request that returned it, if that is another one."""
        if row := self._answer_to_row(answer, last or name):
            rows = {name: row, row["last"]: row}
            self.index.put_many("answer", rows, bodies.MAX_AGE_DAYS)

    def _answer_to_row(self, answer: Answer, last: str) -> dict[str, Any] | None:
        """Return the row of an answer, with its body on the disk; None if the disk refuses."""
        row: dict[str, Any] = {
            "status": answer.status,
            "url": answer.url,
            "media": answer.media,
            "charset": answer.charset,
            "headers": {n: v for n in _STORED_HEADERS if (v := answer.headers.get(n))},
            "at": time.time(),
            "last": last,
        }
        if len(answer.body) <= _MAX_INDEXED_BYTES:
            row["body"] = base64.b85encode(answer.body).decode()
        elif sha256 := self._store_body(answer.body):
            row["sha256"] = sha256
        else:
            return None
        return row

    def find_batch_item(self, url: str) -> Answer | None:
        """Return the part of a batch's answer for *url*; status 404 if the part was missing."""
        return self.find_usable_answer(build_request_name(Request("GET", url)))

    def store_batch_items(self, brought: Mapping[str, bytes]) -> None:
        """Store the parts of a batch's answer under the URLs that would request each alone."""
        rows = {}
        for url, body in brought.items():
            answer = Answer(200 if body else 404, redact_url(url), body)
            if row := self._answer_to_row(answer, build_request_name(Request("GET", url))):
                rows[row["last"]] = row
        self.index.put_many("answer", rows, bodies.MAX_AGE_DAYS)

    def delete_entry(self, name: str) -> None:
        """Remove an entry whose answer proved to be wrong."""
        self.index.delete("answer", name)

    def _read_row(self, row: Mapping[str, Any]) -> JournalEntry | None:
        """Return the entry in a row; None if its body is missing."""
        body: bytes | None
        body = (
            base64.b85decode(row["body"]) if "body" in row else self.bodies.read_body(row["sha256"])
        )
        if body is None:
            return None
        texts = {name: str(row[name]) for name in ("url", "media", "charset")}
        answer = Answer(int(row["status"]), body=body, headers=dict(row["headers"]), **texts)
        return JournalEntry(answer, float(row["at"]), str(row["last"]))

    def _store_body(self, body: bytes) -> str:
        """Store a body, and delete old bodies from time to time; "" if the disk refuses."""
        with self._lock:
            sweeps = self._put % _BODIES_PER_CLEANUP == 0
            self._put += 1
        try:
            if sweeps:
                self.bodies.delete_old_bodies()
                delete_old_parts(self.folder / "parts")
            return self.bodies.store_body(body)
        except StoreFailed as error:
            self._warn_once(error)
            return ""

    def _warn_once(self, error: StoreFailed) -> None:
        """Warn once that answers cannot be stored."""
        if not self._warned:
            log.warning("Answers of sites cannot be stored in %s (%s).", self.folder, error.message)
        self._warned = True


class PendingEntry:
    """The place in the journal of one request in progress.

    Parameters
    ----------
    journal : Journal
    name : str
        The name of the request.
    """

    def __init__(self, journal: Journal, name: str) -> None:
        self._journal = journal
        self._name = name
        self._part = PartialBody(journal.folder / "parts", name, journal.index)

    def send_request(self, hop: Request, carry: Callable[[Request, PartialBody], Answer]) -> Answer:
        """Send a request with *carry*: for the rest of a body, or conditionally, where possible.

        Raises
        ------
        Unreachable
            The site no longer has the rest of the body; the next request asks for the whole.
        """
        entry, last = self._journal.find_entry(self._name), build_request_name(hop)
        rest = self._part.build_range_headers(last)
        validators = entry.validators if entry and entry.last == last and not rest else {}
        try:
            conditional = replace(hop, headers={**hop.headers, **rest, **validators})
            answer = carry(conditional, self._part)
        except BadContent:
            self._part.delete_part()
            raise
        finally:
            self._part.close()
        if entry and validators and answer.status == 304:
            return entry.answer
        if rest and answer.status == 416:
            self._part.delete_part()
            msg = f"{answer.host} does not have the rest of the file that it began to send."
            raise Unreachable(msg, "The whole file is requested again.", status=416)
        if answer.status in (200, 206):
            self._part.delete_part()
        return replace(answer, status=200) if rest and answer.status == 206 else answer

    def store_answer(self, hop: Request, answer: Answer, allow: Collection[int]) -> None:
        """Store an answer, unless its status is about us or temporary."""
        status = answer.status
        is_answer = 200 <= status < 300 or 400 <= status < 500 or status in allow
        if is_answer and status not in _UNSTORED_STATUSES:
            self._journal.store_answer(self._name, answer, build_request_name(hop))

    def delete_answer(self, hop: Request) -> None:
        """Remove an answer that proved to be wrong."""
        self._journal.delete_entry(self._name)
        self._journal.delete_entry(build_request_name(hop))


def build_request_name(hop: Request) -> str:
    """Return the name of a request: the same for all requests that get the same answer.

    Parameters that identify us are removed from our own parameters, but not from addresses that
    other sites gave: there, a ``key`` may identify an article.
    """
    headers = {name.lower(): value for name, value in hop.headers.items()}
    identity = [
        hop.method,
        hop.url.partition("#")[0],
        _sort_anonymous_pairs(hop.params),
        _sort_anonymous_pairs(hop.form),
        hop.json,
        [headers.get(name, "") for name in _VARYING_HEADERS],
        any(name in headers for name in ("authorization", "x-api-key")),
    ]
    return hashlib.sha256(json.dumps(identity, default=str).encode()).hexdigest()


def _sort_anonymous_pairs(given: Mapping[str, Any] | None) -> list[tuple[str, Any]]:
    """Return the parameters that do not identify us, sorted by name."""
    pairs = [
        (name, value)
        for name, value in (given or {}).items()
        if name.lower() not in SECRET_PARAMETERS
    ]
    return sorted(pairs, key=lambda pair: pair[0])


class PartialBody:
    """The part of a large body that was received so far.

    Parameters
    ----------
    folder : Path
        The folder of parts; created (0700) with the first part.
    name : str
        The name of the request.
    index : ResponseCache
        Remembers the body to which a part belongs.
    """

    def __init__(self, folder: Path, name: str, index: ResponseCache) -> None:
        self._path = folder / f"{name}.part"
        self._name = name
        self._index = index
        self._file: IO[bytes] | None = None
        self._hop = ""
        self._asked_from = 0
        self._length = 0

    def build_range_headers(self, hop: str) -> dict[str, str]:
        """Return headers that request the rest from *hop*; empty if the whole must be requested."""
        body = self._index.get("part", self._name)
        self._hop, self._asked_from = hop, 0
        if not body or body["hop"] != hop or not 0 < (size := self._get_size()) < body["length"]:
            return {}
        self._asked_from, self._length = size, body["length"]
        # Not compressed: a range of the compressed body would be another one.
        return {
            "Range": f"bytes={size}-",
            "If-Range": body["validator"],
            "Accept-Encoding": "identity",
        }

    def begin_body(self, status: int, headers: Mapping[str, str]) -> bytes:
        """Start to store a body; return the bytes that are stored already.

        Raises
        ------
        Unreachable
            The site sends another range than requested; the part is deleted.
        """
        if status == 206:
            return self._resume_body(headers)
        if status == 200:
            self._start_whole_body(headers)
        return b""

    def append_block(self, block: bytes) -> None:
        """Store a block. If the disk refuses, delete the part and store nothing more."""
        if self._file:
            try:
                self._file.write(block)
            except OSError:
                self.delete_part()

    def close(self) -> None:
        """Stop writing; the part can be resumed later."""
        if self._file:
            with suppress(OSError):
                self._file.close()
            self._file = None

    def delete_part(self) -> None:
        """Delete the partial download, because the body is complete or cannot be resumed."""
        self.close()
        if self._path.exists():
            self._index.delete("part", self._name)
            with suppress(OSError):
                self._path.unlink()

    def _start_whole_body(self, headers: Mapping[str, str]) -> None:
        """Start to store a body that is sent from its beginning, if it can be resumed."""
        self.delete_part()
        length = headers.get("Content-Length", "")
        if not (length.isdigit() and int(length) >= MIN_RESUMABLE_BYTES and _is_resumable(headers)):
            return
        body = {"hop": self._hop, "length": int(length), "validator": find_validator(headers)}
        if body["validator"]:
            self._index.put("part", self._name, body, PART_DAYS)
            self._open_file("wb")

    def _resume_body(self, headers: Mapping[str, str]) -> bytes:
        """Return the stored bytes, if the answer continues exactly after them."""
        range_ = _CONTENT_RANGE.fullmatch(headers.get("Content-Range", "").strip())
        expected = (self._asked_from, self._length - 1, self._length)
        if not range_ or tuple(map(int, range_.groups())) != expected or not _is_resumable(headers):
            self.delete_part()
            msg = "The site sent another part of the file than requested."
            raise Unreachable(msg, "The whole file is requested again.")
        try:
            here = self._path.read_bytes()[: self._asked_from]
        except OSError:
            here = b""
        if len(here) != self._asked_from:
            self.delete_part()
            msg = "The first part of the file is missing."
            raise Unreachable(msg, "The whole file is requested again.")
        self._open_file("ab")
        return here

    def _open_file(self, mode: str) -> None:
        """Open the file of the part; store nothing if the disk refuses."""
        try:
            create_folder(self._path.parent, 0o700)
            how = os.O_TRUNC if mode == "wb" else os.O_APPEND
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | how, 0o600)
            inherit_group_rights(self._path)
            # Not buffered: what came before a kill is to be there after it.
            self._file = os.fdopen(descriptor, mode, buffering=0)
        except OSError:
            self._file = None

    def _get_size(self) -> int:
        """Return the size of the stored part; else 0."""
        try:
            return self._path.stat().st_size
        except OSError:
            return 0


def delete_old_parts(folder: Path) -> None:
    """Delete the parts that were not resumed within `PART_DAYS`."""
    with suppress(OSError):
        for path in folder.glob("*.part"):
            with suppress(OSError):
                if path.stat().st_mtime < time.time() - PART_DAYS * 86400:
                    path.unlink()


def find_validator(headers: Mapping[str, str]) -> str:
    """Return the header value that identifies a body exactly; "" if the site sends none.

    >>> find_validator({"ETag": '"1"'}), find_validator({"ETag": 'W/"1"'})
    ('"1"', '')
    """
    if (tag := headers.get("ETag", "")).startswith('"'):
        return tag
    changed = headers.get("Last-Modified", "")
    try:
        before = parsedate_to_datetime(headers.get("Date", "")) - parsedate_to_datetime(changed)
    except (TypeError, ValueError):
        return ""
    return changed if before.total_seconds() >= _MIN_UNCHANGED_S and "ETag" not in headers else ""


def _is_resumable(headers: Mapping[str, str]) -> bool:
    """Return whether the site sends uncompressed ranges of the body."""
    plain = headers.get("Content-Encoding", "identity").strip().lower() in ("", "identity")
    return plain and headers.get("Accept-Ranges", "bytes").strip().lower() != "none"
