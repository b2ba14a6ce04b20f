"""Toolset ``literature``: arXiv, Semantic Scholar, and one search across all sources.

What toolset ``literature`` answers: our dataclasses as the JSON of its contract.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from fastmcp.tools import FunctionTool, ToolResult
from pydantic import Field

from ..library import Library
from . import schemas
from .answers import answer, bibtex_answer, in_room
from .core import (
    MOST_AUTHORS,
    READS_WEB,
    AnyPaper,
    MaxDate,
    MinDate,
    Start,
    Word,
    few_authors,
    tool,
)
from .long_calls import LongCalls
from .schemas import ArxivSort, Hundred, MergedSort, SourceName

if TYPE_CHECKING:
    from ..model.paper import Paper
    from ..sources.semantic_scholar import ScholarPage, ScholarPaper

_ARXIV_SORTS = {"pub_date": "submittedDate", "update_date": "lastUpdatedDate"}
ArxivId = Annotated[Word, Field(description="arXiv ID.")]


def tools(library: Library) -> list[FunctionTool]:
    """Every tool of the set, working on *library*."""
    # Each site keeps us waiting in its own name.
    arxiv, scholar, everybody = (
        LongCalls("arXiv"),
        LongCalls("Semantic Scholar"),
        LongCalls("a source"),
    )
    return [
        _search_papers_tool(library, everybody),
        _arxiv_search_tool(library, arxiv),
        *_preprint_tools(library, arxiv),
        _scholar_search_tool(library, scholar),
        _citations_tool(library, scholar),
        *_scholar_paper_tools(library, scholar),
    ]


def _search_papers_tool(library: Library, waiting: LongCalls) -> FunctionTool:
    def search_papers(  # noqa: PLR0913, PLR0917 - what sources can be asked for
        query: Annotated[str, Field(description="Words, phrases, AND, OR, NOT.")],
        sources: Annotated[Sequence[SourceName], Field(description="Only these; none: all.")] = (),
        max_results: Hundred = 10,
        min_date: MinDate = "",
        max_date: MaxDate = "",
        author: Annotated[Word, Field(description="An author of each paper.")] = "",
        sort_by: MergedSort = "relevance",
        abstracts: Annotated[bool, Field(description="With abstracts.")] = False,
        start: Start = 0,
    ) -> ToolResult:
        """Search PubMed, Europe PMC, arXiv and Semantic Scholar at once; each paper once."""
        gathered = waiting.call(
            library.search_papers,
            query,
            max_results=max_results,
            min_date=min_date,
            max_date=max_date,
            author=author,
            sort_by=sort_by,
            among=tuple(sources),
        )
        structure = {
            "query": gathered.query,
            "sources": [one.row() for one in gathered.asked],
            "warnings": list(gathered.warnings),
            "papers": [
                few_authors(found.row(abstract=abstracts)) for found in gathered.papers[start:]
            ],
        }
        return answer(in_room(structure, "papers", start))

    return tool(search_papers, READS_WEB, schemas.GATHERED)


def _arxiv_search_tool(library: Library, waiting: LongCalls) -> FunctionTool:
    def search_arxiv(
        query: Annotated[str, Field(description="Words, or arXiv's query.")],
        max_results: Hundred = 10,
        min_date: MinDate = "",
        max_date: MaxDate = "",
        author: Annotated[Word, Field(description="An author of each paper.")] = "",
        category: Annotated[Word, Field(description="Such as q-bio.GN.")] = "",
        sort_by: ArxivSort = "relevance",
        start: Start = 0,
    ) -> ToolResult:
        """Search arXiv; words, or its own fields (ti:, abs:, cat:, AND, ANDNOT)."""
        found = waiting.call(
            library.search_arxiv,
            query,
            max_results=max_results,
            min_date=min_date,
            max_date=max_date,
            author=author,
            category=category,
            sort_by=_ARXIV_SORTS.get(sort_by, sort_by),
            start=start,
        )
        structure = {
            "total": found.total,
            "papers": [preprint_row(paper) for paper in found.papers],
            "next_start": found.next_start,
            "effective_query": found.effective_query,
            "warnings": list(found.warnings),
        }
        return answer(in_room(structure, "papers", start))

    return tool(search_arxiv, READS_WEB, schemas.PREPRINTS)


def _preprint_tools(library: Library, waiting: LongCalls) -> list[FunctionTool]:
    def get_arxiv_paper(arxiv_id: ArxivId) -> ToolResult:
        """Get one arXiv record, in the version named or the newest."""
        return answer(preprint_row(waiting.call(library.arxiv_paper, arxiv_id)))

    def arxiv_to_bibtex(arxiv_id: ArxivId) -> ToolResult:
        """Make a BibTeX entry of an arXiv paper."""
        from ..model.identifiers import arxiv_version

        paper = waiting.call(library.arxiv_paper, arxiv_id)
        return bibtex_answer(paper, version=arxiv_version(arxiv_id))

    return [
        tool(get_arxiv_paper, READS_WEB, schemas.PREPRINT),
        tool(arxiv_to_bibtex, READS_WEB, schemas.BIBTEX),
    ]


def _scholar_search_tool(library: Library, waiting: LongCalls) -> FunctionTool:
    def search_semantic_scholar(
        query: Annotated[str, Field(description="Plain words.")],
        max_results: Hundred = 10,
        min_date: MinDate = "",
        max_date: MaxDate = "",
        fields_of_study: Annotated[
            Sequence[Word], Field(description="Such as Biology, Medicine.")
        ] = (),
        start: Start = 0,
        bulk: Annotated[bool, Field(description="All hits, with operators, unranked.")] = False,
        token: Annotated[str, Field(description="With bulk: token of the last answer.")] = "",
    ) -> ToolResult:
        """Search Semantic Scholar in plain words; with citation counts."""
        page = waiting.call(
            library.search_semantic_scholar,
            query,
            max_results=max_results,
            min_date=min_date,
            max_date=max_date,
            fields_of_study=tuple(fields_of_study),
            start=start,
            bulk=bulk,
            token=token,
        )
        return answer(in_room(scholar_rows(page), "papers", start))

    return tool(search_semantic_scholar, READS_WEB, schemas.SCHOLARS)


def _citations_tool(library: Library, waiting: LongCalls) -> FunctionTool:
    def get_paper_citations(
        paper: AnyPaper, max_results: Hundred = 10, start: Start = 0
    ) -> ToolResult:
        """List the papers that cite one, the newest first."""
        page = waiting.call(library.citing_papers, paper, max_results=max_results, start=start)
        return answer(in_room(scholar_rows(page), "papers", start))

    return tool(get_paper_citations, READS_WEB, schemas.SCHOLARS)


def _scholar_paper_tools(library: Library, waiting: LongCalls) -> list[FunctionTool]:
    def get_semantic_scholar_paper(paper: AnyPaper) -> ToolResult:
        """Get one Semantic Scholar record, with citation counts."""
        found = waiting.call(library.scholar_paper, paper)
        return answer({**scholar_row(found), "tldr": found.tldr})

    def semantic_scholar_to_bibtex(paper: AnyPaper) -> ToolResult:
        """Make a BibTeX entry of a Semantic Scholar record."""
        found = waiting.call(library.scholar_paper, paper)
        return bibtex_answer(found.paper)

    return [
        tool(get_semantic_scholar_paper, READS_WEB, schemas.SCHOLAR),
        tool(semantic_scholar_to_bibtex, READS_WEB, schemas.BIBTEX),
    ]


def preprint_row(paper: Paper) -> dict[str, Any]:
    """A preprint as arXiv's own record has it; ``id`` carries the version where it is known."""
    name = f"{paper.ids.arxiv}v{paper.version}" if paper.version else paper.ids.arxiv
    return {
        "id": name,
        "title": paper.title,
        "authors": [author.name for author in paper.authors[:MOST_AUTHORS]],
        **_author_count(paper),
        "abstract": paper.abstract,
        "published": paper.published,
        "updated": paper.revised,
        "url": f"https://arxiv.org/abs/{name}",
        "pdf_url": f"https://arxiv.org/pdf/{name}",
        "categories": list(paper.categories),
        "primary_category": paper.categories[0] if paper.categories else "",
        "doi": paper.ids.doi,
        "retracted": paper.retracted,
    }


def _author_count(paper: Paper) -> dict[str, Any]:
    """How many authors there are, where not all are named."""
    count = len(paper.authors)
    return {"author_count": count} if count > MOST_AUTHORS else {}


def scholar_row(found: ScholarPaper) -> dict[str, Any]:
    """A paper as Semantic Scholar knows it; null where it says nothing."""
    paper = found.paper
    return {
        "paper_id": paper.ids.s2,
        "title": paper.title,
        "abstract": paper.abstract or None,
        "year": int(paper.year) if paper.year.isdigit() else None,
        "authors": [
            {"author_id": number, "name": author.name}
            for author, number in zip(paper.authors, found.author_ids[:MOST_AUTHORS], strict=False)
        ],
        **_author_count(paper),
        "citation_count": found.citation_count,
        "reference_count": found.reference_count,
        "influential_citation_count": found.influential_citation_count,
        "url": found.url,
        "venue": paper.journal or None,
        "publication_date": paper.published if len(paper.published) > len("2026") else None,
        "doi": paper.ids.doi,
        "pmid": paper.ids.pmid,
        "pmcid": paper.ids.pmcid,
        "arxiv_id": paper.ids.arxiv,
        "open_access_pdf": found.open_copy,
    }


def scholar_rows(page: ScholarPage) -> dict[str, Any]:
    """A page of papers."""
    return {
        "total": page.total,
        "papers": [scholar_row(found) for found in page.papers],
        "next_start": page.next_start,
        "token": page.token,
        "warnings": list(page.warnings),
    }
