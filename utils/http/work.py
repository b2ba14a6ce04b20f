"""Limit, cancel and share one piece of work.

A piece of work is one request of a caller: a download, a search, a tool call. Its `Patience` and
its `Cancellation` travel in its context (context variables) through sources and requests.

Patience: one paper has several sources, and each has a rate limit. While the turn at one source is
far away, another source may have the text at once. So the ladder starts with little patience: a
wait longer than the remaining patience raises `Unreachable` before a turn is booked, and the caller
returns to that site after the others. A harvest has endless patience: it waits in the queue for a
site, and gives up only on a pause that the site itself asks for.

Cancellation: a caller may cancel a tool call, or a person may press Ctrl-C, during a read that may
last a minute. Each request in progress registers with its cancellations, and `Cancellation.cancel`
shuts its socket in any phase: connecting, handshake or reading.

Sharing: a tool call answers within twenty seconds. `SharedWork` continues after that, and a later
call for the same key joins it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Generic, Protocol, TypeVar

from ..errors import Cancelled

Result = TypeVar("Result")

CANCEL_POLL_S = 0.25
"""Seconds between two checks for a cancellation during other waits."""


class RunningRequest(Protocol):
    """A request in progress."""

    def abort(self) -> None:
        """Abort the request."""


class Cancellation:
    """Cancels a piece of work: its requests in progress, and later ones before they are sent."""

    def __init__(self) -> None:
        self._requests: set[RunningRequest] = set()
        self._lock = threading.Lock()
        self._cancelled = threading.Event()

    def run_work(self, work: Callable[[], Result]) -> Result:
        """Call *work* under this cancellation; threads that copy its context are included.

        Raises
        ------
        Cancelled
            The work was cancelled.
        """
        token = _cancellation.set(self)
        try:
            return work()
        finally:
            _cancellation.reset(token)

    def cancel(self) -> None:
        """Abort the requests in progress and return at once; a second call has no effect."""
        with self._lock:
            self._cancelled.set()
            requests = list(self._requests)
        for request in requests:
            request.abort()

    @property
    def cancelled(self) -> bool:
        """True if the work was cancelled."""
        return self._cancelled.is_set()

    @contextmanager
    def abort_on_cancel(self, request: RunningRequest) -> Iterator[None]:
        """Abort *request* if the work is cancelled in the block."""
        with self._lock:
            if self._cancelled.is_set():
                raise Cancelled
            self._requests.add(request)
        try:
            yield
        finally:
            with self._lock:
                self._requests.discard(request)


_cancellation: ContextVar[Cancellation | None] = ContextVar("papershelf_cancellation", default=None)


def get_cancellation() -> Cancellation | None:
    """Return the cancellation of the current work; None if it cannot be cancelled."""
    return _cancellation.get()


def raise_if_cancelled() -> None:
    """Raise `Cancelled` if the current work was cancelled."""
    if (work := get_cancellation()) and work.cancelled:
        raise Cancelled


def sleep_unless_cancelled(seconds: float) -> None:
    """Sleep for *seconds*; raise `Cancelled` as soon as the current work is cancelled."""
    while seconds > 0:
        raise_if_cancelled()
        nap = min(seconds, CANCEL_POLL_S) if get_cancellation() else seconds
        time.sleep(nap)
        seconds -= nap


class Patience:
    """The seconds that one piece of work may spend on waiting.

    Parameters
    ----------
    seconds : float
        The total duration of all waits of the work.

    Attributes
    ----------
    left : float
        The remaining seconds for waits.
    needed_s : float
        The seconds of the longest rejected wait; 0 if no wait was rejected.
    """

    def __init__(self, seconds: float) -> None:
        self.left = seconds
        self.needed_s = 0.0

    @contextmanager
    def apply(self) -> Iterator[None]:
        """Apply this patience to every wait for a turn inside."""
        self.needed_s = 0.0
        token = _patience.set(self)
        try:
            yield
        finally:
            _patience.reset(token)

    def spend_seconds(self, seconds: float) -> bool:
        """Subtract the seconds of a wait; return False if fewer seconds are left."""
        if seconds > self.left:
            self.needed_s = max(self.needed_s, seconds)
            return False
        self.left -= max(0.0, seconds)
        return True


_patience: ContextVar[Patience | None] = ContextVar("papershelf_patience", default=None)


def has_endless_patience() -> bool:
    """Return whether the current work waits for a site without a limit."""
    patience = _patience.get()
    return patience is not None and patience.left == inf


def get_turn_limit(usual: float) -> float:
    """Return the seconds that the current work may wait for its own turn.

    The limit is the remaining patience; without a `Patience`, the *usual* limit.
    """
    patience = _patience.get()
    return usual if patience is None else patience.left


def spend_patience(seconds: float) -> bool:
    """Subtract a wait from the current work's patience; return False if too little is left."""
    patience = _patience.get()
    return patience is None or patience.spend_seconds(seconds)


MAX_ANSWER_S = 20.0
_MAX_UNCOLLECTED_S = 300.0


@dataclass(slots=True)
class _Job(Generic[Result]):
    """A piece of work in progress: its result, its start, and the number of waiting callers."""

    future: Future[Result] = field(default_factory=Future)
    begun: float = field(default_factory=time.monotonic)
    waiting: int = 0
    cancellation: Cancellation = field(default_factory=Cancellation)

    @property
    def failed(self) -> bool:
        """True if the work ended with an error."""
        return self.future.done() and self.future.exception() is not None


class _Caller:
    """A waiting caller, which is counted out once: when it ends, or when it is cancelled."""

    def __init__(self, on_cancel: Callable[[], None]) -> None:
        self._on_cancel = on_cancel
        self._once = threading.Lock()

    def abort(self) -> None:
        """Count the caller out as cancelled."""
        self.call_once(self._on_cancel)

    def call_once(self, how: Callable[[], None]) -> None:
        """Call *how* on the first call only."""
        if self._once.acquire(blocking=False):
            how()


class SharedWork(Generic[Result]):
    """Runs each piece of work once; a second request for the same key joins it.

    Work continues after its callers stop waiting, and its result is kept for a later call. The work
    is cancelled when its last waiting caller is cancelled.
    """

    def __init__(self, longest: float = MAX_ANSWER_S, workers: int = 8) -> None:
        self._longest = longest
        self._jobs: dict[Hashable, _Job[Result]] = {}
        self._lock = threading.Lock()
        self._workers = threading.BoundedSemaphore(workers)

    def wait_for_result(self, key: Hashable, work: Callable[[], Result]) -> Result | None:
        """Return the result, or None if it is not ready in time; raise the errors of *work*."""
        done = self.run_in_parallel({key: work}, self._longest)
        return done[key].result() if done else None

    def run_in_parallel(
        self, works: Mapping[Hashable, Callable[[], Result]], longest: float
    ) -> dict[Hashable, Future[Result]]:
        """Run works in parallel, and return the futures of those done within *longest* seconds.

        While a work is unfinished, the results of the others are kept for a later call. A failure
        is reported once; a later call starts the work again.
        """
        with self._lock:
            self._remove_stale_jobs()
            jobs = {key: self._start_or_join(key, work) for key, work in works.items()}
        with self._count_caller(jobs):
            wait_for([job.future for job in jobs.values()], longest)
        done = {key: job for key, job in jobs.items() if job.future.done()}
        with self._lock:
            for key, job in done.items():
                collected = len(done) == len(jobs) or job.failed
                if collected and self._jobs.get(key) is job:
                    del self._jobs[key]
        return {key: job.future for key, job in done.items()}

    @contextmanager
    def _count_caller(self, jobs: Mapping[Hashable, _Job[Result]]) -> Iterator[None]:
        """Count a caller that waits for *jobs* in the block."""
        caller = _Caller(partial(self._remove_caller, jobs, for_good=True))
        with self._lock:
            for job in jobs.values():
                job.waiting += 1
        cancellation = get_cancellation()
        try:
            with cancellation.abort_on_cancel(caller) if cancellation else nullcontext():
                yield
        finally:
            cancelled = cancellation is not None and cancellation.cancelled
            caller.call_once(partial(self._remove_caller, jobs, for_good=cancelled))

    def _remove_caller(self, jobs: Mapping[Hashable, _Job[Result]], *, for_good: bool) -> None:
        """Count one caller less; cancel work without callers if the last one left *for_good*."""
        with self._lock:
            for key, job in jobs.items():
                job.waiting -= 1
                if for_good and not job.waiting:
                    self._jobs.pop(key, None)
                    job.cancellation.cancel()

    def _start_or_join(self, key: Hashable, work: Callable[[], Result]) -> _Job[Result]:
        """Start the work in a thread of its own, or return the work in progress under this key."""
        if key not in self._jobs:
            job: _Job[Result] = _Job()
            self._jobs[key] = job
            # The copied context names the call in the log. The thread is a daemon, so that a
            # finished process does not wait for work whose result is no longer needed.
            run = copy_context().run
            threading.Thread(
                target=run, args=(self._run_job, job, work), name="patience", daemon=True
            ).start()
        return self._jobs[key]

    def _run_job(self, job: _Job[Result], work: Callable[[], Result]) -> None:
        """Run a job and store its result or error."""
        with self._workers:
            try:
                job.future.set_result(job.cancellation.run_work(work))
            except BaseException as error:  # noqa: BLE001 - raised again in the waiting thread
                job.future.set_exception(error)

    def _remove_stale_jobs(self) -> None:
        """Remove failures, and results that were not collected within five minutes."""
        now = time.monotonic()
        for key, job in list(self._jobs.items()):
            if job.failed or (job.future.done() and now - job.begun > _MAX_UNCOLLECTED_S):
                del self._jobs[key]
