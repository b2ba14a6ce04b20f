"""List the figures, tables and files of a text on the shelf.

The list is read from the XML from which the text was made, if the shelf has that XML. Otherwise it
is read from the text itself, where tables have pipes and captions begin with a label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ..errors import BadContent
from ..model.paper import Fetched, PaperObject, StoredPaper, TableGrid
from ..outline import (
    FigureOrTable,
    build_outline,
    collect_declared_section_types,
    find_figures_and_tables,
)
from ..shelf import Shelf
from ..shelf.shelf import TextCacheKey
from ..system.plain_text import one_line, to_subscript, to_superscript

_RULE = re.compile(r"\|?(?:\s*:?-{3,}:?\s*\|)+\s*:?-*:?\s*")
_CELL_ENDS = re.compile(r"(?<!\\)\|")
_RAISED = re.compile(r"<sup>(.{0,80}?)</sup>")
_LOWERED = re.compile(r"<sub>(.{0,80}?)</sub>")
_MARKUP = re.compile(
    r"</?(?:u|b|i|sup|sub)>|(?<![\w\\])[*_]{1,3}(?=\S)|(?<=\S)(?<!\\)[*]{1,3}(?!\w)"
)
_BREAK = re.compile(r"\s*<br>\s*")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Mention:
    """A figure's or table's first mention: its section and its offset in the file."""

    section: str
    start: int


def list_objects(stored: StoredPaper, shelf: Shelf) -> list[PaperObject]:
    """Return the figures, tables and files of a text in order, with its pictures' files.

    Raises
    ------
    StoreFailed
        Its file cannot be read.
    """
    raw = shelf.read_raw_answer(stored)
    if raw and raw.fetched.media == "jats":
        return _list_objects_in_xml(raw.fetched)
    found = _list_objects_in_markdown(stored, shelf)
    return _add_picture_files(found, raw.fetched) if raw else found


def list_objects_without_files(stored: StoredPaper, shelf: Shelf) -> tuple[PaperObject, ...]:
    """Return the objects of a text; the results for the most recent texts are cached.

    The pictures of pages and LaTeX sources are not looked for, which takes a second for a long one.

    Raises
    ------
    StoreFailed
        Its file cannot be read.
    """
    return _list_objects_in_text_file(TextCacheKey.from_stored(stored, shelf))


@lru_cache(maxsize=16)
def _list_objects_in_text_file(file: TextCacheKey) -> tuple[PaperObject, ...]:
    raw = file.shelf.read_raw_answer(file.stored)
    if raw and raw.fetched.media == "jats":
        return tuple(_list_objects_in_xml(raw.fetched))
    return tuple(_list_objects_in_markdown(file.stored, file.shelf))


def _list_objects_in_xml(fetched: Fetched) -> list[PaperObject]:
    from ..readers.jats.objects import find_paper_objects as objects_in_xml

    return objects_in_xml(fetched)


def _list_objects_in_markdown(stored: StoredPaper, shelf: Shelf) -> list[PaperObject]:
    text = shelf.read_text(stored)
    floats = find_figures_and_tables(
        text, build_outline(text, collect_declared_section_types(stored.sections))
    )
    return [_build_object_from_markdown(item, text[item.start : item.end]) for item in floats]


def _add_picture_files(found: Sequence[PaperObject], fetched: Fetched) -> list[PaperObject]:
    """Return the objects with the picture files that the source of their text names."""
    try:
        by_label = _find_picture_files(fetched) if found else {}
    except BadContent:
        return list(found)
    return [
        replace(item, files=by_label.get(item.label, ())) if item.grid is None else item
        for item in found
    ]


def _find_picture_files(fetched: Fetched) -> dict[str, tuple[str, ...]]:
    if fetched.media == "latex":
        from ..readers import latex

        return latex.find_picture_files(fetched)
    if fetched.media == "html":
        from ..readers.html import pictures as in_html

        return in_html.find_figure_urls(fetched)
    return {}


def find_mentions(stored: StoredPaper, shelf: Shelf) -> dict[str, Mention]:
    """Return each object's first mention, by label as `find_floats` spells it."""
    text = shelf.read_text(stored)
    sections = build_outline(text, collect_declared_section_types(stored.sections))
    found = {}
    for item in find_figures_and_tables(text, sections):
        if item.mentioned >= 0:
            around = [part for part in sections if part.start <= item.mentioned < part.end]
            section = max(around, key=lambda part: part.start).title if around else ""
            found[item.label] = Mention(section, item.mentioned)
    return found


def _build_object_from_markdown(item: FigureOrTable, text: str) -> PaperObject:
    """Return the figure or table in a passage of Markdown."""
    lines = text.split("\n")
    at = next((n for n, line in enumerate(lines) if _RULE.fullmatch(line)), 0)
    is_table = "Table" in item.label
    if not is_table or not at:
        return PaperObject(
            "table" if is_table else "figure", item.label, _strip_caption_label(text)
        )
    end = next((n for n in range(at, len(lines)) if "|" not in lines[n]), len(lines))
    rows = [_split_markdown_row(line) for line in (lines[at - 1], *lines[at + 1 : end])]
    notes = (one_line(_markdown_to_text(line)) for line in lines[end:] if line.strip())
    head, body = _split_head_and_body(rows)
    caption = _strip_caption_label("\n".join(lines[: at - 1]))
    return PaperObject("table", item.label, caption, grid=TableGrid(head, body, tuple(notes)))


def _split_head_and_body(rows: Sequence[list[str]]) -> tuple[Rows, Rows]:
    """Return head and body with rows of equal width; ``Dose / 5 mg`` is two heading levels."""
    width = max(map(len, rows))
    head, *body = [row + [""] * (width - len(row)) for row in rows]
    split = [cell.split(" / ") for cell in head]
    deepest = max(map(len, split))
    levels = [
        tuple(_get_heading_at_level(parts, at, deepest) for parts in split) for at in range(deepest)
    ]
    return (tuple(levels) if any(head) else ()), tuple(map(tuple, body))


def _get_heading_at_level(parts: list[str], at: int, deepest: int) -> str:
    """Return a column's heading at one level; the lowest heading is right above the body."""
    return ([""] * (deepest - len(parts)) + parts)[at]


def _split_markdown_row(line: str) -> list[str]:
    cells = _CELL_ENDS.split(line.strip())
    cells = cells[1:] if line.lstrip().startswith("|") else cells
    cells = cells[:-1] if cells and not cells[-1].strip() else cells
    return [_markdown_to_text(cell).strip() for cell in cells]


def _markdown_to_text(text: str) -> str:
    """Return Markdown as plain text: superscript digits are kept as such, marks are removed."""
    text = _RAISED.sub(lambda found: to_superscript(found[1]), text)
    text = _LOWERED.sub(lambda found: to_subscript(found[1]), text)
    text = _MARKUP.sub("", _BREAK.sub("; ", text))
    return _ESCAPED.sub(r"\1", text)


def _strip_caption_label(text: str) -> str:
    """Return a caption without the label at its start."""
    words = one_line(_markdown_to_text(text))
    label = re.match(r"[^.:]{0,30}\d[A-Za-z]?\s?[.:|]\s*", words)
    return words[label.end() :] if label else words


def iterate_tables(objects: Sequence[PaperObject]) -> Iterator[tuple[int, PaperObject, TableGrid]]:
    """Yield the tables that have cells, numbered from 1."""
    tables = ((item, item.grid) for item in objects if item.grid)
    yield from ((number, item, grid) for number, (item, grid) in enumerate(tables, 1))
