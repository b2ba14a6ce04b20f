"""The best passages by words are the same, whichever way filters are checked."""

import random

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


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    """Two thousand passages in two segments, with terms from frequent to rare."""
    import tantivy

    index = PassageIndex(Generations(tmp_path_factory.mktemp("mirror"), "pubmed"))
    chance = random.Random(3)
    for segment in range(2):
        writer = index.index.writer(15_000_000, 1)
        for at in range(1_000):
            words = [f"t{int(chance.paretovariate(0.6)) % 300}" for _ in range(60)]
            writer.add_document(
                tantivy.Document(
                    terms=" ".join(words),
                    place=segment * 1_000 + at,
                    key=segment * 1_000 + at,
                    kind="abstract",
                    year=chance.randint(1990, 2026),
                    retracted=int(chance.random() < 0.1),
                    journal=["rare letters" if at % 250 == 7 else "common letters"],
                    types=["review" if at % 5 == 0 else "journal article"],
                    mesh=[f"h{chance.randint(1, 9)}"],
                )
            )
        writer.commit()
        writer.wait_merging_threads()
    index.index.reload()
    return Snapshot(index, index.index.searcher(), None, {})


def find_exhaustively(snapshot, filters, limit):
    """Score every document that passes."""
    schema = snapshot.words.index.schema
    conditions = list(build_filter_queries(schema, filters))
    query = add_unscored_conditions(build_terms_query(schema, ASKED), conditions)
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
