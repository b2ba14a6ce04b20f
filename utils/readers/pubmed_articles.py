"""One PubMed record and all it holds, grants and MeSH identifiers included.

`.pubmed` reads a million records for what every paper needs; this reads a few hundred for more.
An answer is taken apart into the records it holds, each still as PubMed wrote it, so that the same
bytes can be kept, shown whole, or read.

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
from .pubmed import read_records
from .safe_xml import parse_xml, readable_text

_TAG = re.compile(r"[A-Z]{2,4} *- ")
# How efetch names an unknown PMID in text: "id: 1 Error occurred: The following PMID is not …".
_NOT_AVAILABLE = re.compile(r"PMID is not available", re.I)


@dataclass(frozen=True, slots=True)
class Heading:
    """A MeSH heading with one of its qualifiers (empty where it has none)."""

    descriptor: str
    ui: str
    qualifier: str = ""
    major: bool = False


@dataclass(frozen=True, slots=True)
class Grant:
    """A grant: its number, and the agency that paid."""

    number: str = ""
    agency: str = ""
    country: str = ""


@dataclass(frozen=True, slots=True)
class Article:
    """A record, read whole; ``printed_date`` is its date as the issue states it."""

    paper: Paper
    headings: tuple[Heading, ...]
    grants: tuple[Grant, ...]
    printed_date: str


def split_xml(body: bytes) -> dict[str, str]:
    """The records of a ``PubmedArticleSet`` as XML, by PMID.

    Raises
    ------
    BadContent
        It is not XML, or not PubMed's.
    """
    from lxml import etree

    root = parse_xml(body)
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


def split_medline(text: str) -> dict[str, str]:
    """The records of a MEDLINE answer as text, by PMID; read by Biopython's own parser.

    Raises
    ------
    BadContent
        It holds text, but no record and no message about a missing one.
    """
    blocks = [block.strip("\n") for block in text.replace("\r\n", "\n").split("\n\n")]
    records = [block for block in blocks if _TAG.match(block)]
    if not records and text.strip() and not _NOT_AVAILABLE.search(text):
        msg = "The answer is not MEDLINE text."
        raise BadContent(msg, verdict="error_page")
    found = {str(_read_medline(record).get("PMID", "")).lstrip("0"): record for record in records}
    found.pop("", None)
    return found


def medline_title(record: str) -> str:
    """The title in a MEDLINE record; of a book its own."""
    fields = _read_medline(record)
    title = fields.get("TI") or fields.get("BTI") or ""
    return " ".join(title) if isinstance(title, list) else str(title)  # Biopython lists a book's


def _read_medline(record: str) -> dict[str, Any]:
    from Bio import Medline

    fields: dict[str, Any] = Medline.read(StringIO(record))  # type: ignore[no-untyped-call]
    return fields


def read_article(xml: str) -> Article:
    """Read one record of `split_xml`."""
    wrapped = f"<PubmedArticleSet>{xml}</PubmedArticleSet>".encode()
    paper = next(record for record in read_records(wrapped) if isinstance(record, Paper))
    root = parse_xml(xml.encode())
    date = root.find(".//JournalIssue/PubDate")
    printed = "" if date is None else " ".join(t.strip() for t in date.itertext() if t.strip())
    return Article(paper, tuple(_read_headings(root)), tuple(_read_grants(root)), printed)


def _read_headings(root: Any) -> Iterator[Heading]:
    for heading in root.iterfind("MedlineCitation/MeshHeadingList/MeshHeading"):
        term = heading.find("DescriptorName")
        if term is None:
            continue
        name, ui, major = readable_text(term), term.get("UI", ""), _is_major(term)
        qualifiers = heading.findall("QualifierName")
        for qualifier in qualifiers:
            yield Heading(name, ui, readable_text(qualifier), major or _is_major(qualifier))
        if not qualifiers:
            yield Heading(name, ui, major=major)


def _is_major(term: Any) -> bool:
    return bool(term.get("MajorTopicYN") == "Y")


def _read_grants(root: Any) -> Iterator[Grant]:
    for grant in root.iterfind(".//GrantList/Grant"):
        number, agency, country = (
            (grant.findtext(tag) or "").strip() for tag in ("GrantID", "Agency", "Country")
        )
        yield Grant(number, agency, country)
