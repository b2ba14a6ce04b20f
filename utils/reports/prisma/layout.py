"""Where boxes, bars and arrows of the flow stand: made once, drawn as SVG, PNG or PPTX.

As in the official templates: stages at the left edge, previous studies beside them, then databases
and registers, then other methods; what remains goes down, what leaves goes right. Lengths are
pixels of the SVG. Lines are broken by the widths of Helvetica's letters, in
thousandths of the type size (Adobe's metrics, which Arial and Liberation Sans share); a reserve
allows for a wider substitute font.

No library saves anything here: drawsvg, which writes tags, takes 49 lines for our 46, and leaves
the layout to us; Graphviz, which lays out, is no Python package, and breaks no lines. Figures:
quality/benchmarks/README.md.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ...system.plain_text import clean_text
from .flow import AUTOMATION_NOTE, IDENTIFIED_NOTE, SOURCE, STAGES, TO_FILL, Box, Column, Flow

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
_WIDTH = {letter: width for width, letters in _LETTER_WIDTHS.items() for letter in letters}
_BOLD = 1.06
_RESERVE = 1.1
SIZE, SMALL = 13, 11
LINE, SMALL_LINE = 18, 15
PAD = 11
ITALIC = "before screening"
"""Words that the templates set in italics."""
INDENT = 12
_GAP = 28  # between rows: room for an arrow
_TITLE_BAR = 38
_STAGE_BAR = 30
_MARGIN = 12
_WIDTHS: dict[Column, int] = {
    "previous": 208,
    "main": 240,
    "removed": 280,
    "other": 228,
    "other_removed": 228,
}
_AISLE = 38  # between columns
_GREY: frozenset[Column] = frozenset({"previous", "other", "other_removed"})
Style = Literal["text", "hint", "note"]
Look = Literal["main", "grey", "stage"]
Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text, ``y`` its base line."""

    text: str
    x: float
    y: float
    style: Style = "text"


@dataclass(frozen=True, slots=True)
class PlacedBox:
    """A box in its place."""

    box: Box
    x: float
    y: float
    width: float
    height: float
    lines: tuple[Line, ...]

    @property
    def grey(self) -> bool:
        """Whether the template has it in grey: only to be completed if applicable."""
        return self.box.column in _GREY

    @property
    def middle(self) -> tuple[float, float]:
        """Its centre."""
        return self.x + self.width / 2, self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class Bar:
    """A title above columns, or a stage beside rows, then turned."""

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
class Drawing:
    """All there is to draw."""

    width: float
    height: float
    boxes: tuple[PlacedBox, ...]
    bars: tuple[Bar, ...]
    arrows: tuple[Arrow, ...]
    notes: tuple[Line, ...]


def laid_out(flow: Flow) -> Drawing:
    """The flow with everything in its place."""
    lefts = _lefts(flow)
    top = _MARGIN + _TITLE_BAR + 16.0
    boxes: list[PlacedBox] = []
    spans: dict[str, tuple[float, float]] = {}
    rows = max(box.place for box in flow.boxes) + 1
    for row in range(rows):
        members = [box for box in flow.boxes if box.place == row]
        height = max(_height(box) for box in members)
        stage = members[-1].stage
        if stage == "Included" and row == rows - 1:  # a stage of one low row holds its name
            height = max(height, text_width(stage, SIZE, bold=True) + 8)
        boxes += [_placed(box, lefts[box.column], top, height) for box in members]
        spans[stage] = (spans.get(stage, (top, top))[0], top + height)
        top += height + _GAP
    right = max(box.x + box.width for box in boxes)
    notes = tuple(_notes(flow, lefts["main"], top, right))
    return Drawing(
        right + _MARGIN,
        notes[-1].y + _MARGIN,
        tuple(boxes),
        tuple(_bars(flow, lefts, spans)),
        tuple(_arrows({one.box.name: one for one in boxes})),
        notes,
    )


def _lefts(flow: Flow) -> dict[Column, float]:
    """Where the columns begin."""
    columns: list[Column] = ["previous"] if flow.updated else []
    columns += ["main", "removed"]
    columns += ["other", "other_removed"] if flow.other else []
    lefts: dict[Column, float] = {}
    left = float(_MARGIN + _STAGE_BAR + 14)
    for column in columns:
        lefts[column] = left
        left += _WIDTHS[column] + _AISLE
    return lefts


def _placed(box: Box, x: float, top: float, row_height: float) -> PlacedBox:
    """A box in its row, in the middle of its height."""
    height = _height(box)
    y = top + (row_height - height) / 2
    lines = []
    base = y + PAD + SIZE - 2
    for text, indent, style in _broken(box):
        lines.append(Line(text, x + PAD + indent, base, style))
        base += LINE
    return PlacedBox(box, x, y, _WIDTHS[box.column], height, tuple(lines))


def _height(box: Box) -> float:
    return 2 * PAD + LINE * len(_broken(box)) - (LINE - SIZE)


def _broken(box: Box) -> list[tuple[str, float, Style]]:
    """The lines of a box, broken to its width."""
    room = _WIDTHS[box.column] - 2 * PAD
    made: list[tuple[str, float, Style]] = []
    for text, level in box.paragraphs:
        indent = INDENT * level
        whole = clean_text(text).replace(ITALIC, ITALIC.replace(" ", "\xa0"))
        made += [(line, indent, "text") for line in wrapped(whole, room - indent, SIZE)]
    if not box.known:
        made += [(line, 0, "hint") for line in wrapped(TO_FILL, room, SMALL)]
    return made


def _bars(
    flow: Flow, lefts: dict[Column, float], spans: dict[str, tuple[float, float]]
) -> Iterator[Bar]:
    over: dict[Column, Column] = {"previous": "previous", "main": "removed"}
    for column, title in flow.titles.items():
        last = over.get(column, "other_removed")
        width = lefts[last] + _WIDTHS[last] - lefts[column]
        look: Look = "main" if column == "main" else "grey"
        yield Bar(title, lefts[column], _MARGIN, width, _TITLE_BAR, look)
    for stage in STAGES:
        top, bottom = spans[stage]
        yield Bar(stage, _MARGIN, top, _STAGE_BAR, bottom - top, "stage")


def _arrows(boxes: dict[str, PlacedBox]) -> Iterator[Arrow]:
    for name, one in boxes.items():
        for target in one.box.feeds:
            yield Arrow(name, target, _way(one, boxes[target]))


def _way(one: PlacedBox, other: PlacedBox) -> Points:
    """The points of an arrow: straight on, or down and then to the side."""
    (x, y), (x2, y2) = one.middle, other.middle
    if one.box.place == other.box.place:
        return ((one.x + one.width, y), (other.x, y2))
    if one.box.column == other.box.column:
        return ((x, one.y + one.height), (x2, other.y))
    side = other.x if x < x2 else other.x + other.width
    return ((x, one.y + one.height), (x, y2), (side, y2))


def _notes(flow: Flow, left: float, top: float, right: float) -> Iterator[Line]:
    """The template's footnotes, what must be known of the numbers, and the source."""
    y = top - _GAP + 22
    remarks = [f"Note: {clean_text(remark)}" for remark in flow.remarks]
    for note in (IDENTIFIED_NOTE, AUTOMATION_NOTE, *remarks, SOURCE):
        for line in wrapped(note, right - left, SMALL):
            yield Line(line, left, y, "note")
            y += SMALL_LINE
        y += 3


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """The width of *text* in the unit of *size*, rather too much than too little."""
    return _in_units(_word_width(text), size, bold)


def wrapped(text: str, room: float, size: float, *, bold: bool = False) -> list[str]:
    """*text* in lines of at most *room*; only a word wider than that is broken inside.

    >>> wrapped("Reports not retrieved (n = 12)", 140, 14)
    ['Reports not', 'retrieved (n = 12)']
    """
    lines, width = [""], 0
    # "(n = 12)" belongs together.
    for word in text.replace("(n = ", "(n\xa0=\xa0").split(" "):
        whole = _in_units(_word_width(word), size, bold) <= room
        for piece in [word] if whole else _pieces(word, room, size, bold):
            longer = width + _WIDTH[" "] + _word_width(piece)
            if not lines[-1]:
                lines[-1], width = piece, _word_width(piece)
            elif _in_units(longer, size, bold) > room:
                lines.append(piece)
                width = _word_width(piece)
            else:
                lines[-1], width = f"{lines[-1]} {piece}", longer
    return [line.replace("\xa0", " ") for line in lines]


def _pieces(word: str, room: float, size: float, bold: bool) -> list[str]:
    pieces, width = [""], 0
    for letter in word:
        width += _letter_width(letter)
        if pieces[-1] and _in_units(width, size, bold) > room:
            pieces.append("")
            width = _letter_width(letter)
        pieces[-1] += letter
    return pieces


@lru_cache(maxsize=1000)  # a drawing lays the same words out for two widths, and twice for each
def _word_width(word: str) -> int:
    """The width of a word in thousandths of the type size."""
    return sum(map(_letter_width, word))


def _in_units(thousandths: int, size: float, bold: bool) -> float:
    return thousandths / 1000 * size * _RESERVE * (_BOLD if bold else 1)


def _letter_width(letter: str) -> int:
    if letter in _WIDTH:
        return _WIDTH[letter]
    if unicodedata.combining(letter):
        return 0
    return 1000 if unicodedata.east_asian_width(letter) in "WF" or letter == "\u2003" else 620
