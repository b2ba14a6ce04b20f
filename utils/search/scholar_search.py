"""Semantic Scholar's search, papers and citing papers; arguments are checked before they are sent.

`.search` merges several sources; here is what only Semantic Scholar has: citation counts, a search
in bulk with operators, and the papers that cite a paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..errors import BadRequest
from ..http import Web
from ..model.dates import year_text
from ..model.paper import NO_HITS
from ..sources import Query
from ..sources.semantic_scholar import (
    BULK_PAGE,
    FIELDS_OF_STUDY,
    ScholarPage,
    ScholarPaper,
    fetch_linked_papers,
    fetch_paper,
    filters_of,
    limits_of,
    plain_words,
    search_bulk,
    search_relevant,
)
from ..sources.semantic_scholar_graph import graph_name
from ..system.plain_text import sendable

__all__ = [
    "BULK_SORTS",
    "FIELDS_OF_STUDY",
    "MOST_RESULTS",
    "citing_papers",
    "scholar_paper",
    "search_semantic_scholar",
]

MOST_RESULTS = 100
LONGEST_QUERY = 2_000
BULK_SORTS = tuple(
    f"{name}:{order}"
    for name in ("publicationDate", "citationCount", "paperId")
    for order in ("desc", "asc")
)


def search_semantic_scholar(  # noqa: PLR0913  # every option the service has
    query: str,
    web: Web,
    *,
    min_date: str = "",
    max_date: str = "",
    start_year: int = 0,
    end_year: int = 0,
    fields_of_study: Sequence[str] = (),
    bulk: bool = False,
    sort_by: str = "",
    token: str = "",
    max_results: int = 10,
    start: int = 0,
) -> ScholarPage:
    """A page of hits.

    Parameters
    ----------
    query
        Plain words; in bulk with ``+ | - "…" * ( ) ~N``.
    min_date, max_date
        Of publication, both included; see `..model.dates`.
    start_year, end_year
        The same by whole years; 0 leaves an end open.
    fields_of_study
        Some of `FIELDS_OF_STUDY`.
    bulk
        Every hit can be reached, not the first 999; without relevance and ``tldr``.
    sort_by
        Of a search in bulk, one of `BULK_SORTS`.
    token
        Of a search in bulk, where the last page said to go on, together with *start*.
    max_results, start
        From 1 to 100, and from 0.

    Raises
    ------
    BadRequest
        It cannot be searched so; nothing was sent.
    NotConfigured
        Semantic Scholar does not know the key.
    Unreachable
        It did not answer: never shown as "0 results".
    """
    text = " ".join(sendable(query, "query", LONGEST_QUERY).split())
    if not text:
        raise BadRequest("The query is empty.", "For example: graph neural networks")
    _require_page(max_results, start)
    _require_bulk(bulk, sort_by, token, start)
    dates = Query(
        text,
        min_date=min_date or year_text(start_year, "start_year"),
        max_date=max_date or year_text(end_year, "end_year"),
    )
    filters = filters_of(*limits_of(dates), fields_of_study)
    if bulk:
        question = {"query": text, "sort": sort_by, "token": sendable(token, "token", 500)}
        parameters = {name: value for name, value in question.items() if value}
        page = search_bulk({**parameters, **filters}, max_results, start, web)
    else:
        words, warnings = plain_words(text)
        page = search_relevant(words, filters, max_results, start, web)
        page = replace(page, warnings=(*warnings, *page.warnings))
    return replace(page, warnings=(NO_HITS, *page.warnings)) if page.total == 0 else page


def scholar_paper(paper: str, web: Web) -> ScholarPaper:
    """One paper under any name it has there, by `..sources.semantic_scholar_graph.graph_name`.

    Raises
    ------
    BadRequest
        *paper* is no identifier.
    NotConfigured
        Semantic Scholar does not know the key.
    NotFound
        It does not know the paper.
    Unreachable
        It did not answer.
    """
    return fetch_paper(graph_name(paper), web)


def citing_papers(paper: str, web: Web, *, max_results: int = 10, start: int = 0) -> ScholarPage:
    """Who cites a paper, the newest first; the first 9,999 can be seen.

    ``total`` is how many there are; a warning says how many of them are out of sight.

    Raises
    ------
    BadRequest
        *paper* is no identifier, or *start* lies out of sight.
    NotConfigured
        Semantic Scholar does not know the key.
    NotFound
        It does not know the paper.
    Unreachable
        It did not answer.
    """
    _require_page(max_results, start)
    return fetch_linked_papers(graph_name(paper), "citations", max_results, start, web)


def _require_page(max_results: int, start: int) -> None:
    if not 1 <= max_results <= MOST_RESULTS:
        msg = f"max_results is {max_results}; it must lie between 1 and {MOST_RESULTS}."
        raise BadRequest(msg, "Page through more with start.")
    if start < 0:
        raise BadRequest(f"start is {start}; it counts from 0.", "Use next_start.")


def _require_bulk(bulk: bool, sort_by: str, token: str, start: int) -> None:
    if (sort_by or token) and not bulk:
        option = "sort_by" if sort_by else "token"
        msg = f"{option} belongs to a search in bulk; otherwise the most relevant come first."
        raise BadRequest(msg, "Set bulk, or leave it out.")
    if bulk and start >= BULK_PAGE:
        msg = f"start is {start:,}; a search in bulk counts it within {BULK_PAGE:,} hits."
        raise BadRequest(msg, "Go on with the token and the next_start of the last page.")
    if sort_by and sort_by not in BULK_SORTS:
        raise BadRequest(
            f"sort_by is {sort_by[:80]!r}.", f"It must be one of {', '.join(BULK_SORTS)}."
        )
