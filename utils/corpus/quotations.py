"""Find a quotation word for word, or the most similar passage and its differences.

A quotation is checked in one paper or in the whole corpus. In the corpus, the index proposes papers
by the quotation's words, and the whole current text of each paper is read. So a quotation may cross
the border of two passages, or come from a text that changed after indexing. Typesetting (quotation
marks, dashes, ligatures, blanks, markup) makes no difference; a digit, a sign, a capital or a "not"
does (`.wording`). Only the paper's own text is compared: the header that the shelf writes above the
text, and texts that the judges rejected, are excluded.
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
from ..outline.blocks import find_anchor, find_body_start
from ..outline.words import count_words
from ..shelf import strip_header
from .differences import (
    Difference,
    NearestStretch,
    compare_quotation,
    find_nearest_stretch,
    find_stitched_quotation,
    find_verbatim_stretch,
    split_quoted_sentences,
)
from .texts import find_paper_text, read_passage_text
from .wording import MIN_QUOTED_WORDS, FoldedQuotation, FoldedText, parse_quotation

if TYPE_CHECKING:
    from ..model.passage import Passage
    from .searchable import Searchable

Verdict = Literal["verbatim", "near", "absent"]
_CANDIDATES, _QUERY, _QUERIES = 50, 400, 4
_NEAR_LIKENESS = 0.6  # share of the words in order; a passage with less is a different sentence
_MAX_SENTENCES = 12  # sentences of a quotation that are looked for one by one
_CONTEXT_CHARS = 700  # characters before and after a passage, in which its sentences end


@dataclass(frozen=True, slots=True)
class QuotationPiece:
    """A stretch of a text, in the paper and in its file (no file for a record)."""

    paper: str
    file: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Quotation:
    """The outcome of a search for a quotation: the verdict, the place and the differences.

    ``verbatim`` means that the quotation was found word for word. Then ``start`` and ``end`` are
    its place in ``file`` (without a file: in title, blank line and abstract of the record), and
    ``text`` is the text there, including words that an ellipsis left out. Otherwise ``start``,
    ``end`` and ``text`` are those of the nearest passage; ``found`` is False if no passage shares a
    word with the quotation. ``likeness`` is 1 for a verbatim quotation, else the share of its words
    that the text has in order; ``printed`` is the text's wording, and ``differences`` lists the
    differences. ``uuid`` names the passage; empty if a verbatim quotation is outside all passages
    (in a reference list). ``anchor`` names the block of the text (`..outline.blocks`), as
    ``read --source`` shows it. ``pieces`` are the places of the words: several around an ellipsis,
    or if the quotation was stitched from separate places, in one paper or in several. ``sha256`` is
    the checksum of the text without the shelf's header, as in ``papers.lock.json``.
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
    pieces: tuple[QuotationPiece, ...] = ()
    sha256: str = ""

    @property
    def verdict(self) -> Verdict:
        """The verdict on the quotation."""
        return classify_similarity(self.likeness)

    @property
    def handle(self) -> str:
        """The place's address, such as ``pmid:31452104#p-3f9a1c2e``; "" if nothing is similar."""
        if not self.found:
            return ""
        return f"{self.paper}#{self.anchor}" if self.anchor else self.paper


def classify_similarity(likeness: float) -> Verdict:
    """Return the verdict for a similarity; ``near`` is the same sentence with other words."""
    if likeness == 1.0:
        return "verbatim"
    return "near" if likeness >= _NEAR_LIKENESS else "absent"


def verify_quotation(text: str, corpus: Searchable) -> Quotation:
    """Find a quotation word for word in the corpus, or else the most similar passage.

    Parameters
    ----------
    text : str
        At least four words; ``…`` or ``[...]`` marks what was left out.
    corpus : Searchable
        The store to search: the papers of the 50 passages that share most words are read.

    Raises
    ------
    BadRequest
        The quotation is too short to identify, or too long.
    StoreFailed, WeaviateFailed
        The index is empty, or cannot be searched.
    """
    quoted = parse_quotation(text)
    if not corpus.finder.get_status().passages:
        msg = "The index is empty: the quotation was not searched for."
        filed = f"Download papers to look in: {command_line('download')}."
        raise StoreFailed(msg, filed, f"Then index them: {command_line('corpus index')}.")
    candidates = _find_candidate_passages(quoted.parts, corpus)
    apart = None
    for passage, text in _read_candidate_texts(candidates, corpus):
        wording = FoldedText.fold_paper_text(text)
        if there := find_verbatim_stretch(quoted, text, wording):
            return _build_quotation(there, text, passage, corpus)
        if not apart and (near := find_stitched_quotation(quoted, text, wording)):
            apart = _build_quotation(near, text, passage, corpus)
    return (
        apart
        or _find_quotation_across_papers(quoted, corpus)
        or _find_most_similar_passage(quoted, candidates, corpus)
    )


def verify_quotation_in_paper(text: str, paper: str, corpus: Searchable) -> Quotation:
    """Find a quotation in one paper, or the most similar text in that paper.

    Parameters
    ----------
    text : str
        As for `verify_quotation`.
    paper : str
        An identifier, or a file's name on the shelf.
    corpus : Searchable

    Raises
    ------
    BadRequest, StoreFailed
        As for `verify_quotation`.
    NotFound
        The paper is neither on the shelf nor in the corpus.
    """
    quoted, named = parse_quotation(text), find_paper_text(paper, corpus)
    whole = named.read(corpus.shelf)
    near = compare_quotation(quoted, whole)
    if not near.likeness:
        return Quotation(found=False)
    anchor = find_anchor(whole, near.start, near.end)
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
        pieces=_to_quotation_pieces(near, whole, named.key, named.file),
        sha256=_hash_text_body(whole, named.file),
    )


def _to_quotation_pieces(
    near: NearestStretch, text: str, paper: str, file: str
) -> tuple[QuotationPiece, ...]:
    return tuple(QuotationPiece(paper, file, *span, text[slice(*span)]) for span in near.pieces)


def _hash_text_body(text: str, file: str) -> str:
    """Return the SHA-256 of a file's text without its header, or of a record's text."""
    body = strip_header(text) if file else text
    return hashlib.sha256(body.encode("utf-8", "replace")).hexdigest()


def _find_candidate_passages(parts: Sequence[str], corpus: Searchable) -> list[Passage]:
    """Return the passages that share most words; a long quotation is searched in parts."""
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
    passages = corpus.database.get_passages(best)
    return [passages[uuid] for uuid in best if uuid in passages]


def _read_candidate_texts(
    passages: Sequence[Passage], corpus: Searchable
) -> Iterator[tuple[Passage, str]]:
    """Yield the first passage of each text, with the current text."""
    seen: set[tuple[str, str]] = set()
    for passage in passages:
        if (passage.paper, passage.file) not in seen:
            seen.add((passage.paper, passage.file))
            with suppress(NotFound):  # removed since it was indexed
                yield passage, read_passage_text(passage, corpus)


def _find_quotation_across_papers(quoted: FoldedQuotation, corpus: Searchable) -> Quotation | None:
    """Return a quotation whose sentences are all verbatim, but from several papers; else None."""
    sentences = split_quoted_sentences(quoted)
    if len(sentences) < 2:
        return None
    found: list[Quotation] = []
    for sentence in sentences[:_MAX_SENTENCES]:
        one = parse_quotation(sentence) if count_words(sentence) >= MIN_QUOTED_WORDS else None
        there = _find_verbatim_sentence(one, corpus, found) if one else None
        if there is None:
            return None
        found.append(there)
    others = [
        Difference("stitched", sentence, f"in {there.paper}")
        for sentence, there in zip(sentences, found, strict=False)
        if there.paper != found[0].paper
    ]
    pieces = tuple(piece for there in found for piece in there.pieces)
    combined = replace(found[0], verbatim=False, likeness=0.99, pieces=pieces)
    return replace(combined, differences=tuple(others)) if others else None


def _find_verbatim_sentence(
    quoted: FoldedQuotation, corpus: Searchable, before: Sequence[Quotation]
) -> Quotation | None:
    """Find a sentence word for word, first in the papers of the sentences in *before*."""
    same = {one.paper for one in before}
    passages = _find_candidate_passages(quoted.parts, corpus)
    for passage, text in _read_candidate_texts(
        sorted(passages, key=lambda one: one.paper not in same), corpus
    ):
        if there := find_verbatim_stretch(quoted, text, FoldedText.fold_paper_text(text)):
            return _build_quotation(there, text, passage, corpus)
    return None


def _build_quotation(
    near: NearestStretch, text: str, passage: Passage, corpus: Searchable
) -> Quotation:
    """Return the outcome for a position in *text*, the whole text of the passage's paper."""
    there, is_verbatim = text[near.start : near.end], near.is_verbatim
    passages = corpus.database.get_passages_of_paper(passage.paper)
    place = _find_passage_at(near.start, [one for one in passages if one.file == passage.file])
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
        anchor=_find_anchor_name(text, near.start, near.end),
        printed=there,
        differences=near.differences,
        pieces=_to_quotation_pieces(near, text, passage.paper, passage.file),
        sha256=_hash_text_body(text, passage.file),
    )


def _find_anchor_name(text: str, start: int, end: int) -> str:
    found = find_anchor(text, start, end)
    return found.name if found else ""


def _find_passage_at(position: int, passages: Sequence[Passage]) -> Passage | None:
    return next((one for one in passages if one.start <= position < one.end), None)


def _find_most_similar_passage(
    quoted: FoldedQuotation, candidates: Sequence[Passage], corpus: Searchable
) -> Quotation:
    """Return the outcome for the candidate most similar to the quotation."""
    scored = [(find_nearest_stretch(quoted, one.text), one) for one in candidates]
    if not scored:
        return Quotation(found=False)
    near, best = max(scored, key=lambda pair: pair[0].likeness)
    if not near.likeness:
        return Quotation(found=False)
    around, anchor, printed = near, "", best.text[near.start : near.end]
    sha256 = ""
    at = best.start + near.start
    with suppress(NotFound):  # gone since it was indexed
        text = read_passage_text(best, corpus)
        sha256 = _hash_text_body(text, best.file)
        begin = max(find_body_start(text), best.start - _CONTEXT_CHARS)
        around = find_nearest_stretch(quoted, text[begin : best.end + _CONTEXT_CHARS])
        at, end = begin + around.start, begin + around.end
        anchor, printed = _find_anchor_name(text, at, end), text[at:end]
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
        pieces=(QuotationPiece(best.paper, best.file, at, at + len(printed), printed),),
        sha256=sha256,
    )
