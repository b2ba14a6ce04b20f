"""Merge scattered words of a PDF: labels in figures, and pieces of formulas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from .captions import CAPTION
from .headings import ENDS, TextBlock, is_usual_section_title

_FEWEST = 3  # pieces in a row; fewer may be anything
_MOST_WORDS = 3  # of a piece
_MATHS = re.compile(r"[=\u2211\u222b\u221a\u2264\u2265\u2248\u00d7\u220f\u2202]")


def merge_scattered_words(blocks: list[TextBlock]) -> Iterator[TextBlock]:
    """Yield the blocks; consecutive scattered words are merged into one line.

    Labels of a figure become asides, so that they do not split a sentence; formulas are part of the
    text.
    """
    for scattered, run in groupby(blocks, key=_is_scattered_word):
        pieces = list(run)
        if not scattered or len(pieces) < _FEWEST:
            yield from pieces
            continue
        text = " ".join(piece.text for piece in pieces)
        yield replace(pieces[0], text=text, is_aside=not _MATHS.search(text))


def _is_scattered_word(block: TextBlock) -> bool:
    """Return whether a block is too short to be running text."""
    if block.level or block.is_aside or block.rows or not block.text:
        return False
    is_short = len(block.text.split()) <= _MOST_WORDS and not block.text.endswith(ENDS)
    return is_short and not CAPTION.match(block.text) and not is_usual_section_title(block.text)
