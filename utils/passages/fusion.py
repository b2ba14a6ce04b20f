"""One order of two: what was found by words and what was found by meaning.

Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009, k = 60) looks at ranks alone,
since a BM25 score and a cosine cannot be added: a passage gets ``1 / (60 + rank)`` from each way
that found it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..passage import Hit

DEPTH = 50
_K = 60.0

Scored = tuple[str, str, float]
"""UUID, paper, score: one passage found in one way."""


def depth_for(limit: int) -> int:
    """How many of each way are fused, for *limit* hits."""
    return max(DEPTH, limit)


def fused(by_words: Sequence[Scored], by_meaning: Sequence[Scored], limit: int) -> list[Hit]:
    """The best *limit* of both, each list being ordered best first; ties by UUID."""
    papers: dict[str, str] = {}
    scores: dict[str, float] = {}
    for way in (by_words, by_meaning):
        for rank, (uuid, paper, _) in enumerate(way, start=1):
            papers[uuid] = paper
            scores[uuid] = scores.get(uuid, 0.0) + 1.0 / (_K + rank)
    bm25 = {uuid: score for uuid, _, score in by_words}
    sim = {uuid: score for uuid, _, score in by_meaning}
    best = sorted(scores, key=lambda uuid: (-scores[uuid], uuid))[: max(0, limit)]
    return [Hit(uuid, papers[uuid], scores[uuid], sim.get(uuid), bm25.get(uuid)) for uuid in best]
