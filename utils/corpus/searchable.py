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
        """Return the passages with these UUIDs, as far as they exist."""

    def passages_of(self, paper_key: str) -> Sequence[Passage]:
        """Return the passages of a paper, in their order."""

    def record(self, pmid: str) -> CorpusRecord | None:
        """Return one record; None if it is missing."""

    def records(self, pmids: Sequence[str]) -> Mapping[str, CorpusRecord]:
        """Return the records of papers whose passages were found."""

    def journals(self, asked: str) -> tuple[str, ...]:
        """Return the names under which passages have a journal."""

    def named(self, kind: Kind, forms: Sequence[str]) -> Mapping[str, Sequence[tuple[str, int]]]:
        """Return alternative names by form, each with the number of texts that use the name."""


class SearchedTexts(Protocol):
    """Whole texts, by file or paper; a `Shelf` is one."""

    def find_by_file(self, name: str) -> StoredPaper | None:
        """Return the text with this file name; None if it is missing."""

    def find_text(self, ids: Ids) -> StoredPaper | None:
        """Return a paper's text; None if it is missing."""

    def read_text(self, stored: StoredPaper) -> str:
        """Return the whole text."""


class Searchable(Protocol):
    """A store of passages, for reading only."""

    @property
    def finder(self) -> PassageFinder:
        """The index of passages."""

    @property
    def database(self) -> SearchedTables:
        """The present passages and records."""

    @property
    def shelf(self) -> SearchedTexts:
        """The texts that passages point into."""

    @property
    def embedder(self) -> Embedder | None:
        """The model that makes the vector of a question."""

    @property
    def reranker(self) -> Reranker | None:
        """The model that sorts the best passages again."""

    @property
    def more(self) -> str:
        """The advice to a user who found nothing, such as ``sync records``."""

    def recent_counts(self) -> CorpusCounts:
        """Return the counts of passages and records, at most ten seconds old."""
