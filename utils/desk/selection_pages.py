"""Papers of a selection: cite, export, pack, push to Zotero, add to a review, fetch media."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from starlette.responses import Response

from ..command_line import command_line
from ..errors import BadRequest, PaperError
from ..model.paper import StoredPaper
from ..reports.labels import pluralize
from .desk import Desk, read_text, redirect, to_name

if TYPE_CHECKING:
    from starlette.datastructures import FormData, QueryParams
    from starlette.requests import Request

PACK_PROGRAMS = {
    "zotero": "Zotero",
    "endnote": "EndNote",
    "covidence": "Covidence",
    "rayyan": "Rayyan",
    "folder": "any program: a plain folder",
}
MAX_SELECTION = 500
_MAX_FAILURES = 5
_REFERENCE_FILES = {
    "ris": ("references.ris", "application/x-research-info-systems"),
    "bibtex": ("references.bib", "application/x-bibtex"),
    "csl_json": ("references.json", "application/json"),
}


def show_selection(desk: Desk, request: Request) -> Response:
    """Return the page of selected papers: their references in a style, and what to do with them."""
    from ..citations import STYLES
    from ..review.protocol import KINDS

    papers = read_selection(desk, request.query_params)
    style = request.query_params.get("style", "vancouver")
    return desk.render(
        "selection.html",
        papers=papers,
        ids=[to_name(one) for one in papers],
        style=style,
        styles=list(STYLES),
        programs=PACK_PROGRAMS,
        reviews=[one.name for one in desk.library.reviews.all()],
        kinds=KINDS,
        references=_format_references(desk, papers, style),
    )


def send_references(desk: Desk, request: Request) -> Response:
    """Return the references of selected papers as a file for another program."""
    style = request.query_params.get("style", "ris")
    if style not in _REFERENCE_FILES:
        raise BadRequest("There is no file of this kind.", "Choose RIS, BibTeX or CSL-JSON.")
    papers = read_selection(desk, request.query_params)
    references = _format_references(desk, papers, style)
    name, media = _REFERENCE_FILES[style]
    text = f"[{','.join(references)}]" if style == "csl_json" else "\n".join(references)
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(f"{text}\n", media_type=media, headers=headers)


def pack_selection(desk: Desk, _: Request, form: FormData) -> Response:
    """Pack selected papers with their PDF files for another program."""
    papers = read_selection(desk, form)
    program = read_text(form, "program")
    if program not in PACK_PROGRAMS:
        raise BadRequest("There is no pack for this program.", "Choose one from the list.")
    title = f"{len(papers)} papers from the desk"
    pack = desk.library.references.pack(
        [one.paper.ids for one in papers], program, title=title, zipped=True
    )
    return desk.render("pack.html", pack=pack, program=PACK_PROGRAMS[program])


def push_selection(desk: Desk, _: Request, form: FormData) -> Response:
    """Show what a push to Zotero would write, or write it once the form confirms it."""
    papers = read_selection(desk, form)
    collection, confirmed = read_text(form, "collection"), bool(read_text(form, "confirmed"))
    push = desk.library.zotero.push(
        [one.paper.ids for one in papers], collection=collection, dry_run=not confirmed
    )
    ids = [to_name(one) for one in papers]
    return desk.render(
        "zotero.html", push=push, ids=ids, collection=collection, confirmed=confirmed
    )


def add_to_review(desk: Desk, _: Request, form: FormData) -> Response:
    """Add selected papers to a review, as a list that its next update reads."""
    papers = read_selection(desk, form)
    review = desk.library.reviews.open(read_text(form, "review"))
    references = _format_references(desk, papers, "ris")
    kind = read_text(form, "kind")
    review.add_list("\n".join(references).encode(), "from-the-shelf.ris", kind, "The shelf")
    words = f"{pluralize(len(papers), 'paper')} added as a list. Run the searches to read it."
    return redirect("/review", name=review.name, message=words)


def fetch_media(desk: Desk, _: Request, form: FormData) -> Response:
    """Start to fetch figures, tables and files of selected papers."""
    names = [to_name(one) for one in read_selection(desk, form)]
    if (task := desk.tasks.get("media")) and task.is_alive:
        raise BadRequest("Another selection is being fetched.", "Wait until it has finished.")
    desk.tasks.start("media", _fetch_and_describe_media(desk, names))
    return redirect("/task", name="media")


def _fetch_and_describe_media(desk: Desk, names: Sequence[str]) -> Iterator[str]:
    """Fetch the figures, tables and files of papers, and yield the progress in words."""
    fetched, failures = 0, []
    for number, name in enumerate(names, 1):
        try:
            fetched += sum(bool(one.file) for one in desk.library.objects(name).objects)
        except PaperError as error:
            failures.append(f"{name}: {error.message}")
        yield f"{number:,} of {pluralize(len(names), 'paper')}: {pluralize(fetched, 'file')}."
    words = f"{pluralize(fetched, 'file')} of {pluralize(len(names), 'paper')} are on the shelf."
    yield " ".join([words, *failures[:_MAX_FAILURES]])


def read_selection(desk: Desk, values: QueryParams | FormData) -> list[StoredPaper]:
    """Return the papers that an address names, each once.

    Raises
    ------
    BadRequest
        No paper is selected, or too many are.
    """
    from ..curation.reading import find_stored_paper

    names = list(dict.fromkeys(map(str, values.getlist("id"))))
    if not names:
        raise BadRequest("No paper is selected.", "Tick papers in the list of the shelf.")
    if len(names) > MAX_SELECTION:
        msg = f"{len(names):,} papers are selected; {MAX_SELECTION} is the most."
        raise BadRequest(msg, f"Export the whole shelf instead: {command_line('export')}")
    return [find_stored_paper(name, desk.library.shelf) for name in names]


def _format_references(desk: Desk, papers: Sequence[StoredPaper], style: str) -> list[str]:
    """Return the reference of each paper in one style; the record on the shelf is used."""
    from ..citations import format_references

    records = [one.paper for one in papers]
    return [
        str(one) for one in format_references(records, style, desk.library.settings.papers_keys)
    ]
