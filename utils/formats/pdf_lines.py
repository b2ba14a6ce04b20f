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

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from .pdf_characters import Characters

_GAP = 1.2  # of the line's height: a wider hole separates columns or cells, not words
_BOLD = 600  # font weight
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


def lines_of(page: Characters) -> Iterator[Line]:
    """The lines of an open page, in the order of its content stream."""
    count = len(page.codes)
    start = row = 0
    for index, code in enumerate([*page.codes, 10]):
        if code in (10, 13):
            yield from _pieces(page, start, index, row)
            start, row = index + 1, row + 1
        elif code in BROKEN and start < index < count - 1 and _turns(page, index):
            yield from _pieces(page, start, index + 1, row)
            start, row = index + 1, row + 1


def _turns(page: Characters, index: int) -> bool:
    """Whether the text goes on in another line after a hyphen, which PDFium does not say."""
    left, bottom, right, top = page.box(index - 1)
    next_left, next_bottom, _, next_top = page.box(index + 1)
    is_next_column = next_left - right > _GAP * max(top - bottom, 4)
    return is_next_column or next_left < left or next_top < bottom or next_bottom > top


def _pieces(page: Characters, start: int, end: int, row: int) -> Iterator[Line]:
    """Cut one row where the hole between two words is wider than any space."""
    begin, codes, box_of = start, page.codes, page.box
    for index in range(start + 1, end - 1):
        if codes[index] not in (32, 0xA0, 9):
            continue
        _, bottom, right, top = box_of(index - 1)
        if box_of(index + 1)[0] - right > _GAP * max(top - bottom, 4):
            yield line_of(page, begin, index, row)
            begin = index + 1
    if begin < end:
        yield line_of(page, begin, end, row)


def line_of(page: Characters, start: int, end: int, row: int) -> Line:
    """The characters from *start* to *end* as one piece of a line."""
    codes = page.codes
    solid = [index for index in range(start, end) if codes[index] > 32] or [start]
    probes = [solid[0], solid[len(solid) // 2], solid[-1]]
    boxes = [page.box(index) for index in probes]
    between = (page.box(solid[len(solid) * at // 4]) for at in (1, 3))
    # The median, which is no raised footnote mark, nor the index of a formula.
    _, bottom, _, top = sorted((*boxes, *between), key=lambda box: box[3] - box[1])[2]
    fonts = {page.font(index) for index in probes}
    is_bold = all(page.weight(index) >= _BOLD for index in probes)
    return Line(
        text=text_of(page, start, end, fonts),
        left=min(box[0] for box in boxes),
        bottom=bottom,
        right=max(box[2] for box in boxes),
        top=top,
        size=top - bottom,
        row=row,
        bold=is_bold or all(map(_BOLD_NAME.search, fonts)),
        upright=abs(math.sin(page.angle(probes[1]))) < 0.1,
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


def text_of(page: Characters, start: int, end: int, fonts: Iterable[str]) -> str:
    """The text of the characters from *start* to *end*; *fonts* are some of its fonts."""
    chars = [_SHOWN.get(code) or _shown(code) for code in page.codes[start:end]]
    if "" in chars:
        chars = list(_with_pairs(chars, page.codes, start))
    text = "".join(chars)
    if any("Adv" in font for font in fonts) and _MAY_BE_SIGN.search(text):
        chars = list(_with_signs(page, chars, start))
        text = "".join(chars)
    if _POWER.search(text):
        text = "".join(_with_powers(page, chars, start))
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


def _with_signs(page: Characters, chars: list[str], start: int) -> Iterator[str]:
    """Letters and digits that stand for signs, by their font, as what they are."""
    firsts = "".join((char or " ")[0] for char in chars)  # a ligature is several letters
    places = {match.start() for match in _MAY_BE_SIGN.finditer(firsts)}
    is_sign = False
    for at, char in enumerate(chars):
        if at in places or (is_sign and char in _GREEK):
            is_sign = bool(_SIGNS_FONT.match(page.font(start + at)))
            yield (_SIGNS.get(char) or _GREEK.get(char) or char) if is_sign else char
        else:
            is_sign = False
            yield char


def _with_powers(page: Characters, chars: list[str], start: int) -> Iterator[str]:
    """Powers of ten and of units raised, 10⁴ and g⁻¹. Other raised digits may be citations."""
    is_raised = False
    for at, char in enumerate(chars):
        before = "".join(chars[max(0, at - 3) : at])
        unit = not char.isalnum() and before[-1:].isalpha() and chars[at + 1 : at + 2] != []
        may_be = char in _RAISED and (is_raised or unit or bool(_TEN.search(before)))
        is_raised = may_be and (is_raised or _is_raised(page, start + at))
        yield _RAISED[char] if is_raised else char


def _shown(code: int) -> str:
    char = chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else ""
    return char if char.isprintable() else " " if char.isspace() else ""


def _is_raised(page: Characters, index: int) -> bool:
    _, before, _, top = page.box(index - 1)
    _, bottom, _, here = page.box(index)
    height = top - before
    return here - bottom < _SMALLER * height and bottom > before + 0.1 * height


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
