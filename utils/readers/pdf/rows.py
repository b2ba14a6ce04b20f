"""Split the lines in a table's area into pieces, from which rows and columns are made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .rules import RuleLine, merge_horizontal_rules
from .words import PdfWord, UprightSheet

_SAME_LINE = 0.36  # of the height: how far the middles of words of one line are apart at most
_CELL_GAP = 0.62  # of the height: a wider gap may part two cells
_SPLIT = 0.42  # of the height: a gap that parts cells where other lines show a column's end
FULL = 0.93  # of the table's width: a rule through all columns
MOST_COLUMNS = 60
_JOINT = 2.0  # points: how far apart the rules of neighbouring cells are
_EDGE = 3.0  # points: how far rules go beyond their table's box
_PROSE = 0.75  # of the width: lines as long as this without a gap are text
_PROSE_LINES = 3


@dataclass(frozen=True, slots=True)
class TableArea:
    """The area of a table: its box, and the words and rules inside.

    ``joints`` are the positions at which horizontal rules consist of shorter ones, cell by cell.
    """

    left: float
    bottom: float
    right: float
    top: float
    words: tuple[PdfWord, ...]
    rules: tuple[RuleLine, ...]
    joints: tuple[float, ...] = ()


@dataclass(slots=True)
class WordRow:
    """Words at one height, in pieces separated by wide gaps."""

    pieces: list[list[PdfWord]]
    middle: float
    size: float

    @property
    def words(self) -> list[PdfWord]:
        """All words from left to right."""
        return [word for piece in self.pieces for word in piece]

    @property
    def top(self) -> float:
        """The upper edge in points."""
        return self.middle + self.size / 2

    @property
    def bottom(self) -> float:
        """The lower edge in points."""
        return self.middle - self.size / 2


Cells = list[list[list[PdfWord]]]  # column by column the lines of a cell


def group_words_into_rows(words: Iterable[PdfWord]) -> list[WordRow]:
    """Return words grouped by height, from the top, each row from left to right."""
    lines: list[list[PdfWord]] = []
    tallest: PdfWord | None = None
    for word in sorted(words, key=lambda word: -(word.bottom + word.top)):
        middle = (word.bottom + word.top) / 2
        within = _SAME_LINE * max(tallest.size, word.size) if tallest else 0.0
        if tallest and abs((tallest.bottom + tallest.top) / 2 - middle) <= within:
            lines[-1].append(word)
            tallest = max(tallest, word, key=lambda one: one.size)
        else:
            lines.append([word])
            tallest = word
    return [_build_row_from_words(line) for line in lines]


def _build_row_from_words(words: list[PdfWord]) -> WordRow:
    words.sort(key=lambda word: word.left)
    tallest = max(words, key=lambda word: word.size)
    pieces = [[words[0]]]
    for word in words[1:]:
        if (
            word.left - max(previous.right for previous in pieces[-1][-3:])
            > _CELL_GAP * tallest.size
        ):
            pieces.append([])
        pieces[-1].append(word)
    return WordRow(pieces, (tallest.bottom + tallest.top) / 2, tallest.size)


def get_right_edge(piece: list[PdfWord]) -> float:
    """Return the right edge of a piece."""
    return max(word.right for word in piece)


def split_piece_at_border(
    piece: list[PdfWord], cuts: Sequence[float], size: float
) -> Iterator[list[PdfWord]]:
    """Yield a piece; two parts if a column border is in one of its gaps."""
    part = [piece[0]]
    for before, word in pairwise(piece):
        gap = word.left - before.right
        ends = any(before.right - 1 <= cut <= word.left + 1 for cut in cuts)
        if ends and gap > _SPLIT * size:
            yield part
            part = []
        part.append(word)
    yield part


def find_column_index(part: list[PdfWord], cuts: Sequence[float]) -> int:
    """Return the index of the column that contains most of the words."""
    edges = [float("-inf"), *cuts, float("inf")]
    start, end = part[0].left, get_right_edge(part)
    shared = [min(end, b) - max(start, a) for a, b in pairwise(edges)]
    return shared.index(max(shared))


def build_area_from_box(sheet: UprightSheet, box: RuleLine) -> TableArea | None:
    """Return the words and rules in a box as a table area; None without words."""
    words = tuple(
        word
        for word in sheet.words
        if box.left <= word.horizontal_middle <= box.right
        and box.bottom < get_vertical_middle(word) < box.top
    )
    return build_table_area(sheet, box, words) if words else None


def build_table_area(sheet: UprightSheet, box: RuleLine, words: tuple[PdfWord, ...]) -> TableArea:
    """Return an area with these words and the rules inside its box."""
    flat = [rule for rule in sheet.rules if rule.is_horizontal and _is_rule_inside(rule, box)]
    upright = (
        rule for rule in sheet.rules if not rule.is_horizontal and _is_rule_inside(rule, box)
    )
    flat.sort(key=lambda rule: (round(rule.top), rule.left))
    joints = {
        round((a.right + b.left) / 2)
        for a, b in pairwise(flat)
        if abs(a.top - b.top) < 1 and abs(a.right - b.left) < _JOINT
    }
    rules = (*merge_horizontal_rules(flat), *upright)
    return TableArea(box.left, box.bottom, box.right, box.top, words, rules, tuple(sorted(joints)))


def _is_rule_inside(rule: RuleLine, box: RuleLine) -> bool:
    return (
        rule.left > box.left - _EDGE
        and rule.right < box.right + _EDGE
        and rule.bottom > box.bottom - _EDGE
        and rule.top < box.top + _EDGE
    )


def get_vertical_middle(word: PdfWord) -> float:
    """Return the height of a word's middle in points, measured from below."""
    return (word.bottom + word.top) / 2


def are_prose_rows(rows: list[WordRow], width: float) -> bool:
    """Return whether rows are running text: several long rows without a gap."""
    run = 0
    for row in rows:
        filled = sum(max(w.right for w in piece) - piece[0].left for piece in row.pieces)
        run = run + 1 if filled > _PROSE * width and len(row.pieces) < 3 else 0
        if run >= _PROSE_LINES:
            return True
    return False
