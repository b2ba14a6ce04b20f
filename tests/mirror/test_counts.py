"""Where a mirror and PubMed differ: listed PMID by PMID, in few questions, or said to be untold."""

from dataclasses import replace

import pytest

from tests.mirror.small_mirror import updated
from utils.mirror import counts
from utils.mirror.counts import differences, lines_of

pytestmark = pytest.mark.extras("pyarrow", "duckdb")


@pytest.fixture
def mirror(library, world):
    world.bulk.baseline  # noqa: B018 - made of the papers as they are now
    updated(library.mirror)
    return library.mirror


def asked(world):
    return [one.service for one in world.requests].count("eutils")


def test_the_same_number_is_one_question(mirror, world):
    found = mirror.differences()
    assert (found.difference, found.only_here, found.only_at_pubmed) == (0, [], [])
    assert asked(world) == found.requests == 1


def test_what_came_and_went_is_listed(mirror, world):
    known = [one for one in world.papers if one.pmid]
    days = [one.entered for one in known]
    gone = next(one for one in known[2:] if days.count(one.entered) == 1 and one.kind != "book")
    world.put(replace(known[0], pmid="49000001", entered="2026-11-20"))
    world.put(replace(known[1], pmid="49000002", entered="2026-11-20"))
    world.delete(gone.pmid)
    found = mirror.differences()
    assert found.difference == 1
    assert found.only_at_pubmed == [49_000_001, 49_000_002]
    assert found.only_here == [int(gone.pmid)]
    assert not found.untold
    assert asked(world) == found.requests < counts.MOST
    assert [line.split()[0] for line in lines_of(found)] == ["1", "2"]


def test_what_is_too_much_to_ask_is_said(mirror, world, monkeypatch):
    known = next(one for one in world.papers if one.pmid)
    world.put(replace(known, pmid="49000001", entered="2026-11-20"))
    found = differences(mirror.generations, mirror._web(), most=3)
    assert found.requests == 4
    assert "was not compared" in found.untold[0]
    monkeypatch.setattr(counts, "LAST_HIT", 0)
    found = mirror.differences()
    assert "PubMed lists" in found.untold[0]
    assert "2026-11-20: +1" in found.untold[0]


def test_a_site_that_goes_down_meanwhile_leaves_it_untold(mirror, world, monkeypatch):
    known = next(one for one in world.papers if one.pmid)
    world.put(replace(known, pmid="49000001", entered="2026-11-20"))
    real = counts.count

    def once(database, term, web):
        if "edat" in term:
            world.mood("down", "eutils")
        return real(database, term, web)

    monkeypatch.setattr(counts, "count", once)
    found = mirror.differences()
    assert found.difference == 1
    assert len(found.untold) == 1
