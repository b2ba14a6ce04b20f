"""The journal: answers of sites about papers, on disk before anybody reads or judges them.

All processes of a shelf share it. A harvest that was killed, or is repeated, takes the answers it
already had, and a request made again carries the validators of the last answer. Entries lie in an
index like that of the response cache (diskcache: SQLite, limits of size and age), bodies that are
not small beside it, by checksum (`..system.bodies`).

Kept of an answer: status, type, validators, the address without secrets, and the body. No cookie,
no key, and no header that could echo one.

A large body that broke off is kept, and the rest is requested (RFC 9110, 14), but only where the
site says how long the body is, which one it is (a strong ETag, or a date of change that is safely
in the past), and sends it uncompressed. The request for the rest names that body (``If-Range``), so
that a new one comes whole; an answer that begins elsewhere is refused, and the whole is asked for.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import IO, Any

from ..errors import BadContent, StoreFailed, Unreachable
from ..system import bodies
from ..system.sharing import inherit_group, make_folder
from .address_policy import Request
from .answer import DAYS, SECRETS, Answer, is_fresh, redact
from .response_cache import ResponseCache

log = logging.getLogger(__name__)
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
        """What was answered under this name; None when nothing, or the body is gone."""
        row = self.index.get("answer", name)
        try:
            return self._read(row) if row else None
        except (LookupError, TypeError, ValueError, AttributeError):
            return None  # what another version wrote counts as forgotten

    def fresh(self, name: str, misses: float = DAYS) -> Answer | None:
        """An answer that may be used now (see `.answer`); an error for *misses* days only."""
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
                sweep(self.folder / "parts")
            return self.bodies.put(body)
        except StoreFailed as error:
            self._warn_once(error)
            return ""

    def _warn_once(self, error: StoreFailed) -> None:
        if not self._warned:
            log.warning("What sites send cannot be kept in %s (%s).", self.folder, error.message)
        self._warned = True


class Page:
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
        self._part = Part(journal.folder / "parts", name, journal.index)

    def ask(self, hop: Request, carry: Callable[[Request, Part], Answer]) -> Answer:
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


class Part:
    """What has come of one large body.

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
        """What to send to the *hop* of this name for the rest; empty when it must be the whole."""
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
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None

    def forget(self) -> None:
        """Delete the part: the body is complete, or cannot be resumed."""
        self.close()
        if self._path.exists():
            self._index.forget("part", self._name)
            with contextlib.suppress(OSError):
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
            make_folder(self._path.parent, 0o700)
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


def sweep(folder: Path) -> None:
    """Delete the parts nobody resumed within `KEPT_DAYS`."""
    with contextlib.suppress(OSError):
        for path in folder.glob("*.part"):
            with contextlib.suppress(OSError):
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
