"""The interval between two requests grows while a site struggles, and shrinks again by itself."""

import random
import sqlite3
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from utils.http import Rate, RateLimiter
from utils.http.retry import Throttle
from utils.settings import Settings

DOI, EVERY = "https://doi.org/10.1/x", 1.0


def pace_of() -> RateLimiter:
    settings = Settings()
    return RateLimiter(settings.papers_pace_dir, settings, [Rate("doi", ("doi",), EVERY)])


@pytest.fixture
def limiter() -> RateLimiter:
    return pace_of()


@pytest.fixture(autouse=True)
def _answers_take_stage_time(monkeypatch: pytest.MonkeyPatch, clock: object) -> None:
    monkeypatch.setattr("utils.http.rate_limiter.time.monotonic", time.time)


def ask(limiter: RateLimiter, times: int, seconds: float = 0.0) -> list[float]:
    """The distances at which requests leave whose answers take so many seconds."""
    left = []
    for _ in range(times):
        with limiter.wait_for_turn(DOI):
            left.append(time.time())
            if seconds:
                time.sleep(seconds)
    return [later - earlier for earlier, later in pairwise(left)]


def test_refused_again_and_again_it_doubles_each_time_and_comes_back_slowly(limiter: RateLimiter):
    ask(limiter, 2)
    for _ in range(3):
        limiter.record_rejection(DOI)
        time.sleep(40)
    assert limiter.list_slowdowns() == {"doi": 8.0}
    gaps = ask(limiter, 200)
    assert 7.5 < gaps[1] < 8.2
    assert all(later <= earlier + 0.06 for earlier, later in pairwise(gaps))  # never faster down
    assert gaps[20] > 6.5
    assert gaps[-1] == pytest.approx(EVERY, abs=0.06)
    assert limiter.list_slowdowns() == {}


def test_those_under_way_when_the_first_was_refused_count_once(limiter: RateLimiter):
    for _ in range(4):
        limiter.record_rejection(DOI, 10)
    assert limiter.list_slowdowns() == {"doi": 2.0}


def test_no_site_is_slowed_without_end(limiter: RateLimiter):
    for _ in range(12):
        limiter.record_rejection(DOI)
        time.sleep(40)
    assert limiter.list_slowdowns() == {"doi": 16.0}


def test_where_answers_take_far_longer_than_they_used_to_the_interval_grows(limiter: RateLimiter):
    ask(limiter, 30, 0.5)
    assert limiter.list_slowdowns() == {}
    ask(limiter, 10, 6.0)
    assert limiter.list_slowdowns()["doi"] > 1.4
    assert ask(limiter, 3, 0.5)[0] > 1.4 * EVERY
    ask(limiter, 60, 0.5)
    assert limiter.list_slowdowns() == {}


@pytest.mark.parametrize("usual", [0.3, 8.0])
def test_what_was_always_slow_and_one_slow_answer_are_no_news(limiter: RateLimiter, usual: float):
    ask(limiter, 20, usual)
    ask(limiter, 1, 100.0)
    ask(limiter, 20, usual)
    assert limiter.list_slowdowns() == {}


def test_it_is_never_faster_than_published(limiter: RateLimiter):
    assert min(ask(limiter, 100)) >= EVERY


def test_another_process_hears_of_it(limiter: RateLimiter):
    limiter.record_rejection(DOI, 1)
    time.sleep(2)
    assert pace_of().list_slowdowns() == {"doi": 2.0}
    gaps = ask(pace_of(), 3)
    assert min(gaps) > 1.8


def test_what_was_an_hour_ago_says_nothing_about_today(limiter: RateLimiter):
    limiter.record_rejection(DOI)
    time.sleep(3601)
    assert limiter.list_slowdowns() == {}
    assert ask(limiter, 3)[-1] < 1.1


def test_an_answer_costs_no_transaction_of_its_own(limiter: RateLimiter, monkeypatch):
    begun, connect = [], sqlite3.connect

    def traced(*args: object, **options: object) -> sqlite3.Connection:
        db = connect(*args, **options)
        db.set_trace_callback(lambda said: begun.append(said) if "BEGIN" in said else None)
        return db

    ask(limiter, 1)
    monkeypatch.setattr(sqlite3, "connect", traced)
    ask(limiter, 10)
    assert len(begun) == 20


def test_a_file_of_an_older_version_is_kept_and_still_serves_it(tmp_path: Path):
    file = tmp_path / "pace" / "pace.sqlite"
    file.parent.mkdir()
    old = """CREATE TABLE turns (bucket TEXT PRIMARY KEY, free REAL, left REAL, held REAL,
        penalty REAL, seen REAL)"""
    with sqlite3.connect(file) as db:
        db.execute(old)
        now = time.time()
        row = ("doi", now, now, now + 20, 0.0, now)
        db.execute("INSERT INTO turns VALUES (?, ?, ?, ?, ?, ?)", row)
    limiter = pace_of()
    assert limiter.list_slowdowns() == {}
    ask(limiter, 1)
    assert time.time() - now >= 20
    with sqlite3.connect(file) as db:
        db.execute("INSERT OR REPLACE INTO turns VALUES (?, ?, ?, ?, ?, ?)", row)


def test_a_tempo_grows_by_steps_and_stays_between_its_bounds():
    throttle = Throttle()
    for _ in range(9):
        throttle.record_refusal(now=0.0)
    assert throttle.factor == 16
    for _ in range(1000):
        throttle.record_answer(0.1, now=0.0)
    assert throttle.factor == 1


def served(
    throttle: Throttle, refuses: Callable[[float], bool], calls: int
) -> list[tuple[float, bool]]:
    """The factor of each call, and whether the call was refused."""
    told = []
    for now in range(calls):
        factor = throttle.factor
        told.append((factor, refuses(factor)))
        if told[-1][1]:
            throttle.record_refusal(now)
        else:
            throttle.record_answer(0.2, now)
    return told


@pytest.mark.parametrize("share", [1 / 6, 0.3, 0.5])
def test_a_site_that_refuses_however_slowly_it_is_asked_is_asked_at_its_published_rate(
    share: float,
):
    """The useful rate is the share of answers over the interval: highest at the factor 1."""
    throws, throttle = random.Random(7), Throttle()
    told = served(throttle, lambda _factor: throws.random() < share, 600)
    assert max(factor for factor, _ in told) > 2  # slowing down was tried
    assert sum(factor for factor, _ in told[300:]) / 300 < 1.5


@pytest.mark.parametrize("limit", [0.5, 0.25, 0.1])
def test_a_site_that_refuses_because_of_our_rate_is_asked_as_slowly_as_it_takes(limit: float):
    """It serves so many calls an interval, and refuses the others."""
    allowance = 1.0

    def refuses(factor: float) -> bool:
        nonlocal allowance
        allowance = min(1.0, allowance + factor * limit)
        if served_now := allowance >= 1.0 - 1e-9:
            allowance -= 1.0
        return not served_now

    told = served(Throttle(), refuses, 800)[400:]
    assert sum(refused for _, refused in told) < 0.05 * len(told)
    assert sum(factor for factor, _ in told) / len(told) < 2 / limit
