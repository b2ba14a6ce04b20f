"""The interface of a corpus, or another store of passages, for searches and quotation checks."""

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
    """The tables of passages, records and alternative names that searches read."""

    def get_passages(self, uuids: Sequence[str]) -> Mapping[str, Passage]:
        """Return the passages with these UUIDs; unknown UUIDs are left out."""

    def get_passages_of_paper(self, paper_key: str) -> Sequence[Passage]:
        """Return the passages of a paper, in order."""

    def get_record(self, pmid: str) -> CorpusRecord | None:
        """Return one record; None if it is missing."""

    def get_records(self, pmids: Sequence[str]) -> Mapping[str, CorpusRecord]:
        """Return the records of these PMIDs; missing records are left out."""

    def find_journal_names(self, asked: str) -> tuple[str, ...]:
        """Return the names that the store uses for a journal."""

    def find_alternative_names(
        self, kind: Kind, forms: Sequence[str]
    ) -> Mapping[str, Sequence[tuple[str, int]]]:
        """Return, by form, the alternative names and their numbers of texts."""


class SearchedTexts(Protocol):
    """Access to whole texts, by file or paper; `Shelf` implements this interface."""

    def find_paper_by_file(self, name: str) -> StoredPaper | None:
        """Return the text with this file name; None if it is missing."""

    def find_text(self, ids: Ids) -> StoredPaper | None:
        """Return a paper's text; None if it is missing."""

    def read_text(self, stored: StoredPaper) -> str:
        """Return the whole text."""


class Searchable(Protocol):
    """A read-only store of passages."""

    @property
    def finder(self) -> PassageFinder:
        """The index of passages."""

    @property
    def database(self) -> SearchedTables:
        """The current passages and records."""

    @property
    def shelf(self) -> SearchedTexts:
        """The texts that contain the passages."""

    @property
    def embedder(self) -> Embedder | None:
        """The model that embeds a question."""

    @property
    def reranker(self) -> Reranker | None:
        """The model that reorders the best passages."""

    @property
    def empty_search_advice(self) -> str:
        """The advice for a search that found nothing, such as ``sync records``."""

    def get_recent_counts(self) -> CorpusCounts:
        """Return the counts of passages and records, at most ten seconds old."""
