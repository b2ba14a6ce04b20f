"""Toolset ``pubmed``: detailed searches and records of PubMed.

Search without abstracts, records at four depths, the papers around a paper, the crosswalk of
identifiers, and the words PubMed understands.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, cast

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from ..citations import FORMATS
from ..library import Library
from ..model.paper import NO_HITS
from ..system.plain_text import shorten
from .answers import attach_blocks, build_shelf_links, limit_rows, pick_members
from .tool import (
    READS_WEB,
    DateType,
    LongCallRunner,
    MaxDate,
    MinDate,
    Sort,
    Start,
    TextOrNumber,
    Tool,
    Types,
    make_tool,
)

if TYPE_CHECKING:
    from ..download.records import Converted
    from ..model.paper import Paper
    from ..search.pubmed.details import DetailedRecords
    from ..search.pubmed.relationships import RelatedPaper, RelatedPapers
    from ..search.pubmed.search import ArticleSearch
    from ..search.pubmed.vocabulary import MeshHeading

    Style = str
else:
    Style = Literal[FORMATS]
ECHO_MAX_CHARS = 2000
_MAX_LINKS = 20
_PAGE_MIN_CHARS = 1000
_TITLE_MAX_CHARS = 500
_RECORD_SEPARATOR = "\n\n"
_WARNING_MAX_CHARS = 500
_MAX_WARNINGS = 20
Row = dict[str, Any]
DetailLevel = Literal["abstract_plus", "full_xml", "medline_text", "citation_data"]
Relationship = Literal[
    "pubmed_similar_articles", "pubmed_citedin", "pubmed_references", "citation_formats"
]
HeadingLimit = Annotated[int, Field(ge=1, le=20, description="Most headings returned.")]
Pmid = Annotated[TextOrNumber, Field(description="PubMed ID.")]
Pmids = Annotated[
    list[TextOrNumber], Field(min_length=1, max_length=200, description="PubMed IDs.")
]
AnyIds = Annotated[
    list[TextOrNumber],
    Field(min_length=1, max_length=200, description="PMIDs, PMCIDs or DOIs, mixed."),
]


class Citation(BaseModel):
    """A reference as it is printed; ``key`` is the caller's own name for it."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=lambda s: s.pop("description"))

    journal: Annotated[TextOrNumber, Field(description="Title or abbreviation.")] = ""
    year: Annotated[TextOrNumber, Field(description="Of publication.")] = ""
    volume: Annotated[TextOrNumber, Field(description="Number.")] = ""
    first_page: Annotated[TextOrNumber, Field(description="Number.")] = ""
    author: Annotated[TextOrNumber, Field(description="The first: Mann BJ.")] = ""
    key: Annotated[TextOrNumber, Field(description="Your name for it.")] = ""


class Summary(TypedDict):
    """A paper in brief."""

    pmid: str
    title: str
    authors: str
    source: str
    pub_date: str
    epub_date: str
    doi: str
    pmcid: str


class Articles(TypedDict):
    """Result of a search: PMIDs, and summaries of the first ones."""

    search_parameters: Row
    effective_search_term: str
    query_translation: str
    total_found: int
    retrieved_pmid_count: int
    pmids: list[str]
    brief_summaries: list[Summary]
    warnings: list[str]
    e_search_url: str
    e_summary_url: str


class ArticleDetails(TypedDict):
    """A page of records; what else an article has depends on the level."""

    requested_pmids: list[str]
    not_found_pmids: list[str]
    failed: list[Row]
    e_fetch_details: Row
    articles: list[Row]
    text: str
    next_start: int | None
    warnings: list[str]


class RelatedArticle(TypedDict):
    """A related paper, with where to see it."""

    pmid: str
    title: str
    authors: str
    journal: str
    year: str
    doi: str
    retracted: bool
    score: int | None
    link_url: str


class Relationships(TypedDict):
    """A list of related papers and its source, or one paper's citation."""

    source_pmid: str
    relationship_type: str
    citations: Row
    related_articles: list[RelatedArticle]
    retrieved_count: int
    total: int
    next_start: NotRequired[int | None]
    source: str
    warnings: list[str]
    e_link_url: str


class PubmedPaper(TypedDict):
    """A PubMed record in the words of the contract."""

    pmid: str
    title: str
    abstract: str
    authors: list[str]
    author_count: int
    journal: str
    year: str
    doi: str | None
    pmcid: str
    url: str
    publication_types: list[str]
    mesh_terms: list[str]
    retracted: bool


class Bibtex(TypedDict):
    """An entry for a BibTeX file."""

    pmid: str
    bibtex: str


class ConvertedIds(TypedDict):
    """The names of one paper."""

    requested: str
    status: str
    pmid: str
    pmcid: str
    doi: str
    message: str


class Crosswalk(TypedDict):
    """The names of each paper, and how many were found."""

    records: list[ConvertedIds]
    found: int


class CitationMatch(TypedDict):
    """One reference, with its PMID or the candidates."""

    key: str
    status: str
    pmid: str
    candidates: list[str]
    detail: str


class CitationMatches(TypedDict):
    """The PMID of each reference, and how many were found."""

    results: list[CitationMatch]
    matched: int


class Spelling(TypedDict):
    """A query as PubMed would spell it."""

    query: str
    corrected_query: str
    replaced: list[str]


class MeshHeadingRow(TypedDict):
    """A MeSH record, with how to search for it."""

    ui: str
    heading: str
    entry_terms: list[str]
    scope_note: str
    tree_numbers: list[str]
    broader: list[str]
    narrower: list[str]
    record_type: str
    year_introduced: str
    search_term: str


class MeshHeadings(TypedDict):
    """The headings that a word stands for."""

    query: str
    total: int
    terms: list[MeshHeadingRow]
    warnings: NotRequired[list[str]]


def tools(library: Library) -> list[Tool]:
    """Return the tools of the set, bound to *library*."""
    runner = LongCallRunner()
    return [
        _build_search_tool(library, runner),
        _build_details_tool(library, runner),
        _build_relationships_tool(library, runner),
        *_build_paper_tools(library, runner),
        _build_convert_tool(library, runner),
        _build_match_tool(library, runner),
        *_build_vocabulary_tools(library, runner),
    ]


def _build_search_tool(library: Library, runner: LongCallRunner) -> Tool:
    def search_pubmed_articles(
        query: Annotated[str, Field(min_length=3, description="PubMed query.")],
        max_results: Annotated[int, Field(ge=1, le=1000, description="Most PMIDs returned.")] = 20,
        sort_by: Sort = "relevance",
        min_date: MinDate = "",
        max_date: MaxDate = "",
        date_type: DateType = "pdat",
        publication_types: Types = (),
        fetch_brief_summaries: Annotated[
            int, Field(ge=0, le=100, description="Number of summaries.")
        ] = 0,
    ) -> Articles:
        """Find PMIDs in PubMed, up to 1,000, with brief summaries of the first."""
        dates = {"min_date": min_date, "max_date": max_date, "date_type": date_type}
        found = runner.call_shared(
            library.pubmed.search_articles,
            query,
            summaries=fetch_brief_summaries,
            max_results=max_results,
            sort_by=sort_by,
            publication_types=tuple(publication_types),
            **dates,
        )
        parameters = {
            "query_term": shorten(query, ECHO_MAX_CHARS),
            "filter_by_publication_types": _keep_first_twenty(publication_types),
            "max_results": max_results,
            "sort_by": sort_by,
            "date_range": dates,
            "fetch_brief_summaries": fetch_brief_summaries,
        }
        rest = "fetch_article_details has the others"
        return limit_rows(_to_articles(found, parameters), "brief_summaries", how_to_continue=rest)

    return make_tool(search_pubmed_articles, READS_WEB)


def _build_details_tool(library: Library, runner: LongCallRunner) -> Tool:
    def fetch_article_details(
        pmids: Pmids,
        detail_level: Annotated[
            DetailLevel, Field(description="Form of the records.")
        ] = "abstract_plus",
        include_mesh_terms: Annotated[bool, Field(description="Include MeSH terms.")] = True,
        include_grant_info: Annotated[bool, Field(description="Include grants.")] = False,
        start: Start = 0,
        max_chars: Annotated[
            int, Field(ge=1000, le=60_000, description="Most characters returned.")
        ] = 40_000,
    ) -> ArticleDetails:
        """Get PubMed's records of up to 200 PMIDs: parsed, as XML or as MEDLINE text."""
        found = runner.call_shared(library.pubmed.details, tuple(pmids), detail_level)
        page = build_details_page(
            found,
            detail_level,
            start,
            max_chars,
            mesh=include_mesh_terms,
            grants=include_grant_info,
        )
        papers = (f"PMID:{one['pmid']}" for one in page["articles"])
        links = build_shelf_links(library, papers, _MAX_LINKS)
        return attach_blocks(page, links)

    return make_tool(fetch_article_details, READS_WEB)


def _build_relationships_tool(library: Library, runner: LongCallRunner) -> Tool:
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
    ) -> Relationships:
        """Find similar, citing or cited papers of one, or format its citation."""
        from ..search.pubmed.details import parse_pmid
        from ..search.pubmed.relationships import RelatedPapers

        source_pmid = parse_pmid(pmid)
        question = {"source_pmid": source_pmid, "relationship_type": relationship_type}
        if relationship_type == "citation_formats":
            paper = runner.call_shared(library.pubmed.paper, source_pmid)
            [references] = library.references.citations([paper], styles)
            nothing = RelatedPapers((), 0, "", "PubMed")
            return _to_relationships(nothing, citations=references, **question)
        page = {"max_results": max_results, "start": start}
        found = runner.call_shared(library.pubmed.related, source_pmid, relationship_type, **page)
        return _to_relationships(found, citations={}, **question)

    return make_tool(get_article_relationships, READS_WEB)


def _build_paper_tools(library: Library, runner: LongCallRunner) -> list[Tool]:
    def get_pubmed_paper(pmid: Pmid) -> PubmedPaper:
        """Get one PubMed record: abstract, authors, MeSH terms."""
        paper = runner.call_shared(library.pubmed.paper, pmid)
        links = build_shelf_links(library, [f"PMID:{paper.ids.pmid}"])
        return attach_blocks(_to_pubmed_paper(paper), links)

    def pubmed_to_bibtex(pmid: Pmid) -> Bibtex:
        """Make a BibTeX entry of a PubMed record."""
        from ..citations import format_bibtex_entry

        paper = runner.call_shared(library.pubmed.paper, pmid)
        return {"pmid": paper.ids.pmid, "bibtex": format_bibtex_entry(paper).strip()}

    return [make_tool(get_pubmed_paper, READS_WEB), make_tool(pubmed_to_bibtex, READS_WEB)]


def _build_convert_tool(library: Library, runner: LongCallRunner) -> Tool:
    def convert_ids(papers: AnyIds) -> Crosswalk:
        """Find the PMID, PMCID and DOI of up to 200 papers by any of these."""
        found = runner.call_shared(library.pubmed.convert_ids, tuple(papers))
        records = [to_converted_ids(one) for one in found]
        count = sum(one.status == "found" for one in found)
        return {"records": records, "found": count}

    return make_tool(convert_ids, READS_WEB)


def _build_match_tool(library: Library, runner: LongCallRunner) -> Tool:
    def match_citations(
        citations: Annotated[
            list[Citation], Field(min_length=1, max_length=50, description="Printed references.")
        ],
    ) -> CitationMatches:
        """Find the PMIDs of printed references."""
        rows = [citation.model_dump() for citation in citations]
        call = ("match", *(tuple(row.values()) for row in rows))
        found = runner.get_result(call, lambda: library.pubmed.match_citations(rows))
        results = [pick_members(CitationMatch, one) for one in found]
        count = sum(one.status == "matched" for one in found)
        return {"results": results, "matched": count}

    return make_tool(match_citations, READS_WEB)


def _build_vocabulary_tools(library: Library, runner: LongCallRunner) -> list[Tool]:
    def spell_check(
        query: Annotated[str, Field(description="PubMed query.")],
    ) -> Spelling:
        """Ask PubMed how it would spell a query."""
        found = runner.call_shared(library.pubmed.check_spelling, query)
        query = shorten(found.query, ECHO_MAX_CHARS)
        return pick_members(Spelling, found, query=query, corrected_query=found.corrected)

    def lookup_mesh(
        query: Annotated[str, Field(description="A term or its synonym.")],
        max_results: HeadingLimit = 5,
    ) -> MeshHeadings:
        """Look up MeSH headings: synonyms, scope note, place in the tree."""
        total, headings = runner.call_shared(library.pubmed.look_up_mesh, query, max_results)
        terms = [_to_mesh_heading(heading) for heading in headings]
        found = MeshHeadings(query=shorten(query, ECHO_MAX_CHARS), total=total, terms=terms)
        return found if total else {**found, "warnings": [NO_HITS]}

    return [make_tool(spell_check, READS_WEB), make_tool(lookup_mesh, READS_WEB)]


def _keep_first_twenty(texts: Iterable[str], max_chars: int = _WARNING_MAX_CHARS) -> list[str]:
    """Return at most twenty texts, each of at most *max_chars* characters, and count the rest."""
    every = list(texts)
    shown = [shorten(text, max_chars) for text in every[:_MAX_WARNINGS]]
    if len(every) > _MAX_WARNINGS:
        shown.append(f"… and {len(every) - _MAX_WARNINGS:,} more")
    return shown


def _to_articles(found: ArticleSearch, parameters: Row) -> Articles:
    """Return a search's result as the tool's structure."""
    return Articles(
        search_parameters=parameters,
        effective_search_term=shorten(found.term, ECHO_MAX_CHARS),
        query_translation=shorten(found.hits.effective_query, ECHO_MAX_CHARS),
        total_found=found.hits.total,
        retrieved_pmid_count=len(found.hits.pmids),
        pmids=[*found.hits.pmids],
        brief_summaries=[
            pick_members(
                Summary,
                one,
                authors=_keep_first_names(one.authors),
                pub_date=one.published,
                epub_date=one.online,
            )
            for one in found.summaries
        ],
        warnings=_keep_first_twenty(found.warnings),
        e_search_url=shorten(found.search_url, ECHO_MAX_CHARS),
        e_summary_url=shorten(found.summary_url, ECHO_MAX_CHARS),
    )


def _keep_first_names(authors: str) -> str:
    """Return at most ten names: some papers have thousands."""
    names = authors.split(", ")
    return ", ".join([*names[:10], "et al."]) if len(names) > 10 else authors


def _build_request_row(found: DetailedRecords) -> Row:
    """Return the requested PMIDs, and the reasons for missing records."""
    urls = [shorten(url, ECHO_MAX_CHARS) for url in found.urls]
    return {
        "requested_pmids": [*found.requested],
        "not_found_pmids": [*found.not_found],
        "failed": _list_failures(found),
        "e_fetch_details": {"urls": urls, "request_method": found.method or "cache"},
    }


_LATER_PAGE_MEMBERS: Row = {
    "requested_pmids": [],
    "not_found_pmids": [],
    "failed": [],
    "e_fetch_details": {"urls": [], "request_method": ""},
}


def _list_failures(found: DetailedRecords) -> list[dict[str, str]]:
    """Return the reason why each PMID is missing; a repeated reason refers to the first."""
    first: dict[str, str] = {}
    rows = []
    for pmid, error in found.failed.items():
        named = first.setdefault(error.text, pmid)
        message = error.text if named == pmid else f"As for {named}."
        rows.append({"pmid": pmid, "code": error.code, "message": message})
    return rows


def build_details_page(
    found: DetailedRecords,
    level: DetailLevel,
    start: int,
    max_chars: int,
    *,
    mesh: bool,
    grants: bool,
) -> ArticleDetails:
    """Return one page of the answer, of at most *max_chars* characters.

    What concerns the answer as a whole stands on the first page only. No page before the end is
    empty: it has some hundred characters of text, or one article.
    """
    from ..search.pubmed.details import to_detail_row

    def article(pmid: str) -> Row:
        """Return one article as a row."""
        return {"pmid": pmid, **to_detail_row(found.records[pmid], level, mesh=mesh, grants=grants)}

    frame = _LATER_PAGE_MEMBERS if start else _build_request_row(found)
    room = max(max_chars - _count_json_chars(frame), _PAGE_MIN_CHARS)
    as_text = level in ("full_xml", "medline_text")
    turn = _cut_text_page if as_text else _cut_article_page
    page, reached, end = turn(found.records, article, start, room)
    beyond = start and start >= end
    unit = "character" if as_text else "article"
    ends = f"after {end:,} {unit}{'s' * (end != 1)}"
    warnings = [f"start is {start:,}, but the answer ends {ends}."] if beyond else []
    more: Row = {"next_start": reached if reached < end else None, "warnings": warnings}
    return cast("ArticleDetails", {**frame, **page, **more})


def _count_json_chars(value: object) -> int:
    """Return the length of a value as JSON, in characters."""
    return len(json.dumps(value, ensure_ascii=False))


def _cut_text_page(
    records: Mapping[str, str], article: Callable[[str], Row], start: int, chars_left: int
) -> tuple[Row, int, int]:
    """Return a page of all records' text, with the position where each article begins."""
    shown: list[Row] = []
    text, end = "", 0
    for pmid, record in records.items():
        begin, end = end, end + len(record) + len(_RECORD_SEPARATOR)
        if end <= start or chars_left <= 0:
            continue
        here = article(pmid)
        here |= {"title": shorten(here["title"], _TITLE_MAX_CHARS)}
        here |= {"start": begin, "chars": len(record)}
        chars_left -= _count_json_chars(here)
        if chars_left > 0:
            stretch = f"{record}{_RECORD_SEPARATOR}"[max(start - begin, 0) :][:chars_left]
            shown.append(here)
            text += stretch
            chars_left -= len(stretch)
    return {"articles": shown, "text": text}, start + len(text), end


def _cut_article_page(
    records: Mapping[str, str], article: Callable[[str], Row], start: int, chars_left: int
) -> tuple[Row, int, int]:
    """Return as many whole articles as fit, at least one."""
    shown: list[Row] = []
    for pmid in list(records)[start:]:
        here = article(pmid)
        chars_left -= _count_json_chars(here)
        if shown and chars_left < 0:
            break
        shown.append(here)
    return {"articles": shown, "text": ""}, start + len(shown), len(records)


def _to_relationships(found: RelatedPapers, **question: Any) -> Relationships:
    """Return related papers as the tool's structure."""
    return pick_members(
        Relationships,
        found,
        related_articles=[_to_related_article(article) for article in found.articles],
        retrieved_count=len(found.articles),
        warnings=_keep_first_twenty(found.warnings),
        e_link_url=found.url,
        **question,
    )


def _to_related_article(article: RelatedPaper) -> RelatedArticle:
    address = f"https://pubmed.ncbi.nlm.nih.gov/{article.pmid}/" if article.pmid else ""
    if not address and article.doi:
        address = f"https://doi.org/{article.doi}"
    return pick_members(RelatedArticle, article, link_url=address)


def _to_pubmed_paper(paper: Paper) -> PubmedPaper:
    from ..search.pubmed.details import MAX_AUTHORS

    return pick_members(
        PubmedPaper,
        paper,
        pmid=paper.ids.pmid,
        authors=[author.name for author in paper.authors[:MAX_AUTHORS]],
        author_count=len(paper.authors),
        doi=paper.ids.doi or None,
        pmcid=paper.ids.pmcid,
        url=f"https://pubmed.ncbi.nlm.nih.gov/{paper.ids.pmid}/",
        mesh_terms=paper.mesh,
    )


def to_converted_ids(converted: Converted) -> ConvertedIds:
    """Return the names of one paper."""
    return pick_members(
        ConvertedIds,
        converted,
        pmid=converted.ids.pmid,
        pmcid=converted.ids.pmcid,
        doi=converted.ids.doi,
    )


def _to_mesh_heading(heading: MeshHeading) -> MeshHeadingRow:
    term = heading.term
    return pick_members(
        MeshHeadingRow,
        term,
        broader=heading.broader,
        narrower=heading.narrower,
        record_type=term.kind,
        search_term=f'"{term.heading}"[MeSH Terms]',
    )
