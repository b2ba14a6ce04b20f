"""A model of pairs, as a file: the more of the words it likes a passage has, the better."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.corpus.tiny_encoder import PIECES


def tiny_cross_encoder(liked: str, outputs: int = 1) -> bytes:
    """The graph; of *outputs* the last says yes, and the others nothing.

    Words of the question, the first of a pair, are not counted.
    """
    table = np.zeros((len(PIECES), outputs), np.float32)
    table[:, -1] = -0.25
    table[PIECES.index(liked), -1] = 2
    sequence = ("batch", "pieces")
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["table", "input_ids"], ["each"]),
            helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["second", "last"], ["mask"]),
            helper.make_node("Mul", ["each", "mask"], ["counted"]),
            helper.make_node("ReduceSum", ["counted", "middle"], ["logits"], keepdims=0),
        ],
        "pairs",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, sequence)
            for name in ("input_ids", "token_type_ids")
        ],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ("batch", outputs))],
        [
            numpy_helper.from_array(table, "table"),
            numpy_helper.from_array(np.array([2]), "last"),
            numpy_helper.from_array(np.array([1]), "middle"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())
