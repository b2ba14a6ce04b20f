"""A mirror in the stores that many users share: which generations are there, and which one counts.

A generation lies in a schema of its own of the PostgreSQL of ``DATABASE_URL``, with the tables of a
corpus and, by ``VECTOR_STORE``, those of `..passages.pgvector` or a class of Weaviate's beside it.
The table ``corpus_mirrors`` says which there are; the one that is published changes in one
statement, and the one before stays, so that a search ends in the generation it began with.
`.mirror_load` fills them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sqlalchemy import URL, text

from .database import CorpusDatabase
from .stored_records import CorpusCounts

if TYPE_CHECKING:
    from ..passages import Finder
    from ..settings import Settings
    from .names import Kind

State = Literal["loading", "published", "before"]
_TABLE = """
CREATE TABLE IF NOT EXISTS corpus_mirrors (
    schema text PRIMARY KEY, generation text NOT NULL, store text NOT NULL, state text NOT NULL,
    model text NOT NULL, dim integer NOT NULL, papers bigint NOT NULL DEFAULT 0,
    passages bigint NOT NULL DEFAULT 0, vectors bigint NOT NULL DEFAULT 0
)
"""
_PUBLISH = """
UPDATE corpus_mirrors SET state = CASE WHEN schema = :schema THEN 'published'
    WHEN state = 'published' THEN 'before' ELSE 'old' END
WHERE state <> 'loading' OR schema = :schema
"""


@dataclass(frozen=True, slots=True)
class SharedGeneration:
    """A generation in the shared stores.

    ``schema`` is where its tables are and names Weaviate's class; ``store`` is the finder's name.
    ``model`` made its vectors (empty: none), ``dim`` numbers each.
    """

    schema: str
    generation: str
    store: str
    state: str
    model: str
    dim: int
    papers: int = 0
    passages: int = 0
    vectors: int = 0


_COLUMNS = ", ".join(one.name for one in fields(SharedGeneration))


def shared(database: CorpusDatabase) -> list[SharedGeneration]:
    """All generations that are there, or were begun."""
    if not database.is_postgresql:
        return []
    with database.reading() as db:
        if db.execute(text("SELECT to_regclass('corpus_mirrors')")).scalar() is None:
            return []
        rows = db.execute(text(f"SELECT {_COLUMNS} FROM corpus_mirrors ORDER BY schema"))  # noqa: S608
        return [SharedGeneration(*row) for row in rows]


def published(database: CorpusDatabase) -> SharedGeneration | None:
    """The one that counts."""
    return next((one for one in shared(database) if one.state == "published"), None)


def begin(database: CorpusDatabase, wanted: SharedGeneration) -> None:
    """Write down that a generation is being loaded."""
    with database.writing() as db:
        db.execute(text(_TABLE))
        values = {one.name: getattr(wanted, one.name) for one in fields(SharedGeneration)}
        names = ", ".join(f":{name}" for name in values)
        query = f"INSERT INTO corpus_mirrors ({_COLUMNS}) VALUES ({names}) ON CONFLICT DO NOTHING"  # noqa: S608
        db.execute(text(query), values)


def publish(database: CorpusDatabase, made: SharedGeneration) -> None:
    """Have searches use it from now on."""
    counts = {name: getattr(made, name) for name in ("papers", "passages", "vectors")}
    changes = ", ".join(f"{name} = :{name}" for name in counts)
    with database.writing() as db:
        query = f"UPDATE corpus_mirrors SET {changes} WHERE schema = :schema"  # noqa: S608
        db.execute(text(query), {**counts, "schema": made.schema})
        db.execute(text(_PUBLISH), {"schema": made.schema})


def drop(database: CorpusDatabase, one: SharedGeneration) -> None:
    """Delete a generation."""
    with database.writing() as db:
        db.execute(text(f'DROP SCHEMA IF EXISTS "{one.schema}" CASCADE'))
        query = "DELETE FROM corpus_mirrors WHERE schema = :schema"
        db.execute(text(query), {"schema": one.schema})


class SharedTables(CorpusDatabase):
    """The tables of one generation; other words for terms are those the corpus has learned."""

    def __init__(self, url: URL, folder: Path, names: CorpusDatabase, of: SharedGeneration) -> None:
        super().__init__(url, folder)
        self._names, self._generation = names, of

    @classmethod
    def of_generation(cls, corpus: CorpusDatabase, generation: SharedGeneration) -> SharedTables:
        """Those of a generation in the database of a corpus."""
        with corpus.reading() as db:
            path = str(db.execute(text("SHOW search_path")).scalar()).replace(" ", "")
        url = corpus.engine.url
        given = url.query.get("options", "")
        options = f"{given} -csearch_path={generation.schema},{path}".strip()
        where = url.update_query_dict({"options": options})
        return cls(where, corpus.folder, corpus, generation)

    def counts(self) -> CorpusCounts:
        """As they were when it was loaded: counting millions of rows takes longer than a search."""
        one = self._generation
        return CorpusCounts(one.papers, 0, 0, one.passages, one.papers, 0)

    def named(self, kind: Kind, forms: Sequence[str]) -> dict[str, list[tuple[str, int]]]:
        """Names of journals as the records have them."""
        if kind == "journal":
            return super().named(kind, forms)
        return self._names.named(kind, forms)


def class_of(settings: Settings, one: SharedGeneration) -> str:
    """The name of its class in Weaviate."""
    return f"{settings.weaviate_class}_{one.schema}"


def finder_at(settings: Settings, tables: SharedTables, one: SharedGeneration) -> Finder:
    """The finder of a generation."""
    if one.store == "weaviate":
        from ..passages.weaviate_finder import WeaviateFinder

        name = class_of(settings, one)
        return WeaviateFinder.of(settings, lambda _: {}, collection=name)
    from ..passages.pgvector import PgvectorFinder

    return PgvectorFinder(tables.engine, compact=True)
