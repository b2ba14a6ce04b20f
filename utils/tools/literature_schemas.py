"""Input and output schemas of toolset ``literature``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from ..model.sites import SEARCHED
from .schemas import FLAG, NEXT, NUMBER, TEXT, record, rows, texts_and

Hundred = Annotated[int, Field(ge=1, le=100)]
Year = Annotated[int, Field(ge=0, le=3000, description="0: open")]
ArxivSort = Literal["relevance", "lastUpdatedDate", "submittedDate"]
if TYPE_CHECKING:
    SourceName = str
else:
    SourceName = Literal[tuple(SEARCHED)]
MergedSort = Literal["relevance", "pub_date"]

_OR_NOTHING: dict[str, Any] = {"type": ["string", "null"]}
_WORDS = rows(TEXT)
_SHARE: dict[str, Any] = {"type": "number"}


PREPRINT = texts_and(
    "id title abstract published updated url pdf_url primary_category doi",
    authors=_WORDS,
    categories=_WORDS,
    retracted=FLAG,
)
PREPRINTS = record(
    total=NUMBER, papers=rows(PREPRINT), next_start=NEXT, effective_query=TEXT, warnings=_WORDS
)
SCHOLAR = texts_and(
    "paper_id title url doi pmid pmcid arxiv_id open_access_pdf",
    abstract=_OR_NOTHING,
    venue=_OR_NOTHING,
    publication_date=_OR_NOTHING,
    year=NEXT,
    authors=rows(texts_and("author_id name")),
    citation_count=NEXT,
    reference_count=NEXT,
    influential_citation_count=NEXT,
)
SCHOLARS = record(total=NEXT, papers=rows(SCHOLAR), next_start=NEXT, token=TEXT, warnings=_WORDS)
BIBTEX = texts_and("bibtex")
GATHERED = record(
    query=TEXT,
    papers=rows(
        texts_and(
            "title abstract authors year journal pmid doi pmcid arxiv_id s2_id version",
            publication_types=_WORDS,
            retracted=FLAG,
            sources=_WORDS,
            same=rows(texts_and("source title reason", ids=_WORDS, confidence=_SHARE)),
            linked=rows(texts_and("relation title reason", ids=_WORDS, confidence=_SHARE)),
        )
    ),
    sources=rows(
        texts_and("source outcome query message", total=NEXT, returned=NUMBER, warnings=_WORDS)
    ),
    warnings=_WORDS,
)
