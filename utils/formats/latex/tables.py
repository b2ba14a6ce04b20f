r"""``tabular`` and its kin as pipe tables, spans and all, like the other readers' tables.

While a table is read, signs of the private use area stand for the ends of cells and rows and for
rules. The rows above the first rule below the top are its header; without rules it is the first.
A row is as wide as the widest, so a table far wider than any that is printed becomes plain words.
"""

from __future__ import annotations

import re
from typing import Final

from ..displayed import without_bars
from ..jats.text import in_cell, tidy
from .signs import CELL, HIGH, ROW, RULE, SPANS, WIDE

_SPANS: Final = re.compile(f"([{WIDE}{HIGH}])(\\d{{0,4}}){SPANS}")
_FORMULA: Final = re.compile(r"(?<!\\)\$[^$\n]{1,2000}(?<!\\)\$")
_WIDEST: Final = 60
_MOST_ROWS: Final = 5000
_MOST_COLUMNS: Final = 200
_MOST_CELLS: Final = 200_000
_ADDED_IN_ALL: Final = 200_000  # characters that spans may add
_SIGNS: Final = re.compile(f"[{CELL}{ROW}{RULE}{WIDE}{HIGH}{SPANS}]")


def pipe_table(source: str) -> str:
    """A table from its source with `.signs` for cells and rows; empty if nothing is in it."""
    grid, head = _grid(source)
    grid_width = max(map(len, grid), default=0)
    if not grid_width:
        return ""
    if grid_width > _MOST_COLUMNS or grid_width * len(grid) > _MOST_CELLS:
        return flat(source)
    if grid_width == 1 and len(grid) <= 1:  # a frame around text
        return tidy(grid[0][0])
    header = [_joined(grid[:head], column) for column in range(grid_width)]
    lines = [header, *grid[head:]]
    made = [f"| {' | '.join(_padded(row, grid_width))} |" for row in lines]
    return "\n".join([made[0], "|" + " --- |" * grid_width, *made[1:]])


def flat(source: str) -> str:
    """A table inside a cell: its words in a row."""
    return tidy(_SIGNS.sub(" ", _SPANS.sub("", source)))


def _grid(source: str) -> tuple[list[list[str]], int]:
    """Rows of cells with spans filled in, and how many of them are header."""
    grid: list[list[str]] = []
    hanging: dict[int, tuple[int, str]] = {}
    head, left = 0, _ADDED_IN_ALL
    for source_row in source.split(ROW)[:_MOST_ROWS]:
        if RULE in source_row and grid and not head:
            head = len(grid)
        row: list[str] = []
        for cell in source_row.replace(RULE, "").split(CELL):
            spans = {sign: int(number or 1) for sign, number in _SPANS.findall(cell)}
            text = in_cell(
                _FORMULA.sub(lambda formula: without_bars(formula[0]), tidy(_SPANS.sub("", cell)))
            )
            column = len(row)
            if not text and column in hanging:
                rows, text = hanging.pop(column)
                left -= len(text)
                if rows > 1 and left > 0:
                    hanging[column] = (rows - 1, text)
            elif spans.get(HIGH, 1) > 1:
                hanging[column] = (min(spans[HIGH] - 1, _MOST_ROWS), text)
            wide = max(1, min(spans.get(WIDE, 1), _WIDEST - column, left))
            repeated = text if not head and len(grid) < 3 else ""
            repeated = repeated if len(repeated) * (wide - 1) <= left else ""
            left -= (len(repeated) + 1) * (wide - 1)
            row += [text] + [repeated] * (wide - 1)
        if any(row):
            grid.append(row)
    return grid, head or 1


def _joined(rows: list[list[str]], column: int) -> str:
    """Several header rows as one: ``Dose / low``."""
    texts = (row[column] for row in rows if column < len(row) and row[column])
    return " / ".join(dict.fromkeys(texts))


def _padded(row: list[str], width: int) -> list[str]:
    return row + [""] * (width - len(row))
