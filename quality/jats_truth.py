"""What is in a JATS article, read without the reader that is being judged.

Text is compared in pieces: a formula, a cross-reference without words, a footnote mark or a block
inside a paragraph cuts it, because how these are written is the converter's choice. All pieces of
a paragraph must be found one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from functools import cached_property

from lxml import etree

from quality.measures import plain

BLOCKS = frozenset(
    (
        "p", "list", "def-list", "table-wrap", "table", "fig", "fig-group", "disp-formula",
        "disp-formula-group", "disp-quote", "boxed-text", "supplementary-material", "media",
        "graphic", "preformat", "code", "verse-group", "statement", "speech", "array",
        "chem-struct-wrap", "sec",
    )
)  # fmt: skip
FORMULAS = frozenset({"inline-formula", "disp-formula", "math", "tex-math"})
SILENT = frozenset(
    (
        "fn", "object-id", "index-term", "institution-id", "alt-text", "long-desc", "sec-meta",
        "processing-meta",
    )
)  # fmt: skip
CUT = FORMULAS | BLOCKS | {"inline-graphic", "alternatives"}
CAPTIONED = ("fig", "table-wrap", "supplementary-material", "media", "boxed-text", "fig-group")
_NUMBERS_OF_REFERENCES = frozenset({"pub-id", "ext-link", "uri", "object-id", "comment"})
_BREAK = "\0"
_ENDED = frozenset({"label", "term", "table-wrap-foot"})  # converters put signs of their own here
_TABLE_PARTS = ("thead", "tbody", "tfoot")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell at the row and column of its upper left corner.

    ``head`` says it is in a ``thead``; ``free`` that something stands in it which a converter may
    write as it likes, so that more than the pieces may be found.
    """

    row: int
    column: int
    pieces: tuple[str, ...]
    formulas: int
    head: bool
    free: bool


@dataclass(frozen=True, slots=True)
class Caption:
    """A label with the texts of its caption."""

    label: str
    texts: tuple[tuple[str, ...], ...]


@dataclass
class Truth:
    """The article: every list in document order."""

    body: bytes
    tree: etree._Element = field(init=False)

    def __post_init__(self) -> None:
        parser = etree.XMLParser(
            remove_comments=True, remove_pis=True, resolve_entities=False, load_dtd=False
        )
        self.tree = etree.fromstring(self.body, parser)
        for el in self.tree.iter("{*}*"):
            el.tag = name(el)

    @cached_property
    def paragraphs(self) -> list[tuple[str, ...]]:
        """Paragraphs of all bodies, those of tables and captions left out."""
        return [
            cut
            for place in self.tree.iter("body")
            for el in place.iter("p")
            if not _inside(el, {"caption", "td", "th", "table-wrap", "fn"}) and (cut := pieces(el))
        ]

    @cached_property
    def captions(self) -> list[Caption]:
        """Captions of figures, tables, boxes and files."""
        found = []
        for el in self._places(*CAPTIONED):
            label = plain(_all_text(el.find("label")))
            parts = [
                part for caption in el.findall("caption") for part in caption.iter("title", "p")
            ]
            texts = tuple(cut for part in parts if (cut := pieces(part)))
            if texts:
                found.append(Caption(label, texts))
        return found

    @cached_property
    def tables(self) -> list[list[Cell]]:
        """Tables of at least two cells, spans resolved."""
        tables = (cells_of(el) for el in self._places("table") if el.find(".//td//table") is None)
        return [cells for cells in tables if len(cells) > 1]

    @cached_property
    def references(self) -> list[str]:
        """The longest text of every entry of the article's own reference lists."""
        found = []
        for el in self.tree.iter("ref"):
            if not _inside(el, {"sub-article", "response"}):
                parts = [part for part in el.iter() if part.tag not in _NUMBERS_OF_REFERENCES]
                found.append(max((plain(part.text or "") for part in parts), key=len))
        return found

    @cached_property
    def formulas(self) -> list[tuple[str, int, str]]:
        """(text before, number of neighbouring formulas, text after), outside of tables."""
        found: list[tuple[str, int, str]] = []
        for place in self.tree.iter("body"):
            stream = list(_stream(place))
            texts, counts = [""], []
            for part in stream:
                if part is None and texts[-1] == "" and counts:
                    counts[-1] += 1
                elif part is None:
                    counts.append(1)
                    texts.append("")
                else:
                    texts[-1] += part
            found += [
                (
                    texts[at].rpartition(_BREAK)[2][-40:],
                    count,
                    texts[at + 1].partition(_BREAK)[0][:40],
                )
                for at, count in enumerate(counts)
            ]
        return found

    @cached_property
    def main_text(self) -> str:
        """Body text with headings and captions, without tables, which are scored by themselves."""
        parts = [*self.tree.findall("body"), *self.tree.findall("floats-group")]
        return " ".join(_prose(el, leave_out={"table", *SILENT}) for el in parts)

    @cached_property
    def whole_text(self) -> str:
        """Every word of the article, sub-articles and metadata included."""
        return _prose(self.tree)

    @cached_property
    def running_text(self) -> str:
        """Paragraphs of the main body only, formulas left out: what a column of a PDF says."""
        return " ".join(self.running_paragraphs)

    @cached_property
    def running_paragraphs(self) -> list[str]:
        """The paragraphs of the running text."""
        body = self.tree.find("body")
        found = [] if body is None else body.iter("p")
        return [
            _prose(el, leave_out=FORMULAS)
            for el in found
            if not _inside(el, {"caption", "td", "th", "table-wrap", "fn", "p", "boxed-text"})
        ]

    @cached_property
    def abstract(self) -> str:
        """All abstracts."""
        return " ".join(_prose(el) for el in self.tree.iterfind("front//abstract"))

    def titles(self, *places: str) -> list[str]:
        """Titles of the sections in these parts of the article."""
        return [
            _all_text(el)
            for place in places
            for part in self.tree.iterfind(place)
            for el in part.iter("title")
            if (parent := el.getparent()) is not None and parent.tag not in {"caption", "list"}
        ]

    def _places(self, *tags: str) -> Iterator[etree._Element]:
        for place in self.tree.iter("body", "floats-group", "back"):
            yield from place.iter(*tags)


def name(el: etree._Element) -> str:
    """The tag without namespace."""
    return el.tag.rpartition("}")[2] if isinstance(el.tag, str) else ""


def pieces(el: etree._Element) -> tuple[str, ...]:
    """The element's text in plain characters, cut where the converter may write what it likes."""
    made: list[str] = [""]

    def walk(node: etree._Element) -> None:
        made[-1] += node.text or ""
        for child in node:
            if child.tag in CUT or (child.tag == "xref" and not _all_text(child).strip()):
                made.append("")
            elif child.tag in {"break", "hr"}:
                made[-1] += " "
            elif isinstance(child.tag, str) and child.tag not in SILENT:
                walk(child)
            made[-1] += child.tail or ""

    walk(el)
    return tuple(text for piece in made if (text := plain(piece.replace("<", "&lt;"))))


def cells_of(table: etree._Element) -> list[Cell]:
    """Every cell with a text at its place in the grid, by the HTML table model.

    Rows without any text are not counted: print rules tables with them.
    """
    cells: list[Cell] = []
    row = 0
    for part in _TABLE_PARTS:
        taken: set[tuple[int, int]] = set()
        for tr in _rows(table, part):
            column, written, reached = 0, [], any(place[0] == row for place in taken)
            for el in tr:
                if el.tag not in {"td", "th"}:
                    continue
                while (row, column) in taken:
                    column += 1
                wide, high = _span(el, "colspan"), _span(el, "rowspan")
                texts, formulas = _cell_pieces(el), _count_formulas(el)
                if texts or formulas:
                    written.append(
                        Cell(row, column, texts, formulas, part == "thead", _is_free(el))
                    )
                    places = ((row + y, column + x) for y in range(high) for x in range(wide))
                    taken.update(places)
                else:
                    # An empty cell takes its place in this row, and silently below.
                    taken.update((row, column + x) for x in range(wide))
                    taken.update((row + y, column + x) for y in range(1, high) for x in range(wide))
                column += wide
            cells += written
            row += bool(written) or reached
            if not (written or reached):
                taken = {(y - 1, x) for y, x in taken if y > row}
    return cells


def _rows(table: etree._Element, part: str) -> list[etree._Element]:
    rows = [tr for el in table.findall(part) for tr in el.findall("tr")]
    return rows + (table.findall("tr") if part == "tbody" else [])


def _span(el: etree._Element, attribute: str) -> int:
    value = (el.get(attribute) or "1").strip()
    return max(1, int(value)) if value.isdecimal() else 1


def _cell_pieces(el: etree._Element) -> tuple[str, ...]:
    found = list(pieces(el))
    for child in el:
        if child.tag in BLOCKS and child.tag not in FORMULAS | {"graphic", "media"}:
            found += _cell_pieces(child)
    return tuple(found)


def _is_free(el: etree._Element) -> bool:
    return any(child.tag in CUT | SILENT | {"xref"} for child in el.iterdescendants())


def _count_formulas(el: etree._Element) -> int:
    return sum(
        1
        for child in el.iter("inline-formula", "disp-formula", "math", "tex-math")
        if not _inside(child, FORMULAS | {"alternatives"}) and _is_formula(child)
    )


def _is_formula(el: etree._Element) -> bool:
    """Whether it has mathematics in it: some formulas are pictures or words."""
    return el.tag in {"math", "tex-math"} or next(el.iter("math", "tex-math"), None) is not None


def _stream(el: etree._Element) -> Iterator[str | None]:
    """Text in document order, None for each formula; tables, notes and labels left out."""
    yield plain((el.text or "").replace("<", "&lt;"))
    for child in el:
        if child.tag in FORMULAS and _is_formula(child):
            yield None
        elif child.tag == "table":
            yield _BREAK
        elif isinstance(child.tag, str) and child.tag not in SILENT | {"alternatives"}:
            yield from _stream(child)
            yield _BREAK if child.tag in _ENDED else ""
        yield plain((child.tail or "").replace("<", "&lt;"))


def _inside(el: etree._Element, tags: frozenset[str] | set[str]) -> bool:
    return any(parent.tag in tags for parent in el.iterancestors())


def _all_text(el: etree._Element | None) -> str:
    return "" if el is None else "".join(el.itertext())


_TIGHT = frozenset(
    (
        "italic", "bold", "sub", "sup", "sc", "underline", "xref", "ext-link", "styled-content",
        "monospace",
    )
)  # fmt: skip


def _prose(el: etree._Element, leave_out: Set[str] = frozenset()) -> str:
    made: list[str] = []

    def walk(node: etree._Element) -> None:
        made.append(node.text or "")
        for child in node:
            if isinstance(child.tag, str) and child.tag not in leave_out:
                made.append("" if child.tag in _TIGHT else " ")
                walk(child)
                made.append("" if child.tag in _TIGHT else " ")
            made.append(child.tail or "")

    walk(el)
    return "".join(made)
