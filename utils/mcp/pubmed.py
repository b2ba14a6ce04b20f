"""Toolset ``pubmed``: PubMed in depth.

Search without abstracts, records at four depths, the papers around a paper, the crosswalk of
identifiers, and the words PubMed understands.

Input and output schemas of toolset ``pubmed``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastmcp.tools import FunctionTool, ToolResult
from pydantic import BaseModel, ConfigDict, Field

from ..citations import FORMATS
from ..library import Library
from ..model.paper import NO_HITS
from ..system.plain_text import shortened
from .answers import answer, bibtex_answer, in_room, shelf_links
from .core import READS_WEB, DateType, MaxDate, MinDate, Sort, Start, Types, Word, tool
from .long_calls import LongCalls
from .pubmed_rows import (
    LONGEST_ECHO,
    converted_row,
    details_page,
    heading_row,
    match_row,
    paper_row,
    parameters_row,
    relation_rows,
    search_rows,
)
from .schemas import (
    NEXT,
    NUMBER,
    TEXT,
    also,
    loose,
    named,
    record,
    rows,
    some,
    texts,
    texts_and,
)

if TYPE_CHECKING:
    pass

_MOST_LINKS = 20
_LONGEST_REFERENCE = 1000
Level = Literal["abstract_plus", "full_xml", "medline_text", "citation_data"]
Relationship = Literal[
    "pubmed_similar_articles", "pubmed_citedin", "pubmed_references", "citation_formats"
]


def tools(library: Library) -> list[FunctionTool]:
    """Every tool of the set, working on *library*."""
    waiting = LongCalls()
    return [
        _search_tool(library, waiting),
        _details_tool(library, waiting),
        _relationships_tool(library, waiting),
        *_single_paper_tools(library, waiting),
        _convert_tool(library, waiting),
        _match_tool(library, waiting),
        *_word_tools(library, waiting),
    ]


def _search_tool(library: Library, waiting: LongCalls) -> FunctionTool:
    def search_pubmed_articles(
        query: Annotated[str, Field(min_length=3, description="PubMed query.")],
        max_results: Annotated[int, Field(ge=1, le=1000, description="Most PMIDs returned.")] = 20,
        sort_by: Sort = "relevance",
        min_date: MinDate = "",
        max_date: MaxDate = "",
        date_type: DateType = "pdat",
        publication_types: Types = (),
        fetch_brief_summaries: Annotated[
            int, Field(ge=0, le=100, description="How many come with a summary.")
        ] = 0,
    ) -> ToolResult:
        """Find PMIDs in PubMed, up to 1,000, with brief summaries of the first."""
        dates = {"min_date": min_date, "max_date": max_date, "date_type": date_type}
        found = waiting.call(
            library.search_articles,
            query,
            summaries=fetch_brief_summaries,
            max_results=max_results,
            sort_by=sort_by,
            publication_types=tuple(publication_types),
            **dates,
        )
        parameters = parameters_row(
            query,
            publication_types,
            max_results=max_results,
            sort_by=sort_by,
            date_range=dates,
            fetch_brief_summaries=fetch_brief_summaries,
        )
        structure = {"search_parameters": parameters, **search_rows(found)}
        rest = "fetch_article_details has the others"
        return answer(in_room(structure, "brief_summaries", rest=rest))

    return tool(search_pubmed_articles, READS_WEB, SEARCH)


def _details_tool(library: Library, waiting: LongCalls) -> FunctionTool:
    def fetch_article_details(
        pmids: Pmids,
        detail_level: Annotated[Level, Field(description="Form of the records.")] = "abstract_plus",
        include_mesh_terms: Annotated[bool, Field(description="With MeSH terms.")] = True,
        include_grant_info: Annotated[bool, Field(description="With grants.")] = False,
        start: Start = 0,
        max_chars: Annotated[
            int, Field(ge=1000, le=60_000, description="Most characters returned.")
        ] = 40_000,
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
        return answer(page, links=links)

    return tool(fetch_article_details, READS_WEB, DETAILS)


def _relationships_tool(library: Library, waiting: LongCalls) -> FunctionTool:
    def get_article_relationships(
        pmid: Pmid,
        relationship_type: Annotated[
            Relationship, Field(description="Which papers, or the citation.")
        ] = "pubmed_similar_articles",
        max_results: Annotated[int, Field(ge=1, le=50, description="Most papers returned.")] = 5,
        styles: Annotated[  # for citation_formats
            list[Style], Field(min_length=1, description="Forms of the citation.")
        ] = ["ris"],  # noqa: B006
        start: Start = 0,
    ) -> ToolResult:
        """Find similar, citing or cited papers of one, or format its citation."""
        from ..search.pubmed.details import pmid_of
        from ..search.pubmed.relationships import Relations

        source_pmid = pmid_of(pmid)
        question = {"source_pmid": source_pmid, "relationship_type": relationship_type}
        if relationship_type == "citation_formats":
            paper = waiting.call(library.paper, source_pmid)
            [references] = library.citations([paper], styles)
            nothing = relation_rows(Relations((), 0, "", "PubMed"))
            return answer({**question, "citations": references, **nothing})
        page = {"most": max_results, "start": start}
        found = waiting.call(library.related, source_pmid, relationship_type, **page)
        return answer({**question, "citations": {}, **relation_rows(found)})

    return tool(get_article_relationships, READS_WEB, RELATIONS)


def _single_paper_tools(library: Library, waiting: LongCalls) -> list[FunctionTool]:
    def get_pubmed_paper(pmid: Pmid) -> ToolResult:
        """Get one PubMed record: abstract, authors, MeSH terms."""
        paper = waiting.call(library.paper, pmid)
        links = shelf_links(library, [f"PMID:{paper.ids.pmid}"])
        return answer(paper_row(paper), links=links)

    def pubmed_to_bibtex(pmid: Pmid) -> ToolResult:
        """Make a BibTeX entry of a PubMed record."""
        paper = waiting.call(library.paper, pmid)
        return bibtex_answer(paper, pmid=paper.ids.pmid)

    return [
        tool(get_pubmed_paper, READS_WEB, PAPER),
        tool(pubmed_to_bibtex, READS_WEB, BIBTEX),
    ]


def _convert_tool(library: Library, waiting: LongCalls) -> FunctionTool:
    def convert_ids(papers: AnyIds) -> ToolResult:
        """Find the PMID, PMCID and DOI of up to 200 papers by any of these."""
        found = waiting.call(library.convert_ids, tuple(papers))
        records = [converted_row(one) for one in found]
        count = sum(one.status == "found" for one in found)
        return answer({"records": records, "found": count})

    return tool(convert_ids, READS_WEB, CONVERTED)


def _match_tool(library: Library, waiting: LongCalls) -> FunctionTool:
    def match_citations(
        citations: Annotated[
            list[Citation], Field(min_length=1, max_length=50, description="Printed references.")
        ],
    ) -> ToolResult:
        """Find the PMIDs of printed references."""
        rows = [citation.model_dump() for citation in citations]
        call = ("match", *(tuple(row.values()) for row in rows))
        found = waiting.result(call, lambda: library.match_citations(rows))
        results = [match_row(one) for one in found]
        count = sum(one.status == "matched" for one in found)
        return answer({"results": results, "matched": count})

    return tool(match_citations, READS_WEB, MATCHES)


def _word_tools(library: Library, waiting: LongCalls) -> list[FunctionTool]:
    def spell_check(
        query: Annotated[str, Field(description="PubMed query.")],
    ) -> ToolResult:
        """Ask PubMed how it would spell a query."""
        found = waiting.call(library.check_spelling, query)
        structure = {
            "query": shortened(found.query, LONGEST_ECHO),
            "corrected_query": found.corrected,
            "replaced": list(found.replaced),
        }
        return answer(structure)

    def lookup_mesh(
        query: Annotated[str, Field(description="A term or its synonym.")], max_results: Few = 5
    ) -> ToolResult:
        """Look up MeSH headings: synonyms, scope note, place in the tree."""
        total, headings = waiting.call(library.look_up_mesh, query, max_results)
        terms = [heading_row(heading) for heading in headings]
        echo = shortened(query, LONGEST_ECHO)
        advice = {} if total else {"warnings": [NO_HITS]}
        return answer({"query": echo, "total": total, "terms": terms, **advice})

    return [
        tool(spell_check, READS_WEB, SPELLING),
        tool(lookup_mesh, READS_WEB, MESH),
    ]


if TYPE_CHECKING:
    Style = str
else:
    Style = Literal[FORMATS]
Few = Annotated[int, Field(ge=1, le=20, description="Most headings returned.")]
Pmid = Annotated[Word, Field(description="PubMed ID.")]
Pmids = Annotated[list[Word], Field(min_length=1, max_length=200, description="PubMed IDs.")]
AnyIds = Annotated[
    list[Word], Field(min_length=1, max_length=200, description="PMIDs, PMCIDs or DOIs, mixed.")
]


class Citation(BaseModel):
    """A reference as it is printed; ``key`` is the caller's own name for it."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=lambda s: s.pop("description"))

    journal: Annotated[Word, Field(description="Title or abbreviation.")] = ""
    year: Annotated[Word, Field(description="Of publication.")] = ""
    volume: Annotated[Word, Field(description="Number.")] = ""
    first_page: Annotated[Word, Field(description="Number.")] = ""
    author: Annotated[Word, Field(description="The first: Mann BJ.")] = ""
    key: Annotated[Word, Field(description="Your name for it.")] = ""


_OR_NOTHING: dict[str, Any] = {"type": ["string", "null"]}
_WORDS = rows(TEXT)


SEARCH = loose(
    "search_parameters effective_search_term query_translation e_search_url e_summary_url",
    total_found=NUMBER,
    retrieved_pmid_count=NUMBER,
    pmids=_WORDS,
    brief_summaries=rows(texts("pmid title authors source pub_date epub_date doi pmcid")),
    warnings=_WORDS,
)
# What else an article has depends on the level, and would take as many tokens as five tools.
DETAILS = record(
    requested_pmids=_WORDS,
    articles=rows(named("pmid title")),
    text=TEXT,
    next_start=NEXT,
    not_found_pmids=_WORDS,
    failed=rows(texts("pmid code message")),
    warnings=_WORDS,
    e_fetch_details=record(urls=_WORDS, request_method=TEXT),
)
RELATIONS = also(
    "next_start",
    record(
        source_pmid=TEXT,
        relationship_type=TEXT,
        related_articles=rows(
            named("pmid title authors journal year doi link_url retracted score")
        ),
        citations={**some(csl_json={"type": "object"}), "additionalProperties": TEXT},
        retrieved_count=NUMBER,
        total=NUMBER,
        source=TEXT,
        warnings=_WORDS,
        e_link_url=TEXT,
    ),
)
PAPER = named(
    "pmid title abstract journal year pmcid url authors author_count doi publication_types"
    " mesh_terms retracted"
)
BIBTEX = texts_and("pmid bibtex")
CONVERTED = record(records=rows(texts("requested status pmid pmcid doi message")), found=NUMBER)
MATCHES = record(
    results=rows(texts_and("key status pmid detail", candidates=_WORDS)), matched=NUMBER
)
SPELLING = texts_and("query corrected_query", replaced=_WORDS)
MESH = also(
    "warnings",
    record(
        query=TEXT,
        total=NUMBER,
        terms=rows(
            named(
                "ui heading scope_note record_type year_introduced search_term entry_terms"
                " tree_numbers broader narrower"
            )
        ),
    ),
)
