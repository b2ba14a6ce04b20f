"""Identifiers into identifiers, in any mix."""

import pytest

from utils.errors import BadRequest, Unreachable


def test_each_kind_leads_to_the_others(library, world):
    record = world.paper("pmc_cloud")
    for given in (record.pmid, record.pmcid, record.doi, f"https://doi.org/{record.doi.upper()}"):
        [found] = library.pubmed.convert_ids([given])
        assert (found.requested, found.status) == (given, "found")
        names = (found.ids.pmid, found.ids.pmcid, found.ids.doi)
        assert names == (record.pmid, record.pmcid, record.doi)


def test_a_mix_is_answered_one_by_one_in_order(library, world):
    record = world.paper("pmc_cloud")
    asked = ["39999999", record.pmcid, "nonsense", "10.1000/nowhere", record.pmid, "2601.00001"]
    found = library.pubmed.convert_ids(asked)
    assert [one.requested for one in found] == asked
    states = ["not_found", "found", "invalid", "not_found", "found", "invalid"]
    assert [one.status for one in found] == states
    assert all(bool(one.message) == (one.status != "found") for one in found)


def test_many_are_few_requests(library, world):
    pmcids = [record.pmcid for record in world.papers if record.pmcid]
    found = library.pubmed.convert_ids(pmcids)
    assert all(one.status == "found" for one in found)
    assert len(world.requests) == 2


def test_what_could_not_be_asked_is_not_called_unknown(library, world):
    known = world.paper("pmc_cloud").pmid
    world.mood("down", "europepmc")
    found = library.pubmed.convert_ids([known, "39999999"])
    assert [one.status for one in found] == ["found", "failed"]


def test_where_nothing_could_be_asked_it_is_an_error(library, world):
    world.mood("down")
    with pytest.raises(Unreachable):
        library.pubmed.convert_ids(["nonsense", "39999999", "PMC1"])


def test_a_storm_is_a_rate_limit(library, world):
    world.mood("storm", seconds=600)
    with pytest.raises(Unreachable) as refused:
        library.pubmed.convert_ids(["39999999"])
    assert refused.value.code == "RATE_LIMIT"


def test_the_same_twice_is_answered_twice_and_asked_once(library, world):
    pmid = world.paper("pmc_cloud").pmid
    found = library.pubmed.convert_ids([pmid, "x", pmid, f"PMID: {pmid}", "x"])
    assert [one.requested for one in found] == [pmid, "x", pmid, f"PMID: {pmid}", "x"]
    assert [one.status for one in found] == ["found", "invalid", "found", "found", "invalid"]
    asked = [request.params["id"] for request in world.requests if "id" in request.params]
    assert asked == [pmid]


def test_what_cannot_be_shown_is_not_echoed(library, world):
    pmid = world.paper("pmc_cloud").pmid
    _, half, long = library.pubmed.convert_ids([pmid, "a\ud800", "x" * 999])
    assert half.requested == "a\ufffd"
    assert len(long.requested) < 110
    assert len(long.message) < 200


@pytest.mark.parametrize("ids", [[], ["nonsense"], ["", "2601.00001"]])
def test_nothing_to_ask_about_is_refused(library, world, ids):
    with pytest.raises(BadRequest):
        library.pubmed.convert_ids(ids)
    assert not world.requests
