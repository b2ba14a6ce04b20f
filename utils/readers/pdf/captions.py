"""Find the captions of figures and tables on a PDF page, with their extent and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .rows import TableArea, get_vertical_middle
from .words import PdfWord, UprightSheet

_TABLE = r"T ?(?:A ?B ?L ?E|a ?b ?l ?e)|Tab(?:elle|leau|la|ela|ella|\.)"
CAPTION = re.compile(
    rf"(?:(?:(?:Supplementa(?:ry|l)|Additional|Continued) )?(?P<kind>{_TABLE})"
    r"|Fig(?:ure|\.)|FIG(?:URE|\.))"
    r"[\s\-]?(?P<number>[A-Z]?\d{1,3}[a-z]?|[IVX]{1,5})(?=\W|$)(?P<rest>[^\r\n]{0,40})"
)
TITLED = re.compile(r"\s*(?:$|[.:|\u2014\u2013\-]|\(?cont|[(\s]*[^\W\d_a-z])|\s*[\u2000-\u200a]")
LONGEST = 1500  # characters


@dataclass(frozen=True, slots=True)
class CaptionStart:
    """The first word of a table's caption, and the table's number."""

    word: PdfWord
    at: int  # among the sheet's words
    label: str  # empty for figures


def iterate_caption_starts(sheet: UprightSheet) -> Iterator[CaptionStart]:
    """Yield the captions that begin a line; *Table 2 shows …* is a sentence and not a caption."""
    for at, word in enumerate(sheet.words):
        if word.text[:1] not in "TFSAC" or not _is_first_in_line(sheet.words, at):
            continue
        line_text = " ".join(word_.text for word_ in sheet.words[at : at + 8])
        found = CAPTION.match(line_text)
        if found and TITLED.match(found["rest"]):
            yield CaptionStart(word, at, found["number"] if found["kind"] else "")


def _is_first_in_line(words: tuple[PdfWord, ...], at: int) -> bool:
    """Return whether a word is the first in its line, or follows a gap."""
    if not at:
        return True
    before, here = words[at - 1], words[at]
    if abs(before.bottom - here.bottom) < 0.5 * here.size:
        return not 0 <= here.left - before.right < 1.2 * here.size
    goes_on = 0 < before.bottom - here.bottom < 1.6 * here.size and before.left > here.left
    alike = abs(before.size - here.size) < 0.05 * here.size
    return not (goes_on and alike and before.text[-1:] not in ".?!:)")


def find_caption_span(
    sheet: UprightSheet, caption: CaptionStart, area: TableArea | None
) -> tuple[int, int]:
    """Return the start and end of a caption's characters: adjacent lines of one size."""
    first = last = caption.word
    for word in sheet.words[caption.at + 1 :]:
        step = get_vertical_middle(last) - get_vertical_middle(word)
        beside = abs(step) < 0.5 * first.size and word.left > last.left
        below = 0 < step < 1.7 * first.size and word.left < last.right
        alike = abs(word.size - last.size) < 0.25 * first.size
        inside = area is not None and _is_in_or_left_of_area(word, area)
        if inside or not alike or not (beside or below):
            break
        last = word
        if last.end > first.start + LONGEST:
            break
    return first.start, last.end


def _is_in_or_left_of_area(word: PdfWord, area: TableArea) -> bool:
    """Return whether a word is in a table's area or to its left."""
    return area.bottom < get_vertical_middle(word) < area.top and word.left < area.right


def find_first_line_end(sheet: UprightSheet, caption: CaptionStart) -> float:
    """Return the right end of the first line of a caption."""
    last = caption.word
    for word in sheet.words[caption.at + 1 :]:
        if (
            abs(get_vertical_middle(word) - get_vertical_middle(last)) > 0.5 * last.size
            or word.left < last.left
        ):
            break
        last = word
    return last.right
