"""The catalogue: SQLite beside the files, so that a paper is found at once by any of its names.

Files are the truth and this is an index over them. A catalogue of an older version, or a damaged
one, is set aside and made again from the files; no data are migrated.

``papers`` has one row a text, with its record and its row of ``index.csv``. What filters ask for is
kept in columns before these two: a filter that read them would read all pages of the database, and
parse JSON for each row (100 instead of 12 ms for 20,000 papers). ``names`` maps every
identifier to the texts of one paper; ``words`` is the full-text index over title and abstract,
where SQLite was built with FTS5. ``unfinished`` names the files that a writer is about to change,
so that what a killed writer left half done is finished by the next one.

WAL lets readers go on while somebody writes. ``synchronous=FULL`` costs one flush per save, next
to six for the paper's files, and keeps a promise: a paper reported as saved is found by every
name also after a power cut.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar, cast, get_args

from ..errors import StoreFailed
from ..model.paper import Kind
from ..model.versions import UNPUBLISHED_VERSIONS
from ..system import safe_files, sqlite
from ..system.plain_text import replace_surrogates
from ..system.safe_files import exclusive_lock
from .listing import ListingFilter

log = logging.getLogger(__name__)
VERSION = 4
_TABLES = """
CREATE TABLE schema_version (version INTEGER NOT NULL);
CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE papers (
    id INTEGER PRIMARY KEY,
    file TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    version TEXT NOT NULL,
    year TEXT NOT NULL,
    journal TEXT NOT NULL,
    retracted INTEGER NOT NULL,
    filed INTEGER NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    title TEXT AS (json_extract(line, '$.title')) STORED,
    authors TEXT AS (json_extract(line, '$.authors')) STORED,
    license TEXT AS (json_extract(line, '$.license')) STORED,
    verdict TEXT AS (json_extract(line, '$.verdict')) STORED,
    tags TEXT AS (json_extract(line, '$.tags')) STORED,
    abbreviation TEXT AS (json_extract(record, '$.stored.paper.journal_abbreviation')) STORED,
    issn TEXT AS (json_extract(record, '$.stored.paper.issn')) STORED,
    line TEXT NOT NULL,
    record TEXT NOT NULL
);
CREATE INDEX papers_file ON papers (file COLLATE NOCASE);
CREATE INDEX papers_version ON papers (version);
CREATE INDEX papers_filed ON papers (filed);
CREATE INDEX papers_journal ON papers (journal);
CREATE TABLE names (
    name TEXT NOT NULL,
    paper INTEGER NOT NULL REFERENCES papers (id) ON DELETE CASCADE,
    PRIMARY KEY (name, paper)
) WITHOUT ROWID;
CREATE INDEX names_paper ON names (paper);
CREATE TABLE unfinished (file TEXT PRIMARY KEY, task TEXT NOT NULL, pid INTEGER NOT NULL,
    since REAL NOT NULL) WITHOUT ROWID;
CREATE VIEW texts AS SELECT id,
    json_extract(record, '$.stored.paper.title') AS title,
    json_extract(record, '$.stored.paper.abstract') AS abstract FROM papers;
"""
WORDS = """
CREATE VIRTUAL TABLE words USING fts5 (title, abstract, content='texts', content_rowid='id',
    tokenize="unicode61 remove_diacritics 2");
"""


def read_table_version(connection: sqlite3.Connection) -> int | None:
    """Return the version of the tables; None if the tables do not exist yet."""
    query = "SELECT 1 FROM sqlite_master WHERE name = 'schema_version'"
    if connection.execute(query).fetchone() is None:
        return None
    row = connection.execute("SELECT version FROM schema_version").fetchone()
    return int(row[0]) if row else None


def create_tables(connection: sqlite3.Connection) -> None:
    """Create the tables, inside the caller's transaction."""
    for statement in _TABLES.split(";\n"):
        if statement.strip():
            connection.execute(statement)
    try:
        connection.execute(WORDS)
    except sqlite3.OperationalError as error:
        log.info("SQLite without FTS5 (%s): listings by word look through every paper.", error)
    connection.execute("INSERT INTO schema_version VALUES (?)", (VERSION,))


def has_full_text_index(connection: sqlite3.Connection) -> bool:
    """Return whether the database has a full-text index."""
    query = "SELECT 1 FROM sqlite_master WHERE name = 'words'"
    return connection.execute(query).fetchone() is not None


_PATIENCE_MS = 60_000
_MOST_IDLE = 8  # connections, of two megabytes at most
# An external-content index is told what leaves before the row does: it cannot look it up later.
_FORGET = """INSERT INTO words (words, rowid, title, abstract)
    SELECT 'delete', id, title, abstract FROM texts WHERE id = ?"""
_LEARN = (
    "INSERT INTO words (rowid, title, abstract) SELECT id, title, abstract FROM texts WHERE id = ?"
)
Params = ParamSpec("Params")
Result = TypeVar("Result")


class CatalogueDamaged(Exception):
    """The database file is damaged; it can be rebuilt from the files."""


class CatalogueEntry(NamedTuple):
    """One row of the catalogue, with the columns that lookups need."""

    id: int
    file: str
    size: int
    mtime_ns: int
    record: str
    kind: str


class NewCatalogueEntry(NamedTuple):
    """The row to be written for one paper."""

    file: str
    kind: str
    version: str
    year: str
    journal: str
    retracted: bool
    filed: int
    size: int
    mtime_ns: int
    line: str
    record: str


# Texts of papers that have another one nearer to the published version.
_LISTED = "(SELECT value FROM json_each(?))"
_STAND_INS_COUNT = f"""SELECT count(DISTINCT papers.id) FROM papers
    JOIN names ON names.paper = papers.id
    JOIN names AS same ON same.name = names.name AND same.paper <> papers.id
    JOIN papers AS better ON better.id = same.paper
    WHERE papers.file NOT IN {_LISTED} AND better.file NOT IN {_LISTED}
        AND (papers.version = 'preprint'
            OR (papers.version = 'accepted' AND better.version <> 'preprint'))"""  # noqa: S608
_ENTRY = "papers.id, papers.file, papers.size, papers.mtime_ns, papers.record, papers.kind"


class _PooledConnection(NamedTuple):
    """A connection, with the inode, process and epoch in which it was opened."""

    connection: sqlite3.Connection
    inode: int
    pid: int
    epoch: int


class Catalogue:
    """The database of one shelf, for all threads and processes.

    A thread borrows a connection for what it does: a hundred threads take no hundred connections,
    each with its descriptors and pages.

    Attributes
    ----------
    fill : callable
        Enters the files of the shelf into new tables, in the transaction that makes the tables: no
        thread or process ever reads a catalogue that lacks them.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fill: Callable[[], object] = lambda: None
        self._local = threading.local()
        self._idle: list[_PooledConnection] = []
        self._inherited: list[
            _PooledConnection
        ] = []  # for good: SQLite does not survive that they are closed
        self._lending = threading.Lock()
        self._turn = threading.RLock()
        self._epoch = 0
        self._read_only = False
        self._fts: bool | None = None

    # -- connections -------------------------------------------------------------------------

    def exists(self) -> bool:
        """Return whether the database file exists."""
        return self._get_inode() != 0

    def _get_inode(self) -> int:
        try:
            return os.stat(self.path).st_ino  # noqa: PTH116 - a third of the cost, on every find
        except OSError:
            return 0

    @contextlib.contextmanager
    def borrow_connection(self) -> Iterator[sqlite3.Connection]:
        """Provide the connection of the open transaction, or else one from the pool.

        The file is created if need be (its folder is not).
        """
        if (writing := self._get_transaction_connection()) is not None:
            yield writing
            return
        with self._take_pooled_connection() as one:
            yield one.connection

    @contextlib.contextmanager
    def _take_pooled_connection(self) -> Iterator[_PooledConnection]:
        """Take a connection from the pool, and return it afterwards."""
        with self._convert_to_catalogue_errors():
            one = self._take_idle_connection() or self._open_connection()
            try:
                yield one
            finally:
                self._return_connection(one)

    def _get_transaction_connection(self) -> sqlite3.Connection | None:
        """Return the connection of this thread's open transaction, else None."""
        connection, pid = getattr(self._local, "writing", (None, 0))
        return cast("sqlite3.Connection", connection) if pid == os.getpid() else None

    def _take_idle_connection(self) -> _PooledConnection | None:
        """Return an idle connection to the present file; None if the pool has none."""
        with self._lending:
            while self._idle:
                if self._is_usable_connection(one := self._idle.pop()):
                    return one
                self._discard_connection(one)
        return None

    def _is_usable_connection(self, one: _PooledConnection) -> bool:
        """Return whether a connection belongs to this process and to the present file.

        The file may have been deleted by hand, or set aside by a process that found it damaged.
        """
        return one[1:] == (self._get_inode(), os.getpid(), self._epoch)

    def _open_connection(self) -> _PooledConnection:
        epoch = self._epoch
        connection = self._open_database()
        inode = self._get_inode()
        try:
            self._prepare_tables(connection)
        except BaseException:
            connection.close()
            raise
        return _PooledConnection(connection, inode, os.getpid(), epoch)

    def _return_connection(self, one: _PooledConnection) -> None:
        """Return a connection to the pool, or close it."""
        with self._lending:
            clean = self._is_usable_connection(one) and not one.connection.in_transaction
            if clean and len(self._idle) < _MOST_IDLE:
                self._idle.append(one)
            else:
                self._discard_connection(one)

    def _discard_connection(self, one: _PooledConnection) -> None:
        if one.pid != os.getpid():
            self._inherited.append(one)
            return
        with contextlib.suppress(sqlite3.Error):
            one.connection.close()

    def _open_database(self) -> sqlite3.Connection:
        connection = sqlite.open_database(self.path, _PATIENCE_MS / 1000)
        connection.execute("PRAGMA foreign_keys = ON")
        if self.exists() and not (
            os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)
        ):
            # A shelf on a read-only disk: WAL would want to create files beside the database.
            connection.close()
            self._read_only = True
            quoted = self.path.absolute().as_uri()
            return sqlite3.connect(
                f"{quoted}?immutable=1", uri=True, isolation_level=None, check_same_thread=False
            )
        sqlite.enable_wal_mode(connection, self.path, "FULL")
        return connection

    def _prepare_tables(self, connection: sqlite3.Connection) -> None:
        found = read_table_version(connection)
        if found is None:
            self._create_tables_once(connection)
            found = VERSION
        if found < VERSION:
            msg = f"schema {found} of an older version"
            raise CatalogueDamaged(msg)
        if found > VERSION:
            msg = f"{self.path} was written by a newer version of Papershelf (schema {found})."
            hint = f"Use that version, or delete {self.path.name}: it is made again from the files."
            raise StoreFailed(msg, hint)
        if self._fts is None:
            self._fts = has_full_text_index(connection)

    def _create_tables_once(self, connection: sqlite3.Connection) -> None:
        """Create and fill the tables, unless another thread or process has done so."""
        with self._turn, sqlite.transaction(connection), self._bind_to_thread(connection):
            if read_table_version(connection) is None:
                create_tables(connection)
                self._fts = has_full_text_index(connection)
                self.fill()

    def close(self) -> None:
        """Close all connections; the next call opens a new one.

        Those that are in use are closed when they are given back.
        """
        with self._turn, self._lending:
            self._epoch += 1
            self._read_only = False
            while self._idle:
                self._discard_connection(self._idle.pop())

    def move_damaged_file_aside(self) -> None:
        """Move a damaged database aside, unless another process has replaced it already."""
        # No thread of ours may commit to a file that is about to be moved away.
        with self._turn, exclusive_lock(self.path.with_name("healing.lock")):
            self.close()
            with contextlib.suppress(CatalogueDamaged, StoreFailed):
                if self._query_rows("PRAGMA quick_check")[0][0] == "ok":
                    return  # another process was faster
            self.close()
            sqlite.move_database_aside(self.path, sqlite.build_damaged_path(self.path))

    @contextlib.contextmanager
    def open_transaction(self) -> Iterator[sqlite3.Connection]:
        """Open the only write transaction of all processes; commit at the end, or roll back.

        Raises
        ------
        CatalogueDamaged
            Another process set the file aside meanwhile: what was written would be lost with it.
        """
        if (connection := self._get_transaction_connection()) is not None:
            yield connection
            return
        with self._turn, self._take_pooled_connection() as one:
            if self._read_only:
                if access_error := safe_files.find_access_error(
                    self.path
                ) or safe_files.find_access_error(self.path.parent):
                    raise access_error
                msg = f"The catalogue {self.path} is read-only."
                raise StoreFailed(msg, "Point PAPERS_DIR at a folder that can be written.")
            with sqlite.transaction(one.connection), self._bind_to_thread(one.connection):
                yield one.connection
                if self._get_inode() != one.inode:
                    msg = "another process moved it away while this one wrote to it"
                    raise CatalogueDamaged(msg)

    @contextlib.contextmanager
    def _bind_to_thread(self, connection: sqlite3.Connection) -> Iterator[None]:
        """Make this thread use *connection*, which is in a transaction, for everything inside."""
        self._local.writing = (connection, os.getpid())
        try:
            yield
        finally:
            self._local.writing = (None, 0)

    @contextlib.contextmanager
    def _convert_to_catalogue_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            if sqlite.is_damage_error(error):
                raise CatalogueDamaged(str(error)) from error
            if not isinstance(error, sqlite3.OperationalError):
                raise
            if access_error := safe_files.find_access_error(self.path):
                raise access_error from error
            hint = "Free some disk space, and check that its folder can be written."
            if sqlite.is_lock_timeout(error):
                hint = "Another process uses the catalogue: wait until it ends, or stop it."
            msg = f"The catalogue {self.path} could not be used: {error}."
            raise StoreFailed(msg, hint, file=str(self.path)) from error

    def _query_rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[object, ...]]:
        with self.borrow_connection() as connection:
            return connection.execute(query, values).fetchall()

    # -- reading -----------------------------------------------------------------------------

    def find_entries_by_names(self, names: Sequence[str]) -> list[CatalogueEntry]:
        """Return the entries that any of *names* points to, in the order of *names*, each once."""
        names = [
            name for name in names if name == replace_surrogates(name)
        ]  # no other was ever filed
        marks = ",".join("?" * len(names))
        query = (
            f"SELECT names.name, {_ENTRY} FROM names JOIN papers ON papers.id = names.paper "  # noqa: S608 - only question marks are put in
            f"WHERE names.name IN ({marks}) ORDER BY papers.id"
        )
        rows = self._query_rows(query, names)
        rows.sort(key=lambda row: names.index(str(row[0])))
        return list({row[1]: CatalogueEntry(*row[1:]) for row in rows}.values())  # type: ignore[arg-type]

    def find_known_names(self, names: Iterable[str]) -> set[str]:
        """Return the *names* that point to an entry."""
        query = "SELECT name FROM names WHERE name IN (SELECT value FROM json_each(?))"
        return {str(name) for (name,) in self._query_rows(query, (json.dumps(list(names)),))}

    def find_entry_by_file(self, file: str) -> CatalogueEntry | None:
        """Return the entry whose file has this name, ignoring case; None if no entry has."""
        query = f"SELECT {_ENTRY} FROM papers WHERE file = ? COLLATE NOCASE ORDER BY file = ? DESC"  # noqa: S608
        rows = self._query_rows(query + " LIMIT 1", (file, file))
        return CatalogueEntry(*rows[0]) if rows else None  # type: ignore[arg-type]

    def search_entries(
        self, wanted: ListingFilter, start: int, limit: int
    ) -> tuple[int, list[CatalogueEntry]]:
        """Return the number of matches and one page: by relevance for words, else newest first."""
        tables, where, values, order = wanted.to_sql_clauses(self.has_fts)
        condition = " AND ".join(["1", *where])
        # Sorted without the records, which are a hundred times as long as all else in a row.
        page = self._query_rows(
            f"SELECT papers.id FROM {tables} WHERE {condition} ORDER BY {order} LIMIT ? OFFSET ?",  # noqa: S608 - the parts are constants of `listing`
            [*values, limit, start],
        )
        total = start + len(page)
        if len(page) == limit or (start and not page):  # unless the page is the last one
            query = f"SELECT count(*) FROM {tables} WHERE {condition}"  # noqa: S608
            total = int(str(self._query_rows(query, values)[0][0]))
        ids = json.dumps([number for (number,) in page])
        rows = self._query_rows(
            f"SELECT {_ENTRY} FROM json_each(?) AS one JOIN papers ON papers.id = one.value "  # noqa: S608
            "ORDER BY one.key",
            (ids,),
        )
        return total, [CatalogueEntry(*row) for row in rows]  # type: ignore[arg-type]

    @property
    def has_fts(self) -> bool:
        """True if the database has a full-text index; without one, every paper is searched."""
        if self._fts is None:
            with self.borrow_connection():
                pass
        return bool(self._fts)

    def read_file_stamps(self) -> dict[str, tuple[int, int]]:
        """Return size and modification time of each file, as recorded when it was catalogued."""
        rows = self._query_rows("SELECT file, size, mtime_ns FROM papers")
        return {str(file): (int(size), int(time)) for file, size, time in rows}  # type: ignore[call-overload]

    def count_papers(self, without: Collection[str] = ()) -> dict[str, int]:
        """Count papers, texts by kind, full texts of two versions, and retracted texts.

        Files *without* are not counted.
        """
        left_out = json.dumps(sorted(without))
        query = f"""SELECT kind, version, count(*), sum(retracted) FROM papers
            WHERE file NOT IN {_LISTED} GROUP BY kind, version"""  # noqa: S608
        kinds = dict.fromkeys(get_args(Kind), 0)
        versions: dict[str, int] = dict.fromkeys(UNPUBLISHED_VERSIONS, 0)
        retracted = 0
        for kind, version, n, bad in cast(
            "list[tuple[Kind, str, int, int]]", self._query_rows(query, (left_out,))
        ):
            kinds[kind] += n
            retracted += bad
            if kind == "full_text" and version in versions:
                versions[version] += n
        again = int(str(self._query_rows(_STAND_INS_COUNT, (left_out, left_out))[0][0]))
        papers = sum(kinds.values()) - again
        return {"papers": papers, **kinds, **versions, "retracted": retracted}

    def read_index_rows(self) -> Iterator[str]:
        """Yield the rows of ``index.csv`` as JSON, the oldest paper first."""
        with self.borrow_connection() as connection:
            for row in connection.execute("SELECT line FROM papers ORDER BY filed, file"):
                yield row[0]

    def list_files(self, kinds: Sequence[str]) -> list[str]:
        """Return the files of these kinds, the oldest first."""
        marks = ",".join("?" * len(kinds))
        query = f"SELECT file FROM papers WHERE kind IN ({marks}) ORDER BY filed, file"  # noqa: S608
        return [str(row[0]) for row in self._query_rows(query, tuple(kinds))]

    def list_journal_word_counts(self, journal: str, most: int) -> list[tuple[str, int, list[str]]]:
        """Return file, word count and publication types of a journal's newest full papers."""
        query = """SELECT file, json_extract(record, '$.words'),
            json_extract(record, '$.stored.paper.publication_types') FROM papers
            WHERE journal = ? AND kind = 'full_text'
            AND json_extract(record, '$.stored.verdict') = 'full_text'
            ORDER BY filed DESC LIMIT ?"""
        rows = self._query_rows(query, (replace_surrogates(journal), most))
        return [(str(file), int(str(words)), json.loads(str(types))) for file, words, types in rows]

    def list_texts(self) -> list[tuple[str, Kind, str, str]]:
        """Yield each text's file, kind, record, ids, route and licence, newest first."""
        query = """SELECT file, kind, record, json_extract(record,
            '$.stored.paper.ids', '$.stored.via', '$.stored.license') FROM papers
            ORDER BY filed DESC"""
        return self._query_rows(query)  # type: ignore[return-value]

    def list_papers_without_text(self) -> list[tuple[str, str]]:
        """Return identifiers (as JSON) and title of every paper without a full text."""
        query = """SELECT json_extract(record, '$.stored.paper.ids'),
            json_extract(record, '$.stored.paper.title') FROM papers
            WHERE kind <> 'full_text' AND id NOT IN (SELECT names.paper FROM names
                JOIN names AS same ON same.name = names.name
                JOIN papers AS better ON better.id = same.paper
                WHERE better.kind = 'full_text')"""
        return [(str(ids), str(title or "")) for ids, title in self._query_rows(query)]

    def count_unjudged_texts(self, judges: int) -> int:
        """Return how many texts were not judged by the judges of version *judges*."""
        query = """SELECT count(*) FROM papers WHERE kind IN ('full_text', 'rejected')
            AND coalesce(json_extract(record, '$.stored.judges'), 0) <> ?
            AND json_extract(record, '$.stored.verdict') <> 'by_hand'"""
        return int(str(self._query_rows(query, (judges,))[0][0]))

    def get_highest_order_number(self) -> int:
        """Return the highest order number of an entry; 0 without entries."""
        return int(str(self._query_rows("SELECT coalesce(max(filed), 0) FROM papers")[0][0]))

    def count_entries(self) -> int:
        """Return the number of entries."""
        return int(str(self._query_rows("SELECT count(*) FROM papers")[0][0]))

    def count_entries_by_route(self, via: str) -> int:
        """Return the number of entries whose text came by the route *via*."""
        query = "SELECT count(*) FROM papers WHERE json_extract(record, '$.stored.via') = ?"
        return int(str(self._query_rows(query, (via,))[0][0]))

    # -- writing -----------------------------------------------------------------------------

    def write_entry(
        self,
        new: NewCatalogueEntry,
        names: Sequence[str],
        replacing: int | None = None,
        beside: Sequence[int] = (),
    ) -> int:
        """Write one entry; its *names* point to it from now on.

        They go on to point to the entries *beside* it: other texts of the same paper.
        """
        with self.open_transaction() as connection:
            marks = ",".join("?" * len(new))
            if replacing is None:
                query = f"INSERT INTO papers ({','.join(new._fields)}) VALUES ({marks})"  # noqa: S608
                number = connection.execute(query, new).lastrowid or 0
            else:
                number = replacing
                if self.has_fts:
                    connection.execute(_FORGET, (number,))
                columns = ",".join(f"{name} = ?" for name in new._fields)
                connection.execute(f"UPDATE papers SET {columns} WHERE id = ?", (*new, number))  # noqa: S608
            if self.has_fts:
                connection.execute(_LEARN, (number,))
            others = ",".join("?" * len(beside))
            taken = f"DELETE FROM names WHERE name = ? AND paper NOT IN ({others})"  # noqa: S608
            connection.executemany(taken, [(name, *beside) for name in names])
            connection.executemany(
                "INSERT OR REPLACE INTO names VALUES (?, ?)", [(name, number) for name in names]
            )
        return number

    def delete_entry(self, number: int) -> None:
        """Delete an entry and its names."""
        with self.open_transaction() as connection:
            if self.has_fts:
                connection.execute(_FORGET, (number,))
            connection.execute("DELETE FROM papers WHERE id = ?", (number,))

    def delete_all_entries(self) -> None:
        """Delete all entries and facts, but not the announced changes."""
        with self.open_transaction() as connection:
            if self.has_fts:
                connection.execute("DROP TABLE words")
                connection.execute(WORDS)
            for table in ("names", "papers", "notes"):
                connection.execute(f"DELETE FROM {table}")  # noqa: S608 - constants

    def get_fact(self, name: str) -> str:
        """Return a stored fact about the catalogue; "" if it is unknown."""
        rows = self._query_rows("SELECT value FROM notes WHERE name = ?", (name,))
        return str(rows[0][0]) if rows else ""

    def set_fact(self, name: str, value: str) -> None:
        """Store a fact about the catalogue."""
        with self.open_transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, value))

    def announce_change(self, file: str, task: str, since: float) -> None:
        """Announce that *file* is about to be written (``register``) or deleted (``remove``).

        A deletion that is announced stays so until the file is deleted or written: who meant to
        write it may find, a moment later, that another name is the right one.
        """
        with self.open_transaction() as connection:
            row = (file, task, os.getpid(), since)
            connection.execute(
                """INSERT INTO unfinished VALUES (?, ?, ?, ?) ON CONFLICT (file) DO UPDATE
                SET task = excluded.task, pid = excluded.pid, since = excluded.since
                WHERE task = 'register' OR excluded.task != 'register'""",
                row,
            )

    def clear_announcement(self, file: str, task: str = "") -> None:
        """Delete the announcement (of *task* only) of a change that was finished or given up."""
        with self.open_transaction() as connection:
            connection.execute(
                "DELETE FROM unfinished WHERE file = ? AND ? IN (task, '')", (file, task)
            )

    def list_unfinished_changes(self) -> list[tuple[str, str, int, float]]:
        """Return the announced and unfinished changes: file, task, process, start."""
        return self._query_rows("SELECT file, task, pid, since FROM unfinished")  # type: ignore[return-value]


class Repairable(Protocol):
    """An object with a catalogue that can be rebuilt."""

    def repair_catalogue(self, error: CatalogueDamaged) -> None:
        """Rebuild the catalogue from the files."""


H = TypeVar("H", bound=Repairable)


def repair_and_retry(
    method: Callable[Concatenate[H, Params], Result],
) -> Callable[Concatenate[H, Params], Result]:
    """Return *method*, repeated once after a damaged catalogue was rebuilt from the files."""

    @functools.wraps(method)
    def call_with_repair(self: H, /, *args: Params.args, **kwargs: Params.kwargs) -> Result:
        try:
            return method(self, *args, **kwargs)
        except CatalogueDamaged as error:
            self.repair_catalogue(error)
            return method(self, *args, **kwargs)

    return call_with_repair
