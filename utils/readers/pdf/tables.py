"""Find the tables of a PDF page: at a caption, between rules or in aligned lines.

A caption may stand above or below its table; `.unnamed` finds tables without one. `.page` searches
only pages with a line like a table caption, or with many short lines, so that other pages take no
time. This module uses only geometry: `.grid` builds the rows and columns, and `.trust` decides
whether a rebuilt table is kept.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from statistics import median

from .captions import (
    LONGEST,
    CaptionStart,
    find_caption_span,
    find_first_line_end,
    iterate_caption_starts,
)
from .frames import find_cell_frames, find_drawn_boxes
from .grid import build_cell_grid
from .notes import remove_table_notes
from .rows import (
    Cells,
    TableArea,
    WordRow,
    are_prose_rows,
    build_area_from_box,
    build_table_area,
    get_vertical_middle,
    group_words_into_rows,
)
from .rules import RuleLine, merge_horizontal_rules
from .trust import is_doubtful_table
from .unnamed import has_running_text, iterate_column_areas, iterate_uncaptioned_areas
from .words import PdfWord, UprightSheet

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
class RebuiltTable:
    """A rebuilt table: rows of cells of lines of words, header first; empty if it failed.

    ``caption`` is the start and end of the caption's characters, ``words`` all words of the table.
    A table without a caption has no ``label``. If ``doubtful``, cells may be merged.
    """

    caption: tuple[int, int]
    label: str
    rows: tuple[tuple[tuple[tuple[PdfWord, ...], ...], ...], ...]
    words: tuple[PdfWord, ...]
    doubtful: bool = False


def iterate_rebuilt_tables(sheet: UprightSheet) -> Iterator[RebuiltTable]:
    """Yield the tables of a sheet: captioned, then framed, then in aligned columns.

    A table that could not be rebuilt has no rows.
    """
    captions = list(iterate_caption_starts(sheet))[:_MOST_CAPTIONS]
    framed = _find_framed_areas(sheet)
    named = _match_captions_to_frames(
        sheet, [caption for caption in captions if caption.label], framed
    )
    taken: set[int] = set()
    for caption in captions:
        if not caption.label:
            continue
        framed_by = named.get(caption.at)
        area, grid = _rebuild_first_table(
            _iterate_candidate_areas(sheet, caption, captions, framed_by)
        )
        if area and grid and taken.isdisjoint(word.start for word in area.words):
            taken.update(word.start for word in area.words)
            caption_span = find_caption_span(sheet, caption, area)
            yield RebuiltTable(
                caption_span,
                caption.label,
                _grid_to_tuples(grid),
                area.words,
                is_doubtful_table(grid),
            )
        else:
            words = area.words if area else _find_words_nearby(sheet, caption)
            yield RebuiltTable(find_caption_span(sheet, caption, None), caption.label, (), words)
    figures = [caption.word for caption in captions if not caption.label]
    for area in map(remove_table_notes, iterate_uncaptioned_areas(sheet, framed, figures)):
        grid = (
            build_cell_grid(area) if taken.isdisjoint(word.start for word in area.words) else None
        )
        if grid and len(grid) > _ROWS:
            taken.update(word.start for word in area.words)
            yield RebuiltTable(
                (0, 0), "", _grid_to_tuples(grid), area.words, is_doubtful_table(grid)
            )
    for area in islice(iterate_column_areas(sheet, taken, figures), _MOST_CAPTIONS):
        grid = None if has_running_text(area) else build_cell_grid(area)
        is_sure = grid is not None and not is_doubtful_table(grid)
        yield RebuiltTable(
            (0, 0), "", _grid_to_tuples(grid) if grid else (), area.words, not is_sure
        )


def _iterate_candidate_areas(
    sheet: UprightSheet,
    caption: CaptionStart,
    captions: list[CaptionStart],
    frame: TableArea | None,
) -> Iterator[TableArea]:
    """Yield the areas where a caption's table may be, the best first.

    Shaded rows are frames, too, but rarely enclose the whole table.
    """
    if boxed := _find_area_in_box(sheet, caption.word):
        yield boxed
    if frame and frame.bottom >= caption.word.top:
        found = _find_area_above(sheet, caption, captions)
    else:
        found = _find_table_area(sheet, caption, captions)
    if frame and found and _is_box_inside_area(found, frame):
        found = None
    yield from (area for area in (found, frame) if area)


def _find_area_in_box(sheet: UprightSheet, caption: PdfWord) -> TableArea | None:
    """Return the area above a caption that is the last line in a drawn box; else None."""
    for box in find_drawn_boxes(sheet.rules):
        is_in = box.left < caption.left < box.right and box.bottom < caption.bottom < box.top
        if is_in and caption.top - box.bottom < _FOOT * (box.top - box.bottom):
            return build_area_from_box(sheet, replace(box, bottom=caption.top))
    return None


def _rebuild_first_table(areas: Iterable[TableArea]) -> tuple[TableArea | None, list[Cells] | None]:
    """Return the first area that is a table, with its cells; else the first area and None."""
    tried = None
    for area in map(remove_table_notes, areas):
        if grid := build_cell_grid(area):
            return area, grid
        tried = tried or area
    return tried, None


def _find_words_nearby(sheet: UprightSheet, caption: CaptionStart) -> tuple[PdfWord, ...]:
    """Return the words around a caption whose table was not found."""
    first = caption.word
    column = [word for word in sheet.words if _is_in_nearby_column(word, first)]
    below = group_words_into_rows(
        word for word in column if get_vertical_middle(word) < first.bottom
    )
    above = group_words_into_rows(word for word in column if get_vertical_middle(word) > first.top)[
        ::-1
    ]
    found: list[PdfWord] = []
    for rows in (below, above):
        for row, following in pairwise([*rows[:_MOST_ROWS], *rows[-1:]]):
            several = len(row.pieces) > 1 or len(following.pieces) > 1
            if found and (
                not several or abs(row.middle - get_vertical_middle(found[-1])) > 3 * row.size
            ):
                break
            found += row.words if several else []
        if found:
            break
    return tuple(found)


def _grid_to_tuples(grid: list[Cells]) -> tuple[tuple[tuple[tuple[PdfWord, ...], ...], ...], ...]:
    return tuple(tuple(tuple(map(tuple, cell)) for cell in row) for row in grid)


def _find_framed_areas(sheet: UprightSheet) -> list[TableArea]:
    """Return the areas in frames with columns and rows."""
    areas: list[TableArea] = []
    for box in find_cell_frames(sheet.rules):
        if (area := build_area_from_box(sheet, box)) and not any(
            _is_box_inside_area(box, area_) for area_ in areas
        ):
            areas.append(area)
    return areas


def _is_box_inside_area(box: RuleLine | TableArea, area: TableArea) -> bool:
    return (
        area.left - 1 < box.left
        and box.right < area.right + 1
        and area.bottom - 1 < box.bottom
        and box.top < area.top + 1
    )


def _match_captions_to_frames(
    sheet: UprightSheet, captions: list[CaptionStart], framed: list[TableArea]
) -> dict[int, TableArea]:
    """Return the frame of each caption; all frames are below their captions, or all above.

    The captions are identified by their index among the sheet's words.
    """
    below: dict[int, TableArea] = {}
    above: dict[int, TableArea] = {}
    for caption in captions:
        word = caption.word
        near = [
            area for area in framed if area.left < word.right + 1 and word.left < area.right + 1
        ]
        for gap, area in sorted(((word.bottom - area.top), at) for at, area in enumerate(near)):
            if -1 < gap < _ABOVE * word.size and _is_frame_below_caption(
                sheet, caption, near[area]
            ):
                below[caption.at] = near[area]
                break
        for gap, area in sorted(((area.bottom - word.top), at) for at, area in enumerate(near)):
            if -1 < gap < _BELOW * word.size:
                above[caption.at] = near[area]
                break
    return above if len(above) > len(below) else below


def _is_frame_below_caption(sheet: UprightSheet, caption: CaptionStart, area: TableArea) -> bool:
    """Return whether only the caption is between its first line and a frame below."""
    end = caption.word.start + LONGEST
    return all(
        caption.word.start <= word.start < end
        for word in sheet.words
        if area.left <= word.horizontal_middle <= area.right
        and area.top < get_vertical_middle(word) < caption.word.bottom - 1
    )


def _find_table_area(
    sheet: UprightSheet, caption: CaptionStart, captions: list[CaptionStart]
) -> TableArea | None:
    """Return the area of the table that belongs to a caption."""
    flat = merge_horizontal_rules([rule for rule in sheet.rules if rule.is_horizontal])
    stop = max(
        (
            other.word.top
            for other in captions
            if other.word.top < caption.word.bottom
            and _is_in_nearby_column(other.word, caption.word)
        ),
        default=float("-inf"),
    )
    for top in _find_top_rules(sheet, caption, [rule for rule in flat if rule.top > stop]):
        if area := _find_area_between_rules(sheet, caption, top, flat, stop):
            return area
    return _find_area_above(sheet, caption, captions) or _find_area_without_rules(
        sheet, caption, stop
    )


def _find_top_rules(
    sheet: UprightSheet, caption: CaptionStart, flat: list[RuleLine]
) -> list[RuleLine]:
    """Return rules at which a table may begin: below its caption, or else next to it."""
    first, right = caption.word, find_first_line_end(sheet, caption)
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


def _find_area_above(
    sheet: UprightSheet, caption: CaptionStart, captions: list[CaptionStart]
) -> TableArea | None:
    """Return the area between rules of one width that ends right above the caption."""
    flat = merge_horizontal_rules(rule for rule in sheet.rules if rule.is_horizontal)
    first = caption.word
    ceiling = min(
        (
            other.word.bottom
            for other in captions
            if other.word.bottom > first.top and _is_in_nearby_column(other.word, first)
        ),
        default=float("inf"),
    )
    near = [
        rule
        for rule in flat
        if -1 < rule.top - first.top < _BELOW * first.size
        and _get_rule_width(rule) > 5 * first.size
        and rule.left < find_first_line_end(sheet, caption)
        and rule.right > first.left
    ]
    if not near:
        return None
    last = top = min(near, key=lambda rule: rule.top)
    left, right = last.left - 3, last.right + 3
    inside = sorted(
        (word for word in sheet.words if left <= word.horizontal_middle <= right),
        key=get_vertical_middle,
        reverse=True,
    )
    full = 0
    for rule in sorted(flat, key=lambda rule: rule.top):
        alike = (
            rule.left > left
            and rule.right < right
            and _get_rule_width(rule) > 0.9 * _get_rule_width(last)
        )
        if not alike or not top.top + 2 < rule.top < ceiling:
            continue
        rows = group_words_into_rows(_select_words_between(inside, rule.top, top.top))
        if are_prose_rows(rows, right - left):
            break
        top, full = rule, full + bool(rows)
    words = tuple(_select_words_between(inside, top.top, last.top))
    if full < 2:
        return None
    box = RuleLine(last.left, last.top, last.right, top.top)
    return build_table_area(sheet, box, words)


def _is_in_nearby_column(other: PdfWord, word: PdfWord) -> bool:
    return other.left < word.left + 200 and other.right > word.left - 200


def _get_rule_width(rule: RuleLine) -> float:
    return rule.right - rule.left


def _find_area_between_rules(
    sheet: UprightSheet, caption: CaptionStart, top: RuleLine, flat: list[RuleLine], stop: float
) -> TableArea | None:
    """Return the area from a rule below the caption to the last rule of the same width."""
    left, right = top.left - 3, top.right + 3
    inside = sorted(
        (word for word in sheet.words if left <= word.horizontal_middle <= right),
        key=get_vertical_middle,
        reverse=True,
    )
    above = _select_words_between(inside, caption.word.bottom - 1, top.top)
    end = caption.word.start + LONGEST
    if any(not caption.word.start <= word.start < end for word in above):
        return None
    rules = [
        rule
        for rule in flat
        if stop < rule.top < top.top - 2
        and rule.left > left - 3
        and rule.right < right + 3
        and _get_rule_width(rule) > 0.9 * _get_rule_width(top)
    ]
    bottom, full = top.top, 1
    for rule in sorted(rules, key=lambda rule: -rule.top):
        rows = group_words_into_rows(_select_words_between(inside, bottom, rule.top))
        before = group_words_into_rows(_select_words_between(inside, top.top, bottom))
        if are_prose_rows(rows, right - left) or _is_larger_text(rows, before):
            break
        bottom, full = rule.top, full + bool(rows)
    below = group_words_into_rows(_select_words_between(inside, bottom, stop)[:_MOST_BELOW])
    if full < 3:
        bottom = _find_table_bottom(below, bottom, right - left)
    elif below and _is_table_row(
        group_words_into_rows(_select_words_between(inside, top.top, bottom)), below[0]
    ):
        bottom = below[0].bottom  # below the last shaded row
    words = _select_words_between(inside, top.top, bottom)
    if not words:
        return None
    return build_table_area(sheet, replace(top, bottom=bottom), tuple(words))


def _select_words_between(words: list[PdfWord], top: float, bottom: float) -> list[PdfWord]:
    """Return words whose middles are between two heights; *words* are sorted from the top."""
    first = bisect_right(words, -top, key=lambda word: -get_vertical_middle(word))
    return words[first : bisect_left(words, -bottom, key=lambda word: -get_vertical_middle(word))]


def _is_larger_text(rows: list[WordRow], above: list[WordRow]) -> bool:
    """Return whether lines are so much larger that they must be text after the table."""
    if len(rows) < _ROWS or len(above) < _ROWS:
        return False
    words = [word.text for row in rows for word in row.words]
    numbers = sum(any(char.isdigit() for char in text) for text in words)
    larger = median(row.size for row in rows) > _LARGER * median(row.size for row in above)
    return larger and 10 * numbers < len(words) > 8 * len(rows)


def _is_table_row(rows: list[WordRow], row: WordRow) -> bool:
    """Return whether a row below the last rule belongs to the table."""
    if len(rows) < 3:
        return False
    step = median(a.middle - b.middle for a, b in pairwise(rows))
    return (
        rows[-1].middle - row.middle < 1.15 * step
        and abs(row.size - rows[-1].size) < 0.05 * row.size
        and len(row.pieces) >= max(2, 0.6 * median(len(one.pieces) for one in rows))
    )


def _find_table_bottom(rows: list[WordRow], bottom: float, width: float) -> float:
    """Return the lower end of a table: at a wide gap, or at lines without a gap."""
    last = bottom
    for row in rows:
        long = max(w.right for w in row.pieces[-1]) - row.pieces[0][0].left > 0.6 * width
        if last - row.top > _CLOSE * row.size or (len(row.pieces) < 2 and long):
            break
        last = row.bottom
    return last


def _find_area_without_rules(
    sheet: UprightSheet, caption: CaptionStart, stop: float
) -> TableArea | None:
    """Return an area of lines in columns below a caption."""
    left, right = _find_text_column(sheet, caption.word)
    first = caption.word
    inside = [
        word
        for word in sheet.words
        if left <= word.horizontal_middle <= right
        and stop < get_vertical_middle(word) < first.bottom
    ]
    rows = group_words_into_rows(inside)
    start = next((at for at, row in enumerate(rows) if len(row.pieces) > 1), len(rows))
    rows = rows[start:]
    if not rows or first.bottom - rows[0].top > _ABOVE * first.size:
        return None
    bottom = _find_table_bottom(rows, rows[0].top, right - left)
    if sum(row.middle > bottom for row in rows) < _ROWS:
        return None
    words = tuple(word for word in inside if bottom <= get_vertical_middle(word) <= rows[0].top)
    if len(words) < 6:
        return None
    box = min(w.left for w in words), bottom, max(w.right for w in words), rows[0].top
    return build_table_area(sheet, RuleLine(*box), words)


def _find_text_column(sheet: UprightSheet, word: PdfWord) -> tuple[float, float]:
    """Return the left and right end of the text column that contains a word."""
    left = min(one.left for one in sheet.words)
    right = max(one.right for one in sheet.words)
    middle = (left + right) / 2
    heights = {round(get_vertical_middle(one)) for one in sheet.words}
    crossed = {
        round(get_vertical_middle(one))
        for one in sheet.words
        if one.left < middle + 3 and one.right > middle - 3
    }
    if len(crossed) > 0.35 * len(heights):
        return left, right
    return (left, middle) if word.left < middle - 10 else (middle, right)
