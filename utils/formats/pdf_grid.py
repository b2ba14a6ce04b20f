"""From the words in a table's area to its rows and columns: geometry only, no PDF.

Columns are parted by ruling lines and by white that runs through the lines of several cells; rows
by ruling lines, by the distance of lines, and by what a line leaves empty. What several columns
share in the head is said in each of them (``Dose / 5 mg``), as for tables from XML.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from .pdf_words import Rule, Word

_SAME_LINE = 0.36  # of the height: how far the middles of words of one line are apart at most
_CELL_GAP = 0.62  # of the height: a wider gap may part two cells
_SPLIT = 0.42  # of the height: a gap that parts cells where other lines show a column's end
_FULL = 0.93  # of the table's width: a rule through all columns
_TIGHT = 0.75  # of the height: lines as close as this are one row, set at different heights
_FEW = 0.08  # of the lines may cross the white between two columns
_MOST_COLUMNS = 60
_MOST_TITLES = 300
_STRAY = 0.12  # of the cells may cross columns before nobody believes the columns
_MOST_LETTERS = 400  # of a cell on average; paragraphs in columns are no table


@dataclass(frozen=True, slots=True)
class Area:
    """Where a table stands: its box, and what is in it."""

    left: float
    bottom: float
    right: float
    top: float
    words: tuple[Word, ...]
    rules: tuple[Rule, ...]


@dataclass(slots=True)
class Row:
    """Words on one height, in pieces that wide gaps part."""

    pieces: list[list[Word]]
    middle: float
    size: float

    @property
    def top(self) -> float:
        """Upper edge."""
        return self.middle + self.size / 2

    @property
    def bottom(self) -> float:
        """Lower edge."""
        return self.middle - self.size / 2


Cells = list[list[list[Word]]]  # column by column the lines of a cell


def grid_of(area: Area) -> list[list[list[list[Word]]]] | None:
    """Rows of cells of lines of words, the head first; none if nobody would believe them."""
    rows = rows_of(area.words)
    if len(rows) < 2:
        return None
    across = [
        rule.top
        for rule in area.rules
        if rule.is_flat and rule.right - rule.left >= _FULL * (area.right - area.left)
    ]
    head_count = _head_count(rows, across)
    head, body = rows[:head_count], rows[head_count:]
    cuts = _cuts(body, head, area) or _cuts(rows, [], area)
    if not 1 <= len(cuts) < _MOST_COLUMNS:
        return None
    placed = [_placed(row, cuts) for row in body]
    if _strays(body, cuts) > _STRAY:
        return None
    cells = [_head(head, cuts, area), *_body(body, placed, across)]
    return cells if _is_credible(cells) else None


def rows_of(words: Iterable[Word]) -> list[Row]:
    """Words by the height they stand on, from the top, each row from left to right."""
    lines: list[list[Word]] = []
    tallest: Word | None = None
    for word in sorted(words, key=lambda word: -(word.bottom + word.top)):
        middle = (word.bottom + word.top) / 2
        within = _SAME_LINE * max(tallest.size, word.size) if tallest else 0.0
        if tallest and abs((tallest.bottom + tallest.top) / 2 - middle) <= within:
            lines[-1].append(word)
            tallest = max(tallest, word, key=lambda one: one.size)
        else:
            lines.append([word])
            tallest = word
    return [_row(line) for line in lines]


def _row(words: list[Word]) -> Row:
    words.sort(key=lambda word: word.left)
    tallest = max(words, key=lambda word: word.size)
    pieces = [[words[0]]]
    for word in words[1:]:
        if word.left - max(one.right for one in pieces[-1][-3:]) > _CELL_GAP * tallest.size:
            pieces.append([])
        pieces[-1].append(word)
    return Row(pieces, (tallest.bottom + tallest.top) / 2, tallest.size)


def _head_count(rows: list[Row], across: list[float]) -> int:
    """How many rows are the head: those above the first rule across, else those without numbers."""
    for height in sorted(across, reverse=True):
        above = sum(row.middle > height for row in rows)
        if 0 < above <= max(1, 0.7 * len(rows)) and above < len(rows):
            return above
    for at, row in enumerate(rows[:4]):
        said = "".join(word.text for piece in row.pieces for word in piece)
        if at and any(char.isdigit() for char in said):
            return at
    return 1


def _cuts(body: list[Row], head: list[Row], area: Area) -> list[float]:
    """Where one column ends and the next begins: in the body, and best so in the head."""
    size = median(row.size for row in body) if body else 1.0
    several = [pieces for pieces in _side_by_side(body) if len(pieces) > 1]
    spans = [(piece[0].left, _right(piece)) for pieces in several for piece in pieces]
    titles = [(piece[0].left, _right(piece)) for row in head for piece in row.pieces][:_MOST_TITLES]
    gaps = _gutters(spans, int(_FEW * len(several)), 0.2 * size)
    cuts = [_clearest(gap, titles) for gap in gaps]
    for line in _uprights(area):
        if all(abs(line - cut) > size for cut in cuts) and not any(
            left + 1 < line < right - 1 for left, right in spans
        ):
            cuts.append(line)
    return sorted(cuts)


def _side_by_side(rows: list[Row]) -> Iterator[list[list[Word]]]:
    """The pieces of rows that are so close that they are one row of the table."""
    last: Row | None = None
    found: list[list[Word]] = []
    for row in rows:
        if last and last.middle - row.middle > _TIGHT * min(row.size, last.size):
            yield found
            found = []
        found = [*found, *row.pieces]
        last = row
    yield found


def _clearest(gap: tuple[float, float], titles: list[tuple[float, float]]) -> float:
    """Where in the white between two columns the fewest titles are cut."""
    edges = sorted({*gap, *(x for title in titles for x in title if gap[0] < x < gap[1])})
    steps = list(pairwise(edges))
    crossed = [sum(left < b and right > a for left, right in titles) for a, b in steps]
    fewest = min(crossed)
    a, b = max(
        (step for step, count in zip(steps, crossed, strict=True) if count == fewest),
        key=lambda step: step[1] - step[0],
    )
    return (a + b) / 2


def _right(piece: list[Word]) -> float:
    return max(word.right for word in piece)


def _uprights(area: Area) -> Iterator[float]:
    """Where upright rules run through most of the area, but for its edges."""
    found: dict[int, float] = {}
    for rule in area.rules:
        if not rule.is_flat and area.left + 4 < rule.left < area.right - 4:
            place = round(rule.left / 2)
            found[place] = found.get(place, 0.0) + rule.top - rule.bottom
    for place, length in found.items():
        if length > 0.5 * (area.top - area.bottom):
            yield place * 2.0


def _gutters(
    spans: list[tuple[float, float]], few: int, least: float
) -> Iterator[tuple[float, float]]:
    """The white between columns, that at most *few* spans cross."""
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
            yield from _whitest(run, least)
            run = []


def _whitest(run: list[tuple[float, float, int]], least: float) -> Iterator[tuple[float, float]]:
    """Where nothing crosses; where something always does, where least does."""
    white = [(left, right) for left, right, crossing in run if not crossing]
    wide = [(left, right) for left, right in white if right - left >= least]
    if not wide and not white:
        if run[-1][1] - run[0][0] < least:
            return
        fewest = min(crossing for *_, crossing in run)
        white = [(left, right) for left, right, crossing in run if crossing == fewest]
    yield from wide or [max(white, key=lambda gap: gap[1] - gap[0])]


def _placed(row: Row, cuts: Sequence[float]) -> dict[int, list[Word]]:
    """The words of a row by the column they stand in."""
    found: dict[int, list[Word]] = {}
    for piece in row.pieces:
        for part in _split(piece, cuts, row.size):
            found.setdefault(_column(part, cuts), []).extend(part)
    return found


def _split(piece: list[Word], cuts: Sequence[float], size: float) -> Iterator[list[Word]]:
    """A piece in two where a column ends in a gap of it."""
    part = [piece[0]]
    for before, word in pairwise(piece):
        gap = word.left - before.right
        ends = any(before.right - 1 <= cut <= word.left + 1 for cut in cuts)
        if ends and gap > _SPLIT * size:
            yield part
            part = []
        part.append(word)
    yield part


def _column(part: list[Word], cuts: Sequence[float]) -> int:
    """The column that most of some words is in."""
    edges = [float("-inf"), *cuts, float("inf")]
    left, right = part[0].left, _right(part)
    shared = [min(right, b) - max(left, a) for a, b in pairwise(edges)]
    return shared.index(max(shared))


def _strays(rows: list[Row], cuts: Sequence[float]) -> float:
    """The share of pieces that cross the end of a column beside others."""
    crossing = total = 0
    for row in rows:
        if len(row.pieces) < 2:
            continue
        for piece in row.pieces:
            for part in _split(piece, cuts, row.size):
                total += 1
                crossing += any(part[0].left + 2 < cut < _right(part) - 2 for cut in cuts)
    return crossing / total if total else 1.0


def _head(rows: list[Row], cuts: Sequence[float], area: Area) -> Cells:
    """One row of all head rows: what spans columns, then what each is called."""
    columns: list[list[tuple[bool, list[Word]]]] = [[] for _ in range(len(cuts) + 1)]
    for row in rows:
        for piece in row.pieces:
            for part in _split(piece, cuts, row.size):
                covered = _covered(part, row, cuts, area)
                for column in covered:
                    columns[column].append((len(covered) > 1, part))
    return [list(_titles(parts)) for parts in columns]


def _titles(parts: list[tuple[bool, list[Word]]]) -> Iterator[list[Word]]:
    """The lines of a head's cell; a word that is a bar stands between its levels."""
    for at, (spans, words) in enumerate(parts):
        yield words
        if spans and at + 1 < len(parts):
            last = words[-1]
            yield [Word("/", last.left, last.bottom, last.right, last.top, -1, -1)]


def _covered(part: list[Word], row: Row, cuts: Sequence[float], area: Area) -> list[int]:
    """The columns that a part of the head belongs to: all above its own rule, else below it."""
    left, right = part[0].left, _right(part)
    middle = (left + right) / 2
    edges = [area.left, *cuts, area.right]
    for rule in area.rules:
        below = -0.4 * row.size < row.bottom - rule.top < 1.0 * row.size
        wide = rule.right - rule.left < _FULL * (area.right - area.left)
        if rule.is_flat and below and wide and rule.left - 2 <= middle <= rule.right + 2:
            centers = [(a + b) / 2 for a, b in pairwise(edges)]
            found = [at for at, x in enumerate(centers) if rule.left - 4 <= x <= rule.right + 4]
            if found:
                return found
    slack = 0.3 * row.size
    found = [
        at for at, (a, b) in enumerate(pairwise(edges)) if left < b - slack and right > a + slack
    ]
    return found or [_column(part, cuts)]


def _body(
    rows: list[Row], placed: list[dict[int, list[Word]]], across: list[float]
) -> Iterator[Cells]:
    """The rows of the table, of one or several rows of print each."""
    columns = 1 + max((column for cells in placed for column in cells), default=0)
    for band in _bands(rows, placed, across):
        made: Cells = [[] for _ in range(columns)]
        for at in band:
            for column, words in placed[at].items():
                made[column].append(words)
        yield made


def _bands(
    rows: list[Row], placed: list[dict[int, list[Word]]], across: list[float]
) -> Iterator[list[int]]:
    """Which rows of print are one row of the table."""
    between: dict[int, list[int]] = {}
    for at, row in enumerate(rows):
        between.setdefault(sum(height > row.middle for height in across), []).append(at)
    bands = list(between.values())
    single = [min(_heights([placed[at] for at in band])) == 1 for band in bands]
    if len(bands) > 2 and sum(single) > 0.6 * len(bands):
        for band, is_one in zip(bands, single, strict=True):
            yield from [band] if is_one else _by_distance(band, rows, placed)
        return
    for band in bands:
        yield from _by_distance(band, rows, placed)


def _heights(cells: list[dict[int, list[Word]]]) -> list[int]:
    """How many lines each column has."""
    found: dict[int, int] = {}
    for row in cells:
        for column in row:
            found[column] = found.get(column, 0) + 1
    return list(found.values())


def _by_distance(
    band: list[int], rows: list[Row], placed: list[dict[int, list[Word]]]
) -> Iterator[list[int]]:
    """Rows of print in the rows of the table, by how close they are and what they leave empty."""
    wide = _wide_step(band, rows, placed)
    widths = _widths(placed)
    made = band[:1]
    for before, here in pairwise(band):
        step = rows[before].middle - rows[here].middle
        size = min(rows[before].size, rows[here].size)
        if step < _TIGHT * size or step < wide or _goes_on(made, placed[here], placed, widths):
            made.append(here)
        else:
            yield made
            made = [here]
    yield made


def _wide_step(band: list[int], rows: list[Row], placed: list[dict[int, list[Word]]]) -> float:
    """The least distance between rows of the table where the lines within one are closer."""
    steps = [(rows[a].middle - rows[b].middle, a, b) for a, b in pairwise(band)]
    steps = sorted(step for step in steps if step[0] >= _TIGHT * rows[step[1]].size)
    if len(steps) < 3:
        return 0.0
    ratio, at = max((steps[at + 1][0] / steps[at][0], at) for at in range(len(steps) - 1))
    close = steps[: at + 1]
    if ratio < 1.22 or close[-1][0] > 1.45 * rows[band[0]].size or len(steps) - len(close) < 2:
        return 0.0
    columns = 1 + max(column for at_ in band for column in placed[at_])
    whole = sum(len(placed[b]) >= max(2, 0.7 * columns) for *_, b in close)
    return (steps[at][0] + steps[at + 1][0]) / 2 if whole < 0.3 * len(close) else 0.0


def _widths(placed: list[dict[int, list[Word]]]) -> dict[int, float]:
    """How wide the widest line of each column is."""
    found: dict[int, float] = {}
    for cells in placed:
        for column, words in cells.items():
            found[column] = max(found.get(column, 0.0), _right(words) - words[0].left)
    return found


def _goes_on(
    made: list[int],
    cells: dict[int, list[Word]],
    placed: list[dict[int, list[Word]]],
    widths: dict[int, float],
) -> bool:
    """Whether a row of print only continues cells of the one above, whose lines were full."""
    above = placed[made[-1]]
    if not all(
        column in above
        and _right(above[column]) - above[column][0].left + words[0].right - words[0].left
        > 0.97 * widths[column]
        for column, words in cells.items()
    ):
        return False
    first = min(cells)
    told = {column for at in made for column in placed[at]}
    text = cells[first][0].text
    if first == 0 and len(cells) == 1:
        last = above.get(0, [])[-1:]
        open_ = bool(last) and last[0].text.endswith(("-", ",", "(", "/", "and", "of", "or"))
        return text[:1].islower() or text[:1] == "(" or open_
    if first == 0:
        return False
    return 2 * len(cells) <= len(told) and not text[:1].isdigit()


def _is_credible(cells: list[Cells]) -> bool:
    """Whether it looks like a table: several cells in most rows, none as long as a page."""
    filled = [sum(bool(cell) for cell in row) for row in cells]
    letters = sum(len(w.text) for row in cells for cell in row for line in cell for w in line)
    several = sum(count > 1 for count in filled)
    return (
        len(cells) > 1
        and several >= max(2, 0.4 * len(cells))
        and letters <= _MOST_LETTERS * sum(filled)
    )
