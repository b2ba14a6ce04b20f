"""Asking sites: in turn, with our name on, again where that may help, and no further than allowed.

`Web` is what the rest of the house knows of HTTP. One request becomes at most five tries; one try
is a chain of at most eleven hops; each hop takes its turn in the `Pace`, is judged by the `Guard`
and carried by the `Courier` that all threads share.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..errors import NotOffered, Unreachable
from . import addresses
from .answer import MAX_BYTES, Answer
from .pace import Pace, Rate
from .redirects import MOST, Hop, follow, redirected
from .retry import WORTH_RETRYING, patiently, retry_after

if TYPE_CHECKING:
    from ..settings import Settings
    from .memory import Memory
    from .transport import Courier

Check = Callable[[Answer], object]
Missed = Callable[[Unreachable], object]


@dataclass(slots=True)
class _Time:
    """The seconds an errand may still spend on the wire, over all its tries and redirects."""

    left: float

    @contextmanager
    def spent(self, url: str) -> Iterator[float]:
        """Count what happens inside."""
        if self.left <= 0:
            msg = f"{urlsplit(url).netloc} did not answer in time."
            raise Unreachable(msg, "Try again later.", lasting=True)
        began = time.monotonic()
        try:
            yield self.left
        finally:
            self.left -= time.monotonic() - began


@dataclass(frozen=True, slots=True)
class _Errand:
    hop: Hop
    time: _Time
    allow: Collection[int]
    check: Check | None
    limit: int
    follow: bool = True
    missed: Missed | None = None


class Web:
    """The network, politely.

    Parameters
    ----------
    settings : Settings
        Who we are, where the sites are, how patient we are.
    rates : sequence of Rate
        How fast each site may be asked.

    Attributes
    ----------
    deadline : float
        Seconds a request may take on the wire, all tries and redirects together; waiting for
        turns is not counted.
    """

    def __init__(self, settings: Settings, rates: Sequence[Rate]) -> None:
        self.settings = settings
        self.deadline = 120.0
        self.rates = rates
        self.pace = Pace(settings.papers_pace_dir, settings, rates)
        self.guard = addresses.Guard(settings)
        self._couriers: dict[int, Courier] = {}
        self._lock = threading.Lock()

    def get(  # noqa: PLR0913 - the options of one request
        self,
        url: str,
        params: Mapping[str, Any] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        allow: Collection[int] = (),
        check: Check | None = None,
        plain: bool = False,
        limit: int = MAX_BYTES,
        follow: bool = True,
        missed: Missed | None = None,
    ) -> Answer:
        """Fetch *url*.

        Parameters
        ----------
        url, params, headers
            What to ask.
        allow
            Statuses of 400 and more that are an answer, not a failure.
        check
            Called with the answer inside the retried part: raise `Unreachable` for an error that
            came with status 200.
        plain
            Send no header but ``User-Agent`` and ``Accept``.
        limit
            Most bytes to take, after decompression.
        follow
            Whether to go where a redirect leads; if not, the redirect is the answer.
        missed
            Hears of each try that is repeated, when it failed; the last one is raised.

        Raises
        ------
        NotOffered
            The site has no such page for us, or the link leads where we do not go.
        Unreachable
            It stayed down, slow or busy through every try; or we are offline.
        BadContent
            It sends more than *limit*.
        """
        hop = Hop("GET", url, params, self._headers(headers, plain))
        return self._ask(_Errand(hop, _Time(self.deadline), allow, check, limit, follow, missed))

    def post(
        self,
        url: str,
        form: Mapping[str, Any] | None = None,
        *,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
        allow: Collection[int] = (),
        check: Check | None = None,
        limit: int = MAX_BYTES,
        missed: Missed | None = None,
    ) -> Answer:
        """Send a form, or *json*, to *url*; see `get`. A redirect is refused."""
        hop = Hop("POST", url, None, self._headers(headers, plain=False), form, json)
        errand = _Errand(hop, _Time(self.deadline), allow, check, limit, missed=missed)
        return self._ask(errand)

    @cached_property
    def memory(self) -> Memory:
        """Small answers worth remembering; opened on first use."""
        from .memory import Memory

        return Memory(self.settings.papers_dir / ".papershelf" / "cache")

    def _headers(self, given: Mapping[str, str] | None, plain: bool) -> dict[str, str]:
        usual = {"User-Agent": self.settings.user_agent, "Accept": "*/*"}
        if not plain:
            usual["Accept-Encoding"] = "gzip, deflate"
        ours = {name: v for name, v in usual.items() if name.lower() not in _lower(given)}
        return {**ours, **(given or {})}

    def _ask(self, errand: _Errand) -> Answer:
        if self.settings.papers_offline:
            host = urlsplit(errand.hop.url).netloc
            msg = f"Papershelf is offline (PAPERS_OFFLINE): {host} was not asked."
            raise Unreachable(msg, "Unset PAPERS_OFFLINE to use the network.")
        return patiently(self._try, self.settings.ncbi_max_retries, errand.missed)(errand)

    def _try(self, errand: _Errand) -> Answer:
        from .transport import new_cookies

        hop = replace(errand.hop, cookies=new_cookies())
        for _ in range(MOST + 1):
            addresses.parse(hop.url)
            self.guard.require_open_to_programs(hop.url)
            with self.pace.turn(hop.url), errand.time.spent(hop.url) as left:
                answer = self.courier.carry(hop, left, errand.limit, _wanted(errand.allow))
                pause = self._pause(hop.url, answer)
            if not redirected(answer):
                return self._judged(hop, answer, errand, pause)
            if not errand.follow:
                return answer
            hop = follow(hop, answer)
        msg = f"{urlsplit(errand.hop.url).netloc} kept redirecting, last to {answer.host}."
        raise NotOffered(msg, status=answer.status)

    def _pause(self, url: str, answer: Answer) -> float:
        """Seconds the site wants to be left alone; told to everybody before the turn ends."""
        heeded = self.pace.heed(url, answer.headers)
        if answer.status not in WORTH_RETRYING | {403}:
            return 0.0
        if pause := retry_after(answer.headers.get("Retry-After")):
            self.pace.hold(url, pause)
        elif answer.status in (403, 429):
            pause = self.pace.penalise(url)
        return max(pause, heeded)

    def _judged(self, hop: Hop, answer: Answer, errand: _Errand, pause: float) -> Answer:
        """The answer, or what its status means."""
        if 200 <= answer.status < 300 or answer.status in errand.allow:
            try:
                if errand.check is not None:
                    errand.check(answer)
            except Unreachable as error:
                if error.retry_after:
                    self.pace.hold(hop.url, error.retry_after)
                raise
            return answer
        msg = f"{answer.host} answered {answer.status}."
        if answer.status in WORTH_RETRYING or pause:
            told: dict[str, Any] = {"retry_after": pause} if pause else {}
            raise Unreachable(msg, status=answer.status, **told)
        raise NotOffered(msg, status=answer.status)

    @property
    def courier(self) -> Courier:
        """One for all threads, and never one that was open before a fork."""
        from .transport import Courier

        pid = os.getpid()
        if pid not in self._couriers:
            with self._lock:
                if pid not in self._couriers:
                    self._couriers = {pid: Courier(self.settings, self.guard)}
        return self._couriers[pid]


def _wanted(allow: Collection[int]) -> Callable[[int], bool]:
    return lambda status: status < 300 or status in allow


def _lower(headers: Mapping[str, str] | None) -> set[str]:
    return {name.lower() for name in headers or ()}
