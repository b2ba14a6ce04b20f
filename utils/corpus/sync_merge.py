"""The merge of a sync: what was staged becomes part of the corpus, in one transaction.

Records are put (`.database.put_records`), memberships begin and end, deletions are followed,
and the watermark moves over what is stored: never beyond the latest Entrez date, and never over
days of which some record could not be fetched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, exists, func, insert, select, update
from sqlalchemy import literal as constant

from ..model.paper import now
from .database import checkpoint_of, move_watermark, put_records
from .schema import checkpoints as _checkpoints
from .schema import members as _members
from .schema import records as _records
from .schema import staged as _staged
from .stored_records import SyncResult, batches

STAGED = ("paper", "content_hash", "edat", "lr", "year", "retracted")
"""What is staged of a record: the columns of `.stored_records.paper_row` beside the PMID."""
_PAGE = 1000
_MOST_WARNINGS = 30


@dataclass(frozen=True, slots=True)
class Job:
    """What a sync is about: its question, and the days it covers (both included)."""

    job_id: str
    query_key: str
    term: str
    overlap_days: int
    everything: bool
    begun_from: str | None
    first: str
    last: str


class Merge:
    """The steps of one merge, inside its transaction."""

    def __init__(self, connection: Connection, job: Job, warnings: Mapping[str, None]) -> None:
        self.connection = connection
        self.job = job
        self.warnings = dict(warnings)
        self.mine = _staged.c.job_id == job.job_id
        self.inserted = self.updated = self.skipped = 0

    def run(self) -> SyncResult:
        """Do all steps; returns the counts and warnings."""
        self._put_records()
        self._end_memberships()
        self._follow_deletions()
        self._begin_memberships()
        self._warn_of_missing()
        seen = self._latest()
        self._move_checkpoint()
        return SyncResult(
            job_id=self.job.job_id,
            inserted=self.inserted,
            updated=self.updated,
            skipped=self.skipped,
            pmids_processed=self.inserted + self.updated + self.skipped,
            max_edat_seen=seen,
            warnings=most_of(self.warnings),
        )

    def _put_records(self) -> None:
        columns = [_staged.c.pmid, *(_staged.c[name] for name in STAGED)]
        query = select(*columns).where(self.mine, _staged.c.state == "fetched")
        after = 0
        while True:
            page = query.where(_staged.c.pmid > after).order_by(_staged.c.pmid).limit(_PAGE)
            rows = [dict(row) for row in self.connection.execute(page).mappings()]
            if not rows:
                return
            result = put_records(self.connection, rows)
            self.inserted += result.inserted
            self.updated += result.updated
            self.skipped += result.skipped
            self.warnings.update(dict.fromkeys(result.warnings))
            after = rows[-1]["pmid"]

    def _pmids(self, *where: Any) -> list[int]:
        return list(
            self.connection.execute(select(_staged.c.pmid).where(self.mine, *where)).scalars()
        )

    def _end_memberships(self) -> None:
        """Remove members that PubMed has and that the query no longer finds."""
        these = self._pmids(_staged.c.why == "vanished", _staged.c.state == "fetched")
        members = delete(_members).where(_members.c.query_key == self.job.query_key)
        for some in batches(these):
            self.connection.execute(members.where(_members.c.pmid.in_(some)))

    def _follow_deletions(self) -> None:
        these = self._pmids(_staged.c.why == "vanished", _staged.c.state == "omitted")
        for some in batches(these):
            gone = update(_records).where(_records.c.pmid.in_(some), _records.c.gone.is_(False))
            change = gone.values(gone=True, synced_at=now())
            self.updated += self.connection.execute(change).rowcount
            self.connection.execute(delete(_members).where(_members.c.pmid.in_(some)))

    def _begin_memberships(self) -> None:
        key = self.job.query_key
        is_member = exists().where(_members.c.query_key == key, _members.c.pmid == _staged.c.pmid)
        new = select(constant(key), _staged.c.pmid).where(
            self.mine, _staged.c.state == "fetched", _staged.c.why != "vanished", ~is_member
        )
        self.connection.execute(insert(_members).from_select(["query_key", "pmid"], new))

    def _warn_of_missing(self) -> None:
        missing = self._pmids(_staged.c.why != "vanished", _staged.c.state == "omitted")
        if missing:
            named = ", ".join(map(str, missing[:10])) + (", …" if missing[10:] else "")
            self._warn(f"PubMed finds {len(missing):,} papers and sends no record: PMID {named}.")

    def _latest(self, before: str = "") -> str | None:
        """The latest Entrez date that was fetched, up to the end of the window, and *before*."""
        query = select(func.max(_staged.c.edat)).where(
            self.mine,
            _staged.c.state == "fetched",
            _staged.c.why == "found",
            func.length(_staged.c.edat) == len("2026-11-21"),
            _staged.c.edat <= self.job.last,
        )
        return self.connection.execute(
            query.where(_staged.c.edat < before) if before else query
        ).scalar()

    def _move_checkpoint(self) -> None:
        """Move the watermark over what is stored, never over what could not be fetched."""
        key = self.job.query_key
        failed = select(_staged.c.why, func.min(_staged.c.stretch)).where(
            self.mine, _staged.c.state == "failed"
        )
        rows = self.connection.execute(failed.group_by(_staged.c.why)).all()
        failed_from = {row[0]: row[1] for row in rows}
        watermark = self._latest(before=failed_from.get("found", "").partition(":")[2])
        checkpoint = checkpoint_of(self.connection, key)
        if (checkpoint.last_edat if checkpoint else None) != self.job.begun_from:
            self._warn("The watermark was moved by hand meanwhile, and stays there.")
        elif checkpoint and checkpoint.term and checkpoint.term != self.job.term:
            self._begin_anew(watermark)
        elif watermark and watermark > (self.job.begun_from or ""):
            move_watermark(self.connection, key, watermark, manual=False, by=self.job.job_id)
        stale = self.job.everything and self.job.begun_from and "found" in failed_from
        values = {"term": self.job.term, "updated_at": now()}
        if "changed" not in failed_from and not stale:
            values["last_mdat"] = self.job.last
        this = update(_checkpoints).where(_checkpoints.c.query_key == key).values(values)
        if not self.connection.execute(this).rowcount:
            self.connection.execute(insert(_checkpoints).values(query_key=key, **values))

    def _begin_anew(self, watermark: str | None) -> None:
        """Set the watermark anew: the old one belongs to another term."""
        key = self.job.query_key
        if watermark:
            by = f"{self.job.job_id}: another term"
            move_watermark(self.connection, key, watermark, manual=True, by=by)
        else:
            this = update(_checkpoints).where(_checkpoints.c.query_key == key)
            self.connection.execute(this.values(last_edat=None))

    def _warn(self, text: str) -> None:
        self.warnings[text] = None


def most_of(warnings: Iterable[str]) -> tuple[str, ...]:
    """The first warnings, and how many more there are."""
    every = tuple(warnings)
    if len(every) <= _MOST_WARNINGS:
        return every
    return (*every[:_MOST_WARNINGS], f"{len(every) - _MOST_WARNINGS:,} more warnings.")
