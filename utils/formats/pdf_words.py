"""The words of a PDF page and the lines drawn on it, each with its place, by PDFium.

What `.pdf_tables` rebuilds tables from. Runs only in the child process of `.pdf_child`. Text that
runs up or down a page is turned until it reads from left to right, and the rules with it.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from .pdf_characters import Box, Characters
from .pdf_lines import BROKEN

_MOST_OBJECTS = 40_000  # of a page, with the sides of paths; a figure of points may have millions
_MOST_SEGMENTS = 500
_MOST_RULES = 1500
_THIN = 3.0  # points: a drawn thing that is thinner is a rule
_NEAR = 1.0  # points: no gap between two words of any size
_WORD_GAP = 0.28  # of the height: PDFium writes most spaces, not those between cells
_SHORT = 6.0  # points: shorter lines belong to letters and pictures
_DEEP = 4  # forms within forms


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its box as tall as its font, and where its characters begin and end.

    ``text`` has one character for each code of the page, before signs and powers are put right.
    """

    text: str
    left: float
    bottom: float
    right: float
    top: float
    start: int
    end: int

    @property
    def size(self) -> float:
        """The height of the font's box."""
        return self.top - self.bottom

    @property
    def middle(self) -> float:
        """Half way between left and right."""
        return (self.left + self.right) / 2


@dataclass(frozen=True, slots=True)
class Rule:
    """A drawn straight line, or an edge of a shaded field, as a box without thickness."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def is_flat(self) -> bool:
        """Whether it runs from left to right."""
        return self.right - self.left >= self.top - self.bottom


@dataclass(frozen=True, slots=True)
class Sheet:
    """All words of one direction on a page, and its rules, turned so that the words are upright."""

    words: tuple[Word, ...]
    rules: tuple[Rule, ...]


def sheets_of(page: Any, characters: Characters) -> list[Sheet]:
    """The page as it reads upright, and as it reads turned left and right where text does."""
    codes = characters.codes
    boxes = [characters.box(index) for index in range(len(codes))]
    written = "".join(map(_char, codes))
    by_turn: dict[int, list[Word]] = {}
    for start, end in _spans(written, boxes):
        turn = _turn(characters, boxes, start, end)
        by_turn.setdefault(turn, []).append(_word(written, boxes, start, end, turn))
    drawn = list(islice(_drawn(page), _MOST_RULES)) if by_turn else []
    return [
        Sheet(tuple(words), tuple(_rule(_turned(box, turn)) for box in drawn))
        for turn, words in by_turn.items()
    ]


def _char(code: int) -> str:
    if code in BROKEN:
        return "-"
    # Half of a letter of a mathematical alphabet is no white space, nor is an unknown glyph.
    return "\ufffd" if 0xD800 <= code < 0xE000 else chr(code) if 32 < code < 0x110000 else " "


def _spans(written: str, boxes: Sequence[Box]) -> Iterator[tuple[int, int]]:
    """Where each word begins and ends."""
    start = -1
    for index, char in enumerate(written):
        is_blank = char.isspace()
        if start >= 0 and (is_blank or _is_apart(boxes[index - 1], boxes[index])):
            yield start, index
            start = -1
        if start < 0 and not is_blank:
            start = index
    if start >= 0:
        yield start, len(written)


def _is_apart(before: Box, here: Box) -> bool:
    """Whether two neighbouring characters belong to two words though no space is written."""
    left, bottom, right, top = before
    if left <= here[0] < right + _NEAR and bottom == here[1]:
        return False  # as nearly always
    height = max(min(top - bottom, right - left + 8), 4)
    beside = max(here[0] - right, left - here[2])
    above = max(here[1] - top, bottom - here[3])
    return beside > _WORD_GAP * height or above > _WORD_GAP * height


def _turn(characters: Characters, boxes: Sequence[Box], start: int, end: int) -> int:
    """0 for upright words, 1 for those that read upwards, -1 for those that read downwards."""
    angle = characters.angle(start)
    if abs(math.sin(angle)) < 0.7:
        return 0
    if end - start > 1:
        return 1 if boxes[end - 1][1] > boxes[start][1] else -1
    return -1 if math.sin(angle) > 0 else 1


def _turned(box: Box, turn: int) -> Box:
    left, bottom, right, top = box
    if turn == 1:
        return bottom, -right, top, -left
    return (-top, left, -bottom, right) if turn else box


def _word(written: str, boxes: Sequence[Box], start: int, end: int, turn: int) -> Word:
    placed = boxes[start:end]
    if turn:
        placed = [_turned(box, turn) for box in placed]
    tallest = max(placed, key=lambda box: box[3] - box[1])
    return Word(
        written[start:end],
        min(box[0] for box in placed),
        tallest[1],
        max(box[2] for box in placed),
        tallest[3],
        start,
        end,
    )


def _drawn(page: Any) -> Iterator[Box]:
    """The straight lines that are drawn on a page along its edges, and the edges of fields."""
    import pypdfium2.raw as pdfium

    work = _MOST_OBJECTS
    for thing in page.get_objects(max_depth=_DEEP):
        work -= 1
        if work < 0:
            return
        if thing.type not in (pdfium.FPDF_PAGEOBJ_PATH, pdfium.FPDF_PAGEOBJ_IMAGE):
            continue
        box: Box = thing.get_bounds()
        if min(box[2] - box[0], box[3] - box[1]) < _THIN:
            parts = [box]
        elif thing.type == pdfium.FPDF_PAGEOBJ_PATH:
            parts = list(_sides(thing, pdfium))
            work -= len(parts)
        else:
            continue
        yield from (part for part in parts if _is_straight(part))


def _sides(path: Any, pdfium: Any) -> Iterator[Box]:
    """The straight lines of a path."""
    count = pdfium.FPDFPath_CountSegments(path.raw)
    if count > _MOST_SEGMENTS:  # a curve
        return
    matrix = path.get_matrix()
    x, y = ctypes.c_float(), ctypes.c_float()
    first = last = (0.0, 0.0)
    for at in range(count):
        segment = pdfium.FPDFPath_GetPathSegment(path.raw, at)
        pdfium.FPDFPathSegment_GetPoint(segment, ctypes.byref(x), ctypes.byref(y))
        point = matrix.on_point(x.value, y.value)
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            first = point
        elif kind == pdfium.FPDF_SEGMENT_LINETO:
            yield _between(last, point)
        last = point
        if pdfium.FPDFPathSegment_GetClose(segment):
            yield _between(last, first)


def _between(a: tuple[float, float], b: tuple[float, float]) -> Box:
    return min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])


def _is_straight(box: Box) -> bool:
    """Whether a box is a line along the page's edges, and longer than a letter's."""
    wide, high = box[2] - box[0], box[3] - box[1]
    return min(wide, high) < _THIN and max(wide, high) >= _SHORT


def _rule(box: Box) -> Rule:
    left, bottom, right, top = box
    if right - left >= top - bottom:
        return Rule(left, (bottom + top) / 2, right, (bottom + top) / 2)
    return Rule((left + right) / 2, bottom, (left + right) / 2, top)
