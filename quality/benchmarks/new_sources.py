"""What the sources of 2026 bring: a field with papers that MDPI, bioRxiv, OSTI and HAL have.

``uv run python -m quality.benchmarks.new_sources [--papers 1000]``

The field of ``quality.benchmarks.harvest``, and 41 papers more that no other site has as a text:
14 at MDPI's file host, 7 at bioRxiv, 10 at OSTI and 10 at HAL. How locators name those of OSTI and
HAL is in ``tests/world/archives.py``. Three rows: without the four sources, with OSTI and HAL asked
for every paper that reaches them, and as it is. Every text is compared with what the world wrote.
Pauses take no time, and seconds are not measured.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from quality.benchmarks.harvest_verdict import Score
from tests.clock import Clock
from tests.world import World, archives
from tests.world.field import Field
from tests.world.records import Corpus
from utils import Library, PaperError
from utils.demo.records import Record
from utils.download.climb import DownloadRequest
from utils.download.download import download_many
from utils.model.identifiers import Ids
from utils.sources import Source

NEW = ("mdpi", "biorxiv", "osti", "hal")
_KEPT = {"mdpi": 14, "biorxiv": 7, "osti": 10, "hal": 10}
_ROWS = ("without the four", "OSTI and HAL asked for all", "OSTI and HAL if named")


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=int, default=1000)
    options = parser.parse_args()
    clock = Clock(time.time)
    time.sleep, time.time = clock.sleep, clock.time  # type: ignore[assignment]
    records = make_papers(options.papers)
    print("| sources | full texts | false | requests/paper | to OSTI, HAL, MDPI, bioRxiv |")
    print("|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in _ROWS:
            yields = _measure(name, records, options.papers, Path(folder) / name)
    print("", "| route | papers |", "|---|---|", sep="\n")
    for via, papers in yields.most_common():
        print("|", via, "|", papers, "|")


def make_papers(size: int) -> list[Record]:
    """Return the field's papers, and those that only the four sites have."""
    field, first, kept = Field(size + sum(_KEPT.values())), size, list[Record]()
    for site, count in _KEPT.items():
        kept += archives.of_field(field[first : first + count], site)
        first += count
    return [*field[:size], *kept]


def _measure(name: str, records: list[Record], size: int, folder: Path) -> Counter[str]:
    """Download all papers, print the row, and return the full texts by route."""
    score, yields = Score(), Counter[str]()
    with World(field=size) as world:
        world.corpus = Corpus([*world.corpus.records.own, *records[size:]], world.field)  # type: ignore[attr-defined]
        urls = {key.lower(): value for key, value in world.environment().items()}
        sites = [
            one for one in Library().settings.papers_sources if one not in NEW or name != _ROWS[0]
        ]
        places = {"papers_dir": folder / "papers", "papers_pace_dir": folder / "pace"}
        library = Library(**{**urls, **places, "papers_sources": sites})
        ladder = library.ladder
        if name == _ROWS[1]:
            ladder = replace(ladder, sources=[*map(_ask_for_all, ladder.sources)])
        wanted = {_name(record): record for record in records}
        requests = [DownloadRequest(ids) for ids in wanted]
        for ids, done in download_many(requests, ladder):
            full = not isinstance(done, PaperError) and done.stored.kind == "full_text"
            text = library.shelf.read_text(done.stored) if full else None
            score.add(wanted[ids], text)
            yields.update([done.stored.via] if full else [])
        each = len(world.requests) / len(records)
        asked = Counter(request.host for request in world.requests)
        library.shelf.close()
    sites = [f"{asked[site]}" for site in ("osti", "hal", "mdpi", "biorxiv")]
    cells = [name, score.full, len(score.false), f"{each:.2f}", ", ".join(sites)]
    print("|", " | ".join(map(str, cells)), "|", flush=True)
    return yields


def _name(record: Record) -> Ids:
    return Ids(pmid=record.pmid) if record.pmid else Ids(doi=record.doi)


def _ask_for_all(source: Source) -> Source:
    """Return the source as it was before it needed a locator's hint."""
    routes = [
        replace(route, only_named=False, prefixes=() if route.only_named else route.prefixes)
        for route in source.routes
    ]
    return replace(source, routes=tuple(routes))


if __name__ == "__main__":
    main()
