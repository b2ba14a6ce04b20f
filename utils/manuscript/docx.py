"""Word's DOCX: paragraphs, and the citations that reference managers keep in fields.

Zotero (``ADDIN ZOTERO_ITEM CSL_CITATION``) and Mendeley Desktop (``ADDIN CSL_CITATION``) keep
CSL-JSON, Mendeley Cite the same in the tag of a content control, EndNote (``ADDIN EN.CITE``) XML:
so they say exactly what is cited. Facts: the fields' code of Zotero
(https://github.com/zotero/zotero, ``xpcom/integration.js``), ECMA-376 part 1, 17.16 for fields;
EndNote's and Mendeley Cite's forms as remembered from documents.
"""

from __future__ import annotations

import base64
import json
import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from typing import Any

from ..errors import BadContent, BadRequest
from ..formats.safe_xml import parse
from ..lists.described import described
from ..lists.documents import endnote_ids, endnote_said
from .parts import Block, Mark, Reference
from .reference_files import csl_reference

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MOST_XML = 200_000_000
_MENDELEY = "MENDELEY_CITATION_v3_"
_LISTS = re.compile(r"ADDIN (?:ZOTERO_BIBL|EN\.REFLIST|Mendeley Bibliography)|BIBLIOGRAPHY")


def read(data: bytes) -> tuple[list[Block], list[Reference]]:
    """The paragraphs and the works that fields cite.

    Raises
    ------
    BadRequest
        It is no DOCX, or damaged.
    """
    reading = _Document()
    try:
        with zipfile.ZipFile(BytesIO(data)) as packed:
            if packed.getinfo("word/document.xml").file_size > _MOST_XML:
                raise BadRequest("The document is too long to be read.", "Split it.")
            root = parse(packed.read("word/document.xml"))
    except (KeyError, zipfile.BadZipFile, BadContent, OSError, NotImplementedError, RuntimeError):
        raise BadRequest("It is no DOCX, or damaged.", "Save it again as .docx.") from None
    for paragraph in root.iter(f"{_W}p"):
        reading.paragraph(paragraph)
    return reading.blocks, list(reading.references.values())


class _Field:
    """A field that has begun: its code, and where its result stands."""

    def __init__(self, at: int) -> None:
        self.code = ""
        self.at = at
        self.shows = False


class _Document:
    """Blocks and references, as far as they are read; fields may span paragraphs."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.references: dict[str, Reference] = {}
        self._fields: list[_Field] = []
        self._number = 0

    def paragraph(self, paragraph: Any) -> None:
        self._number += 1
        self._text = ""
        self._marks: list[Mark] = []
        in_list = any(_LISTS.search(field.code) for field in self._fields)
        for field in self._fields:
            field.at = 0
        for element in paragraph.iter():
            self._element(element)
        style = paragraph.find(f"{_W}pPr/{_W}pStyle")
        named = style.get(f"{_W}val", "") if style is not None else ""
        in_list = in_list or any(_LISTS.search(field.code) for field in self._fields)
        kind = "heading" if re.match(r"heading|title", named, re.I) else "prose"
        if re.search("quote", named, re.I):
            kind = "quote"
        if self._text.strip():
            made = Block(self._text, tuple(self._marks), number=self._number)
            self.blocks.append(replace(made, kind="entry" if in_list else kind))  # type: ignore[arg-type]

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
            if not self._fields or not _of_endnote(self._fields[-1].code):
                self._mark(field.code, field.at, len(self._text))
            else:
                self._fields[-1].code += field.code

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
        if works and end > start:
            self._marks.append(Mark(start, end, tuple(one.key for one in works)))


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
            made.append(Reference(key, endnote_ids(record), described(endnote_said(record))))
    return made
