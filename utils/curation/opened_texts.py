"""The texts that were read last, with all that was computed from them.

A paper is read page by page: eight calls for a long one. Its outline, the names of its blocks and
the places of its figures depend on nothing but the text, so each is computed once for all pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache

from ..model.paper import Section, StoredPaper
from ..model.passage import Anchor
from ..outline import Float, floats_of, outermost, outline, section_words
from ..outline.blocks import anchors_of
from ..shelf import Shelf
from ..shelf.shelf import TextFile

_MOST_OPEN = 16


class OpenedText:
    """A text and its outline; *words* are the publisher's names of its sections."""

    def __init__(self, text: str, words: Mapping[str, str]) -> None:
        self.text = text
        self.sections: tuple[Section, ...] = tuple(outline(text, words))
        self._words = words

    @cached_property
    def anchors(self) -> tuple[Anchor, ...]:
        """The names of its blocks."""
        return tuple(anchors_of(self.text))

    @cached_property
    def floats(self) -> tuple[Float, ...]:
        """Its figures and tables."""
        return tuple(floats_of(self.text, self.sections))

    @cached_property
    def without_references(self) -> OpenedText:
        """The same text without its reference list."""
        text = self.text
        for part in reversed(outermost(self.sections, "references")):
            text = text[: part.start] + text[part.end :]
        return OpenedText(text, self._words)


def open_text(stored: StoredPaper, shelf: Shelf) -> OpenedText:
    """Return the text of a paper on the shelf, opened again only if its file has changed.

    Raises
    ------
    StoreFailed
        The file cannot be read.
    """
    return _open(TextFile.of(stored, shelf))


@lru_cache(maxsize=_MOST_OPEN)
def _open(file: TextFile) -> OpenedText:
    return OpenedText(file.shelf.read_text(file.stored), section_words(file.stored.sections))
