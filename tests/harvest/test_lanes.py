"""Lanes: side by side, in turn, and over when they are over."""

import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.processes import run
from utils.harvest.lanes import Lane, Lanes


class Site:
    """Work that writes down what it was given, and can be made to wait."""

    def __init__(self) -> None:
        self.pieces: list[list[int]] = []
        self.open = threading.Event()
        self.open.set()
        self.busy = 0
        self.most = 0
        self._lock = threading.Lock()

    @property
    def numbers(self) -> list[int]:
        return [number for piece in self.pieces for number in piece]

    def __call__(self, numbers: Sequence[int]) -> None:
        with self._lock:
            self.pieces.append(list(numbers))
            self.busy += 1
            self.most = max(self.most, self.busy)
        assert self.open.wait(20)
        with self._lock:
            self.busy -= 1


Run = Callable[..., Lanes]


@pytest.fixture
def lanes() -> Iterator[Run]:
    made: list[Lanes] = []

    def make(*given: Lane) -> Lanes:
        made.append(Lanes(given))
        return made[-1]

    yield make
    for each in made:
        each.stop()
    assert eventually(lambda: not any(t.name.startswith("lane ") for t in threading.enumerate()))


def eventually(true: Callable[[], object]) -> bool:
    """Whether something becomes so, in real time."""
    pause = threading.Event()
    for _ in range(2000):
        if true():
            return True
        pause.wait(0.005)
    return False


def go_through(lanes: Lanes) -> None:
    while lanes.wait_until_done(0.05):
        pass


def test_every_number_goes_through_once_and_then_it_is_over(lanes: Run) -> None:
    site = Site()
    run = lanes(Lane("a", site, threads=4))
    for number in range(100):
        run.queue_number("a", number)
    run.start()
    go_through(run)
    assert sorted(site.numbers) == list(range(100))
    assert run.count_done() == {"a": 100}
    assert run.count_waiting() == {"a": 0}


def test_nothing_to_do_is_over_at_once(lanes: Run) -> None:
    run = lanes(Lane("a", Site()))
    run.start()
    assert not run.wait_until_done(10)


def test_a_slow_lane_does_not_hold_up_another(lanes: Run) -> None:
    slow, quick = Site(), Site()
    slow.open.clear()
    run = lanes(Lane("slow", slow, threads=2), Lane("quick", quick, threads=2))
    for number in range(50):
        run.queue_number("slow", number)
        run.queue_number("quick", number)
    run.start()
    assert eventually(lambda: len(quick.numbers) == 50 and run.count_waiting()["quick"] == 0)
    assert len(slow.numbers) == 2
    slow.open.set()
    go_through(run)


def test_work_may_send_numbers_on(lanes: Run) -> None:
    second = Site()

    def first(numbers: Sequence[int]) -> None:
        for number in numbers:
            run.queue_number("second", number)  # type: ignore[attr-defined]

    run = lanes(Lane("first", first), Lane("second", second))
    for number in range(40):
        run.queue_number("first", number)
    run.start()
    go_through(run)
    assert sorted(second.numbers) == list(range(40))


def test_of_one_tag_only_a_few_are_under_way_and_the_others_are_served(lanes: Run) -> None:
    site = Site()
    site.open.clear()
    run = lanes(Lane("a", site, threads=8, per_tag=2))
    for number in range(20):
        run.queue_number("a", number, "crowded")
    for number in range(100, 103):
        run.queue_number("a", number, "rare")
    run.start()
    assert eventually(lambda: site.busy == 4)
    assert sorted(site.numbers) == [0, 1, 100, 101]
    site.open.set()
    go_through(run)
    assert sorted(site.numbers) == [*range(20), *range(100, 103)]


def test_tags_are_served_in_turn(lanes: Run) -> None:
    site = Site()
    run = lanes(Lane("a", site, threads=1))
    for number in range(10):
        run.queue_number("a", number, "crowded")
    run.queue_number("a", 100, "rare")
    run.queue_number("a", 200, "other")
    run.start()
    go_through(run)
    assert site.numbers[:3] == [0, 100, 200]
    assert site.numbers[3:] == list(range(1, 10))


def test_a_batch_is_never_larger_than_asked_for(lanes: Run) -> None:
    site = Site()
    run = lanes(Lane("a", site, threads=1, batch=20))
    for number in range(50):
        run.queue_number("a", number)
    run.start()
    go_through(run)
    assert [len(piece) for piece in site.pieces] == [20, 20, 10]


def test_a_batch_waits_for_others_while_others_may_come(lanes: Run) -> None:
    site, before = Site(), Site()
    before.open.clear()
    run = lanes(Lane("before", before, threads=1), Lane("a", site, batch=3, wait_s=3600))
    run.queue_number("before", 0)
    run.queue_number("a", 1)
    run.start()
    run.wait_until_done(0.6)  # the lane has looked twice whether the batch waited long enough
    assert site.pieces == []
    run.queue_number("a", 2)
    run.queue_number("a", 3)
    assert eventually(lambda: site.pieces == [[1, 2, 3]])
    before.open.set()
    go_through(run)


def test_a_batch_is_not_waited_for_when_nobody_can_come(lanes: Run) -> None:
    site = Site()
    run = lanes(Lane("before", Site()), Lane("a", site, batch=20, wait_s=3600))
    run.queue_number("a", 1)
    run.start()
    go_through(run)
    assert site.pieces == [[1]]


def test_a_batch_that_waited_long_enough_begins(lanes: Run) -> None:
    site, before = Site(), Site()
    before.open.clear()
    run = lanes(Lane("before", before, threads=1), Lane("a", site, batch=20, wait_s=0.1))
    run.queue_number("before", 0)
    run.queue_number("a", 1)
    run.start()
    assert eventually(lambda: site.pieces == [[1]])
    before.open.set()
    go_through(run)


def test_what_is_put_for_later_comes_later_and_not_before(lanes: Run) -> None:
    began = time.time()
    came: dict[int, float] = {}

    def work(numbers: Sequence[int]) -> None:
        came.update(dict.fromkeys(numbers, time.time() - began))

    run = lanes(Lane("a", work))
    run.queue_number("a", 1, after=30)
    run.queue_number("a", 2, after=90)
    run.queue_number("a", 3)
    assert run.count_postponed()[0] == 2
    assert 20 < run.count_postponed()[1] <= 30
    run.start()
    go_through(run)
    assert came[3] < 30 <= came[1] < 90 <= came[2]
    assert run.count_postponed() == (0, 0.0)


def test_a_clock_set_back_makes_nobody_wait_longer(
    lanes: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site()
    run = lanes(Lane("a", site))
    run.queue_number("a", 1, after=30)
    run.start()
    assert run.wait_until_done(0.5)
    stage = time.time
    monkeypatch.setattr(time, "time", lambda: stage() - 86_400)
    began = stage()
    go_through(run)
    assert site.numbers == [1]
    assert stage() - began < 60


def test_stopped_lanes_begin_nothing_more_within_a_moment(lanes: Run) -> None:
    site = Site()
    site.open.clear()
    run = lanes(Lane("a", site, threads=2))
    for number in range(50):
        run.queue_number("a", number)
    run.start()
    assert eventually(lambda: site.busy == 2)
    run.stop()
    site.open.set()
    assert eventually(lambda: not any(t.name == "lane a" for t in threading.enumerate()))
    assert len(site.numbers) == 2


def test_a_failing_piece_of_work_ends_the_run_and_is_raised(lanes: Run) -> None:
    site = Site()
    site.open.clear()

    def fail(numbers: Sequence[int]) -> None:
        raise MemoryError("the last straw")

    run = lanes(Lane("a", site, threads=1), Lane("b", fail, threads=1))
    for number in range(5):
        run.queue_number("a", number)
    run.queue_number("b", 9)
    run.start()
    with pytest.raises(MemoryError, match="last straw"):
        go_through(run)
    site.open.set()
    assert eventually(lambda: not any(t.name == "lane a" for t in threading.enumerate()))
    assert len(site.numbers) <= 1


_FORTY_THREADS = """
import ctypes, threading
from utils.harvest.lanes import Lane, Lanes

everybody, kept = threading.Barrier(40, timeout=60), []

def work(numbers):
    everybody.wait()
    kept.append(bytes(100_000 + numbers[0]))

lanes = Lanes([Lane("a", work, threads=40)])
for number in range(40):
    lanes.queue_number("a", number)
lanes.start()
while lanes.wait_until_done(0.1):
    pass
ctypes.CDLL(None).malloc_stats()
"""


def test_many_threads_take_their_memory_from_few_heaps() -> None:
    if not hasattr(ctypes.CDLL(None) if os.name == "posix" else None, "malloc_stats"):
        pytest.skip("needs glibc")
    root = Path(__file__).resolve().parents[2]
    told = run([sys.executable, "-c", _FORTY_THREADS], cwd=root, check=True)
    assert 1 <= told.stderr.count("Arena ") <= 2


@pytest.mark.slow
def test_a_batch_waits_for_numbers_that_come_back_within_its_linger(lanes: Run) -> None:
    site = Site()
    run = lanes(Lane("a", site, batch=20, wait_s=3600))
    for number in range(5):
        run.queue_number("a", number, after=30 + number)
    run.queue_number("a", 5)
    run.start()
    go_through(run)
    assert [len(piece) for piece in site.pieces] == [6]
