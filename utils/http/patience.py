"""Patience: the seconds that a piece of work may wait for its turns at sites.

One paper has several sources, and each has a rate limit. While the turn at one of them is far away,
another may have the text at once. So the ladder asks with little patience first: a wait that would
take more than what is left of it is refused with `Unreachable`, before anything is booked, and the
caller comes back to that site when it has asked the others. A harvest has endless patience: it
waits in the queue for a site however long that is, and gives up only on what the site itself asks.

Like `Cooldown`, the patience of a piece of work travels in its context, past sources and requests.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf


class Patience:
    """The patience of one piece of work.

    Parameters
    ----------
    seconds : float
        How long all its waits may take together.

    Attributes
    ----------
    left : float
        Seconds that may still be waited.
    needed_s : float
        Seconds of the wait that was refused last; 0 if none was.
    """

    def __init__(self, seconds: float) -> None:
        self.left = seconds
        self.needed_s = 0.0

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Apply it to every turn that is waited for inside."""
        self.needed_s = 0.0
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def spend(self, seconds: float) -> bool:
        """Spend the seconds of a wait; False if they are more than what is left."""
        if seconds > self.left:
            self.needed_s = max(self.needed_s, seconds)
            return False
        self.left -= max(0.0, seconds)
        return True


_current: ContextVar[Patience | None] = ContextVar("papershelf_patience", default=None)


def is_endless() -> bool:
    """Return whether the current work waits in the queue for a site however long that is."""
    patience = _current.get()
    return patience is not None and patience.left == inf


def turn_limit(usual: float) -> float:
    """Return the seconds that the current work may wait for its own turn.

    That is what is left of its patience; without one, the *usual* limit.
    """
    patience = _current.get()
    return usual if patience is None else patience.left


def may_wait(seconds: float) -> bool:
    """Return whether the current work has the patience for a wait, and count it."""
    patience = _current.get()
    return patience is None or patience.spend(seconds)
