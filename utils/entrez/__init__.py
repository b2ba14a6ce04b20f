"""Entrez: every database of NCBI behind one set of methods.

Database, form and identifiers are checked before anything is sent. Answers are bounded and say how
to continue; an answer that did not come is never shown as an empty one. Identifiers can be put on
NCBI's history server and then requested by one name.
https://www.ncbi.nlm.nih.gov/books/NBK25497/
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..errors import BadRequest, StoreFailed
from ..http import Web
from ..sources.eutils import Contact, contact, post_ids
from ..system.plain_text import shorten
from .databases import Database, form_of, staged_form
from .fetching import Fetch, Summary, SummaryPage, fetch, look_up, summary
from .paging import Pages, Progress, pages_of_records, pages_of_search
from .searching import (
    Count,
    DatabaseInfo,
    DatabaseList,
    GlobalCounts,
    Linked,
    Links,
    LinksOfOne,
    Search,
    Spelling,
    Unanswered,
    fetch_database_info,
    global_query,
    link,
    list_databases,
    search,
    spell,
)
from .selection import History, Missing, find_database, is_given, read_ids, remember, select_records

__all__ = [
    "Count",
    "DatabaseInfo",
    "DatabaseList",
    "Entrez",
    "Fetch",
    "GlobalCounts",
    "History",
    "Linked",
    "Links",
    "LinksOfOne",
    "Missing",
    "Pages",
    "Search",
    "Spelling",
    "Summary",
    "SummaryPage",
    "Unanswered",
]

Identifiers = str | int | Iterable[str | int]


class Entrez:
    """All databases of Entrez. Every method raises `BadRequest` before anything is sent.

    Database names are Entrez's own (``pubmed``, ``gene``, ``nuccore``, …); identifiers are numbers
    or text, several separated by commas or blanks; ``history`` is what `search` or `post` returned,
    in place of identifiers. All of them raise

    - `Unreachable` or another `SourceMiss`: NCBI did not answer, so nothing is known;
    - `EntrezFailed`: the database answered with an error of its own;
    - `NotFound`: a history that is gone.
    """

    def __init__(self, web: Web) -> None:
        self._web = web

    def search(  # noqa: PLR0913 - the options of one search
        self,
        database: str,
        term: str,
        *,
        start: int = 0,
        most: int = 20,
        sort: str = "",
        keep: bool = False,
        min_date: str = "",
        max_date: str = "",
        date_type: str = "",
    ) -> Search:
        """Search a database in its own query language.

        Parameters
        ----------
        start, most : int
            The page of identifiers wanted; 0 to 10,000 of them, 0 for the count alone. PubMed
            hands out the first 9,999 hits of a search only.
        sort : str
            ``relevance``, ``pub_date``, … as the database has them; its own order when empty.
        keep : bool
            Keep the whole result at NCBI, under a name to ask for it by.
        min_date, max_date : str
            ``YYYY[/MM[/DD]]``; ``date_type`` ``pdat`` (default), ``mdat``, ….
        """
        return search(
            database, term, self._web, start=start, most=most, sort=sort, keep=keep,
            min_date=min_date, max_date=max_date, date_type=date_type,
        )  # fmt: skip

    def summary(
        self,
        database: str,
        ids: Identifiers = (),
        *,
        history: str = "",
        start: int = 0,
        most: int = 20,
        max_chars: int = 20_000,
    ) -> SummaryPage:
        """Records in brief, as fields of the database.

        Parameters
        ----------
        start, most : int
            Which of the records, at most 500 at once.
        max_chars : int
            Characters of all fields as JSON together; a record that is longer by itself comes with
            the fields that have room and the names of the others.
        """
        selection = select_records(find_database(database, self._web), ids, history, self._web)
        return summary(selection, self._web, start=start, most=most, max_chars=max_chars)

    def fetch(  # noqa: PLR0913 - the options of one request
        self,
        database: str,
        ids: Identifiers = (),
        *,
        history: str = "",
        rettype: str = "",
        retmode: str = "",
        start: int = 0,
        most: int = 20,
        offset: int = 0,
        max_chars: int = 20_000,
    ) -> Fetch:
        """Records as text, in a form the database has.

        Parameters
        ----------
        rettype, retmode : str
            Its first form when empty; see `.databases.DATABASES`.
        start, most : int
            Which of the records, at most 200 at once.
        offset : int
            ``next_offset`` of the call before, to read on in the same records.
        max_chars : int
            Characters of text at most, 200 to 1,000,000; cut between records where possible.
        """
        home = find_database(database, self._web)
        form = form_of(home, rettype, retmode)
        selection = select_records(home, ids, history, self._web)
        return fetch(
            selection, form, self._web, start=start, most=most, offset=offset, max_chars=max_chars
        )

    def link(
        self,
        database_from: str,
        ids: Identifiers,
        database_to: str = "",
        link_name: str = "",
        *,
        scores: bool = False,
        start: int = 0,
        most: int = 100,
    ) -> Links:
        """The records linked with others, one entry for each of at most 200 identifiers.

        Parameters
        ----------
        database_to, link_name : str
            The database linked to, or the kind of link; both empty list the kinds there are for
            these records.
        scores : bool
            With NCBI's scores, where the database has any (similar papers).
        start, most : int
            Which of each list: at most 10,000 identifiers, and 20,000 for all that are asked about.
        """
        return link(
            database_from, ids, database_to, link_name, self._web,
            scores=scores, start=start, most=most,
        )  # fmt: skip

    def info(self, database: str) -> DatabaseInfo:
        """Describe a database: number of records, search fields, links, forms."""
        return fetch_database_info(database, self._web)

    def databases(self) -> DatabaseList:
        """List all databases in brief."""
        return list_databases(self._web)

    def contact(self) -> Contact:
        """How the last requests to NCBI ended; sends none."""
        return contact(self._web)

    def post(self, database: str, ids: Identifiers) -> History:
        """Put at most 10,000 identifiers on NCBI's history server.

        Accessions are looked up; numbers are taken without asking whether they have a record.

        Raises
        ------
        StoreFailed
            The name of the history could not be kept on the disk.
        """
        home = find_database(database, self._web)
        return post(home, read_ids(home, ids), self._web)

    def spell(self, database: str, term: str) -> Spelling:
        """How a database would spell a term."""
        return spell(database, term, self._web)

    def global_query(self, term: str, databases: Iterable[str] = ()) -> GlobalCounts:
        """How many hits a term has in every database, or in those given."""
        return global_query(term, databases, self._web)

    def pages(
        self,
        database: str,
        ids: Identifiers = (),
        *,
        history: str = "",
        term: str = "",
        rettype: str = "",
        retmode: str = "",
        most: int = 10_000,
        progress: Progress | None = None,
    ) -> Pages:
        """Every record, answer by answer, in the form a dataset is made of.

        Give one of *ids*, *history* and *term*; *most* is at most 100,000. The pages have their
        ``total`` before the first is requested, and what was not found after the last. *progress*
        is called after each answer with the number of records done and the number wanted.
        """
        home = find_database(database, self._web)
        form = staged_form(home, rettype, retmode)
        if term:
            if history or is_given(ids):
                raise BadRequest("A term is given beside ids or a history.", "Give one of them.")
            return pages_of_search(home, term, form, self._web, most=most, progress=progress)
        return pages_of_records(
            select_records(home, ids, history, self._web),
            form,
            self._web,
            most=most,
            progress=progress,
        )


def post(database: Database, uids: Sequence[str], web: Web) -> History:
    """See `.Entrez.post`."""
    numbers = _look_up_numbers(database, uids, web)
    there = post_ids(database.name, numbers, web)
    words = f"{len(numbers):,} identifiers posted"
    place = remember(database.name, words, len(numbers), there, web)
    if place is None:
        msg = "The name of the history could not be kept on the disk."
        raise StoreFailed(msg, "Give the identifiers themselves, or free some space.")
    return place.history


def _look_up_numbers(database: Database, uids: Sequence[str], web: Web) -> list[str]:
    """Replace accessions by UIDs: EPost leaves out what is no number.

    Raises
    ------
    BadRequest
        An accession has no record.
    """
    names = [uid for uid in uids if not uid.isdecimal()]
    known, unknown = look_up(database.name, names, web)
    if unknown:
        missing = shorten(", ".join(one.id for one in unknown), 100)
        msg = f"{database.name} has no record of {missing}."
        raise BadRequest(msg, "Leave out what does not exist.", ids=[one.id for one in unknown[:5]])
    return list(dict.fromkeys(known.get(uid, uid) for uid in uids))
