"""Check vectors, and combine scores by words and by meaning, for all finders.

The scores of both searches are put on one scale and added: ``1.2 * share² * bm25 / best bm25 + best
cosine * cosine``. *share* is the share of the question's terms that the best passage by words has.
So each search counts by its own confidence: if no passage is near in meaning, as for the name of a
gene, words decide; if most of the words are missing, as for an indexer's headings, meaning decides.
Every candidate of one search is scored by the other, too.

A term counts in *share* by how rare it is, and its British and American spelling count as one term.
So words lead for "Which study reports 12.5 mg?", although few passages have "study" and "report":
vectors hardly tell one number from another. For the same reason words count double in a question
with a number. Only the embedded finder weighs terms; the others count them.

For example, the best passage by words has three of a question's four equally rare terms: *share* is
0.75, and it gets 1.2 * 0.5625 = 0.675 for its words. The passage that is nearest in meaning, with a
cosine of 0.8 and none of the terms, gets 0.8 * 0.8 = 0.64, and comes second.
`quality/benchmarks/corpus_retrieval.py` compares this sum with the fusion of ranks (Cormack, Clarke
and Büttcher, SIGIR 2009) and with other scales.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..command_line import command_line
from ..errors import InvariantFailed
from ..model.passage import PassageHit
from ..system.plain_text import replace_surrogates

if TYPE_CHECKING:
    from ..model.passage import Passage

MIN_CANDIDATES = 50
WORD_SEARCH_DEPTH = 1_000
"""Passages to find by words: enough that most passages found by meaning have a word score."""
_WORDS_WEIGHT = 1.2
_NUMBER = re.compile(r"(?<![\w-])\d")  # not those in a name: IL-6, COVID-19, p53
Scored = tuple[str, str, float]
"""UUID, paper, score: one passage found in one way."""
_LENGTH_TOLERANCE = 1e-2  # some servers round what they send to half precision


def to_storable_text(text: str) -> str:
    """Replace characters that databases reject: NUL, and unpaired surrogates."""
    return replace_surrogates(text).replace("\0", " ")


def fold_filter_value(name: str) -> str:
    """Return a journal's or type's name in the form in which filters compare names."""
    return to_storable_text(name).casefold().strip()


def get_candidate_limit(limit: int) -> int:
    """Return how many candidates each search must return, for *limit* hits."""
    return max(MIN_CANDIDATES, limit)


def compute_term_share(
    asked: Sequence[Sequence[str]], held: Collection[str], weights: Sequence[float] = ()
) -> float:
    """Return the share (0 to 1) of the requested terms that a passage has.

    Parameters
    ----------
    asked : sequence
        The spellings of each term (`..outline.terms.to_term_groups`); one of them suffices.
    held : collection of str
        The terms of the passage.
    weights : sequence of float, optional
        The weight of each term, as `weigh_term` returns it; all weigh the same without it.
    """
    weights = weights or [1.0] * len(asked)
    found = (any(one in held for one in spellings) for spellings in asked)
    return sum(compress(weights, found)) / sum(weights) if asked else 0.0


def weigh_term(holding: int, passages: int) -> float:
    """Return how much a term tells that *holding* of all *passages* have: BM25's weight of it."""
    return math.log(1 + (max(0, passages - holding) + 0.5) / (holding + 0.5))


def fuse_scores(
    by_words: Sequence[Scored],
    by_meaning: Sequence[Scored],
    question: str,
    share: float,
    limit: int,
) -> list[PassageHit]:
    """Return the best *limit* hits by words and meaning combined; ties are sorted by UUID.

    Parameters
    ----------
    by_words, by_meaning : sequence
        The candidates of both searches, each with its score if known.
    question : str
        What was asked. Words count double if it has a number.
    share : float
        The share of the question's terms that the best passage by words has; see
        `compute_term_share`.
    limit : int
        Maximum count of hits.
    """
    papers = {uuid: paper for uuid, paper, _ in (*by_words, *by_meaning)}
    bm25 = {uuid: score for uuid, _, score in by_words}
    sim = {uuid: score for uuid, _, score in by_meaning}
    best_word, best_sim = max(bm25.values(), default=0.0), max(sim.values(), default=0.0)
    words_weight = _WORDS_WEIGHT * share**2 / best_word if best_word > 0 else 0.0
    if _NUMBER.search(question):
        words_weight *= 2
    scores = {
        uuid: words_weight * bm25.get(uuid, 0.0) + max(0.0, best_sim) * sim.get(uuid, 0.0)
        for uuid in papers
    }
    best = sorted(scores, key=lambda uuid: (-scores[uuid], uuid))[: max(0, limit)]
    return [
        PassageHit(uuid, papers[uuid], scores[uuid], sim.get(uuid), bm25.get(uuid)) for uuid in best
    ]


def to_vector_rows(vectors: Any, passages: Sequence[Passage], dim: int) -> NDArray[np.float32]:
    """Return *vectors* as float32, after checking for one normalised row per passage.

    Raises
    ------
    InvariantFailed
        The count of rows or the width is wrong, or a row is not finite or not of length 1.
    """
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    if rows.shape != (len(passages), dim):
        msg = f"{len(passages)} passages need vectors of shape {(len(passages), dim)}"
        raise InvariantFailed(f"{msg}, not {rows.shape}.", _REINDEX_HINT, dim=dim)
    lengths = np.linalg.norm(rows, axis=1)
    if not bool(np.all(np.abs(lengths - 1.0) <= _LENGTH_TOLERANCE)):  # NaN is not within it
        raise InvariantFailed("A vector is not normalised.", _REINDEX_HINT, dim=dim)
    return rows


def to_query_vector(vector: Any, dim: int) -> NDArray[np.float32]:
    """Return the vector of a query as float32, after checking its width.

    Raises
    ------
    InvariantFailed
        The width differs, or a number is not finite.
    """
    row = np.ascontiguousarray(vector, dtype=np.float32)
    if row.shape != (dim,):
        msg = f"The query's vector has the shape {row.shape}, the index is {dim} wide."
        raise InvariantFailed(msg, _REINDEX_HINT, dim=dim)
    if not bool(np.isfinite(row).all()):
        raise InvariantFailed("The query's vector is not finite.", _REINDEX_HINT, dim=dim)
    return row


_REINDEX_HINT = f"Index again with the model that is set now: {command_line('corpus index')}."
