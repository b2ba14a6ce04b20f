"""Read the lines of a PDF page, with each table inserted below its caption.

Runs only in the child process of `.child`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from .captions import CAPTION, TITLED
from .characters import PageCharacters
from .ciphers import CipherFonts
from .doubts import DoubtCollector
from .lines import LinePiece, get_printed_text, read_line_piece, read_page_pieces
from .tables import RebuiltTable, iterate_rebuilt_tables
from .words import DOTTED, PdfWord, build_upright_sheets

# With a caption, and without one.
_NOT_REBUILT = (
    "[The rows of Table {} could not be told apart; its words follow as text.]",
    "[Lines in columns without a caption could not be told apart; they follow as text.]",
)
_DOUBTFUL = (
    "[Cells of Table {} may be run together: some hold two numbers.]",
    "[Cells of this table without a caption may be run together: some hold two numbers.]",
)
_MANY = 20  # short lines
_SHORT = 0.35  # of the page's width: lines of two columns are longer


def read_page_lines(page: Any, doubts: DoubtCollector, ciphers: CipherFonts) -> list[LinePiece]:
    """Return the lines and tables of an open pypdfium2 page, in content-stream order.

    Doubtful letters of the page are added to *doubts*, and decoded fonts to *ciphers*.
    """
    text_page = page.get_textpage()
    try:
        characters = ciphers.read_decoded_characters(text_page.raw)
        doubts.add_page(characters)
        lines = [
            line for line in read_page_pieces(characters) if line.text and not _is_dotted_rule(line)
        ]
        if any(map(_can_begin_table_caption, lines)) or _can_contain_cells(lines, page.get_width()):
            sheets = build_upright_sheets(page, characters)
            tables = [table for sheet in sheets for table in iterate_rebuilt_tables(sheet)]
            doubted = (table for table in tables if table.doubtful or not table.rows)
            lost = (word for table in doubted for word in table.words)
            doubts.add_unplaced_letters(sum(len(word.text) for word in lost))
            return list(_insert_tables(characters, lines, tables)) if tables else lines
        return lines
    finally:
        text_page.close()


def _can_begin_table_caption(line: LinePiece) -> bool:
    """Return whether a table caption can begin in a line; PDFium joins vertical lines."""
    found = CAPTION.match(line.text)
    if found or line.upright:
        return bool(found and found["kind"] and TITLED.match(found["rest"]))
    return any(found["kind"] for found in CAPTION.finditer(line.text))


def _is_dotted_rule(line: LinePiece) -> bool:
    """Return whether a line is a rule made of dots."""
    return line.text[0] in "._\u2026-" and bool(DOTTED.fullmatch(line.text.replace(" ", "")))


def _can_contain_cells(lines: list[LinePiece], width: float) -> bool:
    """Return whether enough lines are short to be cells of a table without caption."""
    short = sum(line.right - line.left < _SHORT * width for line in lines)
    return short >= max(_MANY, len(lines) // 3)


def _insert_tables(
    page: PageCharacters, lines: list[LinePiece], tables: list[RebuiltTable]
) -> Iterator[LinePiece]:
    """Yield the lines outside tables, and each table at its caption."""
    taken = bytearray(len(page.text))
    for table in tables:
        for word in table.words if table.rows else ():
            taken[word.start : word.end] = b"\1" * (word.end - word.start)
    kept = [one for line in lines for one in _iterate_parts_outside_tables(page, line, taken)]
    below, (left, right) = _find_table_positions(kept, tables), _find_text_edges(kept)
    for table in below.get(-1, ()):
        yield from _iterate_table_lines(page, table, replace(lines[0], upright=True))
    for at, line in enumerate(kept):
        named = any(_is_line_in_caption(line, table) for table in tables)
        is_aside = not (named or line.upright) and (line.right <= left or line.left >= right)
        # Text that runs up an upright page is left out, but not where tables stand.
        shown = replace(line, kind="caption" if named else "text", upright=True)
        if not is_aside:
            yield shown
        for table in below.get(at, ()):
            yield from _iterate_table_lines(page, table, shown)


def _find_text_edges(lines: list[LinePiece]) -> tuple[float, float]:
    """Return the left and right end of an upright page's text."""
    upright = [line for line in lines if line.upright]
    if 2 * len(upright) < max(1, len(lines)):
        return float("-inf"), float("inf")
    return min(line.left for line in upright), max(line.right for line in upright)


def _find_table_positions(
    lines: list[LinePiece], tables: list[RebuiltTable]
) -> dict[int, list[RebuiltTable]]:
    """Return the tables by the index of the line after which each is inserted.

    Tables without a caption are inserted where they are printed.
    """
    below: dict[int, list[RebuiltTable]] = {}
    for table in tables:
        first = min((word.start for word in table.words), default=0)
        own = [at for at, line in enumerate(lines) if _is_line_in_caption(line, table)]
        own = own or [at for at, line in enumerate(lines) if line.span[0] < first]
        below.setdefault(own[-1] if own else -1, []).append(table)
    return below


def _is_line_in_caption(line: LinePiece, table: RebuiltTable) -> bool:
    return line.span[0] < table.caption[1] and table.caption[0] < line.span[1]


def _iterate_parts_outside_tables(
    page: PageCharacters, line: LinePiece, taken: bytearray
) -> Iterator[LinePiece]:
    """Yield the parts of a line that are outside all tables."""
    start, end = line.span
    if not any(taken[start:end]):
        yield line
        return
    solid = (at for at in range(start, end) if page.text[at] > " ")
    for is_taken, run in groupby(solid, key=lambda at: taken[at]):
        if not is_taken:
            places = list(run)
            part = read_line_piece(page, places[0], places[-1] + 1, line.row)
            if part.text:
                yield part


def _iterate_table_lines(
    page: PageCharacters, table: RebuiltTable, caption: LinePiece
) -> Iterator[LinePiece]:
    """Yield the table, after a remark if it is doubtful; only the remark if rebuilding failed."""
    row = -1 - (table.caption[0] if table.label else table.words[0].start)  # one of its own
    plain = replace(caption, row=row, font="", lead="", lead_font="", end_font="")
    if table.doubtful or not table.rows:
        labelled_remark, plain_remark = _DOUBTFUL if table.rows else _NOT_REBUILT
        remark = labelled_remark.format(table.label) if table.label else plain_remark
        yield replace(plain, text=remark, kind="remark", row=row - len(page.text))
    if table.rows:
        rows = tuple(
            tuple("\n".join(_join_printed_words(page, line) for line in cell) for cell in row)
            for row in table.rows
        )
        shown = replace(plain, text="", rows=rows, kind="table", label=table.label)
        yield replace(shown, columns=tuple(_iterate_column_edges(table)))


def _iterate_column_edges(table: RebuiltTable) -> Iterator[tuple[float, float]]:
    """Yield the start and end of each column, from the left edge of the table."""
    left = min(word.left for word in table.words)
    for cells in zip(*table.rows, strict=True):
        words = [word for cell in cells[1:] for line in cell for word in line] or [
            word for line in cells[0] for word in line
        ]
        yield (
            min((word.left for word in words), default=left) - left,
            max((word.right for word in words), default=left) - left,
        )


def _join_printed_words(page: PageCharacters, words: Sequence[PdfWord]) -> str:
    """Return words as printed, on one line."""
    texts = (
        get_printed_text(page, word.start, word.end, (page.get_font_face(word.start),))
        if word.start >= 0
        else word.text
        for word in words
    )
    return re.sub(r"\s+", " ", " ".join(texts)).strip()
