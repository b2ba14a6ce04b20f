"""One order of what words and what vectors found."""

import pytest

from utils.corpus.ranking import compute_term_share, fuse_scores, weigh_term


def found(*scores):
    return [(name, f"pmid:{name}", score) for name, score in scores]


def order(hits):
    return [hit.uuid for hit in hits]


def test_every_candidate_tells_both_scores_where_they_are_known():
    hits = fuse_scores(
        found(("a", 20.0), ("b", 10.0)), found(("b", 0.9), ("c", 0.8)), "reef", 1.0, 10
    )
    assert {hit.uuid: (hit.bm25, hit.sim) for hit in hits} == {
        "a": (20.0, None),
        "b": (10.0, 0.9),
        "c": (None, 0.8),
    }
    assert hits[0].paper == "pmid:b"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_where_nothing_comes_near_in_meaning_words_decide():
    by_words = found(("named", 9.0), ("vague", 3.0))
    by_meaning = found(("vague", 0.25), ("named", 0.1))
    assert order(fuse_scores(by_words, by_meaning, "reef", 1.0, 10)) == ["named", "vague"]


def test_where_most_words_are_nowhere_meaning_decides():
    by_words = found(("chance", 9.0), ("meant", 3.0))
    by_meaning = found(("meant", 0.8), ("chance", 0.2))
    assert order(fuse_scores(by_words, by_meaning, "reef", 0.2, 10)) == ["meant", "chance"]


@pytest.mark.parametrize(
    ("question", "first"),
    [("dose of 12.5 mg", "named"), ("about 3 doses", "named")]
    + [(name, "meant") for name in ("dose of IL-6", "COVID-19", "p53 doses", "doses")],
)
def test_words_count_double_in_a_question_with_a_number(question, first):
    by_words = found(("named", 9.0), ("meant", 4.0))
    by_meaning = found(("meant", 0.8), ("named", 0.3))
    assert order(fuse_scores(by_words, by_meaning, question, 0.7, 10))[0] == first


@pytest.mark.parametrize("factor", [0.01, 1.0, 1000.0])
def test_the_unit_of_a_stores_words_does_not_matter(factor):
    by_words = found(*((name, factor * score) for name, score in (("a", 9.0), ("b", 8.0))))
    by_meaning = found(("b", 0.6), ("a", 0.5))
    scores = [hit.score for hit in fuse_scores(by_words, by_meaning, "reef", 0.8, 10)]
    assert scores == pytest.approx([0.768 + 0.3, 0.768 * 8 / 9 + 0.36])


def test_one_way_alone_keeps_its_order_and_vectors_may_point_away():
    assert order(fuse_scores(found(("a", 3.0), ("b", 2.0)), [], "reef", 0.5, 10)) == ["a", "b"]
    assert order(fuse_scores([], found(("a", 0.3), ("b", 0.2)), "reef", 0.0, 10)) == ["a", "b"]
    assert order(
        fuse_scores(found(("b", 2.0)), found(("a", -0.1), ("b", -0.2)), "reef", 1.0, 10)
    ) == [
        "b",
        "a",
    ]


def test_a_tie_is_not_broken_by_which_way_came_first():
    assert order(fuse_scores(found(("b", 1.0), ("a", 1.0)), [], "reef", 1.0, 2)) == ["a", "b"]


@pytest.mark.parametrize("limit", [0, -1])
def test_nothing_wanted_is_nothing_found(limit):
    assert fuse_scores(found(("a", 1.0)), found(("a", 0.5)), "reef", 1.0, limit) == []


def test_the_share_of_the_terms_that_a_passage_has():
    assert compute_term_share([("il6",), ("reef",)], {"reef", "coral"}) == 0.5
    assert compute_term_share([], {"reef"}) == 0.0


def test_a_term_in_the_other_spelling_is_a_whole_one():
    asked = [("tumour", "tumor"), ("reef",)]
    assert compute_term_share(asked, {"tumor", "reef"}) == 1.0
    assert compute_term_share(asked, {"tumour", "tumor"}) == 0.5


def test_a_rare_number_says_more_than_common_words():
    asked = [("studi",), ("report",), ("12.5",)]
    weights = [weigh_term(holding, 1_000) for holding in (600, 500, 2)]
    assert compute_term_share(asked, {"12.5"}, weights) > 0.75
    assert compute_term_share(asked, {"studi", "report"}, weights) < 0.25
