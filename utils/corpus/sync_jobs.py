"""Store the jobs of syncs: PMIDs to fetch, staged records, and their merge into the corpus.

A sync first stages everything it learns, in atomic steps. Then pages of staged rows are merged into
the corpus, one transaction each: records are written (`.database.upsert_records`), memberships
begin and end, deletions are followed, and the rows leave the staging table. So no record is counted
twice, and neither memory nor a transaction grows with the corpus. The last transaction moves the
watermark: never beyond the latest stored Entrez date, and never over days with a record that
failed.

If a process is killed, the next call resumes its job, including the merge. One process at a time
works on a job (`Connections.exclusive_lock`), and every merge checks this again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

from sqlalchemy import (
    Connection,
    Select,
    Update,
    delete,
    exists,
    func,
    insert,
    select,
    update,
)
from sqlalchemy import literal as constant

from ..errors import BadRequest, InvariantFailed
from ..model.paper import Paper, utc_now
from .bulk_writes import insert_rows, to_stored_text, update_rows
from .database import CorpusDatabase, merge_staged_records, move_watermark, read_checkpoint
from .schema import checkpoints as _checkpoints
from .schema import jobs as _jobs
from .schema import members as _members
from .schema import records as _records
from .schema import staged as _staged
from .schema import stretches as _stretches
from .stored_records import STAGED, SyncResult, find_latest_edat, split_into_batches, to_record_row

BEGINNING = date(1700, 1, 1)  # old papers have old Entrez dates, however late PubMed took them in
DateType = Literal["edat", "mdat", "set", "members"]
_STRETCH_ORDER: tuple[DateType, ...] = ("edat", "mdat", "set", "members")
_REASONS = {"edat": "found", "mdat": "changed", "set": "appeared", "members": "vanished"}
_PAGE = 1000
_MAX_WARNINGS = 30


@dataclass(frozen=True, slots=True)
class DateRange:
    """The days to search, both included: by Entrez date (``edat``) or by revision (``mdat``).

    ``set`` compares the PMIDs that the query finds on these days with the members of these days;
    ``members`` looks up the members that a complete search did not find.
    """

    date_type: DateType
    first: date
    last: date

    @property
    def name(self) -> str:
        """The name of these days in staged rows."""
        return f"{self.date_type}:{self.first}"


class SyncJob:
    """The job of a sync: opened by `open_or_create`, run in steps, merged, and closed by `end`."""

    def __init__(
        self,
        database: CorpusDatabase,
        job: SyncJobRow,
        warnings: Sequence[str],
        *,
        taken_up: bool = False,
    ) -> None:
        self._database = database
        self._job = job
        self.taken_up = (
            taken_up  # begun by an earlier call, which may have seen an older state of PubMed
        )
        self._warnings = dict.fromkeys(warnings)

    @property
    def job_id(self) -> str:
        """The name: ``sync_`` and the second in which the job began."""
        return self._job.job_id

    @property
    def last_day(self) -> str:
        """The last day to search, in PubMed's format."""
        return self._job.last.replace("-", "/")

    def count_members(self) -> int:
        """Return the number of papers in the corpus that are members of the query."""
        mine = _members.c.query_key == self._job.query_key
        with self._database.open_reading() as connection:
            counted = select(func.count()).select_from(_members).where(mine)
            return int(connection.execute(counted).scalar_one())

    @classmethod
    def open_or_create(
        cls, database: CorpusDatabase, query_key: str, term: str, overlap_days: int, full: bool
    ) -> SyncJob:
        """Return the open job of the query, or a new job from the watermark to today.

        An open job with another term, or from another watermark, is abandoned.
        """
        with database.open_writing() as connection:
            planned = _plan_job(connection, query_key, term, overlap_days, full)
            row = (
                connection.execute(
                    select(_jobs).where(_jobs.c.query_key == query_key, _jobs.c.state == "open")
                )
                .mappings()
                .first()
            )
            if row:
                open_job = SyncJobRow(**{name: row[name] for name in SyncJobRow.__slots__})
                same = (open_job.term, open_job.begun_from) == (planned.term, planned.begun_from)
                if same and open_job.everything >= planned.everything:
                    again = update(_staged).where(_staged.c.job_id == open_job.job_id)
                    connection.execute(again.where(_staged.c.state == "failed").values(state=""))
                    told = json.loads(row["warnings"])
                    return cls(database, open_job, told, taken_up=True)
                _close_job(connection, open_job.job_id, "given up")
            _insert_job(connection, planned, _find_first_revision_day(connection, planned))
        return cls(database, planned, ())

    # -- steps -------------------------------------------------------------------------------

    def get_next_date_range(self) -> DateRange | None:
        """Return the next days to search; None if all days were searched."""
        query = select(_stretches).where(
            _stretches.c.job_id == self.job_id, _stretches.c.swept.is_(False)
        )
        with self._database.open_reading() as connection:
            rows = [
                DateRange(
                    row["date_type"], _parse_iso_date(row["first"]), _parse_iso_date(row["last"])
                )
                for row in connection.execute(query).mappings()
            ]
        return min(rows, key=lambda s: (_STRETCH_ORDER.index(s.date_type), s.first), default=None)

    def split_date_range(self, stretch: DateRange) -> None:
        """Replace a range of days by its two halves."""
        middle = stretch.first + (stretch.last - stretch.first) // 2
        later = replace(stretch, first=middle + timedelta(days=1))
        with self._database.open_writing() as connection:
            connection.execute(
                _build_date_range_update(self.job_id, stretch).values(last=str(middle))
            )
            connection.execute(insert(_stretches), _to_date_range_row(self.job_id, later))

    def stage_hits(self, stretch: DateRange, pmids: Iterable[str], warnings: Iterable[str]) -> None:
        """Stage the PMIDs that a search found in a range of days, to be fetched."""
        numbers = sorted(set(map(int, pmids)))
        with self._database.open_writing() as connection:
            self._stage_pmids(connection, stretch, numbers)
            connection.execute(_build_date_range_update(self.job_id, stretch).values(swept=True))
            self._add_warnings(connection, warnings)

    def reconcile_members(
        self, stretch: DateRange, pmids: Iterable[str], warnings: Iterable[str]
    ) -> None:
        """Compare the members whose Entrez date is in these days with the PMIDs found.

        Papers to fetch are those found that were not members (added late, or with a changed date),
        and the members that are not found.
        """
        found = set(map(int, pmids))
        until = _records.c.edat <= str(stretch.last)
        since = _records.c.edat >= str(stretch.first)
        with self._database.open_writing() as connection:
            query = self._build_member_query(until if stretch.first == BEGINNING else until & since)
            known = set(connection.execute(query).scalars().all())
            fresh = sorted(found - known)
            self._stage_pmids(connection, stretch, fresh)
            self._clear_vanished_marks(connection, stretch, fresh)
            lost = replace(stretch, date_type="members")
            self._stage_pmids(connection, lost, sorted(known - found))
            connection.execute(_build_date_range_update(self.job_id, stretch).values(swept=True))
            self._add_warnings(connection, warnings)

    def stage_lost_members(self, stretch: DateRange) -> None:
        """Stage the query's members that a complete search did not find.

        An open job of an older version, which covers some days only, searches the whole set
        instead.
        """
        found = exists().where(_staged.c.job_id == self.job_id, _staged.c.pmid == _members.c.pmid)
        with self._database.open_writing() as connection:
            if not self._job.everything:
                whole = {"date_type": "set", "first": str(BEGINNING)}
                connection.execute(_build_date_range_update(self.job_id, stretch).values(**whole))
                return
            lost = connection.execute(self._build_member_query(~found)).scalars().all()
            self._stage_pmids(connection, stretch, lost)
            connection.execute(_build_date_range_update(self.job_id, stretch).values(swept=True))

    def _build_member_query(self, condition: Any) -> Select[Any]:
        return (
            select(_members.c.pmid)
            .join(_records, _records.c.pmid == _members.c.pmid)
            .where(_members.c.query_key == self._job.query_key, condition)
        )

    def _clear_vanished_marks(
        self, connection: Connection, stretch: DateRange, numbers: Sequence[int]
    ) -> None:
        """Clear the mark *vanished* of members that were found under another date."""
        values = {"why": _REASONS[stretch.date_type], "stretch": stretch.name}
        vanished = (_staged.c.job_id == self.job_id) & (_staged.c.why == "vanished")
        for some in split_into_batches(numbers):
            these = update(_staged).where(vanished, _staged.c.pmid.in_(some))
            connection.execute(these.values(**values))

    def get_next_pmids(self, limit: int) -> dict[str, str]:
        """Return PMIDs whose records must be fetched, each with its reason (see `_REASONS`)."""
        query = select(_staged.c.pmid, _staged.c.why).where(
            _staged.c.job_id == self.job_id, _staged.c.state == ""
        )
        with self._database.open_reading() as connection:
            rows = connection.execute(query.order_by(_staged.c.pmid).limit(limit)).all()
        return {str(row.pmid): row.why for row in rows}

    def count_progress(self) -> tuple[int, int]:
        """Return the number of processed papers and of all papers."""
        query = select(func.count(), func.count().filter(_staged.c.state != ""))
        with self._database.open_reading() as connection:
            total, done = connection.execute(query.where(_staged.c.job_id == self.job_id)).one()
        return done, total

    def stage_records(self, papers: Iterable[Paper], omitted: Iterable[str] = ()) -> None:
        """Stage fetched records; PubMed has no record of the *omitted*."""
        rows = [to_record_row(paper) for paper in papers]
        with self._database.open_writing() as connection:
            values = [
                (
                    *(row[name] for name in STAGED[1:]),
                    to_stored_text(connection, row["paper"]),
                    *("fetched", self.job_id, row["pmid"]),
                )
                for row in rows
            ]
            columns = (*STAGED[1:], "paper", "state")
            update_rows(connection, _staged.name, columns, ("job_id", "pmid"), values)
            self._set_pmid_state(connection, omitted, "omitted")

    def mark_failed(self, pmids: Iterable[str], warning: str) -> None:
        """Mark papers whose records could not be fetched; the watermark stays before them."""
        with self._database.open_writing() as connection:
            self._set_pmid_state(connection, pmids, "failed")
            self._add_warnings(connection, [warning])

    def to_unfinished_result(self) -> SyncResult:
        """Return the result of a call that ends before its job."""
        with self._database.open_reading() as connection:
            return replace(_read_merged_counts(connection, self.job_id), unfinished=True)

    def _stage_pmids(
        self, connection: Connection, stretch: DateRange, numbers: Sequence[int]
    ) -> None:
        """Stage PMIDs to be fetched; PMIDs that are staged already stay unchanged."""
        about = _REASONS[stretch.date_type], stretch.name, ""
        columns = ("job_id", "pmid", "why", "stretch", "state")
        for some in split_into_batches(numbers):
            query = select(_staged.c.pmid).where(_staged.c.job_id == self.job_id)
            staged = set(connection.execute(query.where(_staged.c.pmid.in_(some))).scalars())
            rows = [(self.job_id, number, *about) for number in some if number not in staged]
            insert_rows(connection, _staged.name, columns, rows)

    def _set_pmid_state(self, connection: Connection, pmids: Iterable[str], state: str) -> None:
        change = update(_staged).where(_staged.c.job_id == self.job_id).values(state=state)
        for some in split_into_batches(list(map(int, pmids))):
            connection.execute(change.where(_staged.c.pmid.in_(some)))

    def _add_warnings(self, connection: Connection, warnings: Iterable[str]) -> None:
        known = len(self._warnings)
        self._warnings.update(dict.fromkeys(warnings))
        if len(self._warnings) == known:
            return
        warnings_json = json.dumps(list(self._warnings))
        this = update(_jobs).where(_jobs.c.job_id == self.job_id)
        connection.execute(this.values(warnings=warnings_json))

    # -- the merge ---------------------------------------------------------------------------

    def merge_next_page(self) -> bool:
        """Merge the next page of staged rows into the corpus; return False if none is left.

        Raises
        ------
        InvariantFailed
            Another process ended this job.
        """
        with self._open_merge_step() as merge:
            more = merge.merge_fetched_records() or merge.mark_deleted_members()
            self._add_warnings(merge.connection, merge.warnings)
        return more

    def complete_job(self) -> SyncResult:
        """Move the watermark to the last stored day, and close the job.

        Raises
        ------
        InvariantFailed
            Another process ended this job.
        """
        with self._open_merge_step() as merge:
            merge.warn_of_missing_records()
            merge.advance_watermark()
            self._add_warnings(merge.connection, merge.warnings)
            _close_job(merge.connection, self.job_id, "merged")
            return _read_merged_counts(merge.connection, self.job_id)

    @contextmanager
    def _open_merge_step(self) -> Iterator[MergeStep]:
        with self._database.open_writing() as connection:
            state = select(_jobs.c.state).where(_jobs.c.job_id == self.job_id)
            if connection.execute(state).scalar() != "open":
                msg = f"The sync {self.job_id} was ended by another process."
                raise InvariantFailed(msg, "Call again.")
            yield MergeStep(connection, self._job)


def _plan_job(
    connection: Connection, query_key: str, term: str, overlap_days: int, full: bool
) -> SyncJobRow:
    """Return the new job of a query, from its watermark to today."""
    at = datetime.fromtimestamp(int(time.time()), UTC)
    checkpoint = read_checkpoint(connection, query_key)
    if checkpoint and checkpoint.term not in {"", term} and not full:
        msg = f"{query_key} is the name of another search: {checkpoint.term}"
        hint = "Choose another query_key, or sync everything again (full) to change its search."
        raise BadRequest(msg, hint)
    watermark = checkpoint.last_edat if checkpoint else None
    first = BEGINNING
    everything = full or not watermark
    if watermark and not full:
        first = min(_parse_iso_date(watermark) - timedelta(days=overlap_days), at.date())
    return SyncJobRow(
        job_id=_find_unused_job_id(connection, at),
        query_key=query_key,
        term=term,
        overlap_days=overlap_days,
        everything=everything,
        begun_from=watermark,
        first=str(first),
        last=str(at.date()),
    )


def _find_unused_job_id(connection: Connection, at: datetime) -> str:
    """Return an unused job id: a second job in one second gets the next second."""
    while True:
        name = f"sync_{at:%Y-%m-%dT%H:%M:%SZ}"
        if not connection.execute(select(_jobs.c.job_id).where(_jobs.c.job_id == name)).first():
            return name
        at += timedelta(seconds=1)


def _insert_job(connection: Connection, job: SyncJobRow, revised_since: date | None) -> None:
    row = {name: getattr(job, name) for name in SyncJobRow.__slots__}
    connection.execute(insert(_jobs).values(**row, state="open", begun_at=utc_now()))
    first, last = _parse_iso_date(job.first), _parse_iso_date(job.last)
    stretches = [DateRange("edat", first, last)]
    if job.everything:
        stretches.append(DateRange("members", first, last))
    else:
        stretches.append(DateRange("set", BEGINNING, last))
        if revised_since:
            stretches.append(DateRange("mdat", min(revised_since, last), last))
    rows = [_to_date_range_row(job.job_id, stretch) for stretch in stretches]
    connection.execute(insert(_stretches), rows)


def _find_first_revision_day(connection: Connection, job: SyncJobRow) -> date | None:
    checkpoint = read_checkpoint(connection, job.query_key)
    if not checkpoint or not checkpoint.last_mdat:
        return None
    return _parse_iso_date(checkpoint.last_mdat) - timedelta(days=job.overlap_days)


def _close_job(connection: Connection, job_id: str, state: str) -> None:
    """End a job, and delete its staged rows."""
    for table in (_staged, _stretches):
        connection.execute(delete(table).where(table.c.job_id == job_id))
    this = update(_jobs).where(_jobs.c.job_id == job_id)
    connection.execute(this.values(state=state, ended_at=utc_now()))


def _read_merged_counts(connection: Connection, job_id: str) -> SyncResult:
    """Return the counts that a job has merged so far."""
    row = connection.execute(select(_jobs).where(_jobs.c.job_id == job_id)).mappings().one()
    counts = {name: row[name] for name in ("inserted", "updated", "skipped")}
    return SyncResult(
        job_id,
        **counts,
        pmids_processed=sum(counts.values()),
        max_edat_seen=row["max_edat"],
        warnings=limit_warnings(json.loads(row["warnings"])),
    )


def _build_date_range_update(job_id: str, stretch: DateRange) -> Update:
    return update(_stretches).where(
        _stretches.c.job_id == job_id,
        _stretches.c.date_type == stretch.date_type,
        _stretches.c.first == str(stretch.first),
    )


def _to_date_range_row(job_id: str, stretch: DateRange) -> dict[str, Any]:
    days = {"first": str(stretch.first), "last": str(stretch.last)}
    return {"job_id": job_id, "date_type": stretch.date_type, **days, "swept": False}


def _parse_iso_date(day: str) -> date:
    return date.fromisoformat(day)


@dataclass(frozen=True, slots=True)
class SyncJobRow:
    """The query of a sync, and the days that it covers (both included)."""

    job_id: str
    query_key: str
    term: str
    overlap_days: int
    everything: bool
    begun_from: str | None
    first: str
    last: str


class MergeStep:
    """A step that merges staged rows into the corpus, inside one transaction."""

    def __init__(self, connection: Connection, job: SyncJobRow) -> None:
        self.connection = connection
        self.job = job
        self.warnings: list[str] = []
        self.mine = _staged.c.job_id == job.job_id

    def merge_fetched_records(self) -> bool:
        """Merge a page of fetched records; return False if none is left.

        Papers that the query finds become its members; papers that it no longer finds (vanished)
        cease to be members.
        """
        fetched = self.mine & (_staged.c.state == "fetched")
        page = select(_staged.c.pmid, _staged.c.why, _staged.c.edat).where(fetched)
        rows = self.connection.execute(page.order_by(_staged.c.pmid).limit(_PAGE)).all()
        if not rows:
            return False
        these = fetched & (_staged.c.pmid <= rows[-1].pmid)
        result = merge_staged_records(self.connection, these)
        self.warnings += result.warnings
        self._add_memberships(these)
        self._delete_memberships([row.pmid for row in rows if row.why == "vanished"])
        self.connection.execute(delete(_staged).where(these))
        latest = find_latest_edat([{"edat": r.edat} for r in rows if self._was_found_in_window(r)])
        self._add_to_job_counts(result.inserted, result.updated, result.skipped, latest)
        return True

    def mark_deleted_members(self) -> bool:
        """Mark a page of members that PubMed has deleted; return False if none is left."""
        deleted = self.mine & (_staged.c.why == "vanished") & (_staged.c.state == "omitted")
        these = self._read_staged_pmids(deleted, limit=_PAGE)
        for some in split_into_batches(these):
            gone = update(_records).where(_records.c.pmid.in_(some), _records.c.gone.is_(False))
            change = gone.values(gone=True, synced_at=utc_now())
            self._add_to_job_counts(updated=self.connection.execute(change).rowcount)
            self.connection.execute(delete(_members).where(_members.c.pmid.in_(some)))
            self.connection.execute(delete(_staged).where(deleted, _staged.c.pmid.in_(some)))
        return bool(these)

    def _was_found_in_window(self, row: Any) -> bool:
        """Return whether a row was found within the days of the job."""
        return bool(row.why == "found" and row.edat <= self.job.last)

    def _add_to_job_counts(
        self, inserted: int = 0, updated: int = 0, skipped: int = 0, latest: str | None = None
    ) -> None:
        """Add to the counts of the job."""
        more = {"inserted": inserted, "updated": updated, "skipped": skipped}
        this = update(_jobs).where(_jobs.c.job_id == self.job.job_id)
        values: dict[str, Any] = {name: _jobs.c[name] + number for name, number in more.items()}
        self.connection.execute(this.values(values))
        if latest:
            older = (_jobs.c.max_edat.is_(None)) | (_jobs.c.max_edat < latest)
            self.connection.execute(this.where(older).values(max_edat=latest))

    def _read_staged_pmids(self, *where: Any, limit: int | None = None) -> list[int]:
        query = select(_staged.c.pmid).where(self.mine, *where).order_by(_staged.c.pmid)
        return list(self.connection.execute(query.limit(limit)).scalars())

    def _delete_memberships(self, pmids: Sequence[int]) -> None:
        """Remove members that the query no longer finds although PubMed has them."""
        members = delete(_members).where(_members.c.query_key == self.job.query_key)
        for some in split_into_batches(pmids):
            self.connection.execute(members.where(_members.c.pmid.in_(some)))

    def _add_memberships(self, these: Any) -> None:
        """Add staged papers as members of the query, except vanished papers."""
        key = self.job.query_key
        is_member = exists().where(_members.c.query_key == key, _members.c.pmid == _staged.c.pmid)
        new = select(constant(key), _staged.c.pmid).where(
            these, _staged.c.why != "vanished", ~is_member
        )
        self.connection.execute(insert(_members).from_select(["query_key", "pmid"], new))

    def warn_of_missing_records(self) -> None:
        """Add a warning about papers that PubMed finds but sends no record of."""
        missing = self._read_staged_pmids(_staged.c.why != "vanished", _staged.c.state == "omitted")
        if missing:
            named = ", ".join(map(str, missing[:10])) + (", …" if missing[10:] else "")
            self._add_warning(
                f"PubMed finds {len(missing):,} papers and sends no record: PMID {named}."
            )

    def _find_latest_member_edat(self, before: str) -> str | None:
        """Return the latest Entrez date of a member, within the job's days and *before* a day."""
        mine = _members.c.query_key == self.job.query_key
        query = select(func.max(_records.c.edat)).where(
            exists().where(mine, _members.c.pmid == _records.c.pmid),
            func.length(_records.c.edat) == len("2026-11-21"),
            _records.c.edat <= self.job.last,
        )
        return self.connection.execute(
            query.where(_records.c.edat < before) if before else query
        ).scalar()

    def advance_watermark(self) -> None:
        """Move the watermark over stored records, but never past a failed record."""
        key = self.job.query_key
        failed = select(_staged.c.why, func.min(_staged.c.stretch)).where(
            self.mine, _staged.c.state == "failed"
        )
        rows = self.connection.execute(failed.group_by(_staged.c.why)).all()
        failed_from = {row[0]: row[1] for row in rows}
        watermark = self._find_latest_member_edat(
            before=failed_from.get("found", "").partition(":")[2]
        )
        checkpoint = read_checkpoint(self.connection, key)
        if (checkpoint.last_edat if checkpoint else None) != self.job.begun_from:
            self._add_warning("The watermark was moved by hand meanwhile, and stays there.")
        elif checkpoint and checkpoint.term and checkpoint.term != self.job.term:
            self._reset_watermark(watermark)
        elif watermark and watermark > (self.job.begun_from or ""):
            move_watermark(self.connection, key, watermark, manual=False, by=self.job.job_id)
        stale = self.job.everything and self.job.begun_from and "found" in failed_from
        values = {"term": self.job.term, "updated_at": utc_now()}
        if "changed" not in failed_from and not stale:
            values["last_mdat"] = self.job.last
        this = update(_checkpoints).where(_checkpoints.c.query_key == key).values(values)
        if not self.connection.execute(this).rowcount:
            self.connection.execute(insert(_checkpoints).values(query_key=key, **values))

    def _reset_watermark(self, watermark: str | None) -> None:
        """Reset the watermark, because the old watermark belongs to another term."""
        key = self.job.query_key
        if watermark:
            by = f"{self.job.job_id}: another term"
            move_watermark(self.connection, key, watermark, manual=True, by=by)
        else:
            this = update(_checkpoints).where(_checkpoints.c.query_key == key)
            self.connection.execute(this.values(last_edat=None))

    def _add_warning(self, text: str) -> None:
        self.warnings.append(text)


def limit_warnings(warnings: Iterable[str]) -> tuple[str, ...]:
    """Return the first warnings, and a line with the number of the others."""
    every = tuple(warnings)
    if len(every) <= _MAX_WARNINGS:
        return every
    return (*every[:_MAX_WARNINGS], f"{len(every) - _MAX_WARNINGS:,} more warnings.")
