"""The PRISMA 2020 flow diagram of a harvest, as a drawing and as numbers.

Boxes and their wording follow the statement's flow diagram for new reviews of databases and
registers (Page MJ et al., BMJ 2021;372:n71, https://doi.org/10.1136/bmj.n71). The names in the
first column of ``prisma.csv`` are those of the R package PRISMA2020, which draws from such a table.
What only reviewers can know (screening, eligibility, inclusion) stays empty and says so.

Lines are broken by the widths of Helvetica's letters, in thousandths of the type size (Adobe's
metrics, which Arial and Liberation Sans share); a reserve allows for a wider substitute font.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from html import escape

from ..model.job import Job
from ..system.plain_text import clean_text
from .figures import Figures
from .labels import STAND_INS, reason_for

_REASONS = 8  # named in the diagram; the rest is one line
_MISSING = "dbr_notretrieved_reports"
TO_FILL = "to be filled by the reviewers"
_WIDTHS = {
    222: "ijl'",
    278: " !,./:;ftI[]\\|",
    333: '()-r`"',
    389: "*",
    500: "csvxyzkJ",
    556: "abdeghnopqu0123456789?_#$L",
    584: "+<>=~^",
    611: "FTZ",
    667: "ABEKPSVXY&",
    722: "CDHNRUw",
    778: "GOQ",
    833: "mM",
    889: "%",
    944: "W",
    1015: "@",
}
_WIDTH = {letter: width for width, letters in _WIDTHS.items() for letter in letters}
_BOLD = 1.06
_RESERVE = 1.1


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
            return [self.title, f"(n = \u2003\u2003) {TO_FILL}"]
        parts = [f"{part} (n = {n:,})" for part, n in self.parts]
        return [self.title, f"(n = {self.n:,}){':' if parts else ''}", *parts]


@dataclass(frozen=True, slots=True)
class Flow:
    """The boxes, row by row: what remains at the left, what leaves at the right."""

    rows: tuple[tuple[Box, Box | None], ...]

    def boxes(self) -> list[Box]:
        """All boxes in reading order."""
        return [box for row in self.rows for box in row if box]


def flow(job: Job, figures: Figures) -> Flow:
    """The numbers of a harvest in the places PRISMA has for them."""
    sought, retrieved = figures.total, figures.states["full_text"]
    stage, why = "Screening", _missing_parts(figures)
    return Flow(
        (
            _identification(job, sought),
            (
                Box("records_screened", stage, "Records screened"),
                Box("records_excluded", stage, "Records excluded"),
            ),
            (
                Box("dbr_sought_reports", stage, "Reports sought for retrieval", sought),
                Box(_MISSING, stage, "Reports not retrieved", sought - retrieved, why),
            ),
            (
                Box(
                    "reports_retrieved",
                    stage,
                    "Reports retrieved",
                    retrieved,
                    _retrieved_parts(figures),
                ),
                None,
            ),
            (
                Box("dbr_assessed", stage, "Reports assessed for eligibility"),
                Box("dbr_excluded", stage, "Reports excluded, with reasons"),
            ),
            (Box("new_studies", "Included", "Studies included in review"), None),
        )
    )


def _identification(job: Job, sought: int) -> tuple[Box, Box]:
    identified = max(job.hits, sought + job.duplicates)
    # A query may have found more than the harvest was told to take.
    left_out = identified - job.duplicates - sought
    removed = [("Duplicate records", job.duplicates)]
    if left_out:
        removed.append(("Beyond the limit set for this harvest", left_out))
    stage, title = "Identification", "Records removed before screening"
    return (
        Box("database_results", stage, "Records identified", identified, _origins(job, identified)),
        Box("duplicates", stage, title, job.duplicates + left_out, tuple(removed)),
    )


def _origins(job: Job, identified: int) -> tuple[tuple[str, int], ...]:
    """Where records were identified: each database that was searched, then the lists."""
    if not job.searches:  # a job of an older version
        return (("PubMed" if job.query else "Lists of identifiers", identified),)
    origins: Counter[str] = Counter()
    for search in sorted(job.searches, key=lambda one: not one.source):
        origins[search.name if search.source else "Lists of identifiers"] += search.taken
    return tuple(origins.items())


def _retrieved_parts(figures: Figures) -> tuple[tuple[str, int], ...]:
    """Retrieved reports that are not the published version, or were accepted by hand."""
    parts = [(words, figures.versions[version]) for version, words in STAND_INS.items()]
    parts.append(("Accepted by hand", figures.by_hand.total))
    return tuple((words, n) for words, n in parts if n)


def _missing_parts(figures: Figures) -> tuple[tuple[str, int], ...]:
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
# By hand, for libraries save nothing here: drawsvg, which writes tags, takes 49 lines for our 46,
# is slower, and leaves the layout to us; Graphviz, which lays out, is no Python package,
# and breaks no lines. Figures: benchmarks/README.md.

_SIZE, _SMALL = 14, 12  # px, of the letters
_LINE = 20
_PAD = 14
_GAP = 30  # between boxes: room for an arrow
_BAND = 34  # the stage's name, turned
_MARGIN = 12
_INK, _RULE, _PAPER, _SOFT = "#1d2530", "#5b6675", "#ffffff", "#eef1f5"
_FONT = "Arial, Helvetica, 'Liberation Sans', sans-serif"
_STYLE = {
    "title": ' font-weight="bold"',
    "part": "",
    "hint": f' font-style="italic" font-size="{_SMALL}"',
}
_NO_XML = re.compile("[\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Layout:
    """Where boxes go: what leaves stands beside what remains, or below it on a narrow screen."""

    name: str
    main: int  # widths of the boxes
    side: int
    beside: bool

    @property
    def left(self) -> int:
        """Where the boxes begin."""
        return _MARGIN + _BAND + (16 if self.beside else 10)

    @property
    def right(self) -> int:
        """Where the boxes of what leaves begin."""
        return self.left + (self.main + 44 if self.beside else 40)

    @property
    def trunk(self) -> float:
        """Where the arrows run down."""
        return self.left + (self.main / 2 if self.beside else 18)

    @property
    def width(self) -> int:
        """Of the whole drawing."""
        return max(self.left + self.main, self.right + self.side) + _MARGIN


WIDE = Layout("prisma", main=272, side=316, beside=True)
NARROW = Layout("prisma-narrow", main=288, side=248, beside=False)


def svg(made: Flow, title: str = "", layout: Layout = WIDE) -> str:
    """``prisma.svg``: stands alone, needs no font of its own, prints on white."""
    parts: list[str] = []
    bands: dict[str, tuple[float, float]] = {}
    y, below = float(_MARGIN), 0.0
    following = [row[0].stage for row in made.rows[1:]] + [""]
    for (main, side), next_stage in zip(made.rows, following, strict=True):
        if below:
            parts.append(_arrow(layout.trunk, below, layout.trunk, y))
        below = y + _height(main, layout.main)
        bottom = below
        parts.append(_box(main, layout.left, y, layout.main))
        if side:
            top = y if layout.beside else below + _GAP
            bottom = max(below, top + _height(side, layout.side))
            at = (y + below) / 2 if layout.beside else (top + bottom) / 2
            begins = layout.left + layout.main if layout.beside else layout.trunk
            parts.append(_box(side, layout.right, top, layout.side))
            parts.append(_arrow(begins, at, layout.right, at))
        first = bands.get(main.stage, (y, y))[0]
        if main.stage != next_stage:  # a stage of one low row still has to hold its name
            bottom = max(bottom, first + text_width(main.stage, _SIZE, bold=True) + 8)
        bands[main.stage] = (first, bottom)
        y = bottom + _GAP
    parts += [_band(stage, top, bottom) for stage, (top, bottom) in bands.items()]
    return _drawing(parts, y - _GAP + _MARGIN, made, title, layout)


def _drawing(parts: list[str], height: float, made: Flow, title: str, layout: Layout) -> str:
    summary = "; ".join(
        f"{box.title}: {box.n if box.n is not None else TO_FILL}" for box in made.boxes()
    )
    heading = f"PRISMA 2020 flow diagram{f' of {clean_text(title)[:120]}' if title else ''}"
    size = f'width="{layout.width}" height="{height:g}"'
    name = layout.name
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {layout.width} {height:g}" {size}'
        f' role="img" aria-labelledby="{name}-title {name}-text"'
        f' font-family="{_FONT}" font-size="{_SIZE}" fill="{_INK}">\n'
        f'<title id="{name}-title">{_escaped(heading)}</title>'
        f'<desc id="{name}-text">{_escaped(summary)}</desc>\n'
        f'<rect class="ground" {size} fill="{_PAPER}"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _box(box: Box, x: float, y: float, width: float) -> str:
    kind, dash = ("known", "") if box.n is not None else ("empty", ' stroke-dasharray="5 4"')
    size = f'width="{width:g}" height="{_height(box, width):g}" rx="4"'
    look = f'fill="{_PAPER}" stroke="{_RULE}" stroke-width="1.25"{dash}'
    drawn = [f'<rect class="{kind}" x="{x:g}" y="{y:g}" {size} {look}/>']
    at = y + _PAD + _SIZE - 2
    for line, class_ in _lines(box, width):
        indent = 12 if class_ == "part" else 0
        place = f'x="{x + _PAD + indent:g}" y="{at:g}"'
        drawn.append(f'<text class="{class_}" {place}{_STYLE[class_]}>{_escaped(line)}</text>')
        at += _LINE
    return "\n".join(drawn)


def _height(box: Box, width: float) -> float:
    return 2 * _PAD + _LINE * len(_lines(box, width)) - (_LINE - _SIZE)


def _lines(box: Box, width: float) -> list[tuple[str, str]]:
    """The lines of a box, broken to its width, each with its kind."""
    room = width - 2 * _PAD
    title, n, *parts = box.text
    made = [(line, "title") for line in wrapped(title, room, _SIZE, bold=True)]
    if box.n is None:
        return made + [(line, "hint") for line in wrapped(n, room, _SMALL)]
    made += [(line, "title") for line in wrapped(n, room, _SIZE, bold=True)]
    for part in parts:
        made += [(line, "part") for line in wrapped(clean_text(part), room - 12, _SIZE)]
    return made


def _arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    # The head is drawn, not a marker: two drawings in one page would share its id.
    if x1 == x2:
        head = f"M{x2 - 4.5:g} {y2 - 8:g}L{x2:g} {y2:g}L{x2 + 4.5:g} {y2 - 8:g}z"
    else:
        head = f"M{x2 - 8:g} {y2 - 4.5:g}L{x2:g} {y2:g}L{x2 - 8:g} {y2 + 4.5:g}z"
    return (
        f'<path class="arrow" d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="{_RULE}"'
        f' stroke-width="1.25" fill="none"/><path class="head" d="{head}" fill="{_RULE}"/>'
    )


def _band(stage: str, top: float, bottom: float) -> str:
    middle = f"{_MARGIN + _BAND / 2 + 5:g} {(top + bottom) / 2:g}"
    return (
        f'<rect class="band" x="{_MARGIN}" y="{top:g}" width="{_BAND}" height="{bottom - top:g}"'
        f' rx="4" fill="{_SOFT}"/><text class="stage" transform="translate({middle}) rotate(-90)"'
        f' text-anchor="middle" font-weight="bold">{_escaped(stage)}</text>'
    )


def _escaped(text: str) -> str:
    return escape(_NO_XML.sub("", text))


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """The width of *text* in the unit of *size*, rather too much than too little."""
    return _in_units(_word_width(text), size, bold)


def wrapped(text: str, room: float, size: float, *, bold: bool = False) -> list[str]:
    """*text* in lines of at most *room*; only a word wider than that is broken inside.

    >>> wrapped("Reports not retrieved (n = 12)", 140, 14)
    ['Reports not', 'retrieved (n = 12)']
    """
    lines, width = [""], 0
    # "(n = 12)" belongs together.
    for word in text.replace("(n = ", "(n\xa0=\xa0").split(" "):
        whole = _in_units(_word_width(word), size, bold) <= room
        for piece in [word] if whole else _pieces(word, room, size, bold):
            longer = width + _WIDTH[" "] + _word_width(piece)
            if not lines[-1]:
                lines[-1], width = piece, _word_width(piece)
            elif _in_units(longer, size, bold) > room:
                lines.append(piece)
                width = _word_width(piece)
            else:
                lines[-1], width = f"{lines[-1]} {piece}", longer
    return [line.replace("\xa0", " ") for line in lines]


def _pieces(word: str, room: float, size: float, bold: bool) -> list[str]:
    pieces, width = [""], 0
    for letter in word:
        width += _letter_width(letter)
        if pieces[-1] and _in_units(width, size, bold) > room:
            pieces.append("")
            width = _letter_width(letter)
        pieces[-1] += letter
    return pieces


@lru_cache(maxsize=1000)  # a drawing lays the same words out for two widths, and twice for each
def _word_width(word: str) -> int:
    """The width of a word in thousandths of the type size."""
    return sum(map(_letter_width, word))


def _in_units(thousandths: int, size: float, bold: bool) -> float:
    return thousandths / 1000 * size * _RESERVE * (_BOLD if bold else 1)


def _letter_width(letter: str) -> int:
    if letter in _WIDTH:
        return _WIDTH[letter]
    if unicodedata.combining(letter):
        return 0
    return 1000 if unicodedata.east_asian_width(letter) in "WF" or letter == "\u2003" else 620
