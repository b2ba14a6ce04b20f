"""What a harvest holds in memory, paper by paper: whether the curve is flat.

``uv run python -m quality.benchmarks.harvest_memory [--papers 200 2000]``

The program harvests so many papers of the stand-in internet, both on a fast clock. Once
a second the memory in use (RSS) of the program and of all processes it started is read from
``/proc``, so it runs on Linux only. Shared pages of children count once for each.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quality.benchmarks import fast_clock
from quality.benchmarks.harvest_world import ROOT

_PATIENCE_S = 7200.0


@dataclass(frozen=True)
class Sample:
    """One look: real seconds since the start, papers that had ended, MiB."""

    seconds: float
    ended: int
    program: float
    children: float


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=int, nargs="+", default=[200, 2000])
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        fast_clock.hurry()
        harvest()
        return
    for papers in options.papers:
        with tempfile.TemporaryDirectory() as folder:
            _print(papers, measured(papers, Path(folder)))


def harvest() -> None:
    """The program: harvests as it always does, and says how far it is."""
    about = json.load(sys.stdin)
    from utils import Library

    library = Library(**about["settings"])
    for progress in library.harvest(query="field[ti]"):
        counts = progress.job.counts
        print(counts.requested - counts.pending, counts.full_text, flush=True)
    library.shelf.close()


def measured(papers: int, folder: Path) -> list[Sample]:
    """The curve of one harvest; its last sample is of the moment before the program ended."""
    fast_clock.begin()
    with fast_clock.FastWorld(papers, folder) as stand_in:
        folders = {"papers_dir": str(folder / "papers"), "papers_pace_dir": str(folder / "pace")}
        told = (folder / "told").open("w+", encoding="utf-8")
        program = subprocess.Popen(
            [sys.executable, "-m", __spec__.name, "--child"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=told,
        )
        assert program.stdin
        program.stdin.write(json.dumps({"settings": stand_in.settings | folders}).encode())
        program.stdin.close()
        return _curve(program, folder / "told")


def _curve(program: subprocess.Popen[bytes], told: Path) -> list[Sample]:
    began, samples = time.monotonic(), []
    while program.poll() is None:
        seconds = time.monotonic() - began
        if seconds > _PATIENCE_S:
            program.kill()
        lines = told.read_text(encoding="utf-8").splitlines()
        ended = int(lines[-1].split()[0]) if lines else 0
        own, others = _rss(program.pid), sum(map(_rss, _descendants(program.pid)))
        if own:
            samples.append(Sample(seconds, ended, own, others))
        with suppress(subprocess.TimeoutExpired):
            program.wait(1)
    if program.returncode:
        raise SystemExit(f"the harvest ended with {program.returncode}")
    return samples


def _rss(pid: int) -> float:
    """MiB; 0 of a process that is gone."""
    return _status(pid).get("VmRSS", 0) / 1024


def _status(pid: int) -> dict[str, int]:
    with suppress(OSError):
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
        rows = (line.split() for line in lines if line.endswith("kB"))
        return {name.rstrip(":"): int(size) for name, size, _ in rows}
    return {}


def _descendants(pid: int) -> list[int]:
    children: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                children += map(int, (task / "children").read_text(encoding="utf-8").split())
    return children + [one for child in children for one in _descendants(child)]


def _print(papers: int, samples: list[Sample]) -> None:
    peak = max(one.program for one in samples)
    whole = max(one.program + one.children for one in samples)
    print(f"\n{papers} papers in {samples[-1].seconds:.0f} s: at most {peak:.0f} MiB", end="")
    print(f" in the program, {whole:.0f} with its children")
    print("| papers ended | seconds | program, MiB | children, MiB |\n|---|---|---|---|")
    for tenth in range(11):
        reached = (one for one in samples if one.ended >= papers * tenth / 10)
        one = next(reached, samples[-1])
        row: list[Any] = [one.ended, f"{one.seconds:.0f}", f"{one.program:.0f}"]
        print("|", " | ".join(map(str, [*row, f"{one.children:.0f}"])), "|")
    print(flush=True)


if __name__ == "__main__":
    main()
