"""Read the lines of a PDF page as printed, with their positions, by PDFium.

Runs only in the child process of `.child`: PDFium is not thread-safe and the files are untrusted.
PDFium's reading order, that of the content stream, is right for nearly all journals (measured:
0.999 of the words of two-column pages are in order); `.layout` corrects the rest.

A PDF's character codes do not always match the printed text. Three habits of typesetting systems
are corrected: sign fonts that use the codes of letters and digits (*lm* for μm, *8 9 104* for 8 ×
10⁴), exponents that differ from other digits only in position, and accents as separate characters
beside their letter.
"""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise, repeat
from operator import add, sub
from typing import Literal

from .characters import Box, FontFace, PageCharacters

_GAP = 1.2  # of the line's height: a wider hole separates columns or cells, not words
_LEAST_HEIGHT = 4.0  # points
_BOLD = 600  # font weight
_MARK_CHARS = 8
_BOLD_NAME = re.compile(r"(?i:bold|black|heavy|-medi)|(?<=[a-z.])BI?$")
BROKEN = (0x02, 0xFFFE, 0xAD)  # how PDFium hands over the hyphen of a word broken at a line's end
_SPACE = " "
_LINE_ENDS = re.compile("[\n\r\x02\ufffe\xad]")
_BLANK = re.compile(r"[ \xa0\t]")
_WORD = re.compile(r"\S+")
# Arbortext's Pi fonts, in most Springer journals of 2005 to 2017: letters are the Greek ones in
# the order of their alphabet, these four are signs.
_SIGNS_FONT = re.compile(r"\w{0,6}\+?Adv(?:PSMP\d+|Tir_?symb|P4C4E\w\w)")
_SIGNS = {"9": "×", "?": "+", "\\": "<", "[": ">"}
# Elsevier's and SAGE's: seen for the signs of "n = 5", "+86" and "973–1148"; the brackets, minus
# and times are as remembered from other readers.
_NAMED_SIGNS = dict(zip("¼þðÞÀÂ", "=+()−×", strict=True))
_DASHES_FONT = re.compile(r"\w{0,6}\+?AdvPS44A44B")
_GREEK = dict(zip("abcdefghijklmnopqrstuvwx", "αβγδεζηθικλμνξοπρστυφχψω", strict=True))
_MAY_BE_SIGN = re.compile(r"(?<![^\W_])(?:9(?!\d)|[a-x](?![a-z]{2}))|[?\\\[¼þðÞÀÂ]|(?<=\d)e(?=\d)")
_RAISED = dict(zip("0123456789-−–+", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻⁻⁺", strict=True))
_POWER = re.compile(
    r"(?:(?<![\d.])10(?=[-\u2212\u2013]?\d)|[^\W\d_](?=[-\u2212\u2013]\d))(?P<power>.)"
)
_MAY_BE_POWER = re.compile(r"10[-\u2212\u2013]?\d|(?<=[^\W\d_])[-\u2212\u2013]\d")
_TEN = re.compile(r"(?:^|[^\d.])10$")
_SMALLER = 0.9  # of the digits before: how tall an exponent is at most
_ACCENTS = {
    "´": "\u0301", "`": "\u0300", "ˆ": "\u0302", "¨": "\u0308", "˜": "\u0303", "¸": "\u0327",
    "ˇ": "\u030c", "˚": "\u030a", "˝": "\u030b",
}  # fmt: skip
_ACCENT = re.compile(r"[´`ˆ¨˜¸ˇ˚˝]")
_ACCENTED = re.compile(r"([^\W\d_])?([´`ˆ¨˜¸ˇ˚˝])([^\W\d_])?")
_VOWELS = frozenset("aeiouyAEIOUYıȷ")
_OTHERS = {"¸": "cCsStT", "˜": "nNoOaA", "ˇ": "cCdDeEnNrRsStTzZ", "˚": "aAuU"}


class _PrintedFormCache(dict[int, str]):
    """A cache of each code's printed form; empty for a code that is not a character."""

    def __missing__(self, code: int) -> str:
        char = chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else ""
        self[code] = shown = char if char.isprintable() else " " if char.isspace() else ""
        return shown


_SHOWN = _PrintedFormCache(
    {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st"}
    | dict.fromkeys((*BROKEN, 0x2010), "-")
)


_OTHERWISE = re.compile(f"[{''.join(map(chr, _SHOWN))}]")


def _get_printed_form(found: re.Match[str]) -> str:
    return _SHOWN[ord(found[0])]


@dataclass(slots=True)
class LinePiece:
    """A piece of a line of text; coordinates are points from the page's lower left corner.

    A line is never changed; this is not enforced, because a page has a hundred lines and a frozen
    dataclass takes four times as long to create.

    ``row`` is the number of PDFium's line on the page; pieces of one row are separated by wide
    gaps, and ``holes`` is the number of gaps in joined pieces. ``size`` is the height of the font's
    box, ``font`` the name of the font of the whole line, ``span`` the start and end of its
    characters. ``lead`` has the first words if they are in another font than the rest,
    ``lead_font``; ``end_font`` is the font of the last character. A whole table has ``rows`` of
    cells and no text, its number as ``label``, and the left and right end of each of its
    ``columns``. ``kind`` is the kind of line: text, a table, its caption, a remark, marginal text,
    a run-in title, or the start or continuation of a reference.
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
    lead: str = ""
    lead_font: str = ""
    end_font: str = ""
    kind: Literal["text", "caption", "table", "remark", "margin", "title", "entry", "cited"] = (
        "text"
    )
    rows: tuple[tuple[str, ...], ...] = ()
    label: str = ""
    columns: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class PageLines:
    """The lines of a page in stream order, and the page's size in points."""

    lines: tuple[LinePiece, ...]
    width: float
    height: float


def read_page_pieces(page: PageCharacters) -> list[LinePiece]:
    """Return the line pieces of an open page, in the order of its content stream."""
    solid = page.find_visible_characters()
    pieces = list(_iterate_piece_spans(page))
    probes = [_choose_sample_indices(solid, start, end) for start, end, _ in pieces]
    boxes = page.get_boxes(list(chain.from_iterable(probes)))
    faces = page.get_font_faces([at for places in probes for at in places[::2]])
    return [
        _build_line(page, piece, probes[at], boxes[5 * at : 5 * at + 5], faces[3 * at : 3 * at + 3])
        for at, piece in enumerate(pieces)
    ]


def read_line_piece(page: PageCharacters, start: int, end: int, row: int) -> LinePiece:
    """Return the characters from *start* to *end* as one piece of a line."""
    solid = [at for at in range(start, end) if page.text[at] > _SPACE]
    probes = _choose_sample_indices(solid, start, end)
    return _build_line(
        page, (start, end, row), probes, page.get_boxes(probes), page.get_font_faces(probes[::2])
    )


def _iterate_line_spans(page: PageCharacters) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each line of the page."""
    count = len(page.text)
    start = 0
    for found in _LINE_ENDS.finditer(page.text):
        at = found.start()
        if found[0] in "\r\n":
            yield start, at
        elif start < at < count - 1 and _is_line_end_at_hyphen(page, at):
            yield start, at + 1
        else:
            continue
        start = at + 1
    yield start, count


def _is_line_end_at_hyphen(page: PageCharacters, index: int) -> bool:
    """Return whether a line ends at a hyphen; PDFium does not report such line ends."""
    left, bottom, right, top = page.get_box(index - 1)
    next_left, next_bottom, _, next_top = page.get_box(index + 1)
    is_next_column = next_left - right > _GAP * max(top - bottom, _LEAST_HEIGHT)
    return is_next_column or next_left < left or next_top < bottom or next_bottom > top


def _iterate_piece_spans(page: PageCharacters) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and row of each piece, split at gaps wider than any space."""
    holes = _find_wide_blanks(page)
    for row, (start, end) in enumerate(_iterate_line_spans(page)):
        begin = start
        for hole in holes[bisect_left(holes, start + 1) : bisect_left(holes, end - 1)]:
            yield begin, hole, row
            begin = hole + 1
        if begin < end:
            yield begin, end, row


def _find_wide_blanks(page: PageCharacters) -> list[int]:
    """Return the indices of blanks that are wider than any space between two words."""
    blanks = [found.start() for found in _BLANK.finditer(page.text, 1, len(page.text) - 1)]
    before, after = (
        page.get_flat_edges(list(map(add, blanks, repeat(aside)))) for aside in (-1, 1)
    )
    gaps, heights = map(sub, after[0::4], before[2::4]), map(sub, before[1::4], before[3::4])
    placed = zip(blanks, gaps, heights, strict=True)
    least = _GAP * _LEAST_HEIGHT
    return [at for at, gap, height in placed if gap > least and gap > _GAP * height]


def _measure_box_height(box: Box) -> float:
    return box[3] - box[1]


def _choose_sample_indices(
    solid: Sequence[int], start: int, end: int
) -> tuple[int, int, int, int, int]:
    """Return the indices of the first, the last and three characters between, no blanks."""
    first = bisect_left(solid, start)
    count = bisect_left(solid, end) - first
    if not count:
        return (start,) * 5
    quarter, half, later = first + count // 4, first + count // 2, first + 3 * count // 4
    return solid[first], solid[quarter], solid[half], solid[later], solid[first + count - 1]


def _build_line(
    page: PageCharacters,
    piece: tuple[int, int, int],
    probes: tuple[int, int, int, int, int],
    boxes: list[Box],
    fonts: list[FontFace],
) -> LinePiece:
    start, end, row = piece
    first, _, middle, _, last = boxes
    if any(face.has_tall_box for face in fonts):
        placed = zip(fonts, (first, middle, last), strict=True)
        boxes = [face.normalize_box(box) for face, box in placed]
    # The median excludes raised footnote marks and the indices of formulas.
    _, bottom, _, top = sorted(boxes, key=_measure_box_height)[len(boxes) // 2]
    is_level = first[1] == last[1] and probes[0] < probes[4]  # as nearly always
    faces = set(fonts)
    begins = fonts[0] if len(faces) > 1 else None
    return LinePiece(
        text=get_printed_text(page, start, end, faces),
        left=min(first[0], middle[0], last[0]),
        bottom=bottom,
        right=max(first[2], middle[2], last[2]),
        top=top,
        size=top - bottom,
        row=row,
        bold=_are_bold_faces(faces),
        upright=is_level or abs(math.sin(page.get_rotation_angle(probes[2]))) < 0.1,
        font="" if begins else faces.pop().name,
        span=(start, end),
        lead=_find_words_in_first_style(page, start, end, begins) if begins else "",
        lead_font=begins.name if begins else "",
        end_font=fonts[-1].name if begins else "",
    )


def _find_words_in_first_style(page: PageCharacters, start: int, end: int, begins: FontFace) -> str:
    """Return the first words that share the line's first font; empty if all words do."""
    is_bold = _is_bold_face(begins)
    for found in _WORD.finditer(page.text, start, end):
        face = page.get_font_face(found.start())
        if not (_is_bold_face(face) if is_bold else face.name == begins.name):
            return get_printed_text(page, start, found.start(), (begins,))
    return ""


def _are_bold_faces(faces: set[FontFace]) -> bool:
    """Return whether fonts are all bold by weight, or all by name."""
    if len(faces) == 1:
        return all(map(_is_bold_face, faces))
    by_weight = all(face.weight >= _BOLD for face in faces)
    return by_weight or all(is_bold_font_name(face.name) for face in faces)


@cache
def _is_bold_face(face: FontFace) -> bool:
    return face.weight >= _BOLD or is_bold_font_name(face.name)


@cache
def is_bold_font_name(font: str) -> bool:
    """Return whether a font is bold by its name."""
    return bool(_BOLD_NAME.search(font))


def is_as_short_as_mark(line: LinePiece) -> bool:
    """Return whether a line is as short as a footnote mark, so that its size is unreliable."""
    return len(line.text) <= _MARK_CHARS


def is_same_size(a: LinePiece, b: LinePiece) -> bool:
    """Return whether both lines have the same font size, as far as their length shows."""
    if is_as_short_as_mark(a) or is_as_short_as_mark(b):
        return True
    return abs(a.size - b.size) < 0.06 * max(a.size, b.size)


def is_directly_below(a: LinePiece, b: LinePiece) -> bool:
    """Return whether *b* is the next line below *a*, at most one line apart."""
    return 0 < a.top - b.top < 2.2 * a.size


def get_printed_text(page: PageCharacters, start: int, end: int, faces: Iterable[FontFace]) -> str:
    """Return the text of characters *start* to *end*; *faces* are some of its fonts."""
    thin = page.find_thin_spaces()
    first = bisect_left(thin, start + 1)
    if cuts := thin[first : bisect_left(thin, end, first)]:
        edges = pairwise((start, *cuts, end))
        return " ".join(_compute_printed_text(page, first, last, faces) for first, last in edges)
    return _compute_printed_text(page, start, end, faces)


def _compute_printed_text(
    page: PageCharacters, start: int, end: int, faces: Iterable[FontFace]
) -> str:
    text = page.text[start:end]
    if not (text.isascii() and text.isprintable()):
        text = _OTHERWISE.sub(_get_printed_form, text)
        if not text.isprintable():
            text = text.translate(_SHOWN)
    is_plain = len(text) == end - start and not _has_symbol_letters(page, text, start, faces)
    if not is_plain or (_MAY_BE_POWER.search(text) and _has_superscript_power(page, text, start)):
        text = "".join(_list_printed_characters(page, start, end, faces))
    return " ".join(text.split())


def _has_symbol_letters(
    page: PageCharacters, text: str, start: int, faces: Iterable[FontFace]
) -> bool:
    """Return whether letters of a text, which begins at *start*, represent symbols."""
    may_hold = "¼" in text or "þ" in text or any("Adv" in face.name for face in faces)
    places = _MAY_BE_SIGN.finditer(text) if may_hold else ()
    return any(_is_symbol_font(page.get_font_face(start + found.start()).name) for found in places)


def _has_superscript_power(page: PageCharacters, text: str, start: int) -> bool:
    """Return whether a text contains a superscript power; the text begins at *start*."""
    return any(
        _is_superscript(page, start + found.start("power")) for found in _POWER.finditer(text)
    )


def _list_printed_characters(
    page: PageCharacters, start: int, end: int, faces: Iterable[FontFace]
) -> list[str]:
    """Return the printed form of each character: one, several or no characters."""
    written = page.text[start:end]
    chars = list(map(_SHOWN.__getitem__, map(ord, written)))
    if "" in chars:
        chars = list(_join_surrogate_pairs(chars, [ord(char) for char in written]))
    if _MAY_BE_SIGN.search("".join(chars)):
        chars = list(_replace_symbol_letters(page, chars, start))
    if _POWER.search("".join(chars)):
        chars = list(_write_superscript_powers(page, chars, start))
    return chars


def _join_surrogate_pairs(chars: list[str], codes: Sequence[int]) -> Iterator[str]:
    """Yield plain letters for mathematical letters, which consist of two codes."""
    for at, char in enumerate(chars):
        high, low = codes[at], codes[at + 1] if at + 1 < len(chars) else 0
        if 0xD800 <= high < 0xDC00 <= low < 0xE000:
            pair = chr(0x10000 + ((high - 0xD800) << 10) + low - 0xDC00)
            yield unicodedata.normalize("NFKC", pair)
        else:
            yield char


def _replace_symbol_letters(page: PageCharacters, chars: list[str], start: int) -> Iterator[str]:
    """Yield the characters, with letters replaced by the symbols that their font shows."""
    firsts = "".join([char[:1] or " " for char in chars])  # a ligature is several letters
    places = {match.start() for match in _MAY_BE_SIGN.finditer(firsts)}
    is_sign = False
    for at, char in enumerate(chars):
        if at in places or (is_sign and char in _GREEK):
            sign = _get_shown_symbol(char, page.get_font_face(start + at).name)
            is_sign = sign != char
            yield sign
        else:
            is_sign = False
            yield char


@cache
def _is_symbol_font(font: str) -> bool:
    """Return whether letters and digits of a font represent symbols."""
    return bool(_DASHES_FONT.match(font) or _SIGNS_FONT.match(font))


def _get_shown_symbol(char: str, font: str) -> str:
    """Return the symbol that a character of a symbol font shows; else the character."""
    if _DASHES_FONT.match(font):
        return "\u2013" if char == "e" else char
    if not _SIGNS_FONT.match(font):
        return char
    return _SIGNS.get(char) or _NAMED_SIGNS.get(char) or _GREEK.get(char) or char


def _write_superscript_powers(page: PageCharacters, chars: list[str], start: int) -> Iterator[str]:
    """Yield the characters, with powers of ten and of units in superscript: 10⁴, g⁻¹."""
    is_raised = False
    for at, char in enumerate(chars):
        if char not in _RAISED:
            is_raised = False
            yield char
            continue
        before = "".join(chars[max(0, at - 3) : at])
        unit = not char.isalnum() and before[-1:].isalpha() and chars[at + 1 : at + 2] != []
        may_be = is_raised or unit or bool(_TEN.search(before))
        is_raised = may_be and (is_raised or _is_superscript(page, start + at))
        yield _RAISED[char] if is_raised else char


def _is_superscript(page: PageCharacters, index: int) -> bool:
    _, before, _, top = page.get_box(index - 1)
    _, bottom, _, here = page.get_box(index)
    height = top - before
    return here - bottom < _SMALLER * height and bottom > before + 0.1 * height


def combine_accents(texts: Iterable[str]) -> list[str]:
    """Return texts with each separate accent combined with the letter before or after it.

    >>> combine_accents(["Rene´ De`gnon", "Gale´oides"])
    ['René Dègnon', 'Galéoides']
    >>> combine_accents(["Schr¨odinger, Poincar´e, No¨el"])
    ['Schrödinger, Poincaré, Noël']
    """
    originals = list(texts)
    accented = {text for text in originals if _ACCENT.search(text)}
    places = Counter(
        place
        for text in accented
        for match in _ACCENTED.finditer(text)
        if (place := _find_accented_group(*match.groups())) is not None
    )
    return [
        _ACCENTED.sub(lambda match: _attach_accent_to_letter(match, places), text)
        if text in accented
        else text
        for text in originals
    ]


def _find_accented_group(before: str | None, accent: str, after: str | None) -> int | None:
    """Return 1 or 3, the match group of the only letter that can carry the accent; else None."""
    fits = [bool(letter) and _can_carry_accent(str(letter), accent) for letter in (before, after)]
    return None if fits[0] == fits[1] else 1 if fits[0] else 3


def _can_carry_accent(letter: str, accent: str) -> bool:
    if letter not in _OTHERS.get(accent, "") and letter not in _VOWELS:
        return False
    return len(unicodedata.normalize("NFC", _strip_dot_from_letter(letter) + _ACCENTS[accent])) == 1


def _strip_dot_from_letter(letter: str) -> str:
    return {"ı": "i", "ȷ": "j"}.get(letter, letter)


def _attach_accent_to_letter(match: re.Match[str], places: Counter[int]) -> str:
    before, accent, after = match.groups()
    place = _find_accented_group(before, accent, after)
    if (
        place is None
        and before
        and after
        and _can_carry_accent(before, accent)
        and _can_carry_accent(after, accent)
    ):
        place = 3 if after in "ıȷ" or places[3] > places[1] else 1
    if place is None or (accent == "´" and place == 1 and after == "s"):  # an apostrophe
        return match[0]
    if accent == "`" and not (before and after):  # a quotation mark
        return match[0]
    letter = unicodedata.normalize("NFC", _strip_dot_from_letter(match[place]) + _ACCENTS[accent])
    return f"{letter}{after or ''}" if place == 1 else f"{before or ''}{letter}"
