"""A call answers within twenty seconds; what takes longer goes on and is picked up later."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Generic, TypeVar

LONGEST_ANSWER_S = 20.0
_STALE_S = 300.0
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class _Job(Generic[Result]):
    """A piece of work that was begun, and when."""

    future: Future[Result] = field(default_factory=Future)
    begun: float = field(default_factory=time.monotonic)

    @property
    def failed(self) -> bool:
        return self.future.done() and self.future.exception() is not None


class Patience(Generic[Result]):
    """Work that is under way, by what was asked; asking again joins it instead of repeating it."""

    def __init__(self, longest: float = LONGEST_ANSWER_S, workers: int = 8) -> None:
        self._longest = longest
        self._jobs: dict[Hashable, _Job[Result]] = {}
        self._lock = threading.Lock()
        self._turns = threading.BoundedSemaphore(workers)

    def wait(self, asked: Hashable, work: Callable[[], Result]) -> Result | None:
        """The result, or None when it is not there in time; errors of *work* are raised here."""
        over = self.together({asked: work}, self._longest)
        return over[asked].result() if over else None

    def together(
        self, works: Mapping[Hashable, Callable[[], Result]], longest: float
    ) -> dict[Hashable, Future[Result]]:
        """Several pieces of work side by side: those that are over within *longest* seconds.

        As long as one of them is not, the results of the others are kept for who asks again; a
        failure is told once, and then the work is done anew.
        """
        with self._lock:
            self._forget_stale()
            jobs = {asked: self._job(asked, work) for asked, work in works.items()}
        wait_for([job.future for job in jobs.values()], longest)
        over = {asked: job for asked, job in jobs.items() if job.future.done()}
        with self._lock:
            for asked, job in over.items():
                handed_over = len(over) == len(jobs) or job.failed
                if handed_over and self._jobs.get(asked) is job:
                    del self._jobs[asked]
        return {asked: job.future for asked, job in over.items()}

    def _job(self, asked: Hashable, work: Callable[[], Result]) -> _Job[Result]:
        if asked not in self._jobs:
            job: _Job[Result] = _Job()
            self._jobs[asked] = job
            # The words of the log know whose call this is. A process that has its answer does not
            # stay for work that nobody will pick up: the thread is a daemon.
            run = copy_context().run
            threading.Thread(
                target=run, args=(self._do, job.future, work), name="patience", daemon=True
            ).start()
        return self._jobs[asked]

    def _do(self, future: Future[Result], work: Callable[[], Result]) -> None:
        with self._turns:
            try:
                future.set_result(work())
            except BaseException as error:  # noqa: BLE001 - whoever waits has to hear of it
                future.set_exception(error)

    def _forget_stale(self) -> None:
        """What ended while nobody waited is news for minutes; that it failed then, for nobody."""
        now = time.monotonic()
        for asked, job in list(self._jobs.items()):
            if job.failed or (job.future.done() and now - job.begun > _STALE_S):
                del self._jobs[asked]
