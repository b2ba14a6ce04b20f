"""One order of what words and what vectors found."""

import pytest

from utils.passages.ranking import K, fused


def found(*names, by=1.0):
    return [(name, f"pmid:{name}", by * (100 - at)) for at, name in enumerate(names)]


def order(hits):
    return [hit.uuid for hit in hits]


def test_what_both_ways_found_stands_before_what_one_did():
    hits = fused(found("a", "b"), found("c", "b", by=0.001), 10)
    assert order(hits) == ["b", "a", "c"]
    assert hits[0].score == pytest.approx(2 / (K + 2))
    assert (hits[0].bm25, hits[0].sim) == (99.0, pytest.approx(0.099))
    assert (hits[1].bm25, hits[1].sim) == (100.0, None)
    assert hits[1].paper == "pmid:a"


def test_the_first_of_one_way_is_not_lost_behind_what_both_have_somewhere():
    common = [f"common-{n:02}" for n in range(40)]
    strangers = [f"stranger-{n}" for n in range(15)]
    by_words, by_meaning = found("sure", *common), found(*strangers, *common)
    assert order(fused(by_words, by_meaning, 50)).index("sure") < 10
    assert order(fused(by_meaning, by_words, 50)).index("sure") < 10
    assert order(fused(by_words, by_meaning, 50, k=60)).index("sure") > 30


def test_a_weight_of_a_fifth_moves_the_best_two_places_at_the_top_and_four_at_the_tenth():
    hits = fused(found(*(f"{n:02}" for n in range(1, 51))), [], 50)
    above = [1.2 * hit.score for hit in hits]
    assert [sum(best > hits[at].score for best in above[at + 1 :]) for at in (0, 9)] == [2, 4]


def test_a_tie_is_not_broken_by_which_way_came_first():
    assert order(fused(found("b"), found("a"), 2)) == ["a", "b"]
    assert order(fused(found("a"), found("b"), 2)) == ["a", "b"]


@pytest.mark.parametrize("limit", [0, -1])
def test_nothing_wanted_is_nothing_found(limit):
    assert fused(found("a"), found("a"), limit) == []
