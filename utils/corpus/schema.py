"""The tables of a corpus's database, the migration of older schemas, and connections.

The tables are the same for SQLite (inside the shelf) and PostgreSQL. A new database gets them as
they are today; an older one is migrated step by step, in one transaction, by `_STEPS`. Names start
with ``corpus_``: a PostgreSQL may hold other tables, too.

Readers never wait (SQLite runs in WAL mode), writers wait for each other. A transaction that is
going to write takes the write lock at its beginning: in SQLite (``BEGIN IMMEDIATE``) one that
reads first and writes later would be refused whenever somebody wrote in between; in PostgreSQL, an
advisory lock gives what is read before writing the same weight.
https://www.sqlite.org/isolation.html, https://www.postgresql.org/docs/current/explicit-locking.html

PostgreSQL shows who holds an advisory lock in ``pg_locks`` (a key of 64 bits as its two halves,
``objsubid`` 1) and ``pg_stat_activity``; what is another role's reads as null there
(https://www.postgresql.org/docs/current/view-pg-locks.html, …/monitoring-stats.html).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple, Self

from sqlalchemy import (
    URL,
    BigInteger,
    Boolean,
    Column,
    Connection,
    Dialect,
    Engine,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    create_engine,
    delete,
    event,
    false,
    insert,
    inspect,
    make_url,
    select,
    text,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from ..errors import BadRequest, StoreBusy, StoreFailed
from ..model.paper import format_timestamp
from ..settings import Settings
from ..system import sqlite
from ..system.locks import UNKNOWN_HOLDER, describe_process, read_lock_holder, record_lock_holder
from ..system.plain_text import one_line
from ..system.safe_files import (
    PRIVATE_FOLDER,
    create_shared_file,
    disk_errors,
    exclusive_lock,
    find_access_error,
    inherit_group_rights,
    make_folder,
)
from .compression import compress_text, decompress_text

_LONGEST = 200
_LONGEST_NAME = 63  # of an application, in bytes
_HOLDER = text(
    "SELECT application_name, extract(epoch FROM state_change) AS since "
    "FROM pg_locks JOIN pg_stat_activity USING (pid) "
    "WHERE locktype = 'advisory' AND granted AND objsubid = 1 "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
    "AND classid = CAST(:high AS oid) AND objid = CAST(:low AS oid)"
)
VERSION = 5
"""Of the tables below."""
_STEPS: dict[int, tuple[str, ...]] = {
    1: (
        """CREATE TABLE corpus_names (kind TEXT NOT NULL, form TEXT NOT NULL, name TEXT NOT NULL,
        papers INTEGER NOT NULL, PRIMARY KEY (kind, form, name))""",
    ),
    2: (
        "ALTER TABLE corpus_sources ADD COLUMN mark TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE corpus_sources ADD COLUMN names TEXT NOT NULL DEFAULT ''",
    ),
    3: (),  # records may be compressed, which older versions cannot read
    4: (),  # passages may have their words in their records, where older versions do not look
}
"""What makes version n + 1 of version n: statements both databases understand."""
metadata = MetaData()
_PATIENCE_S = 120  # the merge of a whole field takes a minute
_CONNECT_S = 15
_PAGE_BYTES = 8192  # of a new file; records leave a fifth of SQLite's usual pages unused
_CACHE_KIB = 32_768  # UUIDs of new passages fall on pages all over their index
_WRITE_LOCK = 0x70617065  # our word among PostgreSQL's advisory locks
_POLL_S = 0.2
_WRITING = "corpus_writing"
_SERVER_HINTS = {
    "no space left": "Free disk space at the server.",
    "statement timeout": "The server is busy: wait a while.",
    "too many clients": "All its connections are taken: wait a while, or raise max_connections.",
}
"""What to do, by words of PostgreSQL's reason."""
_GOES_ON = " Then run the same command again: nothing is half done, and it goes on."


class CompressedText(TypeDecorator[str]):
    """A text that SQLite stores compressed; PostgreSQL compresses long texts by itself.

    Texts that an older version stored uncompressed are read, too.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        """Return the value to store."""
        if value is None or dialect.name != "sqlite":
            return value
        return compress_text(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        """Return the stored text."""
        return decompress_text(value) if isinstance(value, bytes) else value


def _build_text_column(name: str) -> Column[str]:
    return Column(name, Text, nullable=False, server_default="")


def _build_record_columns() -> tuple[Column[object], ...]:
    """Return the columns of a record; see `.stored_records.to_record_row`."""
    return (
        Column("paper", CompressedText),
        _build_text_column("content_hash"),
        _build_text_column("edat"),
        _build_text_column("lr"),
        Column("year", Integer),
        Column("retracted", Boolean, nullable=False, server_default=false()),
    )  # type: ignore[return-value]


versions = Table("corpus_version", metadata, Column("version", Integer, primary_key=True))
records = Table(
    "corpus_records",
    metadata,
    Column("pmid", Integer, primary_key=True, autoincrement=False),
    *_build_record_columns(),
    Column("version", Integer, nullable=False),
    Column("gone", Boolean, nullable=False, server_default=false()),
    _build_text_column("synced_at"),
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
    _build_text_column("term"),
    Column("last_edat", Text),
    Column("last_mdat", Text),
    _build_text_column("updated_at"),
)
moves = Table(
    "corpus_checkpoint_moves",
    metadata,
    Column("number", Integer, primary_key=True),
    _build_text_column("query_key"),
    Column("before", Text),
    _build_text_column("after"),
    Column("manual", Boolean, nullable=False),
    _build_text_column("by"),
    _build_text_column("at"),
    Index("corpus_checkpoint_moves_key", "query_key"),
)
jobs = Table(
    "corpus_sync_jobs",
    metadata,
    Column("job_id", Text, primary_key=True),
    _build_text_column("query_key"),
    _build_text_column("term"),
    Column("overlap_days", Integer, nullable=False),
    Column("everything", Boolean, nullable=False),
    Column("begun_from", Text),
    _build_text_column("first"),
    _build_text_column("last"),
    _build_text_column("state"),
    _build_text_column("begun_at"),
    _build_text_column("ended_at"),
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
    _build_text_column("last"),
    Column("swept", Boolean, nullable=False, server_default=false()),
)
staged = Table(
    "corpus_staged",
    metadata,
    Column("job_id", Text, ForeignKey(jobs.c.job_id, ondelete="CASCADE"), primary_key=True),
    Column("pmid", Integer, primary_key=True, autoincrement=False),
    _build_text_column("why"),
    _build_text_column("stretch"),
    _build_text_column("state"),
    *_build_record_columns(),
    Index("corpus_staged_state", "job_id", "state", "pmid"),
)
passages = Table(
    "corpus_passages",
    metadata,
    Column("uuid", Text, primary_key=True),
    Column("paper", Text, nullable=False),
    _build_text_column("chunk_id"),
    _build_text_column("section"),
    Column("ordinal", Integer, nullable=False),
    Column("text", CompressedText, nullable=False, server_default=""),
    Column("start", BigInteger, nullable=False),
    Column("end", BigInteger, nullable=False),
    _build_text_column("kind"),
    _build_text_column("file"),
    _build_text_column("digest"),
    _build_text_column("title"),
    Column("year", Integer),
    _build_text_column("journal"),
    _build_text_column("publication_types"),
    Column("retracted", Boolean, nullable=False),
    Index("corpus_passages_paper", "paper"),
)
names = Table(
    "corpus_names",
    metadata,
    Column("kind", Text, primary_key=True),
    Column("form", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("papers", Integer, nullable=False),
    sqlite_with_rowid=False,
)
sources = Table(
    "corpus_sources",
    metadata,
    Column("paper", Text, primary_key=True),
    _build_text_column("digest"),
    _build_text_column("mark"),
    _build_text_column("names"),
)


def create_or_migrate_tables(connection: Connection) -> None:
    """Create or migrate the tables in the transaction of *connection*, which has the write lock.

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


def _has_current_schema(connection: Connection) -> bool:
    """Return whether the tables exist in the current schema."""
    if not inspect(connection).has_table(versions.name):
        return False
    return connection.execute(select(versions.c.version)).scalar() == VERSION


class DatabaseConnections:
    """Connections to a database that is opened at first use. Safe for threads and processes.

    Parameters
    ----------
    url : URL
        Where it is.
    folder : Path
        Made for SQLite, for the owner only; its locks lie there too.
    """

    def __init__(self, url: URL, folder: Path) -> None:
        self._url = url
        self._folder = folder

    @classmethod
    def from_settings(cls, settings: Settings, shelf_folder: Path) -> Self:
        """Return the connections of a shelf's corpus, without using disk or network.

        Raises
        ------
        BadRequest
            ``DATABASE_URL`` is not that of a PostgreSQL.
        """
        folder = shelf_folder / PRIVATE_FOLDER / "corpus"
        if address := settings.key("database_url"):
            return cls(_parse_postgresql_address(address), folder)
        return cls(URL.create("sqlite", database=str(folder / "corpus.db")), folder)

    @property
    def is_postgresql(self) -> bool:
        """True if the database is PostgreSQL."""
        return self._url.get_backend_name() == "postgresql"

    @property
    def exists(self) -> bool:
        """True if the database exists; always true for PostgreSQL."""
        return self.is_postgresql or (self._folder / "corpus.db").exists()

    @cached_property
    def engine(self) -> Engine:
        """The SQLAlchemy engine; the tables exist once it is returned.

        To write through it, take the write lock with
        ``engine.execution_options(corpus_writing=True).begin()``; see the module.
        """
        engine = _create_engine(self._url)
        writing = engine.execution_options(**{_WRITING: True})
        try:
            with self._lock_opening(), self._convert_to_store_failed():
                with engine.begin() as connection:
                    current = _has_current_schema(
                        connection
                    )  # then nobody who reads waits for a writer
                if not current:
                    with writing.begin() as connection:
                        create_or_migrate_tables(connection)
        except BaseException:
            engine.dispose()
            raise
        return engine

    @contextmanager
    def _lock_opening(self) -> Iterator[None]:
        """Hold a lock while a new SQLite file enters WAL mode: two processes would fail."""
        if self.is_postgresql:
            yield
            return
        make_folder(self._folder, 0o700)
        create_shared_file(self._folder / "corpus.db")
        with exclusive_lock(self._folder / "opening.lock"):
            yield

    def close(self) -> None:
        """Close all connections; the next call opens new ones."""
        if engine := self.__dict__.pop("engine", None):
            engine.dispose()

    @contextmanager
    def open_reading(self) -> Iterator[Connection]:
        """Open a read transaction, which sees one state of the database."""
        with self._convert_to_store_failed(), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def open_writing(self) -> Iterator[Connection]:
        """Open a write transaction, which is committed in full or not at all."""
        with self._convert_to_store_failed():
            engine = self.engine.execution_options(**{_WRITING: True})
            with engine.begin() as connection:
                yield connection

    @contextmanager
    def exclusive_lock(
        self, name: str, patience_s: float, waiting: Callable[[str], None] | None = None
    ) -> Iterator[None]:
        """Hold the lock *name* against all processes and threads; released if its holder dies.

        *waiting* is told once who is waited for, and since when they have it.

        Raises
        ------
        StoreBusy
            Another one holds it, for longer than *patience_s*.
        """
        digest = hashlib.sha256(name.encode("utf-8", "replace")).digest()
        with (self._hold_advisory_lock if self.is_postgresql else self._hold_file_lock)(
            digest
        ) as lock:
            end = time.time() + patience_s
            while not lock.acquire():
                if time.time() >= end:
                    holder = lock.holder()
                    msg = f"Another process is at work on {name}: {holder}."
                    hint = "Nothing was done. Wait until it has finished, and try again."
                    raise StoreBusy(msg, hint, holder=holder, retryable=True)
                if waiting:
                    waiting(f"Waiting for another that is at work on {name}: {lock.holder()}")
                    waiting = None
                time.sleep(_POLL_S)
            lock.sign()
            yield

    @contextmanager
    def _hold_advisory_lock(self, digest: bytes) -> Iterator[NamedLock]:
        """Hold a PostgreSQL advisory lock, which lasts as long as the connection."""
        key = int.from_bytes(digest[:8], "big", signed=True)
        engine = self.engine.execution_options(isolation_level="AUTOCOMMIT")
        with self._convert_to_store_failed():
            connection = engine.connect()
        query = text("SELECT pg_try_advisory_lock(:key)")

        def try_acquire_lock() -> bool:
            with self._convert_to_store_failed():
                return bool(connection.execute(query, {"key": key}).scalar())

        def record_holder() -> None:
            with self._convert_to_store_failed():
                set_connection_name(connection)

        def read_holder() -> str:
            with self._convert_to_store_failed():
                return find_lock_holder(connection, key)

        try:
            yield NamedLock(try_acquire_lock, record_holder, read_holder)
        finally:
            with suppress(SQLAlchemyError):
                connection.execute(text("SELECT pg_advisory_unlock_all()"))
            connection.invalidate()  # whatever became of it, no pooled connection holds a lock
            connection.close()

    @contextmanager
    def _hold_file_lock(self, digest: bytes) -> Iterator[NamedLock]:
        """Hold the write lock of a separate, empty SQLite file."""
        import sqlite3

        make_folder(self._folder, 0o700)
        path = self._folder / f"sync-{digest.hex()[:16]}.lock"
        signed = path.with_suffix(".holder")
        with disk_errors(path, "lock"):
            path.touch(mode=0o600)
            inherit_group_rights(path)
        with closing(sqlite.open_database(path, patience_s=0)) as db:

            def try_acquire_lock() -> bool:
                try:
                    return sqlite.try_lock_database(db)
                except sqlite3.Error as error:
                    raise self._to_store_error(error) from error

            yield NamedLock(
                try_acquire_lock,
                partial(record_lock_holder, signed),
                partial(read_lock_holder, signed),
            )

    @contextmanager
    def _convert_to_store_failed(self) -> Iterator[None]:
        """Convert errors of the database to `StoreFailed`."""
        try:
            yield
        except SQLAlchemyError as error:
            raise self._to_store_error(error) from None

    def _to_store_error(self, error: Exception) -> StoreFailed:
        cause = error.orig if isinstance(error, DBAPIError) else error
        if not self.is_postgresql and (closed := find_access_error(self._folder / "corpus.db")):
            return closed
        reason = " ".join(str(cause).split("\n", 1)[0].split())[:300]
        password = self._url.password
        if password:
            reason = reason.replace(str(password), "***")
        where = (
            f"at {self._url.host or 'its socket'}" if self.is_postgresql else f"in {self._folder}"
        )
        msg = f"The database of the corpus {where} could not be used: {reason.rstrip('.')}."
        return StoreFailed(msg, self._choose_error_hint(reason.lower()))

    def _choose_error_hint(self, reason: str) -> str:
        if "locked" in reason or "busy" in reason or "lock timeout" in reason:
            return "Another process holds it: wait until it has finished, or stop it."
        if self.is_postgresql:
            told = (hint for words, hint in _SERVER_HINTS.items() if words in reason)
            return next(told, "See that the server runs, and look at DATABASE_URL.") + _GOES_ON
        if "malformed" in reason or "not a database" in reason:
            return "It is damaged: move corpus.db away, sync and index again."
        return "Free some disk space, and check that its folder can be written."


def _parse_postgresql_address(address: str) -> URL:
    """Parse ``postgres://`` and ``postgresql+driver://`` addresses, for psycopg 3."""
    hint = "Give postgresql://user:password@host/database, or leave DATABASE_URL out."
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        raise BadRequest("DATABASE_URL cannot be read.", hint) from None  # it may hold a password
    if url.drivername.partition("+")[0] not in {"postgres", "postgresql"}:
        raise BadRequest(f"DATABASE_URL is not a PostgreSQL address, but {url.drivername}.", hint)
    return url.set(drivername="postgresql+psycopg")


def _create_engine(url: URL) -> Engine:
    if url.get_backend_name() == "postgresql":
        try:
            given = url.query.get("options", "")
            options = {
                "connect_timeout": _CONNECT_S,
                # A database that was made in the C locale (SQL_ASCII) would return bytes.
                "client_encoding": "utf8",
                "options": f"-c lock_timeout={1000 * _PATIENCE_S} {given}".rstrip(),
            }
            engine = create_engine(url, pool_pre_ping=True, connect_args=options)
        except ModuleNotFoundError as error:
            msg = "DATABASE_URL is set, but PostgreSQL's driver is not installed."
            raise StoreFailed(msg, "Install psycopg[binary], or leave DATABASE_URL out.") from error
        event.listen(engine, "begin", _take_postgresql_write_lock)
        return engine
    engine = create_engine(url, connect_args={"timeout": _PATIENCE_S})
    event.listen(engine, "connect", _configure_sqlite_connection)
    event.listen(engine, "begin", _begin_sqlite_transaction)
    return engine


def _configure_sqlite_connection(connection: Any, _: object) -> None:
    connection.isolation_level = None  # transactions begin where we say, not where sqlite3 guesses
    for pragma in (
        f"page_size = {_PAGE_BYTES}",  # before the file is written
        *("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"),
        f"cache_size = -{_CACHE_KIB}",
    ):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite_transaction(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITING)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _take_postgresql_write_lock(connection: Connection) -> None:
    if connection.get_execution_options().get(_WRITING):
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_WRITE_LOCK})")


class NamedLock(NamedTuple):
    """The operations on a lock: try to take it, record its holder, and read its holder."""

    acquire: Callable[[], bool]
    sign: Callable[[], None]
    holder: Callable[[], str]


def set_connection_name(connection: Connection) -> None:
    """Set the connection's name, by which the server shows the holder of its locks."""
    name = f"papershelf: {describe_process()}".encode()[:_LONGEST_NAME].decode("utf-8", "ignore")
    connection.execute(text("SELECT set_config('application_name', :name, false)"), {"name": name})


def find_lock_holder(connection: Connection, key: int) -> str:
    """Return the connection that holds the advisory lock *key*, and since when."""
    halves = {"high": str(key >> 32 & 0xFFFFFFFF), "low": str(key & 0xFFFFFFFF)}
    row = connection.execute(_HOLDER, halves).first()
    if row is None or not row.application_name:
        return UNKNOWN_HOLDER
    name = one_line(row.application_name[:_LONGEST]).removeprefix("papershelf: ")
    return f"{name}, since {format_timestamp(float(row.since))}" if row.since else name
