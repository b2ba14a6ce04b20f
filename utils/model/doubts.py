"""What a reader of PDFs is not sure of, page by page, until the paper's record is at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Doubts", "Glyph", "PageDoubts"]

Glyph = tuple[str, str]
"""The name of a font, and what it calls the letter."""


@dataclass(frozen=True, slots=True)
class PageDoubts:
    """The doubts about one page.

    Of its ``letters``, so many are ``lost`` because they have no code, and ``unplaced`` because
    they are of a table that could not be rebuilt; ``words`` counts those with a letter from another
    font; ``recognised`` is how sure text recognition is, 1 for printed text.
    """

    letters: int
    lost: int = 0
    unplaced: int = 0
    words: Mapping[str, int] = field(default_factory=dict)
    recognised: float = 1.0


@dataclass(frozen=True, slots=True)
class Doubts:
    """The doubts about a PDF: of its ``pages``, and the places of ``foreign`` letters in words."""

    pages: tuple[PageDoubts, ...] = ()
    foreign: Mapping[str, Mapping[int, Glyph]] = field(default_factory=dict)
