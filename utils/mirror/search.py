"""Search the passages of mirrors with the code of a corpus: `..corpus.searchable`.

`MirrorPassages` takes a snapshot of the mirrors of PubMed's records and of PMC's full texts, and
asks both (`BothFinder` of two `MirrorFinder`); a paper of both is one paper, and its full text is
what is found. A search keeps to the generations and indexes that there were when it began.

`ShelfAndMirror` serves full texts of PMC as if they lay on the shelf. What is on the shelf goes
before, where a paper is named; a passage that was found in the mirror is of its own text, which has
the name of the article version (``PMC7759461.1``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..command_line import command_line
from ..corpus.finders import FinderStatus
from ..corpus.ranking import (
    Scored,
    compute_term_share,
    fuse_scores,
    get_candidate_limit,
    to_query_vector,
)
from ..corpus.stored_records import CorpusCounts, CorpusRecord
from ..errors import EmbeddingsFailed, EmptyStore, NotFound
from ..model.identifiers import Ids
from ..model.paper import Notice, Paper, StoredPaper
from ..model.passage import Filters
from ..outline import terms
from .embedding import get_vector_store
from .lookup import VIA, find_pmcids
from .passages import PassageIndex, Snapshot
from .reading import find_live_places, read_rows_at
from .text_passages import find_full_texts

if TYPE_CHECKING:
    from pathlib import Path

    from ..corpus import Corpus
    from ..corpus.database import CorpusDatabase
    from ..corpus.finders import Embedder, PassageFinder, Vector
    from ..corpus.local_model import Reranker
    from ..corpus.names import Kind
    from ..corpus.quotations import Quotation
    from ..corpus.search import PassageAnswer
    from ..corpus.searchable import SearchedTexts
    from ..model.paper import Version
    from ..model.passage import Passage, PassageHit
    from ..shelf import Shelf
    from . import Mirror
    from .passages import At
    from .shown import Found
    from .vectors import VectorStore

_MORE = (4, 40)  # texts that are looked for, for one passage that passes the filters
_SELECTIVE = 20_000  # texts that pass: so few are all compared
_NAME = re.compile(r"PMC(\d{1,9})\.\d+")
_COLUMNS = (
    *("pmid", "doi", "pmcid", "version", "title", "journal", "year", "license"),
    *("text_version", "retracted", "verdict", "evidence"),
)
"""What is kept of a text, besides its words."""
_USUAL = Filters()
_INCOMPLETE_VECTORS = (
    f"Not every passage has a vector: without, it is found by words. {command_line('mirror embed')}"
)


class MirrorFinder:
    """A finder over a snapshot; see `..corpus.finders.Finder`."""

    name = "mirror"

    def __init__(self, snapshot: Snapshot, vectors: VectorStore | None = None) -> None:
        self.snapshot, self._vectors = snapshot, vectors

    def search(
        self, query: str, vector: Vector | None, limit: int, filters: Filters
    ) -> list[PassageHit]:
        """The best passages, by words and (with a vector) by meaning, fused; best first.

        Raises
        ------
        InvariantFailed
            The vector is of another width than those of the passages.
        """
        asked, depth = terms.to_query_terms(query), get_candidate_limit(limit)
        near: dict[At, float] = {}
        if self._vectors and self._vectors.dim and vector is not None:
            vector = to_query_vector(vector, self._vectors.dim)
            with ThreadPoolExecutor(1, "by meaning") as other:  # either way waits for no other
                meant = other.submit(self._find_by_meaning, vector, depth, filters)
                words = dict(self.snapshot.find_by_words(asked, depth, filters))
                near = meant.result()
            first = [*words]
            words |= self.snapshot.score_by_words(asked, [at for at in near if at not in words])
            near |= self._compute_cosines(vector, first)
        else:
            words = dict(self.snapshot.find_by_words(asked, depth, filters))
            first = [*words]
        read = self.snapshot.read_passages([*dict.fromkeys([*first, *near])])
        share = compute_term_share(terms.to_term_groups(query), _get_terms(read, first))
        scored = _to_scored(words, read), _to_scored(near, read)
        return fuse_scores(*scored, query, share, limit)

    def get_status(self) -> FinderStatus:
        """Return the contents of the snapshot; its warnings name missing vectors."""
        size, vectors = self.snapshot.size, self._vectors
        if not (vectors and vectors.model):
            return FinderStatus(size, 0)
        return FinderStatus(size, size, vectors.model, vectors.dim)

    def _find_by_meaning(self, vector: Vector, depth: int, filters: Filters) -> dict[At, float]:
        """Return the nearest passages that pass the filters, with their cosines."""
        assert self._vectors is not None
        found: dict[At, float] = {}
        share = self.snapshot.estimate_passing_share(filters)
        tries = [more for more in _MORE if more * share >= 1]
        if not tries and share * self.snapshot.size > _SELECTIVE:
            tries = [_MORE[-1]]
        for more in tries:
            near = dict(self._vectors.find_nearest(vector, more * depth))
            found = self._find_passing_passages(near, depth, filters)
            if len(found) >= depth or len(near) < more * depth:
                return found
        few = self.snapshot.find_passing_keys(filters, _SELECTIVE)
        if few is None:
            return found
        return self._find_passing_passages(
            self._vectors.compute_cosines(vector, few), depth, filters
        )

    def _find_passing_passages(
        self, near: dict[int, float], depth: int, filters: Filters
    ) -> dict[At, float]:
        """Return the passages of the best texts that pass the filters."""
        best = sorted(near, key=lambda key: (-near[key], key))
        found: dict[At, float] = {}
        for start in range(0, len(best), 2 * depth):
            some = best[start : start + 2 * depth]
            here = self.snapshot.find_by_key(some, filters)
            found |= {at: near[key] for key in some for at in here.get(key, ())}
            if len(found) >= depth:
                break
        return dict(list(found.items())[:depth])

    def _compute_cosines(self, vector: Vector, first: Sequence[At]) -> dict[At, float]:
        """Return the cosines of passages found by words, where there is a vector."""
        assert self._vectors is not None
        keys = self.snapshot.get_keys(first)
        known = self._vectors.compute_cosines(vector, keys) if keys else {}
        return {at: known[key] for at, key in zip(first, keys, strict=True) if key in known}


class BothFinder:
    """A mirror of PubMed's records and one of PMC's full texts, asked as one.

    The scores of each say how sure it is of itself (`..corpus.ranking`), so they are compared as
    they are. A passage of both is the text's. With *with_text*, which says which of some PMIDs have
    a full text, a record gives way to the text of its paper, as in a corpus.
    """

    name = "mirror"

    def __init__(
        self,
        records: MirrorFinder,
        texts: MirrorFinder,
        with_text: Callable[[Iterable[str]], set[str]] | None = None,
    ) -> None:
        self._records, self._texts, self._with_text = records, texts, with_text

    def search(
        self, query: str, vector: Vector | None, limit: int, filters: Filters
    ) -> list[PassageHit]:
        """The best passages of both; see `MirrorFinder.search`."""
        of_texts, of_records = filters.kind != "abstract", filters.kind != "full_text"
        records = self._records.search(query, vector, limit, filters) if of_records else []
        texts = self._texts.search(query, vector, limit, filters) if of_texts else []
        if self._with_text and filters.kind != "abstract":
            pmids = {hit.paper: hit.paper.removeprefix("pmid:") for hit in records}
            known = self._with_text(pmids.values())
            records = [hit for hit in records if pmids[hit.paper] not in known]
        found = {hit.uuid: hit for hit in (*records, *texts)}
        return sorted(found.values(), key=lambda hit: (-hit.score, hit.uuid))[:limit]

    def get_status(self) -> FinderStatus:
        """Return the contents of both."""
        every = (self._records.get_status(), self._texts.get_status())
        known = next((one for one in every if one.model), every[0])
        size = sum(one.passages for one in every)
        return FinderStatus(size, size if known.model else 0, known.model, known.dim)


def _get_terms(read: dict[At, Found], first: Sequence[At]) -> set[str]:
    """Return the terms of the best passage by words."""
    best = next((read[at].passage for at in first if at in read), None)
    return set(terms.to_index_terms(best.embedding_text).split()) if best else set()


def _to_scored(scores: Mapping[At, float], read: Mapping[At, Found]) -> list[Scored]:
    """Return the scores of those passages that were read, with UUID and paper."""
    passages = ((read[at].passage, score) for at, score in scores.items() if at in read)
    return [(one.uuid, one.paper, score) for one, score in passages]


class ShelfAndMirror:
    """A shelf and a mirror of PMC as one `..corpus.searchable.SearchedTexts`."""

    def __init__(self, shelf: Shelf, snapshot: Snapshot) -> None:
        self._shelf, self._snapshot = shelf, snapshot

    def find_paper_by_file(self, name: str) -> StoredPaper | None:
        """Return the text of this name: an article version in the mirror, or a shelf file."""
        if (told := _NAME.fullmatch(name.strip())) and (
            row := self._read_row(int(told[1]), _COLUMNS)
        ):
            return _to_stored(row)
        return self._shelf.find_paper_by_file(name)

    def find_text(self, ids: Ids, wants: Version = "") -> StoredPaper | None:
        """Return the full text on the shelf, else in the mirror, else what the shelf has."""
        stored = self._shelf.find_text(ids, wants)
        if stored and stored.kind == "full_text":
            return stored
        folder = self._snapshot.generations.folder / self._snapshot.generation.name
        pmcid = find_pmcids([ids], folder).get(ids, 0)
        row = self._read_row(pmcid, _COLUMNS) if pmcid else None
        return _to_stored(row) if row else stored

    def read_text(self, stored: StoredPaper) -> str:
        """Return the whole text.

        Raises
        ------
        NotFound
            The generation does not count it any more.
        StoreFailed
            It cannot be read.
        """
        told = _NAME.fullmatch(stored.path)
        if stored.via != VIA or not told:
            return self._shelf.read_text(stored)
        if row := self._read_row(int(told[1]), ("text",)):
            return str(row["text"])
        raise NotFound(
            f"{stored.path} is no longer in the mirror.", f"Run: {command_line('mirror index')}"
        )

    def _read_row(self, pmcid: int, columns: Sequence[str]) -> dict[str, Any] | None:
        generations, generation = self._snapshot.generations, self._snapshot.generation
        place = find_live_places([pmcid], generations, generation).get(pmcid)
        if place is None:
            return None
        order, position = place
        part = next(file for file in self._snapshot.files if file.order == order).get_part_path
        return next(read_rows_at(part(generations.mirror), [position], columns), None)


def _to_stored(row: dict[str, Any]) -> StoredPaper:
    """Return a text of the mirror, with the facts in its part."""
    ids = Ids(
        pmid=str(row["pmid"] or ""), doi=row["doi"] or "", pmcid=f"PMC{row['pmcid']}"
    )  # fmt: skip
    paper = Paper(
        ids,
        title=row["title"] or "",
        journal=row["journal"] or "",
        published=str(row["year"] or ""),
        license=row["license"] or "",
        notices=(Notice("retraction"),) if row["retracted"] else (),
    )
    return StoredPaper(
        paper,
        kind="full_text",
        path=f"PMC{row['pmcid']}.{row['version']}",
        source="PMC",
        via=VIA,
        sha256="",
        license=row["license"] or "",
        verdict=row["verdict"],
        version=row["text_version"] or "",
        evidence=row["evidence"] or "",
    )


class MirrorPassages:
    """The passages of the mirrors of PubMed and PMC, of whichever are here; see the module.

    The corpus gives its models, other names and shelf.

    Examples
    --------
    >>> passages = library.passages_of("mirror")  # doctest: +SKIP
    >>> passages.find("weight loss after one year").hits[0].text  # doctest: +SKIP
    """

    def __init__(self, corpus: Corpus, mirror: Mirror) -> None:
        self._corpus, self._mirror = corpus, mirror
        self._indexes: dict[str, PassageIndex] = {}
        self._kept: dict[Path, VectorStore] = {}

    def find(self, query: str, *, filters: Filters = _USUAL, **options: Any) -> PassageAnswer:
        """Find passages by words and by meaning; see `..corpus.search.find_passages`.

        Raises
        ------
        EmptyStore
            There is no mirror, or nothing of it is indexed yet.
        """
        from ..corpus.search import find_passages

        snapshots, warnings = self._take_snapshots()
        by_words = options.get("by") == "words"
        parts = [(one, None if by_words else self._open_vectors(one)) for one in snapshots]
        answer = find_passages(
            query, self._take_snapshot(parts, one_text=True), filters=filters, **options
        )
        for snapshot, vectors in parts:
            warnings += snapshot.describe_gaps()
            if vectors and vectors.model and vectors.generation != snapshot.generation.name:
                warnings.append(_INCOMPLETE_VECTORS)
        return replace(answer, warnings=(*dict.fromkeys(warnings), *answer.warnings))

    def verify_quote(self, text: str, paper: str = "") -> Quotation:
        """Find a quotation; see `..corpus.quotations.verify_quotation`."""
        from ..corpus.quotations import verify_quotation, verify_quotation_in_paper

        seen = self._take_snapshot([(one, None) for one in self._take_snapshots()[0]])
        return (
            verify_quotation_in_paper(text, paper, seen) if paper else verify_quotation(text, seen)
        )

    def _take_snapshot(
        self, parts: Sequence[tuple[Snapshot, VectorStore | None]], *, one_text: bool = False
    ) -> _MirrorSnapshot:
        """Return the mirrors as they are now, for one search."""
        snapshots = [snapshot for snapshot, _ in parts]
        corpus, texts = self._corpus, snapshots[-1]
        finders = [MirrorFinder(*part) for part in parts]
        both = partial(find_full_texts, texts) if one_text else None
        has_texts = texts.generations.source == "pmc"
        return _MirrorSnapshot(
            BothFinder(finders[0], finders[1], both) if len(finders) > 1 else finders[0],
            _MirrorTables(snapshots, self._mirror, corpus.database),
            ShelfAndMirror(corpus.shelf, texts) if has_texts else corpus.shelf,
            corpus.embedder,
            corpus.reranker,
        )

    def _open_vectors(self, snapshot: Snapshot) -> VectorStore | None:
        """Return the vectors of the configured model; None without a model."""
        embedder = self._corpus.embedder
        if embedder is None or embedder.explain_unavailable():
            return None
        with suppress(EmbeddingsFailed):  # told by the search
            made = get_vector_store(snapshot.generations, embedder.model)
            kept = self._kept.get(made.folder)
            self._kept[made.folder] = kept.reopen_if_changed() if kept else made
            return self._kept[made.folder]
        return None

    def _take_snapshots(self) -> tuple[list[Snapshot], list[str]]:
        """Return a snapshot of each indexed mirror, and warnings about one without an index.

        Raises
        ------
        EmptyStore
            There is none, or none is indexed.
        """
        found, warnings = list[Snapshot](), list[str]()
        for index in self._mirror.passage_indexes():
            index = self._indexes.setdefault(index.generations.source, index)  # noqa: PLW2901
            try:
                found.append(index.take_snapshot())
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
    def empty_search_advice(self) -> str:
        """The advice to a person who found nothing."""
        verbs = ("mirror pubmed", "mirror pmc", "mirror index")
        return f"bring the mirror up to date ({', then '.join(map(command_line, verbs))})"

    def get_recent_counts(self) -> CorpusCounts:
        """Count what the indexes hold; `find_text` warns of what they lack."""
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

    def get_passages(self, uuids: Sequence[str]) -> dict[str, Passage]:
        """Return those passages that were found."""
        rows = {uuid: found for one in self.snapshots for uuid, found in one.rows.items()}
        return {uuid: rows[uuid].passage for uuid in uuids if uuid in rows}

    def get_passages_of_paper(self, paper_key: str) -> list[Passage]:
        """The passages of a paper that was found, of its record and of its text."""
        return [found for one in self.snapshots for found in one.get_passages(paper_key)]

    def get_record(self, pmid: str) -> CorpusRecord | None:
        """The record, as PubMed's parts have it."""
        first = self.snapshots[0]
        if first.generations.source != "pubmed":
            return None
        paper = first.get_paper(f"pmid:{pmid}") or self.mirror.papers([pmid]).get(pmid)
        return build_corpus_record(paper) if paper else None

    def get_records(self, pmids: Sequence[str]) -> dict[str, CorpusRecord]:
        """Return the records of papers whose passages were found."""
        rows = (found.paper for one in reversed(self.snapshots) for found in one.rows.values())
        papers = {paper.ids.pmid: paper for paper in rows}
        return {pmid: build_corpus_record(papers[pmid]) for pmid in pmids if pmid in papers}

    def find_journal_names(self, asked: str) -> tuple[str, ...]:
        """The name itself, which the index has in three forms, and those the corpus knows."""
        return (asked, *(self.names.find_journal_names(asked) if self.names.exists else ()))

    def find_alternative_names(
        self, kind: Kind, forms: Sequence[str]
    ) -> dict[str, list[tuple[str, int]]]:
        """Other names, where a corpus has learned some."""
        return self.names.find_alternative_names(kind, forms) if self.names.exists else {}


def build_corpus_record(paper: Paper) -> CorpusRecord:
    """Return a paper as a record of a corpus that keeps no versions."""
    return CorpusRecord(paper, 1, "", paper.entered, paper.revised, False, "")
