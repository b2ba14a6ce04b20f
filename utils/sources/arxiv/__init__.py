"""arXiv: its search, and the record of every preprint on it.

Beside it: requests (`.arxiv.manners`), queries (`.arxiv.query`), the reading of entries
(`.arxiv.entries`), and the texts (`.arxiv.files`).
https://info.arxiv.org/help/api/user-manual.html
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from ...errors import BadRequest, NotOffered, Unreachable
from ...model.identifiers import Ids
from ...model.paper import Paper, SearchResult, paper_from, to_row
from ...web import Answer, Web
from ..loose_json import whole
from ..source import Lookup, Query, Route, Source, one_by_one, recall_papers
from .entries import paper_of
from .files import fetch_full_text
from .manners import ATOM, OPENSEARCH, RATE, REMEMBERED_DAYS, Check, ask, read_feed
from .query import LAST, SHAKY, ArxivQuery, arxiv_query

_IDS_PER_REQUEST = 100


@dataclass(frozen=True, slots=True)
class _Page:
    """A page of a search: the hits arXiv counts, the number of entries, and their papers."""

    total: int
    entries: int
    papers: tuple[Paper, ...]


def search(query: Query, web: Web, *, sort_order: str = "descending") -> SearchResult:
    """Search arXiv's index; the same query is sent once a day.

    Raises
    ------
    BadRequest
        The query has no such form at arXiv, or arXiv refuses it.
    Unreachable
        arXiv is down, wants to be left alone, or keeps sending pages without the hits it counted.
    """
    request = arxiv_query(query, sort_order)
    page = _fetch_page(request, web)
    total, end = page.total, request.start + page.entries
    more = page.entries > 0 and end < total
    warnings = list(request.warnings)
    if unread := page.entries - len(page.papers):
        warnings.append(f"{unread:,} of arXiv's entries could not be read and are left out.")
    if more and end >= LAST:
        warnings.append(f"arXiv shows the first {LAST:,} hits only; narrow the search by years.")
    elif total > SHAKY:
        warnings.append(
            f"Of {total:,} hits those after {SHAKY:,} come unreliably; narrow the search by years."
        )
    return SearchResult(
        query.text,
        request.search_query,
        total,
        page.papers,
        tuple(warnings),
        end if more and end < LAST else None,
    )


def look_up(wanted: Sequence[Ids], web: Web) -> dict[Ids, Paper]:
    """The records behind arXiv identifiers, in their newest versions."""
    known = fetch_records([ids.arxiv for ids in wanted], web)
    return {ids: known[ids.arxiv] for ids in wanted if ids.arxiv in known}


def recall(wanted: Sequence[Ids], web: Web) -> dict[Ids, Paper]:
    """The records behind arXiv identifiers that were fetched within the last day."""
    kept = recall_papers("arxiv", [ids.arxiv for ids in wanted if ids.arxiv], web)
    return {ids: kept[ids.arxiv] for ids in wanted if ids.arxiv in kept}


def fetch_records(names: Sequence[str], web: Web) -> dict[str, Paper]:
    """The records of *names* (``2601.00001``, ``2601.00001v1``), by these names.

    Raises
    ------
    NotOffered
        One of several names is none in arXiv's eyes (``details["status"]`` is 400).
    Unreachable
        arXiv is down, or wants to be left alone.
    """
    known = recall_papers("arxiv", names, web)
    unknown = [name for name in dict.fromkeys(names) if name not in known]
    if not unknown:
        return known
    # Without max_results even a list of identifiers is cut to ten.
    params = {"id_list": ",".join(unknown), "max_results": len(unknown)}
    try:
        answer = _query(params, web, read_feed)
    except NotOffered as refused:
        if refused.details.get("status") == 400 and len(unknown) == 1:
            return known  # no name at all, such as 1234.12345 of a 34th month: nobody's paper
        raise
    for paper in _papers(answer):
        # An entry names its version, whether or not one was asked for.
        for name in (f"{paper.ids.arxiv}v{paper.version}", paper.ids.arxiv):
            if name in unknown:
                known[name] = paper
                _remember(name, paper, web)
    return known


def fetch_version(name: str, version: str, web: Web) -> Paper | None:
    """The record of a version, or of the newest where *version* is empty; None if unknown."""
    name_of_version = f"{name}v{version}" if version else name
    return fetch_records([name_of_version], web).get(name_of_version)


def _fetch_page(request: ArxivQuery, web: Web) -> _Page:
    """One page of a search; it is remembered for a day."""
    name = json.dumps(request.params, sort_keys=True)
    if kept := web.memory.recall("arxiv_search", name):
        with suppress(LookupError, TypeError, AttributeError):  # another version's is forgotten
            return _Page(kept["total"], kept["entries"], tuple(map(paper_from, kept["papers"])))
    try:
        answer = _query(request.params, web, _require_hits)
    except NotOffered as refused:
        if refused.details.get("status") != 400:
            raise
        raise BadRequest(refused.message, "Simplify the query, or ask for fewer hits.") from None
    entries = sum(1 for _ in read_feed(answer).iter(f"{ATOM}entry"))
    page = _Page(_total(answer), entries, tuple(_papers(answer)))
    web.memory.keep("arxiv_search", name, asdict(page), REMEMBERED_DAYS)
    for paper in page.papers:  # a search shows the newest versions: no need to look them up again
        _remember(paper.ids.arxiv, paper, web)
    return page


def _query(params: Mapping[str, Any], web: Web, check: Check) -> Answer:
    url = f"{web.settings.address('arxiv')}/api/query"
    return ask(url, web, params, allow=frozenset({400}), check=check)


def _require_hits(answer: Answer) -> None:
    """Raise for an empty page inside the total: an error of arXiv's that passes."""
    root = read_feed(answer)
    start = _number(answer, "startIndex", "where the page begins")
    if _total(answer) > start and root.find(f"{ATOM}entry") is None:
        msg = "arXiv counted hits and sent a page without any."
        raise Unreachable(msg, "Try again later, or narrow the search by years.")


def _remember(name: str, paper: Paper, web: Web) -> None:
    web.memory.keep("arxiv", name, to_row(paper), REMEMBERED_DAYS)


def _total(answer: Answer) -> int:
    return _number(answer, "totalResults", "how many hits there are")


def _number(answer: Answer, tag: str, meaning: str) -> int:
    number = whole(read_feed(answer).findtext(f"{OPENSEARCH}{tag}"))
    if number is None:
        raise Unreachable(f"arXiv did not say {meaning}.", "Try again later.")
    return number


def _papers(answer: Answer) -> list[Paper]:
    """The papers of a feed; what has no author is no paper (unknown identifiers, at times)."""
    entries = read_feed(answer).iter(f"{ATOM}entry")
    papers = (paper_of(entry) for entry in entries if entry.find(f"{ATOM}author") is not None)
    return [replace(paper, recorded_by=SOURCE.name) for paper in papers if paper.ids.arxiv]


SOURCE = Source(
    name="arxiv",
    about="arXiv: search, preprints' records, and their texts as HTML, LaTeX or PDF",
    label="arXiv",
    rates=(RATE,),
    search=search,
    lookup=Lookup(("arxiv",), _IDS_PER_REQUEST, look_up, recall),
    routes=(Route("arxiv", ("arxiv",), one_by_one(fetch_full_text)),),
)
