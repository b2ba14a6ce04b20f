"""A mirror in the stores that many users share: which generations are there, and which ones count.

A generation of PubMed, or of PMC's texts, lies in a schema of its own of the PostgreSQL of
``DATABASE_URL``, with the tables of a corpus (and those of `..passages.pgvector_compact`, or a
class of Weaviate's beside it), the texts themselves (``corpus_texts``), and which rows of the
mirror it is made of (``corpus_rows``). The table ``corpus_mirrors`` says which there are; those
that are published change in one transaction. One that took another's place stays beside it until
the next load; one that was brought up to date keeps its schema, and ``made_of`` says of what it is
now. `.mirror_load` fills them, `.shared_corpus` searches them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, text

from ..errors import EmptyStore, StoreFailed
from .database import CorpusDatabase

if TYPE_CHECKING:
    from ..passages import Finder
    from ..settings import Settings

FORMAT = 4
"""Of the tables of a generation: what another version of Papershelf loaded is loaded anew."""
_TABLE = """
CREATE TABLE IF NOT EXISTS corpus_mirrors (
    schema text PRIMARY KEY, generation text NOT NULL, store text NOT NULL, state text NOT NULL,
    model text NOT NULL, dim integer NOT NULL, papers bigint NOT NULL DEFAULT 0,
    passages bigint NOT NULL DEFAULT 0, vectors bigint NOT NULL DEFAULT 0,
    source text NOT NULL DEFAULT 'pubmed', format integer NOT NULL DEFAULT 1,
    made_of text NOT NULL DEFAULT ''
)
"""
_ADDED = {
    "source": "text NOT NULL DEFAULT 'pubmed'",
    "format": "integer NOT NULL DEFAULT 1",
    "made_of": "text NOT NULL DEFAULT ''",
}
"""Columns that tables from before lack."""
_PUBLISH = """
UPDATE corpus_mirrors SET state = CASE WHEN schema = ANY(:schemas) THEN 'published'
    WHEN state = 'published' AND source = ANY(:sources) THEN 'before'
    WHEN state = 'before' THEN 'old' ELSE state END
WHERE state <> 'loading' OR schema = ANY(:schemas)
"""
_PATIENCE_MS = 60_000


@dataclass(frozen=True, slots=True)
class SharedGeneration:
    """A generation in the shared stores.

    ``schema`` is where its tables are and names Weaviate's class; ``store`` is the finder's name,
    ``state`` loading, published, before (of the last load) or old. ``model`` made its vectors
    (empty: none), ``dim`` numbers each. Where ``made_of`` is the same, the same rows are there.
    """

    schema: str
    source: str
    generation: str
    store: str
    state: str
    model: str
    dim: int
    format: int = FORMAT
    papers: int = 0
    passages: int = 0
    vectors: int = 0
    made_of: str = ""


_COLUMNS = ", ".join(one.name for one in fields(SharedGeneration))
_TOLD = ("generation", "made_of", "papers", "passages", "vectors")


def shared(database: CorpusDatabase) -> list[SharedGeneration]:
    """All generations that are there, or were begun."""
    if not database.is_postgresql:
        return []
    with database.reading() as db:
        return _listed(db)


def _columns(db: Connection) -> set[str]:
    """The columns of the table of generations, as it is there."""
    query = """SELECT attname FROM pg_attribute
        WHERE attrelid = to_regclass('corpus_mirrors') AND attnum > 0 AND NOT attisdropped"""
    return set(db.execute(text(query)).scalars())


def _listed(db: Connection) -> list[SharedGeneration]:
    has = _columns(db)
    if not has:
        return []
    columns = [one.name for one in fields(SharedGeneration)]
    older = {"source": "'pubmed'", "format": "1", "made_of": "''"}
    named = ", ".join(one if one in has else older[one] for one in columns)
    rows = db.execute(text(f"SELECT {named} FROM corpus_mirrors ORDER BY source DESC, schema"))  # noqa: S608
    return [SharedGeneration(*row) for row in rows]


def published(database: CorpusDatabase) -> list[SharedGeneration]:
    """Those that count, PubMed's first."""
    return [one for one in shared(database) if one.state == "published"]


def begin(database: CorpusDatabase, wanted: SharedGeneration) -> None:
    """Write down that a generation is being loaded."""
    with database.writing() as db:
        db.execute(text(_TABLE))
        for name in _ADDED.keys() - _columns(db):  # it would wait for all who search
            db.execute(text(f"ALTER TABLE corpus_mirrors ADD COLUMN {name} {_ADDED[name]}"))
        values = {one.name: getattr(wanted, one.name) for one in fields(SharedGeneration)}
        names = ", ".join(f":{name}" for name in values)
        query = f"INSERT INTO corpus_mirrors ({_COLUMNS}) VALUES ({names}) ON CONFLICT DO NOTHING"  # noqa: S608
        db.execute(text(query), values)


def publish(db: Connection, made: Sequence[SharedGeneration]) -> None:
    """Have searches use these from now on, all at once; of other sources nothing changes."""
    for one in made:
        facts = {name: getattr(one, name) for name in _TOLD}
        changes = ", ".join(f"{name} = :{name}" for name in facts)
        query = f"UPDATE corpus_mirrors SET {changes} WHERE schema = :schema"  # noqa: S608
        db.execute(text(query), {**facts, "schema": one.schema})
    named = {"schemas": [one.schema for one in made], "sources": [one.source for one in made]}
    db.execute(text(_PUBLISH), named)


def drop(database: CorpusDatabase, one: SharedGeneration) -> None:
    """Delete a generation."""
    with database.writing() as db:
        db.execute(text(f'DROP SCHEMA IF EXISTS "{one.schema}" CASCADE'))
        query = "DELETE FROM corpus_mirrors WHERE schema = :schema"
        db.execute(text(query), {"schema": one.schema})


class SharedTables(CorpusDatabase):
    """The tables of one generation, to be written."""

    @classmethod
    def of_generation(cls, corpus: CorpusDatabase, generation: SharedGeneration) -> SharedTables:
        """Those of a generation in the database of a corpus."""
        with corpus.reading() as db:
            path = str(db.execute(text("SHOW search_path")).scalar()).replace(" ", "")
        url = corpus.engine.url
        given = url.query.get("options", "")
        options = f"{given} -csearch_path={generation.schema},{path}".strip()
        return cls(url.update_query_dict({"options": options}), corpus.folder)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that writes; who syncs a corpus meanwhile need not wait for it."""
        with self.reading() as db:
            yield db


@contextmanager
def all_at_once(database: CorpusDatabase) -> Iterator[Connection]:
    """A transaction in which published generations change; see `SharedTables.writing`."""
    with database.translate_errors(), database.engine.begin() as db:
        yield db


def look_into(db: Connection, schema: str) -> None:
    """Have the tables of a generation before others, to the end of the transaction."""
    usual = "SELECT reset_val FROM pg_settings WHERE name = 'search_path'"
    path = db.execute(text(usual)).scalar()
    db.execute(text(f'SET LOCAL search_path TO "{schema}", {path}'))


class Moment:
    """The shared stores as they are now, whatever is published meanwhile: one transaction.

    Raises
    ------
    EmptyStore
        Nothing was loaded.
    StoreFailed
        The database does not answer, or another version loaded it.
    """

    def __init__(self, database: CorpusDatabase) -> None:
        self._database = database
        options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with database.translate_errors():
            self._db = database.engine.connect().execution_options(**options)
        try:
            with database.translate_errors():
                self._db.execute(text(f"SET LOCAL statement_timeout = {_PATIENCE_MS}"))
                self._path = str(self._db.execute(text("SHOW search_path")).scalar())
                there = [one for one in _listed(self._db) if one.state == "published"]
            self.generations = _readable(there)
        except BaseException:
            self.close()
            raise
        self._at = ""

    @contextmanager
    def at(self, schema: str) -> Iterator[Connection]:
        """The connection, with the tables of a generation before others."""
        with self._database.translate_errors():
            if self._at != schema:
                self._db.execute(text(f'SET LOCAL search_path TO "{schema}", {self._path}'))
                self._at = schema
            yield self._db

    def close(self) -> None:
        """End it."""
        self._db.close()


def _readable(found: list[SharedGeneration]) -> list[SharedGeneration]:
    if not found:
        msg = "No mirror was loaded into the database."
        raise EmptyStore(msg, "Run where the mirror is: server.py mirror load")
    if others := sorted({one.format for one in found} - {FORMAT}):
        which = "an older" if others[0] < FORMAT else "a newer"
        msg = f"The mirror in the database was loaded by {which} version of Papershelf."
        hint = "Load it anew where the mirror is: server.py mirror load"
        raise StoreFailed(msg, hint if others[0] < FORMAT else "Use that version here, too.")
    return found


class SeenTables(CorpusDatabase):
    """The tables of one generation, as a search sees them."""

    def __init__(self, corpus: CorpusDatabase, moment: Moment, of: SharedGeneration) -> None:
        super().__init__(corpus.engine.url, Path())
        self.generation, self._moment = of, moment

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """The transaction of the search."""
        with self._moment.at(self.generation.schema) as db:
            yield db


def class_of(settings: Settings, one: SharedGeneration) -> str:
    """The name of its class in Weaviate."""
    return f"{settings.weaviate_class}_{one.schema}"


def finder_at(settings: Settings, tables: SharedTables, one: SharedGeneration) -> Finder:
    """The finder of a generation, to be filled."""
    if one.store == "weaviate":
        from ..passages.weaviate_finder import WeaviateFinder

        return WeaviateFinder.of(settings, lambda _: {}, collection=class_of(settings, one))
    from ..passages.pgvector_compact import CompactFinder

    return CompactFinder(tables.engine)
