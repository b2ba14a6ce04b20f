"""A sentence model at work: text in, one vector out, on onnxruntime.

One text a run, two runs at a time, one thread each. For passages of some hundred word pieces that
was as fast as batches padded to one length, and took a fifth less processor time than two threads
in one run. It also makes the vector of a text the same whatever stands beside it: an 8-bit model
takes its scales from all that is in a run. And without threads of its own it survives a fork.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import EmbeddingsFailed
from ..system.plain_text import encodable

if TYPE_CHECKING:
    from . import Vectors

Row = NDArray[np.float32]

_AT_ONCE = 2
_LONGEST_PIECE = 100  # characters; WordPiece gives up on longer words
_POOLED = "sentence_embedding"  # what optimum calls an output that needs no pooling


def _weighted_mean(pieces: Row) -> Row:
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


class SentenceModel:
    """A loaded model; threads may share it.

    Parameters
    ----------
    graph
        The ONNX file, or its bytes.
    tokenizer
        ``tokenizer.json``, as bytes.
    longest
        Word pieces it reads of a text; the rest is cut off.
    pooling
        One of `POOLING`.
    pairs
        Whether the first line of a text (a title) is given to the model beside the rest.

    Raises
    ------
    EmbeddingsFailed
        onnxruntime or tokenizers cannot use what they are given.
    ImportError
        They are not installed.
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
            msg = f"The embedding model cannot be loaded: {_first_line(error)}"
            raise EmbeddingsFailed(msg) from None
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(longest)
        self._longest = longest * _LONGEST_PIECE
        self._pairs = pairs
        self._inputs = [given.name for given in self._session.get_inputs()]
        names = [made.name for made in self._session.get_outputs()]
        self._output = _POOLED if _POOLED in names else names[0]
        self._pool = POOLING[pooling] if self._output != _POOLED else POOLING["cls"]
        self.dim = len(self._vector("dimension"))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One normalised row for each text; see `Embedder.embed`."""
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
        whole = encodable(text[: self._longest])
        first, _, second = whole.partition("\n") if self._pairs else (whole, "", "")
        pieces = self._tokenizer.encode(first, second or None)
        if not pieces.ids:
            msg = "The embedding model made nothing of a text."
            raise EmbeddingsFailed(msg)
        given = {
            "input_ids": pieces.ids,
            "attention_mask": pieces.attention_mask,
            "token_type_ids": pieces.type_ids,
            "position_ids": range(len(pieces.ids)),
        }
        try:
            feed = {name: np.array([given[name]], dtype=np.int64) for name in self._inputs}
            made = self._session.run([self._output], feed)[0]
        except KeyError as error:
            msg = f"The embedding model wants an input nobody has: {error}."
            raise EmbeddingsFailed(msg) from None
        except _refusals() as error:
            msg = f"The embedding model failed: {_first_line(error)}"
            raise EmbeddingsFailed(msg) from None
        return self._direction(made)

    def _direction(self, made: Any) -> Row:
        """The pooled vector, of length one."""
        pieces = made if self._output == _POOLED else made[0]
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
