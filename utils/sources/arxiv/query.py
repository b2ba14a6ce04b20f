"""A query in arXiv's syntax: prefixes, operators, dates and sorts.

Its words: `.arxiv.words`.
https://info.arxiv.org/help/api/user-manual.html#51-details-of-query-construction
"""

from __future__ import annotations

import re
import time
from calendar import monthrange
from dataclasses import dataclass

from ...errors import BadRequest
from ...system.plain_text import sendable
from ..source import Query
from .categories import clause
from .words import EXAMPLE, search_words, term

SORTS = ("relevance", "lastUpdatedDate", "submittedDate")
ORDERS = ("descending", "ascending")
LAST = 30_000
"""The last hit arXiv shows of any search; what asks for more is refused."""
SHAKY = 10_000
"""From here on pages come back empty now and then, or not at all."""
_SLICE = 2000
_LONGEST = 4000  # characters; an address much longer is refused by gateways

_FIRST_YEAR = 1991
_HOUSE_SORTS = {"pub_date": "submittedDate"}
_DATE_FIELDS = {"pdat": "submittedDate", "edat": "submittedDate", "mdat": "lastUpdatedDate"}


@dataclass(frozen=True, slots=True)
class ArxivQuery:
    """A search as it is sent: ``search_query``, and the order and page of its hits."""

    search_query: str
    sort_by: str
    sort_order: str
    start: int
    max_results: int
    warnings: tuple[str, ...] = ()

    @property
    def params(self) -> dict[str, str | int]:
        """The parameters of the request."""
        return {
            "search_query": self.search_query,
            "start": self.start,
            "max_results": self.max_results,
            "sortBy": self.sort_by,
            "sortOrder": self.sort_order,
        }


def arxiv_query(query: Query, sort_order: str = "descending") -> ArxivQuery:
    """Translate *query* into arXiv's syntax.

    Raises
    ------
    BadRequest
        It has no such form at arXiv; the message says why.
    """
    if kinds := [kind for kind in query.publication_types if kind.lower() != "preprint"]:
        msg = f"arXiv has preprints only, no publication type {kinds[0]!r}."
        raise BadRequest(msg, "Leave publication_types out for arXiv.")
    sort_by = _HOUSE_SORTS.get(query.sort_by, query.sort_by)
    if sort_by not in SORTS:
        msg = f"arXiv cannot sort by {query.sort_by!r}."
        raise BadRequest(msg, f"It must be one of {', '.join((*_HOUSE_SORTS, *SORTS))}.")
    _require_page(query.start, query.max_results)
    words, warnings = search_words(sendable(query.text, "query", _LONGEST))
    parts = [words] if words else []
    if query.author.strip():
        parts.append(_author(query.author))
    if query.categories:
        clauses = list(dict.fromkeys(clause(name) for name in query.categories))
        parts.append(clauses[0] if len(clauses) == 1 else f"({' OR '.join(clauses)})")
    if query.min_date or query.max_date:
        parts.append(_dates(query))
    if not parts:
        raise BadRequest("The query holds no word to look for.", EXAMPLE)
    if len(parts) > 1 and re.search(r" (?:OR|ANDNOT) ", words):
        parts[0] = f"({words})"
    search_query = " AND ".join(parts)
    if len(search_query) > _LONGEST:
        msg = f"The query has {len(search_query):,} characters; {_LONGEST:,} is the most."
        raise BadRequest(msg, "Ask for fewer words.")
    return ArxivQuery(
        search_query, sort_by, sort_order, query.start, query.max_results, tuple(warnings)
    )


def _require_page(start: int, size: int) -> None:
    if start < 0:
        raise BadRequest(f"start is {start}; it counts from 0.", "Use next_start.")
    if not 1 <= size <= _SLICE:
        raise BadRequest(f"max_results is {size}; it must lie between 1 and {_SLICE:,}.")
    if start + size > LAST:
        msg = f"arXiv shows the first {LAST:,} hits of a search; {start + size:,} was asked for."
        raise BadRequest(msg, "Narrow the search by years, and ask once for each.")


def _author(name: str) -> str:
    """A name as printed: arXiv has given names first.

    >>> _author("Doe, Jane A."), _author("Erdős")
    ('au:"Jane A Doe"', 'au:Erdős')
    """
    family, comma, given = sendable(name, "author", 200).partition(",")
    if spelled := term(f"{given} {family}" if comma else name, phrase=True):
        return f"au:{spelled}"
    raise BadRequest(f"{name!r} is no author's name.", "For example Jane Doe.")


def _dates(query: Query) -> str:
    """The range of days, both included; a missing end is the first year, or this one."""
    this_year = time.gmtime(time.time()).tm_year
    first = _day(query.min_date, "min_date") if query.min_date else f"{_FIRST_YEAR}0101"
    last = _day(query.max_date, "max_date", last=True) if query.max_date else ""
    last = last or f"{max(this_year, int(first[:4]))}1231"
    if first > last:
        raise BadRequest(f"min_date {query.min_date} is later than max_date {query.max_date}.")
    if int(last[:4]) < _FIRST_YEAR:
        raise BadRequest(f"arXiv began in {_FIRST_YEAR}; it has nothing from before.")
    first = max(first, f"{_FIRST_YEAR}0101")
    return f"{_DATE_FIELDS.get(query.date_type, 'submittedDate')}:[{first}0000 TO {last}2359]"


def _day(text: str, name: str, *, last: bool = False) -> str:
    """The first (or last) day a partial date can mean.

    >>> _day("2026/02", "min_date"), _day("2026/02", "max_date", last=True)
    ('20260201', '20260228')
    """
    match = re.fullmatch(r"([12]\d{3})(?:/(\d{1,2})(?:/(\d{1,2}))?)?", text.strip())
    year, month, day = (int(part or 0) for part in match.groups()) if match else (0, 0, 0)
    month = month or (12 if last else 1)
    longest = monthrange(year, month)[1] if year and 1 <= month <= 12 else 0
    day = day or (longest if last else 1)
    if not 1 <= day <= longest:
        msg = f"{name} {text!r} is no date of the form YYYY, YYYY/MM or YYYY/MM/DD."
        raise BadRequest(msg, "For example 2020/01/31.")
    return f"{year:04d}{month:02d}{day:02d}"
