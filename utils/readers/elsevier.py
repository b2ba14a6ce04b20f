"""Convert Elsevier's article XML to JATS, which the JATS reader converts to markdown.

The Article Retrieval API returns a ``full-text-retrieval-response``: ``coredata``, and in
``originalText`` the article in Elsevier's own DTD (5.x), with floats before the head. Its elements
correspond to those of JATS, so they are renamed and reordered, and the JATS reader handles tables,
formulas, references and signs of incompleteness. Elements are identified by their local names,
because the default namespace changes from element to element.

Sources: Elsevier's "Tag by Tag" for DTD 5, and ten responses of the API.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from ..errors import BadContent
from ..model.paper import Document, Fetched
from .jats import convert_article_element, parse_jats
from .safe_xml import list_children

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


def read_document(fetched: Fetched) -> Document:
    """Return the article as markdown with its metadata; see `.jats.read_document`.

    A response without the text (because the key has no access) has no words in its body.

    Raises
    ------
    BadContent
        The bytes are not a response of this service (verdict ``not_a_paper``).
    """
    parsed = parse_jats(fetched.body)
    return convert_article_element(_JatsBuilder(parsed.root).build_jats(), parsed.cut_off)


def has_full_text(body: bytes) -> bool:
    """Return whether a response contains the article's text and not only its abstract."""
    try:
        root = parse_jats(body).root
    except BadContent:
        return False
    paragraphs = (
        el
        for body in _iterate_descendants(root, "body")
        for el in _iterate_descendants(body, "para", "simple-para")
    )
    return next(paragraphs, None) is not None or bool(
        _get_element_text(_find_first_descendant(root, "rawtext"))
    )


def _get_local_name(el: Element) -> str:
    return el.tag.rpartition("}")[2] if isinstance(el.tag, str) else ""


def _iterate_descendants(el: Element | None, *names: str) -> Iterator[Element]:
    """Yield the descendants with one of these local names."""
    for child in el.iter("{*}*") if el is not None else ():
        if _get_local_name(child) in names:
            yield child


def _find_first_descendant(el: Element | None, *names: str) -> Element | None:
    """Return the first descendant with one of these local names; else None."""
    return next(_iterate_descendants(el, *names), None)


def _find_named_children(el: Element | None, *names: str) -> list[Element]:
    return (
        []
        if el is None
        else [child for child in list_children(el) if _get_local_name(child) in names]
    )


def _get_element_text(el: Element | None) -> str:
    return "" if el is None else " ".join("".join(map(str, el.itertext())).split())


class _JatsBuilder:
    """Builds JATS from one response; ``floats`` holds the figures and tables not yet placed."""

    def __init__(self, root: Element) -> None:
        self.core = _find_first_descendant(root, "coredata")
        self.item = _find_first_descendant(
            root, "article", "simple-article", "converted-article", "book-review", "exam", "chapter"
        )
        if self.core is None and self.item is None:
            msg = "This is not an article: there is no <coredata> of Elsevier in the XML."
            raise BadContent(msg, verdict="not_a_paper")
        self.subtype = _get_element_text(_find_first_descendant(root, "document-subtype"))
        self.raw = _find_first_descendant(root, "rawtext")
        self.targets = {el.get("id", ""): _get_local_name(el) for el in root.iter() if el.get("id")}
        self.floats = {
            el.get("id", f"float {number}"): el
            for holder in _find_named_children(self.item, "floats")
            for number, el in enumerate(_find_named_children(holder, *_FLOATS))
        }
        self.notes: dict[str, Element] = {}
        self.article = root.makeelement("article")
        self._special: dict[str, Callable[[Element, Element], None]] = {
            "hsp": self._write_blank,
            "glyph": self._write_glyph,
            "cross-ref": self._write_cross_reference,
            "cross-refs": self._write_cross_reference,
            "inter-ref": self._write_link,
            "float-anchor": self._skip_element,
            "footnote": self._write_footnote,
            "display": self._copy_inline_content,
            "formula": self._write_formula,
            "math": self._write_math,
            "list": self._write_list,
            "def-list": self._write_definitions,
            "figure": self._write_figure,
            "scheme": self._write_figure,
            "e-component": self._write_supplement,
            "table": self._write_table,
            "textbox": self._write_box,
            "link": self._skip_element,
            "inline-figure": self._write_inline_figure,
        }

    def build_jats(self) -> Element:
        """Return the ``article``: front, body, back, and floats that the text never mentions."""
        if kind := _KINDS.get(self.subtype):
            self.article.set("article-type", kind)
        self._write_front_matter(_find_first_descendant(self.item, "head", "simple-head"))
        self._write_body()
        self._write_back_matter()
        if self.floats:
            group = self._add_element(self.article, "floats-group")
            for name in list(self.floats):
                self._place_float(name, group)
        return self.article

    # --- the parts ------------------------------------------------------------------------------

    def _write_front_matter(self, head: Element | None) -> None:
        meta = self._add_element(self._add_element(self.article, "front"), "article-meta")
        for kind, name in (("doi", "doi"), ("pmid", "pubmed-id"), ("pii", "pii")):
            if text := self._get_coredata_field(name):
                self._add_element(meta, "article-id", text).set("pub-id-type", kind)
        titles = self._add_element(meta, "title-group")
        for title in _find_named_children(head, "title") or _find_named_children(
            self.core, "title"
        ):
            self._copy_inline_content(title, self._add_element(titles, "article-title"))
        for title in _find_named_children(head, "subtitle"):
            self._copy_inline_content(title, self._add_element(titles, "subtitle"))
        self._write_authors(meta, head)
        for name, field in (("fpage", "startingPage"), ("lpage", "endingPage")):
            if text := self._get_coredata_field(field):
                self._add_element(meta, name, text)
        if text := self._get_coredata_field("openaccessUserLicense"):
            self._add_element(self._add_element(meta, "permissions"), "license").set(_HREF, text)
        self._write_abstracts(meta, head)
        self._write_keywords(meta, head)

    def _get_coredata_field(self, field: str) -> str:
        """Return the text of a field of ``coredata``."""
        return _get_element_text(next(iter(_find_named_children(self.core, field)), None))

    def _write_keywords(self, meta: Element, head: Element | None) -> None:
        for group in _find_named_children(head, "keywords"):
            words = self._add_element(meta, "kwd-group")
            for el in list_children(group):
                if _get_local_name(el) == "section-title":
                    self._copy_inline_content(el, self._add_element(words, "title"))
                elif (
                    _get_local_name(el) == "keyword"
                    and (text := _find_first_descendant(el, "text")) is not None
                ):
                    self._copy_inline_content(text, self._add_element(words, "kwd"))

    def _write_authors(self, meta: Element, head: Element | None) -> None:
        group = self._add_element(meta, "contrib-group")
        for el in _iterate_descendants(head, "author", "collaboration"):
            contrib = self._add_element(group, "contrib")
            contrib.set("contrib-type", "author")
            if _get_local_name(el) == "collaboration":
                self._add_element(
                    contrib, "collab", _get_element_text(_find_first_descendant(el, "text"))
                )
            else:
                self._write_person_name(el, contrib)
        if not len(group):
            for el in _find_named_children(self.core, "creator"):
                family, _, given = _get_element_text(el).partition(", ")
                contrib = self._add_element(group, "contrib")
                contrib.set("contrib-type", "author")
                name = self._add_element(contrib, "name")
                self._add_element(name, "surname", family)
                self._add_element(name, "given-names", given)

    def _write_person_name(self, el: Element, parent: Element) -> None:
        name = self._add_element(parent, "name")
        for source, target in (
            ("surname", "surname"),
            ("given-name", "given-names"),
            ("suffix", "suffix"),
        ):
            for part in _find_named_children(el, source):
                self._add_element(name, target, _get_element_text(part))

    def _write_abstracts(self, meta: Element, head: Element | None) -> None:
        found = _find_named_children(head, "abstract")
        for el in sorted(
            found,
            key=lambda abstract_element: (abstract_element.get("class") or "author") != "author",
        ):
            abstract = self._add_element(meta, "abstract")
            if (kind := el.get("class") or "author") != "author":
                abstract.set("abstract-type", _ABSTRACTS.get(kind, kind))
            for part in _find_named_children(el, "abstract-sec"):
                titled = any(
                    _get_local_name(abstract_element) == "section-title"
                    for abstract_element in list_children(part)
                )
                self._write_child_blocks(
                    part, self._add_element(abstract, "sec") if titled else abstract
                )
        if not found and (description := self._get_coredata_field("description")):
            plain = re.sub(r"^(?:Abstract|Summary)\s+", "", description)
            self._add_element(self._add_element(meta, "abstract"), "p", plain)

    def _write_body(self) -> None:
        body = next(iter(_find_named_children(self.item, "body")), None)
        if body is not None:
            target = self._add_element(self.article, "body")
            for el in list_children(body):
                if _get_local_name(el) == "sections":
                    self._write_child_blocks(el, target)
                elif _get_local_name(el) not in {"acknowledgment", "appendices"}:
                    self._write_element(el, target)
        elif self.raw is not None:
            target = self._add_element(self.article, "body")
            for paragraph in re.split(r"\n\s*\n", "".join(map(str, self.raw.itertext()))):
                self._add_element(target, "p", " ".join(paragraph.split()))

    def _write_back_matter(self) -> None:
        back = self._add_element(self.article, "back")
        for el in _iterate_descendants(self.item, "acknowledgment"):
            for part in _find_named_children(el, "section") or [el]:
                self._write_child_blocks(
                    part, self._copy_id_attribute(el, self._add_element(back, "ack"))
                )
        for el in _iterate_descendants(self.item, "appendices"):
            group = self._add_element(back, "app-group")
            for section in _find_named_children(el, "section"):
                self._write_child_blocks(
                    section, self._copy_id_attribute(section, self._add_element(group, "app"))
                )
        tail = next(iter(_find_named_children(self.item, "tail", "simple-tail")), None)
        for el in list_children(tail) if tail is not None else ():
            if _get_local_name(el) in {"bibliography", "further-reading"}:
                self._write_references(el, back)
            else:
                self._write_element(el, back)
        if self.notes:
            back.insert(0, self._build_footnote_group())

    def _build_footnote_group(self) -> Element:
        group = self.article.makeelement("fn-group")
        for name, el in self.notes.items():
            note = self._add_element(group, "fn")
            note.set("id", name)
            self._write_child_blocks(el, note)
        return group

    # --- going through --------------------------------------------------------------------------

    def _add_element(self, parent: Element, tag: str, text: str = "") -> Element:
        child = parent.makeelement(tag)
        child.text = text or None
        parent.append(child)
        return child

    def _append_text(self, parent: Element, text: str | None) -> None:
        """Append text after the last child of *parent*."""
        if not text:
            return
        if len(parent):
            parent[-1].tail = (parent[-1].tail or "") + text
        else:
            parent.text = (parent.text or "") + text

    def _write_element(self, el: Element, parent: Element) -> None:
        """Write one element as JATS; an unknown element is replaced by its content."""
        name = _get_local_name(el)
        if not name or name in _DROPPED:
            return
        if special := self._special.get(name):
            special(el, parent)
        elif name in {"section", "acknowledgment", "list-item", "enunciation"}:
            self._write_child_blocks(
                el, self._copy_id_attribute(el, self._add_element(parent, _SAME[name]))
            )
        elif name in _SAME:
            element = self._copy_id_attribute(el, self._add_element(parent, _SAME[name]))
            self._copy_inline_content(el, element)
            if _SAME[name] == "p":
                self._place_anchored_floats(el, parent)
        else:
            self._copy_inline_content(el, parent)

    def _copy_id_attribute(self, el: Element, target: Element) -> Element:
        if name := el.get("id"):
            target.set("id", name)
        return target

    def _copy_inline_content(self, el: Element, parent: Element) -> None:
        """Write text and elements in order, without layout whitespace before a subscript."""
        children = list_children(el)
        following = [*map(_get_local_name, children), ""]
        self._append_text(parent, _drop_layout_whitespace(el.text, following[0]))
        for child, after in zip(children, following[1:], strict=True):
            self._write_element(child, parent)
            self._append_text(parent, _drop_layout_whitespace(child.tail, after))

    def _write_child_blocks(self, el: Element, parent: Element) -> None:
        """Write the block elements in *el*; text between them is layout and is skipped."""
        for child in list_children(el):
            self._write_element(child, parent)
            self._append_text(parent, child.tail if (child.tail or "").strip() else "")

    def _place_anchored_floats(self, el: Element, parent: Element) -> None:
        for anchor in _iterate_descendants(el, "float-anchor"):
            self._place_float(anchor.get("refid", ""), parent)

    def _place_float(self, name: str, parent: Element) -> None:
        if (float_ := self.floats.pop(name, None)) is not None:
            self._write_element(float_, parent)

    # --- inside a line --------------------------------------------------------------------------

    def _skip_element(self, el: Element, parent: Element) -> None:
        """Write nothing, because the element is written elsewhere."""

    def _write_blank(self, el: Element, parent: Element) -> None:
        self._append_text(parent, " ")

    def _write_glyph(self, el: Element, parent: Element) -> None:
        self._append_text(parent, _GLYPHS.get(el.get("name", ""), ""))

    def _write_cross_reference(self, el: Element, parent: Element) -> None:
        xref = self._add_element(parent, "xref")
        names = el.get("refid", "")
        xref.set("rid", names)
        xref.set("ref-type", _get_ref_type(self.targets.get(names.split(" ")[0], "")))
        self._copy_inline_content(el, xref)

    def _write_link(self, el: Element, parent: Element) -> None:
        address = el.get(_HREF, "")
        link = self._add_element(parent, "ext-link")
        link.set(_HREF, re.sub(r"^doi:", "https://doi.org/", address))
        self._copy_inline_content(el, link)

    def _write_footnote(self, el: Element, parent: Element) -> None:
        name = el.get("id") or f"note {len(self.notes)}"
        self.notes[name] = el
        if parent.tag == "p":
            mark = self._add_element(
                self._add_element(parent, "sup"),
                "xref",
                _get_element_text(_find_first_descendant(el, "label")),
            )
            mark.set("ref-type", "fn")
            mark.set("rid", name)

    def _write_formula(self, el: Element, parent: Element) -> None:
        self._copy_inline_content(
            el, self._copy_id_attribute(el, self._add_element(parent, "disp-formula"))
        )

    def _write_math(self, el: Element, parent: Element) -> None:
        if parent.tag != "disp-formula":
            parent = self._add_element(parent, "inline-formula")
        math = self._add_element(parent, _MATH)
        math.text = el.text
        for child in list_children(el):
            math.append(child)

    def _write_inline_figure(self, el: Element, parent: Element) -> None:
        for link in _iterate_descendants(el, "link"):
            self._add_element(parent, "inline-graphic").set(_HREF, link.get("locator", ""))

    # --- blocks ---------------------------------------------------------------------------------

    def _write_list(self, el: Element, parent: Element) -> None:
        list_ = self._add_element(parent, "list")
        self._write_child_blocks(el, list_)

    def _write_definitions(self, el: Element, parent: Element) -> None:
        definitions, item = self._add_element(parent, "def-list"), None
        for child in list_children(el):
            if _get_local_name(child) == "def-term" or item is None:
                item = self._add_element(definitions, "def-item")
            if _get_local_name(child) == "def-description":
                self._write_child_blocks(child, self._add_element(item, "def"))
            else:
                self._write_element(child, item)

    def _write_figure(self, el: Element, parent: Element) -> None:
        figure = self._copy_id_attribute(el, self._add_element(parent, "fig"))
        self._write_child_blocks(el, figure)
        for link in _find_named_children(el, "link"):
            self._add_element(figure, "graphic").set(_HREF, link.get("locator", ""))

    def _write_supplement(self, el: Element, parent: Element) -> None:
        self._write_child_blocks(
            el, self._copy_id_attribute(el, self._add_element(parent, "supplementary-material"))
        )

    def _write_box(self, el: Element, parent: Element) -> None:
        box = self._copy_id_attribute(el, self._add_element(parent, "boxed-text"))
        for part in list_children(el):
            if _get_local_name(part) in {"label", "caption"}:
                self._write_element(part, box)
            else:
                self._write_child_blocks(part, box)

    def _write_table(self, el: Element, parent: Element) -> None:
        table = self._copy_id_attribute(el, self._add_element(parent, "table-wrap"))
        for part in _find_named_children(el, "label", "caption"):
            self._write_element(part, table)
        for part in _find_named_children(el, "tgroup"):
            self._write_cals_table(part, self._add_element(table, "table"))
        if not _find_named_children(el, "tgroup"):
            for link in _find_named_children(el, "link"):
                self._add_element(table, "graphic").set(_HREF, link.get("locator", ""))
        notes = self._add_element(table, "table-wrap-foot")
        for part in _find_named_children(el, "legend", "table-footnote"):
            target = self._copy_id_attribute(part, self._add_element(notes, "fn"))
            self._write_child_blocks(part, target)

    def _write_cals_table(self, group: Element, table: Element) -> None:
        """Write a CALS table (OASIS TR 9502) as HTML, with column and row spans."""
        columns = {
            el.get("colname", ""): number
            for number, el in enumerate(_find_named_children(group, "colspec"))
        }
        for name in ("thead", "tbody"):
            for part in _find_named_children(group, name):
                target = self._add_element(table, name)
                taken: dict[int, int] = {}  # column → rows that a cell above still reaches into
                for row in _find_named_children(part, "row"):
                    self._write_cals_row(row, self._add_element(target, "tr"), columns, taken)

    def _write_cals_row(
        self, row: Element, target: Element, columns: dict[str, int], taken: dict[int, int]
    ) -> None:
        at = 0
        below = {column: left - 1 for column, left in taken.items() if left > 1}
        for entry in _find_named_children(row, "entry"):
            first = columns.get(entry.get("namest") or entry.get("colname") or "", -1)
            last = columns.get(entry.get("nameend") or "", first)
            while at in taken or at < first:
                if at not in taken:
                    self._add_element(target, "td")
                at += 1
            cell = self._add_element(target, "td")
            wide = min(max(1, last - first + 1), _WIDEST)
            high = 1 + _parse_table_span(entry.get("morerows"))
            if wide > 1:
                cell.set("colspan", str(wide))
            if high > 1:
                cell.set("rowspan", str(high))
                below |= dict.fromkeys(range(at, at + wide), high - 1)
            self._copy_inline_content(entry, cell)
            at += wide
        taken.clear()
        taken.update(below)

    # --- references -----------------------------------------------------------------------------

    def _write_references(self, el: Element, back: Element) -> None:
        ref_list = self._add_element(back, "ref-list")
        for title in _find_named_children(el, "section-title"):
            self._copy_inline_content(title, self._add_element(ref_list, "title"))
        for reference in _iterate_descendants(el, "bib-reference"):
            ref = self._copy_id_attribute(reference, self._add_element(ref_list, "ref"))
            for part in list_children(reference):
                match _get_local_name(part):
                    case "label":
                        self._add_element(ref, "label", _get_element_text(part))
                    case "reference":
                        self._write_citation(part, self._add_element(ref, "element-citation"))
                    case "other-ref":
                        self._copy_inline_content(part, self._add_element(ref, "mixed-citation"))
                    case "note":
                        self._copy_inline_content(part, self._add_element(ref, "note"))

    def _write_citation(self, el: Element, citation: Element) -> None:
        citation.set("publication-type", "journal")
        for part in list_children(el):
            match _get_local_name(part):
                case "contribution":
                    self._write_contribution(part, citation)
                case "host":
                    self._write_host_publication(part, citation)
                case "comment":
                    self._copy_inline_content(part, self._add_element(citation, "comment"))

    def _write_contribution(self, el: Element, citation: Element) -> None:
        self._write_person_group(
            _iterate_descendants(el, "author", "collaboration", "et-al"), citation, "author"
        )
        for title in _find_named_children(el, "title", "translated-title"):
            self._write_reference_title(title, self._add_element(citation, "article-title"))

    def _write_person_group(self, found: Iterable[Element], citation: Element, role: str) -> None:
        group = self._add_element(citation, "person-group")
        group.set("person-group-type", role)
        for el in found:
            match _get_local_name(el):
                case "et-al":
                    self._add_element(group, "etal")
                case "collaboration":
                    self._add_element(group, "collab", _get_element_text(el))
                case _:
                    self._write_person_name(el, group)
        if not len(group):
            citation.remove(group)

    def _write_reference_title(self, title: Element, target: Element) -> None:
        for part in _find_named_children(title, "maintitle", "subtitle"):
            self._append_text(target, ": " if _get_local_name(part) == "subtitle" else "")
            self._copy_inline_content(part, target)

    def _write_host_publication(self, host: Element, citation: Element) -> None:
        fields = {
            "volume-nr": "volume",
            "issue-nr": "issue",
            "date": "year",
            "first-page": "fpage",
            "last-page": "lpage",
            "article-number": "elocation-id",
            "edition": "edition",
        }
        for el in _iterate_descendants(host, "series", "book", "edited-book", "e-host"):
            for editors in _find_named_children(el, "editors"):
                self._write_person_group(
                    _iterate_descendants(editors, "editor"), citation, "editor"
                )
            for title in _find_named_children(el, "title"):
                self._write_reference_title(title, self._add_element(citation, "source"))
        for el in _iterate_descendants(host, *fields):
            self._add_element(citation, fields[_get_local_name(el)], _get_element_text(el))
        for el in _iterate_descendants(host, "publisher"):
            for name, tag in (("location", "publisher-loc"), ("name", "publisher-name")):
                if text := ", ".join(map(_get_element_text, _find_named_children(el, name))):
                    self._add_element(citation, tag, text)
        for el in _iterate_descendants(host, "doi"):
            self._add_element(citation, "pub-id", _get_element_text(el)).set("pub-id-type", "doi")
        for el in _iterate_descendants(host, "inter-ref"):
            self._write_link(el, citation)


def _get_ref_type(name: str) -> str:
    """Return the JATS ``ref-type`` of a reference to an element named *name*."""
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


def _drop_layout_whitespace(text: str | None, after: str) -> str | None:
    """Return None for whitespace that Elsevier inserts before a subscript; else *text*."""
    is_layout = text is not None and "\n" in text and not text.strip()
    return None if is_layout and after in {"inf", "sup"} else text


def _parse_table_span(text: str | None) -> int:
    return min(int(text), _WIDEST) if text and text.isascii() and text.isdigit() else 0
