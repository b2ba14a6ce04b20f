"""Tables and fonts of LaTeXML's pages."""

from __future__ import annotations

import re
from typing import Final

from bs4.element import Tag

from .latexml_tree import classed

_FONTS: Final = {
    "ltx_font_bold": "b",
    "ltx_font_italic": "i",
    "ltx_emph": "i",
    "ltx_font_typewriter": "code",
}
_CELLS: Final = {"ltx_tabular": "table", "ltx_tr": "tr", "ltx_td": "td"}
_SPAN: Final = re.compile(r"ltx_(colspan|rowspan)_(\d{1,3})")


def set_tables(article: Tag) -> None:
    """Tables set in a line are made of spans; one in a cell only breaks its lines."""
    for table in classed(article, "ltx_tabular"):
        if table.find_parent(["td", "th"]) or table.find_parent(class_="ltx_td"):
            _dissolve(table)
            continue
        table.name = "table"
        for above in table.parents:
            if above is article:
                break
            if above.name in ("p", "span"):
                above.name = "div"
    for name, element in _CELLS.items():
        for tag in classed(article, name):
            tag.name = element if tag.name in ("span", "div") else tag.name
            for key, number in _SPAN.findall(" ".join(map(str, tag.get("class") or []))):
                tag[key] = number


def _dissolve(table: Tag) -> None:
    for part in [table, *table.find_all(["table", "tbody", "thead", "tr", "td", "th", "span"])]:
        part.name = "span"
        part["class"] = "ltx_inner"
        part.append(" ")


def set_fonts(article: Tag) -> None:
    """Bold, italic and typewriter as elements; a theorem's italics say nothing."""
    for name, element in _FONTS.items():
        for tag in classed(article, name):
            if tag.name not in ("span", "em"):
                continue
            in_theorem = element == "i" and tag.find_parent(class_="ltx_theorem") is not None
            is_code = element == "code"
            if in_theorem or (is_code and tag.find(True) is not None):
                tag.name = "span"
            elif tag.get_text().strip() and tag.find_parent(["h2", "h3", "h4", "pre"]) is None:
                tag.name = element
