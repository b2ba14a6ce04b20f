"""Compute the charts of a report: positions of rectangles, and a description of each chart.

The template draws, and CSS sets the colours. Horizontal positions and lengths are per cent of the
drawing, vertical ones are pixels: one drawing fits phones and desktops without a script or
stretched letters. A chart's title states a finding if enough papers support it, else its subject.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ..model.job import PaperState
from .figures import STATES, HarvestFigures, Split
from .labels import (
    STAND_INS,
    STATE_LABELS,
    describe_license,
    format_share,
    get_missing_reason,
    get_route_label,
    pluralize,
)

COLUMNS_HEIGHT = 220
SHARES_HEIGHT = 64
TIMELINE_WIDTH, TIMELINE_HEIGHT = 1000, 180
_MAX_YEARS = 80
_BINS = 160
_YEAR_STEPS = (1, 2, 5, 10, 20, 50, 100, 200)
_DECADE_MIN_PAPERS = 20  # papers that a decade needs before it is compared
_MIN_COVERAGE_DIFFERENCE = 0.1  # smallest difference in coverage that is reported


@dataclass(frozen=True, slots=True)
class BarPiece:
    """One coloured part of a bar; ``at`` and ``size`` are in per cent or pixels."""

    state: PaperState
    at: float
    size: float
    n: int


@dataclass(frozen=True, slots=True)
class ChartBar:
    """One row of a bar chart; its pieces are in per cent of the longest row."""

    name: str
    split: Split
    pieces: tuple[BarPiece, ...]

    @property
    def total(self) -> int:
        """The number of papers in the row."""
        return self.split.total()


def build_chart_bar(name: str, split: Split, longest: int) -> ChartBar:
    """Return a row whose full width represents *longest* papers."""
    pieces, at = [], 0.0
    for state in STATES:
        if n := split[state]:
            size = 100 * n / max(longest, 1)
            pieces.append(BarPiece(state, round(at, 3), round(size, 3), n))
            at += size
    return ChartBar(name, split, tuple(pieces))


@dataclass(frozen=True, slots=True)
class YearColumn:
    """One year; ``x`` and ``width`` are in per cent, pieces in pixels from the top.

    ``pieces`` show numbers of papers, ``shares`` their proportions at one height for all years.
    """

    label: str
    x: float
    width: float
    split: Split
    pieces: tuple[BarPiece, ...]
    shares: tuple[BarPiece, ...]
    shown: str  # screens on which the label is shown: "all", "wide" or none ("")

    @property
    def words(self) -> str:
        """A description of the column for screen readers."""
        parts = [f"{STATE_LABELS[s].lower()} {self.split[s]:,}" for s in STATES if self.split[s]]
        covered = format_share(self.split["full_text"], self.split.total())
        return f"{self.label}: {', '.join(parts) or 'none'} ({covered} full text)"


@dataclass(frozen=True, slots=True)
class AxisTick:
    """A horizontal line of a chart: its value, and its distance from the top in pixels."""

    value: int
    y: float


@dataclass(frozen=True, slots=True)
class YearChart:
    """A column chart of years; ``undated`` papers are not drawn."""

    columns: tuple[YearColumn, ...]
    ticks: tuple[AxisTick, ...]
    undated: Split

    @property
    def rows(self) -> list[tuple[str, Split]]:
        """The chart's numbers as table rows; years without papers are left out."""
        unknown = [("Unknown", self.undated)] if self.undated else []
        return [(c.label, c.split) for c in self.columns if c.split] + unknown


def build_year_chart(years: Mapping[str, Split], this_year: int) -> YearChart:
    """Return a chart of all years without gaps; very old years share the first column."""
    undated: Split = Split()
    dated: dict[int, Split] = {}
    for text, split in years.items():
        # Records may have impossible years such as 9999.
        if text and 1400 < int(text) <= this_year + 2:
            dated[int(text)] = split
        else:
            undated += split
    if not dated:
        return YearChart((), (), undated)
    last, first = max(dated), min(dated)
    start = max(first, last - _MAX_YEARS + 1)
    splits = {year: dated.get(year, Split()) for year in range(start, last + 1)}
    if first < start:
        splits[start] = sum((s for year, s in dated.items() if year <= start), Split())
    most = max(split.total() for split in splits.values())
    ticks = build_axis_ticks(most, COLUMNS_HEIGHT)
    top = ticks[-1].value
    step = 100 / len(splits)
    wide, narrow = _choose_label_steps(len(splits))
    made = []
    for place, (year, split) in enumerate(splits.items()):
        label = f"≤ {year}" if year == start and first < start else str(year)
        shown = "all" if year % narrow == 0 else "wide" if year % wide == 0 else ""
        if first < start and year < start + wide:  # room for the label of the first column
            shown = "" if year > start else "all"
        width = min(step * 0.82, 8.0)
        x = place * step + (step - width) / 2
        pieces = _stack_bar_segments(split, COLUMNS_HEIGHT, top)
        shares = _stack_bar_segments(split, SHARES_HEIGHT, split.total())
        made.append(YearColumn(label, round(x, 3), round(width, 3), split, pieces, shares, shown))
    return YearChart(tuple(made), ticks, undated)


def _choose_label_steps(n: int) -> tuple[int, int]:
    """Return the intervals of years at which labels fit on wide and narrow screens."""
    wide = next(step for step in _YEAR_STEPS if n / step <= 14)
    narrow = next(step for step in _YEAR_STEPS if n / step <= 5 and step % wide == 0)
    return wide, narrow


def _stack_bar_segments(split: Split, height: float, full: int) -> tuple[BarPiece, ...]:
    """Return a column's pieces from the bottom up, where *full* papers reach the *height*."""
    pieces, at = [], height
    for state in STATES:
        if n := split[state]:
            size = n * height / full
            at -= size
            pieces.append(BarPiece(state, round(at, 2), round(size, 2), n))
    return tuple(pieces)


def build_axis_ticks(most: int, height: float) -> tuple[AxisTick, ...]:
    """Return round values from 0 to at least *most*, in at most five steps.

    >>> [tick.value for tick in build_axis_ticks(87, 100)]
    [0, 20, 40, 60, 80, 100]
    """
    size = 1
    while True:
        for step in (size, 2 * size, 5 * size):
            steps = max(1, -(-most // step))
            if steps <= 5:
                values = range(0, steps * step + 1, step)
                return tuple(AxisTick(v, round(height * (1 - v / values[-1]), 2)) for v in values)
        size *= 10


@dataclass(frozen=True, slots=True)
class TimeLabel:
    """A label under the timeline: per cent from the left, and its text anchor."""

    x: float
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """The numbers of papers that ended over time."""

    areas: tuple[tuple[PaperState, str], ...]
    ticks: tuple[AxisTick, ...]
    moments: tuple[TimeLabel, ...]
    rows: tuple[tuple[str, dict[PaperState, int]], ...]
    seconds: float


def build_timeline(times: Mapping[str, Sequence[float]]) -> Timeline | None:
    """Build the timeline of a harvest; None for a harvest of less than a second."""
    ended = sorted((at, state) for state in STATES for at in times.get(state, ()))
    if not ended or ended[-1][0] - ended[0][0] < 1:
        return None
    first, last = ended[0][0], ended[-1][0]
    bins = [Split() for _ in range(_BINS)]
    for at, state in ended:
        bins[min(int((at - first) / (last - first) * _BINS), _BINS - 1)][state] += 1
    sums, so_far = [Split()], Split()
    for period in bins:
        so_far += period
        sums.append(so_far.copy())
    ticks = build_axis_ticks(len(ended), TIMELINE_HEIGHT)
    scale = TIMELINE_HEIGHT / ticks[-1].value
    floor, areas = [0] * len(sums), []
    for state in STATES[:-1]:
        roof = [low + total[state] for low, total in zip(floor, sums, strict=True)]
        if so_far[state]:
            areas.append((state, _draw_area_path(floor, roof, scale)))
        floor = roof
    return Timeline(
        areas=tuple(areas),
        ticks=ticks,
        moments=_build_time_labels(first, last),
        rows=tuple(
            (
                _format_time(first + (last - first) * place / _BINS),
                {s: sums[place][s] for s in STATES},
            )
            for place in range(0, _BINS + 1, _BINS // 8)
        ),
        seconds=last - first,
    )


def _draw_area_path(floor: Sequence[int], roof: Sequence[int], scale: float) -> str:
    def format_points(values: Sequence[int]) -> list[str]:
        wide = TIMELINE_WIDTH / (len(values) - 1)
        return [f"{i * wide:.1f} {TIMELINE_HEIGHT - n * scale:.1f}" for i, n in enumerate(values)]

    return "M" + "L".join([*format_points(roof), *reversed(format_points(floor))]) + "z"


def _build_time_labels(first: float, last: float) -> tuple[TimeLabel, ...]:
    days = last - first > 86400
    form = "%-d %b, %H:%M" if days else "%H:%M" if last - first > 600 else "%H:%M:%S"

    def format_label(at: float) -> str:
        return datetime.fromtimestamp(at, UTC).strftime(form.replace("%-d", "%d")).lstrip("0")

    middle = (first + last) / 2
    return (
        TimeLabel(
            0, datetime.fromtimestamp(first, UTC).strftime("%d %b, %H:%M UTC").lstrip("0"), ""
        ),
        TimeLabel(50, format_label(middle), "middle"),
        TimeLabel(100, format_label(last), "end"),
    )


def _format_time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")


def describe_coverage(figures: HarvestFigures) -> str:
    """Return the report's headline: the number of papers with full text."""
    total, ended, full = figures.total, figures.ended, figures.states["full_text"]
    if not total:
        return "No papers in this harvest"
    if ended < total:
        if not ended:
            return f"{pluralize(total, 'paper')} to come"
        return f"So far, full text for {full:,} of {pluralize(ended, 'paper')} tried"
    if total == 1:
        return "Full text for the one paper asked for" if full else "No full text for the one paper"
    if full == total:
        return f"Full text for all {total:,} papers"
    if not full:
        return f"No full text for any of {total:,} papers"
    return f"Full text for {full:,} of {total:,} papers"


def describe_years(figures: HarvestFigures) -> str:
    """Return a sentence about the decades with the best and the worst coverage."""
    decades: dict[str, Split] = {}
    for year, split in figures.years.items():
        if year:
            decades.setdefault(f"{year[:3]}0s", Counter()).update(split)
    covered = {
        decade: split["full_text"] / ended
        for decade, split in decades.items()
        if (ended := split.total() - split["pending"]) >= _DECADE_MIN_PAPERS
    }
    if len(covered) > 1:
        best, worst = max(covered, key=covered.__getitem__), min(covered, key=covered.__getitem__)
        if covered[best] - covered[worst] >= _MIN_COVERAGE_DIFFERENCE:
            return (
                f"{100 * covered[best]:.0f} % of papers from the {best} have full text, "
                f"{100 * covered[worst]:.0f} % of those from the {worst}"
            )
    return "Papers and full text by year of publication"


def describe_journals(figures: HarvestFigures, shown: int) -> str:
    """Return a sentence about the share of the corpus in the largest journals."""
    sizes = sorted((s.total() for name, s in figures.journals.items() if name), reverse=True)
    if not sizes:
        return "No journals are known"
    if len(sizes) == 1:
        return "All in one journal"
    if len(sizes) <= shown:
        return f"The papers come from {pluralize(len(sizes), 'journal')}"
    largest = format_share(sum(sizes[:shown]), figures.total)
    return f"The {shown} largest of {len(sizes):,} journals hold {largest} of the papers"


def describe_sources(figures: HarvestFigures) -> str:
    """Return a sentence about the source that supplied most texts."""
    total = figures.via.total()
    if not total:
        return "No source had a full text"
    by_label = Counter[str]()
    for via, n in figures.via.items():
        by_label[get_route_label(via).split(" (")[0]] += n
    [(name, n)] = by_label.most_common(1)
    if n == total:
        return f"All full texts came from one source: {name}"
    return f"{format_share(n, total)} of the full texts came from one source: {name}"


def describe_versions(figures: HarvestFigures) -> str:
    """Return a sentence about texts known not to be the published version; empty if none."""
    total = figures.versions.total()
    parts = [
        f"{name.lower()}: {n:,}" for key, name in STAND_INS.items() if (n := figures.versions[key])
    ]
    if not parts:
        return ""
    return f"Some texts are not the published version: of {total:,} full texts, {', '.join(parts)}."


def describe_licenses(figures: HarvestFigures) -> str:
    """Return a sentence about the number of texts with an open licence."""
    total = figures.licenses.total()
    free = sum(
        n for text, n in figures.licenses.items() if describe_license(text)[0].startswith("CC")
    )
    if not total:
        return "No full text, so no licenses"
    if not free:
        return "No full text carries an open license"
    return f"{format_share(free, total)} of the full texts carry an open license"


def describe_reasons(figures: HarvestFigures) -> str:
    """Return a sentence about the most frequent reason for missing texts."""
    total = figures.missing.total
    if not total:
        return "No full text is missing" if figures.ended else "Nothing is known to be missing yet"
    name, split = max(figures.reasons.items(), key=lambda item: item[1].total())
    reason = f"“{get_missing_reason(name).name}”"
    if split.total() == total:
        return f"{pluralize(total, 'text')} missing, for one reason: {reason}"
    part = format_share(split.total(), total)
    return f"{reason} explains {part} of {pluralize(total, 'missing text')}"
