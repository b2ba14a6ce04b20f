"""A corpus: the records of whole fields, kept up to date, and their passages.

`sync` follows PubMed, `index` cuts and embeds what changed, `search` finds passages, `quality`
scores papers, `quotations` finds quotations. Records, checkpoints and passages are kept in SQL
(`database`): inside the shelf by default, in PostgreSQL where ``DATABASE_URL`` says so. `stats`
counts what a corpus holds and what of it is out of date.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..command_line import command_line
from ..errors import BadRequest, EmbeddingsFailed
from ..model.passage import Filters
from ..system.keyword_options import explain_options
from ..system.once import shared_property
from .texts import Texts
from .unanswered import SYNC

if TYPE_CHECKING:
    from pathlib import Path

    from ..http import Web
    from ..settings import Settings
    from ..shelf import Shelf
    from .database import Checkpoint, CorpusDatabase, CorpusRecord
    from .finders import Embedder, Finder, FinderStatus
    from .index import IndexProgress
    from .local_model import Reranker
    from .quotations import Quotation
    from .search import Answer, By
    from .stored_records import CorpusCounts, SyncResult
    from .sync import Progress

_USUAL = Filters()
_COUNTED_S = 10.0


@explain_options()
class Corpus:
    """The corpus of one shelf; see the module. Constructing one touches neither disk nor network.

    Examples
    --------
    >>> library.corpus.sync("glp1", "GLP-1 AND obesity").inserted        # doctest: +SKIP
    >>> for progress in library.corpus.index(): ...                      # doctest: +SKIP
    >>> library.corpus.find("weight loss after one year").hits[0].text   # doctest: +SKIP
    """

    more = SYNC
    """How there would be more to search, for who found nothing."""

    def __init__(self, settings: Settings, web: Web, shelf: Shelf) -> None:
        self.settings = settings
        self.web = web
        self.shelf = shelf
        self._counted: tuple[float, CorpusCounts] | None = None

    @shared_property
    def database(self) -> CorpusDatabase:
        """Records, checkpoints and passages."""
        from .database import CorpusDatabase

        return CorpusDatabase.of(self.settings, self.shelf.folder)

    @shared_property
    def embedder(self) -> Embedder | None:
        """What makes vectors; None where the settings want none."""
        from .finders import embedder_of

        return embedder_of(self.settings)

    @shared_property
    def reranker(self) -> Reranker | None:
        """What puts passages in order once more; None where the settings name none."""
        from .local_model import Reranker

        wanted = self.settings.reranker_model
        return Reranker(wanted, self.settings) if wanted else None

    @shared_property
    def finder(self) -> Finder:
        """The index in which passages are found."""
        from .finders import finder_of
        from .texts import shown

        database = self.database
        return finder_of(
            *(self.settings, database.engine, self.shelf.folder),
            shown=lambda papers: shown(papers, database),
        )

    def recent_counts(self) -> CorpusCounts:
        """Return the counts, up to ten seconds old: counting a million rows is slow."""
        now = time.monotonic()
        known = self._counted
        if known is None or now - known[0] > _COUNTED_S or not known[1].passages:
            known = self._counted = (now, self.database.counts())
        return known[1]

    def sync(
        self,
        query_key: str,
        term: str,
        *,
        overlap_days: int = 5,
        full: bool = False,
        longest_s: float | None = None,
        progress: Progress | None = None,
        waiting: Callable[[str], None] | None = None,
    ) -> SyncResult:
        """Bring the records of a query up to date; see `.sync.sync`."""
        from .sync import sync

        return sync(
            *(query_key, term, self.database, self.web),
            overlap_days=overlap_days,
            full=full,
            longest_s=longest_s,
            progress=progress,
            waiting=waiting,
        )

    def checkpoint(self, query_key: str) -> Checkpoint | None:
        """How far a query is synced; None where it never was."""
        return self.database.checkpoint(query_key)

    def set_checkpoint(self, query_key: str, last_edat: str, *, by: str = "") -> None:
        """Move a watermark by hand, also backwards; the move is recorded."""
        self.database.set_checkpoint(query_key, last_edat, manual=True, by=by)

    def record(self, doc_id: str) -> CorpusRecord:
        """One paper of the corpus, by ``pmid:…`` or PMID; see `.search.record`."""
        from .search import record

        return record(doc_id, self.database, self.shelf)

    def index(
        self,
        *,
        everything: bool = False,
        longest_s: float | None = None,
        waiting: Callable[[str], None] | None = None,
    ) -> Iterator[IndexProgress]:
        """Cut and embed what changed; going through it does the work. See `.index.index`."""
        from .index import index

        return index(self, everything=everything, longest_s=longest_s, waiting=waiting)

    def learn(self, file: Path) -> int:
        """Learn other names of journals and terms from one of NLM's lists; how many.

        See `..readers.nlm_lists` for the lists, `.names` and `.names` for their use.
        """
        from ..readers.nlm_lists import read_names

        return self.database.learn(read_names(file))

    def find(
        self,
        query: str,
        *,
        top_k: int = 20,
        quality_bias: bool = True,
        filters: Filters = _USUAL,
        by: By = "both",
        pubmed_only: bool = False,
        widen: bool = True,
    ) -> Answer:
        """Passages by words and by meaning; see `.search.find`."""
        from .search import find

        if filters.mesh:
            msg = "Passages of a corpus are not known by their MeSH headings."
            raise BadRequest(msg, "Those of a mirror are: source mirror.")

        return find(
            *(query, self),
            top_k=top_k,
            quality_bias=quality_bias,
            filters=filters,
            by=by,
            pubmed_only=pubmed_only,
            widen=widen,
        )

    def verify_quote(self, text: str, paper: str = "") -> Quotation:
        """Where a quotation stands, in one paper or anywhere; see `.quotations.verify`."""
        from .quotations import verify, verify_in

        return verify_in(text, paper, self) if paper else verify(text, self)

    def stats(self) -> CorpusStats:
        """What is in the corpus, and what is out of date; see `stats`."""
        return stats(self)


@dataclass(frozen=True, slots=True)
class CorpusStats:
    """Counts of a corpus.

    ``kinds`` and ``years`` count the papers that are indexed (``papers``; year "" where unknown).
    Out of date: ``to_cut`` papers that are new, changed or gone since the last indexing, and
    ``without_vectors`` passages that ``model_wanted``, the model of the settings, has not read.
    ``synced`` says for every question when it was last brought up to date.
    """

    records: int
    papers: int
    passages: int
    vectors: int
    finder: str
    model: str
    model_wanted: str
    kinds: dict[str, int]
    years: dict[str, int]
    to_cut: int
    without_vectors: int
    retracted: int = 0
    synced: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def stats(corpus: Corpus) -> CorpusStats:
    """Count what is in the corpus, and what in it is out of date.

    Every record and every entry of the shelf's catalogue is looked at (no text is read).

    Raises
    ------
    StoreFailed, WeaviateFailed
        Database or index cannot be used.
    """
    counts = corpus.database.counts()
    contents = corpus.finder.status()
    model, trouble = _model_wanted(corpus)
    kinds: Counter[str] = Counter()
    years: Counter[str] = Counter()
    retracted = to_cut = indexed = 0
    for text, digest in Texts(corpus).with_digests():
        if text is None:
            continue
        to_cut += digest != text.digest
        if digest is not None:
            indexed += 1
            kinds[text.kind] += 1
            years[text.paper.year] += 1
            retracted += bool(text.about["retracted"])
    vectors = contents.vectors if model in ("", contents.model) else 0
    return CorpusStats(
        records=counts.records - counts.gone,
        papers=counts.papers_cut,
        passages=counts.passages,
        vectors=contents.vectors,
        finder=corpus.finder.name,
        model=contents.model,
        model_wanted=model,
        kinds=dict(kinds),
        years=dict(sorted(years.items())),
        to_cut=to_cut + counts.papers_cut - indexed,
        without_vectors=max(0, counts.passages - vectors),
        retracted=retracted,
        synced={point.query_key: point.updated_at for point in corpus.database.checkpoints()},
        warnings=tuple(_warnings(counts.passages, contents, trouble)),
    )


def _model_wanted(corpus: Corpus) -> tuple[str, str]:
    """The model of the settings, and why it cannot be used."""
    embedder = corpus.embedder
    if embedder is None:
        return "", ""
    trouble = embedder.available()
    try:
        return embedder.model, trouble
    except EmbeddingsFailed as error:
        return "", trouble or str(error)


def _warnings(passages: int, contents: FinderStatus, trouble: str) -> list[str]:
    warnings = [f"No vectors can be made: {trouble}"] if trouble else []
    if passages != contents.passages:
        counts = f"The corpus has {passages:,} passages and the index {contents.passages:,}"
        warnings.append(f"{counts}: run {command_line('corpus index')}.")
    return warnings
