"""Europe PMC: records PubMed lacks, and JATS."""

import pytest

from utils.errors import NotOffered, Unreachable
from utils.identifiers import Ids
from utils.paper import Paper
from utils.sources.europepmc import full_text, look_up


def test_a_doi_that_pubmed_lacks_is_known(library, world):
    record = world.paper("doi_only")
    [paper] = look_up([Ids(doi=record.doi)], library.web).values()
    assert paper.ids.doi == record.doi
    assert paper.title.rstrip(".") == record.title
    assert "<h4>" not in paper.abstract
    assert paper.authors


def test_many_are_one_request(library, world):
    wanted = [Ids(pmid=r.pmid) for r in world.papers if r.pmid][:20]
    outcomes = look_up([*wanted, Ids(doi="10.1000/nobody")], library.web)
    assert Ids(doi="10.1000/nobody") not in outcomes
    assert all(outcomes[ids].ids.pmid == ids.pmid for ids in wanted)
    assert len(world.requests) == 1


def test_an_error_inside_a_200_is_an_error(library, world):
    world.mood("garbage", "europepmc")
    with pytest.raises(Unreachable):
        look_up([Ids(pmid="41000001")], library.web)


def test_full_text_or_a_plain_no(library, world):
    record = world.paper("europepmc_only")
    [fetched] = full_text(Paper(Ids(pmcid=record.pmcid)), library.web)
    assert b"<body>" in fetched.body
    with pytest.raises(NotOffered):
        list(full_text(Paper(Ids(pmcid="PMC8999999")), library.web))
