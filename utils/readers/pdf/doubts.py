"""Record the doubtful letters of a PDF: without a character code, or from another font.

A font maps its glyphs to characters, and the map may be wrong: if a typesetter took *ł* from a
separate font, the PDF may call it *B* ("SkaBa" for "Skała"). The file does not show this, but such
a letter is in a word of another font. This module records these words page by page; only the
paper's record can prove the right letters (`.glyphs`). Runs only in the child process of `.child`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from ...model.paper import Glyph
from .characters import PageCharacters

_WORD = re.compile(r"[^\W\d_]{3,40}")
# In the middle of a word, capitals after and before small letters: "SkaBa", seldom "BioRad".
_ODD = re.compile(r"(?<=[a-z])[A-Z](?=[a-z])")
_CAPITAL = re.compile(r"[A-Z]")
_OPENING = 2  # pages with names and title, on which words may also begin with such a letter
_MOST_WORDS = 500
# Controls (2 is a hyphen), private characters of both kinds, and the sign for what has no letter.
_LOST = re.compile("[\0\x01\x03-\x08\x0e-\x1b\ue000-\uf8ff\udb80-\udbff\ufffd]")


class DoubtCollector:
    """Collects the doubtful letters of a document, page by page."""

    def __init__(self) -> None:
        self._pages: list[dict[str, Any]] = []
        self._places: dict[str, dict[int, Glyph]] = {}
        self._known: set[Glyph] = set()

    def add_page(self, page: PageCharacters) -> None:
        """Record the doubtful letters of the next page."""
        words: Counter[str] = Counter()
        for match in self._list_words_to_check(page):
            if not match[0].islower() and (foreign := self._find_foreign_letters(page, match)):
                words[match[0]] += 1
                self._places.setdefault(match[0], {}).update(foreign)
        letters = len("".join(page.text.split()))
        lost = len(_LOST.findall(page.text))
        self._pages.append({"letters": letters, "lost": lost, "words": dict(words)})

    def _list_words_to_check(self, page: PageCharacters) -> Iterable[re.Match[str]]:
        """Return the words of a page if any of them may contain a doubtful letter."""
        may_hold = len(self._pages) < _OPENING or self._known or _ODD.search(page.text)
        return _WORD.finditer(page.text) if may_hold else ()

    def add_unplaced_letters(self, letters: int) -> None:
        """Record the number of letters in tables of the page that could not be rebuilt."""
        self._pages[-1]["unplaced"] = letters

    def add_unreadable_page(self, number: int) -> None:
        """Record a page that could not be read as fully doubtful; *number* starts at 1."""
        if len(self._pages) < number:
            self._pages.append({"letters": 1, "lost": 1, "words": {}})

    def to_json_fields(self) -> dict[str, Any]:
        """Return the pages (see `...model.paper.PageDoubts`) and the doubtful words.

        ``foreign`` maps each word to the positions of its letters from another font, with the
        identity of each glyph.
        """
        kept = list(self._places.items())[:_MOST_WORDS]
        foreign = {
            word: [[at, *glyph] for at, glyph in sorted(places.items())] for word, places in kept
        }
        return {"pages": self._pages, "foreign": foreign}

    def _find_foreign_letters(self, page: PageCharacters, match: re.Match[str]) -> dict[int, Glyph]:
        """Return the letters of a word that are in another font than the rest."""
        word, start = match[0], match.start()
        is_opening = len(self._pages) < _OPENING
        if not (is_opening or self._known) and word[1:].islower():
            return {}
        asked = {found.start() for found in _ODD.finditer(word)}
        if is_opening or self._known:
            capitals = {found.start() for found in _CAPITAL.finditer(word)}
            letters = {glyph[1] for glyph in self._known}
            asked |= {at for at in capitals if is_opening or word[at] in letters}
        if not asked or len(asked) == len(word):
            return {}
        rest = next(at for at in range(len(word)) if at not in asked)
        usual = page.get_font_face(start + rest).name
        fonts = {at: page.get_font_face(start + at).name for at in asked}
        foreign = {at: (font, word[at]) for at, font in fonts.items() if font != usual}
        if not foreign or any(
            page.get_font_face(start + at).name != usual
            for at in _find_neighbours_of_foreign_letters(foreign, word)
        ):
            return {}
        self._known |= set(foreign.values())
        return foreign


def _find_neighbours_of_foreign_letters(foreign: dict[int, Glyph], word: str) -> set[int]:
    """Return the letters next to foreign letters, which may be foreign as well."""
    near = {at + step for at in foreign for step in (-1, 1)}
    return {at for at in near if 0 <= at < len(word) and at not in foreign}
