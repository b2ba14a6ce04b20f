"""The journal: answers of sites about papers, on the disk before anybody reads or judges them.

All processes of a shelf share it. A harvest that was killed, or is repeated, takes the answers it
had; a request made again carries the validators of the last answer; and a large body that broke off
is resumed (`.parts`). Entries lie in an index like that of the response cache (diskcache: SQLite,
limits of size and age), bodies that are not small beside it, by checksum (`..system.bodies`).

Kept of an answer: status, type, validators, the address without secrets, and the body. No cookie,
no key, and no header that could echo one.
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import BadContent, StoreFailed, Unreachable
from ..system import bodies
from . import parts
from .answer import SECRETS, Answer, redact
from .freshness import DAYS, is_fresh
from .memory import Memory
from .redirects import Hop

log = logging.getLogger(__name__)

FOLDER = "fetched"

_SMALL = 8 * 1024  # bytes that lie in the index itself
_HEADERS = ("Content-Type", "ETag", "Last-Modified")
_VARYING = ("accept", "accept-language")  # headers on which an answer depends
_OURS = SECRETS | {"mailto"}
# About us, about the moment, or a piece that nobody asked for.
_NO_ANSWER = frozenset({206, 401, 402, 407, 408, 425, 429})
_SWEEP_EVERY = 2000  # bodies


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
        self.index = Memory(folder / "index")
        self._lock = threading.Lock()
        self._put = 0
        self._warned = False

    def recall(self, name: str) -> Entry | None:
        """What was answered under this name; None when nothing, or the body is gone."""
        row = self.index.recall("answer", name)
        try:
            return self._read(row) if row else None
        except (LookupError, TypeError, ValueError, AttributeError):
            return None  # what another version wrote counts as forgotten

    def fresh(self, name: str, misses: float = DAYS) -> Answer | None:
        """An answer that may be used now (see `.freshness`); an error for *misses* days only."""
        kept = self.recall(name)
        if kept is None or not is_fresh(kept.at, misses if kept.answer.status >= 400 else DAYS):
            return None
        return kept.answer

    def keep(self, name: str, answer: Answer, last: str = "") -> None:
        """Write down an answer; *last* names the request that gave it, if that is another one."""
        if row := self._row(answer, last or name):
            rows = {name: row, row["last"]: row}
            self.index.keep_many("answer", rows, bodies.KEPT_DAYS)

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
        return self.fresh(request_name(Hop("GET", url)))

    def keep_items(self, brought: Mapping[str, bytes]) -> None:
        """Write down the parts of a batch's answer by the URLs that would ask for each alone."""
        rows = {}
        for url, body in brought.items():
            answer = Answer(200 if body else 404, redact(url), body)
            if row := self._row(answer, request_name(Hop("GET", url))):
                rows[row["last"]] = row
        self.index.keep_many("answer", rows, bodies.KEPT_DAYS)

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
                parts.sweep(self.folder / "parts")
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
        self._part = parts.Part(journal.folder / "parts", name, journal.index)

    def ask(self, hop: Hop, carry: Callable[[Hop, parts.Part], Answer]) -> Answer:
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

    def write(self, hop: Hop, answer: Answer, allow: Collection[int]) -> None:
        """Keep an answer, unless its status is about us or about the moment."""
        status = answer.status
        is_answer = 200 <= status < 300 or 400 <= status < 500 or status in allow
        if is_answer and status not in _NO_ANSWER:
            self._journal.keep(self._name, answer, request_name(hop))

    def forget(self, hop: Hop) -> None:
        """Remove what was written: it turned out to be no answer."""
        self._journal.forget(self._name)
        self._journal.forget(request_name(hop))


def request_name(hop: Hop) -> str:
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
    pairs = [(name, value) for name, value in (given or {}).items() if name.lower() not in _OURS]
    return sorted(pairs, key=lambda pair: pair[0])
