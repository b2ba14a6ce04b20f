"""Harvests over MCP: started by one call, watched by others, resumed by name.

A harvest runs in a thread of the server and lives in its ledger: when the host hangs up it is
interrupted, and goes on when it is asked for again, over MCP or in the shell.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from fastmcp.resources import ResourceResult, ResourceTemplate
from fastmcp.tools import FunctionTool, ToolResult
from mcp.types import Annotations, ResourceLink
from pydantic import Field

from ..errors import BadRequest, PaperError
from ..library import Library
from . import schemas
from .answers import answer
from .core import ADDS_FILES, READS_SHELF, Word, tool
from .long_calls import LongCalls, tell
from .resources import readable, untrusted

if TYPE_CHECKING:
    from ..harvest.jobs import Harvest
    from ..harvest.run_status import Progress

log = logging.getLogger(__name__)

_MOST = 2  # side by side: more only wait for the same sites
_STEP_S = 1.0


@dataclass(slots=True)
class _Run:
    """A harvest that this server works on."""

    harvest: Harvest
    thread: threading.Thread | None = None
    progress: Progress | None = None
    trouble: PaperError | None = None

    @property
    def alive(self) -> bool:
        return self.thread is not None and self.thread.is_alive()


class Harvests:
    """The harvests of one server."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._runs: dict[str, _Run] = {}
        self._lock = threading.Lock()

    def begin(self, harvest: Harvest) -> _Run:
        """Start a thread for a job, unless this server has one.

        Raises
        ------
        BadRequest
            As many as may run side by side are running.
        """
        with self._lock:
            run = self._runs.get(harvest.job_id)
            # Equal calls at the same time share one harvest: its ledger stays open.
            ours = run is not None and run.harvest is harvest
            alive = run is not None and run.alive
            full = sum(run.alive for run in self._runs.values()) >= _MOST
            if (alive or full) and not ours:
                harvest.ledger.close()
            if run and alive:
                return run
            if full:
                msg = f"{_MOST} harvests are running already."
                raise BadRequest(msg, "Wait for one of them: harvest_status.")
            run = self._runs[harvest.job_id] = _Run(harvest)
            name = f"harvest {harvest.job_id}"
            run.thread = threading.Thread(target=_run_harvest, args=(run,), name=name, daemon=True)
            run.thread.start()
            return run

    def status(self, job_id: str) -> dict[str, Any]:
        """A job's status, as the tools answer it."""
        run = self._runs.get(job_id)
        harvest = run.harvest if run else self._library.harvest(job_id=job_id)
        try:
            return _status_row(harvest, run)
        finally:
            if not run:
                harvest.ledger.close()

    def trouble(self, job_id: str) -> PaperError | None:
        """The error that ended a run of this server, if one did."""
        run = self._runs.get(job_id)
        return run.trouble if run and not run.alive else None


def _run_harvest(run: _Run) -> None:
    try:
        for progress in run.harvest:
            run.progress = progress
    except PaperError as error:
        run.trouble = error
        log.warning("The harvest %s stopped: %s", run.harvest.job_id, error)
    except Exception as bug:
        # A thread dies silently: whoever asks for the status gets the error.
        log.exception("The harvest %s stopped", run.harvest.job_id)
        msg = f"The harvest stopped by a mistake of ours: {bug!r}."
        run.trouble = PaperError(msg, "Please report it. Asked for again, the harvest goes on.")


def _status_row(harvest: Harvest, run: _Run | None) -> dict[str, Any]:
    job = harvest.job()
    here = run is not None and run.alive
    if here or harvest.ledger.running():
        state = "running"
    elif job.counts.pending:
        state = "interrupted"
    else:
        state = "done"
    page = harvest.folder / "report.html"
    return {
        "job_id": job.job_id,
        "state": state,
        "counts": job.row(),
        "eta_s": run.progress.eta_s if here and run and run.progress else None,
        "report": f"papers://report/{job.job_id}" if page.exists() else "",
        "waits": [f"{wait}." for wait in job.waits] if state == "running" else [],
    }


def tools(library: Library) -> list[FunctionTool]:
    """``harvest_papers`` and ``harvest_status``."""
    harvests = Harvests(library)
    waiting = LongCalls("PubMed")

    def harvest_papers(
        query: str = "",
        ids: Annotated[Sequence[Word], Field(description="PMID, PMCID, DOI, arXiv")] = (),
        max_papers: Annotated[int, Field(ge=0)] = 0,
        job_id: Annotated[str, Field(description="take up this harvest again")] = "",
        sources: Annotated[Sequence[Word], Field(description="to search; else PubMed")] = (),
    ) -> ToolResult:
        """Begin to download all papers of a query or list, by the thousand; returns a job."""
        library.settings.require_email("NCBI")  # else only the thread would fail
        harvest = waiting.call(
            library.harvest,
            tuple(ids),
            query=query,
            sources=tuple(sources),
            job_id=job_id,
            max_papers=max_papers,
        )
        run = harvests.begin(harvest)
        return _answer(harvests.status(run.harvest.job_id))

    def harvest_status(job_id: str, wait_s: Annotated[float, Field(ge=0, le=20)] = 0) -> ToolResult:
        """Look at a harvest, after up to wait_s seconds or when it is done."""
        until = time.monotonic() + wait_s
        status, reported = harvests.status(job_id), -1
        while status["state"] == "running" and time.monotonic() < until:
            reported = _report_progress(status, reported)
            time.sleep(max(0.0, min(_STEP_S, until - time.monotonic())))
            status = harvests.status(job_id)
        if status["state"] == "interrupted" and (trouble := harvests.trouble(job_id)):
            raise trouble
        return _answer(status)

    return [
        tool(harvest_papers, ADDS_FILES, schemas.HARVEST),
        tool(harvest_status, READS_SHELF, schemas.HARVEST),
    ]


def report(library: Library) -> ResourceTemplate:
    """``papers://report/{job_id}``: the page of a harvest."""

    def report(job_id: str) -> ResourceResult:
        """The report of a harvest, as one HTML page."""
        harvest = library.harvest(job_id=job_id)
        page = harvest.folder / "report.html"
        page = page if page.exists() else harvest.report()
        return untrusted(page.read_text(encoding="utf-8"), "text/html")

    return ResourceTemplate.from_function(
        readable(report),
        "papers://report/{job_id}",
        title="Report of a harvest",
        mime_type="text/html",
        annotations=Annotations(audience=["user", "assistant"], priority=0.5),
    )


def _report_progress(status: dict[str, Any], reported: int) -> int:
    """Tell the host how many are done, if more than *reported*: progress must grow (MCP)."""
    counts = status["counts"]
    done = int(counts["requested"] - counts["pending"])
    if done > reported:
        words = f"{counts['full_text']} full text, {counts['abstract']} abstract"
        tell(done, counts["requested"], words)
    return done


def _answer(status: dict[str, Any]) -> ToolResult:
    counts = status["counts"]
    text = (
        f"Harvest {status['job_id']} is {status['state']}: {counts['full_text']} full text, "
        f"{counts['abstract']} abstract only, {counts['record']} record only, "
        f"{counts['failed']} failed, "
        f"{counts['pending']} pending of {counts['requested']}."
    )
    text = " ".join([text, *status["waits"]])
    links = []
    if status["report"]:
        links = [
            ResourceLink(
                type="resource_link",
                uri=status["report"],
                name="report.html",
                title="Report of the harvest",
                mime_type="text/html",
                annotations=Annotations(audience=["user", "assistant"], priority=0.5),
            )
        ]
    return answer(status, text, untrusted=False, links=links)
