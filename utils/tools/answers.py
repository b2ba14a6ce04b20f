"""Tool results: structured content for the model, a short text beside it, errors as results.

Hosts differ: Claude Code and VS Code hand the model the structured content of a success and only
the text of an error (anthropics/claude-code#79944, #86032; microsoft/vscode#290063). So a success
carries everything in its structure and a short text without the long parts, and an error carries
the whole envelope as its text, and in ``_meta`` for programs. Not as structured content: that would
have to fit the tool's output schema, and official clients (TypeScript SDK 1.32) throw when it does
not, so that the model never sees the error.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec
from urllib.parse import quote

from fastmcp.tools import ToolResult
from mcp.types import Annotations, ResourceLink, TextContent

from ..errors import PaperError
from ..model.paper import Paper, StoredPaper
from ..system.plain_text import shortened

if TYPE_CHECKING:
    from ..library import Library

P = ParamSpec("P")
_LONGEST_ENTRY = 4000


def answer(
    structure: dict[str, Any],
    text: str,
    *,
    untrusted: bool = True,
    links: Sequence[ResourceLink] = (),
) -> ToolResult:
    """A success; *text* must not repeat the long parts of *structure*.

    Parameters
    ----------
    structure : dict
        What the tool's output schema promises.
    text : str
        The same in short, for hosts that show only text.
    untrusted : bool, optional
        Whether words in it came from the web.
    links : sequence, optional
        Files that belong to it, see `shelf_link`.
    """
    return ToolResult(
        content=[block(text, untrusted=untrusted), *links],
        structured_content=structure,
        meta={"untrusted": True} if untrusted else None,
    )


def shelf_link(stored: StoredPaper) -> ResourceLink:
    """A link to a paper's file on the shelf."""
    path = Path(stored.path)
    return ResourceLink(
        type="resource_link",
        uri=f"papers://{quote(path.name)}",
        name=path.name,
        title=stored.paper.title or None,
        mime_type="text/markdown",
        annotations=Annotations(
            audience=["user", "assistant"], priority=0.5, last_modified=stored.saved_at
        ),
    )


def shelf_links(
    library: Library, papers: Iterable[str], most: int | None = None
) -> list[ResourceLink]:
    """Links to the files of those of *papers* (identifiers) that are on the shelf."""
    links = []
    for paper in list(dict.fromkeys(papers))[:most]:
        with suppress(PaperError):
            links.append(shelf_link(library.find(paper)))
    return links


def bibtex_answer(paper: Paper, version: str = "", **more: str) -> ToolResult:
    """A paper's BibTeX entry as a tool's answer, beside the members *more*."""
    from ..citations import to_bibtex

    # The abstract is the long part of an entry, and stands in the structure only.
    short = to_bibtex(replace(paper, abstract=""), version=version).strip()
    structure = {**more, "bibtex": to_bibtex(paper, version=version).strip()}
    return answer(structure, shortened(short, _LONGEST_ENTRY))


def block(text: str, *, untrusted: bool) -> TextContent:
    """A text for the model; words from the web are marked as such."""
    # The protocol's annotations have no word for it, so the mark travels in _meta.
    return TextContent(
        type="text",
        text=text,
        annotations=Annotations(audience=["assistant"], priority=0.8),
        _meta={"untrusted": True} if untrusted else None,
    )


def refusal(error: PaperError) -> ToolResult:
    """An expected error, as a result the model can act on."""
    envelope = error.envelope()
    return ToolResult(
        content=[block(json.dumps(envelope, ensure_ascii=False), untrusted=False)],
        is_error=True,
        meta=envelope,
    )


def refusing(tool: Callable[P, ToolResult]) -> Callable[P, ToolResult]:
    """Turn a tool's expected errors into results; the one place where that happens."""

    @functools.wraps(tool)
    def call(*args: P.args, **options: P.kwargs) -> ToolResult:
        try:
            return tool(*args, **options)
        except PaperError as error:
            return refusal(error)

    return call
