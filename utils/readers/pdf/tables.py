"""Where the tables of a PDF page stand: below a caption, between rules or in aligned lines.

Only pages with a line that begins as the caption of a table are searched, so that the others cost
nothing. Geometry only; `.grid` makes rows and columns of what is found.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from statistics import median

from .captions import LONGEST, Caption, captions_of, line_end, said_of
from .frames import boxes_of, frames_of
from .grid import grid_of
from .notes import without_notes
from .rows import Area, Cells, Row, area_of, area_with, height_of, is_prose, rows_of
from .rules import Rule, merged
from .trust import is_doubtful
from .unnamed import holds_text, in_columns, unnamed
from .words import Sheet, Word

_MOST_CAPTIONS = 12  # a page
_MOST_TOPS = 5  # rules that are tried as the first of a table
_ABOVE = 14  # heights of a line: how far below its caption's first line a table may begin
_BELOW = 4  # heights: how far below its table a caption may begin
_MOST_BELOW = 2000  # words that are looked at below the last rule
_CLOSE = 2.4  # heights: how far apart the lines of a table without rules may be
_FOOT = 0.35  # of a box: where the caption stands that is below its table
_LARGER = 1.12  # than a table's rows: text
_MOST_ROWS = 80  # of a table that was given up
_ROWS = 3  # without rules, fewer aligned lines may be anything


@dataclass(frozen=True, slots=True)
class Table:
    """A rebuilt table: rows of cells of lines of words, the head first; none if it failed.

    ``caption`` is where its caption's characters begin and end, ``words`` all that stands in it.
    A table that no caption names has no ``label``; of one that is ``doubtful`` cells may be run
    together.
    """

    caption: tuple[int, int]
    label: str
    rows: tuple[tuple[tuple[tuple[Word, ...], ...], ...], ...]
    words: tuple[Word, ...]
    doubtful: bool = False


def tables_of(sheet: Sheet) -> Iterator[Table]:
    """The tables of a sheet: those that captions name, then those in frames of their own."""
    captions = list(captions_of(sheet))[:_MOST_CAPTIONS]
    framed = _framed(sheet)
    named = _named(sheet, [caption for caption in captions if caption.label], framed)
    taken: set[int] = set()
    for caption in captions:
        if not caption.label:
            continue
        framed_by = named.get(caption.at)
        area, grid = _rebuilt(_candidates(sheet, caption, captions, framed_by))
        if area and grid and taken.isdisjoint(word.start for word in area.words):
            taken.update(word.start for word in area.words)
            said = said_of(sheet, caption, area)
            yield Table(said, caption.label, _cells(grid), area.words, is_doubtful(grid))
        else:
            words = area.words if area else _nearby(sheet, caption)
            yield Table(said_of(sheet, caption, None), caption.label, (), words)
    figures = [caption.word for caption in captions if not caption.label]
    for area in map(without_notes, unnamed(sheet, framed, figures)):
        grid = grid_of(area) if taken.isdisjoint(word.start for word in area.words) else None
        if grid and len(grid) > _ROWS:
            taken.update(word.start for word in area.words)
            yield Table((0, 0), "", _cells(grid), area.words, is_doubtful(grid))
    for area in islice(in_columns(sheet, taken, figures), _MOST_CAPTIONS):
        grid = None if holds_text(area) else grid_of(area)
        is_sure = grid is not None and not is_doubtful(grid)
        yield Table((0, 0), "", _cells(grid) if grid else (), area.words, not is_sure)


def _candidates(
    sheet: Sheet, caption: Caption, captions: list[Caption], frame: Area | None
) -> Iterator[Area]:
    """Where a caption's table may stand, the best first.

    Shaded rows are frames, too, but hardly ever of the whole table.
    """
    if boxed := _boxed(sheet, caption.word):
        yield boxed
    if frame and frame.bottom >= caption.word.top:
        found = _above_caption(sheet, caption, captions)
    else:
        found = _area(sheet, caption, captions)
    if frame and found and _is_within(found, frame):
        found = None
    yield from (area for area in (found, frame) if area)


def _boxed(sheet: Sheet, caption: Word) -> Area | None:
    """What stands above a caption that is the last in a box with it."""
    for box in boxes_of(sheet.rules):
        is_in = box.left < caption.left < box.right and box.bottom < caption.bottom < box.top
        if is_in and caption.top - box.bottom < _FOOT * (box.top - box.bottom):
            return area_of(sheet, replace(box, bottom=caption.top))
    return None


def _rebuilt(areas: Iterable[Area]) -> tuple[Area | None, list[Cells] | None]:
    """The first area that is a table, and its cells; without one, the first and none."""
    tried = None
    for area in map(without_notes, areas):
        if grid := grid_of(area):
            return area, grid
        tried = tried or area
    return tried, None


def _nearby(sheet: Sheet, caption: Caption) -> tuple[Word, ...]:
    """About what a table says of which only the caption was found: the cells next to that."""
    first = caption.word
    column = [word for word in sheet.words if _overlaps(word, first)]
    below = rows_of(word for word in column if height_of(word) < first.bottom)
    above = rows_of(word for word in column if height_of(word) > first.top)[::-1]
    found: list[Word] = []
    for rows in (below, above):
        for row, following in pairwise([*rows[:_MOST_ROWS], *rows[-1:]]):
            several = len(row.pieces) > 1 or len(following.pieces) > 1
            if found and (not several or abs(row.middle - height_of(found[-1])) > 3 * row.size):
                break
            found += row.words if several else []
        if found:
            break
    return tuple(found)


def _cells(grid: list[Cells]) -> tuple[tuple[tuple[tuple[Word, ...], ...], ...], ...]:
    return tuple(tuple(tuple(map(tuple, cell)) for cell in row) for row in grid)


def _framed(sheet: Sheet) -> list[Area]:
    """What stands in frames with columns and rows."""
    areas: list[Area] = []
    for box in frames_of(sheet.rules):
        if (area := area_of(sheet, box)) and not any(_is_within(box, one) for one in areas):
            areas.append(area)
    return areas


def _is_within(box: Rule | Area, area: Area) -> bool:
    return (
        area.left - 1 < box.left
        and box.right < area.right + 1
        and area.bottom - 1 < box.bottom
        and box.top < area.top + 1
    )


def _named(sheet: Sheet, captions: list[Caption], framed: list[Area]) -> dict[int, Area]:
    """The frame of each caption: of a page's tables, all stand below their captions or all above.

    The captions are told by their number among the sheet's words.
    """
    below: dict[int, Area] = {}
    above: dict[int, Area] = {}
    for caption in captions:
        word = caption.word
        near = [
            area for area in framed if area.left < word.right + 1 and word.left < area.right + 1
        ]
        for gap, area in sorted(((word.bottom - area.top), at) for at, area in enumerate(near)):
            if -1 < gap < _ABOVE * word.size and _is_next(sheet, caption, near[area]):
                below[caption.at] = near[area]
                break
        for gap, area in sorted(((area.bottom - word.top), at) for at, area in enumerate(near)):
            if -1 < gap < _BELOW * word.size:
                above[caption.at] = near[area]
                break
    return above if len(above) > len(below) else below


def _is_next(sheet: Sheet, caption: Caption, area: Area) -> bool:
    """Whether only the caption stands between its first line and a frame below it."""
    end = caption.word.start + LONGEST
    return all(
        caption.word.start <= word.start < end
        for word in sheet.words
        if area.left <= word.middle <= area.right
        and area.top < height_of(word) < caption.word.bottom - 1
    )


def _area(sheet: Sheet, caption: Caption, captions: list[Caption]) -> Area | None:
    """The table that belongs to a caption."""
    flat = merged([rule for rule in sheet.rules if rule.is_flat])
    stop = max(
        (
            other.word.top
            for other in captions
            if other.word.top < caption.word.bottom and _overlaps(other.word, caption.word)
        ),
        default=float("-inf"),
    )
    for top in _tops(sheet, caption, [rule for rule in flat if rule.top > stop]):
        if area := _between_rules(sheet, caption, top, flat, stop):
            return area
    return _above_caption(sheet, caption, captions) or _without_rules(sheet, caption, stop)


def _tops(sheet: Sheet, caption: Caption, flat: list[Rule]) -> list[Rule]:
    """Rules that a table may begin with: below its caption, else beside it."""
    first, right = caption.word, line_end(sheet, caption)
    wide = [rule for rule in flat if rule.right - rule.left > 5 * first.size]
    below = [
        rule
        for rule in wide
        if -1 < first.bottom - rule.top < _ABOVE * first.size
        and rule.left < right + 1
        and rule.right > first.left - 1
    ]
    beside = [
        rule
        for rule in wide
        if abs(rule.top - first.top) < 1.5 * first.size
        and (rule.left > first.right + first.size or rule.right < first.left - first.size)
    ]
    return sorted(below or beside, key=lambda rule: abs(first.top - rule.top))[:_MOST_TOPS]


def _above_caption(sheet: Sheet, caption: Caption, captions: list[Caption]) -> Area | None:
    """The area between rules of one width of which the last is right above the caption."""
    flat = merged(rule for rule in sheet.rules if rule.is_flat)
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
        and rule.left < line_end(sheet, caption)
        and rule.right > first.left
    ]
    if not near:
        return None
    last = top = min(near, key=lambda rule: rule.top)
    left, right = last.left - 3, last.right + 3
    inside = sorted(
        (word for word in sheet.words if left <= word.middle <= right), key=height_of, reverse=True
    )
    full = 0
    for rule in sorted(flat, key=lambda rule: rule.top):
        alike = rule.left > left and rule.right < right and _width(rule) > 0.9 * _width(last)
        if not alike or not top.top + 2 < rule.top < ceiling:
            continue
        rows = rows_of(_band(inside, rule.top, top.top))
        if is_prose(rows, right - left):
            break
        top, full = rule, full + bool(rows)
    words = tuple(_band(inside, top.top, last.top))
    if full < 2:
        return None
    box = Rule(last.left, last.top, last.right, top.top)
    return area_with(sheet, box, words)


def _overlaps(other: Word, word: Word) -> bool:
    return other.left < word.left + 200 and other.right > word.left - 200


def _width(rule: Rule) -> float:
    return rule.right - rule.left


def _between_rules(
    sheet: Sheet, caption: Caption, top: Rule, flat: list[Rule], stop: float
) -> Area | None:
    """The area from a rule below the caption to the last one of its width."""
    left, right = top.left - 3, top.right + 3
    inside = sorted(
        (word for word in sheet.words if left <= word.middle <= right), key=height_of, reverse=True
    )
    above = _band(inside, caption.word.bottom - 1, top.top)
    end = caption.word.start + LONGEST
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
        before = rows_of(_band(inside, top.top, bottom))
        if is_prose(rows, right - left) or _is_larger_text(rows, before):
            break
        bottom, full = rule.top, full + bool(rows)
    below = rows_of(_band(inside, bottom, stop)[:_MOST_BELOW])
    if full < 3:
        bottom = _grown(below, bottom, right - left)
    elif below and _is_another(rows_of(_band(inside, top.top, bottom)), below[0]):
        bottom = below[0].bottom  # below the last shaded row
    words = _band(inside, top.top, bottom)
    if not words:
        return None
    return area_with(sheet, replace(top, bottom=bottom), tuple(words))


def _band(words: list[Word], top: float, bottom: float) -> list[Word]:
    """Those of *words*, sorted from the top, whose middles are between two heights."""
    first = bisect_right(words, -top, key=lambda word: -height_of(word))
    return words[first : bisect_left(words, -bottom, key=lambda word: -height_of(word))]


def _is_larger_text(rows: list[Row], above: list[Row]) -> bool:
    """Whether lines are words, set so much larger than those above that they are the text again."""
    if len(rows) < _ROWS or len(above) < _ROWS:
        return False
    words = [word.text for row in rows for word in row.words]
    numbers = sum(any(char.isdigit() for char in text) for text in words)
    larger = median(row.size for row in rows) > _LARGER * median(row.size for row in above)
    return larger and 10 * numbers < len(words) > 8 * len(rows)


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


def _without_rules(sheet: Sheet, caption: Caption, stop: float) -> Area | None:
    """Lines in columns below a caption."""
    left, right = _text_column(sheet, caption.word)
    first = caption.word
    inside = [
        word
        for word in sheet.words
        if left <= word.middle <= right and stop < height_of(word) < first.bottom
    ]
    rows = rows_of(inside)
    start = next((at for at, row in enumerate(rows) if len(row.pieces) > 1), len(rows))
    rows = rows[start:]
    if not rows or first.bottom - rows[0].top > _ABOVE * first.size:
        return None
    bottom = _grown(rows, rows[0].top, right - left)
    if sum(row.middle > bottom for row in rows) < _ROWS:
        return None
    words = tuple(word for word in inside if bottom <= height_of(word) <= rows[0].top)
    if len(words) < 6:
        return None
    box = min(w.left for w in words), bottom, max(w.right for w in words), rows[0].top
    return area_with(sheet, Rule(*box), words)


def _text_column(sheet: Sheet, word: Word) -> tuple[float, float]:
    """From where to where the column of text goes that a word stands in."""
    left = min(one.left for one in sheet.words)
    right = max(one.right for one in sheet.words)
    middle = (left + right) / 2
    heights = {round(height_of(one)) for one in sheet.words}
    crossed = {
        round(height_of(one))
        for one in sheet.words
        if one.left < middle + 3 and one.right > middle - 3
    }
    if len(crossed) > 0.35 * len(heights):
        return left, right
    return (left, middle) if word.left < middle - 10 else (middle, right)
