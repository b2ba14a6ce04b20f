"""Create, find, resume and report the jobs of harvests.

The name of a job follows from the query (or the list), so that the same command on the same shelf
means the same job: an interrupted job resumes, and a finished job asks PubMed for new papers.
`Ledgers` brings jobs up to date with texts that arrived, or were rejected, outside the harvest. A
job writes its papers as ``references.ris`` and ``references.bib`` for Zotero, EndNote and LaTeX.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import get_args

from ..citations import iterate_bibtex_entries, iterate_ris_records
from ..command_line import command_line
from ..download.ladder import Ladder
from ..errors import BadRequest, NothingFound, StoreFailed
from ..lists.pasted import ListEntry, build_no_identifier_error, merge_duplicate_entries
from ..model.identifiers import Ids
from ..model.job import HARVESTED_COLUMNS, Coverage, Harvested, Job, JobSearch, PaperSelection
from ..model.paper import Paper, StoredPaper, Verdict, format_timestamp, utc_now
from ..model.tabular import ResultList, Table, TabularResult
from ..model.versions import UNPUBLISHED_VERSIONS
from ..search.pubmed.search import AllHits, find_every_pmid
from ..shelf import Shelf, strip_header
from ..shelf.ledger import Ledger
from ..shelf.ledger_file import get_ledgers_folder
from ..shelf.paper_file import list_form_names
from ..sources import Query
from ..system.keyword_options import accept_former_options, reject_wrong_options
from ..system.nearest import suggest_nearest_name
from ..system.progress_display import ProgressDisplay
from ..system.safe_files import disk_errors, make_folder, replace_text_file
from .bulk import run_harvest
from .run_status import Progress
from .searches import CollectedPapers, SiteQuery, build_site_queries, collect_papers

log = logging.getLogger(__name__)
_MAX_SLUG_CHARS = 40
OUTCOMES = {
    *("failed", "abstract", "record", *get_args(Verdict), "unreachable", "not_offered", "embargo"),
    *("not_found", "could_not_tell", "bad_request", "no_identifier", "bug"),
} - {"full_text"}
_REASK_AFTER_S = 60.0  # a site that failed more recently is not asked again yet
_REPORT_INTERVAL_S = 60.0  # minimum time between two updates of a report during a run
_MAX_UNLIMITED_HITS = 200_000  # more hits need an explicit limit: they are probably a mistake
_LIMIT_NOTE_PREFIX = "Only "  # the beginning of a note about a limit
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,79}")
_MIN_TITLE_WORDS = 4  # title words that identify a citation without identifier
RIS, BIBTEX = "references.ris", "references.bib"
_PAGE = 500
PapersWithFiles = Callable[[], Iterator[tuple[Paper, str]]]
RequestedPapers = Iterable["str | int | Ids | ListEntry"]


@reject_wrong_options()
@dataclass(frozen=True, slots=True)
class Harvest(TabularResult):
    """A job on a shelf; iterating over a harvest runs the job and yields its progress.

    Examples
    --------
    >>> for progress in library.open_harvest(query="CXCL12 AND CXCR4"):   # doctest: +SKIP
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
        """Run the job until no paper is pending, then write the report; see `.bulk.run_harvest`."""
        with self.ledger.exclusive_lock():
            self._reopen_papers_without_file()
            self._reopen_unanswered()
            waited, again = False, 0.0
            for progress in run_harvest(self.ledger, self.ladder, prefer_pmc=self.prefer_pmc):
                if progress.only_waits and not waited and time.monotonic() >= again:
                    self.report()  # readers need not wait for the slowest site
                    again = time.monotonic() + _REPORT_INTERVAL_S
                waited = progress.only_waits
                yield progress
            self.report()  # before the lock is released, so that an ended job always has a report

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
                display.show_progress(counts.requested - counts.pending, counts.requested, texts)
        return self.job()

    def coverage(self) -> Coverage:
        """Return where the full texts came from, and why other papers have none."""
        return self.ledger.count_coverage()

    def papers(self, which: PaperSelection = "all") -> ResultList[Harvested]:
        """Return the papers and their outcomes.

        Parameters
        ----------
        which : {"all", "retrieved", "not_retrieved"}, optional
            Papers that ended with a full text, papers that ended without one, or all.
        """
        return ResultList(self.ledger.read_outcomes(which), HARVESTED_COLUMNS, Harvested.row)

    def to_table(self) -> Table:
        """Return a row for each paper, with its outcome."""
        return self.papers().to_table()

    def job(self) -> Job:
        """Return the job with its current counts."""
        return self.ledger.read_job()

    def reopen_unanswered(self) -> int:
        """Reopen papers for which a site did not answer, even if it failed a moment ago.

        Iterating over a harvest reopens only papers whose failure is more than a minute old. Sites
        that answered are not asked again.

        Returns
        -------
        int
            The count of reopened papers.

        Raises
        ------
        InUse
            Another process works on the job.
        """
        with self.ledger.exclusive_lock():
            return self._reopen_unanswered(by_hand=True)

    def go_on(self) -> int:
        """Call `reopen_unanswered`, of which this is the former name."""
        msg = "Harvest.go_on() is now Harvest.reopen_unanswered()"
        warnings.warn(msg, DeprecationWarning, stacklevel=2)
        return self.reopen_unanswered()

    def _reopen_papers_without_file(self) -> None:
        """Reopen papers whose files were deleted from the shelf."""
        folder = self.ladder.shelf.folder
        files = self.ledger.list_paper_files().items()
        lost = [
            (number, file)
            for number, file in files
            if not any((folder / form).is_file() for form in list_form_names(file))
        ]
        if reopened := sum(self.ledger.reopen_paper_if_lost(number, file) for number, file in lost):
            log.warning(
                "%d files of this harvest are missing; their papers are pending again.", reopened
            )

    def _reopen_unanswered(self, *, by_hand: bool = False) -> int:
        """Reopen papers for which a site did not answer; return their count."""
        if self.ladder.web.settings.papers_offline:
            return 0
        if by_hand:
            return self.ledger.reopen_unanswered_papers()
        return self.ledger.reopen_unanswered_papers(format_timestamp(time.time() - _REASK_AFTER_S))

    def retry(self, which: str) -> int:
        """Reopen papers by outcome (``failed``, ``abstract``, ``record``, …); return their count.

        ``preprint`` and ``accepted`` mean papers of which only that version was found. Separate
        several words by commas.

        Raises
        ------
        BadRequest
            A word is not a possible outcome.
        InUse
            Another process works on the job.
        """
        words = parse_outcomes(which)
        with self.ledger.exclusive_lock():
            return sum(self.ledger.reopen_papers_by_outcome(word) for word in words)

    def cancel(self) -> None:
        """Request that the process running the job stop soon; the job can be resumed later.

        Finished papers stay finished.
        """
        self.ledger.record_cancellation(utc_now())

    @accept_former_options(drawings="draw")
    def report(self, draw: Iterable[str] = ()) -> Path:
        """Write the report of the job's present state; return the path of the main page.

        *draw* lists further formats of the PRISMA figure: ``png``, ``pptx``.

        Raises
        ------
        NotConfigured
            The packages that draw these formats are not installed.
        """
        from ..reports import write_report
        from ..reports.library_links import ReadersLibrary

        keys = self.ladder.web.settings.papers_keys
        write_references(
            lambda: list_harvested_papers(self.ledger.read_outcomes()), self.folder, keys
        )
        job = self.job()
        if self.ledger.is_running():
            waits = [f"{wait}. This page is renewed then." for wait in job.waits]
            job = replace(job, notes=(*waits, *job.notes))
        library = ReadersLibrary.from_settings(self.ladder.web.settings)
        return write_report(job, self.ledger.read_outcomes, self.folder, library, draw)


def open_harvest(  # noqa: PLR0913 - the options of a harvest
    papers: RequestedPapers | Mapping[str, RequestedPapers],
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
    """Return the harvest of identifiers, of queries, of both, or of an existing job.

    Parameters
    ----------
    papers : iterable, or mapping of str to iterable
        Identifiers; several lists by their names.
    query : str, Query, or sequence of them
        Queries for PubMed, or for the named *sources*; see `.searches.build_site_queries`.
    job_id : str
        The name of an existing job, instead of papers and queries.
    ladder : Ladder
    sources : sequence of str, optional
        Sites to search; PubMed when none is named.
    title : str, optional
        The title of a list.
    max_papers : int, optional
        Maximum count of papers; 0 for no limit.
    retry : str, optional
        Reopen papers with this result: ``failed``, ``abstract``, or the outcome of an attempt.
    prefer_pmc : bool, optional
        False asks publishers before PMC.

    Raises
    ------
    BadRequest
        Neither papers nor a job are given, or both are; or *retry* is not a possible outcome.
    """
    if retry:
        parse_outcomes(retry)  # reject a wrong word before the job is created
    wanted = build_site_queries(query, sources, ladder.sources)
    lists = _to_entries(papers)
    if bool(job_id) == bool(wanted or lists):
        if job_id:
            msg = "A harvest that is resumed by its job takes no queries or identifiers."
            raise BadRequest(msg, "Leave the job out to start a new harvest.")
        msg = "A harvest needs queries, identifiers or both, or else the name of a job."
        raise BadRequest(msg, 'For example query="CXCL12 AND CXCR4", or papers=["31452104"].')
    if job_id:
        ledger = open_job(job_id, ladder)
    elif not wanted and len(lists) == 1:
        [entries] = lists.values()
        title = title or _name_list(papers, entries)
        ledger = open_list_job(entries, title, ladder, most=max_papers)
    elif [site_query.source.name for site_query in wanted] == ["pubmed"] and not lists:
        ledger = open_query_job(wanted[0].query, ladder, most=max_papers)
    else:
        ledger = open_searches_job(wanted, lists, ladder, title=title, most=max_papers)
    opened = Harvest(ledger, ladder, prefer_pmc)
    if retry:
        opened.retry(retry)
    return opened


def _to_entries(
    papers: RequestedPapers | Mapping[str, RequestedPapers],
) -> dict[str, list[ListEntry]]:
    """Return the requested papers by the names of the lists.

    Raises
    ------
    BadRequest
        Only strings are given, and none of them is an identifier.
    """
    named = papers if isinstance(papers, Mapping) else {"Identifiers": papers} if papers else {}
    papers_by_list = {name: list(asked) for name, asked in named.items()}
    lists = {name: [to_entry(paper) for paper in asked] for name, asked in papers_by_list.items()}
    texts = [
        paper for asked in papers_by_list.values() for paper in asked if isinstance(paper, str)
    ]
    if texts and not any(entry.ids or entry.paper for asked in lists.values() for entry in asked):
        raise build_no_identifier_error(texts[0])
    return lists


def _name_list(papers: RequestedPapers | Mapping[str, RequestedPapers], entries: Sized) -> str:
    """Return the name of a list, or the number of its papers."""
    name = next(iter(papers)) if isinstance(papers, Mapping) else ""
    return name or f"{len(entries):,} identifier{'s' * (len(entries) != 1)}"


def find_lists_path(
    papers: RequestedPapers | Mapping[str, RequestedPapers], title: str, ladder: Ladder
) -> Path:
    """Return the path of the ledger that `open_harvest` uses for lists; it need not exist."""
    lists = _to_entries(papers)
    if len(lists) != 1:
        return _build_job_path(
            ladder, title or ", ".join(lists), _build_searches_signature((), lists)
        )
    [entries] = lists.values()
    title = title or _name_list(papers, entries)
    return build_list_ledger_path(merge_duplicate_entries(entries).papers, title, ladder)


def to_entry(paper: str | int | Ids | ListEntry) -> ListEntry:
    """Return a paper's entry in a list: as given, or made from its identifier.

    A text that is not an identifier becomes an entry without identifiers, which fails on its own.
    """
    if isinstance(paper, ListEntry):
        return paper
    return ListEntry(str(paper), paper if isinstance(paper, Ids) else Ids.maybe(str(paper)))


def parse_outcomes(which: str) -> list[str]:
    """Parse a list of outcomes such as ``failed,paywall``.

    Raises
    ------
    BadRequest
        A word is not a possible outcome.
    """
    words = [word.strip() for word in which.split(",")]
    choices = OUTCOMES.union(UNPUBLISHED_VERSIONS)
    if unknown := set(words) - choices:
        msg = f"No paper ends as {', '.join(sorted(unknown))!r}."
        known = f"Choose among {', '.join(sorted(choices))}."
        raise BadRequest(msg, suggest_nearest_name(min(unknown), choices), known)
    return words


def open_query_job(query: Query, ladder: Ladder, *, most: int = 0) -> Ledger:
    """Return the job that fetches the hits of a query, at most *most* (0 for all).

    An unfinished job resumes unchanged, unless it was limited to fewer papers than are requested
    now; a finished job first adds new hits.

    Raises
    ------
    BadRequest
        The query has too many hits and no limit, or is invalid.
    NotConfigured, Unreachable
        The search failed; no job is created then.
    """
    dates = (query.min_date, query.max_date, query.date_type)
    path = _build_job_path(ladder, query.text, [query.text, *dates, *query.publication_types])
    ledger = Ledger.open_if_undamaged(path)
    if ledger and not ledger.read_job().ended_at and not _is_limit_raised(ledger.read_job(), most):
        return ledger
    found = find_every_pmid(query, ladder.web)
    if found.total > _MAX_UNLIMITED_HITS and not most:
        msg = f"PubMed finds {found.total:,} papers, more than {_MAX_UNLIMITED_HITS:,}."
        raise BadRequest(msg, "Narrow the query, for example by date, or set a limit (max_papers).")
    hits = ((f"PMID {pmid}", Ids(pmid=pmid)) for page in found.pages for pmid in page)
    if ledger:
        _add_new_hits(ledger, query, found, hits, most)
        return ledger
    entries = list(islice(hits, most or None))
    notes = _build_limit_notes(found, len(entries), most)
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
        searches=(_record_pubmed_search(query, found),),
    )
    return Ledger.create(path, job, entries)


def _record_pubmed_search(query: Query, found: AllHits) -> JobSearch:
    """Return the record of a PubMed search."""
    hits = found.total
    return JobSearch("pubmed", "PubMed", query.text, found.effective_query, hits, hits, utc_now())


def _add_new_hits(
    ledger: Ledger, query: Query, found: AllHits, hits: Iterable[tuple[str, Ids]], most: int
) -> None:
    """Add the new hits of a query to its job, up to the limit."""
    taken = _count_taken_hits(ledger.read_job())
    if most:
        known = {row.asked for row in ledger.read_outcomes()}
        hits = islice((hit for hit in hits if hit[0] not in known), max(0, most - taken))
    entries = list(hits)
    notes = _build_limit_notes(found, taken + len(entries), most)
    ledger.add_search_hits(
        entries, found.total, notes=notes, searches=(_record_pubmed_search(query, found),)
    )


def _build_limit_notes(found: AllHits, taken: int, most: int) -> list[str]:
    """Return notes about the hits for a reviewer; complete once all pages were read."""
    notes = list(found.warnings)
    if most and taken < found.total:
        notes.append(f"{_LIMIT_NOTE_PREFIX}{taken:,} of {found.total:,} hits were requested.")
    return notes


def _count_taken_hits(job: Job) -> int:
    """Return how many hits of a query are in its job."""
    return job.counts.requested + job.duplicates


def _is_limit_raised(job: Job, most: int) -> bool:
    """Return whether a job was limited to fewer papers than are requested now."""
    limited = any(note.startswith(_LIMIT_NOTE_PREFIX) for note in job.notes)
    return limited and (not most or most > _count_taken_hits(job))


def open_list_job(
    entries: Iterable[ListEntry], title: str, ladder: Ladder, *, most: int = 0
) -> Ledger:
    """Return the job that fetches the papers of a list, without duplicates.

    Raises
    ------
    BadRequest
        The list is empty.
    """
    entries = list(entries)
    once = merge_duplicate_entries(entries)
    papers = once.papers[:most] if most else once.papers
    if not papers:
        raise BadRequest("No paper was requested.", "Give a query, identifiers or a file of them.")
    path = build_list_ledger_path(papers, title, ladder)
    if ledger := Ledger.open_if_undamaged(path):
        return ledger
    notes = list(once.contradictions)
    if len(papers) < len(once.papers):
        notes.append(
            f"{_LIMIT_NOTE_PREFIX}{len(papers):,} of {len(once.papers):,} papers were requested."
        )
    job = Job(
        path.stem,
        title,
        hits=len(entries),
        duplicates=once.duplicates,
        begun_at=utc_now(),
        notes=tuple(notes),
        searches=(
            JobSearch("", title, hits=len(entries), taken=len(entries), searched_at=utc_now()),
        ),
    )
    return Ledger.create(path, job, papers)


def build_list_ledger_path(papers: Iterable[ListEntry], title: str, ladder: Ladder) -> Path:
    """Return the path of a list's ledger, which need not exist."""
    return _build_job_path(ladder, title, sorted(e.ids.key if e.ids else e.asked for e in papers))


def open_searches_job(
    wanted: Sequence[SiteQuery],
    lists: Mapping[str, Sequence[ListEntry]],
    ladder: Ladder,
    *,
    title: str = "",
    most: int = 0,
) -> Ledger:
    """Return the job that fetches the papers of several searches and lists, without duplicates.

    As with `open_query_job`, an unfinished job resumes, and a finished job searches again.

    Raises
    ------
    BadRequest, NotConfigured, Unreachable
        A search failed; no job is created then.
    """
    title = title or ", ".join(
        dict.fromkeys([*(site_query.asked for site_query in wanted), *lists])
    )
    path = _build_job_path(ladder, title, _build_searches_signature(wanted, lists))
    ledger = Ledger.open_if_undamaged(path)
    if ledger and not ledger.read_job().ended_at and not _is_limit_raised(ledger.read_job(), most):
        return ledger
    rows = list(ledger.read_outcomes()) if ledger else []
    found = collect_papers(wanted, lists, ladder, [row.paper for row in rows])
    words = {row.asked for row in rows}  # the only way to recognise references without identifiers
    unknown = [entry for entry in found.papers if entry.ids or entry.asked not in words]
    new = unknown[: max(0, most - len(rows))] if most else unknown
    taken = sum(search.taken for search in found.searches)
    notes = list(found.notes)
    if len(new) < len(unknown):
        count, total = len(rows) + len(new), len(rows) + len(unknown)
        notes.append(f"{_LIMIT_NOTE_PREFIX}{count:,} of {total:,} papers were requested.")
    if ledger:
        known = max(0, taken - len(rows) - len(unknown))
        ledger.add_search_hits(new, taken, notes=notes, searches=found.searches, duplicates=known)
        return ledger
    if not new:
        msg = "None of these searches found a paper."
        raise NothingFound(msg, "Check the spelling, or ask with fewer words.")
    return Ledger.create(path, _build_job(path.stem, title, found, taken, notes), new)


def _build_job(
    job_id: str, title: str, found: CollectedPapers, taken: int, notes: Iterable[str]
) -> Job:
    """Return a new job for several searches."""
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


def _build_searches_signature(
    wanted: Sequence[SiteQuery], lists: Mapping[str, Sequence[ListEntry]]
) -> list[str]:
    """Return queries and entries in sorted order, so that their order does not change the job."""
    queries = [
        " ".join((one.source.name, one.query.text, one.query.min_date, one.query.max_date))
        for one in wanted
    ]
    entries = {e.ids.key if e.ids else e.asked for entries in lists.values() for e in entries}
    return [*sorted(queries), *sorted(entries)]


def open_job(job_id: str, ladder: Ladder) -> Ledger:
    """Return the ledger of the job with this name.

    Raises
    ------
    NothingFound
        The job does not exist.
    """
    if not _ID.fullmatch(job_id):
        msg = f"{job_id!r} is not the name of a harvest."
        raise BadRequest(msg, f"To list all: {command_line('harvest status')}")
    return Ledger(_get_jobs_folder(ladder) / f"{job_id}.db")


def list_jobs(ladder: Ladder) -> list[Job]:
    """Return all jobs of the shelf, the newest first."""
    jobs = []
    with disk_errors(_get_jobs_folder(ladder), "read"):
        paths = [*_get_jobs_folder(ladder).glob("*.db")]
    for path in paths:
        try:
            with closing(Ledger(path)) as ledger:
                jobs.append(ledger.read_job())
        except StoreFailed as damaged:  # still list the other jobs
            log.warning("%s", damaged.text)
    return sorted(jobs, key=lambda job: job.begun_at, reverse=True)


def _build_job_path(ladder: Ladder, title: str, asked: Sequence[str]) -> Path:
    """Return the path of a job's ledger, named after its title and the request."""
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:_MAX_SLUG_CHARS].strip("-")
    mark = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:8]
    return _get_jobs_folder(ladder) / f"{words or 'harvest'}-{mark}.db"


def _get_jobs_folder(ladder: Ladder) -> Path:
    return get_ledgers_folder(ladder.shelf.folder)


@dataclass(slots=True)
class Ledgers:
    """The ledgers of a shelf, each opened once; `close` updates their reports."""

    ladder: Ladder
    _all: list[Ledger] | None = None
    _touched: dict[str, Ledger] = field(default_factory=dict)

    @property
    def all(self) -> list[Ledger]:
        """All ledgers, opened on first use."""
        if self._all is None:
            self._all = [open_job(job.job_id, self.ladder) for job in list_jobs(self.ladder)]
        return self._all

    def record_arrival(self, stored: StoredPaper) -> tuple[str, ...]:
        """Record a new text in the harvests that lacked the text; return the names of the jobs."""
        text = strip_header(self.ladder.shelf.read_text(stored))
        sha256 = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        changed = []
        for ledger in self.all:
            numbers = {
                *ledger.find_paper_numbers(stored.paper.ids),
                *_find_unidentified_rows(ledger, stored.paper),
            }
            if sum(ledger.record_manual_text(number, stored, sha256) for number in sorted(numbers)):
                changed.append(ledger.path.stem)
            if numbers:  # also if an earlier run recorded the text but was killed before the report
                self._touched[ledger.path.stem] = ledger
        return tuple(changed)

    def record_loss(self, stored: StoredPaper) -> tuple[str, ...]:
        """Reopen a paper whose text was rejected in its harvests; return the names of the jobs."""
        changed = []
        file = stored.path.replace("\\", "/").rpartition("/")[2]
        for ledger in self.all:
            numbers = ledger.find_paper_numbers(stored.paper.ids)
            if sum(ledger.reopen_paper_if_lost(number, file) for number in numbers):
                changed.append(ledger.path.stem)
            if numbers:
                self._touched[ledger.path.stem] = ledger
        return tuple(changed)

    def mark_changed(self, ledger: Ledger) -> None:
        """Request that `close` write the report of this harvest again."""
        self._touched[ledger.path.stem] = ledger

    def close(self) -> None:
        """Write the reports of the changed harvests, and close the ledgers."""
        for ledger in self._touched.values():
            Harvest(ledger, self.ladder).report()
        for ledger in self._all or ():
            ledger.close()


def _find_unidentified_rows(ledger: Ledger, paper: Paper) -> list[int]:
    """Return the numbers of papers without identifier whose description contains this title."""
    from ..judges.titles import count_distinctive_words, split_title_words

    title = " ".join(split_title_words(paper.title))
    if count_distinctive_words(paper.title) < _MIN_TITLE_WORDS:
        return []
    return [
        n
        for n, asked in ledger.list_unidentified_papers()
        if title in " ".join(split_title_words(asked))
    ]


def list_shelf_papers(shelf: Shelf) -> Iterator[tuple[Paper, str]]:
    """Yield every paper of a shelf with the file name of its full text, if any, page by page."""
    start = 0
    while True:
        total, page = shelf.list_papers(start=start, max_results=_PAGE)
        yield from (
            (stored.paper, Path(stored.path).name if stored.kind == "full_text" else "")
            for stored in page
            if not _is_secondary_version(stored, shelf)
        )
        start += len(page)
        if start >= total or not page:
            return


def _is_secondary_version(stored: StoredPaper, shelf: Shelf) -> bool:
    """Return whether the shelf shows another text of the paper instead of this text."""
    is_secondary = stored.version in UNPUBLISHED_VERSIONS or stored.kind == "rejected"
    best = shelf.find_text(stored.paper.ids) if is_secondary else None
    return best is not None and best.path != stored.path


def list_harvested_papers(rows: Iterator[Harvested]) -> Iterator[tuple[Paper, str]]:
    """Yield the papers of a harvest that have a file on the shelf.

    Full texts come with file paths relative to the report's folder, so that a shared list does not
    reveal a home folder. Abstracts come without a path: they are not attachments.
    """
    for row in rows:
        if row.file:
            yield row.paper, f"../../{row.file}" if row.state == "full_text" else ""


def write_references(papers: PapersWithFiles, folder: Path, keys: str = "") -> list[Path]:
    """Write both reference files; *papers* is called once for each file.

    *keys* is the pattern of BibTeX keys (`..citations.keys`).

    Raises
    ------
    StoreFailed
        A file cannot be written; each file is then completely the old or the new one.
    """
    make_folder(folder)
    targets: dict[Path, Callable[[Iterable[tuple[Paper, str]]], Iterator[str]]] = {
        folder / RIS: iterate_ris_records,
        folder / BIBTEX: partial(iterate_bibtex_entries, pattern=keys),
    }
    with ExitStack() as files:
        for path, lines in targets.items():
            files.enter_context(replace_text_file(path)).writelines(lines(papers()))
    return list(targets)
