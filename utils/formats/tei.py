"""TEI as GROBID writes it of a PDF, as JATS, which the reader of JATS then makes markdown of.

GROBID's TEI is flat: one ``div`` a heading, whose level only its number tells (``n="2.1"``), and
figures and tables behind the text. Its elements say what those of JATS say, so they are renamed
and put in order, as Elsevier's are (`.elsevier`). Of references the line as printed is taken where
GROBID hands it out (``note type="raw_reference"``), for its parsing loses and guesses.

Facts: GROBID's "TEI encoding of results" (grobid.readthedocs.io), and its answers of versions 0.6
to 0.8 in kermitt2/grobid_client_python (``resources/test_out``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ..errors import BadContent
from ..model.paper import Document, Fetched
from .jats import parse, read_article
from .safe_xml import children_of

if TYPE_CHECKING:
    from .jats.walk import Element

VERSION: Final = 1
"""Raised by whoever changes what this reader writes."""
_INLINE: Final = {"bold": "bold", "italic": "italic", "superscript": "sup", "subscript": "sub"}
_IDS: Final = {"doi": "doi", "pmid": "pmid", "pmcid": "pmcid", "arxiv": "arxiv"}
# What GROBID calls the parts of the back, where they have no heading of their own.
_BACK: Final = {
    "acknowledgement": "Acknowledgements",
    "funding": "Funding",
    "availability": "Data availability",
    "conflict": "Conflicts of interest",
    "contribution": "Author contributions",
}
_LABEL: Final = re.compile(
    r"\s*((?:supplementary\s+|extended\s+data\s+)?(?:fig(?:ure|\.)?|table|tab\.|scheme|box))"
    r"\s*([A-Z]?\d{1,3}[A-Za-z]?)\s*[.:|]*\s*",
    re.I,
)
_NUMBER: Final = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,4}")
_ENTRY: Final = re.compile(r"\s*[\[(]?\d{1,4}[\])]?[.:]?\s+(?=\D)")
_DEEPEST: Final = 100
_MOST_COLUMNS: Final = 400


def read(fetched: Fetched) -> Document:
    """The text of a PDF as markdown, with what GROBID takes for its title, authors and names.

    It is a reading of a PDF, and is judged as one: what TEI says of its kind is no evidence.

    Raises
    ------
    BadContent
        It is no TEI, or holds no text (verdict ``not_a_paper``).
    """
    parsed = parse(fetched.body)
    if _name(parsed.root) != "TEI":
        msg = "This is no TEI: its root is not <TEI>."
        raise BadContent(msg, verdict="not_a_paper")
    document = read_article(_Article(parsed.root).as_jats(), parsed.cut_off)
    return document if parsed.cut_off else replace(document, signs=())


def producer(body: bytes) -> str:
    """Who wrote a TEI, by its own word: ``GROBID 0.8.1``; empty where it does not say."""
    found = re.search(rb"<application\s[^<>]{0,300}>", body[:100_000])
    if not found:
        return ""
    said = [
        re.search(rb'\b%b="([\w.\- ]{1,40})"' % name, found[0]) for name in (b"ident", b"version")
    ]
    return " ".join(one[1].decode() for one in said if one)


def _name(el: Element) -> str:
    return el.tag.rpartition("}")[2] if isinstance(el.tag, str) else ""


def _children(el: Element | None, *names: str) -> list[Element]:
    return [] if el is None else [one for one in children_of(el) if _name(one) in names]


def _child(el: Element | None, *path: str) -> Element | None:
    for name in path:
        el = next(iter(_children(el, name)), None)
    return el


def _text(el: Element | None) -> str:
    return "" if el is None else " ".join("".join(map(str, el.itertext())).split())


def _add(parent: Element, tag: str, text: str = "") -> Element:
    child = parent.makeelement(tag)
    child.text = text or None
    parent.append(child)
    return child


def _say(parent: Element, text: str | None) -> None:
    """Text behind whatever the parent holds by now."""
    if text and len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    elif text:
        parent.text = (parent.text or "") + text


class _Article:
    """One TEI on its way to JATS."""

    def __init__(self, root: Element) -> None:
        self.header = _child(root, "teiHeader")
        self.text = _child(root, "text")
        self.article = root.makeelement("article")
        self.floats: list[Element] = []
        self._special: dict[str, Callable[[Element, Element], None]] = {
            "formula": self._formula,
            "figure": self._set_aside,
            "list": self._list,
            "div": self._div,
            "hi": self._hi,
            "lb": lambda _el, parent: _say(parent, " "),
        }

    def as_jats(self) -> Element:
        """The ``article``: front, body, back with the references, figures and tables."""
        self._front()
        body, back = _child(self.text, "body"), _child(self.text, "back")
        target = _add(self.article, "body")
        # Some versions write the divisions straight under the text.
        self._divisions(self.text if body is None else body, target)
        end = _add(self.article, "back")
        for part in _children(back, "div"):
            if part.get("type") == "references":
                self._references(part, end)
            else:
                self._back(part, end)
        if self.floats:
            group = self.article.makeelement("floats-group")
            self.article.insert(len(self.article) - 1, group)
            for el in self.floats:
                self._float(el, group)
        return self.article

    def _front(self) -> None:
        meta = _add(_add(self.article, "front"), "article-meta")
        file = _child(self.header, "fileDesc")
        source = _child(file, "sourceDesc", "biblStruct")
        analytic = _child(source, "analytic")
        for el in [*_children(source, "idno"), *_children(analytic, "idno")]:
            if kind := _IDS.get((el.get("type") or "").lower()):
                _add(meta, "article-id", _text(el)).set("pub-id-type", kind)
        if title := _text(_child(file, "titleStmt", "title")):
            _add(_add(meta, "title-group"), "article-title", title)
        group = _add(meta, "contrib-group")
        for el in _children(analytic, "author"):
            if (person := _child(el, "persName")) is not None:
                contrib = _add(group, "contrib")
                contrib.set("contrib-type", "author")
                _person(person, contrib)
        if licence := _licence(_child(file, "publicationStmt", "availability")):
            _add(_add(_add(meta, "permissions"), "license"), "license-p", licence)
        profile = _child(self.header, "profileDesc")
        abstract = _child(profile, "abstract")
        if _text(abstract):
            assert abstract is not None
            self._flow(abstract, _add(meta, "abstract"))
        words = _child(profile, "textClass", "keywords")
        terms = [_text(term) for term in _children(words, "term")] or [_text(words)]
        if any(terms):
            group = _add(meta, "kwd-group")
            for term in filter(None, terms):
                _add(group, "kwd", term)

    # --- sections -------------------------------------------------------------------------------

    def _divisions(self, el: Element | None, target: Element) -> None:
        """Write the divisions one after the other, each as deep as its number says."""
        open_sections: list[tuple[int, Element]] = []
        for child in children_of(el) if el is not None else ():
            head = _child(child, "head") if _name(child) == "div" else None
            depth = _depth(head)
            while open_sections and (depth == 0 or open_sections[-1][0] >= depth):
                open_sections.pop()
            parent = open_sections[-1][1] if open_sections else target
            if head is None:
                if _name(child) not in {"body", "back", "front"}:
                    self._write(child, parent)
                continue
            section = self._section(child, head, parent)
            if depth:
                open_sections.append((depth, section))

    def _section(self, el: Element, head: Element, parent: Element) -> Element:
        section = _add(parent, "sec")
        if number := (head.get("n") or "").strip():
            _add(section, "label", number)
        self._copy(head, _add(section, "title"))
        self._flow(el, section, skip=head)
        return section

    def _div(self, el: Element, parent: Element) -> None:
        head = _child(el, "head")
        if head is None:
            self._flow(el, parent)
        else:
            self._section(el, head, parent)

    def _back(self, el: Element, back: Element) -> None:
        if not _text(el):
            return
        titled = any(_text(_child(div, "head")) for div in _children(el, "div"))
        target = back
        if not titled and (title := _BACK.get(el.get("type") or "")):
            target = _add(back, "sec")
            _add(target, "title", title)
        self._flow(el, target)

    # --- going through --------------------------------------------------------------------------

    def _flow(
        self, el: Element, target: Element, skip: Element | None = None, depth: int = 0
    ) -> None:
        self._stray(el.text, target)
        for child in children_of(el):
            if child is not skip:
                self._write(child, target, depth + 1)
            self._stray(child.tail, target)

    def _stray(self, text: str | None, target: Element) -> None:
        """Words that stand between the blocks are a paragraph, too."""
        if text and not text.isspace():
            _add(target, "p", text)

    def _write(self, el: Element, parent: Element, depth: int = 0) -> None:
        """One element, as JATS has it; what is not known is a paragraph of its words."""
        name = _name(el)
        if depth > _DEEPEST or name in {"p", "ab", "note", "quote", "head", "label"}:
            if _text(el):
                self._paragraph(el, parent)
        elif special := self._special.get(name):
            special(el, parent)
        elif name:
            self._flow(el, parent, depth=depth) if len(el) else _add(parent, "p", _text(el))

    def _paragraph(self, el: Element, parent: Element) -> None:
        self._copy(el, _add(parent, "p"))

    def _copy(self, el: Element, target: Element, depth: int = 0) -> None:
        """The content of a line: references as they are printed, sentences without their tags."""
        if depth > _DEEPEST:
            _say(target, _text(el))
            return
        _say(target, el.text)
        for child in children_of(el):
            name = _name(child)
            if name in self._special:
                self._special[name](child, target)
            elif name:
                self._copy(child, target, depth + 1)
            _say(target, child.tail)

    def _hi(self, el: Element, parent: Element) -> None:
        marks = (el.get("rend") or "").split()
        tag = next((_INLINE[mark] for mark in marks if mark in _INLINE), "")
        if tag:
            _add(parent, tag, "".join(map(str, el.itertext())))
        else:
            _say(parent, "".join(map(str, el.itertext())))

    def _formula(self, el: Element, parent: Element) -> None:
        made = _add(parent, "disp-formula")
        label = _child(el, "label")
        if label is not None:
            _add(made, "label", _text(label))
        words = [
            el.text or "",
            *(f"{_text(c) if c is not label else ''}{c.tail or ''}" for c in el),
        ]
        _say(made, " ".join("".join(words).split()))

    def _list(self, el: Element, parent: Element) -> None:
        made = _add(parent, "list")
        for item in _children(el, "item"):
            self._paragraph(item, _add(made, "list-item"))

    def _set_aside(self, el: Element, _parent: Element) -> None:
        self.floats.append(el)

    # --- figures, tables, references ------------------------------------------------------------

    def _float(self, el: Element, group: Element) -> None:
        """A figure or table with its caption, which GROBID parts where it likes."""
        is_table = el.get("type") == "table"
        head, said = _text(_child(el, "head")), _text(_child(el, "figDesc"))
        label, number = "", _text(_child(el, "label"))
        if named := _LABEL.match(head):
            label, head = f"{named[1]} {named[2]}", head[named.end() :]
        elif number:
            label = f"{'Table' if is_table else 'Figure'} {number}"
        caption = head + ("" if said[:1] in "-–,.;:)" or head[-1:] in "-(" else " ") + said
        rows = [_children(row, "cell") for row in _children(_child(el, "table"), "row")]
        notes = [_text(note) for note in _children(el, "note")]
        if not (caption.strip() or any(rows)):
            return
        made = _add(group, "table-wrap" if is_table else "fig")
        if label:
            _add(made, "label", label)
        if caption.strip():
            _add(_add(made, "caption"), "p", caption.strip())
        if any(rows):
            self._table(rows, made)
        if any(notes):
            foot = _add(made, "table-wrap-foot")
            for note in filter(None, notes):
                _add(foot, "p", note)

    def _table(self, rows: list[list[Element]], parent: Element) -> None:
        """GROBID marks no heads: the first row is taken for it."""
        table = _add(parent, "table")
        for number, cells in enumerate(rows):
            row = _add(table, "tr")
            for cell in cells:
                made = _add(row, "td" if number else "th")
                self._copy(cell, made)
                wide = cell.get("cols") or ""
                if wide.isascii() and wide.isdigit() and len(wide) < 4:
                    made.set("colspan", str(min(int(wide), _MOST_COLUMNS)))

    def _references(self, part: Element, back: Element) -> None:
        found = _add(back, "ref-list")
        for el in _entries(part):
            ref = _add(found, "ref")
            printed = next(
                (n for n in _children(el, "note") if n.get("type") == "raw_reference"), None
            )
            if text := _text(printed):
                _add(ref, "mixed-citation", _ENTRY.sub("", text, count=1))
            else:
                _citation(el, _add(ref, "element-citation"))


def _depth(head: Element | None) -> int:
    """How deep a heading stands by its number; 0 where it has none."""
    number = (head.get("n") or "").strip().strip(".") if head is not None else ""
    return number.count(".") + 1 if _NUMBER.fullmatch(number) else 0


def _licence(availability: Element | None) -> str:
    licence = _child(availability, "licence")
    return "" if licence is None else (licence.get("target") or _text(licence))


def _person(el: Element, parent: Element) -> None:
    name = _add(parent, "name")
    _add(name, "surname", " ".join(map(_text, _children(el, "surname"))))
    _add(name, "given-names", " ".join(map(_text, _children(el, "forename"))))


def _entries(part: Element) -> Iterator[Element]:
    for holder in part.iter("{*}listBibl"):
        yield from _children(holder, "biblStruct", "bibl")


def _citation(el: Element, made: Element) -> None:
    """One reference by its parts."""
    analytic, host = _child(el, "analytic"), _child(el, "monogr")
    group = _people([*_children(analytic, "author"), *_children(host, "author")], made)
    if len(group):
        made.append(group)
    for holder, tag in ((analytic, "article-title"), (host, "source")):
        for title in _children(holder, "title")[:1]:
            _add(made, tag, _text(title))
    imprint = _child(host, "imprint")
    if (date := _child(imprint, "date")) is not None:
        _add(made, "year", (date.get("when") or _text(date))[:4])
    for scope in _children(imprint, "biblScope"):
        _scope(scope, made)
    for idno in [one for holder in (analytic, host, el) for one in _children(holder, "idno")]:
        if kind := _IDS.get((idno.get("type") or "").lower()):
            _add(made, "pub-id", _text(idno)).set("pub-id-type", kind)
    if not len(made):
        made.text = _text(el)


def _people(authors: list[Element], made: Element) -> Element:
    group = made.makeelement("person-group")
    for author in authors:
        if (person := _child(author, "persName")) is not None:
            _person(person, group)
        elif name := _text(author):
            _add(group, "collab", name)
    return group


def _scope(scope: Element, made: Element) -> None:
    unit, said = scope.get("unit") or "", _text(scope)
    if unit in {"volume", "issue"}:
        _add(made, unit, said)
    elif unit == "page":
        _add(made, "fpage", scope.get("from") or said)
        if last := scope.get("to"):
            _add(made, "lpage", last)
