"""Sync a query's records with PubMed.

1. Search for papers that entered PubMed since the watermark (by Entrez date). The searches overlap
   by some days, because PubMed indexes some papers late.
2. Search for papers revised since the last sync (by modification date): retractions, and papers
   added with an old Entrez date.
3. Compare the PMIDs of everything the query finds, sliced by Entrez date, with the members. This
   reveals late, deleted and no longer matching papers of any age.
4. Fetch every record again, stage the records (`.sync_jobs`), then merge them page by page.
5. Compare the count of members with PubMed's count.

The next call resumes a call that was interrupted. If the interrupted call was on another day, or if
the counts differ, a second job asks at once for the changes since then.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import BadContent, BadRequest, SourceMiss
from ..model.paper import utc_now
from ..search.pubmed.search import search_every_pmid
from ..sources import Query
from ..sources.eutils import MAX_IDS_PER_REQUEST
from ..sources.pubmed import LAST_HIT, fetch_first_hits, fetch_papers
from ..system.process import SteadyClock
from .stored_records import SyncResult
from .sync_jobs import BEGINNING, DateRange, SyncJob

if TYPE_CHECKING:
    from ..http import Web
    from .database import CorpusDatabase

_MAX_SWEPT_HITS = 3 * LAST_HIT  # hits that are swept in one step; a stretch with more is halved
_OUTAGE_AFTER_BATCHES = 3  # failed batches in a row after which PubMed counts as unavailable
_SUSPICIOUS_MISSING = 10  # an empty answer for this many papers is an error, not a deletion
_LOCK_WAIT_S = 10.0
_MAX_KEY_CHARS = 200
_MAX_TERM_CHARS = 50_000
Progress = Callable[[int, int], None]


def sync_query(  # noqa: PLR0913 - options and callbacks of a sync
    query_key: str,
    term: str,
    database: CorpusDatabase,
    web: Web,
    *,
    overlap_days: int = 5,
    full: bool = False,
    wait_s: float | None = None,
    progress: Progress | None = None,
    waiting: Callable[[str], None] | None = None,
) -> SyncResult:
    """Sync the records of a query with PubMed; see the module docstring.

    Parameters
    ----------
    query_key : str
        The name of the query. A name has one term, which only *full* can change.
    term : str
        The query in PubMed's own language.
    overlap_days : int
        The number of days before the watermark to search again.
    full : bool
        Fetch all records again, from the beginning.
    wait_s : float, optional
        Stop after about this time with ``unfinished``; fetched records stay staged.
    progress : callable, optional
        Called after every batch with the count of processed papers, and of all papers.
    waiting : callable, optional
        Called with a description of the process that holds the lock, while waiting for it.

    Raises
    ------
    BadRequest
        Key, term or overlap cannot be used.
    StoreBusy
        Another process syncs this query.
    NotConfigured
        No e-mail address is set.
    Unreachable
        PubMed did not answer a search. Staged records stay.
    StoreFailed
        The database could not be used.
    """
    query_key, term = _validate_sync_arguments(query_key, term, overlap_days)
    web.settings.require_email("NCBI")
    patience = min(_LOCK_WAIT_S, wait_s or _LOCK_WAIT_S)
    with database.exclusive_lock(query_key, patience, waiting):
        job = SyncJob.open_or_create(database, query_key, term, overlap_days, full)
        call = _SyncCall(term, web, wait_s, progress or _ignore_progress)
        done = call.run_job(job)
        if done.unfinished or call.failed or not _has_pubmed_changed(job, done, wait_s):
            return done
        return _combine_sync_results(
            done,
            call.run_job(
                SyncJob.open_or_create(database, query_key, term, overlap_days, full=False)
            ),
        )


def _has_pubmed_changed(job: SyncJob, done: SyncResult, longest_s: float | None) -> bool:
    """Return whether PubMed changed since the job began: another day, or other counts.

    Equal counts do not show that as many papers were added as removed. So a call that ends the job
    of an earlier call syncs again, unless its time is limited: limited calls might never finish.
    """
    counts_differ = done.members_at_pubmed not in (None, done.members)
    is_old = job.last_day.replace("/", "-") < utc_now()[:10]
    return is_old or counts_differ or (job.taken_up and longest_s is None)


def _combine_sync_results(first: SyncResult, second: SyncResult) -> SyncResult:
    """Return one result for two consecutive jobs; skipped records are counted by the first job."""
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


def _validate_sync_arguments(query_key: str, term: str, overlap_days: int) -> tuple[str, str]:
    """Return key and term without extra blanks; raise `BadRequest` if an argument is invalid."""
    key, text = query_key.strip(), " ".join(term.split())
    for name, value, most in (("query_key", key, _MAX_KEY_CHARS), ("term", text, _MAX_TERM_CHARS)):
        if not value or len(value) > most or not value.isprintable():
            msg = f"{name} must be 1 to {most:,} printable characters."
            raise BadRequest(msg, "Correct it and call again.")
    if not 0 <= overlap_days <= 3650:
        raise BadRequest(f"overlap_days is {overlap_days}.", "Give 0 to 3650 days; 5 is usual.")
    return key, text


def _ignore_progress(done: int, total: int) -> None:
    """Do nothing; the default progress callback."""


class _SyncCall:
    """One call of `sync_query`: runs steps of its jobs until they end or the time is up."""

    job: SyncJob

    def __init__(self, term: str, web: Web, longest_s: float | None, progress: Progress) -> None:
        self.term = term
        self.web = web
        self.progress = progress
        self.clock = SteadyClock()
        self.end = self.clock.read_seconds() + longest_s if longest_s is not None else None
        self.failures = 0
        self.failed = False
        self.looked_at: tuple[int, int] | None = None

    def run_job(self, job: SyncJob) -> SyncResult:
        """Run the steps of a job until it ends, the time is up, or PubMed is unavailable."""
        self.job, self.looked_at = job, None
        while self.failures < _OUTAGE_AFTER_BATCHES:
            if not self._run_next_step():
                return self._add_member_counts(self.job.complete_job())
            if self.end is not None and self.clock.read_seconds() >= self.end:
                break
        return self.job.to_unfinished_result()

    def _add_member_counts(self, merged: SyncResult) -> SyncResult:
        """Return the result with the counts of members here and in PubMed, for the same days."""
        members = self.job.count_members()
        query = Query(self.term, min_date=f"{BEGINNING:%Y/%m/%d}", max_date=self.job.last_day)
        try:
            there = fetch_first_hits(replace(query, date_type="edat"), self.web).total
        except SourceMiss as miss:
            warning = f"PubMed did not return its count of papers: {miss.message}"
            return replace(merged, members=members, warnings=(*merged.warnings, warning))
        warning = f"{members:,} members are here, and PubMed counts {there:,}: call again."
        more = () if members == there else (warning,)
        return replace(
            merged, members=members, members_at_pubmed=there, warnings=(*merged.warnings, *more)
        )

    def _run_next_step(self) -> bool:
        """Run the next step of the job; return False if no step is left."""
        if stretch := self.job.get_next_date_range():
            self._search_date_range(stretch)
            return True
        if wanted := self.job.get_next_pmids(MAX_IDS_PER_REQUEST):
            done, total = self.looked_at or self.job.count_progress()
            self._stage_batch(wanted)
            self.looked_at = (done + len(wanted), total)
            self.progress(*self.looked_at)
            return True
        return self.job.merge_next_page()

    # -- PMIDs -------------------------------------------------------------------------------

    def _search_date_range(self, stretch: DateRange) -> None:
        """Stage the PMIDs of a range of days, or halve the range if it has too many hits."""
        if stretch.date_type == "members":
            self.job.stage_lost_members(stretch)
            return
        days = (f"{day:%Y/%m/%d}" for day in (stretch.first, stretch.last))
        first, last = days
        date_type = "edat" if stretch.date_type == "set" else stretch.date_type
        query = Query(self.term, min_date=first, max_date=last, date_type=date_type)
        found = search_every_pmid(query, self.web)
        if found.total > _MAX_SWEPT_HITS and stretch.first < stretch.last:
            self.job.split_date_range(stretch)
            return
        pmids = [pmid for page in found.pages for pmid in page]
        record = self.job.reconcile_members if stretch.date_type == "set" else self.job.stage_hits
        record(stretch, pmids, found.warnings)

    # -- records -----------------------------------------------------------------------------

    def _stage_batch(self, wanted: Mapping[str, str]) -> None:
        """Fetch and stage the records of a batch; halve it until a bad record is isolated."""
        try:
            papers = fetch_papers(list(wanted), self.web, anew=True)
            missing = {pmid: why for pmid, why in wanted.items() if pmid not in papers}
            doubtful = self._find_possibly_existing_pmids(missing, nothing=not papers)
        except SourceMiss as miss:
            if isinstance(miss.__cause__, BadContent) and len(wanted) > 1:
                for half in _split_batch_in_half(wanted):
                    self._stage_batch(half)
                return
            self.failures += 1
            self.failed = True
            self.job.mark_failed(wanted, _describe_failed_batch(wanted, miss.message))
            return
        self.failures = 0  # of batches in a row
        omitted = [pmid for pmid in missing if pmid not in doubtful]
        self.job.stage_records((papers[pmid] for pmid in wanted if pmid in papers), omitted)
        if doubtful:
            self.failed = True
            reason = "PubMed finds what it sends no record of."
            self.job.mark_failed(doubtful, _describe_failed_batch(doubtful, reason))

    def _find_possibly_existing_pmids(
        self, missing: Mapping[str, str], *, nothing: bool
    ) -> list[str]:
        """Return PMIDs that PubMed may have although it sent no record.

        Either a search still finds the PMIDs, or the whole batch came back empty (*nothing*)
        although a search had found its papers.
        """
        found = [pmid for pmid, why in missing.items() if why != "vanished"]
        vanished = [pmid for pmid, why in missing.items() if why == "vanished"]
        doubtful = found if nothing and len(found) >= _SUSPICIOUS_MISSING else []
        if vanished:
            query = Query(" OR ".join(f"{pmid}[uid]" for pmid in vanished))
            there = set(fetch_first_hits(query, self.web).pmids)
            doubtful = [*doubtful, *(pmid for pmid in vanished if pmid in there)]
        return doubtful


def _split_batch_in_half(wanted: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    rows = list(wanted.items())
    middle = len(rows) // 2
    return dict(rows[:middle]), dict(rows[middle:])


def _describe_failed_batch(wanted: Collection[str], reason: str) -> str:
    name = f"PMID {next(iter(wanted))}"
    if len(wanted) > 1:
        name = f"{len(wanted)} records from {name} on"
    return f"{name} could not be fetched: {reason}"
