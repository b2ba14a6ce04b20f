"""Toolset ``zotero``: read a Zotero library, and push papers of the shelf into it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

from pydantic import Field
from typing_extensions import TypedDict

from ..library import Library
from .answers import limit_rows
from .tool import ADDS_FILES, READS_WEB, LongCallRunner, Start, Tool, make_tool

_PAGE_PAPERS = 100  # papers


class ZoteroPapers(TypedDict):
    """Papers of a Zotero library or collection."""

    total: int
    papers: list[dict[str, Any]]
    next_start: int | None


class ZoteroPush(TypedDict):
    """A push that was planned or done."""

    new: int
    there: int
    skipped: int
    steps: int
    written: int
    problems: list[str]
    papers: list[dict[str, Any]]


def tools(library: Library) -> list[Tool]:
    """Return the tools, bound to *library*."""
    calls = LongCallRunner("Zotero")

    def zotero_pull(
        collection: Annotated[
            str, Field(description="Name, path or key; empty: the whole library.")
        ] = "",
        start: Start = 0,
    ) -> ZoteroPapers:
        """List the papers of the user's Zotero library, or of one collection."""
        return cast(
            "ZoteroPapers", calls.call_shared(_read_collection_page, library, collection, start)
        )

    def zotero_push(
        job_id: Annotated[str, Field(description="A harvest's or review's name.")] = "",
        collection: Annotated[str, Field(description="Also add them to this collection.")] = "",
        attach: Annotated[
            Literal["linked", "stored", "none"], Field(description="How files are attached.")
        ] = "linked",
        dry_run: Annotated[
            bool, Field(description="Only say what would change: show that first.")
        ] = True,
        undo: Annotated[bool, Field(description="Instead take back the last push.")] = False,
    ) -> ZoteroPush:
        """Add a harvest's papers to the user's Zotero: tags, a note, PDF and text."""
        options = {"collection": collection, "attach": attach, "dry_run": dry_run, "undo": undo}
        found = calls.call_shared(_push_papers, library, job_id, tuple(options.items()))
        return cast("ZoteroPush", limit_rows(dict(found), "papers"))

    return [make_tool(zotero_pull, READS_WEB), make_tool(zotero_push, ADDS_FILES)]


def _read_collection_page(library: Library, collection: str, start: int) -> dict[str, Any]:
    """Return a page of the papers in a collection."""
    entries = library.zotero.pull(collection)
    shown = [one.paper.short_row() for one in entries[start : start + _PAGE_PAPERS] if one.paper]
    end = start + len(shown)
    more = end if end < len(entries) else None
    return {"total": len(entries), "papers": shown, "next_start": more}


def _push_papers(
    library: Library, job_id: str, options: tuple[tuple[str, Any], ...]
) -> dict[str, Any]:
    """Push the papers of a harvest or review, and return counts and papers."""
    done = library.zotero.push(job_id, **dict(options))
    return {**done.to_row(), "papers": [one.to_row() for one in done.papers]}
