r"""``tabular`` and its kin as pipe tables, spans and all, like the other readers' tables.

While a table is read, signs of the private use area stand for the ends of cells and rows and for
rules. The rows above the first rule below the top are its header; without rules it is the first.
A row is as wide as the widest, so a table far wider than any that is printed becomes plain words.

Tables of journals: AASTeX's ``deluxetable``, Oxford's ``\processtable``.

The former's caption, head and notes are commands of their own
(https://journals.aas.org/aastexguide/); the latter's are arguments.
"""

from __future__ import annotations

import re
from typing import Final

from ..displayed import without_bars
from ..jats.text import in_cell, tidy
from .signs import CELL, HIGH, ROW, RULE, SPANS, WIDE
from .tokens import PARAGRAPH
from .walk import Command, Scope, Walk

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


def _table_scope(walk: Walk) -> Scope | None:
    return next((scope for scope in reversed(walk.scopes) if scope.kind == "table"), None)


def _caption(walk: Walk) -> None:
    tokens = walk.stream.take_argument(long=True)
    scope = _table_scope(walk)
    own = scope.number if scope is not None else ""
    if own:
        walk.numbers.set_current(own, "table")
    number = own or walk.numbers.step("table")
    walk.add(f"**Table {number}.** {walk.line(tokens)}".rstrip())


def _process(walk: Walk) -> None:
    caption = walk.stream.take_argument(long=True)
    table, notes = walk.stream.take_argument(long=True), walk.stream.take_argument(long=True)
    walk.stream.put_back([*table, PARAGRAPH, *notes, PARAGRAPH])
    walk.add(f"**Table {walk.numbers.step('table')}.** {walk.line(caption)}".rstrip())


def _number(walk: Walk) -> None:
    number = walk.line(walk.stream.take_argument())
    if (scope := _table_scope(walk)) is not None:
        scope.number = number


def _head(walk: Walk) -> None:
    walk.deluxe_head = walk.stream.take_argument(long=True)


def _start(walk: Walk) -> None:
    head, walk.deluxe_head = walk.deluxe_head, []
    walk.environments["startdata"](walk, "startdata")
    walk.stream.put_back([*head, "\\\\", "\\hline"] if head else [])


def _end(walk: Walk) -> None:
    walk.close_environment("startdata")


def _note(walk: Walk) -> None:
    mark, note = walk.line(walk.stream.take_argument()), walk.take_line()
    walk.add(f"<sup>{mark}</sup> {note}" if mark else note)


def _remark(before: str) -> Command:
    def add_remark(walk: Walk) -> None:
        remark = walk.take_line()
        walk.add(f"{before}{remark}" if remark else "")

    return add_remark


def _mark(walk: Walk) -> None:
    mark = walk.line(walk.stream.take_argument())
    walk.write(f"<sup>{mark}</sup>" if mark else "")


def _row(walk: Walk) -> None:
    """A line of its own across the table."""
    walk.stream.put_back([*walk.stream.take_argument(long=True), "\\\\"])


def _layout(arguments: int) -> Command:
    return lambda walk: walk.skip("m" * arguments, star=True)


DELUXE: Final[dict[str, Command]] = {
    "processtable": _process,
    "tablecaption": _caption,
    "tablenum": _number,
    "tablehead": _head,
    "startdata": _start,
    "enddata": _end,
    "tablenotetext": _note,
    "tablenotemark": _mark,
    "tablecomments": _remark("Note. "),
    "tablerefs": _remark("References. "),
    **dict.fromkeys(("cutinhead", "sidehead"), _row),
    "nodata": lambda walk: walk.write("…"),
    **dict.fromkeys(("tabletypesize", "tablewidth", "tablecolumns", "movetabledown"), _layout(1)),
    **dict.fromkeys(("colnumbers", "decimalcolnumbers", "decimals", "startlongtable"), _layout(0)),
}
