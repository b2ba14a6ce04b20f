"""Run models on this machine: ONNX files, through fastembed (extra ``embed``).

`LocalModel` makes vectors. The model's folder configures its use: the pooling of token vectors
(``1_Pooling/config.json``), and the prompts before questions and passages
(``config_sentence_transformers.json``). The tokenizer sets the maximum length of a text.

Each run has one text; two runs with one thread each go on at a time. For passages of some hundred
tokens this is as fast as batches padded to one length. So the vector of a text does not depend on
other texts of a batch: an 8-bit integer model takes its scales from the whole batch.

A folder with the subfolders ``question`` and ``passage`` has an encoder for each, as MedCPT and
other models of two encoders need it.

`Reranker` re-sorts the best passages by a model that reads the question and a passage together.
Such a cross-encoder recognises answers better than two vectors do, and takes a thousand times as
long. The reranker is used if ``RERANKER_MODEL`` names a model: a folder, or ``OWNER/NAME`` on the
Hub, with an ONNX file of one output for a pair. ``optimum-cli export onnx --task
text-classification`` makes such a file, for example from ``ncbi/MedCPT-Cross-Encoder``, which was
trained on PubMed queries and abstracts.
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

from ..command_line import install_command
from ..errors import EmbeddingsFailed
from ..system.plain_text import replace_surrogates
from .model_files import ModelFiles, ModelSource

if TYPE_CHECKING:
    from fastembed import TextEmbedding
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    from ..settings import Settings
    from .finders import Vector, Vectors


_CONCURRENT_RUNS = 2
_MAX_CHARACTERS = 60_000  # of a text; no supported model reads more
_SETTING = "EMBEDDINGS_MODEL"
_PASSAGE_PROMPTS = (
    "document",
    "passage",
    "corpus",
)  # names that sentence-transformers' `encode_document` looks for
_SUPPORTED_LAYERS = {
    "Transformer",
    "Pooling",
    "Normalize",
}  # ONNX files do not contain any other layer
_POOLING_MODES = {
    "cls": "CLS",
    "mean": "MEAN",
    "lasttoken": "LAST_TOKEN",
    "pooling_mode_cls_token": "CLS",
    "pooling_mode_mean_tokens": "MEAN",
    "pooling_mode_lasttoken": "LAST_TOKEN",
}
"""fastembed's names of pooling modes, by their names in sentence-transformers."""
# Prompts that only the authors' pages document.
# https://huggingface.co/BAAI/bge-small-en-v1.5, https://huggingface.co/intfloat/e5-small-v2
_DOCUMENTED_PROMPTS = {
    r"(BAAI/)?bge-(small|base|large)-en(-v1\.5)?": (
        "Represent this sentence for searching relevant passages: ",
        "",
    ),
    r"(intfloat/)?(multilingual-)?e5-(small|base|large)(-v2)?": ("query: ", "passage: "),
}
_CONCURRENT_PAIRS = 2
_PASSAGE_MAX_CHARACTERS = 20_000


class LocalModel:
    """The embedder for a local folder or a model on the Hub; see `.Embedder`. Thread-safe."""

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
        """The number of dimensions of a vector; reading it loads the model."""
        return len(self._passages.embed_text("dimension"))

    def explain_unavailable(self) -> str:
        """Return the reason why no vectors can be made; see `.Embedder`."""
        if missing := explain_missing_fastembed():
            return missing
        return (
            self._questions.source.explain_missing_files()
            or self._passages.source.explain_missing_files()
        )

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """Return one normalised row for each passage; see `.Embedder`."""
        import numpy as np

        if not texts:
            return np.empty((0, self.dim), np.float32)
        pool = ThreadPoolExecutor(min(_CONCURRENT_RUNS, len(texts)))
        try:
            rows = list(pool.map(self._passages.embed_text, texts))
        finally:
            pool.shutdown(cancel_futures=True)
        return np.array(rows, dtype=np.float32)

    def embed_question(self, text: str) -> Vector:
        """Return the vector of a question; see `.Embedder`."""
        return self._questions.embed_text(text, question=True)


class _Encoder:
    """One ONNX file, loaded when the first vector is needed."""

    def __init__(self, wanted: str, settings: Settings) -> None:
        self.source = ModelSource(wanted, settings, _SETTING)
        self._lock = threading.Lock()

    def embed_text(self, text: str, *, question: bool = False) -> Vector:
        """Return the vector of one text, of length one."""
        import numpy as np

        with self._lock:
            model, (before_question, before_passage) = self._loaded_model
        whole = (before_question if question else before_passage) + text
        try:
            [row] = model.embed([replace_surrogates(whole[:_MAX_CHARACTERS])], batch_size=1)
        except Exception as error:  # noqa: BLE001 - tokenizers and onnxruntime raise it
            raise EmbeddingsFailed(f"The embedding model failed: {get_first_line(error)}") from None
        vector: Vector = np.asarray(row, np.float32)
        if vector.ndim != 1 or not np.isfinite(vector).all() or not vector.any():
            msg = "The embedding model made a vector without a direction (zero, or not a number)."
            raise EmbeddingsFailed(msg)
        return vector

    @cached_property
    def _loaded_model(self) -> tuple[TextEmbedding, tuple[str, str]]:
        require_fastembed()
        files = self.source.get_files()
        _require_supported_layers(files)
        return _load_embedding_model(files, _read_pooling_mode(files)), _read_prompts(files)


def explain_missing_fastembed() -> str:
    """Return a message if fastembed is not installed; empty if it is installed."""
    if importlib.util.find_spec("fastembed") is not None:
        return ""
    return f"Models on this machine need fastembed. Run: {install_command('embed')}"


def require_fastembed() -> None:
    """Raise `EmbeddingsFailed` if fastembed is not installed."""
    if missing := explain_missing_fastembed():
        raise EmbeddingsFailed(missing)


def build_fastembed_options(files: ModelFiles) -> dict[str, Any]:
    """Return fastembed's options for a model of these files: no network, one thread."""
    folder = str(files.folder)
    return {
        "cache_dir": folder,
        "specific_model_path": folder,
        "threads": 1,
        "providers": ["CPUExecutionProvider"],
    }


def get_onnx_session(model: Any) -> Any:
    """Return the onnxruntime session that a fastembed model uses."""
    return model.model.model


def get_first_line(error: Exception) -> str:
    """Return the first line of a library's error message."""
    return str(error).partition("\n")[0][:300]


def _load_embedding_model(files: ModelFiles, pooling: str) -> TextEmbedding:
    """Load a model, and pool its outputs unless the model pools by itself."""
    try:
        from fastembed import TextEmbedding
        from fastembed.common.model_description import ModelSource as Source
        from fastembed.common.model_description import PoolingType
    except ImportError as error:
        msg = f"fastembed cannot be used here: {error}."
        raise EmbeddingsFailed(msg, f"Run: {install_command('embed')}") from None
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
        model = TextEmbedding(name, **build_fastembed_options(files))
        outputs = get_onnx_session(model).get_outputs()
    except Exception as error:  # noqa: BLE001 - tokenizers and onnxruntime raise it
        msg = f"The embedding model in {files.folder} cannot be loaded: {get_first_line(error)}"
        raise EmbeddingsFailed(msg) from None
    pooled = (
        len(outputs[0].shape) == 2
    )  # the model pools by itself: its first output is the vector of a text
    return _load_embedding_model(files, "DISABLED") if pooled and pooling != "DISABLED" else model


def _require_supported_layers(files: ModelFiles) -> None:
    """Raise `EmbeddingsFailed` if the model has layers that its ONNX file lacks."""
    layers = files.read_json("modules.json") or []
    kinds = {str(one.get("type")).rpartition(".")[2] for one in layers if isinstance(one, dict)}
    if strange := sorted(kinds - _SUPPORTED_LAYERS):
        msg = f"{files.name} ends in {', '.join(strange)}, which its ONNX file does not contain."
        raise EmbeddingsFailed(msg, "Choose a model of Transformer, Pooling and Normalize.")


def _read_pooling_mode(files: ModelFiles) -> str:
    """Return the pooling mode of a model, by fastembed's name."""
    config = files.read_json("1_Pooling/config.json")
    if config is None:
        msg = f"{files.name} does not say how it makes one vector (1_Pooling/config.json)."
        raise EmbeddingsFailed(msg, "Write that file as sentence-transformers does (mean or cls).")
    config = config if isinstance(config, dict) else {}
    modes = [name for name, on in config.items() if name.startswith("pooling_mode_") and on is True]
    modes = modes or [str(config.get("pooling_mode"))]
    if len(modes) > 1 or modes[0] not in _POOLING_MODES:
        msg = f"{files.name} pools by {' and '.join(modes)}; fastembed knows cls, mean, lasttoken."
        raise EmbeddingsFailed(msg, "Choose another model.")
    return _POOLING_MODES[modes[0]]


def _read_prompts(files: ModelFiles) -> tuple[str, str]:
    """Return the texts that the model expects before a question and before a passage."""
    config = files.read_json("config_sentence_transformers.json")
    config = config if isinstance(config, dict) else {}
    named = config.get("prompts")
    prompts: Mapping[str, Any] = named if isinstance(named, dict) else {}
    if not any(prompts.values()):
        known = (one for like, one in _DOCUMENTED_PROMPTS.items() if re.fullmatch(like, files.name))
        return next(known, ("", ""))
    usual = prompts.get(str(config.get("default_prompt_name")), "")
    passage = next((prompts[name] for name in _PASSAGE_PROMPTS if name in prompts), usual)
    return str(prompts.get("query", usual)), str(passage)


class Reranker:
    """The cross-encoder named in the settings. Thread-safe.

    Raises
    ------
    EmbeddingsFailed
        From each method: the model cannot be fetched or run here.
    """

    def __init__(self, wanted: str, settings: Settings) -> None:
        self.wanted = wanted
        self._source = ModelSource(wanted, settings, "RERANKER_MODEL")
        self._lock = threading.Lock()

    def score_passages(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return, for each passage, how likely it answers the question, from 0 to 1."""
        import numpy as np

        with self._lock:
            model = self._loaded_model
        asked = replace_surrogates(question[:_PASSAGE_MAX_CHARACTERS])

        def compute_logit(passage: str) -> float:
            [found] = model.rerank(
                asked, [replace_surrogates(passage[:_PASSAGE_MAX_CHARACTERS])], batch_size=1
            )
            return float(found)

        try:
            with ThreadPoolExecutor(_CONCURRENT_PAIRS) as pool:
                logits = np.array(list(pool.map(compute_logit, passages)), np.float64)
        except Exception as error:  # noqa: BLE001 - tokenizers and onnxruntime raise it
            raise EmbeddingsFailed(f"The reranking model failed: {get_first_line(error)}") from None
        if not np.isfinite(logits).all():
            raise EmbeddingsFailed("The reranking model returned a score that is not a number.")
        likely: list[float] = (1 / (1 + np.exp(-np.clip(logits, -60, 60)))).tolist()
        return likely

    @cached_property
    def _loaded_model(self) -> TextCrossEncoder:
        require_fastembed()
        files = self._source.get_files()
        try:
            from fastembed.common.model_description import ModelSource as Source
            from fastembed.rerank.cross_encoder import TextCrossEncoder

            name = f"papershelf/{files.folder.resolve()}/{files.label}"
            with suppress(ValueError):  # registered already
                TextCrossEncoder.add_custom_model(
                    name, sources=Source(hf=files.name), model_file=files.graph
                )
            model = TextCrossEncoder(name, **build_fastembed_options(files))
            width = get_onnx_session(model).get_outputs()[0].shape[-1]
        except Exception as error:  # noqa: BLE001 - tokenizers and onnxruntime raise it
            msg = f"The reranking model in {files.folder} cannot be loaded: {get_first_line(error)}"
            raise EmbeddingsFailed(msg) from None
        if width != 1:
            msg = f"RERANKER_MODEL answers a pair with {width} numbers, not with one."
            raise EmbeddingsFailed(msg, "Choose a cross-encoder with one output.")
        return model
