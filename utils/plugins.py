"""What optional packages add to Papershelf.

A `Plugin` names what a package offers as text (``package.module`` or ``package.module:name``), so
that nothing of it is imported before it is used. Our own packages are in `OWN`. The core asks this
module and never imports an optional package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from .model.identifiers import Ids
    from .model.paper import Paper
    from .settings import Settings


@dataclass(frozen=True, slots=True)
class Plugin:
    """What one package offers; empty fields offer nothing.

    Parameters
    ----------
    name : str
    record_source : str, optional
        A module that has the functions of `RecordSource`.
    routes : str, optional
        A function that takes the settings and returns routes to full texts on this machine
        (`.sources.Route`), by the name of the source that each goes before.
    """

    name: str
    record_source: str = ""
    routes: str = ""


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
    """Records and citations of PubMed on this machine, asked before any site."""

    def records(self, wanted: Iterable[Ids], settings: Settings) -> dict[Ids, Paper]:
        """Return the records of papers that it has."""

    def citations(self, settings: Settings, *, fresh: bool = False) -> CitationTable | None:
        """Return the table of citations, or None; with *fresh* only one that is up to date."""


OWN = (Plugin("mirror", record_source=".mirror.lookup", routes=".mirror.articles:local_routes"),)
"""The optional packages that come with Papershelf."""


def plugins() -> tuple[Plugin, ...]:
    """Return all plugins."""
    return OWN


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


def local_routes(settings: Settings) -> list[tuple[str, Any]]:
    """Return the routes that need no network, each with the source it goes before."""
    offers = (load(plugin.routes) for plugin in plugins() if plugin.routes)
    return [pair for offer in offers for pair in offer(settings).items()]


def load(name: str) -> Callable[..., Any]:
    """Import what a plugin names as ``package.module:name``."""
    module, _, attribute = name.partition(":")
    found: Callable[..., Any] = getattr(import_module(module, __package__), attribute)
    return found


def _record_sources() -> Iterator[RecordSource]:
    for plugin in plugins():
        if plugin.record_source:
            yield cast("RecordSource", import_module(plugin.record_source, __package__))
