"""Lanes: work for many papers side by side, so that no slow site holds up another.

Every lane has its own threads and a queue of numbers. A lane may take several numbers at once, and
may be told by a *tag* (such as the publisher) which of them are likely to wait for the same host:
of those only a few are under way together, and the others are served in turn. A site that is out is
tried again after a pause with one paper at a time. Lanes know nothing of papers or sites.
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

_LOOK_AGAIN_S = 0.25  # whether a batch has waited long enough
_M_ARENA_MAX, _ARENAS = -8, 2  # the first as in glibc's malloc.h
Work = Callable[[Sequence[int]], None]
BY_PUBLISHER = frozenset(route.via for site in SITES if site.many_hosts for route in site.routes)
"""Rungs that lead to many hosts, told apart by the DOI."""
_FAILURES = 3  # in a row: one may be the paper's, three are the site's
_PAUSE_S = 30.0
_LATER_S = (30.0, 120.0)  # after what time papers come back to a site that was out
_HOPES = 3
_PATIENCE_S = 3000.0  # in all; less than the hour for which sites like to ban


@dataclass(slots=True)
class Lane:
    """One queue and the threads that serve it.

    Parameters
    ----------
    name : str
    work : callable
        Called with up to ``batch`` numbers.
    threads : int
        How many are under way at once.
    batch : int, optional
        How many numbers go into one piece of work.
    wait_s : float, optional
        Seconds the first number waits for others to fill a batch.
    per_tag : int, optional
        How many of one tag are under way at once; 0 for no limit.
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

    def put(self, number: int, tag: str) -> None:
        """Queue a number."""
        if not self._size:
            self._since = time.monotonic()
        self._queues.setdefault(tag, deque()).append(number)
        self._size += 1

    def take(self, hurry: bool) -> tuple[str, list[int]] | None:
        """The next piece of work; None when there is none that may begin now."""
        full = self._size >= self.batch or hurry
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

    def finish(self, tag: str, numbers: Sequence[int]) -> None:
        """Take note that a piece of work is over."""
        self.done += len(numbers)
        self._under_way[tag] -= len(numbers)
        if not self._under_way[tag]:
            del self._under_way[tag]


class Lanes:
    """All lanes of one run, and the numbers that wait for a later time.

    The first exception that escapes a piece of work ends all lanes and is raised by `wait`.
    """

    def __init__(self, lanes: Sequence[Lane]) -> None:
        self._lanes = {lane.name: lane for lane in lanes}
        # One lock, but a bell for each lane: sixty threads need not wake for every paper.
        lock = threading.Lock()
        self._changed = threading.Condition(lock)
        for lane in lanes:
            lane.changed = threading.Condition(lock)
        self._stopping = False
        self._failure: BaseException | None = None
        self._clock = SteadyClock()
        self._later: list[tuple[float, int, str, str]] = []
        self._threads = [
            threading.Thread(target=self._serve, args=(lane,), name=f"lane {lane.name}")
            for lane in lanes
            for _ in range(lane.threads)
        ]

    def start(self) -> None:
        """Start the threads."""
        _share_memory()
        for thread in self._threads:
            thread.daemon = True  # who stops is not held up by a request under way
            thread.start()

    def stop(self) -> None:
        """Begin nothing more; what is under way ends by itself."""
        with self._changed:
            self._stopping = True
            self._wake_all()

    def put(self, lane: str, number: int, tag: str = "", *, after: float = 0.0) -> None:
        """Queue a number, now or when so many seconds have passed."""
        with self._changed:
            if after > 0:
                self._later.append((self._clock.now() + after, number, lane, tag))
            else:
                self._queue(lane, number, tag)

    def waiting(self) -> dict[str, int]:
        """By lane, how many numbers are queued or under way."""
        with self._changed:
            return {name: lane.waiting for name, lane in self._lanes.items()}

    def done(self) -> dict[str, int]:
        """By lane, how many numbers went through."""
        with self._changed:
            return {name: lane.done for name, lane in self._lanes.items()}

    def later(self) -> tuple[int, float]:
        """Return how many numbers wait for a time, and in how many seconds the first is due."""
        with self._changed:
            return len(self._later), self._due()

    def wait(self, seconds: float) -> bool:
        """Wait until everything is over, at most *seconds*; False when it is.

        Raises
        ------
        BaseException
            What escaped a piece of work.
        """
        with self._changed:
            self._queue_what_is_due()
            self._changed.wait_for(lambda: self._failure or self._idle(), seconds)
            if self._failure:
                raise self._failure
            if not self._idle():
                return True
            if not self._later:
                return False
            pause = min(seconds, self._due())
        time.sleep(pause)
        return True

    def _due(self) -> float:
        """Seconds until the first of those that wait is due."""
        now = self._clock.now()
        return max(0.0, min((at for at, *_ in self._later), default=now) - now)

    def _queue_what_is_due(self) -> None:
        now = self._clock.now()
        due = [entry for entry in self._later if entry[0] <= now]
        if due:
            self._later = [entry for entry in self._later if entry[0] > now]
            for _, number, lane, tag in due:
                self._queue(lane, number, tag)

    def _queue(self, lane: str, number: int, tag: str) -> None:
        self._lanes[lane].put(number, tag)
        self._lanes[lane].changed.notify()

    def _wake_all(self) -> None:
        self._changed.notify_all()
        for lane in self._lanes.values():
            lane.changed.notify_all()

    def _idle(self) -> bool:
        return not any(lane.waiting for lane in self._lanes.values())

    def _serve(self, lane: Lane) -> None:
        while job := self._next(lane):
            tag, numbers = job
            try:
                lane.work(numbers)
            except BaseException as failure:  # noqa: BLE001 - handed to whoever waits
                with self._changed:
                    self._failure = self._failure or failure
                    self._stopping = True
                    self._wake_all()
            finally:
                with self._changed:
                    lane.finish(tag, numbers)
                    lane.changed.notify()
                    self._changed.notify_all()

    def _next(self, lane: Lane) -> tuple[str, list[int]] | None:
        with self._changed:
            while not self._stopping:
                others = any(x.waiting for x in self._lanes.values() if x is not lane)
                others = others or bool(self._later and self._due() <= lane.wait_s)
                if job := lane.take(hurry=not others):
                    return job
                lane.changed.wait(_LOOK_AGAIN_S if lane.batch > 1 else None)
        return None


def _share_memory() -> None:
    """Have all threads take their memory from the same few heaps.

    glibc makes up to eight for each core, and none gives back what another one could use; our
    threads mostly wait, and Python lets only one at a time do anything.
    """
    with suppress(OSError, AttributeError, TypeError):  # another system, or another malloc
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _ARENAS)


@dataclass(slots=True)
class _Site:
    failures: int = 0
    since: float = 0.0
    until: float = 0.0
    trials: int = 0
    said: str = ""


class Outage(NamedTuple):
    """A site that is out: times in seconds of `time.time`, and how many papers wait for it."""

    via: str
    tag: str
    since: float
    again: float
    said: str
    papers: int


class Outages:
    """The sites that do not answer a run, and the papers that wait for them.

    A service may lead to many hosts, each with a tag. It is out for a tag when that host is, or
    when the service itself is, which has the empty tag.
    """

    def __init__(self) -> None:
        self._sites: dict[tuple[str, str], _Site] = {}
        self._clock = SteadyClock()
        self._deferred: dict[
            int, dict[str, str]
        ] = {}  # by paper: the rungs it owes, with their tags
        self._already_tried: set[int] = set()  # papers that asked one of these themselves
        self._returns: dict[int, int] = {}  # how often papers came back
        self._lock = threading.Lock()

    def away_s(self, via: str, tag: str) -> float:
        """Seconds until this site may be asked again; 0 now."""
        with self._lock:
            now = self._clock.now()
            return max((max(0.0, site.until - now) for site in self._out(via, tag)), default=0.0)

    def may_recover(self, via: str, tag: str) -> bool:
        """Return whether a site that is out may recover soon: few have tried it in vain so far."""
        with self._lock:
            return any(site.trials <= _HOPES for site in self._out(via, tag))

    def is_away_too_long(self, via: str, tag: str) -> bool:
        """Return whether a site asked to be left alone for longer than a run waits."""
        with self._lock:
            return any(site.until - site.since >= _PATIENCE_S for site in self._out(via, tag))

    def may_ask(self, via: str, tag: str) -> bool:
        """Return whether to ask this site now.

        After a pause the first paper is let through, and the others wait for what comes of it.
        """
        with self._lock:
            now, out = self._clock.now(), self._out(via, tag)
            if any(now < site.until for site in out):
                return False
            for site in out:
                site.until = now + _PAUSE_S
                site.trials += 1
            return True

    def record_answer(self, via: str, tag: str) -> None:
        """Take note that a site answered, and so did the service that leads to it."""
        with self._lock:
            for key in {(via, ""), (via, tag)}:
                self._sites.pop(key, None)

    def record_failure(
        self, via: str, tag: str, stay_away_s: float = 0.0, said: str = "", *, itself: bool = True
    ) -> None:
        """Take note that a site did not answer, or asked us to stay away for *stay_away_s*.

        Its message *said* replaces an earlier one only if it came from the site *itself*.
        """
        with self._lock:
            site, now = self._sites.setdefault((via, tag), _Site()), self._clock.now()
            if site.failures < _FAILURES:
                site.since = now
            site.failures = max(_FAILURES, site.failures) if stay_away_s else site.failures + 1
            site.until = max(site.until, now + max(_PAUSE_S, stay_away_s))
            site.said = said if said and (itself or not site.said) else site.said
            if tag:  # a host was found, so the service that leads there answered
                self._sites.pop((via, ""), None)

    def defer(self, number: int, via: str, tag: str, *, already_tried: bool = False) -> set[str]:
        """Note that a paper still has to be asked for at a site; return all its deferred sites.

        *already_tried* marks a paper whose site was asked and did not answer.
        """
        with self._lock:
            self._already_tried.update({number} if already_tried else ())
            deferred = self._deferred.setdefault(number, {})
            deferred[via] = tag
            return set(deferred)

    def deferred_sites(self, number: int) -> set[str]:
        """Return the sites that could not be asked for a paper."""
        with self._lock:
            return set(self._deferred.get(number, ()))

    def clear_deferred(self, number: int) -> None:
        """Clear the deferred sites of a paper that has ended, or asks all sites again."""
        with self._lock:
            self._deferred.pop(number, None)
            self._already_tried.discard(number)

    def return_delay_s(self, number: int, away_s: float, may_recover: bool) -> float:
        """Return the seconds until a paper asks deferred sites again; 0 after its last return.

        Waiting for what another paper finds there does not count, while they may recover.
        """
        pause_s = 1.0
        with self._lock:
            returned = self._returns.get(number, 0)
            if not may_recover or number in self._already_tried:
                if returned == len(_LATER_S):
                    return 0.0
                self._returns[number], pause_s = returned + 1, _LATER_S[returned]
        return max(pause_s, away_s)

    def now(self) -> list[Outage]:
        """Return the sites that do not answer, those first for which most papers wait."""
        with self._lock:
            lag = time.time() - self._clock.now()
            found = [
                Outage(via, tag, site.since + lag, site.until + lag, site.said, papers)
                for (via, tag), site in self._sites.items()
                if site.failures >= _FAILURES and (papers := self._waiting(via, tag))
            ]
        return sorted(found, key=lambda outage: -outage.papers)

    def _waiting(self, via: str, tag: str) -> int:
        """Return how many papers still have to be asked for at this site."""
        return sum(
            via in deferred and tag in ("", deferred[via]) for deferred in self._deferred.values()
        )

    def _out(self, via: str, tag: str) -> list[_Site]:
        """Return what does not answer: the service, the host, both, or nothing."""
        sites = (self._sites.get(key) for key in {(via, ""), (via, tag)})
        return [site for site in sites if site and site.failures >= _FAILURES]
