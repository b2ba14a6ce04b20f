"""Where a quotation stands in the corpus, word for word, or which passage comes nearest.

The index proposes papers by the quotation's words; then the whole text of each is read, so that a
quotation across the border of two passages, or from a text that has changed since it was indexed,
is compared with the text of today. What typesetting changes (quotation marks, dashes, ligatures,
blanks, markup) makes no difference; a figure, a sign, a capital or a "not" does
(`..passages.wording`).

Fold a text for comparison with a quotation: what typesetting changes, and nothing else.

A quotation comes from a page, a PDF or a model, with other quotation marks, dashes, blanks and
ligatures than the file has. All that is folded, on both sides. Letters, figures, signs and capitals
are not: "TP53" is not "Tp53", "10²" is not "102" and "0.5" is not "0.51". Places are kept, so that
what is found can be pointed at in the text itself.
"""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from ..errors import BadRequest, NotFound, StoreFailed
from ..model.passage import Filters
from ..outline.words import count_words, folded
from ..passages.anchors import anchor_at
from ..system.plain_text import sendable
from .texts import text_of

if TYPE_CHECKING:
    from ..model.passage import Passage
    from . import Corpus

LEAST_WORDS = 4
_LONGEST = 5000
_CANDIDATES, _QUERY, _QUERIES = 50, 400, 4
_WIDEST_GAP = 2000
_ELLIPSIS = re.compile(
    r"\s*(?:\[\s*(?:\.{3,}|\u2026)\s*\]|\(\s*(?:\.{3,}|\u2026)\s*\)|\u2026|\.{3,}|(?:\.\s){2,}\.)\s*"
)
_BROKEN = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010][ \t]*\r?\n[ \t]*(?=[^\W\d_])")
_AROUND = " \t\r\n\"'\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb,;:"
_NEGATION = re.compile(r"\b(?:not?|never|nor|neither|none|cannot|without|\w+n't|fail\w*)\b", re.I)
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
_HIDDEN = "\u00ad\u200b-\u200f\u2060-\u2064\ufeff"
_COMPATIBLE = "\ufb00-\ufb06\uff01-\uff5e\u2080-\u2089"
_STRETCHES = (
    rf"(?P<hidden>[{_HIDDEN}]+)"
    rf"|(?P<power>(?<=\d)(?:<sup>|(?=[{_UP}])))"
    rf"|(?P<raised>[{_UP}])"
    r"|(?P<tag></?(?:i|b|u|em|strong|sub|sup|sc|span|code)>)"
    r"|(?P<entity>&(?:amp|lt|gt|quot|nbsp|#\d{1,6}|#x[0-9a-fA-F]{1,5});)"
    r"|(?P<escape>\\(?=[*_\[\]<>#|`~$\\]))"
    r"|(?P<emphasis>\*{1,3}|(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w))"
    rf"|(?P<dash>\s*[{_DASHES}]+\s*)"
    r"|(?P<blank>(?: (?=\s)|[^\S ])\s*(?:(?<=\n)>\s*)?)"
    rf"|(?P<quote>[{_QUOTES}])|(?P<sign>[\u00b5\u2044\u2026\u00d7])|(?P<compatible>[{_COMPATIBLE}])"
)
# A look at the first character spares the rest: most of a text is letters.
_FOLDED = re.compile(
    rf"(?=[\s{_HIDDEN}{_UP}<&\\*_{_DASHES[:-1]}{_QUOTES}\u00b5\u2044\u2026\u00d7{_COMPATIBLE}-])"
    rf"(?:{_STRETCHES})"
)
_MARK = re.compile("[\u0300-\u036f]")
_FOLDED_WITH_MARKS = re.compile(rf"(?P<composed>\w[\u0300-\u036f]+)|{_STRETCHES}")
_PART_OF_NUMBER = re.compile(r"[.,]\d")


@dataclass(frozen=True, slots=True)
class Quotation:
    """The result for a quotation.

    ``verbatim``: it was found word for word; then ``start`` and ``end`` are its own place in
    ``file`` (or, without one, in title, blank line and abstract of the record), and ``text`` is
    the text there, including what an ellipsis left out. Else they are those of the nearest passage;
    ``found`` is False where no passage shares a word with it. ``likeness`` is 1 for a verbatim
    quotation, else the share of its words that are there in order. ``uuid`` names the passage;
    empty where a verbatim quotation is in none (in a reference list). ``anchor`` names the block of
    the text that it stands in (`..passages.anchors`), as ``read --source`` shows it.
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
    anchor: str = ""


class _ParsedQuotation(NamedTuple):
    """A folded quotation: parts in order; ``readings`` keep or drop hyphens at line ends."""

    words: list[str]
    parts: list[str]
    readings: list[list[str]]


def verify(text: str, corpus: Corpus) -> Quotation:
    """Where a quotation stands verbatim, or the nearest passage.

    Parameters
    ----------
    text : str
        At least four words; ``…`` or ``[...]`` marks what was left out.
    corpus : Corpus
        Where it is looked for: in the papers of the 50 passages that share most of its words.

    Raises
    ------
    BadRequest
        It is too short to be told from other words, or too long.
    StoreFailed, WeaviateFailed
        Nothing has been indexed, or the index cannot be asked.
    """
    quotation = _parse(text)
    if not corpus.finder.status().passages:
        msg = "The index is empty: the quotation was looked for nowhere."
        raise StoreFailed(msg, "Sync a question or download papers, then: server.py index.")
    candidates = _candidates(quotation, corpus)
    for passage in _one_of_each(candidates):
        if found := _verbatim(quotation, passage, corpus):
            return found
    return _nearest(quotation, candidates, corpus)


def _parse(text: str) -> _ParsedQuotation:
    sendable(text, "quotation", _LONGEST)
    if count_words(text) < LEAST_WORDS:
        msg = f"{text.strip()[:80]!r} has fewer than {LEAST_WORDS} words; they may stand anywhere."
        raise BadRequest(msg, "Quote a whole clause or sentence.")
    parts = [part for piece in _ELLIPSIS.split(text) if (part := _trim(piece))]
    ways = [dict.fromkeys((_BROKEN.sub("", part), _BROKEN.sub("-", part))) for part in parts]
    readings = [[FoldedText.of(part).words.strip() for part in way] for way in product(*ways)]
    return _ParsedQuotation(folded(text), parts, readings[:16])


def _trim(part: str) -> str:
    """Remove the marks around a quotation; the last full stop may be the quoter's own."""
    inner = part.strip(_AROUND)
    return inner[:-1].rstrip(_AROUND) if inner.endswith(".") else inner


def _candidates(quotation: _ParsedQuotation, corpus: Corpus) -> list[Passage]:
    """The passages that share most words with it; long quotations are searched in stretches."""
    queries: list[str] = []
    for part in quotation.parts:
        queries += [part[at : at + _QUERY] for at in range(0, len(part), _QUERY)]
    scores: dict[str, float] = {}
    everywhere = Filters(retracted=True)
    spread = queries[:: max(1, -(-len(queries) // _QUERIES))]
    for query in spread:
        for rank, hit in enumerate(corpus.finder.search(query, None, _CANDIDATES, everywhere)):
            scores[hit.uuid] = scores.get(hit.uuid, 0.0) + 1 / (10 + rank)
    best = sorted(scores, key=lambda uuid: -scores[uuid])[:_CANDIDATES]
    passages = corpus.database.passages(best)
    return [passages[uuid] for uuid in best if uuid in passages]


def _one_of_each(passages: Sequence[Passage]) -> Iterator[Passage]:
    """The first passage of every text."""
    seen: set[tuple[str, str]] = set()
    for passage in passages:
        if (passage.paper, passage.file) not in seen:
            seen.add((passage.paper, passage.file))
            yield passage


def _verbatim(quotation: _ParsedQuotation, passage: Passage, corpus: Corpus) -> Quotation | None:
    """The quotation, if the text of this passage's paper has it word for word."""
    try:
        text = text_of(passage, corpus)
    except NotFound:
        return None  # gone since it was indexed
    wording = FoldedText.of(text)
    for parts in quotation.readings:
        if span := _in_order(parts, wording):
            start, end = wording.place(*span)
            place = _passage_at(start, corpus.database.passages_of(passage.paper))
            return Quotation(
                found=True,
                verbatim=True,
                paper=passage.paper,
                title=passage.title,
                file=passage.file,
                section=place.section if place else "",
                start=start,
                end=end,
                text=text[start:end],
                likeness=1.0,
                uuid=place.uuid if place else "",
                anchor=_anchor(text, start, end),
            )
    return None


def _anchor(text: str, start: int, end: int) -> str:
    found = anchor_at(text, start, end)
    return found.name if found else ""


def _in_order(parts: Sequence[str], wording: FoldedText) -> tuple[int, int] | None:
    """Where all parts follow each other, not too far apart, with no "not" left out between."""
    begin = wording.find(parts[0])
    while begin >= 0:
        end = begin + len(parts[0])
        for part in parts[1:]:
            at = wording.find(part, end)
            gap = wording.words[end:at]
            negated = _NEGATION.search(gap) and not _SENTENCE_END.search(gap)
            if at < 0 or at - end > _WIDEST_GAP or negated:
                break
            end = at + len(part)
        else:
            return begin, end
        begin = wording.find(parts[0], begin + 1)
    return None


def _passage_at(position: int, passages: Sequence[Passage]) -> Passage | None:
    return next((one for one in passages if one.start <= position < one.end), None)


def _nearest(
    quotation: _ParsedQuotation, candidates: Sequence[Passage], corpus: Corpus
) -> Quotation:
    """The passage with the stretch most like the quotation."""
    scored = [(_likeness(quotation.words, folded(one.text)), one) for one in candidates]
    if not scored:
        return Quotation(found=False)
    likeness, best = max(scored, key=lambda pair: pair[0])
    if not likeness:
        return Quotation(found=False)
    anchor = ""
    with suppress(NotFound):  # gone since it was indexed
        anchor = _anchor(text_of(best, corpus), best.start, best.end)
    return Quotation(
        found=True,
        paper=best.paper,
        title=best.title,
        file=best.file,
        section=best.section,
        start=best.start,
        end=best.end,
        text=best.text,
        likeness=round(min(likeness, 0.99), 3),
        uuid=best.uuid,
        anchor=anchor,
    )


def _likeness(words: Sequence[str], there: Sequence[str]) -> float:
    """The share of a quotation's words that a text has in the same order, 0 to 1.

    Compared is the stretch, as long as the quotation and a fifth, that shares most words with it.
    """
    width = len(words) + len(words) // 5
    needed, shared, best, at = Counter(words), 0, -1, 0
    counts: Counter[str] = Counter()
    for number, word in enumerate(there):
        counts[word] += 1
        shared += counts[word] <= needed[word]
        if number >= width:
            old = there[number - width]
            shared -= counts[old] <= needed[old]
            counts[old] -= 1
        if shared > best:
            best, at = shared, max(0, number - width + 1)
    matcher = SequenceMatcher(None, words, there[at : at + width], autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks()) / max(1, len(words))


class FoldedText(NamedTuple):
    """Folded ``words`` of a text; `place` tells where they stand in it.

    ``ours`` and ``theirs`` are the borders of the stretches that differ, in both texts.
    """

    words: str
    ours: list[int]
    theirs: list[int]

    @classmethod
    def of(cls, text: str) -> FoldedText:
        """Fold a text.

        >>> FoldedText.of("“Ca<sup>2+</sup>\u2013dependent   *E. coli*” 10²").words
        "'Ca2+-dependent E. coli' 10^2"
        """
        made: list[str] = []
        ours, theirs = [0], [0]
        length = last = 0
        folding = _FOLDED_WITH_MARKS if _MARK.search(text) else _FOLDED
        for match in folding.finditer(text):
            new = _fold(match)
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

    def find(self, part: str, start: int = 0) -> int:
        """Where *part* stands between borders of words, from *start* on; -1 if nowhere.

        The first letter may be a capital here and none there, as quoting allows.
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
            if self._stands_alone(at, at + len(part)):
                return at
            at += 1

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where ``words[start:end]`` stands in the text."""
        return self._there(start, 0), self._there(end - 1, 1)

    def _there(self, position: int, after: int) -> int:
        number = bisect_right(self.ours, position) - 1
        if number % 2:  # within what was folded, which has no places of its own
            return self.theirs[number + after]
        return self.theirs[number] + position - self.ours[number] + after

    def _stands_alone(self, start: int, end: int) -> bool:
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


def _fold(match: re.Match[str]) -> str:
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
