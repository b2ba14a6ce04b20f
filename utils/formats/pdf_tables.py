"""Where the tables of a PDF page stand: below a caption, between rules or in aligned lines.

Only pages with a line that begins as the caption of a table are searched, so that the others cost
nothing. Geometry only; `.pdf_grid` makes rows and columns of what is found.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from .pdf_grid import grid_of
from .pdf_rows import Area, Row, rows_of
from .pdf_rules import Rule
from .pdf_words import Sheet, Word

_TABLE = r"T ?(?:A ?B ?L ?E|a ?b ?l ?e)|Tab(?:elle|leau|la|ela|ella|\.)"
CAPTION = re.compile(
    rf"(?:(?:Supplementa(?:ry|l) |Additional )?(?P<kind>{_TABLE})|Fig(?:ure|\.)|FIG(?:URE|\.))"
    r"\s?(?P<number>[A-Z]?\d{1,3}[a-z]?|[IVX]{1,5})(?=\W|$)(?P<rest>[^\r\n]{0,40})"
)
TITLED = re.compile(r"\s*(?:$|[.:|\u2014\u2013\-]|\(?cont|[(\s]*[^\W\d_a-z])|\s*[\u2000-\u200a]")
_CONTINUES = re.compile(r"\W*continue[sd]\W*", re.I)
_MOST_CAPTIONS = 12  # a page
_MOST_TOPS = 5  # rules that are tried as the first of a table
_CAPTION_CHARS = 1500
_ABOVE = 14  # heights of a line: how far below its caption's first line a table may begin
_BELOW = 4  # heights: how far below its table a caption may begin
_MOST_BELOW = 2000  # words that are looked at below the last rule
_CLOSE = 2.4  # heights: how far apart the lines of a table without rules may be
_PROSE = 0.75  # of the width: lines as long as this without a gap are text
_PROSE_LINES = 3
_ROWS = 3  # without rules, fewer aligned lines may be anything


@dataclass(frozen=True, slots=True)
class Table:
    """A rebuilt table: rows of cells of lines of words, the head first; none if it failed.

    ``caption`` is where its caption's characters begin and end, ``words`` all that stands in it;
    ``is_above`` tells whether it stands above its caption.
    """

    caption: tuple[int, int]
    label: str
    rows: tuple[tuple[tuple[tuple[Word, ...], ...], ...], ...]
    words: tuple[Word, ...]
    is_above: bool = False


@dataclass(frozen=True, slots=True)
class _Caption:
    word: Word
    at: int  # among the sheet's words
    label: str  # empty for figures


def tables_of(sheet: Sheet) -> Iterator[Table]:
    """The tables of a sheet, as far as captions name them."""
    captions = list(_captions(sheet))[:_MOST_CAPTIONS]
    taken: set[int] = set()
    for caption in captions:
        if not caption.label:
            continue
        area = _area(sheet, caption, captions)
        grid = grid_of(area) if area else None
        if area and grid and taken.isdisjoint(word.start for word in area.words):
            taken.update(word.start for word in area.words)
            rows = tuple(tuple(tuple(map(tuple, cell)) for cell in row) for row in grid)
            is_above = area.bottom >= _height(caption.word)
            said = _said(sheet, caption, area)
            yield Table(said, caption.label, rows, area.words, is_above)
        else:
            yield Table(_said(sheet, caption, None), caption.label, (), ())


def _said(sheet: Sheet, caption: _Caption, area: Area | None) -> tuple[int, int]:
    """Where the caption's characters begin and end: lines of one size, one below the other."""
    first = last = caption.word
    for word in sheet.words[caption.at + 1 :]:
        step = _height(last) - _height(word)
        beside = abs(step) < 0.5 * first.size and word.left > last.left
        below = 0 < step < 1.7 * first.size and word.left < last.right
        alike = abs(word.size - last.size) < 0.25 * first.size
        inside = area is not None and _is_inside(word, area)
        if inside or not alike or not (beside or below):
            break
        last = word
        if last.end > first.start + _CAPTION_CHARS:
            break
    return first.start, last.end


def _is_inside(word: Word, area: Area) -> bool:
    """Whether a word stands in a table, or beside it."""
    return area.bottom < _height(word) < area.top and word.left < area.right


def _captions(sheet: Sheet) -> Iterator[_Caption]:
    """Where lines begin as captions do: a sentence that begins with *Table 2 shows* is none."""
    for at, word in enumerate(sheet.words):
        if word.text[:1] not in "TFSA" or not _begins(sheet.words, at):
            continue
        said = " ".join(one.text for one in sheet.words[at : at + 8])
        found = CAPTION.match(said)
        if found and TITLED.match(found["rest"]):
            yield _Caption(word, at, found["number"] if found["kind"] else "")


def _begins(words: tuple[Word, ...], at: int) -> bool:
    """Whether a word stands first in its line, or behind a hole."""
    if not at:
        return True
    before, here = words[at - 1], words[at]
    if abs(before.bottom - here.bottom) < 0.5 * here.size:
        return not 0 <= here.left - before.right < 1.2 * here.size
    goes_on = 0 < before.bottom - here.bottom < 1.6 * here.size and before.left > here.left
    alike = abs(before.size - here.size) < 0.05 * here.size
    return not (goes_on and alike and before.text[-1:] not in ".?!:)")


def _area(sheet: Sheet, caption: _Caption, captions: list[_Caption]) -> Area | None:
    """The table that belongs to a caption."""
    flat = _merged([rule for rule in sheet.rules if rule.is_flat])
    stop = max(
        (
            other.word.top
            for other in captions
            if other.word.top < caption.word.bottom and _overlaps(other.word, caption.word)
        ),
        default=float("-inf"),
    )
    for top in _tops(caption.word, [rule for rule in flat if rule.top > stop]):
        if area := _between_rules(sheet, caption, top, flat, stop):
            return area
    return _above_caption(sheet, caption, captions, flat) or _without_rules(sheet, caption, stop)


def _tops(first: Word, flat: list[Rule]) -> list[Rule]:
    """Rules that a table may begin with: below its caption, else beside it."""
    wide = [rule for rule in flat if rule.right - rule.left > 5 * first.size]
    below = [
        rule
        for rule in wide
        if -1 < first.bottom - rule.top < _ABOVE * first.size
        and rule.left < first.right + 1
        and rule.right > first.left - 1
    ]
    beside = [
        rule
        for rule in wide
        if abs(rule.top - first.top) < 1.5 * first.size and rule.left > first.right + first.size
    ]
    return sorted(below or beside, key=lambda rule: abs(first.top - rule.top))[:_MOST_TOPS]


def _above_caption(
    sheet: Sheet, caption: _Caption, captions: list[_Caption], flat: list[Rule]
) -> Area | None:
    """The area between rules of one width of which the last is right above the caption."""
    first = caption.word
    ceiling = min(
        (
            other.word.bottom
            for other in captions
            if other.word.bottom > first.top and _overlaps(other.word, first)
        ),
        default=float("inf"),
    )
    near = [
        rule
        for rule in flat
        if -1 < rule.top - first.top < _BELOW * first.size
        and _width(rule) > 5 * first.size
        and rule.left < _line_end(sheet, caption)
        and rule.right > first.left
    ]
    if not near:
        return None
    last = top = min(near, key=lambda rule: rule.top)
    left, right = last.left - 3, last.right + 3
    inside = sorted(
        (word for word in sheet.words if left <= word.middle <= right), key=_height, reverse=True
    )
    full = 0
    for rule in sorted(flat, key=lambda rule: rule.top):
        alike = rule.left > left and rule.right < right and _width(rule) > 0.9 * _width(last)
        if not alike or not top.top + 2 < rule.top < ceiling:
            continue
        rows = rows_of(_band(inside, rule.top, top.top))
        if _is_prose(rows, right - left):
            break
        top, full = rule, full + bool(rows)
    words = tuple(_band(inside, top.top, last.top))
    if full < 2:
        return None
    box = last.left, last.top, last.right, top.top
    return Area(*box, words, _within(sheet, left, right, last.top, top.top))


def _line_end(sheet: Sheet, caption: _Caption) -> float:
    """Where the first line of a caption ends."""
    last = caption.word
    for word in sheet.words[caption.at + 1 :]:
        if abs(_height(word) - _height(last)) > 0.5 * last.size or word.left < last.left:
            break
        last = word
    return last.right


def _overlaps(other: Word, word: Word) -> bool:
    return other.left < word.left + 200 and other.right > word.left - 200


def _merged(rules: list[Rule]) -> list[Rule]:
    """Rules that continue each other as one."""
    made: list[Rule] = []
    for rule in sorted(rules, key=lambda rule: (-round(rule.top), rule.left)):
        last = made[-1] if made else None
        if (
            last
            and abs(last.top - rule.top) < 1.6
            and -5 < rule.left - last.left <= _width(last) + 4
        ):
            made[-1] = Rule(last.left, last.bottom, max(last.right, rule.right), last.top)
        else:
            made.append(rule)
    return made


def _width(rule: Rule) -> float:
    return rule.right - rule.left


def _between_rules(
    sheet: Sheet, caption: _Caption, top: Rule, flat: list[Rule], stop: float
) -> Area | None:
    """The area from a rule below the caption to the last one of its width."""
    left, right = top.left - 3, top.right + 3
    inside = sorted(
        (word for word in sheet.words if left <= word.middle <= right), key=_height, reverse=True
    )
    above = _band(inside, caption.word.bottom - 1, top.top)
    end = caption.word.start + _CAPTION_CHARS
    if any(not caption.word.start <= word.start < end for word in above):
        return None
    rules = [
        rule
        for rule in flat
        if stop < rule.top < top.top - 2
        and rule.left > left - 3
        and rule.right < right + 3
        and _width(rule) > 0.9 * _width(top)
    ]
    bottom, full = top.top, 1
    for rule in sorted(rules, key=lambda rule: -rule.top):
        rows = rows_of(_band(inside, bottom, rule.top))
        if _is_prose(rows, right - left):
            break
        bottom, full = rule.top, full + bool(rows)
    below = rows_of(_band(inside, bottom, stop)[:_MOST_BELOW])
    if full < 3:
        bottom = _grown(below, bottom, right - left)
    elif below and _is_another(rows_of(_band(inside, top.top, bottom)), below[0]):
        bottom = below[0].bottom  # below the last shaded row
    words = _band(inside, top.top, bottom)
    if words and _CONTINUES.fullmatch(words[-1].text):
        words = words[:-1]
    if not words:
        return None
    inner = _within(sheet, left, right, bottom, top.top)
    return Area(top.left, bottom, top.right, top.top, tuple(words), inner)


def _band(words: list[Word], top: float, bottom: float) -> list[Word]:
    """Those of *words*, sorted from the top, whose middles are between two heights."""
    first = bisect_right(words, -top, key=lambda word: -_height(word))
    return words[first : bisect_left(words, -bottom, key=lambda word: -_height(word))]


def _height(word: Word) -> float:
    return (word.bottom + word.top) / 2


def _within(sheet: Sheet, left: float, right: float, bottom: float, top: float) -> tuple[Rule, ...]:
    flat = _merged([rule for rule in sheet.rules if rule.is_flat])
    upright = [rule for rule in sheet.rules if not rule.is_flat]
    return tuple(
        rule
        for rule in (*flat, *upright)
        if rule.left > left - 3
        and rule.right < right + 3
        and rule.bottom > bottom - 3
        and rule.top < top + 3
    )


def _is_prose(rows: list[Row], width: float) -> bool:
    """Whether lines are running text: several long ones without a hole, one below the other."""
    run = 0
    for row in rows:
        filled = sum(max(w.right for w in piece) - piece[0].left for piece in row.pieces)
        run = run + 1 if filled > _PROSE * width and len(row.pieces) < 3 else 0
        if run >= _PROSE_LINES:
            return True
    return False


def _is_another(rows: list[Row], row: Row) -> bool:
    """Whether a row below the last rule is one more: as near, large and full as the others."""
    if len(rows) < 3:
        return False
    step = median(a.middle - b.middle for a, b in pairwise(rows))
    return (
        rows[-1].middle - row.middle < 1.15 * step
        and abs(row.size - rows[-1].size) < 0.05 * row.size
        and len(row.pieces) >= max(2, 0.6 * median(len(one.pieces) for one in rows))
    )


def _grown(rows: list[Row], bottom: float, width: float) -> float:
    """Down to where the lines of a table end: at a wide gap, or at lines without a hole."""
    last = bottom
    for row in rows:
        long = max(w.right for w in row.pieces[-1]) - row.pieces[0][0].left > 0.6 * width
        if last - row.top > _CLOSE * row.size or (len(row.pieces) < 2 and long):
            break
        last = row.bottom
    return last


def _without_rules(sheet: Sheet, caption: _Caption, stop: float) -> Area | None:
    """Lines in columns below a caption."""
    left, right = _text_column(sheet, caption.word)
    first = caption.word
    inside = [
        word
        for word in sheet.words
        if left <= word.middle <= right and stop < _height(word) < first.bottom
    ]
    rows = rows_of(inside)
    start = next((at for at, row in enumerate(rows) if len(row.pieces) > 1), len(rows))
    rows = rows[start:]
    if not rows or first.bottom - rows[0].top > _ABOVE * first.size:
        return None
    bottom = _grown(rows, rows[0].top, right - left)
    if sum(row.middle > bottom for row in rows) < _ROWS:
        return None
    words = tuple(word for word in inside if bottom <= _height(word) <= rows[0].top)
    if len(words) < 6:
        return None
    box = min(w.left for w in words), bottom, max(w.right for w in words), rows[0].top
    return Area(*box, words, _within(sheet, left, right, bottom, rows[0].top))


def _text_column(sheet: Sheet, word: Word) -> tuple[float, float]:
    """From where to where the column of text goes that a word stands in."""
    left = min(one.left for one in sheet.words)
    right = max(one.right for one in sheet.words)
    middle = (left + right) / 2
    heights = {round(_height(one)) for one in sheet.words}
    crossed = {
        round(_height(one))
        for one in sheet.words
        if one.left < middle + 3 and one.right > middle - 3
    }
    if len(crossed) > 0.35 * len(heights):
        return left, right
    return (left, middle) if word.left < middle - 10 else (middle, right)
