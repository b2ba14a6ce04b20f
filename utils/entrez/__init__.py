"""Entrez: every database of NCBI behind one set of questions.

What is asked is checked first: the database, the form, the identifiers. Answers are bounded and say
where they go on; what could not be told is never shown as nothing.
https://www.ncbi.nlm.nih.gov/books/NBK25497/
"""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import BadRequest
from ..sources.eutils import Contact, contact
from ..web import Web
from .asked import Missing, asked, is_given, named
from .databases import form_of, staged_form
from .fetching import Fetch, fetch
from .histories import History
from .identifiers import read_ids
from .information import DatabaseInfo, DatabaseList, every_database, one_database
from .linking import Linked, Links, LinksOfOne, link
from .paging import Pages, Told, pages_of, pages_of_search
from .posting import post
from .searching import Count, GlobalCounts, Search, Spelling, Untold, global_query, search, spell
from .summing import Summary, SummaryPage, summary

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
    "Untold",
]

Identifiers = str | int | Iterable[str | int]


class Entrez:
    """All databases of Entrez. Every method raises `BadRequest` before anything is sent.

    Database names are Entrez's own (``pubmed``, ``gene``, ``nuccore``, …); identifiers are numbers
    or text, several separated by commas or blanks; ``history`` is what `search` or `post` returned,
    in place of identifiers. All of them raise

    - `Unreachable` or another `Miss`: NCBI did not answer, so nothing is known;
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
        history: bool = False,
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
        history : bool
            Keep the whole result at NCBI, under a name to ask for it by.
        min_date, max_date : str
            ``YYYY[/MM[/DD]]``, both or neither; ``date_type`` ``pdat`` (default), ``mdat``, ….
        """
        return search(
            database, term, self._web, start=start, most=most, sort=sort, history=history,
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
        """What the database says of records in brief, as fields.

        Parameters
        ----------
        start, most : int
            Which of the records, at most 500 at once.
        max_chars : int
            Characters of all fields as JSON together; a record that is longer by itself comes with
            the fields that have room and the names of the others.
        """
        which = asked(named(database, self._web), ids, history, self._web)
        return summary(which, self._web, start=start, most=most, max_chars=max_chars)

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
        home = named(database, self._web)
        form = form_of(home, rettype, retmode)
        which = asked(home, ids, history, self._web)
        return fetch(
            which, form, self._web, start=start, most=most, offset=offset, max_chars=max_chars
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
        """From records to those linked with them, one entry for each of at most 200 identifiers.

        Parameters
        ----------
        database_to, link_name : str
            Where to, or by which kind of link; the kinds there are for these records when both
            are empty.
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
        """What a database holds: records, search fields, links, forms."""
        return one_database(database, self._web)

    def databases(self) -> DatabaseList:
        """All databases there are, in brief."""
        return every_database(self._web)

    def contact(self) -> Contact:
        """How the last requests to NCBI went; asks nobody."""
        return contact(self._web)

    def post(self, database: str, ids: Identifiers) -> History:
        """Put at most 10,000 identifiers on NCBI's history server.

        Whether numbers are of any record is not asked; accessions are looked up.

        Raises
        ------
        StoreFailed
            The name of the history could not be kept on the disk.
        """
        home = named(database, self._web)
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
        told: Told | None = None,
    ) -> Pages:
        """Every record, answer by answer, in the form a dataset is made of.

        One of *ids*, *history* and *term* says which; *most* is at most 100,000. The pages tell
        how many there are before the first is asked for, and what was not found after the last.
        """
        home = named(database, self._web)
        form = staged_form(home, rettype, retmode)
        if term:
            if history or is_given(ids):
                raise BadRequest("A term is given beside ids or a history.", "Give one of them.")
            return pages_of_search(home, term, form, self._web, most=most, told=told)
        return pages_of(asked(home, ids, history, self._web), form, self._web, most=most, told=told)
