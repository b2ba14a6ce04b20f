"""A process that saves papers until it is killed: ``python -m tests.shelf.writer FOLDER SEED``.

Every paper is saved as an abstract, as a full text and again, so that a kill meets every kind of
change. ``--count N`` ends after N papers; ``--same`` has all writers save the same papers.
"""

import argparse
import sys
from pathlib import Path

from tests.shelf.papers import document, fetched, paper
from utils.shelf import Shelf


def body(number: int, turn: int) -> str:
    """A text that shows whether all of it is there."""
    return f"begin {number} {turn}\n" + "a line of the text\n" * (200 + number % 7) + "end\n"


def main() -> None:
    """Save until killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("seed", type=int)
    parser.add_argument("--count", type=int, default=1_000_000)
    given = parser.parse_args()
    with Shelf(given.folder) as shelf:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        for number in range(given.seed, given.seed + given.count):
            pmid = str(number % 40 + 1)  # few papers, so that most changes replace something
            about = paper(pmid=pmid) if number % 2 else paper(pmid=pmid, doi=f"10.1000/{pmid}")
            shelf.save_abstract(about, ())
            for turn in range(2):
                text = document(body(number, turn))
                shelf.save_full_text(about, text, fetched(b"<x/>" * 500), source="PMC", attempts=())


if __name__ == "__main__":
    main()
