"""Throttling: the time between two requests grows while a site struggles, and shrinks again.

A published limit says how fast a site may be asked at its best. Refused, the interval doubles; when
answers take several times as long as they used to, it grows by half; each answer in good time
takes a little off, down to what is published and never below (additive increase, multiplicative
decrease of the rate: D. Chiu and R. Jain, 1989, doi:10.1016/0169-7552(89)90019-6).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

SLOW_S = 2.0
"""An answer that takes less is slow nowhere."""

_REFUSED, _SLOW = 2.0, 1.5
_MOST = 16.0
_RECOVERS = 0.05  # of the published interval, with each answer
_FORGOTTEN_S = 3600.0  # what a site could not take an hour ago says nothing about today
_ENOUGH = 10  # answers, before anybody can say what is usual
_TIMES = 4.0  # as long as usual is slow
_WEIGHT = 0.3  # of the last answer, in how long they take of late
_CLIP = 8.0  # one answer in an hour's time counts as one that took eight times as long as usual
_STEP = 1.02  # how fast the usual time follows the answers


@dataclass(slots=True)
class Tempo:
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
        When the interval grew last, in seconds of `time.time`.
    """

    factor: float = 1.0
    usual: float = 0.0
    lately: float = 0.0
    heard: int = 0
    grown: float = 0.0

    def refused(self, now: float) -> None:
        """Slow down: the site refused."""
        self._grow(_REFUSED, now)

    def answered(self, seconds: float, now: float) -> None:
        """Take note of how long an answer took."""
        seconds = max(seconds, 0.001)
        self.factor = max(1.0, self.factor - _RECOVERS)
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
            self._grow(_SLOW, now)

    def forget(self, now: float) -> None:
        """Reset a factor that grew long ago, or before the clock was set back."""
        if not 0 <= now - self.grown < _FORGOTTEN_S:
            self.factor = 1.0

    def values(self) -> tuple[float, ...]:
        """All of it, in the order in which it is kept."""
        return self.factor, self.usual, self.lately, self.heard, self.grown

    def _grow(self, times: float, now: float) -> None:
        self.factor = min(_MOST, self.factor * times)
        self.grown = now


def _between(one: float, other: float, part: float) -> float:
    """The weighted geometric mean: *one* for a *part* of 0, *other* for 1."""
    return math.exp((1 - part) * math.log(one) + part * math.log(other))
