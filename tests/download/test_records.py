"""Learning what papers are, with sources made up on the spot."""

import time
from dataclasses import replace

import pytest

from utils.download.records import add_registered_terms, look_up_records
from utils.errors import BadContent, BadRequest, NotAvailable, NotFound, Unreachable
from utils.http import Web
from utils.model.identifiers import Ids
from utils.model.paper import Paper
from utils.settings import Settings
from utils.sources import Lookup, Source

A, B, C = Ids(pmid="1"), Ids(pmid="2"), Ids(pmid="3")


def source(name, answers, by=("pmid", "doi", "pmcid"), batch=100, trouble=None):
    """A source that knows *answers*, remembers what it was asked, and fails over *trouble*."""
    asked = []

    def ask(wanted, web):
        asked.append(list(wanted))
        for ids, error in (trouble or {}).items():
            if ids in wanted:
                raise error
        return {ids: answers[ids] for ids in wanted if ids in answers}

    return Source(name, "made up", lookup=Lookup(by, batch, ask)), asked


@pytest.fixture
def web():
    return Web(Settings(), [])


def test_each_source_is_asked_once_about_what_is_still_unknown(web):
    first, asked_first = source("first", {A: Paper(A, "One")})
    second, asked_second = source("second", {B: Paper(B, "Two")})
    found = look_up_records([A, B], web, [first, second])
    assert (found[A].title, found[B].title) == ("One", "Two")
    assert (found[A].recorded_by, found[B].recorded_by) == ("first", "second")
    assert (asked_first, asked_second) == ([[A, B]], [[B]])


def test_batches_are_as_large_as_the_source_takes_them(web):
    many = [Ids(pmid=str(number)) for number in range(1, 8)]
    _, asked = made = source("s", {}, batch=3)
    look_up_records(many, web, [made[0]])
    assert [len(batch) for batch in asked] == [3, 3, 1]


def test_identifiers_alone_are_no_record_and_lead_to_the_next_source(web):
    pmcid = Ids(pmcid="PMC1")
    both = Ids(pmcid="PMC1", pmid="1")
    converter, _ = source("converter", {pmcid: Paper(both)}, by=("pmcid",))
    records, asked = source("records", {both: Paper(A, "One")}, by=("pmid",))
    found = look_up_records([pmcid], web, [converter, records])[pmcid]
    assert (found.title, found.ids) == ("One", both)
    assert asked == [[both]]


def test_two_ways_to_the_same_paper_both_get_it(web):
    pmcid, both = Ids(pmcid="PMC1"), Ids(pmcid="PMC1", pmid="1")
    converter, _ = source("converter", {pmcid: Paper(both), both: Paper(both)}, by=("pmcid",))
    records, asked = source("records", {both: Paper(A, "One")}, by=("pmid",))
    found = look_up_records([pmcid, both], web, [converter, records])
    assert [found[ids].title for ids in (pmcid, both)] == ["One", "One"]
    assert asked == [[both]]


def test_a_record_without_a_title_is_a_record(web):
    records, _ = source("records", {A: Paper(A, journal="J")})
    never, asked = source("never", {})
    assert look_up_records([A], web, [records, never])[A].journal == "J"
    assert asked == []


@pytest.mark.parametrize(
    "miss",
    [
        Unreachable("busy", retry_after=90.0),
        NotAvailable("forbidden", status=403),
        BadContent("no XML", verdict="not_a_paper"),
    ],
    ids=lambda miss: type(miss).__name__,
)
def test_one_who_did_not_answer_makes_it_unknown_not_absent(miss, web):
    silent, asked = source("silent", {}, trouble={A: miss, B: miss})
    blank, _ = source("blank", {})
    for order in ([silent, blank], [blank, silent]):
        found = look_up_records([A, B], web, order)
        assert {type(outcome) for outcome in found.values()} == {Unreachable}
    assert asked == [[A, B], [A, B]]  # who refuses us as such is not asked again in halves


def test_a_source_that_is_down_is_not_asked_about_everybody(web):
    many = [Ids(doi=f"10.1000/{number}") for number in range(20)]
    down, asked = source("down", {}, batch=1, trouble=dict.fromkeys(many, Unreachable("down")))
    found = look_up_records(many, web, [down])
    assert {type(outcome) for outcome in found.values()} == {Unreachable}
    assert len(asked) == 3


def test_three_in_turn_means_in_turn(web):
    many = [Ids(doi=f"10.1000/{number}") for number in range(9)]
    trouble = {ids: Unreachable("busy") for number, ids in enumerate(many) if number % 3}
    shaky, asked = source("shaky", {}, batch=1, trouble=trouble)
    look_up_records(many, web, [shaky])
    assert len(asked) == 9


def test_terms_are_not_asked_for_while_the_registry_is_silent(library):
    paper = Paper(Ids(doi="10.1000/a"), "One")
    down, asked = source("crossref", {}, trouble={paper.ids: Unreachable("down")})
    for _ in range(3):
        assert add_registered_terms(paper, library.web, [down]) == paper
    assert len(asked) == 1
    time.sleep(61)
    add_registered_terms(paper, library.web, [down])
    assert len(asked) == 2


def test_trouble_of_one_source_is_made_good_by_another(web):
    silent, _ = source("silent", {}, trouble={A: NotAvailable("no", status=403)})
    knows, _ = source("knows", {A: Paper(A, "One")})
    assert look_up_records([A], web, [silent, knows])[A].title == "One"


def test_everybody_answered_and_nobody_knows(web):
    blank, _ = source("blank", {})
    outcome = look_up_records([A], web, [blank])[A]
    assert isinstance(outcome, NotFound)
    assert "blank" in outcome.message


def test_a_contradiction_costs_that_paper_only_and_ends_its_inquiry(web):
    given = Ids(pmid="1", doi="10.1000/a")
    records, _ = source(
        "records", {given: Paper(Ids(pmid="1", doi="10.1000/b"), "One"), B: Paper(B, "Two")}
    )
    later, asked = source("later", {})
    found = look_up_records([given, B], web, [records, later])
    assert isinstance(found[given], BadRequest)
    assert found[B].title == "Two"
    assert asked == []


@pytest.mark.parametrize(
    "error", [NotAvailable("bad list", status=400), KeyError("x"), TypeError(), AttributeError()]
)
def test_one_odd_paper_costs_that_paper_only(error, caplog, web):
    answers = {A: Paper(A, "One"), C: Paper(C, "Three")}
    odd, _ = source("odd", answers, trouble={B: error})
    found = look_up_records([A, B, C], web, [odd])
    assert (found[A].title, found[C].title) == ("One", "Three")
    assert isinstance(found[B], Unreachable)


def test_what_is_remembered_is_not_lost_with_those_nobody_answers_for(web):
    down, asked = source("down", {}, trouble={B: Unreachable("down")})
    kept = replace(
        down.lookup, recall=lambda wanted, web: {A: Paper(A, "One")} if A in wanted else {}
    )
    found = look_up_records([A, B], web, [replace(down, lookup=kept)])
    assert found[A].title == "One"
    assert isinstance(found[B], Unreachable)
    assert asked == [[B]]


def test_remembered_ones_are_no_answer_of_a_site_that_is_down(web):
    many = [Ids(pmid=str(number)) for number in range(1, 21)]
    down, asked = source("down", {}, batch=1, trouble=dict.fromkeys(many, Unreachable("down")))
    even = {ids: Paper(ids, "Even") for ids in many[::2]}
    kept = replace(down.lookup, recall=lambda wanted, web: even)
    found = look_up_records(many, web, [replace(down, lookup=kept)])
    assert sum(isinstance(outcome, Paper) for outcome in found.values()) == 10
    assert len(asked) == 3
