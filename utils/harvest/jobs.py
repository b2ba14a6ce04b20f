"""The job of a harvest: created from a query or a list, found again by it, resumed, reported.

The name of a job follows from the query (or the list), so that the same command on the same shelf
is the same job: it continues where it was interrupted, and a finished one asks PubMed for new
papers. Jobs are brought up to date with texts that arrived, or were rejected, outside of them, and
write their papers as ``references.ris`` and ``references.bib`` for Zotero, EndNote and LaTeX.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import get_args

from ..citations import iterate_bibtex, iterate_ris
from ..command_line import command_line
from ..download.ladder import Ladder
from ..errors import BadRequest, NothingFound, StoreFailed
from ..lists.pasted import Entry, build_unread_error, merge_entries
from ..model.identifiers import Ids
from ..model.job import HARVESTED_COLUMNS, Coverage, Harvested, Job, PaperSelection, Search
from ..model.paper import Paper, StoredPaper, Verdict, format_timestamp, utc_now
from ..model.tabular import ResultList, Table, Tabular
from ..model.versions import UNPUBLISHED_VERSIONS
from ..search.pubmed.search import Sweep, find_every_pmid
from ..shelf import Shelf, body_of
from ..shelf.ledger import Ledger
from ..shelf.ledger_file import ledgers_folder
from ..sources import Query
from ..system.keyword_options import explain_options
from ..system.progress_display import ProgressDisplay
from ..system.safe_files import disk_errors, make_folder, replace_text_file
from .bulk import run_harvest
from .run_status import Progress
from .searches import Collected, Wanted, collect, wanted_searches

log = logging.getLogger(__name__)
_SLUG = 40
OUTCOMES = {
    *("failed", "abstract", "record", *get_args(Verdict), "unreachable", "not_offered", "embargo"),
    *("not_found", "could_not_tell", "bad_request", "no_identifier", "bug"),
} - {"full_text"}
_SINCE_S = 60.0  # a site that was out a moment ago is out
_RENEWED_S = 60.0  # a report that is there already, at the most once in
_MANY = 200_000  # papers that nobody asks for by mistake
_LIMITED = "Only "  # how a note about a limit begins
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,79}")
_LEAST_WORDS = 4  # words of a title that stand for a citation without identifier
RIS, BIBTEX = "references.ris", "references.bib"
_PAGE = 500
Papers = Callable[[], Iterator[tuple[Paper, str]]]
Asked = Iterable["str | int | Ids | Entry"]


@explain_options()
@dataclass(frozen=True, slots=True)
class Harvest(Tabular):
    """A job on a shelf. Going through it works on it, and says how far it is.

    Examples
    --------
    >>> for progress in library.harvest(query="CXCL12 AND CXCR4"):   # doctest: +SKIP
    ...     print(progress.job.counts, progress.eta_s)
    """

    ledger: Ledger
    ladder: Ladder
    prefer_pmc: bool = True

    @property
    def job_id(self) -> str:
        """The job's name."""
        return self.ledger.path.stem

    @property
    def folder(self) -> Path:
        """The folder of the report."""
        return self.ladder.shelf.folder / "reports" / self.job_id

    def __iter__(self) -> Iterator[Progress]:
        """Work until no paper is pending, then write the report; see `.bulk.run_harvest`."""
        with self.ledger.exclusive_lock():
            self._reopen_lost()
            self._go_on()
            waited, again = False, 0.0
            for progress in run_harvest(self.ledger, self.ladder, prefer_pmc=self.prefer_pmc):
                if progress.only_waits and not waited and time.monotonic() >= again:
                    self.report()  # nobody need wait for the slowest site
                    again = time.monotonic() + _RENEWED_S
                waited = progress.only_waits
                yield progress
            self.report()  # still at work: whoever looks now does not miss the report

    def run(self, *, progress: bool = True) -> Job:
        """Do all the work, and return the job with its counts.

        Parameters
        ----------
        progress : bool, optional
            Show a bar in a notebook, or a line on a terminal.
        """
        with ProgressDisplay(is_shown=progress) as display:
            for step in self:
                counts = step.job.counts
                texts = f"papers, {counts.full_text:,} with full text"
                display.show(counts.requested - counts.pending, counts.requested, texts)
        return self.job()

    def coverage(self) -> Coverage:
        """Return where the full texts came from, and why other papers have none."""
        return self.ledger.coverage()

    def papers(self, which: PaperSelection = "all") -> ResultList[Harvested]:
        """Return the papers and their outcomes.

        Parameters
        ----------
        which : {"all", "retrieved", "not_retrieved"}, optional
            Those that ended with a full text, those that ended without one, or all.
        """
        return ResultList(self.ledger.rows(which), HARVESTED_COLUMNS, Harvested.row)

    def to_table(self) -> Table:
        """Return a row for each paper, with its outcome."""
        return self.papers().to_table()

    def job(self) -> Job:
        """The job with its counts of this moment."""
        return self.ledger.job()

    def go_on(self) -> int:
        """Open papers again for which a site did not answer, for a person who asks for that.

        Going through a harvest does so only where that was more than a minute ago. Sites that did
        answer are not asked again.

        Returns
        -------
        int
            How many papers.

        Raises
        ------
        InUse
            Another process works on the job.
        """
        with self.ledger.exclusive_lock():
            return self._go_on(by_hand=True)

    def _reopen_lost(self) -> None:
        """Open papers again whose files are gone from the shelf: files count, not entries."""
        folder = self.ladder.shelf.folder
        files = self.ledger.files().items()
        lost = [(number, file) for number, file in files if not (folder / file).is_file()]
        if reopened := sum(self.ledger.reopen_lost(number, file) for number, file in lost):
            log.warning("%d files of this harvest are gone; their papers are open again.", reopened)

    def _go_on(self, *, by_hand: bool = False) -> int:
        if self.ladder.web.settings.papers_offline:
            return 0
        if by_hand:
            return self.ledger.reopen_unresolved()
        return self.ledger.reopen_unresolved(format_timestamp(time.time() - _SINCE_S))

    def retry(self, which: str) -> int:
        """Open papers again that ended so (``failed``, ``abstract``, ``record``, or an outcome).

        ``preprint`` and ``accepted`` are those of which only that version was had.

        Several words are separated by commas; returns how many papers.

        Raises
        ------
        BadRequest
            No paper can end so.
        InUse
            Another process works on the job.
        """
        words = parse_outcomes(which)
        with self.ledger.exclusive_lock():
            return sum(self.ledger.reopen(word) for word in words)

    def cancel(self) -> None:
        """Have whoever works on the job stop soon, also another process; it can be taken up again.

        What is done stays done.
        """
        self.ledger.record_cancelled(utc_now())

    def report(self, drawings: Iterable[str] = ()) -> Path:
        """Write the report of what there is by now; the page to look at.

        *drawings* are more kinds of PRISMA's figure: ``png``, ``pptx``.

        Raises
        ------
        NotConfigured
            What draws them is not installed.
        """
        from ..reports import write_report
        from ..reports.library_links import ReadersLibrary

        write_references(lambda: of_rows(self.ledger.rows()), self.folder)
        job = self.job()
        if self.ledger.running():
            waits = [f"{wait}. This page is renewed then." for wait in job.waits]
            job = replace(job, notes=(*waits, *job.notes))
        library = ReadersLibrary.from_settings(self.ladder.web.settings)
        return write_report(job, self.ledger.rows, self.folder, library, drawings)


def harvest(  # noqa: PLR0913 - what may be asked for, and how
    papers: Asked | Mapping[str, Asked],
    query: str | Query | Sequence[str | Query],
    job_id: str,
    ladder: Ladder,
    *,
    sources: Sequence[str] = (),
    title: str = "",
    max_papers: int = 0,
    retry: str = "",
    prefer_pmc: bool = True,
) -> Harvest:
    """The harvest that is meant: of identifiers, of queries, of both, or of the name of a job.

    Parameters
    ----------
    papers : iterable, or mapping of str to iterable
        Identifiers; several lists by their names.
    query : str, Query, or sequence of them
        For PubMed, or the *sources* named; see `.searches.wanted_searches`.
    job_id : str
        The name of a job; then neither papers nor queries.
    ladder : Ladder
    sources : sequence of str, optional
        Sites to search; PubMed when none is named.
    title : str, optional
        What a list is called.
    max_papers : int, optional
        At the most so many; 0 for all.
    retry : str, optional
        Try once more what ended so: ``failed``, ``abstract``, or the outcome of an attempt.
    prefer_pmc : bool, optional
        False asks the publisher's side first.

    Raises
    ------
    BadRequest
        Nothing is asked for, or both a job and papers; or no paper can end as *retry* says.
    """
    if retry:
        parse_outcomes(retry)  # refused before there is a job
    wanted = wanted_searches(query, sources, ladder.sources)
    lists = _entries(papers)
    if bool(job_id) == bool(wanted or lists):
        if job_id:
            msg = "A harvest that is taken up again by its job takes no queries or identifiers."
            raise BadRequest(msg, "Leave the job out to begin another one.")
        msg = "A harvest needs queries, identifiers or both, or else the name of a job."
        raise BadRequest(msg, 'For example query="CXCL12 AND CXCR4", or ids=["31452104"].')
    if job_id:
        ledger = of_id(job_id, ladder)
    elif not wanted and len(lists) == 1:
        [entries] = lists.values()
        name = next(iter(lists)) if isinstance(papers, Mapping) else ""
        title = title or name or f"{len(entries):,} identifier{'s' * (len(entries) != 1)}"
        ledger = of_list(entries, title, ladder, most=max_papers)
    elif [one.source.name for one in wanted] == ["pubmed"] and not lists:
        ledger = of_query(wanted[0].query, ladder, most=max_papers)
    else:
        ledger = of_searches(wanted, lists, ladder, title=title, most=max_papers)
    meant = Harvest(ledger, ladder, prefer_pmc)
    if retry:
        meant.retry(retry)
    return meant


def _entries(papers: Asked | Mapping[str, Asked]) -> dict[str, list[Entry]]:
    """Return the requested papers by the names of the lists.

    Raises
    ------
    BadRequest
        Nothing but texts is given, and none of them is an identifier.
    """
    named = papers if isinstance(papers, Mapping) else {"Identifiers": papers} if papers else {}
    given = {name: list(asked) for name, asked in named.items()}
    lists = {name: [entry_of(one) for one in asked] for name, asked in given.items()}
    slips = [one for asked in given.values() for one in asked if isinstance(one, str)]
    if slips and not any(entry.ids or entry.paper for asked in lists.values() for entry in asked):
        raise build_unread_error(slips[0])
    return lists


def entry_of(paper: str | int | Ids | Entry) -> Entry:
    """Return a list's entry of a paper: as given, or made of its identifier.

    What is none has no identifiers: it ends by that name, and the others go on.
    """
    if isinstance(paper, Entry):
        return paper
    return Entry(str(paper), paper if isinstance(paper, Ids) else Ids.maybe(str(paper)))


def parse_outcomes(which: str) -> list[str]:
    """The words of a list such as ``failed,paywall``, if papers can end so.

    Raises
    ------
    BadRequest
        No paper can.
    """
    words = [word.strip() for word in which.split(",")]
    choices = OUTCOMES.union(UNPUBLISHED_VERSIONS)
    if unknown := set(words) - choices:
        msg = f"No paper ends as {', '.join(sorted(unknown))!r}."
        raise BadRequest(msg, f"Choose among {', '.join(sorted(choices))}.")
    return words


def of_query(query: Query, ladder: Ladder, *, most: int = 0) -> Ledger:
    """The job that fetches every hit of a question (at the *most* so many).

    An unfinished job is taken up as it is, unless it was limited to fewer papers than are asked
    for now; a finished one learns of new hits first.

    Raises
    ------
    BadRequest
        There are too many hits to take them all unlimited, or the question cannot be asked.
    NotConfigured, Unreachable
        The search could not be made; there is no job then.
    """
    dates = (query.min_date, query.max_date, query.date_type)
    path = _path(ladder, query.text, [query.text, *dates, *query.publication_types])
    ledger = Ledger.open_sound(path)
    if ledger and not ledger.job().ended_at and not _wants_more(ledger.job(), most):
        return ledger
    found = find_every_pmid(query, ladder.web)
    if found.total > _MANY and not most:
        msg = f"PubMed finds {found.total:,} papers, more than {_MANY:,}."
        raise BadRequest(msg, "Narrow the query, by dates say, or set a limit (max_papers).")
    hits = ((f"PMID {pmid}", Ids(pmid=pmid)) for page in found.pages for pmid in page)
    if ledger:
        _add_new_hits(ledger, query, found, hits, most)
        return ledger
    entries = list(islice(hits, most or None))
    notes = _notes(found, len(entries), most)
    if not entries:
        msg = f"PubMed finds nothing for {query.text!r}."
        raise NothingFound(msg, *notes, "Check the spelling, or ask with fewer words.")
    job = Job(
        path.stem,
        query.text,
        query=query.text,
        effective_query=found.effective_query,
        hits=found.total,
        begun_at=utc_now(),
        notes=tuple(notes),
        searches=(_in_pubmed(query, found),),
    )
    return Ledger.create(path, job, entries)


def _in_pubmed(query: Query, found: Sweep) -> Search:
    hits = found.total
    return Search("pubmed", "PubMed", query.text, found.effective_query, hits, hits, utc_now())


def _add_new_hits(
    ledger: Ledger, query: Query, found: Sweep, hits: Iterable[tuple[str, Ids]], most: int
) -> None:
    """Add the new hits of a query, up to the limit."""
    taken = _hits_taken(ledger.job())
    if most:
        known = {row.asked for row in ledger.rows()}
        hits = islice((hit for hit in hits if hit[0] not in known), max(0, most - taken))
    entries = list(hits)
    notes = _notes(found, taken + len(entries), most)
    ledger.add(entries, found.total, notes=notes, searches=(_in_pubmed(query, found),))


def _notes(found: Sweep, taken: int, most: int) -> list[str]:
    """Return notes about the hits for a reviewer; complete once all pages were read."""
    notes = list(found.warnings)
    if most and taken < found.total:
        notes.append(f"{_LIMITED}{taken:,} of {found.total:,} hits were asked for.")
    return notes


def _hits_taken(job: Job) -> int:
    """Return how many hits of a query are in its job."""
    return job.counts.requested + job.duplicates


def _wants_more(job: Job, most: int) -> bool:
    """Return whether a job was limited to fewer papers than are asked for now."""
    limited = any(note.startswith(_LIMITED) for note in job.notes)
    return limited and (not most or most > _hits_taken(job))


def of_list(entries: Iterable[Entry], title: str, ladder: Ladder, *, most: int = 0) -> Ledger:
    """The job that fetches the papers of a list, each once.

    Raises
    ------
    BadRequest
        The list is empty.
    """
    entries = list(entries)
    once = merge_entries(entries)
    papers = once.papers[:most] if most else once.papers
    if not papers:
        raise BadRequest("No paper was asked for.", "Give a query, identifiers or a file of them.")
    path = path_of_list(papers, title, ladder)
    if ledger := Ledger.open_sound(path):
        return ledger
    notes = list(once.contradictions)
    if len(papers) < len(once.papers):
        notes.append(f"{_LIMITED}{len(papers):,} of {len(once.papers):,} papers were asked for.")
    job = Job(
        path.stem,
        title,
        hits=len(entries),
        duplicates=once.duplicates,
        begun_at=utc_now(),
        notes=tuple(notes),
        searches=(Search("", title, hits=len(entries), taken=len(entries), searched_at=utc_now()),),
    )
    return Ledger.create(path, job, papers)


def path_of_list(papers: Iterable[Entry], title: str, ladder: Ladder) -> Path:
    """Return the path of a list's ledger, which need not exist."""
    return _path(ladder, title, sorted(e.ids.key if e.ids else e.asked for e in papers))


def of_searches(
    wanted: Sequence[Wanted],
    lists: Mapping[str, Sequence[Entry]],
    ladder: Ladder,
    *,
    title: str = "",
    most: int = 0,
) -> Ledger:
    """The job that fetches what several searches and lists hold, each paper once.

    As with `of_query`, an unfinished job is taken up, and a finished one searches again.

    Raises
    ------
    BadRequest, NotConfigured, Unreachable
        A search could not be made; there is no job then.
    """
    title = title or ", ".join(dict.fromkeys([*(one.asked for one in wanted), *lists]))
    path = _path(ladder, title, _spelled(wanted, lists))
    ledger = Ledger.open_sound(path)
    if ledger and not ledger.job().ended_at and not _wants_more(ledger.job(), most):
        return ledger
    rows = list(ledger.rows()) if ledger else []
    found = collect(wanted, lists, ladder, [row.paper for row in rows])
    words = {row.asked for row in rows}  # of references without identifiers all that is the same
    unknown = [entry for entry in found.papers if entry.ids or entry.asked not in words]
    fresh = unknown[: max(0, most - len(rows))] if most else unknown
    taken = sum(search.taken for search in found.searches)
    notes = list(found.notes)
    if len(fresh) < len(unknown):
        got, all_ = len(rows) + len(fresh), len(rows) + len(unknown)
        notes.append(f"{_LIMITED}{got:,} of {all_:,} papers were asked for.")
    if ledger:
        known = max(0, taken - len(rows) - len(unknown))
        ledger.add(fresh, taken, notes=notes, searches=found.searches, duplicates=known)
        return ledger
    if not fresh:
        msg = "None of these searches finds a paper."
        raise NothingFound(msg, "Check the spelling, or ask with fewer words.")
    return Ledger.create(path, _job_of(path.stem, title, found, taken, notes), fresh)


def _job_of(job_id: str, title: str, found: Collected, taken: int, notes: Iterable[str]) -> Job:
    asked = [search for search in found.searches if search.source]
    return Job(
        job_id,
        title,
        query="\n".join(f"{search.name}: {search.query}" for search in asked),
        effective_query="\n".join(f"{search.name}: {search.effective_query}" for search in asked),
        hits=taken,
        duplicates=found.duplicates,
        begun_at=utc_now(),
        notes=tuple(notes),
        searches=found.searches,
    )


def _spelled(wanted: Sequence[Wanted], lists: Mapping[str, Sequence[Entry]]) -> list[str]:
    """Return the name of a job of several searches, whatever their order."""
    queries = [
        " ".join((one.source.name, one.query.text, one.query.min_date, one.query.max_date))
        for one in wanted
    ]
    entries = {e.ids.key if e.ids else e.asked for entries in lists.values() for e in entries}
    return [*sorted(queries), *sorted(entries)]


def of_id(job_id: str, ladder: Ladder) -> Ledger:
    """The job of this name.

    Raises
    ------
    NothingFound
        There is none.
    """
    if not _ID.fullmatch(job_id):
        msg = f"{job_id!r} is no name of a harvest."
        raise BadRequest(msg, f"To list all: {command_line('harvest status')}")
    return Ledger(_folder(ladder) / f"{job_id}.db")


def every_job(ladder: Ladder) -> list[Job]:
    """All jobs of the shelf, the newest first."""
    jobs = []
    with disk_errors(_folder(ladder), "read"):
        paths = [*_folder(ladder).glob("*.db")]
    for path in paths:
        try:
            with closing(Ledger(path)) as ledger:
                jobs.append(ledger.job())
        except StoreFailed as damaged:  # the others are still worth seeing
            log.warning("%s", damaged)
    return sorted(jobs, key=lambda job: job.begun_at, reverse=True)


def _path(ladder: Ladder, title: str, asked: Sequence[str]) -> Path:
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:_SLUG].strip("-")
    mark = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:8]
    return _folder(ladder) / f"{words or 'harvest'}-{mark}.db"


def _folder(ladder: Ladder) -> Path:
    return ledgers_folder(ladder.shelf.folder)


@dataclass(slots=True)
class Ledgers:
    """The ledgers of a shelf, each opened once; closing them brings the reports up to date."""

    ladder: Ladder
    _all: list[Ledger] | None = None
    _touched: dict[str, Ledger] = field(default_factory=dict)

    @property
    def all(self) -> list[Ledger]:
        """Every ledger, opened when first needed."""
        if self._all is None:
            self._all = [of_id(job.job_id, self.ladder) for job in every_job(self.ladder)]
        return self._all

    def record_arrival(self, stored: StoredPaper) -> tuple[str, ...]:
        """Record a text in the harvests that lacked it; which they are."""
        text = body_of(self.ladder.shelf.read_text(stored))
        sha256 = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        changed = []
        for ledger in self.all:
            numbers = {*ledger.numbers_of(stored.paper.ids), *_cited(ledger, stored.paper)}
            if sum(ledger.record_brought(number, stored, sha256) for number in sorted(numbers)):
                changed.append(ledger.path.stem)
            if numbers:  # also where it was told before, and we were killed before its report
                self._touched[ledger.path.stem] = ledger
        return tuple(changed)

    def record_loss(self, stored: StoredPaper) -> tuple[str, ...]:
        """Reopen a paper in the harvests that counted its text, rejected since; which they are."""
        changed = []
        file = stored.path.replace("\\", "/").rpartition("/")[2]
        for ledger in self.all:
            numbers = ledger.numbers_of(stored.paper.ids)
            if sum(ledger.reopen_lost(number, file) for number in numbers):
                changed.append(ledger.path.stem)
            if numbers:
                self._touched[ledger.path.stem] = ledger
        return tuple(changed)

    def close(self) -> None:
        """Write the reports of the changed harvests anew, and close the ledgers."""
        for ledger in self._touched.values():
            Harvest(ledger, self.ladder).report()
        for ledger in self._all or ():
            ledger.close()


def _cited(ledger: Ledger, paper: Paper) -> list[int]:
    """Papers of a harvest that were asked for in words only, and are this one."""
    from ..judges.titles import telling_words, title_words

    title = " ".join(title_words(paper.title))
    if telling_words(paper.title) < _LEAST_WORDS:
        return []
    return [n for n, asked in ledger.nameless() if title in " ".join(title_words(asked))]


def of_shelf(shelf: Shelf) -> Iterator[tuple[Paper, str]]:
    """Every paper of a shelf with the file of its full text, if it has one, a page at a time."""
    start = 0
    while True:
        total, page = shelf.list(start=start, max_results=_PAGE)
        yield from (
            (one.paper, Path(one.path).name if one.kind == "full_text" else "")
            for one in page
            if not _lies_aside(one, shelf)
        )
        start += len(page)
        if start >= total or not page:
            return


def _lies_aside(one: StoredPaper, shelf: Shelf) -> bool:
    """Return whether a text is of another version than the one that stands for the paper."""
    beside = one.version in UNPUBLISHED_VERSIONS or one.kind == "rejected"
    best = shelf.find(one.paper.ids) if beside else None
    return best is not None and best.path != one.path


def of_rows(rows: Iterator[Harvested]) -> Iterator[tuple[Paper, str]]:
    """The papers of a harvest of which there is something on the shelf.

    Full texts with their files, as seen from the report's folder: a list that is passed on names
    nobody's home, and abstracts are no attachments.
    """
    for row in rows:
        if row.file:
            yield row.paper, f"../../{row.file}" if row.state == "full_text" else ""


def write_references(papers: Papers, folder: Path) -> list[Path]:
    """Write both files; *papers* is gone through once for each.

    Raises
    ------
    StoreFailed
        The disk refuses; each file is then the old one or the new one.
    """
    make_folder(folder)
    targets = {folder / RIS: iterate_ris, folder / BIBTEX: iterate_bibtex}
    with ExitStack() as files:
        for path, lines in targets.items():
            files.enter_context(replace_text_file(path)).writelines(lines(papers()))
    return list(targets)
