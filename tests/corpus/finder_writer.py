"""A process that keeps passages until it is killed: ``python -m tests.corpus.finder_writer``.

``FOLDER FIRST``: batches of ten from number FIRST on, every third batch replacing the one
before, and a line on stdout after each that is kept.
"""

import hashlib
import sys
from pathlib import Path

import numpy as np

from utils.corpus.embedded import EmbeddedFinder
from utils.model.passage import Passage

DIM = 16
SIZE = 10


def passage(number: int, edition: int = 0) -> Passage:
    text = f"word{number} edition{edition} of the same reef"
    return Passage(
        paper=f"pmid:{number}",
        chunk_id="abstract:0",
        section="Abstract",
        ordinal=0,
        text=text,
        start=0,
        end=len(text),
        kind="abstract",
        digest=hashlib.sha256(text.encode()).hexdigest(),
        title="A paper",
        year=2020,
    )


def vector(kept: Passage) -> np.ndarray:
    """Of its text alone, so that whoever finds it can tell whether it is its own."""
    seed = int(kept.digest[:8], 16)
    row = np.random.default_rng(seed).standard_normal(DIM).astype(np.float32)
    return row / np.linalg.norm(row)


def main() -> None:
    folder, first = Path(sys.argv[1]), int(sys.argv[2])
    finder = EmbeddedFinder(folder)
    finder.prepare_for_model("seeded", DIM)
    for batch in range(1_000):
        edition = int(batch % 3 == 2)
        start = first + (batch - edition) * SIZE
        some = [passage(number, edition) for number in range(start, start + SIZE)]
        finder.store_passages(some, np.stack([vector(each) for each in some]))
        sys.stdout.write(f"{start} {edition}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
