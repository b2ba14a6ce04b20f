"""Repeated requests: when, how often, and after which pauses."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from itertools import count
from typing import Any, ParamSpec, TypeVar

from ..errors import Unreachable
from .patience import is_endless, may_wait

P = ParamSpec("P")
T = TypeVar("T")

WORTH_RETRYING = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 522, 524})
"""Statuses that speak of the moment, not of the paper; 520 to 524 are Cloudflare's."""

LONGEST = 60.0
"""Seconds we are ready to wait for one site; beyond that it counts as unreachable."""
CLOSED_S = 3600.0
"""A site that asks for a longer pause is closed for the day, not busy."""
_RESETS = 3
"""How often one call is repeated at once after a reset connection.

NCBI resets about two connections of ten, more of the first of a process
(https://github.com/wp-a/nature-academic-search/issues/15).
"""

log = logging.getLogger(__name__)


def retry_after(value: str | None, sent: str | None = None) -> float:
    """Seconds meant by a ``Retry-After`` header, in either of its two spellings (RFC 9110).

    A date is one of the site's clock, which *sent*, its ``Date`` header, tells: ours may be wrong.

    >>> retry_after("7"), retry_after(None), retry_after("soon"), retry_after("-1")
    (7.0, 0.0, 0.0, 0.0)
    >>> retry_after("Wed, 21 Oct 2015 07:28:00 GMT")
    0.0
    >>> retry_after("Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:27:30 GMT")
    30.0
    """
    if value is None:
        return 0.0
    try:
        return max(0.0, float(value)) if float(value) < float("inf") else 0.0
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - _instant(sent))
    except (ValueError, OverflowError):
        return 0.0


def long_pause(who: str, seconds: float) -> tuple[str, str]:
    """Return what is said of a site that asks for a pause, and what to do about it.

    >>> long_pause("a.org", 54_000.0)[0]
    'a.org is closed for today: it asks for a pause of 15 hours.'
    """
    if seconds <= CLOSED_S:
        return f"The next turn at {who} is {seconds:.0f} s away.", f"Try again in {seconds:.0f} s."
    until = datetime.fromtimestamp(time.time() + seconds, UTC)
    msg = f"{who} is closed for today: it asks for a pause of {seconds / 3600:.0f} hours."
    return msg, f"Ask another source now, or this one after {until:%Y-%m-%d %H:%M} UTC."


def _instant(sent: str | None) -> float:
    """When an answer was sent, by the site's clock if it tells; else now, by ours."""
    with suppress(ValueError, OverflowError):
        return parsedate_to_datetime(sent).timestamp() if sent else time.time()
    return time.time()


def doubling_pauses(first: float = 1.0, most: float = 30.0) -> Generator[float, Any, None]:
    """Yield pauses that double, with jitter that only adds, never shorter than the site asked for.

    They end, and with them the tries, where the current work has no `Patience` for what a site
    asked for.
    """
    error = yield 0.0  # backoff primes its generators with one send(None)
    for n in count():
        pause = max(min(most, first * 2**n) * random.uniform(1.0, 1.2), error.retry_after)
        if error.retry_after and not may_wait(pause):
            return
        error = yield pause


def with_retries(
    ask: Callable[P, T], tries: int, on_retry: Callable[[Unreachable], object] | None = None
) -> Callable[P, T]:
    """Return *ask*, called up to *tries* times while it raises `Unreachable` and waiting may help.

    *on_retry* is called with each error that is tried again; the last one is raised. A reset
    connection is no such error: the first few are tried again at once and count as no try. Work of
    endless `Patience` is refused twice as often: a pool that half of all calls fail in is not out.
    """
    import backoff

    failures, patient = count(1), is_endless()

    def is_pointless(error: Exception) -> bool:
        assert isinstance(error, Unreachable)
        counts = not (patient and error.retry_after)
        return _is_pointless(error) or (counts and next(failures) >= tries)

    return backoff.on_exception(
        doubling_pauses,
        Unreachable,
        max_tries=2 * tries if patient else tries,
        giveup=is_pointless,
        jitter=None,  # backoff's own would shorten the wait a site asked for
        logger=None,
        on_backoff=partial(_report_retry, on_retry),
    )(_without_resets(ask))


def _without_resets(ask: Callable[P, T]) -> Callable[P, T]:
    """Return *ask*, repeated at once after a reset connection, `_RESETS` times altogether."""
    left = count(_RESETS, -1)

    def ask_again(*args: P.args, **kwargs: P.kwargs) -> T:
        while True:
            try:
                return ask(*args, **kwargs)
            except Unreachable as error:
                if not error.details.get("reset") or next(left) <= 0:
                    raise
                log.debug("%s Asking again at once.", error)

    return ask_again


def _is_pointless(error: Unreachable) -> bool:
    return error.retry_after > LONGEST or bool(error.details.get("lasting"))


def _report_retry(on_retry: Callable[[Unreachable], object] | None, details: Any) -> None:
    log.info("%s Asking again in %.1f s.", details["exception"], details["wait"])
    if on_retry:
        on_retry(details["exception"])
