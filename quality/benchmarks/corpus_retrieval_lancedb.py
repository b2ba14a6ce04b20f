"""What LanceDB's hybrid search finds, for `quality.benchmarks.corpus_retrieval --beside`.

Runs in an environment of its own, so that it imports nothing of ours: reads ``vectors.npy``,
``asked.npy``, ``texts.json`` and ``asking.json`` of a folder, prints for each question the numbers
of the rows found as JSON. The table is as its documentation makes one: a full-text index with its
usual English tokenizer, every vector compared (its default for so few), reciprocal ranks.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import lancedb  # type: ignore[import-not-found, unused-ignore]
import numpy as np
from lancedb.index import FTS  # type: ignore[import-not-found, unused-ignore]
from lancedb.rerankers import RRFReranker  # type: ignore[import-not-found, unused-ignore]


def main(folder: Path, limit: int) -> None:
    vectors, asked = np.load(folder / "vectors.npy"), np.load(folder / "asked.npy")
    texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    asking = json.loads((folder / "asking.json").read_text(encoding="utf-8"))
    rows = [{"id": at, "text": texts[at], "vector": row} for at, row in enumerate(vectors)]
    found = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        kept = lancedb.connect(home).create_table("passages", rows)
        kept.create_index("text", config=FTS())
        ranks = RRFReranker()
        for text, row in zip(asking, asked, strict=True):
            both = kept.search(query_type="hybrid").vector(row).text(text).distance_type("cosine")
            hits = both.rerank(ranks).select(["id"]).limit(limit).to_list()
            found.append([hit["id"] for hit in hits])
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
