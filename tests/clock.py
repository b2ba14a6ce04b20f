"""The clock of the tests: it moves when somebody sleeps."""

import threading
from collections.abc import Callable

_NEVER = threading.Event()


class Clock:
    """A clock that only moves when somebody sleeps (and a little by itself)."""

    def __init__(self, real: Callable[[], float]) -> None:
        self._real = real
        self._ahead = 0.0
        self._lock = threading.Lock()
        self.naps: list[float] = []

    def time(self) -> float:
        return self._real() + self._ahead

    def sleep(self, seconds: float) -> None:
        """Let the time pass at once; others may run, else who looks again and again takes it all.

        So does whoever waits for a process: ``subprocess`` sleeps in between.
        """
        with self._lock:
            self.naps.append(seconds)
            self._ahead += max(0.0, seconds)
        _NEVER.wait(0.001)
