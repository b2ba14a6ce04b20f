"""Records, memberships and checkpoints of a corpus, in SQL; its passages: `.stored_passages`.

Invariants: a PMID has one record; its version grows by one when its content changes or PubMed
revised it, and never otherwise; an older revision never replaces a newer one; a watermark moves
backwards by hand only, and every move is recorded. Staging and merging a sync: `.sync_jobs`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    Connection,
    RowMapping,
    Table,
    Update,
    bindparam,
    func,
    insert,
    select,
    update,
)

from ..errors import BadRequest, InvariantFailed
from ..model.paper import Paper, now, paper_from
from .schema import checkpoints as _checkpoints
from .schema import members as _members
from .schema import moves as _moves
from .schema import passages as _passages
from .schema import records as _records
from .schema import sources as _sources
from .stored_passages import PassageTables
from .stored_records import (
    Changes,
    Checkpoint,
    CorpusCounts,
    CorpusRecord,
    Move,
    UpsertResult,
    batches,
    day_of,
    latest_edat,
    paper_row,
    timestamp,
)

__all__ = [
    "Changes", "Checkpoint", "CorpusCounts", "CorpusDatabase", "CorpusRecord", "Move",
    "UpsertResult", "day_of", "timestamp",
]  # fmt: skip


class CorpusDatabase(PassageTables):
    """The database of one corpus; `of` finds it, and it is created when first used."""

    # -- records -----------------------------------------------------------------------------

    def upsert(self, papers: Sequence[Paper]) -> UpsertResult:
        """Store records: new ones, and changed ones in a new version; all or nothing.

        A record that is older than the one that is kept is skipped, with a warning.

        Raises
        ------
        BadRequest
            One has no PMID.
        """
        rows = [paper_row(paper) for paper in papers]
        with self.writing() as connection:
            return put_records(connection, rows)

    def record(self, pmid: str) -> CorpusRecord | None:
        """One record; None where the corpus does not have it."""
        return self.records([pmid]).get(pmid)

    def records(self, pmids: Sequence[str]) -> dict[str, CorpusRecord]:
        """Records by PMID; those the corpus does not have are left out."""
        numbers = [int(pmid) for pmid in pmids if pmid.isascii() and pmid.isdigit()]
        found: dict[str, CorpusRecord] = {}
        with self.reading() as connection:
            for some in batches([number for number in numbers if number < 2**31]):
                query = select(_records).where(_records.c.pmid.in_(some))
                for row in connection.execute(query).mappings():
                    found[str(row["pmid"])] = _record(row)
        return found

    def every_record(self, after_pmid: str = "", limit: int = 500) -> list[CorpusRecord]:
        """A page of all records, by PMID as a number; the next begins after its last."""
        query = select(_records).where(_records.c.pmid > int(after_pmid or 0))
        with self.reading() as connection:
            rows = connection.execute(query.order_by(_records.c.pmid).limit(limit)).mappings()
            return [_record(row) for row in rows]

    def members(self, query_key: str) -> list[str]:
        """The PMIDs a question finds, as far as it is synced, in the order of their numbers."""
        query = select(_members.c.pmid).where(_members.c.query_key == query_key)
        with self.reading() as connection:
            return [str(pmid) for pmid in connection.execute(query.order_by("pmid")).scalars()]

    def counts(self) -> CorpusCounts:
        """How much there is."""

        def size(table: Table, *where: Any) -> Any:
            return select(func.count()).select_from(table).where(*where).scalar_subquery()

        query = select(
            size(_records),
            size(_records, _records.c.gone),
            size(_records, _records.c.retracted),
            size(_passages),
            size(_sources),
            size(_checkpoints),
        )
        with self.reading() as connection:
            return CorpusCounts(*connection.execute(query).one())

    # -- checkpoints -------------------------------------------------------------------------

    def checkpoint(self, query_key: str) -> Checkpoint | None:
        """How far a question is synced; None where it never was."""
        with self.reading() as connection:
            return checkpoint_of(connection, query_key)

    def checkpoints(self) -> list[Checkpoint]:
        """How far each question is synced, by key."""
        with self.reading() as connection:
            rows = connection.execute(select(_checkpoints).order_by("query_key")).mappings()
            return [Checkpoint(**row) for row in rows]

    def set_checkpoint(self, query_key: str, last_edat: str, *, manual: bool, by: str = "") -> None:
        """Move a watermark to a day (or the day of a UTC timestamp), and write the move down.

        By hand (*manual*) it may go anywhere, for a backfill; otherwise forward only.

        Raises
        ------
        BadRequest
            *last_edat* is no day, or the key is empty.
        InvariantFailed
            It would go backwards, and not by hand.
        """
        if not query_key.strip():
            raise BadRequest("query_key is empty.", "Name the question whose watermark moves.")
        day = day_of(last_edat)
        with self.writing() as connection:
            move_watermark(connection, query_key, day, manual=manual, by=by)

    def moves(self, query_key: str) -> list[Move]:
        """Every move of a watermark, the oldest first."""
        query = select(_moves).where(_moves.c.query_key == query_key).order_by("number")
        with self.reading() as connection:
            rows = connection.execute(query).mappings()
            return [Move(**{k: v for k, v in row.items() if k != "number"}) for row in rows]


# -- inside a transaction, also that of a merge ------------------------------------------------


def checkpoint_of(connection: Connection, query_key: str) -> Checkpoint | None:
    """See `CorpusDatabase.checkpoint`."""
    query = select(_checkpoints).where(_checkpoints.c.query_key == query_key)
    row = connection.execute(query).mappings().first()
    return Checkpoint(**row) if row else None


def move_watermark(
    connection: Connection, query_key: str, day: str, *, manual: bool, by: str
) -> None:
    """See `CorpusDatabase.set_checkpoint`."""
    checkpoint = checkpoint_of(connection, query_key)
    before = checkpoint.last_edat if checkpoint else None
    if not manual and before and day < before:
        msg = f"The watermark of {query_key} is {before}; {day} lies before it."
        raise InvariantFailed(msg, "Only a move by hand may go backwards.")
    at = now()
    if checkpoint:
        change = update(_checkpoints).where(_checkpoints.c.query_key == query_key)
        connection.execute(change.values(last_edat=day, updated_at=at))
    else:
        connection.execute(
            insert(_checkpoints).values(query_key=query_key, last_edat=day, updated_at=at)
        )
    if manual or day != before:
        move = {"before": before, "after": day, "manual": manual, "by": by, "at": at}
        connection.execute(insert(_moves).values(query_key=query_key, **move))


def put_records(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> UpsertResult:
    """Write rows made by `paper_row`; of two with one PMID the later revision counts."""
    by_pmid = {row["pmid"]: row for row in sorted(rows, key=lambda row: row["lr"])}
    stored = _stored_versions(connection, by_pmid)
    new, changed, warnings = [], [], []
    for pmid, row in by_pmid.items():
        old = stored.get(pmid)
        if old is None:
            new.append(_version(row, 1))
        elif old.lr and row["lr"] and row["lr"] < old.lr:
            warnings.append(f"PMID {pmid}: revised {row['lr']}, but {old.lr} is kept; skipped.")
        elif row["content_hash"] != old.content_hash or row["lr"] > old.lr:
            lr = max(row["lr"], old.lr)
            changed.append(_version({**row, "lr": lr}, old.version + 1))
        elif old.gone:  # it is back, as it was
            changed.append(_version(row, old.version))
    if new:
        connection.execute(insert(_records), new)
    if changed:
        connection.execute(_update_by_pmid(), [{**row, "key": row["pmid"]} for row in changed])
    done = len(new) + len(changed)
    return UpsertResult(
        len(new),
        len(changed),
        len(by_pmid) - done,
        latest_edat(list(by_pmid.values())),
        tuple(warnings),
    )


def _stored_versions(connection: Connection, pmids: Iterable[int]) -> dict[int, Any]:
    columns = (_records.c[name] for name in ("pmid", "content_hash", "lr", "version", "gone"))
    query = select(*columns)
    found: dict[int, Any] = {}
    for some in batches(list(pmids)):
        rows = connection.execute(query.where(_records.c.pmid.in_(some)))
        found.update((row.pmid, row) for row in rows)
    return found


def _version(row: Mapping[str, Any], version: int) -> dict[str, Any]:
    return {**row, "version": version, "gone": False, "synced_at": now()}


def _update_by_pmid() -> Update:
    values: dict[str, Any] = {c.name: bindparam(c.name) for c in _records.c if c.name != "pmid"}
    return update(_records).where(_records.c.pmid == bindparam("key")).values(values)


def _record(row: RowMapping) -> CorpusRecord:
    return CorpusRecord(
        paper=paper_from(json.loads(row["paper"])),
        version=row["version"],
        content_hash=row["content_hash"],
        edat=row["edat"],
        lr=row["lr"],
        gone=row["gone"],
        synced_at=row["synced_at"],
    )
