"""Systematic reviews: protocol, searches, screening by keyboard, conflicts, PRISMA figure."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any, get_args

from markupsafe import Markup
from starlette.datastructures import UploadFile
from starlette.responses import Response

from ..errors import BadRequest, NotConfigured, PaperError
from ..lists.decisions import STAGES, Stage
from ..reports.labels import pluralize
from .desk import Desk, read_number, read_text, redirect, to_name
from .paper_pages import render_stored
from .shelf_pages import find_cited

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.requests import Request

    from ..model.paper import StoredPaper
    from ..review import Review
    from ..review.screening import ScreeningQueue

STAGE_NAMES: dict[str, str] = {"title_abstract": "Title and abstract", "full_text": "Full text"}
_OUTCOME_NAMES = {
    "include": "included",
    "exclude": "excluded",
    "conflict": "in conflict",
    "undecided": "undecided",
    "duplicate": "removed as duplicates",
}
_SOURCES = {
    "pubmed": "PubMed",
    "europepmc": "Europe PMC",
    "arxiv": "arXiv",
    "semantic_scholar": "Semantic Scholar",
    "openalex": "OpenAlex",
}
_MAX_QUERIES = 5
_RANK_AGAIN_AFTER = 10
"""Decisions after which the order of screening is learned again."""


def show_reviews(desk: Desk, _: Request) -> Response:
    """Return the list of reviews, and the form for a new one."""
    reviews = [
        {"name": one.name, "title": one.protocol().title, "records": len(one.ledger.list_records())}
        for one in desk.library.reviews.all()
    ]
    return desk.render("reviews.html", reviews=reviews)


def create_review(desk: Desk, _: Request, form: FormData) -> Response:
    """Create a review."""
    return redirect("/review", name=desk.library.reviews.create(read_text(form, "name")).name)


def show_review(desk: Desk, request: Request) -> Response:
    """Return the page of a review: its protocol, its numbers and the PRISMA figure."""
    from ..review.exchange import Program
    from ..review.protocol import KINDS
    from ..review.screening import list_conflicts

    review = _open_review(desk, request.query_params.get("name", ""))
    protocol, status = review.protocol(), review.status()
    queries = [(one.source, one.query.text) for one in protocol.databases]
    return desk.render(
        "review.html",
        name=review.name,
        protocol=protocol,
        status=status,
        figure=_draw_figure(review),
        conflicts=len(list_conflicts(review.standings())),
        queries=[*queries, *[("", "")] * max(1, _MAX_QUERIES - len(queries))],
        has_dates=any(one.query.min_date or one.query.max_date for one in protocol.databases),
        sources=_SOURCES,
        stage_names=STAGE_NAMES,
        outcome_names=_OUTCOME_NAMES,
        screeners=sorted({d.screener for s in review.standings() for d in s.decisions}),
        folder=review.folder,
        message=request.query_params.get("message", ""),
        kinds=KINDS,
        programs=get_args(Program),
    )


def _draw_figure(review: Review) -> Markup:
    """Return the PRISMA figure of this moment."""
    from ..reports.prisma import build_prisma_flow, render_svg

    # Trusted: `render_svg` escapes every text.
    return Markup(render_svg(build_prisma_flow(review.numbers()), review.protocol().title))  # noqa: S704


def set_protocol(desk: Desk, _: Request, form: FormData) -> Response:
    """Write the fields of the form into the protocol."""
    review = _open_review(desk, read_text(form, "name"))
    fields: dict[str, Any] = {
        "title": read_text(form, "title"),
        "question": read_text(form, "question"),
        "criteria": {
            "include": read_text(form, "include").splitlines(),
            "exclude": read_text(form, "exclude").splitlines(),
        },
        "screeners": read_number(dict(form), "screeners", 2),
        "resolver": read_text(form, "resolver"),
    }
    if not any(one.query.min_date or one.query.max_date for one in review.protocol().databases):
        pairs = zip(form.getlist("source"), form.getlist("query"), strict=False)
        fields["databases"] = [
            {"source": str(source), "query": str(query).strip()}
            for source, query in pairs
            if str(query).strip()
        ]
    review.set_protocol(fields)
    return redirect("/review", name=review.name)


def update_review(desk: Desk, _: Request, form: FormData) -> Response:
    """Run the searches of a review."""
    review = _open_review(desk, read_text(form, "name"))
    desk.library.settings.require_email("NCBI")
    review.update()
    return redirect("/review", name=review.name)


def harvest_review(desk: Desk, _: Request, form: FormData) -> Response:
    """Start the harvest of a review's full texts."""
    review = _open_review(desk, read_text(form, "name"))
    desk.library.settings.require_email("NCBI")
    harvest = review.harvest()
    desk.harvests.start_run(harvest)
    return redirect("/harvest", job=harvest.job_id)


def import_decisions(desk: Desk, _: Request, form: FormData) -> Response:
    """Read the decisions of a file from a screening program."""
    from ..lists.references import MAX_LIST_BYTES

    review = _open_review(desk, read_text(form, "name"))
    upload = form.get("file")
    if not isinstance(upload, UploadFile) or not upload.filename:
        raise BadRequest("No file was chosen.", "Choose the export of your screening program.")
    done = review.read_decisions(upload.file.read(MAX_LIST_BYTES + 1), upload.filename[:100])
    words = f"Read: {pluralize(done.decisions, 'decision')} on {pluralize(done.rows, 'record')}."
    return redirect("/review", name=review.name, message=words)


def add_list(desk: Desk, _: Request, form: FormData) -> Response:
    """Add an exported list to the protocol of a review."""
    from ..lists.references import MAX_LIST_BYTES

    review = _open_review(desk, read_text(form, "name"))
    upload = form.get("file")
    if not isinstance(upload, UploadFile) or not upload.filename:
        raise BadRequest("No file was chosen.", "Choose the export of a database: RIS, NBIB, CSV.")
    data = upload.file.read(MAX_LIST_BYTES + 1)
    review.add_list(data, upload.filename, read_text(form, "kind"), read_text(form, "title"))
    words = "The list was added. Run the searches to read it."
    return redirect("/review", name=review.name, message=words)


def export_records(desk: Desk, _: Request, form: FormData) -> Response:
    """Send the records of a review as the file, or a ZIP of the files, of a screening program."""
    from ..review.exchange import Program

    review = _open_review(desk, read_text(form, "name"))
    program, stage = read_text(form, "program"), read_text(form, "stage")
    if program not in get_args(Program) or stage not in STAGES:
        raise BadRequest("There is no export for this program.", "Choose one from the list.")
    files = review.export(program, stage=stage)  # type: ignore[arg-type]
    name, data = files[0].name, files[0].read_bytes()
    if len(files) > 1:
        name, packed = f"{program}.zip", io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in files:
                archive.write(file, file.name)
        data = packed.getvalue()
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(data, media_type="application/octet-stream", headers=headers)


def write_report(desk: Desk, _: Request, form: FormData) -> Response:
    """Write the report of a review into its folder."""
    review = _open_review(desk, read_text(form, "name"))
    review.report()
    return redirect("/review", name=review.name, message="The report was written.")


def show_screening(desk: Desk, request: Request) -> Response:
    """Return the next record of a screener, with the criteria and the keys of the decisions."""
    from ..review.screening import build_screening_queue, require_screener_name, require_stage

    review = _open_review(desk, request.query_params.get("name", ""))
    screener = require_screener_name(request.query_params.get("screener", ""))
    stage = require_stage(request.query_params.get("stage", STAGES[0]))
    standings = review.standings()
    places = _order_records(desk, review) if stage == "title_abstract" else {}
    queue = build_screening_queue(standings, screener, stage, places)
    last = request.query_params.get("last", "")
    standing = queue.waiting[0] if queue.waiting else None
    stored = _find_stored(desk, queue) if stage == "full_text" else None
    return desk.render(
        "screen.html",
        name=review.name,
        screener=screener,
        stage=stage,
        stage_names=STAGE_NAMES,
        protocol=review.protocol(),
        standing=standing,
        queue=queue,
        last=next((one for one in standings if one.record.key == last), None),
        text=render_stored(desk, stored) if stored else None,
        stored=to_name(stored) if stored else "",
    )


def _order_records(desk: Desk, review: Review) -> dict[str, int]:
    """Return the places of records in the order of `review rank`, if that is installed.

    Learning takes seconds for thousands of records, so that the order is renewed after some
    decisions only.
    """
    decided = sum(map(len, review.ledger.list_decisions().values()))
    before, places = desk.orders.get(review.name, (0, {}))
    if places and decided - before < _RANK_AGAIN_AFTER:
        return places
    try:
        places = {row.record.key: row.rank for row in review.rank().rows}
    except (NotConfigured, BadRequest):  # without scikit-learn, or without records
        return {}
    desk.orders[review.name] = (decided, places)
    return places


def _find_stored(desk: Desk, queue: ScreeningQueue) -> StoredPaper | None:
    """Return the text on the shelf of the first record of a queue."""
    ids = queue.waiting[0].record.paper.ids if queue.waiting else None
    try:
        return desk.library.shelf.find_text(ids) if ids else None
    except PaperError:
        return None


def decide_record(desk: Desk, _: Request, form: FormData) -> Response:
    """Record a decision, and show the next record."""
    review = _open_review(desk, read_text(form, "name"))
    key, screener, stage = (read_text(form, one) for one in ("key", "screener", "stage"))
    choice, _colon, criterion = read_text(form, "choice").partition(":")
    reason = criterion or (read_text(form, "reason") if choice == "exclude" else "")
    review.record_decision(key, screener, choice, stage=stage, reason=reason)
    if read_text(form, "back") == "conflicts":
        return redirect("/review/conflicts", name=review.name)
    return redirect("/review/screen", name=review.name, screener=screener, stage=stage, last=key)


def decide_pair(desk: Desk, _: Request, form: FormData) -> Response:
    """Record whether one record of a pair is the duplicate of the other, and show the pairs."""
    review = _open_review(desk, read_text(form, "name"))
    key, other, choice = (read_text(form, one) for one in ("key", "other", "choice"))
    review.decide_pair(key, other, choice, screener=read_text(form, "screener"))
    return redirect("/review/duplicates", name=review.name)


def undo_decision(desk: Desk, _: Request, form: FormData) -> Response:
    """Undo the last decision of a screener, and show this record again."""
    review = _open_review(desk, read_text(form, "name"))
    key, screener, stage = (read_text(form, one) for one in ("key", "screener", "stage"))
    review.undo_decision(key, screener, stage=stage)
    if places := desk.orders.get(review.name, (0, {}))[1]:
        places[key] = 0  # first again
    return redirect("/review/screen", name=review.name, screener=screener, stage=stage)


def show_conflicts(desk: Desk, request: Request) -> Response:
    """Return the records on which screeners disagree, with every decision."""
    from ..review.screening import list_conflicts
    from ..review.standing import CONSENSUS

    review = _open_review(desk, request.query_params.get("name", ""))
    conflicts: list[tuple[Any, Stage]] = list(list_conflicts(review.standings()))
    papers = [one.record.paper.ids for one, _ in conflicts if one.record.paper.ids]
    protocol = review.protocol()
    return desk.render(
        "conflicts.html",
        name=review.name,
        conflicts=conflicts,
        places=find_cited(desk, papers),
        resolver=protocol.resolver or CONSENSUS,
        protocol=protocol,
        stage_names=STAGE_NAMES,
    )


def show_duplicates(desk: Desk, request: Request) -> Response:
    """Return pairs of records that may be one paper, to be looked at, and those decided."""
    from ..review.standing import CONSENSUS

    review = _open_review(desk, request.query_params.get("name", ""))
    protocol = review.protocol()
    standings = {one.record.key: one for one in review.standings()}
    return desk.render(
        "duplicates.html",
        name=review.name,
        pairs=review.find_duplicates(),
        decided=[
            (one, standings[one.key], standings[one.other])
            for one in reversed(review.ledger.list_pair_answers())
            if {one.key, one.other} <= standings.keys()
        ],
        screener=protocol.resolver or CONSENSUS,
        protocol=protocol,
    )


def _open_review(desk: Desk, name: str) -> Review:
    return desk.library.reviews.open(name)
