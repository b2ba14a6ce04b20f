"""The lines of a PDF page, with where they stand and what they say, by PDFium.

Runs only in the child process of `.pdf_child`: PDFium is not thread-safe and the files are
hostile. PDFium's own reading order, that of the content stream, is right for nearly all journals
(measured: 0.999 of the words of two-column pages in order); `.pdf_layout` puts the rest right.

Characters as print shows them, where a PDF's codes say something else.

Three habits of typesetting systems: fonts of signs whose codes are those of letters and digits
(*lm* for μm, *8 9 104* for 8 × 10⁴), exponents that only their place tells from other digits, and
accents as characters of their own, beside their letter.
"""

from __future__ import annotations

import ctypes
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

_GAP = 1.2  # of the line's height: a wider hole separates columns or cells, not words
_BOLD = 600  # font weight
_MOST_CHARS = 60_000  # a page; posters and hidden text layers aside, pages hold 8,000
_MARK_CHARS = 8
_BOLD_NAME = re.compile(r"(?i:bold|black|heavy|-medi)|(?<=[a-z.])BI?$")
_SHOWN = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st"}
BROKEN = (0x02, 0xFFFE, 0xAD)  # how PDFium hands over the hyphen of a word broken at a line's end
_SHOWN |= {code: chr(code) for code in range(32, 127)} | dict.fromkeys((*BROKEN, 0x2010), "-")
# Arbortext's Pi fonts, in most Springer journals of 2005 to 2017: letters are the Greek ones in
# the order of their alphabet, these four are signs.
_SIGNS_FONT = re.compile(r"\w{0,6}\+?Adv(?:PSMP\d+|Tir_?symb|P4C4E\w\w)")
_SIGNS = {"9": "×", "?": "+", "\\": "<", "[": ">"}
_GREEK = dict(zip("abcdefghijklmnopqrstuvwx", "αβγδεζηθικλμνξοπρστυφχψω", strict=True))
_MAY_BE_SIGN = re.compile(r"(?<![^\W_])(?:9(?!\d)|[a-x](?![a-z]{2}))|[?\\\[]")
_RAISED = dict(zip("0123456789-−–+", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻⁻⁺", strict=True))
_POWER = re.compile(r"(?<![\d.])10[-\u2212\u2013]?\d|[^\W\d_][-\u2212\u2013]\d")
_TEN = re.compile(r"(?:^|[^\d.])10$")
_BLANKS = re.compile(r"[ \t\xa0]+")
_SMALLER = 0.9  # of the digits before: how tall an exponent is at most
_NAME_BYTES = 100
_ACCENTS = {
    "´": "\u0301", "`": "\u0300", "ˆ": "\u0302", "¨": "\u0308", "˜": "\u0303", "¸": "\u0327",
    "ˇ": "\u030c", "˚": "\u030a", "˝": "\u030b",
}  # fmt: skip
_ACCENT = re.compile(r"[´`ˆ¨˜¸ˇ˚˝]")
_ACCENTED = re.compile(r"([^\W\d_])?([´`ˆ¨˜¸ˇ˚˝])([^\W\d_])?")
_VOWELS = frozenset("aeiouyAEIOUYıȷ")
_OTHERS = {"¸": "cCsStT", "˜": "nNoOaA", "ˇ": "cCdDeEnNrRsStTzZ", "˚": "aAuU"}


@dataclass(frozen=True, slots=True)
class Line:
    """A piece of a line of text. Coordinates are points from the page's lower left corner.

    ``row`` numbers the lines of the page as PDFium sees them: pieces of one row were separated
    by a hole; ``holes`` counts them once they are joined. ``size`` is the font's box's height,
    ``font`` the name of the font that all of the line seems to be set in, ``span`` where its
    characters begin and end. A whole table has ``rows`` of cells and no text; ``kind`` says what
    stands by itself: a table, its caption, a remark of ours, what the margin says.
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
    span: tuple[int, int] = (0, 0)
    kind: Literal["text", "caption", "table", "remark", "margin"] = "text"
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A page's lines, in stream order, and its size in points."""

    lines: tuple[Line, ...]
    width: float
    height: float


def codes_of(text_page: Any) -> list[int]:
    """The page's characters, in the order of its content stream."""
    import pypdfium2.raw as pdfium

    count = min(pdfium.FPDFText_CountChars(text_page), _MOST_CHARS)
    code_of = pdfium.FPDFText_GetUnicode
    return [code_of(text_page, index) for index in range(count)]


def lines_of(text_page: Any, codes: Sequence[int]) -> Iterator[Line]:
    """The lines of an open page, in the order of its content stream."""
    count = len(codes)
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
    is_next_column = after.left - before.right > _GAP * max(before.top - before.bottom, 4)
    return bool(
        is_next_column
        or after.left < before.left
        or after.top < before.bottom
        or after.bottom > before.top
    )


def _pieces(text_page: Any, codes: Sequence[int], start: int, end: int, row: int) -> Iterator[Line]:
    """Cut one row where the hole between two words is wider than any space."""
    begin = start
    for index in range(start + 1, end - 1):
        if codes[index] not in (32, 0xA0, 9):
            continue
        before, after = box_of(text_page, index - 1), box_of(text_page, index + 1)
        if after.left - before.right > _GAP * max(before.top - before.bottom, 4):
            yield line_of(text_page, codes, begin, index, row)
            begin = index + 1
    if begin < end:
        yield line_of(text_page, codes, begin, end, row)


def line_of(text_page: Any, codes: Sequence[int], start: int, end: int, row: int) -> Line:
    """The characters from *start* to *end* as one piece of a line."""
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
        span=(start, end),
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


def text_of(
    text_page: Any, codes: Sequence[int], start: int, end: int, fonts: Iterable[str]
) -> str:
    """The text of the characters from *start* to *end*; *fonts* are some of its fonts."""
    chars = [_SHOWN.get(code) or _shown(code) for code in codes[start:end]]
    if "" in chars:
        chars = list(_with_pairs(chars, codes, start))
    text = "".join(chars)
    if any("Adv" in font for font in fonts) and _MAY_BE_SIGN.search(text):
        chars = list(_with_signs(text_page, chars, start))
        text = "".join(chars)
    if _POWER.search(text):
        text = "".join(_with_powers(text_page, chars, start))
    return _BLANKS.sub(" ", text).strip()


def _with_pairs(chars: list[str], codes: Sequence[int], start: int) -> Iterator[str]:
    """Letters of mathematical alphabets, which come as two codes, as the plain ones."""
    for at, char in enumerate(chars):
        high, low = codes[start + at], codes[start + at + 1] if at + 1 < len(chars) else 0
        if 0xD800 <= high < 0xDC00 <= low < 0xE000:
            pair = chr(0x10000 + ((high - 0xD800) << 10) + low - 0xDC00)
            yield unicodedata.normalize("NFKC", pair)
        else:
            yield char


def _with_signs(text_page: Any, chars: list[str], start: int) -> Iterator[str]:
    """Letters and digits that stand for signs, by their font, as what they are."""
    firsts = "".join((char or " ")[0] for char in chars)  # a ligature is several letters
    places = {match.start() for match in _MAY_BE_SIGN.finditer(firsts)}
    is_sign = False
    for at, char in enumerate(chars):
        if at in places or (is_sign and char in _GREEK):
            is_sign = bool(_SIGNS_FONT.match(font_name(text_page, start + at)))
            yield (_SIGNS.get(char) or _GREEK.get(char) or char) if is_sign else char
        else:
            is_sign = False
            yield char


def _with_powers(text_page: Any, chars: list[str], start: int) -> Iterator[str]:
    """Powers of ten and of units raised, 10⁴ and g⁻¹. Other raised digits may be citations."""
    is_raised = False
    for at, char in enumerate(chars):
        before = "".join(chars[max(0, at - 3) : at])
        unit = not char.isalnum() and before[-1:].isalpha() and chars[at + 1 : at + 2] != []
        may_be = char in _RAISED and (is_raised or unit or bool(_TEN.search(before)))
        is_raised = may_be and (is_raised or _is_raised(text_page, start + at))
        yield _RAISED[char] if is_raised else char


def font_name(text_page: Any, index: int) -> str:
    """The name of a character's font."""
    name = _name_buffer()
    name.value = b""
    _pdfium().FPDFText_GetFontInfo(text_page, index, name, _NAME_BYTES, None)
    return str(name.value.decode("utf-8", "replace"))


@cache
def _name_buffer() -> Any:
    return ctypes.create_string_buffer(_NAME_BYTES)


def box_of(text_page: Any, index: int) -> Any:
    """A character's box as tall as its font, so that *a* and *g* of one line agree."""
    pdfium = _pdfium()
    box = pdfium.FS_RECTF()
    pdfium.FPDFText_GetLooseCharBox(text_page, index, ctypes.byref(box))
    return box


@cache
def _pdfium() -> Any:
    import pypdfium2.raw

    return pypdfium2.raw


def _shown(code: int) -> str:
    char = chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else ""
    return char if char.isprintable() else " " if char.isspace() else ""


def _is_raised(text_page: Any, index: int) -> bool:
    before, here = box_of(text_page, index - 1), box_of(text_page, index)
    height = before.top - before.bottom
    return bool(
        here.top - here.bottom < _SMALLER * height and here.bottom > before.bottom + 0.1 * height
    )


def composed(texts: Iterable[str]) -> list[str]:
    """Texts with their accents on their letters, by the habit of most: before or after them.

    >>> composed(["Rene´ De`gnon", "Gale´oides"]), composed(["Schr¨odinger, Poincar´e, No¨el"])
    (['René Dègnon', 'Galéoides'], ['Schrödinger, Poincaré, Noël'])
    """
    originals = list(texts)
    if not any(map(_ACCENT.search, originals)):
        return originals
    places = Counter(
        place
        for text in originals
        for match in _ACCENTED.finditer(text)
        if (place := _only_place(*match.groups())) is not None
    )
    return [_ACCENTED.sub(lambda match: _placed(match, places), text) for text in originals]


def _only_place(before: str | None, accent: str, after: str | None) -> int | None:
    """1 or 3, the group of the one letter that can carry the accent; none if both can or none."""
    fits = [bool(letter) and _fits(str(letter), accent) for letter in (before, after)]
    return None if fits[0] == fits[1] else 1 if fits[0] else 3


def _fits(letter: str, accent: str) -> bool:
    if letter not in _OTHERS.get(accent, "") and letter not in _VOWELS:
        return False
    return len(unicodedata.normalize("NFC", _bare(letter) + _ACCENTS[accent])) == 1


def _bare(letter: str) -> str:
    return {"ı": "i", "ȷ": "j"}.get(letter, letter)


def _placed(match: re.Match[str], places: Counter[int]) -> str:
    before, accent, after = match.groups()
    place = _only_place(before, accent, after)
    if place is None and before and after and _fits(before, accent) and _fits(after, accent):
        place = 3 if after in "ıȷ" or places[3] > places[1] else 1
    if place is None or (accent == "´" and place == 1 and after == "s"):  # an apostrophe
        return match[0]
    if accent == "`" and not (before and after):  # a quotation mark
        return match[0]
    letter = unicodedata.normalize("NFC", _bare(match[place]) + _ACCENTS[accent])
    return f"{letter}{after or ''}" if place == 1 else f"{before or ''}{letter}"
