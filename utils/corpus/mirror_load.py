"""Load what a mirror has published into the stores that many users share.

PubMed's records and PMC's texts each go into a schema of their own (`.shared_mirror`): rows by
COPY, a source file in one transaction, which writes down that it is done; then keys and indexes,
one by one; then the counts are compared with those of the mirror's own files; then all is published
in one statement. So who is killed goes on with the files and indexes that are left, and nothing is
there twice. In Weaviate a passage has its own UUID: put in again, it takes its own place.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import insert, text

from ..errors import EmbeddingsFailed, NotConfigured, StoreFailed
from ..mirror.columns import paper_of
from ..mirror.embedding import store_of
from ..mirror.generations import connect
from ..mirror.passages import KIND, PassageIndex, key_of
from ..mirror.reading import readable, rows_at
from ..mirror.text_passages import TextPassageIndex
from ..mirror.words import by_file, headings
from ..model.paper import now
from ..passages import LoadedPassage, pgvector_compact
from ..passages.ranking import plain
from ..passages.weaviate_finder import WeaviateFinder
from ..system import safe_files
from .database import passage_row
from .mirrored_texts import COLUMNS
from .names import names_in, note_names
from .schema import VERSION, metadata, names, passages, records, sources, versions
from .shared_mirror import (
    FORMAT,
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
    from pathlib import Path

    from sqlalchemy import Connection

    from ..mirror import Mirror
    from ..mirror.generations import Generation, Generations
    from ..mirror.manifest import SourceFile
    from ..mirror.shown import Found
    from ..mirror.vectors import VectorStore
    from ..passages import Finder
    from . import Corpus

Step = Literal["rows", "indexes", "done"]
_BLOCK = 2_000  # records that are copied together
_TABLES = """
CREATE TABLE loaded (sequence text PRIMARY KEY, passages bigint NOT NULL);
CREATE TABLE corpus_texts (
    pmcid integer PRIMARY KEY, pmid integer, doi text, version integer NOT NULL, title text,
    journal text, year integer, license text, text_version text, retracted boolean, verdict text,
    evidence text, text text NOT NULL
);
CREATE INDEX corpus_texts_pmid ON corpus_texts (pmid);
CREATE INDEX corpus_texts_doi ON corpus_texts (doi)
"""
_KEPT = ["corpus_names", "corpus_version", "corpus_finder_model", "loaded"]
_LOCK = "a mirror in the shared stores"
_ANALYZED = ("corpus_records", "corpus_passages", "corpus_texts")


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """How far it has come: files, or indexes, of so many; records, texts, passages, vectors there.

    ``source`` is what is being loaded, ``generation`` all that is published at the end.
    """

    step: Step
    done: int = 0
    total: int = 0
    source: str = ""
    papers: int = 0
    texts: int = 0
    passages: int = 0
    vectors: int = 0
    generation: str = ""
    store: str = ""
    changed: bool = True


@dataclass(frozen=True)
class _Source:
    """A mirror that is published, and what its rows are made of."""

    generation: Generation
    index: PassageIndex
    vectors: VectorStore | None

    @property
    def name(self) -> str:
        return self.generation.source

    @cached_property
    def files(self) -> list[SourceFile]:
        return self.index.generations.files(self.generation)

    @cached_property
    def counted(self) -> Path:
        """The table of the rows that count."""
        return self.index.counted(self.generation)

    def wanted(self, settings: Any) -> SharedGeneration:
        """What is to be there; other vectors of a generation are another one."""
        store = "weaviate" if settings.vector_store == "weaviate" else "pgvector"
        model, dim = (self.vectors.model, self.vectors.dim) if self.vectors else ("", 0)
        size = self.vectors.size if self.vectors else 0
        about = f"{FORMAT} {self.generation.name} {self.index.facts()} {store} {model} {size}"
        mark = hashlib.sha256(about.encode()).hexdigest()[:8]
        schema = f"mirror_{self.generation.name.replace('-', '_')}_{mark}"
        return SharedGeneration(schema, self.name, self.generation.name, store, "", model, dim)


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
    every = _sources(corpus, mirror)
    with corpus.database.alone(_LOCK, 0):
        wanted = {one.name: one.wanted(corpus.settings) for one in every}
        there = {one.schema: one for one in shared(corpus.database)}
        known = {
            name: there[one.schema]
            for name, one in wanted.items()
            if one.schema in there and there[one.schema].state == "published"
        }
        if len(known) == len(wanted):
            yield _ended([*known.values()], changed=False)
            return
        _drop_others(corpus, [*there.values()], [*wanted.values()])
        for source in every:
            if source.name not in known:
                begin(corpus.database, replace(wanted[source.name], state="loading"))
                one = _Load(corpus, source, wanted[source.name])
                known[source.name] = yield from one.steps()
        made = [known[source.name] for source in every]
        with corpus.database.writing() as db:
            publish(db, made)
        yield _ended(made, changed=True)


def _sources(corpus: Corpus, mirror: Mirror) -> list[_Source]:
    """The mirrors that are published here, PubMed's first.

    Raises
    ------
    EmptyStore
        There is none.
    """
    found = list[_Source]()
    for made, generations in (
        (PassageIndex, mirror.generations),
        (TextPassageIndex, mirror.pmc_generations),
    ):
        if generation := generations.current():
            folder = generations.mirror / "tmp" / f"load-{generations.source}"
            safe_files.make_folder(folder)
            vectors = _vectors(corpus, generations)
            found.append(_Source(generation, made(generations, folder), vectors))
    if not found:
        mirror.generations.require_current()
    return found


def _vectors(corpus: Corpus, generations: Generations) -> VectorStore | None:
    """The vectors of the model of the settings, where there are some."""
    embedder = corpus.embedder
    with suppress(EmbeddingsFailed):
        if embedder and not embedder.available():
            found = store_of(generations, embedder.model)
            return found if found.size else None
    return None


def _drop_others(
    corpus: Corpus, there: Sequence[SharedGeneration], wanted: Sequence[SharedGeneration]
) -> None:
    """Delete what nobody reads: all but what is published and what is being made."""
    for one in there:
        if one.state != "published" and one.schema not in {new.schema for new in wanted}:
            if one.store == "weaviate":
                finder = WeaviateFinder.of(
                    corpus.settings, lambda _: {}, collection=class_of(corpus.settings, one)
                )
                with closing(finder):
                    finder.drop()
            drop(corpus.database, one)


def _ended(made: Sequence[SharedGeneration], *, changed: bool) -> LoadProgress:
    papers = {one.source: one.papers for one in made}
    return LoadProgress(
        *("done", 1, 1, "", papers.get("pubmed", 0), papers.get("pmc", 0)),
        passages=sum(one.passages for one in made),
        vectors=sum(one.vectors for one in made),
        generation=", ".join(one.generation for one in made),
        store=made[0].store,
        changed=changed,
    )


class _Load:
    """One run over one source."""

    def __init__(self, corpus: Corpus, source: _Source, wanted: SharedGeneration) -> None:
        self.corpus, self.source, self.wanted = corpus, source, wanted
        self.tables = SharedTables.of_generation(corpus.database, wanted)
        self.finder: Finder = finder_at(corpus.settings, self.tables, wanted)
        self.in_weaviate = wanted.store == "weaviate"

    def steps(self) -> Generator[LoadProgress, None, SharedGeneration]:
        """Go through all of them; what was made."""
        try:
            self._prepare()
            yield from self._rows()
            yield from self._indexes()
            made = self._counted()
            self._compare(made)
        finally:
            self.finder.close()
            self.tables.close()
        return made

    def _prepare(self) -> None:
        """The tables, without keys and indexes; begun anew where somebody was killed at it."""
        with self.tables.reading() as db:
            here = "SELECT to_regclass(current_schema() || '.later')"
            prepared = db.execute(text(here)).scalar() is not None
        if not prepared:
            self._make_tables()
        if self.in_weaviate or not prepared:
            self.finder.prepare(self.wanted.model, self.wanted.dim)
        if not prepared:
            with self.tables.writing() as db:
                pgvector_compact.take_down(db, self.wanted.schema, self._kept)

    @property
    def _kept(self) -> list[str]:
        return _KEPT if not self.in_weaviate else [one for one in _KEPT if "finder" not in one]

    def _make_tables(self) -> None:
        with self.corpus.database.writing() as db:
            db.execute(text(f'DROP SCHEMA IF EXISTS "{self.wanted.schema}" CASCADE'))
            db.execute(text(f'CREATE SCHEMA "{self.wanted.schema}"'))
            if self.wanted.model and not self.in_weaviate:  # not into a schema that will go
                db.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
        with self.tables.writing() as db:
            made = [versions, records, passages, sources, names]
            metadata.create_all(db, tables=made, checkfirst=False)
            db.execute(insert(versions).values(version=VERSION))
            for statement in _TABLES.split(";\n"):
                db.execute(text(statement))

    def _rows(self) -> Iterator[LoadProgress]:
        positions = by_file(self.source.counted, None)
        files = [one for one in self.source.files if one.order in positions]
        with self.tables.reading() as db:
            query = "SELECT sequence, passages FROM loaded"
            done: dict[str, int] = {row.sequence: row.passages for row in db.execute(text(query))}
        left = [one.order for one in files if one.sequence not in done]
        self.source.index.prepare(left, self.source.counted)
        for at, file in enumerate(files):
            if file.sequence not in done:
                first = sum(done.values()) + 1
                done[file.sequence] = self._file(file, positions[file.order].tolist(), first)
            total = sum(done.values())
            yield LoadProgress("rows", at + 1, len(files), self.source.name, passages=total)

    def _file(self, file: SourceFile, positions: Sequence[int], first: int) -> int:
        """Load the rows of a file, all or nothing; how many passages."""
        number = first
        with self.tables.writing() as db:
            loading = None if self.in_weaviate else pgvector_compact.Loading(db, first)
            for at in range(0, len(positions), _BLOCK):
                some = positions[at : at + _BLOCK]
                found = list(self.source.index.passages(file, some))
                (self._texts if self.source.name == "pmc" else self._records)(db, file, some)
                self._passages(db, found, loading)
                number += len(found)
            if loading:
                loading.close()
            about = {"sequence": file.sequence, "passages": number - first}
            db.execute(text("INSERT INTO loaded VALUES (:sequence, :passages)"), about)
        return number - first

    def _records(self, db: Connection, file: SourceFile, positions: Sequence[int]) -> None:
        part = file.part(self.source.index.generations.mirror)
        papers = [paper_of(row) for row in rows_at(part, positions)]
        about = {"version": 1, "gone": False, "synced_at": now()}
        made = [{**paper_row(paper), **about} for paper in papers]
        if made:
            rows = (list(row.values()) for row in made)
            pgvector_compact.copy(db, "corpus_records", list(made[0]), rows)
        every = (name for paper in papers for name in names_in(paper, ()))
        note_names(db, Counter(name for name in every if name.kind == "journal"))

    def _texts(self, db: Connection, file: SourceFile, positions: Sequence[int]) -> None:
        """The texts themselves: quotations are compared with them."""
        columns = (*COLUMNS, "text")
        part = file.part(self.source.index.generations.mirror)
        rows = (
            [plain(row[one]) if isinstance(row[one], str) else row[one] for one in columns]
            for row in rows_at(part, positions, columns)
        )
        pgvector_compact.copy(db, "corpus_texts", columns, rows)

    def _passages(
        self,
        db: Connection,
        found: Sequence[tuple[Found, bytes]],
        loading: pgvector_compact.Loading | None,
    ) -> None:
        whole = [replace(one.passage, digest=digest.hex()) for one, digest in found]
        rows = [passage_row(passage) for passage in whole]
        if not rows:
            return
        copied = (list(row.values()) for row in rows)
        pgvector_compact.copy(db, "corpus_passages", list(rows[0]), copied)
        mesh = [headings({"mesh": one.paper.mesh}) for one, _ in found]
        vectors = self._vectors_of([key_of(digest) for _, digest in found])
        loaded = [LoadedPassage(*one) for one in zip(whole, mesh, vectors, strict=True)]
        if isinstance(self.finder, WeaviateFinder):
            self.finder.load(loaded)
        elif loading:
            loading.add(loaded)

    def _vectors_of(self, keys: Sequence[int]) -> Iterable[Any]:
        """The vector of each text; None where it has none."""
        if not self.source.vectors:
            return [None] * len(keys)
        import numpy as np

        held, rows = self.source.vectors.take(np.array(keys, np.int64))
        taken = iter(rows)
        return [next(taken) if here else None for here in held]

    def _indexes(self) -> Iterator[LoadProgress]:
        with self.tables.reading() as db:
            left = pgvector_compact.left(db)
        for at, (number, statement) in enumerate(left):
            yield LoadProgress("indexes", at, len(left), self.source.name)
            with self.tables.writing() as db:
                pgvector_compact.make(db, number, statement)
        with self.tables.writing() as db:
            of_finder = () if self.in_weaviate else ("corpus_finder", "corpus_postings")
            if of_finder:
                pgvector_compact.count(db, vectored=bool(self.wanted.dim))
            for table in (*_ANALYZED, *of_finder):
                db.execute(text(f"ANALYZE {table}"))

    def _counted(self) -> SharedGeneration:
        """What is there now, counted anew."""
        status = self.finder.status()
        table = "corpus_texts" if self.source.name == "pmc" else "corpus_records"
        with self.tables.reading() as db:
            papers = int(db.execute(text(f"SELECT count(*) FROM {table}")).scalar() or 0)  # noqa: S608
            cut = int(db.execute(text("SELECT count(*) FROM corpus_passages")).scalar() or 0)
        if cut != status.passages:
            raise self._differ(f"{cut:,} passages in the tables", f"{status.passages:,} to find")
        return replace(
            self.wanted, state="published", papers=papers, passages=cut, vectors=status.vectors
        )

    def _compare(self, made: SharedGeneration) -> None:
        """Hold what is there against the mirror's own files, which are counted anew."""
        mine, papers = self._in_files()
        with self.tables.reading() as db:
            query = text("SELECT sequence, passages FROM loaded")
            there: dict[str, int] = dict(map(tuple, db.execute(query)))
        for file in self.source.files:
            here, loaded = mine.get(file.order, 0), there.get(file.sequence, 0)
            if here != loaded:
                raise self._differ(f"{loaded:,} passages of {file.sequence}", f"{here:,}")
        cut = sum(mine.values())
        if (made.papers, made.passages) != (papers, cut):
            said = f"{papers:,} papers, {cut:,} passages"
            raise self._differ(f"{made.papers:,} papers, {made.passages:,} passages", said)

    def _in_files(self) -> tuple[dict[int, int], int]:
        """How many passages of each file count, and how many papers."""
        mirror = self.source.index.generations.mirror
        parts = [str(file.part(mirror, KIND)) for file in self.source.files]
        query = """
            SELECT sequence, count(*) FROM read_parquet(?) AS cut
            SEMI JOIN read_parquet(?) AS row USING (sequence, position) GROUP BY sequence
        """
        counted = str(self.source.counted)
        with closing(connect(mirror)) as db, readable():
            each = dict(db.execute(query, [parts, counted]).fetchall())
            papers = db.execute("SELECT count(*) FROM read_parquet(?)", [counted]).fetchone()
        return each, int(papers[0]) if papers else 0

    def _differ(self, there: str, here: str) -> StoreFailed:
        msg = f"Not published: the stores hold {there}, the mirror {here}."
        place = self.wanted.schema
        hint = f'Remove it, and load again: DROP SCHEMA "{place}" CASCADE'
        return StoreFailed(msg, hint)
