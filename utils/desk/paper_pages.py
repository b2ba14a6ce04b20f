"""The page of one paper: its text, its PDF, where it came from and how it was judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import FileResponse, Response

from ..errors import BadRequest, NotFound
from ..model.paper import StoredPaper
from ..model.versions import VERSION_NAMES
from ..reports.labels import build_paper_links, describe_license
from .access import FRAME_POLICY
from .desk import Desk, build_text_fragment, read_text, redirect, to_name
from .rendering import RenderedText, render_text
from .shelf_pages import find_cited
from .words import KIND_NAMES, describe_attempt, describe_origin, describe_verdict

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.requests import Request

_MAX_RENDERED = 16
_PICTURES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif"}
_NOTICE_NAMES = {
    "retraction": "Retracted",
    "expression_of_concern": "Expression of concern",
    "erratum": "Corrected",
    "republication": "Published again",
    "update": "Updated",
    "comment": "Commented on",
}
_DECISIONS = {"whole": "full_text", "wrong": "rejected"}


@dataclass(frozen=True, slots=True)
class PdfPages:
    """The known pages of a PDF.

    ``starts`` has the place in the text where a page begins, and ``sections`` the page on which a
    section of the text begins.
    """

    starts: Mapping[int, str] = field(default_factory=dict)
    sections: Mapping[str, int] = field(default_factory=dict)


def show_paper(desk: Desk, request: Request) -> Response:
    """Return the page of a paper, with its PDF next to the text where the address says so."""
    stored = _find_paper(desk, request.query_params.get("id", ""))
    pdf = desk.library.shelf.pdfs.find_pdf(stored)
    beside = bool(pdf and request.query_params.get("pdf"))
    return desk.render(
        "paper.html",
        stored=stored,
        paper=stored.paper,
        name=to_name(stored),
        text=render_stored(desk, stored),
        pdf=pdf,
        beside=beside,
        pages=_locate_pages(desk, stored) if beside else PdfPages(),
        others=_find_other_texts(desk, stored),
        objects=_list_objects(desk, stored),
        verdict=describe_verdict(stored.verdict),
        kind=KIND_NAMES[stored.kind],
        version=VERSION_NAMES.get(stored.version, "version unknown"),
        license_terms=describe_license(stored.license or stored.paper.license),
        origin=describe_origin(stored),
        attempts=[describe_attempt(one) for one in stored.attempts],
        links=build_paper_links(stored.paper.ids),
        notices=[(_NOTICE_NAMES[one.kind], one) for one in stored.paper.notices],
    )


def _locate_pages(desk: Desk, stored: StoredPaper) -> PdfPages:
    """Return where each page of the PDF begins in the text, if the text was read from a PDF."""
    places = desk.library.texts.places(to_name(stored))
    starts: dict[int, str] = {}
    sections: dict[str, int] = {}
    for anchor in places.anchors:
        page = anchor.sources[0].page if anchor.sources else 0
        if page:
            starts.setdefault(page, build_text_fragment(places.text[anchor.start : anchor.end]))
            sections.setdefault(anchor.section, page)
    return PdfPages(dict(sorted(starts.items())), sections)


def send_pdf(desk: Desk, request: Request) -> Response:
    """Return the PDF of a paper."""
    name = request.query_params.get("id", "")
    stored = _find_paper(desk, name)
    path = Path(desk.library.texts.locate(to_name(stored), "pdf"))
    headers = {"content-security-policy": FRAME_POLICY}
    return FileResponse(path, media_type="application/pdf", headers=headers)


def send_picture(desk: Desk, request: Request) -> Response:
    """Return a picture of a paper's figures that is on the shelf.

    Raises
    ------
    NotFound
        The paper has no such picture.
    """
    stored = _find_paper(desk, request.query_params.get("id", ""))
    label = request.query_params.get("label", "")
    folder = desk.library.shelf.folder.resolve()
    for one in _list_objects(desk, stored):
        path = Path(one["file"]).resolve()
        if one["label"] == label and one["is_picture"] and path.is_relative_to(folder):
            return FileResponse(path, media_type=_PICTURES[path.suffix.lower()])
    raise NotFound("The paper has no such picture on the shelf.", "Go back to the paper.")


def keep_paper(desk: Desk, _: Request, form: FormData) -> Response:
    """Overrule the judges about the text of a paper."""
    name = to_name(_find_paper(desk, read_text(form, "id")))
    decided = read_text(form, "decided")
    if decided not in _DECISIONS:
        raise BadRequest("No decision was chosen.", "Choose one of the two decisions.")
    because = read_text(form, "because")
    kept = desk.library.upkeep.keep(name, _DECISIONS[decided], because)  # type: ignore[arg-type]
    return redirect("/paper", id=to_name(kept))


def annotate_paper(desk: Desk, _: Request, form: FormData) -> Response:
    """Replace the reader's tags and note of a paper."""
    name = to_name(_find_paper(desk, read_text(form, "id")))
    tags = read_text(form, "tags").split(";")
    desk.library.upkeep.annotate(name, tags=tags, note=read_text(form, "note"))
    return redirect("/paper", id=name)


def undo_keep(desk: Desk, _: Request, form: FormData) -> Response:
    """Let the judges decide about the text of a paper again."""
    name = to_name(_find_paper(desk, read_text(form, "id")))
    return redirect("/paper", id=to_name(desk.library.upkeep.undo_keep(name)))


def _find_paper(desk: Desk, name: str) -> StoredPaper:
    """Return the paper that an address names."""
    from ..curation.reading import find_stored_paper

    if not name:
        raise BadRequest("The address names no paper.", "Choose a paper on the shelf.")
    return find_stored_paper(name, desk.library.shelf)


def _find_other_texts(desk: Desk, stored: StoredPaper) -> list[tuple[str, str]]:
    """Return the name and the description of each other text of a paper."""
    found = desk.library.shelf.find_texts(stored.paper.ids)
    return [
        (to_name(one), f"{KIND_NAMES[one.kind]}, {VERSION_NAMES.get(one.version, one.source)}")
        for one in found
        if one.path != stored.path
    ]


def _list_objects(desk: Desk, stored: StoredPaper) -> list[dict[str, str]]:
    """Return the figures and tables of a text, each with its file if it is on the shelf."""
    if stored.kind != "full_text":
        return []
    found = desk.library.objects(to_name(stored), fetch=False)
    return [
        {
            "label": one.label,
            "kind": one.kind,
            "caption": one.caption,
            "file": one.file,
            "is_picture": "1" if Path(one.file).suffix.lower() in _PICTURES else "",
        }
        for one in found.objects
    ]


def render_stored(desk: Desk, stored: StoredPaper) -> RenderedText:
    """Return the text of a paper as HTML; made again only if the file or the shelf changed."""
    from ..shelf import strip_header

    return _render_cached(desk, stored.sha256, strip_header(desk.library.shelf.read_text(stored)))


@lru_cache(maxsize=_MAX_RENDERED)
def _render_cached(desk: Desk, _sha256: str, body: str) -> RenderedText:
    return render_text(body, lambda papers: find_cited(desk, papers))
