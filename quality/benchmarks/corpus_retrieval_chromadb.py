"""What Chroma's default index finds, for `quality.benchmarks.corpus_retrieval --beside`.

Runs in an environment of its own, so that it imports nothing of ours: reads ``vectors.npy`` and
``asked.npy`` of a folder, prints for each row asked the numbers of the nearest rows as JSON.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import chromadb  # type: ignore[import-not-found, unused-ignore]
import numpy as np

BATCH = 1_000
ASKED = 100  # at once: its database takes no more names than so many answers have


def main(folder: Path, limit: int) -> None:
    vectors, asked = np.load(folder / "vectors.npy"), np.load(folder / "asked.npy")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        quiet = chromadb.Settings(anonymized_telemetry=False)
        kept = chromadb.PersistentClient(home, settings=quiet).create_collection(
            "passages", embedding_function=None
        )
        for start in range(0, len(vectors), BATCH):
            rows = vectors[start : start + BATCH]
            kept.add(ids=[str(start + at) for at in range(len(rows))], embeddings=rows)
        found: list[list[str]] = []
        for start in range(0, len(asked), ASKED):
            found += kept.query(asked[start : start + ASKED], n_results=limit)["ids"]
    print(json.dumps([[int(name) for name in names] for names in found]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
