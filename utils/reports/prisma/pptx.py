"""Render ``prisma.pptx``: a slide with editable boxes and arrows (extra ``figures``).

Arrows are attached to their boxes and move with them.
"""

from __future__ import annotations

import io
from typing import Any

from ...command_line import install_command
from ...errors import NotConfigured
from ...system.plain_text import clean_text
from .flow import TO_FILL, PrismaFlow
from .layout import (
    INDENT,
    ITALIC,
    LINE_HEIGHT,
    SIZE,
    SMALL_SIZE,
    Arrow,
    PlacedBox,
    TitleBar,
    compute_layout,
)
from .svg import COLOURS, GREY_BOX

_EMU = 9525  # English Metric Units in a pixel, 914,400 in an inch
_POINT = 0.75  # in a pixel
_DRAWING_NAMESPACE = "http://schemas.openxmlformats.org/drawingml/2006/main"
_TOP, _LEFT, _BOTTOM, _RIGHT = range(4)  # a rectangle's connection sites


def render_pptx(flow: PrismaFlow, title: str = "") -> bytes:
    """Render a presentation of one slide, as large as the drawing.

    Raises
    ------
    NotConfigured
        The extra is not installed.
    """
    try:
        from pptx import Presentation
    except ImportError as error:
        hint = f"Run: {install_command('figures')}"
        raise NotConfigured("A PPTX needs python-pptx.", hint) from error

    drawing = compute_layout(flow)
    made = Presentation()
    made.slide_width, made.slide_height = _to_emu(drawing.width), _to_emu(drawing.height)
    made.core_properties.title = f"{flow.template}: {clean_text(title)[:120]}".rstrip(": ")
    slide = made.slides.add_slide(made.slide_layouts[6])  # the blank layout
    for bar in drawing.bars:
        _add_bar(slide, bar)
    shapes = {box.box.name: _add_box(slide, box) for box in drawing.boxes}
    for arrow in drawing.arrows:
        _add_arrow(slide, arrow, shapes)
    _add_notes(slide, flow, drawing.boxes, drawing.notes[0].y, drawing.width)
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def _to_emu(pixels: float) -> Any:
    from pptx.util import Emu

    return Emu(round(pixels * _EMU))


def _to_rgb(colour: str) -> Any:
    from pptx.dml import color

    colours: Any = color.RGBColor
    return colours.from_string(colour.removeprefix("#").upper())


def _add_shape(slide: Any, kind: Any, at: tuple[float, ...], colour: str) -> Any:
    """Add a shape with a fill colour and a thin black border."""
    from pptx.util import Pt

    shape = slide.shapes.add_shape(kind, *map(_to_emu, at))
    for effect in shape._element.iter(f"{{{_DRAWING_NAMESPACE}}}effectRef"):  # noqa: SLF001
        effect.set("idx", "0")  # no shadow: LibreOffice draws it despite `shadow.inherit`
    shape.fill.solid()
    shape.fill.fore_color.rgb = _to_rgb(colour)
    shape.line.color.rgb = _to_rgb("#000000")
    shape.line.width = Pt(_POINT)
    frame = shape.text_frame
    frame.word_wrap = True
    frame.margin_left = frame.margin_right = _to_emu(10)
    frame.margin_top = frame.margin_bottom = _to_emu(4)
    return shape


def _add_text(paragraph: Any, text: str, size: float, **look: bool) -> None:
    """Add text to a paragraph, with the template's italics."""
    from pptx.util import Pt

    unbroken = clean_text(text).replace("(n = ", "(n\xa0=\xa0")
    before, italic, after = unbroken.partition(ITALIC)
    for words, slanted in ((before, False), (italic, True), (after, False)):
        if words:
            run = paragraph.add_run()
            run.text = words
            run.font.size, run.font.name = Pt(size * _POINT), "Arial"
            run.font.color.rgb = _to_rgb("#000000")
            run.font.bold = look.get("bold", False)
            run.font.italic = slanted or look.get("italic", False)


def _add_bar(slide: Any, bar: TitleBar) -> None:
    from pptx.enum.shapes import MSO_SHAPE
    from pptx.enum.text import MSO_ANCHOR, PP_ALIGN

    x, y, width, height = bar.x, bar.y, bar.width, bar.height
    turned = bar.look == "stage"
    if (
        turned
    ):  # drawn horizontally and rotated about its centre: then every program rotates the text
        x, y = x + (width - height) / 2, y + (height - width) / 2
        width, height = height, width
    rounded = MSO_SHAPE.ROUNDED_RECTANGLE
    shape = _add_shape(slide, rounded, (x, y, width, height), COLOURS[bar.look])
    shape.rotation = 270 if turned else 0
    frame = shape.text_frame
    frame.vertical_anchor = MSO_ANCHOR.MIDDLE
    frame.paragraphs[0].alignment = PP_ALIGN.CENTER
    _add_text(frame.paragraphs[0], bar.text, SIZE, bold=True)


def _add_box(slide: Any, placed: PlacedBox) -> Any:
    from pptx.enum.dml import MSO_LINE
    from pptx.enum.shapes import MSO_SHAPE
    from pptx.enum.text import MSO_ANCHOR, PP_ALIGN

    colour = GREY_BOX if placed.is_grey else "#FFFFFF"
    at = (placed.x, placed.y, placed.width, placed.height)
    shape = _add_shape(slide, MSO_SHAPE.RECTANGLE, at, colour)
    shape.name = placed.box.name
    frame = shape.text_frame
    frame.vertical_anchor = MSO_ANCHOR.MIDDLE
    texts: list[tuple[str, int, bool]] = [(text, n, False) for text, n in placed.box.paragraphs]
    if not placed.box.is_complete:
        shape.line.dash_style = MSO_LINE.DASH
        texts.append((TO_FILL, 0, True))
    for number, (text, level, hint) in enumerate(texts):
        paragraph = frame.add_paragraph() if number else frame.paragraphs[0]
        paragraph.alignment = PP_ALIGN.LEFT
        if level:  # a margin, so that a text's second line is aligned with its first
            properties = paragraph._p.get_or_add_pPr()  # noqa: SLF001
            properties.set("marL", str(_to_emu(INDENT * level)))
        _add_text(paragraph, text, SMALL_SIZE if hint else SIZE, italic=hint)
    return shape


def _add_arrow(slide: Any, arrow: Arrow, shapes: dict[str, Any]) -> None:
    from lxml import etree
    from pptx.enum.shapes import MSO_CONNECTOR
    from pptx.util import Pt

    (x, y), (x2, y2) = arrow.points[0], arrow.points[-1]
    straight = len(arrow.points) == 2
    kind = MSO_CONNECTOR.STRAIGHT if straight else MSO_CONNECTOR.ELBOW
    line = slide.shapes.add_connector(kind, _to_emu(x), _to_emu(y), _to_emu(x2), _to_emu(y2))
    begins = _RIGHT if y == y2 else _BOTTOM
    ends = _TOP if x == x2 else _LEFT if x < x2 else _RIGHT
    line.begin_connect(shapes[arrow.start], begins)
    line.end_connect(shapes[arrow.end], ends)
    line.line.color.rgb = _to_rgb("#000000")
    line.line.width = Pt(_POINT)
    if not straight:
        _set_single_bend(line, x < x2)
    tail = etree.SubElement(line.line._get_or_add_ln(), f"{{{_DRAWING_NAMESPACE}}}tailEnd")  # noqa: SLF001
    tail.set("type", "triangle")


def _set_single_bend(line: Any, rightwards: bool) -> None:
    """Change a connector of three segments into one of two: down, then sideways.

    ``bentConnector2`` runs to the side first, then down (ECMA-376, presetShapeDefinitions.xml).
    The connector is therefore rotated by 90 degrees, and mirrored if it goes right.
    """
    geometry = line._element.spPr.find(f"{{{_DRAWING_NAMESPACE}}}prstGeom")  # noqa: SLF001
    geometry.set("prst", "bentConnector2")
    place = line._element.spPr.find(f"{{{_DRAWING_NAMESPACE}}}xfrm")  # noqa: SLF001
    for name in ("flipH", "flipV", "rot"):
        place.attrib.pop(name, None)
    offset, extent = place[0], place[1]
    x, y = int(offset.get("x")), int(offset.get("y"))
    width, height = int(extent.get("cx")), int(extent.get("cy"))
    # The frame is stored as it is before the rotation about its centre.
    offset.set("x", str(x + (width - height) // 2))
    offset.set("y", str(y + (height - width) // 2))
    extent.set("cx", str(height))
    extent.set("cy", str(width))
    place.set("rot", "5400000" if not rightwards else "16200000")
    if rightwards:
        place.set("flipH", "1")


def _add_notes(
    slide: Any, flow: PrismaFlow, boxes: tuple[PlacedBox, ...], top: float, width: float
) -> None:
    from .flow import AUTOMATION_NOTE, IDENTIFIED_NOTE, SOURCE_NOTE

    left = min(box.x for box in boxes if box.box.column == "main")
    area = map(_to_emu, (left, top - SMALL_SIZE, width - left, 3 * LINE_HEIGHT))
    frame = slide.shapes.add_textbox(*area).text_frame
    frame.word_wrap = True
    frame.margin_left = frame.margin_top = 0
    remarks = [f"Note: {remark}" for remark in flow.remarks]
    for number, note in enumerate((IDENTIFIED_NOTE, AUTOMATION_NOTE, *remarks, SOURCE_NOTE)):
        paragraph = frame.add_paragraph() if number else frame.paragraphs[0]
        _add_text(paragraph, note, SMALL_SIZE)
