"""How many requests a piece of work sent: what a route costs.

Answers that the journal or the cache gives are none; each redirect and each try is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Meter:
    """The requests sent by the thread that measures; see `metered`."""

    requests: int = 0


@contextmanager
def metered() -> Iterator[Meter]:
    """Count the requests sent inside."""
    meter = Meter()
    token = _current.set(meter)
    try:
        yield meter
    finally:
        _current.reset(token)


def count_request() -> None:
    """Count one for the current work, if anybody measures it."""
    if meter := _current.get():
        meter.requests += 1


_current: ContextVar[Meter | None] = ContextVar("papershelf_meter", default=None)
