"""A call answers within twenty seconds; what takes longer goes on and is picked up later."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from contextlib import contextmanager, nullcontext
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from .cancellation import Cancellation, current

LONGEST_ANSWER_S = 20.0
_STALE_S = 300.0
Result = TypeVar("Result")


@dataclass(slots=True)
class _Job(Generic[Result]):
    """A piece of work that was begun, when, and how many wait for it."""

    future: Future[Result] = field(default_factory=Future)
    begun: float = field(default_factory=time.monotonic)
    waiting: int = 0
    cancellation: Cancellation = field(default_factory=Cancellation)

    @property
    def failed(self) -> bool:
        return self.future.done() and self.future.exception() is not None


class _Caller:
    """One who waits, and stops doing so once: of his own accord, or because he was called off."""

    def __init__(self, called_off: Callable[[], None]) -> None:
        self._called_off = called_off
        self._once = threading.Lock()

    def hang_up(self) -> None:
        self.leave(self._called_off)

    def leave(self, how: Callable[[], None]) -> None:
        if self._once.acquire(blocking=False):
            how()


class Patience(Generic[Result]):
    """Work that is under way, by what was asked; asking again joins it instead of repeating it.

    Who waits no longer lets it go on, to be picked up; who takes back what was asked, and is the
    last to wait for it, ends it.
    """

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
        with self._waiting_for(jobs):
            wait_for([job.future for job in jobs.values()], longest)
        over = {asked: job for asked, job in jobs.items() if job.future.done()}
        with self._lock:
            for asked, job in over.items():
                handed_over = len(over) == len(jobs) or job.failed
                if handed_over and self._jobs.get(asked) is job:
                    del self._jobs[asked]
        return {asked: job.future for asked, job in over.items()}

    @contextmanager
    def _waiting_for(self, jobs: Mapping[Hashable, _Job[Result]]) -> Iterator[None]:
        caller = _Caller(partial(self._leave, jobs, for_good=True))
        with self._lock:
            for job in jobs.values():
                job.waiting += 1
        asked_by = current()
        try:
            with asked_by.over(caller) if asked_by else nullcontext():
                yield
        finally:
            taken_back = asked_by is not None and asked_by.cancelled
            caller.leave(partial(self._leave, jobs, for_good=taken_back))

    def _leave(self, jobs: Mapping[Hashable, _Job[Result]], *, for_good: bool) -> None:
        """One waits no longer."""
        with self._lock:
            for asked, job in jobs.items():
                job.waiting -= 1
                if for_good and not job.waiting:
                    self._jobs.pop(asked, None)
                    job.cancellation.cancel()

    def _job(self, asked: Hashable, work: Callable[[], Result]) -> _Job[Result]:
        if asked not in self._jobs:
            job: _Job[Result] = _Job()
            self._jobs[asked] = job
            # The words of the log know whose call this is. A process that has its answer does not
            # stay for work that nobody will pick up: the thread is a daemon.
            run = copy_context().run
            threading.Thread(
                target=run, args=(self._do, job, work), name="patience", daemon=True
            ).start()
        return self._jobs[asked]

    def _do(self, job: _Job[Result], work: Callable[[], Result]) -> None:
        with self._turns:
            try:
                job.future.set_result(job.cancellation.during(work))
            except BaseException as error:  # noqa: BLE001 - whoever waits has to hear of it
                job.future.set_exception(error)

    def _forget_stale(self) -> None:
        """What ended while nobody waited is news for minutes; that it failed then, for nobody."""
        now = time.monotonic()
        for asked, job in list(self._jobs.items()):
            if job.failed or (job.future.done() and now - job.begun > _STALE_S):
                del self._jobs[asked]
