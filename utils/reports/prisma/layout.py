"""Compute the positions of the flow's boxes, bars and arrows, for SVG, PNG and PPTX alike.

The layout follows the official templates. From left to right: stages, previous studies, databases
and registers, other methods. Remaining records flow down, removed records to the right. Lengths are
pixels of the SVG. Text is wrapped by the widths of Helvetica's letters, in thousandths of the type
size (Adobe's metrics, which Arial and Liberation Sans share); a reserve allows for a wider
substitute font.

No library would shorten this code. drawsvg, which writes tags, takes 49 lines for our 46 and leaves
the layout to us. Graphviz, which computes layouts, is not a Python package and does not wrap text.
Measurements: quality/benchmarks/README.md.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ...system.plain_text import clean_text
from .flow import (
    AUTOMATION_NOTE,
    IDENTIFIED_NOTE,
    SOURCE_NOTE,
    STAGES,
    TO_FILL,
    Column,
    FlowBox,
    PrismaFlow,
)

_LETTER_WIDTHS = {
    222: "ijl'",
    278: " !,./:;ftI[]\\|",
    333: '()-r`"',
    389: "*",
    500: "csvxyzkJ",
    556: "abdeghnopqu0123456789?_#$L",
    584: "+<>=~^",
    611: "FTZ",
    667: "ABEKPSVXY&",
    722: "CDHNRUw",
    778: "GOQ",
    833: "mM",
    889: "%",
    944: "W",
    1015: "@",
}
_LETTER_WIDTH = {letter: width for width, letters in _LETTER_WIDTHS.items() for letter in letters}
_BOLD_RATIO = 1.06
_WIDTH_RESERVE_RATIO = 1.1
SIZE, SMALL_SIZE = 13, 11
LINE_HEIGHT, SMALL_LINE_HEIGHT = 18, 15
PAD = 11
ITALIC = "before screening"
"""Words that the templates set in italics."""
INDENT = 12
_GAP = 28  # between rows: room for an arrow
_TITLE_BAR = 38
_STAGE_BAR = 30
_MARGIN = 12
_COLUMN_WIDTHS: dict[Column, int] = {
    "previous": 208,
    "main": 240,
    "removed": 280,
    "other": 228,
    "other_removed": 228,
}
_AISLE = 38  # between columns
_GREY_COLUMNS: frozenset[Column] = frozenset({"previous", "other", "other_removed"})
Style = Literal["text", "hint", "note"]
Look = Literal["main", "grey", "stage"]
Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line of text; ``y`` is its baseline."""

    text: str
    x: float
    y: float
    style: Style = "text"


@dataclass(frozen=True, slots=True)
class PlacedBox:
    """A box with its position and lines."""

    box: FlowBox
    x: float
    y: float
    width: float
    height: float
    lines: tuple[TextLine, ...]

    @property
    def is_grey(self) -> bool:
        """True for boxes that the template shows in grey; these apply only to some reviews."""
        return self.box.column in _GREY_COLUMNS

    @property
    def middle(self) -> tuple[float, float]:
        """The centre of the box."""
        return self.x + self.width / 2, self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class TitleBar:
    """A title above columns, or a stage's rotated title next to its rows."""

    text: str
    x: float
    y: float
    width: float
    height: float
    look: Look


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow from one box to another; its head is at the last point."""

    start: str
    end: str
    points: Points


@dataclass(frozen=True, slots=True)
class DrawingLayout:
    """All positioned parts of the diagram."""

    width: float
    height: float
    boxes: tuple[PlacedBox, ...]
    bars: tuple[TitleBar, ...]
    arrows: tuple[Arrow, ...]
    notes: tuple[TextLine, ...]


def compute_layout(flow: PrismaFlow) -> DrawingLayout:
    """Return the position of every part of the flow."""
    lefts = _compute_column_lefts(flow)
    top = _MARGIN + _TITLE_BAR + 16.0
    boxes: list[PlacedBox] = []
    spans: dict[str, tuple[float, float]] = {}
    rows = max(box.place for box in flow.boxes) + 1
    for row in range(rows):
        members = [box for box in flow.boxes if box.place == row]
        height = max(_compute_box_height(box) for box in members)
        stage = members[-1].stage
        if (
            stage == "Included" and row == rows - 1
        ):  # a stage of one low row must have room for its name
            height = max(height, measure_text_width(stage, SIZE, bold=True) + 8)
        boxes += [_place_box(box, lefts[box.column], top, height) for box in members]
        spans[stage] = (spans.get(stage, (top, top))[0], top + height)
        top += height + _GAP
    right = max(box.x + box.width for box in boxes)
    notes = tuple(_place_notes(flow, lefts["main"], top, right))
    return DrawingLayout(
        right + _MARGIN,
        notes[-1].y + _MARGIN,
        tuple(boxes),
        tuple(_place_bars(flow, lefts, spans)),
        tuple(_place_arrows({box.box.name: box for box in boxes})),
        notes,
    )


def _compute_column_lefts(flow: PrismaFlow) -> dict[Column, float]:
    """Return the left edge of each column."""
    columns: list[Column] = ["previous"] if flow.updated else []
    columns += ["main", "removed"]
    columns += ["other", "other_removed"] if flow.other else []
    lefts: dict[Column, float] = {}
    left = float(_MARGIN + _STAGE_BAR + 14)
    for column in columns:
        lefts[column] = left
        left += _COLUMN_WIDTHS[column] + _AISLE
    return lefts


def _place_box(box: FlowBox, x: float, top: float, row_height: float) -> PlacedBox:
    """Return a box positioned in its row, vertically centred."""
    height = _compute_box_height(box)
    y = top + (row_height - height) / 2
    lines = []
    base = y + PAD + SIZE - 2
    for text, indent, style in _wrap_box(box):
        lines.append(TextLine(text, x + PAD + indent, base, style))
        base += LINE_HEIGHT
    return PlacedBox(box, x, y, _COLUMN_WIDTHS[box.column], height, tuple(lines))


def _compute_box_height(box: FlowBox) -> float:
    return 2 * PAD + LINE_HEIGHT * len(_wrap_box(box)) - (LINE_HEIGHT - SIZE)


def _wrap_box(box: FlowBox) -> list[tuple[str, float, Style]]:
    """Return the lines of a box, wrapped to its width."""
    room = _COLUMN_WIDTHS[box.column] - 2 * PAD
    made: list[tuple[str, float, Style]] = []
    for text, level in box.paragraphs:
        indent = INDENT * level
        whole = clean_text(text).replace(ITALIC, ITALIC.replace(" ", "\xa0"))
        made += [(line, indent, "text") for line in wrap_text(whole, room - indent, SIZE)]
    if not box.is_complete:
        made += [(line, 0, "hint") for line in wrap_text(TO_FILL, room, SMALL_SIZE)]
    return made


def _place_bars(
    flow: PrismaFlow, lefts: dict[Column, float], spans: dict[str, tuple[float, float]]
) -> Iterator[TitleBar]:
    over: dict[Column, Column] = {"previous": "previous", "main": "removed"}
    for column, title in flow.titles.items():
        last = over.get(column, "other_removed")
        width = lefts[last] + _COLUMN_WIDTHS[last] - lefts[column]
        look: Look = "main" if column == "main" else "grey"
        yield TitleBar(title, lefts[column], _MARGIN, width, _TITLE_BAR, look)
    for stage in STAGES:
        top, bottom = spans[stage]
        yield TitleBar(stage, _MARGIN, top, _STAGE_BAR, bottom - top, "stage")


def _place_arrows(boxes: dict[str, PlacedBox]) -> Iterator[Arrow]:
    for name, one in boxes.items():
        for target in one.box.feeds:
            yield Arrow(name, target, _compute_arrow_points(one, boxes[target]))


def _compute_arrow_points(one: PlacedBox, other: PlacedBox) -> Points:
    """Return the points of an arrow: straight, or down and then sideways."""
    (x, y), (x2, y2) = one.middle, other.middle
    if one.box.place == other.box.place:
        return ((one.x + one.width, y), (other.x, y2))
    if one.box.column == other.box.column:
        return ((x, one.y + one.height), (x2, other.y))
    side = other.x if x < x2 else other.x + other.width
    return ((x, one.y + one.height), (x, y2), (side, y2))


def _place_notes(flow: PrismaFlow, left: float, top: float, right: float) -> Iterator[TextLine]:
    """Yield the template's footnotes, the remarks on the numbers, and the source."""
    y = top - _GAP + 22
    remarks = [f"Note: {clean_text(remark)}" for remark in flow.remarks]
    for note in (IDENTIFIED_NOTE, AUTOMATION_NOTE, *remarks, SOURCE_NOTE):
        for line in wrap_text(note, right - left, SMALL_SIZE):
            yield TextLine(line, left, y, "note")
            y += SMALL_LINE_HEIGHT
        y += 3


def measure_text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of *text* in the unit of *size*, rounded up rather than down."""
    return _to_font_size_width(_measure_word(text), size, bold)


def wrap_text(text: str, room: float, size: float, *, bold: bool = False) -> list[str]:
    """Return *text* as lines of at most *room*; only a word wider than a line is split.

    >>> wrap_text("Reports not retrieved (n = 12)", 140, 14)
    ['Reports not', 'retrieved (n = 12)']
    """
    lines, width = [""], 0
    # "(n = 12)" belongs together.
    for word in text.replace("(n = ", "(n\xa0=\xa0").split(" "):
        whole = _to_font_size_width(_measure_word(word), size, bold) <= room
        for piece in [word] if whole else _split_word(word, room, size, bold):
            longer = width + _LETTER_WIDTH[" "] + _measure_word(piece)
            if not lines[-1]:
                lines[-1], width = piece, _measure_word(piece)
            elif _to_font_size_width(longer, size, bold) > room:
                lines.append(piece)
                width = _measure_word(piece)
            else:
                lines[-1], width = f"{lines[-1]} {piece}", longer
    return [line.replace("\xa0", " ") for line in lines]


def _split_word(word: str, room: float, size: float, bold: bool) -> list[str]:
    pieces, width = [""], 0
    for letter in word:
        width += _measure_letter(letter)
        if pieces[-1] and _to_font_size_width(width, size, bold) > room:
            pieces.append("")
            width = _measure_letter(letter)
        pieces[-1] += letter
    return pieces


@lru_cache(maxsize=1000)  # a drawing measures the same words for two widths, twice each
def _measure_word(word: str) -> int:
    """Return the width of a word in thousandths of the type size."""
    return sum(map(_measure_letter, word))


def _to_font_size_width(thousandths: int, size: float, bold: bool) -> float:
    return thousandths / 1000 * size * _WIDTH_RESERVE_RATIO * (_BOLD_RATIO if bold else 1)


def _measure_letter(letter: str) -> int:
    if letter in _LETTER_WIDTH:
        return _LETTER_WIDTH[letter]
    if unicodedata.combining(letter):
        return 0
    return 1000 if unicodedata.east_asian_width(letter) in "WF" or letter == "\u2003" else 620
