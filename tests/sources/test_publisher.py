"""Publishers' pages: where a DOI leads, what it names, and what is left alone."""

import pytest

from utils.errors import NotAvailable, Unreachable
from utils.model.identifiers import Ids
from utils.model.paper import Fetched, Paper
from utils.sources.publisher import fetch_full_text, find_landing_page


def candidates(record, library):
    return list(fetch_full_text(Paper(Ids(doi=record.doi)), library.web))


def test_the_page_comes_first_and_the_pdf_it_names_next(library, world):
    found = candidates(world.paper("publisher_pdf"), library)
    assert [candidate.media for candidate in found] == ["html", "pdf"]
    assert found[1].body.startswith(b"%PDF-")


def test_a_meta_refresh_is_followed_once(library, world):
    [first, *_] = candidates(world.paper("publisher_meta_refresh"), library)
    assert isinstance(first, Fetched)
    assert b"http-equiv" not in first.body[:2000].lower()


def test_a_closed_door_is_tried_once_more_with_plain_headers(library, world):
    [first, *_] = candidates(world.paper("publisher_picky"), library)
    assert first.status == 200
    asked = [r for r in world.requests if r.service.startswith("publisher")]
    assert [r.status for r in asked] == [403, 200]
    assert set(asked[1].headers) <= {"host", "user-agent", "accept", "connection"}


def test_a_door_that_stays_closed_is_judged_by_what_it_shows(library, world):
    [first, *_] = candidates(world.paper("captcha"), library)
    assert first.status == 403


def test_an_unregistered_doi_leads_nowhere(library, world):
    with pytest.raises(NotAvailable):
        list(fetch_full_text(Paper(Ids(doi="10.1000/nobody")), library.web))


def test_the_landing_page_is_found_in_one_request_and_remembered(library, world):
    doi = world.paper("sici").doi
    first = find_landing_page(doi, library.web)
    assert find_landing_page(doi, library.web) == first
    assert [request.service for request in world.requests] == ["doi"]


def test_preprint_servers_are_asked_slowly_and_left_alone_when_they_refuse(library):
    limiter, every = library.web.limiter, dict(_intervals(library))
    pages = "https://www.biorxiv.org/content/10.1101/1v1", "https://www.medrxiv.org/content/2v1"
    assert {limiter.bucket(page) for page in pages} == {"biorxiv"}
    assert every["biorxiv"] == 3.0
    assert limiter.refused(pages[0]) == 100
    with pytest.raises(Unreachable, match="next turn at biorxiv"), limiter.turn(pages[1]):
        pass


def _intervals(library):
    return ((rate.bucket, seconds) for rate, seconds in library.web.limiter.intervals())
