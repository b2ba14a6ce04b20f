"""The finder inside PostgreSQL: where the corpus is, words and vectors are too.

One table, ``corpus_finder``: a weighted ``tsvector`` under a GIN index, and a column of pgvector
under HNSW (cosine). The column carries the width of its vectors; another model means another
column. Words are first looked for all together, then any of them: ranking by ``ts_rank_cd`` reads
every row that matches, and half a corpus matches any of ten words.

Facts: PostgreSQL manual, "Controlling Text Search"; pgvector's README (HNSW up to 2,000
dimensions, ``halfvec`` up to 4,000, iterative scans since 0.8).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import sqlalchemy.exc
from sqlalchemy import Connection, Engine, text

from ..errors import StoreFailed
from ..model.passage import Filters, Hit, Passage
from . import FinderStatus
from .ranking import Scored, depth_for, folded, fused, key, plain, terms_of
from .vector_checks import checked, checked_query

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from . import Vectors

_LOCK = 0x70617066  # one process at a time changes the schema
_HNSW_WIDEST = 2_000
_HALF_WIDEST = 4_000
_SCHEMA = """
CREATE TABLE IF NOT EXISTS corpus_finder (
    uuid uuid PRIMARY KEY, paper text NOT NULL, digest text NOT NULL, year integer,
    journal text NOT NULL, types text[] NOT NULL, kind text NOT NULL, retracted boolean NOT NULL,
    words tsvector NOT NULL
);
CREATE INDEX IF NOT EXISTS corpus_finder_words ON corpus_finder USING gin (words);
CREATE TABLE IF NOT EXISTS corpus_finder_model (
    one boolean PRIMARY KEY DEFAULT true CHECK (one), model text NOT NULL, dim integer NOT NULL
);
INSERT INTO corpus_finder_model (model, dim) VALUES ('', 0) ON CONFLICT DO NOTHING
"""
_PARSED = """
    SELECT uuid::uuid, paper, digest, year, journal, types, kind, retracted,
        setweight(to_tsvector('english', title), 'A')
        || setweight(to_tsvector('english', section), 'B')
        || setweight(to_tsvector('english', text), 'D') {vector}
    FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given (
        uuid text, paper text, digest text, year integer, journal text, types text[], kind text,
        retracted boolean, title text, section text, text text, vector text)
"""
_COLUMNS = "uuid, paper, digest, year, journal, types, kind, retracted, words"
_REPLACED = ", ".join(f"{name} = excluded.{name}" for name in _COLUMNS.split(", ")[1:])
# Without a new vector, the old one stays while the passage says the same.
_KEPT = """vector = CASE WHEN excluded.vector IS NULL AND excluded.digest <> ''
    AND excluded.digest = corpus_finder.digest THEN corpus_finder.vector ELSE excluded.vector END"""


class PgvectorFinder:
    """Passages and vectors in the database of *engine*; see `.Finder`."""

    name = "pgvector"

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def prepare(self, model: str, dim: int) -> None:
        """Make the tables; make the column of vectors anew for another model.

        Raises
        ------
        StoreFailed
            The extension ``vector`` is not there and may not be created.
        """
        with self._writing() as db:
            db.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            for statement in _SCHEMA.split(";\n"):
                db.execute(text(statement))
            if not model or _model(db) == (model, dim):
                return
            db.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
            db.execute(text("ALTER TABLE corpus_finder DROP COLUMN IF EXISTS vector"))
            db.execute(text(f"ALTER TABLE corpus_finder ADD COLUMN vector vector({int(dim)})"))
            if expression := _index_expression(dim):
                method = f"hnsw (({expression}) {_operators(dim)})"
                db.execute(text(f"CREATE INDEX ON corpus_finder USING {method}"))
            facts = {"model": model, "dim": dim}
            db.execute(text("UPDATE corpus_finder_model SET model = :model, dim = :dim"), facts)

    def upsert(self, passages: Sequence[Passage], vectors: Vectors | None) -> None:
        """Keep passages; those without a new vector keep the old one while they say the same.

        Raises
        ------
        InvariantFailed
            The vectors are not those of the model this was prepared for.
        """
        with self._writing() as db:
            _, dim = _model(db)
            rows = None if vectors is None else checked(vectors, passages, dim)
            rows_by_uuid = {}
            for at, passage in enumerate(passages):
                rows_by_uuid[passage.uuid] = _row(passage, None if rows is None else rows[at])
            if rows_by_uuid:
                # Two writers that take the same rows take them in the same order.
                ordered = [rows_by_uuid[uuid] for uuid in sorted(rows_by_uuid)]
                db.execute(text(_upsert_statement(dim)), {"rows": json.dumps(ordered)})

    def remove(self, uuids: Sequence[str]) -> None:
        """Forget passages; the unknown are no error."""
        with self._writing() as db:
            query = "DELETE FROM corpus_finder WHERE uuid = ANY(CAST(:uuids AS uuid[]))"
            db.execute(text(query), {"uuids": list(uuids)})

    def search(
        self, query: str, vector: NDArray[np.float32] | None, limit: int, filters: Filters
    ) -> list[Hit]:
        """The best passages by words and, with a vector, by meaning.

        Raises
        ------
        StoreFailed
            The database did not answer.
        InvariantFailed
            The vector is of another width than those of the passages.
        """
        terms, depth = terms_of(folded(query)), depth_for(limit)
        with self._reading() as db:
            if not _has_tables(db):
                return []
            _, dim = _model(db)
            words = _by_words(db, terms, depth, filters) if terms else []
            near: list[Scored] = []
            if vector is not None and dim:
                near = _by_meaning(db, checked_query(vector, dim), depth, filters)
        return fused(words, near, limit)

    def without_vectors(self, uuids: Sequence[str]) -> set[str]:
        """Which of these have no vector, or (where no model was ever prepared) are not held."""
        with self._reading() as db:
            if not _has_tables(db):
                return set(uuids)
            wanted = "AND vector IS NOT NULL" if _model(db)[1] else ""
            query = f"""SELECT uuid::text FROM corpus_finder
                WHERE uuid = ANY(CAST(:uuids AS uuid[])) {wanted}"""  # noqa: S608
            held = db.execute(text(query), {"uuids": list(uuids)}).scalars()
            return set(uuids) - set(held)

    def status(self) -> FinderStatus:
        """Count what is in it."""
        with self._reading() as db:
            if not _has_tables(db):
                return FinderStatus(0, 0)
            model, dim = _model(db)
            counted = "count(vector)" if dim else "0"
            query = f"SELECT count(*), {counted} FROM corpus_finder"  # noqa: S608
            passages, vectors = db.execute(text(query)).one()
            return FinderStatus(passages, vectors, model, dim)

    def close(self) -> None:
        """Does nothing: the engine belongs to the corpus database."""

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._explain_errors(), self._engine.connect() as db:
            yield db

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._explain_errors(), self._engine.begin() as db:
            yield db

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlalchemy.exc.SQLAlchemyError as error:
            # The driver's own sentence; SQLAlchemy's would repeat the parameters.
            reason = str(getattr(error, "orig", None) or type(error).__name__).split("\n")[0]
            where = f"{self._engine.url.host or 'local'}/{self._engine.url.database}"
            msg = f"PostgreSQL ({where}) could not keep or find passages: {reason}."
            raise StoreFailed(msg, _hint(reason)) from error


def _hint(reason: str) -> str:
    if "vector" in reason and ("extension" in reason or "type" in reason):
        return (
            "Install pgvector on the server and run, as a superuser of the database: "
            "CREATE EXTENSION vector"
        )
    if "corpus_finder" in reason:
        return "Make its tables first: server.py index."
    return "Look at the server and at DATABASE_URL: server.py doctor."


def _has_tables(db: Connection) -> bool:
    return db.execute(text("SELECT to_regclass('corpus_finder_model')")).scalar() is not None


def _model(db: Connection) -> tuple[str, int]:
    model, dim = db.execute(text("SELECT model, dim FROM corpus_finder_model")).one()
    return model, dim


def _row(passage: Passage, vector: NDArray[np.float32] | None) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "uuid": passage.uuid,
        "paper": passage.paper,
        "digest": passage.digest,
        "year": passage.year,
        "kind": passage.kind,
        "retracted": passage.retracted,
        "types": [plain(name).casefold() for name in passage.publication_types],
        "journal": key(passage.journal),
        "title": folded(plain(passage.title)),
        "section": folded(plain(passage.section)),
        "text": folded(plain(passage.text)),
    }
    if vector is not None:
        fields["vector"] = _literal(vector)
    return fields


def _literal(vector: NDArray[np.float32]) -> str:
    return f"[{','.join(map(str, vector.tolist()))}]"


def _upsert_statement(dim: int) -> str:
    columns, vector, replaced = _COLUMNS, "", _REPLACED
    if dim:
        columns, vector = f"{_COLUMNS}, vector", f", vector::vector({dim})"
        replaced = f"{_REPLACED}, {_KEPT}"
    parsed = _PARSED.format(vector=vector)
    conflict = f"ON CONFLICT (uuid) DO UPDATE SET {replaced}"
    return f"INSERT INTO corpus_finder ({columns}) {parsed} {conflict}"


def _index_expression(dim: int) -> str:
    """The expression an index can hold; empty where none can, and all rows are compared."""
    if dim <= _HNSW_WIDEST:
        return "vector"
    return f"vector::halfvec({dim})" if dim <= _HALF_WIDEST else ""


def _operators(dim: int) -> str:
    return "vector_cosine_ops" if dim <= _HNSW_WIDEST else "halfvec_cosine_ops"


def _condition(filters: Filters) -> tuple[str, dict[str, Any]]:
    clauses = [] if filters.retracted else ["NOT retracted"]
    values: dict[str, Any] = {}
    if filters.year_from is not None:
        clauses.append("year >= :year_from")
        values["year_from"] = filters.year_from
    if filters.year_to is not None:
        clauses.append("year <= :year_to")
        values["year_to"] = filters.year_to
    if filters.journal:
        clauses.append("journal = :journal")
        values["journal"] = key(filters.journal)
    if filters.publication_types:
        clauses.append("types && CAST(:types AS text[])")
        values["types"] = [plain(name).casefold() for name in filters.publication_types]
    if filters.kind:
        clauses.append("kind = :kind")
        values["kind"] = filters.kind
    return " AND ".join(clauses) or "true", values


def _by_words(db: Connection, terms: Sequence[str], limit: int, filters: Filters) -> list[Scored]:
    """All the words together if that is enough, else any of them."""
    condition, values = _condition(filters)
    values |= {f"term{at}": term for at, term in enumerate(terms)} | {"limit": limit}
    found: list[Scored] = []
    for operator in ("&&", "||"):
        parts = f" {operator} ".join(
            f"plainto_tsquery('english', :term{at})" for at in range(len(terms))
        )
        query = f"""
            SELECT uuid::text, paper, ts_rank_cd('{{0.3, 0.3, 0.5, 1.0}}', words, sought) AS rank
            FROM corpus_finder, (SELECT {parts} AS sought) AS query
            WHERE words @@ sought AND {condition} ORDER BY rank DESC, uuid LIMIT :limit
        """  # noqa: S608
        found = [(uuid, paper, rank) for uuid, paper, rank in db.execute(text(query), values)]
        if len(found) >= limit or len(terms) == 1:
            break
    return found


def _by_meaning(
    db: Connection, vector: NDArray[np.float32], limit: int, filters: Filters
) -> list[Scored]:
    condition, values = _condition(filters)
    dim = len(vector)
    expression = _index_expression(dim) or "vector"
    kind = f"{'vector' if expression == 'vector' else 'halfvec'}({dim})"
    # Filters act while the graph is walked; it goes on until enough have passed.
    db.execute(text("SET LOCAL hnsw.iterative_scan = strict_order"))
    db.execute(text(f"SET LOCAL hnsw.ef_search = {min(1000, max(100, limit))}"))
    query = f"""
        SELECT uuid::text, paper, 1 - ({expression} <=> CAST(:vector AS {kind})) AS sim
        FROM corpus_finder WHERE vector IS NOT NULL AND {condition}
        ORDER BY {expression} <=> CAST(:vector AS {kind}) LIMIT :limit
    """  # noqa: S608
    values |= {"vector": _literal(vector), "limit": limit}
    return [(uuid, paper, sim) for uuid, paper, sim in db.execute(text(query), values)]
