"""A source whose turn is far away does not hold up a paper that another source has."""

import logging
import time
from pathlib import Path

import pytest

from tests.clock import Clock
from tests.harvests import ids_of, library_of
from tests.world import World
from utils import Library
from utils.errors import Unreachable
from utils.http import Patience


def test_a_paper_of_any_other_source_waits_ten_seconds_at_most_for_a_crowded_pool(
    library: Library, world: World, clock: Clock
) -> None:
    """Half of Semantic Scholar's calls without a key are refused."""
    world.mood("half_crowded", "semantic_scholar")
    records = [
        record
        for record in world.papers
        if record.expected == "full_text"
        and record.scholar != "copy"
        # PubMed does not know that arXiv has the first; the others are asked for after the pool.
        and record.branch not in {"arxiv_published", "osti", "hal"}
    ]
    waited = {}
    for record in records:
        before = sum(clock.naps)
        assert library.download(ids_of(record)).stored.kind == "full_text"
        waited[record.branch] = round(sum(clock.naps) - before, 1)
    assert len(records) > 20
    assert sum(request.status == 429 for request in world.requests) > 2
    assert {branch: seconds for branch, seconds in waited.items() if seconds > 10} == {}


def test_a_site_that_refuses_everything_is_asked_again_after_all_others(
    library: Library, world: World
) -> None:
    world.mood("crowded", "semantic_scholar")
    stored = library.download(ids_of(world.paper("paywall"))).stored
    assert stored.kind == "abstract"
    assert [a.source for a in stored.attempts if a.outcome != "skipped"][-1] == "semantic_scholar"
    assert stored.attempts[-1].outcome == "unreachable"


def test_the_wait_for_the_last_site_that_may_have_a_text_is_told_by_name(
    library: Library, world: World, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    record = world.paper("scholar_copy")
    library.web.limiter.start_cooldown(world.url("semantic_scholar"), 40)
    with caplog.at_level(logging.WARNING):
        stored = library.download(ids_of(record)).stored
    assert (stored.kind, stored.via) == ("full_text", "semantic_scholar")
    [told] = [line for line in caplog.messages if "Waiting" in line]
    assert told.endswith("s for Semantic Scholar.")
    assert record.doi in told
    assert sum(clock.naps) > 30


def test_patience_is_spent_by_all_waits_together() -> None:
    patience = Patience(10)
    assert patience.spend_seconds(6)
    assert not patience.spend_seconds(5)
    assert patience.needed_s == 5
    assert patience.spend_seconds(4)
    with patience.apply():
        assert patience.needed_s == 0


def test_a_turn_that_is_refused_is_not_booked(library: Library, world: World) -> None:
    limiter, url = library.web.limiter, world.url("semantic_scholar")
    limiter.start_cooldown(url, 40)
    began = time.time()
    with (
        Patience(10).apply(),
        pytest.raises(Exception, match="next turn"),
        limiter.wait_for_turn(url),
    ):
        pytest.fail("asked in spite of the cooldown")
    with limiter.wait_for_turn(url):
        assert time.time() - began < 41


@pytest.mark.parametrize("name", ["pmid", "doi"])
def test_an_abstract_on_the_shelf_is_served_while_the_network_is_away(
    library: Library, world: World, tmp_path: Path, name: str
) -> None:
    """A harvest shelves abstracts first; a person interrupts it, and then leaves the network."""
    record = world.paper("paywall")
    [paper] = library_of(world, tmp_path / "before").search(f"{record.pmid}[uid]").papers
    library.shelf.save_abstracts([paper])
    world.mood("reset")
    made = library.download(getattr(record, name))
    assert (made.stored.kind, made.cached) == ("abstract", True)
    assert "its full text could not be requested" in made.message
    with pytest.raises(Unreachable):
        library.download(getattr(record, name), force=True)
    world.calm()
    assert library.download(getattr(record, name)).unreached == ""
