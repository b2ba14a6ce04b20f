"""Split run-in titles from their text: *Animals. We kept mice in pairs*.

Such titles have numbers, or a font of their own at the start of paragraphs throughout the paper,
and end with a full stop or colon.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...outline.sections import classify_heading
from .headings import (
    ENDS,
    FEWEST_HEADINGS,
    HEADING_WORDS,
    LABEL,
    NUMBERED_TITLE,
    SIDEBAR,
    TextBlock,
    Typography,
    guess_heading_level,
    is_usual_section_title,
    starts_like_title,
)
from .lines import LinePiece, is_bold_font_name, is_directly_below

_NUMBERED = re.compile(  # "R. carthamoides" ends no title
    r"(\d{1,2}(?:\.\d{1,2}){1,3}\.?\s[^\W\d_].{2,240}?(?:[^\W\d_]{3}|[)\d]))\.\s+(?=[\"\u201c(]?[A-Z])"
)
_LONG_TITLE = 30  # words
_ENDED = re.compile(r"(?:[^\W_][)\]]?|[+\u207a\u2019'\u201d])\s*[.:]?\s?[.:\u2014]$")
_SPELLED = re.compile(r"[^\W\d_]{3}")
_STEADY = 0.5  # of the paragraphs that begin in a font: titles, where it is one of titles
_FULL = 0.75  # of the width of the line below: the first line of a title on two
_MOST_LINES = 3  # of a title
_NO_NOTE = 0.92  # of the body's size: less has a caption or note
_FEW_WORDS = 6  # of titles of abstracts and small print


@dataclass(frozen=True, slots=True)
class _RunInTitle:
    """A title that starts in the line ``first`` and ends in ``last``, before its text."""

    first: int
    last: int
    font: str
    is_numbered: bool


def split_run_in_titles(lines: list[LinePiece], look: Typography) -> Iterator[LinePiece]:
    """Yield the lines, with titles in another font than their text on separate lines.

    Titles in the abstract, and after the paper's text, stay in their paragraphs.
    """
    body = [at for at in _iterate_body_lines(lines) if lines[at].size >= _NO_NOTE * look.body]
    leads = [at for at in body if _is_paragraph_start(lines, at, look)]
    titles = [_build_run_in_title(lines, at) for at in leads if _can_be_run_in_title(lines, at)]
    paragraphs = Counter(_get_first_font(lines[at]) for at in leads if lines[at].lead)
    counts = Counter(title.font for title in titles if lines[title.last].lead)
    numbered = Counter(one.font for one in titles if one.is_numbered)
    usual = {
        font
        for font, count in counts.items()
        if font
        and count + numbered[font] >= FEWEST_HEADINGS
        and count >= _STEADY * paragraphs[font]
    }
    found = [one for one in titles if one.font in usual]
    parts = {at for one in found for at in range(one.first, one.last)}
    ends = {one.last for one in found}
    for at, line in enumerate(lines):
        if at in ends:
            title = line.lead or line.text
            yield replace(line, text=title.rstrip(" .:\u2014"), kind="title")
            if line.lead:
                yield replace(line, text=line.text.removeprefix(line.lead).strip(), lead="")
        else:
            yield replace(line, kind="title") if at in parts else line


def _iterate_body_lines(lines: list[LinePiece]) -> Iterator[int]:
    """Yield the indices of the lines between abstract and small print."""
    canonical = [at for at, line in enumerate(lines) if _is_usual_heading_line(line)]
    # Papers without an introduction begin with their text, right behind the abstract.
    is_plain = not canonical or 3 * canonical[0] > len(lines)
    is_body = is_plain
    for at, line in enumerate(lines):
        if line.kind != "text" or line.holes or not line.upright:
            continue
        if _is_usual_heading_line(line):
            is_body = True
        elif (
            len(line.text.split()) <= _FEW_WORDS and (part := classify_heading(line.text)) != "body"
        ):
            is_body = is_plain and part == "abstract"
        elif is_body:
            yield at


def _is_usual_heading_line(line: LinePiece) -> bool:
    return line.kind == "text" and not line.holes and is_usual_section_title(line.text)


def _get_first_font(line: LinePiece) -> str:
    """Return the font at the beginning of a line."""
    return line.font or line.lead_font


def _is_paragraph_start(lines: list[LinePiece], at: int, look: Typography) -> bool:
    """Return whether a new paragraph begins at this line, or at the title that ends in it."""
    above = lines[_find_title_start(lines, at) - 1]
    goes_on = is_directly_below(above, lines[at]) and not above.text.endswith(ENDS)
    return not goes_on or above.kind != "text" or guess_heading_level(above, look) > 0


def _find_title_start(lines: list[LinePiece], at: int) -> int:
    """Return the index of the line in which the title ending in line *at* begins."""
    first, font = at, _get_first_font(lines[at])
    if (numbered := _find_number_above(lines, at)) < at:
        return numbered
    while first > max(1, at - _MOST_LINES + 1):
        above, line = lines[first - 1], lines[first]
        wide = above.right - above.left > _FULL * (lines[at].right - lines[at].left)
        is_bold = above.bold and is_bold_font_name(font)
        alike = (above.font == font or is_bold) and above.kind == "text" and wide
        below = is_directly_below(above, line) and not above.holes
        if not (alike and below) or above.text.endswith(ENDS) or is_usual_section_title(above.text):
            break
        first -= 1
    return first


def _find_number_above(lines: list[LinePiece], at: int) -> int:
    """Return the index of a numbered title's start directly above line *at*; else *at*."""
    if NUMBERED_TITLE.match(lines[at].text):
        return at
    for first in range(at - 1, max(0, at - _MOST_LINES), -1):
        line = lines[first]
        is_near = (
            line.kind == "text" and not line.holes and is_directly_below(line, lines[first + 1])
        )
        if not is_near or is_usual_section_title(line.text):
            break
        if NUMBERED_TITLE.match(line.text) and _get_first_font(line) == _get_first_font(lines[at]):
            return first
        if line.text.endswith(ENDS):
            break
    return at


def _can_be_run_in_title(lines: list[LinePiece], at: int) -> bool:
    """Return whether the start of a line, or its end before text, can be a title."""
    line = lines[at]
    title, text = line.lead or line.text, line.text.removeprefix(line.lead).strip()
    if not line.lead:
        below = lines[at + 1] if at + 1 < len(lines) else line
        text = below.text if is_directly_below(line, below) and below.font != line.font else ""
    return (
        title.endswith((".", ":", "\u2014"))
        and bool(_ENDED.search(title))
        and bool(_SPELLED.search(title))
        and bool(text)
        and not text[0].islower()
        and classify_heading(title.rstrip(" .:")) == "body"
        and not is_usual_section_title(title)
        and not LABEL.match(title)
        and not SIDEBAR.match(title)
    )


def _build_run_in_title(lines: list[LinePiece], at: int) -> _RunInTitle:
    first, line = _find_title_start(lines, at), lines[at]
    title = (
        " ".join(title_line.text for title_line in lines[first:at]) + " " + (line.lead or line.text)
    )
    is_numbered = bool(NUMBERED_TITLE.match(title.strip()))
    most = _LONG_TITLE if is_numbered else HEADING_WORDS
    fits = (
        starts_like_title(title.strip()) and len(title.split()) <= most and not LABEL.match(title)
    )
    return _RunInTitle(first, at, _get_first_font(lines[first]) if fits else "", is_numbered)


def split_numbered_run_in_titles(blocks: list[TextBlock]) -> Iterator[TextBlock]:
    """Yield the blocks with numbered run-in headings separated from their text."""
    titles = [match[1] for block in blocks if (match := _NUMBERED.match(block.text))]
    usual = sum(len(title.split()) <= HEADING_WORDS for title in titles) >= FEWEST_HEADINGS
    at = 0
    while at < len(blocks):
        block = blocks[at]
        at += 1
        is_open = block.level and at < len(blocks) and not blocks[at].level
        numbered = is_open and NUMBERED_TITLE.match(blocks[at].text)
        if usual and is_open and not numbered and not block.text.endswith(ENDS):
            both = _NUMBERED.match(f"{block.text} {blocks[at].text}")
            if both and len(both[1]) > len(block.text):
                block = replace(blocks[at], text=f"{block.text} {blocks[at].text}")
                at += 1
        match = _NUMBERED.match(block.text) if usual and not block.rows else None
        if match and len(match[1].split()) <= _LONG_TITLE:
            yield TextBlock(match[1], 1 + match[1].split()[0].strip(".").count(".") + 1, block.size)
            yield replace(block, text=block.text[match.end() :], level=0)
        else:
            yield block
