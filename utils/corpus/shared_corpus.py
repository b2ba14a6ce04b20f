"""What is published in the stores of many users, searched as a corpus.

A search sees one state of it, whatever is published meanwhile: it reads in one transaction
(`.shared_mirror.Moment`). Weaviate knows no transactions. It only proposes passages; what counts,
the tables say.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from sqlalchemy import text

from ..errors import PaperError
from ..mirror.finder import BothFinder
from ..model.identifiers import Ids
from ..model.paper import Notice, Paper
from . import Corpus
from .database import CorpusDatabase
from .mirrored_texts import SharedTexts
from .shared_mirror import Moment, SeenTables, class_of
from .stored_records import CorpusCounts, CorpusRecord

if TYPE_CHECKING:
    from ..mirror import Mirror
    from ..model.paper import Fetched
    from ..model.passage import Passage
    from ..passages import Finder
    from ..passages.weaviate_finder import WeaviateFinder
    from ..store import Shelf
    from .names import Kind

log = logging.getLogger(__name__)
SOME = "Not every passage has a vector: without, it is found by words. server.py mirror embed"


class SharedMirror:
    """The shared stores of a corpus; safe for threads."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._clients: dict[str, WeaviateFinder] = {}

    @property
    def is_postgresql(self) -> bool:
        """Whether there is a server that could have been loaded."""
        return self._corpus.database.is_postgresql

    @contextmanager
    def seen(self, *, one_text: bool = False) -> Iterator[SharedCorpus]:
        """What is published now, for one search.

        With *one_text*, a record gives way to the full text of its paper.

        Raises
        ------
        EmptyStore
            Nothing was loaded.
        StoreFailed
            The database does not answer, or another version loaded it.
        """
        moment = Moment(self._corpus.database)
        try:
            yield SharedCorpus(self._corpus, moment, self._clients, one_text=one_text)
        finally:
            moment.close()

    def close(self) -> None:
        """Let go of connections."""
        for client in self._clients.values():
            client.close()
        self._clients.clear()


class SharedArticles:
    """Full texts of PMC in the stores that many users share; see `..mirror.articles.Articles`."""

    def __init__(self, mirror: SharedMirror) -> None:
        self._mirror = mirror

    @property
    def are_here(self) -> bool:
        """Whether there may be some; asks nobody."""
        return self._mirror.is_postgresql

    def find(self, wanted: Iterable[Ids]) -> dict[Ids, Fetched]:
        """What is published of these papers; why it cannot be read is told in the log."""
        try:
            with self._mirror.seen() as seen:
                texts = seen.shelf if isinstance(seen.shelf, SharedTexts) else None
                each = ((ids, texts.article(ids)) for ids in wanted) if texts else ()
                return {ids: fetched for ids, fetched in each if fetched}
        except PaperError as error:
            log.warning("The mirror in the database was not asked: %s", error)
            return {}


class SharedCorpus(Corpus):
    """Generations in the stores of many users, as one search sees them."""

    more = "bring the mirror up to date (server.py mirror pubmed; then mirror load)"

    def __init__(
        self,
        corpus: Corpus,
        moment: Moment,
        clients: dict[str, WeaviateFinder],
        *,
        one_text: bool = False,
    ) -> None:
        super().__init__(corpus.settings, corpus.web, corpus.shelf)
        self.generations = moment.generations
        tables = [SeenTables(corpus.database, moment, one) for one in moment.generations]
        self.database = _Tables(tables, corpus.database)
        finders = [self._finder(one, corpus.database, clients) for one in tables]
        both = self.database.with_text if one_text else None
        self.finder = (
            cast("Finder", BothFinder(finders[0], finders[1], both))
            if len(finders) > 1
            else finders[0]
        )
        self.embedder, self.reranker = corpus.embedder, corpus.reranker
        if tables[-1].generation.source == "pmc":
            self.shelf = cast("Shelf", SharedTexts(corpus.shelf, tables[-1]))

    def _finder(
        self, tables: SeenTables, database: CorpusDatabase, clients: dict[str, WeaviateFinder]
    ) -> Finder:
        if tables.generation.store == "weaviate":
            from ..passages.weaviate_finder import WeaviateFinder

            name = class_of(self.settings, tables.generation)
            if name not in clients:
                made = WeaviateFinder.of(self.settings, lambda _: {}, collection=name)
                clients.setdefault(name, made)
            return clients[name]
        from ..passages.pgvector_compact import CompactFinder

        return CompactFinder(database.engine, tables.reading)

    def warnings(self, mirror: Mirror) -> Iterator[str]:
        """What the mirror's own files have, where there are some, and the stores have not."""
        from ..mirror.generations import Generations

        for one in self.generations:
            newer = Generations(mirror.folder, one.source).current()
            if newer and newer.name != one.generation:
                yield (
                    f"The database has generation {one.generation}, published here is "
                    f"{newer.name}: server.py mirror load"
                )
        if any(one.model and one.vectors < one.passages for one in self.generations):
            yield SOME


class _Tables(CorpusDatabase):
    """The tables of all that is published; what full texts say goes before."""

    def __init__(self, tables: Sequence[SeenTables], names: CorpusDatabase) -> None:
        super().__init__(names.engine.url, Path())
        self._each, self._names = tables, names

    def passages(self, uuids: Sequence[str]) -> dict[str, Passage]:
        """Passages by UUID; the unknown are left out."""
        return {key: one for tables in self._each for key, one in tables.passages(uuids).items()}

    def passages_of(self, paper_key: str) -> list[Passage]:
        """The passages of a paper, of its record and of its text."""
        return [passage for tables in self._each for passage in tables.passages_of(paper_key)]

    def records(self, pmids: Sequence[str]) -> dict[str, CorpusRecord]:
        """Records by PMID, as PubMed has them; else what is known of a text."""
        found: dict[str, CorpusRecord] = {}
        for tables in self._each:
            left = [pmid for pmid in pmids if pmid not in found]
            if left:
                of_texts = tables.generation.source == "pmc"
                found |= _of_texts(tables, left) if of_texts else tables.records(left)
        return found

    def record(self, pmid: str) -> CorpusRecord | None:
        """The record, as PubMed has it."""
        first = self._each[0]
        return first.record(pmid) if first.generation.source == "pubmed" else None

    def counts(self) -> CorpusCounts:
        """As they were when it was loaded: counting millions of rows takes longer than a search."""
        papers = sum(one.generation.papers for one in self._each)
        cut = sum(one.generation.passages for one in self._each)
        return CorpusCounts(papers, 0, 0, cut, papers, 0)

    def journals(self, asked: str) -> tuple[str, ...]:
        """The name itself, and those that records and corpus know."""
        return tuple(dict.fromkeys((asked, *super().journals(asked))))

    def named(self, kind: Kind, forms: Sequence[str]) -> dict[str, list[tuple[str, int]]]:
        """Names of journals as the records have them; of terms, as the corpus has learned them."""
        found: dict[str, list[tuple[str, int]]] = {}
        for tables in (*self._each, self._names) if kind == "journal" else (self._names,):
            for form, names in tables.named(kind, forms).items():
                found.setdefault(form, []).extend(names)
        return found

    def with_text(self, pmids: Iterable[str]) -> set[str]:
        """Which of some papers have a full text here."""
        query = "SELECT DISTINCT pmid FROM corpus_texts WHERE pmid = ANY(:pmids)"
        wanted = [int(pmid) for pmid in pmids if pmid.isdecimal()]
        with self._each[-1].reading() as db:
            return {str(pmid) for pmid in db.execute(text(query), {"pmids": wanted}).scalars()}


def _of_texts(tables: SeenTables, pmids: Sequence[str]) -> dict[str, CorpusRecord]:
    """What is known of the papers of texts, where PubMed's records are not."""
    query = """SELECT pmid, doi, pmcid, title, journal, year, retracted FROM corpus_texts
        WHERE pmid = ANY(:pmids)"""
    wanted = [int(pmid) for pmid in pmids if pmid.isdecimal()]
    with tables.reading() as db:
        rows = db.execute(text(query), {"pmids": wanted}).mappings().all()
    return {
        str(row["pmid"]): record_of(
            Paper(
                Ids(row["doi"] or "", str(row["pmid"]), f"PMC{row['pmcid']}"),
                title=row["title"] or "",
                journal=row["journal"] or "",
                published=str(row["year"] or ""),
                notices=(Notice("retraction"),) if row["retracted"] else (),
            )
        )
        for row in rows
    }


def record_of(paper: Paper) -> CorpusRecord:
    """A paper as a record of a corpus, of which no versions are kept."""
    return CorpusRecord(paper, 1, "", paper.entered, paper.revised, False, "")
