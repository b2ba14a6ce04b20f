"""``references.ris`` and ``references.bib``: papers for Zotero, EndNote and LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from ..citations import each_bibtex, each_ris
from ..model.job import Harvested
from ..model.paper import Paper, StoredPaper
from ..model.versions import STAND_INS
from ..store import Shelf
from ..system.safe_files import make_folder, replacing

RIS, BIBTEX = "references.ris", "references.bib"
_PAGE = 500
Papers = Callable[[], Iterator[tuple[Paper, str]]]


def of_shelf(shelf: Shelf) -> Iterator[tuple[Paper, str]]:
    """Every paper of a shelf with the path of its best text, if it has one, a page at a time."""
    start = 0
    while True:
        total, page = shelf.list(start=start, max_results=_PAGE)
        yield from (
            (one.paper, one.path if one.kind != "rejected" else "")
            for one in page
            if not _lies_aside(one, shelf)
        )
        start += len(page)
        if start >= total or not page:
            return


def _lies_aside(one: StoredPaper, shelf: Shelf) -> bool:
    """Whether a text is that of another version, beside the one that stands for the paper."""
    beside = one.version in STAND_INS or one.kind == "rejected"
    best = shelf.find(one.paper.ids) if beside else None
    return best is not None and best.path != one.path


def of_rows(rows: Iterator[Harvested], folder: Path) -> Iterator[tuple[Paper, str]]:
    """The papers of a harvest of which there is something on the shelf."""
    return ((row.paper, str(folder / row.file)) for row in rows if row.file)


def write_references(papers: Papers, folder: Path) -> list[Path]:
    """Write both files; *papers* is gone through once for each.

    Raises
    ------
    StoreFailed
        The disk refuses; each file is then the old one or the new one.
    """
    make_folder(folder)
    targets = {folder / RIS: each_ris, folder / BIBTEX: each_bibtex}
    with ExitStack() as files:
        for path, lines in targets.items():
            files.enter_context(replacing(path)).writelines(lines(papers()))
    return list(targets)
