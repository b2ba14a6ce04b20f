"""The words of what a site sent, each with its place there, to find those of a text again.

Nothing here reads a paper: the readers do. Their text is compared with the bytes afterwards, so
that every reader's paragraphs have places, those of another program and of yesterday included.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ..errors import BadContent
from ..model.paper import Fetched
from ..model.passage import SourcePlace
from ..outline.words import fold_words
from . import safe_xml
from .pdf import boxes

_GRAM = 4
_MOST_REPEATS = 16  # places of a run of words; one that is everywhere tells nothing
_DRIFT = 12  # words that either may have more than the other, for a block of a few
_LEAST = 0.3  # of a block's runs of words that must be found
_EDGE = 0.04  # of the words, on either side, may be a turn of phrase of the next paragraph
_MOST_WORDS = 400_000
_UNREAD = frozenset(("script", "style", "head", "template", "noscript"))
_INLINE = frozenset(
    (
        *("a", "abbr", "b", "bold", "cite", "code", "em", "ext-link", "font", "i", "italic"),
        *("label", "monospace", "named-content", "sc", "small", "span", "strong"),
        *("styled-content", "sub", "sup", "u", "underline", "xref", "cross-ref", "cross-refs"),
        *("hsp", "inf", "inline-formula", "alternatives", "tex-math"),
    )
)


@dataclass(frozen=True, slots=True)
class SourceWords:
    """Folded words in the order of the bytes; ``owners`` are their elements or boxes.

    An owner of a PDF's words is page, left, bottom, right and top of their line.
    """

    words: tuple[str, ...]
    owners: tuple[Any, ...]

    def places(self, start: int, end: int) -> tuple[SourcePlace, ...]:
        """Return the places of a stretch of words: one element, or one box a page."""
        owners = self.owners[start:end]
        if not isinstance(owners[0], tuple):
            edge = int(_EDGE * len(owners))
            return (_element_place(owners[edge], owners[-1 - edge]),)
        lines = groupby(dict.fromkeys(owners), key=lambda line: line[0])
        return tuple(_box_place(page, list(boxes)) for page, boxes in lines)


def words_of(fetched: Fetched) -> SourceWords | None:
    """The words of XML, a page or a PDF; None of other media, or where it cannot be read."""
    if fetched.media == "pdf":
        pairs = _pdf_words(fetched.body)
    elif (root := _find_root(fetched)) is not None:
        pairs = _element_words(root)
    else:
        return None
    words, owners = [], []
    for text, owner in pairs:
        said = fold_words(text)
        words += said
        owners += [owner] * len(said)
        if len(words) > _MOST_WORDS:
            return None
    return SourceWords(tuple(words), tuple(owners))


def _find_root(fetched: Fetched) -> Any:
    if fetched.media in ("jats", "elsevier"):
        try:
            return safe_xml.parse_xml(fetched.body)
        except BadContent:
            return None
    if fetched.media == "html":
        from lxml.html import HTMLParser, document_fromstring

        from .html import decode_page

        page = decode_page(fetched).encode()
        return document_fromstring(page, HTMLParser(encoding="utf-8")) if page.strip() else None
    return None


def _element_words(root: Any) -> Iterator[tuple[str, Any]]:
    """The text of every element, with what runs along in its lines: H<sub>2</sub>O is one word."""
    blocks: dict[Any, Any] = {}
    for block, run in groupby(_stretches(root), key=lambda pair: _block_of(pair[1], blocks)):
        yield "".join(text for text, _ in run), block


def _stretches(root: Any) -> Iterator[tuple[str, Any]]:
    """Every stretch of text with the element around it, without recursion."""
    from lxml import etree

    skipped = None
    for event, element in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        plain = isinstance(element.tag, str)
        if event == "start" and skipped is None:
            if plain and etree.QName(element).localname in _UNREAD:
                skipped = element
            elif plain and element.text:
                yield element.text, element
        elif event != "start":
            skipped = None if element is skipped else skipped
            if skipped is None and element.tail and element is not root:
                yield element.tail, element.getparent()


def _block_of(element: Any, known: dict[Any, Any]) -> Any:
    """The nearest element that is a block of its own; *known* is filled as it is asked for."""
    from lxml import etree

    climbed = []
    while element not in known:
        climbed.append(element)
        above = element.getparent()
        if above is None or not _is_inline(etree.QName(element)):
            known[element] = element
        else:
            element = above
    block = known[element]
    known.update(dict.fromkeys(climbed, block))
    return block


def _pdf_words(body: bytes) -> Iterator[tuple[str, Any]]:
    for page, left, bottom, right, top, text in boxes.extract(body)["lines"]:
        yield text, (page, left, bottom, right, top)


def _element_place(first: Any, last: Any) -> SourcePlace:
    """The element around two others."""
    above = {last, *last.iterancestors()}
    around = first if first in above else next(one for one in first.iterancestors() if one in above)
    named = next((one for one in (around, *around.iterancestors()) if one.get("id")), None)
    path = around.getroottree().getpath(around)
    return SourcePlace(path, named.get("id") if named is not None else "")


def _is_inline(name: Any) -> bool:
    """Return whether an element is part of a sentence or of a formula."""
    return name.localname in _INLINE or str(name.namespace).endswith("MathML")


def _box_place(page: int, lines: Sequence[tuple[float, ...]]) -> SourcePlace:
    _, lefts, bottoms, rights, tops = zip(*lines, strict=True)
    return SourcePlace(page=page, box=(min(lefts), min(bottoms), max(rights), max(tops)))


class Finder:
    """Finds stretches of a source's words; made once for all blocks of a text."""

    def __init__(self, source: SourceWords) -> None:
        self._source = source
        self._runs = defaultdict[tuple[str, ...], list[int]](list)
        for at in range(len(source.words) - _GRAM + 1):
            self._runs[source.words[at : at + _GRAM]].append(at)
        self._singles = defaultdict[str, list[int]](list)
        for at, word in enumerate(source.words):
            self._singles[word].append(at)

    def find(self, text: str) -> tuple[SourcePlace, ...]:
        """Return where most of the words of *text* are adjacent; empty if nowhere."""
        words = tuple(fold_words(text))
        span = self._few(words) if len(words) < _GRAM else self._many(words)
        return self._source.places(*span) if span else ()

    def _few(self, words: tuple[str, ...]) -> tuple[int, int] | None:
        """The only place of a block of one to three words."""
        starts = self._singles.get(words[0], []) if words else []
        size = len(words)
        found = [at for at in starts if self._source.words[at : at + size] == words]
        return (found[0], found[0] + size) if len(found) == 1 else None

    def _many(self, words: tuple[str, ...]) -> tuple[int, int] | None:
        """The stretch with most runs of the words, each about where it would be expected."""
        runs = [words[at : at + _GRAM] for at in range(len(words) - _GRAM + 1)]
        hits = [
            (place - at, place)
            for at, run in enumerate(runs)
            if len(places := self._runs.get(run, ())) <= _MOST_REPEATS
            for place in places
        ]
        if not hits:
            return None
        drift = _DRIFT + len(words) // 8
        counts = Counter(shift // drift for shift, _ in hits)
        best = max(counts, key=lambda key: (counts[key] + counts[key + 1], -key))
        near = sorted({place for shift, place in hits if best <= shift // drift <= best + 1})
        if len(near) < _LEAST * len(runs):
            return None
        return near[0], near[-1] + _GRAM
