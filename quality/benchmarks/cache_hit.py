"""How long a cache hit takes on a large shelf, beside other ways to keep papers.

``uv run quality/benchmarks/cache_hit.py [--papers N] [--lookups N]``

A temporary shelf is filled with N papers (the files are real, the catalogue is filled as a save
does, without flushing each to the disk) and asked for random papers by PMID and by DOI. Beside it:

- *plain file*: ``Path.exists()`` and reading the text, as a cache without a catalogue does. It
  finds a paper by the one name its file has, and knows no metadata but what the text says.
- *diskcache*: the same record as a JSON string under each of the paper's names.

Each way answers in a round of its own, rounds alternate, and the median over all is printed, so
that a busy machine slows all alike. ``find`` returns the whole record (title, abstract, authors,
attempts) having made sure that the file is still what it was; it does not read the text. At the end
the catalogue is made again from the files.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import diskcache

from utils.model.identifiers import Ids
from utils.model.paper import Attempt, Author, Paper, StoredPaper
from utils.shelf import Shelf, paper_file
from utils.shelf.record import ShelfRecord, compute_sha256
from utils.shelf.shelf_writer import add_checksum

ABSTRACT = "We looked at cells and counted them, and found that there were many of them. " * 18
TEXT = "# Cells\n\n" + "We looked at cells, counted them, and write down here what we saw. " * 600


def fill(shelf: Shelf, papers: int) -> None:
    """Put *papers* papers on the shelf, in one transaction."""
    writer, catalogue = shelf._writer, shelf._catalogue
    writer.create_folders()
    with catalogue.open_transaction():
        for number in range(1, papers + 1):
            record = made(shelf, number)
            text = paper_file.build_full_text_file(record.stored, TEXT[: 4000 + number % 8000])
            data = text.encode()
            record = add_checksum(replace(record, written=compute_sha256(data)), data)
            Path(record.stored.path).write_bytes(data)
            writer.get_record_path(record.file).write_text(record.to_json(), encoding="utf-8")
            catalogue.write_entry(writer._to_new_entry(record), record.ids.names())
        for name in ("complete", "surveyed"):
            catalogue.set_fact(name, "yes")
        writer.rewrite_index()


def made(shelf: Shelf, number: int) -> ShelfRecord:
    """A record of the usual size."""
    authors = tuple(Author(f"Family{n}", f"Given{n}", "G") for n in range(8))
    ids = Ids(doi=doi(number), pmid=str(number), pmcid=f"PMC{number}")
    stored = StoredPaper(
        paper=Paper(ids, f"On cells, part {number}", ABSTRACT, authors, "Journal of Cells"),
        kind="full_text",
        path=str(shelf.folder / f"10.1000_cells.{number}.txt"),
        source="PMC",
        via="pmc_cloud",
        sha256="",
        version="published",
        attempts=(Attempt("pmc_cloud", "saved"),),
    )
    return ShelfRecord(stored, order=number, words=3000)


def doi(number: int) -> str:
    """The DOI of the n-th paper."""
    return f"10.1000/cells.{number}"


def microseconds(act: Callable[[int], object], numbers: list[int]) -> list[float]:
    """How long each call took."""
    took = []
    for number in numbers:
        began = time.perf_counter_ns()
        found = act(number)
        took.append((time.perf_counter_ns() - began) / 1000)
        assert found, number
    return took


def measure(shelf: Shelf, cache: diskcache.Cache, papers: int, lookups: int) -> None:
    """Ask each way in turn, and print the medians."""

    def plain(number: int) -> str:
        path = shelf.folder / f"{doi(number).replace('/', '_')}.txt"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    ways: dict[str, Callable[[int], object]] = {
        "find by PMID": lambda number: shelf.find_text(Ids(pmid=str(number))),
        "find by DOI": lambda number: shelf.find_text(Ids(doi=doi(number))),
        "plain file: exists + read": plain,
        "diskcache: get": lambda number: cache.get(f"pmid:{number}"),
        "find of an absent paper": lambda n: shelf.find_text(Ids(pmid=str(n + 10**7))) is None,
    }
    took: dict[str, list[float]] = {name: [] for name in ways}
    chance = random.Random(1)
    for _ in range(10):
        for name, act in ways.items():
            numbers = [chance.randint(1, papers) for _ in range(lookups // 10)]
            took[name] += microseconds(act, numbers)
    ours = statistics.median(took["find by PMID"])
    print(f"{papers} papers, {lookups} random lookups each; microseconds")
    print(f"{'':28}{'median':>8}{'p99':>8}{'ratio':>8}")
    for name, times in took.items():
        median = statistics.median(times)
        p99 = statistics.quantiles(times, n=100)[98]
        print(f"{name:28}{median:8.0f}{p99:8.0f}{median / ours:8.2f}")


def main() -> None:
    """Fill, measure, clean up."""
    parser = argparse.ArgumentParser(description="Cache hits on a large shelf.")
    parser.add_argument("--papers", type=int, default=100_000)
    parser.add_argument("--lookups", type=int, default=5_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        began = time.perf_counter()
        with Shelf(Path(scratch) / "papers") as shelf:
            fill(shelf, given.papers)
            with diskcache.Cache(str(Path(scratch) / "cache"), disk=diskcache.JSONDisk) as cache:
                with cache.transact():
                    for number in range(1, given.papers + 1):
                        cache.set(f"pmid:{number}", made(shelf, number).to_json())
                print(f"filled in {time.perf_counter() - began:.0f} s")
                measure(shelf, cache, given.papers, given.lookups)
                began = time.perf_counter()
                total, found = shelf.list_papers(text="cells part 777", max_results=20)
                listed = time.perf_counter() - began
                print(f"list by three words: {total} found in {listed * 1000:.1f} ms")
                assert found
                began = time.perf_counter()
                with shelf._catalogue.open_transaction():
                    shelf._writer.rewrite_index()
                print(f"index.csv written again in {time.perf_counter() - began:.2f} s")
        began = time.perf_counter()
        with Shelf(Path(scratch) / "papers") as shelf:
            assert shelf.find_text(Ids(pmid="1"))
            print(f"first find of a process: {(time.perf_counter() - began) * 1000:.1f} ms")
            began = time.process_time()
            report = shelf.rebuild_catalogue()
            spent = time.process_time() - began
            print(f"rebuild of {report.full_text} texts: {spent:.1f} s of a processor")


if __name__ == "__main__":
    main()
