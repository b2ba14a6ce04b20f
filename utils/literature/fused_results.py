"""Several ranked lists of records as one list of papers, the best first.

Order is reciprocal rank fusion: a paper scores 1/(60 + rank) in every list it is in (Cormack,
Clarke & Büttcher, SIGIR 2009), so that agreement beats any single opinion, and no source's scores
need to be comparable with another's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..model.identifiers import Ids
from ..model.paper import Paper
from .families import grouped
from .likeness import is_preprint
from .merged_record import as_one, by_trust
from .same_paper import Judgement, Relation

_FUSION = 60


@dataclass(frozen=True, slots=True)
class Same:
    """A record that was merged into another, and why; ``confidence`` is 1 for identifiers."""

    source: str
    ids: Ids
    title: str
    reason: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Link:
    """Another paper that belongs to this one, kept apart.

    ``relation`` is this paper's: it is a ``preprint_of`` the other, ``has_preprint`` in it, is
    another ``version_of`` it, or ``may_be`` the same paper, which nothing proves.
    """

    relation: Relation
    ids: Ids
    title: str
    reason: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Found:
    """A paper, merged from every source that found it.

    ``sources`` are those that sent it, the one whose fields win first (see `.merged_record`);
    ``same`` what was merged into that first record.
    """

    paper: Paper
    sources: tuple[str, ...]
    same: tuple[Same, ...] = ()
    linked: tuple[Link, ...] = ()

    def row(self, *, abstract: bool = True) -> dict[str, Any]:
        """The paper with all its names, who knows it, and why its records are one."""
        paper = self.paper
        row = paper.row() | {"arxiv_id": paper.ids.arxiv, "s2_id": paper.ids.s2}
        return row | {
            "abstract": paper.abstract if abstract else "",
            "version": "preprint" if is_preprint(paper) else "",
            "sources": list(self.sources),
            "same": [{"source": one.source, **_reasoned(one)} for one in self.same],
            "linked": [{"relation": one.relation, **_reasoned(one)} for one in self.linked],
        }


def _reasoned(other: Same | Link) -> dict[str, Any]:
    return {
        "ids": other.ids.names(),
        "title": other.title,
        "reason": other.reason,
        "confidence": other.confidence,
    }


def fused(
    lists: Mapping[str, Sequence[Paper]], *, by_date: bool = False
) -> tuple[tuple[Found, ...], tuple[str, ...]]:
    """Several sources' lists as one, and what contradicts itself in them.

    The newest first with *by_date*, else the best; a preprint always right behind its published
    version.
    """
    records = [
        (name, rank, paper) for name, papers in lists.items() for rank, paper in enumerate(papers)
    ]
    families = grouped([paper for _, _, paper in records])
    found: list[Found] = []
    scores: list[float] = []
    for group in families.groups:
        members = sorted(group, key=lambda at: by_trust(records[at][0], records[at][2]))
        found.append(_found([records[at] for at in members], members, families.reasons))
        scores.append(_score([records[at] for at in group]))
    for one, other, judgement in families.links:
        found[one] = _linked(found[one], found[other], judgement)
        found[other] = _linked(found[other], found[one], judgement.turned)
    order = sorted(range(len(found)), key=lambda at: -scores[at])
    ordered = [found[at] for at in order]
    if by_date:
        ordered.sort(key=lambda one: one.paper.published, reverse=True)
    return tuple(_preprints_after(ordered)), families.contradictions


def _score(records: Iterable[tuple[str, int, Paper]]) -> float:
    """What the ranks of a paper's records are worth; a source that lists it twice counts once."""
    best: dict[str, int] = {}
    for name, rank, _ in records:
        best[name] = min(rank, best.get(name, rank))
    return sum(1 / (_FUSION + rank + 1) for rank in best.values())


def _found(
    records: Sequence[tuple[str, int, Paper]],
    places: Sequence[int],
    reasons: Mapping[int, Judgement],
) -> Found:
    """One paper out of its records, the most trusted first."""
    papers = [paper for _, _, paper in records]
    same = []
    for (name, _, paper), at in zip(records[1:], places[1:], strict=True):
        why = reasons.get(at) or reasons[places[0]]
        same.append(Same(name, paper.ids, paper.title, why.reason, why.confidence))
    names = tuple(dict.fromkeys(name for name, _, _ in records))
    return Found(as_one(papers), names, tuple(same))


def _linked(ours: Found, theirs: Found, judgement: Judgement) -> Found:
    paper = theirs.paper
    link = Link(judgement.relation, paper.ids, paper.title, judgement.reason, judgement.confidence)
    return replace(ours, linked=(*ours.linked, link))


def _preprints_after(found: Sequence[Found]) -> Iterator[Found]:
    """The same order, but a preprint right behind its published version; that of the better."""
    by_ids = {one.paper.ids: one for one in found if one.paper.ids}
    given: set[int] = set()
    for one in found:
        published = next(_related(one, "preprint_of", by_ids), one)
        for each in (published, *_related(published, "has_preprint", by_ids), one):
            if id(each) not in given:
                given.add(id(each))
                yield each


def _related(one: Found, relation: Relation, by_ids: Mapping[Ids, Found]) -> Iterator[Found]:
    yield from (
        by_ids[link.ids] for link in one.linked if link.relation == relation and link.ids in by_ids
    )
