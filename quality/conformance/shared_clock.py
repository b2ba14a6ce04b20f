"""A clock that moves when somebody sleeps, for two processes at once.

The server's process sleeps, and the stand-in internet, which counts requests by the second, is in
the process of the tests: both must mean the same moment.
"""

import mmap
import struct
from pathlib import Path

from tests.clock import _NEVER, Clock

_MOST = 20_000


class SharedClock(Clock):
    """Its naps stand in a file: how far ahead it is, how many there were, each one's seconds."""

    def __init__(self, path: Path) -> None:
        import time

        super().__init__(time.time)
        self.path = path
        if not path.exists():
            path.write_bytes(bytes(8 * (_MOST + 2)))
        with path.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), 0)

    def time(self) -> float:
        return self._real() + self._read(0)

    def sleep(self, seconds: float) -> None:
        with self._lock:
            count = int(self._read(1))
            self._write(2 + count, seconds)
            self._write(1, count + 1)
            self._write(0, self._read(0) + max(0.0, seconds))
        _NEVER.wait(0.001)

    @property
    def naps(self) -> list[float]:
        """All waits so far, of both processes."""
        return [self._read(2 + n) for n in range(int(self._read(1)))]

    @naps.setter
    def naps(self, value: list[float]) -> None:
        """None is kept here."""

    def _read(self, at: int) -> float:
        return float(struct.unpack_from("d", self._shared, 8 * at)[0])

    def _write(self, at: int, value: float) -> None:
        struct.pack_into("d", self._shared, 8 * at, value)
