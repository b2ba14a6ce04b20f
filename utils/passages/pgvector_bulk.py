"""Very many passages into the tables of `.pgvector`, by COPY; their indexes are made afterwards.

Every table of a schema is made as its own code makes it. Then its keys and indexes are taken down,
each with the statement that makes it again, in a table beside (``later``), so that who is killed
goes on with those that are left. Making an index over rows that are there takes a fraction of the
time of keeping it up row by row: PostgreSQL's documentation, *Populating a Database*.

COPY writes the values given also of an identity column (its documentation, notes on ``COPY FROM``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, text

from .pgvector import row_of, terms_of, vector_literal
from .ranking import key

if TYPE_CHECKING:
    from . import LoadedPassage

_LATER = "CREATE TABLE later (number serial PRIMARY KEY, statement text NOT NULL)"
# Passages of a generation are never deleted one by one, and are checked by counts.
_NEEDLESS = ("corpus_terms_passage",)
_KEYS = """
SELECT conname AS name, conrelid::regclass::text AS of, pg_get_constraintdef(oid) AS made, contype
FROM pg_constraint WHERE connamespace = CAST(:schema AS regnamespace) AND contype IN ('p', 'u', 'f')
    AND conrelid <> ALL(CAST(:kept AS regclass[])) ORDER BY contype = 'f' DESC, conname
"""
_INDEXES = """
SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS made
FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
WHERE relnamespace = CAST(:schema AS regnamespace) AND indrelid <> ALL(CAST(:kept AS regclass[]))
ORDER BY 1
"""
_MEMORY = "SELECT set_config('maintenance_work_mem', '512MB', true)"
_FINDER = (
    *("uuid", "number", "paper", "digest", "year", "journal", "types", "kind", "retracted"),
    *("length", "mesh"),
)
_COUNTED = """
UPDATE corpus_finder_model SET passages = counted.passages, length = counted.length,
    vectors = counted.vectors
FROM (SELECT count(*) AS passages, coalesce(sum(length), 0) AS length, {vectors} AS vectors
      FROM corpus_finder) AS counted
"""


def take_down(db: Connection, schema: str, kept: Sequence[str]) -> None:
    """Take down the keys and indexes of a schema, but those of the tables *kept*; see the module.

    Keys that lead to other tables go for good: what is loaded is checked as a whole.
    """
    about = {"schema": schema, "kept": list(kept)}
    db.execute(text(_LATER))
    later: list[str] = []
    for one in db.execute(text(_KEYS), about).all():
        db.execute(text(f'ALTER TABLE {one.of} DROP CONSTRAINT "{one.name}" CASCADE'))
        if one.contype != "f":
            later.append(f'ALTER TABLE {one.of} ADD CONSTRAINT "{one.name}" {one.made}')
    about["kept"] = [*kept, "later"]
    for one in db.execute(text(_INDEXES), about).all():
        db.execute(text(f"DROP INDEX {one.name}"))
        if one.name.rpartition(".")[2] not in _NEEDLESS:
            later.append(one.made)
    rows = [{"statement": statement} for statement in later]
    db.execute(text("INSERT INTO later (statement) VALUES (:statement)"), rows)


def left(db: Connection) -> list[tuple[int, str]]:
    """The keys and indexes that are not made again yet."""
    found = db.execute(text("SELECT number, statement FROM later ORDER BY number"))
    return [(row.number, row.statement) for row in found]


def make(db: Connection, number: int, statement: str) -> None:
    """Make one of them."""
    db.execute(text(_MEMORY))
    db.exec_driver_sql(statement)
    db.execute(text("DELETE FROM later WHERE number = :number"), {"number": number})


def copy(db: Connection, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Copy rows into a table, in the transaction of *db*."""
    with _copying(db, table, columns) as copying:
        for row in rows:
            copying.write_row(row)


def copy_passages(db: Connection, loaded: Sequence[LoadedPassage], first: int) -> None:
    """Copy passages, numbered from *first* on, with their terms and vectors."""
    weighed = [terms_of(one.passage) for one in loaded]
    vectored = any(one.vector is not None for one in loaded)
    columns = (*_FINDER, "vector") if vectored else _FINDER
    rows = (
        _row(one, first + at, length, vectored=vectored)
        for at, (one, (_, length)) in enumerate(zip(loaded, weighed, strict=True))
    )
    copy(db, "corpus_finder", columns, rows)
    with _copying(db, "corpus_terms", ("term", "passage", "weight")) as copying:
        for at, (weights, _) in enumerate(weighed, first):
            # A term is letters, figures and dots: nothing that COPY reads in another way.
            copying.write("".join(f"{term}\t{at}\t{weights[term]}\n" for term in weights))


def count(db: Connection, *, vectored: bool) -> None:
    """Write down the counts that ranking needs."""
    vectors = "count(vector)" if vectored else "0"
    db.execute(text(_COUNTED.format(vectors=vectors)))


def _row(one: LoadedPassage, number: int, length: int, *, vectored: bool) -> list[Any]:
    about = {**row_of(one.passage, None), "number": number, "length": length}
    about["mesh"] = [key(name) for name in one.mesh]
    values = [about[name] for name in _FINDER]
    if vectored:
        values.append(None if one.vector is None else vector_literal(one.vector))
    return values


def _copying(db: Connection, table: str, columns: Sequence[str]) -> Any:
    """COPY as psycopg does it, inside the transaction of *db*."""
    names = ", ".join(f'"{name}"' for name in columns)
    driver: Any = db.connection.driver_connection
    return driver.cursor().copy(f"COPY {table} ({names}) FROM STDIN")
