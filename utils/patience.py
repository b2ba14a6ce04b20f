"""A call answers within twenty seconds; what takes longer goes on and is picked up later."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextvars import copy_context
from typing import Generic, TypeVar

LONGEST_ANSWER_S = 20.0
_STALE_S = 300.0
Result = TypeVar("Result")


class Patience(Generic[Result]):
    """Work that is under way, by what was asked; asking again joins it instead of repeating it."""

    def __init__(self, longest: float = LONGEST_ANSWER_S, workers: int = 8) -> None:
        self._longest = longest
        self._workers = workers
        self._pool: ThreadPoolExecutor | None = None
        self._under_way: dict[Hashable, Future[Result]] = {}
        self._begun: dict[Hashable, float] = {}
        self._lock = threading.Lock()

    def wait(self, asked: Hashable, work: Callable[[], Result]) -> Result | None:
        """The result, or None when it is not there in time; errors of *work* are raised here."""
        over = self.together({asked: work}, self._longest)
        return over[asked].result() if over else None

    def together(
        self, works: Mapping[Hashable, Callable[[], Result]], longest: float
    ) -> dict[Hashable, Future[Result]]:
        """Several pieces of work side by side: those that are over within *longest* seconds."""
        with self._lock:
            jobs = {asked: self._job(asked, work) for asked, work in works.items()}
        wait_for(jobs.values(), longest)
        over = {asked: job for asked, job in jobs.items() if job.done()}
        with self._lock:
            for asked in over:
                self._under_way.pop(asked, None)
        return over

    def _job(self, asked: Hashable, work: Callable[[], Result]) -> Future[Result]:
        self._pool = self._pool or ThreadPoolExecutor(self._workers, "patience")
        self._forget_stale()
        if asked not in self._under_way:
            # The words of the log know whose call this is.
            self._under_way[asked] = self._pool.submit(copy_context().run, work)
            self._begun[asked] = time.monotonic()
        return self._under_way[asked]

    def _forget_stale(self) -> None:
        """What ended while nobody was waiting is news for minutes, not for days."""
        for asked, job in list(self._under_way.items()):
            if job.done() and time.monotonic() - self._begun[asked] > _STALE_S:
                del self._under_way[asked]
