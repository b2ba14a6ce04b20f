"""Toolset ``core``: check many quotations word for word in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from ..curation.reading import split_handle
from ..errors import PaperError
from ..library import Library
from .answers import limit_rows
from .indexing import IndexUpdater
from .tool import READS_SHELF, LongCallRunner, Source, TextOrNumber, Tool, make_tool

if TYPE_CHECKING:
    from ..corpus import Corpus
    from ..corpus.quotations import Quotation
    from ..mirror.search import MirrorPassages

_MAX_QUOTES = 100
_INDEX_TIMEOUT_S = 8.0  # of a call's twenty seconds, for what was filed since the last index
_SOURCE_TEXT_MAX_CHARS = 600  # characters of the text beside a quotation that differs from it


class QuoteVerdicts(TypedDict):
    """The verdict on each quotation."""

    quotes: list[dict[str, Any]]
    warnings: list[str]


class RequestedQuote(BaseModel):
    """A quotation to look for."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=lambda s: s.pop("description"))

    text: Annotated[str, Field(max_length=5000, description="The words as quoted.")]
    paper: Annotated[TextOrNumber, Field(description="Where to look; else everywhere.")] = ""


def tools(library: Library) -> list[Tool]:
    """Return the tool, bound to *library*."""
    indexing, runner = IndexUpdater(library), LongCallRunner("the corpus")

    def verify_quotes(
        quotes: Annotated[
            list[RequestedQuote],
            Field(min_length=1, max_length=_MAX_QUOTES, description="The quotations."),
        ],
        source: Source = "corpus",
    ) -> QuoteVerdicts:
        """Check quotations word for word: where each stands, in which text, and what differs."""
        asked = tuple((one.text, one.paper) for one in quotes)
        update = indexing if source == "corpus" else None
        corpus = library.passages_of(source)
        found, warnings = runner.call_shared(_verify_quotations, corpus, update, asked)
        return limit_rows(QuoteVerdicts(quotes=found, warnings=warnings), "quotes")

    return [make_tool(verify_quotes, READS_SHELF)]


def _verify_quotations(
    corpus: Corpus | MirrorPassages, indexing: IndexUpdater | None, asked: Sequence[tuple[str, str]]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the verdict on each quotation, and warnings about papers that were not searched."""
    anywhere = any(not paper for _, paper in asked)
    warnings = indexing.update(_INDEX_TIMEOUT_S) if indexing and anywhere else []
    return [_build_verdict_row(text, paper, corpus) for text, paper in asked], warnings


def _build_verdict_row(text: str, paper: str, corpus: Corpus | MirrorPassages) -> dict[str, Any]:
    """Return the verdict on one quotation; ``unclear`` if it could not be searched for."""
    try:
        found = corpus.verify_quote(text, split_handle(paper)[0])
    except PaperError as error:
        return {"verdict": "unclear", "why": error.text}
    if not found.found:
        return {"verdict": "absent"}
    words = found.printed[:_SOURCE_TEXT_MAX_CHARS]
    if found.verdict == "absent":  # what comes nearest is another sentence
        return {"verdict": "absent", "nearest": words, "nearest_at": found.handle}
    row: dict[str, Any] = {
        "verdict": found.verdict,
        "handle": found.handle,
        "sha256": found.sha256,
    }
    if found.section:
        row["section"] = found.section
    if not found.verbatim:
        row |= {"printed": words, "differences": describe_differences(found)}
    return row


def describe_differences(found: Quotation) -> list[str]:
    """Describe the differences, if the sentence is the same."""
    return [str(one) for one in found.differences] if found.verdict == "near" else []
