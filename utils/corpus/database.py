"""Records, memberships, checkpoints and passages of a corpus, in SQL.

Invariants: a PMID has one record; its version grows by one when its content changes or PubMed
revised it, and never otherwise; an older revision never replaces a newer one; a watermark moves
backwards by hand only, and every move is recorded. Staging and merging a sync: `.sync_jobs`;
passages: `.passage_tables`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    Table,
    Text,
    and_,
    case,
    cast,
    exists,
    false,
    func,
    insert,
    literal,
    select,
    update,
)

from ..errors import BadRequest, InvariantFailed
from ..model.paper import Paper, paper_from_row, utc_now
from .bulk_writes import insert_rows, to_stored_text, update_rows
from .names import NameTables
from .passage_tables import PassageTables, store_whole_passages
from .schema import checkpoints as _checkpoints
from .schema import members as _members
from .schema import moves as _moves
from .schema import passages as _passages
from .schema import records as _records
from .schema import sources as _sources
from .schema import staged as _staged
from .stored_records import (
    MARK_CHARS,
    STAGED,
    Checkpoint,
    CorpusCounts,
    CorpusRecord,
    LivingRecords,
    RecordState,
    UpsertResult,
    WatermarkMove,
    day_to_timestamp,
    find_latest_edat,
    parse_iso_day,
    split_into_batches,
    to_record_row,
)

__all__ = [
    "Checkpoint",
    "CorpusCounts",
    "CorpusDatabase",
    "CorpusRecord",
    "UpsertResult",
    "WatermarkMove",
    "day_to_timestamp",
    "parse_iso_day",
]

_COLUMNS = tuple(column.name for column in _records.c)
_PMID = _COLUMNS.index("pmid")
_KEY = "pmid:" + cast(_records.c.pmid, Text)
_WITH_SOURCES = _records.outerjoin(_sources, _sources.c.paper == _KEY)


class CorpusDatabase(PassageTables, NameTables):
    """The database of one corpus, opened by `of` and created at first use."""

    # -- records -----------------------------------------------------------------------------

    def store_records(self, papers: Sequence[Paper]) -> UpsertResult:
        """Store new records, and changed records as a new version; all or nothing.

        A record that is older than the one that is kept is skipped, with a warning.

        Raises
        ------
        BadRequest
            One has no PMID.
        """
        rows = [to_record_row(paper) for paper in papers]
        with self.open_writing() as connection:
            return upsert_records(connection, rows)

    def get_record(self, pmid: str) -> CorpusRecord | None:
        """Return one record; None if the corpus does not have it."""
        return self.get_records([pmid]).get(pmid)

    def get_records(
        self, pmids: Sequence[str], *, without: Iterable[str] = ()
    ) -> dict[str, CorpusRecord]:
        """Return records by PMID; missing records are left out.

        The fields *without* stay empty in their papers, which is faster than reading them.
        """
        numbers = [int(pmid) for pmid in pmids if pmid.isascii() and pmid.isdigit()]
        found: dict[str, CorpusRecord] = {}
        with self.open_reading() as connection:
            for some in split_into_batches([number for number in numbers if number < 2**31]):
                query = select(_records).where(_records.c.pmid.in_(some))
                for row in connection.execute(query).mappings():
                    found[str(row["pmid"])] = _to_record(row, without)
        return found

    def list_record_states(
        self, after_pmid: int, limit: int, unchanged: str = ""
    ) -> list[RecordState]:
        """Return a page of the living records, in order, each with the source of its passages.

        With *unchanged*, the beginning of all marks, records are left out whose mark is this text
        and their content hash.
        """
        columns = (_records.c[name] for name in ("pmid", "content_hash", "lr"))
        query = select(*columns, _sources.c.digest, _sources.c.mark, _sources.c.names)
        page = query.select_from(_WITH_SOURCES).where(_records.c.gone.is_(False))
        if unchanged:
            page = page.where(~_has_mark(unchanged))
        page = page.where(_records.c.pmid > after_pmid).order_by(_records.c.pmid).limit(limit)
        with self.open_reading() as connection:
            return list(map(RecordState._make, connection.execute(page).all()))

    def count_living_records(self, unchanged: str) -> LivingRecords:
        """Return the number of living records; *unchanged* is as in `list_record_states`."""
        same = case((_has_mark(unchanged), 1), else_=0)
        counts = func.count(), func.count(_sources.c.paper), func.coalesce(func.sum(same), 0)
        query = select(*counts).select_from(_WITH_SOURCES).where(_records.c.gone.is_(False))
        with self.open_reading() as connection:
            return LivingRecords(*connection.execute(query).one())

    def list_member_pmids(self, query_key: str) -> list[str]:
        """Return the PMIDs that a query found so far, in numerical order."""
        query = select(_members.c.pmid).where(_members.c.query_key == query_key)
        with self.open_reading() as connection:
            return [str(pmid) for pmid in connection.execute(query.order_by("pmid")).scalars()]

    def count_rows(self) -> CorpusCounts:
        """Return the counts of all tables."""

        def select_row_count(table: Table, *where: Any) -> Any:
            return select(func.count()).select_from(table).where(*where).scalar_subquery()

        query = select(
            select_row_count(_records),
            select_row_count(_records, _records.c.gone),
            select_row_count(_records, _records.c.retracted),
            select_row_count(_passages),
            select_row_count(_sources),
            select_row_count(_checkpoints),
        )
        with self.open_reading() as connection:
            return CorpusCounts(*connection.execute(query).one())

    # -- checkpoints -------------------------------------------------------------------------

    def get_checkpoint(self, query_key: str) -> Checkpoint | None:
        """Return how far a query is synced; None before its first sync."""
        with self.open_reading() as connection:
            return read_checkpoint(connection, query_key)

    def list_checkpoints(self) -> list[Checkpoint]:
        """Return how far each query is synced, by key."""
        with self.open_reading() as connection:
            rows = connection.execute(select(_checkpoints).order_by("query_key")).mappings()
            return [Checkpoint(**row) for row in rows]

    def set_checkpoint(self, query_key: str, last_edat: str, *, manual: bool, by: str = "") -> None:
        """Move a watermark to a day (or to the day of a UTC timestamp), and record the move.

        By hand (*manual*) it may go anywhere, for a backfill; otherwise forward only.

        Raises
        ------
        BadRequest
            *last_edat* is no day or lies in the future (what comes in until then would never be
            asked for), or the key is empty.
        InvariantFailed
            It would go backwards, and not by hand.
        """
        if not query_key.strip():
            raise BadRequest("query_key is empty.", "Name the question whose watermark moves.")
        day = parse_iso_day(last_edat)
        if day > (today := utc_now()[: len(day)]):
            msg = f"{day} lies in the future: papers that appear until then would be left out."
            raise BadRequest(msg, f"Set the watermark to {today} or a day before it.")
        with self.open_writing() as connection:
            move_watermark(connection, query_key, day, manual=manual, by=by)

    def list_watermark_moves(self, query_key: str) -> list[WatermarkMove]:
        """Return every move of a watermark, oldest first."""
        query = select(_moves).where(_moves.c.query_key == query_key).order_by("number")
        with self.open_reading() as connection:
            rows = connection.execute(query).mappings()
            return [
                WatermarkMove(**{k: v for k, v in row.items() if k != "number"}) for row in rows
            ]


# -- inside a transaction, also that of a merge ------------------------------------------------


def read_checkpoint(connection: Connection, query_key: str) -> Checkpoint | None:
    """Read a checkpoint; see `CorpusDatabase.get_checkpoint`."""
    query = select(_checkpoints).where(_checkpoints.c.query_key == query_key)
    row = connection.execute(query).mappings().first()
    return Checkpoint(**row) if row else None


def move_watermark(
    connection: Connection, query_key: str, day: str, *, manual: bool, by: str
) -> None:
    """Move a watermark; see `CorpusDatabase.set_checkpoint`."""
    checkpoint = read_checkpoint(connection, query_key)
    before = checkpoint.last_edat if checkpoint else None
    if not manual and before and day < before:
        msg = f"The watermark of {query_key} is {before}; {day} lies before it."
        raise InvariantFailed(msg, "Only a person may move it backwards.")
    at = utc_now()
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


def upsert_records(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> UpsertResult:
    """Write rows from `to_record_row`; of two rows with one PMID, the later revision is written."""
    by_pmid = {row["pmid"]: row for row in sorted(rows, key=lambda row: row["lr"])}
    stored = _read_record_versions(connection, by_pmid)
    new, changed, warnings = [], [], []
    for pmid, row in by_pmid.items():
        old = stored.get(pmid)
        if old is None:
            new.append(_add_version_columns(row, 1))
        elif old.lr and row["lr"] and row["lr"] < old.lr:
            warnings.append(f"PMID {pmid}: revised {row['lr']}, but {old.lr} is kept; skipped.")
        elif row["content_hash"] != old.content_hash or row["lr"] > old.lr:
            lr = max(row["lr"], old.lr)
            changed.append(_add_version_columns({**row, "lr": lr}, old.version + 1))
        elif old.gone or row["edat"] != old.edat:  # it is back as it was, or entered another day
            changed.append(_add_version_columns(row, old.version))
    insert_rows(connection, _records.name, _COLUMNS, _to_record_values(connection, new))
    store_whole_passages(connection, {row["pmid"]: row["paper"] for row in changed})
    changed_rows = [(*row, row[_PMID]) for row in _to_record_values(connection, changed)]
    update_rows(connection, _records.name, _COLUMNS, ("pmid",), changed_rows)
    done = len(new) + len(changed)
    return UpsertResult(
        len(new),
        len(changed),
        len(by_pmid) - done,
        find_latest_edat(list(by_pmid.values())),
        tuple(warnings),
    )


def merge_staged_records(connection: Connection, these: ColumnElement[bool]) -> UpsertResult:
    """Merge staged rows into the records, within the database; see `upsert_records`."""
    columns = [_staged.c.pmid, *(_staged.c[name] for name in STAGED)]
    is_stored = exists().where(_records.c.pmid == _staged.c.pmid)
    stored = connection.execute(select(*columns).where(these, is_stored)).mappings().all()
    version = {"version": literal(1), "gone": false(), "synced_at": literal(utc_now())}
    new = select(*columns, *version.values()).where(these, ~is_stored)
    into = insert(_records).from_select([*(c.name for c in columns), *version], new)
    inserted = connection.execution_options(preserve_rowcount=True).execute(into).rowcount
    return upsert_records(connection, [dict(row) for row in stored])._replace(inserted=inserted)


def _read_record_versions(connection: Connection, pmids: Iterable[int]) -> dict[int, Any]:
    columns = (
        _records.c[name] for name in ("pmid", "content_hash", "lr", "version", "gone", "edat")
    )
    query = select(*columns)
    found: dict[int, Any] = {}
    for some in split_into_batches(list(pmids)):
        rows = connection.execute(query.where(_records.c.pmid.in_(some)))
        found.update((row.pmid, row) for row in rows)
    return found


def _add_version_columns(row: Mapping[str, Any], version: int) -> dict[str, Any]:
    return {**row, "version": version, "gone": False, "synced_at": utc_now()}


def _to_record_values(
    connection: Connection, rows: Iterable[Mapping[str, Any]]
) -> list[tuple[Any, ...]]:
    """Return rows as values to store, in the order of `_COLUMNS`."""
    stored = ({**row, "paper": to_stored_text(connection, row["paper"])} for row in rows)
    return [tuple(row[name] for name in _COLUMNS) for row in stored]


def _has_mark(beginning: str) -> ColumnElement[bool]:
    """Return the condition that the stored mark is *beginning* and the record's content hash."""
    mark = literal(beginning) + func.substr(_records.c.content_hash, 1, MARK_CHARS)
    return and_(func.coalesce(_sources.c.mark, "") == mark, _sources.c.digest != "")


def _to_record(row: RowMapping, without: Iterable[str]) -> CorpusRecord:
    facts = json.loads(row["paper"])
    for name in without:
        facts.pop(name, None)
    return CorpusRecord(
        paper=paper_from_row(facts),
        version=row["version"],
        content_hash=row["content_hash"],
        edat=row["edat"],
        lr=row["lr"],
        gone=row["gone"],
        synced_at=row["synced_at"],
    )
