"""What every embedder has in common whose model lies on this disk.

The folder of a model is laid out as sentence-transformers does it: ``tokenizer.json``,
``config.json``, how word pieces become one vector (``1_Pooling/config.json``), how many of them
are read (``sentence_bert_config.json``) and what is put before questions and passages
(``config_sentence_transformers.json``). https://sbert.net/docs

A sentence model at work: text in, one vector out, on onnxruntime.

One text a run, two runs at a time, one thread each. For passages of some hundred word pieces that
was as fast as batches padded to one length, and took a fifth less processor time than two threads
in one run. It also makes the vector of a text the same whatever stands beside it: an 8-bit model
takes its scales from all that is in a run. And without threads of its own it survives a fork.

Vectors of a sentence-transformers model in a folder with an ONNX file.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import EmbeddingsFailed
from ..system.plain_text import encodable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from . import Vector, Vectors

    Row = NDArray[np.float32]

T = TypeVar("T", dict[str, Any], list[Any])
DIGITS = 12  # of a digest, in a model's name
_LONGEST = 512  # word pieces, where a folder does not say: what BERT has places for
_MARKS = 2  # where a text begins and ends
_PASSAGES = ("document", "passage", "corpus")  # of prompts: what `encode_document` looks for
_MODES = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
_AT_ONCE = 2
_LONGEST_PIECE = 100  # characters; WordPiece gives up on longer words
_POOLED = "sentence_embedding"  # what optimum calls an output that needs no pooling
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


@dataclass(frozen=True, slots=True)
class Habits:
    """How a model wants to be used, where its folder does not say.

    ``question`` and ``passage`` are put before a text; ``pooling`` is one of
    `POOLING`; ``pairs``: title and text are given as two.
    """

    question: str = ""
    passage: str = ""
    pooling: str = ""
    pairs: bool = False


class ModelOnDisk(ABC):
    """An embedder that loads its model when the first vector is wanted; see `Embedder`."""

    packages: tuple[str, ...] = ("onnxruntime", "tokenizers")

    def __init__(self, habits: Habits = Habits()) -> None:
        self._habits = habits
        self._lock = threading.Lock()
        self._loaded: SentenceModel | None = None

    @property
    @abstractmethod
    def folder(self) -> Path:
        """Where the model is, or `EmbeddingsFailed`."""

    @property
    @abstractmethod
    def model(self) -> str:
        """Its name and the digest of what decides about vectors, or `EmbeddingsFailed`."""

    @abstractmethod
    def require_graph(self) -> None:
        """Raise `EmbeddingsFailed` where there is nothing to load a graph from."""

    @abstractmethod
    def graph(self) -> str | bytes:
        """The ONNX file, or its bytes."""

    @property
    def dim(self) -> int:
        """How many numbers a vector has; the model is loaded to see."""
        return self._sentence_model().dim

    def available(self) -> str:
        """Why no vectors can be made; see `Embedder.available`."""
        try:
            self.require_packages()
            self.require_graph()
        except EmbeddingsFailed as error:
            return str(error)
        return ""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One normalised row for each passage; see `Embedder.embed`."""
        before = self.habits.passage
        return self._sentence_model().embed([before + text for text in texts])

    def embed_question(self, text: str) -> Vector:
        """The vector of a question; see `Embedder.embed_question`."""
        row: Vector = self._sentence_model().embed([self.habits.question + text])[0]
        return row

    @cached_property
    def habits(self) -> Habits:
        """What is put before texts, as the folder says it, else as it is known."""
        told = self.told("config_sentence_transformers.json", dict)
        prompts = told.get("prompts")
        prompts = {k: v for k, v in prompts.items() if v} if isinstance(prompts, dict) else {}
        if not all(isinstance(prompt, str) for prompt in prompts.values()):
            msg = f"{self.folder / 'config_sentence_transformers.json'} has prompts that are none."
            raise EmbeddingsFailed(msg)
        if not prompts:
            return self._habits
        usual = prompts.get(str(told.get("default_prompt_name")), "")
        passage = next((prompts[name] for name in _PASSAGES if name in prompts), usual)
        return replace(self._habits, question=prompts.get("query", usual), passage=passage)

    def read(self, name: str) -> bytes:
        """A file of the folder.

        Raises
        ------
        EmbeddingsFailed
            It is not there, or cannot be read.
        """
        path = self.folder / name
        try:
            return path.read_bytes()
        except OSError as error:
            msg = f"The embedding model's {path} cannot be read: {error.strerror}."
            raise EmbeddingsFailed(msg, "Look at EMBEDDINGS_MODEL.") from None

    def told(self, name: str, kind: type[T]) -> T:
        """What a file of JSON says; an empty *kind* when it is absent."""
        if not (self.folder / name).is_file():
            return kind()
        try:
            told = json.loads(self.read(name))
        except (ValueError, RecursionError):
            told = None
        if not isinstance(told, kind):
            msg = f"The embedding model's {self.folder / name} is not what its name says."
            raise EmbeddingsFailed(msg)
        return told

    @cached_property
    def pooling(self) -> str:
        """From word pieces to one vector, one of `POOLING`."""
        told = self.told("1_Pooling/config.json", dict)
        modes = [mode for name, mode in _MODES.items() if told.get(name) is True]
        modes = modes or [told.get("pooling_mode", self._habits.pooling or "mean")]
        if len(modes) > 1 or modes[0] not in POOLING:
            msg = f"The embedding model pools by {' and '.join(map(str, modes))}, not known here."
            raise EmbeddingsFailed(msg)
        return str(modes[0])

    @cached_property
    def longest(self) -> int:
        """Word pieces that are read of a text."""
        places = self.told("config.json", dict).get("max_position_embeddings", _LONGEST)
        told = self.told("sentence_bert_config.json", dict).get("max_seq_length")
        longest = told or min(places, _LONGEST)
        if not isinstance(longest, int) or longest <= _MARKS:
            msg = f"The embedding model reads {longest!r} word pieces of a text."
            raise EmbeddingsFailed(msg)
        return longest

    def require_packages(self) -> None:
        """Raise `EmbeddingsFailed` where packages are missing that it runs on."""
        missing = [name for name in self.packages if importlib.util.find_spec(name) is None]
        if missing:
            msg = f"Vectors need what is not installed here: {', '.join(missing)}."
            hint = f"Run `uv sync --extra embed` (elsewhere `pip install {' '.join(missing)}`)."
            raise EmbeddingsFailed(msg, hint)

    def _sentence_model(self) -> SentenceModel:
        with self._lock:
            if self._loaded is None:
                self.require_packages()
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> SentenceModel:

        tokenizer = self.read("tokenizer.json")
        try:
            return SentenceModel(
                self.graph(), tokenizer, self.longest, self.pooling, pairs=self._habits.pairs
            )
        except ImportError as error:
            msg = f"The embedding model cannot run here: {error}."
            raise EmbeddingsFailed(msg, "Run `uv sync --extra embed` again.") from None


def _weighted_mean(pieces: Row) -> Row:
    import numpy as np

    return np.arange(1, len(pieces) + 1, dtype=np.float32) @ pieces


# Only the direction of a vector counts: a mean may as well be a sum.
POOLING: dict[str, Callable[[Row], Row]] = {
    "cls": lambda pieces: pieces[0],
    "lasttoken": lambda pieces: pieces[-1],
    "max": lambda pieces: pieces.max(axis=0),
    "mean": lambda pieces: pieces.sum(axis=0),
    "mean_sqrt_len": lambda pieces: pieces.sum(axis=0),
    "weightedmean": _weighted_mean,
}
"""From the vectors of word pieces (one a row) to one; names as in sentence-transformers."""


class Inference:
    """A graph and its tokenizer, loaded; threads may share it.

    Parameters
    ----------
    graph
        The ONNX file, or its bytes.
    tokenizer
        ``tokenizer.json``, as bytes.
    longest
        Word pieces it reads of a text or a pair; the rest is cut off.
    called
        What it is, in errors.

    Raises
    ------
    EmbeddingsFailed
        onnxruntime or tokenizers cannot use what they are given.
    ImportError
        They are not installed.
    """

    def __init__(
        self, graph: str | bytes, tokenizer: bytes, longest: int, called: str = "embedding model"
    ) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4  # errors come as exceptions
        unfit: tuple[type[Exception], ...] = (*_refusals(), ValueError)
        try:
            self._session = onnxruntime.InferenceSession(
                graph, options, providers=["CPUExecutionProvider"]
            )
            self._tokenizer = Tokenizer.from_buffer(tokenizer)
        except unfit as error:
            msg = f"The {called} cannot be loaded: {_first_line(error)}"
            raise EmbeddingsFailed(msg) from None
        self._called = called
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(longest)
        self.longest = longest * _LONGEST_PIECE  # characters
        self._inputs = [given.name for given in self._session.get_inputs()]
        names = [made.name for made in self._session.get_outputs()]
        self.output = _POOLED if _POOLED in names else names[0]

    def run(self, first: str, second: str = "") -> Any:
        """What the graph makes of a text, or of a pair."""
        import numpy as np

        first, second = encodable(first[: self.longest]), encodable(second[: self.longest])
        pieces = self._tokenizer.encode(first, second or None)
        if not pieces.ids:
            msg = f"The {self._called} made nothing of a text."
            raise EmbeddingsFailed(msg)
        given = {
            "input_ids": pieces.ids,
            "attention_mask": pieces.attention_mask,
            "token_type_ids": pieces.type_ids,
            "position_ids": range(len(pieces.ids)),
        }
        try:
            feed = {name: np.array([given[name]], dtype=np.int64) for name in self._inputs}
            return self._session.run([self.output], feed)[0]
        except KeyError as error:
            msg = f"The {self._called} wants an input nobody has: {error}."
            raise EmbeddingsFailed(msg) from None
        except _refusals() as error:
            msg = f"The {self._called} failed: {_first_line(error)}"
            raise EmbeddingsFailed(msg) from None


class SentenceModel:
    """A loaded model that makes vectors; threads may share it.

    Parameters
    ----------
    graph, tokenizer, longest
        See `Inference`, whose errors it has.
    pooling
        One of `POOLING`.
    pairs
        Whether the first line of a text (a title) is given to the model beside the rest.
    """

    def __init__(
        self,
        graph: str | bytes,
        tokenizer: bytes,
        longest: int,
        pooling: str,
        *,
        pairs: bool = False,
    ) -> None:
        self._inference = Inference(graph, tokenizer, longest)
        self._pairs = pairs
        self._is_pooled = self._inference.output == _POOLED
        self._pool = POOLING["cls" if self._is_pooled else pooling]
        self.dim = len(self._vector("dimension"))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One normalised row for each text; see `Embedder.embed`."""
        import numpy as np

        if len(texts) > 1:
            pool = ThreadPoolExecutor(min(_AT_ONCE, os.cpu_count() or 1))
            try:
                rows = list(pool.map(self._vector, texts))
            finally:
                pool.shutdown(cancel_futures=True)
        else:
            rows = [self._vector(text) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), self.dim)

    def _vector(self, text: str) -> Row:
        whole = text[: self._inference.longest]
        first, _, second = whole.partition("\n") if self._pairs else (whole, "", "")
        return self._direction(self._inference.run(first, second))

    def _direction(self, made: Any) -> Row:
        """The pooled vector, of length one."""
        import numpy as np

        pieces = made if self._is_pooled else made[0]
        if pieces.ndim != 2:
            msg = f"The embedding model's first output has {made.ndim} dimensions, not 3."
            raise EmbeddingsFailed(msg)
        row = self._pool(pieces.astype(np.float32))
        length = np.linalg.norm(row)
        if not np.isfinite(length) or length == 0:
            msg = "The embedding model made a vector without a direction (zero, or no number)."
            raise EmbeddingsFailed(msg)
        vector: Row = row / length
        return vector


def _refusals() -> tuple[type[Exception], ...]:
    """What onnxruntime raises; its exceptions have nothing else in common."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    kinds = (getattr(state, name) for name in dir(state))
    return tuple(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Exception))


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:300]


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
        habits: Habits = Habits(),
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
