"""Select excerpts of many papers within one budget, as whole named blocks.

A review reads twenty papers for the same thing: their methods, or what they say about a question.
The budget is shared equally, and the unused share of short papers goes to long ones. Blocks are
kept whole; only a block longer than its paper's share is cut, at the end of a sentence.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import groupby

from ..errors import BadRequest
from ..model.paper import Role, Section, StoredPaper
from ..model.passage import Anchor
from ..outline import find_outermost_sections
from ..outline.sections import find_slice_end
from ..outline.terms import FTS5, to_index_terms, to_query_terms
from ..shelf import Shelf
from .reading import find_sections, open_stored_text

_ROLE_ORDER: tuple[Role, ...] = ("abstract", "results", "conclusion", "discussion", "methods")
"""The order of roles if neither sections nor a question are given."""
_NAME_OVERHEAD_CHARS = 4  # characters that a block's name takes beside its letters
_CUT = " […]"
_MIN_CUT_CHARS = 20  # characters, so that every round leaves something out


@dataclass(frozen=True, slots=True)
class ExcerptPart:
    """The chosen blocks of one section, with names and texts, in reading order."""

    section: str
    blocks: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """The blocks, each preceded by its name: ``[p-3f9a1c2e] We asked …``."""
        return "\n\n".join(f"[{name}] {text}" for name, text in self.blocks)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The blocks chosen from one paper.

    ``left_out`` pairs the sections that are not there as a whole with the characters left out;
    ``trouble`` says which sections were asked for and are none, and that no block has a word of
    the question; ``sections`` are the paper's.
    """

    stored: StoredPaper
    parts: tuple[ExcerptPart, ...]
    left_out: tuple[tuple[str, int], ...]
    sections: tuple[Section, ...]
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class _CandidateText:
    """A paper's text with its blocks, and the blocks to show, best first."""

    stored: StoredPaper
    text: str
    sections: tuple[Section, ...]
    blocks: tuple[Anchor, ...]
    wanted: tuple[Anchor, ...]
    trouble: str = ""

    def measure_block(self, block: Anchor) -> int:
        """Return the number of characters that a block takes in an excerpt, with its name."""
        return block.end - block.start + len(block.name) + _NAME_OVERHEAD_CHARS


def select_excerpts(
    papers: Sequence[StoredPaper],
    shelf: Shelf,
    *,
    sections: Sequence[str] = (),
    question: str = "",
    budget: int = 60_000,
    excess: Callable[[list[Excerpt]], int] | None = None,
) -> list[Excerpt]:
    """Select the most useful blocks of each of *papers*, together in at most *budget* characters.

    Parameters
    ----------
    sections : sequence of str, optional
        Roles or headings, as `.reading.read_passage` takes them; all of a paper's when empty.
    question : str, optional
        The blocks that answer it best come first; without it, the sections asked for in their
        order, else abstract, results, conclusion, discussion, methods and the rest.
    excess : callable, optional
        Returns the number of characters by which an answer with these excerpts is too long. Less
        is chosen until the answer fits, or until nothing is left.
    """
    texts = [_open_candidate_text(stored, shelf, sections) for stored in papers]
    if to_query_terms(question):
        texts = _rank_blocks(texts, question)
    chosen = _choose_excerpts(texts, budget)
    while excess and budget > 0 and (too_many := excess(chosen)) > 0:
        budget = max(
            0, min(budget, _count_excerpt_characters(chosen)) - max(too_many, _MIN_CUT_CHARS)
        )
        chosen = _choose_excerpts(texts, budget)
    return chosen


def _choose_excerpts(texts: Sequence[_CandidateText], budget: int) -> list[Excerpt]:
    """Return for each text the blocks that fit into its share of *budget* characters."""
    needs = [sum(map(text.measure_block, text.wanted)) for text in texts]
    return [
        _fill_excerpt(text, share)
        for text, share in zip(texts, _divide_budget(needs, budget), strict=True)
    ]


def _count_excerpt_characters(chosen: Sequence[Excerpt]) -> int:
    return sum(len(part.text) for excerpt in chosen for part in excerpt.parts)


def _open_candidate_text(
    stored: StoredPaper, shelf: Shelf, sections: Sequence[str]
) -> _CandidateText:
    """Open a paper's text, and select its wanted blocks by section or role."""
    opened = open_stored_text(stored, shelf)
    text, parts = opened.text, opened.sections
    unread = find_outermost_sections(parts, "references")
    blocks = tuple(one for one in opened.anchors if not _is_block_in_sections(one, unread))
    if not sections:
        return _CandidateText(
            stored, text, parts, blocks, tuple(_iterate_blocks_by_role(blocks, parts))
        )
    chosen: list[Section] = []
    missing = []
    for name in sections:
        try:
            chosen += find_sections(name, parts)
        except BadRequest:
            missing.append(name)
    wanted = tuple(one for one in blocks if _is_block_in_sections(one, chosen))
    trouble = f"no section {', '.join(missing)}" if missing else ""
    if not wanted and stored.kind != "full_text":  # an abstract says more than that it is none
        wanted = tuple(_iterate_blocks_by_role(blocks, parts))
    return _CandidateText(stored, text, parts, blocks, wanted, trouble)


def _is_block_in_sections(block: Anchor, sections: Iterable[Section]) -> bool:
    return any(section.start <= block.start < section.end for section in sections)


def _iterate_blocks_by_role(blocks: Sequence[Anchor], parts: Sequence[Section]) -> Iterator[Anchor]:
    """Yield all blocks, beginning with the most informative sections."""
    seen: set[str] = set()
    for role in _ROLE_ORDER:
        inside = find_outermost_sections(parts, role)
        for one in blocks:
            if one.name not in seen and _is_block_in_sections(one, inside):
                seen.add(one.name)
                yield one
    yield from (one for one in blocks if one.name not in seen)


def _rank_blocks(texts: Sequence[_CandidateText], question: str) -> list[_CandidateText]:
    """Rank the blocks of all texts by a question (BM25)."""
    matching = " OR ".join(f'"{term}"' for term in to_query_terms(question))
    with closing(sqlite3.connect(":memory:")) as index:
        index.execute(f"CREATE VIRTUAL TABLE block USING fts5(text, {FTS5})")
        places = [(paper, one) for paper, text in enumerate(texts) for one in text.wanted]
        rows = (
            (row, to_index_terms(f"{one.section} {texts[paper].text[one.start : one.end]}"))
            for row, (paper, one) in enumerate(places)
        )
        index.executemany("INSERT INTO block(rowid, text) VALUES (?, ?)", rows)
        sql = "SELECT rowid FROM block WHERE block MATCH ? ORDER BY bm25(block), rowid"
        hits = [places[row] for (row,) in index.execute(sql, (matching,))]
    by_paper: dict[int, list[Anchor]] = {}
    for paper, one in hits:
        by_paper.setdefault(paper, []).append(one)
    return [_set_wanted_blocks(one, by_paper.get(paper, ())) for paper, one in enumerate(texts)]


def _set_wanted_blocks(text: _CandidateText, found: Sequence[Anchor]) -> _CandidateText:
    """Return the text with *found* as its wanted blocks; an empty result adds a warning."""
    nothing = "" if found or not text.wanted else "no passage has a word of the question"
    trouble = "; ".join(one for one in (text.trouble, nothing) if one)
    return replace(text, wanted=tuple(found), trouble=trouble)


def _divide_budget(needs: Sequence[int], budget: int) -> list[int]:
    """Return each paper's share of the budget: an equal share, or less if less is needed.

    >>> _divide_budget([10, 500, 500], 600)
    [10, 295, 295]
    """
    shares = [0] * len(needs)
    left, papers = budget, len(needs)
    for at in sorted(range(len(needs)), key=lambda number: needs[number]):
        shares[at] = min(needs[at], left // papers)
        left -= shares[at]
        papers -= 1
    return shares


def _fill_excerpt(text: _CandidateText, share: int) -> Excerpt:
    """Return as many of the wanted blocks as fit into the share, in reading order."""
    taken: dict[str, str] = {}
    left = share
    for one in text.wanted:
        said = text.text[one.start : one.end].strip()
        room = left - (text.measure_block(one) - len(said))
        if len(said) > room and (taken or room < 1):
            continue
        if len(said) > room:
            said = f"{said[: find_slice_end(said, 0, room)].rstrip()}{_CUT}"
        taken[one.name] = said
        left -= text.measure_block(one)
    shown = [one for one in text.blocks if one.name in taken]
    parts = tuple(
        ExcerptPart(section, tuple((one.name, taken[one.name]) for one in blocks))
        for section, blocks in groupby(shown, key=lambda one: one.section)
    )
    return Excerpt(
        text.stored,
        parts,
        tuple(_count_omitted_characters(text, taken).items()),
        text.sections,
        text.trouble,
    )


def _count_omitted_characters(text: _CandidateText, taken: Mapping[str, str]) -> Counter[str]:
    """Count the characters of each main section that are not shown."""
    left: Counter[str] = Counter()
    for one in text.blocks:
        if one.name not in taken:
            left[one.section.partition(" › ")[0] or "text"] += one.end - one.start
    return left
