"""Tables over several pages or columns, put together again below the caption of one part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .lines import Line
from .notes import CONTINUES

_FEW = 3  # columns: with fewer, two tables are alike by chance
_ASIDE = ("caption", "margin", "remark")
Rows = tuple[tuple[str, ...], ...]


def merge_table_parts(lines: list[Line]) -> list[Line]:
    """Return the lines, each table once, without "continued" lines."""
    told = [line for line in lines if line.kind != "text" or not CONTINUES.fullmatch(line.text)]
    gone: set[int] = set()
    last: int | None = None
    for at, line in enumerate(told):
        if line.kind != "table":
            continue
        rows = _join_parts(told[last], line, told[last + 1 : at]) if last is not None else None
        if last is None or rows is None:
            last = at
        elif told[last].label:
            gone |= {at, *_find_caption_lines(told, at)}
            told[last] = replace(told[last], rows=rows)
        else:
            gone.add(last)
            told[at] = replace(line, rows=rows)
            last = at
    return [line for at, line in enumerate(told) if at not in gone]


def _join_parts(first: Line, second: Line, between: list[Line]) -> Rows | None:
    """Return the rows of two parts of one table; None for two tables."""
    if first.label and second.label and first.label != second.label:
        return None
    same = _fold_row(first.rows[0]) == _fold_row(second.rows[0])
    is_one = bool(first.label) and first.label == second.label
    if not _are_alike(first, second) or not (same or len(first.columns) >= _FEW):
        return None
    if same or is_one or all(line.kind in _ASIDE for line in between):
        return (*first.rows, *(second.rows[1:] if same else second.rows))
    return None


def _fold_row(row: tuple[str, ...]) -> str:
    return "".join("".join(row).split()).casefold()


def _are_alike(first: Line, second: Line) -> bool:
    """Return whether two tables have their columns at the same positions."""
    return len(first.columns) == len(second.columns) and all(
        max(a[0], b[0]) < min(a[1], b[1])
        for a, b in zip(first.columns, second.columns, strict=True)
    )


def _find_caption_lines(lines: list[Line], table: int) -> Iterator[int]:
    """Yield the positions of the caption lines right above a table; a remark stays."""
    at = table - 1
    while at >= 0 and lines[at].kind in ("caption", "remark"):
        if lines[at].kind == "caption":
            yield at
        at -= 1
