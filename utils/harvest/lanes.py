"""Process many papers concurrently in lanes, so that no slow site holds up another.

Every lane has its own threads and a queue of paper numbers. A lane may take several numbers at
once. A *tag* (such as the publisher) marks numbers that are likely to wait for the same host: only
a few numbers of one tag are under way together, and the other tags are served in turn. A site that
is unavailable is tried again after a pause, with one paper at a time. `Lane` and `Lanes` handle
numbers only; they are independent of papers and sites.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from ..model.sites import SITES
from ..system.process import SteadyClock

_BATCH_POLL_S = 0.25  # how often to check whether a batch has waited long enough
_M_ARENA_MAX, _ARENAS = -8, 2  # M_ARENA_MAX is defined in glibc's malloc.h
Work = Callable[[Sequence[int]], None]
BY_PUBLISHER = frozenset(route.via for site in SITES if site.many_hosts for route in site.routes)
"""Rungs that lead to many hosts, which the DOI distinguishes."""
_OUTAGE_AFTER_FAILURES = 3  # in a row: one failure may be the paper's fault, three are the site's
_PAUSE_S = 30.0
_RETURN_DELAYS_S = (30.0, 120.0)  # delays before papers return to a site that was unavailable
_MAX_TRIALS = 3  # trials after an outage until a site counts as unlikely to recover soon
_MAX_TOTAL_WAIT_S = 3000.0  # total wait; less than the hour for which sites usually ban clients


@dataclass(slots=True)
class Lane:
    """A queue, and the threads that process it.

    Parameters
    ----------
    name : str
    work : callable
        Called with up to ``batch`` numbers.
    threads : int
        Number of pieces of work that run at once.
    batch : int, optional
        Maximum count of numbers in one piece of work.
    wait_s : float, optional
        Seconds the first number waits for others to fill a batch.
    per_tag : int, optional
        Maximum count of numbers of one tag that are under way at once; 0 for no limit.
    """

    name: str
    work: Work
    threads: int = 8
    batch: int = 1
    wait_s: float = 0.0
    per_tag: int = 0
    done: int = 0
    _queues: OrderedDict[str, deque[int]] = field(default_factory=OrderedDict)
    _under_way: dict[str, int] = field(default_factory=dict)
    _size: int = 0
    _since: float = 0.0
    changed: threading.Condition = field(default_factory=threading.Condition)

    @property
    def waiting(self) -> int:
        """Numbers queued or under way."""
        return self._size + sum(self._under_way.values())

    def enqueue(self, number: int, tag: str) -> None:
        """Add a number to the queue of its tag."""
        if not self._size:
            self._since = time.monotonic()
        self._queues.setdefault(tag, deque()).append(number)
        self._size += 1

    def take_work(self, without_waiting: bool) -> tuple[str, list[int]] | None:
        """Return the next tag and its numbers; None if no work may begin now."""
        full = self._size >= self.batch or without_waiting
        if not self._size or not (full or time.monotonic() - self._since >= self.wait_s):
            return None
        for tag, queue in self._queues.items():
            under_way = self._under_way.get(tag, 0)
            if not self.per_tag or under_way < self.per_tag:
                numbers = [queue.popleft() for _ in range(min(self.batch, len(queue)))]
                self._size -= len(numbers)
                self._under_way[tag] = under_way + len(numbers)
                self._since = time.monotonic()
                if queue:
                    self._queues.move_to_end(tag)  # the others first
                else:
                    del self._queues[tag]
                return tag, numbers
        return None

    def finish_work(self, tag: str, numbers: Sequence[int]) -> None:
        """Record that a piece of work is over."""
        self.done += len(numbers)
        self._under_way[tag] -= len(numbers)
        if not self._under_way[tag]:
            del self._under_way[tag]


class Lanes:
    """All lanes of one run, and the numbers that wait for a later time.

    The first exception that escapes a piece of work ends all lanes and is raised by
    `wait_until_done`.
    """

    def __init__(self, lanes: Sequence[Lane]) -> None:
        self._lanes = {lane.name: lane for lane in lanes}
        # One lock, but a condition for each lane: sixty threads need not wake for every paper.
        lock = threading.Lock()
        self._changed = threading.Condition(lock)
        for lane in lanes:
            lane.changed = threading.Condition(lock)
        self._stopping = False
        self._failure: BaseException | None = None
        self._clock = SteadyClock()
        self._later: list[tuple[float, int, str, str]] = []
        self._threads = [
            threading.Thread(target=self._work_through_lane, args=(lane,), name=f"lane {lane.name}")
            for lane in lanes
            for _ in range(lane.threads)
        ]

    def start(self) -> None:
        """Start the threads."""
        _limit_memory_arenas()
        for thread in self._threads:
            thread.daemon = True  # a request under way does not delay the end of the process
            thread.start()

    def stop(self) -> None:
        """Start no more work; work in progress ends by itself."""
        with self._changed:
            self._stopping = True
            self._wake_all()

    def queue_number(self, lane: str, number: int, tag: str = "", *, after: float = 0.0) -> None:
        """Queue a number, now or *after* a delay in seconds."""
        with self._changed:
            if after > 0:
                self._later.append((self._clock.read_seconds() + after, number, lane, tag))
            else:
                self._queue_and_wake(lane, number, tag)

    def count_waiting(self) -> dict[str, int]:
        """Return how many numbers are queued or under way in each lane."""
        with self._changed:
            return {name: lane.waiting for name, lane in self._lanes.items()}

    def count_done(self) -> dict[str, int]:
        """Return how many numbers each lane has finished."""
        with self._changed:
            return {name: lane.done for name, lane in self._lanes.items()}

    def count_postponed(self) -> tuple[int, float]:
        """Return how many numbers are postponed, and the seconds until the first is due."""
        with self._changed:
            return len(self._later), self._get_seconds_until_due()

    def wait_until_done(self, seconds: float) -> bool:
        """Wait until all work is done, at most *seconds*; return False once it is done.

        Raises
        ------
        BaseException
            An exception that escaped a piece of work.
        """
        with self._changed:
            self._enqueue_due()
            self._changed.wait_for(lambda: self._failure or self._is_idle(), seconds)
            if self._failure:
                raise self._failure
            if not self._is_idle():
                return True
            if not self._later:
                return False
            pause = min(seconds, self._get_seconds_until_due())
        time.sleep(pause)
        return True

    def _get_seconds_until_due(self) -> float:
        """Return the seconds until the first postponed number is due."""
        now = self._clock.read_seconds()
        return max(0.0, min((at for at, *_ in self._later), default=now) - now)

    def _enqueue_due(self) -> None:
        now = self._clock.read_seconds()
        due = [entry for entry in self._later if entry[0] <= now]
        if due:
            self._later = [entry for entry in self._later if entry[0] > now]
            for _, number, lane, tag in due:
                self._queue_and_wake(lane, number, tag)

    def _queue_and_wake(self, lane: str, number: int, tag: str) -> None:
        """Queue a number and wake a thread of its lane."""
        self._lanes[lane].enqueue(number, tag)
        self._lanes[lane].changed.notify()

    def _wake_all(self) -> None:
        self._changed.notify_all()
        for lane in self._lanes.values():
            lane.changed.notify_all()

    def _is_idle(self) -> bool:
        return not any(lane.waiting for lane in self._lanes.values())

    def _work_through_lane(self, lane: Lane) -> None:
        """Run a lane's work in this thread until the lanes stop."""
        while job := self._wait_for_work(lane):
            tag, numbers = job
            try:
                lane.work(numbers)
            except BaseException as failure:  # noqa: BLE001 - raised again by `wait_until_done`
                with self._changed:
                    self._failure = self._failure or failure
                    self._stopping = True
                    self._wake_all()
            finally:
                with self._changed:
                    lane.finish_work(tag, numbers)
                    lane.changed.notify()
                    self._changed.notify_all()

    def _wait_for_work(self, lane: Lane) -> tuple[str, list[int]] | None:
        """Wait until the lane has work; return None when the lanes stop."""
        with self._changed:
            while not self._stopping:
                others = any(x.waiting for x in self._lanes.values() if x is not lane)
                others = others or bool(
                    self._later and self._get_seconds_until_due() <= lane.wait_s
                )
                if job := lane.take_work(without_waiting=not others):
                    return job
                lane.changed.wait(_BATCH_POLL_S if lane.batch > 1 else None)
        return None


def _limit_memory_arenas() -> None:
    """Make all threads share a few memory heaps.

    glibc creates up to eight heaps for each core, and one heap cannot reuse free memory of another.
    Our threads mostly wait, and Python runs only one of them at a time.
    """
    with suppress(OSError, AttributeError, TypeError):  # another system, or another malloc
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _ARENAS)


@dataclass(slots=True)
class _SiteState:
    """The failures of a site, and the time until which the run sends it no requests."""

    failures: int = 0
    since: float = 0.0
    until: float = 0.0
    trials: int = 0
    said: str = ""


class Outage(NamedTuple):
    """A site that is unavailable, with its times as in `time.time` and its waiting papers."""

    via: str
    tag: str
    since: float
    again: float
    said: str
    papers: int


class Outages:
    """The sites that do not answer a run, and the papers that wait for these sites.

    A service may lead to many hosts, each with a tag. The service is unavailable for a tag when
    that host is unavailable, or when the service itself is, which has the empty tag.
    """

    def __init__(self) -> None:
        self._sites: dict[tuple[str, str], _SiteState] = {}
        self._clock = SteadyClock()
        self._deferred: dict[
            int, dict[str, str]
        ] = {}  # by paper: the deferred rungs and their tags
        self._already_tried: set[int] = set()  # papers that asked a deferred rung themselves
        self._returns: dict[int, int] = {}  # how often each paper returned to deferred sites
        self._lock = threading.Lock()

    def get_seconds_away(self, via: str, tag: str) -> float:
        """Return the seconds until this site may be asked again; 0 if it may be asked now."""
        with self._lock:
            now = self._clock.read_seconds()
            return max(
                (max(0.0, site.until - now) for site in self._find_unavailable_sites(via, tag)),
                default=0.0,
            )

    def can_recover_soon(self, via: str, tag: str) -> bool:
        """Return whether an unavailable site may recover soon, because few trials have failed."""
        with self._lock:
            return any(
                site.trials <= _MAX_TRIALS for site in self._find_unavailable_sites(via, tag)
            )

    def is_away_too_long(self, via: str, tag: str) -> bool:
        """Return whether a site must be avoided for longer than a run waits."""
        with self._lock:
            return any(
                site.until - site.since >= _MAX_TOTAL_WAIT_S
                for site in self._find_unavailable_sites(via, tag)
            )

    def can_ask_now(self, via: str, tag: str) -> bool:
        """Return whether this site may be asked now; the call counts as a trial after an outage.

        After a pause the first paper may ask, and the others wait for its result.
        """
        with self._lock:
            now, out = self._clock.read_seconds(), self._find_unavailable_sites(via, tag)
            if any(now < site.until for site in out):
                return False
            for site in out:
                site.until = now + _PAUSE_S
                site.trials += 1
            return True

    def record_answer(self, via: str, tag: str) -> None:
        """Record that a site answered, and with it the service that leads to the site."""
        with self._lock:
            for key in {(via, ""), (via, tag)}:
                self._sites.pop(key, None)

    def record_failure(
        self, via: str, tag: str, stay_away_s: float = 0.0, said: str = "", *, itself: bool = True
    ) -> None:
        """Record that a site did not answer, or asked us to stay away for *stay_away_s*.

        Its message *said* replaces an earlier one only if it came from the site *itself*.
        """
        with self._lock:
            site, now = self._sites.setdefault((via, tag), _SiteState()), self._clock.read_seconds()
            if site.failures < _OUTAGE_AFTER_FAILURES:
                site.since = now
            site.failures = (
                max(_OUTAGE_AFTER_FAILURES, site.failures) if stay_away_s else site.failures + 1
            )
            site.until = max(site.until, now + max(_PAUSE_S, stay_away_s))
            site.said = said if said and (itself or not site.said) else site.said
            if tag:  # a host was found, so the service that leads there answered
                self._sites.pop((via, ""), None)

    def defer_paper(
        self, number: int, via: str, tag: str, *, already_tried: bool = False
    ) -> set[str]:
        """Record that a paper must still be asked for at a site; return all its deferred sites.

        *already_tried* marks a paper whose site was asked and did not answer.
        """
        with self._lock:
            self._already_tried.update({number} if already_tried else ())
            deferred = self._deferred.setdefault(number, {})
            deferred[via] = tag
            return set(deferred)

    def get_deferred_sites(self, number: int) -> set[str]:
        """Return the sites that could not be asked for a paper."""
        with self._lock:
            return set(self._deferred.get(number, ()))

    def clear_deferred_sites(self, number: int) -> None:
        """Clear the deferred sites of a paper that has ended, or asks all sites again."""
        with self._lock:
            self._deferred.pop(number, None)
            self._already_tried.discard(number)

    def plan_return_delay_s(self, number: int, away_s: float, may_recover: bool) -> float:
        """Return the seconds until a paper asks deferred sites again; 0 after its last return.

        Waits for another paper's trial do not count while the sites may recover.
        """
        pause_s = 1.0
        with self._lock:
            returned = self._returns.get(number, 0)
            if not may_recover or number in self._already_tried:
                if returned == len(_RETURN_DELAYS_S):
                    return 0.0
                self._returns[number], pause_s = returned + 1, _RETURN_DELAYS_S[returned]
        return max(pause_s, away_s)

    def list_outages(self) -> list[Outage]:
        """Return the sites that do not answer, with the most waiting papers first."""
        with self._lock:
            lag = time.time() - self._clock.read_seconds()
            outages = [
                Outage(via, tag, site.since + lag, site.until + lag, site.said, papers)
                for (via, tag), site in self._sites.items()
                if site.failures >= _OUTAGE_AFTER_FAILURES
                and (papers := self._count_waiting_papers(via, tag))
            ]
        return sorted(outages, key=lambda outage: -outage.papers)

    def _count_waiting_papers(self, via: str, tag: str) -> int:
        """Return how many papers must still be asked for at this site."""
        return sum(
            via in deferred and tag in ("", deferred[via]) for deferred in self._deferred.values()
        )

    def _find_unavailable_sites(self, via: str, tag: str) -> list[_SiteState]:
        """Return the states of the service and the host that do not answer."""
        sites = (self._sites.get(key) for key in {(via, ""), (via, tag)})
        return [site for site in sites if site and site.failures >= _OUTAGE_AFTER_FAILURES]
