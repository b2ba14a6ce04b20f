"""Decide whether a table rebuilt from a PDF is plausible, and whether it is doubtful."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from .rows import Cells
from .words import PdfWord

_MOST_LETTERS = 400  # of a cell on average; paragraphs in columns are not a table
_OFTEN = 0.2  # of a column's numbers: so many beside another are of two columns
_LEAST = 2  # cells that look wrong; one may be an oddity
_NUMBER = re.compile(r"[-\u2212\u2013<>\u2264\u2265]?\d+(?:[.,\xb7]\d+)?%?")
_HUNDREDS = re.compile(r"\d{3}(?:[.,]\d+)?")


def is_plausible_table(cells: list[Cells]) -> bool:
    """Return whether cells look like a table: several in most rows, and none as long as a page."""
    filled = [sum(bool(cell) for cell in row) for row in cells]
    letters = sum(len(w.text) for row in cells for cell in row for line in cell for w in line)
    several = sum(count > 1 for count in filled)
    return (
        len(cells) > 1
        and several >= max(2, 0.4 * len(cells))
        and letters <= _MOST_LETTERS * sum(filled)
    )


def is_doubtful_table(cells: list[Cells]) -> bool:
    """Return whether columns or rows may be merged: two numbers where other cells have one."""
    body = cells[1:]
    for column in zip(*body, strict=True):
        counts = [max(map(_count_adjacent_numbers, cell), default=0) for cell in column]
        double = sum(count > 1 for count in counts)
        if double >= _LEAST and double > _OFTEN * sum(count > 0 for count in counts):
            return True
    heaped = sum(sum(_has_numbers_in_many_lines(cell) for cell in row) > 1 for row in body)
    return heaped >= _LEAST and heaped > _OFTEN * len(body)


def _count_adjacent_numbers(line: list[PdfWord]) -> int:
    """Return the number of directly adjacent numbers; *1 234* counts as one."""
    most = 0
    for run in _iterate_number_runs([word.text for word in line]):
        most = max(most, 1 + sum(not _HUNDREDS.fullmatch(after) for _, after in pairwise(run)))
    return most


def _iterate_number_runs(words: list[str]) -> Iterator[list[str]]:
    """Yield runs of adjacent numbers."""
    run: list[str] = []
    for word in [*words, ""]:
        if _NUMBER.fullmatch(word):
            run.append(word)
        elif run:
            yield run
            run = []


def _has_numbers_in_many_lines(cell: list[list[PdfWord]]) -> bool:
    """Return whether each of several lines of a cell has a number."""
    return len(cell) > 1 and all(line and _NUMBER.fullmatch(line[0].text) for line in cell)
