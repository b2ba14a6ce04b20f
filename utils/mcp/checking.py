"""Toolset ``review``: a manuscript's references, quotations and numbers, checked."""

from __future__ import annotations

from typing import Annotated, Any

from fastmcp.tools import FunctionTool, ToolResult
from pydantic import Field

from ..library import Library
from .answers import answer, in_room
from .core import READS_WEB, tool
from .long_calls import LongCalls
from .schemas import named

CHECKED = named("status counts references claims missing warnings")
_MOST = 300_000  # characters of a manuscript, and of its list


def tools(library: Library) -> list[FunctionTool]:
    """The tool, working on *library*."""
    waiting = LongCalls("the papers' databases")

    def check_manuscript(
        text: Annotated[str, Field(max_length=_MOST, description="The manuscript.")],
        references: Annotated[
            str, Field(max_length=_MOST, description="Its list, where it is a file of its own.")
        ] = "",
    ) -> ToolResult:
        """Check a manuscript (Markdown, LaTeX; list: BibTeX, CSL-JSON) against what it cites."""
        row = waiting.call(_checked, library, text, references)
        return answer(in_room(in_room(row, "claims"), "references"))

    return [tool(check_manuscript, READS_WEB, CHECKED)]


def _checked(library: Library, text: str, references: str) -> dict[str, Any]:
    """All that was found; what is fine is counted only."""
    from ..manuscript.reading import read_words

    row = library.check_read(read_words(text, references)).row()
    for one in (*row["claims"], *row["references"], *row["unlisted"]):
        del one["fingerprint"]  # for the file beside a manuscript, which words have not
    fine = ("verified", "weak")
    told = [one for one in row["claims"] if one["outcome"] not in fine]
    row["claims"] = sorted(told, key=lambda one: one["outcome"] == "uncited")
    row["references"] = [
        one for one in row["references"] if one["status"] != "verified" or one["warnings"]
    ]
    return row
