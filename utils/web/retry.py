"""Repeated requests: when, how often, and after which pauses."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from email.utils import parsedate_to_datetime
from functools import partial
from itertools import count
from typing import Any, ParamSpec, TypeVar

from ..errors import Unreachable

P = ParamSpec("P")
T = TypeVar("T")

WORTH_RETRYING = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 522, 524})
"""Statuses that speak of the moment, not of the paper; 520 to 524 are Cloudflare's."""

LONGEST = 60.0
"""Seconds we are ready to wait for one site; beyond that it counts as unreachable."""

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


def _instant(sent: str | None) -> float:
    """When an answer was sent, by the site's clock if it tells; else now, by ours."""
    with suppress(ValueError, OverflowError):
        return parsedate_to_datetime(sent).timestamp() if sent else time.time()
    return time.time()


def doubling_pauses(first: float = 1.0, most: float = 30.0) -> Generator[float, Any, None]:
    """Pauses that double, with jitter that only adds, never shorter than the site asked for."""
    error = yield 0.0  # backoff primes its generators with one send(None)
    for n in count():
        pause = min(most, first * 2**n) * random.uniform(1.0, 1.2)
        error = yield max(pause, error.retry_after)


def with_retries(
    ask: Callable[P, T], tries: int, on_retry: Callable[[Unreachable], object] | None = None
) -> Callable[P, T]:
    """*ask*, called up to *tries* times while it raises `Unreachable` and waiting may help.

    *on_retry* is called with each error that is tried again; the last one is raised.
    """
    import backoff

    return backoff.on_exception(
        doubling_pauses,
        Unreachable,
        max_tries=tries,
        giveup=_is_pointless,
        jitter=None,  # backoff's own would shorten the wait a site asked for
        logger=None,
        on_backoff=partial(_report_retry, on_retry),
    )(ask)


def _is_pointless(error: Exception) -> bool:
    assert isinstance(error, Unreachable)
    return error.retry_after > LONGEST or bool(error.details.get("lasting"))


def _report_retry(on_retry: Callable[[Unreachable], object] | None, details: Any) -> None:
    log.info("%s Asking again in %.1f s.", details["exception"], details["wait"])
    if on_retry:
        on_retry(details["exception"])
