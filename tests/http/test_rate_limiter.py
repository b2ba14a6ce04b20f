"""Turns, on the stage clock."""

import logging
import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest

from utils.errors import Unreachable
from utils.http import Rate, RateLimiter
from utils.settings import Settings
from utils.sources.eutils import RATE
from utils.sources.semantic_scholar_graph import RATE as SCHOLAR_RATE
from utils.system.sqlite import open_file_transaction

NCBI = RATE  # the real one: what it promises is promised here
ARXIV = Rate("arxiv", ("arxiv",), 3.0, in_flight=1, backoff=60.0, hosts=("arxiv.org",))
LISTS = Rate("doi lists", ("doi",), 1.0, paths=("/lists",))
RATES = [NCBI, ARXIV, Rate("doi", ("doi",), 0.1), LISTS, SCHOLAR_RATE]
SCHOLAR = "https://api.semanticscholar.org/graph/v1/paper/batch"
EUTILS = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/efetch.fcgi"
IDCONV = "https://pmc.ncbi.nlm.nih.gov/tools/idconv/api/v1/articles/"
DOI = "https://doi.org/10.1/x"


def pace_of(**settings) -> RateLimiter:
    made = Settings(**settings)
    return RateLimiter(made.papers_pace_dir, made, RATES)


@pytest.fixture
def limiter() -> RateLimiter:
    return pace_of()


def leave(limiter: RateLimiter, url: str, times: int = 1) -> list[float]:
    """When each turn left by the pace's own book: our clock reads later, by as much as we wait."""
    left = []
    for _ in range(times):
        with (
            limiter.wait_for_turn(url),
            limiter._open_state(limiter._build_row_name(limiter._find_rate(url))) as (row, _now),
        ):
            left.append(row.left)
    return left


def gaps(left: list[float]) -> list[float]:
    return [later - earlier for earlier, later in pairwise(left)]


@pytest.mark.parametrize(
    ("url", "bucket"),
    [
        (EUTILS, "ncbi"),
        (IDCONV, "ncbi"),
        (EUTILS.replace("https", "http"), "ncbi"),
        ("https://EUTILS.ncbi.nlm.nih.gov:443/entrez/eutils?db=pmc", "ncbi"),
        ("https://eutils.ncbi.nlm.nih.gov/entrez/eutilsx", "eutils.ncbi.nlm.nih.gov"),
        ("https://pmc.ncbi.nlm.nih.gov/articles/PMC1/", "pmc.ncbi.nlm.nih.gov"),
        ("https://export.arxiv.org/pdf/1", "arxiv"),
        ("https://www.arxiv.org/pdf/1", "arxiv"),
        ("https://notarxiv.org/pdf/1", "notarxiv.org"),
        ("https://doi.org/lists?rows=5", "doi lists"),
        ("https://doi.org/lists/1", "doi"),
        ("https://Publisher.org:8443/x", "publisher.org:8443"),
    ],
)
def test_the_bucket_is_the_very_path_the_longest_base_url_or_the_host(
    limiter: RateLimiter, url: str, bucket: str
):
    assert limiter.find_bucket(url) == bucket


def test_of_two_base_urls_on_one_host_the_longer_one_counts():
    base = "http://127.0.0.1:8000"
    limiter = pace_of(doi_base_url=base, eutils_base_url=base + "/eutils")
    assert limiter.find_bucket(base + "/eutils/esearch.fcgi") == "ncbi"
    assert limiter.find_bucket(base + "/10.1/x") == "doi"


@pytest.mark.parametrize(
    ("settings", "least"),
    [
        ({}, 0.4),
        ({"ncbi_api_key": "k"}, 0.11),
        ({"ncbi_request_delay_ms": 0}, 0.36),
        ({"ncbi_request_delay_ms": 0, "ncbi_api_key": "k"}, 0.11),
        ({"ncbi_request_delay_ms": 500}, 0.5),
        ({"ncbi_request_delay_ms": 500, "ncbi_api_key": "k"}, 0.5),
    ],
)
def test_ncbi_is_never_asked_faster_than_it_allows(settings, least: float, clock):
    between = gaps(leave(pace_of(**settings), EUTILS, 6))
    assert min(between) >= least
    assert max(clock.naps) <= 1.2 * least  # and no slower than it must: jitter is a tenth


def test_sites_that_count_together_wait_for_each_other(limiter: RateLimiter, clock):
    leave(limiter, EUTILS)
    leave(limiter, IDCONV)
    assert sum(clock.naps) >= 0.35


def test_sites_that_do_not_are_asked_at_once(limiter: RateLimiter, clock):
    for url in (EUTILS, DOI, "https://a.org/", "https://b.org/"):
        leave(limiter, url)
    assert sum(clock.naps) == 0


def test_an_unknown_host_is_asked_once_a_second(limiter: RateLimiter, clock):
    assert all(1.0 <= gap <= 1.2 for gap in gaps(leave(limiter, "https://a.org/", 4)))


def test_another_shelf_shares_the_pace_and_another_key_does_not(tmp_path: Path, clock):
    leave(pace_of(papers_dir=tmp_path / "one"), EUTILS)
    leave(pace_of(papers_dir=tmp_path / "two"), EUTILS)
    assert sum(clock.naps) > 0.3
    clock.naps.clear()
    leave(pace_of(ncbi_api_key="mine"), EUTILS)
    assert clock.naps == []


def test_the_key_itself_is_written_nowhere(tmp_path: Path):
    leave(pace_of(ncbi_api_key="s3cret-key"), EUTILS)
    assert b"s3cret" not in (tmp_path / "pace" / "pace.sqlite").read_bytes()


def test_who_would_wait_more_than_a_minute_books_nothing(limiter: RateLimiter, clock):
    limiter.start_cooldown(DOI, 61)
    for _ in range(3):
        with pytest.raises(Unreachable, match=r"next turn at doi is 6[01] s away") as caught:
            leave(limiter, DOI)
        assert 60 < caught.value.retry_after <= 61
    time.sleep(2)
    leave(limiter, DOI)
    assert sum(clock.naps) < 63


def test_a_hold_reaches_those_who_booked_before_it(limiter: RateLimiter):
    limiter._reserve_turn("doi", 30.0)
    limiter.start_cooldown(DOI, 20)
    assert limiter._confirm_turn("doi", 30.0) == pytest.approx(20, abs=0.5)


def test_a_shorter_hold_does_not_shorten_a_longer_one(limiter: RateLimiter):
    limiter.start_cooldown(DOI, 50)
    limiter.start_cooldown(DOI, 5)
    begun = time.time()
    leave(limiter, DOI)
    assert time.time() - begun >= 49.9


def test_no_hold_is_longer_than_a_day(limiter: RateLimiter):
    limiter.start_cooldown(DOI, 1e12)
    time.sleep(86401)
    leave(limiter, DOI)


def test_a_process_that_woke_late_is_not_followed_too_closely(limiter: RateLimiter):
    """Three booked 1 s apart; the first leaves 0.9 s late."""
    waits = [limiter._reserve_turn("doi", 1.0) for _ in range(3)]
    assert waits[2] >= 2.0
    time.sleep(0.9)
    assert limiter._confirm_turn("doi", 1.0) <= 0
    time.sleep(waits[1] - 0.9)
    assert limiter._confirm_turn("doi", 1.0) > 0.5


def test_a_clock_set_back_costs_no_wait(limiter: RateLimiter, monkeypatch, clock):
    leave(limiter, DOI)
    real = clock.time
    monkeypatch.setattr(time, "time", lambda: real() - 7200)
    left = leave(limiter, DOI, 3)
    assert sum(clock.naps) < 0.5
    assert min(gaps(left)) >= 0.1


def test_a_clock_set_back_keeps_a_hold_as_long_as_it_was(limiter: RateLimiter, monkeypatch, clock):
    limiter.start_cooldown(DOI, 30)
    real = clock.time
    monkeypatch.setattr(time, "time", lambda: real() - 7200)
    leave(limiter, DOI)
    assert sum(clock.naps) == pytest.approx(30, abs=1)


def test_penalties_double_while_the_site_keeps_refusing(limiter: RateLimiter):
    url = "https://export.arxiv.org/api/query"
    assert limiter.record_rejection(url) == 60
    assert limiter.record_rejection(url) == pytest.approx(
        60, abs=1
    )  # was under way when the first came
    time.sleep(61)
    assert limiter.record_rejection(url) == 120
    time.sleep(121)
    assert limiter.record_rejection(url) == 240
    time.sleep(240 + 241)
    assert limiter.record_rejection(url) == 60


def test_most_sites_have_a_brief_pause_that_nobody_is_told_of(limiter: RateLimiter, clock):
    assert limiter.record_rejection(DOI) == 0
    leave(limiter, DOI)
    assert sum(clock.naps) == pytest.approx(1, abs=0.1)
    for _ in range(9):
        with limiter.wait_for_turn(DOI):
            limiter.record_rejection(DOI)
    assert max(clock.naps) == pytest.approx(30, abs=0.1)


def test_an_answer_ends_the_doubling(limiter: RateLimiter):
    url, limiter.longest = "https://export.arxiv.org/api/query", 3600.0
    for pause in (60, 120):
        with limiter.wait_for_turn(url):
            assert limiter.record_rejection(url) == pause
    leave(limiter, url)
    with limiter.wait_for_turn(url):
        assert limiter.record_rejection(url) == 60


@pytest.mark.parametrize(
    ("key", "pauses", "factor"),
    [
        ("", [2, 3, 5, 8, 13, 21, 34, 54, 86], 4.0),
        ("k", [2, 4, 8, 16, 32, 64, 128, 256, 512], 16.0),
    ],
    ids=["shared pool", "own key"],
)
def test_a_shared_pool_is_left_alone_and_slowed_less_than_an_allowance_of_ones_own(
    key: str, pauses: list[int], factor: float
):
    limiter = pace_of(semantic_scholar_api_key=key)
    limiter.longest = 3600.0
    told = []
    for _ in pauses:
        with limiter.wait_for_turn(SCHOLAR):
            told.append(round(limiter.record_rejection(SCHOLAR)))
    assert told == pauses
    assert limiter.list_slowdowns() == {"semantic_scholar": factor}


def test_where_only_one_may_ask_the_next_waits_for_the_answer(limiter: RateLimiter):
    url = "https://export.arxiv.org/pdf/1"
    inside: list[str] = []
    second = pace_of()

    def ask() -> None:
        with second.wait_for_turn(url):
            inside.append("second")

    with limiter.wait_for_turn(url):
        other = threading.Thread(target=ask)
        other.start()
        other.join(0.3)
        inside.append("first")
    other.join()
    assert inside == ["first", "second"]


def test_where_only_one_may_ask_nobody_queues_for_ever(limiter: RateLimiter):
    url = "https://export.arxiv.org/pdf/1"
    second = pace_of()
    second.longest = 0.05
    with limiter.wait_for_turn(url):
        time.sleep(10)
        with pytest.raises(Unreachable, match="next turn at arxiv"):
            leave(second, url)
    time.sleep(10)
    leave(second, url)


def test_a_failed_request_ends_its_turn(limiter: RateLimiter):
    url = "https://export.arxiv.org/pdf/1"
    with pytest.raises(KeyError), limiter.wait_for_turn(url):
        raise KeyError
    leave(limiter, url)


def test_folders_are_made_on_first_use_for_their_owner_only(tmp_path: Path):
    limiter = pace_of(papers_pace_dir=tmp_path / "a" / "pace")
    assert not (tmp_path / "a").exists()
    leave(limiter, DOI)
    assert (tmp_path / "a" / "pace").stat().st_mode & 0o777 == 0o700


def test_where_the_folder_cannot_be_made_the_shelf_keeps_the_pace(tmp_path: Path, clock):
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    settings = {"papers_pace_dir": tmp_path / "file" / "pace", "papers_dir": tmp_path / "shelf"}
    for _ in range(2):
        leave(pace_of(**settings), EUTILS)
    assert (tmp_path / "shelf" / ".papershelf" / "pace" / "pace.sqlite").exists()
    assert sum(clock.naps) > 0.3


def test_where_nothing_can_be_written_a_process_still_paces_itself(
    tmp_path: Path, clock, caplog, monkeypatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    caplog.set_level(logging.WARNING)
    limiter = pace_of(papers_pace_dir=tmp_path / "file" / "p", papers_dir=tmp_path / "file" / "q")
    leave(limiter, EUTILS, 2)
    assert sum(clock.naps) > 0.3
    assert "cannot share their rate limits" in caplog.text


@pytest.mark.parametrize("when", ["before", "between"])
def test_a_damaged_file_is_set_aside(limiter: RateLimiter, tmp_path: Path, when: str):
    if when == "between":
        leave(limiter, DOI)
    (tmp_path / "pace").mkdir(exist_ok=True)
    (tmp_path / "pace" / "pace.sqlite").write_bytes(b"this is no database " * 999)
    if when == "between":
        with pytest.raises(Unreachable, match="rate limits"):  # asked again, as every trouble is
            leave(limiter, DOI)
    leave(limiter, DOI)
    assert (tmp_path / "pace" / "pace.damaged").exists()


def test_a_folder_that_was_removed_is_made_again(limiter: RateLimiter, tmp_path: Path):
    import shutil

    leave(limiter, DOI)
    shutil.rmtree(tmp_path / "pace")
    with pytest.raises(Unreachable):
        leave(limiter, DOI)
    leave(limiter, DOI)


def test_a_booking_that_failed_leaves_no_lock(limiter: RateLimiter, tmp_path: Path):
    limiter.start_cooldown(DOI, 100)
    with pytest.raises(Unreachable):
        leave(limiter, DOI)
    with open_file_transaction(tmp_path / "pace" / "pace.sqlite", (), patience_s=0) as db:
        assert db.execute("SELECT count(*) FROM turns").fetchone() == (1,)
