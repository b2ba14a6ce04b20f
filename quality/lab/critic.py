"""Train a model on the judge's evidence, and show by kind where it and the rules disagree.

``python -m quality.lab.critic --shared --seed 1`` trains boosted stumps (a sum of small
yes-or-no rules, each over one feature) on the tuning kinds, made of half of the articles, and lets
both judge documents of the other half. The model refuses as many whole papers as the rules do on
the half that it was trained on. It is never shipped: it shows what evidence the rules do not use.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from quality.cases import fetched
from quality.lab import table
from quality.lab.kinds import KINDS, made
from quality.lab.sources import manuscripts
from utils import readers as formats
from utils.errors import BadContent
from utils.judges.check import FINDERS, judge_document
from utils.judges.identity import SimilarityMeasures
from utils.judges.signs import JudgedCase
from utils.judges.wholeness import count_pages_in_range
from utils.model.paper import Document, Paper
from utils.outline.words import count_words

ROUNDS, RATE, SAMPLE, EDGES = 300, 0.15, 0.7, 16  # stumps, step, share of rows, splits a feature
# By whether the rules are right, and whether the model is.
ANSWERS = {
    (True, True): "both right", (False, False): "both wrong",
    (False, True): "rules wrong", (True, False): "model wrong",
}  # fmt: skip
ALIKE = (
    *("title_likeness", "author_share", "abstract_share", "is_title_printed"),
    *("has_other_abstract", "has_other_title_in_heading", "body_mismatch_sign"),
    "has_other_authors",
)
Features = dict[str, float]
Array = np.ndarray[Any, np.dtype[Any]]
Stumps = list[tuple[int, float, float, float]]
"""A feature's place, an edge, and what is added to the score up to the edge and above it."""


class Row(NamedTuple):
    """A document, by which half of the articles it is made of and whether the rules keep it."""

    kind: str
    is_of_first_half: bool
    kept: bool  # as whole, without doubt
    features: Features


def describe(document: Document, paper: Paper) -> Features:
    """Return what the judge measures of a text, as numbers by name; of a collection, its size."""
    case = JudgedCase(document, paper, paper.abstract or document.abstract)
    found, alike = case.evidence, SimilarityMeasures(document, paper)
    told: dict[str, Any] = {one.name: getattr(found, one.name) for one in fields(found)}
    told |= {name: getattr(alike, name) or 0 for name in ALIKE}
    told = {name: len(one) if hasattr(one, "__len__") else one for name, one in told.items()}
    listed, words, pages = (
        max(found.listed, 1),
        max(found.prose, 1),
        count_pages_in_range(paper.pages),
    )
    told |= {
        "filled sections": found.filled_sections / max(1, len(found.body)), "pages": document.pages,
        "cited of listed": len(found.cited) / listed, "named of listed": found.named / listed,
        "last cited of listed": max(found.cited, default=0) / listed,
        "listed of recorded": found.listed / max(1, paper.reference_count or found.listed),
        "shown of mentioned": len(found.captions & found.mentioned) / max(1, told["mentioned"]),
        "words a reference": words / listed, "words a page": words / max(1, pages),
        "words of abstracts": words / max(1, count_words(case.abstract)),
        "ends in body": found.ends_in == "body", "own identifier": document.ids.shares(paper.ids),
        "other marks": bool(alike.title_difference.marks), "walls": len(document.walls),
    }  # fmt: skip
    told |= {f"share: {kind}": n / max(1, found.kinds.total()) for kind, n in found.kinds.items()}
    for sign in (*document.signs, *(sign for find in FINDERS for sign in find(case))):
        told[f"sign: {sign.name}"] = max(sign.weight, told.get(f"sign: {sign.name}", 0))
    return {name: float(value) for name, value in told.items()}


def judged(task: table.Task) -> list[Row]:
    """Make one article's documents, judge them and take their features."""
    name, jobs, shared, _ = task
    pool = manuscripts(shared)
    article = next(one for one in pool if one.name == name)
    is_of_first_half = zlib.crc32(name.encode()) % 2 == 0
    rows = []
    for kind, medium in jobs:
        one = made(KINDS[kind], medium, article, pool)
        try:
            document = one and formats.convert_to_document(fetched(one.body, medium), one.paper)
        except BadContent:
            continue  # both refuse what cannot be read
        if not (one and document):
            continue
        with suppress(BadContent):
            document = judge_document(document, one.paper)
        is_kept = document.verdict == "full_text" and bool(document.evidence)
        rows.append(Row(kind, is_of_first_half, is_kept, describe(document, one.paper)))
    return rows


def train(rows: Array, is_whole: Array, seed: int) -> Stumps:
    """Return stumps whose parts sum up to the logarithm of the odds that a row is whole."""
    dice = np.random.default_rng(seed)
    edges = [np.unique(np.quantile(column, np.linspace(0, 1, EDGES)))[:-1] for column in rows.T]
    splits = [(at, edge) for at, some in enumerate(edges) for edge in some]
    sides = np.column_stack([rows[:, at] <= edge for at, edge in splits]).astype(np.float32)
    total, stumps = np.zeros(len(rows)), []
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-total))
        drawn = dice.random(len(rows)) < SAMPLE
        slope, weight = (is_whole - chance) * drawn, chance * (1 - chance) * drawn
        left, left_weight = slope @ sides, weight @ sides + 1
        right, right_weight = slope.sum() - left, weight.sum() + 2 - left_weight
        best = int(np.argmax(left**2 / left_weight + right**2 / right_weight))
        below, above = (RATE * side[best] for side in (left / left_weight, right / right_weight))
        stumps.append((*splits[best], below, above))
        total += np.where(sides[:, best], below, above)
    return stumps


def parts_of(stumps: Stumps, rows: Array) -> Array:
    """Return what each stump adds to the score of each row."""
    return np.array([np.where(rows[:, at] <= edge, lo, hi) for at, edge, lo, hi in stumps]).T


def disagreements(rows: list[Row], seed: int) -> Iterator[str]:
    """Train on half of *rows*, judge the others, and yield a line a kind; the largest first."""
    names = sorted({name for row in rows for name in row.features})
    known = np.array([[row.features.get(name, 0.0) for name in names] for row in rows])
    is_known_kind = [KINDS[row.kind].half == "tuning" for row in rows]
    training = np.array([row.is_of_first_half for row in rows]) & is_known_kind
    whole = np.array([KINDS[row.kind].whole for row in rows])
    kept = np.array([row.kept for row in rows])
    stumps = train(known[training], whole[training], seed)
    parts = parts_of(stumps, known)
    score, parts = parts.sum(axis=1), parts - parts[training].mean(axis=0)
    keeps = score >= np.quantile(score[training & whole], np.mean(~kept[training & whole]))
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for at, row in enumerate(rows):
        if row.is_of_first_half:
            continue
        counts[row.kind][ANSWERS[bool(kept[at] == whole[at]), bool(keeps[at] == whole[at])]] += 1
        if kept[at] != keeps[at]:
            for (feature, *_), part in zip(stumps, parts[at], strict=True):
                reasons[row.kind][names[feature]] += part if keeps[at] else -part
    yield f"{'kind':60} {'half':8} {' '.join(ANSWERS.values())}  what moves the model"
    for kind in sorted(reasons, key=lambda kind: -counts[kind]["rules wrong"]):
        columns = " ".join(f"{counts[kind][name]:{len(name)}}" for name in ANSWERS.values())
        why = ", ".join(name for name, part in reasons[kind].most_common(4) if part > 0)
        yield f"{'whole: ' * KINDS[kind].whole + kind:60} {KINDS[kind].half:8} {columns}  {why}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m quality.lab.critic", description=__doc__)
    add = parser.add_argument
    add("--seed", type=int, default=1)
    add("--sample", type=float, default=0.2, metavar="SHARE", help="of the usual numbers (0.2)")
    add("--shared", action="store_true", help="of the recorded articles, not only of our own")
    asked = parser.parse_args()
    manuscripts(asked.shared)  # before the workers fork
    tasks = table.planned(KINDS.values(), shared=asked.shared, share=asked.sample)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        rows = [row for some in pool.imap(judged, tasks) for row in some]
    sys.stdout.writelines(f"{line}\n" for line in disagreements(rows, asked.seed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
