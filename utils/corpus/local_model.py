"""Models on this machine: ONNX files, run by fastembed (extra ``embed``).

`LocalModel` makes vectors. How a model is used is read from its folder: how the vectors of word
pieces become one (``1_Pooling/config.json``), and what stands before questions and passages
(``config_sentence_transformers.json``). As many word pieces are read as its tokenizer says.

One text a run, two runs at a time, one thread each. For passages of some hundred word pieces that
is as fast as batches padded to one length. The vector of a text is then the same whatever stands
beside it: a model in 8-bit integers takes its scales from all that is in a run.

A folder with the subfolders ``question`` and ``passage`` has an encoder for each, as MedCPT and
other models of two encoders need it.

`Reranker` puts the best passages in order once more, by a model that reads the question and a
passage together. Such a cross-encoder tells better than two vectors what answers a question, and
takes a thousand times as long. It is used where ``RERANKER_MODEL`` names one: a folder, or
``OWNER/NAME`` on the Hub, with an ONNX file of one output for a pair. What ``optimum-cli export
onnx --task text-classification`` makes, for example, of ``ncbi/MedCPT-Cross-Encoder``, which knows
questions and the abstracts of PubMed.
"""

from __future__ import annotations

import importlib.util
import re
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import EmbeddingsFailed
from ..system.plain_text import replace_surrogates
from .model_files import ModelFiles, ModelSource

if TYPE_CHECKING:
    from fastembed import TextEmbedding
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    from ..settings import Settings
    from .finders import Vector, Vectors


_AT_ONCE = 2
_MAX_CHARACTERS = 60_000  # of a text; no model here reads more
_SETTING = "EMBEDDINGS_MODEL"
_PASSAGE_PROMPTS = ("document", "passage", "corpus")  # names that `encode_document` looks for
_LAYERS = {"Transformer", "Pooling", "Normalize"}  # a further layer is in no ONNX file
_MODES = {
    "cls": "CLS",
    "mean": "MEAN",
    "lasttoken": "LAST_TOKEN",
    "pooling_mode_cls_token": "CLS",
    "pooling_mode_mean_tokens": "MEAN",
    "pooling_mode_lasttoken": "LAST_TOKEN",
}
"""fastembed's names for the ways of pooling that it has, by those of sentence-transformers."""
# Prompts that only the authors' pages state.
# https://huggingface.co/BAAI/bge-small-en-v1.5, https://huggingface.co/intfloat/e5-small-v2
_PROMPTS = {
    r"(BAAI/)?bge-(small|base|large)-en(-v1\.5)?": (
        "Represent this sentence for searching relevant passages: ",
        "",
    ),
    r"(intfloat/)?(multilingual-)?e5-(small|base|large)(-v2)?": ("query: ", "passage: "),
}
_PASSAGES_AT_ONCE = 2
_PASSAGE_MAX_CHARACTERS = 20_000


class LocalModel:
    """The embedder of a folder or of a model on the Hub; see `.Embedder`. Safe for threads."""

    def __init__(self, wanted: str, settings: Settings) -> None:
        folder = Path(wanted).expanduser()
        halves = [folder / "question", folder / "passage"]
        if all(half.is_dir() for half in halves):
            self._name = f"{folder.resolve().name}/"
            self._questions, self._passages = (_Encoder(str(half), settings) for half in halves)
        else:
            self._name = ""
            self._questions = self._passages = _Encoder(wanted, settings)

    @property
    def model(self) -> str:
        """The name and version of the model; see `.Embedder`."""
        labels = dict.fromkeys((self._questions.source.label, self._passages.source.label))
        return " + ".join(f"{self._name}{label}" for label in labels)

    @property
    def dim(self) -> int:
        """How many numbers a vector has; the model is loaded to see."""
        return len(self._passages.vector("dimension"))

    def available(self) -> str:
        """Say why no vectors can be made; see `.Embedder`."""
        if missing := describe_missing_package():
            return missing
        return self._questions.source.describe_missing() or self._passages.source.describe_missing()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one normalised row for each passage; see `.Embedder`."""
        import numpy as np

        if not texts:
            return np.empty((0, self.dim), np.float32)
        pool = ThreadPoolExecutor(min(_AT_ONCE, len(texts)))
        try:
            rows = list(pool.map(self._passages.vector, texts))
        finally:
            pool.shutdown(cancel_futures=True)
        return np.array(rows, dtype=np.float32)

    def embed_question(self, text: str) -> Vector:
        """Return the vector of a question; see `.Embedder`."""
        return self._questions.vector(text, question=True)


class _Encoder:
    """One ONNX file, loaded when the first vector is wanted."""

    def __init__(self, wanted: str, settings: Settings) -> None:
        self.source = ModelSource(wanted, settings, _SETTING)
        self._lock = threading.Lock()

    def vector(self, text: str, *, question: bool = False) -> Vector:
        """Return the vector of one text, of length one."""
        import numpy as np

        with self._lock:
            model, (before_question, before_passage) = self._loaded
        whole = (before_question if question else before_passage) + text
        try:
            [row] = model.embed([replace_surrogates(whole[:_MAX_CHARACTERS])], batch_size=1)
        except Exception as error:  # noqa: BLE001 - tokenizers and onnxruntime raise it
            raise EmbeddingsFailed(f"The embedding model failed: {first_line(error)}") from None
        vector: Vector = np.asarray(row, np.float32)
        if vector.ndim != 1 or not np.isfinite(vector).all() or not vector.any():
            msg = "The embedding model made a vector without a direction (zero, or not a number)."
            raise EmbeddingsFailed(msg)
        return vector

    @cached_property
    def _loaded(self) -> tuple[TextEmbedding, tuple[str, str]]:
        require_package()
        files = self.source.files()
        _require_plain_layers(files)
        return _load(files, _pooling(files)), _prompts(files)


def describe_missing_package() -> str:
    """Say that fastembed is not installed; empty where it is."""
    if importlib.util.find_spec("fastembed") is not None:
        return ""
    return "Models on this machine need fastembed. Run: uv sync --inexact --extra embed"


def require_package() -> None:
    """Raise `EmbeddingsFailed` where fastembed is not installed."""
    if missing := describe_missing_package():
        raise EmbeddingsFailed(missing)


def session_options(files: ModelFiles) -> dict[str, Any]:
    """Return fastembed's options for a model of these files: no network, one thread."""
    folder = str(files.folder)
    return {
        "cache_dir": folder,
        "specific_model_path": folder,
        "threads": 1,
        "providers": ["CPUExecutionProvider"],
    }


def open_session(model: Any) -> Any:
    """Return the onnxruntime session of a model of fastembed."""
    return model.model.model


def first_line(error: Exception) -> str:
    """Return the first line of a library's error."""
    return str(error).partition("\n")[0][:300]


def _load(files: ModelFiles, pooling: str) -> TextEmbedding:
    try:
        from fastembed import TextEmbedding
        from fastembed.common.model_description import ModelSource as Source
        from fastembed.common.model_description import PoolingType
    except ImportError as error:
        msg = f"fastembed cannot be used here: {error}."
        raise EmbeddingsFailed(msg, "Run: uv sync --inexact --extra embed") from None
    name = f"papershelf/{files.folder.resolve()}/{files.label}/{pooling}"
    with suppress(ValueError):  # registered already
        TextEmbedding.add_custom_model(
            name,
            pooling=PoolingType[pooling],
            normalization=True,
            sources=Source(hf=files.name),
            dim=0,
            model_file=files.graph,
        )
    try:
        model = TextEmbedding(name, **session_options(files))
        outputs = open_session(model).get_outputs()
    except Exception as error:  # noqa: BLE001 - tokenizers and onnxruntime raise it
        msg = f"The embedding model in {files.folder} cannot be loaded: {first_line(error)}"
        raise EmbeddingsFailed(msg) from None
    pooled = len(outputs[0].shape) == 2  # the first output is one vector for a text already
    return _load(files, "DISABLED") if pooled and pooling != "DISABLED" else model


def _require_plain_layers(files: ModelFiles) -> None:
    layers = files.read_json("modules.json") or []
    kinds = {str(one.get("type")).rpartition(".")[2] for one in layers if isinstance(one, dict)}
    if strange := sorted(kinds - _LAYERS):
        msg = f"{files.name} ends in {', '.join(strange)}, which its ONNX file does not contain."
        raise EmbeddingsFailed(msg, "Choose a model of Transformer, Pooling and Normalize.")


def _pooling(files: ModelFiles) -> str:
    """Return how the vectors of word pieces become one, as fastembed calls it."""
    told = files.read_json("1_Pooling/config.json")
    if told is None:
        msg = f"{files.name} does not say how it makes one vector (1_Pooling/config.json)."
        raise EmbeddingsFailed(msg, "Write that file as sentence-transformers does (mean or cls).")
    told = told if isinstance(told, dict) else {}
    modes = [name for name, on in told.items() if name.startswith("pooling_mode_") and on is True]
    modes = modes or [str(told.get("pooling_mode"))]
    if len(modes) > 1 or modes[0] not in _MODES:
        msg = f"{files.name} pools by {' and '.join(modes)}; fastembed knows cls, mean, lasttoken."
        raise EmbeddingsFailed(msg, "Choose another model.")
    return _MODES[modes[0]]


def _prompts(files: ModelFiles) -> tuple[str, str]:
    """Return what stands before questions and before passages."""
    told = files.read_json("config_sentence_transformers.json")
    told = told if isinstance(told, dict) else {}
    named = told.get("prompts")
    prompts: Mapping[str, Any] = named if isinstance(named, dict) else {}
    if not any(prompts.values()):
        known = (one for like, one in _PROMPTS.items() if re.fullmatch(like, files.name))
        return next(known, ("", ""))
    usual = prompts.get(str(told.get("default_prompt_name")), "")
    passage = next((prompts[name] for name in _PASSAGE_PROMPTS if name in prompts), usual)
    return str(prompts.get("query", usual)), str(passage)


class Reranker:
    """The cross-encoder of the settings; threads may share it.

    Raises
    ------
    EmbeddingsFailed
        By each method: it cannot be had or run here.
    """

    def __init__(self, wanted: str, settings: Settings) -> None:
        self.wanted = wanted
        self._source = ModelSource(wanted, settings, "RERANKER_MODEL")
        self._lock = threading.Lock()

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return how likely each passage answers the question, from 0 to 1."""
        import numpy as np

        with self._lock:
            model = self._model
        asked = replace_surrogates(question[:_PASSAGE_MAX_CHARACTERS])

        def logit(passage: str) -> float:
            [found] = model.rerank(
                asked, [replace_surrogates(passage[:_PASSAGE_MAX_CHARACTERS])], batch_size=1
            )
            return float(found)

        try:
            with ThreadPoolExecutor(_PASSAGES_AT_ONCE) as pool:
                logits = np.array(list(pool.map(logit, passages)), np.float64)
        except Exception as error:  # noqa: BLE001 - tokenizers and onnxruntime raise it
            raise EmbeddingsFailed(f"The reranking model failed: {first_line(error)}") from None
        if not np.isfinite(logits).all():
            raise EmbeddingsFailed("The reranking model answered with what is not a number.")
        likely: list[float] = (1 / (1 + np.exp(-np.clip(logits, -60, 60)))).tolist()
        return likely

    @cached_property
    def _model(self) -> TextCrossEncoder:
        require_package()
        files = self._source.files()
        try:
            from fastembed.common.model_description import ModelSource as Source
            from fastembed.rerank.cross_encoder import TextCrossEncoder

            name = f"papershelf/{files.folder.resolve()}/{files.label}"
            with suppress(ValueError):  # registered already
                TextCrossEncoder.add_custom_model(
                    name, sources=Source(hf=files.name), model_file=files.graph
                )
            model = TextCrossEncoder(name, **session_options(files))
            width = open_session(model).get_outputs()[0].shape[-1]
        except Exception as error:  # noqa: BLE001 - tokenizers and onnxruntime raise it
            msg = f"The reranking model in {files.folder} cannot be loaded: {first_line(error)}"
            raise EmbeddingsFailed(msg) from None
        if width != 1:
            msg = f"RERANKER_MODEL answers a pair with {width} numbers, not with one."
            raise EmbeddingsFailed(msg, "Choose a cross-encoder with one output.")
        return model
