"""Vectors of a sentence-transformers model in a folder with an ONNX file."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import EmbeddingsFailed
from .model_on_disk import DIGITS, Habits, ModelOnDisk

GRAPHS = (
    *("model.onnx", "onnx/model.onnx", "model_optimized.onnx"),
    *("onnx/model_quantized.onnx", "model_quantized.onnx", "onnx/model_int8.onnx"),
)
"""Where ONNX files lie, as optimum, sentence-transformers, transformers.js and fastembed put them;
the whole model before one in 8 bits, of which nobody knows how it was rounded."""
# What a vector depends on, beside the graph.
_DECISIVE = ("tokenizer.json", "config.json", "sentence_bert_config.json", "1_Pooling/config.json")
# A last layer that turns vectors is in no ONNX file; without it they would be of another model.
_LAYERS = {"Transformer", "Pooling", "Normalize"}


class OnnxFolder(ModelOnDisk):
    """The embedder of a folder with an ONNX file.

    Parameters
    ----------
    wanted
        The folder.
    habits
        See `Habits`.
    graph
        Which ONNX file; the first of `GRAPHS` that is there, where it is empty.
    """

    def __init__(
        self,
        wanted: str,
        habits: Habits = Habits(),  # noqa: B008 - it cannot be changed
        graph: str = "",
    ) -> None:
        super().__init__(habits)
        self._wanted = wanted
        self._graphs = (graph,) if graph else GRAPHS

    @cached_property
    def folder(self) -> Path:
        """The folder named."""
        folder = Path(self._wanted).expanduser()
        if folder.is_dir():
            return folder
        msg = f"EMBEDDINGS_MODEL={self._wanted} is no folder, and no name of a model on the Hub."
        raise EmbeddingsFailed(msg, "Set it to a folder, or to OWNER/NAME.")

    @cached_property
    def model(self) -> str:
        """The model's name, and the digest of its graph and of what surrounds it."""
        whole = hashlib.sha256()
        for path in [*self._files(), *(self.folder / name for name in _DECISIVE)]:
            if path.is_file():
                whole.update(path.name.encode() + b"\0" + _digest(path))
        if self.habits != self._habits:  # prompts of its own
            whole.update(repr(self.habits).encode())
        return f"{self.folder.resolve().name}@{whole.hexdigest()[:DIGITS]}"

    def require_graph(self) -> None:
        """Raise `EmbeddingsFailed` unless the folder holds a model we can run."""
        self._files()
        self.read("tokenizer.json")
        _ = self.pooling, self.longest
        kinds = {str(module.get("type")).rpartition(".")[2] for module in self._modules()}
        if strange := kinds - _LAYERS:
            msg = (
                f"{self.folder.name} ends in {', '.join(sorted(strange))}, which no ONNX file has."
            )
            raise EmbeddingsFailed(msg, "Choose a model of Transformer, Pooling and Normalize.")

    def graph(self) -> str:
        """The ONNX file; onnxruntime finds the file of weights beside it, if there is one."""
        self.require_graph()
        return str(self._files()[0])

    def _files(self) -> list[Path]:
        """The graph and what belongs to it."""
        for name in self._graphs:
            path = self.folder / name
            if path.is_file():
                return [path, *sorted(set(path.parent.glob(f"{path.name}*")) - {path})]
        msg = f"{self.folder} holds no {' and no '.join(GRAPHS[:2])}."
        hint = "Export one: `optimum-cli export onnx`, or fetch a model that has one."
        raise EmbeddingsFailed(msg, hint)

    def _modules(self) -> list[dict[str, Any]]:
        return [layer for layer in self.told("modules.json", list) if isinstance(layer, dict)]


def _digest(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError as error:
        msg = f"The embedding model's {path} cannot be read: {error.strerror}."
        raise EmbeddingsFailed(msg) from None
