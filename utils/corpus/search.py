"""Passages of the corpus for a question, by words and by meaning, the better papers first.

An index only proposes: what a passage says, where it stands and whether its paper was retracted
since is read from SQL, and what is no longer there is left out. How the order comes about:

1. The finder fuses what words and vectors found into one score.
2. With ``quality_bias`` the score is multiplied by ``1 + 0.2 * total / 9`` (`.quality`). Ranks are
   close together (1/61, 1/62, … where they are fused by rank), so that the best record climbs about
   a dozen places over the worst, and never over a passage that both ways found.
3. One paper has at most three passages among the answers while other papers have any.

*Could not look* is never shown as *nothing found*: an empty index and a store that is down are
errors; a missing model is a warning, or an error where only meaning was asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..passage import Filters

if TYPE_CHECKING:
    from ..passage import Passage
    from ..store import Shelf
    from ..store.corpus_database import CorpusDatabase, CorpusRecord
    from . import Corpus
    from .quality import Quality

By = Literal["both", "words", "meaning"]
WEIGHT = 0.2
MOST_OF_ONE_PAPER = 3


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that answers; ``score`` is what it is ranked by, see the module.

    ``sim`` (cosine) and ``bm25`` are None where that way did not find it.
    """

    passage: Passage
    score: float
    sim: float | None
    bm25: float | None
    quality: Quality


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found, best first, and what a reader must know about how it was looked for."""

    hits: tuple[Found, ...]
    warnings: tuple[str, ...] = ()


def find(
    query: str,
    corpus: Corpus,
    *,
    top_k: int = 20,
    quality_bias: bool = True,
    filters: Filters = Filters(),
    by: By = "both",
) -> Answer:
    """The best passages for *query*.

    Parameters
    ----------
    query : str
        A question, or words.
    corpus : Corpus
        What is searched.
    top_k : int, optional
        How many passages at most, 1 to 100.
    quality_bias : bool, optional
        Whether better papers climb, see the module.
    filters : Filters, optional
        Which passages count.
    by : {"both", "words", "meaning"}, optional
        How to look.

    Raises
    ------
    BadRequest
        The query is empty or cannot be asked, or *top_k* is out of range.
    StoreFailed, WeaviateFailed
        The index is empty, or where it is kept cannot be reached.
    EmbeddingsFailed
        Only meaning was asked for, and there are no vectors.
    """
    raise NotImplementedError


def record(doc_id: str, database: CorpusDatabase, shelf: Shelf | None = None) -> CorpusRecord:
    """The record of ``pmid:…`` (or a bare PMID).

    A paper that lies on the *shelf* and was never synced has the record it was filed with, as
    version 1: whatever a search answers can be looked up.

    Raises
    ------
    BadRequest
        *doc_id* is no PMID.
    NotFound
        Neither holds it.
    """
    raise NotImplementedError


def in_turn(found: Sequence[Found], top_k: int) -> tuple[Found, ...]:
    """The best *top_k*, no paper taking the places of others; best first."""
    raise NotImplementedError
