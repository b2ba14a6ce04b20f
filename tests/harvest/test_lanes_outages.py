"""Sites that are out are left alone, and tried again by one paper at a time."""

import time

import pytest

from utils.harvest.lanes import Outages

SITE = ("europepmc", "")


@pytest.fixture
def out() -> Outages:
    """A site that failed three times in a row."""
    outages = Outages()
    for _ in range(3):
        outages.record_failure(*SITE)
    return outages


def test_one_failure_may_be_the_papers() -> None:
    outages = Outages()
    outages.record_failure(*SITE)
    outages.record_failure(*SITE)
    assert outages.can_ask_now(*SITE)
    assert outages.get_seconds_away(*SITE) == 0


def test_an_answer_in_between_begins_the_count_anew() -> None:
    outages = Outages()
    for _ in range(5):
        outages.record_failure(*SITE)
        outages.record_failure(*SITE)
        outages.record_answer(*SITE)
    assert outages.can_ask_now(*SITE)


def test_three_in_a_row_are_the_sites(out: Outages) -> None:
    assert not out.can_ask_now(*SITE)
    assert 25 < out.get_seconds_away(*SITE) <= 30


def test_only_that_site_is_out(out: Outages) -> None:
    assert out.can_ask_now("pmc_cloud", "")
    for _ in range(3):
        out.record_failure("publisher", "10.1000")
    assert not out.can_ask_now("publisher", "10.1000")
    assert out.can_ask_now("publisher", "10.2000")


def test_a_service_that_is_out_is_out_for_every_host() -> None:
    outages = Outages()
    for _ in range(3):
        outages.record_failure("publisher", "")
    assert not outages.can_ask_now("publisher", "10.1000")
    assert 25 < outages.get_seconds_away("publisher", "10.2000") <= 30
    time.sleep(31)
    assert outages.can_ask_now("publisher", "10.1000")
    assert not outages.can_ask_now("publisher", "10.2000")
    assert outages.can_recover_soon("publisher", "10.2000")


@pytest.mark.parametrize("word", ["record_answer", "record_failure"])
def test_whatever_a_host_says_the_service_that_led_there_is_back(word: str) -> None:
    outages = Outages()
    for _ in range(3):
        outages.record_failure("publisher", "")
    getattr(outages, word)("publisher", "10.1000")
    assert outages.can_ask_now("publisher", "10.2000")


def test_a_site_that_names_a_time_is_believed_at_once() -> None:
    outages = Outages()
    outages.record_failure(*SITE, stay_away_s=3600)
    assert not outages.can_ask_now(*SITE)
    time.sleep(3500)
    assert not outages.can_ask_now(*SITE)
    time.sleep(101)
    assert outages.can_ask_now(*SITE)


def test_after_the_pause_one_is_let_through_and_the_others_wait_for_him(out: Outages) -> None:
    time.sleep(31)
    assert out.get_seconds_away(*SITE) == 0
    assert out.can_ask_now(*SITE)
    assert not out.can_ask_now(*SITE)
    assert out.get_seconds_away(*SITE) > 0


def test_he_who_was_let_through_speaks_for_the_site(out: Outages) -> None:
    time.sleep(31)
    assert out.can_ask_now(*SITE)
    out.record_failure(*SITE)
    assert not out.can_ask_now(*SITE)
    time.sleep(31)
    assert out.can_ask_now(*SITE)
    out.record_answer(*SITE)
    assert out.get_seconds_away(*SITE) == 0
    assert all(out.can_ask_now(*SITE) for _ in range(10))


def test_after_a_few_trials_in_vain_there_is_little_hope(out: Outages) -> None:
    for _ in range(4):
        assert out.can_recover_soon(*SITE)
        time.sleep(31)
        assert out.can_ask_now(*SITE)
        out.record_failure(*SITE)
    assert not out.can_recover_soon(*SITE)


@pytest.mark.parametrize(
    ("told_s", "times", "too_long"), [(1400, 2, False), (1400, 3, True), (3590, 1, True)]
)
def test_a_site_is_not_waited_for_an_hour_in_all(told_s: float, times: int, too_long: bool) -> None:
    outages = Outages()
    for _ in range(times):
        outages.record_failure(*SITE, stay_away_s=told_s)
        time.sleep(told_s)
    assert outages.is_away_too_long(*SITE) == too_long
    assert not Outages().is_away_too_long(*SITE)


def test_he_who_never_comes_back_is_followed_by_another(out: Outages) -> None:
    time.sleep(31)
    assert out.can_ask_now(*SITE)
    time.sleep(31)
    assert out.can_ask_now(*SITE)


def test_a_clock_set_back_keeps_nobody_out(out: Outages, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = time.time
    monkeypatch.setattr(time, "time", lambda: stage() - 86_400)
    assert out.get_seconds_away(*SITE) <= 30
    time.sleep(31)
    assert out.can_ask_now(*SITE)
