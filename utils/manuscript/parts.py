"""What a manuscript consists of, whatever it was written with: blocks, marks, references.

A block is a paragraph as it is read, and knows for each of its characters where that stands in the
file. A mark is a citation in it.

`sentences` gives the sentences of a block, each with its citations. A citation behind the full stop
belongs to the sentence before it, as superscripts stand; what is quoted is in one sentence, of
however many it is itself.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ..model.identifiers import Ids
from ..model.paper import Paper

Form = Literal["markdown", "latex", "docx", "pdf", "text"]
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
class Place:
    """Where something stands: what the form of the manuscript can say is above 0.

    ``start`` and ``end`` count characters: in texts from the beginning of ``line`` and of
    ``last_line``, in DOCX and PDF from that of the paragraph.
    """

    file: str = ""
    line: int = 0
    last_line: int = 0
    paragraph: int = 0
    page: int = 0
    start: int = 0
    end: int = 0

    def __str__(self) -> str:
        """In words: ``paper.tex, line 12, characters 40–88``."""
        page = f"page {self.page}" if self.page else ""
        if self.line and self.last_line > self.line:
            there = f"lines {self.line}–{self.last_line}"
        elif self.line:
            there = f"line {self.line}"
        else:
            there = f"paragraph {self.paragraph}" if self.paragraph else ""
        characters = f"characters {self.start + 1}–{self.end}" if self.end else ""
        return ", ".join(filter(None, (self.file, page, there, characters)))


class Mark(NamedTuple):
    """A citation: its place in the block, and the keys of the references it names.

    A key that begins with ``#`` is raised figures, which are numbers of a printed list if it has
    them (see `.printed`).
    """

    start: int
    end: int
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph as it is read.

    ``at`` is where each character stands in the file, ``lines`` where the file's lines begin;
    both are empty where there are paragraphs only. ``pages`` are the pages it stands on, each with
    the first character there. ``kind`` is ``prose``, ``quote`` (set apart as
    one), ``heading`` or ``entry`` (of a printed list of references).
    """

    text: str
    marks: tuple[Mark, ...] = ()
    kind: Literal["prose", "quote", "heading", "entry"] = "prose"
    file: str = ""
    number: int = 0
    pages: Sequence[tuple[int, int]] = ()
    at: Sequence[int] = ()
    lines: Sequence[int] = field(default=(), repr=False)

    def place(self, start: int, end: int) -> Place:
        """Where a stretch of the block stands."""
        page = max((page for begin, page in self.pages if begin <= start), default=0)
        if not self.at or start >= len(self.at):
            return Place(self.file, 0, 0, self.number, page, start, end)
        first, last = self.at[start], self.at[max(start, min(end, len(self.at)) - 1)]
        line, last_line = bisect_right(self.lines, first), bisect_right(self.lines, last)
        begin, last_begin = self.lines[line - 1], self.lines[last_line - 1]
        return Place(
            *(self.file, line, last_line, self.number, page),
            *(first - begin, last + 1 - last_begin),
        )


@dataclass(frozen=True, slots=True)
class Reference:
    """An entry of the list of references, as the manuscript has it.

    ``ids`` are the identifiers it gives, ``paper`` what it says of the work (without identifiers),
    ``words`` the entry as printed, empty where it came in fields. ``kind`` is the program's own
    word (``article``, ``book``, ``webpage``), empty where it has none.
    """

    key: str
    ids: Ids
    paper: Paper
    words: str = ""
    kind: str = ""
    place: Place = field(default_factory=Place)


@dataclass(frozen=True, slots=True)
class Manuscript:
    """A manuscript that was read; ``warnings`` say what of it could not be.

    ``accepted`` are findings that somebody accepts, by fingerprint, with the reason (`.checking`).
    """

    name: str
    form: Form
    blocks: tuple[Block, ...]
    references: tuple[Reference, ...]
    warnings: tuple[str, ...] = ()
    accepted: Mapping[str, str] = field(default_factory=dict)


class BlockBuilder:
    """Makes blocks, character by character, of a file in which lines are counted."""

    def __init__(self, source: str, file: str = "") -> None:
        self.blocks: list[Block] = []
        self._file = file
        self._lines = [0, *(at + 1 for at, sign in enumerate(source) if sign == "\n")]
        self._text: list[str] = []
        self._at: list[int] = []
        self._marks: list[Mark] = []
        self._length = 0

    def add(self, text: str, at: int, spelled: int = 0) -> None:
        """Go on with *text*, which stands at *at*; ``spelled`` with so many characters there."""
        self._text.append(text)
        is_same = not spelled or spelled == len(text)
        self._at += range(at, at + len(text)) if is_same else [at] * len(text)
        self._length += len(text)

    def cite(self, keys: Sequence[str], text: str, at: int, spelled: int = 0) -> None:
        """Go on with a citation."""
        start = self._length
        self.add(text, at, spelled)
        self._marks.append(Mark(start, self._length, tuple(keys)))

    def end(self, kind: Literal["prose", "quote", "heading", "entry"] = "prose") -> None:
        """End the block, if it has a word."""
        text = "".join(self._text)
        if text.strip():
            number = len(self.blocks) + 1
            made = Block(
                *(text, tuple(self._marks), kind, self._file, number, (), tuple(self._at)),
                lines=self._lines,
            )
            self.blocks.append(made)
        self._text, self._at, self._marks, self._length = [], [], [], 0


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
