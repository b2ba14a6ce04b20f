"""Join tables that continue on other pages or columns, below the caption of one part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .lines import LinePiece
from .notes import CONTINUES

_FEW = 3  # columns: with fewer, two tables are alike by chance
_ASIDE = ("caption", "margin", "remark")
Rows = tuple[tuple[str, ...], ...]


def merge_table_parts(lines: list[LinePiece]) -> list[LinePiece]:
    """Return the lines with each continued table joined into one, without "continued" lines."""
    kept_lines = [
        line for line in lines if line.kind != "text" or not CONTINUES.fullmatch(line.text)
    ]
    dropped: set[int] = set()
    last: int | None = None
    for at, line in enumerate(kept_lines):
        if line.kind != "table":
            continue
        rows = (
            _join_table_parts(kept_lines[last], line, kept_lines[last + 1 : at])
            if last is not None
            else None
        )
        if last is None or rows is None:
            last = at
        elif kept_lines[last].label:
            dropped |= {at, *_iterate_caption_lines(kept_lines, at)}
            kept_lines[last] = replace(kept_lines[last], rows=rows)
        else:
            dropped.add(last)
            kept_lines[at] = replace(line, rows=rows)
            last = at
    return [line for at, line in enumerate(kept_lines) if at not in dropped]


def _join_table_parts(first: LinePiece, second: LinePiece, between: list[LinePiece]) -> Rows | None:
    """Return the rows of two parts of one table; None for two separate tables."""
    if first.label and second.label and first.label != second.label:
        return None
    same = _fold_row_text(first.rows[0]) == _fold_row_text(second.rows[0])
    is_one = bool(first.label) and first.label == second.label
    if not _are_columns_aligned(first, second) or not (same or len(first.columns) >= _FEW):
        return None
    if same or is_one or all(line.kind in _ASIDE for line in between):
        return (*first.rows, *(second.rows[1:] if same else second.rows))
    return None


def _fold_row_text(row: tuple[str, ...]) -> str:
    return "".join("".join(row).split()).casefold()


def _are_columns_aligned(first: LinePiece, second: LinePiece) -> bool:
    """Return whether two tables have their columns at the same positions."""
    return len(first.columns) == len(second.columns) and all(
        max(a[0], b[0]) < min(a[1], b[1])
        for a, b in zip(first.columns, second.columns, strict=True)
    )


def _iterate_caption_lines(lines: list[LinePiece], table: int) -> Iterator[int]:
    """Yield the indices of the caption lines right above a table, but not of a remark."""
    at = table - 1
    while at >= 0 and lines[at].kind in ("caption", "remark"):
        if lines[at].kind == "caption":
            yield at
        at -= 1
