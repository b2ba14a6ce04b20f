"""A query's records, brought up to date with PubMed.

A sync asks for the papers that came into PubMed since the watermark (by Entrez date, with an
overlap, for PubMed indexes some of them days later), then for those that were revised since the
last time (by modification date: retractions, and papers that were taken in with an old Entrez
date). Then the identifiers of everything the query finds, sliced by Entrez date, are held against
the members: what came in late, what was deleted and what no longer matches is told by that alone,
however old. Every record is fetched anew. All of it is staged (`.sync_jobs`), then merged page by
page, and a count proves it: so many members here, so many at PubMed. A call that is cut short is
resumed by the next one. Where that was on another day, or the counts differ, what PubMed has done
since is asked for at once. What E-utilities promise: facts sheet, 1.2 and 1.3.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import BadContent, BadRequest, SourceMiss
from ..model.paper import utc_now
from ..search.pubmed.search import sweep
from ..sources import Query
from ..sources.eutils import BATCH
from ..sources.pubmed import LAST_HIT, fetch, fetch_first_hits
from ..system.process import SteadyClock
from .stored_records import SyncResult
from .sync_jobs import BEGINNING, Stretch, SyncJob

if TYPE_CHECKING:
    from ..http import Web
    from .database import CorpusDatabase

_AT_ONCE = 3 * LAST_HIT  # hits that are swept in one step; more are asked for in halves
_OUTAGE = 3  # batches in a row that fail: PubMed is not there
_MANY = 10  # an answer that lacks so many papers is broken
_PATIENCE_S = 10.0
_LONGEST_KEY = 200
_LONGEST_TERM = 50_000
Progress = Callable[[int, int], None]


def sync(  # noqa: PLR0913 - what may be asked for, and who is told
    query_key: str,
    term: str,
    database: CorpusDatabase,
    web: Web,
    *,
    overlap_days: int = 5,
    full: bool = False,
    longest_s: float | None = None,
    progress: Progress | None = None,
    waiting: Callable[[str], None] | None = None,
) -> SyncResult:
    """Bring the records of a query up to date; see the module.

    Parameters
    ----------
    query_key : str
        The name of the query. It stands for one term; only *full* changes that.
    term : str
        The query in PubMed's own language.
    overlap_days : int
        So many days before the watermark are asked for once more.
    full : bool
        Fetch everything anew, from the beginning.
    longest_s : float, optional
        Stop after about so many seconds with ``unfinished``; what was fetched stays staged.
    progress : callable, optional
        Called after every batch with the number of papers looked at, and of all.
    waiting : callable, optional
        Told who else is at work on this question, where one has to be waited for.

    Raises
    ------
    BadRequest
        Key, term or overlap cannot be used.
    StoreBusy
        Another process syncs this question.
    NotConfigured
        No e-mail address is set.
    Unreachable
        PubMed did not answer a search. What is staged stays.
    StoreFailed
        The database could not be used.
    """
    query_key, term = _check_arguments(query_key, term, overlap_days)
    web.settings.require_email("NCBI")
    patience = min(_PATIENCE_S, longest_s or _PATIENCE_S)
    with database.alone(query_key, patience, waiting):
        job = SyncJob.of(database, query_key, term, overlap_days, full)
        call = _Sync(term, web, longest_s, progress or _ignore_progress)
        done = call.run(job)
        if done.unfinished or call.failed or not _may_be_behind(job, done, longest_s):
            return done
        return _together(
            done, call.run(SyncJob.of(database, query_key, term, overlap_days, full=False))
        )


def _may_be_behind(job: SyncJob, done: SyncResult, longest_s: float | None) -> bool:
    """Whether PubMed went on since the job was begun: on another day, in its counts, or unseen.

    Counts do not show that as many papers came as went, so that who ends the job of another call
    looks again; where time is limited not, since calls that never get to an end would never end.
    """
    counts_differ = done.members_at_pubmed not in (None, done.members)
    is_old = job.last_day.replace("/", "-") < utc_now()[:10]
    return is_old or counts_differ or (job.taken_up and longest_s is None)


def _together(first: SyncResult, second: SyncResult) -> SyncResult:
    """One result of two jobs in a row: what the second skipped was counted by the first."""
    inserted, updated = first.inserted + second.inserted, first.updated + second.updated
    return replace(
        second,
        job_id=first.job_id,
        inserted=inserted,
        updated=updated,
        skipped=first.skipped,
        pmids_processed=inserted + updated + first.skipped,
        max_edat_seen=max(filter(None, (first.max_edat_seen, second.max_edat_seen)), default=None),
        warnings=first.warnings if second.unfinished else second.warnings,
    )


def _check_arguments(query_key: str, term: str, overlap_days: int) -> tuple[str, str]:
    key, text = query_key.strip(), " ".join(term.split())
    for name, value, most in (("query_key", key, _LONGEST_KEY), ("term", text, _LONGEST_TERM)):
        if not value or len(value) > most or not value.isprintable():
            msg = f"{name} must be 1 to {most:,} printable characters."
            raise BadRequest(msg, "Correct it and call again.")
    if not 0 <= overlap_days <= 3650:
        raise BadRequest(f"overlap_days is {overlap_days}.", "Give 0 to 3650 days; 5 is usual.")
    return key, text


def _ignore_progress(done: int, total: int) -> None:
    """Do nothing: no progress was asked for."""


class _Sync:
    """One call: steps of its jobs until they are done, or the time is up."""

    job: SyncJob

    def __init__(self, term: str, web: Web, longest_s: float | None, progress: Progress) -> None:
        self.term = term
        self.web = web
        self.progress = progress
        self.clock = SteadyClock()
        self.end = self.clock.now() + longest_s if longest_s is not None else None
        self.failures = 0
        self.failed = False
        self.looked_at: tuple[int, int] | None = None

    def run(self, job: SyncJob) -> SyncResult:
        self.job, self.looked_at = job, None
        while self.failures < _OUTAGE:
            if not self._step():
                return self._counted(self.job.end())
            if self.end is not None and self.clock.now() >= self.end:
                break
        return self.job.unfinished()

    def _counted(self, merged: SyncResult) -> SyncResult:
        """The result with the members here, and as many as PubMed counts up to the same day."""
        members = self.job.count_members()
        query = Query(self.term, min_date=f"{BEGINNING:%Y/%m/%d}", max_date=self.job.last_day)
        try:
            there = fetch_first_hits(replace(query, date_type="edat"), self.web).total
        except SourceMiss as miss:
            told = f"PubMed did not say how many papers it finds: {miss.message}"
            return replace(merged, members=members, warnings=(*merged.warnings, told))
        told = f"{members:,} members are here, and PubMed counts {there:,}: call again."
        more = () if members == there else (told,)
        return replace(
            merged, members=members, members_at_pubmed=there, warnings=(*merged.warnings, *more)
        )

    def _step(self) -> bool:
        """Do the next thing; False when nothing is left to do."""
        if stretch := self.job.next_stretch():
            self._sweep(stretch)
            return True
        if wanted := self.job.next_pmids(BATCH):
            done, total = self.looked_at or self.job.progress()
            self._fetch(wanted)
            self.looked_at = (done + len(wanted), total)
            self.progress(*self.looked_at)
            return True
        return self.job.merge_some()

    # -- what there is -----------------------------------------------------------------------

    def _sweep(self, stretch: Stretch) -> None:
        if stretch.date_type == "members":
            self.job.want_lost_members(stretch)
            return
        days = (f"{day:%Y/%m/%d}" for day in (stretch.first, stretch.last))
        first, last = days
        date_type = "edat" if stretch.date_type == "set" else stretch.date_type
        query = Query(self.term, min_date=first, max_date=last, date_type=date_type)
        found = sweep(query, self.web)
        if found.total > _AT_ONCE and stretch.first < stretch.last:
            self.job.split(stretch)
            return
        pmids = [pmid for page in found.pages for pmid in page]
        record = self.job.reconcile if stretch.date_type == "set" else self.job.record_hits
        record(stretch, pmids, found.warnings)

    # -- what it says ------------------------------------------------------------------------

    def _fetch(self, wanted: Mapping[str, str]) -> None:
        """Stage the records of a batch; one that cannot be read is halved until it is alone."""
        try:
            papers = fetch(list(wanted), self.web, anew=True)
            missing = {pmid: why for pmid, why in wanted.items() if pmid not in papers}
            doubtful = self._doubtful(missing, nothing=not papers)
        except SourceMiss as miss:
            if isinstance(miss.__cause__, BadContent) and len(wanted) > 1:
                for half in _halves(wanted):
                    self._fetch(half)
                return
            self.failures += 1
            self.failed = True
            self.job.mark_failed(wanted, _failure_warning(wanted, miss.message))
            return
        self.failures = 0  # of batches in a row
        omitted = [pmid for pmid in missing if pmid not in doubtful]
        self.job.keep((papers[pmid] for pmid in wanted if pmid in papers), omitted)
        if doubtful:
            self.failed = True
            reason = "PubMed finds what it sends no record of."
            self.job.mark_failed(doubtful, _failure_warning(doubtful, reason))

    def _doubtful(self, missing: Mapping[str, str], *, nothing: bool) -> list[str]:
        """PMIDs without a record that PubMed may have all the same.

        A search still finds them, or the batch brought *nothing* although a search had found it.
        """
        found = [pmid for pmid, why in missing.items() if why != "vanished"]
        vanished = [pmid for pmid, why in missing.items() if why == "vanished"]
        doubtful = found if nothing and len(found) >= _MANY else []
        if vanished:
            query = Query(" OR ".join(f"{pmid}[uid]" for pmid in vanished))
            there = set(fetch_first_hits(query, self.web).pmids)
            doubtful = [*doubtful, *(pmid for pmid in vanished if pmid in there)]
        return doubtful


def _halves(wanted: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    rows = list(wanted.items())
    middle = len(rows) // 2
    return dict(rows[:middle]), dict(rows[middle:])


def _failure_warning(wanted: Collection[str], reason: str) -> str:
    name = f"PMID {next(iter(wanted))}"
    if len(wanted) > 1:
        name = f"{len(wanted)} records from {name} on"
    return f"{name} could not be fetched: {reason}"
