"""Locate the words of a text in the bytes of a site's response.

The text that a reader made is compared with the bytes afterwards. So paragraphs of every reader can
be located, including those of another program or of an earlier version.
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
from .pdf import positioned_lines

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
    """Folded words in the order of the source; ``owners`` are their elements or boxes.

    The owner of a PDF's word is the page, left, bottom, right and top of its line.
    """

    words: tuple[str, ...]
    owners: tuple[Any, ...]

    def locate_words(self, start: int, end: int) -> tuple[SourcePlace, ...]:
        """Return the places of the words from *start* to *end*: an element, or a box per page."""
        owners = self.owners[start:end]
        if not isinstance(owners[0], tuple):
            edge = int(_EDGE * len(owners))
            return (_find_common_element(owners[edge], owners[-1 - edge]),)
        lines = groupby(dict.fromkeys(owners), key=lambda line: line[0])
        return tuple(_merge_line_boxes(page, list(boxes)) for page, boxes in lines)


def extract_source_words(fetched: Fetched) -> SourceWords | None:
    """Return the words of XML, HTML or a PDF; None for other media or unreadable bytes."""
    if fetched.media == "pdf":
        pairs = _iterate_pdf_lines(fetched.body)
    elif (root := _parse_root_element(fetched)) is not None:
        pairs = _iterate_element_words(root)
    else:
        return None
    words, owners = [], []
    for text, owner in pairs:
        folded = fold_words(text)
        words += folded
        owners += [owner] * len(folded)
        if len(words) > _MOST_WORDS:
            return None
    return SourceWords(tuple(words), tuple(owners))


def _parse_root_element(fetched: Fetched) -> Any:
    if fetched.media in ("jats", "elsevier"):
        try:
            return safe_xml.parse_untrusted_xml(fetched.body)
        except BadContent:
            return None
    if fetched.media == "html":
        from lxml.html import HTMLParser, document_fromstring

        from .html import decode_page

        page = decode_page(fetched).encode()
        return document_fromstring(page, HTMLParser(encoding="utf-8")) if page.strip() else None
    return None


def _iterate_element_words(root: Any) -> Iterator[tuple[str, Any]]:
    """Yield the text of each element with its inline children: H<sub>2</sub>O is one word."""
    blocks: dict[Any, Any] = {}
    for block, run in groupby(
        _iterate_text_nodes(root), key=lambda pair: _find_block_element(pair[1], blocks)
    ):
        yield "".join(text for text, _ in run), block


def _iterate_text_nodes(root: Any) -> Iterator[tuple[str, Any]]:
    """Yield every text node with the element around it, without recursion."""
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


def _find_block_element(element: Any, known: dict[Any, Any]) -> Any:
    """Return the nearest block element; *known* caches the result."""
    from lxml import etree

    climbed = []
    while element not in known:
        climbed.append(element)
        above = element.getparent()
        if above is None or not _is_inline_tag(etree.QName(element)):
            known[element] = element
        else:
            element = above
    block = known[element]
    known.update(dict.fromkeys(climbed, block))
    return block


def _iterate_pdf_lines(body: bytes) -> Iterator[tuple[str, Any]]:
    for page, left, bottom, right, top, text in positioned_lines.read_lines_in_child(body)["lines"]:
        yield text, (page, left, bottom, right, top)


def _find_common_element(first: Any, last: Any) -> SourcePlace:
    """Return the place of the element that contains two others."""
    above = {last, *last.iterancestors()}
    around = first if first in above else next(one for one in first.iterancestors() if one in above)
    named = next((one for one in (around, *around.iterancestors()) if one.get("id")), None)
    path = around.getroottree().getpath(around)
    return SourcePlace(path, named.get("id") if named is not None else "")


def _is_inline_tag(name: Any) -> bool:
    """Return whether an element is part of a sentence or of a formula."""
    return name.localname in _INLINE or str(name.namespace).endswith("MathML")


def _merge_line_boxes(page: int, lines: Sequence[tuple[float, ...]]) -> SourcePlace:
    _, lefts, bottoms, rights, tops = zip(*lines, strict=True)
    return SourcePlace(page=page, box=(min(lefts), min(bottoms), max(rights), max(tops)))


class SourcePassageFinder:
    """Finds passages in a source's words; built once for all blocks of a text."""

    def __init__(self, source: SourceWords) -> None:
        self._source = source
        self._runs = defaultdict[tuple[str, ...], list[int]](list)
        for at in range(len(source.words) - _GRAM + 1):
            self._runs[source.words[at : at + _GRAM]].append(at)
        self._singles = defaultdict[str, list[int]](list)
        for at, word in enumerate(source.words):
            self._singles[word].append(at)

    def find_places(self, text: str) -> tuple[SourcePlace, ...]:
        """Return the places where most words of *text* stand next to each other."""
        words = tuple(fold_words(text))
        span = self._find_short_block(words) if len(words) < _GRAM else self._find_long_block(words)
        return self._source.locate_words(*span) if span else ()

    def _find_short_block(self, words: tuple[str, ...]) -> tuple[int, int] | None:
        """Return the only occurrence of a block of one to three words; else None."""
        starts = self._singles.get(words[0], []) if words else []
        size = len(words)
        found = [at for at in starts if self._source.words[at : at + size] == words]
        return (found[0], found[0] + size) if len(found) == 1 else None

    def _find_long_block(self, words: tuple[str, ...]) -> tuple[int, int] | None:
        """Return the span with most four-word runs at about their expected distances."""
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
