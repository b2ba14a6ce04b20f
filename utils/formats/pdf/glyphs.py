"""Characters as print shows them, where a PDF's codes say something else.

Three habits of typesetting systems: fonts of signs whose codes are those of letters and digits
(*lm* for μm, *8 9 104* for 8 × 10⁴), exponents that only their place tells from other digits, and
accents as characters of their own, beside their letter.
"""

from __future__ import annotations

import ctypes
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

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
    return char if char.isprintable() or char == "\t" else ""


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
    given = list(texts)
    if not any(map(_ACCENT.search, given)):
        return given
    places = Counter(
        place
        for text in given
        for match in _ACCENTED.finditer(text)
        if (place := _only_place(*match.groups())) is not None
    )
    return [_ACCENTED.sub(lambda match: _placed(match, places), text) for text in given]


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
