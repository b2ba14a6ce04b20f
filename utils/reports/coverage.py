"""What a harvest has and lacks: by source, by reason, and paper by paper, a page at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from ..model.identifiers import Ids
from ..model.job import Coverage, Harvested, PaperSelection
from .labels import route_label
from .page import cut_line

_MOST = 12  # sources, and reasons
_TITLE = 160  # characters
_REST = "others"


class Rows(Protocol):
    """The papers of a harvest in the order of their numbers, as its ledger gives them."""

    def __call__(
        self, which: PaperSelection = ..., *, start: int = ..., most: int = ..., reason: str = ...
    ) -> Iterator[Harvested]:
        """Those that ended so, from a number on, so many."""


class Page(NamedTuple):
    """Some papers of a harvest, and the number with which the next page begins."""

    rows: list[Harvested]
    next_start: int | None


def page_of(rows: Rows, which: PaperSelection, *, start: int, most: int, reason: str = "") -> Page:
    """The papers that ended so, from the one of number *start* on, *most* at once."""
    found = list(rows(which, start=start, most=most + 1, reason=reason))
    return Page(found[:most], found[most].number if len(found) > most else None)


def sources(coverage: Coverage) -> dict[str, int]:
    """By the name of the route, how many full texts it brought; what is left over is one row."""
    made: dict[str, int] = {}
    for number, (via, papers) in enumerate(coverage.sources.items()):
        name = route_label(via) if number < _MOST else _REST
        made[name] = made.get(name, 0) + papers
    return made


def reasons(coverage: Coverage) -> dict[str, int]:
    """By the word of the reason, how many papers lack their text; the rest is one row."""
    made: dict[str, int] = {}
    for number, (reason, papers) in enumerate(coverage.reasons.items()):
        name = reason if number < _MOST else _REST
        made[name] = made.get(name, 0) + papers
    return made


def paper_row(row: Harvested) -> dict[str, Any]:
    """A paper by number, by the names to look it up by, and by its title."""
    return {
        "number": row.number,
        "paper": " ".join(_names(row.paper.ids)) or cut_line(row.asked, _TITLE),
        "title": cut_line(row.paper.title, _TITLE) or cut_line(row.asked, _TITLE),
    }


def _names(ids: Ids) -> Iterator[str]:
    """How a reader looks a paper up: at PubMed, and at its publisher."""
    if ids.pmid:
        yield f"PMID {ids.pmid}"
    if ids.doi:
        yield f"doi:{ids.doi}"
    if not (ids.pmid or ids.doi) and ids:
        yield str(ids)
