"""The lines of a PDF page, with where they stand and how large they are, by PDFium.

Runs only in the child process of `.child`: PDFium is not thread-safe and the files are
hostile. PDFium's own reading order, that of the content stream, is right for nearly all journals
(measured: 0.999 of the words of two-column pages in order); `.layout` puts the rest right.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .glyphs import BROKEN, box_of, font_name, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_GAP = 1.2  # of the line's height: a wider hole separates columns or cells, not words
_BOLD = 600  # font weight
_MOST_CHARS = 60_000  # a page; posters and hidden text layers aside, pages hold 8,000
_MARK_CHARS = 8
_BOLD_NAME = re.compile(r"(?i:bold|black|heavy|-medi)|(?<=[a-z.])BI?$")


@dataclass(frozen=True, slots=True)
class Line:
    """A piece of a line of text. Coordinates are points from the page's lower left corner.

    ``row`` numbers the lines of the page as PDFium sees them: pieces of one row were separated
    by a hole; ``holes`` counts them once they are joined. ``size`` is the font's box's height,
    ``font`` the name of the font that all of the line seems to be set in.
    """

    text: str
    left: float
    bottom: float
    right: float
    top: float
    size: float
    row: int = 0
    bold: bool = False
    holes: int = 0
    upright: bool = True
    font: str = ""  # if one


@dataclass(frozen=True, slots=True)
class Page:
    """A page's lines, in stream order, and its size in points."""

    lines: tuple[Line, ...]
    width: float
    height: float


def page_lines(page: Any) -> list[Line]:
    """Read the lines of an open pypdfium2 page, in the order of its content stream."""
    text_page = page.get_textpage()
    try:
        count = min(text_page.count_chars(), _MOST_CHARS)
        # The bare pointer: pypdfium2 looks it up anew at each call otherwise.
        return [line for line in _lines(text_page.raw, count) if line.text]
    finally:
        text_page.close()


def _lines(text_page: Any, count: int) -> Iterator[Line]:
    import pypdfium2.raw as pdfium

    code_of = pdfium.FPDFText_GetUnicode
    codes = [code_of(text_page, index) for index in range(count)]
    start = row = 0
    for index, code in enumerate([*codes, 10]):
        if code in (10, 13):
            yield from _pieces(text_page, codes, start, index, row)
            start, row = index + 1, row + 1
        elif code in BROKEN and start < index < count - 1 and _turns(text_page, index):
            yield from _pieces(text_page, codes, start, index + 1, row)
            start, row = index + 1, row + 1


def _turns(text_page: Any, index: int) -> bool:
    """Whether the text goes on in another line after a hyphen, which PDFium does not say."""
    before, after = box_of(text_page, index - 1), box_of(text_page, index + 1)
    return bool(after.left < before.left or after.top < before.bottom)


def _pieces(text_page: Any, codes: list[int], start: int, end: int, row: int) -> Iterator[Line]:
    """Cut one row where the hole between two words is wider than any space."""
    begin = start
    for index in range(start + 1, end - 1):
        if codes[index] not in (32, 0xA0, 9):
            continue
        before, after = box_of(text_page, index - 1), box_of(text_page, index + 1)
        if after.left - before.right > _GAP * max(before.top - before.bottom, 4):
            yield _line(text_page, codes, begin, index, row)
            begin = index + 1
    if begin < end:
        yield _line(text_page, codes, begin, end, row)


def _line(text_page: Any, codes: list[int], start: int, end: int, row: int) -> Line:
    import pypdfium2.raw as pdfium

    solid = [index for index in range(start, end) if codes[index] > 32] or [start]
    probes = [solid[0], solid[len(solid) // 2], solid[-1]]
    boxes = [box_of(text_page, index) for index in probes]
    between = (box_of(text_page, solid[len(solid) * at // 4]) for at in (1, 3))
    # The median, which is no raised footnote mark, nor the index of a formula.
    usual = sorted((*boxes, *between), key=lambda box: box.top - box.bottom)[2]
    angle = pdfium.FPDFText_GetCharAngle(text_page, probes[1])
    fonts = {font_name(text_page, index) for index in probes}
    weights = [pdfium.FPDFText_GetFontWeight(text_page, index) for index in probes]
    return Line(
        text=text_of(text_page, codes, start, end, fonts),
        left=min(box.left for box in boxes),
        bottom=usual.bottom,
        right=max(box.right for box in boxes),
        top=usual.top,
        size=usual.top - usual.bottom,
        row=row,
        bold=min(weights) >= _BOLD or all(map(_BOLD_NAME.search, fonts)),
        upright=abs(math.sin(angle)) < 0.1,
        font=fonts.pop() if len(fonts) == 1 else "",
    )


def is_mark(line: Line) -> bool:
    """Whether a line is as short as a footnote's mark or a power, whose size says nothing."""
    return len(line.text) <= _MARK_CHARS


def same_style(a: Line, b: Line) -> bool:
    """Whether both are of one size, as far as their length says so."""
    if is_mark(a) or is_mark(b):
        return True
    return abs(a.size - b.size) < 0.06 * max(a.size, b.size)


def is_below(a: Line, b: Line) -> bool:
    """Whether *b* is the next line below *a*, at most one line apart."""
    return 0 < a.top - b.top < 2.2 * a.size
