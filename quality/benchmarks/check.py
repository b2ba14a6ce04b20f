"""Does `check` find planted faults, and leave what is true alone? On manuscripts of real articles.

``uv run python -m quality.benchmarks.check [--data FOLDER] [--faults 500] [--held-out] [--mistakes]
[--beside]``

Without ``--held-out`` only the kinds that may be looked at are planted. With ``--beside`` programs
that look after references are given the same bibliographies (`.reference_managers`).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from quality.benchmarks.reference_managers import missing, named_entries
from quality.manuscripts.planted import (
    HELD_OUT,
    SEEN,
    Made,
    Statement,
    citable,
    faults_of,
    manuscripts,
    passed,
)
from tests.clock import Clock
from tests.harvests import library_of
from tests.world import World
from utils.manuscript.checking import Check

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--articles", type=int, default=90)
    parser.add_argument("--manuscripts", type=int, default=40)
    parser.add_argument("--faults", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--mistakes", action="store_true")
    parser.add_argument("--beside", action="store_true")
    asked = parser.parse_args()
    clock = Clock(time.time)  # nobody waits for the turns that rates give
    time.sleep, time.time = clock.sleep, clock.time
    kinds = (*SEEN, *HELD_OUT) if asked.held_out else SEEN
    told: dict[str, Counter[str]] = defaultdict(Counter)
    beside: dict[str, Counter[str]] = defaultdict(Counter)
    with tempfile.TemporaryDirectory() as made, World(corpus=asked.data) as world:
        folder = Path(made)
        library = library_of(world, folder)
        papers = citable(world, library, asked.articles, asked.seed)
        faults = faults_of(kinds, asked.faults, asked.seed)
        began = time.process_time()
        for one in manuscripts(papers, faults, folder, asked.manuscripts, asked.seed):
            checked = library.check(one.path)
            for statement in one.statements:
                result = passed(statement, checked)
                told[statement.kind or f"true {statement.what}"][result] += 1
                wrong = "verified" if statement.kind else "questioned"
                if asked.mistakes and result == wrong and statement.kind not in HELD_OUT:
                    show_mistake(statement, checked, one.path)
            if asked.beside:
                note_others(one, beside)
        seconds = time.process_time() - began
        library.shelf.close()
    print(f"{len(papers)} articles, {asked.manuscripts} manuscripts, {seconds:.0f} s of CPU\n")
    show_counts((*kinds, "true reference", "true quotation", "true number"), told)
    for name, named in beside.items():
        print(f"\n{name} names of the references: {dict(named) or 'none'}")
    if asked.beside:
        print(f"not here: {missing() or 'none'}")


def note_others(made: Made, beside: dict[str, Counter[str]]) -> None:
    """Count the faults whose entries other programs name."""
    for name, keys in named_entries(made.path.with_name("refs.bib")).items():
        references = (one for one in made.statements if one.what == "reference")
        beside[name].update(one.kind or "true" for one in references if one.key in keys)


def show_mistake(statement: Statement, checked: Check, path: Path) -> None:
    """Print what was said of a statement."""
    print(f"{statement.kind or 'TRUE'} {statement.key} {path.parent.name}")
    print(f"    {statement.text}")
    for claim in checked.claims:
        if claim.keys == (statement.key,) and claim.kind == statement.what:
            print(f"    {claim.what!r} {claim.outcome} {claim.share}: {claim.said}")
            print(f"        {claim.passage[:200]}")
    for ref in checked.references:
        if ref.reference.key == statement.key and statement.what == "reference":
            print(f"    {ref.status} {ref.differences} {ref.said}")


def show_counts(names: Sequence[str], told: dict[str, Counter[str]]) -> None:
    """Print a row for each kind."""
    print(f"{'':24}{'verified':>10}{'questioned':>12}{'open':>8}")
    for name in names:
        row = told[name]
        half = "  held out" if name in HELD_OUT else ""
        cells = f"{row['verified']:10}{row['questioned']:12}{row['open']:8}"
        print(f"{name:24}{cells}{half}")


if __name__ == "__main__":
    main()
