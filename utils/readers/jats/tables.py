"""Convert the tables of an article to pipe tables, spans included.

A markdown table has one header row and no spans. So the rows of a ``thead`` are joined column by
column (``Dose / 5 mg``). A cell over several rows is repeated in each, so that every row can be
read alone; a cell over several columns of the body is put in the first of them. Without ``thead``,
the first row is the header only if all its cells are ``th``. Source: the HTML table model, as used
by JATS.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ...model.paper import TableGrid
from ..safe_xml import get_first_child, list_children
from .walk import HREF, Block, Element, MarkdownWalk, escape_cell, strip_bold, tidy_markdown_line

_WIDEST: Final = 400  # columns; a hostile colspan must not fill the memory
_LONGEST: Final = 5000  # rows a rowspan may reach
_REPEATED: Final = 500  # characters of a spanning cell that are worth repeating
_ADDED_IN_ALL: Final = 100_000  # cells that spans may add to a table
_REPEATED_IN_ALL = 200_000  # characters of a table; more is a bomb
_ITEM: Final = re.compile(r"^(> )?- ")
_SECTIONS: Final = ("thead", "tbody", "tfoot")


@dataclass(slots=True)
class _RenderedCell:
    text: str
    wide: int
    high: int
    is_header: bool


def write_table(el: Element, walk: MarkdownWalk) -> None:
    """Write a ``table`` (or the ``tbody`` of an ``array``) as a pipe table."""
    sections = _collect_cell_elements(el, walk)
    cells = [cell for rows in sections for row in rows for cell in row]
    if len(cells) < 2:  # a frame around text
        walk.write_content(cells[0] if cells else el, skip=CAPTION)
        return
    header, rows = _render_head_and_body(sections, walk)
    width = max((len(row) for row in [*header, *rows]), default=0)
    if not width or not any(text for row in [*header, *rows] for text in row):
        return
    lines = [_format_table_row(_join_header_rows(header, width), width), "|" + " --- |" * width]
    walk.add_block("\n".join(lines + [_format_table_row(row, width) for row in rows]))


def convert_table_to_grid(el: Element, walk: MarkdownWalk) -> TableGrid | None:
    """Return the cells of a ``table`` as *walk* writes them; None for a frame around text."""
    sections = _collect_cell_elements(el, walk)
    if sum(len(row) for rows in sections for row in rows) < 2:
        return None
    header, rows = _render_head_and_body(sections, walk)
    width = max((len(row) for row in [*header, *rows]), default=0)
    head, body = (tuple(tuple(_pad_row(row, width)) for row in part) for part in (header, rows))
    return TableGrid(head, body)


def _render_head_and_body(
    sections: list[list[list[Element]]], walk: MarkdownWalk
) -> tuple[list[list[str]], ...]:
    """Return the rows above the body, and the rows of body and foot, without empty rows."""
    head, body, foot = ([_render_cells(row, walk) for row in rows] for rows in sections)
    if not head:
        count = _count_header_rows(body)
        head, body = body[:count], body[count:]
    # Print rules tables with empty rows.
    return _expand_spans(head, fill=True), [
        row for row in _expand_spans(body) + _expand_spans(foot) if any(row)
    ]


def _count_header_rows(rows: list[list[_RenderedCell]]) -> int:
    """Return the number of header rows without ``thead``: 1 if the first row is all ``th``.

    Rows that its cells span, or that name the columns under its wide cells, belong to the header,
    too; at least one row must remain below it.
    """
    first_row = rows[0] if rows else []
    if not first_row or not all(cell.is_header for cell in first_row):
        return 0
    count = max(cell.high for cell in first_row)
    if count == 1 and len(rows) > 1 and any(cell.wide > 1 for cell in first_row):
        count += len(rows[1]) > 1
    is_head = all(cell.is_header for row in rows[1:count] for cell in row)
    return count if is_head and (count == 1 or count < len(rows)) else int(first_row[0].high == 1)


def _collect_cell_elements(el: Element, walk: MarkdownWalk) -> list[list[list[Element]]]:
    """Return the cell elements of head, body and foot row by row, in this order."""
    found: dict[str, list[list[Element]]] = {name: [] for name in _SECTIONS}
    for child in list_children(el):
        rows = [child] if child.tag == "tr" else child if child.tag in found else ()
        section = found.get(child.tag, found["tbody"])
        for row in rows:
            if cells := [cell for cell in list_children(row) if cell.tag in {"td", "th"}]:
                section.append(cells)
        if child.tag in {"caption", "title"}:
            walk.write_paragraph(walk.format_content(child))
    return [found[name] for name in _SECTIONS]


def _render_cells(cells: list[Element], walk: MarkdownWalk) -> list[_RenderedCell]:
    return [
        _RenderedCell(
            _format_table_cell(el, walk),
            _parse_span_attribute(el, "colspan", _WIDEST),
            _parse_span_attribute(el, "rowspan", _LONGEST),
            el.tag == "th",
        )
        for el in cells
    ]


def _parse_span_attribute(el: Element, name: str, most: int) -> int:
    value = el.get(name)
    if value is None or value == "1":
        return 1
    value = value.strip()
    return min(int(value), most) or 1 if value.isascii() and value.isdigit() else 1


def _format_table_cell(el: Element, walk: MarkdownWalk) -> str:
    if len(el) and not walk.block_of.keys().isdisjoint([child.tag for child in list_children(el)]):
        inside, walk.in_cell = walk.in_cell, True
        lines = "\n".join(walk.collect_blocks(el)).replace("$$", "$").split("\n")
        walk.in_cell = inside
        text = "<br>".join([_ITEM.sub(r"\1• ", line.strip()) for line in lines if line.strip()])
    else:
        text = tidy_markdown_line(walk.format_content(el))
        if text and walk.counting:
            walk.words += text.count(" ") + 1
    return escape_cell(text) if walk.is_markdown else text.replace("<br>", "; ")


def _expand_spans(rows: list[list[_RenderedCell]], fill: bool = False) -> list[list[str]]:
    """Return the cells at their places; with *fill*, a wide cell fills all its columns."""
    grid: list[list[str]] = []
    hanging: dict[int, tuple[int, str]] = {}  # column → rows still to fill, and with what
    spent, room = 0, _ADDED_IN_ALL
    for number, cells in enumerate(rows, 1):
        row: list[str] = []
        if room < 0:
            hanging.clear()
        for at, cell in enumerate(cells):
            if hanging:
                _fill_spanned_places(row, hanging)
            is_short = len(cell.text) <= _REPEATED
            for offset in range(cell.wide if room > 0 else 1):
                text = cell.text if not offset or (fill and is_short) else ""
                if cell.high > 1 and room > 0:
                    spent += len(text) * min(cell.high - 1, len(rows) - number)
                    again = text if is_short and spent <= _REPEATED_IN_ALL else ""
                    hanging[len(row)] = (cell.high - 1, again)
                row.append(text)
            if len(row) >= _WIDEST:
                rest = [later.text for later in cells[at + 1 :]]
                row[-1] = " ".join(filter(None, [row[-1], *rest]))
                break
        if hanging:
            _fill_spanned_places(row, hanging, to_the_end=True)
        room -= len(row) - len(cells)
        grid.append(row)
    return grid


def _fill_spanned_places(
    row: list[str], hanging: dict[int, tuple[int, str]], to_the_end: bool = False
) -> None:
    """Fill the places of a row that cells of earlier rows span."""
    last = max(hanging) if to_the_end else -1
    while len(row) in hanging or (to_the_end and len(row) <= last):
        left, text = hanging.pop(len(row), (0, ""))
        if left > 1:
            hanging[len(row)] = (left - 1, text)
        row.append(text)


def _join_header_rows(header: list[list[str]], width: int) -> list[str]:
    """Join several header rows: each column's distinct texts from top to bottom."""
    columns: list[str] = []
    for column in range(width):
        texts = [row[column] for row in header if column < len(row) and row[column]]
        columns.append(" / ".join(dict.fromkeys(texts)))
    return columns


def _format_table_row(row: list[str], width: int) -> str:
    return f"| {' | '.join(_pad_row(row, width))} |"


def _pad_row(row: list[str], width: int) -> list[str]:
    return row + [""] * (width - len(row))


def write_table_wrap(el: Element, walk: MarkdownWalk) -> None:
    """Write label, caption, tables and footnotes of a ``table-wrap``."""
    write_caption(el, walk)
    walk.write_content(el, skip=CAPTION)


CAPTION: Final = frozenset({"label", "caption", "title"})


def write_caption(el: Element, walk: MarkdownWalk) -> None:
    """Write ``**Table 1.**`` and the caption: title and first paragraph follow the label."""
    label = walk.format_line(get_first_child(el, "label")).strip("*")
    end = "" if label.endswith((".", ":")) else "."
    walk.write_unused_lead()
    walk.lead = f"**{label}{end}** " if label else ""
    for part in el.iterchildren("title"):
        walk.write_paragraph(strip_bold(walk.format_line(part)))
    for part in el.iterchildren("caption"):
        for title in part.iterchildren("title"):
            walk.write_paragraph(strip_bold(walk.format_line(title)))
        walk.write_content(part, skip={"title"})
    walk.write_unused_lead()


def _has_label_or_caption(holder: Element) -> bool:
    """Return whether a figure has a label, caption or title of its own."""
    return holder.tag == "fig" and any(get_first_child(holder, tag) is not None for tag in CAPTION)


def write_graphic(el: Element, walk: MarkdownWalk) -> None:
    """Write a picture: its description, or its file name if nothing else represents it."""
    before = len(walk.blocks)
    write_caption(el, walk)
    walk.write_content(el, skip=CAPTION)
    parent = el.getparent()
    holder = parent.getparent() if parent is not None and parent.tag == "alternatives" else parent
    if len(walk.blocks) == before and (holder is None or not _has_label_or_caption(holder)):
        name = walk.escape((el.get(HREF) or "").rpartition("/")[2])
        kind = "Table as an image" if holder is not None and holder.tag == "table-wrap" else "Image"
        walk.write_paragraph(f"[{kind}: {name}]" if name else "")


TABLE_BLOCK: dict[str, Block] = {
    "table-wrap": write_table_wrap,
    "table": write_table,
    "array": write_table,
    "graphic": write_graphic,
}
