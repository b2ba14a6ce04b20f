"""The kinds of tables that PDFs are tried with: half of them to work with, half held out."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from quality.tables.drawn import (
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
    y = _grid(sheet, rows, places(rows, LEFT + 4), y)
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


def rotated_page(seed: int) -> Printed:
    """A table that runs up its page, which is shown turned, so that it can be read."""
    rows, sheet = table(seed, height=14), Sheet(turned=True, rotated=True)
    xs, y = places(rows, LEFT), 520.0
    sheet.say(LEFT, y + 6, CAPTION)
    _booktabs(sheet, rows, xs, y)
    return _printed([sheet], rows)


def moved_form(seed: int) -> Printed:
    """Every cell in a frame, and the whole page drawn in a form that is put in its place."""
    rows, sheet = table(seed), Sheet(moved=True)
    y = text(sheet, LEFT, 740, 6, seed, 480) - 20
    sheet.say(LEFT, y, CAPTION)
    _grid(sheet, rows, places(rows, LEFT + 4), y - 6)
    return _printed([sheet], rows)


def caption_on_next_page(seed: int) -> Printed:
    """A grid over a page, with the rest of it and the caption below that on the next one."""
    rows, first, second = table(seed, height=24), Sheet(), Sheet()
    xs = places(rows, LEFT + 4)
    _grid(first, rows[:18], xs, 740)
    y = _grid(second, [rows[0], *rows[18:]], xs, 740)
    second.say(LEFT, y - 16, CAPTION)
    text(second, LEFT, y - 50, 12, seed, 480)
    return _printed([first, second], rows)


def over_two_columns(seed: int) -> Printed:
    """A grid at the foot of one column goes on at the head of the next, its caption below."""
    rows, sheet = table(seed, height=16, width=3), Sheet()
    rows[0] = ["Query", "Left", "Right"]
    xs = places(rows, 54.0)  # no name is longer than its cell
    y = text(sheet, 50, 740, 30, seed, 240) - 12
    _grid(sheet, rows[:11], xs, y)
    y = _grid(sheet, rows[11:], [x + 265 for x in xs], 745)
    sheet.say(315, y - 14, "Table 1. What was measured")
    text(sheet, 315, y - 40, 30, seed + 1, 240)
    return _printed([sheet], rows)


def in_a_box(seed: int) -> Printed:
    """A box with a rule below the head, stripes, notes, and the caption as its last line."""
    rows, (sheet, y) = table(seed), _begun(seed)
    sheet.drawn = [drawn for drawn in sheet.drawn if CAPTION not in drawn]
    xs = places(rows, LEFT)
    right, top = xs[-1] + 8, y
    sheet.shade(LEFT - 8, y - 14 * len(rows) - 60, right - LEFT + 8, 14 * len(rows) + 60)
    for at, row in enumerate(rows):
        cells(sheet, row, xs, y - 11)
        y -= 14
        if at == 0:
            sheet.line(LEFT, y, xs[-1], y)
    sheet.say(
        LEFT, y - 14, "Data are mean (SD). Of 12 groups only those are shown that had any.", 7
    )
    sheet.say(LEFT, y - 22, "*At 3 sites.", 7)
    sheet.say(LEFT, y - 44, CAPTION)
    for x in (LEFT - 8, right):
        sheet.line(x, top, x, y - 60)
    for end in (top, y - 60):
        sheet.line(LEFT - 8, end, right, end)
    text(sheet, LEFT, y - 90, 8, seed + 1, 480)
    return _printed([sheet], rows)


def continued_without_caption(seed: int) -> Printed:
    """A page of rows goes on at the head of the next page, which says nothing of it."""
    rows, first, second = table(seed, height=30), Sheet(), Sheet()
    xs = places(rows, LEFT)
    first.say(LEFT, 740, CAPTION)
    _booktabs(first, rows[:21], xs, 734)
    y = _booktabs(second, rows[21:], xs, 740, rules=())
    text(second, LEFT, y - 34, 12, seed, 480)
    return _printed([first, second], rows)


def groups_in_stripes(seed: int) -> Printed:
    """Names of groups with their rows below them, grey behind every second group."""
    rows, (sheet, y) = table(seed, height=12), _begun(seed)
    told, xs = rows[:1], places(rows, LEFT)
    sheet.shade(LEFT, y - 14, xs[-1] - LEFT, 14)
    cells(sheet, rows[0], xs, y - 10)
    y -= 14
    for at in range(1, len(rows), 3):
        group = [[f"Of {rows[at][0]}", "", "", "", ""], *rows[at : at + 3]]
        if at % 2 == 0:
            sheet.shade(LEFT, y - 56, xs[-1] - LEFT, 56)
        for row in group:
            cells(sheet, row, xs, y - 10)
            y -= 14
        told += group
    text(sheet, LEFT, y - 24, 8, seed + 1, 480)
    return _printed([sheet], told)


def notes_before_the_last_rule(seed: int) -> Printed:
    """Notes between the last row and the last rule, as large as the rows."""
    rows, (sheet, y) = table(seed), _begun(seed)
    xs = places(rows, LEFT)
    y = _booktabs(sheet, rows, xs, y, rules=(0, 1))
    sheet.say(LEFT, y - 9, "a")
    sheet.say(LEFT + 12, y - 9, "Adjusted for age.")
    sheet.say(
        LEFT, y - 19, "*Nobody knew of 12 of them, neither before they were measured nor after."
    )
    sheet.line(LEFT, y - 24, xs[-1], y - 24)
    text(sheet, LEFT, y - 48, 8, seed + 1, 480)
    return _printed([sheet], rows)


def long_cells(seed: int) -> Printed:
    """What was studied goes over one to three lines, all lines equally far apart, and no rules."""
    rows, (sheet, y) = _with_long_cells(table(seed)), _begun(seed)
    xs = places(rows, LEFT)
    for at, row in enumerate(rows):
        if at < 2:
            sheet.line(LEFT, y, xs[-1], y)
        y -= cells(sheet, row, xs, y - 9)
    sheet.line(LEFT, y - 3, xs[-1], y - 3)
    text(sheet, LEFT, y - 30, 8, seed + 1, 480)
    return _printed([sheet], rows)


def _with_long_cells(rows: Rows) -> Rows:
    lines = ["Trial in groups", "parted by chance", "and by age"]
    long = ["Design", *("\n".join(lines[: 1 + at % 3]) for at in range(len(rows) - 1))]
    return [[row[0], said, *row[1:4]] for row, said in zip(rows, long, strict=True)]


def segmented_rules(seed: int) -> Printed:
    """Columns as near to each other as words are, and rules that are drawn cell by cell."""
    rows, (sheet, y) = _with_long_cells(table(seed)), _begun(seed)
    xs = places(rows, LEFT, gap=3.5)
    for at, row in enumerate(rows):
        if at < 2:
            for left, right in pairwise(xs):
                sheet.line(left - 1, y, right - 1.5, y)
        y -= cells(sheet, row, xs, y - 9) + 4
    for left, right in pairwise(xs):
        sheet.line(left - 1, y, right - 1.5, y)
    text(sheet, LEFT, y - 30, 8, seed + 1, 480)
    return _printed([sheet], rows)


def written_rules(seed: int) -> Printed:
    """Rows apart by lines of dots, which are letters, below a head on black."""
    rows, (sheet, y) = _with_long_cells(table(seed)), _begun(seed)
    xs = places(rows, LEFT)
    sheet.shade(LEFT, y - 14, xs[-1] - LEFT, 14)
    for row in rows:
        y -= cells(sheet, row, xs, y - 10) + 3
        sheet.say(LEFT, y - 2, "." * round((xs[-1] - LEFT) / width_of(".", 4)), 4)
        y -= 6
    text(sheet, LEFT, y - 30, 8, seed + 1, 480)
    return _printed([sheet], rows)


def _booktabs(
    sheet: Sheet, rows: Rows, xs: list[float], y: float, rules: tuple[int, ...] = (0, 1, -1)
) -> float:
    """Rows with rules above some of them, and below the last; says where they end."""
    for at, row in enumerate(rows):
        if at in rules:
            sheet.line(xs[0], y, xs[-1], y)
        cells(sheet, row, xs, y - 9)
        y -= 12
    if -1 in rules:
        sheet.line(xs[0], y, xs[-1], y)
    return y


def _grid(sheet: Sheet, rows: Rows, xs: list[float], y: float) -> float:
    """Every cell in a frame; says where they end."""
    top, left = y, xs[0] - 4
    for row in rows:
        sheet.line(left, y, xs[-1], y)
        cells(sheet, row, xs, y - 9)
        y -= 13
    sheet.line(left, y, xs[-1], y)
    for x in [left, *(x - 6 for x in xs[1:-1]), xs[-1]]:
        sheet.line(x, top, x, y)
    return y


TUNING: tuple[Callable[[int], Printed], ...] = (
    booktabs, ruled, spanning_heads, long_names, footnotes, two_pages, rotated_page, moved_form,
    caption_on_next_page, over_two_columns, in_a_box,
)  # fmt: skip
HELD_OUT: tuple[Callable[[int], Printed], ...] = (
    borderless, shaded, turned, centred_lines, beside_text, groups_of_rows,
    continued_without_caption, groups_in_stripes, notes_before_the_last_rule, long_cells,
    segmented_rules, written_rules,
)  # fmt: skip
