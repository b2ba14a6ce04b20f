"""Measure what an unchanged and a slightly changed corpus cost to index, and the index's size.

``uv run python -m quality.benchmarks.corpus_index [--data FOLDER] [--records 5000]``

FOLDER holds ``PubmedArticleSet`` files (``*.xml.gz``), whose records are repeated under new PMIDs.
They are indexed by words; then again unchanged; then with one abstract of a hundred changed. CPU
time is measured. Sizes are compared with the titles and abstracts.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from quality.benchmarks.corpus_ingest import DEFAULT, batches
from utils.corpus import Corpus
from utils.model.paper import Paper
from utils.readers.pubmed import iterate_records
from utils.settings import Settings
from utils.shelf import Shelf


def index_papers(folder: Path, papers: Sequence[Paper]) -> float:
    """Store papers, index them as a new process would, and return the CPU seconds of indexing."""
    settings = Settings(papers_dir=folder, embeddings_provider="none")
    corpus = Corpus(settings, None, Shelf(folder))
    for start in range(0, len(papers), 1000):
        corpus.database.store_records(papers[start : start + 1000])
    corpus.database.close()
    with closing(corpus.database), closing(corpus.finder):
        begun = time.process_time()
        for _ in corpus.index():
            pass
        return time.process_time() - begun


def main() -> None:
    """Print the cost of each run and the size of each file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DEFAULT)
    parser.add_argument("--records", type=int, default=5_000)
    given = parser.parse_args()
    read = (one for _, body in batches(given.data, given.records) for one in iterate_records(body))
    papers = [one for one in read if isinstance(one, Paper)]
    changed = [
        replace(one, abstract=f"{one.abstract} Another sentence.", revised="2026-11-01")
        for one in papers[::100]
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        full = index_papers(folder, papers)
        files = [path for path in folder.rglob("*") if path.is_file()]
        sizes = {path: path.stat().st_size for path in files}
        unchanged = min(index_papers(folder, ()) for _ in range(3))
        some = index_papers(folder, changed)
    text = sum(len(f"{one.title}{one.abstract}".encode()) for one in papers)
    print(f"{len(papers):,} records in {full:.2f} s; unchanged {unchanged / full:.2%}, "
          f"{len(changed)} changed {some / full:.2%}")  # fmt: skip
    print(f"{sum(sizes.values()) / text:.1f} times the text of {text / 1e6:.1f} MB:")
    for path, size in sorted(sizes.items(), key=lambda pair: -pair[1])[:8]:
        print(f"  {size / text:.2f}  {path.name}")


if __name__ == "__main__":
    main()
