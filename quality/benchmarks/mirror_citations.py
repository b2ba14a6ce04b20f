"""How much memory and time the table of citations takes.

Run from the checkout: ``uv run --extra mirror python -m quality.benchmarks.mirror_citations
[--edges N]``. N invented citations (12 million) are packed as NIH packs them, read, and put
together in both orders, in a process of its own. Edges a second of processor time, bytes an edge,
the largest resident size (``VmHWM``), and the time of a question about one paper.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

from utils.mirror.citation_table import Citations, get_table_files, publish_table
from utils.mirror.citations import _Update, read_pairs
from utils.sources.citation_collection import HEADER, TABLE_NAME

_PMIDS = 2_000_000
_AT_ONCE = 4_000_000


def write_zip(path: Path, edges: int) -> None:
    """Pack invented pairs, from a seed."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import csv

    chance = np.random.default_rng(1)
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed,
        packed.open(TABLE_NAME, "w", force_zip64=True) as table,
    ):
        table.write(f"{','.join(HEADER)}\n".encode())
        for at in range(0, edges, _AT_ONCE):
            pairs = chance.integers(1, _PMIDS, (2, min(_AT_ONCE, edges - at)), np.int32)
            rows = pa.table({"citing": pairs[0], "cited": pairs[1]})
            csv.write_csv(rows, table, csv.WriteOptions(include_header=False))


def make(folder: Path, pipe: Any) -> None:
    """Read and put together; seconds of both, edges, and the largest size in MB."""
    pairs, began = folder / "2026-01-01-0.parquet", time.process_time()
    for _ in read_pairs(folder / "nih.zip", pairs):
        pass
    read = time.process_time() - began
    steps = _Update(folder, None, keep=True)._make_table("2026-01-01-0", pairs, None)  # type: ignore[arg-type]
    began = time.process_time()
    try:
        while True:
            next(steps)
    except StopIteration as done:
        table = done.value
    joined = time.process_time() - began
    publish_table(folder, table)
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    memory = int(status.partition("VmHWM:")[2].split()[0]) / 1024
    pipe.send((read, joined, table.edges, memory))


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--edges", type=int, default=12_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_zip(folder / "nih.zip", options.edges)
        ours, theirs = multiprocessing.get_context("spawn").Pipe()
        child = multiprocessing.get_context("spawn").Process(target=make, args=(folder, theirs))
        child.start()
        theirs.close()
        read, joined, edges, memory = ours.recv()
        child.join()
        citations = Citations(folder)
        began = time.process_time()
        for pmid in range(1, 21):
            citations.citing([pmid])
        asked = (time.process_time() - began) / 20
        files = get_table_files(folder, citations.table.name)
        size = sum(path.stat().st_size for path in files) / edges
        print(f"read          {options.edges / read:>12,.0f} edges/s")
        print(f"put together  {edges / joined:>12,.0f} edges/s, both orders")
        print(
            f"all           {edges / (read + joined):>12,.0f} edges/s, {memory:,.0f} MB, ", end=""
        )
        print(f"{size:.1f} bytes an edge, {asked * 1000:.1f} ms of CPU a question")


if __name__ == "__main__":
    main()
