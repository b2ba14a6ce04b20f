"""Which figures, tables and files a text on the shelf has.

From the XML its text was made of, where that is kept; else from the text itself, whose tables have
pipes and whose captions begin with a label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ..errors import BadContent
from ..model.paper import Fetched, Grid, PaperObject, StoredPaper
from ..outline import Float, floats_of, outline, section_words
from ..shelf import Shelf
from ..shelf.shelf import TextFile
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
    """Where a text first speaks of a figure or table: its section and the place in the file."""

    section: str
    start: int


def objects_of(stored: StoredPaper, shelf: Shelf) -> list[PaperObject]:
    """Return the figures, tables and files of a text, in its order, with its pictures' files.

    Raises
    ------
    StoreFailed
        Its file cannot be read.
    """
    raw = shelf.raw(stored)
    if raw and raw.fetched.media == "jats":
        return _objects_in_xml(raw.fetched)
    found = _objects_in_text(stored, shelf)
    return _with_pictures(found, raw.fetched) if raw else found


def objects_without_files(stored: StoredPaper, shelf: Shelf) -> tuple[PaperObject, ...]:
    """Return the objects of a text; those of the last texts are remembered.

    The pictures of pages and LaTeX sources are not looked for, which takes a second for a long one.

    Raises
    ------
    StoreFailed
        Its file cannot be read.
    """
    return _objects_without_files(TextFile.of(stored, shelf))


@lru_cache(maxsize=16)
def _objects_without_files(file: TextFile) -> tuple[PaperObject, ...]:
    raw = file.shelf.raw(file.stored)
    if raw and raw.fetched.media == "jats":
        return tuple(_objects_in_xml(raw.fetched))
    return tuple(_objects_in_text(file.stored, file.shelf))


def _objects_in_xml(fetched: Fetched) -> list[PaperObject]:
    from ..readers.jats.objects import find_objects as objects_in_xml

    return objects_in_xml(fetched)


def _objects_in_text(stored: StoredPaper, shelf: Shelf) -> list[PaperObject]:
    text = shelf.read_text(stored)
    floats = floats_of(text, outline(text, section_words(stored.sections)))
    return [_object(one, text[one.start : one.end]) for one in floats]


def _with_pictures(found: Sequence[PaperObject], fetched: Fetched) -> list[PaperObject]:
    """The objects with the files that the source of their text gives their pictures."""
    try:
        by_label = _pictures_of(fetched) if found else {}
    except BadContent:
        return list(found)
    return [
        replace(one, files=by_label.get(one.label, ())) if one.grid is None else one
        for one in found
    ]


def _pictures_of(fetched: Fetched) -> dict[str, tuple[str, ...]]:
    if fetched.media == "latex":
        from ..readers import latex

        return latex.find_pictures(fetched)
    if fetched.media == "html":
        from ..readers.html import pictures as in_html

        return in_html.find_pictures(fetched)
    return {}


def mentions(stored: StoredPaper, shelf: Shelf) -> dict[str, Mention]:
    """By label, as `floats_of` spells it, where each is first mentioned."""
    text = shelf.read_text(stored)
    sections = outline(text, section_words(stored.sections))
    found = {}
    for one in floats_of(text, sections):
        if one.mentioned >= 0:
            around = [part for part in sections if part.start <= one.mentioned < part.end]
            section = max(around, key=lambda part: part.start).title if around else ""
            found[one.label] = Mention(section, one.mentioned)
    return found


def _object(one: Float, text: str) -> PaperObject:
    """The figure or table in a stretch of markdown."""
    lines = text.split("\n")
    at = next((n for n, line in enumerate(lines) if _RULE.fullmatch(line)), 0)
    is_table = "Table" in one.label
    if not is_table or not at:
        return PaperObject("table" if is_table else "figure", one.label, _caption(text))
    end = next((n for n in range(at, len(lines)) if "|" not in lines[n]), len(lines))
    rows = [_cells(line) for line in (lines[at - 1], *lines[at + 1 : end])]
    notes = (one_line(_plain(line)) for line in lines[end:] if line.strip())
    head, body = _levels(rows)
    caption = _caption("\n".join(lines[: at - 1]))
    return PaperObject("table", one.label, caption, grid=Grid(head, body, tuple(notes)))


def _levels(rows: Sequence[list[str]]) -> tuple[Rows, Rows]:
    """Head and body, all rows of one width; ``Dose / 5 mg`` is two levels of a heading."""
    width = max(map(len, rows))
    head, *body = [row + [""] * (width - len(row)) for row in rows]
    split = [cell.split(" / ") for cell in head]
    deepest = max(map(len, split))
    levels = [tuple(_level(parts, at, deepest) for parts in split) for at in range(deepest)]
    return (tuple(levels) if any(head) else ()), tuple(map(tuple, body))


def _level(parts: list[str], at: int, deepest: int) -> str:
    """The lowest heading of a column stands right above the body."""
    return ([""] * (deepest - len(parts)) + parts)[at]


def _cells(line: str) -> list[str]:
    cells = _CELL_ENDS.split(line.strip())
    cells = cells[1:] if line.lstrip().startswith("|") else cells
    cells = cells[:-1] if cells and not cells[-1].strip() else cells
    return [_plain(cell).strip() for cell in cells]


def _plain(text: str) -> str:
    """Markdown as plain text: digits stay raised, marks go."""
    text = _RAISED.sub(lambda found: to_superscript(found[1]), text)
    text = _LOWERED.sub(lambda found: to_subscript(found[1]), text)
    text = _MARKUP.sub("", _BREAK.sub("; ", text))
    return _ESCAPED.sub(r"\1", text)


def _caption(text: str) -> str:
    """The words of a caption, without the label in front."""
    words = one_line(_plain(text))
    label = re.match(r"[^.:]{0,30}\d[A-Za-z]?\s?[.:|]\s*", words)
    return words[label.end() :] if label else words


def all_rows(objects: Sequence[PaperObject]) -> Iterator[tuple[int, PaperObject, Grid]]:
    """The tables with cells, counted from 1."""
    tables = ((one, one.grid) for one in objects if one.grid)
    yield from ((number, one, grid) for number, (one, grid) in enumerate(tables, 1))
