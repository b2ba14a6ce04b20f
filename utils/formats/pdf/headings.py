"""Which lines of a PDF are headings: by their words, size, font and number."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from ...outline.sections import part_of
from .lines import Line

_HEADING_SIZE = 1.12  # of the body's: less is another font, not a heading
_HEADING_WORDS = 18
BY_FONT = 3  # the level of headings that only their font tells from text
_DISPLAY_SHARE = 0.06  # of the text's characters, that a font of headings has at most
_FEWEST_HEADINGS, _HEADING_RUNS = 3, 0.7  # in a font, that show it is one of headings
_TEXT_WORDS = 5  # of a line of text below a heading; labels of figures have fewer
_HEADING_LEAST = 0.85  # of the size of the text below; the boxes of fonts of one size differ
_CANONICAL = re.compile(
    r"(?:\d+\.?\d*\.?\s+|[IVX]+\.\s+)?(?:introduction|background|(?:materials?|patients?|subjects?)"
    r" and methods?|methods?(?: and materials?)?|methodology|experimental(?: section| procedures)?"
    r"|results?(?: and discussions?)?|discussions?(?: and conclusions?)?|conclusions?"
    r"|concluding remarks|case (?:report|presentation)|limitations|objectives?|aims?)\W*",
    re.I,
)
_LABEL = re.compile(r"(?:table|fig(?:ure)?|scheme|box|chart|plate)\b\.?\s?[A-Z]?\d", re.I)
_NUMBERED_TITLE = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,3})\.?\s+[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Block:
    """A heading (``level`` above 0) or a paragraph."""

    text: str
    level: int = 0
    size: float = 0.0  # of its first line


def display_fonts(lines: list[Line]) -> set[str]:
    """The fonts that headings are set in: rare, and in short lines above running text.

    Their names seldom say that they are bold.
    """
    runs = [list(run) for _, run in groupby(lines, key=lambda line: line.font)]
    shares: Counter[str] = Counter()
    for run in runs:
        shares[run[0].font] += sum(len(line.text) for line in run)
    counts = Counter(run[0].font for run in runs)
    fits = Counter(run[0].font for run, (text, *_) in pairwise(runs) if _may_head(run, text))
    return {
        font
        for font, count in fits.items()
        if font
        and count >= max(_FEWEST_HEADINGS, _HEADING_RUNS * counts[font])
        and shares[font] <= _DISPLAY_SHARE * shares.total()
    }


def _may_head(run: list[Line], text: Line) -> bool:
    """Whether lines of one font may be a heading above *text*."""
    first = run[0]
    return (
        sum(len(line.text.split()) for line in run) <= _HEADING_WORDS
        and len(text.text.split()) >= _TEXT_WORDS
        and first.size > _HEADING_LEAST * text.size
        and not first.holes
        and first.text[0].isupper() | first.text[0].isdigit()
        and not run[-1].text.endswith((".", ",", ";"))
    )


def level_of(line: Line, body: float, bold_body: bool, display: set[str]) -> int:
    """The level of heading a line looks like, 0 for text."""
    words = line.text.split()
    if line.holes or not re.search(r"[^\W\d_]{2}", line.text) or len(words) > _HEADING_WORDS:
        return 0
    if is_canonical(line.text) or (
        len(words) <= 5 and part_of(line.text) in ("abstract", "references")
    ):
        return 2
    short = len(words) <= 12 and not line.text.endswith((".", ",", ";")) and line.text[0].isupper()
    if len(words) <= 6 and part_of(line.text) == "back" and (line.bold or line.size > body):
        return 2
    if line.size >= _HEADING_SIZE * body and len(line.text) > 3:
        return 2 if line.size >= 1.25 * body else 3
    numbered = re.match(r"\d+(\.\d+)*\.?\s+[A-Z]", line.text) and not line.text.endswith(".")
    if _LABEL.match(line.text):
        return 0
    is_display = (line.bold and not bold_body) or line.font in display
    return BY_FONT if is_display and (short or numbered) else 0


def is_canonical(text: str) -> bool:
    """Whether a line is a title that papers have; in small letters it is a sentence's last word."""
    return bool(_CANONICAL.fullmatch(text)) and not text[0].islower()


def with_numbered(blocks: Iterable[Block]) -> Iterator[Block]:
    """Make 2.1, 2.2, 2.2.1 headings, whatever they look like, where each follows the one before."""
    last: tuple[int, ...] = ()
    for block in blocks:
        match = _NUMBERED_TITLE.match(block.text)
        number = tuple(map(int, match[1].split("."))) if match else ()
        if block.level and number:
            last = number
        elif len(number) > 1 and _follows(number, last) and _is_title(block.text):
            last = number
            yield replace(block, level=min(6, 1 + len(number)))
            continue
        yield block


def _follows(number: tuple[int, ...], last: tuple[int, ...]) -> bool:
    shorter = last[: len(number)]
    return number == (*last, 1) or (
        number[:-1] == shorter[:-1]
        and len(shorter) == len(number)
        and number[-1] == shorter[-1] + 1
    )


def _is_title(text: str) -> bool:
    return len(text.split()) <= _HEADING_WORDS and not text.endswith((".", ",", ";", ":"))
