"""The characters of a PDF page, with their boxes and fonts, by PDFium.

PDFium answers for one character at a time: it is asked for many of them in one loop of C, and for
the font of those that tell a line's. Runs only in the child process of `.pdf_child`.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections import deque
from collections.abc import Iterable
from functools import cache
from itertools import compress, repeat
from operator import add, mul
from typing import Any, NamedTuple

from .pdf_native import NUMBER, POINTER, REAL, address_of, functions

_MOST = 60_000  # a page; posters and hidden text layers aside, pages hold 8,000
_NAME_BYTES = 100
_BESIDE = re.compile(r"(?:\d(?=[^\W\d_])|[^\W\d_](?=\d))(?=..)", re.S)
_THIN = 0.07  # of the height of a font's box: a space that is none for PDFium
_SOLID = bytes(code > ord(" ") for code in range(256))
_LAST = 0x10FFFF  # code point
_UTF16 = f"utf-16-{sys.byteorder[0]}e"
Box = tuple[float, float, float, float]  # left, bottom, right, top


class Face(NamedTuple):
    """A font's name, and its weight: 400 where it is neither light nor bold."""

    name: str
    weight: int


class Characters:
    """The characters of an open page, in the order of its content stream.

    Attributes
    ----------
    text
        One character of Python's for each, as far as PDFium knows their code points.
    """

    def __init__(self, text_page: Any) -> None:
        self._address = address_of(text_page)
        self._functions = _functions()
        self._name = ctypes.create_string_buffer(_NAME_BYTES)
        self._faces: dict[int, Face] = {}
        self._thin: list[int] | None = None
        self.text = self._text()
        self._rectangles = (REAL * (4 * len(self.text)))()
        self._edges = memoryview(self._rectangles).cast("B").cast("f")  # left, top, right, bottom

    def _text(self) -> str:
        functions = self._functions
        count = min(max(0, functions["Text_CountChars"](self._address)), _MOST)
        buffer = (ctypes.c_ushort * (count + 1))()
        if functions["Text_GetText"](self._address, 0, count, buffer) == count + 1:
            text = bytes(buffer)[: 2 * count].decode(_UTF16, "surrogatepass")
            # A letter of a mathematical alphabet is two characters of PDFium's.
            return text if len(text) == count else "".join(map(chr, buffer[:count]))
        # Where some have no code point, the text would be shorter.
        codes = (functions["Text_GetUnicode"](self._address, at) for at in range(count))
        return "".join(chr(min(code, _LAST)) for code in codes)

    def solid(self) -> list[int]:
        """The places of all characters that are no blanks."""
        shown = self.text.encode("latin-1", "replace").translate(_SOLID)
        return list(compress(range(len(shown)), shown))

    def box(self, index: int) -> Box:
        """A character's box as tall as its font, so that *a* and *g* of one line agree."""
        left, top, right, bottom = self._edges[4 * index : 4 * index + 4]
        if top == bottom:  # not measured yet
            self.measure((index,))
            left, top, right, bottom = self._edges[4 * index : 4 * index + 4]
        return left, bottom, right, top

    def boxes(self) -> list[Box]:
        """The boxes of all characters."""
        self.measure(range(len(self.text)))
        edges = self._edges.tolist()
        return list(zip(edges[0::4], edges[3::4], edges[2::4], edges[1::4], strict=True))

    def wider(self, indices: list[int], least: float) -> list[tuple[int, float]]:
        """Those of *indices* whose neighbours are further apart than *least*, with how far."""
        self.measure([at + aside for aside in (-1, 1) for at in indices])
        edges = self._edges
        gaps = [edges[4 * at + 4] - edges[4 * at - 2] for at in indices]
        return [(at, gap) for at, gap in zip(indices, gaps, strict=True) if gap > least]

    def thin_spaces(self) -> list[int]:
        """The places before which print has a thin space, as in *2 mm*, and the text has none."""
        if self._thin is None:
            self._thin = [at for at in self._between() if self._is_thin(at)]
        return self._thin

    def _between(self) -> list[int]:
        """Where a letter follows a digit or a digit a letter, with their boxes measured."""
        places = [found.end() for found in _BESIDE.finditer(self.text)]
        self.measure([at + aside for aside in (-1, 0, 1) for at in places])
        return places

    def _is_thin(self, at: int) -> bool:
        """Whether two characters are further apart than the two behind them; marks are not."""
        edges = self._edges
        _, top, right, bottom = edges[4 * at - 4 : 4 * at]
        left, here_top, end, here_bottom = edges[4 * at : 4 * at + 4]
        height = max(top - bottom, here_top - here_bottom)
        is_mark = self.text[at].isdigit() and here_bottom > bottom + 0.1 * height
        gap = left - right
        usual = max(0.0, edges[4 * at + 4] - end)
        return not is_mark and _THIN * height < gap < height and gap - usual > _THIN * height

    def measure(self, indices: Iterable[int]) -> None:
        """Ask for the boxes of several characters at once."""
        wanted, size = list(indices), 4 * ctypes.sizeof(REAL)
        begin = ctypes.addressof(self._rectangles)
        into = map(add, repeat(begin), map(mul, repeat(size), wanted))
        ask = self._functions["Text_GetLooseCharBox"]
        deque(map(ask, repeat(self._address), wanted, into), maxlen=0)

    def angle(self, index: int) -> float:
        """How far a character is turned, in radians."""
        return float(self._functions["Text_GetCharAngle"](self._address, index))

    def face(self, index: int) -> Face:
        """The font of a character."""
        functions, known = self._functions, self._faces
        piece = functions["Text_GetTextObject"](self._address, index)
        font = functions["TextObj_GetFont"](piece) if piece else None
        if font is None:
            return self._face(index)
        if font not in known:
            known[font] = self._face(index)
        return known[font]

    def _face(self, index: int) -> Face:
        self._name.value = b""
        self._functions["Text_GetFontInfo"](self._address, index, self._name, _NAME_BYTES, None)
        weight = self._functions["Text_GetFontWeight"](self._address, index)
        return Face(self._name.value.decode("utf-8", "replace"), int(weight))


@cache
def _functions() -> dict[str, Any]:
    count = ctypes.c_ulong
    return functions(
        Text_CountChars=(NUMBER, POINTER),
        Text_GetText=(NUMBER, POINTER, NUMBER, NUMBER, POINTER),
        Text_GetUnicode=(ctypes.c_uint, POINTER, NUMBER),
        Text_GetLooseCharBox=(NUMBER, POINTER, NUMBER, POINTER),
        Text_GetCharAngle=(REAL, POINTER, NUMBER),
        Text_GetTextObject=(POINTER, POINTER, NUMBER),
        Text_GetFontWeight=(NUMBER, POINTER, NUMBER),
        Text_GetFontInfo=(count, POINTER, NUMBER, POINTER, count, POINTER),
        TextObj_GetFont=(POINTER, POINTER),
    )
