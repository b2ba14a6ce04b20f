"""Render ``prisma.svg``: a self-contained drawing of the flow that needs no embedded font."""

from __future__ import annotations

import re
from html import escape

from ...system.plain_text import clean_text
from .flow import TO_FILL, PrismaFlow
from .layout import ITALIC, SIZE, SMALL_SIZE, Arrow, PlacedBox, TextLine, TitleBar, compute_layout

_INK, _PAPER = "#000000", "#ffffff"
COLOURS = {"main": "#ffc125", "grey": "#dcdcdc", "stage": "#bcd2ee"}
"""Colours of the bars, as in the templates; the R package calls them Goldenrod1, Gainsboro."""
GREY_BOX = "#f2f2f2"
_FONT = "Arial, Helvetica, 'Liberation Sans', sans-serif"
_STYLES = {
    "text": "",
    "hint": f' font-style="italic" font-size="{SMALL_SIZE}"',
    "note": f' font-size="{SMALL_SIZE}"',
}
_INVALID_IN_XML = re.compile("[\ufffe\uffff]")


def render_svg(flow: PrismaFlow, title: str = "") -> str:
    """Render the flow as an SVG document."""
    drawing = compute_layout(flow)
    parts = [
        *map(_draw_bar, drawing.bars),
        *map(_draw_box, drawing.boxes),
        *map(_draw_arrow, drawing.arrows),
        *map(_draw_text, drawing.notes),
    ]
    summary = "; ".join(
        f"{count.words}: {count.n if count.n is not None else TO_FILL}"
        for count in flow.iterate_counts()
    )
    heading = f"{flow.template}{f': {clean_text(title)[:120]}' if title else ''}"
    width, height = drawing.width, drawing.height
    size = f'width="{width:g}" height="{height:g}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" {size}'
        f' role="img" aria-labelledby="prisma-title prisma-text"'
        f' font-family="{_FONT}" font-size="{SIZE}" fill="{_INK}">\n'
        f'<title id="prisma-title">{_escape_xml(heading)}</title>'
        f'<desc id="prisma-text">{_escape_xml(summary)}</desc>\n'
        f'<rect class="ground" {size} fill="{_PAPER}"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _draw_box(placed: PlacedBox) -> str:
    known = placed.box.is_complete
    kind = "known" if known else "empty"
    dash = "" if known else ' stroke-dasharray="5 4"'
    fill = GREY_BOX if placed.is_grey else _PAPER
    place = f'x="{placed.x:g}" y="{placed.y:g}"'
    size = f'width="{placed.width:g}" height="{placed.height:g}"'
    look = f'fill="{fill}" stroke="{_INK}" stroke-width="1"{dash}'
    drawn = [f'<rect class="{kind}" {place} {size} {look}/>', *map(_draw_text, placed.lines)]
    return "\n".join(drawn)


def _draw_text(line: TextLine) -> str:
    place = f'x="{line.x:g}" y="{line.y:g}"'
    words = _escape_xml(line.text)
    if ITALIC in words and line.style == "text":
        words = words.replace(ITALIC, f'<tspan font-style="italic">{ITALIC}</tspan>')
    return f'<text class="{line.style}" {place}{_STYLES[line.style]}>{words}</text>'


def _draw_bar(bar: TitleBar) -> str:
    size = f'width="{bar.width:g}" height="{bar.height:g}" rx="8"'
    x, y = bar.x + bar.width / 2, bar.y + bar.height / 2
    turned = bar.look == "stage"
    place = f'transform="translate({x + 5:g} {y:g}) rotate(-90)"' if turned else ""
    place = place or f'x="{x:g}" y="{y + 5:g}"'
    return (
        f'<rect class="bar" x="{bar.x:g}" y="{bar.y:g}" {size} fill="{COLOURS[bar.look]}"'
        f' stroke="{_INK}" stroke-width="1"/><text class="on-bar" {place}'
        f' text-anchor="middle" font-weight="bold">{_escape_xml(bar.text)}</text>'
    )


def _draw_arrow(arrow: Arrow) -> str:
    # The head is drawn, not a marker: two drawings in one page would share a marker's id.
    way = "L".join(f"{x:g} {y:g}" for x, y in arrow.points)
    head = "L".join(f"{x:g} {y:g}" for x, y in compute_arrow_head(arrow))
    return (
        f'<path class="arrow" d="M{way}" stroke="{_INK}" stroke-width="1.25" fill="none"/>'
        f'<path class="head" d="M{head}z" fill="{_INK}"/>'
    )


def compute_arrow_head(arrow: Arrow) -> list[tuple[float, float]]:
    """Return the three corners of an arrow's head."""
    (x1, _), (x, y) = arrow.points[-2:]
    if x1 == x:
        return [(x - 4.5, y - 8), (x, y), (x + 4.5, y - 8)]
    back = x - 8 if x1 < x else x + 8
    return [(back, y - 4.5), (x, y), (back, y + 4.5)]


def _escape_xml(text: str) -> str:
    return escape(_INVALID_IN_XML.sub("", text))
