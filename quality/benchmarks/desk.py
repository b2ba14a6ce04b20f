"""How much CPU a page of the desk takes on a large shelf, and how long the desk takes to start.

``uv run python -m quality.benchmarks.desk [--papers N] [--rounds N]``

A temporary shelf is filled as in `cache_hit`. Each address is asked through the whole application,
middleware included, and the 95th percentile of the CPU time of a page is printed. The start is the
CPU time of a new process until its desk listens, less that of an empty Python.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from starlette.testclient import TestClient

from quality.benchmarks.cache_hit import fill
from utils import Library
from utils.citations import styles
from utils.desk.access import Access
from utils.desk.application import build_application

PORT = 8765
PAGES = {
    "first page": "/",
    "words": "/?text=cells",
    "filters, nothing fits": "/?text=cells&license=CC+BY&verdict=full_text",
    "an author": "/?author=Family3",
    "by title": "/?sort=title",
    "table, page 200": "/?view=table&start=10000",
    "with a PDF": "/?has_pdf=1",
    "one paper": "/paper?id=doi:10.1000/cells.77",
    "50 selected": "/selection?" + "&".join(f"id=10.1000_cells.{n}.txt" for n in range(1, 51)),
}
_START = """
import sys
from utils import Library
from utils.desk.server import build_server
build_server(Library(papers_dir=sys.argv[1], papers_offline=True), 0, lambda address: None)
"""


def measure_page(client: TestClient, path: str, rounds: int, *, forget: bool = False) -> float:
    """Return the 95th percentile of the CPU milliseconds of a page.

    With *forget*, no reference is kept from the page before.
    """
    assert client.get(path).status_code == 200, path
    taken = []
    for _ in range(rounds):
        if forget:
            styles._format_reference.cache_clear()
        began = time.process_time()
        client.get(path)
        taken.append(1000 * (time.process_time() - began))
    return statistics.quantiles(taken, n=20)[-1]


def measure_start(folder: Path) -> float:
    """Return the CPU seconds of a start, the median of five."""

    def run(code: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code, str(folder)], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return statistics.median(run(_START) - run("") for _ in range(5))


def main() -> None:
    parser = argparse.ArgumentParser(description="Pages of the desk on a large shelf.")
    parser.add_argument("--papers", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=40)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        library = Library(papers_dir=Path(folder) / "papers", papers_offline=True)
        fill(library.shelf, args.papers)
        access = Access(PORT)
        base = f"http://127.0.0.1:{PORT}"
        with TestClient(build_application(library, access), base_url=base) as client:
            client.get(access.first_address)
            for name, path in PAGES.items():
                print(f"{name:<22} {measure_page(client, path, args.rounds):7.1f} ms")
            taken = measure_page(client, PAGES["50 selected"], args.rounds, forget=True)
            print(f"{'50 selected, new':<22} {taken:7.1f} ms")
        print(f"{'start':<22} {measure_start(Path(folder) / 'papers'):7.2f} s")


if __name__ == "__main__":
    main()
