"""A mirror as a corpus: its passages are found and quoted by the same code, in the same form.

A search keeps to the generation and the index that there were when it began: those of the mirror's
files or, with ``PAPERS_MIRROR_STORE=database``, those that `.mirror_load` put where many users ask.
What a corpus is written by (sync, index) is the mirror's own: ``mirror pubmed``, ``mirror index``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, cast

from ..errors import BadRequest, EmbeddingsFailed, EmptyStore
from ..mirror.finder import MirrorFinder
from ..mirror.passages import PassageIndex, Snapshot
from ..model.passage import Filters
from . import Corpus
from .database import CorpusDatabase
from .shared_mirror import SharedGeneration, SharedTables, finder_at, published
from .stored_records import CorpusCounts, CorpusRecord

if TYPE_CHECKING:
    from ..mirror import Mirror
    from ..mirror.vectors import VectorStore
    from ..model.paper import Paper
    from ..model.passage import Passage
    from ..passages import Finder
    from .mirror_load import LoadProgress
    from .names import Kind
    from .quotations import Quotation
    from .search import Answer

_USUAL = Filters()
_SOME = "Not every passage has a vector: without, it is found by words. server.py mirror embed"


class Mirrored(Corpus):
    """The passages of a mirror; see the module.

    Examples
    --------
    >>> library.mirrored.find("weight loss after one year").hits[0].text  # doctest: +SKIP
    """

    def __init__(self, corpus: Corpus, mirror: Mirror) -> None:
        super().__init__(corpus.settings, corpus.web, corpus.shelf)
        self._corpus, self._mirror = corpus, mirror
        self._passages: PassageIndex | None = None
        self._kept: VectorStore | None = None
        self._shared: _Shared | None = None

    @property
    def is_shared(self) -> bool:
        """Whether the stores of many users are asked, not files."""
        return self.settings.papers_mirror_store == "database"

    def load(self, mirror: Mirror | None = None) -> Iterator[LoadProgress]:
        """Put what is published where many users ask; see `.mirror_load.load`."""
        from .mirror_load import load

        yield from load(self._corpus, mirror or self._mirror)

    def find(self, query: str, *, filters: Filters = _USUAL, **options: Any) -> Answer:
        """Passages by words and by meaning; see `.search.find`.

        Raises
        ------
        EmptyStore
            There is no mirror, or nothing of it is indexed yet.
        """
        from .search import find

        if self.is_shared:
            shared = self._now_shared()
            answer = find(query, shared, filters=filters, **options)
            return replace(answer, warnings=(*shared.warnings(self._mirror), *answer.warnings))
        snapshot = self._snapshot()
        vectors = None if options.get("by") == "words" else self._vectors()
        answer = find(query, _Seen(self, snapshot, vectors), filters=filters, **options)
        warnings = [*snapshot.warnings()]
        if vectors and vectors.model and vectors.generation != snapshot.generation.name:
            warnings.append(_SOME)
        return replace(answer, warnings=(*warnings, *answer.warnings))

    def verify_quote(self, text: str, paper: str = "") -> Quotation:
        """Where a quotation stands, in one paper or anywhere; see `.quotations.verify`."""
        return self._seen().verify_quote(text, paper)

    def certify(self, text: str, found: Quotation) -> dict[str, Any]:
        """The certificate of a quotation that was found; see `.certificates.certificate`."""
        return self._seen().certify(text, found)

    def sync(self, *_: Any, **__: Any) -> NoReturn:
        """A mirror follows NLM's files, not a query."""
        raise BadRequest("A mirror is not synced.", "Run: server.py mirror pubmed")

    def index(self, *_: Any, **__: Any) -> NoReturn:
        """A mirror has an index of its own."""
        raise BadRequest("This is the mirror's index.", "Run: server.py mirror index")

    def _seen(self) -> Corpus:
        return self._now_shared() if self.is_shared else _Seen(self, self._snapshot())

    def _now_shared(self) -> _Shared:
        """The generation that is published in the shared stores now."""
        now = published(self._corpus.database)
        if now is None:
            msg = "No mirror was loaded into the database."
            raise EmptyStore(msg, "Run where the mirror is: server.py mirror load")
        if self._shared is None or self._shared.generation != now:
            self._shared = _Shared(self._corpus, now)
        return self._shared

    def _vectors(self) -> VectorStore | None:
        """The vectors of the model of the settings; None where there is none to name."""
        embedder = self._corpus.embedder
        if embedder is None or embedder.available():
            return None
        with suppress(EmbeddingsFailed):  # told by the search
            made = self._mirror.vectors(embedder.model)
            kept = self._kept
            self._kept = kept.now() if kept and kept.folder == made.folder else made
            return self._kept
        return None

    def _snapshot(self) -> Snapshot:
        if self._passages is None:
            self._passages = self._mirror.passages
        return self._passages.snapshot()


class _Seen(Corpus):
    """A mirror as one search sees it."""

    def __init__(
        self, mirrored: Mirrored, snapshot: Snapshot, vectors: VectorStore | None = None
    ) -> None:
        super().__init__(mirrored.settings, mirrored.web, mirrored.shelf)
        corpus, mirror = mirrored._corpus, mirrored._mirror  # noqa: SLF001 - one thing in two
        self.database = _Tables(snapshot, mirror, corpus.database)
        self.finder = cast("Finder", MirrorFinder(snapshot, vectors))  # for reading only
        self.embedder, self.reranker = corpus.embedder, corpus.reranker


class _Shared(Corpus):
    """A generation of a mirror in the stores of many users."""

    def __init__(self, corpus: Corpus, generation: SharedGeneration) -> None:
        super().__init__(corpus.settings, corpus.web, corpus.shelf)
        tables = SharedTables.of_generation(corpus.database, generation)
        self.generation, self.database = generation, tables
        self.finder = finder_at(corpus.settings, tables, generation)
        self.embedder, self.reranker = corpus.embedder, corpus.reranker

    def warnings(self, mirror: Mirror) -> Iterator[str]:
        """What the mirror's own files have, where there are some, and the stores have not."""
        from ..mirror.generations import Generations

        newer = Generations(mirror.folder, "pubmed").current()
        if newer and newer.name != self.generation.generation:
            yield (
                f"The database has generation {self.generation.generation}, published here is "
                f"{newer.name}: server.py mirror load"
            )
        if self.generation.model and self.generation.vectors < self.generation.passages:
            yield _SOME


class _Tables(CorpusDatabase):
    """What a search asks a corpus's tables, answered by a mirror; it has other names from them."""

    def __init__(self, snapshot: Snapshot, mirror: Mirror, names: CorpusDatabase) -> None:
        self._snapshot, self._mirror, self._names = snapshot, mirror, names

    def passages(self, uuids: Sequence[str]) -> dict[str, Passage]:
        """Those of them that were found."""
        rows = self._snapshot.rows
        return {uuid: rows[uuid].passage for uuid in uuids if uuid in rows}

    def passages_of(self, paper_key: str) -> list[Passage]:
        """The passages of a paper that was found."""
        return self._snapshot.passages_of(paper_key)

    def record(self, pmid: str) -> CorpusRecord | None:
        """The record, as the parts have it."""
        paper = self._snapshot.paper(f"pmid:{pmid}") or self._mirror.papers([pmid]).get(pmid)
        return _record(paper) if paper else None

    def records(self, pmids: Sequence[str]) -> dict[str, CorpusRecord]:
        """As far as the index shows it: of papers of which passages were found."""
        rows = (one.paper for one in self._snapshot.rows.values())
        papers = {paper.ids.pmid: paper for paper in rows}
        return {pmid: _record(papers[pmid]) for pmid in pmids if pmid in papers}

    def counts(self) -> CorpusCounts:
        """As many as the index has: what it lacks, the snapshot says itself."""
        generation, size = self._snapshot.generation, self._snapshot.size
        return CorpusCounts(generation.papers, 0, 0, size, generation.papers, 0)

    def journals(self, asked: str) -> tuple[str, ...]:
        """The name itself, which the index has in three forms, and those the corpus knows."""
        return (asked, *super().journals(asked))

    def named(self, kind: Kind, forms: Sequence[str]) -> dict[str, list[tuple[str, int]]]:
        """Other names, where a corpus has learned some."""
        return self._names.named(kind, forms) if self._names.exists else {}


def _record(paper: Paper) -> CorpusRecord:
    return CorpusRecord(paper, 1, "", paper.entered, paper.revised, False, "")
