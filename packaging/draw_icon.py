"""Draw the icon of the bundle: papers on a shelf, one of them checked.

``uv run packaging/draw_icon.py`` writes ``packaging/icon.png``, which is kept: a bundle is made
without drawing. Colours are those of the report (`utils/reports/templates/report.css`).
"""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw

SIDE = 512  # pixels, as hosts ask for
_FINER = 4  # drawn so many times larger, then made smaller: smooth edges
_GROUND, _BOARD, _PAPER, _INK = "#12726b", "#0c4f4a", "#fbfaf6", "#b9c9c4"
_AMBER, _VIOLET = "#e2ad4a", "#b39ddb"
_LEAN = 9  # degrees that the checked paper leans


def icon() -> Image.Image:
    """The icon, on a transparent ground."""
    image = Image.new("RGBA", (SIDE * _FINER, SIDE * _FINER))
    draw = ImageDraw.Draw(image)
    _box(draw, (0, 0, 512, 512), 112, _GROUND)
    _box(draw, (74, 130, 128, 392), 10, _AMBER)
    _box(draw, (138, 166, 186, 392), 10, _PAPER)
    _box(draw, (196, 146, 244, 392), 10, _VIOLET)
    for left, top in ((74, 160), (138, 196), (196, 176)):  # a band around each spine
        _box(draw, (left, top, left + (54 if left == 74 else 48), top + 16), 0, _GROUND)
    sheet = _sheet().rotate(-_LEAN, Image.Resampling.BICUBIC, expand=True)
    image.alpha_composite(sheet, (232 * _FINER, 96 * _FINER))
    _box(draw, (52, 392, 460, 420), 14, _BOARD)
    return image.resize((SIDE, SIDE), Image.Resampling.LANCZOS)


def _sheet() -> Image.Image:
    """The paper that was checked: lines of text, and a tick beneath."""
    sheet = Image.new("RGBA", (176 * _FINER, 266 * _FINER))
    draw = ImageDraw.Draw(sheet)
    _box(draw, (0, 0, 176, 266), 14, _PAPER)
    for row, length in enumerate((128, 112, 128, 84)):
        top = 30 + 26 * row
        _box(draw, (24, top, 24 + length, top + 11), 5, _INK)
    tick = [(46, 196), (78, 228), (136, 158)]
    points = [(x * _FINER, y * _FINER) for x, y in tick]
    draw.line(points, fill=_GROUND, width=24 * _FINER, joint="curve")
    for x, y in points:
        draw.circle((x, y), 12 * _FINER, fill=_GROUND)
    return sheet


def _box(draw: ImageDraw.ImageDraw, box: tuple[int, int, int, int], round_: int, fill: str) -> None:
    draw.rounded_rectangle([edge * _FINER for edge in box], round_ * _FINER, fill=fill)


if __name__ == "__main__":
    icon().save(Path(__file__).with_name("icon.png"), optimize=True)
