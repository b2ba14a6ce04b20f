"""Page through all records of a search, a history or a list, to build a dataset from them.

A few requests run at a time, by POST or from the history server. A missing answer raises an error
and is not skipped: a dataset is complete, or lists what is missing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain

from ..errors import BadContent, EntrezFailed, NothingFound
from ..http import Web
from ..search.pubmed.search import find_every_pmid, normalize_query
from ..sources import Query
from ..sources.eutils_services import MISSING_SUMMARY
from ..system.plain_text import one_line, shorten
from .databases import EntrezDatabase, RecordFormat
from .datasets.trees import RawRecordPage
from .fetching import (
    fetch_part_summaries,
    fetch_selection_part,
    map_names_to_uids,
    split_part_in_half,
)
from .searching import NO_HISTORY, build_hit_limit_warnings, search_database
from .selection import (
    PUBMED_WALL,
    MissingRecord,
    Selection,
    SelectionPart,
    require_in_range,
    select_records,
)

Progress = Callable[[int, int], object]
MAX_PAGED = 100_000
# Records in one request: articles and whole samples are long, summaries are short.
_BATCH_RECORDS = {"docsum_json": 500, "pubmed_xml": 200, "pmc_xml": 25, "xml": 100}
_PARALLEL_REQUESTS = 3


@dataclass(frozen=True, slots=True)
class _PartResponse:
    """The response to one part: a page of records, and missing identifiers or an error."""

    pages: tuple[RawRecordPage, ...]
    not_found: tuple[MissingRecord, ...] = ()
    warnings: tuple[str, ...] = ()


class RecordPages:
    """Pages of records; iterating over them sends the requests.

    Parameters
    ----------
    selection : Selection
        The records; of a search those that NCBI keeps, or empty if *batches* are given.
    form : Form or None
        The format requested from EFetch; None for ESummary.
    most : int
        Records at most.
    progress : callable, optional
        Called after each answer with the number of records requested so far, and of all.
    batches : iterable of tuple of str, optional
        The identifiers, if neither a list nor a history has them.

    Attributes
    ----------
    total : int
        The number of records, of which ``wanted`` are requested.
    not_found : list of Missing
        Identifiers without a record; grows while pages arrive.
    warnings : list of str
        Unknown and omitted records; grows while pages arrive.
    """

    def __init__(
        self,
        selection: Selection,
        form: RecordFormat | None,
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
        self.not_found: list[MissingRecord] = []
        self.warnings: list[str] = []
        self._selection, self._form, self._web, self._progress = selection, form, web, progress
        self._batches = batches
        if total > most:
            words = f"There are {total:,} records; the first {most:,} are taken."
            self.warnings.append(words)

    def __iter__(self) -> Iterator[RawRecordPage]:
        done = 0
        for part, answer in self._iterate_responses():
            self.not_found += answer.not_found
            self.warnings += [words for words in answer.warnings if words not in self.warnings]
            yield from answer.pages
            done += part.size
            if self._progress:
                self._progress(done, self.wanted)

    def _iterate_responses(self) -> Iterator[tuple[SelectionPart, _PartResponse]]:
        """Yield the responses in order; later requests run while one response is read."""
        pool = ThreadPoolExecutor(_PARALLEL_REQUESTS, "entrez-pages")
        ahead: deque[tuple[SelectionPart, Future[_PartResponse]]] = deque()
        try:
            for part in self._iterate_parts():
                ahead.append((part, pool.submit(self._fetch_part, part)))
                if len(ahead) == _PARALLEL_REQUESTS:
                    first, answer = ahead.popleft()
                    yield first, answer.result()
            for first, answer in ahead:
                yield first, answer.result()
        finally:
            pool.shutdown(cancel_futures=True)

    def _iterate_parts(self) -> Iterator[SelectionPart]:
        size = _BATCH_RECORDS[self.form]
        if self._batches is None:
            for start in range(0, min(self.wanted, self._selection.total), size):
                yield self._selection.get_part(start, min(size, self.wanted - start))
            return
        left = self.wanted
        uids: tuple[str, ...] = ()
        for more in chain(self._batches, ((),)):
            uids += more
            while left > 0 and (len(uids) >= size or (uids and not more)):
                taken, uids = uids[: min(size, left)], uids[size:]
                left -= len(taken)
                yield SelectionPart({"id": ",".join(taken)}, taken, len(taken))

    def _fetch_part(self, part: SelectionPart) -> _PartResponse:
        if self._form is None:
            return self._fetch_summary_part(part)
        fetched = fetch_selection_part(self._selection, part, self._form, self._web)
        pages = tuple(RawRecordPage(self.database, self.form, body) for body in fetched.bodies)
        return _PartResponse(pages, fetched.not_found, fetched.warnings)

    def _fetch_summary_part(self, part: SelectionPart) -> _PartResponse:
        try:
            found = fetch_part_summaries(self._selection, part, self._web)
        except BadContent as error:
            if part.size == 1:
                msg = f"A summary of {self.database} is too large: {error.message}"
                raise EntrezFailed(msg, "Leave it out.") from None
            first, second = (self._fetch_summary_part(half) for half in split_part_in_half(part))
            return _PartResponse(
                first.pages + second.pages,
                first.not_found + second.not_found,
                first.warnings + second.warnings,
            )
        names = map_names_to_uids(found.records)
        missing = tuple(
            MissingRecord(uid, found.refused.get(uid) or MISSING_SUMMARY)
            for uid in part.uids or found.uids
            if uid.upper() not in names
        )
        lack = 0 if part.uids else part.size - len(found.uids)
        warning = f"{lack:,} summaries did not come; the history does not tell which."
        page = RawRecordPage(self.database, found.form, found.body)
        return _PartResponse((page,) * bool(found.records), missing, (warning,) if lack > 0 else ())


def make_record_pages(
    selection: Selection,
    form: RecordFormat | None,
    web: Web,
    *,
    most: int,
    progress: Progress | None = None,
) -> RecordPages:
    """Return the pages of a list or of a history."""
    hint = "Stage it in parts, for example by date."
    require_in_range("max_results", most, 1, MAX_PAGED, hint)
    if selection.place is None:
        total, made_by = len(selection.uids), f"{len(selection.uids):,} identifiers"
        return RecordPages(
            selection, form, web, total=total, most=most, made_by=made_by, progress=progress
        )
    history = selection.place.history
    pages = RecordPages(
        selection, form, web, total=history.total, most=min(most, selection.total),
        made_by=history.made_by, progress=progress,
    )  # fmt: skip
    if most > selection.total < history.total:
        pages.warnings.append("PubMed keeps no more of a history: stage the search itself.")
    return pages


def make_search_pages(
    database: EntrezDatabase,
    term: str,
    form: RecordFormat | None,
    web: Web,
    *,
    most: int,
    progress: Progress | None,
) -> RecordPages:
    """Return the pages of a search; for PubMed including hits beyond the first 9,999."""
    require_in_range("max_results", most, 1, MAX_PAGED, "Stage it in parts, for example by date.")
    found = search_database(database.name, term, web, most=0, keep=True)
    if not found.total:
        msg = f"{database.name} finds nothing for {shorten(one_line(term), 100)!r}."
        hints = [words for words in found.warnings if words != NO_HISTORY]
        raise NothingFound(msg, *hints, "Check the spelling and the search fields.")
    sliced = database.name == "pubmed" and min(found.total, most) > PUBMED_WALL
    # A format's additional parameters may concern identifiers (ClinVar's do), so send identifiers.
    if sliced or found.history is None or (form and form.also):
        pages = _make_id_pages(database, term, found.total, form, web, most, progress)
    else:
        selection = select_records(database, (), found.history.id, web)
        pages = make_record_pages(selection, form, web, most=most, progress=progress)
    narrow = build_hit_limit_warnings(
        database, found.total
    )  # this advice is for paging, not for staging
    pages.warnings[:0] = [words for words in found.warnings if words not in narrow]
    return pages


def _make_id_pages(
    database: EntrezDatabase, term: str, total: int, form: RecordFormat | None, web: Web, most: int,
    progress: Progress | None,
) -> RecordPages:  # fmt: skip
    """Return a search's pages by identifier: PubMed slice by slice, others page by page."""
    batches: Iterator[tuple[str, ...]]
    if database.name == "pubmed":
        every = find_every_pmid(normalize_query(Query(term)), web)
        batches, total = every.pages, every.total
    else:
        batches = _iterate_search_ids(database, term, web)
    return RecordPages(
        Selection(database), form, web, total=total, most=most, made_by=one_line(term),
        progress=progress, batches=batches,
    )  # fmt: skip


def _iterate_search_ids(database: EntrezDatabase, term: str, web: Web) -> Iterator[tuple[str, ...]]:
    start: int | None = 0
    while start is not None:
        found = search_database(database.name, term, web, start=start, most=5_000)
        yield found.ids
        start = found.next_start if found.ids else None
