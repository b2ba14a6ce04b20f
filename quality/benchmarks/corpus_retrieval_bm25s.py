"""What the package bm25s finds, for `quality.benchmarks.corpus_retrieval --beside`.

Runs in an environment of its own, so that it imports nothing of ours: reads ``texts.json`` and
``asking.json`` of a folder, prints for each question the numbers of the texts found as JSON. The
index is as its documentation makes one: its English stop words and the Snowball stemmer.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import bm25s  # type: ignore[import-not-found, unused-ignore]
import Stemmer  # type: ignore[import-not-found, unused-ignore]


def main(folder: Path, limit: int) -> None:
    texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    asking = json.loads((folder / "asking.json").read_text(encoding="utf-8"))
    stem = Stemmer.Stemmer("english")
    engine = bm25s.BM25()
    split = {"stopwords": "en", "stemmer": stem, "show_progress": False}
    engine.index(bm25s.tokenize(texts, **split), show_progress=False)
    found, _ = engine.retrieve(
        bm25s.tokenize(asking, **split), k=min(limit, len(texts)), show_progress=False
    )
    print(json.dumps(found.tolist()))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
