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

from .captions import LONGEST, Caption, find_caption_end, find_captions, find_line_end
from .frames import find_boxes, find_frames
from .grid import build_grid
from .notes import drop_notes
from .rows import Area, Cells, Row, get_middle, group_rows, is_prose, make_area, make_area_with
from .rules import Rule, merge_rules
from .trust import is_doubtful
from .unnamed import find_columns, find_unnamed, has_text
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


def find_tables(sheet: Sheet) -> Iterator[Table]:
    """Yield the tables of a sheet: those with captions, then those in frames."""
    captions = list(find_captions(sheet))[:_MOST_CAPTIONS]
    framed = _find_framed(sheet)
    named = _match_captions(sheet, [caption for caption in captions if caption.label], framed)
    taken: set[int] = set()
    for caption in captions:
        if not caption.label:
            continue
        framed_by = named.get(caption.at)
        area, grid = _rebuild_first(_find_candidates(sheet, caption, captions, framed_by))
        if area and grid and taken.isdisjoint(word.start for word in area.words):
            taken.update(word.start for word in area.words)
            said = find_caption_end(sheet, caption, area)
            yield Table(said, caption.label, _to_tuples(grid), area.words, is_doubtful(grid))
        else:
            words = area.words if area else _find_nearby(sheet, caption)
            yield Table(find_caption_end(sheet, caption, None), caption.label, (), words)
    figures = [caption.word for caption in captions if not caption.label]
    for area in map(drop_notes, find_unnamed(sheet, framed, figures)):
        grid = build_grid(area) if taken.isdisjoint(word.start for word in area.words) else None
        if grid and len(grid) > _ROWS:
            taken.update(word.start for word in area.words)
            yield Table((0, 0), "", _to_tuples(grid), area.words, is_doubtful(grid))
    for area in islice(find_columns(sheet, taken, figures), _MOST_CAPTIONS):
        grid = None if has_text(area) else build_grid(area)
        is_sure = grid is not None and not is_doubtful(grid)
        yield Table((0, 0), "", _to_tuples(grid) if grid else (), area.words, not is_sure)


def _find_candidates(
    sheet: Sheet, caption: Caption, captions: list[Caption], frame: Area | None
) -> Iterator[Area]:
    """Yield the areas where a caption's table may be, the best first.

    Shaded rows are frames, too, but hardly ever of the whole table.
    """
    if boxed := _find_boxed(sheet, caption.word):
        yield boxed
    if frame and frame.bottom >= caption.word.top:
        found = _find_area_above(sheet, caption, captions)
    else:
        found = _find_area(sheet, caption, captions)
    if frame and found and _is_within(found, frame):
        found = None
    yield from (area for area in (found, frame) if area)


def _find_boxed(sheet: Sheet, caption: Word) -> Area | None:
    """Return the content above a caption that is the last in a box with it."""
    for box in find_boxes(sheet.rules):
        is_in = box.left < caption.left < box.right and box.bottom < caption.bottom < box.top
        if is_in and caption.top - box.bottom < _FOOT * (box.top - box.bottom):
            return make_area(sheet, replace(box, bottom=caption.top))
    return None


def _rebuild_first(areas: Iterable[Area]) -> tuple[Area | None, list[Cells] | None]:
    """Return the first area that is a table, and its cells; else the first area and None."""
    tried = None
    for area in map(drop_notes, areas):
        if grid := build_grid(area):
            return area, grid
        tried = tried or area
    return tried, None


def _find_nearby(sheet: Sheet, caption: Caption) -> tuple[Word, ...]:
    """Return the words next to a caption whose table was not found."""
    first = caption.word
    column = [word for word in sheet.words if _overlaps_word(word, first)]
    below = group_rows(word for word in column if get_middle(word) < first.bottom)
    above = group_rows(word for word in column if get_middle(word) > first.top)[::-1]
    found: list[Word] = []
    for rows in (below, above):
        for row, following in pairwise([*rows[:_MOST_ROWS], *rows[-1:]]):
            several = len(row.pieces) > 1 or len(following.pieces) > 1
            if found and (not several or abs(row.middle - get_middle(found[-1])) > 3 * row.size):
                break
            found += row.words if several else []
        if found:
            break
    return tuple(found)


def _to_tuples(grid: list[Cells]) -> tuple[tuple[tuple[tuple[Word, ...], ...], ...], ...]:
    return tuple(tuple(tuple(map(tuple, cell)) for cell in row) for row in grid)


def _find_framed(sheet: Sheet) -> list[Area]:
    """Return the areas in frames with columns and rows."""
    areas: list[Area] = []
    for box in find_frames(sheet.rules):
        if (area := make_area(sheet, box)) and not any(_is_within(box, one) for one in areas):
            areas.append(area)
    return areas


def _is_within(box: Rule | Area, area: Area) -> bool:
    return (
        area.left - 1 < box.left
        and box.right < area.right + 1
        and area.bottom - 1 < box.bottom
        and box.top < area.top + 1
    )


def _match_captions(sheet: Sheet, captions: list[Caption], framed: list[Area]) -> dict[int, Area]:
    """Return the frame of each caption: all are below their captions, or all above.

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
    """Return whether only the caption is between its first line and a frame below."""
    end = caption.word.start + LONGEST
    return all(
        caption.word.start <= word.start < end
        for word in sheet.words
        if area.left <= word.middle <= area.right
        and area.top < get_middle(word) < caption.word.bottom - 1
    )


def _find_area(sheet: Sheet, caption: Caption, captions: list[Caption]) -> Area | None:
    """Return the area of the table that belongs to a caption."""
    flat = merge_rules([rule for rule in sheet.rules if rule.is_flat])
    stop = max(
        (
            other.word.top
            for other in captions
            if other.word.top < caption.word.bottom and _overlaps_word(other.word, caption.word)
        ),
        default=float("-inf"),
    )
    for top in _find_top_rules(sheet, caption, [rule for rule in flat if rule.top > stop]):
        if area := _find_area_between(sheet, caption, top, flat, stop):
            return area
    return _find_area_above(sheet, caption, captions) or _find_area_without_rules(
        sheet, caption, stop
    )


def _find_top_rules(sheet: Sheet, caption: Caption, flat: list[Rule]) -> list[Rule]:
    """Return rules that a table may begin with: below its caption, else next to it."""
    first, right = caption.word, find_line_end(sheet, caption)
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


def _find_area_above(sheet: Sheet, caption: Caption, captions: list[Caption]) -> Area | None:
    """Return the area between rules of one width that ends right above the caption."""
    flat = merge_rules(rule for rule in sheet.rules if rule.is_flat)
    first = caption.word
    ceiling = min(
        (
            other.word.bottom
            for other in captions
            if other.word.bottom > first.top and _overlaps_word(other.word, first)
        ),
        default=float("inf"),
    )
    near = [
        rule
        for rule in flat
        if -1 < rule.top - first.top < _BELOW * first.size
        and _get_width(rule) > 5 * first.size
        and rule.left < find_line_end(sheet, caption)
        and rule.right > first.left
    ]
    if not near:
        return None
    last = top = min(near, key=lambda rule: rule.top)
    left, right = last.left - 3, last.right + 3
    inside = sorted(
        (word for word in sheet.words if left <= word.middle <= right), key=get_middle, reverse=True
    )
    full = 0
    for rule in sorted(flat, key=lambda rule: rule.top):
        alike = (
            rule.left > left and rule.right < right and _get_width(rule) > 0.9 * _get_width(last)
        )
        if not alike or not top.top + 2 < rule.top < ceiling:
            continue
        rows = group_rows(_take_band(inside, rule.top, top.top))
        if is_prose(rows, right - left):
            break
        top, full = rule, full + bool(rows)
    words = tuple(_take_band(inside, top.top, last.top))
    if full < 2:
        return None
    box = Rule(last.left, last.top, last.right, top.top)
    return make_area_with(sheet, box, words)


def _overlaps_word(other: Word, word: Word) -> bool:
    return other.left < word.left + 200 and other.right > word.left - 200


def _get_width(rule: Rule) -> float:
    return rule.right - rule.left


def _find_area_between(
    sheet: Sheet, caption: Caption, top: Rule, flat: list[Rule], stop: float
) -> Area | None:
    """Return the area from a rule below the caption to the last rule of its width."""
    left, right = top.left - 3, top.right + 3
    inside = sorted(
        (word for word in sheet.words if left <= word.middle <= right), key=get_middle, reverse=True
    )
    above = _take_band(inside, caption.word.bottom - 1, top.top)
    end = caption.word.start + LONGEST
    if any(not caption.word.start <= word.start < end for word in above):
        return None
    rules = [
        rule
        for rule in flat
        if stop < rule.top < top.top - 2
        and rule.left > left - 3
        and rule.right < right + 3
        and _get_width(rule) > 0.9 * _get_width(top)
    ]
    bottom, full = top.top, 1
    for rule in sorted(rules, key=lambda rule: -rule.top):
        rows = group_rows(_take_band(inside, bottom, rule.top))
        before = group_rows(_take_band(inside, top.top, bottom))
        if is_prose(rows, right - left) or _is_larger_text(rows, before):
            break
        bottom, full = rule.top, full + bool(rows)
    below = group_rows(_take_band(inside, bottom, stop)[:_MOST_BELOW])
    if full < 3:
        bottom = _extend_down(below, bottom, right - left)
    elif below and _is_another(group_rows(_take_band(inside, top.top, bottom)), below[0]):
        bottom = below[0].bottom  # below the last shaded row
    words = _take_band(inside, top.top, bottom)
    if not words:
        return None
    return make_area_with(sheet, replace(top, bottom=bottom), tuple(words))


def _take_band(words: list[Word], top: float, bottom: float) -> list[Word]:
    """Return words whose middles are between two heights; *words* are sorted from the top."""
    first = bisect_right(words, -top, key=lambda word: -get_middle(word))
    return words[first : bisect_left(words, -bottom, key=lambda word: -get_middle(word))]


def _is_larger_text(rows: list[Row], above: list[Row]) -> bool:
    """Return whether lines are words so much larger that the text has resumed."""
    if len(rows) < _ROWS or len(above) < _ROWS:
        return False
    words = [word.text for row in rows for word in row.words]
    numbers = sum(any(char.isdigit() for char in text) for text in words)
    larger = median(row.size for row in rows) > _LARGER * median(row.size for row in above)
    return larger and 10 * numbers < len(words) > 8 * len(rows)


def _is_another(rows: list[Row], row: Row) -> bool:
    """Return whether a row below the last rule belongs to the table."""
    if len(rows) < 3:
        return False
    step = median(a.middle - b.middle for a, b in pairwise(rows))
    return (
        rows[-1].middle - row.middle < 1.15 * step
        and abs(row.size - rows[-1].size) < 0.05 * row.size
        and len(row.pieces) >= max(2, 0.6 * median(len(one.pieces) for one in rows))
    )


def _extend_down(rows: list[Row], bottom: float, width: float) -> float:
    """Down to where the lines of a table end: at a wide gap, or at lines without a hole."""
    last = bottom
    for row in rows:
        long = max(w.right for w in row.pieces[-1]) - row.pieces[0][0].left > 0.6 * width
        if last - row.top > _CLOSE * row.size or (len(row.pieces) < 2 and long):
            break
        last = row.bottom
    return last


def _find_area_without_rules(sheet: Sheet, caption: Caption, stop: float) -> Area | None:
    """Return lines in columns below a caption."""
    left, right = _find_text_column(sheet, caption.word)
    first = caption.word
    inside = [
        word
        for word in sheet.words
        if left <= word.middle <= right and stop < get_middle(word) < first.bottom
    ]
    rows = group_rows(inside)
    start = next((at for at, row in enumerate(rows) if len(row.pieces) > 1), len(rows))
    rows = rows[start:]
    if not rows or first.bottom - rows[0].top > _ABOVE * first.size:
        return None
    bottom = _extend_down(rows, rows[0].top, right - left)
    if sum(row.middle > bottom for row in rows) < _ROWS:
        return None
    words = tuple(word for word in inside if bottom <= get_middle(word) <= rows[0].top)
    if len(words) < 6:
        return None
    box = min(w.left for w in words), bottom, max(w.right for w in words), rows[0].top
    return make_area_with(sheet, Rule(*box), words)


def _find_text_column(sheet: Sheet, word: Word) -> tuple[float, float]:
    """Return the left and right end of the text column that a word is in."""
    left = min(one.left for one in sheet.words)
    right = max(one.right for one in sheet.words)
    middle = (left + right) / 2
    heights = {round(get_middle(one)) for one in sheet.words}
    crossed = {
        round(get_middle(one))
        for one in sheet.words
        if one.left < middle + 3 and one.right > middle - 3
    }
    if len(crossed) > 0.35 * len(heights):
        return left, right
    return (left, middle) if word.left < middle - 10 else (middle, right)
