"""The passages of a cited text, and how much each is about what a sentence says.

A passage is a sentence, or a table with its heading. It is about a claim by the share of the
claim's words it has, rare ones counting more; words in the sentences beside it count half.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ..outline import outermost, outline
from ..outline.blocks import anchor_at, body_start
from ..outline.terms import COMMON, indexed
from .parts import Block, sentences
from .quantities import Quantity, quantities

_BLOCK = re.compile(r"[^\n].*?(?=\n[ \t]*\n|\Z)", re.S)
_TABLE = re.compile(r"\s*\|", re.M)
_MARKUP = re.compile(r"</?\w+>|[*\\]|(?<!\w)_+|_+(?!\w)|\[\d[\d,\u2013 -]*\]")
_BESIDE = 0.5
_FRAME_WORDS = """
    according authors colleagues previous previously earlier recent recently prior study studies
    work works others us before researchers investigators literature shown show shows showed found
    find finding findings reported report reports described demonstrated observed noted suggested
    stated indicated revealed concluded confirmed known well also however moreover furthermore
    thus therefore hence
"""


@dataclass(frozen=True)
class Passage:
    """``text[start:end]`` of the cited text, which reads ``words``."""

    start: int
    end: int
    words: str
    heading: str = ""

    @cached_property
    def terms(self) -> frozenset[str]:
        """Its words as they are compared."""
        return frozenset(terms(self.words))

    @cached_property
    def numbers(self) -> list[Quantity]:
        """Its numbers."""
        return quantities(self.words)


def terms(text: str) -> list[str]:
    """The words of a text that say something: no figures, no common ones."""
    return [
        word
        for word in indexed(text).split()
        if word not in COMMON and len(word) > 1 and not word[0].isdigit()
    ]


_FRAMING = frozenset(terms(_FRAME_WORDS))  # how a claim is told, not what it is about


@dataclass
class CitedText:
    """The text of a cited paper: full text, abstract or title only."""

    key: str
    text: str
    is_full: bool
    file: str = ""
    passages: list[Passage] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.passages = list(_passages(self.text))
        counted = Counter(term for one in self.passages for term in one.terms)
        total = len(self.passages) + 1
        self._weights = {term: math.log(total / count) + 0.1 for term, count in counted.items()}
        self._rare = math.log(total) + 0.1

    def ranked(self, claim: str) -> list[tuple[float, Passage]]:
        """The passages by how much they are about a claim (0 to 1), the best first."""
        said = set(terms(claim))
        wanted = {term: self._weights.get(term, self._rare) for term in said - _FRAMING or said}
        whole = sum(wanted.values())
        if not whole:
            return [(0.0, one) for one in self.passages]
        own = [wanted.keys() & one.terms for one in self.passages]
        scored = []
        for at, one in enumerate(self.passages):
            beside = set().union(*own[max(0, at - 1) : at + 2]) - own[at]
            weight = sum(wanted[term] for term in own[at])
            weight += _BESIDE * sum(wanted[term] for term in beside)
            scored.append((weight / whole, one))
        return sorted(scored, key=lambda pair: -pair[0])

    def handle(self, passage: Passage) -> str:
        """Where to read on: ``pmid:31452104#p-3f9a1c2e``."""
        anchor = anchor_at(self.text, passage.start, passage.end)
        return f"{self.key}#{anchor.name}" if anchor else self.key


def _passages(text: str) -> Iterator[Passage]:
    unread = outermost(outline(text), "references")
    heading = ""
    for found in _BLOCK.finditer(text, body_start(text)):
        if any(one.start <= found.start() < one.end for one in unread):
            continue
        if found[0].startswith("#"):
            heading = found[0].strip("# ")
            if found.start():
                continue
        yield from _of_block(found, heading)


def _of_block(found: re.Match[str], heading: str) -> Iterator[Passage]:
    plain = _MARKUP.sub(lambda mark: " " * len(mark[0]), found[0])
    if _TABLE.match(found[0]):
        yield Passage(found.start(), found.end(), plain, heading)
        return
    for one in sentences(Block(plain.replace("\n", " "))):
        start, end = found.start() + one.start, found.start() + one.end
        yield Passage(start, end, one.text, heading)


def best(texts: Sequence[CitedText], claim: str) -> tuple[float, Passage, CitedText] | None:
    """The passage that is most about a claim, of several papers."""
    found = [(*ranked[0], text) for text in texts if (ranked := text.ranked(claim))]
    return max(found, key=lambda one: one[0], default=None)
