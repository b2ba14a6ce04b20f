"""Toolset ``core``: search PubMed, download papers, read what is on the shelf."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastmcp.tools import FunctionTool, ToolResult
from mcp.types import Tool as MCPTool
from mcp.types import ToolAnnotations
from pydantic import BeforeValidator, Field

from ..library import Library
from ..model.dates import read_date
from ..model.identifiers import Ids
from ..model.paper import Paper
from . import schemas
from .answers import answer, in_room, refusing, shelf_link
from .long_calls import LongCalls, revocable
from .toolsets import is_on

if TYPE_CHECKING:
    from ..curation.reading import Reading
    from ..download.download import Download
    from ..model.paper import SearchResult, StoredPaper

MOST_AUTHORS = 100  # as many as in toolset pubmed
Sort = Annotated[
    Literal["pub_date", "relevance", "author", "journal"],
    Field(description="Order."),
]
DateType = Annotated[
    Literal["pdat", "edat", "mdat"],
    Field(description="Publication, entry or change."),
]
Types = Annotated[Sequence[str], Field(description="Such as Review.")]
Source = Annotated[Literal["corpus", "mirror"], Field(description="mirror: all PubMed, if here.")]
Count = Annotated[int, Field(ge=1, le=1000, description="Most papers.")]
Start = Annotated[int, Field(ge=0, le=schemas.LAST, description="The last next_start.")]


def _as_text(value: object) -> object:
    """Turn a whole number or null into text; the schema refuses what else is no text."""
    if value is None:
        return ""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if whole else value


# Models send identifiers and years as numbers, and null for what they leave out.
Word = Annotated[str, BeforeValidator(_as_text)]
AnyPaper = Annotated[Word, Field(description="Identifier of any kind.")]
MinDate = Annotated[Word, Field(description="From 2020 or 2020-01-31.")]
MaxDate = Annotated[Word, Field(description="Until then, included.")]

_SPELLED = {
    "arxiv": "arXiv", "rag": "RAG", "pubmed": "PubMed", "bibtex": "BibTeX", "mesh": "MeSH",
    "ids": "IDs", "lr": "ligand–receptor", "semantic": "Semantic", "scholar": "Scholar",
    "api": "API",
}  # fmt: skip

READS_WEB = ToolAnnotations(
    read_only_hint=True, idempotent_hint=True, destructive_hint=False, open_world_hint=True
)
# By the protocol what only reads is idempotent: the word would only cost tokens.
READS_SHELF = ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False)
ADDS_FILES = ToolAnnotations(
    read_only_hint=False, idempotent_hint=True, destructive_hint=False, open_world_hint=True
)


class _Tool(FunctionTool):
    """A tool whose definition has nothing but what a host needs: FastMCP's note on tags costs."""

    def to_mcp_tool(self, **overrides: Any) -> MCPTool:
        shown = {"_meta": self.meta, "inputSchema": schemas.compact(self.parameters)}
        return super().to_mcp_tool(**{**shown, **overrides})


def tools(library: Library) -> list[FunctionTool]:
    """Every tool of the set, working on *library*."""
    return [
        *_search_tools(library),
        _download_tool(library),
        _read_tool(library),
        _list_tool(library),
    ]


def tool(
    function: Callable[..., ToolResult], hints: ToolAnnotations, output: dict[str, Any]
) -> FunctionTool:
    """Make a tool whose expected errors are results, and whose title is its name in words."""
    words = (_SPELLED.get(word, word) for word in function.__name__.split("_"))
    title = " ".join(words)
    title = title[0].upper() + title[1:]
    made = _Tool.from_function(
        revocable(refusing(function)), title=title, annotations=hints, output_schema=output
    )
    return made.model_copy(update={"parameters": schemas.opened(made.parameters)})


def _search_tools(library: Library) -> list[FunctionTool]:
    waiting = LongCalls("PubMed")

    def search_pubmed_lr(
        ligand: Annotated[str, Field(description="Gene symbol or name.")],
        receptor: Annotated[str, Field(description="Gene symbol or name.")],
        max_results: Count = 5,
        start: Start = 0,
        sort_by: Sort = "pub_date",
    ) -> ToolResult:
        """Search PubMed for the interaction of a ligand and its receptor (symbols or names)."""
        found = waiting.call(
            library.search_ligand_receptor,
            ligand,
            receptor,
            max_results=max_results,
            start=start,
            sort_by=sort_by,
        )
        pair = {"ligand": ligand, "receptor": receptor}
        return _search_answer(found, lambda paper: {**paper.row(), **pair}, start)

    whole = _search(library, waiting, Paper.row)
    whole.__name__ = "search_pubmed"
    whole.__doc__ = "Search PubMed in its own query syntax; results with abstracts."
    minimal = _search(library, waiting, Paper.short_row)
    minimal.__name__ = "search_pubmed_minimal"
    minimal.__doc__ = "Search PubMed without abstracts: long lists at a fraction of the tokens."
    return [
        tool(whole, READS_WEB, schemas.SEARCH),
        tool(search_pubmed_lr, READS_WEB, schemas.SEARCH),
        tool(minimal, READS_WEB, schemas.SEARCH),
    ]


def _search(
    library: Library, waiting: LongCalls, row: Callable[[Paper], dict[str, Any]]
) -> Callable[..., ToolResult]:
    """The two general searches: *row* says what each gives of a paper."""

    def search(
        query: Annotated[str, Field(description="PubMed query.")],
        max_results: Count = 10,
        start: Start = 0,
        sort_by: Sort = "pub_date",
        min_date: MinDate = "",
        max_date: MaxDate = "",
        date_type: DateType = "pdat",
        publication_types: Types = (),
    ) -> ToolResult:
        found = waiting.call(
            library.search,
            query,
            max_results=max_results,
            start=start,
            sort_by=sort_by,
            min_date=min_date,
            max_date=max_date,
            date_type=date_type,
            publication_types=tuple(publication_types),
        )
        return _search_answer(found, row, start)

    return search


def _download_tool(library: Library) -> FunctionTool:
    waiting = LongCalls("a source")

    def download_paper(
        pmid: Annotated[Word, Field(description="PubMed ID.")] = "",
        doi: Annotated[Word, Field(description="DOI or its URL.")] = "",
        pmcid: Annotated[Word, Field(description="PMC ID.")] = "",
        arxiv_id: Annotated[Word, Field(description="arXiv ID.")] = "",
        prefer_pmc: Annotated[bool, Field(description="Ask PMC before publishers.")] = True,
        output_path: Annotated[
            str, Field(description="Copy the text to this path on the shelf.")
        ] = "",
        force: Annotated[bool, Field(description="Fetch again what is there.")] = False,
    ) -> ToolResult:
        """Put a paper's full text (else its abstract) on the shelf, given one identifier."""
        ids = Ids.of(pmid=pmid, doi=doi, pmcid=pmcid, arxiv=arxiv_id)
        download: Download | None = waiting.wait(
            (ids, prefer_pmc, output_path, force),
            lambda: library.download(
                ids, prefer_pmc=prefer_pmc, output_path=output_path, force=force
            ),
        )
        if download is None:
            return answer(schemas.still_downloading(ids), untrusted=False)
        return answer(download.row(), links=[shelf_link(download.stored)])

    return tool(download_paper, ADDS_FILES, schemas.DOWNLOAD)


def _read_tool(library: Library) -> FunctionTool:
    door = "paper_objects" if is_on("objects", library) else ""

    def read_paper(
        paper: Annotated[Word, Field(description="Identifier, or file name on the shelf.")],
        section: Annotated[str, Field(description="Heading or role: methods, results, …")] = "",
        start: Start = 0,
        max_chars: Annotated[
            int, Field(ge=1, le=50_000, description="Most characters returned.")
        ] = 8000,
        references: Annotated[bool, Field(description="Include the reference list.")] = True,
    ) -> ToolResult:
        """Read a paper on the shelf, by section or from start to next_start."""
        reading = library.read(
            paper, section=section, start=start, max_chars=max_chars, references=references
        )
        beyond = [f"start={start} lies beyond the end."] if start and not reading.text else []
        objects = reading.object_rows()
        # A page from the beginning names the paper in its first line.
        named = not section and reading.text.startswith("- Title: ")
        return answer(
            {
                **({} if named else {"title": reading.title}),
                "kind": reading.kind,
                "version": reading.version,
                "outline": [] if start else _without_title(reading),  # once, with the first page
                "objects": objects,
                **({"objects_shown_by": door} if door and objects else {}),
                **({"doubts": reading.doubts} if reading.doubts else {}),
                **({"warnings": beyond} if beyond else {}),
                "text": reading.text,
                "next_start": reading.next_start,
            }
        )

    return tool(read_paper, READS_SHELF, schemas.READ)


def _without_title(reading: Reading) -> list[dict[str, Any]]:
    """The outline of a paper; that all of it stands under its title, everybody knows."""
    rows = reading.rows()
    is_title = bool(rows) and rows[0]["heading"].rstrip(".") == reading.title.rstrip(".")
    return rows[1:] if is_title else rows


def _list_tool(library: Library) -> FunctionTool:
    def list_papers(
        text: Annotated[str, Field(description="Words in title or abstract.")] = "",
        kind: Annotated[
            Literal["", "full_text", "abstract", "record", "rejected"],
            Field(description="Kind of text."),
        ] = "",
        min_date: Annotated[Word, Field(description="Earliest year.")] = "",
        max_date: Annotated[Word, Field(description="Latest year.")] = "",
        journal: Annotated[str, Field(description="Journal's name.")] = "",
        job_id: Annotated[str, Field(description="Only papers of this harvest.")] = "",
        start: Start = 0,
        max_results: Count = 20,
    ) -> ToolResult:
        """List the papers on the shelf."""
        years = [year_of(min_date, "min_date"), year_of(max_date, "max_date")]
        filters = {
            "text": text, "kind": kind, "year_from": years[0], "year_to": years[1],
            "journal": journal, "job_id": job_id,
        }  # fmt: skip
        total, page = library.list_papers(**filters, start=start, max_results=max_results)
        end = start + len(page)
        rows = [_on_shelf(stored) for stored in page]
        warnings = _beyond_end(start, total) if total else library.emptied_by(**filters)
        warnings += whole_years(min_date, max_date)
        structure = {
            "total": total,
            "papers": rows,
            "next_start": end if end < total else None,
            **({"warnings": warnings} if warnings else {}),
        }
        return answer(in_room(structure, "papers", start))

    return tool(list_papers, READS_SHELF, schemas.LIST)


def _search_answer(
    found: SearchResult, row: Callable[[Paper], dict[str, Any]], start: int = 0
) -> ToolResult:
    structure = {
        "query": found.query,
        "effective_query": found.effective_query,
        "total": found.total,
        "next_start": found.next_start,
        "warnings": [*found.warnings, *_beyond_end(start, found.total)],
        "papers": [few_authors(row(paper)) for paper in found.papers],
    }
    return answer(in_room(structure, "papers", start))


def year_of(written: str, name: str) -> str:
    """The year of a limit; empty where there is none."""
    return read_date(written, name)[:4] if written.strip("0") else ""


def whole_years(*limits: str) -> list[str]:
    """A warning for limits more precise than the year, by which texts are filtered."""
    precise = [one for one in limits if len(one.strip()) > len("2026")]
    return [f"Filtered by whole years, not by {' and '.join(precise)}."] if precise else []


def few_authors(row: dict[str, Any]) -> dict[str, Any]:
    """A row with the first hundred of its authors: some papers have thousands."""
    names = row.get("authors", "").split(", ")
    if len(names) <= MOST_AUTHORS:
        return row
    told = f"… and {len(names) - MOST_AUTHORS:,} more"
    return {**row, "authors": ", ".join([*names[:MOST_AUTHORS], told])}


def _beyond_end(start: int, total: int) -> list[str]:
    """A warning for a page that is empty because it lies beyond the end."""
    if 0 < total <= start:
        return [f"start={start} lies beyond the end: there are {total}, counted from 0."]
    return []


def _on_shelf(stored: StoredPaper) -> dict[str, Any]:
    row = {**stored.paper.short_row(), **stored.text_row()}
    if stored.shows_evidence:  # rarely: every row costs tokens
        row |= {"verdict": stored.verdict, "evidence": stored.evidence}
    return row
