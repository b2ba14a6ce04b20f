"""A finder inside PostgreSQL for very many passages, loaded in bulk by `..corpus.mirror_load`.

What `.pgvector` keeps in a row for each term of each passage, this one keeps in arrays: a row of
``corpus_postings`` has a term, the passages of one load that have it (by their numbers), how long
each is, and twice the weight with which it has it. So a passage takes a tenth of the space, and a
common term is read in a few rows. BM25 is the same. The best by words are looked up in
``corpus_finder`` then, and filters that few pass act before. Vectors are ``halfvec``, the graph one
of their signs (``bit``, a tenth of the size); the nearest by signs are compared by their numbers.

Keys and indexes are taken down before rows are copied, each with the statement that makes it again
in a table beside (``later``), so that who is killed goes on with those that are left. Making an
index over rows that are there takes a fraction of the time of keeping it up row by row:
PostgreSQL's documentation, *Populating a Database*.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from ..model.passage import Filters, Hit
from ..system import safe_files
from . import FinderStatus
from .pgvector import PgvectorFinder, condition_of, cosines, row_of, terms_of, vector_literal, walk
from .ranking import DEEP, Scored, depth_for, fused, key
from .terms import asked
from .vector_checks import checked_query

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from . import LoadedPassage

_SCHEMA = """
CREATE TABLE corpus_finder (
    number integer PRIMARY KEY, uuid uuid NOT NULL UNIQUE, paper text NOT NULL, year integer,
    journal text NOT NULL, types text[] NOT NULL, kind text NOT NULL, retracted boolean NOT NULL,
    length integer NOT NULL, mesh text[] NOT NULL
);
CREATE TABLE corpus_postings (
    term text COLLATE "C" NOT NULL, passages integer[] NOT NULL, lengths smallint[] NOT NULL,
    weights smallint[] NOT NULL
);
ALTER TABLE corpus_postings ALTER passages SET STORAGE EXTERNAL,
    ALTER lengths SET STORAGE EXTERNAL, ALTER weights SET STORAGE EXTERNAL;
CREATE INDEX corpus_postings_term ON corpus_postings (term);
CREATE TABLE corpus_finder_model (
    one boolean PRIMARY KEY DEFAULT true CHECK (one), model text NOT NULL, dim integer NOT NULL,
    passages bigint NOT NULL DEFAULT 0, length bigint NOT NULL DEFAULT 0,
    vectors bigint NOT NULL DEFAULT 0, posted bigint NOT NULL DEFAULT 0
)
"""
_GRAPH = (
    "CREATE INDEX ON corpus_finder USING hnsw ((binary_quantize(vector)::bit({0})) bit_hamming_ops)"
)
_FINDER = (
    *("number", "uuid", "paper", "year", "journal", "types", "kind", "retracted", "length"),
    "mesh",
)
_FACTS = "SELECT dim, passages, length, posted FROM corpus_finder_model"
_ALIKE = 400  # passages compared by their numbers, and four for each that is wanted
_MOST_SMALL = 32_767
_YEARS, _RETRACTIONS = 10, 50  # times as many, and so many more, are looked at for those that pass
_POSTINGS = 8_000_000  # terms of passages that are held before they are copied
# k1 * (1 - b + b * length / usual) is 0.3 + 0.9 / usual * length; all twice, as weights are. What
# is not there any more still counts for how rare a term is, as in other indexes. All is float8, and
# computed once a term: numbers as they are written are numeric, and take several times as long.
_RANKED = """
WITH found AS MATERIALIZED (
    SELECT term, passages, lengths, weights FROM corpus_postings WHERE term = ANY(:terms)
), held AS (
    SELECT term, CAST(sum(cardinality(passages)) AS float8) AS held FROM found GROUP BY term
), rare AS MATERIALIZED (
    SELECT term, float8 '2.2' * ln(1 + (greatest(0, :posted - held) + float8 '0.5')
        / (held + float8 '0.5')) AS idf FROM held
), each AS (
    SELECT idf, unnest(passages) AS passage, unnest(lengths) AS long, unnest(weights) AS weight
    FROM found JOIN rare USING (term)
), best AS (
    SELECT passage, count(*) AS held, sum(
        idf * weight / (weight + float8 '0.6' + CAST(:slope AS float8) * long)
    ) AS rank
    FROM each {narrowed} GROUP BY passage ORDER BY rank DESC FETCH FIRST (:more) ROWS WITH TIES
), passing AS (
    SELECT uuid::text, paper, held, rank FROM best JOIN corpus_finder ON number = passage
    WHERE {condition} ORDER BY rank DESC, uuid LIMIT :limit
)
SELECT NULL AS uuid, NULL AS paper, count(*) AS held, NULL AS rank FROM best
UNION ALL SELECT uuid, paper, held, rank FROM passing
"""
_NARROWED = "JOIN corpus_finder ON number = passage WHERE {condition}"
_LATER = "CREATE TABLE later (number serial PRIMARY KEY, statement text NOT NULL)"
_KEYS = """
SELECT conname AS name, conrelid::regclass::text AS of, pg_get_constraintdef(oid) AS made
FROM pg_constraint WHERE connamespace = CAST(:schema AS regnamespace) AND contype IN ('p', 'u')
    AND conrelid <> ALL(CAST(:kept AS regclass[])) ORDER BY conname
"""
_INDEXES = """
SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS made
FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
WHERE relnamespace = CAST(:schema AS regnamespace) AND indrelid <> ALL(CAST(:kept AS regclass[]))
ORDER BY 1
"""
_MEMORY = "SELECT set_config('maintenance_work_mem', '512MB', true)"
_MORE = """UPDATE corpus_finder_model SET passages = passages + :passages,
    length = length + :length, vectors = vectors + :vectors, posted = posted + :posted"""
_REMOVED = """DELETE FROM corpus_finder WHERE number = ANY(:numbers)
    RETURNING uuid::text, length, {vectored} AS vectored"""
_WITHOUT = """
SELECT number, digest FROM corpus_finder
JOIN corpus_passages ON corpus_passages.uuid = corpus_finder.uuid::text
WHERE vector IS NULL AND number > :after ORDER BY number LIMIT 10000
"""
_VECTORS = """
UPDATE corpus_finder SET vector = CAST(given.vector AS halfvec)
FROM unnest(CAST(:numbers AS integer[]), CAST(:vectors AS text[])) AS given (number, vector)
WHERE corpus_finder.number = given.number
"""
Connect = Callable[[], AbstractContextManager[Connection]]


class CompactFinder(PgvectorFinder):
    """Passages that are loaded in bulk; see `.Finder`, for reading.

    *connect* gives the connection that is read by, where it is not the engine's.
    """

    def __init__(self, engine: Engine, connect: Connect | None = None) -> None:
        super().__init__(engine)
        self._connect = connect or engine.connect

    def prepare(self, model: str, dim: int) -> None:
        """Make the tables, which are not there yet."""
        with self._writing() as db:
            for statement in _SCHEMA.split(";\n"):
                db.execute(text(statement))
            made = "INSERT INTO corpus_finder_model (model, dim) VALUES (:model, :dim)"
            db.execute(text(made), {"model": model, "dim": dim})
            if model:
                db.execute(text(f"ALTER TABLE corpus_finder ADD COLUMN vector halfvec({int(dim)})"))
                db.execute(text(_GRAPH.format(int(dim))))

    def search(
        self, query: str, vector: NDArray[np.float32] | None, limit: int, filters: Filters
    ) -> list[Hit]:
        """The best passages by words and, with a vector, by meaning; see `PgvectorFinder`."""
        terms, depth = asked(query), depth_for(limit)
        with self._reading() as db:
            dim, passages, length, posted = db.execute(text(_FACTS)).one()
            slope = 1.8 * passages / max(passages, length, 1)
            words: list[Scored] = []
            share = 0.0
            if terms:
                about = {"terms": list(terms), "posted": posted, "slope": slope}
                dead = posted / max(passages, 1)  # so many are posted for one that is there
                words, share = _by_words(db, about, max(DEEP, limit), dead, filters)
            first = [uuid for uuid, _, _ in words[:depth]]
            near: list[Scored] = []
            if vector is not None and dim:
                row = checked_query(vector, dim)
                near = _by_signs(db, row, depth, filters)
                near += cosines(db, row, set(first) - {uuid for uuid, _, _ in near}, "halfvec")
        candidates = {*first, *(uuid for uuid, _, _ in near)}
        return fused([one for one in words if one[0] in candidates], near, share, limit)


def _by_words(
    db: Connection, about: Mapping[str, Any], limit: int, dead: float, filters: Filters
) -> tuple[list[Scored], float]:
    """Passages with any of the terms by BM25, and the share of the terms that the first has.

    Years and retractions are looked up of the best, and more of these are asked for; other filters
    act before, and all do where too few pass.
    """
    condition, values = condition_of(filters)
    named = filters.journal_names or filters.publication_types or filters.kind or filters.mesh
    dated = filters.year_from is not None or filters.year_to is not None
    more = int((limit * _YEARS if dated else limit + _RETRACTIONS) * dead)
    passing: list[Any] = []
    for narrow in (True,) if named else (False, True):
        asking = {"limit": limit, "more": limit if narrow else more, **values, **about}
        narrowed = _NARROWED.format(condition=condition) if narrow else ""
        query = _RANKED.format(condition=condition, narrowed=narrowed)
        rows = db.execute(text(query), asking).all()
        passing = [row for row in rows if row.uuid]
        [looked_at] = [row.held for row in rows if not row.uuid]
        if len(passing) >= limit or looked_at < more:
            break
    if not passing:
        return [], 0.0
    ranked = [(row.uuid, row.paper, float(row.rank)) for row in passing]
    return ranked, passing[0].held / len(about["terms"])


def _by_signs(
    db: Connection, vector: NDArray[np.float32], limit: int, filters: Filters
) -> list[Scored]:
    """The nearest by their numbers, of those whose signs differ least; see the module."""
    condition, values = condition_of(filters)
    dim, alike = len(vector), _ALIKE + 4 * limit
    walk(db, alike)
    query = f"""
        WITH alike AS MATERIALIZED (
            SELECT uuid, paper, vector FROM corpus_finder
            WHERE vector IS NOT NULL AND {condition} ORDER BY binary_quantize(vector)::bit({dim})
                <~> binary_quantize(CAST(:vector AS halfvec({dim})))::bit({dim}) LIMIT :alike
        )
        SELECT uuid::text, paper, 1 - (vector <=> CAST(:vector AS halfvec({dim}))) AS sim
        FROM alike ORDER BY sim DESC, uuid LIMIT :limit
    """  # noqa: S608
    values |= {"vector": vector_literal(vector), "limit": limit, "alike": alike}
    return [(uuid, paper, sim) for uuid, paper, sim in db.execute(text(query), values)]


def take_down(db: Connection, schema: str, kept: Sequence[str]) -> None:
    """Take down the keys and indexes of a schema, but of the tables *kept*; see the module."""
    about = {"schema": schema, "kept": list(kept)}
    db.execute(text(_LATER))
    later: list[str] = []
    for one in db.execute(text(_KEYS), about).all():
        db.execute(text(f'ALTER TABLE {one.of} DROP CONSTRAINT "{one.name}" CASCADE'))
        later.append(f'ALTER TABLE {one.of} ADD CONSTRAINT "{one.name}" {one.made}')
    about["kept"] = [*kept, "later"]
    for one in db.execute(text(_INDEXES), about).all():
        db.execute(text(f"DROP INDEX {one.name}"))
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


def remove(db: Connection, numbers: Sequence[int]) -> list[str]:
    """Forget passages, but for their terms; their UUIDs."""
    vectored = "vector IS NOT NULL" if _has_vectors(db) else "false"
    query = text(_REMOVED.format(vectored=vectored))
    gone = db.execute(query, {"numbers": list(numbers)}).all()
    lengths, vectors = sum(row.length for row in gone), sum(row.vectored for row in gone)
    _count(db, passages=-len(gone), length=-lengths, vectors=-vectors)
    return [row.uuid for row in gone]


def without_vectors(db: Connection) -> Iterator[Sequence[Any]]:
    """Passages without a vector, by number and the digest of their text, some at a time."""
    after = 0
    while _has_vectors(db) and (rows := db.execute(text(_WITHOUT), {"after": after}).all()):
        yield rows
        after = rows[-1].number


def set_vectors(db: Connection, vectors: Mapping[int, NDArray[np.float32]]) -> None:
    """Give passages that have none their vectors, by number."""
    if vectors:
        literals = [vector_literal(one) for one in vectors.values()]
        db.execute(text(_VECTORS), {"numbers": list(vectors), "vectors": literals})
        _count(db, vectors=len(vectors))


def status_of(db: Connection) -> FinderStatus:
    """What is in it."""
    query = "SELECT passages, vectors, model, dim FROM corpus_finder_model"
    return FinderStatus(*db.execute(text(query)).one())


def _has_vectors(db: Connection) -> bool:
    return bool(db.execute(text("SELECT dim FROM corpus_finder_model")).scalar())


def _count(db: Connection, **more: int) -> None:
    """Correct the counts that ranking needs."""
    every = dict.fromkeys(("passages", "length", "vectors", "posted"), 0)
    db.execute(text(_MORE), every | more)


def copy(db: Connection, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Copy rows into a table, in the transaction of *db*."""
    with _copying(db, table, columns) as copying:
        for row in rows:
            copying.write_row(row)


def copy_out(db: Connection, query: str, path: Path) -> None:
    """Copy the rows of a query into a file of comma-separated values."""
    copying = _copy(db, f"COPY ({query}) TO STDOUT (FORMAT csv)")
    with safe_files.disk(path), path.open("wb") as file, copying as blocks:
        for block in blocks:
            file.write(block)


class Loading:
    """Passages on their way into the tables, ``number`` the next one's; `close` ends a load."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        posted = db.execute(text("SELECT posted FROM corpus_finder_model")).scalar()
        self.number = int(posted or 0) + 1
        self._hold_nothing()

    def _hold_nothing(self) -> None:
        self._names: dict[str, int] = {}
        self._terms, self._passages = array("i"), array("i")
        self._lengths, self._weights = array("h"), array("h")

    def add(self, loaded: Sequence[LoadedPassage]) -> None:
        """Copy passages with their vectors, and keep their terms for the end."""
        weighed = [terms_of(one.passage) for one in loaded]
        vectors = sum(one.vector is not None for one in loaded)
        rows = (
            _row(one, self.number + at, length, vectored=bool(vectors))
            for at, (one, (_, length)) in enumerate(zip(loaded, weighed, strict=True))
        )
        columns = (*_FINDER, "vector") if vectors else _FINDER
        copy(self._db, "corpus_finder", columns, rows)
        names = self._names
        for number, (weights, length) in enumerate(weighed, self.number):
            for term, weight in weights.items():
                self._terms.append(names.setdefault(term, len(names)))
                self._weights.append(min(int(2 * weight), _MOST_SMALL))
            self._passages.extend([number] * len(weights))
            self._lengths.extend([min(length, _MOST_SMALL)] * len(weights))
        many, length = len(loaded), sum(length for _, length in weighed)
        _count(self._db, passages=many, posted=many, length=length, vectors=vectors)
        self.number += many
        if len(self._terms) > _POSTINGS:
            self.close()

    def close(self) -> None:
        """Copy the terms, a row each."""
        columns = ("term", "passages", "lengths", "weights")
        with _copying(self._db, "corpus_postings", columns) as copying:
            for row in self._rows():
                copying.write(row)
        self._hold_nothing()

    def _rows(self) -> Iterator[str]:
        """A term is letters, figures and dots: nothing that COPY reads in another way."""
        import numpy as np

        terms = np.frombuffer(self._terms, np.intc)
        order = np.argsort(terms, kind="stable")
        ends = np.cumsum(np.bincount(terms, minlength=len(self._names)))
        columns = [
            np.frombuffer(values, values.typecode)[order].tolist()
            for values in (self._passages, self._lengths, self._weights)
        ]
        start = 0
        for term, end in zip(self._names, ends.tolist(), strict=True):
            arrays = ("{" + ",".join(map(str, one[start:end])) + "}" for one in columns)
            yield "\t".join((term, *arrays)) + "\n"
            start = end


def _row(one: LoadedPassage, number: int, length: int, *, vectored: bool) -> list[Any]:
    about = {**row_of(one.passage, None), "number": number, "length": length}
    about["mesh"] = [key(name) for name in one.mesh]
    values = [about[name] for name in _FINDER]
    if vectored:
        values.append(None if one.vector is None else vector_literal(one.vector))
    return values


def _copying(db: Connection, table: str, columns: Sequence[str]) -> AbstractContextManager[Any]:
    """Rows on their way into a table, in the transaction of *db*."""
    names = ", ".join(f'"{name}"' for name in columns)
    return _copy(db, f"COPY {table} ({names}) FROM STDIN")


@contextmanager
def _copy(db: Connection, statement: str) -> Iterator[Any]:
    """COPY as psycopg does it, with its errors as SQLAlchemy has them."""
    import psycopg

    driver: Any = db.connection.driver_connection
    try:
        with driver.cursor().copy(statement) as copying:
            yield copying
    except psycopg.Error as error:
        raise DBAPIError(statement, None, error) from error
