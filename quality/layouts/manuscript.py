"""A recorded JATS article as parts that a page can be laid out from."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from lxml import etree

from quality.jats_truth import Truth

_MARKS = {"italic": "em", "bold": "strong", "sup": "sup", "sub": "sub", "underline": "u"}
_FLOATS = frozenset({"fig", "table-wrap", "fig-group", "table-wrap-group", "boxed-text", "media"})
_BLOCKS = _FLOATS | {"list", "disp-quote", "def-list", "disp-formula", "supplementary-material"}
_UNSEEN = frozenset({"tex-math", "object-id", "label", "annotation", "graphic", "alternatives"})
_SILENT_IN_REFERENCES = frozenset({"pub-id", "ext-link", "uri", "object-id", "comment"})


@dataclass(frozen=True)
class Reference:
    """An entry of the reference list: its text as HTML and, if it names one, its DOI."""

    number: int
    text: str
    doi: str


class Manuscript:
    """What an article has, by the names of its parts."""

    def __init__(self, body: bytes) -> None:
        self.tree = Truth(body).tree

    @cached_property
    def title(self) -> str:
        """The title as HTML."""
        title = self.tree.find("front//article-title")
        return "" if title is None else inline(title)

    @cached_property
    def authors(self) -> list[str]:
        """Given and family names."""
        found = []
        for name in self.tree.iterfind("front/article-meta/contrib-group/contrib/name"):
            given, family = name.findtext("given-names") or "", name.findtext("surname") or ""
            found.append(html.escape(f"{given} {family}".strip()))
        return found

    @cached_property
    def affiliations(self) -> list[str]:
        """Where the authors work."""
        return [" ".join(_texts(el)) for el in self.tree.iterfind("front//aff")]

    @cached_property
    def keywords(self) -> list[str]:
        """Keywords as HTML."""
        return [inline(el) for el in self.tree.iterfind("front/article-meta/kwd-group/kwd")]

    @cached_property
    def doi(self) -> str:
        """The DOI."""
        return self.tree.findtext("front/article-meta/article-id[@pub-id-type='doi']") or ""

    @cached_property
    def journal(self) -> str:
        """The journal's title."""
        return html.escape(self.tree.findtext("front//journal-title") or "A Journal")

    @cached_property
    def abstracts(self) -> list[etree._Element]:
        """Every abstract."""
        return self.tree.findall("front/article-meta/abstract")

    @cached_property
    def body(self) -> list[etree._Element]:
        """What stands in the body, and figures and tables kept apart from it."""
        body, apart = self.tree.find("body"), self.tree.find("floats-group")
        return [*(() if body is None else body), *(() if apart is None else apart)]

    @cached_property
    def back(self) -> list[etree._Element]:
        """Acknowledgements, appendices and notes, without the reference list."""
        back = self.tree.find("back")
        return [] if back is None else [el for el in back if el.tag in {"ack", "sec"}]

    @cached_property
    def references(self) -> list[Reference]:
        """The reference list."""
        found = self.tree.iterfind("back//ref")
        return [Reference(number, *_reference(el)) for number, el in enumerate(found, 1)]


def _texts(el: etree._Element) -> Iterator[str]:
    for text in el.itertext():
        yield from html.escape(str(text), quote=False).split()


def _reference(ref: etree._Element) -> tuple[str, str]:
    doi = next((el.text or "" for el in ref.iter("pub-id") if el.get("pub-id-type") == "doi"), "")
    cited = ref.find("mixed-citation")
    if (cited is not None and (cited.text or "").strip()) or (cited is not None and not len(cited)):
        return inline(cited, _SILENT_IN_REFERENCES), doi
    cited = next((el for el in ref if el.tag.endswith("citation")), ref)
    names = [
        " ".join(_texts(el))
        for el in cited.iter("name", "collab", "string-name", "person-group")
        if el.tag != "person-group"
    ]
    rest = [
        inline(el)
        for el in cited
        if el.tag not in {"person-group", "name", "collab", "string-name", *_SILENT_IN_REFERENCES}
        and "".join(map(str, el.itertext())).strip()
    ]
    pieces = [", ".join(names), *rest]
    return ". ".join(piece for piece in pieces if piece), doi


def inline(el: etree._Element | None, leave_out: frozenset[str] = frozenset()) -> str:
    """The element's text as HTML, without the blocks in it; references to entries stay."""
    if el is None:
        return ""
    made = [html.escape(el.text or "", quote=False)]
    for child in el:
        if not isinstance(child.tag, str) or child.tag in _BLOCKS | _UNSEEN | leave_out:
            pass
        elif child.tag == "xref" and child.get("ref-type") == "bibr":
            made.append(f"<cite-mark>{inline(child, leave_out)}</cite-mark>")
        elif child.tag == "xref":
            made.append(f'<a href="#{child.get("rid")}">{inline(child, leave_out)}</a>')
        elif tag := _MARKS.get(child.tag):
            made.append(f"<{tag}>{inline(child, leave_out)}</{tag}>")
        else:
            made.append(inline(child, leave_out))
        made.append(html.escape(child.tail or "", quote=False))
    return "".join(made)


def blocks_in(el: etree._Element) -> Iterator[etree._Element]:
    """Figures, tables and lists that stand inside a paragraph."""
    for child in el:
        if child.tag in _BLOCKS:
            yield child
        elif isinstance(child.tag, str):
            yield from blocks_in(child)
