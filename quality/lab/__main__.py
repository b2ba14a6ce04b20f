"""The confusion table of the judge over fakes and whole papers, kind by kind."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from quality import floors
from quality.lab import gate, results, table
from quality.lab.kinds import KINDS
from quality.lab.sources import SHARED, manuscripts


def main() -> int:
    asked = _arguments()
    kinds = [k for k in KINDS.values() if asked.kinds in {"all", k.half}]
    if asked.only:
        kinds = [k for k in kinds if asked.only.lower() in k.name.lower()]
    sealed = {k.name for k in kinds if k.half == "held_out"} if not asked.unseal else set()
    if asked.update:
        return _raise_floors()
    start = time.monotonic()
    if asked.save:
        Path(asked.save).mkdir(parents=True, exist_ok=True)
    manuscripts(asked.shared)  # before the workers fork
    tasks = table.planned(kinds, shared=asked.shared, share=asked.sample)
    found = list(table.outcomes(tasks, asked.workers, asked.save))
    counted = table.rows(found)
    sys.stdout.write("\n".join(table.shown(counted)) + "\n")
    sys.stdout.write(f"{len(found)} documents in {time.monotonic() - start:.0f} s\n")
    if asked.write:
        tables = results.measure(found, asked.pairs, asked.workers)
        sys.stdout.write("\n".join(tables) + "\n")
        results.write(tables, asked.sample, asked.pairs)
    if asked.misses:
        missed = [one for one in found if one.missed and one.kind not in sealed]
        Path(asked.misses).write_text("".join(table.told(one) + "\n" for one in missed), "utf-8")
    return 0


def _raise_floors() -> int:
    """Floors at what the gate's samples reach; none is lowered."""
    known = floors.load(gate.FLOORS)
    for folder in gate.SAMPLES:
        if folder != "own" and not SHARED.exists():
            continue
        try:
            new = floors.raised(known, folder, gate.measure(folder))
        except floors.WouldLower as refused:
            sys.stdout.write(f"{folder}: floors are not lowered here.\n{refused}\n")
            return 1
        sys.stdout.writelines(
            f"{line}\n" for line in floors.changes(known.get(folder, {}), new[folder])
        )
        known = new
    floors.save(known, gate.FLOORS)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m quality.lab", description=__doc__)
    add = parser.add_argument
    add("--shared", action="store_true", help="of the recorded articles, not only of our own")
    add("--kinds", choices=("tuning", "held_out", "all"), default="all")
    add("--only", metavar="WORDS", default="", help="kinds whose name has these words")
    add("--sample", type=float, default=1.0, metavar="SHARE", help="of the usual numbers (1.0)")
    add("--pairs", type=int, default=60, metavar="N", help="pairs of each kind for --write (60)")
    add("--workers", type=int, default=2)
    add("--misses", metavar="FILE", help="write what the judge got wrong, a JSON object a line")
    add("--save", metavar="DIR", default="", help="write the documents of the misses there")
    add(
        "--unseal",
        action="store_true",
        help="show misses of held-out kinds too (then they are spent)",
    )
    add(
        "--write",
        action="store_true",
        help="measure real pages and pairs, too, and write the four tables of judge.md",
    )
    add("--update", action="store_true", help="raise the gate's floors, instead of a table")
    asked = parser.parse_args()
    if asked.write and not (asked.shared and asked.kinds == "all" and not asked.only):
        parser.error("--write takes all kinds of the recorded articles: --shared, nothing left out")
    if asked.save and asked.kinds != "tuning" and not asked.unseal:
        parser.error(
            "held-out documents are not shown: add --kinds tuning, or --unseal to spend them"
        )
    return asked


if __name__ == "__main__":
    sys.exit(main())
