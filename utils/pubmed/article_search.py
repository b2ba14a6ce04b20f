"""A PubMed search that returns PMIDs by the hundred, and the first papers in brief.

Those are read from NCBI's history server, which keeps the result of the search.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..errors import BadRequest, Unreachable
from ..sources import Query
from ..sources.eutils.esummary import Summary, fetch_summaries
from ..sources.pubmed import Hits, esearch, search_url, term
from ..web import Web
from .search import checked

MOST_SUMMARIES = 100
_EARLIEST, _LATEST = "1800", "3000"


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found; ``term`` is what was sent, ``search_url`` where (without keys)."""

    query: Query
    term: str
    hits: Hits
    summaries: tuple[Summary, ...]
    warnings: tuple[str, ...]
    search_url: str
    summary_url: str = ""


def search_articles(query: Query, first: int, web: Web) -> Found:
    """The PMIDs that a query finds, and the *first* papers in brief.

    A range of dates may be open at one end.

    Raises
    ------
    BadRequest
        The query cannot be sent as it is.
    Unreachable
        PubMed did not answer.
    """
    if len(query.text.strip()) < 3:
        raise BadRequest("query_term has fewer than 3 characters.", "Ask for a word at least.")
    if not 0 <= first <= MOST_SUMMARIES:
        msg = f"fetch_brief_summaries is {first}; it must lie between 0 and {MOST_SUMMARIES}."
        raise BadRequest(msg, "Ask for the details of others by PMID.")
    query = checked(_closed(query))
    hits = esearch(query, web, kept=first > 0)
    url = search_url(query, web, kept=first > 0)
    found = Found(query, term(query), hits, (), hits.warnings, url)
    if not (first and hits.pmids):
        return found
    try:
        known, summary_url = fetch_summaries(hits, first, web)
    except Unreachable as miss:
        # The PMIDs are an answer already; the summaries can be requested again.
        return replace(found, warnings=(*hits.warnings, f"No summaries: {miss.message}"))
    missing = [pmid for pmid in hits.pmids[:first] if pmid not in known]
    warnings = (f"PubMed sent no summary of PMID {', '.join(missing)}.",) if missing else ()
    return replace(
        found,
        summaries=tuple(known[pmid] for pmid in hits.pmids[:first] if pmid in known),
        warnings=(*hits.warnings, *warnings),
        summary_url=summary_url,
    )


def _closed(query: Query) -> Query:
    """PubMed wants both ends of a range of dates."""
    if not (query.min_date or query.max_date):
        return query
    return replace(query, min_date=query.min_date or _EARLIEST, max_date=query.max_date or _LATEST)
