"""Render ``prisma.png``: the flow as an image, for programs without SVG (extra ``figures``)."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from ...command_line import install_command
from ...errors import NotConfigured
from .flow import PrismaFlow
from .layout import ITALIC, SIZE, SMALL_SIZE, Arrow, PlacedBox, TextLine, TitleBar, compute_layout
from .svg import COLOURS, GREY_BOX, compute_arrow_head

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

_SCALE = 3  # 288 dots per inch
# The first installed font is used. Each has Helvetica's widths or covers many scripts.
_FONTS = ("Arial", "LiberationSans", "Helvetica", "DejaVuSans", "NotoSans")
_WEIGHTS = {
    "": ("-Regular", ""),
    "bold": ("-Bold", " Bold", "_Bold"),
    "italic": ("-Italic", " Italic", "-Oblique"),
}


def render_png(flow: PrismaFlow) -> bytes:
    """Render the flow as a PNG image, with three pixels for each pixel of the SVG.

    Raises
    ------
    NotConfigured
        The extra is not installed.
    """
    try:
        from PIL import Image, ImageDraw
    except ImportError as error:
        raise NotConfigured("A PNG needs Pillow.", f"Run: {install_command('figures')}") from error

    drawing = compute_layout(flow)
    size = round(drawing.width * _SCALE), round(drawing.height * _SCALE)
    image = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(image)
    for bar in drawing.bars:
        _draw_bar(image, pen, bar)
    for box in drawing.boxes:
        _draw_box(pen, box)
    for arrow in drawing.arrows:
        _draw_arrow(pen, arrow)
    for note in drawing.notes:
        _draw_text(pen, note)
    out = io.BytesIO()
    image.save(out, "PNG", dpi=(96 * _SCALE, 96 * _SCALE), optimize=True)
    return out.getvalue()


def _load_font(size: float, weight: str = "") -> FreeTypeFont:
    """Load an installed font; else Pillow's own font, which has no bold or italic."""
    from PIL import ImageFont

    for family in _FONTS:
        for ending in _WEIGHTS[weight]:
            try:
                return ImageFont.truetype(f"{family}{ending}.ttf", size * _SCALE)
            except OSError:
                continue
    font = ImageFont.load_default(size * _SCALE)
    assert isinstance(font, ImageFont.FreeTypeFont)
    return font


def _to_pixels(*lengths: float) -> list[float]:
    return [length * _SCALE for length in lengths]


def _draw_bar(image: object, pen: ImageDraw, bar: TitleBar) -> None:
    from PIL import Image, ImageDraw

    corners = _to_pixels(bar.x, bar.y, bar.x + bar.width, bar.y + bar.height)
    pen.rounded_rectangle(corners, 8 * _SCALE, COLOURS[bar.look], "black", _SCALE)
    font = _load_font(SIZE, "bold")
    x, y = _to_pixels(bar.x + bar.width / 2, bar.y + bar.height / 2)
    if bar.look != "stage":
        pen.text((x, y), bar.text, "black", font, anchor="mm")
        return
    assert isinstance(image, Image.Image)
    turned = Image.new("L", (round(bar.height * _SCALE), round(bar.width * _SCALE)))
    place = turned.width / 2, turned.height / 2
    ImageDraw.Draw(turned).text(place, bar.text, 255, font, anchor="mm")
    upright = turned.rotate(90, expand=True)
    image.paste("black", (round(corners[0]), round(corners[1])), upright)


def _draw_box(pen: ImageDraw, placed: PlacedBox) -> None:
    x, y, right, bottom = _to_pixels(
        placed.x, placed.y, placed.x + placed.width, placed.y + placed.height
    )
    fill = GREY_BOX if placed.is_grey else "white"
    pen.rectangle(
        (x, y, right, bottom), fill, None if not placed.box.is_complete else "black", _SCALE
    )
    if not placed.box.is_complete:
        for start, end in (((x, y), (right, y)), ((right, y), (right, bottom)),
                           ((x, bottom), (right, bottom)), ((x, y), (x, bottom))):  # fmt: skip
            _draw_dashed_line(pen, start, end)
    for line in placed.lines:
        _draw_text(pen, line)


def _draw_dashed_line(pen: ImageDraw, start: tuple[float, float], end: tuple[float, float]) -> None:
    (x, y), (x2, y2) = start, end
    length, dash, gap = max(x2 - x, y2 - y), 5 * _SCALE, 4 * _SCALE
    at = 0.0
    while at < length:
        to = min(at + dash, length)
        if y == y2:
            pen.line((x + at, y, x + to, y), "black", _SCALE)
        else:
            pen.line((x, y + at, x, y + to), "black", _SCALE)
        at += dash + gap


def _draw_text(pen: ImageDraw, line: TextLine) -> None:
    size = SIZE if line.style == "text" else SMALL_SIZE
    at, base = _to_pixels(line.x, line.y)
    before, italic, after = line.text.partition(ITALIC)
    for words, weight in ((before, ""), (italic, "italic"), (after, "")):
        font = _load_font(size, "italic" if line.style == "hint" else weight)
        pen.text((at, base), words, "black", font, anchor="ls")
        at += font.getlength(words)


def _draw_arrow(pen: ImageDraw, arrow: Arrow) -> None:
    pen.line([tuple(_to_pixels(*point)) for point in arrow.points], "black", round(1.25 * _SCALE))
    pen.polygon([tuple(_to_pixels(*point)) for point in compute_arrow_head(arrow)], "black")
