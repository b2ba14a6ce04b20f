"""Toolset ``core``: many papers in one call, within one budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from fastmcp.tools import FunctionTool, ToolResult
from pydantic import Field

from ..errors import NotFound, PaperError
from ..library import Library
from ..model.identifiers import Ids
from ..model.paper import StoredPaper
from ..outline import with_own_roles
from .answers import answer, in_room
from .core import ADDS_FILES, READS_WEB, Word, tool
from .long_calls import LongCalls
from .read_together import CHARACTERS, Cursor, Page, ReadingRequest
from .schemas import also, record, rows

if TYPE_CHECKING:
    from ..curation.excerpts import Excerpt
    from ..download.download import Download

_MOST_READ, _MOST_CITED = 20, 200
_PAPERS = record(papers=rows({"type": "object"}))
_READ = also("downloading next_cursor", _PAPERS)
_ANY = "Identifiers of any kind."
Papers = Annotated[list[Word], Field(min_length=1, max_length=_MOST_READ, description=_ANY)]


def tools(library: Library) -> list[FunctionTool]:
    """Every tool for many papers, working on *library*."""
    return [
        _download_tool(library),
        _read_tool(library),
        _cite_tool(library),
    ]


def _download_tool(library: Library) -> FunctionTool:
    waiting = LongCalls("a source")

    def download_papers(papers: Papers) -> ToolResult:
        """Put papers on the shelf, given identifiers of any kind; hundreds: harvest_papers."""
        fetched = _fetch(papers, library, waiting)
        found = [{"paper": name, **_download_row(name, fetched, library)} for name in papers]
        return answer({"papers": found})

    return tool(download_papers, ADDS_FILES, _PAPERS)


def _read_tool(library: Library) -> FunctionTool:
    waiting = LongCalls("a source")

    def read_papers(
        papers: Papers,
        sections: Annotated[
            Sequence[str], Field(description="Headings or roles (methods, …); none: all.")
        ] = (),
        question: Annotated[
            str, Field(description="Passages that answer it come first.", max_length=2000)
        ] = "",
        budget_tokens: Annotated[
            int, Field(ge=500, le=50_000, description="Most tokens returned.")
        ] = 12_000,
        outline: Annotated[bool, Field(description="Include all headings.")] = False,
        cursor: Annotated[str, Field(description="The next_cursor of an earlier answer.")] = "",
    ) -> ToolResult:
        """Read papers within one budget, fetching what is missing; [p-…] names a block."""
        names = tuple(dict.fromkeys(papers))
        request = ReadingRequest(names, tuple(sections), question, budget_tokens)
        place = Cursor.of(cursor, request)
        unsent = place.unsent(request)
        fetched = _fetch(unsent, library, waiting, together=names)
        held = dict.fromkeys(name for name in unsent if _is_held(name, library))

        def row(name: str, excerpt: Excerpt | None) -> dict[str, Any]:
            if excerpt is None:
                return {"paper": name, "why": _message(fetched.get(name))}
            return _excerpt_row(name, excerpt, outline)

        downloading = tuple(
            name for name in unsent if name not in held and fetched.get(name, "") is None
        )
        ready = tuple(name for name in unsent if name not in downloading)
        return answer(Page(request, place, ready, downloading, held, row).answer(library))

    return tool(read_papers, ADDS_FILES, _READ)


def _cite_tool(library: Library) -> FunctionTool:
    waiting = LongCalls()

    def cite_papers(
        papers: Annotated[
            list[Word], Field(min_length=1, max_length=_MOST_CITED, description=_ANY)
        ],
        style: Annotated[str, Field(description="apa, mla, vancouver, bibtex, ris, …")] = "apa",
    ) -> ToolResult:
        """References of papers in one style."""
        cited = waiting.call(_cite, library, tuple(papers), style)
        return answer(in_room({"references": cited}, "references"))

    return tool(
        cite_papers, READS_WEB, also("warnings", record(references=rows({"type": "object"})))
    )


# --- fetching -------------------------------------------------------------------------------------


def _fetch(
    papers: Sequence[str], library: Library, waiting: LongCalls, together: Sequence[str] = ()
) -> Mapping[str, Download | PaperError | None]:
    """Return the outcomes of the papers that are not on the shelf; None for one under way.

    A call for some of the papers of an earlier call joins the work of that call: both name the
    same papers as *together*.
    """
    came: dict[str, Download | PaperError | None] = {}
    wanted: dict[str, Ids] = {}
    for name in papers:
        try:
            library.find(name)
        except NotFound:
            wanted[name] = Ids.parse(name)
        except PaperError as error:
            came[name] = error
    if not wanted:
        return came
    ids = tuple(dict.fromkeys(wanted.values()))
    call = tuple(together) or ids
    done = waiting.wait(call, lambda: dict(library.download_many(ids))) or {}
    return came | {name: done.get(wanted[name]) for name in wanted}


def _is_held(name: str, library: Library) -> bool:
    """Whether a paper is on the shelf with words to read."""
    try:
        return library.find(name).kind in ("full_text", "abstract")
    except PaperError:
        return False


def _message(outcome: Download | PaperError | None) -> str:
    if isinstance(outcome, PaperError):
        return str(outcome)
    return outcome.message if outcome else "Still downloading: call again in a minute."


def _download_row(
    name: str, fetched: Mapping[str, Download | PaperError | None], library: Library
) -> dict[str, Any]:
    """How a paper lies on the shelf, and what came of fetching it."""
    try:
        stored = library.find(name)
    except PaperError:
        return {"kind": "", "message": _message(fetched.get(name))}
    outcome = fetched.get(name)
    return {
        "kind": stored.kind,
        "version": stored.version,
        "file_path": stored.path,
        "message": _message(outcome) if outcome else _on_shelf(stored),
    }


def _on_shelf(stored: StoredPaper) -> str:
    """What is known of a text that nobody was asked for again."""
    from ..download.download import Download

    return Download(stored, cached=True, file_path=stored.path).message


# --- reading --------------------------------------------------------------------------------------


def _excerpt_row(name: str, excerpt: Excerpt, outline: bool) -> dict[str, Any]:
    """What was chosen of a paper, what was left out of it in tokens, and what is wrong with it."""
    stored = excerpt.stored
    row: dict[str, Any] = {
        "paper": name,
        "title": stored.paper.title,
        "year": stored.paper.year,
        "kind": stored.kind,
        "parts": [{"section": part.section, "text": part.text} for part in excerpt.parts],
    }
    if stored.version not in ("", "published"):
        row["version"] = stored.version
    if stored.paper.retracted:
        row["retracted"] = True
    notes = [excerpt.trouble] if excerpt.trouble else []
    if stored.kind != "full_text":
        notes.append(_on_shelf(stored))
    if notes:
        row["why"] = "; ".join(notes)
    if excerpt.left_out:
        row["left_out"] = {section: -(-size // CHARACTERS) for section, size in excerpt.left_out}
    if outline:
        row["outline"] = [
            f"{'  ' * max(0, part.level - 2)}{part.title}{f' ({roles})' if roles else ''}"
            for part, roles in with_own_roles(excerpt.sections)
        ]
    return row


# --- references ---------------------------------------------------------------------------------


def _cite(library: Library, papers: Sequence[str], style: str) -> list[dict[str, Any]]:
    cited = library.cite(papers, style)
    return [
        {"paper": name} | ({"why": str(one)} if isinstance(one, PaperError) else {"reference": one})
        for name, (_, one) in zip(papers, cited, strict=True)
    ]
