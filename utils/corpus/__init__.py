"""A corpus: the records of whole fields, kept up to date, and their passages.

`sync` follows PubMed, `index` cuts and embeds changed texts, `search` finds passages, `quality`
scores papers, and `quotations` checks quotations. Records, checkpoints and passages are stored in
SQL (`database`): inside the shelf by default, or in PostgreSQL if ``DATABASE_URL`` names one.
`collect_corpus_stats` counts the contents of a corpus, and the texts that are out of date.
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
from ..system.keyword_options import accept_former_options, reject_wrong_options
from ..system.named_files import require_existing_file
from ..system.once import shared_property
from .texts import CorpusTexts
from .unanswered import SYNC_ADVICE

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
    from .search import By, PassageAnswer
    from .stored_records import CorpusCounts, SyncResult
    from .sync import Progress

_NO_FILTERS = Filters()
_COUNTS_MAX_AGE_S = 10.0


@reject_wrong_options()
class Corpus:
    """The corpus of one shelf. The constructor uses neither disk nor network.

    Examples
    --------
    >>> library.corpus.sync("glp1", "GLP-1 AND obesity").inserted        # doctest: +SKIP
    >>> for progress in library.corpus.index(): ...                      # doctest: +SKIP
    >>> library.corpus.find("weight loss after one year").hits[0].text   # doctest: +SKIP
    """

    empty_search_advice = SYNC_ADVICE
    """Advice to a user who found nothing: the command that adds more to search."""

    def __init__(self, settings: Settings, web: Web, shelf: Shelf) -> None:
        self.settings = settings
        self.web = web
        self.shelf = shelf
        self._counted: tuple[float, CorpusCounts] | None = None

    @shared_property
    def database(self) -> CorpusDatabase:
        """The database of records, checkpoints and passages."""
        from .database import CorpusDatabase

        return CorpusDatabase.from_settings(self.settings, self.shelf.folder)

    @shared_property
    def embedder(self) -> Embedder | None:
        """The model that embeds texts; None if the settings turn embeddings off."""
        from .finders import make_embedder

        return make_embedder(self.settings)

    @shared_property
    def reranker(self) -> Reranker | None:
        """The model that reorders passages; None if the settings name no model."""
        from .local_model import Reranker

        wanted = self.settings.reranker_model
        return Reranker(wanted, self.settings) if wanted else None

    @shared_property
    def finder(self) -> Finder:
        """The index of passages."""
        from .finders import make_finder
        from .texts import collect_shared_facts

        database = self.database
        return make_finder(
            *(self.settings, database.engine, self.shelf.folder),
            shown=lambda papers: collect_shared_facts(papers, database),
        )

    def get_recent_counts(self) -> CorpusCounts:
        """Return counts of records and passages, at most ten seconds old; counting is slow."""
        now = time.monotonic()
        known = self._counted
        if known is None or now - known[0] > _COUNTS_MAX_AGE_S or not known[1].passages:
            known = self._counted = (now, self.database.count_rows())
        return known[1]

    @accept_former_options(longest_s="wait_s")
    def sync(
        self,
        query_key: str,
        term: str,
        *,
        overlap_days: int = 5,
        full: bool = False,
        wait_s: float | None = None,
        progress: Progress | None = None,
        waiting: Callable[[str], None] | None = None,
    ) -> SyncResult:
        """Bring the records of a query up to date; see `.sync.sync_query`."""
        from .sync import sync_query

        return sync_query(
            *(query_key, term, self.database, self.web),
            overlap_days=overlap_days,
            full=full,
            wait_s=wait_s,
            progress=progress,
            waiting=waiting,
        )

    def checkpoint(self, query_key: str) -> Checkpoint | None:
        """Return how far a query is synced; None before its first sync."""
        return self.database.get_checkpoint(query_key)

    def set_checkpoint(self, query_key: str, last_edat: str, *, by: str = "") -> None:
        """Move a query's watermark by hand, forwards or backwards; the move is recorded."""
        self.database.set_checkpoint(query_key, last_edat, manual=True, by=by)

    def record(self, doc_id: str) -> CorpusRecord:
        """Return one paper, by ``pmid:…`` or PMID; see `.search.find_corpus_record`."""
        from .search import find_corpus_record

        return find_corpus_record(doc_id, self.database, self.shelf)

    @accept_former_options(longest_s="wait_s")
    def index(
        self,
        *,
        everything: bool = False,
        wait_s: float | None = None,
        waiting: Callable[[str], None] | None = None,
    ) -> Iterator[IndexProgress]:
        """Split changed texts into passages and embed the passages; see `.index.index_corpus`."""
        from .index import index_corpus

        return index_corpus(self, everything=everything, wait_s=wait_s, waiting=waiting)

    def learn(self, file: Path) -> int:
        """Import names of journals and terms from one of NLM's lists; return the number of names.

        See `..readers.nlm_lists` for the lists and `.names` for their use.
        """
        from ..readers.nlm_lists import iterate_synonym_pairs

        require_existing_file(file)
        return self.database.import_names(iterate_synonym_pairs(file))

    def find(
        self,
        query: str,
        *,
        top_k: int = 20,
        quality_bias: bool = True,
        filters: Filters = _NO_FILTERS,
        by: By = "both",
        pubmed_only: bool = False,
        widen: bool = True,
    ) -> PassageAnswer:
        """Find passages that match a question by word or meaning; see `.search.find_passages`."""
        from .search import find_passages

        if filters.mesh:
            msg = "Passages of a corpus cannot be filtered by MeSH headings."
            raise BadRequest(msg, "Passages of a mirror can: use source mirror.")

        return find_passages(
            *(query, self),
            top_k=top_k,
            quality_bias=quality_bias,
            filters=filters,
            by=by,
            pubmed_only=pubmed_only,
            widen=widen,
        )

    def verify_quote(self, text: str, paper: str = "") -> Quotation:
        """Look for a quotation in one or all papers; see `.quotations.verify_quotation`."""
        from .quotations import verify_quotation, verify_quotation_in_paper

        return (
            verify_quotation_in_paper(text, paper, self) if paper else verify_quotation(text, self)
        )

    def stats(self) -> CorpusStats:
        """Return counts, and what is out of date; see `collect_corpus_stats`."""
        return collect_corpus_stats(self)


@dataclass(frozen=True, slots=True)
class CorpusStats:
    """Counts of a corpus, with warnings about parts that are out of date.

    ``kinds`` and ``years`` count the indexed papers (``papers``; year "" if unknown). Out of date
    are ``to_cut`` papers, which are new, changed or gone since the last indexing, and
    ``without_vectors`` passages, which ``model_wanted`` (the model of the settings) has not
    embedded. ``synced`` maps every query to the time of its last sync.
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


def collect_corpus_stats(corpus: Corpus) -> CorpusStats:
    """Count the records and passages of the corpus, and warn of texts that are out of date.

    This reads every record and every entry of the shelf's catalogue, but no text.

    Raises
    ------
    StoreFailed, WeaviateFailed
        Database or index cannot be used.
    """
    counts = corpus.database.count_rows()
    contents = corpus.finder.get_status()
    model, trouble = _describe_embedding_model(corpus)
    kinds: Counter[str] = Counter()
    years: Counter[str] = Counter()
    retracted = to_cut = indexed = 0
    for text, source in CorpusTexts(corpus).iterate_with_sources():
        if text is None:
            continue
        to_cut += source is None or source.digest != text.digest
        if source is not None:
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
        synced={point.query_key: point.updated_at for point in corpus.database.list_checkpoints()},
        warnings=tuple(_build_index_warnings(counts.passages, contents, trouble)),
    )


def _describe_embedding_model(corpus: Corpus) -> tuple[str, str]:
    """Return the name of the embedding model, and the reason if the model is not usable."""
    embedder = corpus.embedder
    if embedder is None:
        return "", ""
    trouble = embedder.explain_unavailable()
    try:
        return embedder.model, trouble
    except EmbeddingsFailed as error:
        return "", trouble or error.text


def _build_index_warnings(passages: int, contents: FinderStatus, trouble: str) -> list[str]:
    warnings = [f"No vectors can be made: {trouble}"] if trouble else []
    if passages != contents.passages:
        counts = f"The corpus has {passages:,} passages and the index {contents.passages:,}"
        warnings.append(f"{counts}: run {command_line('corpus index')}.")
    return warnings
