"""Four tables: known kinds, unknown kinds, real pages and identity, each with three outcomes.

``python -m quality.lab --shared --write`` measures all of them, prints them and writes them
to ``quality/benchmarks/judge.md``, below the floors of the gate and the goals that they are to
reach.
"""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from quality import floors, real_pages
from quality.identity import pairs, true_pairs
from quality.lab import gate
from quality.lab.kinds import KINDS, Half
from quality.lab.sources import SHARED
from quality.lab.table import Outcome
from quality.measures import interval
from utils.judges.identity import judge_identity
from utils.model.verdicts import verdict_to_outcome
from utils.readers import JUDGE_VERSION

PAGE = Path(__file__).resolve().parents[1] / "benchmarks" / "judge.md"
OUTCOMES = ("whole", "doubtful", "not_whole")
HEAD = """# The judge, measured

Written by `uv run python -m quality.lab --shared --write {options}`
with version {judges} of the judges. *Known kinds* were looked at while the rules were written,
*unknown kinds* were only counted. Each document ends as *whole*, *doubtful* (kept as full text with
doubts) or *refused*. *Wrong* are:

- fakes that pass as whole without doubt, and whole papers that are refused;
- near pairs (a text and a record of two papers) that are accepted, with doubts or without;
- true pairs that are refused.

The interval is Wilson's, of 95 %.

## Floors and goals

`quality/lab/test_lab.py` fails where a sample falls below its floor. A floor below its goal is
what is measured today. The first gate (99.9 % of the fakes refused, 99.7 % of the
whole papers accepted) was never met; the goals are those of the issue that took its place.
"""


@dataclass
class Tally:
    """How many documents of a kind had which outcome; ``group`` is counted together."""

    group: str
    name: str
    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: int = 0

    def count(self, outcome: str, is_wrong: bool) -> None:
        self.outcomes[outcome] += 1
        self.wrong += is_wrong

    def row(self) -> str:
        """Return the tally as a row of a table."""
        number = self.outcomes.total()
        low, high = interval(self.wrong, number)
        counts = " | ".join(str(self.outcomes[name]) for name in OUTCOMES)
        share = f"{self.wrong / number:.1%} | {low:.1%} to {high:.1%}"
        return f"| {self.group} | {self.name} | {number} | {counts} | {share} |"


Counted = Iterable[tuple[str, str, str, bool]]
"""Group, name, outcome and whether it is wrong, of each document."""


def table(title: str, counted: Counted) -> Iterator[str]:
    """Yield the lines of a table: totals of each group, then kinds, the worst first."""
    totals: dict[str, Tally] = {}
    kinds: dict[tuple[str, str], Tally] = {}
    for group, name, outcome, is_wrong in counted:
        totals.setdefault(group, Tally(group, "**all**")).count(outcome, is_wrong)
        kinds.setdefault((group, name), Tally(group, name)).count(outcome, is_wrong)
    yield from ("", f"## {title}", "")
    yield "| | kind | n | whole | doubtful | refused | wrong | 95 % |"
    yield "|---|---|--:|--:|--:|--:|--:|---|"
    order = sorted(kinds.values(), key=lambda one: (-one.wrong / one.outcomes.total(), one.name))
    yield from (one.row() for one in (*totals.values(), *order))


def count_kinds(found: Iterable[Outcome], half: Half) -> Counted:
    """Count the lab's documents of one half."""
    for one in sorted(found, key=lambda one: (KINDS[one.kind].whole, one.kind)):
        kind = KINDS[one.kind]
        if kind.half == half:
            group = "whole paper" if kind.whole else "fake"
            yield group, one.kind, verdict_to_outcome(one.verdict), one.missed


def count_pages(readings: Iterable[real_pages.Reading]) -> Counted:
    """Count the real pages, whole papers by publisher."""
    for one in readings:
        outcome = (
            verdict_to_outcome(one.verdict) if one.verdict in real_pages.ACCEPTED else "not_whole"
        )
        is_whole = one.page.label in real_pages.WHOLE
        group = "whole paper" if is_whole else "not a whole paper"
        is_wrong = not one.is_right if is_whole else outcome == "whole"
        yield group, one.page.publisher if is_whole else one.page.label, outcome, is_wrong


def count_pairs(kind: pairs.Kind, number: int) -> list[tuple[str, str, str, bool]]:
    """Make *number* pairs of one kind and identify them."""
    return [_count_pair(pair) for pair in pairs.pairs([kind], number)]


def _count_pair(pair: pairs.Pair) -> tuple[str, str, str, bool]:
    found = judge_identity(pair.document, pair.paper)
    is_same = found.answer == "same"
    outcome = "not_whole" if not is_same else "doubtful" if found.signs else "whole"
    half = "known" if pair.half == "tuning" else "unknown"
    return f"{pair.relation}, {half}", pair.kind, outcome, is_same != (pair.relation == "true")


def measure(found: list[Outcome], number: int, workers: int) -> list[str]:
    """Return the four tables; real pages and *number* pairs of each kind are read here."""
    pairs.articles("tuning")  # before the workers fork
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        jobs = [(kind, number) for kind in pairs.KINDS.values()]
        paired = [one for some in pool.starmap(count_pairs, jobs, chunksize=1) for one in some]
        readings = pool.map(real_pages.read_page, list(real_pages.load(SHARED)), chunksize=1)
    paired += [_count_pair(one) for one in true_pairs.recorded()]
    return [
        *table("Known kinds", count_kinds(found, "tuning")),
        *table("Unknown kinds", count_kinds(found, "held_out")),
        *table("Real pages", count_pages(readings)),
        *table("Identity", sorted(paired)),
    ]


def floors_beside_goals() -> Iterator[str]:
    """Yield the lines of the table of floors."""
    yield from ("| sample | score | floor | goal |", "|---|---|--:|--:|")
    for sample, known in floors.load(gate.FLOORS).items():
        for score, floor in known.items():
            goal = gate.GOALS[score]
            missed = "" if floor >= goal else " (not reached)"
            yield f"| {sample} | {score} | {floor} | {goal}{missed} |"


def write(tables: list[str], share: float, number: int) -> None:
    """Write the page."""
    head = HEAD.format(options=f"--sample {share:g} --pairs {number}", judges=JUDGE_VERSION)
    PAGE.write_text("\n".join([head, *floors_beside_goals(), *tables, ""]), "utf-8")
