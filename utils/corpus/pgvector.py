"""Store and find passages in PostgreSQL, in the corpus's own database.

``corpus_finder`` has one row for each passage, with a pgvector column under an HNSW index (cosine).
The column has the width of its vectors, so another model needs another column. ``corpus_terms``
maps terms (`..outline.terms`) to passages, weighted by their frequency. PostgreSQL's own ranking
ignores the rarity of words, so BM25 is computed from these rows (k1 = 1.2, b = 0.75, as in the
other stores). Covering indexes hold these rows whole, because the table rows are scattered in the
order of arrival. ``corpus_finder_model`` stores the counts that BM25 needs, because counting a
million rows takes longer than the search.

Facts: Robertson and Zaragoza, *The Probabilistic Relevance Framework* (2009); pgvector's README
(HNSW up to 2,000 dimensions, ``halfvec`` up to 4,000, iterative scans since 0.8).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import sqlalchemy.exc
from sqlalchemy import Connection, Engine, text

from ..command_line import command_line
from ..errors import StoreFailed
from ..model.passage import Filters, Passage, PassageHit
from ..outline.terms import to_index_terms, to_query_terms, to_term_groups
from .finders import FinderStatus
from .ranking import (
    WORD_SEARCH_DEPTH,
    Scored,
    fold_filter_value,
    fuse_scores,
    get_candidate_limit,
    to_query_vector,
    to_storable_text,
    to_vector_rows,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .finders import Vectors

_SCHEMA_LOCK_KEY = 0x70617066  # advisory lock: one process at a time changes the schema
_HNSW_MAX_DIM = 2_000
_HALFVEC_MAX_DIM = 4_000
_FIELD_WEIGHTS = {"title": 3.0, "section": 1.5, "text": 1.0}
_SCHEMA_SQL = """
CREATE TABLE IF NOT EXISTS corpus_finder (
    uuid uuid PRIMARY KEY, number integer GENERATED ALWAYS AS IDENTITY UNIQUE, paper text NOT NULL,
    digest text NOT NULL, year integer, journal text NOT NULL, types text[] NOT NULL,
    kind text NOT NULL, retracted boolean NOT NULL, length integer NOT NULL
);
CREATE TABLE IF NOT EXISTS corpus_terms (
    term text COLLATE "C", passage integer REFERENCES corpus_finder (number) ON DELETE CASCADE,
    weight real NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS corpus_terms_weighed
    ON corpus_terms (term, passage) INCLUDE (weight);
CREATE INDEX IF NOT EXISTS corpus_finder_facts
    ON corpus_finder (number) INCLUDE (length, retracted, year, kind);
CREATE INDEX IF NOT EXISTS corpus_terms_passage ON corpus_terms (passage);
CREATE TABLE IF NOT EXISTS corpus_finder_model (
    one boolean PRIMARY KEY DEFAULT true CHECK (one), model text NOT NULL, dim integer NOT NULL,
    passages bigint NOT NULL DEFAULT 0, length bigint NOT NULL DEFAULT 0,
    vectors bigint NOT NULL DEFAULT 0
);
INSERT INTO corpus_finder_model (model, dim) VALUES ('', 0) ON CONFLICT DO NOTHING
"""
# Detects tables from before there were terms; they are derived data, and indexing rebuilds them.
_HAS_OLD_TABLES_SQL = """
SELECT 1 FROM information_schema.columns
WHERE table_schema = current_schema() AND table_name = 'corpus_finder' AND column_name = 'words'
"""
# Detects the primary key of terms, which an index with weights has replaced.
_HAS_OLD_KEY_SQL = "SELECT to_regclass('corpus_terms_pkey')"
_PARSED_ROWS_SQL = """
    SELECT uuid::uuid, paper, digest, year, journal, types, kind, retracted, length {vector}
    FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS given (
        uuid text, paper text, digest text, year integer, journal text, types text[], kind text,
        retracted boolean, length integer, vector text)
"""
_COLUMNS = "uuid, paper, digest, year, journal, types, kind, retracted, length"
_REPLACE_SQL = ", ".join(f"{name} = excluded.{name}" for name in _COLUMNS.split(", ")[1:-1])
# A negative length means that the text is unchanged, so the old length stays.
_REPLACE_SQL += """, length = CASE WHEN excluded.length < 0 THEN corpus_finder.length
    ELSE excluded.length END"""
# Without a new vector, the old vector stays if the passage's text is unchanged.
_KEEP_VECTOR_SQL = """vector = CASE WHEN excluded.vector IS NULL AND excluded.digest <> ''
    AND excluded.digest = corpus_finder.digest THEN corpus_finder.vector ELSE excluded.vector END"""
_DELETE_TERMS_SQL = """
DELETE FROM corpus_terms USING corpus_finder
WHERE passage = number AND uuid = ANY(CAST(:uuids AS uuid[]))
"""
_INSERT_TERMS_SQL = """
INSERT INTO corpus_terms (term, passage, weight)
SELECT term, number, CAST(weight AS real)
FROM jsonb_each(CAST(:terms AS jsonb)) AS given (uuid, terms)
JOIN corpus_finder ON corpus_finder.uuid = given.uuid::uuid,
LATERAL jsonb_each_text(terms) AS each_term (term, weight)
"""
_FACTS_SQL = "SELECT dim, passages, length FROM corpus_finder_model"
# k1 * (1 - b + b * length / usual) is 0.3 + 0.9 / usual * length; types other than float8 are slow.
_RANKED_SQL = """
WITH found AS MATERIALIZED (
    SELECT term, passage, weight FROM corpus_terms WHERE term = ANY(:terms)
), rare AS (
    SELECT term, CAST(ln(1 + (:passages - count(*) + 0.5) / (count(*) + 0.5)) AS float8) AS idf
    FROM found GROUP BY term
), best AS (
    SELECT passage, count(*) AS held, sum(
        2.2 * idf * weight / (weight + 0.3 + CAST(:slope AS float8) * length)
    ) AS rank
    FROM found JOIN rare USING (term) JOIN corpus_finder ON number = passage
    WHERE {condition} GROUP BY passage ORDER BY rank DESC FETCH FIRST (:limit) ROWS WITH TIES
)
SELECT uuid::text, paper, held, rank FROM best JOIN corpus_finder ON number = passage
ORDER BY rank DESC, uuid LIMIT :limit
"""


class PgvectorFinder:
    """A finder in the database of *engine*; see `.Finder`."""

    name = "pgvector"

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._made = False

    def prepare_for_model(self, model: str, dim: int) -> None:
        """Create the tables; recreate the vector column for another model.

        Raises
        ------
        StoreFailed
            The extension ``vector`` is missing and cannot be created.
        """
        with self._open_transaction() as db:
            db.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _SCHEMA_LOCK_KEY})
            if db.execute(text(_HAS_OLD_TABLES_SQL)).scalar():
                db.execute(text("DROP TABLE corpus_finder, corpus_finder_model"))
            for statement in _SCHEMA_SQL.split(";\n"):
                db.execute(text(statement))
            if db.execute(text(_HAS_OLD_KEY_SQL)).scalar():
                db.execute(text("ALTER TABLE corpus_terms DROP CONSTRAINT corpus_terms_pkey"))
            if not model or _read_model_and_width(db) == (model, dim):
                return
            db.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
            db.execute(text("ALTER TABLE corpus_finder DROP COLUMN IF EXISTS vector"))
            db.execute(text(f"ALTER TABLE corpus_finder ADD COLUMN vector vector({int(dim)})"))
            if method := _build_vector_index_method(dim):
                db.execute(text(f"CREATE INDEX ON corpus_finder USING hnsw ({method})"))
            facts = {"model": model, "dim": dim}
            changed = "UPDATE corpus_finder_model SET model = :model, dim = :dim, vectors = 0"
            db.execute(text(changed), facts)

    def store_passages(self, passages: Sequence[Passage], vectors: Vectors | None) -> None:
        """Store passages; unchanged passages without a new vector keep their old one.

        Raises
        ------
        InvariantFailed
            The vectors do not fit the model that the finder was prepared for.
        """
        with self._open_transaction() as db:
            _, dim = _read_model_and_width(db)
            rows = None if vectors is None else to_vector_rows(vectors, passages, dim)
            # Sorted, so that two writers lock the same rows in the same order.
            latest = dict(sorted((passage.uuid, at) for at, passage in enumerate(passages)))
            if not latest:
                return
            new = {
                uuid: _to_passage_row(passages[at], None if rows is None else rows[at])
                for uuid, at in latest.items()
            }
            with _lock_and_update_counts(db, list(new)):
                terms = {
                    uuid: _compute_term_weights(passages[latest[uuid]])
                    for uuid in _find_changed_uuids(db, new)
                }
                for uuid, row in new.items():
                    row["length"] = terms[uuid][1] if uuid in terms else -1
                db.execute(text(_DELETE_TERMS_SQL), {"uuids": list(terms)})
                db.execute(text(_build_upsert_sql(dim)), {"rows": json.dumps([*new.values()])})
                weighed = {uuid: weights for uuid, (weights, _) in terms.items()}
                db.execute(text(_INSERT_TERMS_SQL), {"terms": json.dumps(weighed)})

    def delete_passages(self, uuids: Sequence[str]) -> None:
        """Delete passages; unknown UUIDs are ignored."""
        with self._open_transaction() as db:
            query = "DELETE FROM corpus_finder WHERE uuid = ANY(CAST(:uuids AS uuid[]))"
            with _lock_and_update_counts(db, uuids):
                db.execute(text(query), {"uuids": list(uuids)})

    def search(
        self, query: str, vector: NDArray[np.float32] | None, limit: int, filters: Filters
    ) -> list[PassageHit]:
        """Return the best passages by words and, with a vector, by meaning.

        Raises
        ------
        StoreFailed
            The database did not answer.
        InvariantFailed
            The vector's width differs from the passages' vectors.
        """
        terms, depth = to_query_terms(query), get_candidate_limit(limit)
        with self._open_connection() as db:
            self._made = self._made or _has_finder_tables(db)
            if not self._made:
                return []
            dim, passages, length = db.execute(text(_FACTS_SQL)).one()
            statistics = {"passages": passages, "slope": 0.9 * passages / max(passages, length, 1)}
            words: list[Scored] = []
            share = 0.0
            if terms:
                words, held = _search_words(
                    db, terms, max(WORD_SEARCH_DEPTH, limit), filters, statistics
                )
                share = min(1.0, held / len(to_term_groups(query)))
            first = [uuid for uuid, _, _ in words[:depth]]
            near: list[Scored] = []
            if vector is not None and dim:
                row = to_query_vector(vector, dim)
                near = _search_vectors(db, row, depth, filters)
                near += _read_cosines(db, row, set(first) - {uuid for uuid, _, _ in near})
        candidates = {*first, *(uuid for uuid, _, _ in near)}
        known = [one for one in words if one[0] in candidates]
        return fuse_scores(known, near, query, share, limit)

    def find_absent_uuids(self, uuids: Sequence[str]) -> set[str]:
        """Return the UUIDs of passages that the index lacks."""
        return self._find_missing_uuids(uuids, "TRUE")

    def find_uuids_without_vectors(self, uuids: Sequence[str]) -> set[str]:
        """Return the UUIDs without a vector, or, before a model was prepared, the unknown UUIDs."""
        with self._open_connection() as db:
            has_model = _has_finder_tables(db) and _read_model_and_width(db)[1]
        return self._find_missing_uuids(uuids, "vector IS NOT NULL" if has_model else "TRUE")

    def _find_missing_uuids(self, uuids: Sequence[str], condition: str) -> set[str]:
        with self._open_connection() as db:
            if not _has_finder_tables(db):
                return set(uuids)
            query = f"""SELECT uuid::text FROM corpus_finder
                WHERE uuid = ANY(CAST(:uuids AS uuid[])) AND {condition}"""  # noqa: S608
            held = db.execute(text(query), {"uuids": list(uuids)}).scalars()
            return set(uuids) - set(held)

    def get_status(self) -> FinderStatus:
        """Return the counts of passages and vectors, and the model."""
        with self._open_connection() as db:
            if not _has_finder_tables(db):
                return FinderStatus(0, 0)
            query = "SELECT passages, vectors, model, dim FROM corpus_finder_model"
            return FinderStatus(*db.execute(text(query)).one())

    def close(self) -> None:
        """Do nothing: the engine belongs to the corpus database."""

    @contextmanager
    def _open_connection(self) -> Iterator[Connection]:
        with self._convert_to_store_failed(), self._engine.connect() as db:
            yield db

    @contextmanager
    def _open_transaction(self) -> Iterator[Connection]:
        with self._convert_to_store_failed(), self._engine.begin() as db:
            yield db

    @contextmanager
    def _convert_to_store_failed(self) -> Iterator[None]:
        try:
            yield
        except sqlalchemy.exc.SQLAlchemyError as error:
            # The driver's own message; SQLAlchemy's message would repeat the parameters.
            reason = str(getattr(error, "orig", None) or type(error).__name__).split("\n")[0]
            where = f"{self._engine.url.host or 'local'}/{self._engine.url.database}"
            msg = f"PostgreSQL ({where}) could not keep or find passages: {reason}."
            raise StoreFailed(msg, _suggest_postgresql_fix(reason)) from error


def _suggest_postgresql_fix(reason: str) -> str:
    if "vector" in reason and ("extension" in reason or "type" in reason):
        return (
            "Install pgvector on the server and run, as a superuser of the database: "
            "CREATE EXTENSION vector"
        )
    if "corpus_finder" in reason:
        return f"Make its tables first: {command_line('corpus index')}."
    return f"Look at the server and at DATABASE_URL: {command_line('setup doctor')}."


def _has_finder_tables(db: Connection) -> bool:
    return db.execute(text("SELECT to_regclass('corpus_finder_model')")).scalar() is not None


def _read_model_and_width(db: Connection) -> tuple[str, int]:
    model, dim = db.execute(text("SELECT model, dim FROM corpus_finder_model")).one()
    return model, dim


def _to_passage_row(passage: Passage, vector: NDArray[np.float32] | None) -> dict[str, Any]:
    """Return a passage's row, without its terms."""
    fields: dict[str, Any] = {
        "uuid": passage.uuid,
        "paper": passage.paper,
        "digest": passage.digest,
        "year": passage.year,
        "kind": passage.kind,
        "retracted": passage.retracted,
        "types": [to_storable_text(name).casefold() for name in passage.publication_types],
        "journal": fold_filter_value(passage.journal),
    }
    if vector is not None:
        fields["vector"] = _to_vector_literal(vector)
    return fields


def _compute_term_weights(passage: Passage) -> tuple[dict[str, float], int]:
    """Return the weight of each term, and the count of terms before weighting."""
    weights: dict[str, float] = {}
    length = 0
    for name, weight in _FIELD_WEIGHTS.items():
        terms = to_index_terms(getattr(passage, name)).split()
        length += len(terms)
        for term in terms:
            weights[term] = weights.get(term, 0.0) + weight
    return weights, length


def _find_changed_uuids(db: Connection, rows: dict[str, dict[str, Any]]) -> list[str]:
    """Return the UUIDs of passages that are new or whose text changed."""
    query = "SELECT uuid::text, digest FROM corpus_finder WHERE uuid = ANY(CAST(:uuids AS uuid[]))"
    held = dict(map(tuple, db.execute(text(query), {"uuids": list(rows)})))
    return [
        uuid for uuid, row in rows.items() if not row["digest"] or held.get(uuid) != row["digest"]
    ]


@contextmanager
def _lock_and_update_counts(db: Connection, uuids: Sequence[str]) -> Iterator[None]:
    """Lock out other writers, and update the stored counts when the block ends."""
    dim = db.execute(text("SELECT dim FROM corpus_finder_model FOR UPDATE")).scalar()
    query = f"""SELECT count(*), coalesce(sum(length), 0), {"count(vector)" if dim else "0"}
        FROM corpus_finder WHERE uuid = ANY(CAST(:uuids AS uuid[]))"""  # noqa: S608
    before = db.execute(text(query), {"uuids": list(uuids)}).one()
    yield
    after = db.execute(text(query), {"uuids": list(uuids)}).one()
    names = ("passages", "length", "vectors")
    more = {name: int(after[at]) - int(before[at]) for at, name in enumerate(names)}
    changes = ", ".join(f"{name} = {name} + :{name}" for name in names)
    db.execute(text(f"UPDATE corpus_finder_model SET {changes}"), more)  # noqa: S608


def _to_vector_literal(vector: NDArray[np.float32]) -> str:
    """Return a vector in pgvector's text format."""
    return f"[{','.join(map(str, vector.tolist()))}]"


def _build_upsert_sql(dim: int) -> str:
    columns, vector, replaced = _COLUMNS, "", _REPLACE_SQL
    if dim:
        columns, vector = f"{_COLUMNS}, vector", f", vector::vector({dim})"
        replaced = f"{_REPLACE_SQL}, {_KEEP_VECTOR_SQL}"
    parsed = _PARSED_ROWS_SQL.format(vector=vector)
    conflict = f"ON CONFLICT (uuid) DO UPDATE SET {replaced}"
    return f"INSERT INTO corpus_finder ({columns}) {parsed} {conflict}"


def _build_vector_index_expression(dim: int) -> str:
    """Return the indexed expression; "" if vectors of that width cannot be indexed."""
    if dim <= _HNSW_MAX_DIM:
        return "vector"
    return f"vector::halfvec({dim})" if dim <= _HALFVEC_MAX_DIM else ""


def _build_vector_index_method(dim: int) -> str:
    """Return the definition of an HNSW index; "" if vectors are too wide for an index."""
    operators = "vector_cosine_ops" if dim <= _HNSW_MAX_DIM else "halfvec_cosine_ops"
    expression = _build_vector_index_expression(dim)
    return f"({expression}) {operators}" if expression else ""


def _build_filter_condition(filters: Filters) -> tuple[str, dict[str, Any]]:
    """Return the SQL condition of filters, and its parameters."""
    clauses = [] if filters.retracted else ["NOT retracted"]
    values: dict[str, Any] = {}
    if filters.year_from is not None:
        clauses.append("year >= :year_from")
        values["year_from"] = filters.year_from
    if filters.year_to is not None:
        clauses.append("year <= :year_to")
        values["year_to"] = filters.year_to
    if names := filters.journal_names:
        clauses.append("journal = ANY(CAST(:journals AS text[]))")
        values["journals"] = [fold_filter_value(name) for name in names]
    if filters.publication_types:
        clauses.append("types && CAST(:types AS text[])")
        values["types"] = [to_storable_text(name).casefold() for name in filters.publication_types]
    if filters.kind:
        clauses.append("kind = :kind")
        values["kind"] = filters.kind
    return " AND ".join(clauses) or "true", values


def _search_words(
    db: Connection,
    terms: Sequence[str],
    limit: int,
    filters: Filters,
    statistics: Mapping[str, float],
) -> tuple[list[Scored], int]:
    """Return the passages best by BM25, and how many of the terms the first passage has."""
    condition, values = _build_filter_condition(filters)
    values |= {"terms": list(terms), "limit": limit, **statistics}
    found = db.execute(text(_RANKED_SQL.format(condition=condition)), values).all()
    if not found:
        return [], 0
    ranked = [(row.uuid, row.paper, float(row.rank)) for row in found]
    return ranked, int(found[0].held)


def _search_vectors(
    db: Connection, vector: NDArray[np.float32], limit: int, filters: Filters
) -> list[Scored]:
    """Return the passages nearest to a vector by cosine similarity."""
    condition, values = _build_filter_condition(filters)
    dim = len(vector)
    expression = _build_vector_index_expression(dim) or "vector"
    kind = f"{'vector' if expression == 'vector' else 'halfvec'}({dim})"
    _set_index_scan_size(db, limit)
    query = f"""
        SELECT uuid::text, paper, 1 - ({expression} <=> CAST(:vector AS {kind})) AS sim
        FROM corpus_finder WHERE vector IS NOT NULL AND {condition}
        ORDER BY {expression} <=> CAST(:vector AS {kind}) LIMIT :limit
    """  # noqa: S608
    values |= {"vector": _to_vector_literal(vector), "limit": limit}
    return [(uuid, paper, sim) for uuid, paper, sim in db.execute(text(query), values)]


def _set_index_scan_size(db: Connection, limit: int) -> None:
    """Make the index scan continue until enough passages pass the filters."""
    settings = """SELECT set_config('hnsw.iterative_scan', 'strict_order', true),
        set_config('hnsw.ef_search', :breadth, true)"""
    db.execute(text(settings), {"breadth": str(min(1000, max(100, limit)))})


def _read_cosines(
    db: Connection, vector: NDArray[np.float32], uuids: Iterable[str]
) -> list[Scored]:
    """Return the cosine similarities of these passages to a vector."""
    query = f"""
        SELECT uuid::text, paper, 1 - (vector <=> CAST(:vector AS vector({len(vector)})))
        FROM corpus_finder WHERE vector IS NOT NULL AND uuid = ANY(CAST(:uuids AS uuid[]))
    """  # noqa: S608
    values = {"vector": _to_vector_literal(vector), "uuids": sorted(uuids)}
    return [(uuid, paper, sim) for uuid, paper, sim in db.execute(text(query), values)]
