"""Tools that start, watch, resume and cancel harvests.

A harvest runs in a thread of the server and lives in its ledger: when the host hangs up it is
interrupted, and goes on when it is asked for again, over MCP or in the shell.

An answer says how a harvest stands: what came from where, why the rest has no text, which site is
waited for and until when, and the call to make next.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, cast

from fastmcp.resources import ResourceResult, ResourceTemplate
from mcp.types import Annotations, ResourceLink
from pydantic import Field, with_config
from typing_extensions import TypedDict

from ..errors import BadRequest, NothingFound, PaperError
from ..harvest.background import BackgroundHarvests
from ..http.work import raise_if_cancelled
from ..library import Library
from ..model.job import Coverage, Harvested, Job, JobStatus, SiteWait
from ..reports.coverage import (
    HarvestPage,
    count_missing_by_reason,
    count_texts_by_source,
    read_harvest_page,
    to_paper_row,
)
from ..reports.labels import get_route_label, pluralize
from ..reports.page import PASSING_REASONS, shorten_to_line
from .answers import attach_blocks
from .resources import mark_untrusted, run_in_worker
from .tool import (
    ADDS_FILES,
    MAX_WAIT_S,
    READS_SHELF,
    CountTo100,
    LongCallRunner,
    Start,
    TextOrNumber,
    Tool,
    make_tool,
    send_progress,
)

if TYPE_CHECKING:
    from ..harvest.jobs import Harvest

_MAX_NOTES, _NOTE_MAX_CHARS = 5, 300
_TITLE_MAX_CHARS = 100  # characters: a page of them is read by a model
_UNPUBLISHED_VERSIONS = ("preprint", "accepted")

_UNNAMED_LIST = "Identifiers"
_POLL_INTERVAL_S = 1.0


@with_config(extra="allow")
class HarvestState(TypedDict):
    """Progress of a harvest; see `Status` for the other members."""

    done: NotRequired[str]
    job_id: str
    state: str
    counts: dict[str, Any]
    next: list[str]


class Harvests(BackgroundHarvests):
    """The harvests of one server."""

    def __init__(self, library: Library) -> None:
        super().__init__(
            lambda job_id: library.harvest(job_id=job_id),
            "Wait for one of them: harvest_status.",
        )
        self._library = library

    def get_status(self, job_id: str, **page: Any) -> Status:
        """Return a job's progress, with a page of its papers (see `build_status`)."""
        run = self.get_run(job_id)
        if not run:
            harvest = self._library.harvest(job_id=job_id)
            with closing(harvest.ledger):
                return build_status(harvest, None, **page)
        is_alive, progress = run.is_alive, run.progress
        status = build_status(
            run.harvest, progress.eta_s if is_alive and progress else None, **page
        )
        return replace(status, standing="running") if is_alive else status


def tools(library: Library) -> list[Tool]:
    """Return ``harvest_papers`` and ``harvest_status``, bound to *library*."""
    harvests = Harvests(library)
    return [
        make_tool(_build_harvest_tool(library, harvests), ADDS_FILES),
        make_tool(_build_status_tool(harvests), READS_SHELF),
    ]


def _build_harvest_tool(library: Library, harvests: Harvests) -> Callable[..., HarvestState]:
    runner = LongCallRunner("PubMed")

    def harvest_papers(
        query: Annotated[str, Field(description="PubMed query whose papers to download.")] = "",
        papers: Annotated[
            Sequence[TextOrNumber], Field(description="Identifiers of any kind.")
        ] = (),
        lists: Annotated[
            dict[str, list[TextOrNumber]] | None, Field(description="Named lists of identifiers.")
        ] = None,
        max_papers: Annotated[
            int, Field(ge=0, description="Maximum number of papers; 0: all.")
        ] = 0,
        job_id: Annotated[str, Field(description="Resume this harvest.")] = "",
        sources: Annotated[
            Sequence[TextOrNumber], Field(description="Databases to search; none: PubMed.")
        ] = (),
        retry: Annotated[
            str, Field(description="Outcomes to retry: failed, abstract, a reason.")
        ] = "",
        cancel: Annotated[bool, Field(description="Stop the harvest job_id.")] = False,
    ) -> HarvestState:
        """Begin to download all papers of a query or list, by the thousand; returns a job."""
        from ..harvest.jobs import parse_outcomes

        if cancel:
            _require_cancel_alone(job_id, query, papers, lists, retry)
            harvests.cancel_run(job_id)
            return build_status_answer(harvests.get_status(job_id))
        library.settings.require_email("NCBI")  # else only the thread would fail
        if retry:
            parse_outcomes(retry)  # refused before there is a job
        asked = _group_by_list(tuple(papers), lists or {})
        try:
            harvest = runner.get_result(
                (repr(asked), query, job_id, max_papers, *sources),
                lambda: library.harvest(
                    asked, query=query, sources=sources, job_id=job_id, max_papers=max_papers
                ),
            )
        except NothingFound as nothing:
            # There is no job, and nothing went wrong.
            return HarvestState(
                done=nothing.message,
                job_id="",
                state="nothing found",
                counts={"requested": 0},
                next=[*nothing.hints],
            )
        done = _reopen_papers(harvest, retry) if retry else ""
        run = harvests.start_run(harvest)
        return build_status_answer(harvests.get_status(run.harvest.job_id), done)

    return harvest_papers


def _require_cancel_alone(job_id: str, *other_arguments: object) -> None:
    """Raise an error if a call that cancels a harvest has other arguments."""
    if not job_id or any(other_arguments):
        msg = "cancel can only be combined with a job_id."
        raise BadRequest(msg, "Name the harvest to stop by its job_id.")


def _group_by_list(ids: tuple[str, ...], lists: dict[str, list[str]]) -> Any:
    """Return the requested papers, grouped by list name if there are lists."""
    if not lists:
        return ids
    named = {name: tuple(papers) for name, papers in lists.items()}
    return {**named, _UNNAMED_LIST: (*named.get(_UNNAMED_LIST, ()), *ids)} if ids else named


def _reopen_papers(harvest: Harvest, which: str) -> str:
    """Reopen the papers with the given outcome, and return their number in a sentence."""
    try:
        papers = harvest.retry(which)
    except PaperError:
        harvest.ledger.close()
        raise
    return f"{papers:,} of the papers that ended as {which} are asked for again."


def _build_status_tool(harvests: Harvests) -> Callable[..., HarvestState]:
    def harvest_status(
        job_id: Annotated[str, Field(description="ID from harvest_papers.")],
        wait_s: Annotated[
            float, Field(ge=0, le=MAX_WAIT_S, description="Seconds to wait for the end.")
        ] = 0,
        show: Annotated[
            str, Field(description="Papers to list: retrieved, not_retrieved, a reason.")
        ] = "",
        start: Start = 0,
        max_results: CountTo100 = 20,
    ) -> HarvestState:
        """Look at a harvest, after up to wait_s seconds or when done: coverage, reasons, papers."""
        until = time.monotonic() + wait_s
        page = {"show": show, "start": start, "max_papers": max_results}
        status, reported = harvests.get_status(job_id, **page), -1
        while status.standing == "running" and time.monotonic() < until:
            raise_if_cancelled()
            reported = _report_progress(status.job, reported)
            harvests.wait_for_end(job_id, max(0.0, min(_POLL_INTERVAL_S, until - time.monotonic())))
            status = harvests.get_status(job_id, **page)
        if status.standing == "interrupted" and (trouble := harvests.get_error(job_id)):
            raise trouble
        return build_status_answer(status)

    return harvest_status


def build_report_resource(library: Library) -> ResourceTemplate:
    """Return the resource ``papers://report/{job_id}``: the report page of a harvest."""

    def report(job_id: str) -> ResourceResult:
        """The report of a harvest, as one HTML page."""
        harvest = library.harvest(job_id=job_id)
        page = harvest.folder / "report.html"
        page = page if page.exists() else harvest.report()
        return mark_untrusted(page.read_text(encoding="utf-8"), "text/html")

    return ResourceTemplate.from_function(
        run_in_worker(report),
        "papers://report/{job_id}",
        title="Report of a harvest",
        mime_type="text/html",
        annotations=Annotations(audience=["user", "assistant"], priority=0.5),
    )


def _report_progress(job: Job, last_reported: int) -> int:
    """Report the number of finished papers to the host, if it exceeds *last_reported*."""
    counts = job.counts
    done = counts.requested - counts.pending
    if done > last_reported:
        words = f"{counts.full_text} full text, {counts.abstract} abstract"
        send_progress(done, counts.requested, words)
    return done


@dataclass(frozen=True, slots=True)
class Status:
    """Progress of a harvest at one moment.

    Parameters
    ----------
    job : Job
    standing : JobStatus
    coverage : Coverage
    eta_s : float or None
        The seconds left, where they are known.
    report : str
        The address of its report; empty while there is none.
    show : str
        Which papers are named: ``retrieved``, ``not_retrieved``, or a reason; empty for none.
    page : Page
        Those papers.
    """

    job: Job
    standing: JobStatus
    coverage: Coverage
    eta_s: float | None
    report: str
    show: str
    page: HarvestPage

    @property
    def waits(self) -> tuple[SiteWait, ...]:
        """The sites that papers wait for now."""
        return self.job.waits if self.standing == "running" else ()

    @property
    def notes(self) -> list[str]:
        """Return the notes about the whole harvest, at most five."""
        return [shorten_to_line(note, _NOTE_MAX_CHARS) for note in self.job.notes[:_MAX_NOTES]]

    def to_row(self) -> dict[str, Any]:
        """Return the progress as a JSON-serialisable dict."""
        shown = {
            "papers": [*map(_build_paper_row, self.page.rows)],
            "next_start": self.page.next_start,
        }
        return {
            "job_id": self.job.job_id,
            "state": self.standing,
            "counts": self.job.row(),
            "eta_s": None if self.eta_s is None else round(self.eta_s),
            "sources": count_texts_by_source(self.coverage),
            "reasons": count_missing_by_reason(self.coverage),
            "waits": [*map(_build_wait_row, self.waits)],
            **({"notes": self.notes} if self.notes else {}),
            **(shown if self.show else {}),
            "report": self.report,
            "next": self.list_steps(),
        }

    def list_steps(self) -> list[str]:
        """Return the tool calls that help now, the most useful first."""
        job_argument = f'job_id="{self.job.job_id}"'
        steps = []
        if start := self.page.next_start:
            page = f'harvest_status({job_argument}, show="{self.show}", start={start})'
            steps.append(f"{page}: the next page")
        if self.standing == "running":
            steps.append(f"harvest_status({job_argument}, wait_s={MAX_WAIT_S:.0f})")
        elif self.standing != "done":
            steps.append(f"harvest_papers({job_argument}): resumes the harvest")
        else:
            steps += self._list_steps_after_end(job_argument)
        return steps

    def _list_steps_after_end(self, job_argument: str) -> list[str]:
        """Return the next steps for a finished harvest."""
        lacking, steps = self.coverage.reasons, []
        if passing := [reason for reason in PASSING_REASONS if reason in lacking]:
            papers = pluralize(sum(lacking[reason] for reason in passing), "paper")
            retry = f'harvest_papers({job_argument}, retry="{",".join(passing)}")'
            steps.append(f"{retry}: asks again for {papers} that may be had by now")
        if lacking and not self.show:
            papers = pluralize(sum(lacking.values()), "paper")
            steps.append(
                f'harvest_status({job_argument}, show="not_retrieved"): names the {papers}'
            )
        return steps


def build_status(
    harvest: Harvest, eta_s: float | None, *, show: str = "", start: int = 0, max_papers: int = 20
) -> Status:
    """Return a harvest's progress; with *show*, a page of its papers from number *start*.

    Raises
    ------
    BadRequest
        No paper of any harvest can be what *show* says.
    """
    job, coverage = harvest.job(), harvest.ledger.count_coverage()
    standing = job.get_status(running=harvest.ledger.is_running())
    there = (harvest.folder / "report.html").exists()
    return Status(
        job,
        standing,
        coverage,
        eta_s if standing == "running" else None,
        f"papers://report/{job.job_id}" if there else "",
        show,
        _read_paper_page(harvest, coverage, show, start, max_papers),
    )


def build_status_answer(status: Status, done: str = "") -> HarvestState:
    """Return a status as a tool's answer; *done* is a sentence about what was done."""
    structure = cast("HarvestState", {**({"done": done} if done else {}), **status.to_row()})
    return attach_blocks(structure, [_build_report_link(status.report)] if status.report else [])


def _read_paper_page(
    harvest: Harvest, coverage: Coverage, show: str, start: int, max_papers: int
) -> HarvestPage:
    """Return a page of the papers that *show* selects."""
    from ..harvest.jobs import OUTCOMES

    if not show:
        return HarvestPage([], None)
    rows = harvest.ledger.read_outcomes
    if show == "retrieved":
        return read_harvest_page(rows, "retrieved", start=start, most=max_papers)
    if show == "not_retrieved":
        return read_harvest_page(rows, "not_retrieved", start=start, most=max_papers)
    if show in coverage.reasons:
        return read_harvest_page(rows, "not_retrieved", start=start, most=max_papers, reason=show)
    if show in OUTCOMES:
        return HarvestPage([], None)  # papers can end so, and none of these did
    msg = f"No paper of this harvest is {show!r}."
    choices = ", ".join(("retrieved", "not_retrieved", *count_missing_by_reason(coverage)))
    raise BadRequest(msg, f"Choose among {choices}.")


def _build_paper_row(row: Harvested) -> dict[str, Any]:
    """Return one row of a page: the source of the text, or the reason for its absence."""
    made = to_paper_row(row)
    made["title"] = shorten_to_line(made["title"], _TITLE_MAX_CHARS)
    if row.state != "full_text":
        return {**made, "reason": row.reason}
    stand_in = {"version": row.version} if row.version in _UNPUBLISHED_VERSIONS else {}
    doubts = {"doubts": row.detail} if row.reason == "doubtful" else {}
    return {**made, "source": get_route_label(row.via), **stand_in, **doubts}


def _build_wait_row(wait: SiteWait) -> dict[str, Any]:
    """Return a site that papers wait for; unknown members are left out."""
    return {name: value for name, value in asdict(wait).items() if value != ""}


def _build_report_link(report: str) -> ResourceLink:
    return ResourceLink(
        type="resource_link",
        uri=report,
        name="report.html",
        title="Report of the harvest",
        mime_type="text/html",
        annotations=Annotations(audience=["user", "assistant"], priority=0.5),
    )
