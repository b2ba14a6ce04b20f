"""Passages: cutting texts, making vectors, finding by words and by meaning.

`cut` makes passages of a text; an `Embedder` makes vectors of passages; a `Finder` keeps both and
finds them again, by the terms (`.terms`) and the vectors. `.finders` chooses both by the settings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ..model.passage import Filters, Hit, Passage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    Vectors = NDArray[np.float32]

__all__ = [
    "Embedder",
    "Filters",
    "Finder",
    "FinderStatus",
    "Hit",
    "Passage",
    "Shown",
]


class Shown(NamedTuple):
    """What a store that others read too shows of a passage's paper, beside the passage.

    ``edat`` and ``lr`` are when it entered PubMed and when it was last revised, ISO 8601 in UTC;
    empty where the day is not known. ``quality`` is the sum of its scores when it was indexed.
    """

    edat: str
    lr: str
    quality: int


ShownOf = Callable[[Sequence[str]], Mapping[str, Shown]]
"""Of papers by key; those without a record are left out."""


class Embedder(Protocol):
    """Makes vectors of texts.

    Vectors of two models must not be compared. Threads may share one embedder.
    """

    @property
    def model(self) -> str:
        """The model's name, with its version or digest.

        Raises
        ------
        EmbeddingsFailed
            The model is missing; `dim` may raise it too.
        """
        ...

    @property
    def dim(self) -> int:
        """How many numbers a vector has."""
        ...

    def available(self) -> str:
        """Why no vectors can be made and what to install or set; empty when nothing is missing.

        Looks at packages, files and settings only: sends no request and loads no model.
        """
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One normalised row (float32, ``dim`` wide) for each passage, in their order.

        Raises
        ------
        EmbeddingsFailed
            The model is missing, or its service did not answer.
        """
        ...

    def embed_question(self, text: str) -> Vector:
        """The same for a question: many models read questions in another way than passages.

        Raises
        ------
        EmbeddingsFailed
            As `embed`.
        """
        ...


@dataclass(frozen=True, slots=True)
class FinderStatus:
    """What a finder holds; ``model`` is empty where there are no vectors."""

    passages: int
    vectors: int
    model: str = ""
    dim: int = 0


class PassageFinder(Protocol):
    """Finds passages."""

    def search(
        self, query: str, vector: NDArray[np.float32] | None, limit: int, filters: Filters
    ) -> list[Hit]:
        """The best passages, by words and (with a vector) by meaning, fused; best first."""
        ...

    def status(self) -> FinderStatus:
        """Count what is in it; raises where it cannot be reached."""
        ...


class Finder(PassageFinder, Protocol):
    """Keeps passages (and vectors, where there are some) and finds them again.

    Everything in it is derived: it can be emptied and filled again from the corpus.
    """

    @property
    def name(self) -> str:
        """The name of this finder in answers."""
        ...

    def prepare(self, model: str, dim: int) -> None:
        """Make the schema; vectors of another model than *model* are dropped (empty: none)."""
        ...

    def upsert(self, passages: Sequence[Passage], vectors: Vectors | None) -> None:
        """Keep passages, replacing those of the same UUID; the rows of *vectors* are theirs."""
        ...

    def remove(self, uuids: Sequence[str]) -> None:
        """Forget passages; the unknown are no error."""
        ...

    def without_vectors(self, uuids: Sequence[str]) -> set[str]:
        """Which of these passages have no vector yet."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...
