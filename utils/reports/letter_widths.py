"""How wide text is, and where its lines break: for drawings made without a browser.

The widths are those of Helvetica's letters, in thousandths of the type size (Adobe's metrics, which
Arial and Liberation Sans share); a reserve allows for a wider substitute font.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_WIDTHS = {
    222: "ijl'",
    278: " !,./:;ftI[]\\|",
    333: '()-r`"',
    389: "*",
    500: "csvxyzkJ",
    556: "abdeghnopqu0123456789?_#$L",
    584: "+<>=~^",
    611: "FTZ",
    667: "ABEKPSVXY&",
    722: "CDHNRUw",
    778: "GOQ",
    833: "mM",
    889: "%",
    944: "W",
    1015: "@",
}
_WIDTH = {letter: width for width, letters in _WIDTHS.items() for letter in letters}
_BOLD = 1.06
_RESERVE = 1.1


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """The width of *text* in the unit of *size*, rather too much than too little."""
    return _in_units(_word_width(text), size, bold)


def wrapped(text: str, room: float, size: float, *, bold: bool = False) -> list[str]:
    """*text* in lines of at most *room*; only a word wider than that is broken inside.

    >>> wrapped("Reports not retrieved (n = 12)", 140, 14)
    ['Reports not', 'retrieved (n = 12)']
    """
    lines, width = [""], 0
    # "(n = 12)" belongs together.
    for word in text.replace("(n = ", "(n\xa0=\xa0").split(" "):
        whole = _in_units(_word_width(word), size, bold) <= room
        for piece in [word] if whole else _pieces(word, room, size, bold):
            longer = width + _WIDTH[" "] + _word_width(piece)
            if not lines[-1]:
                lines[-1], width = piece, _word_width(piece)
            elif _in_units(longer, size, bold) > room:
                lines.append(piece)
                width = _word_width(piece)
            else:
                lines[-1], width = f"{lines[-1]} {piece}", longer
    return [line.replace("\xa0", " ") for line in lines]


def _pieces(word: str, room: float, size: float, bold: bool) -> list[str]:
    pieces, width = [""], 0
    for letter in word:
        width += _letter_width(letter)
        if pieces[-1] and _in_units(width, size, bold) > room:
            pieces.append("")
            width = _letter_width(letter)
        pieces[-1] += letter
    return pieces


@lru_cache(maxsize=1000)  # a drawing lays the same words out for two widths, and twice for each
def _word_width(word: str) -> int:
    """The width of a word in thousandths of the type size."""
    return sum(map(_letter_width, word))


def _in_units(thousandths: int, size: float, bold: bool) -> float:
    return thousandths / 1000 * size * _RESERVE * (_BOLD if bold else 1)


def _letter_width(letter: str) -> int:
    if letter in _WIDTH:
        return _WIDTH[letter]
    if unicodedata.combining(letter):
        return 0
    return 1000 if unicodedata.east_asian_width(letter) in "WF" or letter == "\u2003" else 620
