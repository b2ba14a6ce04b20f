"""Text recognition for PDFs that are pictures of pages; with the extra ``ocr`` only.

The engine is RapidOCR with the models of PP-OCR (Apache 2.0), which come in its package: nothing is
fetched when it runs. Pages are rendered by PDFium and read one by one in a child process, each
within its own time, so that a page made to hang costs that page only. What is recognised are lines
with their places; `.layout` makes a text of them as of any PDF's.
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

from ..child_processes import ChildFailed, Children, serve_with
from .lines import Line, Page

__all__ = ["MOST_PAGES", "available", "recognise"]

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
CHILDREN = Children(__name__, most=1)


def available() -> bool:
    """Whether the extra ``ocr`` is installed."""
    return bool(find_spec("rapidocr") and find_spec("onnxruntime"))


def recognise(body: bytes, pages: int, deadline: float = _PAGE_S) -> dict[str, Any] | None:
    """Read the pictures of a PDF's pages, at most *deadline* seconds each.

    Returns
    -------
    dict or None
        As `.child.extract`, with ``confidence`` (the engine's mean, 0 to 1, by characters),
        ``engine`` and ``unread`` (numbers of pages that it gave up); None where it cannot run.
    """
    read: list[dict[str, Any]] = []
    try:
        for number in range(pages):
            try:
                read.append(CHILDREN.ask(_HEADER.pack(number) + body, deadline))
            except ChildFailed as error:
                log.warning("Page %d was not recognised: %s.", number + 1, error)
                read.append({})
    except RuntimeError:
        log.warning("Text recognition cannot run; is the extra `ocr` whole?", exc_info=True)
        return None
    finally:
        CHILDREN.stop_idle()  # it holds half a gigabyte
    return _text(read)


def _text(read: list[dict[str, Any]]) -> dict[str, Any]:
    """The pages as one text."""
    from .layout import largest_title, markdown_of, to_blocks

    found = [[Recognised(*row) for row in page.get("lines", ())] for page in read]
    heights = [line.bottom - line.top for lines in found for line in lines]
    usual = median(heights) if heights else 1.0
    sizes = [(page.get("width", 1.0), page.get("height", 1.0)) for page in read]
    pages = [
        Page(tuple(in_order(lines, width, height, usual)), width, height)
        for lines, (width, height) in zip(found, sizes, strict=True)
    ]
    title = largest_title(pages[0]) if pages and pages[0].lines else ""
    letters, sure = _letters(chain.from_iterable(found))
    return {
        "pages": len(read),
        "title": title,
        "markdown": markdown_of(title, to_blocks(pages, title)),
        "opening": "\n".join(line.text for page in pages[:2] for line in page.lines)[:20_000],
        "numbered": (0, 0),
        "confidence": sure / max(letters, 1),
        "doubts": {"pages": [_doubts(lines) for lines in found], "foreign": {}},
        "engine": f"rapidocr {metadata.version('rapidocr')}",
        "unread": [number for number, page in enumerate(read, 1) if "lines" not in page],
    }


def _letters(lines: Iterable[Recognised]) -> tuple[int, float]:
    """How many letters lines have, and how many of them the engine is sure of."""
    counted = [(len(line.text), line.confidence) for line in lines]
    return sum(count for count, _ in counted), sum(count * sure for count, sure in counted)


def _doubts(lines: Sequence[Recognised]) -> dict[str, Any]:
    """How sure the engine is of a page; not at all of one that it gave up or saw no word in."""
    letters, sure = _letters(lines)
    return {"letters": max(letters, 1), "recognised": sure / max(letters, 1)}


class Recognised(NamedTuple):
    """A line as the engine saw it, in points from the page's upper left corner."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    confidence: float


def in_order(
    found: Sequence[Recognised], width: float, height: float, usual: float
) -> Iterator[Line]:
    """The lines as those of a PDF, column by column; *usual* is how high a line is."""
    row, last = 0, None
    for line in _by_column(found, width):
        if (
            last is None
            or (line.top + line.bottom) / 2 > last.bottom
            or line.top < last.top - usual
        ):
            row += 1
        size = _size(line.bottom - line.top, usual)
        last = line
        yield Line(
            line.text, line.left, height - line.bottom, line.right, height - line.top, size, row
        )


def _size(height: float, usual: float) -> float:
    """The size of a line's letters, in steps: the box of one line is as high as its letters."""
    if _LOW * usual < height < _HIGH * usual:
        return usual
    return usual * _STEP ** round(math.log(max(height, 0.1) / usual, _STEP))


def _by_column(found: Sequence[Recognised], width: float, depth: int = 0) -> list[Recognised]:
    """Left column before right, between lines that cross both; columns may hold columns."""
    gutter = _gutter(found, width) if depth < _COLUMNS else 0.0
    if not gutter:
        return _rows(found)
    ordered: list[Recognised] = []
    sides: tuple[list[Recognised], list[Recognised]] = ([], [])
    for line in sorted(found, key=lambda line: line.top):
        if line.left < gutter < line.right:
            ordered += [*chain(*(_by_column(side, width, depth + 1) for side in sides)), line]
            sides = ([], [])
        else:
            sides[line.left >= gutter].append(line)
    return [*ordered, *chain(*(_by_column(side, width, depth + 1) for side in sides))]


def _rows(found: Sequence[Recognised]) -> list[Recognised]:
    """Row by row; lines that stand beside each other are of one."""
    ordered: list[Recognised] = []
    row: list[Recognised] = []
    for line in sorted(found, key=lambda line: line.top + line.bottom):
        if row and (line.top + line.bottom) / 2 > row[0].bottom:
            ordered += sorted(row, key=lambda line: line.left)
            row = []
        row.append(line)
    return [*ordered, *sorted(row, key=lambda line: line.left)]


def _gutter(found: Sequence[Recognised], width: float) -> float:
    """Where hardly any line crosses, between two columns of running text; 0 if nowhere.

    Lines of text are long; the cells of a table are not, and stay in their rows.
    """
    total = sum(len(line.text) for line in found)
    best, least = 0.0, _CROSSING * total
    for percent in range(12, 89):
        x = width * percent / 100
        left = [len(line.text) for line in found if line.right <= x]
        right = [len(line.text) for line in found if line.left >= x]
        crossing = total - sum(left) - sum(right)
        smaller = min(sum(left), sum(right))
        if smaller > _SIDE * total and crossing < least and _is_text(left) and _is_text(right):
            best, least = x, crossing
    return best


def _is_text(lengths: list[int]) -> bool:
    return len(lengths) >= _FEWEST and median(lengths) >= _LONG


# --- in the child ---------------------------------------------------------------------------------


def serve() -> None:
    """What the child runs."""
    engine: list[Any] = []

    def read(job: bytes) -> dict[str, Any]:
        if not engine:
            engine.append(make_engine())
        return read_page(job, engine[0])

    serve_with(read, _MEMORY, _SWOLLEN)


def make_engine() -> Any:
    """The engine with the models of its package, named one by one, so that none is looked for."""
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


def read_page(job: bytes, engine: Any) -> dict[str, Any]:
    """The lines of one page: text, left, top, right, bottom (points from above), confidence."""
    import pypdfium2

    [number] = _HEADER.unpack_from(job)
    page = pypdfium2.PdfDocument(job[_HEADER.size :])[number]
    width, height = page.get_size()
    scale = min(_DPI / 72, _LONGEST_SIDE / max(width, height, 1.0))
    found = engine(page.render(scale=scale, rev_byteorder=False).to_numpy())
    if found.txts is None:
        return {"lines": [], "width": width, "height": height}
    turned = _turned([[(float(x), float(y)) for x, y in box] for box in found.boxes])
    lines = [
        (said, *(value / scale for value in _bounds(box)), float(score))
        for said, box, score in zip(found.txts, turned, found.scores, strict=True)
        if said.strip()
    ]
    return {"lines": lines[:_MOST_LINES], "width": width, "height": height}


def _turned(boxes: list[Box]) -> list[Box]:
    """The boxes of a page that lay askew, straightened by how the widest of them lean."""
    wide = sorted(boxes, key=lambda box: box[0][0] - box[1][0])[: max(1, len(boxes) // 2)]
    leaning = median(math.atan2(b[1] - a[1], b[0] - a[0]) for a, b, *_ in wide)
    if abs(leaning) > _MOST_LEANING:
        return boxes
    cos, sin = math.cos(leaning), math.sin(leaning)
    return [[(x * cos + y * sin, y * cos - x * sin) for x, y in box] for box in boxes]


def _bounds(box: Box) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a quadrangle."""
    across, down = [point[0] for point in box], [point[1] for point in box]
    return min(across), min(down), max(across), max(down)
