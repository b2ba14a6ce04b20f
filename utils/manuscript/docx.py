r"""Read Word's DOCX files: paragraphs, and the citations that reference managers store in fields.

Each reference manager stores the cited records in its fields:

- Zotero (``ADDIN ZOTERO_ITEM CSL_CITATION``), Mendeley Desktop (``ADDIN CSL_CITATION``): CSL-JSON;
- Mendeley Cite: CSL-JSON in the tag of a content control;
- EndNote (``ADDIN EN.CITE``): XML;
- Word itself: tags of its own sources.

A citation inside a footnote or endnote counts at the note's mark in the text. References: Zotero's
field code (https://github.com/zotero/zotero, ``xpcom/integration.js``); ECMA-376 part 1, 17.16 for
fields. The forms of EndNote and Mendeley Cite are from memory of real documents.

``CITATION Roe24 \l 1033 \m Doe20`` cites two of Word's own sources by their tags. The sources are
stored in a part ``customXml/itemN.xml`` whose root is ``b:Sources``. References: ECMA-376 part 1,
17.16.5.8 (CITATION) and 22.6.2
(https://learn.microsoft.com/en-us/previous-versions/office/developer/office-2010/cc883881(v=office.14)).
The element ``DOI`` occurs in documents of newer versions of Word; the standard does not define it.
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
from ..lists.described import fields_to_paper
from ..lists.documents import get_endnote_fields, get_endnote_ids
from ..readers.safe_xml import parse_untrusted_xml
from .parts import CitationMark, ListedReference, ManuscriptBlock
from .printed import find_ids_in_entry
from .reference_files import index_references_by_key, parse_csl_reference

_CITATION = re.compile(r"\s*CITATION\s")
_TAG = re.compile(r"(?:CITATION|\\m)\s+(\"[^\"]*\"|[^\s\\]+)")
_KINDS = {
    "JournalArticle": "article",
    "ArticleInAPeriodical": "article",
    "InternetSite": "webpage",
    "DocumentFromInternetSite": "webpage",
}
_MAX_AUTHORS = 100
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MAX_XML_BYTES = 200_000_000
_MENDELEY = "MENDELEY_CITATION_v3_"
_PART_NAMES = re.compile(r"word/(?:foot|end)notes\.xml|customXml/item\d+\.xml")
_LIST_FIELDS = re.compile(
    r"\s*(?:ADDIN (?:ZOTERO_BIBL|EN\.REFLIST|Mendeley Bibliography)|BIBLIOGRAPHY)"
)


def find_source_tags(code: str) -> tuple[str, ...]:
    r"""Return the tags of the sources that a field cites; () for other fields.

    >>> find_source_tags(r' CITATION Roe24 \l 1033 \m "Doe 20" \p 3 ')
    ('Roe24', 'Doe 20')
    """
    found = _TAG.findall(code) if _CITATION.match(code) else []
    return tuple(tag.strip('"') for tag in found)


def iterate_word_sources(root: Any) -> Iterator[ListedReference]:
    """Yield the sources in a part of the file; none if the part is not a source list."""
    if _get_local_name(root) != "Sources":
        return
    for source in root:
        fields = {_get_local_name(one): _get_inner_text(one) for one in source if not len(one)}
        if tag := fields.get("Tag", ""):
            named = " ".join(fields.get(name, "") for name in ("DOI", "StandardNumber", "URL"))
            said = {
                "authors": list(_iterate_source_authors(source))[:_MAX_AUTHORS],
                "year": fields.get("Year", ""),
                "title": fields.get("Title", ""),
                "journal": fields.get("JournalName", "") or fields.get("PeriodicalTitle", ""),
                "volume": fields.get("Volume", ""),
                "issue": fields.get("Issue", ""),
                "pages": fields.get("Pages", ""),
            }
            kind = fields.get("SourceType", "")
            yield ListedReference(
                tag, find_ids_in_entry(named), fields_to_paper(said), kind=_KINDS.get(kind, kind)
            )


def _iterate_source_authors(source: Any) -> Iterator[str]:
    """Yield the names of a source's authors (``Author`` inside ``Author``), not of its editors."""
    people = (one for outer in source if _get_local_name(outer) == "Author" for one in outer)
    for one in (
        element
        for person in people
        if _get_local_name(person) == "Author"
        for element in person.iter()
    ):
        if _get_local_name(one) == "Corporate":
            yield _get_inner_text(one)
        elif _get_local_name(one) == "Person":
            parts = {_get_local_name(part): _get_inner_text(part) for part in one}
            given = f"{parts.get('First', '')} {parts.get('Middle', '')}".strip()
            yield ", ".join(filter(None, (parts.get("Last", ""), given)))


def _get_local_name(element: Any) -> str:
    """Return an element's name without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _get_inner_text(element: Any) -> str:
    """Return an element's text with single spaces."""
    return " ".join("".join(element.itertext()).split())


def read_docx(data: bytes) -> tuple[list[ManuscriptBlock], list[ListedReference]]:
    """Return the paragraphs, and the works that fields cite.

    Raises
    ------
    BadRequest
        The file is not a DOCX file, or is damaged.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as packed:
            named = [one for one in packed.infolist() if _PART_NAMES.fullmatch(one.filename)]
            read = ["word/document.xml", *(one.filename for one in named)]
            if sum(packed.getinfo(one).file_size for one in read) > _MAX_XML_BYTES:
                raise BadRequest("The document is too long.", "Split it into several files.")
            root, *others = (
                part
                for one in read
                if (part := _parse_document_part(one, packed.read(one))) is not None
            )
    except (KeyError, zipfile.BadZipFile, BadContent, OSError, NotImplementedError, RuntimeError):
        raise BadRequest(
            "The file is not a DOCX file, or it is damaged.", "Save it as .docx again."
        ) from None
    reading = _DocxReader(
        dict(_iterate_notes(others)),
        index_references_by_key(source for part in others for source in iterate_word_sources(part)),
    )
    for paragraph in root.iter(f"{_W}p"):
        reading.add_paragraph(paragraph)
    return reading.blocks, list(reading.references.values())


def _parse_document_part(name: str, data: bytes) -> Any:
    """Parse a part of the file; return None for an add-in's part that is not valid XML."""
    try:
        return parse_untrusted_xml(data)
    except BadContent:
        if name.startswith("word/"):
            raise
        return None


def _iterate_notes(parts: list[Any]) -> Iterator[tuple[tuple[str, str], Any]]:
    """Yield footnotes and endnotes with their kind and number."""
    for part in parts:
        for kind in ("footnote", "endnote"):
            yield from (((kind, one.get(f"{_W}id", "")), one) for one in part.iter(f"{_W}{kind}"))


class _FieldState:
    """The state of an open field: its code, and the offset of its result."""

    def __init__(self, at: int) -> None:
        self.code = ""
        self.at = at
        self.shows = False


class _DocxReader:
    """Collects blocks and references paragraph by paragraph; fields may span paragraphs."""

    def __init__(
        self, notes: Mapping[tuple[str, str], Any], sources: dict[str, ListedReference]
    ) -> None:
        self._notes = notes
        self._sources = sources
        self._noted = 0
        self.blocks: list[ManuscriptBlock] = []
        self.references: dict[str, ListedReference] = {}
        self._fields: list[_FieldState] = []
        self._number = 0

    def add_paragraph(self, paragraph: Any) -> None:
        """Add a paragraph, followed by the notes that it refers to."""
        self._number += 1
        self._text = ""
        self._marks: list[CitationMark] = []
        self._behind: list[ManuscriptBlock] = []
        self._in_list = any(_LIST_FIELDS.match(field.code) for field in self._fields)
        for field in self._fields:
            field.at = 0
        for element in paragraph.iter():
            self._add_element(element)
        style = paragraph.find(f"{_W}pPr/{_W}pStyle")
        named = style.get(f"{_W}val", "") if style is not None else ""
        in_list = self._in_list or any(_LIST_FIELDS.match(field.code) for field in self._fields)
        kind = "heading" if re.match(r"heading|title", named, re.I) else "prose"
        if re.search("quote", named, re.I):
            kind = "quote"
        if self._text.strip():
            made = ManuscriptBlock(self._text, tuple(self._marks), number=self._number)
            self.blocks.append(replace(made, kind="entry" if in_list else kind))  # type: ignore[arg-type]
        self.blocks += self._behind

    def _add_element(self, element: Any) -> None:
        """Process one XML element of the paragraph."""
        tag = element.tag.removeprefix(_W) if isinstance(element.tag, str) else ""
        if tag == "t":
            self._add_text(element)
        elif tag in ("tab", "br"):
            self._text += " "
        elif tag == "noBreakHyphen":
            self._text += "-"
        elif tag == "fldChar":
            self._process_field(element)
        elif tag == "instrText" and self._fields:
            self._fields[-1].code += element.text or ""
        elif tag == "fldSimple":
            self._cite_simple_field(element.get(f"{_W}instr", ""), _get_displayed_text(element))
        elif tag in ("footnoteReference", "endnoteReference"):
            self._add_note(tag.removesuffix("Reference"), element.get(f"{_W}id", ""))
        elif tag == "sdt":
            control = element.find(f"{_W}sdtPr/{_W}tag")
            named = control.get(f"{_W}val", "") if control is not None else ""
            if named.startswith(_MENDELEY):
                self._cite_mendeley_control(
                    named.removeprefix(_MENDELEY), _get_displayed_text(element)
                )

    def _add_text(self, element: Any) -> None:
        """Append the text of a run, and mark superscript digits as citations."""
        if self._fields and not self._fields[-1].shows:
            return
        words = element.text or ""
        run = element.getparent()
        raised = run.find(f"{_W}rPr/{_W}vertAlign") if run is not None else None
        start = len(self._text)
        self._text += words
        is_raised = raised is not None and raised.get(f"{_W}val") == "superscript"
        if is_raised and re.fullmatch(r"\d[\d,;\s\u2013-]*", words) and not self._fields:
            self._marks.append(CitationMark(start, len(self._text), (f"#{words}",)))

    def _process_field(self, element: Any) -> None:
        """Open a field, start its result, or close it and cite its sources."""
        kind = element.get(f"{_W}fldCharType")
        if kind == "begin":
            self._fields.append(_FieldState(len(self._text)))
            data = element.find(f"{_W}fldData")
            if data is not None and data.text:
                with suppress(ValueError):
                    self._fields[-1].code += base64.b64decode(data.text).decode("utf-8", "replace")
        elif kind == "separate" and self._fields:
            self._fields[-1].shows = True
        elif kind == "end" and self._fields:
            field = self._fields.pop()
            self._in_list = self._in_list or _LIST_FIELDS.match(field.code) is not None
            if not self._fields or not _list_endnote_field_references(self._fields[-1].code):
                self._add_field_citation(field.code, field.at, len(self._text))
            else:
                self._fields[-1].code += field.code

    def _add_note(self, kind: str, name: str) -> None:
        """Add a note's paragraphs after this one, and repeat the note's citations here."""
        note = self._notes.get((kind, name))
        if note is None:
            return
        self._noted += 1
        inner = _DocxReader({}, self._sources)
        for paragraph in note.iter(f"{_W}p"):
            inner.add_paragraph(paragraph)
        for key, one in inner.references.items():
            self.references.setdefault(key, one)
        self._behind += (replace(block, file=f"{kind} {self._noted}") for block in inner.blocks)
        marks = (mark for block in inner.blocks for mark in block.marks)
        keys = tuple(key for mark in marks for key in mark.keys if key[0] != "#")
        if keys:
            start = len(self._text)
            self._text += str(self._noted)
            self._marks.append(CitationMark(start, len(self._text), keys))

    def _cite_simple_field(self, code: str, shown: str) -> None:
        """Cite the sources of a simple field."""
        self._add_field_citation(code, len(self._text), len(self._text) + len(shown))

    def _cite_mendeley_control(self, packed: str, shown: str) -> None:
        """Cite the sources in the tag of a Mendeley Cite control."""
        with suppress(ValueError):
            said = base64.b64decode(f"{packed}===").decode("utf-8", "replace")
            self._add_field_citation(
                f"CSL_CITATION {said}", len(self._text), len(self._text) + len(shown)
            )

    def _add_field_citation(self, code: str, start: int, end: int) -> None:
        """Record the references of a field, and mark its result as their citation."""
        works = list(
            _iterate_csl_field_references(code)
            if "CSL_CITATION" in code
            else _list_endnote_field_references(code)
        )
        for work in works:
            self.references.setdefault(work.key, work)
        tags = find_source_tags(code)
        self.references |= {tag: self._sources[tag] for tag in tags if tag in self._sources}
        keys = tags or tuple(work.key for work in works)
        if keys and end > start:
            self._marks.append(CitationMark(start, end, keys))


def _get_displayed_text(element: Any) -> str:
    """Return the text that an element displays."""
    return "".join(part.text or "" for part in element.iter(f"{_W}t"))


def _iterate_csl_field_references(code: str) -> Iterator[ListedReference]:
    with suppress(ValueError, RecursionError, AttributeError, TypeError):
        said, _ = json.JSONDecoder().raw_decode(code[code.index("{") :])
        for item in said["citationItems"] if isinstance(said, dict) else ():
            data = item.get("itemData") or {}
            key = str((item.get("uris") or [item.get("id") or data.get("id")])[0])
            yield parse_csl_reference(data, key)


def _list_endnote_field_references(code: str) -> list[ListedReference]:
    found = re.search(r"<EndNote>.*?</EndNote>", code, re.S)
    if not found:
        return []
    try:
        root = parse_untrusted_xml(found[0].encode())
    except BadContent:
        return []
    made: list[ListedReference] = []
    for cite in root.iter("Cite"):
        if (record := cite.find("record")) is not None:
            key = f"endnote:{cite.findtext('RecNum') or record.findtext('rec-number') or len(made)}"
            made.append(
                ListedReference(
                    key, get_endnote_ids(record), fields_to_paper(get_endnote_fields(record))
                )
            )
    return made
