"""Throttling: the time between two requests grows while a site struggles, and shrinks again.

A published limit says how fast a site may be asked at its best. Two things slow it down:

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

import math
from dataclasses import astuple, dataclass

SLOW_S = 2.0
"""An answer that takes less is slow nowhere."""
FACTOR_MAX = 16.0
FACTOR_MAX_SHARED = 4.0
"""For an allowance that all users of a site share: our own rate hardly counts there."""
_REFUSED, _SLOW = 2.0, 1.5
_RECOVERS = 0.05  # of the published interval, with each answer
_FORGOTTEN_S = 3600.0  # what a site could not take an hour ago says nothing about today
_ENOUGH = 10  # answers, before anybody can say what is usual
_TIMES = 4.0  # as long as usual is slow
_WEIGHT = 0.3  # of the last answer, in how long they take of late
_CLIP = 8.0  # one answer in an hour's time counts as one that took eight times as long as usual
_STEP = 1.02  # how fast the usual time follows the answers
_SHARE_WEIGHT = 1 / 32  # of the last call, in the share of good answers
_CALLS_TO_COMPARE = 24
_GOOD_SHARE = 0.9  # with more good answers there is nothing to gain by another interval
_WORSE = 0.6  # of the share at twice the interval: this site does respond to our rate


@dataclass(slots=True)
class Throttle:
    """The throttle of one site, from its refusals and the times of its answers.

    Parameters
    ----------
    factor : float
        Of the published interval between two requests; 1 at the least.
    usual, lately : float
        Seconds an answer takes: in the long run (about the median), and of late.
    heard : int
        How many answers that is known from.
    grown : float
        When the site last gave cause to slow down, in seconds of `time.time`.
    good : float
        The share of calls of late that were answered, not refused.
    calls : int
        Calls since the factor grew or was halved.
    good_when_slower : float
        The share of good answers at twice the interval; 0 where that was not compared.
    """

    factor: float = 1.0
    usual: float = 0.0
    lately: float = 0.0
    heard: int = 0
    grown: float = 0.0
    good: float = 1.0
    calls: int = 0
    good_when_slower: float = 0.0

    def record_refusal(self, now: float, most: float = FACTOR_MAX, *, first: bool = True) -> None:
        """Slow down, unless that has proved to be of no use.

        *first* is false for calls that were under way when an earlier one was refused.
        """
        self._count(0.0)
        self.grown = now
        if first and self.good <= _WORSE * self.good_when_slower:
            self.good_when_slower = 0.0
        if first and not self.good_when_slower:
            self._grow(_REFUSED, now, most)

    def record_answer(self, seconds: float, now: float, most: float = FACTOR_MAX) -> None:
        """Record how long an answer took."""
        seconds = max(seconds, 0.001)
        self._count(1.0)
        self.factor = max(1.0, min(most, self.factor) - _RECOVERS)
        self._try_half()
        if self.heard < _ENOUGH:
            self.heard += 1
            part = 1 / self.heard
            self.usual = self.lately = _between(self.usual or seconds, seconds, part)
            return
        seconds = min(seconds, self.usual * _CLIP)
        self.lately = _between(self.lately, seconds, _WEIGHT)
        self.usual *= _STEP if seconds > self.usual else 1 / _STEP
        if self.lately > max(SLOW_S, _TIMES * self.usual):
            self.lately = self.usual  # only answers to come can say that it is still too much
            self._grow(_SLOW, now, most)

    def forget(self, now: float) -> None:
        """Reset a factor that grew long ago, or before the clock was set back."""
        if not 0 <= now - self.grown < _FORGOTTEN_S:
            self.factor, self.good, self.good_when_slower = 1.0, 1.0, 0.0

    def values(self) -> tuple[float, ...]:
        """Return all fields, in the order in which they are kept."""
        return astuple(self)

    def _count(self, outcome: float) -> None:
        self.calls += 1
        self.good += _SHARE_WEIGHT * (outcome - self.good)

    def _try_half(self) -> None:
        """Halve the interval where calls are refused in spite of it."""
        if self.calls < _CALLS_TO_COMPARE or self.good >= _GOOD_SHARE:
            return
        if self.factor > 1:
            self.good_when_slower, self.calls = self.good, 0
            self.factor = max(1.0, self.factor / 2)
        elif self.good_when_slower:  # as many are answered: the new point of comparison
            self.good_when_slower, self.calls = min(self.good, self.good_when_slower), 0

    def _grow(self, times: float, now: float, most: float) -> None:
        grown = min(most, self.factor * times)
        if grown > self.factor * 1.25:  # at the greatest factor the same calls go on
            self.calls = 0
        self.factor, self.grown = grown, now


def _between(one: float, other: float, part: float) -> float:
    """Return the weighted geometric mean: *one* for a *part* of 0, *other* for 1."""
    return math.exp((1 - part) * math.log(one) + part * math.log(other))
