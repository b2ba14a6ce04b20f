"""References without identifiers: how many are resolved, and how many wrongly.

``uv run python -m quality.benchmarks.title_only [--data FOLDER] [--each N] [--seed N] [--kinds
all]``

Recorded papers (PubMed, Europe PMC, Crossref, OpenAlex, Semantic Scholar, arXiv) are written down
as lists do, read back by our readers, and judged against the 25 recorded papers with the most words
in common, those at the same page of the same volume and, for traps, another paper in the place of
the one that is meant. Kinds that are held out were not looked at while the rules were made.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from pathlib import Path

from quality.duplicates.recorded import distinct_papers
from quality.duplicates.title_only import HELD_OUT_TRAPS, TUNING_TRAPS, Case, Score, judged
from utils.search.resolve import Resolution

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--each", type=int, default=300)
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--kinds", choices=("tuning", "all"), default="all")
    parser.add_argument("--mistakes", action="store_true")
    asked = parser.parse_args()
    papers = distinct_papers(asked.data)
    began = time.process_time()
    scores = judged(papers, asked.each, asked.seed)
    seconds = time.process_time() - began
    for held_out in (False, True)[: 1 + (asked.kinds == "all")]:
        show("held out" if held_out else "tuning", held_out, scores, asked.mistakes)
    count = sum(one.right + one.wrong + one.left for one in scores.values())
    print(f"{count:,} references, {len(papers):,} papers, {1000 * seconds / count:.1f} ms each")


def show(
    name: str, held_out: bool, scores: Mapping[tuple[bool, str], Score], mistakes: bool
) -> None:
    traps = {*TUNING_TRAPS, *HELD_OUT_TRAPS}
    right = wrong = all_ = taken = laid = 0
    print(f"\n{name:38} {'right':>6} {'wrong':>6} {'left':>6} {'named':>6}  recall")
    for (is_held, kind), one in scores.items():
        if is_held is not held_out:
            continue
        count = one.right + one.wrong + one.left
        recall = "  trap" if kind in traps else f"{one.right / count:7.1%}"
        print(f"{kind:38} {one.right:6} {one.wrong:6} {one.left:6} {one.named:6} {recall}")
        if kind in traps:
            taken, laid = taken + one.wrong, laid + count
        else:
            right, wrong, all_ = right + one.right, wrong + one.wrong, all_ + count
        for case, found in one.mistakes[: 5 * mistakes]:
            tell(case, found)
    print(f"{name}: precision {right / max(1, right + wrong):.2%}, recall {right / all_:.1%}; "
          f"{taken} of {laid:,} traps taken")  # fmt: skip


def tell(case: Case, found: Resolution) -> None:
    """A mistake: what was said, what was found, what was meant."""
    said, meant = case.said, case.meant
    print(f"    {said.title[:70]!r} {said.year} {said.journal[:30]!r} {said.volume}:{said.pages}")
    print(f"    {found}")
    print(f"    meant {meant.ids}, {meant.published} {meant.volume}:{meant.pages}")


if __name__ == "__main__":
    main()
