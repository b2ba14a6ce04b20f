"""Recognise the text of scanned PDFs; only with the extra ``ocr``.

The engine is RapidOCR with the models of PP-OCR (Apache 2.0), which its package contains: nothing
is downloaded at run time. Pages are rendered by PDFium and read one by one in a child process, each
with its own time limit, so that a page that hangs is the only one lost. The result is lines with
positions; `.layout` converts them to text as for any PDF.
"""

from __future__ import annotations

import logging
import math
import struct
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from ..child_processes import ChildPool, ChildReadError, serve_jobs
from .lines import LinePiece, PageLines

__all__ = ["MOST_PAGES", "is_ocr_installed", "recognise_pages"]

log = logging.getLogger(__name__)
MOST_PAGES = 100
"""Of a document; more are a book, and an hour's work."""
_PAGE_S = 180.0  # seconds; a page of a journal takes 10 to 20 of a processor
_DPI = 150
_LONGEST_SIDE = 2000  # pixels, of whatever size a file says that its pages are
_DETECTED_SIDE = 960  # pixels in which lines are looked for; more finds no more
_MOST_LINES = 3000  # of a page
_THREADS = 4
_MEMORY = 6 << 30  # bytes of address space, most of which is never touched
_SWOLLEN = 1 << 30  # bytes of memory; a page takes half
_HEADER = struct.Struct("!I")
_CROSSING, _SIDE = 0.15, 0.08  # of a page's letters: that cross a gutter, that a column has
_FEWEST, _LONG = 4, 18  # lines of a column, and letters of the median one
_COLUMNS = 3  # how often a page is cut in two
# Of the usual height: a line without ascenders, one with exponents; from one size to the next.
_LOW, _HIGH, _STEP = 0.75, 1.35, 1.2
_MOST_LEANING = 0.1  # radians; more is a page on its side
Box = list[tuple[float, float]]
CHILDREN = ChildPool(__name__, most=1)


def is_ocr_installed() -> bool:
    """Return whether the extra ``ocr`` is installed."""
    return bool(find_spec("rapidocr") and find_spec("onnxruntime"))


def recognise_pages(body: bytes, pages: int, deadline: float = _PAGE_S) -> dict[str, Any] | None:
    """Recognise the text of a PDF's page images, with at most *deadline* seconds per page.

    Returns
    -------
    dict or None
        As `.child.read_pages_in_child`, with ``confidence`` (the mean of all characters, 0 to 1),
        ``engine`` and ``unread`` (the numbers of pages that failed); None if OCR cannot run.
    """
    read: list[dict[str, Any]] = []
    try:
        for number in range(pages):
            try:
                read.append(CHILDREN.read_in_idle_child(_HEADER.pack(number) + body, deadline))
            except ChildReadError as error:
                log.warning("Page %d was not recognised: %s.", number + 1, error)
                read.append({})
    except RuntimeError:
        log.warning("Text recognition cannot run. Reinstall the extra `ocr`.", exc_info=True)
        return None
    finally:
        CHILDREN.stop_idle_children()  # it holds half a gigabyte
    return _join_recognised_pages(read)


def _join_recognised_pages(read: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the pages as one text."""
    from .layout import build_text_blocks, find_largest_title, format_blocks_as_markdown

    found = [[RecognisedLine(*row) for row in page.get("lines", ())] for page in read]
    heights = [line.bottom - line.top for lines in found for line in lines]
    usual = median(heights) if heights else 1.0
    sizes = [(page.get("width", 1.0), page.get("height", 1.0)) for page in read]
    pages = [
        PageLines(tuple(sort_recognised_lines(lines, width, height, usual)), width, height)
        for lines, (width, height) in zip(found, sizes, strict=True)
    ]
    title = find_largest_title(pages[0]) if pages and pages[0].lines else ""
    letters, sure = _count_certain_letters(chain.from_iterable(found))
    return {
        "pages": len(read),
        "title": title,
        "markdown": format_blocks_as_markdown(title, build_text_blocks(pages, title)),
        "opening": "\n".join(line.text for page in pages[:2] for line in page.lines)[:20_000],
        "numbered": (0, 0),
        "confidence": sure / max(letters, 1),
        "doubts": {"pages": [_measure_page_doubts(lines) for lines in found], "foreign": {}},
        "engine": f"rapidocr {metadata.version('rapidocr')}",
        "unread": [number for number, page in enumerate(read, 1) if "lines" not in page],
    }


def _count_certain_letters(lines: Iterable[RecognisedLine]) -> tuple[int, float]:
    """Return the number of letters in lines, and how many are recognised with confidence."""
    counted = [(len(line.text), line.confidence) for line in lines]
    return sum(count for count, _ in counted), sum(count * sure for count, sure in counted)


def _measure_page_doubts(lines: Sequence[RecognisedLine]) -> dict[str, Any]:
    """Return the engine's confidence in a page; 0 for a page without words."""
    letters, sure = _count_certain_letters(lines)
    return {"letters": max(letters, 1), "recognised": sure / max(letters, 1)}


class RecognisedLine(NamedTuple):
    """A recognised line, in points from the page's upper left corner."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    confidence: float


def sort_recognised_lines(
    found: Sequence[RecognisedLine], width: float, height: float, usual: float
) -> Iterator[LinePiece]:
    """Yield the lines in the form of PDF lines, column by column; *usual* is the line height."""
    row, last = 0, None
    for line in _sort_by_columns(found, width):
        if (
            last is None
            or (line.top + line.bottom) / 2 > last.bottom
            or line.top < last.top - usual
        ):
            row += 1
        size = _estimate_letter_size(line.bottom - line.top, usual)
        last = line
        yield LinePiece(
            line.text, line.left, height - line.bottom, line.right, height - line.top, size, row
        )


def _estimate_letter_size(height: float, usual: float) -> float:
    """Return the rounded letter size; a line's box is as high as its letters."""
    if _LOW * usual < height < _HIGH * usual:
        return usual
    return usual * _STEP ** round(math.log(max(height, 0.1) / usual, _STEP))


def _sort_by_columns(
    found: Sequence[RecognisedLine], width: float, depth: int = 0
) -> list[RecognisedLine]:
    """Return the left column before the right one, between lines that cross both."""
    gutter = _find_column_gutter(found, width) if depth < _COLUMNS else 0.0
    if not gutter:
        return _merge_adjacent_lines(found)
    ordered: list[RecognisedLine] = []
    sides: tuple[list[RecognisedLine], list[RecognisedLine]] = ([], [])
    for line in sorted(found, key=lambda line: line.top):
        if line.left < gutter < line.right:
            ordered += [*chain(*(_sort_by_columns(side, width, depth + 1) for side in sides)), line]
            sides = ([], [])
        else:
            sides[line.left >= gutter].append(line)
    return [*ordered, *chain(*(_sort_by_columns(side, width, depth + 1) for side in sides))]


def _merge_adjacent_lines(found: Sequence[RecognisedLine]) -> list[RecognisedLine]:
    """Return the lines row by row; lines of one row are merged."""
    ordered: list[RecognisedLine] = []
    row: list[RecognisedLine] = []
    for line in sorted(found, key=lambda line: line.top + line.bottom):
        if row and (line.top + line.bottom) / 2 > row[0].bottom:
            ordered += sorted(row, key=lambda line: line.left)
            row = []
        row.append(line)
    return [*ordered, *sorted(row, key=lambda line: line.left)]


def _find_column_gutter(found: Sequence[RecognisedLine], width: float) -> float:
    """Return the position between two columns that hardly any line crosses; 0 without one.

    Lines of text are long; the cells of a table are short, and stay in their rows.
    """
    total = sum(len(line.text) for line in found)
    best, least = 0.0, _CROSSING * total
    for percent in range(12, 89):
        x = width * percent / 100
        left = [len(line.text) for line in found if line.right <= x]
        right = [len(line.text) for line in found if line.left >= x]
        crossing = total - sum(left) - sum(right)
        smaller = min(sum(left), sum(right))
        if (
            smaller > _SIDE * total
            and crossing < least
            and _is_text_column(left)
            and _is_text_column(right)
        ):
            best, least = x, crossing
    return best


def _is_text_column(lengths: list[int]) -> bool:
    return len(lengths) >= _FEWEST and median(lengths) >= _LONG


# --- in the child ---------------------------------------------------------------------------------


def serve() -> None:
    """Serve requests in the child process."""
    engine: list[Any] = []

    def read_job(job: bytes) -> dict[str, Any]:
        if not engine:
            engine.append(make_ocr_engine())
        return recognise_page(job, engine[0])

    serve_jobs(read_job, _MEMORY, _SWOLLEN)


def make_ocr_engine() -> Any:
    """Return an OCR engine with the models of its package, so that nothing is downloaded."""
    import os

    import rapidocr

    models = Path(rapidocr.__file__).parent / "models"
    [finder], [reader] = sorted(models.glob("*_det_*.onnx")), sorted(models.glob("*_rec_*.onnx"))
    threads = "EngineConfig.onnxruntime.intra_op_num_threads"
    return rapidocr.RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.use_cls": False,
            "Det.model_path": str(finder),
            "Rec.model_path": str(reader),
            "Det.limit_side_len": _DETECTED_SIDE,
            "Det.limit_type": "max",
            "Rec.rec_batch_num": 1,  # together, all lines become as wide as the widest
            threads: min(_THREADS, os.cpu_count() or 1),
        }
    )


def recognise_page(job: bytes, engine: Any) -> dict[str, Any]:
    """Recognise the lines of a page: text, left, top, right, bottom (points), confidence."""
    import pypdfium2

    [number] = _HEADER.unpack_from(job)
    page = pypdfium2.PdfDocument(job[_HEADER.size :])[number]
    width, height = page.get_size()
    scale = min(_DPI / 72, _LONGEST_SIDE / max(width, height, 1.0))
    found = engine(page.render(scale=scale, rev_byteorder=False).to_numpy())
    if found.txts is None:
        return {"lines": [], "width": width, "height": height}
    turned = _deskew_boxes([[(float(x), float(y)) for x, y in box] for box in found.boxes])
    lines = [
        (text, *(value / scale for value in _get_quadrangle_bounds(box)), float(score))
        for text, box, score in zip(found.txts, turned, found.scores, strict=True)
        if text.strip()
    ]
    return {"lines": lines[:_MOST_LINES], "width": width, "height": height}


def _deskew_boxes(boxes: list[Box]) -> list[Box]:
    """Return the boxes of a skewed page, rotated by the slope of the widest box."""
    wide = sorted(boxes, key=lambda box: box[0][0] - box[1][0])[: max(1, len(boxes) // 2)]
    leaning = median(math.atan2(b[1] - a[1], b[0] - a[0]) for a, b, *_ in wide)
    if abs(leaning) > _MOST_LEANING:
        return boxes
    cos, sin = math.cos(leaning), math.sin(leaning)
    return [[(x * cos + y * sin, y * cos - x * sin) for x, y in box] for box in boxes]


def _get_quadrangle_bounds(box: Box) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of a quadrangle."""
    across, down = [point[0] for point in box], [point[1] for point in box]
    return min(across), min(down), max(across), max(down)
