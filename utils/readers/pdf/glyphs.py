"""Correct letters that a PDF's fonts misname, where the paper's record proves the right ones.

"SkaBa" on the first page and "Skała" among the record's authors prove that this glyph of this font
is an *ł* everywhere in the paper; nothing is guessed. Letters that stay in doubt lower the
confidence of their page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ...model.paper import Document, Glyph, PageDoubts, Paper, TextDoubts

_LEAST = 3  # letters that a word has beside those it proves
_WORD = re.compile(r"[^\W\d_]+")
_ODD = re.compile(r"[a-z][A-Z][a-z]")


def correct_misnamed_letters(document: Document, paper: Paper) -> Document:
    """Return the document with the misnamed letters corrected that *paper*'s names and title prove.

    Its ``confidence`` is the share of letters without doubt for each page.
    """
    doubts = document.doubts
    if doubts is None:
        return document
    right = _find_corrections(doubts, paper, document.markdown) if doubts.foreign else {}
    return replace(
        document,
        markdown=_replace_words(document.markdown, right),
        title=_replace_words(document.title, right),
        abstract=_replace_words(document.abstract, right),
        confidence=tuple(_measure_page_confidence(page, right) for page in doubts.pages),
        doubts=None,
    )


def _find_corrections(doubts: TextDoubts, paper: Paper, markdown: str) -> dict[str, str]:
    """Return the words that contain a misnamed letter, with their corrections."""
    proven = dict(_iterate_proven_glyphs(doubts, _get_record_words(paper)))
    corrected = {
        word: _replace_proven_letters(word, places, proven)
        for word, places in doubts.foreign.items()
    }
    written = Counter(_WORD.findall(markdown)) if proven else Counter()
    noted = Counter[str]()
    for page in doubts.pages:
        noted.update(page.words)
    # A word that is in the text more often is there in a single font, too, and correct.
    return {
        word: new for word, new in corrected.items() if new != word and written[word] <= noted[word]
    }


def _get_record_words(paper: Paper) -> set[str]:
    names = " ".join(f"{author.family} {author.given}" for author in paper.authors)
    return set(_WORD.findall(f"{names} {paper.title}"))


def _iterate_proven_glyphs(doubts: TextDoubts, words: set[str]) -> Iterator[tuple[Glyph, str]]:
    """Yield each glyph for which the record proves exactly one letter."""
    meant: dict[Glyph, set[str]] = {}
    for word, places in doubts.foreign.items():
        for other in words:
            for glyph, letter in _match_foreign_letters(word, places, other):
                meant.setdefault(glyph, set()).add(letter)
    for glyph, letters in meant.items():
        if len(letters) == 1:
            yield glyph, letters.pop()


def _match_foreign_letters(
    word: str, places: Mapping[int, Glyph], other: str
) -> Iterator[tuple[Glyph, str]]:
    """Yield the letters for a word's foreign glyphs if all its other letters match *other*."""
    if len(word) != len(other) or len(word) - len(places) < _LEAST:
        return
    rest = (at for at in range(len(word)) if at not in places)
    if all(word[at] == other[at] for at in rest):
        yield from ((glyph, other[at]) for at, glyph in places.items() if not other[at].isascii())


def _replace_proven_letters(
    word: str, places: Mapping[int, Glyph], proven: Mapping[Glyph, str]
) -> str:
    known = {at: proven[glyph] for at, glyph in places.items() if glyph in proven}
    return "".join(known.get(at, letter) for at, letter in enumerate(word))


def _replace_words(text: str, right: Mapping[str, str]) -> str:
    return _WORD.sub(lambda match: right.get(match[0], match[0]), text) if right else text


def _measure_page_confidence(page: PageDoubts, right: Mapping[str, str]) -> float:
    """Return the share of a page's letters with a code and a position, in a plausible word."""
    odd = sum(
        len(word) * times
        for word, times in page.words.items()
        if word not in right and _ODD.search(word)
    )
    sure = max(0, page.letters - page.lost - page.unplaced - odd) / max(1, page.letters)
    return round(sure * page.recognised, 3)
