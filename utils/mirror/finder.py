"""Passages of a mirror by words and by meaning: a `Finder`, for reading only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from ..passages import FinderStatus, terms
from ..passages.ranking import DEEP, Scored, depth_for, fused, share_of
from ..passages.vector_checks import checked_query

if TYPE_CHECKING:
    from ..model.passage import Filters, Hit
    from ..passages import Vector
    from .passages import At, Snapshot
    from .shown import Found
    from .vectors import VectorStore

_MORE = (4, 40)  # texts that are looked for, for one passage that passes the filters
_SELECTIVE = 20_000  # texts that pass: so few are all compared


class MirrorFinder:
    """What a snapshot holds, found as any finder finds it; see `..passages.Finder`."""

    name = "mirror"

    def __init__(self, snapshot: Snapshot, vectors: VectorStore | None = None) -> None:
        self.snapshot, self._vectors = snapshot, vectors

    def search(self, query: str, vector: Vector | None, limit: int, filters: Filters) -> list[Hit]:
        """The best passages, by words and (with a vector) by meaning, fused; best first.

        Raises
        ------
        InvariantFailed
            The vector is of another width than those of the passages.
        """
        asked, depth = terms.asked(query), depth_for(limit)
        if self._vectors and self._vectors.dim and vector is not None:
            vector = checked_query(vector, self._vectors.dim)
            with ThreadPoolExecutor(1, "by meaning") as other:  # either way waits for no other
                meant = other.submit(self._by_meaning, vector, depth, filters)
                words = self.snapshot.by_words(asked, max(DEEP, limit), filters)
                near = meant.result()
            first = [at for at, _ in words[:depth]]
            near |= self._cosines(vector, first)
        else:
            words, near = self.snapshot.by_words(asked, max(DEEP, limit), filters), {}
            first = [at for at, _ in words[:depth]]
        read = self.snapshot.read([*dict.fromkeys([*first, *near])])
        by_words = [(at, score) for at, score in words if at in read]
        by_meaning = [(at, score) for at, score in near.items() if at in read]
        share = share_of(asked, _terms_of(read, first))
        return fused(_named(by_words, read), _named(by_meaning, read), share, limit)

    def status(self) -> FinderStatus:
        """What it has; of vectors that are lacking the snapshot's own warnings speak."""
        size, vectors = self.snapshot.size, self._vectors
        if not (vectors and vectors.model):
            return FinderStatus(size, 0)
        return FinderStatus(size, size, vectors.model, vectors.dim)

    def _by_meaning(self, vector: Vector, depth: int, filters: Filters) -> dict[At, float]:
        """The nearest passages that pass the filters, with their cosines."""
        assert self._vectors is not None
        found: dict[At, float] = {}
        for more in _MORE:
            near = dict(self._vectors.nearest(vector, more * depth))
            found = self._passing(near, depth, filters)
            if len(found) >= depth or len(near) < more * depth:
                return found
        few = self.snapshot.keys_that_pass(filters, _SELECTIVE)
        if few is None:
            return found
        return self._passing(self._vectors.cosines(vector, few), depth, filters)

    def _passing(self, near: dict[int, float], depth: int, filters: Filters) -> dict[At, float]:
        """The passages of the best texts, of those that pass."""
        best = sorted(near, key=lambda key: (-near[key], key))
        found: dict[At, float] = {}
        for start in range(0, len(best), 4 * depth):
            some = best[start : start + 4 * depth]
            here = self.snapshot.by_key(some, filters)
            found |= {at: near[key] for key in some for at in here.get(key, ())}
            if len(found) >= depth:
                break
        return dict(list(found.items())[:depth])

    def _cosines(self, vector: Vector, first: Sequence[At]) -> dict[At, float]:
        """The cosines of passages that were found by words, of those with a vector."""
        assert self._vectors is not None
        keys = self.snapshot.keys(first)
        known = self._vectors.cosines(vector, keys) if keys else {}
        return {at: known[key] for at, key in zip(first, keys, strict=True) if key in known}


class BothFinder:
    """A mirror of PubMed's records and one of PMC's full texts, asked as one.

    The scores of each say how sure it is of itself (`..passages.ranking`), so they are compared as
    they are. A passage of both is the text's. With *with_text*, which says which of some PMIDs have
    a full text, a record gives way to the text of its paper, as in a corpus.
    """

    name = "mirror"

    def __init__(
        self,
        records: MirrorFinder,
        texts: MirrorFinder,
        with_text: Callable[[Iterable[str]], set[str]] | None = None,
    ) -> None:
        self._records, self._texts, self._with_text = records, texts, with_text

    def search(self, query: str, vector: Vector | None, limit: int, filters: Filters) -> list[Hit]:
        """The best passages of both; see `MirrorFinder.search`."""
        of_texts, of_records = filters.kind != "abstract", filters.kind != "full_text"
        records = self._records.search(query, vector, limit, filters) if of_records else []
        texts = self._texts.search(query, vector, limit, filters) if of_texts else []
        if self._with_text and filters.kind != "abstract":
            pmids = {hit.paper: hit.paper.removeprefix("pmid:") for hit in records}
            known = self._with_text(pmids.values())
            records = [hit for hit in records if pmids[hit.paper] not in known]
        found = {hit.uuid: hit for hit in (*records, *texts)}
        return sorted(found.values(), key=lambda hit: (-hit.score, hit.uuid))[:limit]

    def status(self) -> FinderStatus:
        """What both have."""
        every = (self._records.status(), self._texts.status())
        known = next((one for one in every if one.model), every[0])
        size = sum(one.passages for one in every)
        return FinderStatus(size, size if known.model else 0, known.model, known.dim)


def _terms_of(read: dict[At, Found], first: Sequence[At]) -> set[str]:
    """The terms of the best passage by words."""
    best = next((read[at].passage for at in first if at in read), None)
    return set(terms.indexed(best.embedded).split()) if best else set()


def _named(scored: Sequence[tuple[At, float]], read: dict[At, Found]) -> list[Scored]:
    """Scores with UUID and paper."""
    passages = [(read[at].passage, score) for at, score in scored]
    return [(one.uuid, one.paper, score) for one, score in passages]
