"""Jina Reader: what it reads for us, what it refuses, and where it is never sent."""

import pytest

from utils import Library
from utils.errors import NotAvailable
from utils.model.identifiers import Ids
from utils.model.paper import Paper
from utils.sources.jina import read


def paper_of(record):
    return Paper(Ids(doi=record.doi, pmid=record.pmid), title=record.title)


def test_reads_the_publishers_page_not_the_doi(library, world):
    [fetched] = read(paper_of(world.paper("jina_only")), library.web)
    assert b"Markdown Content:" in fetched.body
    assert "doi.org" not in fetched.url


def test_a_refusal_is_a_plain_no_with_advice(library, world):
    world.jina_networks_blocked = True
    with pytest.raises(NotAvailable, match="key") as refused:
        list(read(paper_of(world.paper("jina_only")), library.web))
    assert "JINA_API_KEY" in refused.value.hint


def test_is_never_sent_to_sites_that_are_closed_to_programs(library, world):
    paper = Paper(Ids(doi="10.1000/x"), title="X")
    target = "https://pmc.ncbi.nlm.nih.gov/articles/PMC1/"
    library.web.cache.put("landing_page", "10.1000/x", target, 1.0)
    with pytest.raises(NotAvailable, match="does not let programs"):
        list(read(paper, library.web))
    assert not world.requests


def test_search_only_with_a_key(library, world):
    done = library.download(world.paper("paywall").pmid)
    searched = next(a for a in done.stored.attempts if a.source == "jina_search")
    assert (searched.outcome, searched.detail) == ("skipped", "needs JINA_API_KEY")
    assert not [request for request in world.requests if request.service == "jina_search"]


def test_the_key_travels_in_a_header_and_stays_out_of_what_is_kept(settings, world):
    library = Library(**{**settings, "jina_api_key": "jina_SECRET"})
    [fetched] = read(paper_of(world.paper("jina_only")), library.web)
    asked = next(r for r in world.requests if r.service == "jina_reader")
    assert asked.headers["authorization"] == "Bearer jina_SECRET"
    assert "SECRET" not in fetched.url
    assert all("authorization" not in r.headers for r in world.requests if r.service == "doi")


def test_a_refusal_of_us_is_not_provoked_again_for_the_next_paper(library, world):
    world.jina_networks_blocked = True
    for branch in ("jina_only", "publisher_html", "paywall"):
        with pytest.raises(NotAvailable):
            list(read(paper_of(world.paper(branch)), library.web))
    assert len([r for r in world.requests if r.service == "jina_reader"]) == 1
