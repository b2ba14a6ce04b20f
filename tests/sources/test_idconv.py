"""From PMCID to the paper's other names."""

from utils.errors import NotFound, Unreachable
from utils.identifiers import Ids
from utils.sources.idconv import look_up


def test_a_pmcid_leads_to_pmid_and_doi(library, world):
    record = world.paper("pmc_cloud")
    [(_, paper)] = look_up([Ids(pmcid=record.pmcid)], library.web)
    assert paper.ids == Ids(pmcid=record.pmcid, pmid=record.pmid, doi=record.doi)


def test_many_are_one_request_and_the_unknown_are_told_apart(library, world):
    known = [Ids(pmcid=r.pmcid) for r in world.papers if r.pmcid]
    outcomes = dict(look_up([*known, Ids(pmcid="PMC8999999")], library.web))
    assert isinstance(outcomes[Ids(pmcid="PMC8999999")], NotFound)
    assert all(outcomes[ids].ids.pmid for ids in known)
    assert len(world.requests) == 1


def test_down_is_not_unknown(library, world):
    world.mood("down", "idconv")
    [(_, outcome)] = look_up([Ids(pmcid="PMC9100001")], library.web)
    assert isinstance(outcome, Unreachable)
