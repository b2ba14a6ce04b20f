"""A sentence model of a few kilobytes, in which each word piece has one vector anywhere."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

WORDS = "the heart fails when stones weigh less than a year of fever and pain".split()  # noqa: SIM905
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS, "##s", "##ing"]
DIM = 24
CONFIG = {"model_type": "bert", "hidden_size": DIM}
TOKENIZER = {"model_max_length": 32, "pad_token": "[PAD]"}
MEAN = b'{"pooling_mode_mean_tokens": true}'


def table(seed: int = 7) -> np.ndarray:
    """The vector of each word piece."""
    return np.random.default_rng(seed).normal(size=(len(PIECES), DIM)).astype(np.float32)


def word_vectors(text: str, seed: int = 7) -> np.ndarray:
    """A row for each word piece of a text."""
    return table(seed)[tokenizer().encode(text).ids]


def direction(row: np.ndarray) -> np.ndarray:
    """A vector of length one."""
    unit: np.ndarray = row / np.linalg.norm(row)
    return unit


def onnx_file(seed: int = 7, *, pooled: bool = False) -> bytes:
    """The graph; *pooled*, its output is the mean of all word pieces."""
    shape: tuple[Any, ...] = ("batch", DIM) if pooled else ("batch", "pieces", DIM)
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["rows" if pooled else "out"])]
    if pooled:
        nodes.append(helper.make_node("ReduceMean", ["rows"], ["out"], axes=[1], keepdims=0))
    graph = helper.make_graph(
        nodes,
        "sentences",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ("batch", "pieces"))],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(table(seed), "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def tokenizer() -> Tokenizer:
    """BERT's, for the few words of `WORDS`."""
    vocabulary = {piece: at for at, piece in enumerate(PIECES)}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return made


def files(graph: bytes, **more: bytes) -> dict[str, bytes]:
    """The files of a model by path, and *more* (``__`` for a slash)."""
    usual = {
        "config.json": json.dumps(CONFIG).encode(), "tokenizer.json": tokenizer().to_str().encode(),
        "tokenizer_config.json": json.dumps(TOKENIZER).encode(), "1_Pooling/config.json": MEAN,
        "model.onnx": graph,
    }  # fmt: skip
    return usual | {name.replace("__", "/"): data for name, data in more.items()}


def lay_out(folder: Path, graph: bytes) -> Path:
    """Make a folder with a model."""
    for name, data in files(graph).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder
