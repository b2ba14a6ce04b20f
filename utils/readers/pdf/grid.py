"""Arrange the words in a table's area into rows and columns: geometry only, without PDFium.

A PDF has words at positions, and no cells. `build_cell_grid` rebuilds the cells in these steps:

1. Words at one height form a printed row; wide gaps, and the joints of ruled cells, split the row
   into pieces.
2. The rows above the first ruling line across the table are its head; without such a line, the
   first rows without numbers are.
3. A column ends where white runs through the rows of the body. Among several such positions, the
   one that cuts the fewest titles of the head is taken.
4. Words are placed in columns. If too many pieces cross the end of a column, there is no table.
5. Printed rows become table rows: between ruling lines, by their distance, and by the columns that
   a row leaves empty. For example, a second line with only the name column filled continues the
   name above.
6. A title over several columns is repeated in each of them (``Dose / 5 mg``), as for XML tables.

The result is dropped unless it looks like a table (`.trust`); the words then stay text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, product
from statistics import median

from .rows import (
    FULL,
    MOST_COLUMNS,
    Cells,
    TableArea,
    WordRow,
    find_column_index,
    get_right_edge,
    group_words_into_rows,
    split_piece_at_border,
)
from .table_heads import build_header_row
from .trust import is_plausible_table
from .words import PdfWord

_TIGHT = 0.75  # of the height: lines as close as this are one row, set at different heights
_FEW = 0.08  # of the lines may cross the white between two columns
_WHOLE = 0.65  # of the columns: a line that has as many is a row by itself, or its first line
_HALF = 0.4  # of the columns: a line that has more, with numbers, is a row that lacks some
_MOST_TITLES = 300
_STRAY = 0.12  # of the cells may cross columns; with more, the columns are rejected
_NUMBER = re.compile(r"[-\u2212\u2013<>\u2264\u2265~=+\u00b1]?\s?[.\d]")
_NAME = re.compile(r"[^\W\d_]")


def build_cell_grid(area: TableArea) -> list[list[list[list[PdfWord]]]] | None:
    """Return rows of cells of lines of words, header first; None if the grid is implausible."""
    rows = _split_rows_at_joints(group_words_into_rows(area.words), area.joints)
    if len(rows) < 2:
        return None
    across = [
        rule.top
        for rule in area.rules
        if rule.is_horizontal and rule.right - rule.left >= FULL * (area.right - area.left)
    ]
    head_count = _count_header_rows(rows, across)
    head, body = rows[:head_count], rows[head_count:]
    cuts = _find_column_borders(body, head, area) or _find_column_borders(rows, [], area)
    if not 1 <= len(cuts) < MOST_COLUMNS:
        return None
    placed = [_assign_words_to_columns(row, cuts) for row in body]
    if _measure_crossing_share(body, cuts) > _STRAY:
        return None
    cells = [
        build_header_row(head, cuts, area),
        *_build_body_rows(body, placed, across, len(cuts) + 1),
    ]
    cells = _drop_empty_columns(cells)
    return cells if is_plausible_table(cells) else None


def _split_rows_at_joints(rows: list[WordRow], joints: Sequence[float]) -> list[WordRow]:
    """Return the rows with their pieces split where the rules of cells meet."""
    crossed = {
        x: sum(word.left + 1 < x < word.right - 1 for row in rows for word in row.words)
        for x in joints
    }
    cuts = [x for x in joints if crossed[x] <= _FEW * len(rows)]
    return [
        replace(
            row, pieces=[p for piece in row.pieces for p in split_piece_at_border(piece, cuts, 0.0)]
        )
        if len(row.pieces) > 1
        else row
        for row in rows
    ]


def _count_header_rows(rows: list[WordRow], across: list[float]) -> int:
    """Return the number of header rows: above the first full rule, or else without numbers."""
    for height in sorted(across, reverse=True):
        above = sum(row.middle > height for row in rows)
        if 0 < above <= max(1, 0.7 * len(rows)) and above < len(rows):
            return above
    for at, row in enumerate(rows[:4]):
        row_text = "".join(word.text for piece in row.pieces for word in piece)
        if at and any(char.isdigit() for char in row_text):
            return at
    return 1


def _find_column_borders(body: list[WordRow], head: list[WordRow], area: TableArea) -> list[float]:
    """Return the column borders: positions that no body word and few header words cross."""
    size = median(row.size for row in body) if body else 1.0
    several = _find_fullest_rows([pieces for pieces in _merge_close_rows(body) if len(pieces) > 1])
    spans = [(piece[0].left, get_right_edge(piece)) for pieces in several for piece in pieces]
    titles = [(piece[0].left, get_right_edge(piece)) for row in head for piece in row.pieces][
        :_MOST_TITLES
    ]
    gaps = _iterate_column_gaps(spans, int(_FEW * len(several)), 0.2 * size)
    cuts = [_find_clearest_position(gap, titles) for gap in gaps]
    for line in _iterate_upright_positions(area):
        if all(abs(line - cut) > size for cut in cuts) and not any(
            left + 1 < line < right - 1 for left, right in spans
        ):
            cuts.append(line)
    return sorted(cuts)


def _find_fullest_rows(rows: list[list[list[PdfWord]]]) -> list[list[list[PdfWord]]]:
    """Return the rows with the most pieces, if they are the majority."""
    counts = sorted(map(len, rows))
    usual = counts[len(counts) // 2] if counts else 0
    return [row for row in rows if len(row) >= usual - 1]


def _merge_close_rows(rows: list[WordRow]) -> Iterator[list[list[PdfWord]]]:
    """Yield the pieces of rows, with rows that are very close merged into one."""
    last: WordRow | None = None
    found: list[list[PdfWord]] = []
    for row in rows:
        if last and last.middle - row.middle > _TIGHT * min(row.size, last.size):
            yield found
            found = []
        found = [*found, *row.pieces]
        last = row
    yield found


def _find_clearest_position(gap: tuple[float, float], titles: list[tuple[float, float]]) -> float:
    """Return the position between two columns that crosses the fewest titles."""
    edges = sorted({*gap, *(x for title in titles for x in title if gap[0] < x < gap[1])})
    steps = list(pairwise(edges))
    crossed = [sum(left < b and right > a for left, right in titles) for a, b in steps]
    fewest = min(crossed)
    a, b = max(
        (step for step, count in zip(steps, crossed, strict=True) if count == fewest),
        key=lambda step: step[1] - step[0],
    )
    return (a + b) / 2


def _iterate_upright_positions(area: TableArea) -> Iterator[float]:
    """Yield the positions of upright rules across most of the area, without its edges."""
    found: dict[int, float] = {}
    for rule in area.rules:
        if not rule.is_horizontal and area.left + 4 < rule.left < area.right - 4:
            place = round(rule.left / 2)
            found[place] = found.get(place, 0.0) + rule.top - rule.bottom
    for place, length in found.items():
        if length > 0.5 * (area.top - area.bottom):
            yield place * 2.0


def _iterate_column_gaps(
    spans: list[tuple[float, float]], few: int, least: float
) -> Iterator[tuple[float, float]]:
    """Yield the white gaps between columns that at most *few* spans cross."""
    edges = sorted([(left, 1) for left, _ in spans] + [(right, -1) for _, right in spans])
    steps: list[tuple[float, float, int]] = []  # from, to, how many cross
    open_ = 0
    for (at, change), (then, _) in pairwise(edges):
        open_ += change
        if then > at:
            steps.append((at, then, open_))
    run: list[tuple[float, float, int]] = []
    for step in [*steps, (0.0, 0.0, few + 1)]:
        if step[2] <= few:
            run.append(step)
        elif run:
            yield from _iterate_least_crossed_ranges(run, least)
            run = []


def _iterate_least_crossed_ranges(
    run: list[tuple[float, float, int]], least: float
) -> Iterator[tuple[float, float]]:
    """Yield the ranges that no span, or else the fewest spans, cross."""
    white = [(left, right) for left, right, crossing in run if not crossing]
    wide = [(left, right) for left, right in white if right - left >= least]
    if not wide and not white:
        if run[-1][1] - run[0][0] < least:
            return
        fewest = min(crossing for *_, crossing in run)
        white = [(left, right) for left, right, crossing in run if crossing == fewest]
    yield from wide or [max(white, key=lambda gap: gap[1] - gap[0])]


def _assign_words_to_columns(row: WordRow, cuts: Sequence[float]) -> dict[int, list[PdfWord]]:
    """Return the words of a row by column."""
    found: dict[int, list[PdfWord]] = {}
    for piece in row.pieces:
        for part in split_piece_at_border(piece, cuts, row.size):
            found.setdefault(find_column_index(part, cuts), []).extend(part)
    return found


def _measure_crossing_share(rows: list[WordRow], cuts: Sequence[float]) -> float:
    """Return the share of pieces that cross a column border in rows with other pieces."""
    crossing = total = 0
    for row in rows:
        if len(row.pieces) < 2:
            continue
        for piece in row.pieces:
            for part in split_piece_at_border(piece, cuts, row.size):
                total += 1
                crossing += any(part[0].left + 2 < cut < get_right_edge(part) - 2 for cut in cuts)
    return crossing / total if total else 1.0


def _drop_empty_columns(cells: list[Cells]) -> list[Cells]:
    """Return the cells without columns that are empty in body and header."""
    header_words = [
        {word for line in cell for word in line if word.start >= 0} for cell in cells[0]
    ]
    beside = [
        header_words[at]
        <= (header_words[at - 1] if at else set())
        | (header_words[at + 1] if at + 1 < len(header_words) else set())
        for at in range(len(header_words))
    ]
    kept = [
        at for at in range(len(header_words)) if not beside[at] or any(row[at] for row in cells[1:])
    ]
    return [[row[at] for at in kept] for row in cells]


def _build_body_rows(
    rows: list[WordRow], placed: list[dict[int, list[PdfWord]]], across: list[float], columns: int
) -> Iterator[Cells]:
    """Yield the rows of the table, each made of one or several printed rows."""
    for band in _group_printed_rows(rows, placed, across):
        made: Cells = [[] for _ in range(columns)]
        for at in band:
            for column, words in placed[at].items():
                made[column].append(words)
        yield made


def _group_printed_rows(
    rows: list[WordRow], placed: list[dict[int, list[PdfWord]]], across: list[float]
) -> Iterator[list[int]]:
    """Yield the printed rows that form one row of the table."""
    between: dict[int, list[int]] = {}
    for at, row in enumerate(rows):
        between.setdefault(sum(height > row.middle for height in across), []).append(at)
    bands = list(between.values())
    single = [
        min(_count_lines_by_column([placed[at] for at in band]).values()) == 1 for band in bands
    ]
    for_all = _find_shared_columns([placed[at] for at in band] for band in bands)
    if len(bands) > 2 and sum(single) > 0.6 * len(bands):
        for band, is_one in zip(bands, single, strict=True):
            if lines := _split_lines_between_rules([placed[at] for at in band], for_all):
                yield from ([band[at] for at in row] for row in lines)
            else:
                yield from [band] if is_one else _group_by_distance(band, rows, placed)
        return
    for band in bands:
        yield from _group_by_distance(band, rows, placed)


def _find_number_rows(cells: list[dict[int, list[PdfWord]]]) -> list[int]:
    """Return the lines between two rules that have a number in all number columns."""
    numbers = {
        column
        for column in {column for line in cells for column in line if column}
        if all(_NUMBER.match(_join_word_texts(line[column])) for line in cells if column in line)
    }
    counts = _count_lines_by_column([{c: line[c] for c in numbers & line.keys()} for line in cells])
    most = max(counts.values(), default=0)
    full = {column for column, count in counts.items() if count == most}
    lines = [at for at, line in enumerate(cells) if full <= line.keys()]
    alike = most > 1 and len(lines) == most and len(full) >= min(2, len(numbers))
    return lines if alike else []


def _find_shared_columns(bands: Iterable[list[dict[int, list[PdfWord]]]]) -> set[int]:
    """Return the columns in which one text belongs to several numbers below each other."""
    return {
        column
        for cells in bands
        for column, count in _count_lines_by_column(cells).items()
        if count < len(_find_number_rows(cells))
    }


def _split_lines_between_rules(
    cells: list[dict[int, list[PdfWord]]], for_all: set[int]
) -> list[list[int]]:
    """Return the lines between two rules as rows, if there are several.

    A line with only a name above them is a separate row. Text at another height beside all of them,
    and text in the columns *for_all*, belongs to the first row.
    """
    lines = _find_number_rows(cells)
    if not lines or (label := _find_label_column([cells[at] for at in lines], for_all)) is None:
        return []
    rows = [[at] for at in lines]
    above = [at for at in range(lines[0]) if cells[at].keys() == {label}]
    for at in range(len(cells)):
        if at not in lines and at not in above:
            before = [row for row, line in zip(rows, lines, strict=True) if line < at]
            (before[-1] if before and label in cells[at] else rows[0]).append(at)
    for (row, *_), column in product(rows[1:], for_all):
        if column < label and column in cells[row]:
            cells[lines[0]].setdefault(column, []).extend(cells[row].pop(column))
    return [*([above] if above else []), *map(sorted, rows)]


def _find_label_column(lines: list[dict[int, list[PdfWord]]], for_all: set[int]) -> int | None:
    """Return the column that contains the names of several rows."""
    shared = sorted(set.intersection(*(set(line) for line in lines)) - for_all)
    named = (
        c for c in shared if not c or all(_NAME.search(_join_word_texts(line[c])) for line in lines)
    )
    return next(named, None)


def _join_word_texts(words: list[PdfWord]) -> str:
    return " ".join(word.text for word in words)


def _count_lines_by_column(cells: list[dict[int, list[PdfWord]]]) -> dict[int, int]:
    """Return the number of lines in each column."""
    found: dict[int, int] = {}
    for row in cells:
        for column in row:
            found[column] = found.get(column, 0) + 1
    return found


def _group_by_distance(
    band: list[int], rows: list[WordRow], placed: list[dict[int, list[PdfWord]]]
) -> Iterator[list[int]]:
    """Yield printed rows that form a table row, judged by distance and empty columns."""
    if begun := _find_row_starts(band, rows, placed):
        yield from ([at for at in band if a <= at < b] for a, b in pairwise([*begun, band[-1] + 1]))
        return
    wide = _find_row_distance(band, rows, placed)
    widths = _measure_column_widths(placed)
    made = band[:1]
    for before, here in pairwise(band):
        step = rows[before].middle - rows[here].middle
        size = min(rows[before].size, rows[here].size)
        if (
            step < _TIGHT * size
            or step < wide
            or _is_continuation_row(made, placed[here], placed, widths)
        ):
            made.append(here)
        else:
            yield made
            made = [here]
    yield made


def _find_row_starts(
    band: list[int], rows: list[WordRow], placed: list[dict[int, list[PdfWord]]]
) -> list[int]:
    """Return the first lines of rows whose other lines leave the same columns empty."""
    columns = {column for at in band for column in placed[at]}
    full = [at for at in band if len(placed[at]) >= _WHOLE * len(columns)]
    rest = [at for at in band if at not in full]
    if len(columns) < 3 or len(full) < 3 or 4 * len(rest) < len(full) or band[0] != full[0]:
        return []
    telling = [
        column
        for column in columns
        if column
        and sum(column in placed[at] for at in full) > 0.85 * len(full)
        and sum(column in placed[at] for at in rest) < 0.15 * len(rest)
    ]
    into_full, into_rest = (
        median(rows[at - 1].middle - rows[at].middle for at in lines if at != band[0])
        for lines in (full, rest)
    )
    if not telling or into_rest > into_full + 0.1 * rows[band[0]].size:
        return []  # cells at half the height of their row
    named = (at for at in rest if 0 in placed[at])
    own = (at for at in named if not _is_name_continued(placed[at - 1].get(0, []), placed[at][0]))
    numbers = {
        column
        for column in columns
        if sum(bool(_NUMBER.match(_join_word_texts(placed[at].get(column, [])))) for at in full)
        > 0.7 * len(full)
    }
    valued = (
        at
        for at in rest
        if len(placed[at]) > _HALF * len(columns)
        and any(
            _NUMBER.match(_join_word_texts(placed[at][column]))
            for column in numbers & placed[at].keys()
        )
    )
    return sorted({*full, *own, *valued})


def _find_row_distance(
    band: list[int], rows: list[WordRow], placed: list[dict[int, list[PdfWord]]]
) -> float:
    """Return the least distance between table rows whose own lines are closer together."""
    steps = [(rows[a].middle - rows[b].middle, a, b) for a, b in pairwise(band)]
    steps = sorted(step for step in steps if step[0] >= _TIGHT * rows[step[1]].size)
    if len(steps) < 3:
        return 0.0
    ratio, at = max((steps[at + 1][0] / steps[at][0], at) for at in range(len(steps) - 1))
    close = steps[: at + 1]
    if ratio < 1.22 or close[-1][0] > 1.45 * rows[band[0]].size or len(steps) - len(close) < 2:
        return 0.0
    columns = 1 + max(column for at_ in band for column in placed[at_])
    whole = sum(len(placed[b]) >= max(2, _WHOLE * columns) for *_, b in close)
    return (steps[at][0] + steps[at + 1][0]) / 2 if whole < 0.3 * len(close) else 0.0


def _measure_column_widths(placed: list[dict[int, list[PdfWord]]]) -> dict[int, float]:
    """Return the width of the widest line of each column."""
    found: dict[int, float] = {}
    for cells in placed:
        for column, words in cells.items():
            found[column] = max(found.get(column, 0.0), get_right_edge(words) - words[0].left)
    return found


def _is_continuation_row(
    made: list[int],
    cells: dict[int, list[PdfWord]],
    placed: list[dict[int, list[PdfWord]]],
    widths: dict[int, float],
) -> bool:
    """Return whether a printed row only continues full cells of the row above."""
    above = placed[made[-1]]
    if not all(
        column in above
        and get_right_edge(above[column]) - above[column][0].left + words[0].right - words[0].left
        > 0.97 * widths[column]
        for column, words in cells.items()
    ):
        return False
    first = min(cells)
    filled_columns = {column for at in made for column in placed[at]}
    text = cells[first][0].text
    if first == 0 and len(cells) == 1:
        return _is_name_continued(above.get(0, []), cells[0])
    if first == 0:
        return False
    return 2 * len(cells) <= len(filled_columns) and not text[:1].isdigit()


def _is_name_continued(above: list[PdfWord], words: list[PdfWord]) -> bool:
    """Return whether a name is unfinished in the line above, or continues in lower case."""
    text = words[0].text
    open_ = above and above[-1].text.endswith(("-", ",", "(", "/", "and", "of", "or"))
    return text[:1].islower() or text[:1] == "(" or bool(open_)
