"""Split an answer of EFetch into its records, in each form it has.

The beginning of an answer shows whether it is in that form at all; forms whose records have no
documented beginning are cut at the ends of lines. https://www.ncbi.nlm.nih.gov/books/NBK25499/
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import BadContent
from ..formats.safe_xml import parse
from ..system.plain_text import clean_text, one_line
from ..web import Answer
from .databases import Form

_FLAT = re.compile(r"^LOCUS\s", re.M)
_FASTA = re.compile(r"^>", re.M)
_STARTS = {
    **dict.fromkeys(("fasta", "fasta_cds_na", "fasta_cds_aa", "ft"), _FASTA),
    **dict.fromkeys(("gb", "gp", "gbwithparts"), _FLAT),
    "medline": re.compile(r"(?:\A|(?<=\n\n))[A-Z]{2,4} *- ", re.M),
    "json": re.compile(r"^\{", re.M),
}
_ASN1 = re.compile(r"^[A-Z][\w-]* ::=", re.M)
_LINE = re.compile(r"^(?=.)", re.M)
# Reports number their records; one that counts its own paragraphs is not taken apart.
_NUMBERED = re.compile(r"(?:\A|(?<=\n\n))(\d{1,6})[.:] ", re.M)
# One record may be several lines of these, or none.
_LOOSE = frozenset({"runinfo", "ipg", "gene_table", "fasta_cds_na", "fasta_cds_aa"})
_NO_RECORDS = re.compile(r"\s*(?:<!doctype html|<html|\{\s*\"error\")", re.I)
# Lines about an identifier that has no record; NCBI spaces some of them out, letter by letter.
_ABSENT = re.compile(
    r"^(?:(?:\d+: )?id: \S+ Error occurred: |Error: .*F a i l e d +t o +).*\n?", re.M
)
_ABSENT_BYTES = re.compile(_ABSENT.pattern.encode(), re.M)


@dataclass(frozen=True, slots=True)
class Records:
    """Records as text; ``head`` and ``tail`` belong around any of them (the root of XML).

    ``counted``: each piece is one record, so that their number tells whether some are missing;
    ``refused``: what the answer itself says of identifiers without a record; ``root`` is the name
    of the set.
    """

    pieces: tuple[str, ...]
    head: str = ""
    tail: str = ""
    counted: bool = True
    refused: Mapping[str, str] = field(default_factory=dict)
    root: str = ""


def split_records(answer: Answer, form: Form) -> Records:
    """Split an answer into records.

    Raises
    ------
    BadContent
        It is not in that form.
    """
    if form.retmode == "xml":
        return _split_xml(answer.body, counted=form.rettype not in _LOOSE)
    text = _ABSENT.sub("", clean_text(answer.text())).lstrip("\n")
    if _NO_RECORDS.match(text):
        raise BadContent("What came is a web page, or an error.", verdict="error_page")
    if "\ufffd" in text[:2000] or "\x00" in text:
        raise BadContent("What came is no text.", verdict="not_a_paper")
    if not text.strip():
        return Records(())
    starts = _starts(text, form)
    ends = [*starts[1:], len(text)]
    pieces = [text[at:end] for at, end in zip(starts, ends, strict=True)]
    pieces[0] = text[: starts[0]] + pieces[0]
    return Records(tuple(pieces), counted=form.rettype not in _LOOSE)


def _starts(text: str, form: Form) -> list[int]:
    pattern = _STARTS.get(form.rettype)
    if form.retmode == "asn.1" or form.gives.endswith("ASN.1"):
        pattern = _ASN1
    if pattern is not None:
        if starts := [found.start() for found in pattern.finditer(text)]:
            return starts
        raise BadContent(f"What came is not {form.gives}.", verdict="error_page")
    if form.rettype in {"acc", "seqid", "uilist", "runinfo", "ipg", "tabular"}:
        return [found.start() for found in _LINE.finditer(text)]
    return _numbered(text)


def _numbered(text: str) -> list[int]:
    starts: list[int] = []
    for found in _NUMBERED.finditer(text):
        if int(found[1]) == len(starts) + 1:
            starts.append(found.start())
    return starts or [0]


def _split_xml(body: bytes, *, counted: bool) -> Records:
    from lxml import etree

    body = _ABSENT_BYTES.sub(b"", body)
    if not body.strip():
        return Records(())
    root = parse(body)
    if root.tag in {"eFetchResult", "html", "HTML"}:
        raise BadContent(f"What came is <{root.tag}>, not records.", verdict="error_page")
    head, tail = _head_and_tail(root)
    pieces = tuple(
        clean_text(etree.tostring(child, encoding="unicode", with_tail=False))
        for child in records_of(root)
    )
    # A set within the set is no record of its own.
    counted = counted and root.tag != "Bioseq-set"
    refused = {row.get("Id", ""): one_line(row.get("error", "")) for row in root.iter("Reply")}
    return Records(pieces, head, tail, counted, refused, str(root.tag))


def records_of(root: Any) -> list[Any]:
    """The records of a set: the children of its root, without messages on missing ones."""
    return [child for child in root.iterchildren("*") if child.tag not in {"Reply", "error"}]


def _head_and_tail(root: Any) -> tuple[str, str]:
    from lxml import etree

    bare = etree.Element(root.tag, root.attrib, root.nsmap)
    bare.text = "\n"
    head, _, tail = etree.tostring(bare, encoding="unicode").partition("\n")
    return f"{head}\n", f"\n{tail}"


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of some records: ``whole`` counts the whole ones in it, ``end`` is where it ends.

    ``cut``: it ends within a record. Positions are characters of all pieces together.
    """

    text: str
    whole: int
    end: int
    cut: bool = False


def stretch(records: Records, offset: int, most: int) -> Stretch:
    """Whole records from *offset* on, in at most *most* characters.

    One that is longer is given in parts by itself, cut at the end of a line where there is one.
    """
    at = 0
    room = most - len(records.head) - len(records.tail)
    parts: list[str] = []
    for piece in records.pieces:
        begin, at = max(0, offset - at), at + len(piece)
        if begin >= len(piece):
            continue
        if not parts and (begin or len(piece) > room):
            return _part_of(piece[begin:], offset, most)
        if len(piece) > room:
            break
        parts.append(piece)
        room -= len(piece)
    end = offset + sum(map(len, parts))
    text = "".join(parts)
    whole = f"{records.head}{text}{records.tail}" if parts else ""
    return Stretch(whole, len(parts), end)


def _part_of(rest: str, offset: int, most: int) -> Stretch:
    if len(rest) <= most:
        return Stretch(rest, 0, offset + len(rest))
    size = rest.rfind("\n", most // 2, most) + 1 or most
    return Stretch(rest[:size], 0, offset + size, cut=True)
