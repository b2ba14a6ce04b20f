"""Where a quotation stands in the corpus, word for word, or which passage comes nearest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import Corpus


@dataclass(frozen=True, slots=True)
class Quotation:
    """What was found for a quotation.

    ``verbatim``: it stands there word for word; then ``start`` and ``end`` are its own place in
    ``file`` (or, without one, in title, blank line and abstract of the record), and ``text`` is
    what stands there. Else ``text`` is the nearest passage and its place; ``found`` is False where
    not even that shares words with it. ``likeness`` goes from 0 to 1.
    """

    found: bool
    verbatim: bool = False
    paper: str = ""
    title: str = ""
    file: str = ""
    section: str = ""
    start: int = 0
    end: int = 0
    text: str = ""
    likeness: float = 0.0
    uuid: str = ""


def verify(text: str, corpus: Corpus) -> Quotation:
    """Where *text* stands in the corpus."""
    raise NotImplementedError
