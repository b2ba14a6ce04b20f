"""Toolset ``review``: a quotation in its passage, in the App where the host has them, else text.

The page is that of the board (`.board`), which also shows what ``verify_quotes`` found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastmcp.tools import FunctionTool, ToolResult
from pydantic import Field

from ..library import Library
from .answers import answer
from .board import PAGE, shown_by
from .core import READS_SHELF, Word, tool
from .indexing import Indexing
from .long_calls import LongCalls
from .schemas import named

if TYPE_CHECKING:
    from ..curation.quoted_passages import QuotedPassage

QUOTE = named("verdict passage")
_INDEX_S = 8.0  # of a call's twenty seconds, for what was filed since the last index


def tools(library: Library) -> list[FunctionTool]:
    """The tool, working on *library*."""
    indexing, waiting = Indexing(library), LongCalls("the corpus")

    def show_quote(
        text: Annotated[str, Field(description="The words as quoted.")] = "",
        paper: Annotated[Word, Field(description="Where to look, or a block: paper#p-….")] = "",
    ) -> ToolResult:
        """Show the user a quotation, or a block (paper#p-…), in its passage."""
        row, warnings = waiting.call(_shown, library, indexing, text, paper)
        return answer({**row, "warnings": warnings})

    made = tool(show_quote, READS_SHELF, QUOTE)
    return [made.model_copy(update={"meta": shown_by(PAGE)})]


def _shown(
    library: Library, indexing: Indexing, quote: str, paper: str
) -> tuple[dict[str, Any], list[str]]:
    """The passage as a row, and warnings where some papers were not looked through."""
    from ..curation.quoted_passages import quoted_passage

    warnings = indexing.update(_INDEX_S) if quote and not paper else []
    return {"quote": quote, **_row(quoted_passage(quote, paper, library.corpus))}, warnings


def _row(shown: QuotedPassage) -> dict[str, Any]:
    """What the page shows; ``verdict`` is empty where no quotation was compared."""
    found = shown.quotation
    near = found is not None and found.verdict == "near"
    return {
        "verdict": found.verdict if found else "",
        "differences": [str(one) for one in found.differences] if found and near else [],
        "paper": _paper_row(shown),
        "section": shown.section,
        "handle": shown.handle,
        "block": shown.number,
        "blocks": shown.blocks,
        "previous": shown.before,
        "next": shown.after,
        "passage": [piece._asdict() for piece in shown.pieces],
        "source": shown.source._asdict(),
    }


def _paper_row(shown: QuotedPassage) -> dict[str, Any] | None:
    """The paper of a passage; None where a quotation is in none."""
    if not (text := shown.text):
        return None
    row = text.paper.short_row()
    names = [name for name in (row["first_author"], row["journal"], row["year"]) if name]
    return {
        "ids": str(text.paper.ids),
        "title": row["title"],
        "reference": ", ".join(names),
        "kind": text.kind,
        "version": text.stored.version if text.stored else "",
        "license": text.stored.license if text.stored else text.paper.license,
        "retracted": bool(text.about["retracted"]),
    }
