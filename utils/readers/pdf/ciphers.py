"""Decode text in fonts whose characters are glyph numbers instead of letters.

Figure labels often use such fonts: *hours* is read as ``KRXUV``. The glyphs of TrueType fonts
mostly begin in the Macintosh order (OpenType specification, table ``post``): 3 is the space and 97
the tilde, each 29 below its ASCII code. A font is decoded only if its words then match words of the
page in other fonts. Runs only in the child process of `.child`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Set
from itertools import groupby
from typing import Any

from .characters import PageCharacters

_SHIFT, _FIRST, _LAST = 29, 3, 97
_LETTERS = {code: chr(code + _SHIFT) for code in range(_FIRST, _LAST + 1)}
_MAY_BE = re.compile("WKH|DQG|LRQ|LQJ|WLR|HQW|WHU|RQWU|KRXU|WLPH|DWL|UHV")  # the, and, ion, ing, …
_WORD = re.compile(r"[^\W\d_]{3,}")
_WORDED = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}")
_LABELS = frozenset(("and", "cells", "control", "count", "days", "hours", "number", "the", "time"))
_FEWEST = 2  # different words that the page has elsewhere
_MOST_OF = 0.6  # of the words: that look like some
_SMALL = 0.03  # of the characters: small letters are beyond the glyphs that have a letter


class CipherFonts:
    """The fonts of a document that proved to be ciphers on any page so far."""

    def __init__(self) -> None:
        self._proved: set[str] = set()

    def read_decoded_characters(self, text_page: Any) -> PageCharacters:
        """Return the characters of an open page, with ciphered fonts decoded."""
        page = PageCharacters(text_page)
        if _MAY_BE.search(page.text):
            page.text = self._decode_page(page)
        return page

    def _decode_page(self, page: PageCharacters) -> str:
        places: defaultdict[str, list[int]] = defaultdict(list)
        inked = [at for at, char in enumerate(page.text) if char not in " \r\n\xa0"]
        for at, face in zip(inked, page.get_font_faces(inked), strict=True):
            places[face.name].append(at)
        strange = {font for font, own in places.items() if _has_few_lower_case(page.text, own)}
        plain = sorted(at for font, own in places.items() if font not in strange for at in own)
        known = _LABELS | {word.lower() for word in _collect_words_at(page.text, plain)}
        text = list(page.text)
        for font in strange:
            own = places[font]
            if font in self._proved or _is_proved_cipher(page.text, own, known):
                self._proved.add(font)
                for at in own:
                    text[at] = _LETTERS.get(ord(page.text[at]), page.text[at])
        return "".join(text)


def _has_few_lower_case(text: str, places: list[int]) -> bool:
    return sum("a" <= text[at] <= "z" for at in places) <= _SMALL * len(places)


def _is_proved_cipher(text: str, places: list[int], known: Set[str]) -> bool:
    """Return whether decoding the characters as glyph numbers gives known words."""
    read = _collect_words_at(text.translate(_LETTERS), places)
    shaped = sum(bool(_WORDED.fullmatch(word)) for word in read)
    return len({word.lower() for word in read} & known) >= _FEWEST and shaped >= _MOST_OF * len(
        read
    )


def _collect_words_at(text: str, places: list[int]) -> list[str]:
    """Return the words of the characters at these positions."""
    runs = groupby(enumerate(places), key=lambda pair: pair[1] - pair[0])
    pieces = ("".join(text[at] for _, at in run) for _, run in runs)
    return [word for piece in pieces for word in _WORD.findall(piece)]
