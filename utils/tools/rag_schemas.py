"""Input and output schemas of toolset ``rag``.

`FOUND` has more of a passage than the contract asks for (text, section, place, title, file, kind,
warnings), so that a passage can be quoted and found again.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..model.passage import Filters
from .literature_schemas import Year
from .schemas import FLAG, NEXT, NUMBER, TEXT, record, rows

Key = Annotated[str, Field(min_length=1)]
DocId = Annotated[str, Field(pattern="^pmid:[0-9]+$")]


class PassageFilters(BaseModel):
    """Which passages to search."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=lambda s: s.pop("description"))

    year_from: Year = 0
    year_to: Annotated[int, Field(ge=0, le=3000)] = 0
    journal: str = ""
    publication_types: tuple[str, ...] = ()
    kind: Literal["", "full_text", "abstract"] = ""
    include_retracted: bool = False

    def to_filters(self) -> Filters:
        """The same, as a search takes it."""
        return Filters(
            year_from=self.year_from or None,
            year_to=self.year_to or None,
            journal=self.journal,
            publication_types=self.publication_types,
            kind=self.kind or None,
            retracted=self.include_retracted,
        )


_SCORE: dict[str, Any] = {"type": "number"}
_SCORE_OR_NOTHING: dict[str, Any] = {"type": ["number", "null"]}
_OR_NOTHING: dict[str, Any] = {"type": ["string", "null"]}
_WORDS = rows(TEXT)


def _each(names: str, kind: dict[str, Any]) -> dict[str, Any]:
    return dict.fromkeys(names.split(), kind)


SYNCED = record(
    job_id=TEXT,
    inserted=NUMBER,
    updated=NUMBER,
    skipped=NUMBER,
    pmids_processed=NUMBER,
    max_edat_seen=_OR_NOTHING,
    warnings=_WORDS,
)
FOUND = record(
    results=rows(
        record(
            **_each("doc_id uuid text section title file kind version", TEXT),
            start=NUMBER,
            end=NUMBER,
            score=_SCORE,
            **_each("sim bm25 quality", _SCORE_OR_NOTHING),
        )
    ),
    warnings=_WORDS,
)
DOCUMENT = record(
    doc_id=TEXT,
    pub_types=_WORDS,
    **_each("title abstract journal pdat edat lr pmcid", _OR_NOTHING),
    quality=record(total=NUMBER, **_each("design recency journal human", NEXT)),
    version=NUMBER,
)
CHECKPOINT = record(query_key=TEXT, last_edat=_OR_NOTHING)
MOVED = record(ok=FLAG)
QUOTED = record(
    found=FLAG,
    verbatim=FLAG,
    **_each("doc_id uuid text section title file", TEXT),
    start=NUMBER,
    end=NUMBER,
    likeness=_SCORE,
)
