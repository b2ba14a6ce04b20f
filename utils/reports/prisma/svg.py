"""``prisma.svg``: the flow as a drawing that stands alone, needs no font of its own, and prints."""

from __future__ import annotations

import re
from html import escape

from ...system.plain_text import clean_text
from .flow import TO_FILL, Flow
from .layout import ITALIC, SIZE, SMALL, Arrow, Bar, Line, PlacedBox, laid_out

_INK, _PAPER = "#000000", "#ffffff"
COLOURS = {"main": "#ffc125", "grey": "#dcdcdc", "stage": "#bcd2ee"}
"""Of the bars: those of the templates, as the R package names them (Goldenrod1, Gainsboro)."""
GREY_BOX = "#f2f2f2"
_FONT = "Arial, Helvetica, 'Liberation Sans', sans-serif"
_STYLES = {
    "text": "",
    "hint": f' font-style="italic" font-size="{SMALL}"',
    "note": f' font-size="{SMALL}"',
}
_NO_XML = re.compile("[\ufffe\uffff]")


def svg(flow: Flow, title: str = "") -> str:
    """The drawing."""
    drawing = laid_out(flow)
    parts = [
        *map(_bar, drawing.bars),
        *map(_box, drawing.boxes),
        *map(_arrow, drawing.arrows),
        *map(_text, drawing.notes),
    ]
    summary = "; ".join(
        f"{count.words}: {count.n if count.n is not None else TO_FILL}" for count in flow.counts()
    )
    heading = f"{flow.template}{f': {clean_text(title)[:120]}' if title else ''}"
    width, height = drawing.width, drawing.height
    size = f'width="{width:g}" height="{height:g}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" {size}'
        f' role="img" aria-labelledby="prisma-title prisma-text"'
        f' font-family="{_FONT}" font-size="{SIZE}" fill="{_INK}">\n'
        f'<title id="prisma-title">{_escaped(heading)}</title>'
        f'<desc id="prisma-text">{_escaped(summary)}</desc>\n'
        f'<rect class="ground" {size} fill="{_PAPER}"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _box(placed: PlacedBox) -> str:
    known = placed.box.known
    kind = "known" if known else "empty"
    dash = "" if known else ' stroke-dasharray="5 4"'
    fill = GREY_BOX if placed.grey else _PAPER
    place = f'x="{placed.x:g}" y="{placed.y:g}"'
    size = f'width="{placed.width:g}" height="{placed.height:g}"'
    look = f'fill="{fill}" stroke="{_INK}" stroke-width="1"{dash}'
    drawn = [f'<rect class="{kind}" {place} {size} {look}/>', *map(_text, placed.lines)]
    return "\n".join(drawn)


def _text(line: Line) -> str:
    place = f'x="{line.x:g}" y="{line.y:g}"'
    words = _escaped(line.text)
    if ITALIC in words and line.style == "text":
        words = words.replace(ITALIC, f'<tspan font-style="italic">{ITALIC}</tspan>')
    return f'<text class="{line.style}" {place}{_STYLES[line.style]}>{words}</text>'


def _bar(bar: Bar) -> str:
    size = f'width="{bar.width:g}" height="{bar.height:g}" rx="8"'
    x, y = bar.x + bar.width / 2, bar.y + bar.height / 2
    turned = bar.look == "stage"
    place = f'transform="translate({x + 5:g} {y:g}) rotate(-90)"' if turned else ""
    place = place or f'x="{x:g}" y="{y + 5:g}"'
    return (
        f'<rect class="bar" x="{bar.x:g}" y="{bar.y:g}" {size} fill="{COLOURS[bar.look]}"'
        f' stroke="{_INK}" stroke-width="1"/><text class="on-bar" {place}'
        f' text-anchor="middle" font-weight="bold">{_escaped(bar.text)}</text>'
    )


def _arrow(arrow: Arrow) -> str:
    # The head is drawn, not a marker: two drawings in one page would share its id.
    way = "L".join(f"{x:g} {y:g}" for x, y in arrow.points)
    head = "L".join(f"{x:g} {y:g}" for x, y in head_of(arrow))
    return (
        f'<path class="arrow" d="M{way}" stroke="{_INK}" stroke-width="1.25" fill="none"/>'
        f'<path class="head" d="M{head}z" fill="{_INK}"/>'
    )


def head_of(arrow: Arrow) -> list[tuple[float, float]]:
    """The three corners of an arrow's head."""
    (x1, _), (x, y) = arrow.points[-2:]
    if x1 == x:
        return [(x - 4.5, y - 8), (x, y), (x + 4.5, y - 8)]
    back = x - 8 if x1 < x else x + 8
    return [(back, y - 4.5), (x, y), (back, y + 4.5)]


def _escaped(text: str) -> str:
    return escape(_NO_XML.sub("", text))
