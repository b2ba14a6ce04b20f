"""Find papers in databases, and file papers that a person has as files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.datastructures import UploadFile
from starlette.responses import Response

from ..errors import BadRequest
from ..model.paper import Paper
from .desk import Desk, build_link, read_number
from .shelf_pages import find_cited

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.requests import Request

PAGE_SIZE = 20
SOURCES = {"pubmed": "PubMed", "all": "All databases, each paper once"}
_OUTCOMES = {
    "filed": "Filed",
    "rejected": "Not filed: rejected",
    "unmatched": "Not filed: no matching paper",
    "ambiguous": "Not filed: several papers match",
    "postponed": "Not filed yet",
}


@dataclass(frozen=True, slots=True)
class Hit:
    """A paper that a search found.

    ``name`` is what a harvest is asked for, and ``place`` the paper's page on the desk if the
    paper is on the shelf.
    """

    paper: Paper
    name: str
    place: str
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Results:
    """A page of hits, with the remarks of the databases."""

    hits: tuple[Hit, ...]
    total: int | None
    effective_query: str = ""
    remarks: tuple[str, ...] = ()
    next_page: str = ""


def show_search(desk: Desk, request: Request) -> Response:
    """Return the search form, and the hits of the query in the address."""
    names = ("query", "since", "until", "source")
    asked = {name: request.query_params.get(name, "").strip() for name in names}
    start = read_number(request.query_params, "start")
    results = None
    if asked["query"]:
        search = _search_all if asked["source"] == "all" else _search_pubmed
        results = search(desk, asked, start)
    return desk.render("find.html", asked=asked, results=results, sources=SOURCES)


def _search_pubmed(desk: Desk, asked: dict[str, str], start: int) -> Results:
    """Search PubMed."""
    found = desk.library.search(
        asked["query"],
        max_results=PAGE_SIZE,
        start=start,
        min_date=asked["since"],
        max_date=asked["until"],
        sort_by="relevance",
    )
    link = build_link("/find", **asked, start=found.next_start) if found.next_start else ""
    hits = _to_hits(desk, [(paper, ()) for paper in found.papers])
    return Results(hits, found.total, found.effective_query, found.warnings, link)


def _search_all(desk: Desk, asked: dict[str, str], _: int) -> Results:
    """Search several databases; each paper appears once."""
    found = desk.library.search_papers(
        asked["query"], max_results=50, min_date=asked["since"], max_date=asked["until"]
    )
    answers = [f"{one.source}: {one.message or one.outcome}" for one in found.asked if one.message]
    hits = _to_hits(desk, [(one.paper, one.sources) for one in found.papers])
    return Results(hits, None, "", (*answers, *found.warnings))


def _to_hits(desk: Desk, found: list[tuple[Paper, tuple[str, ...]]]) -> tuple[Hit, ...]:
    """Return papers with their places on the shelf."""
    places = find_cited(desk, [paper.ids for paper, _ in found if paper.ids])
    return tuple(
        Hit(paper, paper.ids.key if paper.ids else "", places.get(paper.ids, ""), sources)
        for paper, sources in found
    )


def show_inbox(desk: Desk, _: Request) -> Response:
    """Return the form for files of papers."""
    return desk.render("inbox.html", results=None, outcomes=_OUTCOMES)


def file_uploads(desk: Desk, _: Request, form: FormData) -> Response:
    """Put uploaded files into the inbox, and file everything there."""
    uploads = [one for one in form.getlist("files") if isinstance(one, UploadFile) and one.filename]
    if not uploads:
        raise BadRequest("No file was chosen.", "Choose PDF files, or drop them on the page.")
    for upload in uploads:
        desk.library.upkeep.put_in_inbox(upload.filename or "", upload.file.read())
    results = list(desk.library.upkeep.take_in())
    return desk.render("inbox.html", results=results, outcomes=_OUTCOMES)
