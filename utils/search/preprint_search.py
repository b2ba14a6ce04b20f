"""arXiv's search with its filters, and one preprint in the version named."""

from __future__ import annotations

from dataclasses import replace

from ..errors import BadRequest, NotFound
from ..http import Web
from ..model.dates import year_text
from ..model.identifiers import EXAMPLES, Ids, arxiv_version
from ..model.paper import NO_HITS, Paper, SearchResult
from ..sources import Query
from ..sources.arxiv import fetch_version, search
from ..sources.arxiv_query import ORDERS, SORTS

MOST_RESULTS = 100


def search_arxiv(  # noqa: PLR0913  # the filters the contract names
    query: str,
    web: Web,
    *,
    author: str = "",
    category: str = "",
    min_date: str = "",
    max_date: str = "",
    start_year: int = 0,
    end_year: int = 0,
    sort_by: str = "relevance",
    sort_order: str = "descending",
    max_results: int = 10,
    start: int = 0,
) -> SearchResult:
    """Ask arXiv for preprints.

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
    start_year, end_year : int, optional
        The same by whole years; 0 leaves an end open.
    sort_by, sort_order : str, optional
        One of `SORTS`, one of `ORDERS`.
    max_results, start : int, optional
        A page of at most `MOST_RESULTS`, counted from 0.

    Raises
    ------
    BadRequest
        It cannot be asked so.
    Unreachable
        arXiv did not answer, or wants to be left alone: never shown as "0 results".
    """
    _require_one_of("sort_by", sort_by, SORTS)
    _require_one_of("sort_order", sort_order, ORDERS)
    if not 1 <= max_results <= MOST_RESULTS:
        msg = f"max_results is {max_results}; it must lie between 1 and {MOST_RESULTS}."
        raise BadRequest(msg, "Page through more with start.")
    wish = Query(
        query,
        max_results=max_results,
        start=start,
        sort_by=sort_by,
        min_date=min_date or year_text(start_year, "start_year"),
        max_date=max_date or year_text(end_year, "end_year"),
        author=author,
        categories=tuple(name for name in category.replace(",", " ").split() if name),
    )
    found = search(wish, web, sort_order=sort_order)
    return found if found.total else replace(found, warnings=(NO_HITS, *found.warnings))


def arxiv_paper(arxiv_id: str, web: Web) -> Paper:
    """One preprint, in the version its identifier names, else in the newest.

    Raises
    ------
    BadRequest
        It is no arXiv identifier.
    NotFound
        arXiv has no such paper, or no such version of it.
    Unreachable
        arXiv did not answer.
    """
    name = Ids.parse(arxiv_id).arxiv
    if not name:
        raise BadRequest(f"{arxiv_id!r} is no arXiv identifier.", EXAMPLES)
    version = arxiv_version(arxiv_id)
    paper = fetch_version(name, version, web)
    if paper is None:
        whole = f"{name}v{version}" if version else name
        hint = "Check the digits, or look for the title with search_arxiv."
        if version:
            hint = f"Leave v{version} out for the newest version, or check the digits."
        raise NotFound(f"arXiv has no paper {whole}.", hint)
    return paper


def _require_one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise BadRequest(f"{name} is {value!r}.", f"It must be one of {', '.join(allowed)}.")
