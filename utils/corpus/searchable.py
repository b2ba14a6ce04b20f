"""The interface of searches and quotation checks to a corpus or another store of passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..model.identifiers import Ids
    from ..model.paper import StoredPaper
    from ..model.passage import Passage
    from .finders import Embedder, PassageFinder
    from .local_model import Reranker
    from .names import Kind
    from .stored_records import CorpusCounts, CorpusRecord


class SearchedTables(Protocol):
    """Passages, records and other names."""

    def passages(self, uuids: Sequence[str]) -> Mapping[str, Passage]:
        """Return those of these passages that there are."""

    def passages_of(self, paper_key: str) -> Sequence[Passage]:
        """Return the passages of a paper, in their order."""

    def record(self, pmid: str) -> CorpusRecord | None:
        """Return one record, or None."""

    def records(self, pmids: Sequence[str]) -> Mapping[str, CorpusRecord]:
        """Return the records of papers whose passages were found."""

    def journals(self, asked: str) -> tuple[str, ...]:
        """Return the names under which passages have a journal."""

    def named(self, kind: Kind, forms: Sequence[str]) -> Mapping[str, Sequence[tuple[str, int]]]:
        """Return other names by form, each with the number of texts that have it."""


class SearchedTexts(Protocol):
    """Whole texts, by the file or the paper; a `Shelf` is one."""

    def find_by_file(self, name: str) -> StoredPaper | None:
        """Return the text of this file name, or None."""

    def find(self, ids: Ids) -> StoredPaper | None:
        """Return a paper's text, or None."""

    def read_text(self, stored: StoredPaper) -> str:
        """Return the whole text."""


class Searchable(Protocol):
    """A store of passages, for reading only."""

    @property
    def finder(self) -> PassageFinder:
        """The index in which passages are found."""

    @property
    def database(self) -> SearchedTables:
        """The present passages and records."""

    @property
    def shelf(self) -> SearchedTexts:
        """The texts that passages point into."""

    @property
    def embedder(self) -> Embedder | None:
        """The model that makes a vector of a question."""

    @property
    def reranker(self) -> Reranker | None:
        """The model that sorts the best passages again."""

    @property
    def more(self) -> str:
        """The advice to a person who found nothing, such as ``sync records``."""

    def recent_counts(self) -> CorpusCounts:
        """Return how much there is, at most ten seconds ago."""
