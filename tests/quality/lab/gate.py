"""Floors of the lab: how often the judge is right, which may only improve."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.quality.lab.kinds import KINDS
from tests.quality.lab.table import Outcome, outcomes, planned, rows
from tests.quality.measures import Scores

FLOORS = Path(__file__).with_name("floors.json")
# Shares of the usual numbers that the gate takes: seconds on our own papers, a minute on recorded.
SAMPLES = {"own": 0.01, "shared": 0.02}
# What issue I asks for; a fake that is kept with doubts counts as refused.
TARGETS = {"fakes refused": 0.999, "whole papers accepted": 0.997, "kinds within 1 %": 1.0}


def measure(folder: str, workers: int = 1, share: float = 0.0) -> Scores:
    """The scores of a sample of *folder*, ``own`` or ``shared``."""
    tasks = planned(KINDS.values(), shared=folder == "shared", share=share or SAMPLES[folder])
    return scores(outcomes(tasks, workers))


def scores(found: Iterable[Outcome]) -> Scores:
    """What was right, in the words of the targets; held-out kinds are not told apart."""
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
        counted["kinds within 1 %"].count(missed <= number / 100, told)
    return counted
