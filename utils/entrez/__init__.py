"""Entrez: one set of methods for every NCBI database.

Database, format and identifiers are checked before anything is sent. Answers are bounded and say
how to continue; a missing answer is never shown as an empty answer. Identifiers can be stored on
NCBI's history server and then requested by one name. https://www.ncbi.nlm.nih.gov/books/NBK25497/
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..errors import BadRequest, StoreFailed
from ..http import Web
from ..sources.eutils import ConnectionState, get_connection_state, post_ids_to_history
from ..system.keyword_options import accept_former_options, reject_wrong_options
from ..system.plain_text import shorten
from .databases import EntrezDatabase, find_dataset_format, find_record_format
from .fetching import (
    FetchedRecords,
    RecordSummary,
    SummaryPage,
    fetch_records,
    fetch_summary_page,
    resolve_uids,
)
from .paging import Progress, RecordPages, make_record_pages, make_search_pages
from .searching import (
    DatabaseCount,
    DatabaseInfo,
    DatabaseList,
    DatabaseSearch,
    GlobalCounts,
    LinkedRecords,
    LinkPage,
    RecordLinks,
    SpellingSuggestion,
    UnansweredDatabase,
    count_hits_by_database,
    fetch_database_info,
    find_links,
    list_databases,
    search_database,
    suggest_spelling,
)
from .selection import (
    History,
    MissingRecord,
    find_database,
    has_ids,
    parse_database_ids,
    select_records,
    store_history_location,
)

__all__ = [
    "DatabaseCount",
    "DatabaseInfo",
    "DatabaseList",
    "DatabaseSearch",
    "Entrez",
    "FetchedRecords",
    "GlobalCounts",
    "History",
    "LinkPage",
    "LinkedRecords",
    "MissingRecord",
    "RecordLinks",
    "RecordPages",
    "RecordSummary",
    "SpellingSuggestion",
    "SummaryPage",
    "UnansweredDatabase",
]

Identifiers = str | int | Iterable[str | int]


@reject_wrong_options()
class Entrez:
    """All databases of NCBI's Entrez; invalid arguments raise `BadRequest` before any request.

    Database names are Entrez's own (``pubmed``, ``gene``, ``nuccore``, …); identifiers are numbers
    or text, several separated by commas or blanks; ``history``, returned by `search` or `post`,
    replaces identifiers. All methods raise

    - `Unreachable` or another `SourceMiss`: NCBI did not answer, so nothing is known;
    - `EntrezFailed`: the database answered with an error of its own;
    - `NotFound`: the history has expired.
    """

    def __init__(self, web: Web) -> None:
        self._web = web

    @accept_former_options(term="query", most="max_results", sort="sort_by")
    def search(  # noqa: PLR0913 - the options of one search
        self,
        database: str,
        query: str,
        *,
        start: int = 0,
        max_results: int = 20,
        sort_by: str = "",
        keep: bool = False,
        min_date: str = "",
        max_date: str = "",
        date_type: str = "",
    ) -> DatabaseSearch:
        """Search a database in its own query language, and return one page of identifiers.

        Parameters
        ----------
        start, max_results : int
            The page of identifiers; *max_results* is 0 to 10,000, with 0 for the count alone.
            PubMed returns only the first 9,999 hits of a search.
        sort_by : str
            ``relevance``, ``pub_date``, … as the database offers; its default order if empty.
        keep : bool
            Keep the whole result at NCBI as a history.
        min_date, max_date : str
            ``YYYY[/MM[/DD]]``; ``date_type`` ``pdat`` (default), ``mdat``, ….
        """
        return search_database(
            database, query, self._web, start=start, most=max_results, sort=sort_by, keep=keep,
            min_date=min_date, max_date=max_date, date_type=date_type,
        )  # fmt: skip

    @accept_former_options(most="max_results")
    def summary(
        self,
        database: str,
        ids: Identifiers = (),
        *,
        history: str = "",
        start: int = 0,
        max_results: int = 20,
        max_chars: int = 20_000,
    ) -> SummaryPage:
        """Return record summaries as fields of the database.

        Parameters
        ----------
        start, max_results : int
            Which of the records, at most 500 at once.
        max_chars : int
            Characters of all fields as JSON. A record longer than this is returned with the fields
            that fit and the names of the others.
        """
        selection = select_records(find_database(database, self._web), ids, history, self._web)
        return fetch_summary_page(
            selection, self._web, start=start, most=max_results, max_chars=max_chars
        )

    @accept_former_options(most="max_results")
    def fetch(  # noqa: PLR0913 - the options of one request
        self,
        database: str,
        ids: Identifiers = (),
        *,
        history: str = "",
        rettype: str = "",
        retmode: str = "",
        start: int = 0,
        max_results: int = 20,
        offset: int = 0,
        max_chars: int = 20_000,
    ) -> FetchedRecords:
        """Return records as text in a format that the database offers.

        Parameters
        ----------
        rettype, retmode : str
            The database's first format if empty; see `.databases.DATABASES`.
        start, max_results : int
            Which of the records, at most 200 at once.
        offset : int
            ``next_offset`` of the previous call, to continue in the same records.
        max_chars : int
            Characters of text at most, 200 to 1,000,000; cut between records where possible.
        """
        home = find_database(database, self._web)
        form = find_record_format(home, rettype, retmode)
        selection = select_records(home, ids, history, self._web)
        return fetch_records(
            selection,
            form,
            self._web,
            start=start,
            most=max_results,
            offset=offset,
            max_chars=max_chars,
        )

    @accept_former_options(database_from="database", database_to="to_database", most="max_results")
    def link(
        self,
        database: str,
        ids: Identifiers,
        to_database: str = "",
        link_name: str = "",
        *,
        scores: bool = False,
        start: int = 0,
        max_results: int = 100,
    ) -> LinkPage:
        """Return the links of at most 200 identifiers to other records, one entry per identifier.

        Parameters
        ----------
        to_database, link_name : str
            The target database, or the kind of link. If both are empty, the kinds of links of these
            records are listed.
        scores : bool
            Include NCBI's scores, if the database has any (similar papers).
        start, max_results : int
            The part of each list: at most 10,000 identifiers per list, and 20,000 in total.
        """
        return find_links(
            database, ids, to_database, link_name, self._web,
            scores=scores, start=start, most=max_results,
        )  # fmt: skip

    def info(self, database: str) -> DatabaseInfo:
        """Return a database's record count, search fields, links and record formats."""
        return fetch_database_info(database, self._web)

    def databases(self) -> DatabaseList:
        """Return all databases, with the formats that each one offers."""
        return list_databases(self._web)

    def contact(self) -> ConnectionState:
        """Return the outcome of the last requests to NCBI, without sending a request."""
        return get_connection_state(self._web)

    def post(self, database: str, ids: Identifiers) -> History:
        """Store at most 10,000 identifiers on NCBI's history server, and return their address.

        Accessions are looked up; numbers are accepted without checking that a record exists.

        Raises
        ------
        StoreFailed
            The name of the history could not be saved on the disk.
        """
        home = find_database(database, self._web)
        return store_ids_at_ncbi(home, parse_database_ids(home, ids), self._web)

    @accept_former_options(term="query")
    def spell(self, database: str, query: str) -> SpellingSuggestion:
        """Return a database's spelling suggestion for a query."""
        return suggest_spelling(database, query, self._web)

    @accept_former_options(term="query")
    def global_query(self, query: str, databases: Iterable[str] = ()) -> GlobalCounts:
        """Return the number of hits of a query in every database, or in the given databases."""
        return count_hits_by_database(query, databases, self._web)

    @accept_former_options(term="query", most="max_results")
    def pages(
        self,
        database: str,
        ids: Identifiers = (),
        *,
        history: str = "",
        query: str = "",
        rettype: str = "",
        retmode: str = "",
        max_results: int = 10_000,
        progress: Progress | None = None,
    ) -> RecordPages:
        """Return an iterable of all records, page by page, in the format used for datasets.

        Give one of *ids*, *history* and *query*; *max_results* is at most 100,000. The pages have
        their ``total`` before the first request, and ``not_found`` after the last. *progress*
        is called after each answer with the number of records done and the number wanted.
        """
        home = find_database(database, self._web)
        form = find_dataset_format(home, rettype, retmode)
        if query:
            if history or has_ids(ids):
                msg = "A query cannot be combined with ids or a history."
                raise BadRequest(msg, "Give one of them.")
            return make_search_pages(
                home, query, form, self._web, most=max_results, progress=progress
            )
        return make_record_pages(
            select_records(home, ids, history, self._web),
            form,
            self._web,
            most=max_results,
            progress=progress,
        )


def store_ids_at_ncbi(database: EntrezDatabase, uids: Sequence[str], web: Web) -> History:
    """Store identifiers on NCBI's history server, and return their address."""
    numbers = _resolve_accessions(database, uids, web)
    there = post_ids_to_history(database.name, numbers, web)
    words = f"{len(numbers):,} identifiers posted"
    place = store_history_location(database.name, words, len(numbers), there, web)
    if place is None:
        msg = "The name of the history could not be saved."
        raise StoreFailed(msg, "Give the identifiers themselves, or free some space.")
    return place.history


def _resolve_accessions(database: EntrezDatabase, uids: Sequence[str], web: Web) -> list[str]:
    """Return the identifiers with accessions replaced by UIDs; EPost ignores anything else.

    Raises
    ------
    BadRequest
        An accession has no record.
    """
    names = [uid for uid in uids if not uid.isdecimal()]
    known, unknown = resolve_uids(database.name, names, web)
    if unknown:
        missing = shorten(", ".join(one.id for one in unknown), 100)
        msg = f"{database.name} has no record of {missing}."
        raise BadRequest(msg, "Leave out what does not exist.", ids=[one.id for one in unknown[:5]])
    return list(dict.fromkeys(known.get(uid, uid) for uid in uids))
