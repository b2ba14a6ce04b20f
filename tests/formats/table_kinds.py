"""The kinds of tables that PDFs are tried with: half of them to work with, half held out."""

from __future__ import annotations

from collections.abc import Callable

from tests.formats.table_pdfs import (
    LEADING,
    Printed,
    Rows,
    Sheet,
    cells,
    pdf_of,
    places,
    table,
    text,
    width_of,
)

CAPTION = "Table 1. What was measured in all of the groups, by treatment"
LEFT = 60.0


def _printed(sheets: list[Sheet], rows: Rows) -> Printed:
    return Printed(pdf_of(sheets), [[cell.replace("\n", " ") for cell in row] for row in rows[1:]])


def _begun(seed: int) -> tuple[Sheet, float]:
    """A page with some text and the caption, and where the table begins."""
    sheet = Sheet()
    y = text(sheet, LEFT, 740, 6, seed, 480) - 20
    sheet.say(LEFT, y, CAPTION)
    return sheet, y - 6


def booktabs(seed: int) -> Printed:
    """Three rules: above, below the head, below."""
    rows, (sheet, y) = table(seed), _begun(seed)
    xs = places(rows, LEFT)
    for at, row in enumerate(rows):
        if at < 2:
            sheet.line(LEFT, y, xs[-1], y)
        cells(sheet, row, xs, y - 9)
        y -= 12
    sheet.line(LEFT, y, xs[-1], y)
    text(sheet, LEFT, y - 24, 8, seed + 1, 480)
    return _printed([sheet], rows)


def ruled(seed: int) -> Printed:
    """Every cell in a frame."""
    rows, (sheet, y) = table(seed), _begun(seed)
    xs = places(rows, LEFT + 4)
    top = y
    for row in rows:
        sheet.line(LEFT, y, xs[-1], y)
        cells(sheet, row, xs, y - 9)
        y -= 13
    sheet.line(LEFT, y, xs[-1], y)
    for x in [LEFT, *(x - 6 for x in xs[1:-1]), xs[-1]]:
        sheet.line(x, top, x, y)
    text(sheet, LEFT, y - 24, 8, seed + 1, 480)
    return _printed([sheet], rows)


def spanning_heads(seed: int) -> Printed:
    """Two groups of columns, each with a name above a rule of its own."""
    rows, (sheet, y) = table(seed), _begun(seed)
    xs = places(rows, LEFT)
    sheet.line(LEFT, y, xs[-1], y)
    for first, last, name in ((1, 3, "Treated"), (3, 5, "Control")):
        middle = (xs[first] + xs[last] - 14) / 2
        sheet.say(middle - width_of(name) / 2, y - 9, name)
        sheet.line(xs[first], y - 12, xs[last] - 10, y - 12)
    y -= 13
    for at, row in enumerate(rows):
        if at == 1:
            sheet.line(LEFT, y, xs[-1], y)
        cells(sheet, row, xs, y - 9, "center")
        y -= 12
    sheet.line(LEFT, y, xs[-1], y)
    return _printed([sheet], rows)


def long_names(seed: int) -> Printed:
    """First cells of two lines, the others beside the first of them; rows further apart."""
    rows, (sheet, y) = _with_long_names(table(seed)), _begun(seed)
    xs = places(rows, LEFT)
    for at, row in enumerate(rows):
        if at < 2:
            sheet.line(LEFT, y, xs[-1], y)
        y -= cells(sheet, row, xs, y - 9) + 5
    sheet.line(LEFT, y, xs[-1], y)
    return _printed([sheet], rows)


def _with_long_names(rows: Rows) -> Rows:
    return [
        [f"{row[0]} rogerning\n(named after others)" if at % 3 == 1 else row[0], *row[1:]]
        for at, row in enumerate(rows)
    ]


def footnotes(seed: int) -> Printed:
    """Small print right below the last rule, with numbers of its own."""
    rows, (sheet, y) = table(seed), _begun(seed)
    xs = places(rows, LEFT)
    for at, row in enumerate(rows):
        if at < 2:
            sheet.line(LEFT, y, xs[-1], y)
        cells(sheet, row, xs, y - 9)
        y -= 12
    sheet.line(LEFT, y, xs[-1], y)
    sheet.say(LEFT, y - 9, "a Adjusted for age. b P < 0.05 in 12 of 19 groups.", 7)
    text(sheet, LEFT, y - 34, 8, seed + 1, 480)
    return _printed([sheet], rows)


def two_pages(seed: int) -> Printed:
    """Continued on the next page under a caption that says so, with the head again."""
    rows = table(seed, height=24)
    sheets = []
    for said, part in (
        (CAPTION, [rows[0], *rows[1:14]]),
        ("Table 1. Continued.", [rows[0], *rows[14:]]),
    ):
        sheet = Sheet()
        y, xs = 700.0, places(rows, LEFT)
        sheet.say(LEFT, y, said)
        y -= 6
        for at, row in enumerate(part):
            if at < 2:
                sheet.line(LEFT, y, xs[-1], y)
            cells(sheet, row, xs, y - 9)
            y -= 12
        sheet.line(LEFT, y, xs[-1], y)
        text(sheet, LEFT, y - 30, 10, seed + len(sheets), 480)
        sheets.append(sheet)
    return _printed(sheets, rows)


def borderless(seed: int) -> Printed:
    """No rule at all."""
    rows, (sheet, y) = table(seed), _begun(seed)
    xs = places(rows, LEFT, gap=18)
    for row in rows:
        cells(sheet, row, xs, y - 12)
        y -= 12
    text(sheet, LEFT, y - 34, 8, seed + 1, 480)
    return _printed([sheet], rows)


def shaded(seed: int) -> Printed:
    """Grey behind the head and every second row, and no rule."""
    rows, (sheet, y) = table(seed), _begun(seed)
    xs = places(rows, LEFT + 4)
    for at, row in enumerate(rows):
        if at % 2 == 0:
            sheet.shade(LEFT, y - 13, xs[-1] - LEFT, 13)
        cells(sheet, row, xs, y - 9, "center")
        y -= 13
    text(sheet, LEFT, y - 24, 8, seed + 1, 480)
    return _printed([sheet], rows)


def turned(seed: int) -> Printed:
    """A table that runs up its page, on a page of its own."""
    rows, sheet = table(seed, height=14), Sheet(turned=True)
    xs, y = places(rows, LEFT), 520.0
    sheet.say(LEFT, y + 6, CAPTION)
    for at, row in enumerate(rows):
        if at < 2:
            sheet.line(LEFT, y, xs[-1], y)
        cells(sheet, row, xs, y - 9)
        y -= 12
    sheet.line(LEFT, y, xs[-1], y)
    first = Sheet()
    text(first, LEFT, 740, 40, seed, 480)
    return _printed([first, sheet], rows)


def centred_lines(seed: int) -> Printed:
    """Cells of two lines with the others at half their height, rows between rules."""
    rows, (sheet, y) = _with_long_names(table(seed)), _begun(seed)
    xs = places(rows, LEFT)
    for row in rows:
        sheet.line(LEFT, y, xs[-1], y)
        y -= cells(sheet, row, xs, y - 10, "middle") + 5
    sheet.line(LEFT, y, xs[-1], y)
    return _printed([sheet], rows)


def beside_text(seed: int) -> Printed:
    """In the right column of a page of two, with text on its left and below."""
    rows, sheet = table(seed, width=3), Sheet()
    text(sheet, 50, 740, 50, seed, 240)
    xs, y = places(rows, 315, gap=10), 700.0
    text(sheet, 315, 740, 2, seed + 1, 240)
    sheet.say(315, y, "Table 1. What was measured")
    y -= 6
    for at, row in enumerate(rows):
        if at < 2:
            sheet.line(315, y, xs[-1], y)
        cells(sheet, row, xs, y - 9)
        y -= LEADING + 2
    sheet.line(315, y, xs[-1], y)
    text(sheet, 315, y - 24, 20, seed + 2, 240)
    return _printed([sheet], rows)


def groups_of_rows(seed: int) -> Printed:
    """Names of groups stand in rows of their own, and cells are empty here and there."""
    rows, (sheet, y) = table(seed), _begun(seed)
    rows = [[*row[:4], "" if at % 4 == 3 else row[4]] for at, row in enumerate(rows)]
    rows[5:5] = [["Of the others", "", "", "", ""]]
    rows[1:1] = [["Of the first", "", "", "", ""]]
    xs = places(rows, LEFT)
    for at, row in enumerate(rows):
        if at < 2:
            sheet.line(LEFT, y, xs[-1], y)
        cells(sheet, row, xs, y - 9)
        y -= 12
    sheet.line(LEFT, y, xs[-1], y)
    text(sheet, LEFT, y - 24, 8, seed + 1, 480)
    return _printed([sheet], rows)


TUNING: tuple[Callable[[int], Printed], ...] = (
    booktabs, ruled, spanning_heads, long_names, footnotes, two_pages,
)  # fmt: skip
HELD_OUT: tuple[Callable[[int], Printed], ...] = (
    borderless, shaded, turned, centred_lines, beside_text, groups_of_rows,
)  # fmt: skip
