"""All records of a search, a history or a list, answer by answer, on their way into a dataset.

By POST or from the history server, at NCBI's pace, a few requests under way at a time. An answer
that is missing is raised, not skipped: a dataset is whole, or says what it lacks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain

from ..datasets.page import Page
from ..errors import BadContent, BadRequest, EntrezFailed
from ..pubmed.search import checked, every_pmid
from ..sources import Query
from ..sources.eutils.docsums import SILENT
from ..system.plain_text import one_line, shortened
from ..web import Web
from .asked import PUBMED_WALL, Asked, Missing, Part, require_between
from .databases import Database, Form
from .fetching import brought, halved, known_names
from .searching import NO_HISTORY, beyond_the_wall, search
from .summing import summed

Told = Callable[[int, int], object]
MOST_PAGED = 100_000
# Records in one request: articles and whole samples are long, summaries are short.
_BATCH = {"docsum_json": 500, "pubmed_xml": 200, "pmc_xml": 25, "xml": 100}
_AT_ONCE = 3


@dataclass(frozen=True, slots=True)
class _Answer:
    """What one request came to."""

    pages: tuple[Page, ...]
    not_found: tuple[Missing, ...] = ()
    warnings: tuple[str, ...] = ()


class Pages:
    """The answers that hold the records; going through them does the work.

    Parameters
    ----------
    which : Asked
        Of a search, records that NCBI keeps or their PMIDs.
    form : Form or None
        What EFetch is asked for; None for ESummary.
    most : int
        Records at most.
    told : callable, optional
        Hears how many records have been asked for, and of how many, after each answer.

    Attributes
    ----------
    total : int
        How many records there are; ``wanted`` of them are asked for.
    not_found : list of Missing
        Grows while the pages come: identifiers without a record.
    warnings : list of str
        Grows, too: what could not be told, and what was left behind.
    """

    def __init__(
        self,
        which: Asked,
        form: Form | None,
        web: Web,
        *,
        total: int,
        most: int,
        made_by: str = "",
        told: Told | None = None,
        batches: Iterable[tuple[str, ...]] | None = None,
    ) -> None:
        self.database = which.database.name
        self.form = form.page if form and form.page else "docsum_json"
        self.made_by = made_by
        self.total = total
        self.wanted = min(total, most)
        self.not_found: list[Missing] = []
        self.warnings: list[str] = []
        self._which, self._as, self._web, self._told = which, form, web, told
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
            if self._told:
                self._told(done, self.wanted)

    def _answers(self) -> Iterator[tuple[Part, _Answer]]:
        """The answers in order; the next ones are under way while one is looked at."""
        pool = ThreadPoolExecutor(_AT_ONCE, "entrez-pages")
        ahead: deque[tuple[Part, Future[_Answer]]] = deque()
        try:
            for part in self._parts():
                ahead.append((part, pool.submit(self._asked, part)))
                if len(ahead) == _AT_ONCE:
                    asked, answer = ahead.popleft()
                    yield asked, answer.result()
            for asked, answer in ahead:
                yield asked, answer.result()
        finally:
            pool.shutdown(cancel_futures=True)

    def _parts(self) -> Iterator[Part]:
        size = _BATCH[self.form]
        if self._batches is None:
            for start in range(0, min(self.wanted, self._which.total), size):
                yield self._which.part(start, min(size, self.wanted - start))
            return
        left = self.wanted
        uids: tuple[str, ...] = ()
        for more in chain(self._batches, ((),)):
            uids += more
            while left > 0 and (len(uids) >= size or (uids and not more)):
                taken, uids = uids[: min(size, left)], uids[size:]
                left -= len(taken)
                yield Part({"id": ",".join(taken)}, taken, len(taken))

    def _asked(self, part: Part) -> _Answer:
        if self._as is None:
            return self._summaries(part)
        came = brought(self._which, part, self._as, self._web)
        pages = tuple(Page(self.database, self.form, body) for body in came.bodies)
        return _Answer(pages, came.not_found, came.warnings)

    def _summaries(self, part: Part) -> _Answer:
        try:
            found = summed(self._which, part, self._web)
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
        names = known_names(found.records)
        missing = tuple(
            Missing(uid, found.refused.get(uid) or SILENT)
            for uid in part.uids or found.uids
            if uid.upper() not in names
        )
        lack = 0 if part.uids else part.size - len(found.uids)
        told = f"{lack:,} summaries did not come; the history does not tell which."
        page = Page(self.database, found.form, found.body)
        return _Answer((page,) * bool(found.records), missing, (told,) if lack > 0 else ())


def pages_of(
    which: Asked, form: Form | None, web: Web, *, most: int, told: Told | None = None
) -> Pages:
    """The pages of a list or of a history."""
    hint = "Stage it in parts, for example by date."
    require_between("most", most, 1, MOST_PAGED, hint)
    if which.place is None:
        total, made_by = len(which.uids), f"{len(which.uids):,} identifiers"
        return Pages(which, form, web, total=total, most=most, made_by=made_by, told=told)
    history = which.place.history
    pages = Pages(
        which, form, web, total=history.total, most=min(most, which.total),
        made_by=history.made_by, told=told,
    )  # fmt: skip
    if most > which.total < history.total:
        pages.warnings.append("PubMed keeps no more of a history: stage the search itself.")
    return pages


def pages_of_search(
    database: Database, term: str, form: Form | None, web: Web, *, most: int, told: Told | None
) -> Pages:
    """The pages of a search; of PubMed also beyond the 9,999 records it hands out of one."""
    require_between("most", most, 1, MOST_PAGED, "Stage it in parts, for example by date.")
    found = search(database.name, term, web, most=0, history=True)
    if not found.total:
        msg = f"{database.name} finds nothing for {shortened(one_line(term), 100)!r}."
        hints = [words for words in found.warnings if words != NO_HISTORY]
        raise BadRequest(msg, *hints, "Look at the spelling, or at the search fields.")
    sliced = database.name == "pubmed" and min(found.total, most) > PUBMED_WALL
    # What goes with a form may be about identifiers (ClinVar's is), so they are given themselves.
    if sliced or found.history is None or (form and form.also):
        pages = _of_many(database, term, found.total, form, web, most, told)
    else:
        from .asked import asked

        pages = pages_of(
            asked(database, (), found.history.id, web), form, web, most=most, told=told
        )
    narrow = beyond_the_wall(database, found.total)  # advice for who pages, not for who stages
    pages.warnings[:0] = [words for words in found.warnings if words not in narrow]
    return pages


def _of_many(
    database: Database, term: str, total: int, form: Form | None, web: Web, most: int,
    told: Told | None,
) -> Pages:  # fmt: skip
    """A search by its identifiers: PubMed's slice by slice, others' page by page."""
    batches: Iterator[tuple[str, ...]]
    if database.name == "pubmed":
        every = every_pmid(checked(Query(term)), web)
        batches, total = every.pages, every.total
    else:
        batches = _every_page(database, term, web)
    return Pages(
        Asked(database), form, web, total=total, most=most, made_by=one_line(term), told=told,
        batches=batches,
    )  # fmt: skip


def _every_page(database: Database, term: str, web: Web) -> Iterator[tuple[str, ...]]:
    start: int | None = 0
    while start is not None:
        found = search(database.name, term, web, start=start, most=5_000)
        yield found.ids
        start = found.next_start if found.ids else None
