"""A bulk harvest against the stand-in internet, as fast as the rules allow and not faster.

``uv run python -m quality.benchmarks.harvest [--papers 1000] [--beside] [--sample 30] [--before
FOLDER]``

So many invented papers (in PMC, open elsewhere, at publishers, only through Jina Reader, behind
walls, closed) from hosts that take 150 ms an answer and enforce their limits. Prints wall time
beside its lower bound, requests, refusals, papers by outcome, false full texts (every text kept
is compared with what the world wrote) and peak memory. ``--beside`` lets others have the same
list in the same run, each in a world of its own: pubget and metapub from the registry, and the
sequential procedure this project began with. ``--before`` takes the folder of a checkout of an
earlier Papershelf, which harvests the same list, too.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from quality.benchmarks.harvest_verdict import Score, attainable
from quality.benchmarks.harvest_world import ROOT, Traffic, WorldProcess
from tests.world.field import Field
from utils import Library
from utils.demo.records import Record

BESIDE = {
    "pubget": ("uv", "run", "--no-project", "--with", "pubget", "python"),
    "metapub": ("uv", "run", "--no-project", "--with", "metapub", "python"),
    "sequential": (sys.executable,),
}


@dataclass
class Run:
    """One visitor's run: ``papers`` it was given, seconds, requests, what came."""

    name: str
    papers: int
    seconds: float
    score: Score
    traffic: Traffic = field(default_factory=Traffic)
    peak_mb: float = 0.0
    notes: list[str] = field(default_factory=list)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=int, default=1000)
    parser.add_argument("--beside", action="store_true", help="let the others have a go, too")
    parser.add_argument("--only", choices=BESIDE, action="append", help="of the others, only these")
    parser.add_argument("--before", type=Path, help="a checkout of an earlier version")
    parser.add_argument("--sample", type=int, default=30, help="papers for the sequential one")
    options = parser.parse_args()
    records = Field(options.papers)[:]
    with tempfile.TemporaryDirectory() as folder:
        runs = [ours(records, Path(folder) / "ours")]
        _print_ours(runs[0], records)
        for name in options.only or (BESIDE if options.beside else ()):
            given = records[: options.sample] if name == "sequential" else records
            runs.append(beside(name, given, len(records), Path(folder) / name))
        if options.before:
            path = str(options.before.resolve())
            runs.append(beside("before", records, len(records), Path(folder) / "before", path))
    if len(runs) > 1:
        _print_table(runs, len(records))


def ours(records: list[Record], folder: Path) -> Run:
    """``Library.harvest`` of everything the query finds."""
    with WorldProcess(len(records), folder) as world:
        library = Library(
            papers_dir=folder / "papers", papers_pace_dir=folder / "pace", **world.settings
        )
        began = time.perf_counter()
        for progress in library.harvest(query="field[ti]"):
            last = progress
        seconds = time.perf_counter() - began
        peak = _peak_mb()
    score = Score()
    for record in records:
        stored = library.find(record.pmid)
        full = stored.kind == "full_text"
        score.add(record, Path(stored.path).read_text(encoding="utf-8") if full else None)
    library.shelf.close()
    run = Run("papershelf", len(records), seconds, score, world.traffic(), peak)
    run.notes = [str(last.job.counts)]
    return run


def beside(name: str, given: list[Record], wanted: int, folder: Path, path: str = "") -> Run:
    """One of the others, in a process of its own, on the *given* of *wanted* papers."""
    with WorldProcess(wanted, folder) as world:
        rows = [
            {"pmid": r.pmid, "pmcid": r.pmcid, "doi": r.doi, "title": r.plain_title} for r in given
        ]
        (folder / "papers.json").write_text(json.dumps(rows), encoding="utf-8")
        driver = ROOT / "quality" / "benchmarks" / f"harvest_{name}.py"
        environment = {**os.environ, **world.environment, "HOME": str(folder)}
        environment["UV_CACHE_DIR"] = _uv_cache()
        if path:
            environment["PYTHONPATH"] = path
        command = [*BESIDE.get(name, (sys.executable,)), driver, folder]
        subprocess.run(command, env=environment, cwd=folder, check=True)
    told = json.loads((folder / "told.json").read_text(encoding="utf-8"))
    score = Score()
    for record in given:
        file = told["files"].get(record.pmid)
        score.add(record, _text_of(folder / file) if file else None)
    came = (told["seconds"], score, world.traffic(), told["peak_mb"], told["notes"])
    run = Run(name, len(given), *came)
    if len(given) < wanted:
        run.notes.append(f"ran on the first {len(given)} papers; the time for all is extrapolated")
    return run


def _text_of(path: Path) -> str:
    if path.suffix != ".pdf":
        return path.read_text(encoding="utf-8")
    import pypdfium2

    document = pypdfium2.PdfDocument(path)
    text = "\n".join(page.get_textpage().get_text_range() for page in document)
    document.close()
    return text


def _uv_cache() -> str:
    told = subprocess.run(
        ["uv", "cache", "dir"], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    return told.stdout.strip()


def _peak_mb() -> float:
    """Peak memory of this process, and of the largest it started."""
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(resource.getrusage(one).ru_maxrss for one in who) / 1024


def _print_ours(run: Run, records: list[Record]) -> None:
    traffic, bound = run.traffic, run.traffic.bound()
    print(f"papershelf, {run.papers} papers, {run.notes[0]}")
    print(f"  wall time {run.seconds:.1f} s, lower bound {bound:.1f} s: {run.seconds / bound:.2f}")
    slowest = ", ".join(f"{host} {s:.0f} s" for host, s in list(traffic.bounds().items())[:6])
    print(f"  by host at its limit: {slowest}")
    hosts = ", ".join(f"{host} {n}" for host, n in traffic.hosts.most_common())
    print(f"  requests: {hosts}; {traffic.hosts.total() / run.papers:.2f} a paper")
    print(f"  asked before: {dict(traffic.repeats) or 0}")
    print(f"  NCBI requests per paper: {traffic.ncbi / run.papers:.4f} (at most 0.05)")
    print(f"  most under way at once: {dict(traffic.peaks.most_common())}")
    print(f"  beyond a limit: {dict(traffic.refused) or 0}")
    print(f"  {dict(run.score.outcomes)}; attainable {attainable(records)}")
    print(f"  false full texts: {len(run.score.false)} {' '.join(run.score.false)}")
    missed = Counter(r.branch for r in records if r.pmid in set(run.score.missed))
    print(f"  missed: {dict(missed) or 0}")
    print(f"  peak memory: {run.peak_mb:.0f} MB", flush=True)


def _print_table(runs: list[Run], wanted: int) -> None:
    heads = ("who", "papers", "seconds", "papers/min", "full texts", "false")
    heads += ("requests/paper", "repeats", "NCBI/paper", "refused")
    print("\n|", " | ".join(heads), "|")
    print("|---" * len(heads) + "|")
    for run in runs:
        score, traffic = run.score, run.traffic
        pace = run.papers * 60 / run.seconds
        cells = [run.name, run.papers, f"{run.seconds:.0f}", f"{pace:.0f}", score.full]
        cells += [len(score.false), f"{traffic.hosts.total() / run.papers:.2f}"]
        cells += [traffic.repeats.total(), f"{traffic.ncbi / run.papers:.3f}"]
        cells += [traffic.refused.total()]
        print("|", " | ".join(map(str, cells)), "|")
    for run in runs[1:]:
        whole = run.seconds * wanted / run.papers / 60
        print(f"\n{run.name}: {wanted} papers in {whole:.0f} min; {dict(run.traffic.hosts)}")
        print("".join(f"  - {note}\n" for note in run.notes), end="")


if __name__ == "__main__":
    main()
