"""What is in a corpus, and what in it is out of date."""

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
    """What is in the corpus, and what in it is out of date.

    Every record and every entry of the shelf's catalogue is looked at (no text is read).

    Raises
    ------
    StoreFailed, WeaviateFailed
        Database or index cannot be asked.
    """
    counts = corpus.database.counts()
    held = corpus.finder.status()
    model, trouble = _model_wanted(corpus)
    known = corpus.database.source_digests()
    kinds: Counter[str] = Counter()
    years: Counter[str] = Counter()
    retracted = to_cut = met = 0
    for text in Texts(corpus):
        if text is None:
            continue
        to_cut += known.get(text.key) != text.digest
        if text.key in known:
            met += 1
            kinds[text.kind] += 1
            years[text.paper.year] += 1
            retracted += bool(text.about["retracted"])
    vectors = held.vectors if model in ("", held.model) else 0
    return CorpusStats(
        records=counts.records - counts.gone,
        papers=len(known),
        passages=counts.passages,
        vectors=held.vectors,
        finder=corpus.finder.name,
        model=held.model,
        model_wanted=model,
        kinds=dict(kinds),
        years=dict(sorted(years.items())),
        to_cut=to_cut + len(known) - met,
        without_vectors=max(0, counts.passages - vectors),
        retracted=retracted,
        synced={point.query_key: point.updated_at for point in corpus.database.checkpoints()},
        warnings=tuple(_warnings(counts.passages, held, trouble)),
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


def _warnings(passages: int, held: FinderStatus, trouble: str) -> list[str]:
    warnings = [f"No vectors can be made: {trouble}"] if trouble else []
    if passages != held.passages:
        counts = f"The corpus has {passages:,} passages and the index {held.passages:,}"
        warnings.append(f"{counts}: run server.py index.")
    return [*warnings, held.advice] if held.advice else warnings
