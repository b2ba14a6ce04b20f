"""Ending requests under way at once, at the socket, from another thread.

Whoever starts a piece of work may have to end it: the host of a tool call took it back, the person
pressed Ctrl-C. The work sits in a read that may last a minute. So each request under way registers
with the cancellations it is under, and one word shuts its socket, wherever it waits: connecting,
shaking hands, reading. Like `Hold`, a cancellation travels in the work's context.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

from ..errors import Cancelled

Result = TypeVar("Result")

LOOK_UP_S = 0.25
"""Seconds after which one who waits for something else looks whether his work was ended."""


class Line(Protocol):
    """A request under way."""

    def hang_up(self) -> None:
        """End it."""


class Cancellation:
    """Ends a piece of work: the requests under way, and every later one before it leaves."""

    def __init__(self) -> None:
        self._lines: set[Line] = set()
        self._lock = threading.Lock()
        self._over = threading.Event()

    def during(self, work: Callable[[], Result]) -> Result:
        """What *work* returns; its requests can be ended, also in threads given its context.

        Raises
        ------
        Cancelled
            It was ended.
        """
        token = _current.set(self)
        try:
            return work()
        finally:
            _current.reset(token)

    def cancel(self) -> None:
        """End it; returns at once. Doing so twice changes nothing."""
        with self._lock:
            self._over.set()
            lines = list(self._lines)
        for line in lines:
            line.hang_up()

    @property
    def cancelled(self) -> bool:
        """Whether it was ended."""
        return self._over.is_set()

    @contextmanager
    def over(self, line: Line) -> Iterator[None]:
        """Hang up *line* when it is ended, as long as the ``with`` lasts."""
        with self._lock:
            if self._over.is_set():
                raise Cancelled
            self._lines.add(line)
        try:
            yield
        finally:
            with self._lock:
                self._lines.discard(line)


_current: ContextVar[Cancellation | None] = ContextVar("papershelf_cancellation", default=None)


def current() -> Cancellation | None:
    """The cancellation of the work we are in."""
    return _current.get()


def go_on() -> None:
    """Do nothing, unless the work we are in was ended.

    Raises
    ------
    Cancelled
        It was.
    """
    if (work := current()) and work.cancelled:
        raise Cancelled


def sleep(seconds: float) -> None:
    """Sleep, but not on when the work we are in is ended.

    Raises
    ------
    Cancelled
        It was.
    """
    while seconds > 0:
        go_on()
        nap = min(seconds, LOOK_UP_S) if current() else seconds
        time.sleep(nap)
        seconds -= nap
