"""The sentences of a block, each with its citations.

A citation behind the full stop belongs to the sentence before it, as superscripts stand; what is
quoted is in one sentence, of however many it is itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .parts import Block, Mark, Place

_END = re.compile(r"[.!?]+[\"'\u2019\u201d\u00bb)\]]*")
_NOT_BEHIND = re.compile(
    r"(?:\b(?:al|e\.g|i\.e|vs|figs?|eqs?|refs?|cf|ca|approx|dr|mr|mrs|prof|no|nos|resp|pp?|vol|ed"
    r"|eds|sect?|tabs?|suppl|st|spp?|var|viz|incl|etc|[A-Z]|(?:[A-Za-z]\.)+[A-Za-z]))\.$",
    re.I,
)
_QUOTED = re.compile(
    r"\u201c([^\u201c\u201d]{1,5000})\u201d|\u201e([^\u201e\u201c\u201d]{1,5000})[\u201c\u201d]"
    r"|\u00ab\s?([^\u00ab\u00bb]{1,5000}?)\s?\u00bb|(?<!\w)\"([^\"]{1,5000})\"(?!\w)"
)
_MAY_BEGIN = re.compile(r"[\s\"'\u201c\u2018\u201e\u00ab(\[]*(?:[^\W\d_a-z]|\d|@|\\|[^\W_]*[A-Z])")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence: ``block.text[start:end]``, and the citations in it."""

    block: Block
    start: int
    end: int
    marks: tuple[Mark, ...]

    @property
    def text(self) -> str:
        """As it stands, with its citations."""
        return self.block.text[self.start : self.end]

    @property
    def claim(self) -> str:
        """The same with blanks in place of the citations, character for character."""
        text = list(self.text)
        for mark in self.marks:
            begin, end = mark.start - self.start, mark.end - self.start
            text[begin:end] = " " * (end - begin)
        return "".join(text)

    @property
    def keys(self) -> tuple[str, ...]:
        """The references it cites, each once."""
        return tuple(dict.fromkeys(key for mark in self.marks for key in mark.keys))

    @property
    def place(self) -> Place:
        """Where it stands."""
        return self.block.place(self.start, self.end)


def sentences(block: Block) -> Iterator[Sentence]:
    """The sentences of a block, in order."""
    text, start = block.text, 0
    for at in [*_ends(block), len(text)]:
        begin = start + len(text[start:at]) - len(text[start:at].lstrip())
        end = begin + len(text[begin:at].rstrip())
        if end > begin:
            yield Sentence(
                *(block, begin, end),
                tuple(mark for mark in block.marks if begin <= mark.start < end),
            )
        start = at


def quoted(text: str) -> Iterator[tuple[int, int]]:
    """Where quotations stand in a text, without their marks."""
    for found in _QUOTED.finditer(text):
        yield found.span(found.lastindex or 0)


def _ends(block: Block) -> Iterator[int]:
    text = block.text
    # The full stop before a closing mark may end a sentence, for the mark is part of its end.
    inside = [
        *((mark.start, mark.end) for mark in block.marks),
        *((start, len(text[:end].rstrip(".!? "))) for start, end in quoted(text)),
    ]
    begins = {mark.start for mark in block.marks}  # raised ones follow the full stop at once
    for found in _END.finditer(text):
        if text[found.end() : found.end() + 1].strip() and found.end() not in begins:
            continue
        if any(begin <= found.start() < end for begin, end in inside):
            continue
        if _NOT_BEHIND.search(text[max(0, found.start() - 12) : found.start() + 1]):
            continue
        at = _behind_marks(found.end(), block)
        if at >= len(text) or _MAY_BEGIN.match(text, at):
            yield at


def _behind_marks(at: int, block: Block) -> int:
    """Past the citations that follow a full stop, unless they begin the next sentence."""
    for mark in block.marks:
        gap = block.text[at : mark.start] if mark.start >= at else "-"
        behind = block.text[mark.end :].lstrip()
        if not gap.strip() and (not behind or not (behind[0].islower() or gap)):
            at = mark.end
    return at
