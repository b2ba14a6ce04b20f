"""What every finder does alike: check vectors, and make one order of two.

What was found by words and what was found by meaning is put on one scale and added:
``1.2 * share² * bm25 / best bm25 + best cosine * cosine``. *share* is how many of the question's
terms the best passage by words has. So each way counts as much as it is sure of itself: where no
passage comes near in meaning, as for the name of a gene, words decide, and where most of the words
are nowhere, as for the headings of an indexer, meaning does. Every candidate of one way is scored
by the other, too. Against fusing ranks (Cormack, Clarke and Büttcher, SIGIR 2009) and other ways to
make the scores alike: `quality/benchmarks/corpus_retrieval.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..command_line import command_line
from ..errors import InvariantFailed
from ..model.passage import Hit
from ..system.plain_text import replace_surrogates

if TYPE_CHECKING:
    from ..model.passage import Passage

DEPTH = 50
DEEP = 1_000
"""So many passages are found by words: what meaning found is mostly among them, with its score."""
_WORDS_WEIGHT = 1.2
Scored = tuple[str, str, float]
"""UUID, paper, score: one passage found in one way."""
_LENGTH_TOLERANCE = 1e-2  # some servers round what they send to half precision


def plain(text: str) -> str:
    """*text* without what databases refuse: NUL, and halves of surrogate pairs."""
    return replace_surrogates(text).replace("\0", " ")


def key(name: str) -> str:
    """The name of a journal or type as filters compare it."""
    return plain(name).casefold().strip()


def depth_for(limit: int) -> int:
    """How many of each way are candidates, for *limit* hits."""
    return max(DEPTH, limit)


def share_of(asked: Sequence[str], held: Collection[str]) -> float:
    """The part of the terms asked for that a passage has, 0 to 1."""
    return sum(term in held for term in asked) / len(asked) if asked else 0.0


def fused(
    by_words: Sequence[Scored], by_meaning: Sequence[Scored], share: float, limit: int
) -> list[Hit]:
    """The best *limit* of what was found by words and by meaning; ties by UUID.

    Parameters
    ----------
    by_words, by_meaning : sequence
        The candidates of both ways, each with its score wherever that is known.
    share : float
        How many of the question's terms the best passage by words has, see `share_of`.
    limit : int
        Hits wanted.
    """
    papers = {uuid: paper for uuid, paper, _ in (*by_words, *by_meaning)}
    bm25 = {uuid: score for uuid, _, score in by_words}
    sim = {uuid: score for uuid, _, score in by_meaning}
    best_word, best_sim = max(bm25.values(), default=0.0), max(sim.values(), default=0.0)
    words_weight = _WORDS_WEIGHT * share**2 / best_word if best_word > 0 else 0.0
    scores = {
        uuid: words_weight * bm25.get(uuid, 0.0) + max(0.0, best_sim) * sim.get(uuid, 0.0)
        for uuid in papers
    }
    best = sorted(scores, key=lambda uuid: (-scores[uuid], uuid))[: max(0, limit)]
    return [Hit(uuid, papers[uuid], scores[uuid], sim.get(uuid), bm25.get(uuid)) for uuid in best]


def checked(vectors: Any, passages: Sequence[Passage], dim: int) -> NDArray[np.float32]:
    """*vectors* as float32, one normalised row of *dim* numbers for each passage.

    Raises
    ------
    InvariantFailed
        Another number of rows, another width, not a number, or not of length 1.
    """
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    if rows.shape != (len(passages), dim):
        msg = f"{len(passages)} passages need vectors of shape {(len(passages), dim)}"
        raise InvariantFailed(f"{msg}, not {rows.shape}.", _HINT, dim=dim)
    lengths = np.linalg.norm(rows, axis=1)
    if not bool(np.all(np.abs(lengths - 1.0) <= _LENGTH_TOLERANCE)):  # NaN is not within it
        raise InvariantFailed("A vector is not normalised.", _HINT, dim=dim)
    return rows


def checked_query(vector: Any, dim: int) -> NDArray[np.float32]:
    """The vector of a query, which must be as wide as those of the passages.

    Raises
    ------
    InvariantFailed
        Another width, or not finite.
    """
    row = np.ascontiguousarray(vector, dtype=np.float32)
    if row.shape != (dim,):
        msg = f"The query's vector has the shape {row.shape}, the index is {dim} wide."
        raise InvariantFailed(msg, _HINT, dim=dim)
    if not bool(np.isfinite(row).all()):
        raise InvariantFailed("The query's vector is not finite.", _HINT, dim=dim)
    return row


_HINT = f"Index again with the model that is set now: {command_line('corpus index')}."
