"""The PRISMA 2020 flow diagram of a harvest, as a drawing and as numbers.

Boxes and their wording follow the statement's flow diagram for new reviews of databases and
registers (Page MJ et al., BMJ 2021;372:n71, https://doi.org/10.1136/bmj.n71). The names in the
first column of ``prisma.csv`` are those of the R package PRISMA2020, which draws from such a table.
What only reviewers can know (screening, eligibility, inclusion) stays empty and says so.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from html import escape

from ..job import Job
from ..plain_text import clean_text
from .figures import Figures
from .reasons import reason_for
from .text_width import wrapped

_REASONS = 8  # named in the diagram; the rest is one line
TO_FILL = "to be filled by the reviewers"


@dataclass(frozen=True, slots=True)
class Box:
    """One box of the diagram.

    Parameters
    ----------
    name : str
        As in the R package PRISMA2020.
    n : int or None
        None where only the reviewers know.
    parts : tuple of (str, int)
        What *n* is made of.
    """

    name: str
    stage: str
    title: str
    n: int | None = None
    parts: tuple[tuple[str, int], ...] = ()

    @property
    def text(self) -> list[str]:
        """The lines in the box, before they are broken to its width."""
        if self.n is None:
            return [self.title, "(n = \u2003\u2003)"]
        parts = [f"{part} (n = {n:,})" for part, n in self.parts]
        return [f"{self.title} (n = {self.n:,}){':' if parts else ''}", *parts]


@dataclass(frozen=True, slots=True)
class Flow:
    """The boxes, row by row: what remains at the left, what leaves at the right."""

    rows: tuple[tuple[Box, Box | None], ...]

    def boxes(self) -> list[Box]:
        """All boxes in reading order."""
        return [box for row in self.rows for box in row if box]


def flow(job: Job, figures: Figures) -> Flow:
    """The numbers of a harvest in the places PRISMA has for them."""
    sought = figures.total
    # A query may have found more than the harvest was told to take.
    left_out = max(0, job.hits - job.duplicates - sought)
    identified = max(job.hits, sought + job.duplicates)
    origin = "PubMed" if job.query else "Lists of identifiers"
    states = figures.states
    retrieved = states["full_text"]
    removed = [("Duplicate records", job.duplicates)]
    if left_out:
        removed.append(("Beyond the limit set for this harvest", left_out))
    identification, screening = "Identification", "Screening"
    return Flow(
        (
            (
                Box(
                    "database_results",
                    identification,
                    "Records identified",
                    identified,
                    ((origin, identified),),
                ),
                Box(
                    "duplicates",
                    identification,
                    "Records removed before screening",
                    job.duplicates + left_out,
                    tuple(removed),
                ),
            ),
            (
                Box("records_screened", screening, "Records screened"),
                Box("records_excluded", screening, "Records excluded"),
            ),
            (
                Box("dbr_sought_reports", screening, "Reports sought for retrieval", sought),
                Box(
                    "dbr_notretrieved_reports",
                    screening,
                    "Reports not retrieved",
                    sought - retrieved,
                    _why(figures),
                ),
            ),
            (Box("reports_retrieved", screening, "Reports retrieved", retrieved), None),
            (
                Box("dbr_assessed", screening, "Reports assessed for eligibility"),
                Box("dbr_excluded", screening, "Reports excluded, with reasons"),
            ),
            (Box("new_studies", "Included", "Studies included in review"), None),
        )
    )


def _why(figures: Figures) -> tuple[tuple[str, int], ...]:
    counted = [(reason_for(name).name, split.total()) for name, split in figures.reasons.items()]
    counted.sort(key=lambda pair: (-pair[1], pair[0]))
    if len(counted) > _REASONS:
        rest = sum(n for _, n in counted[_REASONS - 1 :])
        counted[_REASONS - 1 :] = [("Other reasons", rest)]
    if pending := figures.states["pending"]:
        counted.append(("Not tried yet", pending))
    return tuple(counted)


def numbers(made: Flow) -> str:
    """``prisma.csv``: a row for each box, and for each part of a box."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("data", "stage", "description", "n", "note"))
    for box in made.boxes():
        known = box.n is not None
        note = "" if known else TO_FILL
        writer.writerow((box.name, box.stage, box.title, box.n if known else "", note))
        for part, n in box.parts:
            writer.writerow((box.name, box.stage, f"{box.title}: {part}", n, "part of the above"))
    return out.getvalue()


# -- the drawing ---------------------------------------------------------------------------------

_SIZE = 14  # px
_LINE = 20
_PAD = 14
_GAP = 30  # between rows: room for an arrow
_BAND = 34  # the stage's name, turned
_LEFT, _RIGHT = 272, 316  # widths of the two columns
_BETWEEN = 44
_MARGIN = 12
WIDTH = 2 * _MARGIN + _BAND + 16 + _LEFT + _BETWEEN + _RIGHT
_INK, _RULE, _PAPER, _SOFT = "#1d2530", "#5b6675", "#ffffff", "#eef1f5"
_FONT = "Arial, Helvetica, 'Liberation Sans', sans-serif"


@dataclass(slots=True)
class _Drawing:
    parts: list[str] = field(default_factory=list)

    def box(self, box: Box, x: float, y: float, width: float, height: float) -> None:
        empty = box.n is None
        dash = ' stroke-dasharray="5 4"' if empty else ""
        kind = "empty" if empty else "known"
        self.parts.append(
            f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4"'
            f' fill="{_PAPER}" stroke="{_RULE}" stroke-width="1.25"{dash}/>'
        )
        at = y + _PAD + _SIZE - 2
        for line, class_ in _lines(box, width):
            style = {
                "title": ' font-weight="bold"',
                "part": "",
                "hint": f' font-style="italic" font-size="{_SIZE - 2}"',
            }[class_]
            indent = 12 if class_ == "part" else 0
            self.parts.append(
                f'<text class="{class_}" x="{x + _PAD + indent:g}" y="{at:g}"{style}>'
                f"{escape(line)}</text>"
            )
            at += _LINE

    def arrow(self, x1: float, y1: float, x2: float, y2: float) -> None:
        # The head is drawn, not a marker: several drawings in one page would share its id.
        if x1 == x2:
            head = f"M{x2 - 4.5:g} {y2 - 8:g}L{x2:g} {y2:g}L{x2 + 4.5:g} {y2 - 8:g}z"
        else:
            head = f"M{x2 - 8:g} {y2 - 4.5:g}L{x2:g} {y2:g}L{x2 - 8:g} {y2 + 4.5:g}z"
        self.parts.append(
            f'<path class="arrow" d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="{_RULE}"'
            f' stroke-width="1.25" fill="none"/><path class="head" d="{head}" fill="{_RULE}"/>'
        )

    def band(self, stage: str, y: float, height: float) -> None:
        x = _MARGIN
        middle = f"{x + _BAND / 2 + 5:g} {y + height / 2:g}"
        self.parts.append(
            f'<rect class="band" x="{x}" y="{y:g}" width="{_BAND}" height="{height:g}" rx="4"'
            f' fill="{_SOFT}"/><text class="stage" transform="translate({middle}) rotate(-90)"'
            f' text-anchor="middle" font-weight="bold">{escape(stage)}</text>'
        )


def _lines(box: Box, width: float) -> list[tuple[str, str]]:
    room = width - 2 * _PAD
    title, *parts = box.text
    made = [(line, "title") for line in wrapped(clean_text(title), room, _SIZE, bold=True)]
    if box.n is None:
        return [*made, (f"{parts[0]} {TO_FILL}", "hint")]
    for part in parts:
        made += [(line, "part") for line in wrapped(clean_text(part), room - 12, _SIZE)]
    return made


def _height(box: Box | None, width: float) -> float:
    return 2 * _PAD + _LINE * len(_lines(box, width)) - (_LINE - _SIZE) if box else 0.0


def svg(made: Flow, title: str = "") -> str:
    """``prisma.svg``: stands alone, needs no font of its own, prints on white."""
    drawing = _Drawing()
    left = _MARGIN + _BAND + 16
    right = left + _LEFT + _BETWEEN
    y = float(_MARGIN)
    bands: dict[str, tuple[float, float]] = {}
    below = 0.0
    for main, side in made.rows:
        height = max(_height(main, _LEFT), _height(side, _RIGHT))
        own = _height(main, _LEFT)
        if below:
            drawing.arrow(left + _LEFT / 2, below, left + _LEFT / 2, y)
        drawing.box(main, left, y, _LEFT, own)
        if side:
            drawing.box(side, right, y, _RIGHT, _height(side, _RIGHT))
            drawing.arrow(left + _LEFT, y + own / 2, right, y + own / 2)
        top = bands.get(main.stage, (y, y))[0]
        bands[main.stage] = (top, y + height)
        below = y + own
        y += height + _GAP
    for stage, (top, bottom) in bands.items():
        drawing.band(stage, top, bottom - top)
    return _page(drawing.parts, y - _GAP + _MARGIN, made, title)


def _page(parts: list[str], height: float, made: Flow, title: str) -> str:
    known = "; ".join(
        f"{box.title}: {box.n if box.n is not None else TO_FILL}" for box in made.boxes()
    )
    heading = f"PRISMA 2020 flow diagram{f' of {clean_text(title)[:120]}' if title else ''}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}"'
        f' height="{height:g}" role="img" aria-labelledby="prisma-title prisma-text"'
        f' font-family="{_FONT}" font-size="{_SIZE}" fill="{_INK}">\n'
        f'<title id="prisma-title">{escape(heading)}</title>'
        f'<desc id="prisma-text">{escape(known)}</desc>\n'
        f'<rect class="ground" width="{WIDTH}" height="{height:g}" fill="{_PAPER}"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )
