"""A mirror that is published here, as what the shared stores are to be made of."""

from __future__ import annotations

import hashlib
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..errors import EmbeddingsFailed
from ..mirror.embedding import store_of
from ..mirror.generations import Generations, connect
from ..mirror.passages import KIND, PassageIndex
from ..mirror.reading import readable
from ..mirror.text_passages import TextPassageIndex
from ..system import safe_files
from .shared_mirror import FORMAT, SharedGeneration

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ..mirror import Mirror
    from ..mirror.generations import Generation
    from ..mirror.manifest import SourceFile
    from ..mirror.vectors import VectorStore
    from . import Corpus


@dataclass(frozen=True)
class LoadSource:
    """A mirror that is published, and what its rows are made of."""

    generation: Generation
    index: PassageIndex
    vectors: VectorStore | None

    @property
    def name(self) -> str:
        """``pubmed`` or ``pmc``."""
        return self.generation.source

    @property
    def mirror(self) -> Path:
        """The folder of the mirror."""
        return self.index.generations.mirror

    @cached_property
    def files(self) -> list[SourceFile]:
        """The files of the generation."""
        return self.index.generations.files(self.generation)

    @cached_property
    def counted(self) -> Path:
        """The table of the rows that count."""
        return self.index.counted(self.generation)

    def beside(self, order: int) -> dict[int, int]:
        """Of each row of a file, the place of the record it is narrowed by; PubMed's have none."""
        from pyarrow import parquet

        if "beside" not in self.index.told_by:
            return {}
        with readable():
            names = ["position", "beside"]
            filters = [("sequence", "=", order)]
            rows = parquet.read_table(self.counted, columns=names, filters=filters)
        return dict(zip(*(rows[name].to_pylist() for name in names), strict=True))

    def parts(self) -> Iterator[tuple[str, SourceFile]]:
        """The files, by source, whose parts it is made of; those of the records beside, too."""
        yield from ((self.name, file) for file in self.files)
        if name := self.index.facts().get("records"):
            records = Generations(self.mirror, "pubmed")
            yield from (("pubmed", file) for file in records.files(records.read(name)))

    def counts(self) -> tuple[dict[int, int], int]:
        """How many passages of each file count, and how many papers, by the mirror's own files."""
        parts = [str(file.part(self.mirror, KIND)) for file in self.files]
        query = """
            SELECT sequence, count(*) FROM read_parquet(?) AS cut
            SEMI JOIN read_parquet(?) AS row USING (sequence, position) GROUP BY sequence
        """
        counted = str(self.counted)
        with closing(connect(self.mirror)) as db, readable():
            each = dict(db.execute(query, [parts, counted]).fetchall())
            papers = db.execute("SELECT count(*) FROM read_parquet(?)", [counted]).fetchone()
        return each, int(papers[0]) if papers else 0

    def wanted(self, settings: Any) -> SharedGeneration:
        """What is to be there; other vectors of a generation are another one."""
        store = "weaviate" if settings.vector_store == "weaviate" else "pgvector"
        model, dim = (self.vectors.model, self.vectors.dim) if self.vectors else ("", 0)
        size = self.vectors.size if self.vectors else 0
        about = f"{FORMAT} {self.generation.name} {self.index.facts()} {store} {model} {size}"
        made_of = hashlib.sha256(about.encode()).hexdigest()[:16]
        schema = f"mirror_{self.generation.name.replace('-', '_')}_{made_of[:8]}"
        return SharedGeneration(
            schema, self.name, self.generation.name, store, "loading", model, dim, made_of=made_of
        )


def sources(corpus: Corpus, mirror: Mirror) -> list[LoadSource]:
    """The mirrors that are published here, PubMed's first.

    Raises
    ------
    EmptyStore
        There is none.
    """
    found = list[LoadSource]()
    for made, generations in (
        (PassageIndex, mirror.generations),
        (TextPassageIndex, mirror.pmc_generations),
    ):
        if generation := generations.current():
            folder = generations.mirror / "tmp" / f"load-{generations.source}"
            safe_files.make_folder(folder)
            vectors = _vectors(corpus, generations)
            found.append(LoadSource(generation, made(generations, folder), vectors))
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
