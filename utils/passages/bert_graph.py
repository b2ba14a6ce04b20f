"""BERT as an ONNX graph, made from its weights alone.

A package of a model holds weights, onnxruntime runs graphs, and the usual way from one to the other
takes PyTorch: a gigabyte for half a minute's work. BERT is small enough to be written down:
embeddings, then one kind of layer again and again. In 8-bit integers it is a quarter of the size
and faster, and finds the same.

The model: Devlin et al. 2019, arXiv:1810.04805. Operators: https://onnx.ai/onnx/operators. Weights:
https://huggingface.co/docs/safetensors (the header's length, a header of JSON, the numbers).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx

Weights = dict[str, NDArray[np.float32]]

RECIPE = 1
"""Goes up whenever the graph changes, so that no older one is taken for it."""

_OPSET, _IR = 20, 9  # the first with Gelu; what onnxruntime 1.17 and later read
_MOST = 64
_IDS, _KINDS, _HIDDEN = "input_ids", "token_type_ids", "last_hidden_state"


def read_weights(data: bytes) -> Weights:
    """The float32 tensors of a safetensors file.

    Raises
    ------
    ValueError, KeyError
        It is not such a file.
    """
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    numbers = memoryview(data)[8 + size :]
    weights = {}
    for name, about in header.items():
        if about.get("dtype") == "F32":
            first, last = about["data_offsets"]
            weights[name] = np.frombuffer(numbers[first:last], "<f4").reshape(about["shape"])
    return weights


def bert_graph(
    weights: Weights, config: dict[str, Any], *, whole_numbers: bool = True, pairs: bool = False
) -> bytes:
    """The graph from word pieces to one vector for each of them; of texts of one length.

    Parameters
    ----------
    weights
        As transformers' ``BertModel`` names them.
    config
        Its ``config.json``.
    whole_numbers
        Multiply in 8-bit integers; else in float32.
    pairs
        A text may be two: the graph wants to know which word piece is of which.

    Raises
    ------
    ValueError, KeyError
        They are those of another kind of model.
    """
    wanted = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}
    for name, value in wanted.items():
        if config.get(name, value) != value:
            msg = f"{name} is {config[name]}, not {value}"
            raise ValueError(msg)
    heads, epsilon = config["num_attention_heads"], config["layer_norm_eps"]
    graph = (_WholeNumbers if whole_numbers else _Graph)(weights, heads, epsilon)
    words = graph.embeddings(pairs=pairs)
    for layer in range(config["num_hidden_layers"]):
        words = graph.layer(f"encoder.layer.{layer}", words)
    return graph.model(words, [_IDS, _KINDS] if pairs else [_IDS])


@dataclass
class _Graph:
    """A graph under construction; every method returns the name of what it computes."""

    weights: Weights
    heads: int
    epsilon: float
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)

    def embeddings(self, *, pairs: bool) -> str:
        """What a word means, with its place in the text, and of *pairs* in which text."""
        names = ("word_embeddings", "position_embeddings", "token_type_embeddings")
        words, places, sentences = (self.weights[f"embeddings.{name}.weight"] for name in names)
        length = self._do("Shape", _IDS, start=1, end=2)
        first, along = self._constant(np.array([0])), self._constant(np.array([0]))
        if pairs:
            near = self._do("Slice", self._constant(places), first, length, along)
            near = self._do("Add", self._do("Gather", self._constant(sentences), _KINDS), near)
        else:
            near = self._do("Slice", self._constant(places + sentences[0]), first, length, along)
        return self._norm("embeddings", self._do("Add", self._meant(words), near))

    def layer(self, name: str, words: str) -> str:
        """Look at the other words, then think about it."""
        mixed = self._attention(f"{name}.attention.self", words)
        seen = self._dense(mixed, f"{name}.attention.output.dense")
        words = self._norm(f"{name}.attention.output", self._do("Add", seen, words))
        thought = self._do("Gelu", self._dense(words, f"{name}.intermediate.dense"))
        thought = self._dense(thought, f"{name}.output.dense")
        return self._norm(f"{name}.output", self._do("Add", thought, words))

    def model(self, words: str, inputs: Sequence[str]) -> bytes:
        """The whole graph as onnxruntime reads it."""
        from onnx import TensorProto, helper

        self.nodes.append(helper.make_node("Identity", [words], [_HIDDEN]))
        numbers = (TensorProto.INT64, ["texts", "pieces"])
        given = [helper.make_tensor_value_info(name, *numbers) for name in inputs]
        shape = ["texts", "pieces", self.weights["embeddings.LayerNorm.bias"].shape[0]]
        made = [helper.make_tensor_value_info(_HIDDEN, TensorProto.FLOAT, shape)]
        graph = helper.make_graph(self.nodes, "bert", given, made, self.constants)
        opset = [helper.make_opsetid("", _OPSET)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=_IR)
        return bytes(model.SerializeToString(deterministic=True))

    def _attention(self, name: str, words: str) -> str:
        """Each word becomes a mixture of all words, as much of each as their scores say."""
        hidden = self.weights[f"{name}.query.weight"].shape[0]
        width = hidden // self.heads
        split = self._constant(np.array([0, 0, self.heads, width]))

        def of_each_head(part: str, turn: list[int], scale: float = 1.0) -> str:
            rows = self._do("Reshape", self._dense(words, f"{name}.{part}", scale), split)
            return self._do("Transpose", rows, perm=turn)

        query = of_each_head("query", [0, 2, 1, 3], 1 / math.sqrt(width))
        key = of_each_head("key", [0, 2, 3, 1])
        value = of_each_head("value", [0, 2, 1, 3])
        scores = self._do("MatMul", query, key)
        mixed = self._do("MatMul", self._do("Softmax", scores, axis=-1), value)
        rows = self._do("Transpose", mixed, perm=[0, 2, 1, 3])
        return self._do("Reshape", rows, self._constant(np.array([0, 0, hidden])))

    def _meant(self, words: NDArray[np.float32]) -> str:
        """The row of each word."""
        return self._do("Gather", self._constant(words), _IDS)

    def _dense(self, rows: str, name: str, scale: float = 1.0) -> str:
        """``scale * (rows @ weight.T + bias)``."""
        factor = np.float32(scale)
        weight, bias = (self.weights[f"{name}.{part}"] * factor for part in ("weight", "bias"))
        return self._do("Add", self._product(rows, weight.T), self._constant(bias))

    def _product(self, rows: str, weight: NDArray[np.float32]) -> str:
        return self._do("MatMul", rows, self._constant(weight))

    def _norm(self, name: str, rows: str) -> str:
        scale, bias = (self.weights[f"{name}.LayerNorm.{part}"] for part in ("weight", "bias"))
        given = (rows, self._constant(scale), self._constant(bias))
        return self._do("LayerNormalization", *given, epsilon=self.epsilon, axis=-1)

    def _do(self, operator: str, *given: str, **options: Any) -> str:
        return self._do_all(operator, given, 1, **options)[0]

    def _do_all(self, operator: str, given: Sequence[str], count: int, **options: Any) -> list[str]:
        """Run an operator that makes *count* things."""
        from onnx import helper

        name = f"{operator}_{len(self.nodes)}"
        made = [f"{name}_{at}" for at in range(count)]
        self.nodes.append(helper.make_node(operator, given, made, name=name, **options))
        return made

    def _constant(self, value: Any) -> str:
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        whole = np.ascontiguousarray(value).reshape(np.shape(value))
        self.constants.append(numpy_helper.from_array(whole, name))
        return name


@dataclass
class _WholeNumbers(_Graph):
    """The same in 8-bit integers: weights rounded now, what meets them as it comes by.

    Every column of a weight, and every word, has a scale of its own. Weights use 7 of the 8 bits:
    processors without VNNI add two products in 16 bits, which 8 would overflow, and find something
    else then. https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html
    """

    rounded: dict[str, list[str]] = field(default_factory=dict)

    def _meant(self, words: NDArray[np.float32]) -> str:
        numbers, scale = _rounded(words, axis=1)
        meant = self._do("Cast", self._do("Gather", self._constant(numbers), _IDS), to=1)
        return self._do("Mul", meant, self._do("Gather", self._constant(scale), _IDS))

    def _product(self, rows: str, weight: NDArray[np.float32]) -> str:
        if rows not in self.rounded:
            self.rounded[rows] = self._do_all("DynamicQuantizeLinear", [rows], 3)
        given, scale, zero = self.rounded[rows]
        numbers, scales = _rounded(weight, axis=0)
        summed = self._do("MatMulInteger", given, self._constant(numbers), zero)
        factor = self._do("Mul", scale, self._constant(scales[0]))
        return self._do("Mul", self._do("Cast", summed, to=1), factor)


def _rounded(table: NDArray[np.float32], axis: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """*table* in whole numbers from -64 to 64, and what to multiply them with along *axis*."""
    scale = np.maximum(np.abs(table).max(axis=axis, keepdims=True), 1e-12) / np.float32(_MOST)
    return np.rint(table / scale).astype(np.int8), scale.astype(np.float32)
