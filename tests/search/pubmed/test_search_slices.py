"""A search beyond PubMed's 9,999: complete, reconciled, in few requests, and honest in trouble."""

import time
from dataclasses import replace
from datetime import date, timedelta

import pytest

from tests.world import World
from utils import Library
from utils.errors import BadRequest, Unreachable
from utils.search.pubmed.search import _find_split_day, count_by_filter, find_every_pmid
from utils.sources import Query


@pytest.fixture(scope="module")
def _crowded():
    with World(crowd=25_000) as world:
        world.plain = world.entries()  # type: ignore[attr-defined]
        yield world


@pytest.fixture
def crowded(_crowded):
    _crowded.reset()
    _crowded._entries = _crowded.plain
    return _crowded


@pytest.fixture
def web(settings, crowded):
    addresses = {name.lower(): value for name, value in crowded.environment().items()}
    return Library(**{**settings, **addresses}).web


def searches(world):
    return [request for request in world.requests if request.path.endswith("esearch.fcgi")]


def pmids_of(found):
    return [pmid for page in found.pages for pmid in page]


def test_every_hit_of_a_long_search_comes_once(web, crowded):
    found = find_every_pmid(Query("crowd[ti]"), web)
    pmids = pmids_of(found)
    assert found.total == 25_000
    assert len(pmids) == len(set(pmids)) == 25_000
    assert found.effective_query
    assert not found.warnings


def test_a_long_search_takes_few_requests(web, crowded):
    # Two for the counts, and three slices at the least; the rest finds the eight crowded months.
    pmids_of(find_every_pmid(Query("crowd[ti]"), web))
    assert len(searches(crowded)) <= 12


def test_hits_spread_as_pubmed_is_are_cut_where_they_lie(web, crowded):
    years = [1976 + int(50 * (at / 25_000) ** 0.5) for at in range(len(crowded.plain))]
    crowded._entries = [
        replace(entry, entered=f"{year}/{at % 12 + 1:02}/{at % 28 + 1:02}")
        for at, (entry, year) in enumerate(zip(crowded.plain, years, strict=True))
    ]
    assert len(set(pmids_of(find_every_pmid(Query("crowd[ti]"), web)))) == 25_000
    assert len(searches(crowded)) <= 7


def test_a_short_search_is_one_request(web, crowded):
    found = find_every_pmid(
        Query("crowd[ti]", min_date="2023/01", max_date="2023/01", date_type="edat"), web
    )
    assert len(pmids_of(found)) == found.total == 3_100
    assert len(searches(crowded)) == 1


def test_nothing_found_is_an_answer(web, crowded):
    found = find_every_pmid(Query("zzqqx"), web)
    assert (found.total, pmids_of(found)) == (0, [])
    assert any("zzqqx" in warning for warning in found.warnings)


def test_the_users_own_dates_and_types_stay(web, crowded):
    found = find_every_pmid(
        Query("crowd[ti]", min_date="2023/02", max_date="2023/07", date_type="edat"), web
    )
    assert found.total == 18_100
    assert len(set(pmids_of(found))) == 18_100
    assert {r.params["mindate"] for r in searches(crowded)} == {"2023/02"}


def on_one_day(entries, english=0):
    return [
        replace(e, entered="2023/05/05", language=" eng " if at < english else " ger ")
        for at, e in enumerate(entries)
        if e.record.branch == "crowd"
    ][:12_000]


def test_a_day_that_does_not_fit_is_cut_by_questions(web, crowded):
    crowded._entries = [
        replace(entry, types=entry.types if at % 2 else " review ")
        for at, entry in enumerate(on_one_day(crowded.plain))
    ]
    found = find_every_pmid(Query("crowd[ti]"), web)
    assert len(set(pmids_of(found))) == 12_000
    assert not found.warnings


def test_what_a_day_does_not_hand_out_is_told_in_figures(web, crowded):
    crowded._entries = on_one_day(crowded.plain)
    found = find_every_pmid(Query("crowd[ti]"), web)
    assert len(set(pmids_of(found))) == 9_999
    assert any("2023/05/05" in said and "2,001" in said for said in found.warnings)
    assert any("12,000" in said and "9,999" in said for said in found.warnings)


def test_hits_without_an_entrez_date_are_told_in_figures(web, crowded):
    crowded._entries = [
        replace(e, entered="") if at % 500 == 499 else e for at, e in enumerate(crowded.plain)
    ]
    found = find_every_pmid(Query("crowd[ti]"), web)
    lost = 25_000 - len(set(pmids_of(found)))
    assert lost > 0
    assert any("25,000" in said and f"{lost:,} may be missing" in said for said in found.warnings)


def test_a_search_that_finds_nothing_by_entrez_date_is_no_answer(web, crowded):
    crowded._entries = [replace(entry, entered="") for entry in crowded.plain]
    with pytest.raises(Unreachable, match="contradicts itself: 25,000 and 0"):
        pmids_of(find_every_pmid(Query("crowd[ti]"), web))


@pytest.mark.parametrize("mood", ["down", "reset", "garbage", "truncate", "storm"])
def test_a_server_that_dies_in_the_middle_is_no_end_and_asking_again_helps(web, crowded, mood):
    found = find_every_pmid(Query("crowd[ti]"), web)
    assert next(found.pages)
    crowded.mood(mood, "eutils")
    with pytest.raises(Unreachable):
        pmids_of(found)
    crowded.calm()
    time.sleep(3600)
    assert len(pmids_of(find_every_pmid(Query("crowd[ti]"), web))) == 25_000


def test_a_server_that_contradicts_itself_is_not_believed(web, crowded):
    found = find_every_pmid(Query("crowd[ti]"), web)
    assert next(found.pages)
    crowded._entries = crowded.plain[:300]
    with pytest.raises(Unreachable, match="contradicts itself"):
        pmids_of(found)


def test_records_that_come_in_meanwhile_are_taken_and_told(web, crowded):
    found = find_every_pmid(Query("crowd[ti]"), web)
    first = next(found.pages)
    late = [replace(crowded.plain[-1], pmid=str(39_000_000 + at)) for at in range(3)]
    crowded._entries = [*crowded.plain, *late]
    assert len({*first, *pmids_of(found)}) == 25_003
    assert any("25,000" in said and "25,003" in said for said in found.warnings)


def test_a_page_that_is_shorter_than_its_count_is_asked_for_again(web, crowded, monkeypatch):
    monkeypatch.setattr("tests.world.eutils.WALL", 9_000)
    with pytest.raises(Unreachable, match="returned 9,000"):
        find_every_pmid(Query("crowd[ti]"), web)
    assert len(searches(crowded)) > 1


def test_a_query_pubmed_cannot_run_is_not_asked_five_times(web, crowded):
    with pytest.raises(Unreachable, match="could not run the search"):
        find_every_pmid(Query("[]"), web)
    assert len(searches(crowded)) == 1


def test_a_bad_question_is_refused_without_a_request(web, crowded):
    with pytest.raises(BadRequest):
        find_every_pmid(Query("(crowd"), web)
    with pytest.raises(BadRequest):
        count_by_filter(Query(""), ["hasabstract"], web)
    assert not crowded.requests


def test_hits_are_counted_under_filters_without_sending_any(web, crowded):
    counts = count_by_filter(Query("crowd[ti]"), ["", "1935[dp]", "2023[dp] NOT 2024[dp]"], web)
    assert counts == {"": 25_000, "1935[dp]": 0, "2023[dp] NOT 2024[dp]": 25_000}
    assert {request.params["rettype"] for request in searches(crowded)} == {"count"}


@pytest.mark.parametrize("mood", ["down", "garbage"])
def test_a_count_that_cannot_be_had_is_not_zero(web, crowded, mood):
    crowded.mood(mood, "eutils")
    with pytest.raises(Unreachable):
        count_by_filter(Query("crowd[ti]"), [""], web)


def test_every_cut_makes_two_parts():
    for first in (date(1900, 1, 1), date(2020, 2, 28), date(2100, 12, 30)):
        for days in (1, 2, 400, 40_000):
            last = min(first + timedelta(days=days), date(2100, 12, 31))
            for share in (1e-9, 0.1, 0.5):
                assert first <= _find_split_day(first, last, share) < last
