"""OpenCitations: rows of identifiers, whole lists, and nothing told from no answer."""

import pytest

from tests.answering import HOSTILE, answering
from tests.world import kinship
from utils.errors import NotAvailable, Unreachable
from utils.model.identifiers import Ids
from utils.sources.europepmc import Linked
from utils.sources.opencitations import fetch_linked


@pytest.mark.parametrize("kind", ["citations", "references"])
@pytest.mark.parametrize("name", ["doi", "pmid"])
def test_a_list_is_had_whole_by_either_name(library, world, kind, name):
    near = {"citations": kinship.citing, "references": kinship.cited}[kind]
    record = next(one for one in world.papers if one.pmid and one.doi and near(one, world))
    ids = Ids(**{name: getattr(record, name)})
    total, found, _ = fetch_linked(ids, kind, 1000, library.web)
    expected = {(other.pmid, other.doi.lower()) for other in near(record, world)}
    assert {(one.pmid, one.doi) for one in found} == expected
    assert total == len(expected)
    assert fetch_linked(ids, kind, 1, library.web)[:2] == (total, found[:1])


def test_a_paper_without_a_name_it_takes_is_not_asked_about(library, world):
    with pytest.raises(NotAvailable):
        fetch_linked(Ids(arxiv="2511.04014"), "references", 5, library.web)
    assert not world.requests


def test_what_it_does_not_know_has_an_empty_list(library, world):
    assert fetch_linked(Ids(pmid="99999999"), "citations", 5, library.web)[:2] == (0, [])


@pytest.mark.parametrize("mood", ["storm", "down", "reset", "captcha", "garbage", "empty"])
def test_a_bad_moment_is_no_empty_list(library, world, mood):
    world.mood(mood, "opencitations")
    with pytest.raises(Unreachable):
        fetch_linked(Ids(pmid=world.paper("pmc_cloud").pmid), "citations", 5, library.web)


# An empty list is an answer; the rest is none.
@pytest.mark.parametrize("body", [one for one in HOSTILE if one != "[]"])
def test_no_hostile_answer_is_taken_for_a_list(library, monkeypatch, body):
    answering(monkeypatch, body)
    with pytest.raises(Unreachable):
        fetch_linked(Ids(pmid="1"), "citations", 5, library.web)


def test_rows_may_name_several_works_of_one_kind_or_none(library, monkeypatch):
    rows = [
        {"citing": "omid:br/061 doi:10.1000/A pmid:7 doi:10.1000/b"},
        {"citing": "omid:br/062"},
        {"citing": "doi:../etc pmid:x"},
        {"citing": 7},
        {"citing": "pmid:7 doi:10.1000/a omid:br/061"},
    ]
    answering(monkeypatch, rows)
    total, found, _ = fetch_linked(Ids(pmid="1"), "citations", 5, library.web)
    assert (total, found) == (1, [Linked(pmid="7", doi="10.1000/a")])
