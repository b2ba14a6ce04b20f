"""Identifiers into identifiers, in any mix."""

import pytest

from utils.errors import BadRequest


def test_each_kind_leads_to_the_others(library, world):
    record = world.paper("pmc_cloud")
    for given in (record.pmid, record.pmcid, record.doi, f"https://doi.org/{record.doi.upper()}"):
        [found] = library.convert_ids([given])
        assert (found.requested, found.status) == (given, "found")
        names = (found.ids.pmid, found.ids.pmcid, found.ids.doi)
        assert names == (record.pmid, record.pmcid, record.doi)


def test_a_mix_is_answered_one_by_one_in_order(library, world):
    record = world.paper("pmc_cloud")
    asked = ["39999999", record.pmcid, "nonsense", "10.1000/nowhere", record.pmid, "2601.00001"]
    found = library.convert_ids(asked)
    assert [one.requested for one in found] == asked
    states = ["not_found", "found", "invalid", "not_found", "found", "invalid"]
    assert [one.status for one in found] == states
    assert all(bool(one.message) == (one.status != "found") for one in found)


def test_many_are_few_requests(library, world):
    pmcids = [record.pmcid for record in world.papers if record.pmcid]
    found = library.convert_ids(pmcids)
    assert all(one.status == "found" for one in found)
    assert len(world.requests) == 2


def test_what_could_not_be_asked_is_not_called_unknown(library, world):
    world.mood("down")
    [found] = library.convert_ids(["39999999"])
    assert found.status == "failed"


def test_nothing_is_refused(library, world):
    with pytest.raises(BadRequest):
        library.convert_ids([])
