"""What all laid out pages share: an article walked part by part, each written by its layout.

A layout is a class whose methods say how one publisher's pages look: class names and nesting as
real pages have them (learnt from public scrapers' selectors and from saved pages), and the
furniture around. The text comes from a recorded article, so the truth is known to the word.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from lxml import etree

from quality.layouts.manuscript import Manuscript, Reference, blocks_in, inline

_CITED = re.compile(r"<cite-mark>(.*?)</cite-mark>", re.S)
_CELLS = frozenset({"td", "th"})


class Layout:
    """A plain page; subclasses say what is different."""

    name = "plain"
    in_head = True  # whether the page's head names title, authors and DOI

    def __init__(self, paper: Manuscript) -> None:
        self.paper = paper
        self.figures = 0

    # -- what a layout says ---------------------------------------------------------------------
    def page(self) -> str:
        """Everything between <body> and </body>."""
        return f"<article><h1>{self.paper.title}</h1>{self.abstract()}{self.text()}</article>"

    def section(self, title: str, depth: int, inner: str) -> str:
        """A section with its heading."""
        level = min(depth + 1, 6)
        return f"<section><h{level}>{title}</h{level}>{inner}</section>"

    def paragraph(self, inner: str) -> str:
        """A paragraph."""
        return f"<p>{inner}</p>"

    def cite(self, shown: str, number: int) -> str:
        """A mark in the text that refers to an entry of the list."""
        return f'<a href="#ref{number}">{shown}</a>'

    def figure(self, label: str, caption: str) -> str:
        """A figure with its caption."""
        return f"<figure><img src='x.png'><figcaption>{label} {caption}</figcaption></figure>"

    def table(self, label: str, caption: str, rows: str, foot: str) -> str:
        """A table with its caption."""
        return f"<div><p>{label} {caption}</p><table>{rows}</table>{foot}</div>"

    def reference(self, entry: Reference) -> str:
        """An entry of the reference list."""
        return f"<li id='ref{entry.number}'>{entry.text}</li>"

    def reference_list(self, entries: str) -> str:
        """The reference list with its heading."""
        return f"<section><h2>References</h2><ol>{entries}</ol></section>"

    def abstract_box(self, inner: str, number: int) -> str:
        """An abstract with its heading."""
        return f"<section class='abstract'><h2>Abstract</h2>{inner}</section>"

    # -- the walk -------------------------------------------------------------------------------
    def document(self) -> str:
        """The whole page."""
        return (
            f"<!DOCTYPE html><html lang='en'><head>{self._head()}</head>"
            f"<body>{self.page()}</body></html>"
        )

    def _head(self) -> str:
        paper = self.paper
        title = html.escape(re.sub(r"<[^>]+>", "", paper.title), quote=True)
        made = [f"<meta charset='utf-8'><title>{title} | {paper.journal}</title>"]
        if self.in_head:
            told = [("title", title), ("doi", paper.doi), ("journal_title", paper.journal)]
            told += [("author", name) for name in paper.authors]
            made += [f'<meta name="citation_{key}" content="{said}">' for key, said in told]
        return "".join(made)

    def abstract(self) -> str:
        """All abstracts."""
        return "".join(
            self.abstract_box(self.blocks(el, 2), number)
            for number, el in enumerate(self.paper.abstracts)
        )

    def text(self) -> str:
        """Body, back matter and references."""
        made = self._written(self.paper.body, 1) + self._written(self.paper.back, 1)
        return made + self.bibliography()

    def bibliography(self) -> str:
        """The reference list, if there is one."""
        entries = "".join(self.reference(entry) for entry in self.paper.references)
        return self.reference_list(entries) if entries else ""

    def blocks(self, el: etree._Element, depth: int) -> str:
        """Everything in *el* but its title."""
        return self._written([child for child in el if child.tag not in {"title", "label"}], depth)

    def _written(self, elements: Iterable[etree._Element], depth: int) -> str:
        return "".join(self._block(el, depth) for el in elements if isinstance(el.tag, str))

    def _block(self, el: etree._Element, depth: int) -> str:
        writer = getattr(self, f"_write_{el.tag.replace('-', '_')}", None)
        return writer(el, depth) if writer else ""

    def prose(self, el: etree._Element | None) -> str:
        """Running text with this layout's citation marks."""
        return _CITED.sub(lambda mark: self.cite(mark[1], self._number(mark[1])), inline(el))

    def _number(self, shown: str) -> int:
        found = re.search(r"\d{1,3}", shown)
        return int(found[0]) if found else 1

    def _write_sec(self, el: etree._Element, depth: int) -> str:
        label = el.findtext("label") or ""
        title = f"{label} {self.prose(el.find('title'))}".strip()
        inner = self.blocks(el, depth + 1)
        return self.section(title, depth, inner) if title else inner

    def _write_ack(self, el: etree._Element, depth: int) -> str:
        title = self.prose(el.find("title")) or "Acknowledgements"
        return self.section(title, depth, self.blocks(el, depth + 1))

    def _write_p(self, el: etree._Element, depth: int) -> str:
        said = self.prose(el).strip()
        return (self.paragraph(said) if said else "") + self._written(blocks_in(el), depth)

    def _write_list(self, el: etree._Element, depth: int) -> str:
        items = "".join(f"<li>{self.blocks(item, depth)}</li>" for item in el.findall("list-item"))
        return f"<ul>{items}</ul>"

    def _write_disp_quote(self, el: etree._Element, depth: int) -> str:
        return f"<blockquote>{self.blocks(el, depth)}</blockquote>"

    def _write_boxed_text(self, el: etree._Element, depth: int) -> str:
        return f"<div class='boxed-text'>{self.blocks(el, depth)}</div>"

    def _write_fig_group(self, el: etree._Element, depth: int) -> str:
        return self.blocks(el, depth)

    def _caption(self, el: etree._Element) -> tuple[str, str]:
        parts = [part for caption in el.findall("caption") for part in caption.iter("title", "p")]
        return self.prose(el.find("label")), " ".join(self.prose(part) for part in parts)

    def _write_fig(self, el: etree._Element, _depth: int) -> str:
        self.figures += 1
        return self.figure(*self._caption(el))

    def _write_supplementary_material(self, el: etree._Element, _depth: int) -> str:
        label, caption = self._caption(el)
        return self.paragraph(f"{label} {caption}".strip())

    def _write_table_wrap(self, el: etree._Element, _depth: int) -> str:
        label, caption = self._caption(el)
        rows = "".join(self._row(row) for row in el.iter("tr"))
        notes = [part for foot in el.findall("table-wrap-foot") for part in foot.iter("p")]
        foot = "".join(f"<p>{self.prose(note)}</p>" for note in notes)
        return self.table(label, caption, rows, foot)

    def _row(self, row: etree._Element) -> str:
        cells = (el for el in row if el.tag in _CELLS)
        return "<tr>" + "".join(self._cell(el) for el in cells) + "</tr>"

    def _cell(self, el: etree._Element) -> str:
        spans = "".join(f' {key}="{el.get(key)}"' for key in ("rowspan", "colspan") if el.get(key))
        inner = self.prose(el) + "".join(self.prose(block) for block in blocks_in(el))
        return f"<{el.tag}{spans}>{inner}</{el.tag}>"
