"""Finding passages: the order, what is left out, and what must not look like nothing found."""

import pytest

from tests.corpus.small_corpus import LetterEmbedder, corpus_in, fill, index, paper, passage
from utils.corpus.quality import get_utc_today, score_quality
from utils.corpus.search import (
    EVIDENCE_WEIGHT,
    MAX_PER_PAPER,
    ScoredPassage,
    limit_passages_per_paper,
)
from utils.corpus.stored_records import Source
from utils.errors import BadRequest, EmbeddingsFailed, NotFound, StoreFailed
from utils.model.paper import Author
from utils.model.passage import Filters

TRIAL = ("Randomized Controlled Trial", "Journal Article")
RETRACTED = ("Journal Article", "Retracted Publication")


@pytest.fixture
def corpus(tmp_path):
    corpus = corpus_in(tmp_path / "papers")
    yield corpus
    corpus.finder.close()
    corpus.database.close()
    corpus.shelf.close()


def reef(corpus):
    """Three papers on bleaching, one on something else."""
    return fill(
        corpus,
        [paper("1"), paper("2", publication_types=TRIAL, mesh=("Humans",)), paper("3"), paper("4")],
        [
            passage("pmid:1", "Corals bleach when the water of the reef is warm for weeks."),
            passage("pmid:2", "Corals bleach when the water of the reef is warm for months."),
            passage("pmid:3", "Bleaching of corals was seen."),
            passage("pmid:4", "Statins lower cholesterol in adults."),
        ],
    )


def found(answer):
    return [one.passage.paper for one in answer.hits]


def test_a_hit_says_what_stands_where_and_why_it_ranks(corpus):
    reef(corpus)
    answer = corpus.find("warm water bleaches corals")
    best = answer.hits[0]
    assert best.passage.text.startswith("Corals bleach")
    assert (best.passage.section, best.passage.start) == ("Abstract", 0)
    assert best.sim is not None
    assert best.bm25 is not None
    assert best.quality.total == 8
    assert not answer.warnings


def test_quality_lifts_the_better_paper_by_what_is_documented(corpus):
    many = [passage(f"pmid:{n}", "Statins lower cholesterol in adults.") for n in range(10, 30)]
    study = passage("pmid:1", "Corals bleach when the reef is warm for weeks.")
    trial = passage("pmid:2", "Corals bleach when the reef is warm, as was seen for months.")
    fill(
        corpus,
        [paper("1"), paper("2", publication_types=TRIAL, mesh=("Humans",))]
        + [paper(str(n)) for n in range(10, 30)],
        [study, trial, *many],
    )
    query = "corals bleach in a warm reef"
    plain = corpus.find(query, quality_bias=False)
    assert found(plain)[0] == "pmid:1"
    biased = corpus.find(query)
    assert found(biased)[0] == "pmid:2"
    before = {one.passage.paper: one.score for one in plain.hits}
    for one in biased.hits:
        assert one.score == pytest.approx(
            before[one.passage.paper] * (1 + EVIDENCE_WEIGHT * one.quality.design / 3)
        )
    scores = [one.score for one in biased.hits]
    assert scores == sorted(scores, reverse=True)


def test_retracted_papers_come_last_and_are_marked(corpus):
    reef(corpus)
    corpus.database.store_records([paper("1", publication_types=RETRACTED, revised="2025-01-01")])
    query = "corals bleach when the water of the reef is warm for weeks"
    answer = corpus.find(query, filters=Filters(retracted=True))
    assert found(answer)[-1] == "pmid:1"
    assert [one.passage.retracted for one in answer.hits] == [False] * 3 + [True]
    answer = corpus.find(query, filters=Filters(retracted=True), quality_bias=False)
    assert found(answer)[0] == "pmid:1"


def test_a_preprint_comes_behind_what_became_of_it(corpus):
    title, who = "Corals of warm reefs bleach within weeks", (Author("Doe", "Jane"),)
    about = {"title": title, "authors": who, "abstract": "Corals bleach."}
    preprint = paper(
        *("1",), journal="bioRxiv : the preprint server for biology", published="2023-01-01",
        publication_types=("Journal Article", "Preprint"), **about,
    )  # fmt: skip
    texts = [
        passage("pmid:1", "Corals bleach when the reef is warm for weeks.", title=title),
        passage("pmid:2", "Corals bleach when the reef is warm, as was seen.", title=title),
        passage("pmid:3", "Corals."),
    ]
    fill(corpus, [preprint, paper("2", **about), paper("3")], texts)
    query = "corals bleach when the reef is warm for weeks"
    assert found(corpus.find(query, quality_bias=False))[:2] == ["pmid:1", "pmid:2"]
    assert found(corpus.find(query))[:2] == ["pmid:2", "pmid:1"]


def test_one_paper_does_not_take_the_places_of_others(corpus):
    many = [passage("pmid:1", f"Corals bleach in warm water, case {n}.", n) for n in range(8)]
    one = passage("pmid:2", "Something about water and light and sand and fish and a coral.")
    fill(corpus, [paper("1"), paper("2")], [*many, one])
    few = found(corpus.find("corals bleach in warm water", top_k=4))
    assert few.count("pmid:1") == MAX_PER_PAPER
    assert "pmid:2" in few
    everything = corpus.find("corals bleach in warm water", top_k=9)
    assert found(everything).count("pmid:1") == 8
    scores = [one.score for one in everything.hits]
    assert scores == sorted(scores, reverse=True)


def test_what_is_no_longer_in_the_database_is_not_found(corpus):
    reef(corpus)
    corpus.database.delete_paper_passages("pmid:1")
    answer = corpus.find("corals bleach")
    assert "pmid:1" not in found(answer)
    assert any("out of date by 1 passages" in warning for warning in answer.warnings)


def test_a_paper_retracted_since_is_found_only_where_asked_for(corpus):
    reef(corpus)
    corpus.database.store_records([paper("1", publication_types=RETRACTED, revised="2025-01-01")])
    assert "pmid:1" not in found(corpus.find("corals bleach"))
    known = corpus.find("corals bleach", filters=Filters(retracted=True))
    [one] = [one for one in known.hits if one.passage.paper == "pmid:1"]
    assert one.quality.total == 0


def test_filters_reach_the_index(corpus):
    reef(corpus)
    assert found(corpus.find("corals", filters=Filters(year_from=2025))) == []
    kinds = corpus.find("corals", filters=Filters(kind="abstract", journal="Reef Studies"))
    assert kinds.hits


def test_without_vectors_words_are_searched_and_every_answer_says_so(tmp_path):
    corpus = corpus_in(tmp_path / "papers", vectors=False)
    reef(corpus)
    answer = corpus.find("cholesterol")
    assert found(answer) == ["pmid:4"]
    assert answer.hits[0].sim is None
    assert any("words alone" in one and "EMBEDDINGS_PROVIDER" in one for one in answer.warnings)
    with pytest.raises(EmbeddingsFailed, match="EMBEDDINGS_PROVIDER"):
        corpus.find("cholesterol", by="meaning")


def test_a_model_that_fails_is_a_warning_and_an_error_where_only_meaning_counts(corpus):
    reef(corpus)

    class Broken(LetterEmbedder):
        def embed_texts(self, texts):
            raise EmbeddingsFailed("The model is not there.", "Install it.")

    corpus.__dict__["embedder"] = Broken()
    answer = corpus.find("cholesterol")
    assert found(answer) == ["pmid:4"]
    assert "Found by words alone: The model is not there. Install it." in answer.warnings
    with pytest.raises(EmbeddingsFailed):
        corpus.find("cholesterol", by="meaning")
    assert corpus.find("cholesterol", by="words").warnings == ()


def test_a_model_that_is_not_installed_is_said_with_what_to_install(corpus):
    reef(corpus)

    class Missing(LetterEmbedder):
        def explain_unavailable(self):
            return "No model: install papershelf[embed]."

    corpus.__dict__["embedder"] = Missing()
    assert corpus.find("corals").warnings == (
        "Found by words alone: No model: install papershelf[embed].",
    )


def test_vectors_of_another_model_are_not_compared(corpus):
    reef(corpus)

    class Other(LetterEmbedder):
        model = "letters-2"

    corpus.__dict__["embedder"] = Other()
    answer = corpus.find("corals")
    assert all(one.sim is None for one in answer.hits)
    assert any("letters-1" in one and "letters-2" in one for one in answer.warnings)


def test_meaning_alone_looks_at_vectors_alone(corpus):
    reef(corpus)
    answer = corpus.find("corals bleach", by="meaning")
    assert answer.hits
    assert all(one.bm25 is None for one in answer.hits)


def test_passages_without_a_vector_are_counted(corpus):
    reef(corpus)
    late = passage("pmid:3", "A late passage on seagrass.", 1)
    held = corpus.database.get_passages_of_paper("pmid:3")
    corpus.database.replace_passages([("pmid:3", Source("new"), [*held, late])])
    corpus.finder.store_passages([late], None)
    warnings = corpus.find("seagrass").warnings
    assert any("1 passages have no vector" in warning for warning in warnings)


def test_not_everything_is_counted_at_every_search(corpus, monkeypatch):
    reef(corpus)
    counts, counted = corpus.database.count_rows, []
    monkeypatch.setattr(corpus.database, "count_rows", lambda: counted.append(1) or counts())
    corpus.find("corals")
    corpus.find("cholesterol")
    assert len(counted) == 1
    monkeypatch.setattr("utils.corpus._COUNTS_MAX_AGE_S", -1.0)
    corpus.find("corals")
    assert len(counted) == 2


def test_papers_that_wait_to_be_indexed_are_counted(corpus):
    reef(corpus)
    corpus.database.store_records([paper("5"), paper("6")])
    assert any("2 papers are not indexed" in one for one in corpus.find("corals").warnings)


@pytest.mark.parametrize("by", ["both", "words", "meaning"])
def test_an_empty_corpus_is_an_error_with_a_next_step(corpus, by):
    with pytest.raises(StoreFailed, match=r"corpus\.sync"):
        corpus.find("corals", by=by)


def test_an_empty_index_is_an_error_with_a_next_step(corpus):
    corpus.database.store_records([paper("1")])
    with pytest.raises(StoreFailed, match=r"corpus\.index"):
        corpus.find("corals")


def test_a_finder_that_is_down_is_an_error(corpus):
    reef(corpus)

    class Down:
        def get_status(self):
            raise StoreFailed("It does not answer.")

        def close(self):
            pass

    corpus.__dict__["finder"] = Down()
    with pytest.raises(StoreFailed, match="does not answer"):
        corpus.find("corals")


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("  ", {}),
        ("a\x00b", {}),
        ("x" * 5000, {}),
        ("corals", {"top_k": 0}),
        ("corals", {"top_k": 101}),
        ("corals", {"filters": Filters(year_from=2025, year_to=2020)}),
        ("?!", {"by": "words"}),
    ],
)
def test_what_cannot_be_asked_is_refused(corpus, query, options):
    reef(corpus)
    with pytest.raises(BadRequest):
        corpus.find(query, **options)


def test_papers_without_a_pmid_are_counted_where_a_document_leaves_them_out(corpus):
    reef(corpus)
    preprint = passage("doi:10.1000/a", "Corals bleach in warm water of the reef.")
    corpus.database.replace_passages([("doi:10.1000/a", Source("digest"), [preprint])])
    index(corpus, [preprint])
    everything = corpus.find("corals bleach")
    assert "doi:10.1000/a" in found(everything)
    [one] = [one for one in everything.hits if one.passage.paper == "doi:10.1000/a"]
    assert one.quality.recency is not None
    only = corpus.find("corals bleach", pubmed_only=True)
    assert {"pmid:1", "pmid:2", "pmid:3"} <= set(found(only))
    assert "doi:10.1000/a" not in found(only)
    assert any("have no PMID: 1." in one for one in only.warnings)


def test_what_was_left_out_is_not_called_missing(corpus):
    preprint = passage("arxiv:2601.00001", "Corals bleach in warm water of the reef.")
    fill(corpus, [], [preprint])
    only = corpus.find("corals bleach", pubmed_only=True)
    assert not only.hits
    assert any("have no PMID: 1." in one for one in only.warnings)
    assert not any("No passage has" in one for one in only.warnings)


def test_a_record_is_looked_up_by_the_name_a_search_answers(corpus):
    reef(corpus)
    assert corpus.record("pmid:2").paper.title == "Paper 2"
    assert corpus.record("2").version == 1
    corpus.database.store_records([paper("2", title="Another", revised="2025-01-01")])
    assert corpus.record("pmid:2").version == 2
    with pytest.raises(NotFound, match=r"corpus\.sync"):
        corpus.record("pmid:999")
    with pytest.raises(BadRequest):
        corpus.record("doi:10.1000/a")


def test_a_tie_is_broken_the_same_way_every_time():
    quality = score_quality(paper("1"), get_utc_today())
    twins = [
        ScoredPassage(passage(f"pmid:{n}", "The same."), 1.0, None, 1.0, quality)
        for n in range(1, 7)
    ]
    assert limit_passages_per_paper(twins, 4) == limit_passages_per_paper(reversed(twins), 4)
