"""Toolset ``core``: tools for many papers in one call, within one token budget.

A call of `read_papers` answers after twenty seconds with the papers that are there by then. Papers
that are still being fetched keep their share of the budget, and `next_cursor` says where the next
call goes on: which papers were sent, and how many tokens are left for the others. Nothing is kept
between calls, so the next call may reach another process.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from ..errors import BadRequest, NotFound, PaperError
from ..library import Library
from ..model.identifiers import Ids
from ..model.paper import StoredPaper
from ..outline import iterate_sections_with_own_roles
from .answers import UNTRUSTED_NOTICE, estimate_tokens, limit_rows, render_structure
from .tool import ADDS_FILES, READS_WEB, LongCallRunner, TextOrNumber, Tool, make_tool

if TYPE_CHECKING:
    from ..curation.excerpts import Excerpt
    from ..download.download import Download

_MAX_READ_PAPERS, _MAX_CITED_PAPERS = 20, 200
_IDENTIFIERS_DESCRIPTION = "Identifiers of any kind."
PaperList = Annotated[
    list[TextOrNumber],
    Field(min_length=1, max_length=_MAX_READ_PAPERS, description=_IDENTIFIERS_DESCRIPTION),
]
CHARS_PER_TOKEN = 4  # of a token, as models count English
_CURSOR_PATTERN = re.compile(r"([0-9a-f]{1,8})\.(\d{1,6})\.([0-9a-f]{1,8})")
Row = dict[str, Any]
RowBuilder = Callable[[str, "Excerpt | None"], Row]


class DownloadedPapers(TypedDict):
    """Place of each paper on the shelf."""

    papers: list[Row]


class ReadPapers(TypedDict):
    """Excerpts of each paper, and the cursor for the next call."""

    papers: list[Row]
    next_cursor: NotRequired[str]
    downloading: NotRequired[list[str]]


class CitedPapers(TypedDict):
    """A reference for each paper."""

    references: list[Row]
    warnings: NotRequired[list[str]]


def tools(library: Library) -> list[Tool]:
    """Return the tools for many papers, bound to *library*."""
    return [
        _build_download_tool(library),
        _build_read_tool(library),
        _build_cite_tool(library),
    ]


def _build_download_tool(library: Library) -> Tool:
    runner = LongCallRunner("a source")

    def download_papers(papers: PaperList) -> DownloadedPapers:
        """Put papers on the shelf, given identifiers of any kind; hundreds: harvest_papers."""
        fetched = _download_missing(papers, library, runner)
        found = [{"paper": name, **_build_download_row(name, fetched, library)} for name in papers]
        return {"papers": found}

    return make_tool(download_papers, ADDS_FILES)


def _build_read_tool(library: Library) -> Tool:
    runner = LongCallRunner("a source")

    def read_papers(
        papers: PaperList,
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
    ) -> ReadPapers:
        """Read papers within one budget, fetching what is missing; [p-…] names a block."""
        names = tuple(dict.fromkeys(papers))
        request = ReadingRequest(names, tuple(sections), question, budget_tokens)
        place = Cursor.parse(cursor, request)
        unsent = place.list_unsent(request)
        fetched = _download_missing(unsent, library, runner, all_papers=names)
        held = dict.fromkeys(name for name in unsent if _is_readable(name, library))

        def row(name: str, excerpt: Excerpt | None) -> dict[str, Any]:
            """Return the answer's row for one paper."""
            if excerpt is None:
                return {"paper": name, "why": _describe_outcome(fetched.get(name))}
            return _build_excerpt_row(name, excerpt, outline)

        downloading = tuple(
            name for name in unsent if name not in held and fetched.get(name, "") is None
        )
        ready = tuple(name for name in unsent if name not in downloading)
        return ReadingAnswer(request, place, ready, downloading, held, row).build_answer(library)

    return make_tool(read_papers, ADDS_FILES)


def _build_cite_tool(library: Library) -> Tool:
    runner = LongCallRunner()

    def cite_papers(
        papers: Annotated[
            list[TextOrNumber],
            Field(min_length=1, max_length=_MAX_CITED_PAPERS, description=_IDENTIFIERS_DESCRIPTION),
        ],
        style: Annotated[str, Field(description="apa, mla, vancouver, bibtex, ris, …")] = "apa",
    ) -> CitedPapers:
        """References of papers in one style."""
        cited = runner.call_shared(_cite_each, library, tuple(papers), style)
        return limit_rows(CitedPapers(references=cited), "references")

    return make_tool(cite_papers, READS_WEB)


# --- fetching -------------------------------------------------------------------------------------


def _download_missing(
    papers: Sequence[str], library: Library, runner: LongCallRunner, all_papers: Sequence[str] = ()
) -> Mapping[str, Download | PaperError | None]:
    """Download the papers that are not on the shelf; None stands for a download in progress.

    A call for some of the papers of an earlier call joins the work of that call: both name the
    same papers as *all_papers*.
    """
    outcomes: dict[str, Download | PaperError | None] = {}
    ids_by_name: dict[str, Ids] = {}
    for name in papers:
        try:
            library.find(name)
        except NotFound:
            ids_by_name[name] = Ids.parse(name)
        except PaperError as error:
            outcomes[name] = error
    if not ids_by_name:
        return outcomes
    ids = tuple(dict.fromkeys(ids_by_name.values()))
    call = tuple(all_papers) or ids
    done = runner.wait(call, lambda: dict(library.download_many(ids))) or {}
    return outcomes | {name: done.get(ids_by_name[name]) for name in ids_by_name}


def _is_readable(name: str, library: Library) -> bool:
    """Return whether a paper is on the shelf with readable text."""
    try:
        return library.find(name).kind in ("full_text", "abstract")
    except PaperError:
        return False


def _describe_outcome(outcome: Download | PaperError | None) -> str:
    """Return a sentence about how a download ended."""
    if isinstance(outcome, PaperError):
        return outcome.text
    return outcome.message if outcome else "Still downloading: call again in a minute."


def _build_download_row(
    name: str, fetched: Mapping[str, Download | PaperError | None], library: Library
) -> dict[str, Any]:
    """Return a paper's place on the shelf and the outcome of its download."""
    try:
        stored = library.find(name)
    except PaperError:
        return {"kind": "", "message": _describe_outcome(fetched.get(name))}
    outcome = fetched.get(name)
    return {
        "kind": stored.kind,
        "version": stored.version,
        "file_path": stored.path,
        "message": _describe_outcome(outcome) if outcome else _describe_stored_text(stored),
    }


def _describe_stored_text(stored: StoredPaper) -> str:
    """Return the message for a text that is already on the shelf."""
    from ..download.download import Download

    return Download(stored, cached=True, file_path=stored.path).message


# --- reading --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ReadingRequest:
    """The arguments of a call that say what is read."""

    names: tuple[str, ...]
    sections: tuple[str, ...]
    question: str
    budget: int

    @property
    def checksum(self) -> str:
        """Return a short checksum that ties a cursor to its request."""
        said = json.dumps([self.names, self.sections, self.question])
        return f"{zlib.crc32(said.encode()):x}"


@dataclass(frozen=True, slots=True)
class Cursor:
    """The papers that were sent, as bits of a number, and the tokens left for the others."""

    sent: int
    left: int

    @classmethod
    def parse(cls, text: str, request: ReadingRequest) -> Cursor:
        """Parse a cursor; an empty one begins.

        Raises
        ------
        BadRequest
            The text is not a cursor of this request.
        """
        if not text:
            return cls(0, request.budget)
        found = _CURSOR_PATTERN.fullmatch(text.strip())
        if not found or found[3] != request.checksum:
            msg = "This cursor does not belong to these papers, sections and question."
            raise BadRequest(msg, "Repeat the call that gave it, or leave cursor out.")
        return cls(int(found[1], 16), min(int(found[2]), request.budget))

    def list_unsent(self, request: ReadingRequest) -> list[str]:
        """Return the papers that were not sent yet."""
        return [name for at, name in enumerate(request.names) if not self.sent >> at & 1]

    def advance(self, sent: Sequence[str], cost: int, request: ReadingRequest) -> Cursor:
        """Return the cursor behind an answer with the papers *sent*."""
        bits = sum(1 << request.names.index(name) for name in sent)
        return Cursor(self.sent | bits, max(0, self.left - cost))

    def format_token(self, request: ReadingRequest) -> str:
        """Return the cursor as the next call sends it."""
        return f"{self.sent:x}.{self.left}.{request.checksum}"


@dataclass(frozen=True, slots=True)
class ReadingAnswer:
    """The papers of one answer: *ready* ones are sent, those still *downloading* are named.

    ``held`` are the ready ones with a text. ``row`` makes the row of a paper.
    """

    request: ReadingRequest
    cursor: Cursor
    ready: tuple[str, ...]
    downloading: tuple[str, ...]
    held: Mapping[str, object]
    row: RowBuilder

    def build_answer(self, library: Library) -> ReadPapers:
        """Return the structure of the answer, within the share of the papers that are ready."""
        unsent = len(self.cursor.list_unsent(self.request))
        waiting = len(self.downloading)
        share = self.cursor.left * (unsent - waiting) // max(1, unsent)
        excerpts = library.texts.excerpts(
            [name for name in self.ready if name in self.held],
            sections=self.request.sections,
            question=self.request.question,
            budget=share * CHARS_PER_TOKEN,
            excess=lambda chosen: (
                CHARS_PER_TOKEN * (estimate_cost(self._to_answer(chosen)) - share)
            ),
        )
        structure = self._to_answer(excerpts)
        if len(self.ready) < 2 or estimate_cost(structure) <= share:
            return structure
        # Not even the titles fit: the second half comes with the next call.
        return replace(self, ready=self.ready[: len(self.ready) // 2]).build_answer(library)

    def _to_answer(self, excerpts: Sequence[Excerpt]) -> ReadPapers:
        """Return the answer with the cursor of the next call."""
        chosen = iter(excerpts)
        rows = [self.row(name, next(chosen) if name in self.held else None) for name in self.ready]
        structure = ReadPapers(papers=rows)
        left_out = (
            len(self.cursor.list_unsent(self.request)) - len(self.ready) - len(self.downloading)
        )
        if self.downloading or left_out:
            cursor = self.cursor.advance(self.ready, estimate_cost(structure), self.request)
            if left_out:  # the budget was too small for all of them: it begins anew
                cursor = replace(cursor, left=self.request.budget)
            structure["next_cursor"] = cursor.format_token(self.request)
        if self.downloading:
            structure["downloading"] = list(self.downloading)
        return structure


def estimate_cost(structure: Mapping[str, Any]) -> int:
    """Return the tokens of an answer in its longer form, by characters or as `tokens` counts."""
    sent = {"untrusted": UNTRUSTED_NOTICE, **structure}
    written = json.dumps(sent, ensure_ascii=False, separators=(",", ":"))
    text = render_structure(structure, untrusted=True)
    longest = max(len(written.encode()), len(text.encode(errors="replace")))
    return max(estimate_tokens(sent), -(-longest // CHARS_PER_TOKEN))


def _build_excerpt_row(name: str, excerpt: Excerpt, outline: bool) -> dict[str, Any]:
    """Return a paper's excerpts, the number of omitted tokens, and warnings."""
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
        notes.append(_describe_stored_text(stored))
    if notes:
        row["why"] = "; ".join(notes)
    if excerpt.left_out:
        row["left_out"] = {
            section: -(-size // CHARS_PER_TOKEN) for section, size in excerpt.left_out
        }
    if outline:
        row["outline"] = [
            f"{'  ' * max(0, part.level - 2)}{part.title}{f' ({roles})' if roles else ''}"
            for part, roles in iterate_sections_with_own_roles(excerpt.sections)
        ]
    return row


# --- references ---------------------------------------------------------------------------------


def _cite_each(library: Library, papers: Sequence[str], style: str) -> list[dict[str, Any]]:
    """Return a reference for each paper, or the reason for its absence."""
    cited = library.cite(papers, style)
    return [
        {"paper": name} | ({"why": one.text} if isinstance(one, PaperError) else {"reference": one})
        for name, (_, one) in zip(papers, cited, strict=True)
    ]
