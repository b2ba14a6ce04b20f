"""Print near pairs accepted and true pairs refused, by kind, with 95 % intervals."""

from __future__ import annotations

import argparse
import pickle
import sys
from collections import Counter
from pathlib import Path

from quality.identity import near_held_out, near_tuning, true_pairs  # noqa: F401
from quality.identity.pairs import KINDS, Pair, pairs
from quality.measures import interval
from utils.judges.identity import Identity, judge_identity

Row = tuple[str, str, str]
"""The relation, half and kind of pairs that are counted together."""


def main() -> int:
    asked = _arguments()
    found = _load(asked)
    answers = [(pair, judge_identity(pair.document, pair.paper)) for pair in found]
    sys.stdout.write("\n".join(table(answers)) + "\n")
    for pair, identity in answers if asked.misses else ():
        if is_miss(pair, identity) and (pair.half == "tuning" or pair.relation == "true"):
            sys.stdout.write(f"{told(pair, identity)}\n")
    return 0


def _load(asked: argparse.Namespace) -> list[Pair]:
    kept = Path(asked.keep) if asked.keep else None
    if kept and kept.exists():
        found: list[Pair] = pickle.loads(kept.read_bytes())
        return found
    kinds = [one for one in KINDS.values() if asked.only in one.name]
    found = list(pairs(kinds, asked.number))
    found += true_pairs.recorded() if not asked.only else ()
    if kept:
        kept.write_bytes(pickle.dumps(found))
    return found


def is_miss(pair: Pair, identity: Identity) -> bool:
    """Return whether a near pair was accepted, or a true pair refused."""
    return (identity.answer == "same") != (pair.relation == "true")


def table(answers: list[tuple[Pair, Identity]]) -> list[str]:
    """Return a line for each kind, and the totals of each half."""
    numbers: Counter[Row] = Counter()
    misses: Counter[Row] = Counter()
    for pair, identity in answers:
        for kind in (pair.kind, "all"):
            row = (pair.relation, pair.half, kind)
            numbers[row] += 1
            misses[row] += is_miss(pair, identity)
    lines = [f"{'pairs':5} {'half':8} {'kind':52} {'missed':>7} {'of':>6}  {'share':>6}  95 %"]
    for row in sorted(numbers, key=lambda row: (*row[:2], row[2] == "all", row[2])):
        low, high = interval(misses[row], numbers[row])
        share = misses[row] / numbers[row]
        lines.append(
            f"{row[0]:5} {row[1]:8} {row[2]:52} {misses[row]:7} {numbers[row]:6}  {share:6.1%}"
            f"  {low:.1%}-{high:.1%}"
        )
    return lines


def told(pair: Pair, identity: Identity) -> str:
    """Return a line about one miss."""
    ours, theirs = pair.paper.title[:70], pair.document.title[:70]
    return f"{pair.kind} | {pair.article} | {ours!r} | {theirs!r} | {identity.evidence}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m quality.identity", description=__doc__)
    add = parser.add_argument
    add("--number", type=int, default=60, help="pairs of each kind (60)")
    add("--only", default="", metavar="WORDS", help="kinds whose name contains these words")
    add("--misses", action="store_true", help="list the misses, but no held-out near pair")
    add("--keep", metavar="FILE", help="store the pairs that were read, or take them from there")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
