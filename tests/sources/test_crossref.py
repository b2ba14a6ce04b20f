"""Crossref: the last one asked what a DOI is."""

from utils.errors import NotFound, Unreachable
from utils.identifiers import Ids
from utils.sources.crossref import look_up


def test_record_of_a_doi(library, world):
    record = world.paper("doi_only")
    [(_, paper)] = look_up([Ids(doi=record.doi)], library.web)
    assert paper.ids.doi == record.doi
    assert paper.title.rstrip(".") == record.title
    assert paper.year == "2025"
    assert "<jats" not in paper.abstract


def test_a_retraction_is_read_from_the_retracted_paper(library, world):
    record = world.paper("retracted")
    [(_, paper)] = look_up([Ids(doi=record.doi)], library.web)
    assert paper.retracted


def test_unknown_is_told_apart_from_down(library, world):
    [(_, outcome)] = look_up([Ids(doi="10.1000/nobody")], library.web)
    assert isinstance(outcome, NotFound)
    world.mood("down", "crossref")
    [(_, outcome)] = look_up([Ids(doi="10.1000/nobody")], library.web)
    assert isinstance(outcome, Unreachable)


def test_an_old_doi_travels_whole(library, world):
    record = world.paper("sici")
    [(_, paper)] = look_up([Ids(doi=record.doi)], library.web)
    assert paper.ids == Ids(doi=record.doi)
