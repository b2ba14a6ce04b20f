"""What bringing the table of citations up to date would take, before anything of it is fetched."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import NotAvailable, Unreachable
from ..sources.citation_collection import Snapshot, newest_snapshot
from .citation_table import CitationTable, Tables
from .citations import known_collections
from .generations import Generations
from .rates import CITATIONS, CITATIONS_BYTES, CITATIONS_EDGES

if TYPE_CHECKING:
    from ..http import Web


@dataclass(frozen=True, slots=True)
class CitationsPlan:
    """What an update would take; empty where nothing is new.

    ``collection`` is the day of NIH's newest (empty: not known, ``unknown`` says why), of which
    ``size`` bytes are to be fetched. About ``edges`` citations take at most ``core_hours`` and
    ``disk`` bytes. ``measured`` says whose rates these are.
    """

    collection: str
    size: int
    edges: int
    core_hours: float
    disk: int
    measured: str
    unknown: str = ""


def plan(folder: Path, web: Web) -> CitationsPlan:
    """What an update would take; see `.citations.update`."""
    table, newest, unknown = Tables(folder).current(), None, ""
    try:
        newest = newest_snapshot(web)
    except (Unreachable, NotAvailable) as error:
        unknown = error.message
    here = {one.md5 for one in known_collections(folder)}
    to_fetch = newest if newest and newest.md5 not in here else None
    due = _is_due(folder, table, to_fetch)
    edges = table.edges if table else CITATIONS_EDGES
    rate = table.rate if table and table.rate else CITATIONS
    own = table is not None and rate == table.rate
    size = to_fetch.size if to_fetch else 0
    return CitationsPlan(
        collection=newest.published if newest else "",
        size=size,
        edges=edges if due else 0,
        core_hours=due * edges / rate / 3600,
        disk=round(due * edges * CITATIONS_BYTES) + size,
        measured="the last run here" if own else "quality/benchmarks/README.md",
        unknown=unknown,
    )


def _is_due(folder: Path, table: CitationTable | None, to_fetch: Snapshot | None) -> bool:
    """Return whether a table would be made."""
    current = Generations(folder, "pubmed").whole()
    return bool(to_fetch or table is None or (current and current.name != table.pubmed))
