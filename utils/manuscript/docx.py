r"""Word's DOCX: paragraphs, and the citations that reference managers keep in fields.

Zotero (``ADDIN ZOTERO_ITEM CSL_CITATION``) and Mendeley Desktop (``ADDIN CSL_CITATION``) keep
CSL-JSON, Mendeley Cite the same in the tag of a content control, EndNote (``ADDIN EN.CITE``) XML:
so they say exactly what is cited. Word's own fields name its own sources. What a
footnote or endnote cites is cited where its sign stands. Facts: the fields' code of Zotero
(https://github.com/zotero/zotero, ``xpcom/integration.js``), ECMA-376 part 1, 17.16 for fields;
EndNote's and Mendeley Cite's forms as remembered from documents.

``CITATION Roe24 \l 1033 \m Doe20`` cites two of Word's own sources by their tags; they stand in a
part ``customXml/itemN.xml`` whose root is ``b:Sources``. Facts: ECMA-376 part 1, 17.16.5.8
(CITATION) and 22.6.2
(https://learn.microsoft.com/en-us/previous-versions/office/developer/office-2010/cc883881(v=office.14)).
The element ``DOI`` is as remembered from documents of newer Words; the standard has none.
"""

from __future__ import annotations

import base64
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from typing import Any

from ..errors import BadContent, BadRequest
from ..lists.described import to_paper
from ..lists.documents import get_endnote_fields, get_endnote_ids
from ..readers.safe_xml import parse
from .parts import Block, Mark, Reference
from .printed import ids_in
from .reference_files import by_key, csl_reference

_CITATION = re.compile(r"\s*CITATION\s")
_TAG = re.compile(r"(?:CITATION|\\m)\s+(\"[^\"]*\"|[^\s\\]+)")
_KINDS = {
    "JournalArticle": "article",
    "ArticleInAPeriodical": "article",
    "InternetSite": "webpage",
    "DocumentFromInternetSite": "webpage",
}
_MOST_AUTHORS = 100
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MOST_XML = 200_000_000
_MENDELEY = "MENDELEY_CITATION_v3_"
_PARTS = re.compile(r"word/(?:foot|end)notes\.xml|customXml/item\d+\.xml")
_LISTS = re.compile(r"\s*(?:ADDIN (?:ZOTERO_BIBL|EN\.REFLIST|Mendeley Bibliography)|BIBLIOGRAPHY)")


def tags_in(code: str) -> tuple[str, ...]:
    r"""The tags of the sources that a field cites; none where it is another field.

    >>> tags_in(r' CITATION Roe24 \l 1033 \m "Doe 20" \p 3 ')
    ('Roe24', 'Doe 20')
    """
    found = _TAG.findall(code) if _CITATION.match(code) else []
    return tuple(tag.strip('"') for tag in found)


def sources_in(root: Any) -> Iterator[Reference]:
    """The sources of a part; none where it is another part."""
    if _name(root) != "Sources":
        return
    for source in root:
        fields = {_name(one): _words(one) for one in source if not len(one)}
        if tag := fields.get("Tag", ""):
            named = " ".join(fields.get(name, "") for name in ("DOI", "StandardNumber", "URL"))
            said = {
                "authors": list(_authors(source))[:_MOST_AUTHORS],
                "year": fields.get("Year", ""),
                "title": fields.get("Title", ""),
                "journal": fields.get("JournalName", "") or fields.get("PeriodicalTitle", ""),
                "volume": fields.get("Volume", ""),
                "issue": fields.get("Issue", ""),
                "pages": fields.get("Pages", ""),
            }
            kind = fields.get("SourceType", "")
            yield Reference(tag, ids_in(named), to_paper(said), kind=_KINDS.get(kind, kind))


def _authors(source: Any) -> Iterator[str]:
    """Of a source's people those that are called its authors: ``Author`` in ``Author``."""
    people = (one for outer in source if _name(outer) == "Author" for one in outer)
    for one in (
        element for person in people if _name(person) == "Author" for element in person.iter()
    ):
        if _name(one) == "Corporate":
            yield _words(one)
        elif _name(one) == "Person":
            parts = {_name(part): _words(part) for part in one}
            given = f"{parts.get('First', '')} {parts.get('Middle', '')}".strip()
            yield ", ".join(filter(None, (parts.get("Last", ""), given)))


def _name(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _words(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())


def read(data: bytes) -> tuple[list[Block], list[Reference]]:
    """The paragraphs and the works that fields cite.

    Raises
    ------
    BadRequest
        It is no DOCX, or damaged.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as packed:
            named = [one for one in packed.infolist() if _PARTS.fullmatch(one.filename)]
            read = ["word/document.xml", *(one.filename for one in named)]
            if sum(packed.getinfo(one).file_size for one in read) > _MOST_XML:
                raise BadRequest("The document is too long to be read.", "Split it.")
            root, *others = (
                part for one in read if (part := _parsed(one, packed.read(one))) is not None
            )
    except (KeyError, zipfile.BadZipFile, BadContent, OSError, NotImplementedError, RuntimeError):
        raise BadRequest("It is no DOCX, or damaged.", "Save it again as .docx.") from None
    reading = _Document(
        dict(_notes(others)), by_key(one for part in others for one in sources_in(part))
    )
    for paragraph in root.iter(f"{_W}p"):
        reading.paragraph(paragraph)
    return reading.blocks, list(reading.references.values())


def _parsed(name: str, data: bytes) -> Any:
    """A part; None of one that programs add and that is no XML we read."""
    try:
        return parse(data)
    except BadContent:
        if name.startswith("word/"):
            raise
        return None


def _notes(parts: list[Any]) -> Iterator[tuple[tuple[str, str], Any]]:
    """The notes by kind and number."""
    for part in parts:
        for kind in ("footnote", "endnote"):
            yield from (((kind, one.get(f"{_W}id", "")), one) for one in part.iter(f"{_W}{kind}"))


class _Field:
    """A field that has begun: its code, and where its result stands."""

    def __init__(self, at: int) -> None:
        self.code = ""
        self.at = at
        self.shows = False


class _Document:
    """Blocks and references, as far as they are read; fields may span paragraphs."""

    def __init__(self, notes: Mapping[tuple[str, str], Any], sources: dict[str, Reference]) -> None:
        self._notes = notes
        self._sources = sources
        self._noted = 0
        self.blocks: list[Block] = []
        self.references: dict[str, Reference] = {}
        self._fields: list[_Field] = []
        self._number = 0

    def paragraph(self, paragraph: Any) -> None:
        self._number += 1
        self._text = ""
        self._marks: list[Mark] = []
        self._behind: list[Block] = []
        self._in_list = any(_LISTS.match(field.code) for field in self._fields)
        for field in self._fields:
            field.at = 0
        for element in paragraph.iter():
            self._element(element)
        style = paragraph.find(f"{_W}pPr/{_W}pStyle")
        named = style.get(f"{_W}val", "") if style is not None else ""
        in_list = self._in_list or any(_LISTS.match(field.code) for field in self._fields)
        kind = "heading" if re.match(r"heading|title", named, re.I) else "prose"
        if re.search("quote", named, re.I):
            kind = "quote"
        if self._text.strip():
            made = Block(self._text, tuple(self._marks), number=self._number)
            self.blocks.append(replace(made, kind="entry" if in_list else kind))  # type: ignore[arg-type]
        self.blocks += self._behind

    def _element(self, element: Any) -> None:
        tag = element.tag.removeprefix(_W) if isinstance(element.tag, str) else ""
        if tag == "t":
            self._words(element)
        elif tag in ("tab", "br"):
            self._text += " "
        elif tag == "noBreakHyphen":
            self._text += "-"
        elif tag == "fldChar":
            self._field(element)
        elif tag == "instrText" and self._fields:
            self._fields[-1].code += element.text or ""
        elif tag == "fldSimple":
            self._cite(element.get(f"{_W}instr", ""), _shown(element))
        elif tag in ("footnoteReference", "endnoteReference"):
            self._note(tag.removesuffix("Reference"), element.get(f"{_W}id", ""))
        elif tag == "sdt":
            control = element.find(f"{_W}sdtPr/{_W}tag")
            named = control.get(f"{_W}val", "") if control is not None else ""
            if named.startswith(_MENDELEY):
                self._cite_mendeley(named.removeprefix(_MENDELEY), _shown(element))

    def _words(self, element: Any) -> None:
        if self._fields and not self._fields[-1].shows:
            return
        words = element.text or ""
        run = element.getparent()
        raised = run.find(f"{_W}rPr/{_W}vertAlign") if run is not None else None
        start = len(self._text)
        self._text += words
        is_raised = raised is not None and raised.get(f"{_W}val") == "superscript"
        if is_raised and re.fullmatch(r"\d[\d,;\s\u2013-]*", words) and not self._fields:
            self._marks.append(Mark(start, len(self._text), (f"#{words}",)))

    def _field(self, element: Any) -> None:
        kind = element.get(f"{_W}fldCharType")
        if kind == "begin":
            self._fields.append(_Field(len(self._text)))
            data = element.find(f"{_W}fldData")
            if data is not None and data.text:
                with suppress(ValueError):
                    self._fields[-1].code += base64.b64decode(data.text).decode("utf-8", "replace")
        elif kind == "separate" and self._fields:
            self._fields[-1].shows = True
        elif kind == "end" and self._fields:
            field = self._fields.pop()
            self._in_list = self._in_list or _LISTS.match(field.code) is not None
            if not self._fields or not _of_endnote(self._fields[-1].code):
                self._mark(field.code, field.at, len(self._text))
            else:
                self._fields[-1].code += field.code

    def _note(self, kind: str, name: str) -> None:
        """A note's paragraphs stand behind this one; what they cite is cited here."""
        note = self._notes.get((kind, name))
        if note is None:
            return
        self._noted += 1
        inner = _Document({}, self._sources)
        for paragraph in note.iter(f"{_W}p"):
            inner.paragraph(paragraph)
        for key, one in inner.references.items():
            self.references.setdefault(key, one)
        self._behind += (replace(one, file=f"{kind} {self._noted}") for one in inner.blocks)
        marks = (mark for one in inner.blocks for mark in one.marks)
        keys = tuple(key for mark in marks for key in mark.keys if key[0] != "#")
        if keys:
            start = len(self._text)
            self._text += str(self._noted)
            self._marks.append(Mark(start, len(self._text), keys))

    def _cite(self, code: str, shown: str) -> None:
        self._mark(code, len(self._text), len(self._text) + len(shown))

    def _cite_mendeley(self, packed: str, shown: str) -> None:
        with suppress(ValueError):
            said = base64.b64decode(f"{packed}===").decode("utf-8", "replace")
            self._mark(f"CSL_CITATION {said}", len(self._text), len(self._text) + len(shown))

    def _mark(self, code: str, start: int, end: int) -> None:
        works = list(_of_csl(code) if "CSL_CITATION" in code else _of_endnote(code))
        for one in works:
            self.references.setdefault(one.key, one)
        tags = tags_in(code)
        self.references |= {tag: self._sources[tag] for tag in tags if tag in self._sources}
        keys = tags or tuple(one.key for one in works)
        if keys and end > start:
            self._marks.append(Mark(start, end, keys))


def _shown(element: Any) -> str:
    return "".join(part.text or "" for part in element.iter(f"{_W}t"))


def _of_csl(code: str) -> Iterator[Reference]:
    with suppress(ValueError, RecursionError, AttributeError, TypeError):
        said, _ = json.JSONDecoder().raw_decode(code[code.index("{") :])
        for item in said["citationItems"] if isinstance(said, dict) else ():
            data = item.get("itemData") or {}
            key = str((item.get("uris") or [item.get("id") or data.get("id")])[0])
            yield csl_reference(data, key)


def _of_endnote(code: str) -> list[Reference]:
    found = re.search(r"<EndNote>.*?</EndNote>", code, re.S)
    if not found:
        return []
    try:
        root = parse(found[0].encode())
    except BadContent:
        return []
    made: list[Reference] = []
    for cite in root.iter("Cite"):
        if (record := cite.find("record")) is not None:
            key = f"endnote:{cite.findtext('RecNum') or record.findtext('rec-number') or len(made)}"
            made.append(
                Reference(key, get_endnote_ids(record), to_paper(get_endnote_fields(record)))
            )
    return made
