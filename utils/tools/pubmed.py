"""Toolset ``pubmed``: PubMed in depth.

Search without abstracts, records at four depths, the papers around a paper, the crosswalk of
identifiers, and the words PubMed understands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from fastmcp.tools import FunctionTool, ToolResult
from pydantic import Field

from ..citations import PRINTED
from ..library import Library
from ..system.plain_text import shortened
from . import pubmed_schemas as schemas
from .answers import answer, bibtex_answer, shelf_links
from .core import READS_WEB, Count, Start, Word, tool
from .pubmed_rows import (
    LONGEST_ECHO,
    converted_row,
    details_in_short,
    details_page,
    first_twenty,
    heading_row,
    in_lines,
    match_row,
    names,
    paper_row,
    parameters_row,
    relation_rows,
    search_rows,
    title_line,
)
from .pubmed_schemas import (
    AnyIds,
    ArticleSort,
    Citation,
    DateRange,
    Few,
    Level,
    Pmids,
    Relationship,
    Style,
)
from .waiting import Waiting

if TYPE_CHECKING:
    from ..model.paper import Paper

_MOST_LINKS = 20
_LONGEST_REFERENCE = 1000


def tools(library: Library) -> list[FunctionTool]:
    """Every tool of the set, working on *library*."""
    waiting = Waiting()
    return [
        _search_tool(library, waiting),
        _details_tool(library, waiting),
        _relationships_tool(library, waiting),
        *_single_paper_tools(library, waiting),
        _convert_tool(library, waiting),
        _match_tool(library, waiting),
        *_word_tools(library, waiting),
    ]


def _search_tool(library: Library, waiting: Waiting) -> FunctionTool:
    def search_pubmed_articles(
        query_term: Annotated[str, Field(min_length=3)],
        max_results: Count = 20,
        sort_by: ArticleSort = "relevance",
        date_range: DateRange | None = None,
        filter_by_publication_types: Sequence[str] = (),
        fetch_brief_summaries: Annotated[int, Field(ge=0, le=100)] = 0,
    ) -> ToolResult:
        """Find PMIDs in PubMed, up to 1,000, with brief summaries of the first."""
        dates = date_range or DateRange()
        found = waiting.call(
            library.search_articles,
            query_term,
            summaries=fetch_brief_summaries,
            max_results=max_results,
            sort_by=sort_by.removesuffix("_name"),
            publication_types=tuple(filter_by_publication_types),
            **dates.model_dump(),
        )
        parameters = parameters_row(
            query_term,
            filter_by_publication_types,
            max_results=max_results,
            sort_by=sort_by,
            date_range=dates.model_dump(),
            fetch_brief_summaries=fetch_brief_summaries,
        )
        structure = {"search_parameters": parameters, **search_rows(found)}
        head = f"{len(found.hits.pmids)} of {found.hits.total} PMIDs in PubMed."
        brief = {one.pmid: f"PMID {one.pmid}: {one.title}" for one in found.summaries}
        others = [pmid for pmid in found.hits.pmids if pmid not in brief]
        more = [f"PMIDs: {', '.join(first_twenty(others))}"] if others else []
        return answer(structure, in_lines(head, brief.values(), more, found.warnings))

    return tool(search_pubmed_articles, READS_WEB, schemas.SEARCH)


def _details_tool(library: Library, waiting: Waiting) -> FunctionTool:
    def fetch_article_details(
        pmids: Pmids,
        detail_level: Level = "abstract_plus",
        include_mesh_terms: bool = True,
        include_grant_info: bool = False,
        start: Annotated[Start, Field(description="next_start of the last answer")] = 0,
        max_chars: Annotated[int, Field(ge=1000, le=200_000)] = 40_000,
    ) -> ToolResult:
        """Get PubMed's records of up to 200 PMIDs: parsed, as XML or as MEDLINE text."""
        found = waiting.call(library.details, tuple(pmids), detail_level)
        page = details_page(
            found,
            detail_level,
            start,
            max_chars,
            mesh=include_mesh_terms,
            grants=include_grant_info,
        )
        papers = (f"PMID:{one['pmid']}" for one in page["articles"])
        links = shelf_links(library, papers, _MOST_LINKS)
        return answer(page, details_in_short(found, page), links=links)

    return tool(fetch_article_details, READS_WEB, schemas.DETAILS)


def _relationships_tool(library: Library, waiting: Waiting) -> FunctionTool:
    def get_article_relationships(
        source_pmid: Word,
        relationship_type: Relationship = "pubmed_similar_articles",
        max_related_results: Annotated[int, Field(ge=1, le=50)] = 5,
        citation_styles: Annotated[list[Style], Field(min_length=1)] = ["ris"],  # noqa: B006
    ) -> ToolResult:
        """Find similar, citing or cited papers of one, or format its citation."""
        from ..pubmed.details import pmid_of
        from ..pubmed.relationships import Relations

        source_pmid = pmid_of(source_pmid)
        question = {"source_pmid": source_pmid, "relationship_type": relationship_type}
        if relationship_type == "citation_formats":
            paper = waiting.call(library.paper, source_pmid)
            [references] = library.citations([paper], citation_styles)
            nothing = relation_rows(Relations((), 0, "", "PubMed"))
            return answer(
                {**question, "citations": references, **nothing}, _citation_lines(paper, references)
            )
        found = waiting.call(library.related, source_pmid, relationship_type, max_related_results)
        head = f"{len(found.articles)} of {found.total} papers, as listed by {found.source}."
        titles = [
            title_line(one.pmid, one.title, retracted=one.retracted) for one in found.articles
        ]
        structure = {**question, "citations": {}, **relation_rows(found)}
        return answer(structure, in_lines(head, titles, found.warnings))

    return tool(get_article_relationships, READS_WEB, schemas.RELATIONS)


def _citation_lines(paper: Paper, references: dict[str, Any]) -> str:
    """The references that are a line of print; the names of those that are files."""
    lines = [f"“{shortened(paper.title, _LONGEST_REFERENCE)}” as {', '.join(references)}."]
    printed = [style.name for style in PRINTED.values() if style.name in references]
    lines += [f"{name}: {references[name]}" for name in printed]
    return "\n".join(shortened(line, _LONGEST_REFERENCE) for line in lines)


def _single_paper_tools(library: Library, waiting: Waiting) -> list[FunctionTool]:
    def get_pubmed_paper(pmid: Word) -> ToolResult:
        """Get one PubMed record: abstract, authors, MeSH terms."""
        paper = waiting.call(library.paper, pmid)
        links = shelf_links(library, [f"PMID:{paper.ids.pmid}"])
        text = title_line(paper.ids.pmid, paper.title, retracted=paper.retracted)
        return answer(paper_row(paper), text, links=links)

    def pubmed_to_bibtex(pmid: Word) -> ToolResult:
        """Make a BibTeX entry of a PubMed record."""
        paper = waiting.call(library.paper, pmid)
        return bibtex_answer(paper, pmid=paper.ids.pmid)

    return [
        tool(get_pubmed_paper, READS_WEB, schemas.PAPER),
        tool(pubmed_to_bibtex, READS_WEB, schemas.BIBTEX),
    ]


def _convert_tool(library: Library, waiting: Waiting) -> FunctionTool:
    def convert_ids(ids: AnyIds) -> ToolResult:
        """Find the PMID, PMCID and DOI of up to 200 papers by any of these."""
        found = waiting.call(library.convert_ids, tuple(ids))
        records = [converted_row(one) for one in found]
        count = sum(one.status == "found" for one in found)
        lines = [f"{one.requested}: {one.message or names(one.ids)}" for one in found]
        text = in_lines(f"{count} of {len(found)} found.", lines)
        return answer({"records": records, "found": count}, text)

    return tool(convert_ids, READS_WEB, schemas.CONVERTED)


def _match_tool(library: Library, waiting: Waiting) -> FunctionTool:
    def match_citations(
        citations: Annotated[list[Citation], Field(min_length=1, max_length=50)],
    ) -> ToolResult:
        """Find the PMIDs of printed references."""
        rows = [citation.model_dump() for citation in citations]
        call = ("match", *(tuple(row.values()) for row in rows))
        found = waiting.result(call, lambda: library.match_citations(rows))
        results = [match_row(one) for one in found]
        count = sum(one.status == "matched" for one in found)
        lines = [f"{one.key}: {one.pmid or one.detail}" for one in found]
        text = in_lines(f"{count} of {len(found)} matched.", lines)
        return answer({"results": results, "matched": count}, text)

    return tool(match_citations, READS_WEB, schemas.MATCHES)


def _word_tools(library: Library, waiting: Waiting) -> list[FunctionTool]:
    def spell_check(query: str) -> ToolResult:
        """Ask PubMed how it would spell a query."""
        found = waiting.call(library.check_spelling, query)
        structure = {
            "query": shortened(found.query, LONGEST_ECHO),
            "corrected_query": found.corrected,
            "replaced": list(found.replaced),
        }
        text = found.corrected or "PubMed suggests no other spelling."
        return answer(structure, shortened(text, LONGEST_ECHO))

    def lookup_mesh(term: str, max_results: Few = 5) -> ToolResult:
        """Look up MeSH headings: synonyms, scope note, place in the tree."""
        total, headings = waiting.call(library.look_up_mesh, term, max_results)
        terms = [heading_row(heading) for heading in headings]
        lines = [f"{row['heading']} ({row['ui']})" for row in terms]
        text = in_lines(f"{len(terms)} of {total} MeSH records.", lines)
        echo = shortened(term, LONGEST_ECHO)
        return answer({"query": echo, "total": total, "terms": terms}, text)

    return [
        tool(spell_check, READS_WEB, schemas.SPELLING),
        tool(lookup_mesh, READS_WEB, schemas.MESH),
    ]
