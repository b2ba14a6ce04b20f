"""The journal: what sites sent for papers, on the disk before anybody reads or judges it.

Every process of a shelf writes into the same one. From it, a harvest that was killed, or repeated,
takes what it had been given; a question asked anew is asked with the validators of the last answer;
and a large body that broke off goes on where it ended (`.parts`). An entry is small and lies in an
index that is kept as the memory's is (diskcache: SQLite, limits of size and age); bodies that are
not small lie beside it, by checksum (`..system.bodies`).

Kept of an answer: status, type, validators, where it came from without secrets, and the body. No
cookie, no key, and no header that could echo one.
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
_TELLING = ("accept", "accept-language")  # headers on which an answer depends
_OURS = SECRETS | {"mailto"}
# About us, about the moment, or a piece that nobody asked for.
_NO_ANSWER = frozenset({206, 401, 402, 407, 408, 425, 429})
_SWEEP_EVERY = 2000  # bodies


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer as it was given *at* a time, to the hop named *last*."""

    answer: Answer
    at: float
    last: str

    @property
    def validators(self) -> dict[str, str]:
        """What to ask with whether it has changed; empty where the site gave nothing for that."""
        headers = self.answer.headers
        asked = {"ETag": "If-None-Match", "Last-Modified": "If-Modified-Since"}
        if self.answer.status != 200 or not self.answer.body:
            return {}
        return {asked[name]: headers[name] for name in asked if name in headers}


class Journal:
    """The journal of one shelf.

    Parameters
    ----------
    folder : Path
        ``.papershelf/fetched``; made (0700) with the first entry. Where the disk refuses, nothing
        is kept, which costs a repeated request and no paper.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bodies = bodies.Bodies(folder / bodies.FOLDER)
        self.index = Memory(folder / "index")
        self._lock = threading.Lock()
        self._put = 0
        self._told = False

    def recall(self, name: str) -> Kept | None:
        """What was answered under this name; None when nothing, or the body is gone."""
        row = self.index.recall("answer", name)
        try:
            return self._read(row) if row else None
        except (LookupError, TypeError, ValueError, AttributeError):
            return None  # what another version wrote counts as forgotten

    def fresh(self, name: str, misses: float = DAYS) -> Answer | None:
        """An answer that serves who asks now (see `.freshness`); a miss for so many days only."""
        kept = self.recall(name)
        if kept is None or not is_fresh(kept.at, misses if kept.answer.status >= 400 else DAYS):
            return None
        return kept.answer

    def keep(self, name: str, answer: Answer, last: str = "") -> None:
        """Write down an answer; *last* names the hop it came from, if that is another one."""
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
        """What a batch brought for the question that *url* asks alone; 404 when nothing."""
        return self.fresh(named(Hop("GET", url)))

    def keep_items(self, brought: Mapping[str, bytes]) -> None:
        """Write down what a batch brought for the questions that its keys, URLs, ask alone."""
        rows = {}
        for url, body in brought.items():
            answer = Answer(200 if body else 404, redact(url), body)
            if row := self._row(answer, named(Hop("GET", url))):
                rows[row["last"]] = row
        self.index.keep_many("answer", rows, bodies.KEPT_DAYS)

    def forget(self, name: str) -> None:
        """An answer turned out to be none."""
        self.index.forget("answer", name)

    def _read(self, row: Mapping[str, Any]) -> Kept | None:
        body: bytes | None
        body = base64.b85decode(row["body"]) if "body" in row else self.bodies.get(row["sha256"])
        if body is None:
            return None
        said = {name: str(row[name]) for name in ("url", "media", "charset")}
        answer = Answer(int(row["status"]), body=body, headers=dict(row["headers"]), **said)
        return Kept(answer, float(row["at"]), str(row["last"]))

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
            self._complain(error)
            return ""

    def _complain(self, error: StoreFailed) -> None:
        """Once: the shelf itself says the rest."""
        if not self._told:
            log.warning("What sites send cannot be kept in %s (%s).", self.folder, error.message)
        self._told = True


class Page:
    """The place in the journal of one request that is being asked.

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

    def asked(self, hop: Hop, carry: Callable[[Hop, parts.Part], Answer]) -> Answer:
        """What *carry* brings of a hop: the rest of a body, or whether one has changed, if it may.

        Raises
        ------
        Unreachable
            The site has not the rest of what it began to send; it is asked for the whole next.
        """
        known, last = self._journal.recall(self._name), named(hop)
        rest = self._part.headers(last)
        validators = known.validators if known and known.last == last and not rest else {}
        try:
            asked = replace(hop, headers={**hop.headers, **rest, **validators})
            answer = carry(asked, self._part)
        except BadContent:
            self._part.forget()
            raise
        finally:
            self._part.close()
        if known and validators and answer.status == 304:
            return known.answer
        if rest and answer.status == 416:
            self._part.forget()
            msg = f"{answer.host} has not the rest of what it began to send."
            raise Unreachable(msg, "It is asked for the whole.", status=416)
        if answer.status in (200, 206):
            self._part.forget()
        return replace(answer, status=200) if rest and answer.status == 206 else answer

    def write(self, hop: Hop, answer: Answer, allow: Collection[int]) -> None:
        """Keep an answer if it is one: not what speaks of us, or of the moment."""
        status = answer.status
        is_answer = 200 <= status < 300 or 400 <= status < 500 or status in allow
        if is_answer and status not in _NO_ANSWER:
            self._journal.keep(self._name, answer, named(hop))

    def tear_out(self, hop: Hop) -> None:
        """What was written turned out to be no answer."""
        self._journal.forget(self._name)
        self._journal.forget(named(hop))


def named(hop: Hop) -> str:
    """The name of a request: the same for all that are answered the same.

    What says who we are is left out of what we send along, not out of addresses that others gave:
    there, a ``key`` may be that of an article.
    """
    headers = {name.lower(): value for name, value in hop.headers.items()}
    asked = [
        hop.method,
        hop.url.partition("#")[0],
        _without_us(hop.params),
        _without_us(hop.form),
        hop.json,
        [headers.get(name, "") for name in _TELLING],
        any(name in headers for name in ("authorization", "x-api-key")),
    ]
    return hashlib.sha256(json.dumps(asked, default=str).encode()).hexdigest()


def _without_us(given: Mapping[str, Any] | None) -> list[tuple[str, Any]]:
    pairs = [(name, value) for name, value in (given or {}).items() if name.lower() not in _OURS]
    return sorted(pairs, key=lambda pair: pair[0])
