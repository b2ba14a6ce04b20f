"""Fold a text for comparison with a quotation: remove only typesetting differences.

A quotation from a page, a PDF or a model has other quotation marks, dashes, blanks and ligatures
than the file. These are folded in both texts. Letters, digits, signs and capitals are not folded:
"TP53" is not "Tp53", "10²" is not "102" and "0.5" is not "0.51". Positions are kept, so that a
match can be located in the original text.
"""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from ..errors import BadRequest
from ..outline.blocks import find_body_start
from ..outline.words import count_words, fold_words
from ..system.plain_text import prepare_query_text

MIN_QUOTED_WORDS = 4
_MAX_QUOTATION_CHARS = 5000
_MAX_READINGS = 16
_MAX_GAP_CHARS = 600  # characters that a mark may stand for: some sentences of one paragraph
_ELLIPSIS = re.compile(
    r"\s*(?:\[\s*(?:\.{3,}|\u2026)\s*\]|\(\s*(?:\.{3,}|\u2026)\s*\)|\u2026|\.{3,}|(?:\.\s){2,}\.)\s*"
)
_BROKEN = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010][ \t]*\r?\n[ \t]*(?=[^\W\d_])")
_AROUND = " \t\r\n\"'\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb,;:"
NEGATION = re.compile(r"\b(?:not?|never|nor|neither|none|cannot|without|\w+n't|fail\w*)\b", re.I)
_SENTENCE_END = re.compile(r"[.!?]\s+[A-Z]")
_QUOTES = "\"'`\u00b4\u2018-\u201f\u2032\u2033\u00ab\u00bb\u2039\u203a"
_SIGNS = {"\u00b5": "\u03bc", "\u2044": "/", "\u2026": "...", "\u00d7": "x"}
_RAISED = dict(
    zip(
        "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207a\u207b",
        "0123456789+-",
        strict=True,
    )
)
_UP = "".join(_RAISED)
_DASHES = "\u2010-\u2015\u2212\ufe58\ufe63\uff0d-"
_LONG = "\u2014\u2015"
_TYPED = str.maketrans(dict.fromkeys(_LONG, "-"))
_HIDDEN = "\u00ad\u200b-\u200f\u2060-\u2064\ufeff"
_COMPATIBLE = "\ufb00-\ufb06\uff01-\uff5e\u2080-\u2089"
_STRETCHES = (
    rf"(?P<hidden>[{_HIDDEN}]+)"
    rf"|(?P<power>(?<=\d)(?:<sup>(?=[+\u2212-]?\d)|(?=[{_UP[10:]}]?[{_UP[:10]}])))"
    rf"|(?P<raised>[{_UP}])"
    r"|(?P<tag></?(?:i|b|u|em|strong|sub|sup|sc|span|code)>)"
    r"|(?P<entity>&(?:amp|lt|gt|quot|nbsp|#\d{1,6}|#x[0-9a-fA-F]{1,5});)"
    r"|(?P<escape>\\(?=[*_\[\]<>#|`~$\\]))"
    r"|(?P<emphasis>\*{1,3}|(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w))"
    rf"|(?P<dash>\s*[{_DASHES}]+\s*)"
    r"|(?P<blank>(?: (?=\s)|[^\S ])\s*(?:(?<=\n)>\s*)?)"
    rf"|(?P<quote>[{_QUOTES}])|(?P<sign>[\u00b5\u2044\u2026\u00d7])|(?P<compatible>[{_COMPATIBLE}])"
)
# The lookahead at the first character is fast: most of a text is letters.
_FOLDED = re.compile(
    rf"(?=[\s{_HIDDEN}{_UP}<&\\*_{_DASHES[:-1]}{_QUOTES}\u00b5\u2044\u2026\u00d7{_COMPATIBLE}-])"
    rf"(?:{_STRETCHES})"
)
_MARK = re.compile("[\u0300-\u036f]")
_FOLDED_WITH_MARKS = re.compile(rf"(?P<composed>\w[\u0300-\u036f]+)|{_STRETCHES}")
_PART_OF_NUMBER = re.compile(r"[.,]\d")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")


class FoldedQuotation(NamedTuple):
    """A folded quotation: its parts in order; ``readings`` keep or drop hyphens at line ends."""

    words: list[str]
    parts: list[str]
    readings: list[list[str]]


def parse_quotation(text: str) -> FoldedQuotation:
    """Split a quotation at ``…`` or ``[...]``, which mark omitted words, and fold it.

    Raises
    ------
    BadRequest
        The quotation is too short to identify, or too long.
    """
    prepare_query_text(text, "quotation", _MAX_QUOTATION_CHARS)
    if count_words(text) < MIN_QUOTED_WORDS:
        msg = f"{text.strip()[:80]!r} has fewer than {MIN_QUOTED_WORDS} words; any text has them."
        raise BadRequest(msg, "Quote a whole clause or sentence.")
    parts = [part for piece in _ELLIPSIS.split(text) if (part := _strip_quotation_marks(piece))]
    ways = [dict.fromkeys((_BROKEN.sub("", part), _BROKEN.sub("-", part))) for part in parts]
    readings = [[FoldedText.fold(part).words.strip() for part in way] for way in product(*ways)]
    return FoldedQuotation(fold_words(text), parts, readings[:_MAX_READINGS])


def _strip_quotation_marks(part: str) -> str:
    """Remove the marks around a quotation, and a last full stop, which may be the quoter's own."""
    inner = part.strip(_AROUND)
    return inner[:-1].rstrip(_AROUND) if inner.endswith(".") else inner


Span = tuple[int, int]


def find_verbatim_spans(quoted: FoldedQuotation, text: str, wording: FoldedText) -> list[Span]:
    """Return where *text* has each part of a quotation verbatim; empty if a part is missing."""
    for parts in quoted.readings:
        if spans := _find_parts_in_order(parts, text, wording):
            return [wording.map_to_text(*span) for span in spans]
    # Typists use one dash for all: "cells-and mice-died".
    typed = text.translate(_TYPED)
    if typed == text or not any("-" in part for part in quoted.parts):
        return []
    wording = FoldedText.fold(typed, wording.theirs[0])
    parts = [FoldedText.fold(part.translate(_TYPED)).words.strip() for part in quoted.parts]
    return [wording.map_to_text(*span) for span in _find_parts_in_order(parts, typed, wording)]


def _find_parts_in_order(parts: Sequence[str], text: str, wording: FoldedText) -> list[Span]:
    """Return parts that follow each other in one paragraph, with no negation between them."""
    begin = wording.find_at_word_borders(parts[0])
    while begin >= 0:
        spans = [(begin, end := begin + len(parts[0]))]
        for part in parts[1:]:
            at = wording.find_at_word_borders(part, end)
            if at < 0 or not can_be_omitted(end, at, text, wording):
                break
            spans.append((at, end := at + len(part)))
        else:
            return spans
        begin = wording.find_at_word_borders(parts[0], begin + 1)
    return []


def can_be_omitted(start: int, end: int, text: str, wording: FoldedText) -> bool:
    """Return whether an ellipsis can replace these characters: no new paragraph, no negation."""
    gap = wording.words[start:end]
    if len(gap) > _MAX_GAP_CHARS or (NEGATION.search(gap) and not _SENTENCE_END.search(gap)):
        return False
    left, right = wording.map_to_text(start, max(end, start + 1))
    return not _PARAGRAPH.search(text[left:right])


class FoldedText(NamedTuple):
    """The folded ``words`` of a text; `map_to_text` maps positions back to the text.

    ``ours`` and ``theirs`` are the borders of the stretches that differ, in both texts.
    """

    words: str
    ours: list[int]
    theirs: list[int]

    @classmethod
    def fold_paper_text(cls, text: str) -> FoldedText:
        """Fold a paper's text without the header that the shelf writes above it."""
        return cls.fold(text, find_body_start(text))

    @classmethod
    def fold(cls, text: str, start: int = 0) -> FoldedText:
        """Fold a text from *start* on; positions count from the beginning of the text.

        >>> FoldedText.fold("“Ca<sup>2+</sup>\u2013dependent   *E. coli*” 10²").words
        "'Ca2+-dependent E. coli' 10^2"
        """
        made: list[str] = []
        ours, theirs = [0], [start]
        length, last = 0, start
        folding = _FOLDED_WITH_MARKS if _MARK.search(text) else _FOLDED
        for match in folding.finditer(text, start):
            new = _fold_matched_chars(match)
            if new == match[0] and len(new) == 1:
                continue
            made.append(text[last : match.start()])
            length += match.start() - last
            ours.append(length)
            theirs.append(match.start())
            made.append(new)
            length += len(new)
            last = match.end()
            ours.append(length)
            theirs.append(last)
        made.append(text[last:])
        return cls("".join(made), ours, theirs)

    def find_at_word_borders(self, part: str, start: int = 0) -> int:
        """Return the position of *part* between word borders, from *start*; -1 if not found.

        The first letter may differ in case, as quoting allows.
        """
        if not part:
            return -1
        other = part[0].swapcase() + part[1:]
        at = start
        while True:
            found = [place for one in {part, other} if (place := self.words.find(one, at)) >= 0]
            if not found:
                return -1
            at = min(found)
            if self._is_at_word_borders(at, at + len(part)):
                return at
            at += 1

    def map_to_text(self, start: int, end: int) -> tuple[int, int]:
        """Return the position of ``words[start:end]`` in the text."""
        return self._map_position(start, 0), self._map_position(end - 1, 1)

    def _map_position(self, position: int, after: int) -> int:
        number = bisect_right(self.ours, position) - 1
        if number % 2:  # within what was fold_words, which has no places of its own
            return self.theirs[number + after]
        return self.theirs[number] + position - self.ours[number] + after

    def _is_at_word_borders(self, start: int, end: int) -> bool:
        words = self.words
        before, after = words[max(0, start - 2) : start], words[end : end + 2]
        if start and words[start].isalnum():
            joined = before[-1].isalnum() or before[-1] == "^"
            # "-5" is not "5", "non-significant" not "significant", "1.5" not "5".
            joined |= before[-1] == "-" and (words[start].isdigit() or before[0].isalnum())
            joined |= before[-1] in ".," and before[0].isdigit() and words[start].isdigit()
            if joined:
                return False
        if not after or not words[end - 1].isalnum():
            return True
        if after[0].isalnum() or (after[0] == "-" and after[1:].isalnum()):
            return False
        return not words[end - 1].isdigit() or not (
            after[0] in "%^" or _PART_OF_NUMBER.match(after)
        )


def _fold_matched_chars(match: re.Match[str]) -> str:
    kind, text = match.lastgroup or "", match[0]
    if kind in _ALIKE:
        return _ALIKE[kind]
    if kind == "emphasis":
        around = match.string[max(0, match.start() - 1) : match.end() + 1].split(text)
        times = all(not part or part.isspace() for part in around) or all(map(str.isdigit, around))
        return text if times else ""
    if kind == "raised":
        return _RAISED[text]
    if kind == "entity":
        text = html.unescape(text).replace("\u00a0", " ")
        return "'" if text == '"' else text
    if kind == "dash":
        # "Cells - and mice - died" is "cells—and mice—died"; but "-3" and "non-" are other words.
        apart = text[0] in _LONG or (text[0].isspace() and text[-1].isspace())
        before, after = (" " if apart or part.isspace() else "" for part in (text[0], text[-1]))
        return f"{before}-{after}"
    if kind == "sign":
        return _SIGNS[text]
    return unicodedata.normalize("NFC" if kind == "composed" else "NFKC", text)


_ALIKE = {"hidden": "", "tag": "", "escape": "", "power": "^", "blank": " ", "quote": "'"}
