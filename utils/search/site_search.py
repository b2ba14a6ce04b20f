"""Search Semantic Scholar and arXiv with options that only these sites have.

`.search` merges several sources. Here are Semantic Scholar's citation counts, search in bulk with
operators and the papers that cite a paper, and arXiv's search with its filters and one preprint in
the version named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..errors import BadRequest, NotFound
from ..http import Web
from ..model.identifiers import Ids, find_arxiv_version
from ..model.other_identifiers import EXAMPLES
from ..model.paper import NO_HITS, Paper, SearchResult
from ..sources import Query
from ..sources.arxiv import fetch_version, search
from ..sources.arxiv_query import ORDERS, SORTS
from ..sources.semantic_scholar import (
    BULK_PAGE_SIZE,
    FIELDS_OF_STUDY,
    ScholarPage,
    ScholarPaper,
    build_filters,
    fetch_linked_papers,
    fetch_paper,
    get_date_limits,
    search_bulk,
    search_by_relevance,
    to_plain_words,
)
from ..sources.semantic_scholar_graph import to_graph_name
from ..sources.source import require_valid_page
from ..system.plain_text import prepare_query_text

__all__ = [
    "BULK_SORTS",
    "FIELDS_OF_STUDY",
    "MAX_RESULTS",
    "fetch_scholar_paper",
    "find_citing_papers",
    "search_semantic_scholar",
]

MAX_RESULTS = 100
QUERY_MAX_CHARS = 2_000
BULK_SORTS = tuple(
    f"{name}:{order}"
    for name in ("publicationDate", "citationCount", "paperId")
    for order in ("desc", "asc")
)
MAX_PREPRINTS = 100


def search_semantic_scholar(  # noqa: PLR0913  # every option the service has
    query: str,
    web: Web,
    *,
    min_date: str = "",
    max_date: str = "",
    fields_of_study: Sequence[str] = (),
    bulk: bool = False,
    sort_by: str = "",
    token: str = "",
    max_results: int = 10,
    start: int = 0,
) -> ScholarPage:
    """Return a page of Semantic Scholar's hits.

    Parameters
    ----------
    query
        Plain words; in bulk with ``+ | - "…" * ( ) ~N``.
    min_date, max_date
        Of publication, both included; see `..model.dates`.
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
    text = " ".join(prepare_query_text(query, "query", QUERY_MAX_CHARS).split())
    if not text:
        raise BadRequest("The query is empty.", "For example: graph neural networks")
    require_valid_page(max_results, start, MAX_RESULTS)
    _require_bulk_search(bulk, sort_by, token, start)
    dates = Query(
        text,
        min_date=min_date,
        max_date=max_date,
    )
    filters = build_filters(*get_date_limits(dates), fields_of_study)
    if bulk:
        question = {
            "query": text,
            "sort": sort_by,
            "token": prepare_query_text(token, "token", 500),
        }
        parameters = {name: value for name, value in question.items() if value}
        page = search_bulk({**parameters, **filters}, max_results, start, web)
    else:
        words, warnings = to_plain_words(text)
        page = search_by_relevance(words, filters, max_results, start, web)
        page = replace(page, warnings=(*warnings, *page.warnings))
    return replace(page, warnings=(NO_HITS, *page.warnings)) if page.total == 0 else page


def fetch_scholar_paper(paper: str, web: Web) -> ScholarPaper:
    """Return Semantic Scholar's record of a paper, by any of its identifiers.

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
    return fetch_paper(to_graph_name(paper), web)


def find_citing_papers(
    paper: str, web: Web, *, max_results: int = 10, start: int = 0
) -> ScholarPage:
    """Return the papers that cite a paper, newest first; only the first 9,999 are available.

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
    require_valid_page(max_results, start, MAX_RESULTS)
    return fetch_linked_papers(to_graph_name(paper), "citations", max_results, start, web)


def _require_bulk_search(bulk: bool, sort_by: str, token: str, start: int) -> None:
    if (sort_by or token) and not bulk:
        option = "sort_by" if sort_by else "token"
        msg = f"{option} belongs to a search in bulk; otherwise the most relevant come first."
        raise BadRequest(msg, "Set bulk, or leave it out.")
    if bulk and start >= BULK_PAGE_SIZE:
        msg = f"start is {start:,}; a search in bulk counts it within {BULK_PAGE_SIZE:,} hits."
        raise BadRequest(msg, "Continue with the token and next_start of the last page.")
    if sort_by and sort_by not in BULK_SORTS:
        raise BadRequest(
            f"sort_by is {sort_by[:80]!r}.", f"It must be one of {', '.join(BULK_SORTS)}."
        )


def search_arxiv(  # noqa: PLR0913  # the filters the contract names
    query: str,
    web: Web,
    *,
    author: str = "",
    category: str = "",
    min_date: str = "",
    max_date: str = "",
    sort_by: str = "relevance",
    sort_order: str = "descending",
    max_results: int = 10,
    start: int = 0,
) -> SearchResult:
    """Search arXiv for preprints.

    Parameters
    ----------
    query : str
        Plain words and quoted phrases, all of which must occur; or arXiv's own language
        (``ti:"graph network" ANDNOT cat:cs.SE``). May be empty when there is a filter.
    author, category : str, optional
        A name as printed on the papers; a class (``q-bio.GN``) or an archive (``cs``), several
        with commas between.
    min_date, max_date : str, optional
        Of the first version, both included; see `..model.dates`.
    sort_by, sort_order : str, optional
        One of `SORTS`, one of `ORDERS`.
    max_results, start : int, optional
        A page of at most `MAX_PREPRINTS`, counted from 0.

    Raises
    ------
    BadRequest
        The site cannot answer such a query.
    Unreachable
        arXiv did not answer, or asks for a pause: never shown as "0 results".
    """
    _require_choice("sort_by", sort_by, SORTS)
    _require_choice("sort_order", sort_order, ORDERS)
    require_valid_page(max_results, start, MAX_PREPRINTS)
    wish = Query(
        query,
        max_results=max_results,
        start=start,
        sort_by=sort_by,
        min_date=min_date,
        max_date=max_date,
        author=author,
        categories=tuple(name for name in category.replace(",", " ").split() if name),
    )
    found = search(wish, web, sort_order=sort_order)
    return found if found.total else replace(found, warnings=(NO_HITS, *found.warnings))


def fetch_arxiv_paper(arxiv_id: str, web: Web) -> Paper:
    """Return one preprint, in the version that its identifier names, or else the newest.

    Raises
    ------
    BadRequest
        It is not a valid arXiv identifier.
    NotFound
        arXiv has no such paper, or no such version of it.
    Unreachable
        arXiv did not answer.
    """
    name = Ids.parse(arxiv_id).arxiv
    if not name:
        raise BadRequest(f"{arxiv_id!r} is not a valid arXiv identifier.", EXAMPLES)
    version = find_arxiv_version(arxiv_id)
    paper = fetch_version(name, version, web)
    if paper is None:
        whole = f"{name}v{version}" if version else name
        hint = "Check the digits, or search for the title with search_arxiv."
        if version:
            hint = f"Leave v{version} out for the newest version, or check the digits."
        raise NotFound(f"arXiv has no paper {whole}.", hint)
    return paper


def _require_choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise BadRequest(f"{name} is {value!r}.", f"It must be one of {', '.join(allowed)}.")
