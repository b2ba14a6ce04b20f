"""From a reference as it is printed to its PMID: journal, year, volume, first page, author.

NCBI matches exactly. What it does not answer is neither found nor not found: it stops at a
reference without a journal, so those are asked last, and what comes after one is asked again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ..errors import BadRequest
from ..sources.eutils.ecitmatch import BATCH, FIELDS, matched
from ..system.plain_text import sendable
from ..web import Web

_ROUNDS = 6
_LONGEST_FIELD = 500
Status = Literal["matched", "not_found", "ambiguous", "unclear"]


@dataclass(frozen=True, slots=True)
class Match:
    """What NCBI said of one reference; ``candidates`` where several papers fit."""

    key: str
    status: Status
    pmid: str = ""
    candidates: tuple[str, ...] = ()
    detail: str = ""


def match_citations(citations: Sequence[Mapping[str, str]], web: Web) -> list[Match]:
    """One outcome for each reference, in the order given.

    Parameters
    ----------
    citations : sequence of mappings
        ``journal``, ``year``, ``volume``, ``first_page``, ``author`` (as many as are known), and
        ``key``, whatever the caller knows it by.

    Raises
    ------
    BadRequest
        None is given, one says nothing, or a field of one cannot be sent.
    Unreachable
        NCBI did not answer.
    """
    if not citations:
        raise BadRequest("No citation was given.", f"Give some of {', '.join(FIELDS)}.")
    rows = [_checked(citation, number) for number, citation in enumerate(citations, start=1)]
    order = sorted(range(len(rows)), key=lambda at: not rows[at]["journal"])
    words = dict(_words(order, rows, web))
    return [_match(row["key"] or str(at + 1), words.get(at, "")) for at, row in enumerate(rows)]


def _checked(citation: Mapping[str, str], number: int) -> dict[str, str]:
    """The fields of a citation, all of them there, as they can be sent."""
    row = {
        name: sendable(
            citation.get(name, ""), f"{name} of citation {number}", _LONGEST_FIELD
        ).strip()
        for name in (*FIELDS, "key")
    }
    if not any(row[name] for name in FIELDS):
        msg = f"Citation {number} says nothing."
        raise BadRequest(msg, f"Give some of {', '.join(FIELDS)}.")
    return row


def _words(
    order: Sequence[int], citations: Sequence[Mapping[str, str]], web: Web
) -> Iterator[tuple[int, str]]:
    """NCBI's word on each; where it stopped, it is asked about what stood behind that."""
    pending = list(order)
    for _ in range(len(pending) // BATCH + _ROUNDS):
        if not pending:
            return
        batch = pending[:BATCH]
        said = matched([citations[at] for at in batch], web)
        yield from ((batch[place], word) for place, word in said.items())
        reached = max(said, default=-1) + 1
        # The one it stopped at stays without a word.
        pending = pending[min(reached + 1, len(batch)) :]


def _match(key: str, word: str) -> Match:
    if re.fullmatch(r"[1-9]\d{0,8}", word, re.A):
        return Match(key, "matched", word)
    if word.startswith("AMBIGUOUS"):
        candidates = tuple(re.findall(r"\b\d{4,9}\b(?! citations)", word, re.A))
        return Match(key, "ambiguous", candidates=candidates, detail=_readable(word))
    if word.startswith("NOT_FOUND"):
        return Match(key, "not_found", detail=_readable(word))
    told = _readable(word) if word else "NCBI gave no answer to this one; add the journal."
    return Match(key, "unclear", detail=told)


def _readable(word: str) -> str:
    """NCBI's word as a sentence could hold it.

    >>> _readable("NOT_FOUND;INVALID_JOURNAL")
    'not found; invalid journal'
    """
    return " ".join(word.replace("_", " ").replace(";", "; ").lower().split())[:200]
