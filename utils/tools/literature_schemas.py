"""What the tools of toolset ``literature`` take and promise to return, as small as can be."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from .schemas import FLAG, NEXT, NUMBER, TEXT, record, rows

Hundred = Annotated[int, Field(ge=1, le=100)]
Year = Annotated[int, Field(ge=0, le=3000, description="0: open")]
ArxivSort = Literal["relevance", "lastUpdatedDate", "submittedDate"]
SourceName = Literal["pubmed", "europepmc", "arxiv", "semantic_scholar", "openalex"]
MergedSort = Literal["relevance", "pub_date"]

_OR_NOTHING: dict[str, Any] = {"type": ["string", "null"]}
_WORDS = rows(TEXT)
_SHARE: dict[str, Any] = {"type": "number"}


def _texts(names: str, **more: dict[str, Any]) -> dict[str, Any]:
    return record(**dict.fromkeys(names.split(), TEXT), **more)


PREPRINT = _texts(
    "id title abstract published updated url pdf_url primary_category doi",
    authors=_WORDS,
    categories=_WORDS,
    retracted=FLAG,
)
PREPRINTS = record(
    total=NUMBER, papers=rows(PREPRINT), next_start=NEXT, effective_query=TEXT, warnings=_WORDS
)
SCHOLAR = _texts(
    "paper_id title url doi pmid pmcid arxiv_id open_access_pdf",
    abstract=_OR_NOTHING,
    venue=_OR_NOTHING,
    publication_date=_OR_NOTHING,
    year=NEXT,
    authors=rows(_texts("author_id name")),
    citation_count=NEXT,
    reference_count=NEXT,
    influential_citation_count=NEXT,
)
SCHOLARS = record(total=NEXT, papers=rows(SCHOLAR), next_start=NEXT, warnings=_WORDS)
BIBTEX = _texts("bibtex")
GATHERED = record(
    query=TEXT,
    papers=rows(
        _texts(
            "title abstract authors year journal pmid doi pmcid arxiv_id s2_id",
            publication_types=_WORDS,
            retracted=FLAG,
            sources=_WORDS,
            same=rows(_texts("source title reason", ids=_WORDS, confidence=_SHARE)),
            linked=rows(_texts("relation title reason", ids=_WORDS, confidence=_SHARE)),
        )
    ),
    sources=rows(
        _texts("source outcome query message", total=NEXT, returned=NUMBER, warnings=_WORDS)
    ),
    warnings=_WORDS,
)
