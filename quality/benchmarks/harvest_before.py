"""An earlier Papershelf on the list of a harvest: whichever ``PYTHONPATH`` brings."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from harvest_detour import clock, papers, tell

import utils


def main(folder: Path) -> None:
    """Harvest, and say which text is whose."""
    shelf = folder / "papers"
    library = utils.Library(papers_dir=shelf, papers_pace_dir=folder / "pace")
    clock["began"] = time.perf_counter()
    for progress in library.harvest(query="field[ti]"):
        last = progress
    files = {}
    for row in papers(folder):
        stored = library.find(row["pmid"])
        if stored.kind == "full_text":
            files[row["pmid"]] = str(Path(stored.path).relative_to(folder))
    library.shelf.close()
    tell(folder, files, [f"{Path(utils.__file__).parents[1].name}: {last.job.counts}"])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
