"""Floors of the lab: how often the judge is right, which may only improve."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from quality.identity import near_held_out, near_tuning, pairs, true_pairs  # noqa: F401
from quality.lab.kinds import KINDS
from quality.lab.table import Outcome, outcomes, planned, rows
from quality.measures import Scores
from utils.judges.identity import judge_identity

FLOORS = Path(__file__).with_name("floors.json")
# Shares of the usual numbers that the gate takes: seconds on our own papers, a minute on recorded.
SAMPLES = {"own": 0.01, "shared": 0.02, "identity": 0.05}
# The goals of issue 33; a fake that is kept with doubts counts as refused. Floors below are debts,
# which `results` shows beside them.
GOALS = {
    "fakes refused": 0.99,
    "whole papers accepted": 0.99,
    "whole papers without doubt": 0.95,
    "kinds within 4 %": 1.0,
    "near pairs refused": 0.99,
    "true pairs accepted": 0.997,
}


def measure(sample: str, workers: int = 1) -> Scores:
    """Return the scores of ``own`` or ``shared`` papers, or of pairs for ``identity``."""
    share = SAMPLES[sample]
    if sample == "identity":
        return identity_scores(pairs.pairs(list(pairs.KINDS.values()), round(60 * share)))
    tasks = planned(KINDS.values(), shared=sample == "shared", share=share)
    return scores(outcomes(tasks, workers))


def identity_scores(found: Iterable[pairs.Pair]) -> Scores:
    """Return the shares of pairs that were told apart, or told to be one."""
    counted = Scores()
    for pair in found:
        name = "near pairs refused" if pair.relation == "near" else "true pairs accepted"
        is_same = judge_identity(pair.document, pair.paper).answer == "same"
        shown = (
            "one of a held-out kind" if pair.half == "held_out" else f"{pair.kind}, {pair.article}"
        )
        counted[name].count(is_same == (pair.relation == "true"), shown)
    return counted


def scores(found: Iterable[Outcome]) -> Scores:
    """What was right, in the words of the goals; held-out kinds are not told apart."""
    counted, known = Scores(), list(found)
    for one in known:
        name = "whole papers accepted" if KINDS[one.kind].whole else "fakes refused"
        sealed = KINDS[one.kind].half == "held_out"
        told = f"{one.kind}, {one.medium}, {one.article}: {one.verdict}"
        shown = "one of a held-out kind" if sealed else told
        counted[name].count(not one.missed, shown)
        if KINDS[one.kind].whole:
            counted["whole papers without doubt"].count(one.verdict == "full_text", shown)
    wrong: dict[str, list[int]] = {}
    for row in rows(known):
        entry = wrong.setdefault(row.kind.name, [0, 0])
        entry[0] += row.misses
        entry[1] += row.number
    for kind, (missed, number) in wrong.items():
        sealed = KINDS[kind].half == "held_out"
        told = "a held-out kind" if sealed else f"{kind}: {missed} of {number}"
        counted["kinds within 4 %"].count(missed <= number / 25, told)
    return counted
