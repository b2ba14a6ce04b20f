"""Define the parts of a source: its functions, and facts about its site.

Not a class hierarchy: what a site cannot do is left out, so nobody raises
``NotImplementedError``, and the ladder, the rate table and the conformance tests read the same
fields. Adding a site = one file with its ``SOURCE`` + its name in `SOURCE_NAMES`.

`to_day_range` is for sites that take whole days only: PubMed takes ``2024`` or ``2024/02`` as they
are; Europe PMC and OpenAlex want the first day and the last, and know only the day of publication.
`add_search_cache` keeps the answers of searches for ten minutes: a model repeats its searches word
by word. `list_local_routes`, `find_records` and `find_citations` are what plugins have on this
machine; they are asked before any site.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from typing import Any, Protocol, TypedDict, TypeVar

from ..errors import BadRequest, NotConfigured, SourceMiss, Unreachable
from ..http import Rate, Web
from ..model.dates import get_first_day, get_last_day, parse_written_date
from ..model.identifiers import IdName, Ids
from ..model.paper import Fetched, Paper, SearchResult, Version, paper_from_row, to_row
from ..model.site import Address, KeptBy, Key, Site, SiteRoute
from ..plugins import import_by_name, list_plugins
from ..settings import Settings

TEXT_MINING_TERMS = (
    "For your own research only: not to be passed on, and deleted when the project ends."
)

log = logging.getLogger(__name__)
Item = TypeVar("Item")
Reply = TypeVar("Reply")


def recall_papers(kind: str, names: Sequence[str], web: Web) -> dict[str, Paper]:
    """Return the cached records of *names*; skip records of another program version."""
    found = {}
    for name, row in web.cache.get_many(kind, names).items():
        with suppress(LookupError, TypeError, AttributeError):
            found[name] = paper_from_row(row)
    return found


@dataclass(frozen=True, slots=True)
class Query:
    """A search as the user requested it; each source translates it into its own syntax.

    Dates are kept as ``YYYY[/MM[/DD]]`` (`..model.dates`), either may be left out; ``start`` counts
    from 0. ``categories`` are arXiv's classes, or Semantic Scholar's fields of study; a site that
    has none refuses.
    """

    text: str
    max_results: int = 10
    start: int = 0
    sort_by: str = "pub_date"
    min_date: str = ""
    max_date: str = ""
    date_type: str = "pdat"
    publication_types: tuple[str, ...] = ()
    author: str = ""
    categories: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("min_date", "max_date"):
            with suppress(BadRequest):  # `require_valid_dates` says what is wrong, when it is sent
                object.__setattr__(self, name, parse_written_date(getattr(self, name), name))


class QueryOptions(TypedDict, total=False):
    """The fields of a `Query` other than its text, for callers that take them by name."""

    max_results: int
    start: int
    sort_by: str
    min_date: str
    max_date: str
    date_type: str
    publication_types: tuple[str, ...]
    author: str
    categories: tuple[str, ...]


def recall_nothing(wanted: Sequence[Ids], web: Web) -> dict[Ids, Paper]:
    """Return no papers: the ``recall`` of a source that stores no records."""
    return {}


@dataclass(frozen=True, slots=True)
class Lookup:
    """The functions and limits with which a site looks up the records of papers.

    ``by`` names the identifiers it takes. ``ask`` takes up to ``batch`` of them at once (each has
    at least one of those names) and returns the papers the site knows; what is not among them, it
    does not know. A `SourceMiss` means that the whole batch could not be asked. ``recall`` returns
    those of any number of papers that were fetched lately; it sends no request.
    """

    by: tuple[IdName, ...]
    batch: int
    ask: Callable[[Sequence[Ids], Web], dict[Ids, Paper]]
    recall: Callable[[Sequence[Ids], Web], dict[Ids, Paper]] = recall_nothing


@dataclass(frozen=True, slots=True)
class Route:
    """One route to full text.

    ``via`` is its name, ``needs`` the identifiers of which the paper must have one, ``key`` the
    settings field of a key without which it is not offered. ``fetch`` takes up to ``batch`` papers
    and yields what the site sent for each, best first, or a `SourceMiss` for a candidate that could
    not be had: the ladder judges each and stops asking when all are found. A `SourceMiss` that is
    raised is about all papers of the batch. ``share`` is for plans: of the papers that reach this
    route, the part that is expected to end there. ``prefixes`` are those of most DOIs of a
    publisher that serves only its own papers: without a key the route is used for these alone.
    A route that is ``only_named`` is asked if another route found a copy named at one of its site's
    hosts (`Rate.hosts`) and could not fetch it, or if the DOI has one of the ``prefixes``.
    A route that is ``local`` has its texts on this machine and needs no network. One that
    ``has_pdfs`` may bring a PDF. ``label``, ``version`` and ``terms`` are those of `SiteRoute`.
    """

    via: str
    needs: tuple[IdName, ...]
    fetch: Callable[[Sequence[Paper], Web], Iterator[tuple[Paper, Fetched | SourceMiss]]]
    key: str = ""
    batch: int = 1
    share: float = 0.0
    prefixes: tuple[str, ...] = ()
    only_named: bool = False
    local: bool = False
    has_pdfs: bool = False
    label: str = ""
    version: Version = "published"
    terms: str = ""


def one_by_one(
    fetch: Callable[[Paper, Web], Iterator[Fetched | SourceMiss]],
) -> Callable[[Sequence[Paper], Web], Iterator[tuple[Paper, Fetched | SourceMiss]]]:
    """Return the ``fetch`` of a route whose site is asked for one paper at a time."""

    @wraps(fetch)
    def fetch_each(
        papers: Sequence[Paper], web: Web
    ) -> Iterator[tuple[Paper, Fetched | SourceMiss]]:
        for paper in papers:
            for found in fetch(paper, web):
                yield paper, found

    return fetch_each


def ask_and_isolate_failures(
    asked: Sequence[Item],
    ask: Callable[[Sequence[Item]], Iterable[tuple[Item, Reply]]],
    who: str,
    odd: type[SourceMiss] | tuple[()] = (),
) -> Iterator[tuple[Item, Reply | SourceMiss | NotConfigured, bool]]:
    """Yield each item with its answer; halve a failed batch to isolate the failing item.

    An error is the answer for all items of a batch. A batch that fails for its content is asked
    again in halves, so that one odd paper costs that paper only.

    Parameters
    ----------
    asked : Sequence
    ask : callable
        Asks about some of the items; may yield several answers about each.
    who : str
        The name of the source or route, for messages.
    odd : type, optional
        A miss that one odd paper may be the cause of, besides a request that was refused.
    """
    miss: SourceMiss | NotConfigured
    down = False
    try:
        yield from ((one, answer, False) for one, answer in ask(asked))
        return
    except (SourceMiss, NotConfigured) as error:
        miss, down = error, isinstance(error, Unreachable)
        divisible = isinstance(error, odd) or error.details.get("status") == 400
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        # A service that changed its answer's form is as good as one that did not answer.
        log.warning("%s answered in a form we do not understand", who, exc_info=True)
        msg = f"{who} answered in a form we do not understand ({type(error).__name__})."
        miss, divisible = Unreachable(msg, "Update Papershelf, or report this."), True
    if divisible and len(asked) > 1:
        middle = len(asked) // 2
        yield from ask_and_isolate_failures(asked[:middle], ask, who, odd)
        yield from ask_and_isolate_failures(asked[middle:], ask, who, odd)
    else:
        yield from ((one, miss, down) for one in asked)


@dataclass(frozen=True, slots=True)
class Source:
    """A site and its abilities; a missing ability is None or empty.

    ``label`` is the word of the download contract (``PMC``, ``DOI``, ``arXiv``); `Site` says what
    ``addresses``, ``keys``, ``kept_by``, ``searched``, ``search_needs_key``, ``many_hosts`` are.
    ``pdf_routes`` bring the PDF of papers whose text the ``routes`` bring in a better form.
    ``check_access`` sends one small request that costs nothing and fails with a bad key, and
    describes the answer; a site without it is asked for ``probe``, a path whose answer is JSON even
    where it is an error, or for its address alone. A site that ``is_register`` has trials, which
    only the searches of reviews and harvests ask for by name.
    """

    name: str
    about: str
    addresses: tuple[Address, ...] = ()
    keys: tuple[Key, ...] = ()
    label: str = ""
    rates: tuple[Rate, ...] = ()
    search: Callable[[Query, Web], SearchResult] | None = None
    lookup: Lookup | None = None
    routes: tuple[Route, ...] = ()
    pdf_routes: tuple[Route, ...] = ()
    check_access: Callable[[Web], str] | None = None
    probe: str = ""
    kept_by: KeptBy | None = None
    searched: int = 0
    search_needs_key: bool = False
    many_hosts: bool = False
    is_register: bool = False

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts of the site's files."""
        return tuple(host for rate in self.rates for host in rate.hosts)

    @property
    def title(self) -> str:
        """The display name of the site."""
        return self.about.split(":")[0].removeprefix("NCBI ")

    @property
    def service(self) -> str:
        """The prefix of the setting ``<service>_base_url``; empty without an address."""
        return self.addresses[0].service if self.addresses else ""

    @property
    def site(self) -> Site:
        """The facts that settings, reports and the shelf need."""
        routes = tuple(SiteRoute(one.via, one.label, one.version, one.terms) for one in self.routes)
        return Site(
            *(self.name, self.addresses, self.keys, routes),
            kept_by=self.kept_by,
            searched=self.searched,
            search_needs_key=self.search_needs_key,
            many_hosts=self.many_hosts,
        )


def require_valid_page(max_results: int, start: int, most: int) -> None:
    """Reject a page of less than 1 or more than *most* results, or with a start below 0."""
    if not 1 <= max_results <= most:
        msg = f"max_results is {max_results:,}; it must lie between 1 and {most:,}."
        raise BadRequest(
            msg, f"For the next page: start={most}" if max_results > most else "Give 1 or more."
        )
    if start < 0:
        raise BadRequest(f"start is {start}; it counts from 0.", "Use next_start.")


def require_valid_dates(query: Query) -> None:
    """Reject limits that are not dates, and a range that ends before it begins."""
    first, last = query.min_date, query.max_date
    parse_written_date(first, "min_date")
    parse_written_date(last, "max_date")
    if first and last and get_first_day(first) > get_last_day(last):
        raise BadRequest(f"min_date {first} is later than max_date {last}.", "Swap them.")


def to_day_range(query: Query, site: str) -> tuple[str, str]:
    """Return the first and the last day as ISO dates; "" for an end without limit.

    >>> to_day_range(Query("moss", min_date="2024/2", max_date="2024/02"), "Europe PMC")
    ('2024-02-01', '2024-02-29')
    >>> to_day_range(Query("moss", min_date="2024"), "Europe PMC")
    ('2024-01-01', '')

    Raises
    ------
    BadRequest
        Another date is meant than that of publication, or a limit is not a date.
    """
    if not (query.min_date or query.max_date):
        return "", ""
    if query.date_type != "pdat":
        msg = f"{site} knows the date of publication (pdat), not {query.date_type!r}."
        raise BadRequest(msg, "Ask for pdat, or ask PubMed.")
    require_valid_dates(query)
    first = get_first_day(query.min_date).isoformat() if query.min_date else ""
    return first, get_last_day(query.max_date).isoformat() if query.max_date else ""


RECENT_DAYS = 10 / (24 * 60)
_SEARCH_KIND = "search"


def add_search_cache(
    source: str, search: Callable[[Query, Web], SearchResult]
) -> Callable[[Query, Web], SearchResult]:
    """Return *search* with a cache: the same query gets the same answer for ten minutes.

    A page that lacks some of its papers is not kept.
    """

    @wraps(search)
    def search_once(query: Query, web: Web) -> SearchResult:
        name = json.dumps([source, to_row(query)], sort_keys=True)
        if isinstance(kept := web.cache.get(_SEARCH_KIND, name), dict):
            return _to_search_result(kept)
        found = search(query, web)
        if len(found.papers) == min(query.max_results, max(0, found.total - query.start)):
            web.cache.put(_SEARCH_KIND, name, to_row(found), RECENT_DAYS)
        return found

    return search_once


def _to_search_result(row: dict[str, Any]) -> SearchResult:
    """Return a page of search results from its cached JSON form."""
    papers = tuple(map(paper_from_row, row["papers"]))
    return SearchResult(**{**row, "papers": papers, "warnings": tuple(row["warnings"])})


class Citation(Protocol):
    """The paper at the other end of a citation, and the indexes that list the citation."""

    @property
    def pmid(self) -> int:
        """The paper's PMID."""

    @property
    def sources(self) -> Sequence[str]:
        """The keys of the indexes that list the citation (`CitationTable.indexes`)."""


class CitationTable(Protocol):
    """A table of citations on this machine."""

    @property
    def label(self) -> str:
        """The name of the table, for people."""

    @property
    def indexes(self) -> Mapping[str, str]:
        """The names of the indexes in the table, for people, by their keys."""

    def cited(self, pmids: Iterable[int]) -> Mapping[int, Sequence[Citation]]:
        """Return the papers that *pmids* cite; raise `StoreFailed` if the table is unreadable."""

    def citing(self, pmids: Iterable[int]) -> Mapping[int, Sequence[Citation]]:
        """Return the papers that cite *pmids*; raise `StoreFailed` if the table is unreadable."""


class RecordSource(Protocol):
    """Records and citations of PubMed on this machine."""

    def records(self, wanted: Iterable[Ids], settings: Settings) -> dict[Ids, Paper]:
        """Return the records that are on this machine."""

    def citations(self, settings: Settings, *, fresh: bool = False) -> CitationTable | None:
        """Return the citation table, or None; with *fresh*, an old table is ignored."""


def find_records(wanted: Sequence[Ids], settings: Settings) -> dict[Ids, Paper]:
    """Return the records of papers that are on this machine, outside the shelf."""
    found: dict[Ids, Paper] = {}
    for source in _load_record_sources():
        found |= source.records([ids for ids in wanted if ids not in found], settings)
    return found


def find_citations(settings: Settings, *, fresh: bool = False) -> CitationTable | None:
    """Return the first table of citations that is on this machine, or None."""
    found = (source.citations(settings, fresh=fresh) for source in _load_record_sources())
    return next((table for table in found if table), None)


def list_local_routes(settings: Settings) -> list[tuple[str, Route]]:
    """Return the routes that need no network, each with the source before which it is tried."""
    offers = (import_by_name(plugin.routes) for plugin in list_plugins() if plugin.routes)
    return [pair for offer in offers for pair in offer(settings).items()]


def _load_record_sources() -> Iterator[RecordSource]:
    """Yield the record sources of the plugins."""
    return (import_by_name(one.record_source) for one in list_plugins() if one.record_source)
