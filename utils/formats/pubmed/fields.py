"""Where each fact stands in a PubMed record: one reader an element, one table a parent.

A record is visited once, top down; an element without an entry in its parent's table is never
looked into. That is what keeps the identifiers of references, comments and investigators out of the
paper's own, and what makes reading fast.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from ...model.paper import Author, Notice, NoticeKind
from ..xml_tree import children_of
from .inline_markup import readable_text

if TYPE_CHECKING:
    from lxml.etree import _Element

# By name: a text, or a list of what may come several times.
Found: TypeAlias = dict[str, Any]
Reader: TypeAlias = "Callable[[_Element, Found], None]"
Readers: TypeAlias = "dict[str, Reader]"


def record_facts(element: _Element) -> Found:
    """The facts of a record by name; what it does not state is absent."""
    found: Found = {}
    _visit(element, _RECORD, found)
    return found


def _visit(element: _Element, readers: Readers, found: Found) -> None:
    reader_of = readers.get
    for child in children_of(element):
        if reader := reader_of(child.tag):
            reader(child, found)


def _one(name: str, read: Callable[[_Element], Any] = readable_text) -> Reader:
    """A reader that keeps what *read* makes of the element; the first that is not empty counts."""

    def reader(element: _Element, found: Found) -> None:
        if value := read(element):
            found.setdefault(name, value)

    return reader


def _many(name: str, read: Callable[[_Element], Any] = readable_text) -> Reader:
    """A reader for an element that may be repeated: all of them, in order."""

    def reader(element: _Element, found: Found) -> None:
        if value := read(element):
            found.setdefault(name, []).append(value)

    return reader


def _each(name: str, tag: str, read: Callable[[_Element], Any] = readable_text) -> Reader:
    """A reader for a list element: all its children *tag*, in order."""

    def reader(element: _Element, found: Found) -> None:
        values = [
            value for child in children_of(element) if child.tag == tag and (value := read(child))
        ]
        found.setdefault(name, []).extend(values)

    return reader


def _inside(readers: Readers) -> Reader:
    return lambda element, found: _visit(element, readers, found)


def own_pmid(element: _Element) -> str:
    """A PMID; its version stands in an attribute and is left there."""
    text = (element.text or "").strip().lstrip("0")
    return text if text.isascii() and text.isdigit() else ""


def _article_id(element: _Element, found: Found) -> None:
    kind = element.get("IdType")
    if kind == "doi":
        found.setdefault("doi", []).append(readable_text(element))
    elif kind == "bookaccession":
        found.setdefault("bookshelf", readable_text(element))
    elif kind in ("pmc", "pmcid") and (match := _PMCID.search(element.text or "")):
        found.setdefault(kind, match[0].upper())


def _location_id(element: _Element, found: Found) -> None:
    if element.get("ValidYN") == "N":
        return
    text = readable_text(element)
    if element.get("EIdType") == "doi":
        found.setdefault("electronic doi", []).append(text)
    elif match := re.match(r"arXiv:(\S+?)(?:v\d+)?$", text, re.I):
        found.setdefault("arxiv", match[1].lower())


def _reference_list(element: _Element, found: Found) -> None:
    """Count the references; a list may hold further lists, with titles of their own."""
    found["references"] = found.get("references", 0) + sum(1 for _ in element.iter("Reference"))


def _abstract(element: _Element) -> str:
    return "\n\n".join(
        paragraph
        for child in children_of(element)
        if child.tag == "AbstractText" and (paragraph := _paragraph(child))
    )


def _paragraph(element: _Element) -> str:
    text, label = readable_text(element), " ".join(element.get("Label", "").split()).rstrip(": ")
    if not text or not label or label.upper() == "UNLABELLED":
        return text
    return text if text.upper().startswith(f"{label.upper()}:") else f"{label}: {text}"


def _other_abstract(element: _Element) -> tuple[str, str] | None:
    text = _abstract(element)
    kind, language = element.get("Type", "Other"), element.get("Language", "")
    return (f"{kind} ({language})" if language else kind, text) if text else None


def _authors(prefix: str = "") -> Reader:
    """A reader for an author list; an entry marked invalid is followed by its correction."""

    def reader(element: _Element, found: Found) -> None:
        who = "editors" if element.get("Type") == "editors" else "authors"
        found.setdefault(prefix + who, []).extend(
            author
            for child in children_of(element)
            if child.tag == "Author" and child.get("ValidYN") != "N" and (author := _author(child))
        )

    return reader


def _author(element: _Element) -> Author | None:
    parts: dict[str, str] = {}
    affiliations: list[str] = []
    for child in children_of(element):
        tag = child.tag
        if tag == "AffiliationInfo":
            affiliations += [
                text
                for part in children_of(child)
                if part.tag == "Affiliation" and (text := readable_text(part))
            ]
        elif tag != "Identifier":
            parts[tag] = readable_text(child)
        elif child.get("Source") == "ORCID":
            parts["orcid"] = _orcid(child.text or "")
    given, collective = parts.get("ForeName", ""), parts.get("CollectiveName", "")
    family = parts.get("LastName", "") or given
    if not family and not collective:
        return None
    return Author(
        family=family,
        given=given if given != family else "",
        initials=parts.get("Initials", ""),
        suffix=parts.get("Suffix", "").lstrip(", "),
        collective=collective,
        orcid=parts.get("orcid", ""),
        affiliations=tuple(affiliations),
    )


def _orcid(text: str) -> str:
    """The bare identifier of any spelling: URL, with or without dashes."""
    match = _ORCID.search(text)
    return "-".join(match.groups()).upper() if match else ""


def _mesh(element: _Element) -> str:
    return "/".join(
        [
            f"*{name}" if child.get("MajorTopicYN") == "Y" else name
            for child in children_of(element)
            if (name := readable_text(child))
        ]
    )


def _notice(element: _Element) -> Notice | None:
    kind = _NOTICES.get(element.get("RefType", ""))
    if kind is None:
        return None
    pmid, source = element.find("PMID"), element.find("RefSource")
    return Notice(kind, readable_text(source), "" if pmid is None else own_pmid(pmid))


def _pages(element: _Element) -> str:
    """Pages as PubMed prints them (``11-9`` is 11 to 19), else the first and last."""
    parts = {child.tag: readable_text(child) for child in element}
    span = (parts.get("StartPage", ""), parts.get("EndPage", ""))
    return parts.get("MedlinePgn") or "-".join(part for part in span if part)


def _history(element: _Element, found: Found) -> None:
    for child in children_of(element):
        status = child.get("PubStatus")
        if status in ("entrez", "pmc-release") and (day := _date(child)):
            found.setdefault(status, day)


def _date(element: _Element) -> str:
    """A date of any of PubMed's forms as ISO 8601, as precise as it is."""
    parts = {child.tag: (child.text or "").strip() for child in element}
    if span := parts.get("MedlineDate"):
        return iso_date(span)
    month = parts.get("Month") or parts.get("Season", "")
    return _iso(parts.get("Year", ""), month, parts.get("Day", ""))


def iso_date(text: str) -> str:
    """A date as PubMed prints it (``1998 Dec-1999 Jan``, ``2026 Feb 14``) as ISO 8601.

    >>> iso_date("2026 Feb 14"), iso_date("1998 Dec-1999 Jan"), iso_date("2000 Spring")
    ('2026-02-14', '1998-12', '2000')
    """
    match = _SPAN.search(text)
    return _iso(*match.groups("")) if match else ""


@lru_cache(4096)
def _iso(year: str, month: str = "", day: str = "") -> str:
    if not re.fullmatch(r"[12]\d{3}", year, re.A):
        return ""
    number = int(month) if month.isdecimal() else _MONTHS.get(month[:3].lower(), 0)
    if not 1 <= number <= 12:
        return year
    last = calendar.monthrange(int(year), number)[1]
    if day.isdecimal() and 1 <= int(day) <= last:
        return f"{year}-{number:02}-{int(day):02}"
    return f"{year}-{number:02}"


_PMCID = re.compile(r"\bPMC[1-9]\d*", re.A | re.I)
_ORCID = re.compile(r"(\d{4})-?(\d{4})-?(\d{4})-?(\d{3}[\dXx])", re.A)
_SPAN = re.compile(r"\b([12]\d{3})(?:\s+([A-Za-z]{3,})\.?(?:\s+(\d{1,2})\b(?!\d))?)?", re.A)
_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name}
_NOTICES: dict[str, NoticeKind] = {
    "RetractionIn": "retraction",
    "ExpressionOfConcernIn": "expression_of_concern",
    "ErratumIn": "erratum",
    "PartialRetractionIn": "erratum",  # the paper stands, corrected
    "CorrectedandRepublishedIn": "republication",
    "RetractedandRepublishedIn": "republication",
    "RepublishedIn": "republication",
    "UpdateIn": "update",
    "CommentIn": "comment",
}


def _pub_model(element: _Element, found: Found) -> None:
    if element.get("PubModel") in ("Electronic-eCollection", "Electronic-Print"):
        found["without print"] = True
    _visit(element, _ARTICLE, found)


_ID_LIST = _inside({"ArticleId": _article_id})
_KEYWORDS = _each("keywords", "Keyword")
_SHARED: Readers = {
    "PMID": _one("pmid", own_pmid),
    "DateRevised": _one("revised", _date),
    "ArticleTitle": _one("title"),
    "VernacularTitle": _one("vernacular title"),
    "Pagination": _one("pages", _pages),
    "Abstract": _one("abstract", _abstract),
    "AuthorList": _authors(),
    "Language": _many("languages"),
    "KeywordList": _KEYWORDS,
}
_ARTICLE: Readers = _SHARED | {
    "Journal": _inside(
        {
            "ISSN": _one("issn"),
            "JournalIssue": _inside(
                {"Volume": _one("volume"), "Issue": _one("issue"), "PubDate": _one("issued", _date)}
            ),
            "Title": _one("journal"),
            "ISOAbbreviation": _one("iso abbreviation"),
        }
    ),
    "ELocationID": _location_id,
    "PublicationTypeList": _each("publication types", "PublicationType"),
    "ArticleDate": _one("online", _date),
}
_CITATION: Readers = _SHARED | {
    "Article": _pub_model,
    "MedlineJournalInfo": _inside(
        {"MedlineTA": _one("nlm abbreviation"), "ISSNLinking": _one("linking issn")}
    ),
    "MeshHeadingList": _each("mesh", "MeshHeading", _mesh),
    "CommentsCorrectionsList": _each("notices", "CommentsCorrections", _notice),
    "OtherAbstract": _many("other abstracts", _other_abstract),
}
_BOOK: Readers = {
    "BookTitle": _one("book title"),
    "PubDate": _one("issued", _date),
    "AuthorList": _authors("book "),
    "Volume": _one("volume"),
    "ELocationID": _location_id,
}
_RECORD: Readers = {
    "MedlineCitation": _inside(_CITATION),
    "BookDocument": _inside(
        _SHARED
        | {
            "ArticleIdList": _ID_LIST,
            "Book": _inside(_BOOK),
            "PublicationType": _many("publication types"),
            "ContributionDate": _one("contributed", _date),
        }
    ),
    "PubmedData": _inside(
        {"History": _history, "ArticleIdList": _ID_LIST, "ReferenceList": _reference_list}
    ),
    "PubmedBookData": _inside({"History": _history, "ArticleIdList": _ID_LIST}),
}
