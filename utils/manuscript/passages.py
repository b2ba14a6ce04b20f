"""Split a cited text into passages, and rank the passages by similarity to a sentence.

A passage is a sentence, or a table with its heading. Its score for a claim is the share of the
claim's words that it contains. Rare words weigh more; words of adjacent sentences count half.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ..outline import build_outline, find_outermost_sections
from ..outline.blocks import find_anchor, find_body_start
from ..outline.terms import STOP_WORDS, to_index_terms
from .directions import ComparedWord, parse_compared_words
from .parts import ManuscriptBlock, iterate_sentences
from .quantities import Quantity, find_quantities

_BLOCK = re.compile(r"[^\n].*?(?=\n[ \t]*\n|\Z)", re.S)
_TABLE = re.compile(r"\s*\|", re.M)
_MARKUP = re.compile(r"</?\w+>|[*\\]|(?<!\w)_+|_+(?!\w)|\[\d[\d,\u2013 -]*\]")
_ADJACENT_WEIGHT = 0.5
_MAX_PASSAGE_CHARS = 600
_FRAME_WORDS = """
    according authors colleagues previous previously earlier recent recently prior study studies
    work works others us before researchers investigators literature shown show shows showed found
    find finding findings reported report reports described demonstrated observed noted suggested
    stated indicated revealed concluded confirmed known well also however moreover furthermore
    thus therefore hence write writes wrote article paper papers text
"""


@dataclass(frozen=True)
class CitedPassage:
    """A stretch ``text[start:end]`` of the cited text; ``words`` is the stretch without markup."""

    start: int
    end: int
    words: str
    heading: str = ""

    @cached_property
    def terms(self) -> frozenset[str]:
        """The words of the passage, in the form used for comparison."""
        return frozenset(list_content_words(self.words))

    @cached_property
    def numbers(self) -> list[Quantity]:
        """The numbers of the passage."""
        return find_quantities(self.words)

    @cached_property
    def compared_words(self) -> list[ComparedWord]:
        """The normalized words of the passage, for alignment with the words of a sentence."""
        return parse_compared_words(self.words)


def shorten_passage(passage: CitedPassage) -> str:
    """Return the first 600 characters of a passage, on one line."""
    return " ".join(passage.words.split())[:_MAX_PASSAGE_CHARS]


def list_content_words(text: str) -> list[str]:
    """Return the words of a text that carry meaning: no numbers and no common words."""
    return [
        word
        for word in to_index_terms(text).split()
        if word not in STOP_WORDS and len(word) > 1 and not word[0].isdigit()
    ]


_FRAMING_WORDS = frozenset(
    list_content_words(_FRAME_WORDS)
)  # words that introduce a claim and say nothing of its subject
_FRAMING_KEYS = frozenset({"=show", "=study", "=see", "=detect", "=suggest"})


def is_framing_word(term: str) -> bool:
    """Return whether a word only introduces a claim: "the authors found that"."""
    return term in _FRAMING_WORDS or term in STOP_WORDS or term in _FRAMING_KEYS


@dataclass
class CitedText:
    """The text of a cited paper: full text, abstract or only the title."""

    key: str
    text: str
    is_full: bool
    file: str = ""
    passages: list[CitedPassage] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.passages = list(_iterate_passages(self.text))
        counted = Counter(term for passage in self.passages for term in passage.terms)
        total = len(self.passages) + 1
        self._weights = {term: math.log(total / count) + 0.1 for term, count in counted.items()}
        self._rare = math.log(total) + 0.1

    def rank_passages(self, claim: str) -> list[tuple[float, CitedPassage]]:
        """Return the passages with their score for a claim (0 to 1), best first."""
        said = set(list_content_words(claim))
        wanted = {
            term: self._weights.get(term, self._rare) for term in said - _FRAMING_WORDS or said
        }
        whole = sum(wanted.values())
        if not whole:
            return [(0.0, passage) for passage in self.passages]
        own = [wanted.keys() & passage.terms for passage in self.passages]
        scored = []
        for at, one in enumerate(self.passages):
            beside = set().union(*own[max(0, at - 1) : at + 2]) - own[at]
            weight = sum(wanted[term] for term in own[at])
            weight += _ADJACENT_WEIGHT * sum(wanted[term] for term in beside)
            scored.append((weight / whole, one))
        return sorted(scored, key=lambda pair: -pair[0])

    def build_passage_handle(self, passage: CitedPassage) -> str:
        """Return the address of a passage, such as ``pmid:31452104#p-3f9a1c2e``."""
        anchor = find_anchor(self.text, passage.start, passage.end)
        return f"{self.key}#{anchor.name}" if anchor else self.key


def _iterate_passages(text: str) -> Iterator[CitedPassage]:
    """Yield the passages of a text, without its reference list."""
    unread = find_outermost_sections(build_outline(text), "references")
    heading = ""
    for found in _BLOCK.finditer(text, find_body_start(text)):
        if any(one.start <= found.start() < one.end for one in unread):
            continue
        if found[0].startswith("#"):
            heading = found[0].strip("# ")
            if found.start():
                continue
        yield from _iterate_block_passages(found, heading)


def _iterate_block_passages(found: re.Match[str], heading: str) -> Iterator[CitedPassage]:
    """Yield a table as one passage, and other blocks sentence by sentence."""
    plain = _MARKUP.sub(lambda mark: " " * len(mark[0]), found[0])
    if _TABLE.match(found[0]):
        yield CitedPassage(found.start(), found.end(), plain, heading)
        return
    for sentence in iterate_sentences(ManuscriptBlock(plain.replace("\n", " "))):
        start, end = found.start() + sentence.start, found.start() + sentence.end
        yield CitedPassage(start, end, sentence.text, heading)
