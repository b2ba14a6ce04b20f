"""The lines of a PDF page, with where they stand and how large they are, by PDFium.

Runs only in the child process of `.child`: PDFium is not thread-safe and the files are
hostile. PDFium's own reading order, that of the content stream, is right for nearly all journals
(measured: 0.999 of the words of two-column pages in order); `.layout` puts the rest right.
"""

from __future__ import annotations

import ctypes
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_GAP = 1.2  # of the line's height: a wider hole separates columns or cells, not words
_BOLD = 600  # font weight
_MOST_CHARS = 60_000  # a page; posters and hidden text layers aside, pages hold 8,000
_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st"}
_BROKEN = (0x02, 0xFFFE, 0xAD)  # how PDFium hands over the hyphen of a word broken at a line's end


@dataclass(frozen=True, slots=True)
class Line:
    """A piece of a line of text. Coordinates are points from the page's lower left corner.

    ``row`` numbers the lines of the page as PDFium sees them: pieces of one row were separated
    by a hole; ``holes`` counts them once they are joined. ``size`` is the font's box's height.
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


def page_lines(page: Any) -> list[Line]:
    """Read the lines of an open pypdfium2 page, in the order of its content stream."""
    text_page = page.get_textpage()
    try:
        return [line for line in _lines(text_page) if line.text]
    finally:
        text_page.close()


def _lines(text_page: Any) -> Iterator[Line]:
    import pypdfium2.raw as pdfium

    count = min(text_page.count_chars(), _MOST_CHARS)
    codes = [pdfium.FPDFText_GetUnicode(text_page, index) for index in range(count)]
    start = row = 0
    for index, code in enumerate([*codes, 10]):
        if code in (10, 13):
            yield from _pieces(text_page, codes, start, index, row)
            start, row = index + 1, row + 1
        elif code in _BROKEN and start < index < count - 1 and _turns(text_page, index):
            yield from _pieces(text_page, codes, start, index + 1, row)
            start, row = index + 1, row + 1


def _turns(text_page: Any, index: int) -> bool:
    """Whether the text goes on in another line after a hyphen, which PDFium does not say."""
    before, after = _box(text_page, index - 1), _box(text_page, index + 1)
    return bool(after.left < before.left or after.top < before.bottom)


def _pieces(text_page: Any, codes: list[int], start: int, end: int, row: int) -> Iterator[Line]:
    """Cut one row where the hole between two words is wider than any space."""
    begin = start
    for index in range(start + 1, end - 1):
        if codes[index] not in (32, 0xA0, 9):
            continue
        before, after = _box(text_page, index - 1), _box(text_page, index + 1)
        if after.left - before.right > _GAP * max(before.top - before.bottom, 4):
            yield _line(text_page, codes, begin, index, row)
            begin = index + 1
    if begin < end:
        yield _line(text_page, codes, begin, end, row)


def _line(text_page: Any, codes: list[int], start: int, end: int, row: int) -> Line:
    import pypdfium2.raw as pdfium

    text = "".join(_LIGATURES.get(code, _char(code)) for code in codes[start:end])
    text = re.sub(r"[ \t\xa0]+", " ", text).strip()
    solid = [index for index in range(start, end) if codes[index] > 32] or [start]
    probes = [solid[0], solid[len(solid) // 2], solid[-1]]
    boxes = [_box(text_page, index) for index in probes]
    usual = sorted(boxes, key=lambda box: box.top - box.bottom)[1]  # not a raised footnote mark
    angle = pdfium.FPDFText_GetCharAngle(text_page, probes[1])
    return Line(
        text=text,
        left=min(box.left for box in boxes),
        bottom=usual.bottom,
        right=max(box.right for box in boxes),
        top=usual.top,
        size=usual.top - usual.bottom,
        row=row,
        bold=all(pdfium.FPDFText_GetFontWeight(text_page, index) >= _BOLD for index in probes),
        upright=abs(math.sin(angle)) < 0.1,
    )


def _char(code: int) -> str:
    if code in _BROKEN or code == 0x2010:
        return "-"
    char = chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else ""
    return char if char.isprintable() or char == "\t" else ""


def _box(text_page: Any, index: int) -> Any:
    """A character's box as tall as its font, so that *a* and *g* of one line agree."""
    import pypdfium2.raw as pdfium

    box = pdfium.FS_RECTF()
    pdfium.FPDFText_GetLooseCharBox(text_page, index, ctypes.byref(box))
    return box
