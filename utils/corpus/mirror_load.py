"""Load the published generation of a mirror into the stores that many users share.

Into a schema of its own (`.shared_mirror`): rows by COPY, a source file in one transaction, which
writes down that it is done; then keys and indexes, one by one; then the counts are compared with
those of the mirror's own files; then it is published. So who is killed goes on with the files and
indexes that are left, and nothing is there twice. In Weaviate a passage has its own UUID: put in
again, it takes its own place.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import insert, text

from ..errors import EmbeddingsFailed, NotConfigured, StoreFailed
from ..mirror.columns import paper_of
from ..mirror.passages import key_of, passages_in
from ..mirror.reading import rows_at
from ..mirror.words import by_file, headings
from ..model.paper import now
from ..passages import LoadedPassage, pgvector_bulk
from ..passages.pgvector import PgvectorFinder
from ..passages.weaviate_finder import WeaviateFinder
from .database import passage_row
from .names import names_in, note_names
from .schema import VERSION, metadata, names, passages, records, sources, versions
from .shared_mirror import (
    SharedGeneration,
    SharedTables,
    begin,
    class_of,
    drop,
    finder_at,
    publish,
    shared,
)
from .stored_records import paper_row

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ..mirror import Mirror
    from ..mirror.generations import Generation
    from ..mirror.manifest import SourceFile
    from ..mirror.passages import Found
    from ..mirror.vectors import VectorStore
    from ..passages import Finder
    from . import Corpus

Step = Literal["rows", "indexes", "done"]
_BLOCK = 2_000  # records that are copied together
_FILES = "CREATE TABLE IF NOT EXISTS loaded (sequence text PRIMARY KEY, passages bigint NOT NULL)"
_LOCK = "a mirror in the shared stores"
_ANALYZED = ("corpus_records", "corpus_passages", "corpus_finder", "corpus_terms")


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """How far it has come: files, or indexes, of so many; papers, passages and vectors there."""

    step: Step
    done: int = 0
    total: int = 0
    papers: int = 0
    passages: int = 0
    vectors: int = 0
    generation: str = ""
    store: str = ""
    changed: bool = True


def load(corpus: Corpus, mirror: Mirror) -> Iterator[LoadProgress]:
    """Load what is published into the stores of the settings; going through it does the work.

    Raises
    ------
    NotConfigured
        ``DATABASE_URL`` names no PostgreSQL.
    StoreBusy
        Another process is loading.
    EmptyStore
        Nothing is published.
    StoreFailed
        The stores refuse, or do not hold what the mirror has.
    """
    if not corpus.database.is_postgresql:
        msg = "A mirror is shared through PostgreSQL, and DATABASE_URL names none."
        raise NotConfigured(msg, "Set DATABASE_URL=postgresql://user:password@host/database.")
    generation = mirror.generations.require_current()
    with corpus.database.alone(_LOCK, 0):
        vectors = _vectors(corpus, mirror)
        wanted = _wanted(corpus, generation, vectors)
        there = {one.schema: one for one in shared(corpus.database)}
        known = there.get(wanted.schema)
        if known and known.state == "published":
            yield _ended(known, changed=False)
            return
        _drop_others(corpus, [*there.values()], wanted)
        begin(corpus.database, replace(wanted, state="loading"))
        yield from _Load(corpus, mirror, generation, wanted, vectors).steps()


def _vectors(corpus: Corpus, mirror: Mirror) -> VectorStore | None:
    """The vectors of the model of the settings, where there are some."""
    embedder = corpus.embedder
    with suppress(EmbeddingsFailed):
        if embedder and not embedder.available():
            found = mirror.vectors(embedder.model)
            return found if found.size else None
    return None


def _wanted(
    corpus: Corpus, generation: Generation, vectors: VectorStore | None
) -> SharedGeneration:
    """What is to be there; other vectors of a generation are another one."""
    store = "weaviate" if corpus.settings.vector_store == "weaviate" else "pgvector"
    model, dim = (vectors.model, vectors.dim) if vectors else ("", 0)
    about = f"{generation.name} {store} {model} {vectors.size if vectors else 0}"
    mark = hashlib.sha256(about.encode()).hexdigest()[:8]
    schema = f"mirror_{generation.name.replace('-', '_')}_{mark}"
    return SharedGeneration(schema, generation.name, store, "", model, dim)


def _drop_others(
    corpus: Corpus, there: Sequence[SharedGeneration], wanted: SharedGeneration
) -> None:
    """Delete what nobody reads: all but the published one and that which is being made."""
    for one in there:
        if one.schema != wanted.schema and one.state != "published":
            if one.store == "weaviate":
                finder = WeaviateFinder.of(
                    corpus.settings, lambda _: {}, collection=class_of(corpus.settings, one)
                )
                finder.drop()
                finder.close()
            drop(corpus.database, one)


def _ended(one: SharedGeneration, *, changed: bool) -> LoadProgress:
    return LoadProgress(
        *("done", 1, 1, one.papers, one.passages, one.vectors, one.generation, one.store), changed
    )


class _Load:
    """One run."""

    def __init__(
        self,
        corpus: Corpus,
        mirror: Mirror,
        generation: Generation,
        wanted: SharedGeneration,
        vectors: VectorStore | None,
    ) -> None:
        self.corpus, self.mirror, self.generation = corpus, mirror, generation
        self.wanted, self.vectors = wanted, vectors
        self.tables = SharedTables.of_generation(corpus.database, wanted)
        self.finder: Finder = finder_at(corpus.settings, self.tables, wanted)
        self.in_weaviate = wanted.store == "weaviate"

    def steps(self) -> Iterator[LoadProgress]:
        try:
            self._prepare()
            yield from self._rows()
            yield from self._indexes()
            made = self._counted()
            self._compare(made)
            publish(self.corpus.database, made)
        finally:
            self.finder.close()
            self.tables.close()
        yield _ended(made, changed=True)

    def _prepare(self) -> None:
        """The tables, without keys and indexes; begun anew where somebody was killed at it."""
        with self.tables.reading() as db:
            here = "SELECT to_regclass(current_schema() || '.loaded')"
            prepared = db.execute(text(here)).scalar() is not None
        if not prepared:
            self._make_tables()
        if self.in_weaviate or not prepared:
            self.finder.prepare(self.wanted.model, self.wanted.dim)
        if not prepared:
            with self.tables.writing() as db:
                pgvector_bulk.take_down(db, self.wanted.schema, ["corpus_names", "corpus_version"])
                db.execute(text(_FILES))

    def _make_tables(self) -> None:
        with self.corpus.database.writing() as db:
            db.execute(text(f'DROP SCHEMA IF EXISTS "{self.wanted.schema}" CASCADE'))
            db.execute(text(f'CREATE SCHEMA "{self.wanted.schema}"'))
            if self.wanted.model and not self.in_weaviate:  # not into a schema that will go
                db.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
        with self.tables.writing() as db:
            metadata.create_all(
                db, tables=[versions, records, passages, sources, names], checkfirst=False
            )
            db.execute(insert(versions).values(version=VERSION))

    def _rows(self) -> Iterator[LoadProgress]:
        live = self.mirror.generations.folder / self.generation.name / "live.parquet"
        positions = by_file(live, None)
        files = [one for one in self._files if one.order in positions]
        with self.tables.reading() as db:
            query = "SELECT sequence, passages FROM loaded"
            done: dict[str, int] = {row.sequence: row.passages for row in db.execute(text(query))}
        for at, file in enumerate(files):
            if file.sequence not in done:
                first = sum(done.values()) + 1
                done[file.sequence] = self._file(file, positions[file.order].tolist(), first)
            total = sum(done.values())
            yield LoadProgress("rows", at + 1, len(files), passages=total)

    @property
    def _files(self) -> list[SourceFile]:
        return self.mirror.generations.files(self.generation)

    def _file(self, file: SourceFile, positions: Sequence[int], first: int) -> int:
        """Load the rows of a file, all or nothing; how many passages."""
        number = first
        with self.tables.writing() as db:
            for at in range(0, len(positions), _BLOCK):
                some = positions[at : at + _BLOCK]
                found = list(passages_in(self.mirror.generations, file, some))
                self._records(db, file, some)
                self._passages(db, found, number)
                number += len(found)
            about = {"sequence": file.sequence, "passages": number - first}
            db.execute(text("INSERT INTO loaded VALUES (:sequence, :passages)"), about)
        return number - first

    def _records(self, db: Connection, file: SourceFile, positions: Sequence[int]) -> None:
        papers = [paper_of(row) for row in rows_at(file.part(self.mirror.folder), positions)]
        about = {"version": 1, "gone": False, "synced_at": now()}
        made = [{**paper_row(paper), **about} for paper in papers]
        if made:
            rows = (list(row.values()) for row in made)
            pgvector_bulk.copy(db, "corpus_records", list(made[0]), rows)
        every = (name for paper in papers for name in names_in(paper, ()))
        note_names(db, Counter(name for name in every if name.kind == "journal"))

    def _passages(self, db: Connection, found: Sequence[tuple[Found, bytes]], first: int) -> None:
        whole = [replace(one.passage, digest=digest.hex()) for one, digest in found]
        rows = [passage_row(passage) for passage in whole]
        if not rows:
            return
        copied = (list(row.values()) for row in rows)
        pgvector_bulk.copy(db, "corpus_passages", list(rows[0]), copied)
        mesh = [headings({"mesh": one.paper.mesh}) for one, _ in found]
        vectors = self._vectors_of([key_of(digest) for _, digest in found])
        loaded = [LoadedPassage(*one) for one in zip(whole, mesh, vectors, strict=True)]
        if isinstance(self.finder, WeaviateFinder):
            self.finder.load(loaded)
        else:
            pgvector_bulk.copy_passages(db, loaded, first)

    def _vectors_of(self, keys: Sequence[int]) -> Iterable[Any]:
        """The vector of each text; None where it has none."""
        if not self.vectors:
            return [None] * len(keys)
        import numpy as np

        held, rows = self.vectors.take(np.array(keys, np.int64))
        taken = iter(rows)
        return [next(taken) if here else None for here in held]

    def _indexes(self) -> Iterator[LoadProgress]:
        with self.tables.reading() as db:
            left = pgvector_bulk.left(db)
        for at, (number, statement) in enumerate(left):
            yield LoadProgress("indexes", at, len(left))
            with self.tables.writing() as db:
                pgvector_bulk.make(db, number, statement)
        with self.tables.writing() as db:
            if isinstance(self.finder, PgvectorFinder):
                pgvector_bulk.count(db, vectored=bool(self.wanted.dim))
            for table in _ANALYZED[: None if isinstance(self.finder, PgvectorFinder) else 2]:
                db.execute(text(f"ANALYZE {table}"))

    def _counted(self) -> SharedGeneration:
        """What is there now, counted anew."""
        status = self.finder.status()
        with self.tables.reading() as db:
            papers = int(db.execute(text("SELECT count(*) FROM corpus_records")).scalar() or 0)
            cut = int(db.execute(text("SELECT count(*) FROM corpus_passages")).scalar() or 0)
        if cut != status.passages:
            raise self._differ(f"{cut:,} passages in the tables", f"{status.passages:,} to find")
        return replace(
            self.wanted,
            state="published",
            papers=papers,
            passages=cut,
            vectors=status.vectors,
        )

    def _compare(self, made: SharedGeneration) -> None:
        """Hold what is there against the mirror's own files, which are counted anew."""
        with self.mirror.sql() as db:
            query = "SELECT sequence, count(*) FROM passages GROUP BY sequence"
            orders: dict[int, int] = dict(db.sql(query).fetchall())
        with self.tables.reading() as db:
            loaded: dict[str, int] = dict(
                map(tuple, db.execute(text("SELECT sequence, passages FROM loaded")))
            )
        for file in self._files:
            here, there = orders.get(file.order, 0), loaded.get(file.sequence, 0)
            if here != there:
                raise self._differ(f"{there:,} passages of {file.sequence}", f"{here:,}")
        passages = sum(orders.values())
        if (made.papers, made.passages) != (self.generation.papers, passages):
            mine = f"{self.generation.papers:,} papers, {passages:,} passages"
            raise self._differ(f"{made.papers:,} papers, {made.passages:,} passages", mine)

    def _differ(self, there: str, here: str) -> StoreFailed:
        msg = f"Not published: the stores hold {there}, the mirror {here}."
        place = self.wanted.schema
        hint = f'Remove it, and load again: DROP SCHEMA "{place}" CASCADE'
        return StoreFailed(msg, hint)
