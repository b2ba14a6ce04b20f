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
from ...system.plain_text import to_subscript, to_superscript
from ..safe_xml import first_child
from . import choose_article, make_plain_walk, parse_article
from .formulas import MATH_INLINE
from .tables import to_grid
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


def find_objects(fetched: Fetched) -> list[PaperObject]:
    """Return the figures, tables and files of the article that `read` takes, in order.

    Raises
    ------
    BadContent
        No article is in it.
    """
    article = choose_article(parse_article(fetched.body).root, fetched.ids)
    walk = make_plain_walk(article, _CELL)
    found: list[PaperObject] = []
    for el in article.iter(*_KINDS):
        if len(found) >= _MOST:
            break
        if not any(above.tag in _OTHERS for above in el.iterancestors()):
            found += _read_object(el, _KINDS[el.tag], walk)
    return found


def _read_object(el: Element, kind: ObjectKind, walk: Walk) -> Iterator[PaperObject]:
    """Yield the object; several if one frame holds several tables."""
    whole = PaperObject(kind, _find_label(el, walk), _find_caption(el, walk), _find_files(el))
    grids = list(filter(None, (to_grid(table, walk) for table in _find_tables(el, kind))))
    notes = _find_notes(el, walk)
    for number, grid in enumerate(grids, 1):
        part = f" ({number} of {len(grids)})" if len(grids) > 1 else ""
        noted = Grid(grid.head, grid.rows, notes)
        yield replace(whole, label=f"{whole.label}{part}", grid=noted)
    if not grids and (kind != "supplement" or whole.files):
        yield whole


def _find_tables(el: Element, kind: ObjectKind) -> list[Element]:
    """Return the tables of a frame, without those inside a cell."""
    if kind != "table":
        return []
    return [
        table
        for table in el.iter("table")
        if not any(above.tag in {"td", "th"} for above in table.iterancestors())
    ]


def _find_label(el: Element, walk: Walk) -> str:
    own = first_child(el, "label")
    if own is None and (inner := first_child(el, "media")) is not None:
        own = first_child(inner, "label")
    return walk.to_line(own).rstrip(" .:")


def _find_caption(el: Element, walk: Walk) -> str:
    """Return title and paragraphs, also those of a ``media`` inside."""
    said = []
    for holder in (el, *el.iterchildren("media")):
        for tag in ("title", "caption"):
            said += [" ".join(walk.collect(part)) for part in holder.iterchildren(tag)]
    words = (text for text in said if not _NOTHING_SAID.fullmatch(text))
    return " ".join(dict.fromkeys(filter(None, words)))


def _find_files(el: Element) -> tuple[str, ...]:
    """Return the names of an object's files, and of pictures outside cells."""
    outside = (
        file
        for file in el.iter(*_FILES)
        if not any(above.tag == "table" for above in file.iterancestors())
    )
    names = (one.get(HREF) or "" for one in (el, *outside))
    return tuple(dict.fromkeys(filter(None, names)))


def _find_notes(el: Element, walk: Walk) -> tuple[str, ...]:
    notes = []
    for foot in el.iterchildren("table-wrap-foot"):
        notes += [line for child in foot for line in walk.collect(child)]
    return tuple(filter(None, notes))


def _format_raised(el: Element, walk: Walk) -> str:
    return to_superscript(walk.to_inline(el))


def _format_lowered(el: Element, walk: Walk) -> str:
    return to_subscript(walk.to_inline(el))


def _format_reference(el: Element, walk: Walk) -> str:
    """Return a reference as printed; a mark that points to a note stays a mark."""
    said = walk.to_inline(el)
    return to_superscript(said) if el.get("ref-type") in {"fn", "table-fn"} else said


_CELL: Final[dict[str, Inline]] = {
    **MATH_INLINE,
    "sup": _format_raised,
    "sub": _format_lowered,
    "xref": _format_reference,
}
