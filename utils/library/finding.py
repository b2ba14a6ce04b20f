"""Find papers on the shelf of a library: one, those of a harvest, or all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ..command_line import command_line
from ..errors import BadRequest, NotFound, PaperError
from ..model.identifiers import Ids
from ..model.job import Harvested, find_most_informative_failure
from ..model.paper import Paper

if TYPE_CHECKING:
    from ..harvest.jobs import RequestedPapers
    from ..lists.pasted import ListEntry
    from ..model.paper import StoredPaper
    from ..shelf import Shelf
    from ..shelf.ledger import Ledger
    from . import Library

Result = TypeVar("Result")


def find_or_take_from_mirror(
    library: Library, paper: str | int | Ids, look: Callable[..., Result]
) -> Result:
    """Find a paper on the shelf; if it is missing, copy its text from a mirror of PMC.

    That needs no request. A text that the mirror cannot give leaves everything as it was.

    Parameters
    ----------
    look : callable
        Called with *paper* and the shelf; raises `NotFound` where the paper is not there.
    """
    paper = paper if isinstance(paper, str) else Ids.parse(paper).key
    try:
        return look(paper, library.shelf)
    except NotFound:
        if not _take_from_mirror(library, paper):
            raise
    return look(paper, library.shelf)


def _take_from_mirror(library: Library, paper: str) -> bool:
    """Copy a paper's text from a mirror of PMC; return whether a mirror has the text."""
    with suppress(PaperError):
        ids = Ids.parse(paper)
        if library.ladder.find_local_texts([ids]):
            library.download(ids)
            return True
    return False


def collect_names(library: Library, job_id: str) -> frozenset[str]:
    """Return every identifier of the papers of a harvest."""
    harvest = library.harvest(job_id=job_id)
    with closing(harvest.ledger):
        return harvest.ledger.list_paper_identifiers()


def yield_full_texts(library: Library, job_id: str) -> Iterator[StoredPaper]:
    """Return the full texts of a harvest; of the whole shelf where *job_id* is empty."""
    from ..harvest.jobs import list_shelf_papers

    rows = library.harvest(job_id=job_id).ledger.read_outcomes() if job_id else None
    files = (
        (row.file for row in rows if row.state == "full_text")
        if rows
        else (file for _, file in list_shelf_papers(library.shelf))
    )
    found = (library.shelf.find_paper_by_file(file) for file in files if file)
    return (stored for stored in found if stored and stored.kind == "full_text")


class HarvestedList(NamedTuple):
    """The papers of a harvest, review or list, with a name for files and a title for people."""

    rows: list[Harvested]
    name: str
    title: str


def find_harvested(
    library: Library, papers: str | RequestedPapers | Mapping[str, RequestedPapers], title: str = ""
) -> HarvestedList:
    """Return the papers of a harvest, of a review or of lists, without any request.

    Parameters
    ----------
    papers : str, iterable, or mapping of str to iterable
        The name of a harvest or review; a list; or several lists by their names.
    title : str, optional
        The title that the harvest of the list was given.

    Raises
    ------
    BadRequest
        There is no such harvest or review, or the list is empty.
    """
    from ..harvest.jobs import find_lists_path, to_entry
    from ..lists.pasted import merge_duplicate_entries
    from ..shelf.ledger import Ledger

    if isinstance(papers, str):
        return _find_named(library, papers)
    named = isinstance(papers, Mapping) and {name: list(some) for name, some in papers.items()}
    every = list(chain(*named.values()) if named else papers)
    path = find_lists_path(named or every, title, library.ladder)
    if path.exists():
        return _read_ledger(Ledger(path))
    entries = merge_duplicate_entries(map(to_entry, every)).papers
    if not entries:
        raise BadRequest("The list has no papers.", "Give a harvest, a review or a list.")
    rows = list(_find_listed(entries, library.shelf))
    return HarvestedList(rows, path.stem, title or ", ".join(named or ()))


def _find_named(library: Library, name: str) -> HarvestedList:
    """Return the papers of a harvest, or the papers of a review whose texts are wanted."""
    with suppress(BadRequest, NotFound):  # a ledger that cannot be read is another matter
        return _read_ledger(library.harvest(job_id=name).ledger)
    try:
        review = library.reviews.open(name)
    except (BadRequest, NotFound):
        msg = f"There is no harvest or review {name!r}."
        harvests, reviews = command_line("harvest status"), command_line("review status")
        raise BadRequest(msg, f"To list them: {harvests}, {reviews}") from None
    if not (rows := review.texts()):
        msg = f"The review {name} has no records whose texts are wanted."
        raise BadRequest(msg, f"Search for them: {command_line(f'review update {name}')}")
    return HarvestedList(rows, review.job_id, review.protocol().title or name)


def _read_ledger(ledger: Ledger) -> HarvestedList:
    with closing(ledger):
        return HarvestedList(
            list(ledger.read_outcomes()), ledger.path.stem, ledger.read_job().title
        )


def _find_listed(entries: Iterable[ListEntry], shelf: Shelf) -> Iterator[Harvested]:
    """Yield the papers of a list that was not harvested, each once, as the shelf has them."""
    seen: set[str] = set()
    for number, entry in enumerate(entries, 1):
        stored = shelf.find_text(entry.ids)
        paper = stored.paper if stored else entry.paper or Paper(entry.ids)
        names = paper.ids.names()
        if seen.isdisjoint(names):
            row = Harvested(number, entry.asked, "pending", paper)
            yield _describe_stored(row, stored) if stored else row
        seen.update(names)


def _describe_stored(row: Harvested, stored: StoredPaper) -> Harvested:
    """Return a row with the file of a paper, and why it is not a full text."""
    file = stored.path.replace("\\", "/").rpartition("/")[2]
    if stored.kind not in ("abstract", "record"):
        return replace(row, file=file)
    attempt = find_most_informative_failure(stored.attempts)
    reason, detail = (attempt.outcome, attempt.detail) if attempt else ("", "")
    return replace(row, state=stored.kind, file=file, reason=reason, detail=detail)
