"""Send requests through `Web`, with rate limits, retries, redirects and the journal.

One call makes at most five tries, and one try is a chain of at most eleven requests. Each request
waits for the `RateLimiter`, is checked by the `AddressPolicy` and sent by the `Transport` that all
threads share. Files too large for memory are fetched to the disk, and resumed if they break off
(`download_to_disk`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..errors import BadContent, NotAvailable, PaperError, Unreachable
from ..system import safe_files
from . import address_policy
from .address_policy import MAX_REDIRECTS, build_redirect, is_redirect
from .locks import Leases
from .messages import MAX_BODY_BYTES, Answer, Request, redact_url
from .rate_limiter import Rate, RateLimiter
from .retry import (
    CLOSED_S,
    RETRYABLE_STATUSES,
    describe_pause,
    parse_retry_after,
    retry_if_unreachable,
)

if TYPE_CHECKING:
    from ..settings import Settings
    from .cache import Journal, PendingEntry, ResponseCache
    from .transport import Transport

_UNAVAILABLE_COOLDOWN_S = 1.0  # after a 503 that names no time

AnswerCheck = Callable[[Answer], object]
RetryObserver = Callable[[Unreachable], object]


@dataclass(slots=True)
class _TimeBudget:
    """The seconds that a call may still spend on the wire, over all its tries and redirects."""

    left: float

    @contextmanager
    def track_seconds(self, url: str) -> Iterator[float]:
        """Subtract the seconds spent in the block; raise `Unreachable` if none are left."""
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
    """The options of one call of `Web`."""

    hop: Request
    time: _TimeBudget
    allow: Collection[int]
    check: AnswerCheck | None
    limit: int
    follow: bool = True
    on_retry: RetryObserver | None = None
    page: PendingEntry | None = None


class Web:
    """Sends requests and returns answers.

    Parameters
    ----------
    settings : Settings
        The user agent, the addresses of sites, and the number of tries.
    rates : sequence of Rate
        The rate limits of the sites.
    also_trusted : iterable of str, optional
        Addresses besides those of the settings whose hosts may be private.

    Attributes
    ----------
    deadline : float
        The seconds a request may take on the wire, all tries and redirects together; waits for
        turns do not count.
    on_redirect : callable, optional
        Called with the requested address and the target of a redirect.
    leases : Leases
        The leases on papers and addresses of this shelf.
    """

    def __init__(
        self, settings: Settings, rates: Sequence[Rate], also_trusted: Iterable[str] = ()
    ) -> None:
        self.settings = settings
        self.deadline = 120.0
        self.rates = rates
        self.on_redirect: Callable[[str, str], object] | None = None
        self.limiter = RateLimiter(settings.pace_folder, settings, rates)
        self.address_policy = address_policy.AddressPolicy(settings, also_trusted)
        self._transports: dict[int, Transport] = {}
        self.leases = Leases(settings.papers_dir / ".papershelf" / "leases")

    def get(  # noqa: PLR0913 - the options of one request
        self,
        url: str,
        params: Mapping[str, Any] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        allow: Collection[int] = (),
        check: AnswerCheck | None = None,
        plain: bool = False,
        limit: int = MAX_BODY_BYTES,
        follow: bool = True,
        on_retry: RetryObserver | None = None,
        kept: bool = False,
    ) -> Answer:
        """Fetch *url*.

        Parameters
        ----------
        url, params, headers
            The parts of the request.
        allow
            Statuses of 400 and above that are an answer, not a failure.
        check
            Called with the answer in each try: raise `Unreachable` for an error that came with
            status 200.
        plain
            Send only the headers ``User-Agent`` and ``Accept``.
        limit
            The maximum size in bytes, after decompression.
        follow
            Follow redirects; otherwise a redirect is the answer.
        on_retry
            Called with the error of each try that is repeated; the last error is raised.
        kept
            Store the answer in the `journal` before it is read, and reuse it for the same request.
            Only one thread of all processes sends the request.

        Raises
        ------
        NotAvailable
            The site does not offer the page to us, or the address is not permitted.
        Unreachable
            The site was down, slow or busy in every try, or we are offline.
        BadContent
            The body is larger than *limit*.
        """
        hop = Request("GET", url, params, self._build_headers(headers, plain))
        call = _Call(hop, _TimeBudget(self.deadline), allow, check, limit, follow, on_retry)
        return self._get_kept_or_fetch(call) if kept else self._send_with_retries(call)

    def get_kept_answer(self, url: str, params: Mapping[str, Any] | None = None) -> Answer | None:
        """Return the journal's answer to a `get` with *kept*, if usable; send nothing."""
        from .cache import build_request_name

        return self.journal.find_usable_answer(
            build_request_name(Request("GET", url, params, self._build_headers(None, plain=False)))
        )

    def post(  # noqa: PLR0913 - the options of one request
        self,
        url: str,
        form: Mapping[str, Any] | None = None,
        *,
        json: Any = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        allow: Collection[int] = (),
        check: AnswerCheck | None = None,
        limit: int = MAX_BODY_BYTES,
        on_retry: RetryObserver | None = None,
    ) -> Answer:
        """Send a form, *json* or *content* to *url*; see `get`. A redirect is rejected."""
        sent = self._build_headers(headers, plain=False)
        hop = Request("POST", url, None, sent, form, json, content)
        call = _Call(hop, _TimeBudget(self.deadline), allow, check, limit, on_retry=on_retry)
        return self._send_with_retries(call)

    @cached_property
    def cache(self) -> ResponseCache:
        """The cache of small answers; opened on first use."""
        from .cache import ResponseCache

        return ResponseCache(self.settings.papers_dir / ".papershelf" / "cache")

    @cached_property
    def journal(self) -> Journal:
        """The journal of answers about papers; opened on first use."""
        from .cache import JOURNAL_FOLDER, Journal

        return Journal(self.settings.papers_dir / ".papershelf" / JOURNAL_FOLDER)

    def _build_headers(self, given: Mapping[str, str] | None, plain: bool) -> dict[str, str]:
        """Return the headers of a request: ours, and those given."""
        usual = {"User-Agent": self.settings.user_agent, "Accept": "*/*"}
        if not plain:
            usual["Accept-Encoding"] = "gzip, deflate"
        ours = {
            name: v
            for name, v in usual.items()
            if name.lower() not in _list_lower_case_names(given)
        }
        return {**ours, **(given or {})}

    def _get_kept_or_fetch(self, call: _Call) -> Answer:
        """Return the journal's answer, or fetch one; only one thread of all processes fetches."""
        from .cache import PendingEntry, build_request_name

        name = build_request_name(call.hop)
        if answer := self._find_valid_kept_answer(name, call):
            return answer
        with self.leases.hold_lease(f"address {name}", redact_url(call.hop.url)):
            if answer := self._find_valid_kept_answer(
                name, call
            ):  # the former holder may have fetched it
                return answer
            return self._send_with_retries(replace(call, page=PendingEntry(self.journal, name)))

    def _find_valid_kept_answer(self, name: str, call: _Call) -> Answer | None:
        """Return the journal's answer, if it passes the checks of this call."""
        answer = self.journal.find_usable_answer(name)
        if answer is None:
            return None
        if not _is_accepted_status(answer, call):
            raise NotAvailable(f"{answer.host} answered {answer.status}.", status=answer.status)
        try:
            if call.check is not None:
                call.check(answer)
        except PaperError:
            self.journal.delete_entry(name)
            return None
        return answer

    def _send_with_retries(self, call: _Call) -> Answer:
        """Send a request with retries; raise `Unreachable` when offline."""
        if self.settings.papers_offline:
            host = urlsplit(call.hop.url).netloc
            msg = f"Papershelf is offline (PAPERS_OFFLINE): {host} was not asked."
            raise Unreachable(msg, "Unset PAPERS_OFFLINE to use the network.")
        return retry_if_unreachable(
            self._send_and_follow, self.settings.ncbi_max_retries, call.on_retry
        )(call)

    def _send_and_follow(self, call: _Call) -> Answer:
        """Send a request once, and follow its redirects."""
        from .transport import create_cookie_jar

        hop = replace(call.hop, cookies=create_cookie_jar())
        for _ in range(MAX_REDIRECTS + 1):
            address_policy.parse_url(hop.url)
            self.address_policy.require_open_to_programs(hop.url)
            with self.limiter.wait_for_turn(hop.url), call.time.track_seconds(hop.url) as left:
                answer = self._send_hop(hop, left, call)
                pause = self._apply_cooldown(hop.url, answer)
            if not is_redirect(answer):
                return self._check_answer(hop, answer, call, pause)
            if not call.follow:
                if call.check is not None:
                    call.check(answer)
                return answer
            hop = build_redirect(hop, answer)
            if self.on_redirect:
                self.on_redirect(call.hop.url, hop.url)
        msg = f"{urlsplit(call.hop.url).netloc} kept redirecting, last to {answer.host}."
        raise NotAvailable(msg, status=answer.status)

    def _send_hop(self, hop: Request, left: float, call: _Call) -> Answer:
        """Send one request of a chain of redirects."""
        carry, wanted = self.transport.send_request, _build_body_filter(call.allow)
        if call.page is None:
            return carry(hop, left, call.limit, wanted)
        return call.page.send_request(
            hop, lambda request, part: carry(request, left, call.limit, wanted, part)
        )

    def _apply_cooldown(self, url: str, answer: Answer) -> float:
        """Start a cooldown for all processes if the site asks for one; return its seconds.

        A site asks by status 429, by 403 or 503 meant for this client, or by its rate headers.
        """
        asked = self.limiter.apply_rate_headers(url, answer.headers)
        if answer.status not in RETRYABLE_STATUSES | {403}:
            return 0.0
        pause = parse_retry_after(answer.headers.get("Retry-After"), answer.headers.get("Date"))
        blocks_clients = answer.status in (403, 503) and self.limiter.is_refusal_of_client(url)
        if pause or answer.status == 429 or blocks_clients:
            pause = self.limiter.record_rejection(url, pause)
        elif answer.status == 503:  # it is down, not limiting us: all waiting threads learn it soon
            self.limiter.start_cooldown(url, _UNAVAILABLE_COOLDOWN_S)
        return max(pause, asked)

    def _check_answer(self, hop: Request, answer: Answer, call: _Call, pause: float) -> Answer:
        """Return the answer, or raise the error for its status."""
        if call.page and not pause:
            call.page.store_answer(hop, answer, call.allow)
        if _is_accepted_status(answer, call):
            try:
                if call.check is not None:
                    call.check(answer)
            except Exception as error:
                if call.page:
                    call.page.delete_answer(hop)
                if isinstance(error, Unreachable) and error.retry_after:
                    self.limiter.start_cooldown(hop.url, error.retry_after)
                raise
            return answer
        said: tuple[str, ...] = (f"{answer.host} answered {answer.status}.",)
        if answer.status in RETRYABLE_STATUSES or pause:
            details: dict[str, Any] = {"retry_after": pause} if pause else {}
            said = describe_pause(answer.host, pause) if pause > CLOSED_S else said
            raise Unreachable(*said, status=answer.status, **details)
        raise NotAvailable(*said, status=answer.status)

    @property
    def transport(self) -> Transport:
        """The transport of this process, for all threads; a fork gets a new one."""
        from .transport import Transport

        pid = os.getpid()
        if pid not in self._transports:  # no lock, which a fork may leave locked
            self._transports.setdefault(pid, Transport(self.settings, self.address_policy))
        return self._transports[pid]


def _is_accepted_status(answer: Answer, call: _Call) -> bool:
    """Return whether a status is an answer to this call, not a failure."""
    return 200 <= answer.status < 300 or answer.status in call.allow


def _build_body_filter(allow: Collection[int]) -> Callable[[int], bool]:
    """Return a function that tells for which statuses the body is read."""
    return lambda status: status < 300 or status in allow


def _list_lower_case_names(headers: Mapping[str, str] | None) -> set[str]:
    """Return the names of headers in lower case."""
    return {name.lower() for name in headers or ()}


_DOWNLOAD_TRY_MAX_S = 6 * 3600.0  # of one try; a stalled one ends much sooner
_MAX_FRUITLESS_TRIES = 5  # in a row without new bytes


def download_to_disk(
    web: Web, url: str, part: Path, most: int, headers: Mapping[str, str] | None = None
) -> Iterator[int]:
    """Fetch *url* into the file *part*, or continue it; yield the number of bytes so far.

    The caller checks the digest of the complete file and renames the file. A try that breaks off is
    resumed by the next, as long as the tries bring new bytes. *headers* are sent to the site of
    *url*; sites that it redirects to get only harmless headers.

    Raises
    ------
    NotAvailable
        The site does not offer the file to us, or the address is not permitted.
    Unreachable
        The site stayed unavailable; the received bytes are kept.
    BadContent
        The file has more than *most* bytes.
    """
    if web.settings.papers_offline:
        msg = f"Papershelf is offline (PAPERS_OFFLINE): {urlsplit(url).netloc} was not asked."
        raise Unreachable(msg, "Unset PAPERS_OFFLINE to use the network.")
    fruitless_tries = 0
    while True:
        before = _get_size(part)
        try:
            yield from _resume_download(web, url, part, most, headers or {})
            return
        except Unreachable:
            fruitless_tries = fruitless_tries + 1 if _get_size(part) <= before else 0
            if fruitless_tries >= _MAX_FRUITLESS_TRIES:
                raise


def _resume_download(
    web: Web, url: str, part: Path, most: int, given: Mapping[str, str]
) -> Iterator[int]:
    """Try once to download the rest: follow redirects, then write block by block."""
    begun = _get_size(part)
    headers = {"User-Agent": web.settings.user_agent, "Accept": "*/*"}
    headers |= {"Accept-Encoding": "identity", **given}
    hop = Request("GET", url, None, {**headers, "Range": f"bytes={begun}-"} if begun else headers)
    for _ in range(MAX_REDIRECTS + 1):
        address_policy.parse_url(hop.url)
        web.address_policy.require_open_to_programs(hop.url)
        with closing(web.transport.stream_answer(hop, _DOWNLOAD_TRY_MAX_S)) as flow:  # type: ignore[type-var]
            with web.limiter.wait_for_turn(hop.url):
                status, told = next(flow)
            answer = Answer(status, hop.url, b"", headers=told)
            if not address_policy.is_redirect(answer):
                yield from _write_blocks(flow, _find_resume_offset(web, answer, begun), part, most)
                return
        hop = address_policy.build_redirect(hop, answer)
    raise NotAvailable(f"{urlsplit(url).netloc} kept redirecting, last to {answer.host}.")


def _find_resume_offset(web: Web, answer: Answer, begun: int) -> int:
    """Return how many downloaded bytes to keep, by the reply to a request to resume."""
    told = answer.headers.get("Content-Range", "")
    if answer.status == 206 and told.startswith(f"bytes {begun}-"):
        return begun
    if answer.status == 416 and begun:  # it is all there
        return begun
    if answer.status == 200:
        return 0
    msg = f"{answer.host} answered {answer.status}."
    if answer.status in RETRYABLE_STATUSES:
        web.limiter.record_rejection(
            answer.url, parse_retry_after(answer.headers.get("Retry-After"), None)
        )
        raise Unreachable(msg, status=answer.status)
    raise NotAvailable(msg, status=answer.status)


def _write_blocks(blocks: Iterator[Any], begun: int, part: Path, most: int) -> Iterator[int]:
    """Append blocks to *part* after its first *begun* bytes; yield the size so far."""
    with safe_files.disk_errors(part), part.open("ab") as file:
        file.truncate(begun)
    size = begun
    with part.open("ab", buffering=0) as file:  # what is held back would fail once more at its end
        for block in blocks:
            size += len(block)
            if size > most:
                raise BadContent(f"It has more than {most / 1e9:.0f} GB.", verdict="not_a_paper")
            with safe_files.disk_errors(part):
                left = memoryview(block)
                while left:  # a disk that is nearly full takes some of it
                    left = left[file.write(left) :]
            yield size


def _get_size(part: Path) -> int:
    """Return the size of a file; 0 if it is missing."""
    return part.stat().st_size if part.exists() else 0
