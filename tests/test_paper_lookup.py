"""Learning what papers are, with sources made up on the spot."""

import pytest

from utils.errors import BadRequest, NotFound, Unreachable
from utils.identifiers import Ids
from utils.paper import Paper
from utils.paper_lookup import look_up
from utils.sources import Lookup, Source

A, B = Ids(pmid="1"), Ids(pmid="2")


def source(name, answers, by=("pmid", "doi", "pmcid")):
    """A source that knows *answers* and remembers what it was asked."""
    asked = []

    def ask(wanted, web):
        asked.append(list(wanted))
        for ids in wanted:
            yield ids, answers.get(ids, NotFound("unknown"))

    made = Source(name, "made up", lookup=Lookup(by, ask))
    return made, asked


def test_each_source_is_asked_once_about_what_is_still_unknown():
    first, asked_first = source("first", {A: Paper(A, "One")})
    second, asked_second = source("second", {B: Paper(B, "Two")})
    found = look_up([A, B], None, [first, second])
    assert (found[A].title, found[B].title) == ("One", "Two")
    assert (asked_first, asked_second) == ([[A, B]], [[B]])


def test_identifiers_alone_are_no_record_and_lead_to_the_next_source():
    pmcid = Ids(pmcid="PMC1")
    both = Ids(pmcid="PMC1", pmid="1")
    converter, _ = source("converter", {pmcid: Paper(both)}, by=("pmcid",))
    records, asked = source("records", {both: Paper(A, "One")}, by=("pmid",))
    found = look_up([pmcid], None, [converter, records])[pmcid]
    assert (found.title, found.ids) == ("One", both)
    assert asked == [[both]]


def test_two_ways_to_the_same_paper_both_get_it():
    pmcid, both = Ids(pmcid="PMC1"), Ids(pmcid="PMC1", pmid="1")
    converter, _ = source("converter", {pmcid: Paper(both), both: Paper(both)}, by=("pmcid",))
    records, asked = source("records", {both: Paper(A, "One")}, by=("pmid",))
    found = look_up([pmcid, both], None, [converter, records])
    assert [found[ids].title for ids in (pmcid, both)] == ["One", "One"]
    assert asked == [[both]]


def test_a_record_without_a_title_is_a_record():
    records, _ = source("records", {A: Paper(A, journal="J")})
    never, asked = source("never", {})
    assert look_up([A], None, [records, never])[A].journal == "J"
    assert asked == []


def test_one_who_did_not_answer_makes_it_unknown_not_absent():
    down, _ = source("down", {A: Unreachable("busy", retry_after=90.0)})
    blank, _ = source("blank", {})
    for order in ([down, blank], [blank, down]):
        outcome = look_up([A], None, order)[A]
        assert isinstance(outcome, Unreachable)
        assert outcome.retry_after == 90


def test_everybody_answered_and_nobody_knows():
    blank, _ = source("blank", {})
    outcome = look_up([A], None, [blank])[A]
    assert isinstance(outcome, NotFound)
    assert "blank" in outcome.message


def test_a_contradiction_costs_that_paper_only():
    given = Ids(pmid="1", doi="10.1000/a")
    records, _ = source(
        "records", {given: Paper(Ids(pmid="1", doi="10.1000/b"), "One"), B: Paper(B, "Two")}
    )
    found = look_up([given, B], None, [records])
    assert isinstance(found[given], BadRequest)
    assert found[B].title == "Two"


@pytest.mark.parametrize("error", [KeyError, TypeError, ValueError, AttributeError])
def test_an_answer_in_another_form_is_no_answer(error, caplog):
    def ask(wanted, web):
        raise error("changed")

    outcome = look_up([A], None, [Source("odd", "made up", lookup=Lookup(("pmid",), ask))])[A]
    assert isinstance(outcome, Unreachable)
    assert "form we do not understand" in caplog.text
