"""Toolset ``pubmed``: PubMed in depth.

Search without abstracts, records at four depths, the papers around a paper, the crosswalk of
identifiers, and the words PubMed understands.

Input and output schemas of toolset ``pubmed``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastmcp.tools import FunctionTool, ToolResult
from pydantic import BaseModel, ConfigDict, Field

from ..citations import FORMATS
from ..library import Library
from ..model.paper import NO_HITS
from ..system.plain_text import shortened
from .answers import answer, bibtex_answer, in_room, shelf_links
from .core import READS_WEB, Count, DateType, Start, Word, tool
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
from .schemas import FLAG, NEXT, NUMBER, TEXT, also, record, rows, some, texts, texts_and

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
        rest = "fetch_article_details has the others"
        return answer(in_room(structure, "brief_summaries", rest=rest))

    return tool(search_pubmed_articles, READS_WEB, SEARCH)


def _details_tool(library: Library, waiting: LongCalls) -> FunctionTool:
    def fetch_article_details(
        pmids: Pmids,
        detail_level: Level = "abstract_plus",
        include_mesh_terms: bool = True,
        include_grant_info: bool = False,
        start: Annotated[Start, Field(description="next_start of the last answer")] = 0,
        max_chars: Annotated[int, Field(ge=1000, le=60_000)] = 40_000,
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
        source_pmid: Word,
        relationship_type: Relationship = "pubmed_similar_articles",
        max_related_results: Annotated[int, Field(ge=1, le=50)] = 5,
        citation_styles: Annotated[list[Style], Field(min_length=1)] = ["ris"],  # noqa: B006
        start: Start = 0,
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
            return answer({**question, "citations": references, **nothing})
        page = {"most": max_related_results, "start": start}
        found = waiting.call(library.related, source_pmid, relationship_type, **page)
        return answer({**question, "citations": {}, **relation_rows(found)})

    return tool(get_article_relationships, READS_WEB, RELATIONS)


def _single_paper_tools(library: Library, waiting: LongCalls) -> list[FunctionTool]:
    def get_pubmed_paper(pmid: Word) -> ToolResult:
        """Get one PubMed record: abstract, authors, MeSH terms."""
        paper = waiting.call(library.paper, pmid)
        links = shelf_links(library, [f"PMID:{paper.ids.pmid}"])
        return answer(paper_row(paper), links=links)

    def pubmed_to_bibtex(pmid: Word) -> ToolResult:
        """Make a BibTeX entry of a PubMed record."""
        paper = waiting.call(library.paper, pmid)
        return bibtex_answer(paper, pmid=paper.ids.pmid)

    return [
        tool(get_pubmed_paper, READS_WEB, PAPER),
        tool(pubmed_to_bibtex, READS_WEB, BIBTEX),
    ]


def _convert_tool(library: Library, waiting: LongCalls) -> FunctionTool:
    def convert_ids(ids: AnyIds) -> ToolResult:
        """Find the PMID, PMCID and DOI of up to 200 papers by any of these."""
        found = waiting.call(library.convert_ids, tuple(ids))
        records = [converted_row(one) for one in found]
        count = sum(one.status == "found" for one in found)
        return answer({"records": records, "found": count})

    return tool(convert_ids, READS_WEB, CONVERTED)


def _match_tool(library: Library, waiting: LongCalls) -> FunctionTool:
    def match_citations(
        citations: Annotated[list[Citation], Field(min_length=1, max_length=50)],
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
    def spell_check(query: str) -> ToolResult:
        """Ask PubMed how it would spell a query."""
        found = waiting.call(library.check_spelling, query)
        structure = {
            "query": shortened(found.query, LONGEST_ECHO),
            "corrected_query": found.corrected,
            "replaced": list(found.replaced),
        }
        return answer(structure)

    def lookup_mesh(term: str, max_results: Few = 5) -> ToolResult:
        """Look up MeSH headings: synonyms, scope note, place in the tree."""
        total, headings = waiting.call(library.look_up_mesh, term, max_results)
        terms = [heading_row(heading) for heading in headings]
        echo = shortened(term, LONGEST_ECHO)
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
ArticleSort = Literal["relevance", "pub_date", "author", "journal_name"]
Few = Annotated[int, Field(ge=1, le=20)]
Pmids = Annotated[list[Word], Field(min_length=1, max_length=200)]
AnyIds = Annotated[
    list[Word], Field(min_length=1, max_length=200, description="PMID, PMCID, DOI, mixed")
]


class DateRange(BaseModel):
    """A range of dates, open where an end is left out."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=lambda s: s.pop("description"))

    min_date: Annotated[Word, Field(description="YYYY[/MM[/DD]]")] = ""
    max_date: Word = ""
    date_type: DateType = "pdat"


class Citation(BaseModel):
    """A reference as it is printed; ``key`` is the caller's own name for it."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=lambda s: s.pop("description"))

    journal: Word = ""
    year: Word = ""
    volume: Word = ""
    first_page: Word = ""
    author: Annotated[Word, Field(description="first author, Mann BJ")] = ""
    key: Word = ""


_OR_NOTHING: dict[str, Any] = {"type": ["string", "null"]}
_WORDS = rows(TEXT)


def _some_texts(names: str, **more: dict[str, Any]) -> dict[str, Any]:
    return some(**dict.fromkeys(names.split(), TEXT), **more)


SEARCH = record(
    search_parameters=_some_texts(
        "query_term sort_by",
        max_results=NUMBER,
        date_range=texts("min_date max_date date_type"),
        filter_by_publication_types=_WORDS,
        fetch_brief_summaries=NUMBER,
    ),
    effective_search_term=TEXT,
    query_translation=TEXT,
    total_found=NUMBER,
    retrieved_pmid_count=NUMBER,
    pmids=_WORDS,
    brief_summaries=rows(texts("pmid title authors source pub_date epub_date doi pmcid")),
    warnings=_WORDS,
    e_search_url=TEXT,
    e_summary_url=TEXT,
)
# What an article has depends on the level; so do its authors (names, or objects) and its date.
_PERSON = texts("last_name first_name initials affiliation")
_DATE = _some_texts("month medline_date", year=NEXT, day=NEXT)
_ARTICLE = _some_texts(
    "pmid title abstract_text journal journal_abbreviation publication_date volume issue pages"
    " doi pmcid",
    authors=rows({**_PERSON, "type": ["object", "string"]}),
    author_count=NUMBER,
    journal_info=_some_texts("title iso_abbreviation volume issue pages", publication_date=_DATE),
    publication_types=_WORDS,
    keywords=_WORDS,
    retracted=FLAG,
    mesh_terms=rows(_some_texts("descriptor_name qualifier_name ui", is_major_topic=FLAG)),
    grant_list=rows(texts("grant_id agency country")),
    start=NUMBER,
    chars=NUMBER,
)
DETAILS = record(
    requested_pmids=_WORDS,
    articles=rows({**_ARTICLE, "required": ["pmid", "title"]}),
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
            texts_and(
                "pmid title authors journal year doi link_url",
                retracted=FLAG,
                score={"type": ["integer", "null"]},
            )
        ),
        citations={**some(csl_json={"type": "object"}), "additionalProperties": TEXT},
        retrieved_count=NUMBER,
        total=NUMBER,
        source=TEXT,
        warnings=_WORDS,
        e_link_url=TEXT,
    ),
)
PAPER = texts_and(
    "pmid title abstract journal year pmcid url",
    authors=_WORDS,
    author_count=NUMBER,
    doi=_OR_NOTHING,
    publication_types=_WORDS,
    mesh_terms=_WORDS,
    retracted=FLAG,
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
            texts_and(
                "ui heading scope_note record_type year_introduced search_term",
                **dict.fromkeys(["entry_terms", "tree_numbers", "broader", "narrower"], _WORDS),
            )
        ),
    ),
)
