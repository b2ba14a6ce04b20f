"""Passages of a mirror by words and by meaning: a `Finder`, for reading only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..passages import FinderStatus, terms
from ..passages.ranking import DEEP, Scored, depth_for, fused, share_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..model.passage import Filters, Hit
    from .passages import At, Found, Snapshot


class MirrorFinder:
    """What a snapshot holds, found as any finder finds it; see `..passages.Finder`."""

    name = "mirror"

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def search(
        self, query: str, vector: NDArray[np.float32] | None, limit: int, filters: Filters
    ) -> list[Hit]:
        """The best passages, by words and (with a vector) by meaning, fused; best first."""
        asked, depth = terms.asked(query), depth_for(limit)
        words = self._snapshot.by_words(asked, max(DEEP, limit), filters)
        first = [at for at, _ in words[:depth]]
        read = self._snapshot.read(first)
        by_words = [(at, score) for at, score in words if at in read]
        share = share_of(asked, _terms_of(read, first))
        return fused(_named(by_words, read), [], share, limit)

    def status(self) -> FinderStatus:
        """How many passages it has."""
        return FinderStatus(self._snapshot.size, 0)


def _terms_of(read: dict[At, Found], first: Sequence[At]) -> set[str]:
    """The terms of the best passage by words."""
    best = next((read[at].passage for at in first if at in read), None)
    return set(terms.indexed(best.embedded).split()) if best else set()


def _named(scored: Sequence[tuple[At, float]], read: dict[At, Found]) -> list[Scored]:
    """Scores with UUID and paper."""
    passages = [(read[at].passage, score) for at, score in scored]
    return [(one.uuid, one.paper, score) for one, score in passages]
