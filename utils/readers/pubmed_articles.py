"""Read one PubMed record with all its fields, including grants and MeSH identifiers.

`.pubmed` reads millions of records for the fields that every paper needs; this module reads a few
hundred records with all fields. A response is split into its records as PubMed wrote them, so that
the same bytes can be stored, shown or parsed.

Facts from ``pubmed_250101.dtd``: a heading is major if its descriptor or any qualifier is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from typing import Any

from ..errors import BadContent
from ..model.paper import Paper
from .pubmed import iterate_records
from .safe_xml import get_readable_text, parse_untrusted_xml

_TAG = re.compile(r"[A-Z]{2,4} *- ")
# How efetch names an unknown PMID in text: "id: 1 Error occurred: The following PMID is not …".
_NOT_AVAILABLE = re.compile(r"PMID is not available", re.I)


@dataclass(frozen=True, slots=True)
class QualifiedHeading:
    """A MeSH heading with one of its qualifiers (empty without one)."""

    descriptor: str
    ui: str
    qualifier: str = ""
    major: bool = False


@dataclass(frozen=True, slots=True)
class Grant:
    """A grant: its number, and the funding agency."""

    number: str = ""
    agency: str = ""
    country: str = ""


@dataclass(frozen=True, slots=True)
class CompleteRecord:
    """A record with all fields; ``printed_date`` is the date as printed in the issue."""

    paper: Paper
    headings: tuple[QualifiedHeading, ...]
    grants: tuple[Grant, ...]
    printed_date: str


def split_xml_records(body: bytes) -> dict[str, str]:
    """Return the records of a ``PubmedArticleSet`` as XML, by PMID.

    Raises
    ------
    BadContent
        The body is not XML, or not PubMed's.
    """
    from lxml import etree

    root = parse_untrusted_xml(body)
    if root.tag != "PubmedArticleSet":
        msg = "The answer is not PubMed's XML."
        raise BadContent(msg, verdict="not_a_paper")
    found = {}
    for record in root.iterchildren("PubmedArticle", "PubmedBookArticle"):
        pmid = record.findtext("MedlineCitation/PMID") or record.findtext("BookDocument/PMID") or ""
        found[pmid.strip().lstrip("0")] = etree.tostring(
            record, encoding="unicode", with_tail=False
        )
    return found


def split_medline_records(text: str) -> dict[str, str]:
    """Return the records of a MEDLINE response as text, by PMID, with Biopython's parser.

    Raises
    ------
    BadContent
        The text contains neither a record nor a message about a missing one.
    """
    blocks = [block.strip("\n") for block in text.replace("\r\n", "\n").split("\n\n")]
    records = [block for block in blocks if _TAG.match(block)]
    if not records and text.strip() and not _NOT_AVAILABLE.search(text):
        msg = "The answer is not MEDLINE text."
        raise BadContent(msg, verdict="error_page")
    found = {str(_parse_medline(record).get("PMID", "")).lstrip("0"): record for record in records}
    found.pop("", None)
    return found


def get_medline_title(record: str) -> str:
    """Return the title in a MEDLINE record; for a book, the book's title."""
    fields = _parse_medline(record)
    title = fields.get("TI") or fields.get("BTI") or ""
    return " ".join(title) if isinstance(title, list) else str(title)  # Biopython lists a book's


def _parse_medline(record: str) -> dict[str, Any]:
    from Bio import Medline

    fields: dict[str, Any] = Medline.read(StringIO(record))  # type: ignore[no-untyped-call]
    return fields


def parse_complete_record(xml: str) -> CompleteRecord:
    """Parse one record of `split_xml_records` with all its fields."""
    wrapped = f"<PubmedArticleSet>{xml}</PubmedArticleSet>".encode()
    paper = next(record for record in iterate_records(wrapped) if isinstance(record, Paper))
    root = parse_untrusted_xml(xml.encode())
    date = root.find(".//JournalIssue/PubDate")
    printed = "" if date is None else " ".join(t.strip() for t in date.itertext() if t.strip())
    return CompleteRecord(
        paper, tuple(_iterate_mesh_headings(root)), tuple(_iterate_grants(root)), printed
    )


def _iterate_mesh_headings(root: Any) -> Iterator[QualifiedHeading]:
    for heading in root.iterfind("MedlineCitation/MeshHeadingList/MeshHeading"):
        term = heading.find("DescriptorName")
        if term is None:
            continue
        name, ui, major = get_readable_text(term), term.get("UI", ""), _is_major_topic(term)
        qualifiers = heading.findall("QualifierName")
        for qualifier in qualifiers:
            yield QualifiedHeading(
                name, ui, get_readable_text(qualifier), major or _is_major_topic(qualifier)
            )
        if not qualifiers:
            yield QualifiedHeading(name, ui, major=major)


def _is_major_topic(term: Any) -> bool:
    return bool(term.get("MajorTopicYN") == "Y")


def _iterate_grants(root: Any) -> Iterator[Grant]:
    for grant in root.iterfind(".//GrantList/Grant"):
        number, agency, country = (
            (grant.findtext(tag) or "").strip() for tag in ("GrantID", "Agency", "Country")
        )
        yield Grant(number, agency, country)
