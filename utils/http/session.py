"""HTTP for the rest of the program: `Web`, with rate limits, retries, redirects and the journal.

One call becomes at most five tries; one try is a chain of at most eleven requests; each of these
waits for the `RateLimiter`, is checked by the `AddressPolicy` and sent by the `Transport` that all
threads share. Files too large to be held are fetched to the disk, and continued where they broke
off (`download_to_disk`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..errors import BadContent, NotAvailable, PaperError, Unreachable
from ..system import safe_files
from . import address_policy
from .address_policy import MOST, follow, is_redirect
from .locks import Leases
from .messages import MAX_BYTES, Answer, Request, redact
from .rate_limiter import Rate, RateLimiter
from .retry import CLOSED_S, WORTH_RETRYING, long_pause, retry_after, with_retries

if TYPE_CHECKING:
    from ..settings import Settings
    from .cache import Journal, PendingEntry, ResponseCache
    from .transport import Transport

_BREATH_S = 1.0  # nothing leaves for a site that answers 503 and names no time

Check = Callable[[Answer], object]
Missed = Callable[[Unreachable], object]


@dataclass(slots=True)
class _Budget:
    """The seconds a call may still spend on the wire, over all its tries and redirects."""

    left: float

    @contextmanager
    def spend(self, url: str) -> Iterator[float]:
        """Count the seconds spent inside."""
        if self.left <= 0:
            msg = f"{urlsplit(url).netloc} did not answer in time."
            raise Unreachable(msg, "Try again later.", lasting=True)
        began = time.monotonic()
        try:
            yield self.left
        finally:
            self.left -= time.monotonic() - began


@dataclass(frozen=True, slots=True)
class _Call:
    hop: Request
    time: _Budget
    allow: Collection[int]
    check: Check | None
    limit: int
    follow: bool = True
    on_retry: Missed | None = None
    page: PendingEntry | None = None


class Web:
    """Sends requests and returns answers.

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
    on_redirect : callable, optional
        Called with the address that was asked for and the one that a redirect leads to.
    leases : Leases
        What of this shelf somebody is working on.
    """

    def __init__(self, settings: Settings, rates: Sequence[Rate]) -> None:
        self.settings = settings
        self.deadline = 120.0
        self.rates = rates
        self.on_redirect: Callable[[str, str], object] | None = None
        self.limiter = RateLimiter(settings.pace_folder, settings, rates)
        self.address_policy = address_policy.AddressPolicy(settings)
        self._transports: dict[int, Transport] = {}
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
        on_retry: Missed | None = None,
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
            Called with the error of each try that is repeated; the last error is raised.
        kept
            Whether the answer is about a paper: it is in the `journal` before it is read, serves
            whoever asks the same, and is not asked for by two at a time.

        Raises
        ------
        NotAvailable
            The site has no such page for us, or the link leads where we do not go.
        Unreachable
            It stayed down, slow or busy through every try; or we are offline.
        BadContent
            It sends more than *limit*.
        """
        hop = Request("GET", url, params, self._headers(headers, plain))
        call = _Call(hop, _Budget(self.deadline), allow, check, limit, follow, on_retry)
        return self._ask_once(call) if kept else self._ask(call)

    def recall(self, url: str, params: Mapping[str, Any] | None = None) -> Answer | None:
        """The journal's answer to such a `get` with *kept*, if it may be used; sends nothing."""
        from .cache import request_name

        return self.journal.fresh(
            request_name(Request("GET", url, params, self._headers(None, plain=False)))
        )

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
        on_retry: Missed | None = None,
    ) -> Answer:
        """Send a form, or *json*, to *url*; see `get`. A redirect is refused."""
        hop = Request("POST", url, None, self._headers(headers, plain=False), form, json)
        call = _Call(hop, _Budget(self.deadline), allow, check, limit, on_retry=on_retry)
        return self._ask(call)

    @cached_property
    def cache(self) -> ResponseCache:
        """The cache of small answers; opened on first use."""
        from .cache import ResponseCache

        return ResponseCache(self.settings.papers_dir / ".papershelf" / "cache")

    @cached_property
    def journal(self) -> Journal:
        """Answers of sites about papers; opened on first use."""
        from .cache import FOLDER, Journal

        return Journal(self.settings.papers_dir / ".papershelf" / FOLDER)

    def _headers(self, given: Mapping[str, str] | None, plain: bool) -> dict[str, str]:
        usual = {"User-Agent": self.settings.user_agent, "Accept": "*/*"}
        if not plain:
            usual["Accept-Encoding"] = "gzip, deflate"
        ours = {name: v for name, v in usual.items() if name.lower() not in _lower(given)}
        return {**ours, **(given or {})}

    def _ask_once(self, call: _Call) -> Answer:
        """The journal's answer, or the site's, asked by one thread of all processes at a time."""
        from .cache import PendingEntry, request_name

        name = request_name(call.hop)
        if answer := self._recall(name, call):
            return answer
        with self.leases.hold(f"address {name}", redact(call.hop.url)):
            if answer := self._recall(name, call):  # who held it before has asked
                return answer
            return self._ask(replace(call, page=PendingEntry(self.journal, name)))

    def _recall(self, name: str, call: _Call) -> Answer | None:
        """The journal's answer, if it passes the checks of this call."""
        answer = self.journal.fresh(name)
        if answer is None:
            return None
        if not _is_answer(answer, call):
            raise NotAvailable(f"{answer.host} answered {answer.status}.", status=answer.status)
        try:
            if call.check is not None:
                call.check(answer)
        except PaperError:
            self.journal.forget(name)
            return None
        return answer

    def _ask(self, call: _Call) -> Answer:
        if self.settings.papers_offline:
            host = urlsplit(call.hop.url).netloc
            msg = f"Papershelf is offline (PAPERS_OFFLINE): {host} was not asked."
            raise Unreachable(msg, "Unset PAPERS_OFFLINE to use the network.")
        return with_retries(self._try, self.settings.ncbi_max_retries, call.on_retry)(call)

    def _try(self, call: _Call) -> Answer:
        from .transport import new_cookies

        hop = replace(call.hop, cookies=new_cookies())
        for _ in range(MOST + 1):
            address_policy.parse(hop.url)
            self.address_policy.require_open_to_programs(hop.url)
            with self.limiter.turn(hop.url), call.time.spend(hop.url) as left:
                answer = self._carry(hop, left, call)
                pause = self._pause(hop.url, answer)
            if not is_redirect(answer):
                return self._accept(hop, answer, call, pause)
            if not call.follow:
                if call.check is not None:
                    call.check(answer)
                return answer
            hop = follow(hop, answer)
            if self.on_redirect:
                self.on_redirect(call.hop.url, hop.url)
        msg = f"{urlsplit(call.hop.url).netloc} kept redirecting, last to {answer.host}."
        raise NotAvailable(msg, status=answer.status)

    def _carry(self, hop: Request, left: float, call: _Call) -> Answer:
        carry, wanted = self.transport.carry, _wants_body(call.allow)
        if call.page is None:
            return carry(hop, left, call.limit, wanted)
        return call.page.ask(
            hop, lambda request, part: carry(request, left, call.limit, wanted, part)
        )

    def _pause(self, url: str, answer: Answer) -> float:
        """Seconds of cooldown that the site wants; in force for everybody before the turn ends."""
        asked = self.limiter.apply_rate_headers(url, answer.headers)
        if answer.status not in WORTH_RETRYING | {403}:
            return 0.0
        pause = retry_after(answer.headers.get("Retry-After"), answer.headers.get("Date"))
        blocks_clients = answer.status in (403, 503) and self.limiter.blocks_clients(url)
        if pause or answer.status == 429 or blocks_clients:
            pause = self.limiter.record_rejection(url, pause)
        elif answer.status == 503:  # it is out rather than tired of us: said soon to all who wait
            self.limiter.start_cooldown(url, _BREATH_S)
        return max(pause, asked)

    def _accept(self, hop: Request, answer: Answer, call: _Call, pause: float) -> Answer:
        """Return the answer, or raise what its status means."""
        if call.page and not pause:
            call.page.write(hop, answer, call.allow)
        if _is_answer(answer, call):
            try:
                if call.check is not None:
                    call.check(answer)
            except Exception as error:
                if call.page:
                    call.page.forget(hop)
                if isinstance(error, Unreachable) and error.retry_after:
                    self.limiter.start_cooldown(hop.url, error.retry_after)
                raise
            return answer
        said: tuple[str, ...] = (f"{answer.host} answered {answer.status}.",)
        if answer.status in WORTH_RETRYING or pause:
            details: dict[str, Any] = {"retry_after": pause} if pause else {}
            said = long_pause(answer.host, pause) if pause > CLOSED_S else said
            raise Unreachable(*said, status=answer.status, **details)
        raise NotAvailable(*said, status=answer.status)

    @property
    def transport(self) -> Transport:
        """One for all threads; after a fork a new one."""
        from .transport import Transport

        pid = os.getpid()
        if pid not in self._transports:  # no lock, which a fork may leave locked
            self._transports.setdefault(pid, Transport(self.settings, self.address_policy))
        return self._transports[pid]


def _is_answer(answer: Answer, call: _Call) -> bool:
    """Return whether a status is an answer to this call, not a failure."""
    return 200 <= answer.status < 300 or answer.status in call.allow


def _wants_body(allow: Collection[int]) -> Callable[[int], bool]:
    return lambda status: status < 300 or status in allow


def _lower(headers: Mapping[str, str] | None) -> set[str]:
    return {name.lower() for name in headers or ()}


_DOWNLOAD_S = 6 * 3600.0  # of one try; one that stands still is given up much sooner
_DOWNLOAD_TRIES = 5  # in a row that bring nothing new


def download_to_disk(
    web: Web, url: str, part: Path, most: int, headers: Mapping[str, str] | None = None
) -> Iterator[int]:
    """Fetch *url* into the file *part*, which may hold the beginning of it; the bytes so far.

    Whoever asks holds the whole of it against its digest, and gives it its name. A try that breaks
    off is followed by another from there on, as long as tries bring anything. *headers* are sent to
    the site of *url*; to others that it redirects to, only what tells them nothing.

    Raises
    ------
    NotAvailable
        The site has no such file for us, or the link leads where we do not go.
    Unreachable
        It stayed down; what came is kept.
    BadContent
        It sends more than *most* bytes.
    """
    if web.settings.papers_offline:
        msg = f"Papershelf is offline (PAPERS_OFFLINE): {urlsplit(url).netloc} was not asked."
        raise Unreachable(msg, "Unset PAPERS_OFFLINE to use the network.")
    fruitless_tries = 0
    while True:
        before = _size(part)
        try:
            yield from _resume_download(web, url, part, most, headers or {})
            return
        except Unreachable:
            fruitless_tries = fruitless_tries + 1 if _size(part) <= before else 0
            if fruitless_tries >= _DOWNLOAD_TRIES:
                raise


def _resume_download(
    web: Web, url: str, part: Path, most: int, given: Mapping[str, str]
) -> Iterator[int]:
    """One try: from redirect to redirect, then block by block."""
    begun = _size(part)
    headers = {"User-Agent": web.settings.user_agent, "Accept": "*/*"}
    headers |= {"Accept-Encoding": "identity", **given}
    hop = Request("GET", url, None, {**headers, "Range": f"bytes={begun}-"} if begun else headers)
    for _ in range(MOST + 1):
        address_policy.parse(hop.url)
        web.address_policy.require_open_to_programs(hop.url)
        with closing(web.transport.flow(hop, _DOWNLOAD_S)) as flow:  # type: ignore[type-var]
            with web.limiter.turn(hop.url):
                status, told = next(flow)
            answer = Answer(status, hop.url, b"", headers=told)
            if not address_policy.is_redirect(answer):
                yield from _write_blocks(flow, _kept_bytes(web, answer, begun), part, most)
                return
        hop = address_policy.follow(hop, answer)
    raise NotAvailable(f"{urlsplit(url).netloc} kept redirecting, last to {answer.host}.")


def _kept_bytes(web: Web, answer: Answer, begun: int) -> int:
    """Return how many of the bytes on the disk stay."""
    told = answer.headers.get("Content-Range", "")
    if answer.status == 206 and told.startswith(f"bytes {begun}-"):
        return begun
    if answer.status == 416 and begun:  # it is all there
        return begun
    if answer.status == 200:
        return 0
    msg = f"{answer.host} answered {answer.status}."
    if answer.status in WORTH_RETRYING:
        web.limiter.record_rejection(
            answer.url, retry_after(answer.headers.get("Retry-After"), None)
        )
        raise Unreachable(msg, status=answer.status)
    raise NotAvailable(msg, status=answer.status)


def _write_blocks(blocks: Iterator[Any], begun: int, part: Path, most: int) -> Iterator[int]:
    with safe_files.disk(part), part.open("ab") as file:
        file.truncate(begun)
    size = begun
    with part.open("ab", buffering=0) as file:  # what is held back would fail once more at its end
        for block in blocks:
            size += len(block)
            if size > most:
                raise BadContent(f"It has more than {most / 1e9:.0f} GB.", verdict="not_a_paper")
            with safe_files.disk(part):
                left = memoryview(block)
                while left:  # a disk that is nearly full takes some of it
                    left = left[file.write(left) :]
            yield size


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0
