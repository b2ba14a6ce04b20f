"""NIH iCite: both lists of a paper, and an empty list that is not believed."""

import pytest

from tests.answering import HOSTILE, answering
from tests.world import kinship
from utils.errors import NotAvailable, Unreachable
from utils.model.identifiers import Ids
from utils.sources.icite import fetch_linked


@pytest.mark.parametrize("kind", ["citations", "references"])
def test_either_list(library, world, kind):
    near = {"citations": kinship.citing, "references": kinship.cited}[kind]
    record = next(one for one in world.papers if one.pmid and near(one, world))
    total, found, _ = fetch_linked(Ids(pmid=record.pmid), kind, 1000, library.web)
    assert {one.pmid for one in found} == {other.pmid for other in near(record, world)}
    assert total == len(found)


@pytest.mark.parametrize("ids", [Ids(doi="10.1000/a"), Ids(pmid="99999999")])
def test_a_paper_it_does_not_know_is_said_to_be_so(library, world, ids):
    with pytest.raises(NotAvailable):
        fetch_linked(ids, "citations", 5, library.web)


def test_an_empty_list_beside_a_count_is_only_a_part(library, monkeypatch):
    row = {"pmid": 7, "citation_count": 12, "cited_by": [], "references": []}
    answering(monkeypatch, {"data": [row]})
    assert fetch_linked(Ids(pmid="7"), "citations", 5, library.web)[:2] == (12, [])
    assert fetch_linked(Ids(pmid="7"), "references", 5, library.web)[:2] == (0, [])


def test_another_paper_s_lists_are_not_taken(library, monkeypatch):
    answering(monkeypatch, {"data": [{"pmid": 8, "cited_by": [9], "references": [9]}]})
    with pytest.raises(NotAvailable):
        fetch_linked(Ids(pmid="7"), "citations", 5, library.web)


@pytest.mark.parametrize("mood", ["storm", "down", "reset", "captcha", "garbage", "empty"])
def test_a_bad_moment_is_no_empty_list(library, world, mood):
    world.mood(mood, "icite")
    with pytest.raises(Unreachable):
        fetch_linked(Ids(pmid=world.paper("pmc_cloud").pmid), "citations", 5, library.web)


@pytest.mark.parametrize("body", [*HOSTILE, {"data": [{"pmid": 1, "cited_by": "x"}]}])
def test_no_hostile_answer_is_taken_for_a_list(library, monkeypatch, body):
    answering(monkeypatch, body)
    with pytest.raises(Unreachable):
        fetch_linked(Ids(pmid="1"), "citations", 5, library.web)
