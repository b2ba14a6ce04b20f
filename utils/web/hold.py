"""How long a piece of work has to wait for the cooldown of its site, for callers that wait for it.

A caller that reports a wait must not name a site that its work does not use. So `.pace` notes here,
with every request, how long the site of that request is in cooldown. The note travels in the work's
context, past verbs, sources and the ladder, which need not know of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import TypeVar

Result = TypeVar("Result")


class Hold:
    """The cooldown of the site that a piece of work asked last."""

    def __init__(self) -> None:
        self._until = 0.0

    def run(self, work: Callable[[], Result]) -> Result:
        """Call *work*; its requests count, also in threads that are given its context."""
        token = _current.set(self)
        try:
            return work()
        finally:
            _current.reset(token)

    def note(self, seconds: float) -> None:
        """The site asked now is in cooldown for so long; less than 0 when it is not."""
        self._until = time.monotonic() + seconds

    def seconds_left(self) -> float:
        """Seconds until the work can go on; 0 when no cooldown is in force."""
        return max(0.0, self._until - time.monotonic())


_current: ContextVar[Hold | None] = ContextVar("papershelf_hold", default=None)


def note_cooldown(seconds: float) -> None:
    """Note for callers of the current work that its site is in cooldown for *seconds*."""
    if hold := _current.get():
        hold.note(seconds)
