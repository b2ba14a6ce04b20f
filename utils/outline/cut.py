"""Split a paper's markdown into passages that can be searched, quoted and checked.

A passage has 250 to 400 tokens of one section: enough to answer a question, and few enough for a
model with a limit of 512. Paragraphs stay whole if they fit. Otherwise a passage ends with a
sentence, and the next one repeats the last sentences, so that text across the boundary is found,
too. Header and references are not split into passages. The offsets of each passage are exact,
because quotations are checked against them.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from ..model.paper import Kind
from ..model.passage import Passage, hash_embedding_text
from .blocks import (
    Block,
    SectionBlocks,
    estimate_tokens,
    find_body_start,
    iterate_sentence_spans,
    split_block_items,
    split_long_sentence,
    split_sections,
)

RULES_VERSION = 3
"""The version of these rules; after a change of it `index` cuts everything again."""
LEAST, MOST = 250, 400
OVERLAP_TOKENS = 60
FORMULA_MAX_TOKENS = 1500  # a formula or a fence of code that takes more is something broken
_SHORT_SECTION_TOKENS = 100
_LEAD_TOKENS = 150
_SECTION, _SLUG = 200, 80
_PARAGRAPH = re.compile(r"\S[^\n]*(?:\n(?!\s*\n)[^\n]*)*")


class UnsplitSpan(NamedTuple):
    """A sentence, list item, table or formula, which is never split between passages.

    ``opens`` is True at the start of a paragraph; only ``prose`` is repeated in the next passage.
    ``lead`` is the caption and header of a table that begins in another passage, to be named with
    the section. A span that is ``alone`` is a passage of its own.
    """

    start: int
    end: int
    tokens: int
    opens: bool = True
    prose: bool = False
    lead: str = ""
    alone: bool = False


class PassageSpan(NamedTuple):
    """The span of a future passage, and what to add to the name of its section."""

    start: int
    end: int
    lead: str = ""


SectionGroup = tuple[list[tuple[str, ...]], list[UnsplitSpan]]
"""Sections that go together: their headings, and their atoms."""


def split_into_passages(
    text: str, *, paper: str, title: str, kind: Kind, file: str = "", **about: Any
) -> list[Passage]:
    """Split a shelf file, or a record's title and abstract, into passages.

    Parameters
    ----------
    text : str
        With *file*, the whole content of the file, header included; otherwise the record's text.
    paper, title, kind, file
        As in `Passage`.
    **about
        The other fields of `Passage`: ``year``, ``journal``, ``publication_types``, ``retracted``.

    Returns
    -------
    list of Passage
        In reading order. Each is exactly ``text[start:end]``. The ``section`` of a later piece of a
        long table names its caption and header, too.
    """
    parts = (
        _join_short_section_groups(split_sections(text, find_body_start(text)), text)
        if file
        else _split_record_sections(text, title)
    )
    numbers: Counter[str] = Counter()
    found: list[Passage] = []
    for paths, atoms in parts:
        slug = _to_section_slug(paths[0])
        for stretch in _pack_spans_into_passages(atoms):
            numbers[slug] += 1
            words = text[stretch.start : stretch.end]
            section = " > ".join(filter(None, (_format_section_path(paths), stretch.lead)))
            passage = Passage(
                paper=paper,
                chunk_id=f"{slug}-{numbers[slug]}",
                section=section,
                ordinal=len(found),
                text=words,
                start=stretch.start,
                end=stretch.end,
                kind=kind,
                file=file,
                digest=hash_embedding_text(title, section, words),
                title=title,
                **about,
            )
            found.append(passage)
    return found


def _split_record_sections(text: str, title: str) -> Iterable[SectionGroup]:
    """Return the section of a record's abstract, or of its title if the abstract is missing."""
    start = len(title) if text[len(title) :].strip() else 0
    path = ("Abstract" if start else "Title",)
    begin, end = start + len(text[start:]) - len(text[start:].lstrip()), len(text.rstrip())
    size = estimate_tokens(text, begin, end)
    if size <= MOST:  # as most do: no need to know its sentences
        return [([path], [UnsplitSpan(begin, end, size)])] if begin < end else []
    blocks = [
        Block("prose", start + match.start(), start + match.start() + len(match[0].rstrip()))
        for match in _PARAGRAPH.finditer(text[start:])
    ]
    return _join_short_section_groups([SectionBlocks(path, "abstract", blocks)], text)


def _join_short_section_groups(found: Sequence[SectionBlocks], text: str) -> Iterator[SectionGroup]:
    """Yield the spans of each section; very short sections are joined to a neighbour."""
    paths: list[tuple[str, ...]] = []
    atoms: list[UnsplitSpan] = []
    part = ""
    for section in found:
        more = [atom for block in section.blocks for atom in _split_block_into_spans(text, block)]
        related = paths and part == section.part and _are_related_sections(paths[0], section.path)
        if related and _can_share_passage(text, atoms, more):
            paths.append(section.path)
            atoms += more
            continue
        if atoms:
            yield paths, atoms
        paths, atoms, part = [section.path], more, section.part
    if atoms:
        yield paths, atoms


def _can_share_passage(
    text: str, atoms: Sequence[UnsplitSpan], more: Sequence[UnsplitSpan]
) -> bool:
    """Return whether two groups of spans fit into one passage, and one of them is short."""
    size, added = (sum(atom.tokens for atom in some) for some in (atoms, more))
    if size + added > MOST or min(size, added) >= _SHORT_SECTION_TOKENS:
        return False
    return (
        estimate_tokens(text, atoms[0].start, more[-1].end) <= MOST
    )  # with the headings between them


def _are_related_sections(path: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return whether two sections share a parent, or the first is the parent of the second."""
    return bool(path and other) and other[:-1] in (path[:-1], path)


def _split_block_into_spans(text: str, block: Block) -> Iterator[UnsplitSpan]:
    """Yield the spans of a block."""
    if block.kind == "prose":
        yield from _split_text_into_sentences(text, block.start, block.end, prose=True)
        return
    if block.kind != "list":
        size = estimate_tokens(text, block.start, block.end)
        if size <= (MOST if block.kind == "table" else FORMULA_MAX_TOKENS):
            yield UnsplitSpan(block.start, block.end, size)
            return
    if block.kind == "table":
        yield from _split_table_rows(text, block)
        return
    for start, end in split_block_items(text, block):
        size = estimate_tokens(text, start, end)
        if size <= MOST:
            yield UnsplitSpan(start, end, size)
        else:
            yield from _split_text_into_sentences(text, start, end, prose=False)


def _split_text_into_sentences(
    text: str, start: int, end: int, *, prose: bool
) -> Iterator[UnsplitSpan]:
    """Yield the sentences of ``text[start:end]``; long sentences are split."""
    opens = True
    for begin, stop in iterate_sentence_spans(text, start, end):
        size = estimate_tokens(text, begin, stop)
        if size <= MOST:
            yield UnsplitSpan(begin, stop, size, opens, prose)
        else:
            for a, b in split_long_sentence(
                text, begin, stop, MOST - OVERLAP_TOKENS, FORMULA_MAX_TOKENS
            ):
                yield UnsplitSpan(a, b, estimate_tokens(text, a, b), opens, prose)
                opens = False
        opens = False


def _split_table_rows(text: str, block: Block) -> Iterator[UnsplitSpan]:
    """Yield the rows of a long table; pieces after the first lead with caption and header."""
    rows = split_block_items(text, block)
    head = next((n + 1 for n, (a, b) in enumerate(rows[:6]) if _is_separator_row(text[a:b])), 1)
    first = block.start if block.caption >= 0 else rows[0][0]
    lead = _build_table_heading(text, block, rows[0][0], rows[head - 1][1])
    room = MOST - estimate_tokens(lead)
    begin, stop, count = first, rows[head - 1][1], estimate_tokens(text, first, rows[head - 1][1])
    lead_of_piece = ""
    for start, end in rows[head:]:
        for a, b in _split_long_row(text, start, end, room):
            size = estimate_tokens(text, a, b)
            if count + size > (room if lead_of_piece else MOST) and stop > begin:
                yield UnsplitSpan(begin, stop, count, lead=lead_of_piece, alone=True)
                begin, count, lead_of_piece = a, 0, lead
            count, stop = count + size, b
    yield UnsplitSpan(begin, stop, count, lead=lead_of_piece, alone=True)


def _is_separator_row(row: str) -> bool:
    """Return whether a row is the line between the header and the body of a table."""
    return "-" in row and not row.strip(" |:-\t")


def _split_long_row(text: str, start: int, end: int, room: int) -> Iterable[tuple[int, int]]:
    """Return the span of a row, or of its pieces if the row is longer than *room* tokens."""
    whole = estimate_tokens(text, start, end) <= room
    return [(start, end)] if whole else split_long_sentence(text, start, end, room, room)


def _build_table_heading(text: str, block: Block, rows: int, end: int) -> str:
    """Return the caption and header of a table in one line, shortened if long."""
    caption = _shorten_to_tokens(text, block.start, rows, _LEAD_TOKENS // 2)
    named = (line for line in text[rows:end].splitlines() if not _is_separator_row(line))
    head = "\n".join(named)
    columns = _shorten_to_tokens(head, 0, len(head), _LEAD_TOKENS)
    return " ".join(f"{caption if block.caption >= 0 else ''} {columns}".split())


def _shorten_to_tokens(text: str, start: int, end: int, most: int) -> str:
    """Return the first *most* tokens of ``text[start:end]``."""
    begin, stop = next(split_long_sentence(text, start, end, most, most), (start, end))
    return text[begin:stop] + (" …" if text[stop:end].strip() else "")


def _pack_spans_into_passages(atoms: Sequence[UnsplitSpan]) -> Iterator[PassageSpan]:
    """Yield the spans of passages; each piece of a long table is a passage of its own."""
    run: list[UnsplitSpan] = []
    for atom in atoms:
        if not atom.alone:
            run.append(atom)
            continue
        yield from _pack_spans_evenly(run)
        run = []
        yield PassageSpan(atom.start, atom.end, atom.lead)
    yield from _pack_spans_evenly(run)


def _pack_spans_evenly(atoms: Sequence[UnsplitSpan]) -> Iterator[PassageSpan]:
    """Yield as few passages as possible, with boundaries between paragraphs where possible."""
    sums = [0, *accumulate(atom.tokens for atom in atoms)]
    begin = new = 0  # the passage begins with `begin`; what is before `new` is in the last one
    while new < len(atoms):
        end = new + 1
        while end < len(atoms) and sums[end + 1] - sums[begin] <= MOST:
            end += 1
        if end < len(atoms):
            end = _choose_passage_end(atoms, sums, begin, new, end)
        yield PassageSpan(atoms[begin].start, atoms[end - 1].end)
        new = end
        begin = _find_overlap_start(atoms, sums, new) if new < len(atoms) else new


def _choose_passage_end(
    atoms: Sequence[UnsplitSpan], sums: list[int], begin: int, new: int, end: int
) -> int:
    """Return the end of a passage: at most *end*, preferably at the end of a paragraph."""
    rest = sums[-1] - sums[begin]
    least = LEAST if rest > LEAST + MOST else min(LEAST, max(1, rest // 2))
    for choice in range(end, new, -1):
        if sums[choice] - sums[begin] < least:
            break
        if atoms[choice].opens and sums[-1] - sums[choice] >= min(_SHORT_SECTION_TOKENS, rest // 3):
            return choice
    if rest <= LEAST + MOST:  # the last two: alike rather than one of them a remnant
        return next(
            n for n in range(new + 1, end + 1) if n == end or sums[n] >= sums[begin] + least
        )
    return end


def _find_overlap_start(atoms: Sequence[UnsplitSpan], sums: list[int], new: int) -> int:
    """Return where a passage begins whose first new span is *new*, with its overlap."""
    begin = new
    while (
        begin
        and atoms[begin - 1].prose
        and atoms[new].prose
        and sums[new] - sums[begin - 1] <= OVERLAP_TOKENS
        and sums[new + 1] - sums[begin - 1] <= MOST
    ):
        begin -= 1
    return begin


@lru_cache(maxsize=1024)
def _to_section_slug(path: tuple[str, ...]) -> str:
    """Return the slug of a section, a permanent part of the names of its passages."""
    slug = re.sub(r"[\W_]+", "-", " ".join(path).casefold()).strip("-") or "text"
    if len(slug) <= _SLUG:
        return slug
    digest = hashlib.sha256(slug.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{slug[:_SLUG].rstrip('-')}-{digest[:8]}"


def _format_section_path(paths: Sequence[tuple[str, ...]]) -> str:
    """Return the section as users read it: "Methods > Cell culture; Reagents"."""
    first, *others = paths
    names = "; ".join(dict.fromkeys([first[-1] if first else "", *(path[-1] for path in others)]))
    shown = " > ".join([*first[:-1], names]).strip()
    return shown if len(shown) <= _SECTION else f"{shown[: _SECTION - 1]}…"
