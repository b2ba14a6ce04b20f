"""Connections to the database of a corpus: SQLite inside the shelf, or PostgreSQL.

Readers never wait (SQLite runs in WAL mode), writers wait for each other. A transaction that is
going to write takes the write lock at its beginning: in SQLite (``BEGIN IMMEDIATE``) one that
reads first and writes later would be refused whenever somebody wrote in between; in PostgreSQL, an
advisory lock gives what is read before writing the same weight.
https://www.sqlite.org/isolation.html, https://www.postgresql.org/docs/current/explicit-locking.html
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from ..errors import BadRequest, StoreFailed
from ..settings import Settings
from ..system import sqlite
from ..system.safe_files import PRIVATE, disk, exclusive_lock, make_folder
from ..system.sharing import access_error, create_shared, inherit_group
from . import schema as corpus_schema

_PATIENCE_S = 120  # the merge of a whole field takes a minute
_CONNECT_S = 15
_WRITE_LOCK = 0x70617065  # our word among PostgreSQL's advisory locks
_POLL_S = 0.2
_WRITING = "corpus_writing"


class Connections:
    """A database, opened and made when first used. Safe for threads and processes.

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
    def of(cls, settings: Settings, shelf_folder: Path) -> Self:
        """The corpus of a shelf. Touches neither disk nor network.

        Raises
        ------
        BadRequest
            ``DATABASE_URL`` is not that of a PostgreSQL.
        """
        folder = shelf_folder / PRIVATE / "corpus"
        if address := settings.key("database_url"):
            return cls(_postgresql(address), folder)
        return cls(URL.create("sqlite", database=str(folder / "corpus.db")), folder)

    @property
    def is_postgresql(self) -> bool:
        """Whether it is a PostgreSQL."""
        return self._url.get_backend_name() == "postgresql"

    @cached_property
    def engine(self) -> Engine:
        """SQLAlchemy's engine, with the tables made.

        To write through it, take the write lock with
        ``engine.execution_options(corpus_writing=True).begin()``; see the module.
        """
        engine = _engine(self._url)
        writing = engine.execution_options(**{_WRITING: True})
        try:
            with self._opening_lock(), self._translate_errors(), writing.begin() as connection:
                corpus_schema.prepare(connection)
        except BaseException:
            engine.dispose()
            raise
        return engine

    @contextmanager
    def _opening_lock(self) -> Iterator[None]:
        """A lock while a new SQLite file is put into WAL mode: two at once would fail."""
        if self.is_postgresql:
            yield
            return
        make_folder(self._folder, 0o700)
        create_shared(self._folder / "corpus.db")
        with exclusive_lock(self._folder / "opening.lock"):
            yield

    def close(self) -> None:
        """Close all connections; the next call opens new ones."""
        if engine := self.__dict__.pop("engine", None):
            engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the database."""
        with self._translate_errors(), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that writes, all or nothing."""
        with self._translate_errors():
            engine = self.engine.execution_options(**{_WRITING: True})
            with engine.begin() as connection:
                yield connection

    @contextmanager
    def alone(self, name: str, patience_s: float) -> Iterator[None]:
        """Hold the lock *name* among all processes and threads; freed when its holder dies.

        Raises
        ------
        BadRequest
            Another one holds it, for longer than *patience_s*.
        """
        digest = hashlib.sha256(name.encode("utf-8", "replace")).digest()
        lock = self._advisory_lock(digest) if self.is_postgresql else self._file_lock(digest)
        with lock as acquire:
            end = time.time() + patience_s
            while not acquire():
                if time.time() >= end:
                    msg = f"Another process is at work on {name}."
                    raise BadRequest(msg, "Wait until it is done, and call again.")
                time.sleep(_POLL_S)
            yield

    @contextmanager
    def _advisory_lock(self, digest: bytes) -> Iterator[Any]:
        """An advisory lock of PostgreSQL, which lasts as long as the connection."""
        key = {"key": int.from_bytes(digest[:8], "big", signed=True)}
        engine = self.engine.execution_options(isolation_level="AUTOCOMMIT")
        with self._translate_errors():
            connection = engine.connect()
        query = text("SELECT pg_try_advisory_lock(:key)")

        def acquire() -> bool:
            with self._translate_errors():
                return bool(connection.execute(query, key).scalar())

        try:
            yield acquire
        finally:
            with suppress(SQLAlchemyError):
                connection.execute(text("SELECT pg_advisory_unlock_all()"))
            connection.invalidate()  # whatever became of it, no pooled connection holds a lock
            connection.close()

    @contextmanager
    def _file_lock(self, digest: bytes) -> Iterator[Any]:
        """The write lock of an SQLite file of its own, which stays empty."""
        import sqlite3

        make_folder(self._folder, 0o700)
        path = self._folder / f"sync-{digest.hex()[:16]}.lock"
        with disk(path, "lock"):
            path.touch(mode=0o600)
            inherit_group(path)
        with closing(sqlite.connect(path, patience_s=0)) as db:

            def acquire() -> bool:
                try:
                    return sqlite.lock(db)
                except sqlite3.Error as error:
                    raise self._store_error(error) from error

            yield acquire

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Turn errors of the database into `StoreFailed`."""
        try:
            yield
        except SQLAlchemyError as error:
            raise self._store_error(error) from None

    def _store_error(self, error: Exception) -> StoreFailed:
        cause = error.orig if isinstance(error, DBAPIError) else error
        if not self.is_postgresql and (closed := access_error(self._folder / "corpus.db")):
            return closed
        reason = " ".join(str(cause).split("\n", 1)[0].split())[:300]
        password = self._url.password
        if password:
            reason = reason.replace(str(password), "***")
        where = (
            f"at {self._url.host or 'its socket'}" if self.is_postgresql else f"in {self._folder}"
        )
        msg = f"The database of the corpus {where} could not be used: {reason.rstrip('.')}."
        return StoreFailed(msg, self._hint(reason.lower()))

    def _hint(self, reason: str) -> str:
        if self.is_postgresql:
            return "See that the server runs, and look at DATABASE_URL."
        if "locked" in reason or "busy" in reason:
            return "Another process holds it: wait until it is done, or end it."
        if "malformed" in reason or "not a database" in reason:
            return "It is damaged: move corpus.db away, sync and index again."
        return "Free some disk space, and see that its folder can be written."


def _postgresql(address: str) -> URL:
    """``postgres://``, ``postgresql://`` and any ``postgresql+driver://``, with psycopg 3."""
    hint = "Give postgresql://user:password@host/database, or leave DATABASE_URL out."
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        raise BadRequest("DATABASE_URL cannot be read.", hint) from None  # it may hold a password
    if url.drivername.partition("+")[0] not in {"postgres", "postgresql"}:
        raise BadRequest(f"DATABASE_URL is no PostgreSQL, but {url.drivername}.", hint)
    return url.set(drivername="postgresql+psycopg")


def _engine(url: URL) -> Engine:
    if url.get_backend_name() == "postgresql":
        try:
            options = {
                "connect_timeout": _CONNECT_S,
                "options": f"-c lock_timeout={1000 * _PATIENCE_S}",
            }
            engine = create_engine(url, pool_pre_ping=True, connect_args=options)
        except ModuleNotFoundError as error:
            msg = "DATABASE_URL is set, but PostgreSQL's driver is not installed."
            raise StoreFailed(msg, "Install psycopg[binary], or leave DATABASE_URL out.") from error
        event.listen(engine, "begin", _lock_postgresql)
        return engine
    engine = create_engine(url, connect_args={"timeout": _PATIENCE_S})
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # transactions begin where we say, not where sqlite3 guesses
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITING)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _lock_postgresql(connection: Connection) -> None:
    if connection.get_execution_options().get(_WRITING):
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_WRITE_LOCK})")
