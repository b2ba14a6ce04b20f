"""Harvests: plan, start, follow, cancel and resume."""

from __future__ import annotations

import tempfile
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.datastructures import UploadFile
from starlette.responses import Response

from ..errors import BadRequest
from ..model.job import Harvested, Job, JobStatus
from ..reports.labels import (
    build_paper_links,
    build_search_link,
    get_missing_reason,
    get_route_label,
)
from ..reports.library_links import ReadersLibrary
from ..reports.page import BY_HAND_REASONS, PASSING_REASONS
from .desk import Desk, build_link, read_number, read_text, read_texts, redirect
from .plans import HarvestRequest
from .shelf_pages import find_cited

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.requests import Request

    from ..harvest.jobs import Harvest
    from ..lists.pasted import ListEntry

_PAGE_SIZE = 50
_MAX_ENTRY_CHARS = 300
STATUS_NAMES: dict[JobStatus, str] = {
    "running": "Running",
    "interrupted": "Interrupted",
    "cancelled": "Cancelled",
    "done": "Done",
}


@dataclass(frozen=True, slots=True)
class Progress:
    """A harvest at one moment, in the words of its page."""

    job: Job
    status: JobStatus
    sources: tuple[tuple[str, int], ...]
    reasons: tuple[tuple[str, int], ...]
    eta_s: float | None
    error: str

    @property
    def ended(self) -> int:
        """The number of papers that ended."""
        return self.job.counts.requested - self.job.counts.pending

    @property
    def share(self) -> int:
        """The share of papers that ended, in per cent."""
        return 100 * self.ended // (self.job.counts.requested or 1)

    @property
    def passing(self) -> list[str]:
        """The reasons for missing texts that may pass by themselves."""
        return [name for name, _ in self.reasons if name in PASSING_REASONS]

    @property
    def by_hand(self) -> int:
        """The number of texts that a person can probably get in a browser or a library."""
        return sum(count for name, count in self.reasons if name in BY_HAND_REASONS)


def show_harvests(desk: Desk, request: Request) -> Response:
    """Return the list of harvests, and the form for a new one."""
    jobs = list(desk.library.harvests.all())
    running = {job.job_id: _read_status(desk, job) for job in jobs[:_PAGE_SIZE]}
    return desk.render(
        "harvests.html",
        jobs=jobs[:_PAGE_SIZE],
        total=len(jobs),
        statuses=running,
        status_names=STATUS_NAMES,
        query=request.query_params.get("query", ""),
    )


def _read_status(desk: Desk, job: Job) -> JobStatus:
    with closing(desk.library.harvest(job_id=job.job_id).ledger) as ledger:
        return job.get_status(running=ledger.is_running())


def plan_harvest(desk: Desk, _: Request, form: FormData) -> Response:
    """Show what a harvest would take, before anything is fetched."""
    wanted = read_request(form)
    plan = desk.library.harvests.plan(
        wanted.lists, query=wanted.query, sources=wanted.sources, max_papers=wanted.limit
    )
    given = sum(map(len, wanted.lists.values()))
    return desk.render(
        "plan.html", plan=plan, wanted=wanted, given=given, name=desk.plans.add(wanted)
    )


def read_request(form: FormData) -> HarvestRequest:
    """Return what a form asks for: a query, pasted identifiers or a file of references.

    Raises
    ------
    BadRequest
        The form has nothing of these, or both a query and a list.
    """
    from ..lists.references import read_file_entries

    lists: dict[str, list[ListEntry]] = {}
    if pasted := read_text(form, "list"):
        lists["Pasted list"] = list(read_file_entries(pasted.encode("utf-8", "replace")))
    for upload in form.getlist("file"):
        if isinstance(upload, UploadFile) and upload.filename:
            name = upload.filename[:100]
            data = upload.file.read()
            is_document = name.lower().endswith((".docx", ".pdf", ".md", ".tex"))
            read = _read_document_references if is_document else read_file_entries
            lists[name] = list(read(data, name))
    query = read_text(form, "query")
    if not query and not lists:
        raise BadRequest("Nothing was asked for.", "Write a query, paste a list or choose a file.")
    sources = tuple(read_texts(form, "source")) if query else ()
    title = "" if query else ", ".join(lists)
    return HarvestRequest(query, sources, lists, title, read_number(dict(form), "limit"))


def _read_document_references(data: bytes, name: str) -> list[ListEntry]:
    """Return the references that are printed in a document.

    Raises
    ------
    BadRequest
        The document cannot be read, or has no references.
    """
    from ..lists.described import parsed_paper_to_entry
    from ..manuscript.reading import read_manuscript

    with tempfile.TemporaryDirectory(prefix="papershelf-list-") as folder:
        path = Path(folder) / f"document{Path(name).suffix.lower()}"
        path.write_bytes(data)
        found = read_manuscript(path).references
    if not found:
        raise BadRequest(f"{name} lists no references.", "Export them as RIS, or paste them.")
    return [
        parsed_paper_to_entry(replace(one.paper, ids=one.ids), one.words[:_MAX_ENTRY_CHARS])
        for one in found
    ]


def start_harvest(desk: Desk, _: Request, form: FormData) -> Response:
    """Start a planned harvest."""
    return _begin(desk, desk.plans.get(read_text(form, "wanted")))


def get_papers(desk: Desk, _: Request, form: FormData) -> Response:
    """Start a harvest of the papers that were ticked among the hits of a search."""
    from ..harvest.jobs import to_entry

    names = list(dict.fromkeys(read_texts(form, "id")))
    if not names:
        raise BadRequest("No paper is selected.", "Tick papers in the list.")
    title = f"{len(names)} chosen: {read_text(form, 'query')[:80]}".rstrip(": ")
    return _begin(
        desk, HarvestRequest(lists={title: [to_entry(one) for one in names]}, title=title)
    )


def _begin(desk: Desk, wanted: HarvestRequest) -> Response:
    """Start a harvest, and show it."""
    desk.library.settings.require_email("NCBI")
    harvest = desk.library.harvest(
        wanted.lists,
        query=wanted.query,
        sources=wanted.sources,
        title=wanted.title,
        max_papers=wanted.limit,
    )
    desk.harvests.start_run(harvest)
    return redirect("/harvest", job=harvest.job_id)


def show_harvest(desk: Desk, request: Request) -> Response:
    """Return the page of a harvest: its progress, and the papers that are missing."""
    name = request.query_params.get("job", "")
    reason = request.query_params.get("reason", "")
    start = read_number(request.query_params, "start")
    with closing(desk.library.harvest(job_id=name).ledger) as ledger:
        rows = list(
            ledger.read_outcomes("not_retrieved", start=start, most=_PAGE_SIZE + 1, reason=reason)
        )
    page = rows[:_PAGE_SIZE]
    library = ReadersLibrary.from_settings(desk.library.settings)
    following = rows[_PAGE_SIZE].number if len(rows) > _PAGE_SIZE else 0
    return desk.render(
        "harvest.html",
        progress=read_progress(desk, name),
        status_names=STATUS_NAMES,
        reason=reason,
        missing=[_describe_missing(one, library) for one in page],
        places=find_cited(desk, [one.paper.ids for one in page if one.paper.ids]),
        next_page=build_link("/harvest", job=name, reason=reason, start=following)
        if following
        else "",
        folder=desk.library.shelf.folder / "reports" / name,
    )


def _describe_missing(row: Harvested, library: ReadersLibrary) -> dict[str, Any]:
    """Return what the page says about a paper without a full text."""
    return {
        "title": row.paper.title or row.asked,
        "paper": row.paper,
        "reason": get_missing_reason(row.reason),
        "detail": row.detail,
        "links": build_paper_links(row.paper.ids),
        "best_link": build_search_link(row),
        "library": library.build_link(row.paper),
        "state": row.state,
    }


def read_progress(desk: Desk, name: str) -> Progress:
    """Return the present state of a harvest, also of one that another process runs."""
    run = desk.harvests.get_run(name)
    is_alive = bool(run and run.is_alive)
    with closing(desk.library.harvest(job_id=name).ledger) as ledger:
        job, coverage = ledger.read_job(), ledger.count_coverage()
        status = job.get_status(running=is_alive or ledger.is_running())
    error = desk.harvests.get_error(name)
    return Progress(
        job,
        status,
        tuple((get_route_label(via), papers) for via, papers in coverage.sources.items()),
        tuple(coverage.reasons.items()),
        run.progress.eta_s if run and is_alive and run.progress else None,
        error.text if error and status != "done" else "",
    )


def follow_harvest(desk: Desk, request: Request) -> tuple[str, bool]:
    """Return the progress of a harvest as a part of its page, and whether the harvest ended."""
    progress = read_progress(desk, request.query_params.get("job", ""))
    part = desk.render_part(
        "harvest.html", "progress", progress=progress, status_names=STATUS_NAMES
    )
    return part, progress.status != "running"


def resume_harvest(desk: Desk, _: Request, form: FormData) -> Response:
    """Resume a harvest, or try papers again that ended for the reasons of the form."""
    harvest = _open_harvest(desk, form)
    desk.library.settings.require_email("NCBI")
    if reasons := read_texts(form, "reason"):
        harvest.retry(",".join(reasons))
    else:
        harvest.reopen_unanswered()
    desk.harvests.start_run(harvest)
    return redirect("/harvest", job=harvest.job_id)


def cancel_harvest(desk: Desk, _: Request, form: FormData) -> Response:
    """Ask a harvest to stop; what it has is kept."""
    harvest = _open_harvest(desk, form)
    harvest.ledger.close()
    desk.harvests.cancel_run(harvest.job_id)
    return redirect("/harvest", job=harvest.job_id)


def _open_harvest(desk: Desk, form: FormData) -> Harvest:
    return desk.library.harvest(job_id=read_text(form, "job"))
