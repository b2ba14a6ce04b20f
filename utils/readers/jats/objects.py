"""Figures, tables and supplementary files of a JATS article, with their cells and file names.

Cells are plain text for programs: no markup, and raised or lowered digits as such characters,
because 10⁵ is not 105, and 5.2ᵃ not a number but 5.2 with a note. Facts: jats.nlm.nih.gov (``fig``,
``table-wrap``, ``supplementary-material``, Archiving 1.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ...model.paper import Fetched, Grid, ObjectKind, PaperObject
from ...system.plain_text import lowered, raised
from ..safe_xml import first
from . import choose_article, parse, plain_walk
from .formulas import MATH_INLINE
from .tables import grid_of
from .walk import HREF, Element, Inline, Walk

_KINDS: Final[dict[str, ObjectKind]] = {
    "fig": "figure",
    "table-wrap": "table",
    "supplementary-material": "supplement",
    "inline-supplementary-material": "supplement",
}
_OTHERS: Final = frozenset({"sub-article", "response"})
_FILES: Final = ("graphic", "media", "inline-graphic")
_MOST: Final = 2000  # objects of a paper; more is a bomb
_NOTHING_SAID = re.compile(r"\s*click here for additional data file\.?\s*", re.I)


def objects_of(fetched: Fetched) -> list[PaperObject]:
    """What the article that `read` takes holds, in its order.

    Raises
    ------
    BadContent
        No article is in it.
    """
    article = choose_article(parse(fetched.body).root, fetched.ids)
    walk = plain_walk(article, _CELL)
    found: list[PaperObject] = []
    for el in article.iter(*_KINDS):
        if len(found) >= _MOST:
            break
        if not any(above.tag in _OTHERS for above in el.iterancestors()):
            found += _read(el, _KINDS[el.tag], walk)
    return found


def _read(el: Element, kind: ObjectKind, walk: Walk) -> Iterator[PaperObject]:
    """The object; several where one frame holds several tables."""
    whole = PaperObject(kind, _label(el, walk), _caption(el, walk), _files(el))
    grids = list(filter(None, (grid_of(table, walk) for table in _tables(el, kind))))
    notes = _notes(el, walk)
    for number, grid in enumerate(grids, 1):
        part = f" ({number} of {len(grids)})" if len(grids) > 1 else ""
        noted = Grid(grid.head, grid.rows, notes)
        yield replace(whole, label=f"{whole.label}{part}", grid=noted)
    if not grids and (kind != "supplement" or whole.files):
        yield whole


def _tables(el: Element, kind: ObjectKind) -> list[Element]:
    """The tables of a frame, without those inside a cell of another."""
    if kind != "table":
        return []
    return [
        table
        for table in el.iter("table")
        if not any(above.tag in {"td", "th"} for above in table.iterancestors())
    ]


def _label(el: Element, walk: Walk) -> str:
    own = first(el, "label")
    if own is None and (inner := first(el, "media")) is not None:
        own = first(inner, "label")
    return walk.line(own).rstrip(" .:")


def _caption(el: Element, walk: Walk) -> str:
    """Title and paragraphs, also those of a ``media`` inside."""
    said = []
    for holder in (el, *el.iterchildren("media")):
        for tag in ("title", "caption"):
            said += [" ".join(walk.collect(part)) for part in holder.iterchildren(tag)]
    words = (text for text in said if not _NOTHING_SAID.fullmatch(text))
    return " ".join(dict.fromkeys(filter(None, words)))


def _files(el: Element) -> tuple[str, ...]:
    """The names of its files: its own, and those of the pictures that are not part of a cell."""
    outside = (
        file
        for file in el.iter(*_FILES)
        if not any(above.tag == "table" for above in file.iterancestors())
    )
    names = (one.get(HREF) or "" for one in (el, *outside))
    return tuple(dict.fromkeys(filter(None, names)))


def _notes(el: Element, walk: Walk) -> tuple[str, ...]:
    notes = []
    for foot in el.iterchildren("table-wrap-foot"):
        notes += [line for child in foot for line in walk.collect(child)]
    return tuple(filter(None, notes))


def _raised(el: Element, walk: Walk) -> str:
    return raised(walk.inline(el))


def _lowered(el: Element, walk: Walk) -> str:
    return lowered(walk.inline(el))


def _reference(el: Element, walk: Walk) -> str:
    """A reference as it is printed; a mark that points to a note stays a mark, not a letter."""
    said = walk.inline(el)
    return raised(said) if el.get("ref-type") in {"fn", "table-fn"} else said


_CELL: Final[dict[str, Inline]] = {
    **MATH_INLINE,
    "sup": _raised,
    "sub": _lowered,
    "xref": _reference,
}
