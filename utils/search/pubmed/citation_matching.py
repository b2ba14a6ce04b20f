"""Match printed references to PMIDs by journal, year, volume, first page and author.

NCBI matches exactly. A reference that it does not answer is neither found nor not found: it stops
at one without a journal, so those are sent last, and what follows one is sent again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ...errors import BadRequest
from ...http import Web
from ...sources.eutils_services import (
    CITATION_FIELDS,
    MAX_CITATIONS_PER_REQUEST,
    fetch_citation_matches,
)
from ...system.plain_text import prepare_query_text

_EXTRA_ROUNDS = 6
_FIELD_MAX_CHARS = 500
Status = Literal["matched", "not_found", "ambiguous", "unclear"]


@dataclass(frozen=True, slots=True)
class CitationMatch:
    """NCBI's answer for one reference, with ``candidates`` where several papers fit."""

    key: str
    status: Status
    pmid: str = ""
    candidates: tuple[str, ...] = ()
    detail: str = ""


def match_citations(citations: Sequence[Mapping[str, str]], web: Web) -> list[CitationMatch]:
    """Return one outcome for each reference, in the order given.

    Parameters
    ----------
    citations : sequence of mappings
        ``journal``, ``year``, ``volume``, ``first_page``, ``author`` (as many as are known), and
        ``key``, a name of the caller's.

    Raises
    ------
    BadRequest
        None is given, one is empty, or a field of one cannot be sent.
    Unreachable
        NCBI did not answer.
    """
    if not citations:
        raise BadRequest("No citation was given.", f"Give some of {', '.join(CITATION_FIELDS)}.")
    rows = [
        _to_ecitmatch_fields(citation, number) for number, citation in enumerate(citations, start=1)
    ]
    order = sorted(range(len(rows)), key=lambda at: not rows[at]["journal"])
    answers = dict(_iterate_ncbi_answers(order, rows, web))
    return [
        _parse_match(row["key"] or str(at + 1), answers.get(at, "")) for at, row in enumerate(rows)
    ]


def _to_ecitmatch_fields(citation: Mapping[str, str], number: int) -> dict[str, str]:
    """Return a citation's fields as NCBI takes them: one page for a range, one year for a date."""
    row = {
        name: prepare_query_text(
            citation.get(name, ""), f"{name} of citation {number}", _FIELD_MAX_CHARS
        ).strip()
        for name in (*CITATION_FIELDS, "key")
    }
    row["first_page"] = re.sub(r"^(\w+)\s*[-–—]\s*\w+$", r"\1", row["first_page"])
    row["year"] = re.sub(r"^(\d{4})[-/ ].*$", r"\1", row["year"])
    if not any(row[name] for name in CITATION_FIELDS):
        msg = f"Citation {number} is empty."
        raise BadRequest(msg, f"Give some of {', '.join(CITATION_FIELDS)}.")
    return row


def _iterate_ncbi_answers(
    order: Sequence[int], citations: Sequence[Mapping[str, str]], web: Web
) -> Iterator[tuple[int, str]]:
    """Yield NCBI's answer for each citation; what follows an interruption is sent again."""
    pending = list(order)
    for _ in range(len(pending) // MAX_CITATIONS_PER_REQUEST + _EXTRA_ROUNDS):
        if not pending:
            return
        batch = pending[:MAX_CITATIONS_PER_REQUEST]
        answers = fetch_citation_matches([citations[at] for at in batch], web)
        yield from ((batch[place], word) for place, word in answers.items())
        reached = max(answers, default=-1) + 1
        # The one it stopped at stays without a word.
        pending = pending[min(reached + 1, len(batch)) :]


def _parse_match(key: str, word: str) -> CitationMatch:
    if re.fullmatch(r"[1-9]\d{0,8}", word, re.A):
        return CitationMatch(key, "matched", word)
    if word.startswith("AMBIGUOUS"):
        candidates = tuple(re.findall(r"\b\d{4,9}\b(?! citations)", word, re.A))
        return CitationMatch(
            key, "ambiguous", candidates=candidates, detail=_explain_ncbi_answer(word)
        )
    if word.startswith("NOT_FOUND"):
        return CitationMatch(key, "not_found", detail=_explain_ncbi_answer(word))
    detail = (
        _explain_ncbi_answer(word) if word else "NCBI gave no answer to this one; add the journal."
    )
    return CitationMatch(key, "unclear", detail=detail)


def _explain_ncbi_answer(word: str) -> str:
    """Return NCBI's answer in plain words.

    >>> _explain_ncbi_answer("NOT_FOUND;INVALID_JOURNAL")
    'not found; invalid journal'
    """
    return " ".join(word.replace("_", " ").replace(";", "; ").lower().split())[:200]
