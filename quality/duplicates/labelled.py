"""The labelled set, and how well a grouping of its records does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from random import Random

from quality.duplicates.lookalikes import CHANGED_PREPRINTS, LOOKALIKES, preprint_of
from quality.duplicates.variants import VARIANTS
from utils.model.paper import Paper
from utils.search.fused_results import RecordGroups


@dataclass(slots=True)
class Labelled:
    """Records, the number of the paper each is of, and how each was made.

    ``preprints`` are pairs of such numbers: the preprint, and what became of it.
    """

    records: list[Paper] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    preprints: set[tuple[int, int]] = field(default_factory=set)

    def add(self, paper: Paper, label: int, kind: str) -> None:
        self.records.append(paper)
        self.labels.append(label)
        self.kinds.append(kind)


@dataclass(frozen=True, slots=True)
class Score:
    """Pairs of records that a grouping joined, rightly or not."""

    right: int
    wrong: int
    missed: int
    wrong_kinds: Counter[tuple[str, str]]
    missed_kinds: Counter[str]

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0


def labelled_set(
    papers: Sequence[Paper], seed: int = 6, *, share: float = 0.5, each: int = 2
) -> Labelled:
    """*papers*, and of a *share* of them *each* variants, a lookalike and now and then a preprint.

    Every kind of variant and lookalike is about as frequent as any other that applies.
    """
    rng, made = Random(seed), Labelled()
    for label, paper in enumerate(papers):
        made.add(paper, label, "original")
    new = len(papers)
    used: Counter[str] = Counter()
    for label, paper in enumerate(papers):
        if rng.random() > share or not paper.authors or not paper.title:
            continue
        twin = ""
        for kind in _rarest(LOOKALIKES, used, rng):
            other = LOOKALIKES[kind](paper, rng)
            if other is not None:
                used[twin := kind] += 1
                made.add(other, new, kind)
                new += 1
                break
        for kind in _rarest(VARIANTS, used, rng):
            variant = VARIANTS[kind](paper, rng)
            if variant is not None and used[f"{label}"] < each:
                used.update((kind, f"{label}"))
                # Beside two papers that differ in nothing but the DOI, nobody could do without.
                ids = paper.ids if twin == "other_doi" else variant.ids
                made.add(replace(variant, ids=ids), label, kind)
        if rng.random() < 0.2 and (preprint := preprint_of(paper, rng)):
            made.add(preprint, new, "preprint")
            made.preprints.add((new, label))
            new += 1
    return made


def changed_preprints(papers: Sequence[Paper], seed: int = 6) -> Labelled:
    """*papers*, and of those that allow it a preprint that changed on its way, and a lookalike."""
    rng, made = Random(seed), Labelled()
    for label, paper in enumerate(papers):
        made.add(paper, label, "original")
    new, used = len(papers), Counter[str]()
    for label, paper in enumerate(papers):
        for kind in _rarest(CHANGED_PREPRINTS, used, rng):
            if (preprint := CHANGED_PREPRINTS[kind](paper, rng)) is None:
                continue
            used[kind] += 1
            made.add(preprint, new, kind)
            made.preprints.add((new, label))
            new += 1
            for other in _rarest([one for one in LOOKALIKES if one != "other_doi"], used, rng)[:1]:
                if twin := LOOKALIKES[other](paper, rng):
                    used[other] += 1
                    made.add(twin, new, other)
                    new += 1
            break
    return made


def linked(
    made: Labelled, families: RecordGroups
) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """Pairs of labels, a preprint and what it is rather said to have become: right, and wrong."""
    labels = [{made.labels[at] for at in group} for group in families.groups]
    pairs = {
        (preprint, published)
        for one, other, said in families.links
        if said.relation in ("preprint_of", "has_preprint") and said.confidence > 0.5
        for ours, theirs in [(one, other) if said.relation == "preprint_of" else (other, one)]
        for preprint in labels[ours]
        for published in labels[theirs]
    }
    return pairs & made.preprints, pairs - made.preprints


def score(made: Labelled, groups: Iterable[Sequence[int]]) -> Score:
    """How a grouping (places in ``made.records``) compares with the labels, by pairs."""
    right, wrong, wrong_kinds = 0, 0, Counter[tuple[str, str]]()
    group_of = {}
    for number, group in enumerate(groups):
        for at in group:
            group_of[at] = number
        for one, other in combinations(sorted(group), 2):
            if made.labels[one] == made.labels[other]:
                right += 1
            else:
                wrong += 1
                wrong_kinds[made.kinds[one], made.kinds[other]] += 1
    missed, missed_kinds = 0, Counter[str]()
    same: dict[int, list[int]] = {}
    for at, label in enumerate(made.labels):
        same.setdefault(label, []).append(at)
    for places in same.values():
        for one, other in combinations(places, 2):
            if group_of.get(one, -1 - one) != group_of.get(other, -1 - other):
                missed += 1
                missed_kinds[made.kinds[other]] += 1
    return Score(right, wrong, missed, wrong_kinds, missed_kinds)


def _rarest(kinds: Iterable[str], used: Counter[str], rng: Random) -> list[str]:
    return sorted(kinds, key=lambda kind: (used[kind], rng.random()))
