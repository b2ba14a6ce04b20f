"""Passages put in order once more, by a model that reads the question and a passage together.

Such a cross-encoder tells better than two vectors what answers a question, and takes a thousand
times as long, so that it is asked about the best passages only. It is used where ``RERANKER_MODEL``
names one: a folder, or ``OWNER/NAME`` on the Hub, with an ONNX file of one output for a pair. What
``optimum-cli export onnx --task text-classification`` makes, for example, of
``ncbi/MedCPT-Cross-Encoder``, which knows questions and the abstracts of PubMed.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from ..errors import EmbeddingsFailed
from ..system.plain_text import encodable
from .local_model import first_line, open_session, require_package, session_options
from .model_files import ModelSource

if TYPE_CHECKING:
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    from ..settings import Settings

_AT_ONCE = 2
_MAX_CHARACTERS = 20_000


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
        asked = encodable(question[:_MAX_CHARACTERS])

        def logit(passage: str) -> float:
            [found] = model.rerank(asked, [encodable(passage[:_MAX_CHARACTERS])], batch_size=1)
            return float(found)

        try:
            with ThreadPoolExecutor(_AT_ONCE) as pool:
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
