"""The order of screening is learned from decisions, explained, and says when to stop."""

import random

import pytest

from utils.errors import BadRequest
from utils.lists.decisions import Decision
from utils.model.identifiers import Ids
from utils.model.paper import Paper
from utils.review.exchange import export_records
from utils.review.ledger import ReviewRecord
from utils.review.protocol import Protocol
from utils.review.ranking import BatchCount, compute_risk_bound, rank_records
from utils.review.standing import derive_screening_statuses

pytest.importorskip("sklearn", reason="needs the extra rank")

PROTOCOL = Protocol("Moss in peat", question="How does moss keep water?", screeners=1)
MOSS = [f"Sphagnum moss stores water in peat bog number {n}" for n in range(12)]
OTHER = [f"Traffic noise in city quarter number {n} and sleep of drivers" for n in range(40)]


def make_record(key, title):
    values = {"key": key, "asked": title, "arm": "database", "paper": Paper(Ids(), title=title)}
    return ReviewRecord(**{name: values.get(name, 0) for name in ReviewRecord.__dataclass_fields__})


def standings_of(titles, decisions):
    """Return standings; *decisions* are choices by the place of the record."""
    records = [make_record(str(at), title) for at, title in enumerate(titles)]
    told = {str(at): [Decision("ann", choice)] for at, choice in decisions.items()}
    return derive_screening_statuses(records, told, PROTOCOL)


def test_what_is_like_the_included_records_comes_first_and_says_why():
    titles = [*OTHER, *MOSS]
    standings = standings_of(titles, {0: "exclude", 1: "exclude", 40: "include"})
    ranking = rank_records(standings, [["0", "1", "40"]], PROTOCOL)
    assert [row.rank for row in ranking.rows] == list(range(1, 50))
    first = ranking.rows[:11]
    assert {row.record.paper.title for row in first} == set(MOSS[1:])
    assert {"moss", "water", "peat", "sphagnum"} & set(" ".join(first[0].reasons).split())
    assert (ranking.is_learned, ranking.included, ranking.excluded) == (True, 1, 2)


@pytest.mark.parametrize("decisions", [{}, {0: "exclude"}, {40: "include"}])
def test_before_both_kinds_of_decision_the_protocol_orders(decisions):
    standings = standings_of([*OTHER, *MOSS], decisions)
    ranking = rank_records(standings, [], PROTOCOL)
    assert not ranking.is_learned
    assert all("moss" in row.record.paper.title for row in ranking.rows[:11])
    assert len(ranking.rows) == 52 - len(decisions)


def test_titles_without_words_and_a_single_record_are_ordered_too():
    assert len(rank_records(standings_of(["Moss"], {}), [], PROTOCOL).rows) == 1
    decided = {0: "include", 1: "exclude"}
    ranking = rank_records(standings_of(["", "色", "", "Moss"], decided), [["0", "1"]], PROTOCOL)
    assert len(ranking.rows) == 2


@pytest.mark.parametrize("titles", [["", "", ""], ["Moss", "Moss", "Moss"], ["The", "", "Moss"]])
def test_records_without_words_or_with_the_same_words_are_ordered(titles):
    for decisions in ({}, {0: "include", 1: "exclude"}):
        ranking = rank_records(standings_of(titles, decisions), [], PROTOCOL)
        assert len(ranking.rows) == 3 - len(decisions)


def test_a_review_without_records_is_refused():
    with pytest.raises(BadRequest, match="no records"):
        rank_records([], [], PROTOCOL)


def test_conflicts_are_neither_learned_from_nor_ordered():
    records = [make_record("a", "Moss")]
    votes = {"a": [Decision("ann", "include"), Decision("bob", "exclude")]}
    ranking = rank_records(derive_screening_statuses(records, votes, PROTOCOL), [["a"]], PROTOCOL)
    assert (len(ranking.rows), ranking.included, ranking.excluded) == (0, 0, 0)


def test_the_risk_falls_with_each_batch_without_a_relevant_record():
    risks = [
        compute_risk_bound([BatchCount(300, 38), BatchCount(n, 0)], 700 - n)
        for n in (100, 300, 600)
    ]
    assert risks == sorted(risks, reverse=True)
    assert risks[0] > 0.3 > risks[1] > 0.05 > risks[2]


def test_nothing_found_is_never_a_reason_to_stop_and_nothing_unread_always():
    assert compute_risk_bound([BatchCount(500, 0)], 500) == 1.0
    assert compute_risk_bound([], 500) == 1.0
    assert compute_risk_bound([BatchCount(500, 3)], 0) == 0.0


def test_in_random_order_the_stop_misses_the_recall_at_most_as_often_as_it_says():
    missed = 0
    for seed in range(200):
        draw = random.Random(seed)
        relevant = [True] * 60 + [False] * 1140
        draw.shuffle(relevant)
        batches = []
        for start in range(0, 1200, 40):
            batches.append(BatchCount(40, sum(relevant[start : start + 40])))
            if compute_risk_bound(batches, 1160 - start) < 0.05:
                break
        missed += sum(batch.included for batch in batches) < 0.95 * 60
    assert missed <= 0.05 * 200


@pytest.mark.parametrize("program", ["rayyan", "asreview", "covidence", "eppi", "zotero"])
def test_every_export_carries_the_place_of_each_record(program):
    standings = standings_of(MOSS[:3], {})
    made = export_records(program, standings, lambda one: "", {"1": 17})
    text = "".join(made.values())
    assert text.count("17") == (2 if program == "zotero" else 1)
    assert "17" not in "".join(export_records(program, standings, lambda one: "").values())
