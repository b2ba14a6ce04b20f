"""The model of an ``EMBEDDINGS_MODEL=OWNER/NAME``: fetched from the Hub once, then at home here.

What is fetched: ``tokenizer.json``, the few JSON files that say how the model is used, and one
graph: an ONNX file where the repository has one (`GRAPHS`), else the weights of a BERT as
safetensors, of which `.bert_graph` makes one. Never pickles, never code, never more than `_MOST`.

The commit that a name meant when it was first met is written down (a *pin*) and stays: nothing is
asked of the Hub again, and the commit stands in the model's name, so that an index never mixes
vectors of two. Another one: ``OWNER/NAME@REVISION``.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import re
import threading
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import EmbeddingsFailed, StoreFailed
from ..system.safe_files import make_folder, write_whole
from .minilm import MiniLM
from .model_on_disk import DIGITS, GRAPHS, Habits, ModelOnDisk, OnnxFolder

if TYPE_CHECKING:
    from ..http.hub import Hub, Listing
    from ..settings import Settings
    from . import Vector, Vectors

log = logging.getLogger(__name__)

_NAMED = re.compile(r"([\w.-]{1,96}/[\w.-]{1,96})(?:@(\w[\w./-]{0,199}))?", re.A)
_NEEDED = ("tokenizer.json", "config.json")
_POOLING = "1_Pooling/config.json"
_TOLD = ("modules.json", _POOLING, "sentence_bert_config.json", "config_sentence_transformers.json")
_WEIGHTS = "model.safetensors"
_MOST = 3_000_000_000  # bytes; the largest models that a processor alone can serve

# What only the authors' pages say: prompts and pooling that stand in no file.
# https://huggingface.co/BAAI/bge-small-en-v1.5, https://huggingface.co/intfloat/e5-small-v2,
# https://huggingface.co/ncbi/MedCPT-Query-Encoder (first vector; title and abstract as a pair)
_HABITS = {
    r"BAAI/bge-(small|base|large)-en(-v1\.5)?": Habits(
        "Represent this sentence for searching relevant passages: "
    ),
    r"intfloat/(multilingual-)?e5-(small|base|large)(-v2)?": Habits("query: ", "passage: "),
    r"ncbi/MedCPT-Query-Encoder": Habits(pooling="cls"),
    r"ncbi/MedCPT-Article-Encoder": Habits(pooling="cls", pairs=True),
}
_QUESTIONS, _PASSAGES = "ncbi/MedCPT-Query-Encoder", "ncbi/MedCPT-Article-Encoder"


def named(wanted: str) -> tuple[str, str] | None:
    """Name and revision of a model of the Hub; None where *wanted* cannot be one.

    >>> named("BAAI/bge-small-en-v1.5"), named("lab/tiny@v2"), named("/models/tiny")
    (('BAAI/bge-small-en-v1.5', 'main'), ('lab/tiny', 'v2'), None)
    """
    found = _NAMED.fullmatch(wanted)
    return (found[1], found[2] or "main") if found and ".." not in wanted else None


class HubModel:
    """The embedder of a model on the Hub; of MedCPT, whose two halves belong together, of both."""

    def __init__(
        self, name: str, revision: str, settings: Settings, cache: Path | None = None
    ) -> None:
        def half(of: str) -> _Half:
            return _Half(of, revision if of == name else "main", settings, cache)

        if name in (_QUESTIONS, _PASSAGES):
            self._questions, self._passages = half(_QUESTIONS), half(_PASSAGES)
        else:
            self._questions = self._passages = half(name)

    @property
    def model(self) -> str:
        """The name with the commit and the file it is run from."""
        return " + ".join(dict.fromkeys(one.model for one in (self._questions, self._passages)))

    @property
    def dim(self) -> int:
        """How many numbers a vector has; the model is fetched and loaded to see."""
        return self._passages.encoder.dim

    def available(self) -> str:
        """Why no vectors can be made; see `Embedder.available`."""
        return self._questions.missing() or self._passages.missing()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One normalised row for each passage; see `Embedder.embed`."""
        return self._passages.encoder.embed(texts)

    def embed_question(self, text: str) -> Vector:
        """The vector of a question; see `Embedder.embed_question`."""
        return self._questions.encoder.embed_question(text)


def onnx_folder(name: str, revision: str, settings: Settings) -> OnnxFolder:
    """A model of the Hub, whatever it is for, that has an ONNX file; fetched if it is not here.

    Raises
    ------
    EmbeddingsFailed
        It has none, or cannot be had.
    """
    encoder = _Half(name, revision, settings, None, Habits(pooling="cls")).encoder
    if isinstance(encoder, OnnxFolder):
        return encoder
    msg = f"The repository {name} holds no ONNX file."
    raise EmbeddingsFailed(msg, f"Make a folder: `optimum-cli export onnx -m {name} FOLDER`.")


@dataclass(frozen=True, slots=True)
class _Pin:
    """What a name meant when it was first met: commit, graph, and the files with their digests."""

    commit: str
    graph: str
    digests: dict[str, str]


class _Half:
    """One repository of the Hub, as an encoder; *habits* where they are known otherwise."""

    def __init__(
        self,
        name: str,
        revision: str,
        settings: Settings,
        cache: Path | None,
        habits: Habits | None = None,
    ) -> None:
        self._name, self._revision, self._settings = name, revision, settings
        self._cache = cache or settings.cache_folder / "models"
        known = (habits for like, habits in _HABITS.items() if re.fullmatch(like, name))
        self._habits = habits or next(known, None)
        self._lock = threading.RLock()
        self._known: _Pin | None = None
        self._loaded: ModelOnDisk | None = None

    @property
    def model(self) -> str:
        """``OWNER/NAME@COMMIT:FILE``."""
        from .bert_graph import RECIPE

        pin = self.pin
        rounded = f"-int8.{RECIPE}" if pin.graph == _WEIGHTS else ""
        return f"{self._name}@{pin.commit[:DIGITS]}:{pin.graph}{rounded}"

    def missing(self) -> str:
        """Why it cannot be used here, as far as is known without asking anybody."""
        wanted = ("onnxruntime", "tokenizers", "onnx", "huggingface_hub")
        absent = [name for name in wanted if importlib.util.find_spec(name) is None]
        if absent:
            msg = f"Vectors need what is not installed here: {', '.join(absent)}."
            hint = f"Run `uv sync --extra embed` (elsewhere `pip install {' '.join(absent)}`)."
            return f"{msg} {hint}"
        return ""

    @property
    def pin(self) -> _Pin:
        """What the name means here; the Hub is asked when it is met for the first time."""
        with self._lock:
            if self._known is None:
                self._require_packages()
                self._known = self._written() or self._at_home() or self._met()
            return self._known

    @property
    def encoder(self) -> ModelOnDisk:
        """The model, whole on this disk."""
        with self._lock:
            if self._loaded is None:
                self._loaded = self._encoder(self.pin)
            return self._loaded

    def _encoder(self, pin: _Pin) -> ModelOnDisk:
        folder = self._hub.snapshot(self._name, pin.commit)
        if not all((folder / path).is_file() for path in pin.digests):
            log.info("Fetching %s from the Hub.", self._name)
            folder = self._hub.fetch(self._name, pin.commit, pin.digests, _MOST)
        habits = self._habits or Habits()
        if pin.graph == _WEIGHTS:
            return MiniLM(str(folder), self._cache, habits)
        return OnnxFolder(str(folder), habits, pin.graph)

    @cached_property
    def _hub(self) -> Hub:
        from ..http.hub import Hub

        return Hub(self._settings)

    def _require_packages(self) -> None:
        if missing := self.missing():
            raise EmbeddingsFailed(missing)

    @property
    def _note(self) -> Path:
        """Where the pin is written down."""
        name = f"{self._name}@{self._revision}".replace("/", "--")
        return self._cache / f"{name}.json"

    def _written(self) -> _Pin | None:
        with suppress(OSError, ValueError, TypeError):
            return _Pin(**json.loads(self._note.read_bytes()))
        return None

    def _at_home(self) -> _Pin | None:
        """A model that another program, or `hf download`, fetched whole."""
        commit = self._hub.known_commit(self._name, self._revision)
        folder = self._hub.snapshot(self._name, commit)
        if not commit or not folder.is_dir():
            return None
        there = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
        with suppress(EmbeddingsFailed):
            graph, files = self._chosen(there)
            return self._noted(_Pin(commit, graph, dict.fromkeys(files, "")))
        return None

    def _met(self) -> _Pin:
        listing = self._hub.listing(self._name, self._revision)
        graph, files = self._chosen(listing.sizes)
        self._require_reasonable(listing, files)
        digests = {path: listing.digests.get(path, "") for path in files}
        return self._noted(_Pin(listing.commit, graph, digests))

    def _noted(self, pin: _Pin) -> _Pin:
        with suppress(StoreFailed):  # what cannot be written down is asked again next time
            make_folder(self._cache)
            write_whole(self._note, json.dumps(asdict(pin)).encode())
        return pin

    def _chosen(self, there: Collection[str]) -> tuple[str, list[str]]:
        """The graph, and all files that are wanted.

        Raises
        ------
        EmbeddingsFailed
            It is no model that can be run here.
        """
        graph = next((path for path in (*GRAPHS, _WEIGHTS) if path in there), "")
        absent = [path for path in _NEEDED if path not in there]
        if not graph or absent:
            lacks = " and no ".join([*absent, *(() if graph else ("ONNX file", _WEIGHTS))])
            msg = f"The repository {self._name} holds no {lacks}; pickled weights are never read."
            hint = "Choose one with an ONNX file, or make a folder of your own: "
            hint += f"`optimum-cli export onnx -m {self._name} FOLDER`."
            raise EmbeddingsFailed(msg, hint)
        if _POOLING not in there and not (self._habits and self._habits.pooling):
            msg = f"The repository {self._name} does not say how it makes one vector of a text."
            hint = f"Choose one with {_POOLING}: most often that is the model it was made from."
            raise EmbeddingsFailed(msg, hint)
        beside = re.compile(
            re.escape(graph) + r"[\w.-]+"
        )  # weights that are too large for one file
        files = [*_NEEDED, *(path for path in _TOLD if path in there), graph]
        return graph, files + sorted(path for path in there if beside.fullmatch(path))

    def _require_reasonable(self, listing: Listing, files: Sequence[str]) -> None:
        size = sum(listing.sizes[path] for path in files)
        if size > _MOST:
            msg = f"{self._name} has {size / 1e9:.1f} GB; at most {_MOST / 1e9:.0f} are fetched."
            raise EmbeddingsFailed(msg, "Set EMBEDDINGS_MODEL to a smaller model, or to a folder.")
