"""Convert an article's HTML to markdown, with corrections to markdownify's output.

markdownify 1.2 leaves ``|`` in cells unescaped, ignores ``rowspan``, lets ``javascript:`` links
through, drops sub- and superscripts and exceeds the recursion limit at about 400 nested boxes
(measured). Text that looks like a tag is escaped, so that no text of a page is executed in a
viewer.

Tables are made rectangular, because markdown has no spans. A cell that spans rows is repeated in
each of them, and several header rows become one, so that each row alone, as a passage, still shows
the group and column of its numbers.
"""

from __future__ import annotations

import copy
import re
from typing import Any

from bs4.element import NavigableString, PageElement, Tag
from markdownify import ATX, MarkdownConverter

from ...errors import BadContent
from ..jats.formulas import clean_tex_for_markdown, convert_mathml_to_latex, escape_tex_bars
from ..safe_xml import parse_untrusted_xml
from .links import PageLinks
from .tree import find_named_elements, list_elements, remove_nodes

_MAX_DEPTH = 90  # levels; each costs markdownify three of Python's thousand stack frames
_BLOCK_ELEMENT = re.compile(r"^(p|div|section|li|h[1-6]|tr|table|ul|ol|dl|figure|article)$")
_CellNodes = list[PageElement]
# A span beyond these limits is an attack: no journal prints such a table.
_WIDEST, _LONGEST, _REPEATED_CHARS = 60, 2000, 200
_REPEAT_TABLE_MAX_CHARS = 100_000  # characters of a table; more is a bomb
# A description in words for readers who do not see the formula; not TeX.
_SPOKEN_FORMULA = re.compile(r"\s*[A-Za-z]{2,}[ ,]+[A-Za-z]{2,}[ ,]+[A-Za-z]{2,}\b")
_CAPTION_ELEMENTS = ("p", "div", "h2", "h3", "h4", "h5", "h6")  # of a caption
_INLINE_ELEMENTS = frozenset(
    ("a", "abbr", "b", "cite", "em", "i", "span", "strong", "sub", "sup", "u")
)
_BOX_ELEMENTS = ["p", "div", "table", "section"]
_CAPTION_MIN_CHARS = 20  # "Table 1." alone may stand anywhere
_NOTES_MAX_CHARS = 2000  # below a table; more is text
_LAYOUT_MIN_WORDS = 150  # a cell with this much prose is page layout


class _ArticleConverter(MarkdownConverter):
    """A converter from HTML to markdown with the conventions of the shelf."""

    def __init__(self, links: PageLinks) -> None:
        super().__init__(
            heading_style=ATX,
            bullets="-",
            sub_symbol="<sub>",
            sup_symbol="<sup>",
            escape_underscores=False,
            autolinks=False,
            wrap=True,  # at no width: line breaks in the page's source mean nothing
            wrap_width=None,
        )
        self.links = links
        self.caption_above = ""  # the caption of the table that is being converted

    def process_tag(self, node: Tag, parent_tags: set[str] | None = None) -> str:
        """Convert an element; inline elements with plain text take a faster path."""
        converter: Any = super()  # which declares no types
        text = node.contents[0] if len(node.contents) == 1 else None
        if node.name not in _INLINE_ELEMENTS or not isinstance(text, NavigableString):
            return str(converter.process_tag(node, parent_tags))
        above = parent_tags or set()
        shown = str(converter.process_text(text, {*above, node.name}))
        convert = converter.get_conv_fn_cached(node.name)
        return str(convert(node, shown, above)) if convert else shown

    def escape(self, text: str, parent_tags: set[str]) -> str:
        """Escape characters that markdown would interpret as emphasis, tags or cell borders."""
        escaped = re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text.replace("*", r"\*"))
        return escaped.replace("|", r"\|") if {"td", "th"} & parent_tags else escaped

    def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Convert links to other pages; a link within the page becomes its text."""
        target = self.links.resolve_link(str(el.get("href") or ""))
        shown = text.strip()
        if not target or not shown or "_noformat" in parent_tags:
            return text
        before, _, after = text.partition(shown)
        return f"{before}[{shown}]({target}){after}"

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Remove pictures, except those with the text of a formula."""
        names = " ".join(
            [*(el.get("class") or []), str(el.parent.get("class") or "") if el.parent else ""]
        )
        alt = " ".join(str(el.get("alt") or "").split())
        wanted = re.search(r"math|equation|formula|\btex\b", names, re.I)
        return self.escape(alt, parent_tags) if wanted else ""

    def convert_li(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Convert a list item with its number, so that items are not counted repeatedly."""
        bullet = f"{el['data-number']}. " if "data-number" in el.attrs else "- "
        shown = re.sub(r"^(?=.)", " " * len(bullet), text.strip(), flags=re.M)
        return f"{bullet}{shown.lstrip()}\n" if shown else "\n"

    def convert_math(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Convert a formula to TeX: the page's own TeX, or else converted MathML."""
        notes = find_named_elements(el, ("annotation",))
        tex = next((tag for tag in notes if "tex" in str(tag.get("encoding")).lower()), None)
        spoken = str(el.get("alttext") or "")
        stated = (
            tex.get_text() if tex is not None else "" if _SPOKEN_FORMULA.match(spoken) else spoken
        )
        source = clean_tex_for_markdown(stated) or _convert_mathml_to_tex(el)
        if not source:
            return " ".join(text.split())
        if {"td", "th"} & parent_tags:
            return f"${escape_tex_bars(source)}$"
        return f"\n\n$${source}$$\n\n" if el.get("display") == "block" else f"${source}$"

    def convert_table(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Put the table's caption above the table."""
        caption, self.caption_above = self.caption_above, ""
        above = f"\n\n{caption}\n\n" if caption else "\n\n"
        return above + text.strip() + "\n\n"

    def convert_caption(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Store a caption, which `convert_table` writes above the table."""
        caption = " ".join(text.split())
        if el.parent is None or el.parent.name != "table":
            return f"\n\n{caption}\n\n"
        self.caption_above = caption
        return ""


def _convert_mathml_to_tex(math: Tag) -> str:
    """Convert MathML to TeX; empty if that is not possible."""
    try:
        return clean_tex_for_markdown(
            convert_mathml_to_latex(parse_untrusted_xml(str(math).encode()))
        )
    except (BadContent, RecursionError):
        return ""


def convert_to_markdown(root: Tag, links: PageLinks) -> str:
    """Convert *root* to markdown, with links resolved by *links*; this changes the tree."""
    move_tables_to_captions(root)
    for table in find_named_elements(root, ("table",)):
        expand_table_spans(table)
    for numbered in find_named_elements(root, ("ol",)):
        _insert_item_numbers(numbered)
    _flatten_deep_elements(root)
    try:
        text = str(_ArticleConverter(links).convert_soup(root))
    except RecursionError:
        text = _to_plain_text(root)
    return tidy_markdown(text)


def tidy_markdown(text: str) -> str:
    """Remove trailing spaces, repeated empty lines and control characters from markdown."""
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f\u200b\ufeff\xad]", "", text.replace("\r\n", "\n"))
    text = "\n".join(line.rstrip() for line in text.replace("\xa0", " ").split("\n"))
    text = re.sub(r"^(#{1,6} [^\n]*)\n(?!\n)", r"\1\n\n", text, flags=re.M)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def _insert_item_numbers(listed: Tag) -> None:
    """Insert the number of each item of an ordered list into the item's text."""
    start = str(listed.get("start") or "1")
    first = int(start) if start.isdecimal() and len(start) < 9 else 1
    for number, item in enumerate(listed.find_all("li", recursive=False), first):
        item["data-number"] = str(number)


def _flatten_deep_elements(root: Tag) -> None:
    """Convert elements nested deeper than in any real page to plain paragraphs."""
    depths = {id(root): 0}
    deep: list[Tag] = []
    for tag in list_elements(root):
        depth = depths[id(tag)] = depths[id(tag.parent)] + 1
        if depth == _MAX_DEPTH:
            deep.append(tag)
    for tag in deep:
        text = _to_plain_text(tag)
        tag.clear()
        tag.append(NavigableString(text))


def _to_plain_text(tag: Tag) -> str:
    """Return the text of *tag*, with a paragraph for each block."""
    pieces: list[str] = []
    for node in tag.descendants:
        if isinstance(node, Tag):
            pieces.append("\n\n" if _BLOCK_ELEMENT.match(node.name) else "")
        else:
            pieces.append(re.sub(r"<(?=[A-Za-z/!?])", "&lt;", str(node)))
    paragraphs = ("".join(pieces)).split("\n\n")
    return "\n\n".join(shown for text in paragraphs if (shown := " ".join(text.split())))


def move_tables_to_captions(root: Tag) -> None:
    """Move each table stored for a pop-up, with its notes, to its caption."""
    tables: dict[str, tuple[Tag, Tag]] = {}  # with their captions
    for table in root.find_all("table"):
        caption = table.find("caption") or table.find_previous_sibling(True)
        text = " ".join(caption.get_text().split()) if isinstance(caption, Tag) else ""
        if isinstance(caption, Tag) and _CAPTION_MIN_CHARS <= len(text) <= _NOTES_MAX_CHARS:
            tables.setdefault(text, (table, caption))
    places: list[tuple[Tag, Tag, Tag]] = []
    elements = list_elements(root) if tables else []
    holders = {id(tag.parent) for tag in elements if tag.name in _BOX_ELEMENTS}
    for place in [
        tag for tag in elements if tag.name in _CAPTION_ELEMENTS and id(tag) not in holders
    ]:
        text = " ".join(place.get_text().split()) if place.find(_BOX_ELEMENTS) is None else ""
        kept = tables.get(text)
        if kept is not None and place is not kept[1] and place.find_parent("table") is None:
            places.append((place, *tables.pop(text)))
    notes = {id(table): _find_table_notes(table) for _, table, _ in places}
    remove_nodes(node for _, table, _ in places for node in (table, *notes[id(table)]))
    for place, table, caption in places:
        if caption.name == "caption":
            place.clear()  # the table has it
        else:
            remove_nodes([caption])
        place.name = "div"
        for node in (table, *notes[id(table)]):
            place.append(node)


def _find_table_notes(table: Tag) -> list[PageElement]:
    """Return the nodes after *table* in its box, if the box has no other table."""
    if table.parent is None or len(table.parent.find_all("table", limit=2)) > 1:
        return []
    below = list(table.next_siblings)
    size = sum(len(node.get_text()) for node in below)
    return below if 0 < size <= _NOTES_MAX_CHARS else []


def expand_table_spans(table: Tag) -> None:
    """Repeat each spanned cell of *table* in every place; replace a layout table by its content."""
    rows = [row for row in table.find_all("tr") if row.find_parent("table") is table][:_LONGEST]
    if _is_layout_table(table, rows):
        for tag in [table, *table.find_all(["thead", "tbody", "tfoot", "tr", "td", "th"])]:
            if tag is table or tag.find_parent("table") in (table, None):
                tag.name = "div"
        return
    grid = _expand_rows_to_grid(rows)
    width = max((len(cells) for cells in grid), default=0)
    head = _count_header_rows(rows)
    lines = [_join_header_rows(grid[:head], width)] if head else []
    caption = table.find("caption")
    table.clear()
    for number, cells in enumerate([*lines, *grid[head:]]):
        table.append(_build_table_row(cells, width, "th" if head and number == 0 else "td"))
    if caption is not None:
        table.append(caption)  # at the end: markdownify looks for the header on top


def _is_layout_table(table: Tag, rows: list[Tag]) -> bool:
    """Return whether a table only lays out the page."""
    if table.get("role") == "presentation" or table.find(["table", "h1", "h2", "h3"]) is not None:
        return True
    cells = table.find_all(["td", "th"])
    filled = sum(1 for cell in cells if cell.get_text(strip=True))
    return filled <= 1 or (
        len(rows) <= 2
        and any(len(cell.get_text(" ").split()) > _LAYOUT_MIN_WORDS for cell in cells)
    )


def _count_header_rows(rows: list[Tag]) -> int:
    """Return the number of header rows at the top."""
    in_head = sum(1 for row in rows if row.parent is not None and row.parent.name == "thead")
    if in_head or not rows:
        return in_head
    return int(all(cell.name == "th" for cell in rows[0].find_all(["td", "th"])))


def _expand_rows_to_grid(rows: list[Tag]) -> list[list[_CellNodes]]:
    """Return the cells of every row, with all spans filled in."""
    grid: list[list[_CellNodes]] = []
    hanging: dict[int, tuple[int, _CellNodes]] = {}  # column: rows still to fill, with what
    spent = 0
    for number, row in enumerate(rows, 1):
        cells: list[_CellNodes] = []
        below: dict[int, tuple[int, _CellNodes]] = {}
        for cell in row.find_all(["td", "th"], recursive=False):
            _add_spans_from_above(cells, hanging, below)
            down = _parse_span_attribute(cell, "rowspan", _LONGEST)
            for copied in range(
                min(_parse_span_attribute(cell, "colspan", _WIDEST), _WIDEST - len(cells))
            ):
                # A group's name in the body is written once, a header over each column.
                shown = list(cell.contents) if copied == 0 or cell.name == "th" else []
                if down > 1:
                    size = len(cell.get_text())
                    spent += size * min(down - 1, len(rows) - number)
                    short = size <= _REPEATED_CHARS and spent <= _REPEAT_TABLE_MAX_CHARS
                    below[len(cells)] = (down - 1, shown if short else [])
                cells.append(shown)
        _add_spans_from_above(cells, hanging, below)
        hanging = below
        grid.append(cells)
    return grid


def _add_spans_from_above(
    cells: list[_CellNodes],
    hanging: dict[int, tuple[int, _CellNodes]],
    below: dict[int, tuple[int, _CellNodes]],
) -> None:
    """Add the cells that span down from the rows above."""
    while len(cells) in hanging:
        left, nodes = hanging.pop(len(cells))
        if left > 1:
            below[len(cells)] = (left - 1, nodes)
        cells.append(nodes)


def _parse_span_attribute(cell: Tag, name: str, most: int) -> int:
    """Return a cell's column or row span, at most *most*."""
    value = str(cell.get(name) or "1").strip()
    return max(1, min(most, int(value))) if value.isdecimal() and len(value) < 9 else 1


def _join_header_rows(rows: list[list[_CellNodes]], width: int) -> list[_CellNodes]:
    """Join several header rows into one: ``Dose / low``."""
    merged: list[_CellNodes] = []
    for column in range(width):
        texts: list[str] = []
        nodes: _CellNodes = []
        for cells in rows:
            cell = cells[column] if column < len(cells) else []
            text = " ".join("".join(node.get_text() for node in cell).split())
            if text and text not in texts:
                nodes += [NavigableString(" / "), *cell] if texts else cell
                texts.append(text)
        merged.append(nodes)
    return merged


def _build_table_row(cells: list[_CellNodes], width: int, name: str) -> Tag:
    """Return a table row of *width* cells named *name* (``td`` or ``th``)."""
    row = Tag(name="tr")
    for column in range(width):
        cell = Tag(name=name)
        for node in cells[column] if column < len(cells) else ():
            cell.append(copy.copy(node))
        row.append(cell)
    return row
