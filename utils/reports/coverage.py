"""Count a harvest's texts by source and by reason, and page through its papers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from ..model.identifiers import Ids
from ..model.job import Coverage, Harvested, PaperSelection
from .labels import get_route_label
from .page import to_short_line

_MAX_ROWS = 12  # sources, and reasons
_TITLE_MAX_CHARS = 160  # characters
_REST = "others"


class ReadRows(Protocol):
    """A callable that returns papers of a harvest in the order of their numbers."""

    def __call__(
        self, which: PaperSelection = ..., *, start: int = ..., most: int = ..., reason: str = ...
    ) -> Iterator[Harvested]:
        """Return at most *most* papers of the outcome, from number *start* on."""


class Page(NamedTuple):
    """Some papers of a harvest, and the number at which the next page begins."""

    rows: list[Harvested]
    next_start: int | None


def read_page(
    rows: ReadRows, which: PaperSelection, *, start: int, most: int, reason: str = ""
) -> Page:
    """Return at most *most* papers of an outcome, from number *start* on."""
    found = list(rows(which, start=start, most=most + 1, reason=reason))
    return Page(found[:most], found[most].number if len(found) > most else None)


def count_by_source(coverage: Coverage) -> dict[str, int]:
    """Count full texts by the label of their route; small routes are summed up."""
    made: dict[str, int] = {}
    for number, (via, papers) in enumerate(coverage.sources.items()):
        name = get_route_label(via) if number < _MAX_ROWS else _REST
        made[name] = made.get(name, 0) + papers
    return made


def count_by_reason(coverage: Coverage) -> dict[str, int]:
    """Count missing texts by reason; rare reasons are summed up."""
    made: dict[str, int] = {}
    for number, (reason, papers) in enumerate(coverage.reasons.items()):
        name = reason if number < _MAX_ROWS else _REST
        made[name] = made.get(name, 0) + papers
    return made


def to_paper_row(row: Harvested) -> dict[str, Any]:
    """Return a paper's number, identifiers and title."""
    return {
        "number": row.number,
        "paper": " ".join(_format_ids(row.paper.ids)) or to_short_line(row.asked, _TITLE_MAX_CHARS),
        "title": to_short_line(row.paper.title, _TITLE_MAX_CHARS)
        or to_short_line(row.asked, _TITLE_MAX_CHARS),
    }


def _format_ids(ids: Ids) -> Iterator[str]:
    """Yield the identifiers by which a reader finds the paper: PMID and DOI, else another."""
    if ids.pmid:
        yield f"PMID {ids.pmid}"
    if ids.doi:
        yield f"doi:{ids.doi}"
    if not (ids.pmid or ids.doi) and ids:
        yield str(ids)
