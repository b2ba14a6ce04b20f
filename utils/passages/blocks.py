"""The sections of a paper's markdown, and the blocks within them, with their exact places.

Every reader of `..formats` writes this markdown: ``#`` headings, paragraphs, lists, tables with
pipes under a caption in bold, ``$$`` formulas and fences of code. Line by line, so that a page of a
million brackets costs no more than one of a million words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ..outline.sections import Part, part_of
from ..outline.words import without_markup

_HEADER = re.compile(
    r"(?:RETRACTED:[^\n]*\n\s*\n)?- Title:[^\n]*\n"
    r"(?:- [A-Za-z][A-Za-z0-9]*:[^\n]*\n)+\r?\n---\r?\n\s*"
)
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+\S")
_LONGEST_HEADING = 300  # more is a paragraph that begins with a sign
_FENCE = re.compile(r" {0,3}(```|~~~)")
_ROW = re.compile(r" {0,3}\|")
_ITEM = re.compile(r"\s{0,12}(?:[-*+\u2022]|\(?\w{1,3}[.)]|\[\d{1,4}\])\s+\S")
_CAPTION = re.compile(r"\W{0,4}(?:supplementary |extended data )?tab(?:le|\.)\W", re.I)
_NUMBERING = re.compile(r"^(?:\d+(?:\.\d+)*|[IVX]+|[A-Z])[.):]\s+|^\d+(?:\.\d+)*\s+")

BlockKind = Literal["prose", "list", "table", "code"]


class Block(NamedTuple):
    """A paragraph, list, table or fence: ``text[start:end]``, without the blank lines around it.

    ``caption`` is where a table's rows begin: its caption stands before.
    """

    kind: BlockKind
    start: int
    end: int
    caption: int = -1


@dataclass(slots=True)
class Section:
    """A heading with the headings above it, and the blocks right under it."""

    path: tuple[str, ...]
    part: Part
    blocks: list[Block] = field(default_factory=list)


def body_start(text: str) -> int:
    r"""Where the paper begins, after the header that the shelf writes.

    >>> body_start("- Title: A\n- Kind: full_text\n\n---\n\nText"), body_start("Text")
    (35, 0)
    """
    header = _HEADER.match(text)
    return header.end() if header else 0


def sections(text: str, start: int = 0) -> list[Section]:
    """The sections of ``text[start:]`` in reading order, reference lists left out.

    The title (the first heading, if it is one of the first level) is no part of the paths. A
    heading with nothing under it is a block of the section above.
    """
    found = [Section((), "lead")]
    above: list[tuple[int, str, Part]] = []
    pending: tuple[int, Block] | None = None  # the last heading, until something follows it
    left_out = 0  # the level of the reference list we are in
    for depth, block in _lines(text, start):
        if not depth:
            pending = None
            if not left_out:
                _add(found[-1], block, text)
            continue
        if pending and depth <= pending[0] and not left_out and found[1:]:
            found[-1].blocks.append(pending[1])
        pending = (depth, block)
        name = heading(text[block.start : block.end])
        if left_out and depth > left_out:
            continue
        role = part_of(name)
        left_out = depth if role == "references" else 0
        if depth == 1 and not above and role == "body" and not found[0].blocks and not found[1:]:
            pending = None
            continue
        while above and above[-1][0] >= depth:
            above.pop()
        if above and above[-1][2] in ("abstract", "back"):
            role = above[-1][2]  # the Methods of a structured abstract
        above.append((depth, name, role))
        found.append(Section(tuple(title for _, title, _ in above), role))
    if pending and not left_out and found[1:]:
        found[-1].blocks.append(pending[1])
    return [section for section in found if section.blocks]


def heading(line: str) -> str:
    """The text of a heading, without numbering and markup.

    >>> heading("## 2.1. **Cell** culture ##"), heading("### H<sub>2</sub>O")
    ('Cell culture', 'H2O')
    """
    name = without_markup(line.strip().strip("#")).replace("\\", "")
    name = " ".join(re.sub(r"[*`]+|(?<!\w)_|_(?!\w)", "", name).split())
    return _NUMBERING.sub("", name).strip() or name


def items(text: str, block: Block) -> list[tuple[int, int]]:
    """The items of a list, or the rows of a table: spans of whole lines."""
    starts = [block.start if block.caption < 0 else block.caption]
    for match in re.finditer(r"\n", text[block.start : block.end]):
        at = block.start + match.end()
        if at > starts[0] and (block.kind != "list" or _ITEM.match(text, at, block.end)):
            starts.append(at)
    ends = [*starts[1:], block.end]
    spans = (_stripped(text, a, b) for a, b in zip(starts, ends, strict=True))
    return [(a, b) for a, b in spans if a < b]


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without the blanks around it."""
    stretch = text[start:end]
    return end - len(stretch.lstrip()), start + len(stretch.rstrip())


def _add(section: Section, block: Block, text: str) -> None:
    """Add a block; a table takes the caption before it along."""
    blocks = section.blocks
    if block.kind == "table" and blocks and blocks[-1].kind == "prose":
        before = blocks[-1]
        if _CAPTION.match(text, before.start) and before.end - before.start < 2000:
            blocks[-1] = Block("table", before.start, block.end, block.start)
            return
    blocks.append(block)


def _lines(text: str, start: int) -> Iterator[tuple[int, Block]]:
    """Headings (with their level) and blocks (level 0) in order."""
    closing = {match[1]: match.start() for match in re.finditer(r"(?m)^ {0,3}(```|~~~)", text)}
    fence = ""
    kind: BlockKind = "prose"
    begin = end = -1
    for at, after in _each_line(text, start):
        first, last = _stripped(text, at, after)
        marker = _FENCE.match(text, at, after)
        if fence:
            end = last
            if marker and marker[1] == fence:
                yield 0, Block("code", begin, end)
                fence, begin = "", -1
            continue
        line_kind = _kind_of(text, at, after, begin >= 0, kind)
        opens = bool(marker) and marker is not None and closing[marker[1]] > marker.start()
        title = _HEADING.match(text, at, after) if after - at <= _LONGEST_HEADING else None
        if begin >= 0 and (line_kind != kind or opens or title):
            yield 0, Block(kind, begin, end)
            begin = -1
        if opens and marker:
            fence, begin = marker[1], first
        elif title:
            yield len(title[1]), Block("prose", first, last)
        elif line_kind:
            begin, kind = (first if begin < 0 else begin), line_kind
            end = last
    if begin >= 0:
        yield 0, Block("code" if fence else kind, begin, end)


def _each_line(text: str, start: int) -> Iterator[tuple[int, int]]:
    while start < len(text):
        after = text.find("\n", start) + 1 or len(text)
        yield start, after
        start = after


def _kind_of(text: str, at: int, after: int, open_: bool, kind: BlockKind) -> BlockKind | None:
    """The kind of block a line belongs to; None for a blank one."""
    if not text[at:after].strip():
        return None
    if _ROW.match(text, at, after):
        return "table"
    if open_ and kind in ("prose", "list"):
        return kind  # a line that goes on; a list item right under a sentence stays with it
    return "list" if _ITEM.match(text, at, after) else "prose"
