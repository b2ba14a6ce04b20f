"""HTML tables made rectangular, which is all markdown can say.

A cell that spans rows is repeated in each of them, and several header rows become one, so that a
row read alone, as a passage, still says which group and column its numbers belong to.
"""

from __future__ import annotations

import copy

from bs4.element import NavigableString, PageElement, Tag

from .tree import remove

_Cell = list[PageElement]
# Beyond these a span is an attack: no journal prints such a table.
_WIDEST, _LONGEST, _REPEATED_CHARS = 60, 2000, 200
_REPEATED_IN_ALL = 100_000  # characters of a table; more is a bomb
_CAPTION_CHARS = 20  # "Table 1." alone may stand anywhere
_NOTES_CHARS = 2000  # below a table; more is text
_LAYOUT_WORDS = 150  # a cell with this much prose is page layout


def reunite(root: Tag) -> None:
    """Put each table kept elsewhere, for a pop-up, and its notes where its caption stands."""
    tables: dict[str, Tag] = {}
    for caption in root.find_all("caption"):
        table = caption.find_parent("table")
        said = " ".join(caption.get_text().split())
        if table is not None and len(said) >= _CAPTION_CHARS:
            tables.setdefault(said, table)
    places: list[tuple[Tag, Tag]] = []
    for place in root.find_all(["p", "h2", "h3", "h4", "h5", "h6"]) if tables else []:
        said = " ".join(place.get_text().split())
        if said in tables and place.find_parent("table") is None:
            places.append((place, tables.pop(said)))
    notes = {id(table): _notes(table) for _, table in places}
    remove(node for _, table in places for node in (table, *notes[id(table)]))
    for place, table in places:
        place.clear()
        place.name = "div"
        for node in (table, *notes[id(table)]):
            place.append(node)


def _notes(table: Tag) -> list[PageElement]:
    """What stands below *table* in its box: what its signs mean, if the box has no other table."""
    if table.parent is None or len(table.parent.find_all("table", limit=2)) > 1:
        return []
    below = list(table.next_siblings)
    size = sum(len(node.get_text()) for node in below)
    return below if 0 < size <= _NOTES_CHARS else []


def square(table: Tag) -> None:
    """Make *table* one without spans; a table used for page layout dissolves into boxes."""
    rows = [row for row in table.find_all("tr") if row.find_parent("table") is table][:_LONGEST]
    if _is_layout(table, rows):
        for tag in [table, *table.find_all(["thead", "tbody", "tfoot", "tr", "td", "th"])]:
            if tag is table or tag.find_parent("table") in (table, None):
                tag.name = "div"
        return
    grid = _grid(rows)
    width = max((len(cells) for cells in grid), default=0)
    head = _head_rows(rows)
    lines = [_header(grid[:head], width)] if head else []
    caption = table.find("caption")
    table.clear()
    for number, cells in enumerate([*lines, *grid[head:]]):
        table.append(_row(cells, width, "th" if head and number == 0 else "td"))
    if caption is not None:
        table.append(caption)  # at the end: markdownify looks for the header on top


def _is_layout(table: Tag, rows: list[Tag]) -> bool:
    if table.get("role") == "presentation" or table.find(["table", "h1", "h2", "h3"]) is not None:
        return True
    cells = table.find_all(["td", "th"])
    filled = sum(1 for cell in cells if cell.get_text(strip=True))
    return filled <= 1 or (
        len(rows) <= 2 and any(len(cell.get_text(" ").split()) > _LAYOUT_WORDS for cell in cells)
    )


def _head_rows(rows: list[Tag]) -> int:
    """How many rows, from the top, are header."""
    in_head = sum(1 for row in rows if row.parent is not None and row.parent.name == "thead")
    if in_head or not rows:
        return in_head
    return int(all(cell.name == "th" for cell in rows[0].find_all(["td", "th"])))


def _grid(rows: list[Tag]) -> list[list[_Cell]]:
    """Every row's cells with all spans filled in."""
    grid: list[list[_Cell]] = []
    hanging: dict[int, tuple[int, _Cell]] = {}  # column: rows still to fill, with what
    spent = 0
    for number, row in enumerate(rows, 1):
        cells: list[_Cell] = []
        below: dict[int, tuple[int, _Cell]] = {}
        for cell in row.find_all(["td", "th"], recursive=False):
            _fill(cells, hanging, below)
            down = _span(cell, "rowspan", _LONGEST)
            for copied in range(min(_span(cell, "colspan", _WIDEST), _WIDEST - len(cells))):
                # A group's name across the whole width is said once, a header over each column.
                shown = list(cell.contents) if copied == 0 or cell.name == "th" else []
                if down > 1:
                    size = len(cell.get_text())
                    spent += size * min(down - 1, len(rows) - number)
                    short = size <= _REPEATED_CHARS and spent <= _REPEATED_IN_ALL
                    below[len(cells)] = (down - 1, shown if short else [])
                cells.append(shown)
        _fill(cells, hanging, below)
        hanging = below
        grid.append(cells)
    return grid


def _fill(
    cells: list[_Cell], hanging: dict[int, tuple[int, _Cell]], below: dict[int, tuple[int, _Cell]]
) -> None:
    """Put in what hangs down from the rows above."""
    while len(cells) in hanging:
        left, nodes = hanging.pop(len(cells))
        if left > 1:
            below[len(cells)] = (left - 1, nodes)
        cells.append(nodes)


def _span(cell: Tag, name: str, most: int) -> int:
    value = str(cell.get(name) or "1").strip()
    return max(1, min(most, int(value))) if value.isdecimal() and len(value) < 9 else 1


def _header(rows: list[list[_Cell]], width: int) -> list[_Cell]:
    """Several header rows as one: ``Dose / low``."""
    merged: list[_Cell] = []
    for column in range(width):
        said: list[str] = []
        nodes: _Cell = []
        for cells in rows:
            cell = cells[column] if column < len(cells) else []
            text = " ".join("".join(node.get_text() for node in cell).split())
            if text and text not in said:
                nodes += [NavigableString(" / "), *cell] if said else cell
                said.append(text)
        merged.append(nodes)
    return merged


def _row(cells: list[_Cell], width: int, name: str) -> Tag:
    row = Tag(name="tr")
    for column in range(width):
        cell = Tag(name=name)
        for node in cells[column] if column < len(cells) else ():
            cell.append(copy.copy(node))
        row.append(cell)
    return row
