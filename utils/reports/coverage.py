"""Count a harvest's texts by source and by reason, and read its papers page by page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from ..model.identifiers import Ids
from ..model.job import Coverage, Harvested, PaperSelection
from .labels import get_route_label
from .page import shorten_to_line

_MAX_ROWS = 12  # sources, and reasons
_TITLE_MAX_CHARS = 160  # characters
_REST = "others"


class HarvestRowReader(Protocol):
    """A callable that returns papers of a harvest in the order of their numbers."""

    def __call__(
        self, which: PaperSelection = ..., *, start: int = ..., most: int = ..., reason: str = ...
    ) -> Iterator[Harvested]:
        """Return at most *most* papers of the outcome, from number *start* on."""


class HarvestPage(NamedTuple):
    """Some papers of a harvest, and the number at which the next page begins."""

    rows: list[Harvested]
    next_start: int | None


def read_harvest_page(
    rows: HarvestRowReader, which: PaperSelection, *, start: int, most: int, reason: str = ""
) -> HarvestPage:
    """Return at most *most* papers with an outcome, from number *start* on."""
    found = list(rows(which, start=start, most=most + 1, reason=reason))
    return HarvestPage(found[:most], found[most].number if len(found) > most else None)


def count_texts_by_source(coverage: Coverage) -> dict[str, int]:
    """Return the number of full texts by the label of their route; small routes are combined."""
    made: dict[str, int] = {}
    for number, (via, papers) in enumerate(coverage.sources.items()):
        name = get_route_label(via) if number < _MAX_ROWS else _REST
        made[name] = made.get(name, 0) + papers
    return made


def count_missing_by_reason(coverage: Coverage) -> dict[str, int]:
    """Return the number of missing texts by reason; rare reasons are combined."""
    made: dict[str, int] = {}
    for number, (reason, papers) in enumerate(coverage.reasons.items()):
        name = reason if number < _MAX_ROWS else _REST
        made[name] = made.get(name, 0) + papers
    return made


def to_paper_row(row: Harvested) -> dict[str, Any]:
    """Return a paper's number, identifiers and title."""
    return {
        "number": row.number,
        "paper": " ".join(_iterate_formatted_ids(row.paper.ids))
        or shorten_to_line(row.asked, _TITLE_MAX_CHARS),
        "title": shorten_to_line(row.paper.title, _TITLE_MAX_CHARS)
        or shorten_to_line(row.asked, _TITLE_MAX_CHARS),
    }


def _iterate_formatted_ids(ids: Ids) -> Iterator[str]:
    """Yield the identifiers for readers: PMID and DOI, or else another."""
    if ids.pmid:
        yield f"PMID {ids.pmid}"
    if ids.doi:
        yield f"doi:{ids.doi}"
    if not (ids.pmid or ids.doi) and ids:
        yield str(ids)
