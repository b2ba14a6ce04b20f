"""The tables of a corpus, the same for SQLite and PostgreSQL, and the migration of older ones.

A new database gets the tables as they are today; an older one is migrated step by step, in one
transaction, by `_STEPS`. Names start with ``corpus_``: a PostgreSQL may hold other tables, too.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    delete,
    false,
    insert,
    inspect,
    select,
)

from ..errors import StoreFailed

VERSION = 1
"""Of the tables below."""
_STEPS: dict[int, tuple[str, ...]] = {}
"""What makes version n + 1 of version n: statements both databases understand."""

metadata = MetaData()


def _text(name: str) -> Column[str]:
    return Column(name, Text, nullable=False, server_default="")


def _about_a_record() -> tuple[Column[object], ...]:
    """The columns of a record, staged or merged; see `.stored_records.paper_row`."""
    return (
        Column("paper", Text),
        _text("content_hash"),
        _text("edat"),
        _text("lr"),
        Column("year", Integer),
        Column("retracted", Boolean, nullable=False, server_default=false()),
    )  # type: ignore[return-value]


versions = Table("corpus_version", metadata, Column("version", Integer, primary_key=True))

records = Table(
    "corpus_records",
    metadata,
    Column("pmid", Integer, primary_key=True, autoincrement=False),
    *_about_a_record(),
    Column("version", Integer, nullable=False),
    Column("gone", Boolean, nullable=False, server_default=false()),
    _text("synced_at"),
    Index("corpus_records_edat", "edat"),
)

members = Table(
    "corpus_members",
    metadata,
    Column("query_key", Text, primary_key=True),
    Column(
        "pmid",
        Integer,
        ForeignKey("corpus_records.pmid", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Index("corpus_members_pmid", "pmid"),
)

checkpoints = Table(
    "corpus_checkpoints",
    metadata,
    Column("query_key", Text, primary_key=True),
    _text("term"),
    Column("last_edat", Text),
    Column("last_mdat", Text),
    _text("updated_at"),
)

moves = Table(
    "corpus_checkpoint_moves",
    metadata,
    Column("number", Integer, primary_key=True),
    _text("query_key"),
    Column("before", Text),
    _text("after"),
    Column("manual", Boolean, nullable=False),
    _text("by"),
    _text("at"),
    Index("corpus_checkpoint_moves_key", "query_key"),
)

jobs = Table(
    "corpus_sync_jobs",
    metadata,
    Column("job_id", Text, primary_key=True),
    _text("query_key"),
    _text("term"),
    Column("overlap_days", Integer, nullable=False),
    Column("everything", Boolean, nullable=False),
    Column("begun_from", Text),
    _text("first"),
    _text("last"),
    _text("state"),
    _text("begun_at"),
    _text("ended_at"),
    Column("inserted", Integer, nullable=False, server_default="0"),
    Column("updated", Integer, nullable=False, server_default="0"),
    Column("skipped", Integer, nullable=False, server_default="0"),
    Column("max_edat", Text),
    Column("warnings", Text, nullable=False, server_default="[]"),
    Index("corpus_sync_jobs_key", "query_key", "state"),
)

stretches = Table(
    "corpus_stretches",
    metadata,
    Column("job_id", Text, ForeignKey(jobs.c.job_id, ondelete="CASCADE"), primary_key=True),
    Column("date_type", Text, primary_key=True),
    Column("first", Text, primary_key=True),
    _text("last"),
    Column("swept", Boolean, nullable=False, server_default=false()),
)

staged = Table(
    "corpus_staged",
    metadata,
    Column("job_id", Text, ForeignKey(jobs.c.job_id, ondelete="CASCADE"), primary_key=True),
    Column("pmid", Integer, primary_key=True, autoincrement=False),
    _text("why"),
    _text("stretch"),
    _text("state"),
    *_about_a_record(),
    Index("corpus_staged_state", "job_id", "state", "pmid"),
)

passages = Table(
    "corpus_passages",
    metadata,
    Column("uuid", Text, primary_key=True),
    Column("paper", Text, nullable=False),
    _text("chunk_id"),
    _text("section"),
    Column("ordinal", Integer, nullable=False),
    _text("text"),
    Column("start", BigInteger, nullable=False),
    Column("end", BigInteger, nullable=False),
    _text("kind"),
    _text("file"),
    _text("digest"),
    _text("title"),
    Column("year", Integer),
    _text("journal"),
    _text("publication_types"),
    Column("retracted", Boolean, nullable=False),
    Index("corpus_passages_paper", "paper"),
)

sources = Table(
    "corpus_sources",
    metadata,
    Column("paper", Text, primary_key=True),
    _text("digest"),
)


def prepare(connection: Connection) -> None:
    """Create or migrate the tables, in the transaction of *connection* (with the write lock).

    Raises
    ------
    StoreFailed
        A newer version of Papershelf made them.
    """
    if not inspect(connection).has_table(versions.name):
        metadata.create_all(connection)
        connection.execute(insert(versions).values(version=VERSION))
        return
    found = connection.execute(select(versions.c.version)).scalar_one()
    if found > VERSION:
        msg = f"The corpus was written by a newer version of Papershelf (schema {found})."
        raise StoreFailed(msg, "Use that version, or another PAPERS_DIR or DATABASE_URL.")
    if found == VERSION:
        return
    for number in range(found, VERSION):
        for statement in _STEPS[number]:
            connection.exec_driver_sql(statement)
    connection.execute(delete(versions))
    connection.execute(insert(versions).values(version=VERSION))
