"""Toolset ``review``: the review board, updates of a review, and checks of a manuscript.

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
from .answers import UNTRUSTED_NOTICE, limit_rows
from .resources import mark_untrusted, run_in_worker
from .tool import ADDS_FILES, READS_SHELF, READS_WEB, LongCallRunner, Start, Tool, make_tool

if TYPE_CHECKING:
    pass

BOARD_PAGE_URI = "ui://papershelf/board.html"
_BOARD_PAGE_TYPE = "text/html;profile=mcp-app"
_MANUSCRIPT_MAX_CHARS = 300_000  # characters of a manuscript, and of its list


@with_config(extra="allow")
class Board(TypedDict):
    """The state of a harvest or a review; see `..reports.board` for the members."""

    job_id: str
    state: str


@with_config(extra="allow")
class ManuscriptCheck(TypedDict):
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
    """Return the tools, bound to *library*."""
    runner = LongCallRunner("the databases of the protocol")
    checking = LongCallRunner("the papers' databases")

    def review_board(
        job_id: Annotated[str, Field(description="A harvest; empty: the newest.")] = "",
        start: Start = 0,
        review: Annotated[str, Field(description="A review's name.")] = "",
    ) -> Board:
        """Show a harvest (else the newest), or a review: PRISMA numbers, what is missing, news."""
        if review:
            return _build_review_board(library, review, start)
        return _build_harvest_board(library, job_id, start)

    def update_review(
        review: Annotated[str, Field(description="The review's name.")],
    ) -> Board:
        """Repeat a review's searches: new hits, retractions, citing papers; decisions are kept."""
        runner.call_shared(_update_review, library, review)
        return _build_review_board(library, review, 0)

    def check_manuscript(
        text: Annotated[
            str, Field(max_length=_MANUSCRIPT_MAX_CHARS, description="The manuscript.")
        ],
        references: Annotated[
            str,
            Field(
                max_length=_MANUSCRIPT_MAX_CHARS,
                description="Its reference list, if in a separate file.",
            ),
        ] = "",
    ) -> ManuscriptCheck:
        """Check a manuscript (Markdown, LaTeX; list: BibTeX, CSL-JSON) against what it cites."""
        found = checking.call_shared(_to_check_answer, library, text, references)
        return limit_rows(limit_rows(found, "statements"), "references")

    meta = {
        "ui": AppConfig(resource_uri=BOARD_PAGE_URI).model_dump(by_alias=True, exclude_none=True)
    }
    board = make_tool(review_board, READS_SHELF).model_copy(update={"meta": meta})
    return [board, make_tool(update_review, ADDS_FILES), make_tool(check_manuscript, READS_WEB)]


def build_app_page() -> FunctionResource:
    """Return the page of the MCP App; it declares no address, so it can contact none."""

    def board() -> ResourceResult:
        """The review board, without any data in it."""
        from ..reports.board import render_board_view

        policy = ResourceCSP(connect_domains=[], resource_domains=[])
        looks = AppConfig(csp=policy, prefers_border=True)
        meta = {"ui": looks.model_dump(by_alias=True, exclude_none=True)}
        return ResourceResult(
            [ResourceContent(render_board_view(), mime_type=_BOARD_PAGE_TYPE, meta=meta)]
        )

    return FunctionResource.from_function(
        run_in_worker(board), BOARD_PAGE_URI, title="Review board", mime_type=_BOARD_PAGE_TYPE
    )


def build_board_resource(library: Library) -> ResourceTemplate:
    """Return the resource ``papers://board/{job_id}``: the board as JSON."""

    def board(job_id: str) -> ResourceResult:
        """The figures of a harvest: coverage, PRISMA numbers, what is missing and why."""
        made = {"untrusted": UNTRUSTED_NOTICE, **_build_harvest_board(library, job_id, 0)}
        return mark_untrusted(json.dumps(made, ensure_ascii=False, indent=1), "application/json")

    return ResourceTemplate.from_function(
        run_in_worker(board),
        "papers://board/{job_id}",
        title="Board of a harvest",
        mime_type="application/json",
        annotations=Annotations(audience=["user", "assistant"], priority=0.5),
    )


def _update_review(library: Library, name: str) -> bool:
    """Update a review, as `review update` does."""
    library.settings.require_email("NCBI")
    library.reviews.open(name).update()
    return True


def _build_review_board(library: Library, name: str, start: int) -> Board:
    """Return the board of a review."""
    from ..review.board import build_review_board

    made = library.reviews.open(name)
    state = "searched" if any(event.what == "update" for event in made.events()) else "new"
    row = {"job_id": made.job_id, "state": state, **build_review_board(made, start=start)}
    return cast("Board", row)


def _build_harvest_board(library: Library, job_id: str, start: int) -> Board:
    """Return the board of a harvest.

    Raises
    ------
    NotFound
        There is no such harvest, or none at all.
    """
    from ..reports.board import build_review_board
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
        made = build_review_board(job, harvest.ledger.read_outcomes, links, start=start)
    finally:
        harvest.ledger.close()
    row = {"job_id": job.job_id, "state": job.get_status(running=running), **made}
    return cast("Board", row)


def _to_check_answer(library: Library, text: str, references: str) -> ManuscriptCheck:
    """Return all findings of a check; correct references and statements are only counted."""
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
    return cast("ManuscriptCheck", row)
