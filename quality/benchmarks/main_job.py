"""The main job on real articles: every PMID of ../shared/data through the stand-in internet.

``uv run python -m quality.benchmarks.main_job [--data FOLDER] [--first N]``

In real time, at the polite rates. Prints how many full texts came, by which rung, how many of
them are another paper or not whole (told by the article's own DOI and by its recorded body),
seconds, and requests per host.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.world import World
from utils import Library, PaperError
from utils.model.identifiers import Ids

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def main() -> None:
    """Download, look at what came, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--first", type=int, default=10_000, help="only so many articles")
    options = parser.parse_args()
    rows = [json.loads(line) for line in (options.data / "articles.jsonl").open(encoding="utf-8")]
    chain = {row["pmid"]: row for row in rows if row.get("chain")}
    wanted = [Ids(pmid=pmid) for pmid in list(chain)[: options.first]]
    with World(corpus=options.data) as world, tempfile.TemporaryDirectory() as folder:
        library = _library(world, Path(folder))
        began = time.perf_counter()
        outcomes = dict(library.download_many(wanted))
        seconds = time.perf_counter() - began
        _report(outcomes, chain, seconds)
        hosts = Counter(request.service for request in world.requests)
        refused = Counter(r.service for r in world.requests if r.status == 429)
        print("requests:", ", ".join(f"{host} {n}" for host, n in hosts.most_common()))
        print("answered 429:", dict(refused) or "none")
        ncbi = hosts["eutils"] + hosts["idconv"]
        print(f"NCBI requests per paper: {ncbi / len(wanted):.3f}")
        before = len(world.requests)
        began = time.perf_counter()
        again = dict(library.download_many(wanted))
        held = sum(1 for o in again.values() if not isinstance(o, PaperError) and o.cached)
        seconds = time.perf_counter() - began
        asked = len(world.requests) - before
        print(f"again: {held} of {len(wanted)} from the shelf in {seconds:.2f} s, {asked} requests")
        library.shelf.close()


def _library(world: World, folder: Path) -> Library:
    addresses = {name.lower(): value for name, value in world.environment().items()}
    return Library(papers_dir=folder / "papers", papers_pace_dir=folder / "pace", **addresses)


def _report(outcomes: dict[Ids, Any], chain: dict[str, dict], seconds: float) -> None:
    failed = {ids: o for ids, o in outcomes.items() if isinstance(o, PaperError)}
    done = {ids: o for ids, o in outcomes.items() if not isinstance(o, PaperError)}
    full = {ids: o for ids, o in done.items() if o.stored.kind == "full_text"}
    print(
        f"{len(outcomes)} papers in {seconds:.1f} s: {len(full)} full text, "
        f"{len(done) - len(full)} abstract only, {len(failed)} failed"
    )
    print("by rung:", dict(Counter(o.stored.via for o in full.values()).most_common()))
    false = [ids for ids, o in full.items() if not _is(o, chain[ids.pmid])]
    print(f"false full texts: {len(false)}", *map(str, false))
    for ids, error in failed.items():
        print(f"  failed {ids}: {error}")
    for ids, o in done.items():
        if ids not in full:
            story = ", ".join(f"{a.source} {a.outcome}" for a in o.stored.attempts)
            print(f"  abstract {ids} ({chain[ids.pmid]['article_type']}): {story}")


def _is(done: object, row: dict) -> bool:
    """Whether what was kept is the article of this row, and at least half as long as its body."""
    text = Path(done.file_path).read_text(encoding="utf-8")  # type: ignore[attr-defined]
    named = done.stored.paper.ids.doi == (row["doi"] or "").lower()  # type: ignore[attr-defined]
    return named and len(text) > 0.5 * row["body_chars"]


if __name__ == "__main__":
    main()
