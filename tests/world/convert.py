"""Recorded JATS as headed paragraphs: the world's own small converter, for pages and PDFs.

Deliberately not Papershelf's: a page made by the code under test would prove nothing.
"""

from functools import lru_cache
from html import escape
from pathlib import Path
from xml.etree import ElementTree as ET

_Element = ET.Element


class Article:
    """The text of a recorded article, read when asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def sections(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return _sections(self.path)

    def abstract(self) -> tuple[tuple[str, str], ...]:
        return _abstract(self.path)

    def references(self) -> tuple[tuple[str, str, str, str, str], ...]:
        return _references(self.path)


@lru_cache(maxsize=32)
def _tree(path: Path) -> _Element:
    return ET.parse(path).getroot()


def _sections(path: Path) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """(title, paragraphs) of each top-level section of the body; tables as HTML."""
    body = _tree(path).find("body")
    if body is None:
        return ()
    loose = tuple(_html(node) for node in body if node.tag == "p")
    named = [
        (_text(section.find("title")), tuple(_blocks(section))) for section in body.iterfind("sec")
    ]
    return (("", loose), *named) if loose else tuple(named)


def _abstract(path: Path) -> tuple[tuple[str, str], ...]:
    """(label, text) of the first abstract."""
    found = _tree(path).find(".//abstract")
    if found is None:
        return ()
    parts = found.findall("sec")
    if not parts:
        return tuple(("", escape(_text(node))) for node in found.iterfind("p"))
    return tuple(
        (_text(part.find("title")), " ".join(escape(_text(node)) for node in part.iterfind("p")))
        for part in parts
    )


def _references(path: Path) -> tuple[tuple[str, str, str, str, str], ...]:
    """(authors, title, journal, year, doi) of the works cited; of an untagged one all in one."""
    return tuple(
        _reference(node)
        for node in _tree(path).iterfind("back//ref")
        if _text(node.find(".//year")) or _text(node)
    )


def _reference(node: _Element) -> tuple[str, str, str, str, str]:
    named = [
        " ".join(filter(None, (_text(name.find("surname")), _text(name.find("given-names")))))
        for name in node.iter("name")
    ]
    parts = [_text(node.find(f".//{tag}")) for tag in ("article-title", "source", "year")]
    doi = node.find(".//pub-id[@pub-id-type='doi']")
    title, journal, year = map(escape, parts)
    if not (named or title):
        return ("", escape(_text(node)), "", year, _text(doi))
    return (escape(", ".join(named)), title, journal, year, escape(_text(doi)))


def _blocks(section: _Element) -> list[str]:
    made = []
    for node in section:
        if node.tag == "p":
            made.append(_html(node))
        elif node.tag == "sec":
            title = _text(node.find("title"))
            made += [f"<b>{escape(title)}</b>"] if title else []
            made += _blocks(node)
        elif node.tag == "table-wrap":
            made.append(_table(node))
    return [block for block in made if block.strip()]


def _text(node: _Element | None) -> str:
    return " ".join("".join(node.itertext()).split()) if node is not None else ""


def _html(node: _Element) -> str:
    inner = "".join(_table(child) for child in node.iter("table-wrap"))
    return inner or escape(_text(node))


def _table(wrap: _Element) -> str:
    caption = escape(_text(wrap.find("caption")))
    rows = []
    for row in wrap.iter("tr"):
        cells = "".join(
            f"<{cell.tag}{_spans(cell)}>{escape(_text(cell))}</{cell.tag}>"
            for cell in row
            if cell.tag in {"td", "th"}
        )
        rows.append(f"<tr>{cells}</tr>")
    return f"<table><caption>{caption}</caption>{''.join(rows)}</table>"


def _spans(cell: _Element) -> str:
    return "".join(
        f' {name}="{value}"'
        for name in ("rowspan", "colspan")
        if (value := cell.get(name)) not in {None, "1"}
    )
