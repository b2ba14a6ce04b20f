"""Toolset ``core``: search PubMed, download papers, read what is on the shelf."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from ..library import Library
from ..model.dates import parse_written_date
from ..model.identifiers import Ids
from ..model.paper import Paper
from .answers import attach_blocks, build_shelf_link, limit_rows, pick_members
from .tool import (
    ADDS_FILES,
    READS_SHELF,
    READS_WEB,
    Count,
    DateType,
    LongCallRunner,
    MaxDate,
    MinDate,
    Sort,
    Start,
    TextOrNumber,
    Tool,
    Types,
    is_toolset_enabled,
    make_tool,
)

if TYPE_CHECKING:
    from ..curation.reading import Reading
    from ..download.download import Download
    from ..model.paper import SearchResult, StoredPaper

MAX_AUTHORS = 100  # as many as in toolset pubmed
STILL_DOWNLOADING = (
    "Still downloading: call download_paper again with the same arguments in a minute."
)
Row = dict[str, Any]


class PubmedSearchPage(TypedDict):
    """The result of a PubMed search."""

    query: str
    effective_query: str
    total: int
    next_start: int | None
    warnings: list[str]
    papers: list[Row]


class DownloadedPaper(TypedDict):
    """A paper's place on the shelf, and the attempts to get it."""

    success: bool
    file_path: str
    source: str
    message: str
    kind: str
    version: str
    preprint_version: str
    via: str
    verdict: str
    license: str
    permissions: Row
    retracted: bool
    attempts: list[Row]


class ReadPage(TypedDict):
    """A page of a paper on the shelf."""

    title: NotRequired[str]
    kind: str
    version: str
    outline: list[Row]
    objects: list[Row]
    objects_shown_by: NotRequired[str]
    doubts: NotRequired[str]
    warnings: NotRequired[list[str]]
    text: str
    next_start: int | None


class PaperListPage(TypedDict):
    """Papers on the shelf."""

    total: int
    papers: list[Row]
    next_start: int | None
    warnings: NotRequired[list[str]]


def tools(library: Library) -> list[Tool]:
    """Return the tools of the set, bound to *library*."""
    return [
        *_build_search_tools(library),
        _build_download_tool(library),
        _build_read_tool(library),
        _build_list_tool(library),
    ]


def _build_search_tools(library: Library) -> list[Tool]:
    runner = LongCallRunner("PubMed")

    def search_pubmed_lr(
        ligand: Annotated[str, Field(description="Gene symbol or name.")],
        receptor: Annotated[str, Field(description="Gene symbol or name.")],
        max_results: Count = 5,
        start: Start = 0,
        sort_by: Sort = "pub_date",
    ) -> PubmedSearchPage:
        """Search PubMed for the interaction of a ligand and its receptor (symbols or names)."""
        found = runner.call_shared(
            library.pubmed.search_ligand_receptor,
            ligand,
            receptor,
            max_results=max_results,
            start=start,
            sort_by=sort_by,
        )
        pair = {"ligand": ligand, "receptor": receptor}
        return _to_search_answer(found, lambda paper: {**paper.row(), **pair}, start)

    return [
        _build_search_tool(
            library,
            runner,
            Paper.row,
            "search_pubmed",
            "Search PubMed in its own query syntax; results with abstracts.",
        ),
        make_tool(search_pubmed_lr, READS_WEB),
        _build_search_tool(
            library,
            runner,
            Paper.short_row,
            "search_pubmed_minimal",
            "Search PubMed without abstracts: long lists at a fraction of the tokens.",
        ),
    ]


def _build_search_tool(
    library: Library,
    runner: LongCallRunner,
    row: Callable[[Paper], Row],
    name: str,
    description: str,
) -> Tool:
    """Return a general search tool; *row* makes the row of a paper."""

    def search(
        query: Annotated[str, Field(description="PubMed query.")],
        max_results: Count = 10,
        start: Start = 0,
        sort_by: Sort = "pub_date",
        min_date: MinDate = "",
        max_date: MaxDate = "",
        date_type: DateType = "pdat",
        publication_types: Types = (),
    ) -> PubmedSearchPage:
        """Search PubMed and return a page of papers."""
        found = runner.call_shared(
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
        return _to_search_answer(found, row, start)

    return make_tool(search, READS_WEB, name=name, description=description)


def _build_download_tool(library: Library) -> Tool:
    runner = LongCallRunner("a source")

    def download_paper(
        pmid: Annotated[TextOrNumber, Field(description="PubMed ID.")] = "",
        doi: Annotated[TextOrNumber, Field(description="DOI or its URL.")] = "",
        pmcid: Annotated[TextOrNumber, Field(description="PMC ID.")] = "",
        arxiv_id: Annotated[TextOrNumber, Field(description="arXiv ID.")] = "",
        prefer_pmc: Annotated[bool, Field(description="Try PMC before publishers.")] = True,
        output_path: Annotated[
            str, Field(description="Copy the text to this path on the shelf.")
        ] = "",
        force: Annotated[bool, Field(description="Download again even if on the shelf.")] = False,
    ) -> DownloadedPaper:
        """Put a paper's full text (else its abstract) on the shelf, given one identifier."""
        ids = Ids.of(pmid=pmid, doi=doi, pmcid=pmcid, arxiv=arxiv_id)
        download: Download | None = runner.wait(
            (ids, prefer_pmc, output_path, force),
            lambda: library.download(
                ids, prefer_pmc=prefer_pmc, output_path=output_path, force=force
            ),
        )
        if download is None:
            return _build_pending_answer(ids)
        row = cast("DownloadedPaper", download.row())
        return attach_blocks(row, [build_shelf_link(download.stored)])

    return make_tool(download_paper, ADDS_FILES)


def _build_pending_answer(ids: Ids) -> DownloadedPaper:
    """Return the answer for a download that continues after the call."""
    blank = dict.fromkeys(DownloadedPaper.__annotations__, "")
    told: Any = {
        "success": False,
        "message": f"{ids}. {STILL_DOWNLOADING}",
        "retracted": False,
        "attempts": [],
    }
    return cast("DownloadedPaper", {**blank, **told})


def _build_read_tool(library: Library) -> Tool:
    shown_by = "paper_objects" if is_toolset_enabled("objects", library) else ""

    def read_paper(
        paper: Annotated[TextOrNumber, Field(description="Identifier, or file name on the shelf.")],
        section: Annotated[str, Field(description="Heading or role: methods, results, …")] = "",
        start: Start = 0,
        max_chars: Annotated[
            int, Field(ge=1, le=50_000, description="Maximum number of characters.")
        ] = 8000,
        references: Annotated[bool, Field(description="Include the reference list.")] = True,
    ) -> ReadPage:
        """Read a paper on the shelf, by section or from start to next_start."""
        reading = library.read(
            paper, section=section, start=start, max_chars=max_chars, references=references
        )
        return _to_page(reading, shown_by, section, start)

    return make_tool(read_paper, READS_SHELF)


def _to_page(reading: Reading, shown_by: str, section: str, start: int) -> ReadPage:
    """Return a page of a paper as the tool's structure."""
    objects = reading.list_object_rows()
    page = ReadPage(
        kind=reading.kind,
        version=reading.version,
        outline=[] if start else _list_outline_rows(reading),  # once, with the first page
        objects=objects,
        text=reading.text,
        next_start=reading.next_start,
    )
    if shown_by and objects:
        page["objects_shown_by"] = shown_by
    if reading.doubts:
        page["doubts"] = reading.doubts
    if start and not reading.text:
        page["warnings"] = [f"start={start} lies beyond the end."]
    if not section and reading.text.startswith("- Title: "):
        return page  # its first line names the paper
    return {"title": reading.title, **page}


def _list_outline_rows(reading: Reading) -> list[Row]:
    """Return the outline of a paper without its title."""
    rows = reading.rows()
    is_title = bool(rows) and rows[0]["heading"].rstrip(".") == reading.title.rstrip(".")
    return rows[1:] if is_title else rows


def _build_list_tool(library: Library) -> Tool:
    def list_papers(
        text: Annotated[str, Field(description="Words in title or abstract.")] = "",
        kind: Annotated[
            Literal["", "full_text", "abstract", "record", "rejected"],
            Field(description="Kind of text."),
        ] = "",
        min_date: Annotated[TextOrNumber, Field(description="Earliest year.")] = "",
        max_date: Annotated[TextOrNumber, Field(description="Latest year.")] = "",
        journal: Annotated[str, Field(description="Journal's name.")] = "",
        job_id: Annotated[str, Field(description="Only papers of this harvest.")] = "",
        start: Start = 0,
        max_results: Count = 20,
    ) -> PaperListPage:
        """List the papers on the shelf, with the paths of their texts and PDFs."""
        years = [get_limit_year(min_date, "min_date"), get_limit_year(max_date, "max_date")]
        filters: dict[str, Any] = {
            "text": text, "kind": kind, "min_date": years[0], "max_date": years[1],
            "journal": journal, "job_id": job_id,
        }  # fmt: skip
        total, page = library.list_papers(**filters, start=start, max_results=max_results)
        end = start + len(page)
        warnings = _warn_beyond_end(start, total) if total else library.texts.emptied_by(**filters)
        warnings += warn_of_ignored_days(min_date, max_date)
        structure = PaperListPage(
            total=total,
            papers=[_to_shelf_row(stored, library) for stored in page],
            next_start=end if end < total else None,
        )
        if warnings:
            structure["warnings"] = warnings
        return limit_rows(structure, "papers", start)

    return make_tool(list_papers, READS_SHELF)


def _to_search_answer(
    found: SearchResult, row: Callable[[Paper], Row], start: int
) -> PubmedSearchPage:
    """Return search results as the tool's structure."""
    warnings = [*found.warnings, *_warn_beyond_end(start, found.total)]
    papers = [keep_first_authors(row(paper)) for paper in found.papers]
    return limit_rows(
        pick_members(PubmedSearchPage, found, warnings=warnings, papers=papers), "papers", start
    )


def get_limit_year(written: str, name: str) -> str:
    """Return the year of a date limit, or an empty text if no limit is given."""
    return parse_written_date(written, name)[:4] if written.strip("0") else ""


def warn_of_ignored_days(*limits: str) -> list[str]:
    """Return a warning for limits more precise than a year, because texts are filtered by year."""
    precise = [one for one in limits if len(one.strip()) > len("2026")]
    return [f"Filtered by whole years, not by {' and '.join(precise)}."] if precise else []


def keep_first_authors(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with the first hundred authors: some papers have thousands."""
    names = row.get("authors", "").split(", ")
    if len(names) <= MAX_AUTHORS:
        return row
    told = f"… and {len(names) - MAX_AUTHORS:,} more"
    return {**row, "authors": ", ".join([*names[:MAX_AUTHORS], told])}


def _warn_beyond_end(start: int, total: int) -> list[str]:
    """Return a warning for a page that starts after the last result."""
    if 0 < total <= start:
        return [f"start={start} lies beyond the end: there are {total}, counted from 0."]
    return []


def _to_shelf_row(stored: StoredPaper, library: Library) -> dict[str, Any]:
    """Return a stored paper as a row of the list."""
    row = {**stored.paper.short_row(), **stored.text_row()}
    if pdf := library.shelf.pdfs.find_pdf(stored):
        row["pdf"] = str(pdf.path)
    if stored.shows_evidence:  # rarely: every row costs tokens
        row |= {"verdict": stored.verdict, "evidence": stored.evidence}
    return row
