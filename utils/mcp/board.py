"""Toolset ``review``: the review board, an MCP App where the host has them, else text; updates.

The page is one file without an address in it: data come with the tool's answer, more through the
host (MCP Apps, SEP-1865, stable 2026-01-26; https://github.com/modelcontextprotocol/ext-apps). A
host without Apps shows the model the same answer, and reads ``papers://board/{job_id}``. No answer
here has a ``resource_link``: with one, Claude's web client hands the page nothing
(anthropics/claude-ai-mcp#753).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

from fastmcp.apps import AppConfig, ResourceCSP
from fastmcp.resources import (
    FunctionResource,
    ResourceContent,
    ResourceResult,
    ResourceTemplate,
)
from fastmcp.tools import FunctionTool, ToolResult
from mcp.types import Annotations
from pydantic import Field

from ..errors import NotFound
from ..library import Library
from ..system.plain_text import one_line
from .answers import UNTRUSTED, answer
from .core import ADDS_FILES, READS_SHELF, Start, tool
from .long_calls import LongCalls
from .resources import readable, untrusted
from .schemas import named

if TYPE_CHECKING:
    from ..review import Review

PAGE = "ui://papershelf/board.html"
_MEDIA = "text/html;profile=mcp-app"
# Its members are those of `..reports.board.board`: a schema of all costs every conversation tokens.
BOARD = named("job_id state")


def tools(library: Library) -> list[FunctionTool]:
    """The tools, working on *library*."""
    waiting = LongCalls("the databases of the protocol")

    def review_board(
        job_id: Annotated[str, Field(description="A harvest; empty: the newest.")] = "",
        start: Start = 0,
        review: Annotated[str, Field(description="A review's name.")] = "",
    ) -> ToolResult:
        """Show a harvest (else the newest), or a review: PRISMA numbers, what is missing, news."""
        if review:
            return answer(_review(library, review, start))
        return answer(_board(library, job_id, start))

    def update_review(
        review: Annotated[str, Field(description="The review's name.")],
    ) -> ToolResult:
        """Search a review anew: new hits, retractions, citing papers; decisions stay."""
        waiting.call(_update, library, review)
        return answer(_review(library, review, 0))

    made = tool(review_board, READS_SHELF, BOARD)
    board = made.model_copy(update={"meta": shown_by(PAGE)})
    return [board, tool(update_review, ADDS_FILES, BOARD)]


def shown_by(page: str) -> dict[str, Any]:
    """The mark of a tool whose answers a page of ours shows."""
    return {"ui": AppConfig(resource_uri=page).model_dump(by_alias=True, exclude_none=True)}


def page() -> FunctionResource:
    """The page of the App: no address may be contacted from it, so none is declared."""

    def board() -> ResourceResult:
        """The review board, without any data in it."""
        from ..reports.board import view

        policy = ResourceCSP(connect_domains=[], resource_domains=[])
        looks = AppConfig(csp=policy, prefers_border=True)
        meta = {"ui": looks.model_dump(by_alias=True, exclude_none=True)}
        return ResourceResult([ResourceContent(view(), mime_type=_MEDIA, meta=meta)])

    return FunctionResource.from_function(
        readable(board), PAGE, title="Review board", mime_type=_MEDIA
    )


def numbers(library: Library) -> ResourceTemplate:
    """``papers://board/{job_id}``: the board as JSON."""

    def board(job_id: str) -> ResourceResult:
        """The figures of a harvest: coverage, PRISMA numbers, what is missing and why."""
        made = {"untrusted": UNTRUSTED, **_board(library, job_id, 0)}
        return untrusted(json.dumps(made, ensure_ascii=False, indent=1), "application/json")

    return ResourceTemplate.from_function(
        readable(board),
        "papers://board/{job_id}",
        title="Board of a harvest",
        mime_type="application/json",
        annotations=Annotations(audience=["user", "assistant"], priority=0.5),
    )


def _update(library: Library, name: str) -> bool:
    """Update a review, as `review update` does."""
    library.settings.require_email("NCBI")
    _named(library, name).update()
    return True


def _named(library: Library, name: str) -> Review:
    """The review of this name.

    Raises
    ------
    NotFound
        There is none; those there are stand in the message.
    """
    every = {one.name: one for one in library.reviews()}
    if name not in every:
        known = f"There are: {', '.join(every)}." if every else "There is none on this shelf yet."
        msg = f"There is no review {one_line(name)[:60]!r}."
        raise NotFound(msg, f"{known} `review new NAME` makes one.")
    return every[name]


def _review(library: Library, name: str, start: int) -> dict[str, Any]:
    """A review's board."""
    from ..review.board import board

    made = _named(library, name)
    state = "searched" if any(event.what == "update" for event in made.events()) else "new"
    return {"job_id": made.job_id, "state": state, **board(made, start=start)}


def _board(library: Library, job_id: str, start: int) -> dict[str, Any]:
    """A harvest's board.

    Raises
    ------
    NotFound
        There is no such harvest, or none at all.
    """
    from ..reports.board import board
    from ..reports.library_links import ReadersLibrary

    if not job_id:
        jobs = library.harvests()
        if not jobs:
            raise NotFound("There is no harvest on this shelf.", "Begin one: harvest_papers.")
        job_id = max(jobs, key=lambda job: job.begun_at).job_id
    harvest = library.harvest(job_id=job_id)
    try:
        job = harvest.job()
        running = harvest.ledger.running()
        links = ReadersLibrary.of(library.settings)
        made = board(job, harvest.ledger.rows, links, start=start)
    finally:
        harvest.ledger.close()
    return {"job_id": job.job_id, "state": job.standing(running=running), **made}
