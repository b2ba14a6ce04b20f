"""Unify titles with words in another font: *Extracts of* O. sanctum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .headings import HEADING_WORDS, LABEL, Typography, guess_heading_level, starts_like_title
from .lines import LinePiece, is_bold_font_name, is_directly_below

_APART = 1.2  # of the distance of lines: more above it sets a title apart
_SHORTER = 2  # sizes: how far before the text below it a title ends


def unify_title_fonts(
    lines: list[LinePiece], look: Typography, leading: float
) -> Iterator[LinePiece]:
    """Yield the lines; a title that is partly in the title font is set entirely in it."""
    for at, line in enumerate(lines):
        font = _find_title_font(line, look)
        alone = font and 0 < at < len(lines) - 1 and _is_separate_line(lines, at, look, leading)
        yield replace(line, font=font, bold=is_bold_font_name(font), lead="") if alone else line


def _find_title_font(line: LinePiece, look: Typography) -> str:
    """Return the title font in which a line of mixed fonts begins or ends; else empty."""
    if line.kind != "text" or line.holes or not line.lead_font:
        return ""
    fonts = (line.lead_font, line.end_font)
    titles = (font for font in fonts if look.is_heading_style(replace(line, font=font, bold=False)))
    return next(titles, line.lead_font if is_bold_font_name(line.lead_font) else "")


def _is_separate_line(lines: list[LinePiece], at: int, look: Typography, leading: float) -> bool:
    """Return whether a line is apart from the text above, and ends before the text below."""
    above, line, below = lines[at - 1 : at + 2]
    step = above.top - line.top
    is_apart = step < 0 or step > _APART * leading or guess_heading_level(above, look) > 0
    is_short = line.right < below.right - _SHORTER * line.size and line.left < below.right
    is_title = len(line.text.split()) <= HEADING_WORDS and not LABEL.match(line.text)
    ends = line.text.endswith((".", ",", ";", ":"))
    return (
        is_apart
        and is_short
        and is_title
        and is_directly_below(line, below)
        and not ends
        and starts_like_title(line.text)
    )
