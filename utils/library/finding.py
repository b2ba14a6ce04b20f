"""Find papers on the shelf of a library: one, those of a harvest, or all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import TYPE_CHECKING, TypeVar

from ..errors import NotFound, PaperError
from ..model.identifiers import Ids

if TYPE_CHECKING:
    from ..model.paper import StoredPaper
    from . import Library

Result = TypeVar("Result")


def find_or_take_from_mirror(library: Library, paper: str, look: Callable[..., Result]) -> Result:
    """Look for a paper on the shelf; where it is missing, take it from a mirror of PMC.

    That needs no request. A text that the mirror cannot give leaves everything as it was.

    Parameters
    ----------
    look : callable
        Called with *paper* and the shelf; raises `NotFound` where the paper is not there.
    """
    try:
        return look(paper, library.shelf)
    except NotFound:
        if not _take_from_mirror(library, paper):
            raise
    return look(paper, library.shelf)


def _take_from_mirror(library: Library, paper: str) -> bool:
    """Take a paper from a mirror of PMC; return whether a mirror has it."""
    with suppress(PaperError):
        ids = Ids.parse(paper)
        if library.ladder.find_local([ids]):
            library.download(ids)
            return True
    return False


def collect_names(library: Library, job_id: str) -> frozenset[str]:
    """Return every identifier of the papers of a harvest."""
    harvest = library.harvest(job_id=job_id)
    with closing(harvest.ledger):
        return harvest.ledger.names()


def yield_full_texts(library: Library, job_id: str) -> Iterator[StoredPaper]:
    """Return the full texts of a harvest; of the whole shelf where *job_id* is empty."""
    from ..harvest.jobs import list_shelf_papers

    rows = library.harvest(job_id=job_id).ledger.rows() if job_id else None
    files = (
        (row.file for row in rows if row.state == "full_text")
        if rows
        else (file for _, file in list_shelf_papers(library.shelf))
    )
    found = (library.shelf.find_by_file(file) for file in files if file)
    return (stored for stored in found if stored and stored.kind == "full_text")
