"""Passages of mirrors, found and quoted by the code of a corpus: `..corpus.searchable`.

One question asks both, PubMed's records and PMC's full texts; a paper of both is one paper, and its
full text is what is found. A search keeps to the generations and indexes that there were when it
began.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..command_line import command_line
from ..corpus.stored_records import CorpusCounts, CorpusRecord
from ..errors import EmbeddingsFailed, EmptyStore
from ..model.passage import Filters
from .embedding import store_of
from .finder import BothFinder, MirrorFinder
from .passages import PassageIndex, Snapshot
from .text_passages import with_text
from .text_reader import ShelfAndMirror

if TYPE_CHECKING:
    from pathlib import Path

    from ..corpus import Corpus
    from ..corpus.database import CorpusDatabase
    from ..corpus.names import Kind
    from ..corpus.quotations import Quotation
    from ..corpus.search import Answer
    from ..corpus.searchable import SearchedTexts
    from ..model.paper import Paper
    from ..model.passage import Passage
    from ..passages import Embedder, PassageFinder
    from ..passages.reranker import Reranker
    from . import Mirror
    from .vectors import VectorStore

_USUAL = Filters()
_INCOMPLETE_VECTORS = (
    f"Not every passage has a vector: without, it is found by words. {command_line('mirror embed')}"
)


class MirrorPassages:
    """The passages of the mirrors of PubMed and PMC, of whichever are here; see the module.

    The corpus gives its models, other names and shelf.

    Examples
    --------
    >>> library.mirrored.find("weight loss after one year").hits[0].text  # doctest: +SKIP
    """

    def __init__(self, corpus: Corpus, mirror: Mirror) -> None:
        self._corpus, self._mirror = corpus, mirror
        self._indexes: dict[str, PassageIndex] = {}
        self._kept: dict[Path, VectorStore] = {}

    def find(self, query: str, *, filters: Filters = _USUAL, **options: Any) -> Answer:
        """Passages by words and by meaning; see `..corpus.search.find`.

        Raises
        ------
        EmptyStore
            There is no mirror, or nothing of it is indexed yet.
        """
        from ..corpus.search import find

        snapshots, warnings = self._snapshots()
        by_words = options.get("by") == "words"
        parts = [(one, None if by_words else self._vectors(one)) for one in snapshots]
        answer = find(query, self._take_snapshot(parts, one_text=True), filters=filters, **options)
        for snapshot, vectors in parts:
            warnings += snapshot.warnings()
            if vectors and vectors.model and vectors.generation != snapshot.generation.name:
                warnings.append(_INCOMPLETE_VECTORS)
        return replace(answer, warnings=(*dict.fromkeys(warnings), *answer.warnings))

    def verify_quote(self, text: str, paper: str = "") -> Quotation:
        """Where a quotation stands, in one paper or anywhere; see `..corpus.quotations.verify`."""
        from ..corpus.quotations import verify, verify_in

        seen = self._take_snapshot([(one, None) for one in self._snapshots()[0]])
        return verify_in(text, paper, seen) if paper else verify(text, seen)

    def _take_snapshot(
        self, parts: Sequence[tuple[Snapshot, VectorStore | None]], *, one_text: bool = False
    ) -> _MirrorSnapshot:
        """Return the mirrors as they are now, for one search."""
        snapshots = [snapshot for snapshot, _ in parts]
        corpus, texts = self._corpus, snapshots[-1]
        finders = [MirrorFinder(*part) for part in parts]
        both = partial(with_text, texts) if one_text else None
        has_texts = texts.generations.source == "pmc"
        return _MirrorSnapshot(
            BothFinder(finders[0], finders[1], both) if len(finders) > 1 else finders[0],
            _MirrorTables(snapshots, self._mirror, corpus.database),
            ShelfAndMirror(corpus.shelf, texts) if has_texts else corpus.shelf,
            corpus.embedder,
            corpus.reranker,
        )

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


@dataclass(frozen=True, slots=True)
class _MirrorSnapshot:
    """Mirrors as they were when a search began: a `..corpus.searchable.Searchable`."""

    finder: PassageFinder
    database: _MirrorTables
    shelf: SearchedTexts
    embedder: Embedder | None
    reranker: Reranker | None

    @property
    def more(self) -> str:
        """The advice to a person who found nothing."""
        verbs = ("mirror pubmed", "mirror pmc", "mirror index")
        return f"bring the mirror up to date ({', then '.join(map(command_line, verbs))})"

    def recent_counts(self) -> CorpusCounts:
        """Count what the indexes hold; `find` warns of what they lack."""
        snapshots = self.database.snapshots
        papers = sum(one.generation.papers for one in snapshots)
        return CorpusCounts(papers, 0, 0, sum(one.size for one in snapshots), papers, 0)


@dataclass(frozen=True, slots=True)
class _MirrorTables:
    """The tables of a search over mirrors; other names come from the corpus.

    The full texts are the last of the mirrors, and what they say goes before.
    """

    snapshots: Sequence[Snapshot]
    mirror: Mirror
    names: CorpusDatabase

    def passages(self, uuids: Sequence[str]) -> dict[str, Passage]:
        """Those of them that were found."""
        rows = {uuid: found for one in self.snapshots for uuid, found in one.rows.items()}
        return {uuid: rows[uuid].passage for uuid in uuids if uuid in rows}

    def passages_of(self, paper_key: str) -> list[Passage]:
        """The passages of a paper that was found, of its record and of its text."""
        return [found for one in self.snapshots for found in one.passages_of(paper_key)]

    def record(self, pmid: str) -> CorpusRecord | None:
        """The record, as PubMed's parts have it."""
        first = self.snapshots[0]
        if first.generations.source != "pubmed":
            return None
        paper = first.paper(f"pmid:{pmid}") or self.mirror.papers([pmid]).get(pmid)
        return record_of(paper) if paper else None

    def records(self, pmids: Sequence[str]) -> dict[str, CorpusRecord]:
        """As far as the indexes show them: of papers of which passages were found."""
        rows = (found.paper for one in reversed(self.snapshots) for found in one.rows.values())
        papers = {paper.ids.pmid: paper for paper in rows}
        return {pmid: record_of(papers[pmid]) for pmid in pmids if pmid in papers}

    def journals(self, asked: str) -> tuple[str, ...]:
        """The name itself, which the index has in three forms, and those the corpus knows."""
        return (asked, *(self.names.journals(asked) if self.names.exists else ()))

    def named(self, kind: Kind, forms: Sequence[str]) -> dict[str, list[tuple[str, int]]]:
        """Other names, where a corpus has learned some."""
        return self.names.named(kind, forms) if self.names.exists else {}


def record_of(paper: Paper) -> CorpusRecord:
    """Return a paper as a record of a corpus that keeps no versions."""
    return CorpusRecord(paper, 1, "", paper.entered, paper.revised, False, "")
