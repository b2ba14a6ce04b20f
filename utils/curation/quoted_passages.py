"""The block of a text that a quotation stands in, for whoever wants to see it with their own eyes.

From the quotation, or from the handle of a block (``pmid:31452104#p-3f9a1c2e``): the words there,
the quoted ones told apart, the blocks before and after, and where a browser shows the place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote as percent

from ..corpus.texts import Text, text_named
from ..errors import BadRequest, PaperError
from ..model.identifiers import Ids
from ..model.passage import Anchor
from ..passages.anchors import anchors_of
from ..reports.labels import links
from ..system.plain_text import shortened
from .places import places_of
from .reading import split_handle

if TYPE_CHECKING:
    from ..corpus import Corpus
    from ..corpus.quotations import Quotation

_AROUND = 3000  # characters on either side of the quoted words: of a long table, not all
_FIRST, _LAST = 5, 4  # words of a quotation by which a browser finds it
_MARKUP = re.compile(r"</?\w+>|[*_\\]|\[\d[\d,– -]*\]")


class Piece(NamedTuple):
    """A stretch of a passage, and whether its words are the quoted ones."""

    text: str
    quoted: bool


class Source(NamedTuple):
    """Where a browser shows a passage, and in words what that is; empty where nowhere."""

    label: str
    url: str


_NOWHERE = Source("", "")


@dataclass(frozen=True, slots=True)
class QuotedPassage:
    """A passage as a reader sees it.

    ``quotation`` is the verdict on the quotation, None where a block was asked for by its handle.
    Where the quotation is absent, ``text`` is the paper it was looked for in, None where that was
    every paper, and there are no ``pieces``. ``number`` counts the blocks of the text from 1;
    ``before`` and ``after`` are the handles of the blocks beside it.
    """

    quotation: Quotation | None
    text: Text | None = None
    handle: str = ""
    section: str = ""
    pieces: tuple[Piece, ...] = ()
    number: int = 0
    blocks: int = 0
    before: str = ""
    after: str = ""
    source: Source = _NOWHERE

    @property
    def words(self) -> str:
        """The passage in one piece."""
        return "".join(piece.text for piece in self.pieces)


def quoted_passage(quotation: str, paper: str, corpus: Corpus) -> QuotedPassage:
    """The passage of a quotation, or the block that a handle names.

    Parameters
    ----------
    quotation : str
        At least four words; empty for the block of a handle.
    paper : str
        An identifier, a file's name or a handle; empty: the quotation is looked for in all papers.
    corpus : Corpus

    Raises
    ------
    BadRequest
        Neither was given, the quotation is too short, or the text has no such block.
    NotFound
        The paper is neither on the shelf nor in the corpus.
    StoreFailed, WeaviateFailed
        The index cannot be asked.
    """
    name, anchor = split_handle(paper)
    if not quotation.strip():
        if not name.strip():
            raise BadRequest("Nothing was asked for.", "Give a quotation, a handle, or both.")
        text = text_named(name, corpus)
        return _block_named(anchor, text, text.read(corpus.shelf), corpus)
    found = corpus.verify_quote(quotation, name)
    if found.verdict == "absent":
        return QuotedPassage(found, text_named(name, corpus) if name else None)
    text = text_named(found.file or found.paper, corpus)
    if not found.file:  # the words are those of the record, whatever the shelf has
        text = replace(text, stored=None)
    return _around(found, text, text.read(corpus.shelf), corpus)


def _block_named(anchor: str, text: Text, words: str, corpus: Corpus) -> QuotedPassage:
    """The block of a name, the first one where none is named."""
    anchors = anchors_of(words)
    chosen = [n for n, one in enumerate(anchors) if not anchor or one.name == anchor]
    if anchor and not chosen:
        msg = f"The text of {text.paper.ids} has no block {anchor}; it may have been read anew."
        raise BadRequest(msg, "Look the quotation up again: verify_quotes.")
    block = anchors[chosen[0]] if chosen else Anchor("", "", "", 0, len(words))
    pieces = _pieces(words, block.start, block.end, block.start, block.start)
    made = QuotedPassage(None, text, pieces=pieces, section=block.section)
    first = chosen[0] if chosen else 0
    return _with_neighbours(made, anchors, first, first, corpus)


def _around(found: Quotation, text: Text, words: str, corpus: Corpus) -> QuotedPassage:
    """The blocks that the quotation's words stand in."""
    anchors = anchors_of(words)
    over = [n for n, one in enumerate(anchors) if one.start < found.end and one.end > found.start]
    start = min(found.start, anchors[over[0]].start) if over else found.start - _AROUND // 10
    end = max(found.end, anchors[over[-1]].end) if over else found.end + _AROUND // 10
    pieces = _pieces(words, start, end, found.start, found.end)
    made = QuotedPassage(found, text, pieces=pieces, section=found.section)
    if not over:  # a reference list has no blocks
        return replace(made, handle=found.handle, source=_page_of(text.paper.ids, made))
    return _with_neighbours(made, anchors, over[0], over[-1], corpus)


def _pieces(words: str, start: int, end: int, first: int, last: int) -> tuple[Piece, ...]:
    """``words[start:end]``, of which ``words[first:last]`` is quoted; far ends are cut off."""
    left, right = max(0, start, first - _AROUND), min(len(words), end, last + _AROUND)
    before, after = ("… " if left > start else "", " …" if right < end else "")
    cut = (
        Piece(before + words[left:first].lstrip("\n"), quoted=False),
        Piece(words[first:last], quoted=True),
        Piece(words[last:right].rstrip("\n") + after, quoted=False),
    )
    return tuple(piece for piece in cut if piece.text)


def _with_neighbours(
    made: QuotedPassage, anchors: tuple[Anchor, ...], first: int, last: int, corpus: Corpus
) -> QuotedPassage:
    """The passage with its place among the blocks of its text, and in its source."""
    assert made.text
    key = made.text.key

    def handle(number: int) -> str:
        return f"{key}#{anchors[number].name}" if 0 <= number < len(anchors) else ""

    return replace(
        made,
        handle=handle(first) or key,
        section=made.section or (anchors[first].section if anchors else ""),
        number=first + 1,
        blocks=len(anchors),
        before=handle(first - 1),
        after=handle(last + 1),
        source=_source(made, anchors[first].name if anchors else "", corpus),
    )


def _source(made: QuotedPassage, anchor: str, corpus: Corpus) -> Source:
    """Where a browser shows a passage: the page of its PDF, the page it came from, or the paper's.

    What the site sent is asked where it was kept; a file on the disk is no address for a browser.
    """
    assert made.text
    if stored := made.text.stored:
        try:
            places = places_of(made.text.file, corpus.shelf)
            place = next((one for one in places.anchors if one.name == anchor), None)
        except PaperError:  # what was kept is damaged: the text can be read all the same
            return _page_of(stored.paper.ids, made)
        pages = [one.page for one in place.sources if one.page] if place else []
        if places.media == "pdf" and places.url.startswith("http") and pages:
            return Source(f"Page {pages[0]} of the PDF", f"{places.url}#page={pages[0]}")
        if places.media == "html" and places.url.startswith("http"):
            return Source("The page it came from", _at_words(places.url, made))
    return _page_of(made.text.paper.ids, made)


def _page_of(ids: Ids, made: QuotedPassage) -> Source:
    """The paper's own page, at the site that shows these words."""
    has_text = made.text is not None and made.text.stored is not None
    sites = ("PMC", "arXiv", "DOI", "PubMed") if has_text else ("PubMed", "arXiv", "DOI")
    found = {link.site: link.url for link in links(ids)}
    for site in sites:
        if site in found:
            return Source(f"The paper at {site}", _at_words(found[site], made))
    return _NOWHERE


def _at_words(url: str, made: QuotedPassage) -> str:
    """An address at which a browser scrolls to the passage (WICG's text fragments).

    Where the page has not these words, it is shown from its beginning.
    """
    quoted = "".join(piece.text for piece in made.pieces if piece.quoted) or made.words
    words = _MARKUP.sub(" ", shortened(quoted, 600)).split()
    if len(words) < _FIRST:
        return url
    parts = [words[:_FIRST]]
    if len(words) > _FIRST + _LAST:
        parts.append(words[-_LAST:])
    spelled = (percent(" ".join(part), safe="").replace("-", "%2D") for part in parts)
    page, _, place = url.partition("#")
    return f"{page}#{place}:~:text={','.join(spelled)}"
