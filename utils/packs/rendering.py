"""Render a text on the shelf as a PDF, for a paper without one (extra ``render``).

Each page says that it is a rendering of the text and not the publisher's PDF, with the licence and
the source. The first page has the record, and the retraction of a retracted paper. The text has no
figures, and neither has the rendering.

ReportLab draws the pages: it is pure Python, and names the viewers' own fonts for Chinese, Japanese
and Korean, which need no file. Arimo has the letters of Latin, Greek and Cyrillic and most signs of
mathematics, in half a megabyte. Arabic and Hebrew are not set from right to left. A letter that no
font has is replaced by its plain form (NFKC), or else by a box. The same text makes the same bytes.
"""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from ..command_line import install_command
from ..errors import NotConfigured
from ..model.paper import StoredPaper
from ..model.versions import VERSION_NAMES
from ..outline.blocks import Block, iterate_blocks, split_block_items, strip_heading
from ..outline.words import strip_markup
from ..reports.labels import describe_license, get_route_label
from ..shelf import Shelf, strip_header
from ..shelf.paper_file import RETRACTED
from ..system.plain_text import clean_text, one_line
from ..system.safe_files import PRIVATE_FOLDER, make_folder, write_file
from .selection import HeldPdf

if TYPE_CHECKING:
    from reportlab.platypus import Flowable

MARK = "Rendering of the text, not the publisher’s PDF"
"""The words on each page."""
RENDERER_VERSION = 1
"""The version of the pages; a change of it prints every text again."""
_FONT = "Arimo"
# Fonts of the viewer, which PDF readers substitute, and the codecs of the letters that they have.
_VIEWER_FONTS = (
    ("STSong-Light", "gbk"),
    ("HeiseiMin-W3", "cp932"),
    ("HYSMyeongJo-Medium", "cp949"),
    ("MSung-Light", "big5"),
)
_MARGIN_PT, _FRAME_PADDING_PT = 54, 6
_TEXT_PT, _TABLE_PT, _NOTE_PT = 9.5, 7.5, 8
_HEADING_PT = (15, 12.5, 11, 10)
_MAX_COLUMNS = 8
_CJK_SHARE = 0.3  # of a paragraph, from which lines break between any two letters
_EMPHASIS = re.compile(r"[*`]+|(?<!\w)_+|_+(?!\w)|\\(?=[\W_])")
_FENCE = re.compile(r"(?:```|~~~).{0,40}")
_TABLE_RULE = re.compile(r"[\s|:-]+")
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_BOX = "□"
_LEAST_BYTES = 12_000  # a rendering with the fonts of a short text


def render_text_as_pdf(stored: StoredPaper, body: str) -> bytes:
    """Return a text as PDF; *body* is the text without the header of its file.

    Raises
    ------
    NotConfigured
        The packages of the extra ``render`` are not installed.
    """
    _register_fonts()
    from reportlab.platypus.doctemplate import LayoutError

    try:
        return _build_pdf(stored, body, with_tables=True)
    except LayoutError:  # a table that fits no page
        return _build_pdf(stored, body, with_tables=False)


def get_rendered_pdf(stored: StoredPaper, shelf: Shelf, *, dry_run: bool = False) -> HeldPdf:
    """Return the PDF rendering of a text; it is made once and then kept on the shelf.

    With *dry_run* nothing is made, and the size is an estimate.

    Raises
    ------
    NotConfigured
        The packages of the extra ``render`` are not installed.
    """
    _register_fonts()
    source = (stored.via, stored.version, stored.license, True)
    body = strip_header(shelf.read_text(stored))
    if dry_run:
        return HeldPdf(_LEAST_BYTES + len(body), bytes, *source)
    folder = shelf.folder / PRIVATE_FOLDER / "renderings"
    path = folder / f"{stored.sha256[:32]}-{RENDERER_VERSION}.pdf"
    if not path.is_file():
        make_folder(folder, 0o700)
        write_file(path, render_text_as_pdf(stored, body))
    return HeldPdf(path.stat().st_size, path.read_bytes, *source)


@cache
def _register_fonts() -> frozenset[int]:
    """Register the fonts, and return the code points that the embedded font has.

    Raises
    ------
    NotConfigured
        The packages of the extra ``render`` are not installed.
    """
    try:
        from reportlab.pdfbase import pdfmetrics
        from reportlab.pdfbase.cidfonts import UnicodeCIDFont
        from reportlab.pdfbase.ttfonts import TTFont

        folder = files("fontpkg_arimo") / "files"
    except ImportError as error:
        msg = f"A rendering needs a package that is not installed here: {error.name}."
        hint = f"Run: {install_command('render')}"
        raise NotConfigured(msg, hint) from None
    upright = next(file for file in folder.iterdir() if "Italic" not in file.name)
    font = TTFont(_FONT, io.BytesIO(upright.read_bytes()))
    pdfmetrics.registerFont(font)
    for name, _ in _VIEWER_FONTS:
        pdfmetrics.registerFont(UnicodeCIDFont(name))
    return frozenset(font.face.charToGlyph)


def _build_pdf(stored: StoredPaper, body: str, *, with_tables: bool) -> bytes:
    from reportlab.lib.pagesizes import A4
    from reportlab.platypus import SimpleDocTemplate

    out, paper = io.BytesIO(), stored.paper
    document = SimpleDocTemplate(
        out,
        pagesize=A4,
        title=one_line(paper.title),
        author=paper.author_names,
        subject=MARK,
        creator="Papershelf",
        invariant=1,
        **dict.fromkeys(("leftMargin", "rightMargin", "topMargin", "bottomMargin"), _MARGIN_PT),
    )
    width = A4[0] - 2 * _MARGIN_PT - 2 * _FRAME_PADDING_PT
    story = [
        *_build_first_page_head(stored),
        *_build_text_flowables(body, width, with_tables=with_tables),
    ]
    foot = " · ".join(_list_provenance_lines(stored))

    def draw_marks(canvas: Any, _: object) -> None:
        canvas.setFont(_FONT, _NOTE_PT)
        canvas.drawString(_MARGIN_PT, A4[1] - _MARGIN_PT + 14, MARK)
        page = f"{canvas.getPageNumber()} · {foot}"
        canvas.drawString(
            _MARGIN_PT, _MARGIN_PT - 22, "".join(map(_to_embedded_letter, page))[:120]
        )

    document.build(story, onFirstPage=draw_marks, onLaterPages=draw_marks)
    return out.getvalue()


def _list_provenance_lines(stored: StoredPaper) -> list[str]:
    """Return the lines printed on every page: licence, source and identifiers."""
    license_ = stored.license or describe_license("")[0]
    return [f"Licence: {license_}", f"Source: {get_route_label(stored.via)}", str(stored.paper.ids)]


def _build_first_page_head(stored: StoredPaper) -> Iterator[Flowable]:
    """Yield the head of the first page: the paper's record, and a note that this is a rendering."""
    from reportlab.platypus import HRFlowable

    paper = stored.paper
    yield _build_paragraph(paper.title, _HEADING_PT[0])
    where = f"{paper.journal or paper.journal_abbreviation} {paper.year}".strip()
    version = VERSION_NAMES.get(stored.version, "") if stored.version != "published" else ""
    lines = [
        paper.author_names,
        where,
        f"{MARK}: the words of the article as Papershelf keeps them, without its figures.",
        " · ".join(filter(None, (*_list_provenance_lines(stored), version))),
        stored.permissions.terms,
        RETRACTED if paper.retracted else "",
    ]
    yield from (_build_paragraph(line, _NOTE_PT) for line in lines if line)
    yield HRFlowable(width="100%", thickness=0.5, spaceBefore=6, spaceAfter=8)


def _build_text_flowables(body: str, width: float, *, with_tables: bool) -> Iterator[Flowable]:
    """Yield the headings, paragraphs, lists and tables of a text as ReportLab flowables."""
    for level, block in iterate_blocks(body, 0):
        text = body[block.start : block.end]
        if level:
            size = _HEADING_PT[min(level, len(_HEADING_PT)) - 1]
            yield _build_paragraph(strip_heading(text), size)
        elif block.kind == "table":
            yield from _build_table_flowables(body, block, width if with_tables else 0)
        elif block.kind == "list":
            for start, end in split_block_items(body, block):
                yield _build_paragraph(_strip_markdown(body[start:end]), _TEXT_PT, indent=12)
        elif block.kind == "code":
            lines = (line for line in text.splitlines() if not _FENCE.fullmatch(line.strip()))
            yield from (_build_paragraph(line, _TABLE_PT) for line in lines)
        else:
            yield _build_paragraph(_strip_markdown(text), _TEXT_PT)


def _build_table_flowables(body: str, block: Block, width: float) -> Iterator[Flowable]:
    """Yield a table; one with many columns, or without *width*, as a paragraph for each row."""
    from reportlab.platypus import LongTable, TableStyle

    lines = [body[start:end] for start, end in split_block_items(body, block)]
    rows = [
        [_strip_markdown(cell) for cell in _CELL_BORDER.split(line.strip().strip("|"))]
        for line in lines
        if not _TABLE_RULE.fullmatch(line)
    ]
    columns = max(map(len, rows), default=0)
    if not width or not 1 < columns <= _MAX_COLUMNS:
        yield from (_build_paragraph(" | ".join(row), _TABLE_PT) for row in rows)
        return
    filled = [[*row, *[""] * (columns - len(row))] for row in rows]
    cells = [[_build_paragraph(cell, _TABLE_PT) for cell in row] for row in filled]
    grid = [("GRID", (0, 0), (-1, -1), 0.25, "grey"), ("VALIGN", (0, 0), (-1, -1), "TOP")]
    yield LongTable(
        cells,
        colWidths=[width / columns] * columns,
        style=TableStyle(grid),
        splitInRow=1,
        spaceAfter=8,
    )


def _build_paragraph(text: str, size: float, *, indent: float = 0) -> Flowable:
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.platypus import Paragraph

    runs = [
        (font, "".join(letter for _, letter in group))
        for font, group in groupby(
            map(_choose_font_and_letter, clean_text(text)), lambda pair: pair[0]
        )
    ]
    letters = sum(len(run) for _, run in runs)
    unspaced = sum(len(run) for font, run in runs if font != _FONT)
    style = ParagraphStyle(
        "text",
        fontName=_FONT,
        fontSize=size,
        leading=size * 1.35,
        leftIndent=indent,
        spaceBefore=size if size > _TEXT_PT else 0,
        spaceAfter=size / 2,
        wordWrap="CJK" if unspaced > letters * _CJK_SHARE else None,
    )
    marked = (
        escape(run) if font == _FONT else f'<font name="{font}">{escape(run)}</font>'
        for font, run in runs
    )
    return Paragraph("".join(marked), style)


@cache
def _choose_font_and_letter(letter: str) -> tuple[str, str]:
    """Return the font for a letter, and the letter or its replacement."""
    known = _register_fonts()
    if ord(letter) in known or letter.isspace():
        return _FONT, " " if letter.isspace() else letter
    folded = unicodedata.normalize("NFKC", letter)
    if folded != letter and all(ord(part) in known for part in folded):
        return _FONT, folded
    for font, codec in _VIEWER_FONTS:
        if letter.encode(codec, "ignore"):
            return font, letter
    return _FONT, _BOX


def _to_embedded_letter(letter: str) -> str:
    """Return a letter if the embedded font has it, else a box."""
    font, shown = _choose_font_and_letter(letter)
    return shown if font == _FONT else _BOX


def _strip_markdown(text: str) -> str:
    """Return Markdown text without its marks, on one line."""
    return one_line(_EMPHASIS.sub("", strip_markup(text)))
