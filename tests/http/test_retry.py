from __future__ import annotations

import time
from email.utils import formatdate
from itertools import islice

import pytest

from utils.errors import NotAvailable, Unreachable
from utils.http.retry import generate_pauses, parse_retry_after, retry_if_unreachable


def test_retry_after_is_read_as_seconds_or_as_a_date() -> None:
    assert parse_retry_after("120") == 120
    assert parse_retry_after(formatdate(time.time() + 30, usegmt=True)) == pytest.approx(
        30, abs=1.5
    )


@pytest.mark.parametrize("value", [None, "", "soon", "-5", "nan", "inf", "1e999", "9" * 400])
def test_a_retry_after_that_means_nothing_is_no_wait(value: str | None) -> None:
    assert parse_retry_after(value) == 0


def test_pauses_double_and_jitter_only_adds() -> None:
    pauses = generate_pauses()
    next(pauses)
    got = [pauses.send(Unreachable("x")) for _ in range(8)]
    least = [1, 2, 4, 8, 16, 30, 30, 30]
    assert all(low <= pause <= 1.2 * low for low, pause in zip(least, got, strict=True))


def test_no_pause_is_shorter_than_the_site_asked_for() -> None:
    pauses = generate_pauses()
    next(pauses)
    assert pauses.send(Unreachable("x", retry_after=17.0)) == 17.0
    assert list(islice(pauses, 0)) == []


def asked(error: Exception, clock_naps: list[float], tries: int = 5) -> int:
    calls = []

    def ask() -> None:
        calls.append(1)
        raise error

    with pytest.raises(type(error)):
        retry_if_unreachable(ask, tries)()
    return len(calls)


def test_it_gives_up_after_so_many_tries_and_never_sleeps_after_the_last(clock) -> None:
    assert asked(Unreachable("down"), clock.naps, tries=3) == 3
    assert len(clock.naps) == 2


def test_a_reset_connection_is_asked_again_at_once_and_is_no_failed_try(clock) -> None:
    reset = Unreachable("broke off", reset=True)
    errors = [reset, reset, Unreachable("down"), reset, Unreachable("down")]
    repeated: list[Exception] = []

    def ask() -> str:
        if errors:
            raise errors.pop(0)
        return "answer"

    assert retry_if_unreachable(ask, 3, repeated.append)() == "answer"
    assert [error.message for error in repeated] == ["down", "down"]  # type: ignore[attr-defined]
    assert len(clock.naps) == 2


def test_a_site_that_only_resets_is_given_up(clock) -> None:
    assert asked(Unreachable("broke off", reset=True), clock.naps, tries=3) == 6
    assert len(clock.naps) == 2


@pytest.mark.parametrize(
    "error",
    [
        Unreachable("come back tomorrow", retry_after=61),
        Unreachable("no such name", lasting=True),
        NotAvailable("gone", status=404),
    ],
)
def test_what_waiting_cannot_help_is_asked_once(error: Exception, clock) -> None:
    assert asked(error, clock.naps) == 1
    assert clock.naps == []
