"""How much memory a corpus takes while it is synced and indexed by words.

``uv run python -m quality.benchmarks.corpus_memory [--data FOLDER] [--records 200000]``

The records of `quality.benchmarks.corpus_ingest`, made while they are asked for. After each step:
the most memory this process has had so far, and what it is said to hold itself (Linux).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from quality.benchmarks.corpus_ingest import DEFAULT, batches
from utils.corpus import Corpus
from utils.corpus.sync_jobs import SyncJob
from utils.readers.pubmed import iterate_records
from utils.settings import Settings
from utils.shelf import Shelf

AT_ONCE = 30_000  # hits of one step of a sync


def mebibytes(name: str) -> int:
    """``VmHWM`` (the most) or ``RssAnon`` (its own, now) of this process."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1]) // 1024


def steps(folder: Path, data: Path, records: int) -> Iterator[str]:
    """Do one step after another; the name of each when it is done."""
    yield "nothing"
    corpus = Corpus(Settings(papers_dir=folder, embeddings_provider="none"), None, Shelf(folder))
    job = SyncJob.open_or_create(corpus.database, "all", "all[sb]", 5, full=False)
    while stretch := job.get_next_date_range():
        if stretch.date_type == "members":
            job.stage_lost_members(stretch)
            continue
        for start in range(0, records, AT_ONCE):
            numbers = range(start, min(start + AT_ONCE, records))
            job.stage_hits(stretch, (str(40_000_001 + n) for n in numbers), ())
    yield "what there is"
    for _, body in batches(data, records):
        job.stage_records(list(iterate_records(body)))
    yield "fetched and staged"
    while job.merge_next_page():
        pass
    assert job.complete_job().inserted == records
    yield "merged"
    for _ in corpus.index():
        pass
    yield "indexed by words"
    for _ in corpus.index():
        pass
    yield "looked through again, nothing changed"
    corpus.finder.close()


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--data", type=Path, default=DEFAULT)
    asked.add_argument("--records", type=int, default=200_000)
    given = asked.parse_args()
    print("| | seconds | most MiB | its own MiB |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        since = time.monotonic()
        for step in steps(Path(folder), given.data, given.records):
            seconds, since = time.monotonic() - since, time.monotonic()
            print(f"| {step} | {seconds:.0f} | {mebibytes('VmHWM')} | {mebibytes('RssAnon')} |")


if __name__ == "__main__":
    main()
