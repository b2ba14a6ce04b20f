"""Calls that answer within twenty seconds; longer work goes on and is picked up by a later call."""

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
    """A piece of work under way: its result, when it began, and how many callers wait for it."""

    future: Future[Result] = field(default_factory=Future)
    begun: float = field(default_factory=time.monotonic)
    waiting: int = 0
    cancellation: Cancellation = field(default_factory=Cancellation)

    @property
    def failed(self) -> bool:
        return self.future.done() and self.future.exception() is not None


class _Caller:
    """A waiting caller, which leaves once: by itself, or because it was cancelled."""

    def __init__(self, on_cancel: Callable[[], None]) -> None:
        self._on_cancel = on_cancel
        self._once = threading.Lock()

    def hang_up(self) -> None:
        self.leave(self._on_cancel)

    def leave(self, how: Callable[[], None]) -> None:
        if self._once.acquire(blocking=False):
            how()


class SharedWork(Generic[Result]):
    """Work under way, by key; asking again joins it instead of repeating it.

    Work goes on after its callers gave up waiting, and its result is kept for a later call. It is
    cancelled when its last waiting caller is cancelled.
    """

    def __init__(self, longest: float = LONGEST_ANSWER_S, workers: int = 8) -> None:
        self._longest = longest
        self._jobs: dict[Hashable, _Job[Result]] = {}
        self._lock = threading.Lock()
        self._workers = threading.BoundedSemaphore(workers)

    def wait(self, key: Hashable, work: Callable[[], Result]) -> Result | None:
        """The result, or None when it is not there in time; errors of *work* are raised here."""
        done = self.run_together({key: work}, self._longest)
        return done[key].result() if done else None

    def run_together(
        self, works: Mapping[Hashable, Callable[[], Result]], longest: float
    ) -> dict[Hashable, Future[Result]]:
        """Run several pieces of work side by side: those that are done within *longest* seconds.

        As long as one of them is not, the results of the others are kept for a later call; a
        failure is reported once, and then the work is done anew.
        """
        with self._lock:
            self._forget_stale()
            jobs = {key: self._start_or_join(key, work) for key, work in works.items()}
        with self._waiting_for(jobs):
            wait_for([job.future for job in jobs.values()], longest)
        done = {key: job for key, job in jobs.items() if job.future.done()}
        with self._lock:
            for key, job in done.items():
                collected = len(done) == len(jobs) or job.failed
                if collected and self._jobs.get(key) is job:
                    del self._jobs[key]
        return {key: job.future for key, job in done.items()}

    @contextmanager
    def _waiting_for(self, jobs: Mapping[Hashable, _Job[Result]]) -> Iterator[None]:
        caller = _Caller(partial(self._leave, jobs, for_good=True))
        with self._lock:
            for job in jobs.values():
                job.waiting += 1
        cancellation = current()
        try:
            with cancellation.registered(caller) if cancellation else nullcontext():
                yield
        finally:
            cancelled = cancellation is not None and cancellation.cancelled
            caller.leave(partial(self._leave, jobs, for_good=cancelled))

    def _leave(self, jobs: Mapping[Hashable, _Job[Result]], *, for_good: bool) -> None:
        """Count one caller less; cancel work nobody waits for if it left *for_good*."""
        with self._lock:
            for key, job in jobs.items():
                job.waiting -= 1
                if for_good and not job.waiting:
                    self._jobs.pop(key, None)
                    job.cancellation.cancel()

    def _start_or_join(self, key: Hashable, work: Callable[[], Result]) -> _Job[Result]:
        if key not in self._jobs:
            job: _Job[Result] = _Job()
            self._jobs[key] = job
            # The words of the log know whose call this is. A process that has its answer does not
            # stay for work that nobody will pick up: the thread is a daemon.
            run = copy_context().run
            threading.Thread(
                target=run, args=(self._run, job, work), name="patience", daemon=True
            ).start()
        return self._jobs[key]

    def _run(self, job: _Job[Result], work: Callable[[], Result]) -> None:
        with self._workers:
            try:
                job.future.set_result(job.cancellation.run(work))
            except BaseException as error:  # noqa: BLE001 - whoever waits has to hear of it
                job.future.set_exception(error)

    def _forget_stale(self) -> None:
        """Drop results nobody collected in five minutes, and failures at once."""
        now = time.monotonic()
        for key, job in list(self._jobs.items()):
            if job.failed or (job.future.done() and now - job.begun > _STALE_S):
                del self._jobs[key]
