"""Elsevier's article XML as JATS, which the reader of JATS then makes markdown of.

What the Article Retrieval API answers is a ``full-text-retrieval-response``: ``coredata``, and in
``originalText`` the article in Elsevier's own DTD (5.x), its floats before its head. Its elements
say what those of JATS say, so they are renamed and put in order, and everything JATS has (tables,
formulas, references, the signs of wholeness) holds for them, too. Elements are told by their local
names, because the namespace declared as the default changes from element to element.

Facts: Elsevier's "Tag by Tag" for DTD 5 and ten answers of the API, read whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from ..errors import BadContent
from ..model.paper import Document, Fetched
from .jats import parse, read_article
from .safe_xml import children_of

if TYPE_CHECKING:
    from .jats.walk import Element

_HREF: Final = "{http://www.w3.org/1999/xlink}href"
_MATH: Final = "{http://www.w3.org/1998/Math/MathML}math"
# Elements that only have another name, inside a line and around paragraphs.
_SAME: Final = {
    "bold": "bold",
    "italic": "italic",
    "underline": "underline",
    "monospace": "monospace",
    "small-caps": "sc",
    "sans-serif": "sans-serif",
    "cross-out": "strike",
    "sup": "sup",
    "inf": "sub",
    "br": "break",
    "para": "p",
    "simple-para": "p",
    "note-para": "p",
    "section-title": "title",
    "title": "title",
    "section": "sec",
    "label": "label",
    "list-item": "list-item",
    "def-list": "def-list",
    "def-term": "term",
    "displayed-quote": "disp-quote",
    "enunciation": "statement",
    "caption": "caption",
    "acknowledgment": "ack",
    "biography": "bio",
    "glossary": "glossary",
    "nomenclature": "glossary",
    "source": "attrib",
    "verbatim": "preformat",
}
_DROPPED: Final = frozenset(
    ("alt-text", "vsp", "doctopics", "index-flag", "copyright", "copyright-line", "preprint")
)
# Chemical bonds, which have no letter: https://schema.elsevier.com/dtds/glyphs
_GLYPHS: Final = {"sbnd": "–", "dbnd": "=", "tbnd": "≡", "rad": "·", "bond": "–"}
_ABSTRACTS: Final = {"author-highlights": "highlights", "graphical": "graphical"}
# Elsevier's codes of what an item is (``document-subtype``), as its "Tag by Tag" lists them.
_KINDS: Final = {
    "fla": "research-article",
    "rev": "review-article",
    "ssu": "review-article",
    "sco": "brief-report",
    "cor": "letter",
    "dis": "discussion",
    "edi": "editorial",
    "err": "correction",
    "ret": "retraction",
    "brv": "book-review",
    "nws": "news",
    "abs": "abstract",
}
_FLOATS: Final = ("figure", "table", "textbox", "e-component", "scheme")
_WIDEST: Final = 1_000  # columns; who says more of a table is not to be believed


def read(fetched: Fetched) -> Document:
    """The article as markdown, with what it claims to be; see `.jats.read`.

    An answer without a text (to whom the key gives no right to it) has no words in its body.

    Raises
    ------
    BadContent
        It is no answer of this service (verdict ``not_a_paper``).
    """
    parsed = parse(fetched.body)
    return read_article(_Article(parsed.root).as_jats(), parsed.cut_off)


def has_text(body: bytes) -> bool:
    """Whether an answer holds the text of its article, and not its abstract alone."""
    try:
        root = parse(body).root
    except BadContent:
        return False
    paragraphs = (el for body in _find(root, "body") for el in _find(body, "para", "simple-para"))
    return next(paragraphs, None) is not None or bool(_text(_first(root, "rawtext")))


def _name(el: Element) -> str:
    return el.tag.rpartition("}")[2] if isinstance(el.tag, str) else ""


def _find(el: Element | None, *names: str) -> Iterator[Element]:
    """Descendants of these local names."""
    for one in el.iter("{*}*") if el is not None else ():
        if _name(one) in names:
            yield one


def _first(el: Element | None, *names: str) -> Element | None:
    return next(_find(el, *names), None)


def _children(el: Element | None, *names: str) -> list[Element]:
    return [] if el is None else [one for one in children_of(el) if _name(one) in names]


def _text(el: Element | None) -> str:
    return "" if el is None else " ".join("".join(map(str, el.itertext())).split())


class _Article:
    """One answer on its way to JATS; ``floats`` are those no paragraph has called yet."""

    def __init__(self, root: Element) -> None:
        self.core = _first(root, "coredata")
        self.item = _first(
            root, "article", "simple-article", "converted-article", "book-review", "exam", "chapter"
        )
        if self.core is None and self.item is None:
            msg = "This is not an article: there is no <coredata> of Elsevier in the XML."
            raise BadContent(msg, verdict="not_a_paper")
        self.subtype = _text(_first(root, "document-subtype"))
        self.raw = _first(root, "rawtext")
        self.targets = {el.get("id", ""): _name(el) for el in root.iter() if el.get("id")}
        self.floats = {
            el.get("id", f"float {number}"): el
            for holder in _children(self.item, "floats")
            for number, el in enumerate(_children(holder, *_FLOATS))
        }
        self.notes: dict[str, Element] = {}
        self.article = root.makeelement("article")
        self._special: dict[str, Callable[[Element, Element], None]] = {
            "hsp": self._blank,
            "glyph": self._glyph,
            "cross-ref": self._xref,
            "cross-refs": self._xref,
            "inter-ref": self._link,
            "float-anchor": self._nothing,
            "footnote": self._footnote,
            "display": self._copy_content,
            "formula": self._formula,
            "math": self._math,
            "list": self._list,
            "def-list": self._definitions,
            "figure": self._figure,
            "scheme": self._figure,
            "e-component": self._supplement,
            "table": self._table,
            "textbox": self._box,
            "link": self._nothing,
            "inline-figure": self._inline_figure,
        }

    def as_jats(self) -> Element:
        """The ``article``: front, body, back, and the floats that nothing in the text called."""
        if kind := _KINDS.get(self.subtype):
            self.article.set("article-type", kind)
        self._front(_first(self.item, "head", "simple-head"))
        self._body()
        self._back()
        if self.floats:
            group = self._add(self.article, "floats-group")
            for name in list(self.floats):
                self._place(name, group)
        return self.article

    # --- the parts ------------------------------------------------------------------------------

    def _front(self, head: Element | None) -> None:
        meta = self._add(self._add(self.article, "front"), "article-meta")
        for kind, name in (("doi", "doi"), ("pmid", "pubmed-id"), ("pii", "pii")):
            if text := self._said(name):
                self._add(meta, "article-id", text).set("pub-id-type", kind)
        titles = self._add(meta, "title-group")
        for title in _children(head, "title") or _children(self.core, "title"):
            self._copy_content(title, self._add(titles, "article-title"))
        for title in _children(head, "subtitle"):
            self._copy_content(title, self._add(titles, "subtitle"))
        self._authors(meta, head)
        for name, field in (("fpage", "startingPage"), ("lpage", "endingPage")):
            if text := self._said(field):
                self._add(meta, name, text)
        if text := self._said("openaccessUserLicense"):
            self._add(self._add(meta, "permissions"), "license").set(_HREF, text)
        self._abstracts(meta, head)
        self._keywords(meta, head)

    def _said(self, field: str) -> str:
        """What ``coredata`` has under a name."""
        return _text(next(iter(_children(self.core, field)), None))

    def _keywords(self, meta: Element, head: Element | None) -> None:
        for group in _children(head, "keywords"):
            words = self._add(meta, "kwd-group")
            for el in children_of(group):
                if _name(el) == "section-title":
                    self._copy_content(el, self._add(words, "title"))
                elif _name(el) == "keyword" and (text := _first(el, "text")) is not None:
                    self._copy_content(text, self._add(words, "kwd"))

    def _authors(self, meta: Element, head: Element | None) -> None:
        group = self._add(meta, "contrib-group")
        for el in _find(head, "author", "collaboration"):
            contrib = self._add(group, "contrib")
            contrib.set("contrib-type", "author")
            if _name(el) == "collaboration":
                self._add(contrib, "collab", _text(_first(el, "text")))
            else:
                self._person(el, contrib)
        if not len(group):
            for el in _children(self.core, "creator"):
                family, _, given = _text(el).partition(", ")
                contrib = self._add(group, "contrib")
                contrib.set("contrib-type", "author")
                name = self._add(contrib, "name")
                self._add(name, "surname", family)
                self._add(name, "given-names", given)

    def _person(self, el: Element, parent: Element) -> None:
        name = self._add(parent, "name")
        for source, target in (
            ("surname", "surname"),
            ("given-name", "given-names"),
            ("suffix", "suffix"),
        ):
            for part in _children(el, source):
                self._add(name, target, _text(part))

    def _abstracts(self, meta: Element, head: Element | None) -> None:
        found = _children(head, "abstract")
        for el in sorted(found, key=lambda one: (one.get("class") or "author") != "author"):
            abstract = self._add(meta, "abstract")
            if (kind := el.get("class") or "author") != "author":
                abstract.set("abstract-type", _ABSTRACTS.get(kind, kind))
            for part in _children(el, "abstract-sec"):
                titled = any(_name(one) == "section-title" for one in children_of(part))
                self._blocks(part, self._add(abstract, "sec") if titled else abstract)
        if not found and (description := self._said("description")):
            plain = re.sub(r"^(?:Abstract|Summary)\s+", "", description)
            self._add(self._add(meta, "abstract"), "p", plain)

    def _body(self) -> None:
        body = next(iter(_children(self.item, "body")), None)
        if body is not None:
            target = self._add(self.article, "body")
            for el in children_of(body):
                if _name(el) == "sections":
                    self._blocks(el, target)
                elif _name(el) not in {"acknowledgment", "appendices"}:
                    self._write(el, target)
        elif self.raw is not None:
            target = self._add(self.article, "body")
            for paragraph in re.split(r"\n\s*\n", "".join(map(str, self.raw.itertext()))):
                self._add(target, "p", " ".join(paragraph.split()))

    def _back(self) -> None:
        back = self._add(self.article, "back")
        for el in _find(self.item, "acknowledgment"):
            for part in _children(el, "section") or [el]:
                self._blocks(part, self._like(el, self._add(back, "ack")))
        for el in _find(self.item, "appendices"):
            group = self._add(back, "app-group")
            for section in _children(el, "section"):
                self._blocks(section, self._like(section, self._add(group, "app")))
        tail = next(iter(_children(self.item, "tail", "simple-tail")), None)
        for el in children_of(tail) if tail is not None else ():
            if _name(el) in {"bibliography", "further-reading"}:
                self._references(el, back)
            else:
                self._write(el, back)
        if self.notes:
            back.insert(0, self._note_group())

    def _note_group(self) -> Element:
        group = self.article.makeelement("fn-group")
        for name, el in self.notes.items():
            note = self._add(group, "fn")
            note.set("id", name)
            self._blocks(el, note)
        return group

    # --- going through --------------------------------------------------------------------------

    def _add(self, parent: Element, tag: str, text: str = "") -> Element:
        child = parent.makeelement(tag)
        child.text = text or None
        parent.append(child)
        return child

    def _say(self, parent: Element, text: str | None) -> None:
        """Text behind whatever the parent holds by now."""
        if not text:
            return
        if len(parent):
            parent[-1].tail = (parent[-1].tail or "") + text
        else:
            parent.text = (parent.text or "") + text

    def _write(self, el: Element, parent: Element) -> None:
        """One element, as JATS has it; what is not known is what it holds."""
        name = _name(el)
        if not name or name in _DROPPED:
            return
        if special := self._special.get(name):
            special(el, parent)
        elif name in {"section", "acknowledgment", "list-item", "enunciation"}:
            self._blocks(el, self._like(el, self._add(parent, _SAME[name])))
        elif name in _SAME:
            made = self._like(el, self._add(parent, _SAME[name]))
            self._copy_content(el, made)
            if _SAME[name] == "p":
                self._call_floats(el, parent)
        else:
            self._copy_content(el, parent)

    def _like(self, el: Element, made: Element) -> Element:
        if name := el.get("id"):
            made.set("id", name)
        return made

    def _copy_content(self, el: Element, parent: Element) -> None:
        """Text and elements in their order, without the blanks of layout before an index."""
        children = children_of(el)
        following = [*map(_name, children), ""]
        self._say(parent, _unlaid(el.text, following[0]))
        for child, after in zip(children, following[1:], strict=True):
            self._write(child, parent)
            self._say(parent, _unlaid(child.tail, after))

    def _blocks(self, el: Element, parent: Element) -> None:
        """The children of an element that holds blocks: what stands between them is layout."""
        for child in children_of(el):
            self._write(child, parent)
            self._say(parent, child.tail if (child.tail or "").strip() else "")

    def _call_floats(self, el: Element, parent: Element) -> None:
        for anchor in _find(el, "float-anchor"):
            self._place(anchor.get("refid", ""), parent)

    def _place(self, name: str, parent: Element) -> None:
        if (float_ := self.floats.pop(name, None)) is not None:
            self._write(float_, parent)

    # --- inside a line --------------------------------------------------------------------------

    def _nothing(self, el: Element, parent: Element) -> None:
        """What stands for something that is written elsewhere."""

    def _blank(self, el: Element, parent: Element) -> None:
        self._say(parent, " ")

    def _glyph(self, el: Element, parent: Element) -> None:
        self._say(parent, _GLYPHS.get(el.get("name", ""), ""))

    def _xref(self, el: Element, parent: Element) -> None:
        made = self._add(parent, "xref")
        names = el.get("refid", "")
        made.set("rid", names)
        made.set("ref-type", _target(self.targets.get(names.split(" ")[0], "")))
        self._copy_content(el, made)

    def _link(self, el: Element, parent: Element) -> None:
        address = el.get(_HREF, "")
        made = self._add(parent, "ext-link")
        made.set(_HREF, re.sub(r"^doi:", "https://doi.org/", address))
        self._copy_content(el, made)

    def _footnote(self, el: Element, parent: Element) -> None:
        name = el.get("id") or f"note {len(self.notes)}"
        self.notes[name] = el
        if parent.tag == "p":
            mark = self._add(self._add(parent, "sup"), "xref", _text(_first(el, "label")))
            mark.set("ref-type", "fn")
            mark.set("rid", name)

    def _formula(self, el: Element, parent: Element) -> None:
        self._copy_content(el, self._like(el, self._add(parent, "disp-formula")))

    def _math(self, el: Element, parent: Element) -> None:
        if parent.tag != "disp-formula":
            parent = self._add(parent, "inline-formula")
        made = self._add(parent, _MATH)
        made.text = el.text
        for child in children_of(el):
            made.append(child)

    def _inline_figure(self, el: Element, parent: Element) -> None:
        for link in _find(el, "link"):
            self._add(parent, "inline-graphic").set(_HREF, link.get("locator", ""))

    # --- blocks ---------------------------------------------------------------------------------

    def _list(self, el: Element, parent: Element) -> None:
        made = self._add(parent, "list")
        self._blocks(el, made)

    def _definitions(self, el: Element, parent: Element) -> None:
        made, item = self._add(parent, "def-list"), None
        for child in children_of(el):
            if _name(child) == "def-term" or item is None:
                item = self._add(made, "def-item")
            if _name(child) == "def-description":
                self._blocks(child, self._add(item, "def"))
            else:
                self._write(child, item)

    def _figure(self, el: Element, parent: Element) -> None:
        made = self._like(el, self._add(parent, "fig"))
        self._blocks(el, made)
        for link in _children(el, "link"):
            self._add(made, "graphic").set(_HREF, link.get("locator", ""))

    def _supplement(self, el: Element, parent: Element) -> None:
        self._blocks(el, self._like(el, self._add(parent, "supplementary-material")))

    def _box(self, el: Element, parent: Element) -> None:
        made = self._like(el, self._add(parent, "boxed-text"))
        for part in children_of(el):
            if _name(part) in {"label", "caption"}:
                self._write(part, made)
            else:
                self._blocks(part, made)

    def _table(self, el: Element, parent: Element) -> None:
        made = self._like(el, self._add(parent, "table-wrap"))
        for part in _children(el, "label", "caption"):
            self._write(part, made)
        for part in _children(el, "tgroup"):
            self._cals(part, self._add(made, "table"))
        if not _children(el, "tgroup"):
            for link in _children(el, "link"):
                self._add(made, "graphic").set(_HREF, link.get("locator", ""))
        notes = self._add(made, "table-wrap-foot")
        for part in _children(el, "legend", "table-footnote"):
            target = self._like(part, self._add(notes, "fn"))
            self._blocks(part, target)

    def _cals(self, group: Element, table: Element) -> None:
        """A CALS table (OASIS TR 9502) as one of HTML: spans for names, blanks for gaps."""
        columns = {
            el.get("colname", ""): number for number, el in enumerate(_children(group, "colspec"))
        }
        for name in ("thead", "tbody"):
            for part in _children(group, name):
                target = self._add(table, name)
                taken: dict[int, int] = {}  # column → rows that a cell above still reaches into
                for row in _children(part, "row"):
                    self._row(row, self._add(target, "tr"), columns, taken)

    def _row(
        self, row: Element, target: Element, columns: dict[str, int], taken: dict[int, int]
    ) -> None:
        at = 0
        below = {column: left - 1 for column, left in taken.items() if left > 1}
        for entry in _children(row, "entry"):
            first = columns.get(entry.get("namest") or entry.get("colname") or "", -1)
            last = columns.get(entry.get("nameend") or "", first)
            while at in taken or at < first:
                if at not in taken:
                    self._add(target, "td")
                at += 1
            cell = self._add(target, "td")
            wide = min(max(1, last - first + 1), _WIDEST)
            high = 1 + _number(entry.get("morerows"))
            if wide > 1:
                cell.set("colspan", str(wide))
            if high > 1:
                cell.set("rowspan", str(high))
                below |= dict.fromkeys(range(at, at + wide), high - 1)
            self._copy_content(entry, cell)
            at += wide
        taken.clear()
        taken.update(below)

    # --- references -----------------------------------------------------------------------------

    def _references(self, el: Element, back: Element) -> None:
        made = self._add(back, "ref-list")
        for title in _children(el, "section-title"):
            self._copy_content(title, self._add(made, "title"))
        for reference in _find(el, "bib-reference"):
            ref = self._like(reference, self._add(made, "ref"))
            for part in children_of(reference):
                match _name(part):
                    case "label":
                        self._add(ref, "label", _text(part))
                    case "reference":
                        self._citation(part, self._add(ref, "element-citation"))
                    case "other-ref":
                        self._copy_content(part, self._add(ref, "mixed-citation"))
                    case "note":
                        self._copy_content(part, self._add(ref, "note"))

    def _citation(self, el: Element, made: Element) -> None:
        made.set("publication-type", "journal")
        for part in children_of(el):
            match _name(part):
                case "contribution":
                    self._contribution(part, made)
                case "host":
                    self._host(part, made)
                case "comment":
                    self._copy_content(part, self._add(made, "comment"))

    def _contribution(self, el: Element, made: Element) -> None:
        self._people(_find(el, "author", "collaboration", "et-al"), made, "author")
        for title in _children(el, "title", "translated-title"):
            self._title(title, self._add(made, "article-title"))

    def _people(self, found: Iterable[Element], made: Element, role: str) -> None:
        group = self._add(made, "person-group")
        group.set("person-group-type", role)
        for el in found:
            match _name(el):
                case "et-al":
                    self._add(group, "etal")
                case "collaboration":
                    self._add(group, "collab", _text(el))
                case _:
                    self._person(el, group)
        if not len(group):
            made.remove(group)

    def _title(self, title: Element, target: Element) -> None:
        for part in _children(title, "maintitle", "subtitle"):
            self._say(target, ": " if _name(part) == "subtitle" else "")
            self._copy_content(part, target)

    def _host(self, host: Element, made: Element) -> None:
        fields = {
            "volume-nr": "volume",
            "issue-nr": "issue",
            "date": "year",
            "first-page": "fpage",
            "last-page": "lpage",
            "article-number": "elocation-id",
            "edition": "edition",
        }
        for el in _find(host, "series", "book", "edited-book", "e-host"):
            for editors in _children(el, "editors"):
                self._people(_find(editors, "editor"), made, "editor")
            for title in _children(el, "title"):
                self._title(title, self._add(made, "source"))
        for el in _find(host, *fields):
            self._add(made, fields[_name(el)], _text(el))
        for el in _find(host, "publisher"):
            for name, tag in (("location", "publisher-loc"), ("name", "publisher-name")):
                if text := ", ".join(map(_text, _children(el, name))):
                    self._add(made, tag, text)
        for el in _find(host, "doi"):
            self._add(made, "pub-id", _text(el)).set("pub-id-type", "doi")
        for el in _find(host, "inter-ref"):
            self._link(el, made)


def _target(name: str) -> str:
    """What JATS calls a reference to an element of that name."""
    return {
        "bib-reference": "bibr",
        "figure": "fig",
        "scheme": "fig",
        "table": "table",
        "formula": "disp-formula",
        "footnote": "fn",
        "table-footnote": "table-fn",
        "section": "sec",
        "affiliation": "aff",
        "e-component": "supplementary-material",
        "textbox": "boxed-text",
    }.get(name, "other")


def _unlaid(text: str | None, after: str) -> str | None:
    """Nothing for a line break the service put before an index, which no print has there."""
    is_layout = text is not None and "\n" in text and not text.strip()
    return None if is_layout and after in {"inf", "sup"} else text


def _number(text: str | None) -> int:
    return min(int(text), _WIDEST) if text and text.isascii() and text.isdigit() else 0
