"""Lanes: work for many papers, side by side, so that no slow site holds up another.

Every lane has threads of its own and a queue of numbers. A lane may take several at once, and may
be told by a *tag* (such as the publisher) which numbers are likely to wait for the same host: of
those only a few are under way together, and the others are served in turn. Knows nothing of
papers or sites.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from ..system.steady_clock import SteadyClock

_LOOK_AGAIN_S = 0.25  # whether a batch has waited long enough
_M_ARENA_MAX, _ARENAS = -8, 2  # the first as in glibc's malloc.h

Work = Callable[[Sequence[int]], None]


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
    linger : float, optional
        Seconds the first number waits for others to fill a batch.
    per_tag : int, optional
        How many of one tag are under way at once; 0 for no limit.
    """

    name: str
    work: Work
    threads: int = 8
    batch: int = 1
    linger: float = 0.0
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
        if not self._size or not (full or time.monotonic() - self._since >= self.linger):
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
        """How many numbers wait for a time to come, and in how many seconds the first is due."""
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
