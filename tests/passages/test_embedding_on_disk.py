"""Models on this disk: BERT's graph is BERT, and what is missing, broken or strange is said."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from utils.errors import EmbeddingsFailed
from utils.passages.finders import embedder_of
from utils.passages.hub_model import HubModel
from utils.passages.minilm import MiniLM
from utils.passages.model_on_disk import OnnxFolder
from utils.settings import load_settings

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx", reason="needs the extra embed")
pytest.importorskip("onnxruntime", reason="needs the extra embed")
pytest.importorskip("tokenizers", reason="needs the extra embed")

from tests.passages import tiny_bert  # noqa: E402 - it needs tokenizers
from tests.passages.tiny_bert import CONFIG, lay_out, sentence_vector, tiny_weights  # noqa: E402
from utils.passages.bert_graph import bert_graph, read_weights  # noqa: E402

pytestmark = pytest.mark.extras("onnx", "onnxruntime", "tokenizers")
TEXTS = ["The heart fails.", "Weigh less than a year of fever", "stones", "and pain and pain, and"]


def second_opinion(text):
    ids = tiny_bert.tokenizer().encode(text).ids
    return sentence_vector(tiny_weights(), CONFIG, ids)


@pytest.fixture(scope="module")
def exact():
    """The graph in float32."""
    return bert_graph(tiny_weights(), CONFIG, whole_numbers=False)


@pytest.fixture
def folder(tmp_path, exact):
    return lay_out(tmp_path / "tiny", exact)


@pytest.fixture
def weighed(tmp_path):
    """A folder of weights, and the embedder that builds their graph."""
    folder = lay_out(tmp_path / "tiny")
    return MiniLM(str(folder), cache=tmp_path / "cache")


def test_the_graph_is_sound_onnx(exact):
    for graph in (exact, bert_graph(tiny_weights(), CONFIG)):
        onnx.checker.check_model(onnx.load_model_from_string(graph), full_check=True)


def test_the_graph_in_float32_is_bert(folder):
    vectors = OnnxFolder(str(folder)).embed(TEXTS)
    assert np.allclose(vectors, [second_opinion(text) for text in TEXTS], atol=1e-5)


def test_the_graph_in_whole_numbers_is_nearly_bert(weighed):
    vectors = weighed.embed(TEXTS)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    wanted = np.array([second_opinion(text) for text in TEXTS])
    assert (vectors * wanted).sum(1).min() > 0.98


def test_weights_read_back_as_they_were_written():
    weights = tiny_weights()
    read = read_weights(tiny_bert.safetensors(weights))
    assert read.keys() == weights.keys()
    assert all((read[name] == weights[name]).all() for name in weights)


def test_a_text_has_one_vector_whoever_stands_beside_it(weighed):
    alone = weighed.embed([TEXTS[0]])[0]
    assert (weighed.embed(TEXTS)[0] == alone).all()
    assert (weighed.embed(["pain " * 30, *TEXTS])[1] == alone).all()


def test_no_text_no_vector(weighed):
    assert weighed.embed([]).shape == (0, 24)
    assert weighed.dim == 24


def test_any_text_has_a_vector(weighed):
    texts = ["", "\ud800", "\x00", "zzz" * 1000, "heart " * 200_000, "心不全"]
    vectors = weighed.embed(texts)
    assert vectors.shape == (6, 24)
    assert np.isfinite(vectors).all()


def test_threads_share_one_model(weighed, monkeypatch):
    built = []
    build = MiniLM.graph
    monkeypatch.setattr(MiniLM, "graph", lambda self: built.append(1) or build(self))
    start = threading.Barrier(8)

    def work(_):
        start.wait()
        return weighed.embed(TEXTS)

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(work, range(8)))
    assert len(built) == 1
    assert all((outcome == outcomes[0]).all() for outcome in outcomes)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_loaded_model_survives_a_fork(weighed):
    vectors = weighed.embed(TEXTS)
    if not (child := os.fork()):
        same = False
        try:
            signal.alarm(30)
            same = bool((weighed.embed(TEXTS) == vectors).all())
        finally:
            os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0


# The cache


def test_the_graph_is_built_once(weighed, tmp_path, monkeypatch):
    vectors = weighed.embed(TEXTS)
    (kept,) = (tmp_path / "cache").iterdir()
    monkeypatch.setattr("utils.passages.bert_graph.bert_graph", None)
    again = MiniLM(str(tmp_path / "tiny"), cache=tmp_path / "cache")
    assert (again.embed(TEXTS) == vectors).all()
    assert kept.exists()


def test_a_damaged_graph_is_built_again(weighed, tmp_path):
    vectors = weighed.embed(TEXTS)
    (kept,) = (tmp_path / "cache").iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    again = MiniLM(str(tmp_path / "tiny"), cache=tmp_path / "cache")
    assert (again.embed(TEXTS) == vectors).all()
    assert kept.read_bytes() == whole


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path):
    (tmp_path / "cache").write_text("a file is in the way", encoding="utf-8")
    embedder = MiniLM(str(lay_out(tmp_path / "tiny")), cache=tmp_path / "cache")
    assert embedder.embed(TEXTS).shape == (4, 24)


# The name


@pytest.mark.parametrize("provider", [MiniLM, OnnxFolder])
@pytest.mark.parametrize("name", ["tokenizer.json", "1_Pooling/config.json"])
def test_whatever_changes_vectors_changes_the_name(provider, name, tmp_path, exact):
    folder = lay_out(tmp_path / "tiny", exact if provider is OnnxFolder else b"")
    before = provider(str(folder)).model
    assert provider(str(folder)).model == before
    assert before.startswith("tiny@")
    (folder / name).write_bytes((folder / name).read_bytes() + b"\n")
    assert provider(str(folder)).model != before


def test_the_weights_beside_a_graph_count_too(folder):
    before = OnnxFolder(str(folder)).model
    (folder / "model.onnx_data").write_bytes(b"numbers")
    assert OnnxFolder(str(folder)).model != before


# Folders of others


def test_a_graph_may_lie_deeper(folder):
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    assert OnnxFolder(str(folder)).embed(TEXTS).shape == (4, 24)


def test_a_name_is_looked_up_where_the_hub_keeps_models(tmp_path, exact):
    kept = tmp_path / "hf" / "hub" / "models--lab--tiny"
    lay_out(kept / "snapshots" / "c0ffee", exact)
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text("c0ffee", encoding="utf-8")
    offline = load_settings(hf_home=tmp_path / "hf", hf_hub_offline=True)
    embedder = HubModel("lab/tiny", "main", offline, cache=tmp_path / "cache")
    assert embedder.available() == ""
    assert embedder.model.startswith("lab/tiny@")
    assert embedder.embed(TEXTS).shape == (4, 24)


@pytest.mark.parametrize(
    ("told", "pool"),
    [
        ({"pooling_mode_cls_token": True}, lambda rows: rows[0]),
        ({"pooling_mode": "lasttoken"}, lambda rows: rows[-1]),
        ({"pooling_mode_max_tokens": True}, lambda rows: rows.max(0)),
        ({"pooling_mode_mean_sqrt_len_tokens": True}, lambda rows: rows.mean(0)),
        (
            {"pooling_mode": "weightedmean"},
            lambda rows: np.average(rows, 0, np.arange(1, len(rows) + 1)),
        ),
    ],
    ids=["cls", "last", "max", "sqrt", "weighted"],
)
def test_pooling_is_as_the_folder_says(folder, told, pool):
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(told), encoding="utf-8")
    ids = tiny_bert.tokenizer().encode(TEXTS[0]).ids
    wanted = pool(tiny_bert.word_vectors(tiny_weights(), CONFIG, ids))
    vector = OnnxFolder(str(folder)).embed(TEXTS[:1])[0]
    assert np.allclose(vector, wanted / np.linalg.norm(wanted), atol=1e-5)


def test_as_much_of_a_text_is_read_as_the_folder_says(folder):
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 4}', encoding="utf-8")
    first, second = OnnxFolder(str(folder)).embed(["the heart fails", "the heart weigh less"])
    assert (first == second).all()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("tokenizer.json", None, "tokenizer.json"),
        ("tokenizer.json", "{}", "cannot be loaded"),
        ("model.onnx", None, "holds no model.onnx"),
        ("model.onnx", "not a graph", "cannot be loaded"),
        ("1_Pooling/config.json", '{"pooling_mode": "attention"}', "attention"),
        ("1_Pooling/config.json", "[]", "not what its name says"),
        ("1_Pooling/config.json", "[" * 100_000, "not what its name says"),
        ("sentence_bert_config.json", '{"max_seq_length": "many"}', "word pieces"),
        ("sentence_bert_config.json", '{"max_seq_length": 2}', "word pieces"),
        ("modules.json", '[{"type": "sentence_transformers.models.Dense"}]', "Dense"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_folder_that_is_not_right_says_so(folder, name, content, said):
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_text(content, encoding="utf-8")
    with pytest.raises(EmbeddingsFailed, match=said):
        OnnxFolder(str(folder)).embed(TEXTS)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"hidden_act": "relu"}, "relu"),
        ({"model_type": "mpnet"}, "mpnet"),
        ({"num_hidden_layers": 3}, "not those of a BERT"),
        ({"num_attention_heads": "three"}, "not those of a BERT"),
        ({"num_attention_heads": 0}, "not those of a BERT"),
    ],
    ids=str,
)
def test_weights_of_another_kind_of_model_are_refused(weighed, change, said):
    (weighed.folder / "config.json").write_text(json.dumps(CONFIG | change), encoding="utf-8")
    with pytest.raises(EmbeddingsFailed, match=said):
        weighed.embed(TEXTS)


@pytest.mark.parametrize("data", [b"", b"x" * 40, b"\2" + b"\0" * 7 + b"[]", b"\xff" * 8 + b"{}"])
def test_a_file_that_holds_no_weights_is_refused(weighed, data):
    (weighed.folder / "model.safetensors").write_bytes(data)
    with pytest.raises(EmbeddingsFailed, match="not those of a BERT"):
        weighed.embed(TEXTS)


# What is missing


@pytest.mark.parametrize("provider", ["local", "hf"])
def test_a_missing_package_is_named_and_only_when_it_is_wanted(provider, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "onnxruntime" else find(name)
    )
    embedder = embedder_of(load_settings(embeddings_provider=provider))
    assert "onnxruntime" in embedder.available()
    assert "uv sync --extra embed" in embedder.available()
    with pytest.raises(EmbeddingsFailed, match="onnxruntime"):
        embedder.embed(["hello"])


def test_a_package_that_cannot_be_imported_is_no_crash(weighed, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: True)
    with pytest.raises(EmbeddingsFailed, match="onnxruntime"):
        weighed.embed(["hello"])


@pytest.mark.parametrize("provider", ["local", "hf"])
def test_a_folder_that_is_not_there_is_said(provider, tmp_path):
    wanted = str(tmp_path / "nowhere")
    embedder = embedder_of(load_settings(embeddings_provider=provider, embeddings_model=wanted))
    assert "nowhere" in embedder.available()
    for use in (lambda: embedder.model, lambda: embedder.dim, lambda: embedder.embed(["hello"])):
        with pytest.raises(EmbeddingsFailed, match="EMBEDDINGS_MODEL"):
            use()


def test_nobody_is_asked_for_when_nobody_is_wanted():
    assert embedder_of(load_settings(embeddings_provider="none")) is None
