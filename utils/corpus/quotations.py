"""Where a quotation stands, word for word, or which passage comes nearest and how it differs.

In one paper, or anywhere in the corpus: then the index proposes papers by the quotation's words,
and the whole text of each is read, so that a quotation across the border of two passages, or from a
text that has changed since it was indexed, is compared with the text of today. What typesetting
changes (quotation marks, dashes, ligatures, blanks, markup) makes no difference; a figure, a sign,
a capital or a "not" does (`.wording`). Only the paper's own text is compared: the header
that the shelf writes above the text is not, and a text that the judges rejected is not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ..command_line import command_line
from ..errors import NotFound, StoreFailed
from ..model.passage import Filters
from ..outline.blocks import anchor_at, body_start
from ..outline.words import count_words
from ..shelf import body_of
from .differences import Difference, Nearest, compared, nearest, sentences_of, stitched, verbatim
from .texts import text_named, text_of
from .wording import LEAST_WORDS, FoldedText, Quoted, parse

if TYPE_CHECKING:
    from ..model.passage import Passage
    from .searchable import Searchable

Verdict = Literal["verbatim", "near", "absent"]
_CANDIDATES, _QUERY, _QUERIES = 50, 400, 4
_NEAR = 0.6  # of its words in their order: less is another sentence
_SENTENCES = 12  # of a quotation that are looked for one by one
_AROUND = 700  # characters before and after a passage, in which its sentences end


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a text, of the paper and in the file where it stands (without one: record)."""

    paper: str
    file: str
    start: int
    end: int
    text: str


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
    that it stands in (`..outline.blocks`), as ``read --source`` shows it. ``pieces`` are the
    places of its words: several round a mark, or where it was stitched from what stands apart, in
    one paper or in several. ``sha256`` is the checksum of the text that was read, without the
    shelf's header: the one that ``papers.lock.json`` gives for a full text.
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
    pieces: tuple[Piece, ...] = ()
    sha256: str = ""

    @property
    def verdict(self) -> Verdict:
        """What to make of it."""
        return verdict_on(self.likeness)

    @property
    def handle(self) -> str:
        """Where to read on: ``pmid:31452104#p-3f9a1c2e``; empty where nothing is like it."""
        if not self.found:
            return ""
        return f"{self.paper}#{self.anchor}" if self.anchor else self.paper


def verdict_on(likeness: float) -> Verdict:
    """What to make of a quotation's likeness: ``near`` is the same sentence with other words."""
    if likeness == 1.0:
        return "verbatim"
    return "near" if likeness >= _NEAR else "absent"


def verify(text: str, corpus: Searchable) -> Quotation:
    """Find where a quotation stands verbatim in the corpus, or the nearest passage.

    Parameters
    ----------
    text : str
        At least four words; ``…`` or ``[...]`` marks what was left out.
    corpus : Searchable
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
        filed = f"Download papers to look in: {command_line('download')}."
        raise StoreFailed(msg, filed, f"Then index them: {command_line('corpus index')}.")
    candidates = _candidates(quoted.parts, corpus)
    apart = None
    for passage, text in _texts(candidates, corpus):
        wording = FoldedText.of_paper(text)
        if there := verbatim(quoted, text, wording):
            return _build_quotation(there, text, passage, corpus)
        if not apart and (near := stitched(quoted, text, wording)):
            apart = _build_quotation(near, text, passage, corpus)
    return apart or _of_several(quoted, corpus) or _nearest(quoted, candidates, corpus)


def verify_in(text: str, paper: str, corpus: Searchable) -> Quotation:
    """Find where a quotation stands in one paper, or what comes nearest in it.

    Parameters
    ----------
    text : str
        As for `verify`.
    paper : str
        An identifier, or a file's name on the shelf.
    corpus : Searchable

    Raises
    ------
    BadRequest, StoreFailed
        As for `verify`.
    NotFound
        The paper is neither on the shelf nor in the corpus.
    """
    quoted, named = parse(text), text_named(paper, corpus)
    whole = named.read(corpus.shelf)
    near = compared(quoted, whole)
    if not near.likeness:
        return Quotation(found=False)
    anchor = anchor_at(whole, near.start, near.end)
    there = whole[near.start : near.end]
    return Quotation(
        found=True,
        verbatim=near.is_verbatim,
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
        pieces=_pieces(near, whole, named.key, named.file),
        sha256=_checksum(whole, named.file),
    )


def _pieces(near: Nearest, text: str, paper: str, file: str) -> tuple[Piece, ...]:
    return tuple(Piece(paper, file, *span, text[slice(*span)]) for span in near.pieces)


def _checksum(text: str, file: str) -> str:
    """Return the SHA-256 of a file's text without its header, or of a record's."""
    body = body_of(text) if file else text
    return hashlib.sha256(body.encode("utf-8", "replace")).hexdigest()


def _candidates(parts: Sequence[str], corpus: Searchable) -> list[Passage]:
    """The passages that share most words with it; long quotations are searched in stretches."""
    queries: list[str] = []
    for part in parts:
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


def _texts(passages: Sequence[Passage], corpus: Searchable) -> Iterator[tuple[Passage, str]]:
    """The first passage of every text, with the text as it is now."""
    seen: set[tuple[str, str]] = set()
    for passage in passages:
        if (passage.paper, passage.file) not in seen:
            seen.add((passage.paper, passage.file))
            with suppress(NotFound):  # gone since it was indexed
                yield passage, text_of(passage, corpus)


def _of_several(quoted: Quoted, corpus: Searchable) -> Quotation | None:
    """A quotation whose sentences all stand word for word, but in several papers."""
    sentences = sentences_of(quoted)
    if len(sentences) < 2:
        return None
    found: list[Quotation] = []
    for sentence in sentences[:_SENTENCES]:
        one = parse(sentence) if count_words(sentence) >= LEAST_WORDS else None
        there = _verbatim_anywhere(one, corpus, found) if one else None
        if there is None:
            return None
        found.append(there)
    others = [
        Difference("stitched", sentence, f"in {there.paper}")
        for sentence, there in zip(sentences, found, strict=False)
        if there.paper != found[0].paper
    ]
    pieces = tuple(piece for there in found for piece in there.pieces)
    made = replace(found[0], verbatim=False, likeness=0.99, pieces=pieces)
    return replace(made, differences=tuple(others)) if others else None


def _verbatim_anywhere(
    quoted: Quoted, corpus: Searchable, before: Sequence[Quotation]
) -> Quotation | None:
    """Where a sentence stands, looked for in the papers of the sentences *before* it first."""
    same = {one.paper for one in before}
    passages = _candidates(quoted.parts, corpus)
    for passage, text in _texts(sorted(passages, key=lambda one: one.paper not in same), corpus):
        if there := verbatim(quoted, text, FoldedText.of_paper(text)):
            return _build_quotation(there, text, passage, corpus)
    return None


def _build_quotation(near: Nearest, text: str, passage: Passage, corpus: Searchable) -> Quotation:
    """Describe what was found in *text*, the whole text of this passage's paper."""
    there, is_verbatim = text[near.start : near.end], near.is_verbatim
    passages = corpus.database.passages_of(passage.paper)
    place = _passage_at(near.start, [one for one in passages if one.file == passage.file])
    shown = place or passage
    return Quotation(
        found=True,
        verbatim=is_verbatim,
        paper=passage.paper,
        title=passage.title,
        file=passage.file,
        section=place.section if place else "",
        start=near.start if is_verbatim else shown.start,
        end=near.end if is_verbatim else shown.end,
        text=there if is_verbatim else shown.text,
        likeness=near.likeness,
        uuid=place.uuid if place else "" if is_verbatim else passage.uuid,
        anchor=_anchor(text, near.start, near.end),
        printed=there,
        differences=near.differences,
        pieces=_pieces(near, text, passage.paper, passage.file),
        sha256=_checksum(text, passage.file),
    )


def _anchor(text: str, start: int, end: int) -> str:
    found = anchor_at(text, start, end)
    return found.name if found else ""


def _passage_at(position: int, passages: Sequence[Passage]) -> Passage | None:
    return next((one for one in passages if one.start <= position < one.end), None)


def _nearest(quoted: Quoted, candidates: Sequence[Passage], corpus: Searchable) -> Quotation:
    """The passage with the stretch most like the quotation."""
    scored = [(nearest(quoted, one.text), one) for one in candidates]
    if not scored:
        return Quotation(found=False)
    near, best = max(scored, key=lambda pair: pair[0].likeness)
    if not near.likeness:
        return Quotation(found=False)
    around, anchor, printed = near, "", best.text[near.start : near.end]
    sha256 = ""
    at = best.start + near.start
    with suppress(NotFound):  # gone since it was indexed
        text = text_of(best, corpus)
        sha256 = _checksum(text, best.file)
        begin = max(body_start(text), best.start - _AROUND)
        around = nearest(quoted, text[begin : best.end + _AROUND])
        at, end = begin + around.start, begin + around.end
        anchor, printed = _anchor(text, at, end), text[at:end]
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
        pieces=(Piece(best.paper, best.file, at, at + len(printed), printed),),
        sha256=sha256,
    )
