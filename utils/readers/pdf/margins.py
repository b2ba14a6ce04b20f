"""Process the margins of PDF pages: running heads, page numbers, line numbers, mastheads."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from statistics import median

from ...outline.words import fold_words
from .lines import LinePiece, PageLines

_MARGIN = 0.1  # of the page's height: where running heads and feet stand
_REPEATED = 0.4  # of the pages: heads alternate between left and right pages
_NUMBERED = 8  # lines a page: a manuscript's line numbers, not a table's column
_PAGE_NUMBER = re.compile(r"\W*(?:page\s*)?\d{1,5}(?:\s*(?:of|/)\s*\d{1,5})?\W*", re.I)
_PAGE_OF = re.compile(
    r"\bpage (\d{1,4}) ?(?:of|/) ?(\d{1,4})\b|^\W*(\d{1,4}) of (\d{1,4})\W*$", re.I
)
_NAMED = re.compile(r"\W*(?:table|fig(?:ure)?|scheme|box)\b", re.I)
_FEW_PAGES = 2  # may have lines above or below the text; where more have them, it is text
_TITLE_WORDS, _LARGE = 2, 1.15  # of its first line; of the usual size on its page
_TOUCHES = 0.2  # of a line's height may be beyond where the text ends
_TWICE_WORDS = 3  # of a line that is a running head if it stands on two pages only


def remove_line_numbers(page: PageLines) -> PageLines:
    """Return the page without the line numbers that manuscripts print in the margin."""
    alone = [line for line in page.lines if re.fullmatch(r"\d{1,4}", line.text)]
    if _are_line_numbers([int(line.text) for line in alone]):
        named = {id(line) for line in alone}
        page = replace(page, lines=tuple(line for line in page.lines if id(line) not in named))
    leading = [re.match(r"(\d{1,4})\s+(?=\S)", line.text) for line in page.lines]
    numbers = [int(match[1]) for match in leading if match]
    if len(numbers) > 0.7 * len(page.lines) and _are_line_numbers(numbers):
        lines = zip(page.lines, leading, strict=True)
        cut = (replace(line, text=line.text[m.end() :]) if m else line for line, m in lines)
        page = replace(page, lines=tuple(cut))
    return page


def _are_line_numbers(numbers: list[int]) -> bool:
    """Return whether numbers count up by one, or by five."""
    steps = Counter(b - a for a, b in pairwise(numbers))
    return len(numbers) >= _NUMBERED and max(steps[1], steps[5]) > 0.8 * (len(numbers) - 1)


def find_printed_page_numbers(pages: list[PageLines]) -> tuple[int, int]:
    """Return the last page's number and the page count printed in a margin; zeros without one.

    Both are equal for a complete file. Pages after the last printed number are counted, too.
    """
    for after, page in enumerate(reversed(pages)):
        for line in _find_marginal_lines(page):
            if found := _PAGE_OF.search(line.text):
                number, count = (int(text) for text in found.groups() if text)
                return number + after, count
    return 0, 0


def remove_running_lines(pages: list[PageLines]) -> list[PageLines]:
    """Return the pages without page numbers and without lines that recur in the margins."""
    seen = Counter(
        key for page in pages for key in {_to_line_key(line) for line in _find_marginal_lines(page)}
    )
    places = Counter(
        line_
        for page in pages
        for line_ in set(map(_get_text_and_place, _find_marginal_lines(page)))
    )
    often = max(3, _REPEATED * len(pages))
    cleaned = []
    for page in pages:
        marginal = {id(line) for line in _find_marginal_lines(page)}
        kept = [
            line
            for line in page.lines
            if id(line) not in marginal
            or not (
                _is_running_line(_to_line_key(line), seen, often)
                or _is_at_same_place(line, places)
                or _PAGE_NUMBER.fullmatch(line.text)
            )
        ]
        cleaned.append(replace(page, lines=tuple(kept)))
    return cleaned


def mark_marginal_lines(pages: list[PageLines]) -> list[PageLines]:
    """Return the pages with lines beyond the usual text area marked as marginal.

    These lines are mastheads and notices, after which the text continues.
    """
    shown = [[line for line in page.lines if line.kind == "text"] for page in pages]
    shown = [lines for lines in shown if lines]
    if len(shown) <= _FEW_PAGES:
        return pages
    top = sorted((max(line.top for line in lines) for lines in shown), reverse=True)[_FEW_PAGES]
    bottom = sorted(min(line.bottom for line in lines) for lines in shown)[_FEW_PAGES]
    first, rest = pages[:_FEW_PAGES], pages[_FEW_PAGES:]
    return [*(_mark_lines_beyond(page, top, bottom) for page in first), *rest]


def mark_masthead_lines(pages: list[PageLines], title: str) -> list[PageLines]:
    """Return the pages with the lines above the title marked as marginal."""
    first = pages[0] if pages else PageLines((), 0, 0)
    wanted = " ".join(fold_words(title))
    usual = median(line.size for line in first.lines) if first.lines else 0.0
    upper = (line for line in first.lines if line.bottom > first.height / 2)
    large = (line for line in upper if line.size > _LARGE * usual)
    begins = [line for line in large if _is_start_of_title(line, wanted)]
    if not begins:
        return pages
    top = max(begins, key=lambda line: line.size).top
    lines = (
        replace(line, kind="margin") if line.kind == "text" and line.bottom >= top else line
        for line in first.lines
    )
    return [replace(first, lines=tuple(lines)), *pages[1:]]


def _is_start_of_title(line: LinePiece, title: str) -> bool:
    words = fold_words(line.text)
    line_text = " ".join(words)
    return len(words) >= _TITLE_WORDS and f"{title} ".startswith(f"{line_text} ")


def _mark_lines_beyond(page: PageLines, top: float, bottom: float) -> PageLines:
    """Return the page with lines above *top* and below *bottom* marked as marginal."""
    text = [line for line in page.lines if line.kind == "text"]
    above = [line for line in text if line.bottom > top - _TOUCHES * line.size]
    below = [line for line in text if line.top < bottom + _TOUCHES * line.size]
    outside = {id(line) for line in (*above, *below)}
    if not (inside := [line for line in text if id(line) not in outside]):
        return page
    highest = max(line.top for line in inside)
    lowest = min(line.bottom for line in inside)
    lower = min((line.bottom for line in above), default=0.0)
    upper = max((line.top for line in below), default=0.0)
    apart = {id(line) for line in above if lower > highest + line.size / 2}
    apart |= {id(line) for line in below if upper < lowest - line.size / 2}
    lines = (replace(line, kind="margin") if id(line) in apart else line for line in page.lines)
    return replace(page, lines=tuple(lines))


def _is_running_line(key: str, seen: Counter[str], often: float) -> bool:
    """Return whether a marginal line is on most pages, or, if long, on two pages."""
    return seen[key] >= often or (seen[key] > 1 and len(key.split()) >= _TWICE_WORDS)


def _is_at_same_place(line: LinePiece, places: Counter[tuple[str, int, int]]) -> bool:
    """Return whether the line is at the same place on another page, like a logo."""
    return places[_get_text_and_place(line)] > 1 and not _NAMED.match(line.text)


def _get_text_and_place(line: LinePiece) -> tuple[str, int, int]:
    return _to_line_key(line), round(line.left), round(line.bottom)


def _find_marginal_lines(page: PageLines) -> list[LinePiece]:
    low, high = _MARGIN * page.height, (1 - _MARGIN) * page.height
    lines = (line for line in page.lines if line.kind == "text")
    return [line for line in lines if line.top < low or line.bottom > high]


def _to_line_key(line: LinePiece) -> str:
    """Return the text of a line without a page number at either end."""
    return re.sub(r"\d+", "#", " ".join(line.text.lower().split())).strip("# ")
