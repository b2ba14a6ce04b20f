"""A model that reads question and passage together has the last word on the order."""

import pytest

from tests.corpus.small_corpus import corpus_in, fill, paper, passage
from utils.corpus.local_model import Reranker
from utils.errors import EmbeddingsFailed
from utils.settings import load_settings

pytest.importorskip("numpy")
for _package in ("onnx", "fastembed"):
    pytest.importorskip(_package, reason="needs the extra embed")

from tests.corpus.tiny_cross_encoder import tiny_cross_encoder  # noqa: E402 - it needs onnx
from tests.corpus.tiny_encoder import lay_out  # noqa: E402 - it needs onnx

pytestmark = pytest.mark.extras("onnx", "fastembed")
PASSAGES = ["the heart fails", "fever and pain", "pain and pain and fever"]


@pytest.fixture
def folder(tmp_path):
    return lay_out(tmp_path / "model", tiny_cross_encoder("pain"))


def reranker(folder):
    return Reranker(str(folder), load_settings())


def test_a_pair_is_read_together_and_scored(folder):
    least, middle, most = reranker(folder).score_passages("pain", PASSAGES)
    assert 0 < least < middle < most < 1
    assert reranker(folder).score_passages("pain", []) == []


def test_a_model_of_several_classes_is_refused(tmp_path):
    two = lay_out(tmp_path / "two", tiny_cross_encoder("pain", outputs=2))
    with pytest.raises(EmbeddingsFailed, match="2 numbers"):
        reranker(two).score_passages("q", PASSAGES)


def test_a_long_passage_is_cut_and_a_strange_one_read(folder):
    scores = reranker(folder).score_passages("fever " * 500, ["pain " * 100_000, "", "\ud800\0"])
    assert len(scores) == 3


@pytest.fixture
def asked_about_fever(tmp_path, folder):
    """Answers of a corpus, with the model and without."""
    corpus = corpus_in(tmp_path / "papers", vectors=False)
    made = [passage(f"pmid:{at}", f"{one}, all year.") for at, one in enumerate(PASSAGES, 1)]
    fill(corpus, [paper(str(at)) for at in (1, 2, 3)], made)

    def ask(model):
        corpus.__dict__["reranker"] = Reranker(model, corpus.settings) if model else None
        answer = corpus.find("year of fever", quality_bias=False)
        return [hit.passage.paper for hit in answer.hits], answer

    yield ask
    corpus.finder.close()
    corpus.database.close()
    corpus.shelf.close()


def test_the_answer_has_its_order_and_says_so(asked_about_fever, folder):
    before, _ = asked_about_fever("")
    after, answer = asked_about_fever(str(folder))
    assert before[0] != "pmid:3"
    assert after == ["pmid:3", "pmid:2", "pmid:1"]
    assert sorted(before) == sorted(after)
    assert "in the order of" in " ".join(answer.warnings)
    scores = [hit.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True)


def test_a_model_that_is_not_there_changes_nothing_and_is_said(asked_about_fever, tmp_path):
    before, _ = asked_about_fever("")
    after, answer = asked_about_fever(str(tmp_path / "nowhere"))
    assert after == before
    [told] = [one for one in answer.warnings if "Not put in order once more" in one]
    assert "RERANKER_MODEL=" in told
    assert "EMBEDDINGS_MODEL" not in told


def test_only_the_best_are_read_and_stay_before_the_rest(asked_about_fever, folder, monkeypatch):
    monkeypatch.setattr("utils.corpus.search._MAX_RERANKED", 2)
    before, _ = asked_about_fever("")
    after, _ = asked_about_fever(str(folder))
    assert set(after[:2]) == set(before[:2])
    assert after[2] == before[2]
