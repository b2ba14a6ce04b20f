"""Toolset ``review``: the review board, an update of a review, a check of a manuscript.

The board is an MCP App where the host has them, else text. Its page is one file without an address
in it: data come with the tool's answer, more through the host (MCP Apps, SEP-1865, stable
2026-01-26; https://github.com/modelcontextprotocol/ext-apps). A host without Apps shows the model
the same answer, and reads ``papers://board/{job_id}``. No answer here has a ``resource_link``: with
one, Claude's web client hands the page nothing (anthropics/claude-ai-mcp#753).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, cast

from fastmcp.apps import AppConfig, ResourceCSP
from fastmcp.resources import (
    FunctionResource,
    ResourceContent,
    ResourceResult,
    ResourceTemplate,
)
from mcp.types import Annotations
from pydantic import Field, with_config
from typing_extensions import TypedDict

from ..errors import NotFound
from ..library import Library
from .answers import UNTRUSTED, in_room
from .resources import readable, untrusted
from .tool import ADDS_FILES, READS_SHELF, READS_WEB, LongCalls, Start, Tool, tool

if TYPE_CHECKING:
    pass

PAGE = "ui://papershelf/board.html"
_MEDIA = "text/html;profile=mcp-app"
_MOST = 300_000  # characters of a manuscript, and of its list


@with_config(extra="allow")
class Board(TypedDict):
    """The state of a harvest or a review; `..reports.board.build_board` names the other members."""

    job_id: str
    state: str


@with_config(extra="allow")
class Checked(TypedDict):
    """Result of checking a manuscript."""

    status: int
    counts: dict[str, Any]
    references: list[dict[str, Any]]
    statements: list[dict[str, Any]]
    legend: str
    results: dict[str, Any]
    missing: list[Any]
    warnings: list[str]


def tools(library: Library) -> list[Tool]:
    """The tools, working on *library*."""
    waiting = LongCalls("the databases of the protocol")
    checking = LongCalls("the papers' databases")

    def review_board(
        job_id: Annotated[str, Field(description="A harvest; empty: the newest.")] = "",
        start: Start = 0,
        review: Annotated[str, Field(description="A review's name.")] = "",
    ) -> Board:
        """Show a harvest (else the newest), or a review: PRISMA numbers, what is missing, news."""
        if review:
            return _review(library, review, start)
        return _board(library, job_id, start)

    def update_review(
        review: Annotated[str, Field(description="The review's name.")],
    ) -> Board:
        """Repeat a review's searches: new hits, retractions, citing papers; decisions are kept."""
        waiting.call(_update, library, review)
        return _review(library, review, 0)

    def check_manuscript(
        text: Annotated[str, Field(max_length=_MOST, description="The manuscript.")],
        references: Annotated[
            str, Field(max_length=_MOST, description="Its list, where it is a file of its own.")
        ] = "",
    ) -> Checked:
        """Check a manuscript (Markdown, LaTeX; list: BibTeX, CSL-JSON) against what it cites."""
        found = checking.call(_checked, library, text, references)
        return in_room(in_room(found, "statements"), "references")

    meta = {"ui": AppConfig(resource_uri=PAGE).model_dump(by_alias=True, exclude_none=True)}
    board = tool(review_board, READS_SHELF).model_copy(update={"meta": meta})
    return [board, tool(update_review, ADDS_FILES), tool(check_manuscript, READS_WEB)]


def page() -> FunctionResource:
    """The page of the App: no address may be contacted from it, so none is declared."""

    def board() -> ResourceResult:
        """The review board, without any data in it."""
        from ..reports.board import render_board_view

        policy = ResourceCSP(connect_domains=[], resource_domains=[])
        looks = AppConfig(csp=policy, prefers_border=True)
        meta = {"ui": looks.model_dump(by_alias=True, exclude_none=True)}
        return ResourceResult([ResourceContent(render_board_view(), mime_type=_MEDIA, meta=meta)])

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
    library.reviews.open(name).update()
    return True


def _review(library: Library, name: str, start: int) -> Board:
    """A review's board."""
    from ..review.board import build_board

    made = library.reviews.open(name)
    state = "searched" if any(event.what == "update" for event in made.events()) else "new"
    row = {"job_id": made.job_id, "state": state, **build_board(made, start=start)}
    return cast("Board", row)


def _board(library: Library, job_id: str, start: int) -> Board:
    """A harvest's board.

    Raises
    ------
    NotFound
        There is no such harvest, or none at all.
    """
    from ..reports.board import build_board
    from ..reports.library_links import ReadersLibrary

    if not job_id:
        jobs = library.harvests.all()
        if not jobs:
            raise NotFound("There is no harvest on this shelf.", "Begin one: harvest_papers.")
        job_id = max(jobs, key=lambda job: job.begun_at).job_id
    harvest = library.harvest(job_id=job_id)
    try:
        job = harvest.job()
        running = harvest.ledger.is_running()
        links = ReadersLibrary.from_settings(library.settings)
        made = build_board(job, harvest.ledger.read_outcomes, links, start=start)
    finally:
        harvest.ledger.close()
    row = {"job_id": job.job_id, "state": job.get_status(running=running), **made}
    return cast("Board", row)


def _checked(library: Library, text: str, references: str) -> Checked:
    """All that was found; what is fine is counted only."""
    from ..manuscript.reading import read_manuscript_text

    row = library.check(read_manuscript_text(text, references)).row()
    elements = [one for statement in row["statements"] for one in statement["elements"]]
    for one in (*elements, *row["references"], *row["unlisted"]):
        del one["fingerprint"]  # for the file beside a manuscript, which words have not
    told = [one for one in row["statements"] if one["result"] != "agrees"]
    row["statements"] = sorted(told, key=lambda one: one["result"] != "differs")
    row["references"] = [
        one for one in row["references"] if one["status"] != "verified" or one["warnings"]
    ]
    return cast("Checked", row)
