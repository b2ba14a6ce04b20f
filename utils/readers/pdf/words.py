"""Read the words of a PDF page and the lines drawn on it, with their positions, by PDFium.

`.tables` rebuilds tables from these words. Runs only in the child process of `.child`. Text that
runs up or down a page is rotated with its rules, so that it reads from left to right.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import sub
from typing import Any, NamedTuple

from .characters import Box, PageCharacters
from .lines import BROKEN
from .rules import RuleLine, box_to_rule, iterate_drawn_lines

_MOST_RULES = 1500
_NEAR = 1.0  # points: no gap between two words of any size
_WORD_GAP = 0.28  # of the height: PDFium writes most spaces, not those between cells
DOTTED = re.compile(r"[._\u2026\-]{12,}")  # a rule that is written
_UNBROKEN = re.compile(r"\S+")


class _CharacterByCode(dict[int, str]):
    """A map from codes to single characters; a missing code becomes a space."""

    def __missing__(self, code: int) -> str:
        # A surrogate of a mathematical letter is not whitespace, nor is an unknown glyph.
        self[code] = written = "\ufffd" if 0xD800 <= code < 0xE000 else chr(max(code, ord(" ")))
        return written


_WRITTEN = _CharacterByCode(dict.fromkeys(BROKEN, "-"))
_UNWRITTEN = re.compile(f"[\0-\x1f\ud800-\udfff{''.join(map(chr, BROKEN))}]")


class PdfWord(NamedTuple):
    """A word with its box, as tall as its font, and the indices of its characters.

    ``text`` has one character for each code of the page, before signs and powers are corrected.
    """

    text: str
    left: float
    bottom: float
    right: float
    top: float
    start: int
    end: int

    @property
    def size(self) -> float:
        """The height of the font's box in points."""
        return self.top - self.bottom

    @property
    def horizontal_middle(self) -> float:
        """The horizontal middle of the word in points."""
        return (self.left + self.right) / 2


@dataclass(frozen=True, slots=True)
class UprightSheet:
    """All words of one direction on a page, and the page's rules, rotated to be upright."""

    words: tuple[PdfWord, ...]
    rules: tuple[RuleLine, ...]


def build_upright_sheets(page: Any, characters: PageCharacters) -> list[UprightSheet]:
    """Return the upright page, and the page rotated for text that runs up or down."""
    boxes = characters.get_boxes()
    written = _UNWRITTEN.sub(lambda found: _WRITTEN[ord(found[0])], characters.text)
    by_turn: dict[int, list[PdfWord]] = {}
    spans = list(_iterate_word_spans(written, boxes))
    faces = characters.get_font_faces([start for start, _ in spans])
    for (start, end), face in zip(spans, faces, strict=True):
        turn = _get_word_rotation(characters, boxes, start, end)
        placed = [_rotate_box(box, turn) for box in boxes[start:end]] if turn else boxes[start:end]
        if face.has_tall_box:
            placed = list(map(face.normalize_box, placed))
        by_turn.setdefault(turn, []).append(_build_word(written, placed, start, end))
    drawn = list(islice(iterate_drawn_lines(page), _MOST_RULES)) if by_turn else []
    return [
        UprightSheet(
            tuple(word for word in words if not DOTTED.fullmatch(word.text)),
            (
                *(box_to_rule(_rotate_box(box, turn)) for box in drawn),
                *(_convert_dots_to_rule(word) for word in words if DOTTED.fullmatch(word.text)),
            ),
        )
        for turn, words in by_turn.items()
    ]


def _convert_dots_to_rule(word: PdfWord) -> RuleLine:
    """Return the rule that a word of dots or dashes forms."""
    return RuleLine(word.left, word.bottom, word.right, word.bottom)


def _iterate_word_spans(written: str, boxes: Sequence[Box]) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each word."""
    for found in _UNBROKEN.finditer(written):
        start, end = found.span()
        for index in range(start + 1, end):
            before, here = boxes[index - 1], boxes[index]
            is_near = before[0] <= here[0] < before[2] + _NEAR and before[1] == here[1]
            if not is_near and _is_word_gap(before, here):
                yield start, index
                start = index
        yield start, end


def _is_word_gap(before: Box, here: Box) -> bool:
    """Return whether two neighbouring characters belong to different words without a space."""
    left, bottom, right, top = before
    height = max(min(top - bottom, right - left + 8), 4)
    beside = max(here[0] - right, left - here[2])
    above = max(here[1] - top, bottom - here[3])
    return beside > _WORD_GAP * height or above > _WORD_GAP * height


def _get_word_rotation(
    characters: PageCharacters, boxes: Sequence[Box], start: int, end: int
) -> int:
    """Return 0 for upright words, 1 for upward ones, -1 for downward ones."""
    if end - start > 1 and boxes[start][1] == boxes[end - 1][1]:
        return 0  # as nearly always
    angle = characters.get_rotation_angle(start)
    if abs(math.sin(angle)) < 0.7:
        return 0
    if end - start > 1:
        return 1 if boxes[end - 1][1] > boxes[start][1] else -1
    return -1 if math.sin(angle) > 0 else 1


def _rotate_box(box: Box, turn: int) -> Box:
    left, bottom, right, top = box
    if turn == 1:
        return bottom, -right, top, -left
    return (-top, left, -bottom, right) if turn else box


def _build_word(written: str, placed: Sequence[Box], start: int, end: int) -> PdfWord:
    lefts, bottoms, rights, tops = zip(*placed, strict=True)
    heights = list(map(sub, tops, bottoms))
    tallest = heights.index(max(heights))
    bottom, top = bottoms[tallest], tops[tallest]
    return PdfWord(written[start:end], min(lefts), bottom, max(rights), top, start, end)
