"""Mirrors as a corpus: their passages are found and quoted by the same code, in the same form.

One question asks both, PubMed's records and PMC's full texts; a paper of both is one paper, and its
full text is what is found. A search keeps to the generations and indexes that there were when it
began. What a corpus is written by (sync, index) is the mirror's own: ``mirror pubmed``, ``mirror
index``.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, cast

from ..errors import BadRequest, EmbeddingsFailed, EmptyStore
from ..mirror.embedding import store_of
from ..mirror.finder import BothFinder, MirrorFinder
from ..mirror.passages import PassageIndex, Snapshot
from ..mirror.text_passages import with_text
from ..model.passage import Filters
from . import Corpus
from .database import CorpusDatabase
from .mirrored_texts import MirroredTexts
from .stored_records import CorpusCounts, CorpusRecord

if TYPE_CHECKING:
    from pathlib import Path

    from ..mirror import Mirror
    from ..mirror.vectors import VectorStore
    from ..model.paper import Paper
    from ..model.passage import Passage
    from ..passages import Finder
    from ..shelf import Shelf
    from .names import Kind
    from .quotations import Quotation
    from .search import Answer

_USUAL = Filters()
_INCOMPLETE_VECTORS = (
    "Not every passage has a vector: without, it is found by words. server.py mirror embed"
)


class Mirrored(Corpus):
    """The passages of the mirrors of PubMed and PMC, of whichever are here; see the module.

    Examples
    --------
    >>> library.mirrored.find("weight loss after one year").hits[0].text  # doctest: +SKIP
    """

    def __init__(self, corpus: Corpus, mirror: Mirror) -> None:
        super().__init__(corpus.settings, corpus.web, corpus.shelf)
        self._corpus, self._mirror = corpus, mirror
        self._indexes: dict[str, PassageIndex] = {}
        self._kept: dict[Path, VectorStore] = {}

    def find(self, query: str, *, filters: Filters = _USUAL, **options: Any) -> Answer:
        """Passages by words and by meaning; see `.search.find`.

        Raises
        ------
        EmptyStore
            There is no mirror, or nothing of it is indexed yet.
        """
        from .search import find

        snapshots, warnings = self._snapshots()
        by_words = options.get("by") == "words"
        parts = [(one, None if by_words else self._vectors(one)) for one in snapshots]
        answer = find(query, _Seen(self, parts, one_text=True), filters=filters, **options)
        for snapshot, vectors in parts:
            warnings += snapshot.warnings()
            if vectors and vectors.model and vectors.generation != snapshot.generation.name:
                warnings.append(_INCOMPLETE_VECTORS)
        return replace(answer, warnings=(*dict.fromkeys(warnings), *answer.warnings))

    def verify_quote(self, text: str, paper: str = "") -> Quotation:
        """Where a quotation stands, in one paper or anywhere; see `.quotations.verify`."""
        seen = _Seen(self, [(one, None) for one in self._snapshots()[0]])
        return seen.verify_quote(text, paper)

    def sync(self, *_: Any, **__: Any) -> NoReturn:
        """A mirror follows NLM's files, not a query."""
        raise BadRequest("A mirror is not synced.", "Run: server.py mirror pubmed")

    def index(self, *_: Any, **__: Any) -> NoReturn:
        """A mirror has an index of its own."""
        raise BadRequest("This is the mirror's index.", "Run: server.py mirror index")

    def _vectors(self, snapshot: Snapshot) -> VectorStore | None:
        """The vectors of the model of the settings; None where there is none to name."""
        embedder = self._corpus.embedder
        if embedder is None or embedder.available():
            return None
        with suppress(EmbeddingsFailed):  # told by the search
            made = store_of(snapshot.generations, embedder.model)
            kept = self._kept.get(made.folder)
            self._kept[made.folder] = kept.now() if kept else made
            return self._kept[made.folder]
        return None

    def _snapshots(self) -> tuple[list[Snapshot], list[str]]:
        """Both mirrors, or the one that is here, and what is said of one that is not indexed.

        Raises
        ------
        EmptyStore
            There is none, or none is indexed.
        """
        found, warnings = list[Snapshot](), list[str]()
        for index in self._mirror.passage_indexes():
            index = self._indexes.setdefault(index.generations.source, index)  # noqa: PLW2901
            try:
                found.append(index.snapshot())
            except EmptyStore as empty:
                warnings.append(f"{empty.message} {empty.hint}")
                lacking = empty
        if not found:
            raise lacking
        return found, warnings


class _Seen(Corpus):
    """Mirrors as one search sees them."""

    more = "bring the mirror up to date (server.py mirror pubmed, mirror pmc; then mirror index)"

    def __init__(
        self,
        mirrored: Mirrored,
        parts: Sequence[tuple[Snapshot, VectorStore | None]],
        *,
        one_text: bool = False,
    ) -> None:
        super().__init__(mirrored.settings, mirrored.web, mirrored.shelf)
        corpus, mirror = mirrored._corpus, mirrored._mirror  # noqa: SLF001 - one thing in two
        snapshots = [snapshot for snapshot, _ in parts]
        self.database = _Tables(snapshots, mirror, corpus.database)
        finders = [MirrorFinder(*part) for part in parts]
        both = partial(with_text, snapshots[-1]) if one_text else None
        finder = BothFinder(finders[0], finders[1], both) if len(finders) > 1 else finders[0]
        self.finder = cast("Finder", finder)  # for reading only
        self.embedder, self.reranker = corpus.embedder, corpus.reranker
        if (texts := snapshots[-1]).generations.source == "pmc":
            self.shelf = cast("Shelf", MirroredTexts(corpus.shelf, texts))


class _Tables(CorpusDatabase):
    """What a search asks a corpus's tables, answered by mirrors; it has other names from them.

    The full texts are the last of the mirrors, and what they say goes before.
    """

    def __init__(
        self, snapshots: Sequence[Snapshot], mirror: Mirror, names: CorpusDatabase
    ) -> None:
        self._snapshots, self._mirror, self._names = snapshots, mirror, names

    def passages(self, uuids: Sequence[str]) -> dict[str, Passage]:
        """Those of them that were found."""
        rows = {uuid: found for one in self._snapshots for uuid, found in one.rows.items()}
        return {uuid: rows[uuid].passage for uuid in uuids if uuid in rows}

    def passages_of(self, paper_key: str) -> list[Passage]:
        """The passages of a paper that was found, of its record and of its text."""
        return [found for one in self._snapshots for found in one.passages_of(paper_key)]

    def record(self, pmid: str) -> CorpusRecord | None:
        """The record, as PubMed's parts have it."""
        first = self._snapshots[0]
        if first.generations.source != "pubmed":
            return None
        paper = first.paper(f"pmid:{pmid}") or self._mirror.papers([pmid]).get(pmid)
        return record_of(paper) if paper else None

    def records(self, pmids: Sequence[str]) -> dict[str, CorpusRecord]:
        """As far as the indexes show them: of papers of which passages were found."""
        rows = (found.paper for one in reversed(self._snapshots) for found in one.rows.values())
        papers = {paper.ids.pmid: paper for paper in rows}
        return {pmid: record_of(papers[pmid]) for pmid in pmids if pmid in papers}

    def counts(self) -> CorpusCounts:
        """As many as the indexes have: what they lack, the snapshots say themselves."""
        papers = sum(one.generation.papers for one in self._snapshots)
        return CorpusCounts(papers, 0, 0, sum(one.size for one in self._snapshots), papers, 0)

    def journals(self, asked: str) -> tuple[str, ...]:
        """The name itself, which the index has in three forms, and those the corpus knows."""
        return (asked, *super().journals(asked))

    def named(self, kind: Kind, forms: Sequence[str]) -> dict[str, list[tuple[str, int]]]:
        """Other names, where a corpus has learned some."""
        return self._names.named(kind, forms) if self._names.exists else {}


def record_of(paper: Paper) -> CorpusRecord:
    """Return a paper as a record of a corpus that keeps no versions."""
    return CorpusRecord(paper, 1, "", paper.entered, paper.revised, False, "")
