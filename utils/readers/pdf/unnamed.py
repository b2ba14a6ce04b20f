"""Find tables without a caption: in grids, in continued boxes, in aligned columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from .frames import find_drawn_boxes
from .notes import has_continued_line
from .rows import (
    TableArea,
    WordRow,
    are_prose_rows,
    build_area_from_box,
    get_vertical_middle,
    group_words_into_rows,
)
from .rules import RuleLine
from .words import PdfWord, UprightSheet

_ROWS = 3  # of cells at least
_LINES = 5  # without rules, fewer lines in columns may be anything
_CELLS = 3  # a line in columns has at least
_NEAR = 2.4  # heights: how far such lines are apart at most
_FAR = 40.0  # heights: as far below a picture its caption may stand, with no text between
_TWICE = 0.1  # of the words: more are drawn twice only in pictures
_WORDS = 5  # of a line of text at least
_TEXT = 0.4  # of the rows: so many lines of text are not names
_NOTHING = frozenset("-\u2212\u2013\u2014")
_NUMBER = re.compile(r"[-\u2212\u2013\u2014]$|[-\u2212\u2013<>\u2264\u2265~=+\xb1(]?\s?[.\d]")


def iterate_uncaptioned_areas(
    sheet: UprightSheet, framed: Sequence[TableArea], figures: Sequence[PdfWord]
) -> Iterator[TableArea]:
    """Yield areas of tables without captions, the surest first."""
    if any("ontinue" in word.text for word in sheet.words):
        boxed = (build_area_from_box(sheet, box) for box in find_drawn_boxes(sheet.rules))
        yield from (area for area in boxed if area and has_continued_line(area))
    for area in framed:
        if not _is_figure_area(sheet, area, figures) and _is_framed_table(sheet, area):
            yield area


def iterate_column_areas(
    sheet: UprightSheet, taken: set[int], figures: Sequence[PdfWord]
) -> Iterator[TableArea]:
    """Yield areas of lines in columns, mostly numbers, outside all tables and figures."""
    rows = group_words_into_rows(word for word in sheet.words if word.start not in taken)
    start = 0
    while start < len(rows):
        end = start
        while (
            end < len(rows)
            and _is_row_of_cells(rows[end])
            and _is_near_previous_row(rows, start, end)
        ):
            end += 1
        if end - start < _LINES:
            start = max(end, start + 1)
            continue
        while (
            start
            and len(rows[start - 1].pieces) > 1
            and _is_near_previous_row(rows, start - 1, start)
        ):
            start -= 1
        while (
            end < len(rows)
            and len(rows[end].pieces) > 1
            and _is_near_previous_row(rows, start, end)
        ):
            end += 1
        words = [word for row in rows[start:end] for word in row.words]
        left, right = min(word.left for word in words), max(word.right for word in words)
        area = build_area_from_box(
            sheet, RuleLine(left, rows[end - 1].bottom, right, rows[start].top)
        )
        if area and not _is_figure_area(sheet, area, figures):
            yield area
        start = end


def _is_near_previous_row(rows: list[WordRow], first: int, at: int) -> bool:
    """Return whether a row is as near to the one before as lines of a table are."""
    return at == first or rows[at - 1].middle - rows[at].middle < _NEAR * rows[at].size


def _is_row_of_cells(row: WordRow) -> bool:
    texts = [piece[0].text for piece in row.pieces]
    numbers = sum(bool(_NUMBER.match(text)) for text in texts)
    telling = [text for text in texts if text not in _NOTHING]
    is_varied = len(set(telling)) == len(telling) > 1
    return len(texts) >= _CELLS and 2 * numbers >= len(texts) and is_varied


def has_running_text(area: TableArea) -> bool:
    """Return whether lines in columns are mixed with running text."""
    rows = group_words_into_rows(area.words)
    long = sum(len(piece) >= _WORDS for row in rows for piece in row.pieces)
    return long > _TEXT * len(rows)


def _is_figure_area(sheet: UprightSheet, area: TableArea, figures: Sequence[PdfWord]) -> bool:
    """Return whether words are drawn twice, or a caption below names a figure."""
    places = Counter((word.text, round(word.left), round(word.bottom)) for word in area.words)
    if sum(count - 1 for count in places.values()) > _TWICE * len(area.words):
        return True
    return any(
        -1 < area.bottom - word.top < _FAR * word.size
        and area.left - word.size < word.right < area.right + word.size
        and not _is_separated_from_caption(sheet, area, word)
        for word in figures
    )


def _is_separated_from_caption(sheet: UprightSheet, area: TableArea, caption: PdfWord) -> bool:
    """Return whether text is between an area of cells and a caption below it."""
    between = [
        word
        for word in sheet.words
        if area.left < word.horizontal_middle < area.right
        and caption.top < get_vertical_middle(word) < area.bottom
    ]
    return are_prose_rows(group_words_into_rows(between), area.right - area.left)


def _is_framed_table(sheet: UprightSheet, area: TableArea) -> bool:
    """Return whether a frame without a caption contains all rows of cells near it."""
    rows = group_words_into_rows(area.words)
    near = 1.5 * rows[0].size
    inside = frozenset(area.words)
    outside = [
        word
        for word in sheet.words
        if area.left < word.horizontal_middle < area.right
        and area.bottom - near < get_vertical_middle(word) < area.top + near
        and word not in inside
    ]
    beside = any(len(row.pieces) > 2 for row in group_words_into_rows(outside))
    return len(rows) >= _ROWS and not beside and not are_prose_rows(rows, area.right - area.left)
