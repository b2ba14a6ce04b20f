"""Counts of a corpus, and what in it is out of date."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..errors import EmbeddingsFailed
from .texts import Texts

if TYPE_CHECKING:
    from ..passages import FinderStatus
    from . import Corpus


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
    digests = corpus.database.source_digests()
    kinds: Counter[str] = Counter()
    years: Counter[str] = Counter()
    retracted = to_cut = indexed = 0
    for text in Texts(corpus):
        if text is None:
            continue
        to_cut += digests.get(text.key) != text.digest
        if text.key in digests:
            indexed += 1
            kinds[text.kind] += 1
            years[text.paper.year] += 1
            retracted += bool(text.about["retracted"])
    vectors = contents.vectors if model in ("", contents.model) else 0
    return CorpusStats(
        records=counts.records - counts.gone,
        papers=len(digests),
        passages=counts.passages,
        vectors=contents.vectors,
        finder=corpus.finder.name,
        model=contents.model,
        model_wanted=model,
        kinds=dict(kinds),
        years=dict(sorted(years.items())),
        to_cut=to_cut + len(digests) - indexed,
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
        warnings.append(f"{counts}: run server.py index.")
    return [*warnings, contents.advice] if contents.advice else warnings
