"""Patience, cancellation and sharing of one piece of work.

A piece of work is what one caller asked for: a download, a search, a tool call. Its `Patience` and
its `Cancellation` travel in its context (context variables), past sources and requests.

Patience: one paper has several sources, and each has a rate limit. While the turn at one of them is
far away, another may have the text at once. So the ladder asks with little patience first: a wait
that would take more than what is left is refused with `Unreachable`, before anything is booked, and
the caller comes back to that site when the others were asked. A harvest has endless patience: it
waits in the queue for a site, and gives up only on a pause that the site itself asks for.

Cancellation: a caller may cancel a tool call, a person may press Ctrl-C, while a request sits in a
read that may last a minute. Each request under way registers with its cancellations, and
`Cancellation.cancel` shuts its socket, wherever it waits: connecting, shaking hands, reading.

Sharing: a tool call answers within twenty seconds. `SharedWork` goes on after that, and a later
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

POLL_S = 0.25
"""Seconds between two checks for a cancellation, where something else is waited for."""


class RunningRequest(Protocol):
    """A request under way."""

    def hang_up(self) -> None:
        """End it."""


class Cancellation:
    """Ends a piece of work: the requests under way, and every later one before it leaves."""

    def __init__(self) -> None:
        self._requests: set[RunningRequest] = set()
        self._lock = threading.Lock()
        self._cancelled = threading.Event()

    def run(self, work: Callable[[], Result]) -> Result:
        """Call *work* under this cancellation; also its threads, if they are given its context.

        Raises
        ------
        Cancelled
            It was cancelled.
        """
        token = _cancellation.set(self)
        try:
            return work()
        finally:
            _cancellation.reset(token)

    def cancel(self) -> None:
        """Cancel; returns at once. Doing so twice changes nothing."""
        with self._lock:
            self._cancelled.set()
            requests = list(self._requests)
        for request in requests:
            request.hang_up()

    @property
    def cancelled(self) -> bool:
        """Return whether it was cancelled."""
        return self._cancelled.is_set()

    @contextmanager
    def registered(self, request: RunningRequest) -> Iterator[None]:
        """Inside, `cancel` hangs up *request*."""
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


def current_cancellation() -> Cancellation | None:
    """The cancellation of the work we are in."""
    return _cancellation.get()


def raise_if_cancelled() -> None:
    """Raise `Cancelled` if the work we are in was cancelled."""
    if (work := current_cancellation()) and work.cancelled:
        raise Cancelled


def sleep(seconds: float) -> None:
    """Sleep; raises `Cancelled` as soon as the work we are in is cancelled."""
    while seconds > 0:
        raise_if_cancelled()
        nap = min(seconds, POLL_S) if current_cancellation() else seconds
        time.sleep(nap)
        seconds -= nap


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
        token = _patience.set(self)
        try:
            yield
        finally:
            _patience.reset(token)

    def spend(self, seconds: float) -> bool:
        """Spend the seconds of a wait; False if they are more than what is left."""
        if seconds > self.left:
            self.needed_s = max(self.needed_s, seconds)
            return False
        self.left -= max(0.0, seconds)
        return True


_patience: ContextVar[Patience | None] = ContextVar("papershelf_patience", default=None)


def is_endless() -> bool:
    """Return whether the current work waits in the queue for a site however long that is."""
    patience = _patience.get()
    return patience is not None and patience.left == inf


def turn_limit(usual: float) -> float:
    """Return the seconds that the current work may wait for its own turn.

    That is what is left of its patience; without one, the *usual* limit.
    """
    patience = _patience.get()
    return usual if patience is None else patience.left


def may_wait(seconds: float) -> bool:
    """Return whether the current work has the patience for a wait, and count it."""
    patience = _patience.get()
    return patience is None or patience.spend(seconds)


LONGEST_ANSWER_S = 20.0
_STALE_S = 300.0


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
        cancellation = current_cancellation()
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
