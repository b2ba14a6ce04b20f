"""Never more requests under way than a site allows, whoever asks; and none after a refusal."""

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.http.conftest import Site, Visit
from tests.processes import Process, eventually
from utils.errors import Unreachable
from utils.http import Rate, RateLimiter
from utils.http.locks import Slots, get_slots
from utils.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
CAP, THREADS, PROCESSES = 3, 6, 3
CHILD = """
import sys, threading
from pathlib import Path
from utils.errors import Unreachable
from utils.settings import Settings
from utils.http import Rate, Web

url, shelf, pace, threads = sys.argv[1:]
settings = Settings(
    papers_dir=Path(shelf), papers_pace_dir=Path(pace), doi_base_url=url
)
web = Web(settings, [Rate("doi", ("doi",), 0.01, in_flight=3)])
told = []

def ask():
    try:
        told.append(web.get(url + "/page").status)
    except Unreachable as error:
        told.append(error.details.get("status", 0))

asking = [threading.Thread(target=ask) for _ in range(int(threads))]
for thread in asking:
    thread.start()
for thread in asking:
    thread.join()
print(len(told), flush=True)
"""
HOLDER = """
import sys
from utils.http.locks import Slots

with Slots(sys.argv[1]).hold_slot("site", 1, 5):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "slots.lock")


def children(site: Site, folder: Path) -> list[Process]:
    return [
        Process(
            [sys.executable, "-c", CHILD, site.url, folder / str(n), folder / "pace", str(THREADS)],
            cwd=ROOT,
        )
        for n in range(PROCESSES)
    ]


class Crowd:
    """Counts who is inside; nobody leaves before as many are in as are allowed."""

    def __init__(self, most: int) -> None:
        self.most, self.inside, self.peak = most, 0, 0
        self.lock, self.full = threading.Lock(), threading.Event()

    def answer(self, visit: Visit) -> None:
        with self.lock:
            self.inside += 1
            self.peak = max(self.peak, self.inside)
            if self.inside >= self.most:
                self.full.set()
        self.full.wait(20)
        threading.Event().wait(0.02)  # whoever may not be here has time to come
        with self.lock:
            self.inside -= 1
        visit.reply(b"ok")


@pytest.mark.slow
def test_over_threads_and_processes_no_more_are_under_way_than_may_be(
    site: Site, tmp_path: Path
) -> None:
    crowd = Crowd(CAP)
    site.on("/page", crowd.answer)
    assert [child.wait() for child in children(site, tmp_path)] == [0] * PROCESSES
    assert len(site.visits) == THREADS * PROCESSES
    assert crowd.peak == CAP


@pytest.mark.slow
def test_after_a_refusal_nothing_leaves_that_was_queued_or_asleep_anywhere(
    site: Site, tmp_path: Path
) -> None:
    everyone = threading.Event()

    def refuse(visit: Visit) -> None:
        everyone.wait(20)
        visit.reply(b"enough", 429, Retry_After="300")

    site.on("/page", refuse)
    asking = children(site, tmp_path)
    assert eventually(lambda: len(site.visits) == CAP)
    threading.Event().wait(0.2)  # the others have booked by now, and wait for a slot
    everyone.set()
    assert [child.wait() for child in asking] == [0] * PROCESSES
    assert len(site.visits) == CAP  # those under way when the first was refused


def test_a_killed_process_holds_no_slot(path: str) -> None:
    holder = Process([sys.executable, "-c", HOLDER, path], cwd=ROOT, stdin=-1, stdout=-1)
    assert holder.stdout.readline().strip() == b"held"
    slots = Slots(path)
    with pytest.raises(TimeoutError), slots.hold_slot("site", 1, 0.05):
        pass
    holder.kill()
    holder.wait()
    with slots.hold_slot("site", 1, 5):
        pass


def test_sites_do_not_wait_for_each_other(path: str) -> None:
    slots = Slots(path)
    with (
        slots.hold_slot("a.org", 1, 0),
        slots.hold_slot("b.org", 1, 0),
        slots.hold_slot("c.org", 2, 0),
    ):
        with slots.hold_slot("c.org", 2, 0):
            pass
        with pytest.raises(TimeoutError), slots.hold_slot("a.org", 1, 0.01):
            pass


def test_two_paces_of_one_process_share_the_slots(tmp_path: Path) -> None:
    settings = Settings()
    rates = [Rate("doi", ("doi",), 0.0, in_flight=1)]
    one, other = (
        RateLimiter(settings.papers_pace_dir, settings, rates, longest=0.05) for _ in range(2)
    )
    with (
        one.wait_for_turn("https://doi.org/1"),
        pytest.raises(Unreachable, match="next turn at doi"),
        other.wait_for_turn("https://doi.org/2"),
    ):
        pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_neither_holds_nor_frees_what_its_parent_holds(path: str) -> None:
    def in_child(ask: Callable[[], int]) -> int:
        if (child := os.fork()) == 0:
            os._exit(ask())
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def taken() -> int:
        try:
            with get_slots(path).hold_slot("site", 1, 0.01):
                return 0
        except TimeoutError:
            return 7

    with get_slots(path).hold_slot("site", 1, 0):
        assert in_child(taken) == 7
        assert in_child(taken) == 7  # the first child's end freed nothing
    assert in_child(taken) == 0


def test_a_file_that_was_taken_away_is_made_again(path: str) -> None:
    ours, another = Slots(path), Slots(path)
    with ours.hold_slot("site", 1, 0):
        pass
    Path(path).unlink()
    with ours.hold_slot("site", 1, 0):
        assert Path(path).exists()
    with another.hold_slot("site", 1, 0):
        pass


def test_where_nothing_can_be_locked_a_process_still_counts_its_own(
    path: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def unable(*_: object) -> bool:
        raise OSError(37, "No locks available")

    monkeypatch.setattr("utils.http.locks._lock_byte", unable)
    slots = Slots(path)
    for _ in range(3):
        with (
            slots.hold_slot("site", 1, 0),
            pytest.raises(TimeoutError),
            slots.hold_slot("site", 1, 0.01),
        ):
            pass
    assert caplog.text.count("No locks available") == 1
