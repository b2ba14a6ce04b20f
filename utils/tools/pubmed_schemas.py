"""Input and output schemas of toolset ``pubmed``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..citations import FORMATS
from .core import DateType, Word
from .schemas import FLAG, NEXT, NUMBER, TEXT, record, rows, some, texts, texts_and

Level = Literal["abstract_plus", "full_xml", "medline_text", "citation_data"]
Relationship = Literal[
    "pubmed_similar_articles", "pubmed_citedin", "pubmed_references", "citation_formats"
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
RELATIONS = record(
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
MESH = record(
    query=TEXT,
    total=NUMBER,
    terms=rows(
        texts_and(
            "ui heading scope_note record_type year_introduced search_term",
            **dict.fromkeys(["entry_terms", "tree_numbers", "broader", "narrower"], _WORDS),
        )
    ),
)
