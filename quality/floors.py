"""Floors: what every score has reached, and may never fall below without somebody saying so."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path

from quality.measures import Score

PATH = Path(__file__).with_name("floors.json")
Floors = dict[str, dict[str, float]]
_SHOWN = 8


class WouldLower(Exception):
    """A floor is higher than what was measured now."""


def load(path: Path = PATH) -> Floors:
    """Floors by folder and score."""
    found: Floors = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return found


def below(scores: Mapping[str, Score], floors: Mapping[str, float]) -> list[str]:
    """A line for each score under its floor: by how much, and in which cases.

    A score that has a floor but was not measured is under it, too: cases must not get lost.
    """
    lines = []
    for name, floor in sorted(floors.items()):
        score = scores.get(name)
        if score is None or not score.total:
            lines.append(f"{name}: not measured, its floor is {floor}")
        elif score.value < floor:
            cases = "".join(f"\n    {miss}" for miss in score.misses[:_SHOWN])
            more = len(score.misses) - _SHOWN
            rest = f"\n    and {more} more" if more > 0 else ""
            under = floor - score.value
            lines.append(
                f"{name}: {score.value:.5f} is {under:.5f} under its floor {floor}{cases}{rest}"
            )
    return lines


def raised(floors: Floors, folder: str, scores: Mapping[str, Score]) -> Floors:
    """Floors at what was measured, rounded down to the fifth digit.

    Raises
    ------
    WouldLower
        One of them would sink. Only a person may do that, in ``floors.json``, in a reviewed change.
    """
    old = floors.get(folder, {})
    if lines := below(scores, old):
        raise WouldLower("\n".join(lines))
    new = {
        name: max(_rounded(score.value), old.get(name, 0.0))
        for name, score in scores.items()
        if score.total
    }
    return {**floors, folder: dict(sorted(new.items()))}


def save(floors: Floors, path: Path = PATH) -> None:
    """Write the floors."""
    path.write_text(json.dumps(floors, indent=2, sort_keys=True) + "\n", "utf-8")


def changes(old: Mapping[str, float], new: Mapping[str, float]) -> Iterable[str]:
    """What an update did, a line a floor."""
    for name, value in new.items():
        if old.get(name) != value:
            yield f"{name}: {old.get(name, 'new')} → {value}"


def _rounded(value: float) -> float:
    return math.floor(value * 100_000) / 100_000
