"""Build the header row of a PDF table: column names, and titles that several columns share.

A title over several columns is repeated in each of them (``Dose / 5 mg``), as for XML tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product, takewhile

from .rows import (
    FULL,
    Cells,
    TableArea,
    WordRow,
    find_column_index,
    get_right_edge,
    split_piece_at_border,
)
from .words import PdfWord

_BESIDE = 12  # columns to each side that a title may span


def build_header_row(rows: list[WordRow], cuts: Sequence[float], area: TableArea) -> Cells:
    """Join all header rows into one: titles over several columns, then column names."""
    columns: list[list[tuple[bool, list[PdfWord]]]] = [[] for _ in range(len(cuts) + 1)]
    for spans in reversed(list(_iterate_header_spans(rows, cuts, area))):
        for covered, part in spans:
            for column in covered:
                columns[column].append((len(covered) > 1, part))
    return [list(_split_header_lines(parts)) for parts in columns]


def _iterate_header_spans(
    rows: list[WordRow], cuts: Sequence[float], area: TableArea
) -> Iterator[list[tuple[list[int], list[PdfWord]]]]:
    """Yield the parts of each header row, the lowest first, with their columns."""
    names: dict[int, tuple[float, float]] = {}  # from where to where each column's lowest goes
    for row in reversed(rows):
        parts = [
            part for piece in row.pieces for part in split_piece_at_border(piece, cuts, row.size)
        ]
        ruled = _clear_columns_of_shared_rules(
            [_find_columns_by_rule(part, row, cuts, area) for part in parts]
        )
        above = [
            by or _find_columns_under_title(part, row, cuts, area)
            for by, part in zip(ruled, parts, strict=True)
        ]
        free = names.keys() - {column for covered in above for column in covered}
        yield [
            (covered if by else _find_columns_of_centred_title(part, covered, free, names), part)
            for by, covered, part in zip(ruled, above, parts, strict=True)
        ]
        for covered, part in zip(above, parts, strict=True):
            if len(covered) == 1:
                names.setdefault(covered[0], (part[0].left, get_right_edge(part)))


def _find_columns_of_centred_title(
    part: list[PdfWord], covered: list[int], free: set[int], names: dict[int, tuple[float, float]]
) -> list[int]:
    """Return the columns that a title spans if it is centred above their names."""
    if any(column not in names for column in covered):
        return covered
    first, last = covered[0], covered[-1]
    lows = list(takewhile(free.__contains__, range(first - 1, first - _BESIDE, -1)))
    highs = list(takewhile(free.__contains__, range(last + 1, last + _BESIDE)))
    middle = (part[0].left + get_right_edge(part)) / 2

    def measure_offset(span: tuple[int, int]) -> float:
        return abs(names[span[0]][0] + names[span[1]][1] - 2 * middle) / 2

    spans = [
        span
        for span in product([first, *lows], [last, *highs])
        if measure_offset(span) < part[0].size
    ]
    if not spans:
        return covered
    low, high = min(spans, key=lambda span: (span[1] - span[0], measure_offset(span)))
    return list(range(low, high + 1))


def _split_header_lines(parts: list[tuple[bool, list[PdfWord]]]) -> Iterator[list[PdfWord]]:
    """Yield the lines of a header cell; a bar separates its levels."""
    for at, (spans, words) in enumerate(parts):
        yield words
        if spans and at + 1 < len(parts):
            last = words[-1]
            yield [PdfWord("/", last.left, last.bottom, last.right, last.top, -1, -1)]


def _find_columns_under_title(
    part: list[PdfWord], row: WordRow, cuts: Sequence[float], area: TableArea
) -> list[int]:
    """Return the columns below a part of the header."""
    slack = 0.3 * row.size
    start, end = part[0].left + slack, get_right_edge(part) - slack
    edges = pairwise([area.left, *cuts, area.right])
    return [at for at, (a, b) in enumerate(edges) if start < b and end > a] or [
        find_column_index(part, cuts)
    ]


def _clear_columns_of_shared_rules(ruled: list[list[int]]) -> list[list[int]]:
    """Remove the columns of each title whose rule is shared with another title."""
    return [[] if ruled.count(columns) > 1 else columns for columns in ruled]


def _find_columns_by_rule(
    part: list[PdfWord], row: WordRow, cuts: Sequence[float], area: TableArea
) -> list[int]:
    """Return the columns that a part spans according to the rule right below it."""
    middle = (part[0].left + get_right_edge(part)) / 2
    centers = [(a + b) / 2 for a, b in pairwise([area.left, *cuts, area.right])]
    for rule in area.rules:
        below = -0.4 * row.size < row.bottom - rule.top < 1.0 * row.size
        wide = rule.right - rule.left < FULL * (area.right - area.left)
        if rule.is_horizontal and below and wide and rule.left - 2 <= middle <= rule.right + 2:
            found = [at for at, x in enumerate(centers) if rule.left - 4 <= x <= rule.right + 4]
            if found:
                return found
    return []
