"""A paper taken apart: title, people, abstract, sections, floats, citations and references.

Read from JATS by code that shares nothing with the readers under test. A citation inside a text is
kept as numbers between two private characters, so that every medium can print it in any style:
``\\ue0003,4\\ue001`` cites the fourth and the fifth reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from lxml import etree

from utils.model.identifiers import Ids
from utils.model.paper import Author, Media, Paper

# What PubMed calls articles that are short by their kind, by JATS's word for them.
_TYPES = {
    "editorial": "Editorial",
    "letter": "Letter",
    "article-commentary": "Comment",
    "news": "News",
    "abstract": "Meeting Abstract",
    "correction": "Published Erratum",
    "retraction": "Retraction of Publication",
}

Kind = Literal[
    "heading", "para", "list", "links", "refs", "figure", "table", "formula", "button", "form"
]
OPEN, CLOSE = "\ue000", "\ue001"
GROUP = re.compile("\ue000([0-9,]+)\ue001")
_JOINED = re.compile(
    r"[(\[]?((?:\ue000[0-9,]+\ue001)(?:\s*(?:[,;]|[-–—]|and|&)?\s*\ue000[0-9,]+\ue001)*)\s*[)\]]?"
)
_PARSER = etree.XMLParser(resolve_entities=False, load_dtd=False, huge_tree=False)
_FLOATS = ("fig", "table-wrap", "disp-formula", "list", "boxed-text", "disp-quote", "fig-group")
_SILENT = frozenset(("object-id", "graphic", "media", "alt-text", "supplementary-material"))


@dataclass(frozen=True)
class Block:
    """One block of a text; ``rows`` for tables, ``items`` for lists, links and references."""

    kind: Kind
    text: str = ""
    level: int = 2
    items: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()

    @property
    def words(self) -> int:
        """How many words there are in it."""
        parts = (self.text, *self.items, *(" ".join(row) for row in self.rows))
        return sum(len(part.split()) for part in parts)


@dataclass(frozen=True)
class Reference:
    """A work that is cited."""

    families: tuple[str, ...]
    year: str
    text: str

    @property
    def short(self) -> str:
        """As cited by author and year."""
        who = self.families[0] if self.families else self.text.split(" ")[0].strip(".,")
        if len(self.families) == 2:
            who = f"{who} & {self.families[1]}"
        elif len(self.families) > 2:
            who = f"{who} et al."
        return f"{who}, {self.year or 'n.d.'}"


@dataclass(frozen=True)
class Manuscript:
    """A whole paper, and the record it is asked for by."""

    name: str
    paper: Paper
    title: str
    people: tuple[tuple[str, str], ...]  # name, affiliation
    journal: str
    year: str
    abstract: tuple[Block, ...]
    body: tuple[Block, ...]
    back: tuple[Block, ...]
    references: tuple[Reference, ...]
    language: str = "en"
    article_type: str = "research-article"
    jats: bytes = field(default=b"", repr=False)
    files: tuple[tuple[Media, Path], ...] = ()  # recorded beside the XML

    @cached_property
    def body_words(self) -> int:
        """How long its body is."""
        return sum(block.words for block in self.body)

    @property
    def abstract_text(self) -> str:
        """The abstract in one piece."""
        told = " ".join(block.text for block in self.abstract if block.kind == "para")
        return uncited(told) or self.paper.abstract

    def file(self, media: Media) -> bytes:
        """What was recorded of it in another medium, empty if nothing was."""
        return next((path.read_bytes() for kind, path in self.files if kind == media), b"")

    def prose(self, least: int = 12) -> list[str]:
        """Paragraphs of the body with *least* words, without their citations."""
        kept = (uncited(block.text) for block in self.body if block.kind == "para")
        return [text for text in kept if len(text.split()) >= least]


def numbered(paper: Manuscript, pages: int) -> Manuscript:
    """The paper with a range in its record no longer than the *pages* it fills here.

    What is printed here has no pictures and small tables: the range of the original does not fit.
    """
    found = re.fullmatch(r"(\d+)-(\d+)", paper.paper.pages.strip())
    if not found:
        return paper
    first, last = found.groups()
    last = first[: len(first) - len(last)] + last  # 1231-41
    if int(last) - int(first) < pages:
        return paper
    told = f"{first}-{int(first) + pages - 1}"
    return replace(paper, paper=replace(paper.paper, pages=told))


def uncited(text: str) -> str:
    """A text without its citations."""
    return re.sub(r"\s+([.,;)])", r"\1", " ".join(GROUP.sub("", text).split()))


def sentences(text: str) -> list[str]:
    """Sentences, roughly."""
    return [part for part in re.split(r"(?<=[.!?])\s+(?=[A-Z])", text) if part.strip()]


def of_jats(
    name: str,
    jats: bytes,
    paper: Paper | None = None,
    files: tuple[tuple[Media, Path], ...] = (),
) -> Manuscript:
    """Take a paper apart; without *paper* its record is what its own front matter says."""
    tree = etree.fromstring(jats, _PARSER)
    for el in tree.iter():
        if isinstance(el.tag, str) and "}" in el.tag and "MathML" not in el.tag:
            el.tag = etree.QName(el).localname
    article = tree if tree.tag == "article" else next(tree.iter("article"))
    for inner in list(article.iter("sub-article", "response")):
        if inner.getparent() is not None:
            inner.getparent().remove(inner)
    meta = next(article.iter("article-meta"))
    listed = [el for el in article.iter("ref") if _within(el, "back")]
    place = {el.get("id", ""): at for at, el in enumerate(listed)}
    reading = _Reading(place)
    body = article.find("body")
    blocks = tuple(reading.blocks(body, 1)) if body is not None else ()
    floats = article.find("floats-group")
    if floats is not None:
        blocks += tuple(reading.floats(floats))
    back = [el for part in article.findall("back") for el in part if el.tag != "ref-list"]
    article_type = article.get("article-type", "research-article")
    record = paper or _record(meta)
    if types := _TYPES.get(article_type):
        record = replace(record, publication_types=(types,))
    return Manuscript(
        name=name,
        paper=record,
        title=_plain(meta.find(".//article-title")),
        people=tuple(_people(meta)),
        journal=_plain(article.find(".//journal-title")) or "Journal of Field Notes",
        year=_plain(meta.find(".//pub-date/year")) or "2014",
        abstract=tuple(reading.abstract(meta)),
        body=blocks,
        back=tuple(block for el in back for block in reading.back(el)),
        references=tuple(_reference(el) for el in listed),
        language=article.get("{http://www.w3.org/XML/1998/namespace}lang", "en")[:2].lower(),
        article_type=article_type,
        jats=jats,
        files=files,
    )


class _Reading:
    """Blocks of an element, citations numbered by *place*."""

    def __init__(self, place: dict[str, int]) -> None:
        self.place = place

    def blocks(self, el: etree._Element, level: int) -> Iterator[Block]:
        for child in el:
            if not isinstance(child.tag, str) or child.tag in _SILENT:
                continue
            if child.tag == "title":
                text = " ".join((_plain(el.find("label")), self.inline(child))).strip()
                if text:
                    yield Block("heading", text, level)
            elif child.tag == "sec":
                yield from self.blocks(child, level + 1)
            elif child.tag == "p":
                yield from self.paragraph(child)
            elif child.tag in _FLOATS:
                yield from self.one_float(child, level)
            elif child.tag not in {"label", "sec-meta", "ref-list", "fn-group"}:
                yield from self.blocks(child, level)

    def paragraph(self, el: etree._Element) -> Iterator[Block]:
        floats = [child for child in el.iter(*_FLOATS) if child is not el]
        outer = [f for f in floats if not any(up in floats for up in f.iterancestors())]
        text = self.inline(el)
        if text:
            yield Block("para", text)
        for child in outer:
            yield from self.one_float(child, 3)

    def one_float(self, el: etree._Element, level: int) -> Iterator[Block]:
        if el.tag == "fig":
            text = " ".join((_plain(el.find("label")), self.caption(el))).strip()
            if text:
                yield Block("figure", text)
        elif el.tag == "table-wrap":
            yield from self.table(el)
        elif el.tag == "disp-formula":
            text = _formula(el)
            if text:
                yield Block("formula", text)
        elif el.tag == "list":
            items = tuple(self.inline(item, floats=True) for item in el.findall("list-item"))
            if any(items):
                yield Block("list", items=tuple(item for item in items if item))
        else:
            yield from self.blocks(el, level)

    def floats(self, el: etree._Element) -> Iterator[Block]:
        for child in el:
            if isinstance(child.tag, str):
                yield from self.one_float(child, 2)

    def table(self, el: etree._Element) -> Iterator[Block]:
        label = " ".join((_plain(el.find("label")), self.caption(el))).strip()
        rows = []
        for row in el.iter("tr"):
            cells = tuple(_plain(cell) for cell in row if cell.tag in {"td", "th"})
            rows.append(cells)
        if rows or label:
            yield Block("table", label, rows=tuple(rows))
        foot = el.find("table-wrap-foot")
        if foot is not None and _plain(foot):
            yield Block("para", self.inline(foot))

    def caption(self, el: etree._Element) -> str:
        caption = el.find("caption")
        return self.inline(caption) if caption is not None else ""

    def abstract(self, meta: etree._Element) -> Iterator[Block]:
        for el in meta.findall("abstract"):
            if not el.get("abstract-type"):
                yield from (b for b in self.blocks(el, 2) if b.text.lower() != "abstract")

    def back(self, el: etree._Element) -> Iterator[Block]:
        if el.tag == "ack" and el.find("title") is None:
            yield Block("heading", "Acknowledgements")
        if el.tag in {"ack", "app-group", "sec", "notes"}:
            yield from self.blocks(el, 2)

    def inline(self, el: etree._Element, floats: bool = False) -> str:
        """The running text, citations marked, floats left out."""
        parts: list[str] = []
        self._gather(el, parts, floats, top=True)
        text = " ".join("".join(parts).split())
        return _JOINED.sub(_one_group, text)

    def _cites(self, el: etree._Element) -> list[int]:
        rids = [self.place[rid] for rid in (el.get("rid") or "").split() if rid in self.place]
        text = "".join(map(str, el.itertext()))
        return [at for at in _cites(rids, text) if at <= len(self.place)]

    def _gather(self, el: etree._Element, parts: list[str], floats: bool, top: bool) -> None:
        if not top and (el.tag in _SILENT or (el.tag in _FLOATS and not floats)):
            parts.append(" " + (el.tail or ""))
            return
        cites = self._cites(el) if el.tag == "xref" and el.get("ref-type") == "bibr" else []
        if cites:
            parts.append(f"{OPEN}{','.join(map(str, cites))}{CLOSE}")
        elif el.tag == "tex-math" or not isinstance(el.tag, str):
            pass
        else:
            parts.append(el.text or "")
            for child in el:
                self._gather(child, parts, floats, top=False)
            if el.tag in {"p", "title", "td", "label"}:
                parts.append(" ")
        parts.append("" if top else el.tail or "")


def _cites(rids: list[int], text: str) -> list[int]:
    """The works of one link, which may read "23-29" and lead to the first of them."""
    ends = re.fullmatch(r"\W*(\d+)\s*[-–—]\s*(\d+)\W*", text)
    more = int(ends[2]) - int(ends[1]) if ends and len(rids) == 1 else 0
    return [*rids, *range(rids[0] + 1, rids[0] + more + 1)] if 0 < more < 60 else rids


def _one_group(found: re.Match[str]) -> str:
    """Citations that stand together, ranges filled, as one group."""
    numbers: list[int] = []
    for mark in re.finditer("([-–—]?)\\s*\ue000([0-9,]+)\ue001", found.group(1)):
        new = [int(part) for part in mark.group(2).split(",")]
        if mark.group(1) and numbers and 1 < new[0] - numbers[-1] < 60:
            numbers += range(numbers[-1] + 1, new[0])
        numbers += [number for number in new if number not in numbers]
    whole = found.group(0)
    closed = whole[0] in "([" and whole[-1] in ")]"
    before = whole[0] if whole[0] in "([" and not closed else ""
    after = whole[-1] if whole[-1] in ")]" and not closed else ""
    return f"{before}{OPEN}{','.join(map(str, numbers))}{CLOSE}{after}"


def _formula(el: etree._Element) -> str:
    math = next(el.iter("{*}math"), None)
    return _plain(math if math is not None else el)[:300]


def _plain(el: etree._Element | None) -> str:
    if el is None:
        return ""
    return " ".join("".join(map(str, el.itertext())).split())


def _within(el: etree._Element, name: str) -> bool:
    return any(up.tag == name for up in el.iterancestors())


def _people(meta: etree._Element) -> Iterator[tuple[str, str]]:
    places = {el.get("id", ""): _address(el) for el in meta.iter("aff")}
    default = next(iter(places.values()), "")
    for el in meta.findall(".//contrib"):
        if el.get("contrib-type", "author") != "author":
            continue
        family, given = _plain(el.find(".//surname")), _plain(el.find(".//given-names"))
        name = f"{given} {family}".strip() or _plain(el.find(".//collab"))
        rids = [x.get("rid", "") for x in el.iter("xref") if x.get("ref-type") == "aff"]
        if name:
            yield name, next((places[rid] for rid in rids if rid in places), default)


def _address(el: etree._Element) -> str:
    for part in el.findall(".//institution-id"):
        part.text = ""
    label = _plain(el.find("label"))
    return _plain(el).removeprefix(label).strip()


def _reference(el: etree._Element) -> Reference:
    families = tuple(filter(None, (_plain(part) for part in el.iter("surname"))))
    year = _plain(next(el.iter("year"), None))[:4]
    cited = next((part for part in el if part.tag != "label" and isinstance(part.tag, str)), el)
    if cited.tag == "mixed-citation" and (cited.text or "").strip():
        return Reference(families, year, _plain(cited))
    names = ", ".join(
        f"{_plain(n.find('surname'))} {_plain(n.find('given-names'))}".strip()
        for n in cited.iter("name")
    )
    named = {part.tag: _plain(part) for part in reversed(list(cited)) if isinstance(part.tag, str)}
    issue = f"{named.get('volume', '')}:{named.get('fpage', '')}-{named.get('lpage', '')}"
    parts = [names, named.get("article-title", ""), named.get("source", ""), year]
    text = ". ".join(part for part in parts if part) + (f";{issue}" if issue != ":-" else "") + "."
    return Reference(families, year, text if len(text) > 12 else _plain(cited) or "Anon. Notes.")


def _record(meta: etree._Element) -> Paper:
    ids = {el.get("pub-id-type", ""): _plain(el) for el in meta.findall("article-id")}
    families: Iterable[str] = (_plain(el) for el in meta.findall(".//contrib//surname"))
    first, last = _plain(meta.find("fpage")), _plain(meta.find("lpage"))
    abstract = next((el for el in meta.findall("abstract") if not el.get("abstract-type")), None)
    return Paper(
        ids=Ids(doi=ids.get("doi", "").lower()),
        title=_plain(meta.find(".//article-title")),
        abstract=_plain(abstract),
        authors=tuple(Author(family=name) for name in families if name),
        pages=f"{first}-{last}" if first and last else first,
    )
