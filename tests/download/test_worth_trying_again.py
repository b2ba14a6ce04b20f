"""When a paper of which only the abstract is here is tried again, and who is asked then."""

import time
from dataclasses import replace

import pytest

from tests.harvests import done
from utils import Library
from utils.download.climb import is_worth_trying_again
from utils.model.paper import format_timestamp

HOUR, DAY = 3600.0, 86400.0


def asked(world, *services):
    return [r.service for r in world.requests if not services or r.service in services]


@pytest.fixture
def silent(library, world):
    """A paper whose publisher and reader service were out; the others do not have it."""
    record = world.paper("publisher_html")
    for service in ("publisher", "jina_reader"):
        world.mood("down", service, times=None)
    first = library.download(record.pmid)
    assert first.stored.kind == "abstract"
    world.reset()
    return first


def test_what_nobody_could_tell_is_said_and_asked_for_again_after_an_hour(library, world, silent):
    assert "gave no answer (jina, publisher)" in silent.message
    assert "no full text in" not in silent.message
    pmid = silent.stored.paper.ids.pmid
    time.sleep(HOUR / 2)
    assert library.download(pmid).cached
    assert not world.requests
    time.sleep(HOUR / 2 + 60)
    again = library.download(pmid)
    assert (again.stored.kind, again.stored.via) == ("full_text", "publisher")
    assert asked(world, "publisher", "doi")
    assert not asked(world, "unpaywall", "openalex", "europepmc", "pmc_cloud")
    told = {attempt.source: attempt.outcome for attempt in again.stored.attempts}
    assert told["unpaywall"] == "not_offered"  # the story is whole all the same


def test_force_asks_at_once(library, world, silent):
    again = library.download(silent.stored.paper.ids.pmid, force=True)
    assert again.stored.kind == "full_text"
    assert asked(world, "unpaywall")


def test_still_out_after_an_hour_leaves_the_answers_of_the_others_their_age(library, world, silent):
    pmid = silent.stored.paper.ids.pmid
    for service in ("publisher", "jina_reader"):
        world.mood("down", service, times=None)
    time.sleep(HOUR + 60)
    assert "gave no answer" in library.download(pmid).message
    before = len(world.requests)
    assert library.download(pmid).cached
    assert len(world.requests) == before
    time.sleep(30 * DAY - HOUR)
    library.download(pmid)
    assert asked(world, "unpaywall")


def test_definite_answers_stand_for_a_month_and_are_then_asked_again(library, world):
    pmid = world.paper("paywall").pmid
    assert "no full text in" in library.download(pmid).message
    world.reset()
    time.sleep(29 * DAY)
    assert library.download(pmid).cached
    assert not world.requests
    time.sleep(DAY + 60)
    library.download(pmid)
    assert asked(world, "unpaywall")


def test_a_mistake_of_ours_says_nothing_about_the_paper(library, world):
    first = library.download(world.paper("paywall").pmid).stored
    failed = [replace(attempt, outcome="failed") for attempt in first.attempts]
    stored = library.shelf.save_abstract(first.paper, failed)
    ladder = library.ladder
    assert not is_worth_trying_again(stored, ladder.rungs, library.settings)
    time.sleep(HOUR + 60)
    assert is_worth_trying_again(stored, ladder.rungs, library.settings)


@pytest.mark.parametrize("hours", [-1.5, -1000.0])
def test_a_clock_set_back_makes_nobody_wait_longer(library, world, silent, monkeypatch, hours):
    stage = time.time
    monkeypatch.setattr(time, "time", lambda: stage() + hours * HOUR)
    again = library.download(silent.stored.paper.ids.pmid)
    assert again.stored.kind == "full_text"


def test_a_paper_a_harvest_could_not_tell_about_is_tried_by_a_download(library, world):
    record = world.paper("publisher_html")
    for service in ("publisher", "jina_reader", "doi"):
        world.mood("down", service, times=None)
    [row] = done(library.harvest([record.pmid]))
    assert (row.state, row.reason) == ("abstract", "unreachable")
    world.calm()
    time.sleep(HOUR + 60)
    before = len(world.requests)
    assert library.download(record.pmid).stored.kind == "full_text"
    assert not [r for r in world.requests[before:] if r.service == "unpaywall"]


def test_a_harvest_goes_on_under_a_clock_that_was_set_back(library, world, monkeypatch):
    record = world.paper("publisher_html")
    for service in ("publisher", "jina_reader"):
        world.mood("down", service, times=None)
    harvest = library.harvest([record.pmid])
    done(harvest)
    world.calm()
    stage = time.time
    monkeypatch.setattr(time, "time", lambda: stage() - HOUR)
    with pytest.warns(DeprecationWarning, match="is now Harvest.reopen_unanswered"):
        assert harvest.go_on() == 1  # the former name
    assert [row.state for row in done(harvest)] == ["full_text"]


def test_sites_that_are_new_to_the_ladder_are_asked_at_once(settings, world):
    record = world.paper("publisher_html")
    narrow = Library(**{**settings, "papers_sources": ("europepmc",)})
    assert narrow.download(record.pmid).stored.kind == "abstract"
    narrow.shelf.close()
    wide = Library(**settings)
    assert wide.download(record.pmid).stored.kind == "full_text"
    wide.shelf.close()


def test_moments_are_told_by_the_clock_that_everything_else_goes_by():
    from utils.model.paper import utc_now

    time.sleep(10 * DAY)
    assert utc_now() in {format_timestamp(time.time()), format_timestamp(time.time() - 1)}
