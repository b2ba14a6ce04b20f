"""What speaks for a text being a paper: prose of its own, and the marks that a paper carries.

Gathered once, from the markdown that every reader ends in and from the record, and weighed by
`.check` and `.wholeness`. Nothing here decides.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from ..model.paper import Document, Paper
from ..outline.sections import Part, blocks
from .block_kinds import Kind, Stretch, stretches
from .citation_marks import cited_numbers, in_column

_REPEATED: Final = 0.5  # of a stretch's four-word runs; prose of its own shares a run or two
_FILLED: Final = 25  # words of prose under a heading; a line or two is what is left of a section
_TELLING: Final = 24  # words of title and abstract that say most what the paper is about
_LONG: Final = 6  # letters of a telling word
_IN_A_ROW: Final = 3  # stretches of prose; no reference is so long
_OPENING: Final = 12  # words by which a stretch is known again
# Words; a longer declaration is the body, under a heading mistaken for one.
_SMALL_PRINT: Final = 250
_LABEL: Final = 40  # characters in which a caption says what it belongs to
_LIST: Final = 60  # words of references: their list has been
_TERSE: Final = 6  # words of the shortest references
_ENTRY: Final = 40  # words of a long reference, where a PDF runs them together
_SKIPPED: Final = 2  # numbers of a list that may have been misread
_LINKED: Final = re.compile(r"\]\([^()\[\]\s]{0,2000}(?:\s\"[^\"\[]{0,300}\")?\)")
# Numbers that are a link each: [3]-[7], [3],[9].
_APART: Final = re.compile(r"(?<=\d)\](\s?[,;\u2013\u2212-]\s?)\[(?=\d)")
# (Doe et al., 2006; Roe 2010a), Doe (2006): a name and a year.
NAMED: Final = re.compile(
    r"[^\W\d_]\.?(?:,|[\u2019']s)?\s?[(\[]?\b(?:19|20)\d\d[a-z]?\b(?=\s?[^\w\s]{0,2}\s?[);,\]])"
)
_ORDINAL: Final = re.compile(r"(?:^|(?<=\s))\W{0,3}(\d{1,3})\\?[.)\]](?=\s|[^\W\d])", re.M)
_MENTION: Final = re.compile(
    r"\b(fig|abb|tab)(?:s|ur[ae]?s?|ildung(?:en)?|l(?:es?|as?|eaux?)|el(?:le|len|las?))?"
    r"\.?\s{0,2}(\d{1,2})(?!\d)",
    re.I,
)
_YEAR: Final = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_MOST: Final = 0.8  # of the lines of a list
_TORN: Final = re.compile(r"(?:\.\.\.|\u2026)\W{0,3}$")


@dataclass(slots=True)
class Section:
    """A heading, and the words under it: of ``prose``, and of anything."""

    name: str
    part: Part
    prose: int = 0
    total: int = 0


@dataclass(slots=True)
class Evidence:
    """Counts and marks of a text; words unless said otherwise.

    Attributes
    ----------
    prose : int
        Running text of the body that is neither the abstract nor said before.
    stretches : int
        In how many pieces it comes.
    torn : int
        Blocks of it that end in three dots.
    repeated, small_print : int
        Prose that is the abstract again, or stands under a heading of the small print.
    kinds : Counter
        All words by what they are.
    sections : list
        Every heading in order.
    abstract : bool
        Whether the paper has one.
    on_topic : float
        Share of the telling words of title and abstract that the prose uses.
    cited : set
        Numbers of references that the text cites; ``named`` counts those by name and year.
    by_marks : bool
        Whether the numbers of these are marks in brackets, or marked up; ``otherwise`` are those
        that stand there in another way (`.citation_marks`).
    listed : int
        References; ``numbered`` is the last of their printed numbers, ``references`` their text.
    mentioned, captions : set
        Figures and tables that the text mentions, and those that have a caption.
    ends_in : str
        The part it ends in; ``last`` is the last prose of the body.
    """

    prose: int = 0
    stretches: int = 0
    torn: int = 0
    repeated: int = 0
    small_print: int = 0
    kinds: Counter[Kind] = field(default_factory=Counter)
    sections: list[Section] = field(default_factory=list)
    abstract: bool = False
    on_topic: float = 0.0
    cited: set[int] = field(default_factory=set)
    named: int = 0
    listed: int = 0
    numbered: int = 0
    by_marks: bool = False
    otherwise: set[int] = field(default_factory=set)
    references: str = ""
    mentioned: set[tuple[str, int]] = field(default_factory=set)
    captions: set[tuple[str, int]] = field(default_factory=set)
    parse_outcomes: Part = "lead"
    last: str = ""
    text: str = ""

    @property
    def body(self) -> list[Section]:
        """The sections of the body."""
        return [section for section in self.sections if section.part == "body"]

    @property
    def filled(self) -> int:
        """How many of them have text under them."""
        return sum(section.prose >= _FILLED for section in self.body)


def gather(document: Document, paper: Paper, abstract: str) -> Evidence:
    """Gather the evidence of a text that was asked for as *paper*; *abstract* is the paper's."""
    reading = _Reading(abstract, paper if abstract else None)
    for part, is_heading, text in blocks(document.markdown):
        if is_heading:
            reading.heading(part, text)
        else:
            reading.block(part, text)
    found = reading.evidence(document.references)
    found.on_topic = _on_topic(reading.used, f"{paper.title or document.title} {abstract}")
    return found


class _Reading:
    """One pass over a text."""

    def __init__(self, abstract: str, paper: Paper | None) -> None:
        self.found = Evidence(abstract=bool(abstract))
        self.used: set[str] = set()
        self._seen: set[tuple[str, ...]] = set()
        self._told: list[str] = []
        self._references: list[str] = []
        self._loose = self._counted = 0
        self._waiting: list[Stretch] = []
        self._words_of_list = 0
        self._small_print = 0  # of the section we are in
        self._known: set[tuple[str, ...]] = set()
        others = [text for _, text in paper.other_abstracts] if paper else []
        for text in (abstract, paper.abstract if paper else "", *others):
            words = (word for part in stretches(text) for word in part.words)
            self._known |= _runs(tuple(words))

    def heading(self, part: Part, text: str) -> None:
        # What a site sets behind the list (comments, teasers) is no part of the paper.
        part = "back" if part == "body" and self._words_of_list >= _LIST else part
        self.found.parse_outcomes = part
        self.found.sections.append(Section(text, part))
        self._small_print = 0

    def block(self, part: Part, text: str) -> None:
        entries = _entries(text)
        self._counted += entries
        part = "references" if entries else part
        behind = part in ("lead", "body") and self._words_of_list >= _LIST
        self.found.parse_outcomes = "back" if behind else part
        if part == "references":
            self._references.append(text)
        else:
            self._waiting.clear()
        before = self.found.prose
        if text.startswith("|"):
            self._told.extend(f"[{numbers}]" for numbers in in_column(text))
        for stretch in stretches(text):
            self.found.kinds[stretch.kind] += stretch.length
            if self.found.sections:
                self.found.sections[-1].total += stretch.length
            self._stretch(part, stretch, is_list=bool(entries))
            if stretch.kind != "prose":
                self._waiting.clear()
        if self.found.prose > before and not behind:
            self.found.last = text
            self.found.torn += _TORN.search(text) is not None

    def _stretch(self, part: Part, stretch: Stretch, is_list: bool) -> None:
        if part == "references" and stretch.kind != "link":
            self._words_of_list += stretch.length
        if stretch.kind == "float":
            self._float(stretch)
        elif stretch.kind == "reference" and part != "references":
            self._loose += 1
            self._references.append(stretch.text)
        elif stretch.kind == "prose" and not is_list:
            self._prose(part, stretch)
        elif stretch.kind in ("name", "label") and part != "references":
            self._told.append(stretch.text)

    def _float(self, stretch: Stretch) -> None:
        for name, number in _MENTION.findall(stretch.text[:_LABEL]):
            self.found.captions.add((name.lower(), int(number)))
        self._told.append(stretch.text)

    def _prose(self, part: Part, stretch: Stretch) -> None:
        found, opening = self.found, stretch.words[:_OPENING]
        if opening in self._seen or self._is_abstract(stretch):
            found.repeated += stretch.length
            self._told.append(stretch.text)  # the works that it cites are cited
            return
        if part == "references":
            self._among_references(stretch)
            return
        self._seen.add(opening)
        self._told.append(stretch.text)
        if part == "back" and self._small_print < _SMALL_PRINT:
            self._small_print += stretch.length
            found.small_print += stretch.length
            return
        self._own(stretch)

    def _among_references(self, stretch: Stretch) -> None:
        """Prose where references stand: a wordy one, or text that a PDF has in another order."""
        self._waiting.append(stretch)
        if len(self._waiting) < _IN_A_ROW:
            return
        for waiting in self._waiting if len(self._waiting) == _IN_A_ROW else [stretch]:
            self._seen.add(waiting.words[:_OPENING])
            self._told.append(waiting.text)
            self._own(waiting)

    def _own(self, stretch: Stretch) -> None:
        found = self.found
        found.prose += stretch.length
        found.stretches += 1
        self.used.update(stretch.words)
        if found.sections:
            found.sections[-1].prose += stretch.length

    def _is_abstract(self, stretch: Stretch) -> bool:
        if not self._known:
            return False
        runs = _runs(stretch.words)
        return len(runs & self._known) > _REPEATED * len(runs)

    def evidence(self, listed: int) -> Evidence:
        """All that was found, the list having so many references by the reader's count."""
        found = self.found
        found.references = "\n".join(self._references)
        found.numbered = _numbered(found.references)
        # Links may follow the list.
        listed = min(listed, max(self._words_of_list // _TERSE, found.numbered))
        found.listed = max(listed, self._loose, self._counted, found.kinds["reference"] // _ENTRY)
        text = "\n".join(self._told).replace("\\", "").replace("*", "")
        text = _LINKED.sub("]", text).replace("[[", "[").replace("]]", "]")
        text = _APART.sub(r"\1", text)
        found.text = text
        found.cited, found.by_marks, found.otherwise = cited_numbers(
            text, listed=bool(found.listed)
        )
        found.named = len(NAMED.findall(text))
        found.mentioned = {(name.lower(), int(no)) for name, no in _MENTION.findall(text)}
        return found


def _entries(block: str) -> int:
    """How many references a block counts, if its lines count entries with years, and go on so."""
    lines = block.split("\n")
    entries = [line for line in lines if _YEAR.search(line)] if len(lines) >= _IN_A_ROW else []
    numbers = [int(match[1]) for line in entries if (match := _ORDINAL.match(line))]
    rising = all(one < other for one, other in pairwise(numbers))
    return len(numbers) if rising and len(numbers) >= max(_IN_A_ROW, _MOST * len(lines)) else 0


def _runs(words: tuple[str, ...]) -> set[tuple[str, ...]]:
    return set(zip(words, words[1:], words[2:], words[3:], strict=False))


def _numbered(references: str) -> int:
    """The last number of a list that counts from 1, wherever its entries begin; 0 if it does not.

    >>> _numbered("1. Doe. 2010. 2. Roe. 12. 3. Poe.")
    3
    """
    last = 0
    for number in map(int, _ORDINAL.findall(references)):
        if last < number <= last + _SKIPPED:
            last = number
    return last


def _on_topic(used: set[str], about: str) -> float:
    words = {word for part in stretches(about) for word in part.words if len(word) >= _LONG}
    telling = sorted(words, key=lambda word: (-len(word), word))[:_TELLING]
    return sum(word in used for word in telling) / len(telling) if len(telling) > 2 else 1.0
