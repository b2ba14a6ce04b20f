"""Score the order of screening, and the stop that it suggests, on reviews screened by people.

Sets: SYNERGY (De Bruin et al. 2023, doi:10.34894/HE6NAQ; repository ``asreview/synergy-dataset``,
labels CC0): tag ``metadata-v1-final``, ``datasets/*/output/**/*.csv`` (title, abstract,
label_included), and ``releases/v1``, ``*/labels.csv`` with the records of OpenAlex beside them in
``works_1.zip``. Reviews whose name begins with A to M are for tuning, the others for scoring.

A played reviewer starts from one included and one excluded record, chosen by a seed, reads in the
order that the model suggests, and the model learns again after each batch (10 records, later 3 % of
what was read). WSS@95 is the share of records that need not be read to find 95 % of the included
ones, less 0.05. ``--model elas_u4`` plays the same with ASReview's default model, which its authors
tuned on all of SYNERGY; it needs ``asreview`` (``uv run --with asreview``).
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
import time
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

Scorer = Callable[[Sequence[int], Sequence[bool]], Any]
"""From places of records that were read and their labels to a score for every record."""


@dataclass(frozen=True, slots=True)
class ScreenedReview:
    """Titles and abstracts of a review's records, and which of them were included."""

    name: str
    texts: list[tuple[str, str]]
    labels: list[bool]


@dataclass(frozen=True, slots=True)
class Played:
    """The order in which a played reviewer read, the included records, and the suggested stop."""

    order: list[int]
    included: list[bool]
    stop: int | None


def read_review(path: Path) -> ScreenedReview:
    """Read a CSV file with texts and labels, or a folder with labels and records of OpenAlex."""
    csv.field_size_limit(2**24)
    if path.is_dir():
        return _read_folder(path)
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    texts = [(row["title"] or "", row["abstract"] or "") for row in rows]
    return ScreenedReview(path.stem, texts, [row["label_included"] == "1" for row in rows])


def _read_folder(path: Path) -> ScreenedReview:
    with (path / "labels.csv").open(encoding="utf-8", newline="") as lines:
        labels = {row["openalex_id"]: row["label_included"] == "1" for row in csv.DictReader(lines)}
    works: dict[str, tuple[str, str]] = {}
    for archive in sorted(path.glob("*.zip")):
        with zipfile.ZipFile(archive) as held:
            for name in held.namelist():
                for work in json.loads(held.read(name)):
                    places = work.get("abstract_inverted_index") or {}
                    words = sorted((at, word) for word, all_at in places.items() for at in all_at)
                    works[work["id"]] = (work["title"] or "", " ".join(word for _, word in words))
    known = [key for key in labels if key in works]
    return ScreenedReview(path.name, [works[key] for key in known], [labels[key] for key in known])


def make_scorer(model: str, review: ScreenedReview) -> Scorer:
    """Return the scorer of a model, ours or ASReview's."""
    if model == "ours":
        from utils.review.ranking import ScreeningModel

        ours = ScreeningModel([f"{title}\n{abstract}" for title, abstract in review.texts])
        return ours.score_from_decisions
    import pandas as pd
    from asreview.learner import ActiveLearningCycle
    from asreview.models.models import get_ai_config

    cycle = ActiveLearningCycle.from_meta(get_ai_config(model)["value"])
    features = cycle.transform(pd.DataFrame(review.texts, columns=["title", "abstract"]))

    def score(read: Sequence[int], labels: Sequence[bool]) -> Any:
        cycle.fit(features[list(read)], np.asarray(labels, dtype=int))
        ranked = cycle.rank(features)
        scores = np.empty(len(ranked))
        scores[ranked] = -np.arange(len(ranked))
        return scores

    return score


def play(review: ScreenedReview, scorer: Scorer, seed: int, *, with_stop: bool = False) -> Played:
    """Screen a review in the order of a model, until all is read."""
    random = Random(seed)
    priors = [
        random.choice([at for at, label in enumerate(review.labels) if label is wanted])
        for wanted in (True, False)
    ]
    order, is_read = list(priors), np.zeros(len(review.labels), dtype=bool)
    is_read[priors] = True
    batches, stop = [2], None
    while len(order) < len(review.labels):
        if not with_stop and sum(review.labels[at] for at in order) == sum(review.labels):
            order += [at for at in range(len(review.labels)) if not is_read[at]]
            break
        scores = np.where(is_read, -np.inf, scorer(order, [review.labels[at] for at in order]))
        size = min(len(review.labels) - len(order), max(10, len(order) * 3 // 100))
        chosen = np.argsort(-scores, kind="stable")[:size].tolist()
        order += chosen
        is_read[chosen] = True
        batches.append(len(chosen))
        if with_stop and stop is None:
            stop = _find_stop(review, order, batches)
    return Played(order[2:], [review.labels[at] for at in order[2:]], stop)


def _find_stop(review: ScreenedReview, order: list[int], batches: list[int]) -> int | None:
    """Return how many records were read if the rule says that this is enough; else None."""
    from utils.review.ranking import MAX_RISK, BatchCount, compute_risk_bound

    starts = np.cumsum([0, *batches[:-1]]).tolist()
    counts = [
        BatchCount(size, sum(review.labels[at] for at in order[start : start + size]))
        for start, size in zip(starts, batches, strict=True)
    ]
    risk = compute_risk_bound(counts, len(review.labels) - len(order))
    return len(order) if risk < MAX_RISK else None


def measure_wss(played: Played, recall: float = 0.95) -> float:
    """Return the work saved over sampling at a recall, without the two prior records."""
    wanted = math.ceil(recall * sum(played.included))
    if not wanted:
        return float("nan")
    read = int(np.searchsorted(np.cumsum(played.included), wanted)) + 1
    return 1 - read / len(played.included) - (1 - recall)


def main() -> int:
    """Print a row of scores for each review, and their means."""
    parser = argparse.ArgumentParser(prog="python -m quality.public.screening")
    parser.add_argument("reviews", nargs="+", type=Path)
    parser.add_argument("--model", default="ours", help="ours, or a model of ASReview: elas_u4")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--stop", action="store_true", help="also play the suggested stop")
    options = parser.parse_args()
    means, stopped = [], []
    for path in options.reviews:
        review = read_review(path)
        started = time.process_time()
        scorer = make_scorer(options.model, review)
        runs = [play(review, scorer, seed, with_stop=options.stop) for seed in range(options.seeds)]
        saved = [measure_wss(run) for run in runs]
        means.append(float(np.mean(saved)))
        line = (
            f"{review.name}: {len(review.labels)} records, {sum(review.labels)} included, "
            f"WSS@95 {means[-1]:.3f} ({min(saved):.3f} to {max(saved):.3f}), "
            f"{(time.process_time() - started) / len(runs):.1f} s a run"
        )
        if options.stop:
            recalls = [_recall_at_stop(run) for run in runs]
            stopped += recalls
            read = np.mean(
                [(run.stop or len(run.order) + 2) / (len(run.order) + 2) for run in runs]
            )
            line += (
                f"; stop: read {read:.2f}, recall {np.mean(recalls):.3f}, least {min(recalls):.3f}"
            )
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    sys.stdout.write(f"mean WSS@95 of {len(means)} reviews: {np.mean(means):.4f}\n")
    if stopped:
        safe = sum(recall >= 0.95 for recall in stopped)
        sys.stdout.write(f"recall at least .95 at the stop: {safe} of {len(stopped)} runs\n")
    return 0


def _recall_at_stop(played: Played) -> float:
    """Return the share of included records, the prior one too, that were read at the stop."""
    if played.stop is None:
        return 1.0
    return (1 + sum(played.included[: played.stop - 2])) / (1 + sum(played.included))


if __name__ == "__main__":
    sys.exit(main())
