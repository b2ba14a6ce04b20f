"""From PMCID to the paper's other names."""

import pytest

from utils.errors import Unreachable
from utils.model.identifiers import Ids
from utils.sources.idconv import look_up


def test_a_pmcid_leads_to_pmid_and_doi(library, world):
    record = world.paper("pmc_cloud")
    [paper] = look_up([Ids(pmcid=record.pmcid)], library.web).values()
    assert paper.ids == Ids(pmcid=record.pmcid, pmid=record.pmid, doi=record.doi)


def test_many_are_one_request_and_the_unknown_are_told_apart(library, world):
    known = [Ids(pmcid=r.pmcid) for r in world.papers if r.pmcid]
    outcomes = look_up([*known, Ids(pmcid="PMC8999999")], library.web)
    assert Ids(pmcid="PMC8999999") not in outcomes
    assert all(outcomes[ids].ids.pmid for ids in known)
    assert len(world.requests) == 1


def test_down_is_not_unknown(library, world):
    world.mood("down", "idconv")
    with pytest.raises(Unreachable):
        look_up([Ids(pmcid="PMC9100001")], library.web)
