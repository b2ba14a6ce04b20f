"""A BERT of a few kilobytes, as files, and what BERT is in numpy: a second opinion on our graph.

Written from the paper (arXiv:1810.04805), not from the graph: no operator, no shape is shared.
"""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

WORDS = "the heart fails when stones weigh less than a year of fever and pain".split()  # noqa: SIM905
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS, "##s", "##ing"]
CONFIG = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "hidden_size": 24,
    "intermediate_size": 48,
    "num_attention_heads": 3,
    "num_hidden_layers": 2,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 32,
    "vocab_size": len(PIECES),
}


def tiny_weights(seed: int = 7) -> dict[str, np.ndarray]:
    """Random, but large enough that every part of the model shows in the outcome."""
    random = np.random.default_rng(seed)
    hidden, inner = 24, 48

    def some(*shape: int, around: float = 0.0) -> np.ndarray:
        return (random.normal(size=shape) * 0.3 + around).astype(np.float32)

    weights = {
        "embeddings.word_embeddings.weight": some(len(PIECES), hidden),
        "embeddings.position_embeddings.weight": some(32, hidden),
        "embeddings.token_type_embeddings.weight": some(2, hidden),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(2):
        name = f"encoder.layer.{layer}"
        norms += [f"{name}.attention.output.LayerNorm", f"{name}.output.LayerNorm"]
        shapes = dict.fromkeys(("query", "key", "value"), (hidden, hidden))
        dense = {f"{name}.attention.self.{part}": shape for part, shape in shapes.items()} | {
            f"{name}.attention.output.dense": (hidden, hidden),
            f"{name}.intermediate.dense": (inner, hidden),
            f"{name}.output.dense": (hidden, inner),
        }
        for part, shape in dense.items():
            weights |= {f"{part}.weight": some(*shape), f"{part}.bias": some(shape[0])}
    for norm in norms:
        weights |= {f"{norm}.weight": some(hidden, around=1), f"{norm}.bias": some(hidden)}
    return weights


def word_vectors(weights: dict[str, np.ndarray], config: dict[str, Any], ids: list[int]) -> Any:
    """BERT's last hidden state for one text: a row for each word piece."""
    real = {name: value.astype(np.float64, copy=False) for name, value in weights.items()}

    def dense(rows: Any, name: str) -> Any:
        return rows @ real[f"{name}.weight"].T + real[f"{name}.bias"]

    def norm(rows: Any, name: str) -> Any:
        centred = rows - rows.mean(-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(-1, keepdims=True) + config["layer_norm_eps"])
        return centred / spread * real[f"{name}.weight"] + real[f"{name}.bias"]

    tables = ("word", "position", "token_type")
    word, place, kind = (real[f"embeddings.{name}_embeddings.weight"] for name in tables)
    rows = norm(word[ids] + place[: len(ids)] + kind[0], "embeddings.LayerNorm")
    heads = config["num_attention_heads"]
    width = config["hidden_size"] // heads
    for layer in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{layer}"
        query, key, value = (
            dense(rows, f"{name}.attention.self.{part}") for part in ("query", "key", "value")
        )
        mixed = np.empty_like(rows)
        for head in range(heads):
            part = slice(head * width, (head + 1) * width)
            scores = np.exp(query[:, part] @ key[:, part].T / math.sqrt(width))
            mixed[:, part] = scores / scores.sum(-1, keepdims=True) @ value[:, part]
        seen = dense(mixed, f"{name}.attention.output.dense")
        rows = norm(rows + seen, f"{name}.attention.output.LayerNorm")
        thought = dense(rows, f"{name}.intermediate.dense")
        thought = thought * 0.5 * (1 + np.vectorize(math.erf)(thought / math.sqrt(2)))
        rows = norm(rows + dense(thought, f"{name}.output.dense"), f"{name}.output.LayerNorm")
    return rows


def sentence_vector(weights: dict[str, np.ndarray], config: dict[str, Any], ids: list[int]) -> Any:
    """The mean of `word_vectors`, of length one."""
    mean = word_vectors(weights, config, ids).mean(0)
    return mean / np.linalg.norm(mean)


def tokenizer() -> Tokenizer:
    """BERT's, for the few words of `WORDS`."""
    vocabulary = {piece: at for at, piece in enumerate(PIECES)}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return made


def safetensors(weights: dict[str, np.ndarray]) -> bytes:
    """The weights as a file."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, value in weights.items():
        data = value.astype("<f4").tobytes()
        places = [len(body), len(body) + len(data)]
        header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": places}
        body += data
    told = json.dumps(header).encode()
    return struct.pack("<Q", len(told)) + told + body


def lay_out(folder: Path, graph: bytes = b"") -> Path:
    """A folder as sentence-transformers makes one; with *graph*, as ``model.onnx``."""
    (folder / "1_Pooling").mkdir(parents=True)
    tokenizer().save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    (folder / "1_Pooling" / "config.json").write_text(
        '{"pooling_mode_mean_tokens": true}', encoding="utf-8"
    )
    if graph:
        (folder / "model.onnx").write_bytes(graph)
    else:
        (folder / "model.safetensors").write_bytes(safetensors(tiny_weights()))
    return folder
