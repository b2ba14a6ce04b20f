"""Fuse two rankings: what was found by words and what was found by meaning.

Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009) looks at ranks alone, since a
BM25 score and a cosine cannot be added: a passage gets ``1 / (k + rank)`` from each way that found
it. With their k of 60 whatever both ways have among their fifty stands above the first of either,
and ranks lie so close together that a weight for quality turns them over. From 10 to 15 all goes
equally well (`benchmarks/corpus_retrieval.py`); with 12 a trial (quality 8 of 9) still goes ahead
of the study (4) just before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..model.passage import Hit

DEPTH = 50
K = 12.0

Scored = tuple[str, str, float]
"""UUID, paper, score: one passage found in one way."""


def depth_for(limit: int) -> int:
    """How many of each way are fused, for *limit* hits."""
    return max(DEPTH, limit)


def fused(
    by_words: Sequence[Scored], by_meaning: Sequence[Scored], limit: int, k: float = K
) -> list[Hit]:
    """The best *limit* of both, each list being ordered best first; ties by UUID."""
    papers: dict[str, str] = {}
    scores: dict[str, float] = {}
    for way in (by_words, by_meaning):
        for rank, (uuid, paper, _) in enumerate(way, start=1):
            papers[uuid] = paper
            scores[uuid] = scores.get(uuid, 0.0) + 1.0 / (k + rank)
    bm25 = {uuid: score for uuid, _, score in by_words}
    sim = {uuid: score for uuid, _, score in by_meaning}
    best = sorted(scores, key=lambda uuid: (-scores[uuid], uuid))[: max(0, limit)]
    return [Hit(uuid, papers[uuid], scores[uuid], sim.get(uuid), bm25.get(uuid)) for uuid in best]
