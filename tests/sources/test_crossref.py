"""Crossref: the last one asked what a DOI is."""

import pytest

from utils.errors import Unreachable
from utils.model.identifiers import Ids
from utils.sources.crossref import look_up


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
