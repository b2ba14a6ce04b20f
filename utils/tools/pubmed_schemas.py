"""What the tools of toolset ``pubmed`` take and promise to return, as small as a schema can be."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from .core import DateType, Word
from .schemas import FLAG, NEXT, NUMBER, TEXT, record, rows

Level = Literal["abstract_plus", "full_xml", "medline_text", "citation_data"]
Relationship = Literal[
    "pubmed_similar_articles", "pubmed_citedin", "pubmed_references", "citation_formats"
]
Style = Literal["ris", "bibtex", "apa_string", "mla_string", "vancouver", "csl_json"]
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


_ANY: dict[str, Any] = {"type": "object"}
_OR_NOTHING: dict[str, Any] = {"type": ["string", "null"]}
_WORDS = rows(TEXT)


def _texts(names: str, **more: dict[str, Any]) -> dict[str, Any]:
    return record(**dict.fromkeys(names.split(), TEXT), **more)


SEARCH = record(
    search_parameters=_ANY,
    effective_search_term=TEXT,
    query_translation=TEXT,
    total_found=NUMBER,
    retrieved_pmid_count=NUMBER,
    pmids=_WORDS,
    brief_summaries=rows(_texts("pmid title authors source pub_date epub_date doi pmcid")),
    warnings=_WORDS,
    e_search_url=TEXT,
    e_summary_url=TEXT,
)
DETAILS = record(
    requested_pmids=_WORDS,
    articles=rows(_texts("pmid title")),
    text=TEXT,
    next_start=NEXT,
    not_found_pmids=_WORDS,
    failed=rows(_texts("pmid code message")),
    e_fetch_details=record(urls=_WORDS, request_method=TEXT),
)
RELATIONS = record(
    source_pmid=TEXT,
    relationship_type=TEXT,
    related_articles=rows(
        _texts(
            "pmid title authors journal year doi link_url",
            retracted=FLAG,
            score={"type": ["integer", "null"]},
        )
    ),
    citations=_ANY,
    retrieved_count=NUMBER,
    total=NUMBER,
    source=TEXT,
    warnings=_WORDS,
    e_link_url=TEXT,
)
PAPER = _texts(
    "pmid title abstract journal year pmcid url",
    authors=_WORDS,
    doi=_OR_NOTHING,
    publication_types=_WORDS,
    mesh_terms=_WORDS,
    retracted=FLAG,
)
BIBTEX = _texts("pmid bibtex")
CONVERTED = record(records=rows(_texts("requested status pmid pmcid doi message")), found=NUMBER)
MATCHES = record(results=rows(_texts("key status pmid detail", candidates=_WORDS)), matched=NUMBER)
SPELLING = _texts("query corrected_query", replaced=_WORDS)
MESH = record(
    query=TEXT,
    total=NUMBER,
    terms=rows(
        _texts(
            "ui heading scope_note record_type year_introduced search_term",
            **dict.fromkeys(["entry_terms", "tree_numbers", "broader", "narrower"], _WORDS),
        )
    ),
)
