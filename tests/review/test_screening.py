"""Decisions one by one, their undoing, and fields of the protocol."""

import pytest

from utils import Library
from utils.errors import BadRequest
from utils.lists.pasted import ListEntry
from utils.model.identifiers import Ids
from utils.model.paper import Paper


@pytest.fixture
def review(tmp_path):
    with Library(papers_dir=tmp_path / "papers", papers_offline=True) as library:
        made = library.reviews.create("moss")
        ids = Ids(pmid="1")
        with made.ledger.record_event("update", {}) as writer:
            writer.add_records("databases", [(ListEntry("PMID 1", ids), Paper(ids, title="Moss"))])
        yield made


def choices(review):
    key = review.ledger.list_records()[0].key
    return [one.choice for one in review.ledger.list_decisions().get(key, [])]


def test_undoing_goes_back_one_decision_and_deletes_nothing(review):
    key = review.ledger.list_records()[0].key
    for choice in ("include", "exclude"):
        review.record_decision(key, "ann", choice, stage="title_abstract")
    review.undo_decision(key, "ann", stage="title_abstract")
    assert choices(review) == ["include"]
    review.undo_decision(key, "bob", stage="title_abstract")
    assert choices(review) == ["include"]
    assert [event.what for event in review.events()] == ["new", "update", *["decisions"] * 3]


def test_a_withdrawn_decision_does_not_count_and_can_be_made_again(review):
    key = review.ledger.list_records()[0].key
    review.record_decision(key, "ann", "exclude", stage="title_abstract")
    review.undo_decision(key, "ann", stage="title_abstract")
    assert choices(review) == []
    review.record_decision(key, "ann", "maybe", stage="title_abstract")
    assert choices(review) == ["maybe"]
    review.undo_decision(key, "ann", stage="title_abstract")
    assert choices(review) == []


def test_fields_of_the_protocol_change_and_remarks_stay(review):
    before = (review.folder / "protocol.yaml").read_text(encoding="utf-8")
    fields = {"question": "Why: moss?", "criteria": {"include": ["a: b"], "exclude": ["'x'"]}}
    protocol = review.set_protocol(fields)
    assert (protocol.question, protocol.include_if, protocol.exclude_if) == (
        "Why: moss?",
        ("a: b",),
        ("'x'",),
    )
    after = (review.folder / "protocol.yaml").read_text(encoding="utf-8")
    remarks = [line for line in before.splitlines() if line.startswith("#")]
    assert [line for line in after.splitlines() if line.startswith("#")] == remarks
    assert review.set_protocol(fields) == protocol


def test_criteria_that_are_not_lists_are_refused(review):
    with pytest.raises(BadRequest, match="criteria"):
        review.set_protocol({"criteria": "moss"})
