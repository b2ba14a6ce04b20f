"""Which site keeps a piece of work waiting, and how long: for whoever waits for the work.

Holds belong to sites, but one who runs out of patience has a piece of work before him, and must
not blame a site that this work has nothing to do with. So the pace writes down, wherever work
takes its turn, how long that site is held. Between the two lie verbs, sources and the ladder, which
need not know: the note travels in the work's context, like the words of the log.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import TypeVar

Result = TypeVar("Result")


class Hold:
    """How long the site that a piece of work asked last wants to be left alone."""

    def __init__(self) -> None:
        self._until = 0.0

    def during(self, work: Callable[[], Result]) -> Result:
        """What *work* returns; its turns count, also in threads that are given its context."""
        token = _current.set(self)
        try:
            return work()
        finally:
            _current.reset(token)

    def note(self, seconds: float) -> None:
        """The site asked now is held for so long; less than 0 when it is not."""
        self._until = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds until the work can go on; 0 when no site holds it."""
        return max(0.0, self._until - time.monotonic())


_current: ContextVar[Hold | None] = ContextVar("papershelf_hold", default=None)


def held_for(seconds: float) -> None:
    """Tell whoever waits for the work we are in that its site is held for *seconds*."""
    if hold := _current.get():
        hold.note(seconds)
