"""Asking sites: in turn, with our name on, again where that may help, and no further than allowed.

`Web` is what the rest of the house knows of HTTP. One request becomes at most five tries; one try
is a chain of at most eleven hops; each hop takes its turn in the `Pace`, is judged by the `Guard`
and carried by the `Courier` that all threads share.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..errors import NotOffered, PaperError, Unreachable
from . import addresses
from .answer import MAX_BYTES, Answer, redact
from .leases import Leases
from .pace import Pace, Rate
from .redirects import MOST, Hop, follow, redirected
from .retry import WORTH_RETRYING, patiently, retry_after

if TYPE_CHECKING:
    from ..settings import Settings
    from .journal import Journal, Page
    from .memory import Memory
    from .transport import Courier

_BREATH_S = 1.0  # nothing leaves for a site that answers 503 and names no time

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
    page: Page | None = None


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
    leases : Leases
        What of this shelf somebody is working on.
    """

    def __init__(self, settings: Settings, rates: Sequence[Rate]) -> None:
        self.settings = settings
        self.deadline = 120.0
        self.rates = rates
        self.pace = Pace(settings.pace_folder, settings, rates)
        self.guard = addresses.Guard(settings)
        self._couriers: dict[int, Courier] = {}
        self.leases = Leases(settings.papers_dir / ".papershelf" / "leases")

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
        kept: bool = False,
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
        kept
            Whether the answer is about a paper: it is in the `journal` before it is read, serves
            whoever asks the same, and is not asked for by two at a time.

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
        errand = _Errand(hop, _Time(self.deadline), allow, check, limit, follow, missed)
        return self._ask_once(errand) if kept else self._ask(errand)

    def recall(self, url: str, params: Mapping[str, Any] | None = None) -> Answer | None:
        """What `get` was answered with *kept* of late; asks nobody."""
        from .journal import named

        return self.journal.fresh(named(Hop("GET", url, params, self._headers(None, plain=False))))

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

    @cached_property
    def journal(self) -> Journal:
        """What sites sent for papers; opened on first use."""
        from .journal import FOLDER, Journal

        return Journal(self.settings.papers_dir / ".papershelf" / FOLDER)

    def _headers(self, given: Mapping[str, str] | None, plain: bool) -> dict[str, str]:
        usual = {"User-Agent": self.settings.user_agent, "Accept": "*/*"}
        if not plain:
            usual["Accept-Encoding"] = "gzip, deflate"
        ours = {name: v for name, v in usual.items() if name.lower() not in _lower(given)}
        return {**ours, **(given or {})}

    def _ask_once(self, errand: _Errand) -> Answer:
        """What the journal holds, or what asking brings, by one of us at a time."""
        from .journal import Page, named

        name = named(errand.hop)
        if answer := self._recalled(name, errand):
            return answer
        with self.leases.held(f"address {name}", redact(errand.hop.url)):
            if answer := self._recalled(name, errand):  # who held it before has asked
                return answer
            return self._ask(replace(errand, page=Page(self.journal, name)))

    def _recalled(self, name: str, errand: _Errand) -> Answer | None:
        """What the journal holds, if it passes for an answer to this errand."""
        answer = self.journal.fresh(name)
        if answer is None:
            return None
        if not _welcome(answer, errand):
            raise NotOffered(f"{answer.host} answered {answer.status}.", status=answer.status)
        try:
            if errand.check is not None:
                errand.check(answer)
        except PaperError:
            self.journal.forget(name)
            return None
        return answer

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
                answer = self._carried(hop, left, errand)
                pause = self._pause(hop.url, answer)
            if not redirected(answer):
                return self._judged(hop, answer, errand, pause)
            if not errand.follow:
                return answer
            hop = follow(hop, answer)
        msg = f"{urlsplit(errand.hop.url).netloc} kept redirecting, last to {answer.host}."
        raise NotOffered(msg, status=answer.status)

    def _carried(self, hop: Hop, left: float, errand: _Errand) -> Answer:
        carry, wanted = self.courier.carry, _wanted(errand.allow)
        if errand.page is None:
            return carry(hop, left, errand.limit, wanted)
        return errand.page.asked(
            hop, lambda asked, part: carry(asked, left, errand.limit, wanted, part)
        )

    def _pause(self, url: str, answer: Answer) -> float:
        """Seconds the site wants to be left alone; told to everybody before the turn ends."""
        heeded = self.pace.heed(url, answer.headers)
        if answer.status not in WORTH_RETRYING | {403}:
            return 0.0
        pause = retry_after(answer.headers.get("Retry-After"), answer.headers.get("Date"))
        wary = answer.status in (403, 503) and self.pace.wary(url)
        if pause or answer.status == 429 or wary:
            pause = self.pace.refused(url, pause)
        elif answer.status == 503:  # it is out rather than tired of us: said soon to all who wait
            self.pace.hold(url, _BREATH_S)
        return max(pause, heeded)

    def _judged(self, hop: Hop, answer: Answer, errand: _Errand, pause: float) -> Answer:
        """The answer, or what its status means."""
        if errand.page and not pause:
            errand.page.write(hop, answer, errand.allow)
        if _welcome(answer, errand):
            try:
                if errand.check is not None:
                    errand.check(answer)
            except Exception as error:
                if errand.page:
                    errand.page.tear_out(hop)
                if isinstance(error, Unreachable) and error.retry_after:
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
        if pid not in self._couriers:  # no lock, which a fork may leave locked
            self._couriers.setdefault(pid, Courier(self.settings, self.guard))
        return self._couriers[pid]


def _welcome(answer: Answer, errand: _Errand) -> bool:
    """Whether a status is an answer to this errand, not a failure."""
    return 200 <= answer.status < 300 or answer.status in errand.allow


def _wanted(allow: Collection[int]) -> Callable[[int], bool]:
    return lambda status: status < 300 or status in allow


def _lower(headers: Mapping[str, str] | None) -> set[str]:
    return {name.lower() for name in headers or ()}
