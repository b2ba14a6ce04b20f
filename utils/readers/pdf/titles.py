"""Titles of a PDF with words in another font: *Extracts of* O. sanctum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .headings import HEADING_WORDS, LABEL, Look, begins_like_title, guess_level
from .lines import Line, is_below, is_bold_font

_APART = 1.2  # of the distance of lines: more above it sets a title apart
_SHORTER = 2  # sizes: how far before the text below it a title ends


def unify_titles(lines: list[Line], look: Look, leading: float) -> Iterator[Line]:
    """Yield the lines, with titles that begin or end like other titles set throughout."""
    for at, line in enumerate(lines):
        font = _find_title_font(line, look)
        alone = font and 0 < at < len(lines) - 1 and _is_alone(lines, at, look, leading)
        yield replace(line, font=font, bold=is_bold_font(font), lead="") if alone else line


def _find_title_font(line: Line, look: Look) -> str:
    """Return the font in which a mixed line begins or ends, if titles have it."""
    if line.kind != "text" or line.holes or not line.lead_font:
        return ""
    fonts = (line.lead_font, line.end_font)
    titles = (font for font in fonts if look.is_display(replace(line, font=font, bold=False)))
    return next(titles, line.lead_font if is_bold_font(line.lead_font) else "")


def _is_alone(lines: list[Line], at: int, look: Look, leading: float) -> bool:
    """Return whether a line is apart from the text above, and ends before the text below."""
    above, line, below = lines[at - 1 : at + 2]
    step = above.top - line.top
    is_apart = step < 0 or step > _APART * leading or guess_level(above, look) > 0
    is_short = line.right < below.right - _SHORTER * line.size and line.left < below.right
    is_title = len(line.text.split()) <= HEADING_WORDS and not LABEL.match(line.text)
    ends = line.text.endswith((".", ",", ";", ":"))
    return (
        is_apart
        and is_short
        and is_title
        and is_below(line, below)
        and not ends
        and begins_like_title(line.text)
    )
