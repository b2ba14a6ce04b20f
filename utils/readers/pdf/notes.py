"""Separate the notes below a table from its rows, so that they remain text."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from statistics import median

from .rows import TableArea, WordRow, get_right_edge, group_words_into_rows

CONTINUES = re.compile(  # what only says that a table goes on, or went before
    r"\W*(?:table\s?\w{1,4}\W{0,3})?continue[sd](?:\s(?:on|from|in|overleaf)\b.{0,30})?\W*", re.I
)
_MARK = re.compile(r"[*\u2020\u2021\xa7\xb6#\u2016]{1,3}|\(?[a-z1-9][).]?")
_NOTE = re.compile(
    r"[*\u2020\u2021\xa7\xb6\u2016]|[a-z](?:[A-Z<>]|[ )]\s?[A-Z<>\d])|\(?[a-z1-9]\)\s?\w"
    r"|(?:Foot)?[Nn]otes?\b|NOTE|Abbreviations?\b|Sources?:"
    r"|(?:Data|Values|Results|Numbers) (?:are|in|is|repr)"
)
_LONG = 0.6  # of the width: longer lines without a gap are not names of groups
_FAR = 1.8  # of the usual distance of rows
_SMALL = 0.94  # of the size of the other rows


def remove_table_notes(area: TableArea) -> TableArea:
    """Return the area down to its last table row, without "continued" lines."""
    rows = group_words_into_rows(area.words)
    note_words = {
        word
        for row in rows
        if CONTINUES.fullmatch(_join_first_pieces(row, 2))
        for word in row.words
    }
    if note_words:
        area = replace(area, words=tuple(word for word in area.words if word not in note_words))
        rows = group_words_into_rows(area.words)
    single = len(rows)
    while single and _is_row_without_gap(rows[single - 1]):
        single -= 1
    if single < 2:
        return area
    size = median(row.size for row in rows[:single])
    wide = _LONG * (area.right - area.left)
    far = _FAR * median(a.middle - b.middle for a, b in pairwise(rows[:single]))
    first = next(
        (
            at
            for at in range(single, len(rows))
            if _is_note_row(rows[at], size, wide) or rows[at - 1].middle - rows[at].middle > far
        ),
        None,
    )
    if first is None or 3 * first < len(rows):
        return area
    noted = {word for row in rows[first:] for word in row.words}
    words = tuple(word for word in area.words if word not in noted)
    return replace(area, words=words, bottom=max(area.bottom, rows[first].top))


def has_continued_line(area: TableArea) -> bool:
    """Return whether a line states that the table continues elsewhere."""
    return any(
        CONTINUES.fullmatch(_join_first_pieces(row, 2)) for row in group_words_into_rows(area.words)
    )


def _is_row_without_gap(row: WordRow) -> bool:
    """Return whether a row is one line without a gap, except after the mark of a note."""
    return len(row.pieces) == 1 or (
        len(row.pieces) == 2 and bool(_MARK.fullmatch(_join_first_pieces(row, 1)))
    )


def _join_first_pieces(row: WordRow, count: int) -> str:
    return " ".join(word.text for piece in row.pieces[:count] for word in piece)


def _is_note_row(row: WordRow, size: float, wide: float) -> bool:
    return (
        get_right_edge(row.pieces[-1]) - row.pieces[0][0].left > wide
        or row.size < _SMALL * size
        or bool(_NOTE.match(_join_first_pieces(row, 2)))
    )
