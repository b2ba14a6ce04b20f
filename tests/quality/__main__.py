"""``python -m tests.quality [--update]``: every score beside its floor."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from . import floors, own
from .cases import Folder
from .suite import measure

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def say(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.quality", description=__doc__)
    parser.add_argument("--update", action="store_true", help="raise floors to what is measured")
    update = parser.parse_args().update
    known, status = floors.load(), 0
    with tempfile.TemporaryDirectory() as folder:
        own.build(Path(folder))
        for name, root in (("own", Path(folder)), ("shared", SHARED)):
            if not root.exists():
                say(f"{name}: no folder, floors left as they are")
                continue
            scores = measure(Folder(root), every=8).scores
            for score in sorted(scores):
                floor = known.get(name, {}).get(score)
                say(f"{name:7} {score:40} {scores[score].value:.5f}  floor {floor}")
            try:
                new = floors.raised(known, name, scores)
            except floors.WouldLower as refused:
                say(f"\n{name}: floors are not lowered here.\n{refused}\n")
                status = 1
                continue
            if update:
                say(*floors.changes(known.get(name, {}), new[name]))
                known = new
    if update and not status:
        floors.save(known)
    return status


if __name__ == "__main__":
    sys.exit(main())
