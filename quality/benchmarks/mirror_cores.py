"""All stages of a mirror of PubMed, on one worker and on many: rates, efficiency, memory, disk.

    python -m quality.benchmarks.mirror_cores --records 2000000 --workers 1,2,4,8,16 --folder DIR

Files of PubMed's form are made first. Each record is a real one under another PMID and DOI, with
other digits and some new words in its texts, so that caches help no more than with real files. The
real ones are in ``--data`` (a folder with ``*.xml.gz``); without any, the demo's are taken.

Then the product's own steps run in a new process for each number of workers, each worker on as many
records as ``--each`` says: read, cut and write parts; publish a generation; index papers and
passages by words. At last come all records, with the most workers. CPU is that of all processes.
Memory is sampled: that of all processes, and that of the largest worker.
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from utils.demo.papers import PAPERS
from utils.demo.pubmed_xml import pubmed_article
from utils.mirror.engines import get_engine
from utils.mirror.generations import Generations
from utils.mirror.manifest import SourceFile
from utils.mirror.parts import Part, ReadJob, read_part
from utils.mirror.passages import PassageIndex
from utils.mirror.splits import update_indexes
from utils.mirror.words import WordIndex

RECORDED = Path(__file__).resolve().parents[3] / "shared" / "data" / "pubmed" / "bulk"
PUBMED = 40_000_000
CORES = 16  # of the machine for which hours are computed
_NEW_WORDS = 10  # a record: in real files, a worker meets about as many for the first time
_RECORD = re.compile(rb"<PubmedArticle>.*?</PubmedArticle>", re.S)
_PMID = re.compile(rb"(<PMID[^>]*>)\d+")
_NAME = re.compile(rb'(<ArticleId IdType="(?:doi|pmc)">[^<]+)')
_TEXT = re.compile(rb"<(Abstract|Affiliation|Citation)>[^&]*?</\1>", re.S)
_MEMORY = ("MB", "MB a worker")
_HEADS = ("records", "wall s", "records/s", "µs/record", *_MEMORY, "files", "MB on disk")


def main() -> None:
    """Make the files, then print the table and the large run."""
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(run_stages(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=RECORDED)
    parser.add_argument("--each", type=int, default=20_000, help="records a worker, in the table")
    parser.add_argument("--per-file", type=int, default=10_000)
    options = parser.parse_args()
    workers = [int(count) for count in options.workers.split(",")]
    files = -(-options.records // options.per_file)
    make_files(options, files, max(workers))
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    print_table(options, workers, files)
    print_large_run(measure_run(options.folder, max(workers), files), max(workers))


def make_files(options: argparse.Namespace, files: int, workers: int) -> None:
    """Make the source files that are missing."""
    paths = [get_file(options.folder, number) for number in range(1, files + 1)]
    paths[0].parent.mkdir(parents=True, exist_ok=True)
    jobs = [(str(path), options.per_file, str(options.data)) for path in paths if not path.exists()]
    began = time.perf_counter()
    raw = sum(get_engine("processes", workers, say=print)(make_file, jobs))
    packed, wall = sum(path.stat().st_size for path in paths), time.perf_counter() - began
    print(f"{files} files of {packed / 1e6:,.0f} MB; {raw / 1e6:,.0f} MB made in {wall:.0f} s")


def get_file(folder: Path, number: int) -> Path:
    """Return the path of a source file."""
    return folder / "source" / f"pubmed26n{number:05}.xml.gz"


def make_file(job: tuple[str, int, str]) -> int:
    """Write a file of varied records; return its size before it was packed."""
    path, records, templates = Path(job[0]), job[1], read_templates(job[2])
    number = int(path.name[9:14])
    dice, first = random.Random(number), 50_000_000 + number * records
    pmids = range(first, first + records)
    varied = b"\n".join(vary_record(dice.choice(templates), pmid, dice) for pmid in pmids)
    body = b"<PubmedArticleSet>\n" + varied + b"\n</PubmedArticleSet>"
    making = path.with_suffix(".making")
    making.write_bytes(gzip.compress(body, 4))
    making.replace(path)
    return len(body)


@lru_cache(maxsize=1)
def read_templates(data: str) -> list[bytes]:
    """Return the XML of the real records; without any, of the demo's."""
    bodies = (gzip.decompress(path.read_bytes()) for path in sorted(Path(data).glob("*.xml.gz")))
    found = [record for body in bodies for record in _RECORD.findall(body)]
    return found or _RECORD.findall("".join(map(pubmed_article, PAPERS)).encode())


def vary_record(record: bytes, number: int, dice: random.Random) -> bytes:
    """Return a record of its own: other names, other digits in its texts, some new words."""
    digits = bytes.maketrans(b"0123456789", bytes(dice.sample(b"0123456789", 10)))

    def vary_text(found: re.Match[bytes]) -> bytes:
        text = found[0].translate(digits)
        for _ in range(_NEW_WORDS if found[1] == b"Abstract" else 0):
            text = text.replace(b". ", f" {dice.getrandbits(40):x}. ".encode(), 1)
        return text

    record = _NAME.sub(rb"\g<1>%d" % number, _PMID.sub(rb"\g<1>%d" % number, record, count=1))
    return _TEXT.sub(vary_text, record)


def run_stages(folder: Path, workers: int, files: int) -> dict[str, Any]:
    """Run all stages over the first *files* files; return what each took."""
    mirror = folder / f"mirror-{workers}"
    shutil.rmtree(mirror, ignore_errors=True)
    run = get_engine("processes", workers, say=print)
    jobs = [make_read_job(folder, mirror, number) for number in range(1, files + 1)]
    generations = Generations(mirror, "pubmed")
    stages: dict[str, dict[str, float]] = {}
    with sample_memory() as memory:
        with measure_stage("read, cut, write", stages):
            parts = {part.name: part for part in run(read_part, jobs)}
        with measure_stage("publish", stages):
            read = [make_source_file(job, parts[job.name]) for job in jobs]
            generations.publish(generations.build(read, {}).name)
        with measure_stage("index by words", stages):
            indexes = [WordIndex(generations), PassageIndex(generations)]
            for _ in update_indexes(indexes, run):
                pass
    counts = [sum(getattr(part, name) for part in read) for name in ("records", "passages")]
    indexed = [int(index.index.searcher().num_docs) for index in indexes]
    if indexed != counts:
        raise SystemExit(f"{counts} records and passages, of which {indexed} are indexed")
    sizes = [path.stat().st_size for path in mirror.rglob("*") if path.is_file()]
    shutil.rmtree(mirror)
    total = {name: sum(stage[name] for stage in stages.values()) for name in stages["publish"]}
    found = {"records": counts[0], "passages": counts[1], "stages": stages}
    return found | total | memory | {"files": len(sizes), "bytes": sum(sizes)}


def make_read_job(folder: Path, mirror: Path, number: int) -> ReadJob:
    """Return the job of reading a source file."""
    path, sequence, order = get_file(folder, number), f"26n{number:05}", 2_600_000 + number
    return ReadJob(str(path), "pubmed", path.name, sequence, order, f"{number:032x}", str(mirror))


def make_source_file(job: ReadJob, part: Part) -> SourceFile:
    """Return a source file that was read."""
    if part.reason:
        raise SystemExit(part.reason)
    file = SourceFile(job.source, job.name, "", job.sequence, job.order, md5=job.md5)
    return file.add_part(part, job.md5)


@contextmanager
def measure_stage(name: str, stages: dict[str, dict[str, float]]) -> Iterator[None]:
    """Note the wall, and the CPU of this process and of its workers, that a block takes."""
    began, before = time.perf_counter(), os.times()
    yield
    for child in multiprocessing.active_children():
        child.join()  # only then its processor time is counted
    wall, after = time.perf_counter() - began, os.times()
    leader = after.user + after.system - before.user - before.system
    workers = sum(after[2:4]) - sum(before[2:4])
    stages[name] = {"wall": wall, "workers": workers, "leader": leader, "cpu": leader + workers}


@contextmanager
def sample_memory() -> Iterator[dict[str, float]]:
    """Yield the largest resident MB while the block runs: of all processes, and of a worker."""
    most, ended = dict.fromkeys(_MEMORY, 0.0), threading.Event()

    def sample() -> None:
        while not ended.wait(0.3):
            sizes = [read_resident_mb(child.pid) for child in multiprocessing.active_children()]
            now = (sum(sizes) + read_resident_mb(os.getpid()), max(sizes, default=0))
            most.update(zip(_MEMORY, map(max, most.values(), now), strict=True))

    threading.Thread(target=sample, daemon=True).start()
    yield most
    ended.set()


def read_resident_mb(pid: int | None) -> float:
    """Return the resident size of a process; 0 if it ended."""
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * 4096 / 1e6
    return 0.0


def measure_run(folder: Path, workers: int, files: int) -> dict[str, Any]:
    """Run all stages in a new process, so that what ran before does not count."""
    asked = ["--one", str(folder), str(workers), str(files)]
    command = [sys.executable, "-m", "quality.benchmarks.mirror_cores", *asked]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    found["wall s"], found["MB on disk"] = found["wall"], found["bytes"] / 1e6
    found["records/s"] = found["records"] / found["wall"]
    found["µs/record"] = 1e6 * found["cpu"] / found["records"]
    return found


def print_table(options: argparse.Namespace, workers: list[int], files: int) -> None:
    """Print what each number of workers takes, each worker on as many records."""
    print("".join(f"{head:>12}" for head in ("workers", "efficiency", *_HEADS)))
    first = 0.0
    for count in workers:
        some = -(-count * options.each // options.per_file)
        found = measure_run(options.folder, count, min(files, some))
        first = first or found["records/s"] / count
        cells = [f"{count:>12}{found['records/s'] / count / first:>12.2f}"]
        print("".join([*cells, *(f"{found[head]:>12,.0f}" for head in _HEADS)]), flush=True)


def print_large_run(found: dict[str, Any], workers: int) -> None:
    """Print each stage of a run, and what all of PubMed would take."""
    print(f"\n{found['records']:,} records, {found['passages']:,} passages, {workers} workers")
    print(", ".join(f"{head} {found[head]:,.0f}" for head in _HEADS))
    print(f"{'stage':<17}{'wall s':>9}{'CPU s, workers':>16}{'leader':>9}{'µs/record':>11}")
    for name, stage in (*found["stages"].items(), ("together", found)):
        each = f"{1e6 * stage['cpu'] / found['records']:>11.0f}"
        cpu = f"{stage['workers']:>16.1f}{stage['leader']:>9.1f}"
        print(f"{name:<17}{stage['wall']:>9.1f}{cpu}{each}")
    times = PUBMED / found["records"] / 3600
    by_wall = times * found["wall"] * workers / CORES
    by_cpu = times * (found["workers"] / CORES + found["leader"])
    print(f"{PUBMED:,} records on {CORES} cores: {by_wall:.2f} h by this wall, {by_cpu:.2f} by CPU")


if __name__ == "__main__":
    main()
