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
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import onnx
    from numpy.typing import NDArray

    Weights = dict[str, NDArray[np.float32]]

RECIPE = 1
"""Goes up whenever the graph changes, so that no older one is taken for it."""

_OPSET, _IR = 20, 9  # the first with Gelu; what onnxruntime 1.17 and later read
_UNSEEN = -1e9  # what padding scores: no word looks at it
_IDS, _MASK, _HIDDEN = "input_ids", "attention_mask", "last_hidden_state"


def read_weights(data: bytes) -> Weights:
    """The float32 tensors of a safetensors file.

    Raises
    ------
    ValueError, KeyError
        It is not such a file.
    """
    import numpy as np

    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    numbers = memoryview(data)[8 + size :]
    weights = {}
    for name, about in header.items():
        if about.get("dtype") == "F32":
            first, last = about["data_offsets"]
            weights[name] = np.frombuffer(numbers[first:last], "<f4").reshape(about["shape"])
    return weights


def bert_graph(weights: Weights, config: dict[str, Any]) -> bytes:
    """The graph from word pieces to one vector for each of them, in float32.

    Parameters
    ----------
    weights
        As transformers' ``BertModel`` names them.
    config
        Its ``config.json``.

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
    graph = _Graph(weights, config["num_attention_heads"], config["layer_norm_eps"])
    words = graph.embeddings()
    mask = graph.mask()
    for layer in range(config["num_hidden_layers"]):
        words = graph.layer(f"encoder.layer.{layer}", words, mask)
    return graph.model(words)


def in_int8(graph: bytes) -> bytes:
    """The same graph with 8-bit weights; what flows through it is rounded as it comes by."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "int8.onnx"
        model = onnx.load_model_from_string(graph)
        quantize_dynamic(model, target, per_channel=True, weight_type=QuantType.QInt8)
        return target.read_bytes()


@dataclass
class _Graph:
    """A graph under construction; every method returns the name of what it computes."""

    weights: Weights
    heads: int
    epsilon: float
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)

    def embeddings(self) -> str:
        """What a word means, with its place in the text (all of it is one sentence, the first)."""
        import numpy as np

        names = ("word_embeddings", "position_embeddings", "token_type_embeddings")
        words, places, sentences = (self.weights[f"embeddings.{name}.weight"] for name in names)
        length = self._do("Shape", _IDS, start=1, end=2)
        first, along = self._constant(np.array([0])), self._constant(np.array([0]))
        near = self._do("Slice", self._constant(places + sentences[0]), first, length, along)
        meant = self._do("Gather", self._constant(words), _IDS)
        return self._norm("embeddings", self._do("Add", meant, near))

    def mask(self) -> str:
        """What is added to every score: nothing, or so little that padding is not seen."""
        import numpy as np

        seen = self._do("Cast", _MASK, to=1)
        unseen = self._do("Sub", self._constant(np.float32(1)), seen)
        low = self._do("Mul", unseen, self._constant(np.float32(_UNSEEN)))
        return self._do("Unsqueeze", low, self._constant(np.array([1, 2])))

    def layer(self, name: str, words: str, mask: str) -> str:
        """Look at the other words, then think about it."""
        seen = self._dense(self._attention(f"{name}.attention.self", words, mask),
                           f"{name}.attention.output.dense")  # fmt: skip
        words = self._norm(f"{name}.attention.output", self._do("Add", seen, words))
        thought = self._do("Gelu", self._dense(words, f"{name}.intermediate.dense"))
        thought = self._dense(thought, f"{name}.output.dense")
        return self._norm(f"{name}.output", self._do("Add", thought, words))

    def model(self, words: str) -> bytes:
        """The whole graph as onnxruntime reads it."""
        from onnx import TensorProto, checker, helper

        self.nodes.append(helper.make_node("Identity", [words], [_HIDDEN]))
        given = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "pieces"])
            for name in (_IDS, _MASK)
        ]
        shape = ["texts", "pieces", self.weights["embeddings.LayerNorm.bias"].shape[0]]
        made = [helper.make_tensor_value_info(_HIDDEN, TensorProto.FLOAT, shape)]
        graph = helper.make_graph(self.nodes, "bert", given, made, self.constants)
        opset = [helper.make_opsetid("", _OPSET)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=_IR)
        checker.check_model(model)
        return model.SerializeToString()

    def _attention(self, name: str, words: str, mask: str) -> str:
        """Each word becomes a mixture of all words, as much of each as their scores say."""
        import numpy as np

        hidden = self.weights[f"{name}.query.weight"].shape[0]
        width = hidden // self.heads
        split = self._constant(np.array([0, 0, self.heads, width]))

        def of_each_head(part: str, turn: list[int], scale: float = 1.0) -> str:
            rows = self._do("Reshape", self._dense(words, f"{name}.{part}", scale), split)
            return self._do("Transpose", rows, perm=turn)

        query = of_each_head("query", [0, 2, 1, 3], 1 / math.sqrt(width))
        key = of_each_head("key", [0, 2, 3, 1])
        value = of_each_head("value", [0, 2, 1, 3])
        scores = self._do("Add", self._do("MatMul", query, key), mask)
        mixed = self._do("MatMul", self._do("Softmax", scores, axis=-1), value)
        rows = self._do("Transpose", mixed, perm=[0, 2, 1, 3])
        return self._do("Reshape", rows, self._constant(np.array([0, 0, hidden])))

    def _dense(self, rows: str, name: str, scale: float = 1.0) -> str:
        import numpy as np

        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        factor = np.float32(scale)
        product = self._do("MatMul", rows, self._constant(weight.T * factor))
        return self._do("Add", product, self._constant(bias * factor))

    def _norm(self, name: str, rows: str) -> str:
        scale, bias = (self.weights[f"{name}.LayerNorm.{part}"] for part in ("weight", "bias"))
        given = (rows, self._constant(scale), self._constant(bias))
        return self._do("LayerNormalization", *given, epsilon=self.epsilon, axis=-1)

    def _do(self, operator: str, *given: str, **options: Any) -> str:
        from onnx import helper

        made = f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, given, [made], name=made, **options))
        return made

    def _constant(self, value: Any) -> str:
        import numpy as np
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        whole = np.ascontiguousarray(value).reshape(np.shape(value))
        self.constants.append(numpy_helper.from_array(whole, name))
        return name
