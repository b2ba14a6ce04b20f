"""Passages put in order once more, by a model that reads the question and a passage together.

Such a cross-encoder tells better than two vectors what answers a question, and takes a thousand
times as long, so that it is asked about the best passages only. It is used where ``RERANKER_MODEL``
names one, a folder or ``OWNER/NAME`` on the Hub, with an ONNX file of one output for a pair, or of
two (no, yes): what ``optimum-cli export onnx --task text-classification`` makes, for example, of
``ncbi/MedCPT-Cross-Encoder``, which knows questions and the abstracts of PubMed.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..errors import EmbeddingsFailed
from .hub_model import named, onnx_folder
from .model_on_disk import Inference, OnnxFolder

if TYPE_CHECKING:
    from ..settings import Settings

_AT_ONCE = 2
_CALLED = "reranking model"


class Reranker:
    """The cross-encoder of the settings; threads may share it.

    Raises
    ------
    EmbeddingsFailed
        By each method: it cannot be had or run here.
    """

    def __init__(self, wanted: str, settings: Settings) -> None:
        self.wanted = wanted
        self._settings = settings
        self._lock = threading.Lock()

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """How likely each passage answers the question, from 0 to 1."""
        with self._lock:
            model = self._model
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return list(pool.map(lambda one: _likely(model.run(question, one)), passages))

    @cached_property
    def _model(self) -> Inference:
        try:
            return self._loaded()
        except EmbeddingsFailed as error:  # those of embedders, which are loaded alike
            message, hint = (
                text.replace("EMBEDDINGS_MODEL", "RERANKER_MODEL")
                for text in (error.message, error.hint)
            )
            raise EmbeddingsFailed(message, hint) from None

    def _loaded(self) -> Inference:
        on_hub = named(self.wanted)
        folder = onnx_folder(*on_hub, self._settings) if on_hub else OnnxFolder(self.wanted)
        folder.require_packages()
        return Inference(folder.graph(), folder.read("tokenizer.json"), folder.longest, _CALLED)


def _likely(made: Any) -> float:
    """A probability of what a model says of a pair: one number, or one for no and one for yes."""
    import numpy as np

    logits = np.asarray(made, np.float64).reshape(-1)
    if logits.size not in (1, 2) or not np.isfinite(logits).all():
        msg = f"RERANKER_MODEL answers a pair with {logits.size} numbers, not with one."
        raise EmbeddingsFailed(msg, "Choose a cross-encoder with one output (or no and yes).")
    for_it = logits[0] if logits.size == 1 else logits[1] - logits[0]
    return float(1 / (1 + np.exp(-np.clip(for_it, -60, 60))))
