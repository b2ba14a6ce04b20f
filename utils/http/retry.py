"""Retry requests, and slow down requests to an overloaded site.

`retry_if_unreachable` repeats one call while waiting may help. `Throttle` changes the interval
between all calls to a site. A published limit says how fast a site may be asked at its best; two
things slow that down:

* A refusal doubles the interval, and each good answer takes a little off (additive increase,
  multiplicative decrease of the rate: D. Chiu and R. Jain, 1989,
  doi:10.1016/0169-7552(89)90019-6). This finds the limit of a site that refuses because *we* ask
  too fast.
* Answers that take several times as long as usual make the interval grow by half.

Some sites refuse a share of all calls, however slowly we ask: an allowance that many users share.
There the doubling never ends, and each step halves the number of useful answers. So the throttle
compares: where it was slowed down and still more than a tenth of the calls are refused, it tries
half the interval. If the share of good answers stays about the same, slowing down is of no use, and
the useful rate is highest at the published limit. If that share falls markedly, the site does
respond to our rate, and the interval doubles again. Simulated with 60 seeds, a site that refuses
half of its calls at random ends at factor 1.0; one that serves a quarter of the published rate, at
5.3 with 1 % of the calls refused.
"""

from __future__ import annotations

import logging
import math
import random
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from itertools import count
from typing import Any, ParamSpec, TypeVar

from ..errors import Unreachable
from .work import has_endless_patience, spend_patience

Params = ParamSpec("Params")
Result = TypeVar("Result")

RETRYABLE_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 522, 524})
"""Statuses of temporary failures; 520 to 524 are Cloudflare's."""

MAX_WAIT_S = 60.0
"""The longest wait for one site; a site that wants a longer wait counts as unreachable."""
CLOSED_S = 3600.0
"""A site that asks for a longer pause is closed for the day, not busy."""
_MAX_RESETS = 3
"""The number of immediate repetitions of one call after a reset connection.

NCBI resets about two connections of ten, more of the first of a process
(https://github.com/wp-a/nature-academic-search/issues/15).
"""

log = logging.getLogger(__name__)


def parse_retry_after(value: str | None, sent: str | None = None) -> float:
    """Return the seconds in a ``Retry-After`` header, in either of its two forms (RFC 9110).

    A date is compared with *sent*, the ``Date`` header of the answer: our clock may be wrong.

    >>> [parse_retry_after(value) for value in ("7", None, "soon", "-1")]
    [7.0, 0.0, 0.0, 0.0]
    >>> parse_retry_after("Wed, 21 Oct 2015 07:28:00 GMT")
    0.0
    >>> parse_retry_after("Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:27:30 GMT")
    30.0
    """
    if value is None:
        return 0.0
    try:
        return max(0.0, float(value)) if float(value) < float("inf") else 0.0
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - _parse_server_time(sent))
    except (ValueError, OverflowError):
        return 0.0


def describe_pause(who: str, seconds: float) -> tuple[str, str]:
    """Return a sentence about the pause that a site asks for, and a hint.

    >>> describe_pause("a.org", 54_000.0)[0]
    'a.org is closed for today: it asks for a pause of 15 hours.'
    """
    if seconds <= CLOSED_S:
        return f"The next turn at {who} is {seconds:.0f} s away.", f"Try again in {seconds:.0f} s."
    until = datetime.fromtimestamp(time.time() + seconds, UTC)
    msg = f"{who} is closed for today: it asks for a pause of {seconds / 3600:.0f} hours."
    return msg, f"Ask another source now, or this one after {until:%Y-%m-%d %H:%M} UTC."


def _parse_server_time(sent: str | None) -> float:
    """Return the time of an answer by the site's clock; without a date, by ours."""
    with suppress(ValueError, OverflowError):
        return parsedate_to_datetime(sent).timestamp() if sent else time.time()
    return time.time()


def generate_pauses(first: float = 1.0, most: float = 30.0) -> Generator[float, Any, None]:
    """Yield pauses that double, with added jitter, never shorter than the site asked for.

    The pauses end, and the tries with them, if the current work has not enough `Patience` for the
    pause that a site asked for.
    """
    error = yield 0.0  # backoff primes its generators with one send(None)
    for n in count():
        pause = max(min(most, first * 2**n) * random.uniform(1.0, 1.2), error.retry_after)
        if error.retry_after and not spend_patience(pause):
            return
        error = yield pause


def retry_if_unreachable(
    ask: Callable[Params, Result],
    tries: int,
    on_retry: Callable[[Unreachable], object] | None = None,
) -> Callable[Params, Result]:
    """Return *ask*, repeated up to *tries* times on `Unreachable` if waiting may help.

    *on_retry* is called with each error that is followed by a retry; the last error is raised. The
    first few reset connections are repeated at once and do not count as tries. Work with endless
    `Patience` is tried twice as often: a site where half of all calls fail is still available.
    """
    import backoff

    failures, patient = count(1), has_endless_patience()

    def is_pointless(error: Exception) -> bool:
        assert isinstance(error, Unreachable)
        counts = not (patient and error.retry_after)
        return _is_permanent_error(error) or (counts and next(failures) >= tries)

    return backoff.on_exception(
        generate_pauses,
        Unreachable,
        max_tries=2 * tries if patient else tries,
        giveup=is_pointless,
        jitter=None,  # backoff's own could shorten the wait that a site asked for
        logger=None,
        on_backoff=partial(_report_retry, on_retry),
    )(_retry_after_resets(ask))


def _retry_after_resets(ask: Callable[Params, Result]) -> Callable[Params, Result]:
    """Return *ask*, repeated at once after a reset connection, `_MAX_RESETS` times in total."""
    left = count(_MAX_RESETS, -1)

    def ask_again(*args: Params.args, **kwargs: Params.kwargs) -> Result:
        while True:
            try:
                return ask(*args, **kwargs)
            except Unreachable as error:
                if not error.details.get("reset") or next(left) <= 0:
                    raise
                log.debug("%s Asking again at once.", error.text)

    return ask_again


def _is_permanent_error(error: Unreachable) -> bool:
    """Return whether waiting cannot help."""
    return error.retry_after > MAX_WAIT_S or bool(error.details.get("lasting"))


def _report_retry(on_retry: Callable[[Unreachable], object] | None, details: Any) -> None:
    """Log a retry, and pass its error on."""
    log.info("%s Asking again in %.1f s.", details["exception"], details["wait"])
    if on_retry:
        on_retry(details["exception"])


SLOW_S = 2.0
"""An answer that takes less time never counts as slow."""
MAX_FACTOR = 16.0
MAX_FACTOR_SHARED = 4.0
"""The limit for an allowance that all users of a site share, where our own rate hardly matters."""
_REFUSED, _SLOW = 2.0, 1.5
_RECOVERY_PER_ANSWER = 0.05  # of the published interval, with each answer
_RESET_AFTER_S = 3600.0  # an overload an hour ago does not count any more
_MIN_ANSWERS = 10  # answers, before the usual time is known
_SLOW_RATIO = 4.0  # times the usual time is slow
_RECENT_WEIGHT = 0.3  # of the last answer, in the recent time
_MAX_RATIO = 8.0  # times the usual time; a longer answer counts like this
_USUAL_STEP = 1.02  # how fast the usual time follows the answers
_SHARE_WEIGHT = 1 / 32  # of the last call, in the share of good answers
_CALLS_TO_COMPARE = 24
_GOOD_SHARE = 0.9  # with more good answers another interval gains nothing
_WORSE_RATIO = 0.6  # of the share at twice the interval: the site responds to our rate


@dataclass(slots=True)
class Throttle:
    """The throttle of one site, computed from its refusals and the times of its answers.

    Parameters
    ----------
    factor : float
        The factor on the published interval between two requests; at least 1.
    usual, lately : float
        The duration of an answer in seconds: in the long run (about the median), and recently.
    heard : int
        The number of answers measured so far, up to the minimum for a comparison.
    grown : float
        The last time the site was slow or refused, in seconds of `time.time`.
    good : float
        The share of recent calls that were answered, not refused.
    calls : int
        The number of calls since the factor grew or was halved.
    good_when_slower : float
        The share of good answers at twice the interval; 0 if not measured.
    """

    factor: float = 1.0
    usual: float = 0.0
    lately: float = 0.0
    heard: int = 0
    grown: float = 0.0
    good: float = 1.0
    calls: int = 0
    good_when_slower: float = 0.0

    def record_refusal(self, now: float, most: float = MAX_FACTOR, *, first: bool = True) -> None:
        """Slow down, unless slowing down has not reduced earlier refusals.

        *first* is false for calls that were in progress when an earlier call was refused.
        """
        self._update_good_share(0.0)
        self.grown = now
        if first and self.good <= _WORSE_RATIO * self.good_when_slower:
            self.good_when_slower = 0.0
        if first and not self.good_when_slower:
            self._grow_factor(_REFUSED, now, most)

    def record_answer(self, seconds: float, now: float, most: float = MAX_FACTOR) -> None:
        """Record the duration of an answer."""
        seconds = max(seconds, 0.001)
        self._update_good_share(1.0)
        self.factor = max(1.0, min(most, self.factor) - _RECOVERY_PER_ANSWER)
        self._try_half_interval()
        if self.heard < _MIN_ANSWERS:
            self.heard += 1
            part = 1 / self.heard
            self.usual = self.lately = _compute_geometric_mean(self.usual or seconds, seconds, part)
            return
        seconds = min(seconds, self.usual * _MAX_RATIO)
        self.lately = _compute_geometric_mean(self.lately, seconds, _RECENT_WEIGHT)
        self.usual *= _USUAL_STEP if seconds > self.usual else 1 / _USUAL_STEP
        if self.lately > max(SLOW_S, _SLOW_RATIO * self.usual):
            self.lately = self.usual  # later answers show whether the site is still too slow
            self._grow_factor(_SLOW, now, most)

    def reset_if_old(self, now: float) -> None:
        """Reset a factor that grew long ago, or before the clock was set back."""
        if not 0 <= now - self.grown < _RESET_AFTER_S:
            self.factor, self.good, self.good_when_slower = 1.0, 1.0, 0.0

    def to_values(self) -> tuple[float, ...]:
        """Return all fields, in the order in which they are stored."""
        return astuple(self)

    def _update_good_share(self, outcome: float) -> None:
        """Update the share of good answers with the outcome of a call (1 or 0)."""
        self.calls += 1
        self.good += _SHARE_WEIGHT * (outcome - self.good)

    def _try_half_interval(self) -> None:
        """Halve the interval if slowing down did not reduce the refusals."""
        if self.calls < _CALLS_TO_COMPARE or self.good >= _GOOD_SHARE:
            return
        if self.factor > 1:
            self.good_when_slower, self.calls = self.good, 0
            self.factor = max(1.0, self.factor / 2)
        elif self.good_when_slower:  # as many good answers: the new value for comparison
            self.good_when_slower, self.calls = min(self.good, self.good_when_slower), 0

    def _grow_factor(self, times: float, now: float, most: float) -> None:
        """Multiply the factor, up to *most*."""
        grown = min(most, self.factor * times)
        if grown > self.factor * 1.25:  # at the largest factor nothing changed
            self.calls = 0
        self.factor, self.grown = grown, now


def _compute_geometric_mean(one: float, other: float, part: float) -> float:
    """Return the weighted geometric mean: *one* for a *part* of 0, *other* for 1."""
    return math.exp((1 - part) * math.log(one) + part * math.log(other))
