"""Tables that no caption names on their page: in grids, in boxes that go on, in columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from .frames import find_boxes
from .notes import is_continued
from .rows import Area, Row, get_middle, group_rows, is_prose, make_area
from .rules import Rule
from .words import Sheet, Word

_ROWS = 3  # of cells at least
_LINES = 5  # without rules, fewer lines in columns may be anything
_CELLS = 3  # a line in columns has at least
_NEAR = 2.4  # heights: how far such lines are apart at most
_FAR = 40.0  # heights: as far below a picture its caption may stand, with no text between
_TWICE = 0.1  # of the words: more are drawn twice only in pictures
_WORDS = 5  # of a line of text at least
_TEXT = 0.4  # of the rows: so many lines of text are no names
_NOTHING = frozenset("-\u2212\u2013\u2014")
_NUMBER = re.compile(r"[-\u2212\u2013\u2014]$|[-\u2212\u2013<>\u2264\u2265~=+\xb1(]?\s?[.\d]")


def find_unnamed(sheet: Sheet, framed: Sequence[Area], figures: Sequence[Word]) -> Iterator[Area]:
    """Yield areas of tables without captions, the surest first; *figures* begin their captions."""
    if any("ontinue" in word.text for word in sheet.words):
        boxed = (make_area(sheet, box) for box in find_boxes(sheet.rules))
        yield from (area for area in boxed if area and is_continued(area))
    for area in framed:
        if not _is_picture(sheet, area, figures) and _is_whole(sheet, area):
            yield area


def find_columns(sheet: Sheet, taken: set[int], figures: Sequence[Word]) -> Iterator[Area]:
    """Yield lines in columns, most of them numbers, outside all tables and figures."""
    rows = group_rows(word for word in sheet.words if word.start not in taken)
    start = 0
    while start < len(rows):
        end = start
        while end < len(rows) and _is_of_cells(rows[end]) and _is_near(rows, start, end):
            end += 1
        if end - start < _LINES:
            start = max(end, start + 1)
            continue
        while start and len(rows[start - 1].pieces) > 1 and _is_near(rows, start - 1, start):
            start -= 1
        while end < len(rows) and len(rows[end].pieces) > 1 and _is_near(rows, start, end):
            end += 1
        words = [word for row in rows[start:end] for word in row.words]
        left, right = min(word.left for word in words), max(word.right for word in words)
        area = make_area(sheet, Rule(left, rows[end - 1].bottom, right, rows[start].top))
        if area and not _is_picture(sheet, area, figures):
            yield area
        start = end


def _is_near(rows: list[Row], first: int, at: int) -> bool:
    """Return whether a row is as near to the one before as lines of a table are."""
    return at == first or rows[at - 1].middle - rows[at].middle < _NEAR * rows[at].size


def _is_of_cells(row: Row) -> bool:
    said = [piece[0].text for piece in row.pieces]
    numbers = sum(bool(_NUMBER.match(text)) for text in said)
    telling = [text for text in said if text not in _NOTHING]
    is_varied = len(set(telling)) == len(telling) > 1
    return len(said) >= _CELLS and 2 * numbers >= len(said) and is_varied


def has_text(area: Area) -> bool:
    """Return whether running text is next to or among lines in columns."""
    rows = group_rows(area.words)
    long = sum(len(piece) >= _WORDS for row in rows for piece in row.pieces)
    return long > _TEXT * len(rows)


def _is_picture(sheet: Sheet, area: Area, figures: Sequence[Word]) -> bool:
    """Return whether words are drawn twice, or a caption below names a figure."""
    places = Counter((word.text, round(word.left), round(word.bottom)) for word in area.words)
    if sum(count - 1 for count in places.values()) > _TWICE * len(area.words):
        return True
    return any(
        -1 < area.bottom - word.top < _FAR * word.size
        and area.left - word.size < word.right < area.right + word.size
        and not _is_separated(sheet, area, word)
        for word in figures
    )


def _is_separated(sheet: Sheet, area: Area, caption: Word) -> bool:
    """Return whether text is between a field of cells and a caption below it."""
    between = [
        word
        for word in sheet.words
        if area.left < word.middle < area.right and caption.top < get_middle(word) < area.bottom
    ]
    return is_prose(group_rows(between), area.right - area.left)


def _is_whole(sheet: Sheet, area: Area) -> bool:
    """Return whether rows of cells are all in a frame without a caption."""
    rows = group_rows(area.words)
    near = 1.5 * rows[0].size
    inside = frozenset(area.words)
    outside = [
        word
        for word in sheet.words
        if area.left < word.middle < area.right
        and area.bottom - near < get_middle(word) < area.top + near
        and word not in inside
    ]
    beside = any(len(row.pieces) > 2 for row in group_rows(outside))
    return len(rows) >= _ROWS and not beside and not is_prose(rows, area.right - area.left)
