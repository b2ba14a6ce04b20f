"""Unpaywall: open copies, and who may not be asked for them."""

import pytest

from utils.errors import NotAvailable, NotConfigured, SourceMiss
from utils.model.identifiers import Ids
from utils.model.paper import Fetched, Paper
from utils.sources.unpaywall import fetch_open_copies


def copies(record, library):
    return list(fetch_open_copies(Paper(Ids(doi=record.doi)), library.web))


def test_a_copy_comes_with_its_license(library, world):
    first = copies(world.paper("unpaywall_pdf"), library)[0]
    assert isinstance(first, Fetched)
    assert first.media == "pdf"
    assert first.license


def test_pages_of_pmc_are_never_asked_for(library, world):
    found = copies(world.paper("unpaywall_pmc_url"), library)
    assert all(isinstance(candidate, SourceMiss) for candidate in found)
    assert {request.service for request in world.requests} == {"unpaywall"}


def test_no_copy_and_no_record_are_both_a_plain_no(library, world):
    for doi in (world.paper("paywall").doi, "10.1000/nobody", "10.1000/nobody"):
        with pytest.raises(NotAvailable, match="no open copy"):
            list(fetch_open_copies(Paper(Ids(doi=doi)), library.web))
    assert len(world.requests) == 2  # that it does not know one is remembered, too


def test_asked_once_a_day(library, world):
    record = world.paper("unpaywall_html")
    copies(record, library)
    copies(record, library)
    assert len([r for r in world.requests if r.service == "unpaywall"]) == 1


def test_needs_an_address(library, world):
    library.web.settings = library.settings.model_copy(update={"pubmed_email": ""})
    with pytest.raises(NotConfigured):
        copies(world.paper("unpaywall_pdf"), library)
