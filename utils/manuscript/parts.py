"""The parts of a manuscript in any format: blocks, citation marks, references.

A block is a paragraph as displayed, with each character's position in the file.
A mark is a citation in a block.

`iterate_sentences` yields the sentences of a block, each with its citations. A citation after the
full stop belongs to the sentence before it, as superscripts do. A quotation is never split: it is
part of one sentence even if it consists of several.
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
_ABBREVIATION = re.compile(
    r"(?:\b(?:al|e\.g|i\.e|vs|figs?|eqs?|refs?|cf|ca|approx|dr|mr|mrs|prof|no|nos|resp|pp?|vol|ed"
    r"|eds|sect?|tabs?|suppl|st|spp?|var|viz|incl|etc|[A-Z]|(?:[A-Za-z]\.)+[A-Za-z]))\.$",
    re.I,
)
_QUOTATION = re.compile(
    r"\u201c([^\u201c\u201d]{1,5000})\u201d|\u201e([^\u201e\u201c\u201d]{1,5000})[\u201c\u201d]"
    r"|\u00ab\s?([^\u00ab\u00bb]{1,5000}?)\s?\u00bb|(?<!\w)\"([^\"]{1,5000})\"(?!\w)"
)
_SENTENCE_START = re.compile(
    r"[\s\"'\u201c\u2018\u201e\u00ab(\[]*(?:[^\W\d_a-z]|\d|@|\\|[^\W_]*[A-Z])"
)


@dataclass(frozen=True, slots=True)
class ManuscriptPlace:
    """A position in a manuscript; numbers that the format lacks are 0.

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
        """Describe the place in words: ``paper.tex, line 12, characters 40–88``."""
        page = f"page {self.page}" if self.page else ""
        if self.line and self.last_line > self.line:
            there = f"lines {self.line}–{self.last_line}"
        elif self.line:
            there = f"line {self.line}"
        else:
            there = f"paragraph {self.paragraph}" if self.paragraph else ""
        characters = f"characters {self.start + 1}–{self.end}" if self.end else ""
        return ", ".join(filter(None, (self.file, page, there, characters)))


class CitationMark(NamedTuple):
    """A citation: its position in the block, and the keys of the references that it cites.

    A key that begins with ``#`` holds superscript digits. They are entry numbers if the manuscript
    has a numbered printed list (see `.printed`).
    """

    start: int
    end: int
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ManuscriptBlock:
    """A paragraph as displayed.

    ``at`` holds each character's offset in the file, ``lines`` the offsets at which the file's
    lines begin; both are empty in formats that have paragraphs only. ``pages`` lists the block's
    pages, each with the block's first character on that page. ``kind`` is ``prose``, ``quote`` (a
    block quotation), ``heading`` or ``entry`` (of a printed reference list).
    """

    text: str
    marks: tuple[CitationMark, ...] = ()
    kind: Literal["prose", "quote", "heading", "entry"] = "prose"
    file: str = ""
    number: int = 0
    pages: Sequence[tuple[int, int]] = ()
    at: Sequence[int] = ()
    lines: Sequence[int] = field(default=(), repr=False)

    def get_place(self, start: int, end: int) -> ManuscriptPlace:
        """Return the position of a stretch of the block."""
        page = max((page for begin, page in self.pages if begin <= start), default=0)
        if not self.at or start >= len(self.at):
            return ManuscriptPlace(self.file, 0, 0, self.number, page, start, end)
        first, last = self.at[start], self.at[max(start, min(end, len(self.at)) - 1)]
        line, last_line = bisect_right(self.lines, first), bisect_right(self.lines, last)
        begin, last_begin = self.lines[line - 1], self.lines[last_line - 1]
        return ManuscriptPlace(
            *(self.file, line, last_line, self.number, page),
            *(first - begin, last + 1 - last_begin),
        )


@dataclass(frozen=True, slots=True)
class ListedReference:
    """An entry of the manuscript's reference list.

    ``ids`` are the entry's identifiers and ``paper`` its bibliographic details. ``words`` is the
    entry as printed, empty for an entry that consists of fields. ``kind`` is the type that the
    reference manager gives (``article``, ``book``, ``webpage``), empty if unknown.
    """

    key: str
    ids: Ids
    paper: Paper
    words: str = ""
    kind: str = ""
    place: ManuscriptPlace = field(default_factory=ManuscriptPlace)


@dataclass(frozen=True, slots=True)
class Manuscript:
    """A manuscript that was read; ``warnings`` name the parts that could not be read.

    ``accepted`` maps the fingerprint of each accepted finding to the reason (`.checking`).
    """

    name: str
    form: Form
    blocks: tuple[ManuscriptBlock, ...]
    references: tuple[ListedReference, ...]
    warnings: tuple[str, ...] = ()
    accepted: Mapping[str, str] = field(default_factory=dict)


class BlockBuilder:
    """Builds blocks character by character, with their positions in the file."""

    def __init__(self, source: str, file: str = "") -> None:
        self.blocks: list[ManuscriptBlock] = []
        self._file = file
        self._lines = [0, *(at + 1 for at, sign in enumerate(source) if sign == "\n")]
        self._text: list[str] = []
        self._at: list[int] = []
        self._marks: list[CitationMark] = []
        self._length = 0

    def append_text(self, text: str, at: int, spelled: int = 0) -> None:
        """Append text that is at offset *at*; ``spelled`` is its length in the source."""
        self._text.append(text)
        is_same = not spelled or spelled == len(text)
        self._at += range(at, at + len(text)) if is_same else [at] * len(text)
        self._length += len(text)

    def append_citation(self, keys: Sequence[str], text: str, at: int, spelled: int = 0) -> None:
        """Append a citation."""
        start = self._length
        self.append_text(text, at, spelled)
        self._marks.append(CitationMark(start, self._length, tuple(keys)))

    def finish_block(self, kind: Literal["prose", "quote", "heading", "entry"] = "prose") -> None:
        """Finish the current block; a blank block is dropped."""
        text = "".join(self._text)
        if text.strip():
            number = len(self.blocks) + 1
            made = ManuscriptBlock(
                *(text, tuple(self._marks), kind, self._file, number, (), tuple(self._at)),
                lines=self._lines,
            )
            self.blocks.append(made)
        self._text, self._at, self._marks, self._length = [], [], [], 0


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, ``block.text[start:end]``, with its citations."""

    block: ManuscriptBlock
    start: int
    end: int
    marks: tuple[CitationMark, ...]

    @property
    def text(self) -> str:
        """The sentence as displayed, with its citations."""
        return self.block.text[self.start : self.end]

    @property
    def claim(self) -> str:
        """The sentence with blanks in place of its citations; offsets stay the same."""
        text = list(self.text)
        for mark in self.marks:
            begin, end = mark.start - self.start, mark.end - self.start
            text[begin:end] = " " * (end - begin)
        return "".join(text)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that the sentence cites, each once."""
        return tuple(dict.fromkeys(key for mark in self.marks for key in mark.keys))

    @property
    def place(self) -> ManuscriptPlace:
        """The place of the sentence."""
        return self.block.get_place(self.start, self.end)


def iterate_sentences(block: ManuscriptBlock) -> Iterator[Sentence]:
    """Yield the sentences of a block, in order."""
    text, start = block.text, 0
    for at in [*_iterate_sentence_ends(block), len(text)]:
        begin = start + len(text[start:at]) - len(text[start:at].lstrip())
        end = begin + len(text[begin:at].rstrip())
        if end > begin:
            yield Sentence(
                *(block, begin, end),
                tuple(mark for mark in block.marks if begin <= mark.start < end),
            )
        start = at


def iterate_quotations(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each quotation in a text, without its quotation marks."""
    for found in _QUOTATION.finditer(text):
        yield found.span(found.lastindex or 0)


def _iterate_sentence_ends(block: ManuscriptBlock) -> Iterator[int]:
    """Yield the offset after each sentence, including its closing citations."""
    text = block.text
    # A full stop before a closing quotation mark may end a sentence: `_END` includes that mark.
    inside = [
        *((mark.start, mark.end) for mark in block.marks),
        *((start, len(text[:end].rstrip(".!? "))) for start, end in iterate_quotations(text)),
    ]
    begins = {
        mark.start for mark in block.marks
    }  # superscripts follow the full stop without a space
    for found in _END.finditer(text):
        if text[found.end() : found.end() + 1].strip() and found.end() not in begins:
            continue
        if any(begin <= found.start() < end for begin, end in inside):
            continue
        if _ABBREVIATION.search(text[max(0, found.start() - 12) : found.start() + 1]):
            continue
        at = _find_end_of_citations(found.end(), block)
        if at >= len(text) or _SENTENCE_START.match(text, at):
            yield at


def _find_end_of_citations(at: int, block: ManuscriptBlock) -> int:
    """Return the offset after the citations at *at*, unless they begin the next sentence."""
    for mark in block.marks:
        gap = block.text[at : mark.start] if mark.start >= at else "-"
        behind = block.text[mark.end :].lstrip()
        if not gap.strip() and (not behind or not (behind[0].islower() or gap)):
            at = mark.end
    return at
