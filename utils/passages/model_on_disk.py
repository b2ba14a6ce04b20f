"""What every embedder has in common whose model lies on this disk.

The folder of a model is laid out as sentence-transformers does it: ``tokenizer.json``,
``config.json``, how word pieces become one vector (``1_Pooling/config.json``), how many of them
are read (``sentence_bert_config.json``) and what is put before questions and passages
(``config_sentence_transformers.json``). https://sbert.net/docs
"""

from __future__ import annotations

import importlib.util
import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import EmbeddingsFailed

if TYPE_CHECKING:
    from . import Vector, Vectors
    from .sentence_model import SentenceModel

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


@dataclass(frozen=True, slots=True)
class Habits:
    """How a model wants to be used, where its folder does not say.

    ``question`` and ``passage`` are put before a text; ``pooling`` is one of
    `.sentence_model.POOLING`; ``pairs``: title and text are given as two.
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
            self._require_packages()
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
        """From word pieces to one vector, one of `.sentence_model.POOLING`."""
        from .sentence_model import POOLING

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

    def _require_packages(self) -> None:
        missing = [name for name in self.packages if importlib.util.find_spec(name) is None]
        if missing:
            msg = f"Vectors need what is not installed here: {', '.join(missing)}."
            hint = f"Run `uv sync --extra embed` (elsewhere `pip install {' '.join(missing)}`)."
            raise EmbeddingsFailed(msg, hint)

    def _sentence_model(self) -> SentenceModel:
        with self._lock:
            if self._loaded is None:
                self._require_packages()
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> SentenceModel:
        from .sentence_model import SentenceModel

        tokenizer = self.read("tokenizer.json")
        try:
            return SentenceModel(
                self.graph(), tokenizer, self.longest, self.pooling, pairs=self._habits.pairs
            )
        except ImportError as error:
            msg = f"The embedding model cannot run here: {error}."
            raise EmbeddingsFailed(msg, "Run `uv sync --extra embed` again.") from None
