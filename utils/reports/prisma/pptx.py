"""``prisma.pptx``: the flow as a slide whose boxes and arrows can be edited (extra ``figures``).

Arrows hang on their boxes: whoever moves a box moves them along.
"""

from __future__ import annotations

import io
from typing import Any

from ...errors import NotConfigured
from ...system.plain_text import clean_text
from .flow import TO_FILL, Flow
from .layout import INDENT, ITALIC, LINE, SIZE, SMALL, Arrow, Bar, PlacedBox, laid_out
from .svg import COLOURS, GREY_BOX

_EMU = 9525  # English Metric Units in a pixel, 914,400 in an inch
_POINT = 0.75  # in a pixel
_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
_TOP, _LEFT, _BOTTOM, _RIGHT = range(4)  # a rectangle's connection sites


def pptx(flow: Flow, title: str = "") -> bytes:
    """The presentation, of one slide as large as the drawing.

    Raises
    ------
    NotConfigured
        The extra is not installed.
    """
    try:
        from pptx import Presentation
    except ImportError as error:
        raise NotConfigured("A PPTX needs python-pptx.", "uv sync --extra figures") from error

    drawing = laid_out(flow)
    made = Presentation()
    made.slide_width, made.slide_height = _emu(drawing.width), _emu(drawing.height)
    made.core_properties.title = f"{flow.template}: {clean_text(title)[:120]}".rstrip(": ")
    slide = made.slides.add_slide(made.slide_layouts[6])  # the one without anything on it
    for bar in drawing.bars:
        _bar(slide, bar)
    shapes = {one.box.name: _box(slide, one) for one in drawing.boxes}
    for arrow in drawing.arrows:
        _arrow(slide, arrow, shapes)
    _notes(slide, flow, drawing.boxes, drawing.notes[0].y, drawing.width)
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def _emu(pixels: float) -> Any:
    from pptx.util import Emu

    return Emu(round(pixels * _EMU))


def _rgb(colour: str) -> Any:
    from pptx.dml import color

    colours: Any = color.RGBColor
    return colours.from_string(colour.removeprefix("#").upper())


def _shape(slide: Any, kind: Any, at: tuple[float, ...], colour: str) -> Any:
    """A shape with black text and a thin black rim."""
    from pptx.util import Pt

    shape = slide.shapes.add_shape(kind, *map(_emu, at))
    for effect in shape._element.iter(f"{{{_DRAWING}}}effectRef"):  # noqa: SLF001
        effect.set(
            "idx", "0"
        )  # without shadow, which LibreOffice draws in spite of `shadow.inherit`
    shape.fill.solid()
    shape.fill.fore_color.rgb = _rgb(colour)
    shape.line.color.rgb = _rgb("#000000")
    shape.line.width = Pt(_POINT)
    frame = shape.text_frame
    frame.word_wrap = True
    frame.margin_left = frame.margin_right = _emu(10)
    frame.margin_top = frame.margin_bottom = _emu(4)
    return shape


def _write(paragraph: Any, text: str, size: float, **look: bool) -> None:
    """Text into a paragraph, the template's italics in italics."""
    from pptx.util import Pt

    unbroken = clean_text(text).replace("(n = ", "(n\xa0=\xa0")
    before, italic, after = unbroken.partition(ITALIC)
    for words, slanted in ((before, False), (italic, True), (after, False)):
        if words:
            run = paragraph.add_run()
            run.text = words
            run.font.size, run.font.name = Pt(size * _POINT), "Arial"
            run.font.color.rgb = _rgb("#000000")
            run.font.bold = look.get("bold", False)
            run.font.italic = slanted or look.get("italic", False)


def _bar(slide: Any, bar: Bar) -> None:
    from pptx.enum.shapes import MSO_SHAPE
    from pptx.enum.text import MSO_ANCHOR, PP_ALIGN

    x, y, width, height = bar.x, bar.y, bar.width, bar.height
    turned = bar.look == "stage"
    if turned:  # drawn lying and turned about its middle, so that every program turns the text
        x, y = x + (width - height) / 2, y + (height - width) / 2
        width, height = height, width
    rounded = MSO_SHAPE.ROUNDED_RECTANGLE
    shape = _shape(slide, rounded, (x, y, width, height), COLOURS[bar.look])
    shape.rotation = 270 if turned else 0
    frame = shape.text_frame
    frame.vertical_anchor = MSO_ANCHOR.MIDDLE
    frame.paragraphs[0].alignment = PP_ALIGN.CENTER
    _write(frame.paragraphs[0], bar.text, SIZE, bold=True)


def _box(slide: Any, placed: PlacedBox) -> Any:
    from pptx.enum.dml import MSO_LINE
    from pptx.enum.shapes import MSO_SHAPE
    from pptx.enum.text import MSO_ANCHOR, PP_ALIGN

    colour = GREY_BOX if placed.grey else "#FFFFFF"
    at = (placed.x, placed.y, placed.width, placed.height)
    shape = _shape(slide, MSO_SHAPE.RECTANGLE, at, colour)
    shape.name = placed.box.name
    frame = shape.text_frame
    frame.vertical_anchor = MSO_ANCHOR.MIDDLE
    texts: list[tuple[str, int, bool]] = [(text, n, False) for text, n in placed.box.paragraphs]
    if not placed.box.known:
        shape.line.dash_style = MSO_LINE.DASH
        texts.append((TO_FILL, 0, True))
    for number, (text, level, hint) in enumerate(texts):
        paragraph = frame.add_paragraph() if number else frame.paragraphs[0]
        paragraph.alignment = PP_ALIGN.LEFT
        if level:  # a margin, so that a text's second line stands below its first
            properties = paragraph._p.get_or_add_pPr()  # noqa: SLF001
            properties.set("marL", str(_emu(INDENT * level)))
        _write(paragraph, text, SMALL if hint else SIZE, italic=hint)
    return shape


def _arrow(slide: Any, arrow: Arrow, shapes: dict[str, Any]) -> None:
    from lxml import etree
    from pptx.enum.shapes import MSO_CONNECTOR
    from pptx.util import Pt

    (x, y), (x2, y2) = arrow.points[0], arrow.points[-1]
    straight = len(arrow.points) == 2
    kind = MSO_CONNECTOR.STRAIGHT if straight else MSO_CONNECTOR.ELBOW
    line = slide.shapes.add_connector(kind, _emu(x), _emu(y), _emu(x2), _emu(y2))
    begins = _RIGHT if y == y2 else _BOTTOM
    ends = _TOP if x == x2 else _LEFT if x < x2 else _RIGHT
    line.begin_connect(shapes[arrow.start], begins)
    line.end_connect(shapes[arrow.end], ends)
    line.line.color.rgb = _rgb("#000000")
    line.line.width = Pt(_POINT)
    if not straight:
        _bend_once(line, x < x2)
    tail = etree.SubElement(line.line._get_or_add_ln(), f"{{{_DRAWING}}}tailEnd")  # noqa: SLF001
    tail.set("type", "triangle")


def _bend_once(line: Any, rightwards: bool) -> None:
    """Turn an elbow of three stretches into one of two, first down, then to the side.

    ``bentConnector2`` runs to the side first, then down (ECMA-376, presetShapeDefinitions.xml):
    it is turned by a quarter, and mirrored where it goes right.
    """
    geometry = line._element.spPr.find(f"{{{_DRAWING}}}prstGeom")  # noqa: SLF001
    geometry.set("prst", "bentConnector2")
    place = line._element.spPr.find(f"{{{_DRAWING}}}xfrm")  # noqa: SLF001
    for name in ("flipH", "flipV", "rot"):
        place.attrib.pop(name, None)
    offset, extent = place[0], place[1]
    x, y = int(offset.get("x")), int(offset.get("y"))
    width, height = int(extent.get("cx")), int(extent.get("cy"))
    # The frame is given as before turning about its middle.
    offset.set("x", str(x + (width - height) // 2))
    offset.set("y", str(y + (height - width) // 2))
    extent.set("cx", str(height))
    extent.set("cy", str(width))
    place.set("rot", "5400000" if not rightwards else "16200000")
    if rightwards:
        place.set("flipH", "1")


def _notes(slide: Any, flow: Flow, boxes: tuple[PlacedBox, ...], top: float, width: float) -> None:
    from .flow import AUTOMATION_NOTE, IDENTIFIED_NOTE, SOURCE

    left = min(box.x for box in boxes if box.box.column == "main")
    area = map(_emu, (left, top - SMALL, width - left, 3 * LINE))
    frame = slide.shapes.add_textbox(*area).text_frame
    frame.word_wrap = True
    frame.margin_left = frame.margin_top = 0
    remarks = [f"Note: {remark}" for remark in flow.remarks]
    for number, note in enumerate((IDENTIFIED_NOTE, AUTOMATION_NOTE, *remarks, SOURCE)):
        paragraph = frame.add_paragraph() if number else frame.paragraphs[0]
        _write(paragraph, note, SMALL)
