"""Search PubMed: checks of a query, one page of its papers, or every PMID."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from ..errors import BadRequest
from ..model.paper import SearchResult
from ..sources import Query, Source
from ..sources.pubmed import count_hits
from ..system.plain_text import sendable, shortened
from ..web import Web
from .slices import Sweep, sweep

SORTS = ("pub_date", "relevance", "author", "journal")
DATE_TYPES = ("pdat", "edat", "mdat")
MOST_RESULTS = 1000
LONGEST_QUERY = 20_000
MOST_TYPES = 100  # PubMed has some eighty
_LONGEST_NAME = 200


def search(query: Query, web: Web, sources: Sequence[Source]) -> SearchResult:
    """Search PubMed in its own query language.

    Raises
    ------
    BadRequest
        The query cannot be sent as it is.
    NotConfigured
        No e-mail address is set.
    Unreachable
        PubMed did not answer, or reported an error of its own: never shown as "0 results".
    """
    pubmed = next(source for source in sources if source.name == "pubmed")
    assert pubmed.search is not None
    return pubmed.search(checked(query), web)


def find_every_pmid(query: Query, web: Web) -> Sweep:
    """Find every hit of a query, however many there are.

    Raises
    ------
    BadRequest
        The query cannot be sent as it is.
    Unreachable
        PubMed did not answer, or reported an error of its own.
    """
    return sweep(checked(query), web)


def count_by_filter(query: Query, filters: Sequence[str], web: Web) -> dict[str, int]:
    """How many hits a query has under each of *filters*, such as ``hasabstract``.

    One small request each, without PMIDs; the filter ``""`` counts them all.

    Raises
    ------
    BadRequest
        The query cannot be sent as it is.
    Unreachable
        PubMed did not answer, or reported an error of its own.
    """
    query = checked(query)
    return {
        words: count_hits(query, web, f"AND ({words})" if words else "")
        for words in dict.fromkeys(filters)
    }


def ligand_receptor_question(ligand: str, receptor: str) -> str:
    """The query that finds papers on the interaction of a ligand and its receptor.

    >>> ligand_receptor_question("CXCL12", "CXCR4")[:53]
    '(CXCL12[Gene Symbol] OR CXCL12[MeSH Terms]) AND (CXCR'
    """
    left, right = _gene(ligand, "ligand"), _gene(receptor, "receptor")
    return (
        f"({left}[Gene Symbol] OR {left}[MeSH Terms]) AND "
        f"({right}[Gene Symbol] OR {right}[MeSH Terms]) AND "
        "(interaction OR signaling OR binding OR pathway)"
    )


def checked(query: Query) -> Query:
    """The query as it can be sent: on one line, with dates and types as PubMed wants them.

    Raises
    ------
    BadRequest
        One sentence about what is wrong with it.
    """
    text = sendable(query.text, "query", LONGEST_QUERY)
    if not text.strip():
        raise BadRequest("The query is empty.", 'For example: CRISPR[Title] AND "2026"[PDAT]')
    _require_balance(text)
    _require_one_of("sort_by", query.sort_by, SORTS)
    _require_one_of("date_type", query.date_type, DATE_TYPES)
    if not 1 <= query.max_results <= MOST_RESULTS:
        msg = f"max_results is {query.max_results}; it must lie between 1 and {MOST_RESULTS}."
        raise BadRequest(msg, "Page through more with start.")
    if query.start < 0:
        raise BadRequest(f"start is {query.start}; it counts from 0.", "Use next_start.")
    first, last = query.min_date.strip(), query.max_date.strip()
    _require_pair(first, last)
    kinds = _kinds(query.publication_types)
    return replace(query, text=text, min_date=first, max_date=last, publication_types=kinds)


def _kinds(types: Sequence[str]) -> tuple[str, ...]:
    """Publication types by name; raises for an empty one, which would search for nothing."""
    if len(types) > MOST_TYPES:
        msg = f"{len(types):,} publication types are given; {MOST_TYPES} is the most."
        raise BadRequest(msg, "Leave them out to search all types.")
    kinds = []
    for number, kind in enumerate(types, start=1):
        name = sendable(kind, f"publication type {number}", _LONGEST_NAME).replace('"', "").strip()
        if not name:
            msg = f"Publication type {number} is empty."
            raise BadRequest(msg, "Name one, such as Review, or leave it out.")
        kinds.append(name)
    return tuple(kinds)


def _gene(name: str, role: str) -> str:
    cleaned = re.sub(r'[\[\]()"]', " ", sendable(name, role, _LONGEST_NAME)).strip()
    if not cleaned:
        raise BadRequest(f"The {role} is empty.", "Give a gene symbol or a name, such as CXCL12.")
    return re.sub(r"\s+", " ", cleaned)


def _require_balance(text: str) -> None:
    bare = re.sub(r'"[^"]*"', "", text)
    if '"' in bare:
        raise BadRequest("A quotation mark in the query is not closed.", "Close or remove it.")
    for left, right in ("()", "[]"):
        depth = 0
        for character in bare:
            depth += (character == left) - (character == right)
            if depth < 0:
                break
        if depth:
            msg = f"The brackets {left}{right} in the query do not match."
            raise BadRequest(msg, "Count them, or remove them.")


def _require_one_of(name: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        shown = shortened(value, 40)
        raise BadRequest(f"{name} is {shown!r}.", f"It must be one of {', '.join(allowed)}.")


def _require_pair(first: str, last: str) -> None:
    if bool(first) != bool(last):
        given, absent = ("min_date", "max_date") if first else ("max_date", "min_date")
        msg = f"{given} is given without {absent}, and PubMed needs both."
        raise BadRequest(msg, "Use 1800 or 3000 for an open end.")
    if first and _day(first, "min_date") > _day(last, "max_date", last=True):
        raise BadRequest(f"min_date {first} is later than max_date {last}.", "Swap them.")


def _day(text: str, name: str, *, last: bool = False) -> tuple[int, int, int]:
    """The first (or last) day that a partial date can mean.

    >>> _day("2026/02", "min_date"), _day("2026", "max_date", last=True)
    ((2026, 2, 1), (2026, 12, 31))
    """
    match = re.fullmatch(r"(\d{4})(?:/(\d{1,2})(?:/(\d{1,2}))?)?", text, re.A)
    month = int((match and match[2]) or (12 if last else 1))
    day = int((match and match[3]) or (31 if last else 1))
    try:
        if not match:
            raise ValueError
        date(int(match[1]), month, day if match[3] else 1)
    except ValueError:
        msg = f"{name} {shortened(text, 40)!r} is no date of the form YYYY, YYYY/MM or YYYY/MM/DD."
        raise BadRequest(msg, "For example 2020/01/31.") from None
    return int(match[1]), month, day
