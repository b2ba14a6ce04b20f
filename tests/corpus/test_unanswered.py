"""The nearest passages to a question are not shown as its answer where they have little of it."""

import pytest

from tests.corpus.small_corpus import corpus_in, fill, paper, passage
from utils.corpus.search import QualityScores, ScoredPassage
from utils.corpus.unanswered import MIN_ANSWER_COSINE, build_doubt_warning
from utils.model.passage import Filters

MODEL = "all-MiniLM-L6-v2@1-int8.2"
WARM = "Corals bleach when the water of the reef is warm for weeks."


@pytest.fixture
def corpus(tmp_path):
    corpus = corpus_in(tmp_path / "papers", vectors=False)
    fill(corpus, [paper("1")], [passage("pmid:1", WARM)])
    yield corpus
    corpus.finder.close()
    corpus.database.close()
    corpus.shelf.close()


def scored(text, sim=None):
    nothing = QualityScores(None, None, None, None, 0)
    return ScoredPassage(passage("pmid:1", text), 1.0, sim, None, nothing)


@pytest.mark.parametrize(
    "question", ["warm water and bleaching", "Do corals bleach in a reef?", "reefs"]
)
def test_what_has_most_words_of_the_question_is_shown_without_doubt(corpus, question):
    found = corpus.find(question)
    assert found.hits
    assert not any("Perhaps" in warning for warning in found.warnings)


def test_what_has_few_of_them_says_which_are_nowhere(corpus):
    found = corpus.find("Which warm bread is baked with yeast?")
    assert found.hits  # shown all the same: it is for the reader to judge
    first = found.warnings[0]
    assert "1 of the 4 words" in first
    assert "bread, baked, yeast" in first
    assert "sync" in first


def test_what_is_near_in_meaning_needs_no_words():
    assert (
        build_doubt_warning(
            "zooxanthellae expulsion", [scored(WARM, MIN_ANSWER_COSINE["all-MiniLM-L6-v2"])], MODEL
        )
        == ""
    )
    far = build_doubt_warning("zooxanthellae expulsion", [scored(WARM, 0.21)], MODEL)
    assert "0.21" in far
    assert "0.4" in far


def test_of_another_model_only_words_count():
    """Cosines of some models are above 0.6 for any two texts."""
    told = build_doubt_warning(
        "zooxanthellae expulsion", [scored(WARM, 0.7)], "BAAI/bge-small-en-v1.5@1"
    )
    assert told
    assert "similarity" not in told


def test_a_long_question_is_not_held_against_half_of_its_words():
    long = "weeks of warm water reef " + " ".join(f"word{chr(97 + n)}x" for n in range(12))
    assert build_doubt_warning(long, [scored(WARM)]) == ""


def test_nothing_found_says_what_to_do(corpus):
    found = corpus.find("statins")
    assert not found.hits
    assert "No passage has any" in found.warnings[0]
    found = corpus.find("corals", filters=Filters(year_to=1900))
    assert not found.hits
    assert "Years: to 1900 leaves no passages. Without it: " in found.warnings[0]
