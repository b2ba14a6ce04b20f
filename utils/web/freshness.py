"""How old an answer may be that is given a second time.

Whoever asks anew (``force``, ``--retry``, another round of a harvest) wants no earlier answer. The
limit travels in the work's context, as a `.hold` does, past code that need not know of it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

DAYS = 1.0
"""Days for which an answer is given again to the same request."""

_DAY = 86400.0
_since: ContextVar[float] = ContextVar("papershelf_since", default=0.0)


@contextmanager
def not_older_than(at: float) -> Iterator[None]:
    """Inside, no answer is used that was given before *at*, in seconds of `time.time`."""
    token = _since.set(max(at, _since.get()))
    try:
        yield
    finally:
        _since.reset(token)


def is_fresh(at: float, days: float = DAYS) -> bool:
    """Whether an answer given *at* a time may be used; a clock set back does not make it old."""
    return at >= _since.get() and abs(time.time() - at) <= days * _DAY
