"""Whether two records are of the same paper, and which papers belong together.

Interface; see below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from .paper import Paper

Relation = Literal["same", "preprint_of", "has_preprint", "version_of", "may_be", "different"]
_TURNED: dict[Relation, Relation] = {"preprint_of": "has_preprint", "has_preprint": "preprint_of"}


@dataclass(frozen=True, slots=True)
class Judgement:
    """What two records are to each other, why, and how sure that is (0 to 1)."""

    relation: Relation
    reason: str
    confidence: float

    @property
    def turned(self) -> Judgement:
        """The same, seen from the other paper."""
        return replace(self, relation=_TURNED.get(self.relation, self.relation))


@dataclass(frozen=True, slots=True)
class Families:
    """Records by the paper they are of, as places in the list that was given.

    ``reasons`` says for each record that joined another why it did; ``links`` are between places
    in ``groups``; ``contradictions`` name records kept apart although they share an identifier.
    """

    groups: tuple[tuple[int, ...], ...]
    reasons: Mapping[int, Judgement]
    links: tuple[tuple[int, int, Judgement], ...]
    contradictions: tuple[str, ...]


def judged(ours: Paper, theirs: Paper) -> Judgement:
    """What *ours* is to *theirs*."""
    raise NotImplementedError


def grouped(papers: Sequence[Paper]) -> Families:
    """Which of many records are of one paper, and which papers belong together."""
    raise NotImplementedError
