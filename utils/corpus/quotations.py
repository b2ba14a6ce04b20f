"""Where a quotation stands, word for word, or which passage comes nearest and how it differs.

In one paper, or anywhere in the corpus: then the index proposes papers by the quotation's words,
and the whole text of each is read, so that a quotation across the border of two passages, or from a
text that has changed since it was indexed, is compared with the text of today. What typesetting
changes (quotation marks, dashes, ligatures, blanks, markup) makes no difference; a figure, a sign,
a capital or a "not" does (`..passages.wording`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..errors import NotFound, StoreFailed
from ..model.passage import Filters
from ..passages.anchors import anchor_at
from ..passages.differences import Difference, Nearest, nearest, stitched
from ..passages.wording import FoldedText, Quoted, find_verbatim, parse
from .texts import text_named, text_of

if TYPE_CHECKING:
    from ..model.passage import Passage
    from . import Corpus

_CANDIDATES, _QUERY, _QUERIES = 50, 400, 4
_NEAR = 0.6  # of its words in their order: less is another sentence
_AROUND = 700  # characters before and after a passage, in which its sentences end


@dataclass(frozen=True, slots=True)
class Quotation:
    """The result for a quotation.

    ``verbatim``: it was found word for word; then ``start`` and ``end`` are its own place in
    ``file`` (or, without one, in title, blank line and abstract of the record), and ``text`` is
    the text there, including what an ellipsis left out. Else they are those of the nearest passage;
    ``found`` is False where no passage shares a word with it. ``likeness`` is 1 for a verbatim
    quotation, else the share of its words that are there in order, ``printed`` those words as the
    text has them, and ``differences`` what differs. ``uuid`` names the passage; empty where a
    verbatim quotation is in none (in a reference list). ``anchor`` names the block of the text
    that it stands in (`..passages.anchors`), as ``read --source`` shows it.
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
    printed: str = ""
    differences: tuple[Difference, ...] = ()

    @property
    def verdict(self) -> Literal["verbatim", "near", "absent"]:
        """What to make of it: ``near`` is the same sentence with other words."""
        if self.verbatim:
            return "verbatim"
        return "near" if self.likeness >= _NEAR else "absent"

    @property
    def handle(self) -> str:
        """Where to read on: ``pmid:31452104#p-3f9a1c2e``; empty where nothing is like it."""
        if not self.found:
            return ""
        return f"{self.paper}#{self.anchor}" if self.anchor else self.paper


def verify(text: str, corpus: Corpus) -> Quotation:
    """Where a quotation stands verbatim in the corpus, or the nearest passage.

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
    quoted = parse(text)
    if not corpus.finder.status().passages:
        msg = "The index is empty: the quotation was looked for nowhere."
        raise StoreFailed(msg, "Sync a question or download papers, then: server.py index.")
    candidates = _candidates(quoted, corpus)
    apart = None
    for passage in _one_of_each(candidates):
        try:
            text = text_of(passage, corpus)
        except NotFound:
            continue  # gone since it was indexed
        wording = FoldedText.of(text)
        if span := find_verbatim(quoted, text, wording):
            return _placed(Nearest(*span, 1.0, ()), text, passage, corpus)
        if not apart and (near := stitched(quoted, text, wording)):
            apart = _placed(near, text, passage, corpus)
    return apart or _nearest(quoted, candidates, corpus)


def verify_in(text: str, paper: str, corpus: Corpus) -> Quotation:
    """Where a quotation stands in one paper, or what comes nearest in it.

    Parameters
    ----------
    text : str
        As for `verify`.
    paper : str
        An identifier, or a file's name on the shelf.
    corpus : Corpus

    Raises
    ------
    BadRequest, StoreFailed
        As for `verify`.
    NotFound
        The paper is neither on the shelf nor in the corpus.
    """
    quoted, named = parse(text), text_named(paper, corpus)
    whole = named.read(corpus.shelf)
    wording = FoldedText.of(whole)
    span = find_verbatim(quoted, whole, wording)
    near = Nearest(*span, 1.0, ()) if span else nearest(quoted, whole, wording)
    if not near.likeness:
        return Quotation(found=False)
    anchor = anchor_at(whole, near.start, near.end)
    there = whole[near.start : near.end]
    return Quotation(
        found=True,
        verbatim=span is not None,
        paper=named.key,
        title=named.paper.title,
        file=named.file,
        section=anchor.section if anchor else "",
        start=near.start,
        end=near.end,
        text=there,
        likeness=near.likeness,
        anchor=anchor.name if anchor else "",
        printed=there,
        differences=near.differences,
    )


def _candidates(quoted: Quoted, corpus: Corpus) -> list[Passage]:
    """The passages that share most words with it; long quotations are searched in stretches."""
    queries: list[str] = []
    for part in quoted.parts:
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


def _placed(near: Nearest, text: str, passage: Passage, corpus: Corpus) -> Quotation:
    """What was found in *text*, the whole text of this passage's paper."""
    there, verbatim = text[near.start : near.end], not near.differences
    place = _passage_at(near.start, corpus.database.passages_of(passage.paper))
    shown = place or passage
    return Quotation(
        found=True,
        verbatim=verbatim,
        paper=passage.paper,
        title=passage.title,
        file=passage.file,
        section=place.section if place else "",
        start=near.start if verbatim else shown.start,
        end=near.end if verbatim else shown.end,
        text=there if verbatim else shown.text,
        likeness=near.likeness,
        uuid=place.uuid if place else "" if verbatim else passage.uuid,
        anchor=_anchor(text, near.start, near.end),
        printed=there,
        differences=near.differences,
    )


def _anchor(text: str, start: int, end: int) -> str:
    found = anchor_at(text, start, end)
    return found.name if found else ""


def _passage_at(position: int, passages: Sequence[Passage]) -> Passage | None:
    return next((one for one in passages if one.start <= position < one.end), None)


def _nearest(quoted: Quoted, candidates: Sequence[Passage], corpus: Corpus) -> Quotation:
    """The passage with the stretch most like the quotation."""
    scored = [(nearest(quoted, one.text), one) for one in candidates]
    if not scored:
        return Quotation(found=False)
    near, best = max(scored, key=lambda pair: pair[0].likeness)
    if not near.likeness:
        return Quotation(found=False)
    around, anchor, printed = near, "", best.text[near.start : near.end]
    with suppress(NotFound):  # gone since it was indexed
        text = text_of(best, corpus)
        begin = max(0, best.start - _AROUND)
        around = nearest(quoted, text[begin : best.end + _AROUND])
        start, end = begin + around.start, begin + around.end
        anchor, printed = _anchor(text, start, end), text[start:end]
    return Quotation(
        found=True,
        paper=best.paper,
        title=best.title,
        file=best.file,
        section=best.section,
        start=best.start,
        end=best.end,
        text=best.text,
        likeness=around.likeness,
        uuid=best.uuid,
        anchor=anchor,
        printed=printed,
        differences=around.differences,
    )
