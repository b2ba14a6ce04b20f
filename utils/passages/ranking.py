"""What every finder does alike: one order made of two.

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

from ..model.passage import Hit
from ..system.plain_text import encodable

DEPTH = 50
DEEP = 1_000
"""So many passages are found by words: what meaning found is mostly among them, with its score."""
_WORDS_WEIGHT = 1.2
Scored = tuple[str, str, float]
"""UUID, paper, score: one passage found in one way."""


def plain(text: str) -> str:
    """*text* without what databases refuse: NUL, and halves of surrogate pairs."""
    return encodable(text).replace("\0", " ")


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
