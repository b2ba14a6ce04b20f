"""Toolset ``literature``: arXiv, Semantic Scholar, and one search across all sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from ..library import Library
from ..model.sites import SEARCHED_SOURCES
from .answers import limit_rows, pick_members
from .core import MAX_AUTHORS, keep_first_authors
from .tool import (
    ADDS_FILES,
    READS_WEB,
    AnyPaper,
    CountTo100,
    LongCallRunner,
    MaxDate,
    MinDate,
    Start,
    TextOrNumber,
    Tool,
    make_tool,
)

if TYPE_CHECKING:
    from ..model.paper import Paper
    from ..sources.semantic_scholar import ScholarPage, ScholarPaper

    SourceName = str
else:
    SourceName = Literal[tuple(SEARCHED_SOURCES)]
ArxivSort = Annotated[Literal["relevance", "pub_date", "update_date"], Field(description="Order.")]
MergedSort = Annotated[Literal["relevance", "pub_date"], Field(description="Order.")]
_ARXIV_SORTS = {"pub_date": "submittedDate", "update_date": "lastUpdatedDate"}
WatchKind = Literal["query", "author", "paper", "review"]
ArxivId = Annotated[TextOrNumber, Field(description="arXiv ID.")]
Row = dict[str, Any]


class Gathered(TypedDict):
    """Merged results of all sources, each paper once."""

    query: str
    sources: list[Row]
    warnings: list[str]
    papers: list[Row]
    next_start: NotRequired[int | None]


class Preprint(TypedDict):
    """A preprint as arXiv's own record has it; ``id`` carries the version where it is known."""

    id: str
    title: str
    authors: list[str]
    author_count: NotRequired[int]
    abstract: str
    published: str
    updated: str
    url: str
    pdf_url: str
    categories: list[str]
    primary_category: str
    doi: str
    retracted: bool


class Preprints(TypedDict):
    """A page of preprints."""

    total: int
    papers: list[Preprint]
    next_start: int | None
    effective_query: str
    warnings: list[str]


class ScholarRecord(TypedDict):
    """A paper as Semantic Scholar knows it; null where it says nothing."""

    paper_id: str
    title: str
    abstract: str | None
    year: int | None
    authors: list[Row]
    author_count: NotRequired[int]
    citation_count: int | None
    reference_count: int | None
    influential_citation_count: int | None
    url: str
    venue: str | None
    publication_date: str | None
    doi: str
    pmid: str
    pmcid: str
    arxiv_id: str
    open_access_pdf: str | None
    tldr: NotRequired[str | None]


class ScholarRecords(TypedDict):
    """A page of papers."""

    total: int | None
    papers: list[ScholarRecord]
    next_start: int | None
    token: str
    warnings: list[str]


class WatchNews(TypedDict):
    """Unseen news of all watches."""

    news: list[Row]
    watches: list[Row]
    warnings: list[str]


class Bibtex(TypedDict):
    """An entry for a BibTeX file."""

    bibtex: str


def tools(library: Library) -> list[Tool]:
    """Return the tools of the set, bound to *library*."""
    # Each site keeps us waiting in its own name.
    arxiv, scholar, everybody = (
        LongCallRunner("arXiv"),
        LongCallRunner("Semantic Scholar"),
        LongCallRunner("a source"),
    )
    return [
        _build_merged_search_tool(library, everybody),
        _build_arxiv_search_tool(library, arxiv),
        *_build_preprint_tools(library, arxiv),
        _build_scholar_search_tool(library, scholar),
        _build_citations_tool(library, scholar),
        *_build_scholar_paper_tools(library, scholar),
        _build_watch_tool(library, everybody),
    ]


def _build_merged_search_tool(library: Library, runner: LongCallRunner) -> Tool:
    def search_papers(  # noqa: PLR0913, PLR0917 - what sources can be asked for
        query: Annotated[str, Field(description="Words, phrases, AND, OR, NOT.")],
        sources: Annotated[Sequence[SourceName], Field(description="Only these; none: all.")] = (),
        max_results: CountTo100 = 10,
        min_date: MinDate = "",
        max_date: MaxDate = "",
        author: Annotated[TextOrNumber, Field(description="An author of each paper.")] = "",
        sort_by: MergedSort = "relevance",
        abstracts: Annotated[bool, Field(description="With abstracts.")] = False,
        start: Start = 0,
    ) -> Gathered:
        """Search PubMed, Europe PMC, arXiv and Semantic Scholar at once; each paper once."""
        gathered = runner.call_shared(
            library.search_papers,
            query,
            max_results=max_results,
            min_date=min_date,
            max_date=max_date,
            author=author,
            sort_by=sort_by,
            sources=tuple(sources),
        )
        structure = Gathered(
            query=gathered.query,
            sources=[one.row() for one in gathered.asked],
            warnings=[*gathered.warnings],
            papers=[
                keep_first_authors(one.row(abstract=abstracts)) for one in gathered.papers[start:]
            ],
        )
        return limit_rows(structure, "papers", start)

    return make_tool(search_papers, READS_WEB)


def _build_arxiv_search_tool(library: Library, runner: LongCallRunner) -> Tool:
    def search_arxiv(
        query: Annotated[str, Field(description="Words, or arXiv's query.")],
        max_results: CountTo100 = 10,
        min_date: MinDate = "",
        max_date: MaxDate = "",
        author: Annotated[TextOrNumber, Field(description="An author of each paper.")] = "",
        category: Annotated[TextOrNumber, Field(description="Such as q-bio.GN.")] = "",
        sort_by: ArxivSort = "relevance",
        start: Start = 0,
    ) -> Preprints:
        """Search arXiv; words, or its own fields (ti:, abs:, cat:, AND, ANDNOT)."""
        found = runner.call_shared(
            library.arxiv.search,
            query,
            max_results=max_results,
            min_date=min_date,
            max_date=max_date,
            author=author,
            category=category,
            sort_by=_ARXIV_SORTS.get(sort_by, sort_by),
            start=start,
        )
        papers = [_to_preprint(paper) for paper in found.papers]
        return limit_rows(pick_members(Preprints, found, papers=papers), "papers", start)

    return make_tool(search_arxiv, READS_WEB)


def _build_preprint_tools(library: Library, runner: LongCallRunner) -> list[Tool]:
    def get_arxiv_paper(arxiv_id: ArxivId) -> Preprint:
        """Get one arXiv record, in the version named or the newest."""
        return _to_preprint(runner.call_shared(library.arxiv.paper, arxiv_id))

    def arxiv_to_bibtex(arxiv_id: ArxivId) -> Bibtex:
        """Make a BibTeX entry of an arXiv paper."""
        from ..citations import format_bibtex_entry
        from ..model.identifiers import find_arxiv_version

        paper = runner.call_shared(library.arxiv.paper, arxiv_id)
        return {"bibtex": format_bibtex_entry(paper, version=find_arxiv_version(arxiv_id)).strip()}

    return [make_tool(get_arxiv_paper, READS_WEB), make_tool(arxiv_to_bibtex, READS_WEB)]


def _build_scholar_search_tool(library: Library, runner: LongCallRunner) -> Tool:
    def search_semantic_scholar(
        query: Annotated[str, Field(description="Plain words.")],
        max_results: CountTo100 = 10,
        min_date: MinDate = "",
        max_date: MaxDate = "",
        fields_of_study: Annotated[
            Sequence[TextOrNumber], Field(description="Such as Biology, Medicine.")
        ] = (),
        start: Start = 0,
        bulk: Annotated[bool, Field(description="All hits, with operators, unranked.")] = False,
        token: Annotated[str, Field(description="With bulk: token of the last answer.")] = "",
    ) -> ScholarRecords:
        """Search Semantic Scholar in plain words; with citation counts."""
        page = runner.call_shared(
            library.semantic_scholar.search,
            query,
            max_results=max_results,
            min_date=min_date,
            max_date=max_date,
            fields_of_study=tuple(fields_of_study),
            start=start,
            bulk=bulk,
            token=token,
        )
        return _to_scholar_records(page, start)

    return make_tool(search_semantic_scholar, READS_WEB)


def _build_citations_tool(library: Library, runner: LongCallRunner) -> Tool:
    def get_paper_citations(
        paper: AnyPaper, max_results: CountTo100 = 10, start: Start = 0
    ) -> ScholarRecords:
        """List the papers that cite one, the newest first."""
        page = runner.call_shared(
            library.semantic_scholar.citing_papers, paper, max_results=max_results, start=start
        )
        return _to_scholar_records(page, start)

    return make_tool(get_paper_citations, READS_WEB)


def _build_scholar_paper_tools(library: Library, runner: LongCallRunner) -> list[Tool]:
    def get_semantic_scholar_paper(paper: AnyPaper) -> ScholarRecord:
        """Get one Semantic Scholar record, with citation counts."""
        found = runner.call_shared(library.semantic_scholar.paper, paper)
        return {**_to_scholar_record(found), "tldr": found.tldr}

    def semantic_scholar_to_bibtex(paper: AnyPaper) -> Bibtex:
        """Make a BibTeX entry of a Semantic Scholar record."""
        from ..citations import format_bibtex_entry

        return {
            "bibtex": format_bibtex_entry(
                runner.call_shared(library.semantic_scholar.paper, paper).paper
            ).strip()
        }

    return [
        make_tool(get_semantic_scholar_paper, READS_WEB),
        make_tool(semantic_scholar_to_bibtex, READS_WEB),
    ]


def _build_watch_tool(library: Library, runner: LongCallRunner) -> Tool:
    def watch_literature(
        watch: Annotated[str, Field(description="Watch this from now on; none: check all.")] = "",
        kind: Annotated[WatchKind | None, Field(description="What it is; none: guess.")] = None,
        undo: Annotated[bool, Field(description="End this watch.")] = False,
    ) -> WatchNews:
        """Report once what is new on watched queries, authors, papers and reviews."""
        if undo:
            library.watches.remove(watch)
        elif watch:
            library.watches.add(watch, kind)
        digest = runner.call_shared(library.watches.check)
        structure = WatchNews(
            news=[one.row() for one in digest.news],
            watches=[{"name": one.name, "kind": one.kind} for one in digest.watches],
            warnings=[f"Could not be asked: {why}" for why in digest.silent],
        )
        answer = limit_rows(structure, "news")
        shown = digest.news[: len(answer["news"])]
        library.watches.mark_seen(replace(digest, news=shown))
        return answer

    return make_tool(watch_literature, ADDS_FILES)


def _to_preprint(paper: Paper) -> Preprint:
    """Return an arXiv paper as the tool's structure."""
    name = f"{paper.ids.arxiv}v{paper.version}" if paper.version else paper.ids.arxiv
    return pick_members(
        Preprint,
        paper,
        id=name,
        authors=[author.name for author in paper.authors[:MAX_AUTHORS]],
        author_count=_count_unnamed_authors(paper),
        updated=paper.revised,
        url=f"https://arxiv.org/abs/{name}",
        pdf_url=f"https://arxiv.org/pdf/{name}",
        primary_category=paper.categories[0] if paper.categories else "",
        doi=paper.ids.doi,
    )


def _count_unnamed_authors(paper: Paper) -> int | None:
    """Return the number of authors if not all of them are named; else None."""
    return count if (count := len(paper.authors)) > MAX_AUTHORS else None


def _to_scholar_record(found: ScholarPaper) -> ScholarRecord:
    paper = found.paper
    return pick_members(
        ScholarRecord,
        found,
        paper_id=paper.ids.s2,
        title=paper.title,
        abstract=paper.abstract or None,
        year=int(paper.year) if paper.year.isdigit() else None,
        authors=[
            {"author_id": number, "name": author.name}
            for author, number in zip(paper.authors, found.author_ids[:MAX_AUTHORS], strict=False)
        ],
        author_count=_count_unnamed_authors(paper),
        venue=paper.journal or None,
        publication_date=paper.published if len(paper.published) > len("2026") else None,
        doi=paper.ids.doi,
        pmid=paper.ids.pmid,
        pmcid=paper.ids.pmcid,
        arxiv_id=paper.ids.arxiv,
        open_access_pdf=found.open_copy,
        tldr=None,
    )


def _to_scholar_records(page: ScholarPage, start: int) -> ScholarRecords:
    papers = [_to_scholar_record(found) for found in page.papers]
    return limit_rows(pick_members(ScholarRecords, page, papers=papers), "papers", start)
