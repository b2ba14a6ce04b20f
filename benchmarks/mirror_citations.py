"""How much memory and time the table of citations takes where its edges lie densest.

Run from the checkout: ``uv run --extra mirror python -m benchmarks.mirror_citations [--edges N]
[--beside]``. N invented citations (35 million; of all PubMed a file has some four, the densest
about nine) lie in one span of PMIDs at both ends, so that one file in each order gets all of them.

- *read*: NIH's lines, in stretches of 128 MB, become sorted parts; *put together*: the parts become
  the file by who cites, and once more turned; *turned*: that becomes the file by who is cited.
  Edges a second of processor time, of the worker that does it: what others do is not in it;
- *memory*: the largest resident size of that worker (``VmHWM``), a new process for each step;
- beside it, DuckDB puts the same parts together in both orders, on one thread with 700 MB allowed.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from utils.mirror.edges import SPAN, Made, Slice, Span, join_span, read_slice

_FIRST = 150 * SPAN
_STRETCH = 7_000_000  # lines of 18 bytes
_BESIDE = """
    COPY (SELECT citing, cited, bit_or(sources) AS sources FROM read_parquet({parts})
          WHERE citing >= {first} AND citing < {end} GROUP BY ALL ORDER BY {order})
    TO '{file}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 65536)
"""


def write_stretches(folder: Path, edges: int) -> list[Slice]:
    """Invented lines, from a seed."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import csv

    chance, made = np.random.default_rng(1), []
    for number, at in enumerate(range(0, edges, _STRETCH)):
        pairs = chance.integers(_FIRST, _FIRST + SPAN, (2, min(_STRETCH, edges - at)), np.int32)
        path = folder / f"{number}.csv"
        table = pa.table({"citing": pairs[0], "cited": pairs[1]})
        csv.write_csv(table, path, csv.WriteOptions(include_header=False))
        made.append(Slice(str(path), str(folder / f"nih-{number}.parquet"), number))
    return made


def worker(function: Callable[[Any], Any], jobs: list[Any], pipe: Any) -> None:
    """Do them, one after the other; what was made, processor seconds, the largest size in MB."""
    began = time.process_time()
    made = [function(job) for job in jobs]
    seconds = time.process_time() - began
    status = Path("/proc/self/status").read_text(
        encoding="utf-8"
    )  # getrusage would tell a parent's size, too
    pipe.send((made, seconds, int(status.partition("VmHWM:")[2].split()[0]) / 1024))


def measured(name: str, function: Callable[[Any], Any], jobs: list[Any]) -> list[Any]:
    """What a new process makes of the jobs; prints what it took."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    child = context.Process(target=worker, args=(function, jobs, theirs))
    child.start()
    theirs.close()
    made, seconds, memory = ours.recv()
    child.join()
    edges = sum(one.edges for one in made)
    print(f"{name:<24}{edges:>12,} edges {edges / seconds:>12,.0f} edges/s {memory:>7,.0f} MB")
    return list(made)


def beside(job: Span) -> Made:
    """The same by DuckDB: both orders."""
    import duckdb

    place = Path(job.sorted).parent
    settings: dict[str, Any] = {
        "memory_limit": "700MB", "threads": 1, "temp_directory": str(place / "duckdb")
    }  # fmt: skip
    db, count = duckdb.connect(config=settings), 0
    for order in ("citing, cited", "cited, citing"):
        file = place / f"{order.partition(',')[0]}-beside.parquet"
        parts, end = json.dumps(job.parts).replace('"', "'"), job.first + SPAN
        query = _BESIDE.format(parts=parts, first=job.first, end=end, order=order, file=file)
        count = db.execute(query).fetchone()[0]  # type: ignore[index]
    return Made(job.first, count)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", type=int, default=35_000_000)
    parser.add_argument("--beside", action="store_true", help="DuckDB, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        slices = write_stretches(place, options.edges)
        measured("read", read_slice, slices)
        parts = tuple(one.part for one in slices)
        files = (str(place / "citing.parquet"), str(place / "turned.parquet"))
        citing = Span(_FIRST, "citing", parts, *files)
        measured("put together, turned", join_span, [citing])
        cited = Span(_FIRST, "cited", files[1:], str(place / "cited.parquet"))
        measured("by who is cited", join_span, [cited])
        if options.beside:
            measured("DuckDB, both orders", beside, [citing])
        size = sum(Path(one).stat().st_size for one in (citing.sorted, cited.sorted))
        print(f"{size / 1e6:,.0f} MB in both orders")
    own = resource.getrusage(resource.RUSAGE_SELF)
    print(f"(writing the lines: {own.ru_utime + own.ru_stime:.0f} s)")


if __name__ == "__main__":
    main()
