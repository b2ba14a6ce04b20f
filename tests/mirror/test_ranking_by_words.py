"""The best passages by words are those of scoring every passage, whatever is left out."""

import random
from collections import Counter

import pytest

from utils.corpus.word_index import (
    add_unscored_conditions,
    build_filter_queries,
    build_terms_query,
)
from utils.mirror import passages
from utils.mirror.generations import Generations
from utils.mirror.passages import PassageIndex, Snapshot
from utils.model.passage import Filters

pytestmark = pytest.mark.extras("pyarrow", "duckdb", "tantivy")
ASKED = ["t9", "t20", "t50"]
CHOICES = (
    Filters(),
    Filters(retracted=True),
    Filters(kind="abstract"),
    Filters(year_from=2020),
    Filters(year_from=1990, year_to=1990),
    Filters(journal="Common Letters"),
    Filters(journal="Rare Letters", year_to=2010),
    Filters(mesh=("H1", "h2")),
    Filters(publication_types=("Review",), mesh=("H1",), year_from=2000),
    Filters(journal="Unknown"),
    Filters(kind="full_text"),
)


def make_snapshot(folder, texts, deleted=()):
    """Index passages, in as many segments as there are lists of texts."""
    import tantivy

    index = PassageIndex(Generations(folder, "pubmed"))
    chance, place = random.Random(3), 0
    for segment in texts:
        writer = index.index.writer(15_000_000, 1)
        for at, text in enumerate(segment):
            writer.add_document(
                tantivy.Document(
                    terms=text,
                    place=place,
                    key=place if at % 10 else 7,
                    kind="abstract",
                    year=chance.randint(1990, 2026),
                    retracted=int(chance.random() < 0.1),
                    journal=["rare letters" if at % 250 == 7 else "common letters"],
                    types=["review" if at % 5 == 0 else "journal article"],
                    mesh=[f"h{chance.randint(1, 9)}"],
                )
            )
            place += 1
        for number in deleted if segment is texts[-1] else ():
            writer.delete_documents_by_term("place", number)
        writer.commit()
        writer.wait_merging_threads()
    index.index.reload()
    return Snapshot(index, index.index.searcher(), None, {})


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    """Two thousand passages in two segments, with terms from frequent to rare."""
    chance = random.Random(3)
    texts = [
        [
            " ".join(f"t{int(chance.paretovariate(0.6)) % 300}" for _ in range(60))
            for _ in range(1_000)
        ]
        for _ in range(2)
    ]
    return make_snapshot(tmp_path_factory.mktemp("mirror"), texts)


def find_exhaustively(snapshot, filters, limit, asked=ASKED):
    """Score every document that passes."""
    schema = snapshot.words.index.schema
    conditions = list(build_filter_queries(schema, filters))
    query = add_unscored_conditions(build_terms_query(schema, asked), conditions)
    return [round(score, 4) for score, _ in snapshot.searcher.search(query, limit).hits]


@pytest.mark.parametrize("narrow", [1e-9, 0.01, 2.0])
@pytest.mark.parametrize("filters", CHOICES, ids=str)
def test_filters_leave_the_best_passages(snapshot, filters, narrow, monkeypatch):
    monkeypatch.setattr(passages, "_NARROW", narrow)
    found = snapshot.find_by_words(ASKED, 20, filters)
    expected = find_exhaustively(snapshot, filters, 20)
    assert [round(score, 4) for _, score in found] == expected
    assert bool(expected) == (filters not in CHOICES[-2:])


def test_a_passage_found_by_meaning_has_the_score_of_its_words(snapshot):
    every = dict(snapshot.find_by_words(ASKED, 2_000, Filters(retracted=True)))
    some = [*every][5::40]
    assert len(some) > 10
    absent = snapshot.find_by_words(["t17"], 2_000, Filters(retracted=True))
    without = [at for at, _ in absent if at not in every][:3]
    assert without
    scored = snapshot.score_by_words(ASKED, [*some, *without])
    assert scored.keys() == set(some)
    assert scored == pytest.approx({at: every[at] for at in some})


def draw_texts(chance, kind):
    """Return texts of a few hundred passages: how terms lie in them depends on the kind."""
    words = [f"w{number}" for number in range(chance.choice((12, 60, 400)))]
    weights = [1 / (rank + 1) ** chance.uniform(0.3, 1.6) for rank in range(len(words))]
    topics = [chance.sample(words, min(6, len(words))) for _ in range(8)]
    texts = []
    for _ in range(chance.randint(300, 700)):
        length = 1 + int(chance.expovariate(1 / chance.choice((4, 40, 150))))
        text = chance.choices(words, weights, k=length)
        if kind == "topics":  # terms come together, as in one field of research
            text += chance.choice(topics) * chance.randint(1, 6)
        if kind == "repeats":  # one term makes up the whole text
            text = [chance.choice(words)] * length
        if kind == "same" and texts and chance.random() < 0.7:  # many equal scores
            text = chance.choice(texts[-40:]).split()
        texts.append(" ".join(text))
    return words, texts


@pytest.mark.parametrize("kind", ["drawn", "topics", "repeats", "same"])
@pytest.mark.parametrize("seed", range(4))
def test_leaving_terms_out_leaves_the_best_passages(kind, seed, tmp_path, monkeypatch):
    chance, plans = random.Random(f"{kind} {seed}"), Counter()
    words, texts = draw_texts(chance, kind)
    cut = chance.randint(1, len(texts) - 1)
    deleted = chance.sample(range(len(texts)), len(texts) // chance.choice((3, 20, 1_000)))
    snapshot = make_snapshot(tmp_path, [texts[:cut], texts[cut:]], deleted)
    search, guess = Snapshot._search_terms, passages._Terms.guess_floor

    def count(self, terms, plan, *rest):
        answer = search(self, terms, plan, *rest)
        if plan[0] < len(terms.names):
            plans["left open" if plan[1] < len(terms.names) else "added", answer[2]] += 1
        return answer

    def guess_badly(terms):
        return guess(terms) * chance.choice((0.5, 1, 1, 2))

    monkeypatch.setattr(Snapshot, "_search_terms", count)
    monkeypatch.setattr(passages._Terms, "guess_floor", guess_badly)
    monkeypatch.setattr(passages, "_RESCORING_COST", 0)
    monkeypatch.setattr(passages, "_RETRACTIONS", 5)
    for _ in range(60):
        monkeypatch.setattr(passages, "_CANDIDATES", chance.choice((60, 150, 4_000)))
        monkeypatch.setattr(passages, "_TERM_COST", chance.choice((0, 4, 1_000)))
        monkeypatch.setattr(
            passages, "_LEFT_OUT_SHARES", chance.choice(((0.3, 0.2), (0.9, 0.9, 0.5)))
        )
        asked = chance.choices([*words, "absent"], k=chance.choice((1, 2, 3, 5, 9, 14)))
        limit, filters = chance.choice((1, 5, 10)), chance.choice(CHOICES)
        found = snapshot.find_by_words(asked, limit, filters)
        expected = find_exhaustively(snapshot, filters, limit, asked)
        assert [score for _, score in found] == pytest.approx(expected, abs=2e-4)
        scored = snapshot.score_by_words(asked, [at for at, _ in found])
        assert scored == pytest.approx(dict(found), abs=2e-4)
    assert plans["added", True] + plans["left open", True] > 5 or kind == "repeats", plans
    assert sum(plans.values()) > 5, plans


def test_no_term_adds_more_to_a_score_than_its_bound(tmp_path):
    texts = [" ".join(["x"] * (at + 1)) for at in range(150)] + ["y"] * 400
    snapshot = make_snapshot(tmp_path, [texts[:300], texts[300:]], range(200, 500))
    for asked in ("x", "y"):
        best = snapshot.find_by_words([asked], 1, Filters(retracted=True))[0][1]
        bound = snapshot._weigh_terms([asked]).bounds[0]
        assert 0.4 * bound < best < bound


def test_a_text_that_very_many_papers_have_gets_its_score(tmp_path):
    snapshot = make_snapshot(tmp_path, [["x y"] * 12_000 + ["x"]])
    every = dict(snapshot.find_by_words(["y"], 12_000, Filters(retracted=True)))
    last = max(at for at, key in zip(every, snapshot.get_keys([*every]), strict=True) if key == 7)
    assert sum(key == 7 for key in snapshot.get_keys([*every])) > 1_020
    assert snapshot.score_by_words(["y"], [last]) == pytest.approx({last: every[last]})
