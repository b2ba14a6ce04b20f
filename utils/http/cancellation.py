"""Ending requests under way at once, at the socket, from another thread.

A caller may cancel its tool call, a person may press Ctrl-C, while the work sits in a read that may
last a minute. So each request under way registers with its cancellations, and `Cancellation.cancel`
shuts its socket, wherever it waits: connecting, shaking hands, reading. Like `Cooldown`, a
cancellation travels in the work's context (a context variable).
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

POLL_S = 0.25
"""Seconds between two checks for a cancellation, where something else is waited for."""


class RunningRequest(Protocol):
    """A request under way."""

    def hang_up(self) -> None:
        """End it."""


class Cancellation:
    """Ends a piece of work: the requests under way, and every later one before it leaves."""

    def __init__(self) -> None:
        self._requests: set[RunningRequest] = set()
        self._lock = threading.Lock()
        self._cancelled = threading.Event()

    def run(self, work: Callable[[], Result]) -> Result:
        """Call *work* under this cancellation; also its threads, if they are given its context.

        Raises
        ------
        Cancelled
            It was cancelled.
        """
        token = _current.set(self)
        try:
            return work()
        finally:
            _current.reset(token)

    def cancel(self) -> None:
        """Cancel; returns at once. Doing so twice changes nothing."""
        with self._lock:
            self._cancelled.set()
            requests = list(self._requests)
        for request in requests:
            request.hang_up()

    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled."""
        return self._cancelled.is_set()

    @contextmanager
    def registered(self, request: RunningRequest) -> Iterator[None]:
        """Inside, `cancel` hangs up *request*."""
        with self._lock:
            if self._cancelled.is_set():
                raise Cancelled
            self._requests.add(request)
        try:
            yield
        finally:
            with self._lock:
                self._requests.discard(request)


_current: ContextVar[Cancellation | None] = ContextVar("papershelf_cancellation", default=None)


def current() -> Cancellation | None:
    """The cancellation of the work we are in."""
    return _current.get()


def raise_if_cancelled() -> None:
    """Raise `Cancelled` if the work we are in was cancelled."""
    if (work := current()) and work.cancelled:
        raise Cancelled


def sleep(seconds: float) -> None:
    """Sleep; raises `Cancelled` as soon as the work we are in is cancelled."""
    while seconds > 0:
        raise_if_cancelled()
        nap = min(seconds, POLL_S) if current() else seconds
        time.sleep(nap)
        seconds -= nap
