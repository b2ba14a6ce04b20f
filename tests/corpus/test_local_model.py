"""Models on this disk, run by fastembed: right vectors, and errors that name the fault."""

import importlib.util
import json
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.processes import run
from utils.corpus.finders import make_embedder
from utils.corpus.local_model import LocalModel
from utils.errors import EmbeddingsFailed
from utils.settings import load_settings

np = pytest.importorskip("numpy")
for _package in ("onnx", "fastembed"):
    pytest.importorskip(_package, reason="needs the extra embed")

from tests.corpus.tiny_encoder import (  # noqa: E402 - it needs onnx
    DIM,
    direction,
    lay_out,
    onnx_file,
    word_vectors,
)

pytestmark = pytest.mark.extras("onnx", "fastembed")
TEXTS = ["The heart fails.", "Weigh less than a year of fever", "stones", "and pain and pain, and"]


@pytest.fixture
def folder(tmp_path):
    return lay_out(tmp_path / "tiny", onnx_file())


def model_in(folder, **settings):
    return LocalModel(str(folder), load_settings(**settings))


def mean(text, seed=7):
    return direction(word_vectors(text, seed).mean(0))


def test_vectors_are_those_of_the_onnx_file(folder):
    vectors = model_in(folder).embed_texts(TEXTS)
    assert np.allclose(vectors, [mean(text) for text in TEXTS], atol=1e-5)
    assert model_in(folder).dim == DIM
    assert model_in(folder).embed_texts([]).shape == (0, DIM)


@pytest.mark.parametrize(
    ("told", "pool"),
    [
        ({"pooling_mode_cls_token": True, "word_embedding_dimension": 24}, lambda rows: rows[0]),
        ({"pooling_mode": "lasttoken"}, lambda rows: rows[-1]),
        ({"pooling_mode_mean_tokens": True}, lambda rows: rows.mean(0)),
    ],
    ids=["cls", "last", "mean"],
)
def test_pooling_is_as_the_folder_says(folder, told, pool):
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(told), encoding="utf-8")
    vector = model_in(folder).embed_texts(TEXTS[:1])[0]
    assert np.allclose(vector, direction(pool(word_vectors(TEXTS[0]))), atol=1e-5)


def test_an_onnx_file_that_pools_by_itself_is_not_pooled_again(tmp_path):
    folder = lay_out(tmp_path / "pooled", onnx_file(pooled=True))
    assert np.allclose(
        model_in(folder).embed_texts(TEXTS), [mean(text) for text in TEXTS], atol=1e-5
    )


def test_prompts_of_the_folder_stand_before_questions_and_passages(folder):
    prompts = {"query": "weigh: ", "document": "heart: "}
    told = json.dumps({"prompts": prompts, "default_prompt_name": None})
    (folder / "config_sentence_transformers.json").write_text(told, encoding="utf-8")
    model = model_in(folder)
    assert np.allclose(model.embed_question("fever"), mean("weigh: fever"), atol=1e-5)
    assert np.allclose(model.embed_texts(["fever"]), [mean("heart: fever")], atol=1e-5)


def test_two_subfolders_are_the_encoders_of_questions_and_of_passages(tmp_path):
    lay_out(tmp_path / "MedCPT" / "question", onnx_file(1))
    lay_out(tmp_path / "MedCPT" / "passage", onnx_file(2))
    model = model_in(tmp_path / "MedCPT")
    assert model.explain_unavailable() == ""
    assert np.allclose(model.embed_question("fever"), mean("fever", 1), atol=1e-5)
    assert np.allclose(model.embed_texts(["fever"]), [mean("fever", 2)], atol=1e-5)
    assert model.model.count("MedCPT/") == 2


def test_a_text_has_one_vector_whatever_stands_beside_it(folder):
    model = model_in(folder)
    alone = model.embed_texts([TEXTS[0]])[0]
    assert (model.embed_texts(["pain " * 30, *TEXTS])[1] == alone).all()


def test_any_text_has_a_vector(folder):
    texts = ["", "\ud800", "\x00", "zzz" * 1000, "heart " * 200_000, "心不全"]
    vectors = model_in(folder).embed_texts(texts)
    assert vectors.shape == (6, DIM)
    assert np.isfinite(vectors).all()


def test_threads_share_one_model(folder, monkeypatch):
    from utils.corpus import local_model

    loads = []
    load = local_model._load_embedding_model
    monkeypatch.setattr(
        local_model, "_load_embedding_model", lambda *given: loads.append(1) or load(*given)
    )
    model, start = model_in(folder), threading.Barrier(8)

    def work(_):
        start.wait()
        return model.embed_texts(TEXTS)

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(work, range(8)))
    assert len(loads) == 1
    assert all((outcome == outcomes[0]).all() for outcome in outcomes)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_loaded_model_survives_a_fork(folder):
    model = model_in(folder)
    vectors = model.embed_texts(TEXTS)
    if not (child := os.fork()):
        same = False
        try:
            signal.alarm(30)
            same = bool((model.embed_texts(TEXTS) == vectors).all())
        finally:
            os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("name", ["tokenizer.json", "1_Pooling/config.json", "model.onnx"])
def test_whatever_changes_vectors_changes_the_name(name, folder):
    before = model_in(folder).model
    assert model_in(folder).model == before
    assert before.startswith("tiny@")
    (folder / name).write_bytes((folder / name).read_bytes() + b"\n")
    assert model_in(folder).model != before


def test_the_weights_beside_an_onnx_file_count_too(folder):
    before = model_in(folder).model
    (folder / "model.onnx_data").write_bytes(b"numbers")
    assert model_in(folder).model != before


def test_an_onnx_file_may_lie_deeper(folder):
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    assert model_in(folder).embed_texts(TEXTS).shape == (4, DIM)


def test_as_much_of_a_text_is_read_as_the_tokenizer_says(folder):
    told = '{"model_max_length": 4, "pad_token": "[PAD]"}'
    (folder / "tokenizer_config.json").write_text(told, encoding="utf-8")
    first, second = model_in(folder).embed_texts(["the heart fails", "the heart weigh less"])
    assert (first == second).all()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("tokenizer.json", None, "has no tokenizer.json"),
        ("tokenizer.json", "{}", "cannot be loaded"),
        ("tokenizer_config.json", "{}", "cannot be loaded.*model_max_length"),
        ("model.onnx", None, "has no model.onnx"),
        ("model.onnx", "not a graph", "cannot be loaded"),
        ("1_Pooling/config.json", None, "how it makes one vector"),
        ("1_Pooling/config.json", '{"pooling_mode": "attention"}', "attention"),
        ("1_Pooling/config.json", "[" * 100_000, "not JSON"),
        ("modules.json", '[{"type": "sentence_transformers.models.Dense"}]', "Dense"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_folder_that_is_not_right_says_so(folder, name, content, message):
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_text(content, encoding="utf-8")
    with pytest.raises(EmbeddingsFailed, match=message):
        model_in(folder).embed_texts(TEXTS)


@pytest.mark.parametrize("provider", ["local", "hf"])
def test_a_missing_package_is_named_and_only_when_it_is_wanted(provider, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "fastembed" else find(name)
    )
    embedder = make_embedder(load_settings(embeddings_provider=provider))
    assert "fastembed" in embedder.explain_unavailable()
    assert "--extra embed" in embedder.explain_unavailable()
    with pytest.raises(EmbeddingsFailed, match="fastembed"):
        embedder.embed_texts(["hello"])


def test_a_package_that_cannot_be_imported_is_no_crash(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastembed", None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: True)
    with pytest.raises(EmbeddingsFailed, match="fastembed"):
        model_in(folder).embed_texts(["hello"])


@pytest.mark.parametrize("provider", ["local", "hf"])
def test_a_folder_that_is_not_there_is_said(provider, tmp_path):
    wanted = str(tmp_path / "nowhere")
    embedder = make_embedder(load_settings(embeddings_provider=provider, embeddings_model=wanted))
    assert "nowhere" in embedder.explain_unavailable()
    for use in (
        lambda: embedder.model,
        lambda: embedder.dim,
        lambda: embedder.embed_texts(["hello"]),
    ):
        with pytest.raises(EmbeddingsFailed, match="EMBEDDINGS_MODEL"):
            use()


def test_without_a_model_in_the_settings_nothing_is_fetched():
    local = make_embedder(load_settings())
    assert "EMBEDDINGS_PROVIDER=hf" in local.explain_unavailable()
    assert make_embedder(load_settings(embeddings_provider="none")) is None


@pytest.mark.parametrize("name", ["BAAI/bge-small-en-v1.5", "FOLDER"])
def test_nothing_heavy_is_imported_before_a_vector_is_wanted(name, folder):
    name = name.replace("FOLDER", str(folder))
    asked = f"""
import sys
from utils.corpus.finders import make_embedder
from utils.settings import load_settings
assert not make_embedder(load_settings(embeddings_model={name!r})).explain_unavailable()
heavy = {{"fastembed", "onnxruntime", "tokenizers", "numpy", "requests", "huggingface_hub"}}
print(sorted(heavy & set(sys.modules)))
"""
    ran = run([sys.executable, "-c", asked], cwd=Path(__file__).resolve().parents[2], check=True)
    assert ran.stdout.strip() == "[]"
