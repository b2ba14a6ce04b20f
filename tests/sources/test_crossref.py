"""Crossref: the last one asked what a DOI is."""

import pytest

from tests.sources.reader import fetch
from utils.errors import NotAvailable, Unreachable
from utils.model.identifiers import Ids
from utils.sources.crossref import _found, fetch_mining_copies, find_works, look_up


def test_record_of_a_doi(library, world):
    record = world.paper("doi_only")
    [paper] = look_up([Ids(doi=record.doi)], library.web).values()
    assert paper.ids.doi == record.doi
    assert paper.title.rstrip(".") == record.title
    assert paper.year == "2025"
    assert "<jats" not in paper.abstract


def test_a_retraction_is_read_from_the_retracted_paper(library, world):
    record = world.paper("retracted")
    [paper] = look_up([Ids(doi=record.doi)], library.web).values()
    assert paper.retracted


def test_unknown_is_told_apart_from_down(library, world):
    assert look_up([Ids(doi="10.1000/nobody")], library.web) == {}
    world.mood("down", "crossref")
    with pytest.raises(Unreachable):
        look_up([Ids(doi="10.1000/somebody")], library.web)


def test_an_old_doi_travels_whole(library, world):
    record = world.paper("sici")
    [paper] = look_up([Ids(doi=record.doi)], library.web).values()
    assert paper.ids == Ids(doi=record.doi)


# -- links for text mining -------------------------------------------------------------------


def test_a_link_for_text_mining_is_followed_where_a_license_allows_it(library, world):
    found = fetch(fetch_mining_copies, world, "crossref_mined", library)
    assert (found.media, found.via, found.version) == ("jats", "crossref", "published")
    assert found.body.lstrip().startswith(b"<article")


@pytest.mark.parametrize(
    ("branch", "why"),
    [("crossref_embargo", "license"), ("paywall", "address"), ("publisher_pdf", "license")],
)
def test_a_link_is_no_permission(library, world, branch, why):
    with pytest.raises(NotAvailable, match=why):
        fetch(fetch_mining_copies, world, branch, library)
    assert {request.service for request in world.requests} == {"crossref"}


def test_a_paper_that_is_only_mined_is_shelved_and_bound(library, world):
    done = library.download(world.paper("crossref_mined").doi)
    assert (done.stored.kind, done.stored.via) == ("full_text", "crossref")
    assert "- Terms: For your own research only" in library.shelf.read_text(done.stored)


# -- works by the words of a reference ---------------------------------------------------------


def test_works_are_found_by_the_words_of_a_reference(library, world):
    record = world.paper("doi_only")
    found = find_works(f"{record.plain_title} {record.journal.title} {record.year}", library.web)
    assert found[0].ids.doi == record.doi
    assert len(found) <= 5
    [request] = world.requests
    assert request.params["query.bibliographic"].startswith(record.plain_title)


def test_a_list_that_does_not_come_is_not_empty(library, world):
    world.mood("down", "crossref")
    with pytest.raises(Unreachable):
        find_works("moss", library.web)


def test_a_found_work_says_what_it_is():
    work = {
        "DOI": "10.1000/a",
        "type": "journal-article",
        "title": ["Moss"],
        "subtitle": ["a field study"],
        "short-container-title": ["J Tests"],
        "article-number": "e17",
        "update-to": [{"type": "correction", "DOI": "10.1000/b"}],
    }
    found = _found(work)
    assert (found.title, found.journal_abbreviation, found.pages) == (
        "Moss: a field study",
        "J Tests",
        "e17",
    )
    assert "Published Erratum" in found.publication_types
    assert "Preprint" in _found({**work, "type": "posted-content"}).publication_types
