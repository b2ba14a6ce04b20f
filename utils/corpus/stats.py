"""What is in a corpus, and what in it is out of date."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..passages import Held
    from . import Corpus


@dataclass(frozen=True, slots=True)
class CorpusStats:
    """Counts of a corpus.

    ``kinds`` and ``years`` count the indexed papers; ``to_cut`` those that changed since, or are new
    or gone, ``without_vectors`` the passages no model has read; ``synced`` says for every question
    when it was last brought up to date.
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
    synced: dict[str, str]
    warnings: tuple[str, ...] = ()


def stats(corpus: Corpus) -> CorpusStats:
    """What is in the corpus, and what in it is out of date."""
    raise NotImplementedError
