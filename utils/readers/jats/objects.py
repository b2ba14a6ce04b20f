"""List the figures, tables and supplementary files of a JATS article, with cells and file names.

Cells are plain text for programs: without markup, and with superscript and subscript characters,
because 10⁵ is not 105, and 5.2ᵃ is 5.2 with a note. Sources: jats.nlm.nih.gov (``fig``,
``table-wrap``, ``supplementary-material``, Archiving 1.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ...model.paper import Fetched, ObjectKind, PaperObject, TableGrid
from ...system.plain_text import to_subscript, to_superscript
from ..safe_xml import get_first_child
from . import choose_article_element, make_plain_text_walk, parse_jats
from .formulas import MATH_INLINE
from .tables import convert_table_to_grid
from .walk import HREF, Element, Inline, MarkdownWalk

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


def find_paper_objects(fetched: Fetched) -> list[PaperObject]:
    """Return the figures, tables and files of the article that `read` chooses, in order.

    Raises
    ------
    BadContent
        The bytes contain no article.
    """
    article = choose_article_element(parse_jats(fetched.body).root, fetched.ids)
    walk = make_plain_text_walk(article, _CELL)
    found: list[PaperObject] = []
    for el in article.iter(*_KINDS):
        if len(found) >= _MOST:
            break
        if not any(above.tag in _OTHERS for above in el.iterancestors()):
            found += _iterate_objects_in_frame(el, _KINDS[el.tag], walk)
    return found


def _iterate_objects_in_frame(
    el: Element, kind: ObjectKind, walk: MarkdownWalk
) -> Iterator[PaperObject]:
    """Yield the object of a frame, or several if the frame contains several tables."""
    whole = PaperObject(
        kind, _format_object_label(el, walk), _format_object_caption(el, walk), _find_file_names(el)
    )
    grids = list(
        filter(
            None, (convert_table_to_grid(table, walk) for table in _find_tables_in_frame(el, kind))
        )
    )
    notes = _collect_table_notes(el, walk)
    for number, grid in enumerate(grids, 1):
        part = f" ({number} of {len(grids)})" if len(grids) > 1 else ""
        noted = TableGrid(grid.head, grid.rows, notes)
        yield replace(whole, label=f"{whole.label}{part}", grid=noted)
    if not grids and (kind != "supplement" or whole.files):
        yield whole


def _find_tables_in_frame(el: Element, kind: ObjectKind) -> list[Element]:
    """Return the tables of a frame, without tables inside cells."""
    if kind != "table":
        return []
    return [
        table
        for table in el.iter("table")
        if not any(above.tag in {"td", "th"} for above in table.iterancestors())
    ]


def _format_object_label(el: Element, walk: MarkdownWalk) -> str:
    own = get_first_child(el, "label")
    if own is None and (inner := get_first_child(el, "media")) is not None:
        own = get_first_child(inner, "label")
    return walk.format_line(own).rstrip(" .:")


def _format_object_caption(el: Element, walk: MarkdownWalk) -> str:
    """Return the title and paragraphs of a caption, also from an inner ``media``."""
    texts = []
    for holder in (el, *el.iterchildren("media")):
        for tag in ("title", "caption"):
            texts += [" ".join(walk.collect_blocks(part)) for part in holder.iterchildren(tag)]
    words = (text for text in texts if not _NOTHING_SAID.fullmatch(text))
    return " ".join(dict.fromkeys(filter(None, words)))


def _find_file_names(el: Element) -> tuple[str, ...]:
    """Return the file names of an object, including pictures outside cells."""
    outside = (
        file
        for file in el.iter(*_FILES)
        if not any(above.tag == "table" for above in file.iterancestors())
    )
    names = (one.get(HREF) or "" for one in (el, *outside))
    return tuple(dict.fromkeys(filter(None, names)))


def _collect_table_notes(el: Element, walk: MarkdownWalk) -> tuple[str, ...]:
    notes = []
    for foot in el.iterchildren("table-wrap-foot"):
        notes += [line for child in foot for line in walk.collect_blocks(child)]
    return tuple(filter(None, notes))


def _format_superscript(el: Element, walk: MarkdownWalk) -> str:
    return to_superscript(walk.format_content(el))


def _format_subscript(el: Element, walk: MarkdownWalk) -> str:
    return to_subscript(walk.format_content(el))


def _format_note_reference(el: Element, walk: MarkdownWalk) -> str:
    """Return a reference as printed; a reference to a note stays a mark."""
    text = walk.format_content(el)
    return to_superscript(text) if el.get("ref-type") in {"fn", "table-fn"} else text


_CELL: Final[dict[str, Inline]] = {
    **MATH_INLINE,
    "sup": _format_superscript,
    "sub": _format_subscript,
    "xref": _format_note_reference,
}
