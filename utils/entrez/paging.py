"""All records of a search, a history or a list, page by page, to make a dataset of.

A few requests are under way at a time, by POST or from the history server. A missing answer is
raised, not skipped: a dataset is whole, or says what it lacks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain

from ..errors import BadContent, EntrezFailed, NothingFound
from ..http import Web
from ..search.pubmed.search import check_query, find_every_pmid
from ..sources import Query
from ..sources.eutils_services import SILENT
from ..system.plain_text import one_line, shorten
from .databases import Database, Form
from .datasets.trees import Page
from .fetching import fetch_part, fetch_summaries, halved, uids_by_name
from .searching import NO_HISTORY, search, wall_warning
from .selection import PUBMED_WALL, Missing, Part, Selection, require_between, select_records

Progress = Callable[[int, int], object]
MOST_PAGED = 100_000
# Records in one request: articles and whole samples are long, summaries are short.
_BATCH = {"docsum_json": 500, "pubmed_xml": 200, "pmc_xml": 25, "xml": 100}
_AT_ONCE = 3


@dataclass(frozen=True, slots=True)
class _Answer:
    """The outcome of one part."""

    pages: tuple[Page, ...]
    not_found: tuple[Missing, ...] = ()
    warnings: tuple[str, ...] = ()


class Pages:
    """The answers that hold the records; iterating sends the requests.

    Parameters
    ----------
    selection : Selection
        The records; of a search those that NCBI keeps, or an empty one beside *batches*.
    form : Form or None
        The form requested of EFetch; None for ESummary.
    most : int
        Records at most.
    progress : callable, optional
        Called after each answer with the number of records requested so far, and of all.
    batches : iterable of tuple of str, optional
        The identifiers, where neither a list nor a history holds them.

    Attributes
    ----------
    total : int
        How many records there are; ``wanted`` of them are requested.
    not_found : list of Missing
        Grows while the pages come: identifiers without a record.
    warnings : list of str
        Grows as well: what stayed unknown, and what was left out.
    """

    def __init__(
        self,
        selection: Selection,
        form: Form | None,
        web: Web,
        *,
        total: int,
        most: int,
        made_by: str = "",
        progress: Progress | None = None,
        batches: Iterable[tuple[str, ...]] | None = None,
    ) -> None:
        self.database = selection.database.name
        self.form = form.page if form and form.page else "docsum_json"
        self.made_by = made_by
        self.total = total
        self.wanted = min(total, most)
        self.not_found: list[Missing] = []
        self.warnings: list[str] = []
        self._selection, self._form, self._web, self._progress = selection, form, web, progress
        self._batches = batches
        if total > most:
            words = f"There are {total:,} records; the first {most:,} are taken."
            self.warnings.append(words)

    def __iter__(self) -> Iterator[Page]:
        done = 0
        for part, answer in self._answers():
            self.not_found += answer.not_found
            self.warnings += [words for words in answer.warnings if words not in self.warnings]
            yield from answer.pages
            done += part.size
            if self._progress:
                self._progress(done, self.wanted)

    def _answers(self) -> Iterator[tuple[Part, _Answer]]:
        """The answers in order; the next ones are under way while one is read."""
        pool = ThreadPoolExecutor(_AT_ONCE, "entrez-pages")
        ahead: deque[tuple[Part, Future[_Answer]]] = deque()
        try:
            for part in self._parts():
                ahead.append((part, pool.submit(self._fetch, part)))
                if len(ahead) == _AT_ONCE:
                    first, answer = ahead.popleft()
                    yield first, answer.result()
            for first, answer in ahead:
                yield first, answer.result()
        finally:
            pool.shutdown(cancel_futures=True)

    def _parts(self) -> Iterator[Part]:
        size = _BATCH[self.form]
        if self._batches is None:
            for start in range(0, min(self.wanted, self._selection.total), size):
                yield self._selection.part(start, min(size, self.wanted - start))
            return
        left = self.wanted
        uids: tuple[str, ...] = ()
        for more in chain(self._batches, ((),)):
            uids += more
            while left > 0 and (len(uids) >= size or (uids and not more)):
                taken, uids = uids[: min(size, left)], uids[size:]
                left -= len(taken)
                yield Part({"id": ",".join(taken)}, taken, len(taken))

    def _fetch(self, part: Part) -> _Answer:
        if self._form is None:
            return self._summaries(part)
        fetched = fetch_part(self._selection, part, self._form, self._web)
        pages = tuple(Page(self.database, self.form, body) for body in fetched.bodies)
        return _Answer(pages, fetched.not_found, fetched.warnings)

    def _summaries(self, part: Part) -> _Answer:
        try:
            found = fetch_summaries(self._selection, part, self._web)
        except BadContent as error:
            if part.size == 1:
                msg = f"A summary of {self.database} is too large: {error.message}"
                raise EntrezFailed(msg, "Leave it out.") from None
            first, second = (self._summaries(half) for half in halved(part))
            return _Answer(
                first.pages + second.pages,
                first.not_found + second.not_found,
                first.warnings + second.warnings,
            )
        names = uids_by_name(found.records)
        missing = tuple(
            Missing(uid, found.refused.get(uid) or SILENT)
            for uid in part.uids or found.uids
            if uid.upper() not in names
        )
        lack = 0 if part.uids else part.size - len(found.uids)
        warning = f"{lack:,} summaries did not come; the history does not tell which."
        page = Page(self.database, found.form, found.body)
        return _Answer((page,) * bool(found.records), missing, (warning,) if lack > 0 else ())


def pages_of_records(
    selection: Selection,
    form: Form | None,
    web: Web,
    *,
    most: int,
    progress: Progress | None = None,
) -> Pages:
    """The pages of a list or of a history."""
    hint = "Stage it in parts, for example by date."
    require_between("most", most, 1, MOST_PAGED, hint)
    if selection.place is None:
        total, made_by = len(selection.uids), f"{len(selection.uids):,} identifiers"
        return Pages(
            selection, form, web, total=total, most=most, made_by=made_by, progress=progress
        )
    history = selection.place.history
    pages = Pages(
        selection, form, web, total=history.total, most=min(most, selection.total),
        made_by=history.made_by, progress=progress,
    )  # fmt: skip
    if most > selection.total < history.total:
        pages.warnings.append("PubMed keeps no more of a history: stage the search itself.")
    return pages


def pages_of_search(
    database: Database,
    term: str,
    form: Form | None,
    web: Web,
    *,
    most: int,
    progress: Progress | None,
) -> Pages:
    """The pages of a search; of PubMed also beyond the 9,999 records it hands out of one."""
    require_between("most", most, 1, MOST_PAGED, "Stage it in parts, for example by date.")
    found = search(database.name, term, web, most=0, keep=True)
    if not found.total:
        msg = f"{database.name} finds nothing for {shorten(one_line(term), 100)!r}."
        hints = [words for words in found.warnings if words != NO_HISTORY]
        raise NothingFound(msg, *hints, "Look at the spelling, or at the search fields.")
    sliced = database.name == "pubmed" and min(found.total, most) > PUBMED_WALL
    # What goes with a form may be about identifiers (ClinVar's is), so they are given themselves.
    if sliced or found.history is None or (form and form.also):
        pages = _pages_by_identifier(database, term, found.total, form, web, most, progress)
    else:
        selection = select_records(database, (), found.history.id, web)
        pages = pages_of_records(selection, form, web, most=most, progress=progress)
    narrow = wall_warning(database, found.total)  # advice for who pages, not for who stages
    pages.warnings[:0] = [words for words in found.warnings if words not in narrow]
    return pages


def _pages_by_identifier(
    database: Database, term: str, total: int, form: Form | None, web: Web, most: int,
    progress: Progress | None,
) -> Pages:  # fmt: skip
    """A search by its identifiers: PubMed's slice by slice, others' page by page."""
    batches: Iterator[tuple[str, ...]]
    if database.name == "pubmed":
        every = find_every_pmid(check_query(Query(term)), web)
        batches, total = every.pages, every.total
    else:
        batches = _every_page(database, term, web)
    return Pages(
        Selection(database), form, web, total=total, most=most, made_by=one_line(term),
        progress=progress, batches=batches,
    )  # fmt: skip


def _every_page(database: Database, term: str, web: Web) -> Iterator[tuple[str, ...]]:
    start: int | None = 0
    while start is not None:
        found = search(database.name, term, web, start=start, most=5_000)
        yield found.ids
        start = found.next_start if found.ids else None
