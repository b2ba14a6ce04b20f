"""Tables of printed papers, copied by eye, against what is read from their PDFs.

The papers stand in public repositories and are not kept here: ``printed_tables.json`` names the
repository, commit and path of each and its SHA-256. A cell is written as it is printed, with its
marks of footnotes; a cell over several rows stands in the first; where nothing is printed in a
column of the body, the cell is empty.

``python -m quality.printed_tables FOLDER`` scores the papers found anywhere below FOLDER, as
``quality.pdf_scores`` scores those that are there as JATS, too, and shows every row missed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from pathlib import Path

from quality.__main__ import say
from quality.jats_truth import Cell
from quality.measures import Scores
from quality.pdf_scores import table_rows
from utils.readers.pdf.child import read_pages_here

TRUTH = Path(__file__).with_suffix(".json")


@dataclass(frozen=True, slots=True)
class Table:
    """A table as it is printed: its number, the page it begins on, its rows."""

    label: str
    page: int
    head: list[list[str]]
    rows: list[list[str]]

    @property
    def cells(self) -> list[Cell]:
        """The cells as those of a JATS table."""
        heads = len(self.head)
        return [
            Cell(at, column, (text,), 0, head=at < heads, free=False)
            for at, row in enumerate(chain(self.head, self.rows))
            for column, text in enumerate(row)
        ]


@dataclass(frozen=True, slots=True)
class Paper:
    """A printed paper, where it can be had, and its tables."""

    name: str
    repository: str
    commit: str
    path: str
    sha256: str
    look: str
    tables: list[Table]


def papers() -> list[Paper]:
    """All papers whose tables were copied."""
    return [
        Paper(**{**written, "tables": [Table(**table) for table in written["tables"]]})
        for written in json.loads(TRUTH.read_text(encoding="utf-8"))
    ]


def found(folder: Path) -> Iterator[tuple[Paper, bytes]]:
    """The papers whose PDFs are below *folder*, whatever the files are called."""
    bodies = (path.read_bytes() for path in sorted(folder.rglob("*.pdf")))
    by_hash = {sha256(body).hexdigest(): body for body in bodies}
    return ((paper, by_hash[paper.sha256]) for paper in papers() if paper.sha256 in by_hash)


def score(paper: Paper, markdown: str, scores: Scores) -> None:
    """Rows whole and in place, heads, and numbers of the paper's tables."""
    table_rows(paper.name, ((table.label, table.cells) for table in paper.tables), markdown, scores)


def main() -> None:
    """Show the score of each paper and of all, and what was missed."""
    total = Scores()
    for paper, body in found(Path(sys.argv[1])):
        markdown = read_pages_here(body)["markdown"]
        alone = Scores()
        score(paper, markdown, alone)
        score(paper, markdown, total)
        say(f"{paper.name:12} {alone['table rows'].value:.3f}  of {alone['table rows'].total:g}")
    for name, value in sorted(total.items()):
        say(f"{name:20} {value.value:.3f}  of {value.total:g}")
        say(*(f"    {row}" for row in value.misses))


if __name__ == "__main__":
    main()
