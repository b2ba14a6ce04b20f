"""The clock on the wall is set back or forward in mid-harvest: nobody waits, and nothing is lost.

Laptops that wake up and machines that hear of the right time do that. The stage clock moves on by
itself all the while, so that waits can be told from jumps.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import examples
from tests.harvest.test_faults import assert_no_lane_is_left, some
from tests.harvests import assert_complete, done, ids_of, library_of
from tests.http.test_leases import HOLDER, ROOT
from tests.processes import Process
from tests.repeats import repeats
from tests.world import Record, World
from utils.http.locks import Leases

pytestmark = pytest.mark.slow

FIELD = 300
HOUR = 3600.0
JUMPS = pytest.mark.parametrize("hours", examples.some([-1, 1, 20, -20], every=2))

Jump = Callable[[float], None]


@pytest.fixture
def jump(monkeypatch: pytest.MonkeyPatch) -> Jump:
    """Set the clock on the wall: so many hours away from the stage clock."""
    stage, away = time.time, [0.0]
    monkeypatch.setattr(time, "time", lambda: stage() + away[0])

    def to(hours: float) -> None:
        away[0] = hours * HOUR

    return to


@pytest.fixture
def elapsed() -> Callable[[], float]:
    """Seconds on the stage clock, which nobody sets."""
    stage = time.time
    began = stage()
    return lambda: stage() - began


@pytest.fixture
def records(field: World) -> list[Record]:
    """Papers of many sites, some of which tell us to stay away for a while."""
    field.mood("storm", "europepmc", times=4, seconds=20)
    field.mood("storm_date", "eutils", times=1, seconds=30)
    field.mood("storm_date", "publisher", times=3, seconds=40)
    branches = ("pmc_cloud", "europepmc_only", "publisher_html", "unpaywall_html", "paywall")
    return [record for branch in branches for record in some(field, branch, most=5)]


@JUMPS
def test_in_mid_harvest_nothing_is_lost_doubled_or_waited_for(
    field: World, tmp_path: Path, records: list[Record], elapsed, jump: Jump, hours: float
) -> None:
    library = library_of(field, tmp_path)
    harvest = library.harvest(map(ids_of, records))
    for progress in harvest:
        if progress.job.counts.pending < len(records):
            jump(hours)
        if progress.job.counts.pending < len(records) / 2:
            jump(0)  # and right again
    assert elapsed() < HOUR / 2
    assert not repeats(field.requests)
    assert_complete(library, harvest, records)


@JUMPS
def test_a_clock_that_is_wrong_from_the_beginning_is_nobodys_wait(
    field: World, tmp_path: Path, records: list[Record], elapsed, jump: Jump, hours: float
) -> None:
    library = library_of(field, tmp_path)
    jump(hours)
    done(library.harvest(map(ids_of, records)))
    jump(0)
    harvest = library.harvest(map(ids_of, records))
    done(harvest)
    assert elapsed() < HOUR / 2
    assert not repeats(field.requests)
    assert_complete(library, harvest, records)


@pytest.mark.parametrize("hours", [-1, 1])
def test_between_two_parts_of_a_harvest_no_answer_is_asked_for_again(
    field: World, tmp_path: Path, records: list[Record], elapsed, jump: Jump, hours: float
) -> None:
    first = library_of(field, tmp_path)
    begun = iter(first.harvest(map(ids_of, records)))
    for progress in begun:
        if progress.job.counts.pending < len(records) - 3:
            break
    begun.close()  # type: ignore[attr-defined]
    assert_no_lane_is_left()
    first.shelf.close()
    jump(hours)
    second = library_of(field, tmp_path)
    harvest = second.harvest(map(ids_of, records))
    done(harvest)
    assert elapsed() < HOUR / 2
    assert not repeats(field.requests)
    assert_complete(second, harvest, records)


@JUMPS
def test_a_second_try_is_as_good_under_another_clock(
    field: World, tmp_path: Path, elapsed, jump: Jump, hours: float
) -> None:
    own = some(field, "europepmc_only", most=4)
    library = library_of(field, tmp_path)
    field.mood("down", "europepmc", times=None)
    done(library.harvest(map(ids_of, own)))
    field.calm()
    jump(hours)
    harvest = library.harvest(map(ids_of, own), retry="unreachable")
    jump(0)
    done(harvest)
    assert elapsed() < HOUR / 2
    assert_complete(library, harvest, own)


@JUMPS
def test_what_another_process_holds_it_holds_by_no_clock(
    tmp_path: Path, jump: Jump, hours: float
) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "leases"), "paper"]
    pipe = subprocess.PIPE
    with Process(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as holder:
        assert holder.stdout
        assert holder.stdout.readline()
        jump(hours)
        ours = Leases(tmp_path / "leases")
        assert ours.take_free_leases({"paper", "other"}) == {"other"}
        holder.end()
        assert ours.take_free_leases({"paper"}) == {"paper"}
