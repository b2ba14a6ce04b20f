"""Engines: the same results whoever does the work; a job that kills workers is lost alone."""

import os
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.examples import some
from tests.mirror.small_mirror import article, articles, bytes_of, mirror_of, updated, year
from tests.world.pubmed_files import name_of, packed
from utils.errors import BadRequest, StoreFailed
from utils.mirror.engines import MOST_DEATHS, Lost, get_engine

pytestmark = [
    pytest.mark.extras("pyarrow", "duckdb", "distributed"),
    pytest.mark.real_time,
    pytest.mark.slow,
]
# Each with its scheduler.
WAYS = [("here", ""), ("processes", ""), ("dask", "")]
# Dask's dead have a file of their own: `test_dask`.
DEADLY = [("processes", "")]


def squared(number):
    return number * number


def deadly(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def deadly_once(job):
    """Kills its worker where nobody has been before."""
    number, folder = job
    mark = Path(folder) / str(number)
    if number % 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def full(number):
    if number == 2:
        raise StoreFailed("The disk is full.", file="x")
    return number


@pytest.fixture
def work(tmp_path):
    """A function done by an engine: the results."""

    def done(way, function, jobs, workers=2):
        engine, scheduler = way
        return list(get_engine(engine, workers, scheduler, str)(function, jobs))

    return done


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_every_job_is_done_once(work, way):
    assert sorted(work(way, squared, iter(range(12)))) == [n * n for n in range(12)]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_what_a_function_raises_ends_the_run(work, way):
    with pytest.raises(StoreFailed, match="full") as raised:
        work(way, full, range(4))
    assert raised.value.details == {"file": "x"}


@pytest.mark.parametrize("way", DEADLY, ids=str)
def test_a_job_that_kills_its_workers_is_lost_alone(work, way):
    made = work(way, deadly, range(6))
    assert sorted(one for one in made if not isinstance(one, Lost)) == [0, 1, 2, 4, 5]
    [lost] = [one for one in made if isinstance(one, Lost)]
    assert lost.job == 3
    assert "died" in lost.reason


@pytest.mark.parametrize("way", DEADLY, ids=str)
def test_the_work_of_the_dead_is_done_by_others(work, way, tmp_path):
    jobs = [(number, str(tmp_path)) for number in range(6)]
    assert sorted(work(way, deadly_once, jobs)) == list(range(6))


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_jobs_are_taken_as_there_is_room_for_them(tmp_path, way):
    taken = []
    jobs = (taken.append(number) or number for number in range(100))
    results = get_engine(way[0], 1, way[1], str)(squared, jobs)
    next(results)
    assert len(taken) <= 8
    results.close() if hasattr(results, "close") else None


def test_an_engine_that_is_none_is_refused(tmp_path):
    with pytest.raises(BadRequest, match="spark"):
        get_engine("spark", 1, "", str)
    assert MOST_DEATHS > 1


@pytest.fixture
def bulk(world):
    world.bulk = year(files=6)
    world.bulk.updates = {
        name_of(26, 7): packed([article(1, "a"), article(40)], ["2"]),
        name_of(26, 8): packed([article(2, "b")], ["40"]),
        name_of(26, 9): articles(range(50, 60)),
    }
    return world.bulk


def test_results_are_the_same_bytes_for_any_number_of_workers_and_any_engine(world, bulk, tmp_path):
    one = mirror_of(world, tmp_path / "one")
    expected = updated(one).generation.digest
    ways = [("processes", "", 4), ("processes", "", 2), ("dask", "", 2)]
    for engine, scheduler, workers in some(ways):
        other = mirror_of(world, tmp_path / f"{engine}{workers}")
        done = updated(other, engine=engine, scheduler=scheduler, workers=workers)
        assert not done.failed
        assert done.generation.digest == expected
        assert bytes_of(other) == bytes_of(one)


def test_a_dashboard_is_named(world, bulk, tmp_path):
    said = []
    updated(mirror_of(world, tmp_path), engine="dask", workers=1, say=said.append)
    assert said
    assert "dashboard: http" in said[0]


def test_nothing_is_started_where_nothing_is_due(world, bulk, tmp_path, monkeypatch):
    mirror = mirror_of(world, tmp_path)
    updated(mirror)
    never = SimpleNamespace(run=pytest.fail)
    monkeypatch.setattr("utils.mirror.engines.import_module", lambda *_: never)
    assert not updated(mirror, engine="dask").changed
