"""Whoever waits for a piece of work learns how long a site keeps it."""

import threading
import time
from contextvars import copy_context

import pytest

from utils.errors import Unreachable
from utils.http import Cooldown, Rate, RateLimiter
from utils.settings import Settings

HERE, THERE = "https://doi.org/10.1/x", "https://elsewhere.org/x"


@pytest.fixture
def limiter() -> RateLimiter:
    made = Settings()
    return RateLimiter(made.papers_pace_dir, made, [Rate("doi", ("doi",), 0.01)])


def ask(limiter: RateLimiter, url: str) -> None:
    with limiter.wait_for_turn(url):
        pass


def test_nothing_is_held_until_a_site_says_so(limiter: RateLimiter):
    hold = Cooldown()
    hold.run(lambda: ask(limiter, HERE))
    assert hold.get_seconds_left() == 0


def test_the_wait_a_site_asked_for_is_known_while_it_lasts(limiter: RateLimiter):
    hold = Cooldown()
    hold.run(lambda: limiter.start_cooldown(HERE, 45))
    assert 44 < hold.get_seconds_left() <= 45


def test_a_wait_that_somebody_else_was_told_of_counts_too(limiter: RateLimiter, monkeypatch):
    limiter.start_cooldown(HERE, 45)
    hold, left = Cooldown(), []
    sleep = time.sleep
    monkeypatch.setattr(time, "sleep", lambda s: (left.append(hold.get_seconds_left()), sleep(s)))
    hold.run(lambda: ask(limiter, HERE))
    assert 43 < left[0] <= 45  # while it waited
    assert hold.get_seconds_left() == 0  # after its turn


def test_work_at_one_site_is_not_held_by_another(limiter: RateLimiter):
    hold, other = Cooldown(), Cooldown()
    other.run(lambda: limiter.start_cooldown(THERE, 45))
    hold.run(lambda: (limiter.start_cooldown(THERE, 45), ask(limiter, HERE)))
    assert hold.get_seconds_left() == 0
    assert other.get_seconds_left() > 0


def test_outside_of_the_work_nobody_listens(limiter: RateLimiter):
    hold = Cooldown()
    hold.run(lambda: None)
    limiter.start_cooldown(HERE, 45)
    assert hold.get_seconds_left() == 0


def test_threads_given_the_context_count(limiter: RateLimiter):
    hold = Cooldown()

    def work() -> None:
        thread = threading.Thread(
            target=copy_context().run, args=(limiter.start_cooldown, HERE, 45)
        )
        thread.start()
        thread.join()

    hold.run(work)
    assert hold.get_seconds_left() > 0


def test_a_turn_that_is_too_far_away_says_when_to_come_back(limiter: RateLimiter):
    limiter.start_cooldown(HERE, 90)
    with pytest.raises(Unreachable, match=r"Try again in (89|90) s"):
        ask(limiter, HERE)
