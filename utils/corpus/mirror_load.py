"""Load what a mirror has published into the stores that many users share.

PubMed's records and PMC's texts each go into a schema of their own (`.shared_mirror`): rows by
COPY, a source file in one transaction, which writes down that it is done; then keys and indexes,
one by one; then the counts are compared with those of the mirror's own files; then all is published
in one statement. So who is killed goes on with the files and indexes that are left, and nothing is
there twice. In Weaviate a passage has its own UUID: put in again, it takes its own place.

Of what was published before only the difference is brought in, in the transaction that publishes
it, where that is little (`.mirror_difference`); what lies in Weaviate is loaded whole.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from sqlalchemy import insert, text

from ..errors import NotConfigured
from ..mirror.words import by_file
from ..passages import pgvector_compact
from ..passages.weaviate_finder import WeaviateFinder
from .load_source import LoadSource, sources
from .mirror_difference import NONE, Changes, Difference
from .mirror_rows import TABLES, MirrorRows
from .schema import VERSION, metadata, names, passages, records, versions
from .schema import sources as digests
from .shared_mirror import (
    SharedGeneration,
    SharedTables,
    all_at_once,
    begin,
    class_of,
    drop,
    finder_at,
    publish,
    shared,
)

if TYPE_CHECKING:
    from ..mirror import Mirror
    from ..mirror.manifest import SourceFile
    from ..passages import Finder
    from . import Corpus

Step = Literal["rows", "indexes", "done"]
_KEPT = ["corpus_names", "corpus_version", "corpus_finder_model", "corpus_parts"]
_LOCK = "a mirror in the shared stores"
_ANALYZED = ("corpus_records", "corpus_passages", "corpus_texts", "corpus_rows")


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """How far it has come: files, or indexes, of so many; records, texts, passages, vectors there.

    ``source`` is what is being loaded, ``generation`` all that is published at the end. ``changes``
    are those in what was published before; of what is loaded whole there are none.
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
    changes: Changes = NONE


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
    every = sources(corpus, mirror)
    with corpus.database.alone(_LOCK, 0):
        yield from _Loads(corpus, every).steps()


class _Loads:
    """One run over all sources."""

    def __init__(self, corpus: Corpus, every: Sequence[LoadSource]) -> None:
        self.corpus, self.every = corpus, every
        self.there = shared(corpus.database)
        self.wanted = {one.name: self._placed(one.wanted(corpus.settings)) for one in every}

    def _placed(self, wanted: SharedGeneration) -> SharedGeneration:
        """Where it is, or was begun; else in a schema of its own."""
        same = [one for one in self.there if one.made_of == wanted.made_of]
        for one in sorted(same, key=lambda one: one.state != "published"):
            return replace(wanted, schema=one.schema, state=one.state)
        taken, number, schema = {one.schema for one in self.there}, 1, wanted.schema
        while schema in taken:  # what was loaded under this name has been changed since
            number += 1
            schema = f"{wanted.schema}_{number}"
        return replace(wanted, schema=schema)

    def steps(self) -> Iterator[LoadProgress]:
        """Go through all of them."""
        made = {one.source: one for one in self.there if self._is_published(one)}
        if len(made) == len(self.every):
            yield _ended([*made.values()], changed=False)
            return
        self._drop_others()
        small = dict[str, Difference]()
        for source in self.every:
            if source.name not in made:
                if difference := self._difference(source):
                    small[source.name] = difference
                else:
                    made[source.name] = yield from self._whole(source)
        yield from self._publish(made, small)

    def _is_published(self, one: SharedGeneration) -> bool:
        wanted = self.wanted.get(one.source)
        return one.state == "published" and wanted is not None and wanted.schema == one.schema

    def _drop_others(self) -> None:
        """Delete what nobody reads: all but what is published and what is being made."""
        kept = {one.schema for one in self.wanted.values()}
        for one in self.there:
            if one.state != "published" and one.schema not in kept:
                if one.store == "weaviate":
                    finder = WeaviateFinder.of(
                        self.corpus.settings,
                        lambda _: {},
                        collection=class_of(self.corpus.settings, one),
                    )
                    with closing(finder):
                        finder.drop()
                drop(self.corpus.database, one)

    def _difference(self, source: LoadSource) -> Difference | None:
        """What of the published one has changed; None where all is loaded, or was begun."""
        wanted = self.wanted[source.name]
        if wanted.schema in {one.schema for one in self.there}:
            return None
        for one in self.there:
            if one.state == "published" and one.source == source.name:
                found = Difference(source, one, wanted)
                if found.is_possible() and found.is_small(self.corpus.database):
                    return found
        return None

    def _whole(self, source: LoadSource) -> Generator[LoadProgress, None, SharedGeneration]:
        wanted = replace(self.wanted[source.name], state="loading")
        begin(self.corpus.database, wanted)
        return (yield from _Load(self.corpus, source, wanted).steps())

    def _publish(
        self, made: dict[str, SharedGeneration], small: Mapping[str, Difference]
    ) -> Iterator[LoadProgress]:
        """Bring in what is little, and publish all, at once."""
        changes = NONE
        with all_at_once(self.corpus.database) as db:
            for name, difference in small.items():
                for done in difference.bring_in(db):
                    yield LoadProgress("rows", done, difference.steps, name)
                made[name] = difference.made
                changes += difference.changes
            every = [made[source.name] for source in self.every]
            publish(db, every)
        yield _ended(every, changed=True, changes=changes)


def _ended(
    made: Sequence[SharedGeneration], *, changed: bool, changes: Changes = NONE
) -> LoadProgress:
    papers = {one.source: one.papers for one in made}
    return LoadProgress(
        *("done", 1, 1, "", papers.get("pubmed", 0), papers.get("pmc", 0)),
        passages=sum(one.passages for one in made),
        vectors=sum(one.vectors for one in made),
        generation=", ".join(one.generation for one in made),
        store=made[0].store,
        changed=changed,
        changes=changes,
    )


class _Load:
    """One run over one source, of which nothing is there, or a part."""

    def __init__(self, corpus: Corpus, source: LoadSource, wanted: SharedGeneration) -> None:
        self.corpus, self.source, self.wanted = corpus, source, wanted
        self.tables = SharedTables.of_generation(corpus.database, wanted)
        self.finder: Finder = finder_at(corpus.settings, self.tables, wanted)
        self.rows = MirrorRows(source, self.finder)
        self.in_weaviate = wanted.store == "weaviate"

    def steps(self) -> Generator[LoadProgress, None, SharedGeneration]:
        """Go through all of them; what was made."""
        try:
            self._prepare()
            yield from self._rows()
            yield from self._indexes()
            status = self.finder.status()
            with self.tables.reading() as db:
                made = replace(self.wanted, vectors=status.vectors)
                return self.rows.compared(db, made, status.passages)
        finally:
            self.finder.close()
            self.tables.close()

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
            made = [versions, records, passages, digests, names]
            metadata.create_all(db, tables=made, checkfirst=False)
            db.execute(insert(versions).values(version=VERSION))
            for statement in TABLES.split(";\n"):
                db.execute(text(statement))

    def _rows(self) -> Iterator[LoadProgress]:
        positions = by_file(self.source.counted, None)
        files = [one for one in self.source.files if one.order in positions]
        with self.tables.reading() as db:
            query = text("SELECT sequence FROM corpus_parts WHERE source = :source")
            done = set(db.execute(query, {"source": self.source.name}).scalars())
        left = [file for file in files if file.order not in done]
        self.source.index.prepare([file.order for file in left], self.source.counted)
        for at, file in enumerate(left, len(files) - len(left)):
            self._file(file, positions[file.order].tolist())
            yield LoadProgress("rows", at + 1, len(files), self.source.name)

    def _file(self, file: SourceFile, positions: Sequence[int]) -> None:
        """Load the rows of a file, all or nothing."""
        with self.tables.writing() as db:
            loading = None if self.in_weaviate else pgvector_compact.Loading(db)
            self.rows.put(db, file, positions, loading)
            if loading:
                loading.close()
            self.rows.note_part(db, file)

    def _indexes(self) -> Iterator[LoadProgress]:
        with self.tables.reading() as db:
            left = pgvector_compact.left(db)
        for at, (number, statement) in enumerate(left):
            yield LoadProgress("indexes", at, len(left), self.source.name)
            with self.tables.writing() as db:
                pgvector_compact.make(db, number, statement)
        with self.tables.writing() as db:
            self.rows.note_parts(db)
            of_finder = () if self.in_weaviate else ("corpus_finder", "corpus_postings")
            for table in (*_ANALYZED, *of_finder):
                db.execute(text(f"ANALYZE {table}"))
