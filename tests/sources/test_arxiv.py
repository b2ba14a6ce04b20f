"""arXiv: records, PDFs, and its patience."""

from itertools import pairwise

import pytest

from utils.errors import Unreachable
from utils.identifiers import Ids
from utils.paper import Paper
from utils.sources.arxiv import look_up, pdf


def test_record_of_a_preprint(library, world):
    record = world.paper("arxiv")
    [paper] = look_up([Ids(arxiv=record.arxiv)], library.web).values()
    assert paper.ids.arxiv == record.arxiv
    assert paper.title == record.title
    assert paper.authors
    assert paper.abstract


def test_unknown_and_malformed_are_told_apart_from_down(library, world):
    assert look_up([Ids(arxiv="2501.99999")], library.web) == {}
    world.mood("down", "arxiv")
    with pytest.raises(Unreachable):
        look_up([Ids(arxiv="2501.99998")], library.web)


def test_asked_once_a_day_at_most(library, world):
    arxiv = world.paper("arxiv").arxiv
    for _ in range(2):
        look_up([Ids(arxiv=arxiv)], library.web)
    assert len(world.requests) == 1


def test_three_seconds_between_any_two_requests(library, world):
    arxiv = world.paper("arxiv").arxiv
    look_up([Ids(arxiv=arxiv)], library.web)
    for _ in range(3):
        list(pdf(Paper(Ids(arxiv=arxiv)), library.web))
    times = [request.at for request in world.requests]
    assert all(later - sooner >= 3 for sooner, later in pairwise(times))
    assert not [request for request in world.requests if request.status == 429]


def test_a_429_without_retry_after_means_a_minute(library, world, clock):
    arxiv = world.paper("arxiv").arxiv
    world.mood("storm", "arxiv", times=1, seconds=0)
    look_up([Ids(arxiv=arxiv)], library.web)
    first, second = world.requests[:2]
    assert second.at - first.at >= 60


@pytest.mark.parametrize("spelling", ["hep-ex/0307015"])
def test_old_identifiers_are_sent_whole(library, world, spelling):
    look_up([Ids.parse(spelling)], library.web)
    assert world.requests[0].params["id_list"] == spelling
