"""The table of objects of PMC's Cloud Service: their ETags, batches and states.

It is one SQLite file, written by one process. Article versions are put into batches before anything
is fetched, so that a run after a death makes the same batches.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from ..sources.pmc_inventory import ObjectVersion
from ..system.sqlite import transaction
from .locks import open_table

FILE = "pmc.db"
_REBUILT = "Delete it: all articles are fetched again, and the present texts stay until then."
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS objects (
        pmcid INTEGER, version INTEGER, etag TEXT, batch INTEGER,
        state TEXT, reason TEXT DEFAULT '', had INTEGER DEFAULT 0, PRIMARY KEY (pmcid, version)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS of_batch ON objects (batch) WHERE state IN ('due', 'going');
    CREATE INDEX IF NOT EXISTS batches ON objects (batch);
    CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
    CREATE TEMP TABLE listed (
        pmcid INTEGER PRIMARY KEY, version INTEGER, etag TEXT
    );
"""
# Of an article its highest version counts; the listing may have them in any order.
_LIST = """
    INSERT INTO listed VALUES (?, ?, ?) ON CONFLICT (pmcid) DO UPDATE
    SET version = excluded.version, etag = excluded.etag WHERE excluded.version > version
"""
_NEW = """
    SELECT listed.pmcid, listed.version, listed.etag FROM listed
    LEFT JOIN objects USING (pmcid, version)
    WHERE objects.etag IS NOT listed.etag OR objects.state = 'gone'
        OR (? AND objects.state IN ('aside', 'vanished')) OR (? AND objects.state = 'other')
    ORDER BY 1
"""
_GONE = """
    SELECT objects.pmcid, objects.version, objects.etag FROM objects LEFT JOIN listed USING (pmcid)
    WHERE (objects.state IN ('done', 'due') OR objects.had)
    AND objects.state NOT IN ('gone', 'going')
    AND (listed.pmcid IS NULL OR objects.version > listed.version) ORDER BY 1, 2
"""


_PLAN = """
    INSERT INTO objects (pmcid, version, etag, batch, state) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (pmcid, version) DO UPDATE SET had = had OR objects.state = 'done', reason = '',
    etag = excluded.etag, batch = excluded.batch, state = excluded.state
"""
_DUE = """
    SELECT batch, state, pmcid, version, etag FROM objects WHERE state IN ('due', 'going')
    ORDER BY batch, pmcid, version
"""
_END = """
    UPDATE objects SET state = ?, reason = ?, had = (had OR ? = 'done') AND ? <> 'gone'
    WHERE batch = ? AND pmcid = ? AND version = ? AND etag = ?
"""
Batch = tuple[str, list[ObjectVersion]]
"""``due`` or ``going``, and which objects; no batch has both."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference from what is known: new, changed and vanished versions."""

    listed: int
    new: list[ObjectVersion]
    gone: list[ObjectVersion]


class ObjectTable:
    """The table of PMC's objects in one mirror.

    Raises
    ------
    StoreFailed
        By every method: the file cannot be read or written.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE

    def _open_database(self, *, write: bool = True) -> AbstractContextManager[sqlite3.Connection]:
        return open_table(self._path, _SCHEMA, _REBUILT, write=write)

    def compare_listing(
        self,
        listing: Iterable[ObjectVersion],
        *,
        within: Collection[int] | None = None,
        retry: bool = False,
        chosen_anew: bool = False,
    ) -> Difference:
        """Return how a listing differs from the known objects.

        Parameters
        ----------
        listing : iterable of ObjectVersion
            In any order.
        within : collection of int, optional
            The articles that were looked up; all when None. Those that the listing lacks are gone.
        retry : bool, optional
            Whether articles that were set aside are due again.
        chosen_anew : bool, optional
            Whether articles that were not chosen are due again, because the choice changed.
        """
        with self._open_database(write=False) as db:
            db.executemany(_LIST, listing)
            count = int(db.execute("SELECT count(*) FROM listed").fetchone()[0])
            new = [ObjectVersion(*row) for row in db.execute(_NEW, (retry, chosen_anew))]
            gone = [ObjectVersion(*row) for row in db.execute(_GONE)]
        if within is not None:
            gone = [one for one in gone if one.pmcid in within]
        return Difference(count, new, gone)

    def add_batches(self, batches: Sequence[Batch]) -> None:
        """Put objects into new batches with the next free numbers, in one transaction."""
        with self._open_database() as db, transaction(db):
            first = int(db.execute("SELECT coalesce(max(batch), 0) FROM objects").fetchone()[0])
            first = max(first, int(self._read_stored_value(db, "last_batch") or 0)) + 1
            for number, (state, some) in enumerate(batches, first):
                db.executemany(_PLAN, [(*one, number, state) for one in some])
            last = str(first + len(batches) - 1)
            db.execute("INSERT OR REPLACE INTO facts VALUES ('last_batch', ?)", (last,))

    def plan_again(self, batch: int) -> None:
        """Put the objects of a finished batch into new ones, because its bundle is lost."""
        query = """SELECT state = 'gone', pmcid, version, etag FROM objects
                   WHERE batch = ? AND (state IN ('done', 'aside', 'gone') OR had)"""
        some: dict[str, list[ObjectVersion]] = {"going": [], "due": []}
        with self._open_database() as db:
            for gone, *row in db.execute(query, (batch,)):
                some["going" if gone else "due"].append(ObjectVersion(*row))
        self.add_batches([(state, found) for state, found in some.items() if found])

    def list_due_batches(self) -> dict[int, Batch]:
        """Return the batches that are planned but not finished, by number."""
        found: dict[int, Batch] = {}
        with self._open_database(write=False) as db:
            for batch, state, *row in db.execute(_DUE):
                found.setdefault(batch, (state, []))[1].append(ObjectVersion(*row))
        return found

    def find_former_texts(self, batch: int) -> set[ObjectVersion]:
        """Return the versions of a batch that had a text before."""
        with self._open_database() as db:
            query = "SELECT pmcid, version, etag FROM objects WHERE batch = ? AND had"
            return {ObjectVersion(*row) for row in db.execute(query, (batch,))}

    def record_outcomes(self, batch: int, ends: Iterable[tuple[ObjectVersion, str, str]]) -> None:
        """Record the state of each object of a batch, and why."""
        rows = [(state, reason, state, state, batch, *one) for one, state, reason in ends]
        with self._open_database() as db, transaction(db):
            db.executemany(_END, rows)

    def move_to_batch(self, batches: Iterable[int], batch: int) -> None:
        """Move the objects of merged batches to the batch that replaces them."""
        query = "UPDATE objects SET batch = ? WHERE batch = ? AND state NOT IN ('due', 'going')"
        with self._open_database() as db, transaction(db):
            db.executemany(query, [(batch, one) for one in batches])

    def count_states(self) -> dict[str, int]:
        """Return the number of objects in each state."""
        with self._open_database(write=False) as db:
            query = "SELECT state, count(*) FROM objects GROUP BY 1 ORDER BY 1"
            return dict(db.execute(query).fetchall())

    def list_without_text(self) -> list[tuple[str, str, str]]:
        """Return the first 100 objects without a text: name, state and reason."""
        with self._open_database(write=False) as db:
            query = """SELECT 'PMC' || pmcid || '.' || version, state, reason FROM objects
                       WHERE state IN ('aside', 'vanished') ORDER BY pmcid LIMIT 100"""
            return db.execute(query).fetchall()

    def get_fact(self, name: str) -> str:
        """Return a fact by name; empty if unknown."""
        with self._open_database(write=False) as db:
            return self._read_stored_value(db, name)

    def set_fact(self, name: str, value: str) -> None:
        """Store a fact under a name."""
        with self._open_database() as db, transaction(db):
            db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def _read_stored_value(self, db: sqlite3.Connection, name: str) -> str:
        """Return a stored value by name; empty if unknown."""
        row = db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return str(row[0]) if row else ""
