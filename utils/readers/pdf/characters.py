"""Read the characters of a PDF page with their boxes and fonts, by PDFium.

PDFium's functions take one character at a time, so many calls are made in one loop in C. Fonts are
read only for the characters that decide a line's font. Runs only in the child process of `.child`.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import compress, repeat
from typing import Any, NamedTuple

from .native import NUMBER, POINTER, REAL, get_pointer, load_pdfium_functions

_MOST = 60_000  # a page; posters and hidden text layers aside, pages hold 8,000
_NAME_BYTES = 100
_DIGITS, _LETTER = re.compile(r"\d+"), re.compile(r"[^\W\d_]")
_THIN = 0.07  # of the height of a font's box: a space that PDFium does not report
_USUAL_REACH, _TALL = (0.9, -0.3), 1.9  # ems
_SOLID = bytes(code > ord(" ") for code in range(256))
_LAST = 0x10FFFF  # code point
_UTF16 = f"utf-16-{sys.byteorder[0]}e"
Box = tuple[float, float, float, float]  # left, bottom, right, top


class FontFace(NamedTuple):
    """A font's name and weight; the weight is 400 if the font is neither light nor bold.

    ``ascent`` and ``descent`` are the extent of its box above and below the baseline, in ems.
    """

    name: str
    weight: int
    ascent: float = _USUAL_REACH[0]
    descent: float = _USUAL_REACH[1]

    @property
    def has_tall_box(self) -> bool:
        """True if the font's box is at least 1.5 times as tall as usual."""
        return self.ascent - self.descent > _TALL

    def normalize_box(self, box: Box) -> Box:
        """Return a character's box with the height that other fonts have."""
        left, bottom, right, top = box
        em = (top - bottom) / (self.ascent - self.descent)
        line = bottom - self.descent * em
        return left, line + _USUAL_REACH[1] * em, right, line + _USUAL_REACH[0] * em


class PageCharacters:
    """The characters of an open page, in the order of its content stream.

    Attributes
    ----------
    text
        The text, with one Python character for each, as far as PDFium knows the code points.
    """

    def __init__(self, text_page: Any) -> None:
        self._address = get_pointer(text_page)
        self._functions = _load_text_functions()
        self._name = ctypes.create_string_buffer(_NAME_BYTES)
        self._faces: dict[int, FontFace] = {}  # by font
        self._pieces: dict[int, FontFace] = {}  # by text object
        self._thin: list[int] | None = None
        self.text = self._read_text()

    def _read_text(self) -> str:
        functions = self._functions
        count = min(max(0, functions["Text_CountChars"](self._address)), _MOST)
        buffer = (ctypes.c_ushort * (count + 1))()
        if functions["Text_GetText"](self._address, 0, count, buffer) == count + 1:
            text = bytes(buffer)[: 2 * count].decode(_UTF16, "surrogatepass")
            # A letter of a mathematical alphabet is two characters of PDFium's.
            return text if len(text) == count else "".join(map(chr, buffer[:count]))
        # Where some have no code point, the text would be shorter.
        codes = map(functions["Text_GetUnicode"], repeat(self._address), range(count))
        return "".join(map(chr, map(min, codes, repeat(_LAST))))

    def find_visible_characters(self) -> list[int]:
        """Return the indices of all characters that are not whitespace."""
        shown = self.text.encode("latin-1", "replace").translate(_SOLID)
        return list(compress(range(len(shown)), shown))

    def get_box(self, index: int) -> Box:
        """Return a character's box as tall as its font, so that *a* and *g* agree."""
        return self.get_boxes((index,))[0]

    def get_boxes(self, indices: Sequence[int] | None = None) -> list[Box]:
        """Return the boxes of the characters at *indices*, or of all, in one call."""
        edges = self.get_flat_edges(range(len(self.text)) if indices is None else indices)
        return list(zip(edges[0::4], edges[3::4], edges[2::4], edges[1::4], strict=True))

    def get_flat_edges(self, indices: Sequence[int]) -> list[float]:
        """Return left, top, right and bottom of the characters at *indices* as one flat list."""
        rectangles = (REAL * (4 * len(indices)))()
        begin = ctypes.addressof(rectangles)
        into = range(begin, begin + ctypes.sizeof(rectangles), 4 * ctypes.sizeof(REAL))
        ask = self._functions["Text_GetLooseCharBox"]
        deque(map(ask, repeat(self._address), indices, into), maxlen=0)
        return rectangles[:]

    def find_thin_spaces(self) -> list[int]:
        """Return the indices after thin spaces that the text layer lacks, as in *2 mm*."""
        if self._thin is None:
            places = list(self._iterate_digit_borders())
            boxes = self.get_boxes([at + aside for at in places for aside in (-1, 0, 1)])
            around = zip(places, boxes[0::3], boxes[1::3], boxes[2::3], strict=True)
            self._thin = [at for at, *boxes in around if self._has_thin_space(at, *boxes)]
        return self._thin

    def _iterate_digit_borders(self) -> Iterator[int]:
        """Yield the indices at which a digit and a letter are adjacent."""
        text = self.text
        for found in _DIGITS.finditer(text, 0, max(0, len(text) - 1)):
            start, end = found.span()
            if start and _LETTER.match(text, start - 1):
                yield start
            if end < len(text) - 1 and _LETTER.match(text, end):
                yield end

    def _has_thin_space(self, at: int, before: Box, here: Box, after: Box) -> bool:
        """Return whether two characters are further apart than the next two."""
        height = max(before[3] - before[1], here[3] - here[1])
        is_mark = self.text[at].isdigit() and here[1] > before[1] + 0.1 * height
        gap = here[0] - before[2]
        usual = max(0.0, after[0] - here[2])
        return not is_mark and _THIN * height < gap < height and gap - usual > _THIN * height

    def get_rotation_angle(self, index: int) -> float:
        """Return the rotation of a character in radians."""
        return float(self._functions["Text_GetCharAngle"](self._address, index))

    def get_font_face(self, index: int) -> FontFace:
        """Return the font of a character."""
        return self._get_character_font(
            self._functions["Text_GetTextObject"](self._address, index), index
        )

    def get_font_faces(self, indices: Sequence[int]) -> list[FontFace]:
        """Return the fonts of the characters at *indices*, in one call."""
        ask = self._functions["Text_GetTextObject"]
        pieces = map(ask, repeat(self._address), indices)
        return list(map(self._get_character_font, pieces, indices))

    def _get_character_font(self, piece: int | None, index: int) -> FontFace:
        """Return the font of a text object's character, or of a blank that PDFium added."""
        if piece in self._pieces:
            return self._pieces[piece]
        font = self._functions["TextObj_GetFont"](piece) if piece else None
        if piece is None or font is None:
            return self._read_font_face(index)
        if font not in self._faces:
            ascent, descent = self._get_font_extent(font)
            self._faces[font] = self._read_font_face(index)._replace(ascent=ascent, descent=descent)
        self._pieces[piece] = self._faces[font]
        return self._pieces[piece]

    def _get_font_extent(self, font: int) -> tuple[float, float]:
        """Return how far a font extends above and below the baseline, in ems."""
        reach = (REAL * 2)()
        begin = ctypes.addressof(reach)
        above = self._functions["Font_GetAscent"](font, 1.0, begin)
        below = self._functions["Font_GetDescent"](font, 1.0, begin + ctypes.sizeof(REAL))
        return (reach[0], reach[1]) if above and below and reach[0] > reach[1] else _USUAL_REACH

    def _read_font_face(self, index: int) -> FontFace:
        self._name.value = b""
        self._functions["Text_GetFontInfo"](self._address, index, self._name, _NAME_BYTES, None)
        weight = self._functions["Text_GetFontWeight"](self._address, index)
        return FontFace(self._name.value.decode("utf-8", "replace"), int(weight))


@cache
def _load_text_functions() -> dict[str, Any]:
    count = ctypes.c_ulong
    return load_pdfium_functions(
        Text_CountChars=(NUMBER, POINTER),
        Text_GetText=(NUMBER, POINTER, NUMBER, NUMBER, POINTER),
        Text_GetUnicode=(ctypes.c_uint, POINTER, NUMBER),
        Text_GetLooseCharBox=(NUMBER, POINTER, NUMBER, POINTER),
        Text_GetCharAngle=(REAL, POINTER, NUMBER),
        Text_GetTextObject=(POINTER, POINTER, NUMBER),
        Text_GetFontWeight=(NUMBER, POINTER, NUMBER),
        Text_GetFontInfo=(count, POINTER, NUMBER, POINTER, count, POINTER),
        Font_GetAscent=(NUMBER, POINTER, REAL, POINTER),
        Font_GetDescent=(NUMBER, POINTER, REAL, POINTER),
        TextObj_GetFont=(POINTER, POINTER),
    )
