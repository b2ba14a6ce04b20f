"""Counting the texts that wait to be read."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from ..model.paper import Document

_OVER_S = 10.0  # what is behind for so long is behind


class CountedReader:
    """Reads like the function it is given, and knows how many texts wait for a core.

    Parameters
    ----------
    read : callable
        Makes a document of what a site sent.
    cores : int, optional
        How many texts can be read at once.
    """

    def __init__(self, read: Callable[..., Document], cores: int = os.cpu_count() or 1) -> None:
        self._read = read
        self.cores = cores
        self._inside = 0
        self._lock = threading.Lock()
        self._seen: deque[tuple[float, int]] = deque()

    def __call__(self, *arguments: Any, **options: Any) -> Document:
        """Read, and be counted meanwhile."""
        self._count(1)
        try:
            return self._read(*arguments, **options)
        finally:
            self._count(-1)

    def unread_count(self) -> int:
        """How many texts have waited for a core all of the last seconds; call it now and then."""
        now = time.monotonic()
        with self._lock:
            self._seen.append((now, max(0, self._inside - self.cores)))
            began = self._seen[0][0]
            while self._seen[0][0] < now - _OVER_S:
                self._seen.popleft()
            return min(waiting for _, waiting in self._seen) if now - began > _OVER_S else 0

    def _count(self, one: int) -> None:
        with self._lock:
            self._inside += one
