"""Vectors of any sentence-transformers model that has an ONNX file, as most on the Hub do.

Nothing is downloaded: whoever wants a model fetches it with the Hub's own tools (``hf download``),
and a name is looked up where those keep models.
https://huggingface.co/docs/huggingface_hub/guides/manage-cache
"""

from __future__ import annotations

import hashlib
import re
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import EmbeddingsFailed
from .model_on_disk import DIGITS, ModelOnDisk

_HUB = Path(".cache/huggingface/hub")  # in the home folder
_NAME = re.compile(r"[\w.-]+/[\w.-]+")
_GRAPHS = ("model.onnx", "onnx/model.onnx")
# What a vector depends on, beside the graph.
_DECISIVE = ("tokenizer.json", "config.json", "sentence_bert_config.json", "1_Pooling/config.json")
# A last layer that turns vectors is in no ONNX file; without it they would be of another model.
_LAYERS = {"Transformer", "Pooling", "Normalize"}


class OnnxFolder(ModelOnDisk):
    """The embedder called ``hf``.

    Parameters
    ----------
    wanted
        A folder, or the name of a model that is in the Hub's cache.
    hub
        That cache.
    """

    def __init__(self, wanted: str = "", hub: Path | None = None) -> None:
        super().__init__()
        self._wanted = wanted or "sentence-transformers/all-MiniLM-L6-v2"
        self._hub = hub or Path.home() / _HUB

    @cached_property
    def folder(self) -> Path:
        """The folder named, or the newest snapshot of the model named."""
        folder = Path(self._wanted).expanduser()
        if folder.is_dir():
            return folder
        hint = "Set EMBEDDINGS_MODEL to the folder of a model."
        if _NAME.fullmatch(self._wanted):
            hint = f"Set EMBEDDINGS_MODEL to its folder, or fetch it: `hf download {self._wanted}`."
            kept = self._hub / f"models--{self._wanted.replace('/', '--')}"
            head = kept / "refs" / "main"
            if head.is_file():
                return kept / "snapshots" / head.read_text().strip()
        msg = f"There is no embedding model {self._wanted} on this disk."
        raise EmbeddingsFailed(msg, hint)

    @cached_property
    def model(self) -> str:
        """The model's name, and the digest of its graph and of what surrounds it."""
        whole = hashlib.sha256()
        for path in [*self._files(), *(self.folder / name for name in _DECISIVE)]:
            if path.is_file():
                whole.update(path.name.encode() + b"\0" + _digest(path))
        snapshot = self.folder.parent.name == "snapshots"
        name = self._wanted if snapshot else self.folder.resolve().name
        return f"{name}@{whole.hexdigest()[:DIGITS]}"

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
        for name in _GRAPHS:
            path = self.folder / name
            if path.is_file():
                return [path, *sorted(set(path.parent.glob(f"{path.name}*")) - {path})]
        msg = f"{self.folder} holds no {' and no '.join(_GRAPHS)}."
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
