"""Records, citations and texts on this machine that plugins offer: asked before any site."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from ..model.identifiers import Ids
from ..model.paper import Paper
from ..plugins import import_part, plugins
from ..settings import Settings
from .source import Route


class Citation(Protocol):
    """The paper at the other end of a citation, and the indexes that list the citation."""

    @property
    def pmid(self) -> int:
        """The paper's PMID."""

    @property
    def sources(self) -> Sequence[str]:
        """Keys of `CitationTable.indexes`."""


class CitationTable(Protocol):
    """Citations on this machine."""

    @property
    def label(self) -> str:
        """Its name for people."""

    @property
    def indexes(self) -> Mapping[str, str]:
        """The names for people of the indexes it is made of, by their keys."""

    def cited(self, pmids: Iterable[int]) -> Mapping[int, Sequence[Citation]]:
        """Return what papers cite; raise `StoreFailed` where it cannot be read."""

    def citing(self, pmids: Iterable[int]) -> Mapping[int, Sequence[Citation]]:
        """Return what cites papers; raise `StoreFailed` where it cannot be read."""


class RecordSource(Protocol):
    """Records and citations of PubMed on this machine."""

    def records(self, wanted: Iterable[Ids], settings: Settings) -> dict[Ids, Paper]:
        """Return the records of papers that it has."""

    def citations(self, settings: Settings, *, fresh: bool = False) -> CitationTable | None:
        """Return the table of citations, or None; with *fresh* only one that is up to date."""


def find_records(wanted: Sequence[Ids], settings: Settings) -> dict[Ids, Paper]:
    """Return the records of papers that are on this machine, outside the shelf."""
    found: dict[Ids, Paper] = {}
    for source in _record_sources():
        found |= source.records([ids for ids in wanted if ids not in found], settings)
    return found


def find_citations(settings: Settings, *, fresh: bool = False) -> CitationTable | None:
    """Return the first table of citations that is on this machine, or None."""
    found = (source.citations(settings, fresh=fresh) for source in _record_sources())
    return next((table for table in found if table), None)


def local_routes(settings: Settings) -> list[tuple[str, Route]]:
    """Return the routes that need no network, each with the source it goes before."""
    offers = (import_part(plugin.routes) for plugin in plugins() if plugin.routes)
    return [pair for offer in offers for pair in offer(settings).items()]


def _record_sources() -> Iterator[RecordSource]:
    return (import_part(one.record_source) for one in plugins() if one.record_source)
