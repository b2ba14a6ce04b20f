"""The time of day, as far as waiting goes: when the clock is set back, nobody waits longer."""

from __future__ import annotations

import time


class SteadyClock:
    """`time.time` that never goes back. Not safe for threads: whoever owns it has a lock."""

    def __init__(self) -> None:
        self._seen = 0.0
        self._lost = 0.0

    def now(self) -> float:
        """Seconds; only the distance between two readings means anything."""
        reading = time.time() + self._lost
        if (back := self._seen - reading) > 0:
            self._lost += back
            reading = self._seen
        self._seen = reading
        return reading
