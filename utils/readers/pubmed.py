"""Read PubMed's XML record by record, from efetch or from bulk files.

One parser reads articles, books and deletions. It streams (a 30,000-record file needs the memory of
one record) and visits every element of a record once, top down, along *child paths*: an element
without an entry in its parent's table is skipped. So the identifiers of references, comments and
investigators are not mixed with the paper's own, and reading is fast.

Fields that need an explanation:

- ``title`` and ``abstract`` are as PubMed prints them (trailing dot, ``[Translated title].``), with
  markup made readable by `.safe_xml`; an empty or ``[Not Available].`` title gives way to the
  vernacular one. A structured abstract is ``LABEL: text`` paragraphs with blank lines between.
- ``published`` is the date of the issue, made more precise by the electronic date where the two
  agree; for journals without print issues (``Electronic-eCollection``, ``Electronic-Print``) the
  electronic date. A span (``1998 Dec-1999 Jan``) counts from its beginning, a season is its year.
- ``journal_abbreviation`` is NLM's (``MedlineTA``). ``mesh`` has one entry for each heading as
  MEDLINE writes it: ``Descriptor/qualifier/*major qualifier`` or ``*Descriptor``.
- ``other_abstracts`` pairs are ``("plain-language-summary (eng)", text)``.
- A book chapter has its own title, the book's title in ``journal`` and its Bookshelf accession
  (``NBK…``) in ``pages``; editors are its authors only if there are no others.
- ``notices`` are the notices *about* the paper (``RetractionIn``), not a notice that the paper is
  (``RetractionOf``).

Sources: ``pubmed_250101.dtd`` and NLM's description of MEDLINE/PubMed data elements.
"""

from __future__ import annotations

import calendar
import gzip
import io
import json
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias, cast

from lxml.etree import XPath

from ..errors import BadContent, BadRequest, SourceMiss, Unreachable
from ..model.identifiers import Ids
from ..model.paper import Author, Notice, NoticeKind, Paper
from ..system.plain_text import one_line
from .safe_xml import SAFE_OPTIONS, get_readable_text, list_children

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.etree import XMLPullParser, _Element

__all__ = ["DeletedRecords", "iterate_records", "list_cited_pmids"]

_CHUNK = 1 << 18
_KINDS = ("PubmedArticle", "PubmedBookArticle", "DeleteCitation")
# A DOI as `Ids.parse` would leave it: reading a million records is worth the short cut.
_PLAIN_DOI = re.compile(r"10\.\d{4,9}/[\w./()-]*\w", re.A)
_LONGEST_PMID = 8
_ROOTS = frozenset({"PubmedArticleSet", *_KINDS})
# By name: a text, or a list of what may come several times.
Found: TypeAlias = dict[str, Any]
Reader: TypeAlias = "Callable[[_Element, Found], None]"
Readers: TypeAlias = "dict[str, Reader]"


@dataclass(frozen=True, slots=True)
class DeletedRecords:
    """PMIDs that PubMed deleted; every copy of their records must be deleted, too."""

    pmids: tuple[str, ...]


def iterate_records(source: BinaryIO | bytes) -> Iterator[Paper | DeletedRecords]:
    """Yield the records of a ``PubmedArticleSet`` stream in order.

    Parameters
    ----------
    source : binary file or bytes
        The XML, unpacked (open ``.xml.gz`` with `gzip.open`). Read forward only, never closed.

    Yields
    ------
    Paper or Deleted
        Nothing for an empty set, which efetch returns for unknown PMIDs.

    Raises
    ------
    Unreachable
        NCBI returned an error (``<ERROR>``, a JSON error): try again later.
    BadContent
        A permanent error (unusable ids), not PubMed's XML, or broken XML; all complete records
        before the error have been yielded, and ``details["after"]`` is the last PMID.
    """
    for record, _ in iterate_records_with_xml(source):
        yield record


def iterate_records_with_xml(
    source: BinaryIO | bytes,
) -> Iterator[tuple[Paper | DeletedRecords, _Element]]:
    """Yield records with the XML of each, for fields that a `Paper` lacks.

    An element is emptied when the next record is read.
    """
    stream = io.BytesIO(source) if isinstance(source, bytes) else source
    parser, start, last = _make_pull_parser(), b"", ""
    while True:
        chunk, broken = _parse_next_chunk(stream, parser)
        start = start or chunk.lstrip()[:2000]
        for _, found in parser.read_events():
            element = cast("_Element", found)
            record = _parse_record(element)
            if isinstance(record, Paper):
                last = record.ids.pmid
            yield record, element
            _free_parsed_elements(element)
        if broken:
            raise _build_truncated_error(start, last, broken)
        if not chunk:
            return


def _make_pull_parser() -> XMLPullParser:
    from lxml import etree

    return etree.XMLPullParser(
        events=("end",),
        tag=(*_KINDS, "ERROR"),
        **SAFE_OPTIONS,
        remove_comments=True,
        remove_pis=True,
    )


def _parse_next_chunk(stream: BinaryIO, parser: XMLPullParser) -> tuple[bytes, str]:
    """Parse the next chunk; return its bytes (empty at the end) and an error message if invalid."""
    from lxml import etree

    chunk = b""
    try:
        if chunk := stream.read(_CHUNK):
            parser.feed(chunk)
        elif (root := parser.close()).tag not in _ROOTS:
            return chunk, f"its root is <{root.tag}>"
    except (etree.XMLSyntaxError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        return chunk, str(error) or "it ends too early"
    return chunk, ""


def _build_truncated_error(start: bytes, last: str, broken: str) -> SourceMiss:
    """Return the error for a body that is truncated or not PubMed's XML."""
    if last:
        msg = f"PubMed's XML is damaged after PMID {last}: {broken}."
        return BadContent(msg, "Run the same request again.", verdict="partial", after=last)
    if not start:
        return BadContent("PubMed's answer is empty.", "Ask again.", verdict="empty")
    if reason := _extract_json_message(start):
        return _build_ncbi_error(reason)
    msg = f"PubMed's answer is not PubMed XML: {broken}."
    return BadContent(msg, "Ask again.", verdict="error_page")


def _extract_json_message(start: bytes) -> str:
    """Return the message of a JSON error; other fields may repeat the caller's key."""
    try:
        answer = json.loads(start, strict=False)
    except ValueError:
        return ""
    return str(answer.get("error", "")) if isinstance(answer, dict) else ""


def _build_ncbi_error(text: str) -> SourceMiss:
    """Return the error for an NCBI message (facts sheet: NCBI E-utilities errors)."""
    shown = " ".join(text.split())[:300] or "no reason given"
    msg = f"NCBI answered with an error: {shown}."
    if re.search(r"ID list is empty|API key|unable to obtain query|invalid", shown, re.I):
        return BadContent(msg, "Asking again will not help.", verdict="error_page")
    if "rate limit" in shown.lower():
        return Unreachable(msg, "Ask again in a second.", status=429)
    return Unreachable(msg, "Ask again later.")


def _free_parsed_elements(element: _Element) -> None:
    """Free a record that was read and all elements before it, to keep memory constant."""
    element.clear()
    parent = element.getparent()
    if parent is not None:
        del parent[: parent.index(element)]


def _parse_record(element: _Element) -> Paper | DeletedRecords:
    if element.tag == "ERROR":
        raise _build_ncbi_error(get_readable_text(element))
    if element.tag == "DeleteCitation":
        return DeletedRecords(
            tuple(get_pmid_digits(child) for child in element if child.tag == "PMID")
        )
    found = collect_record_fields(element)
    return (
        _build_book_paper(found)
        if element.tag == "PubmedBookArticle"
        else _build_article_paper(found)
    )


# --- Assembly ----------------------------------------------------------------------------------


def _build_article_paper(found: Found) -> Paper:
    issued, online = found.get("issued", ""), found.get("online", "")
    if online.startswith(issued) or "without print" in found:
        issued = online or issued
    return Paper(
        ids=_parse_ids(found, "doi", "electronic doi"),
        authors=_choose_authors(found, "authors", "editors"),
        journal=found.get("journal", ""),
        journal_abbreviation=found.get("nlm abbreviation") or found.get("iso abbreviation", ""),
        issn=found.get("issn") or found.get("linking issn", ""),
        issue=found.get("issue", ""),
        pages=found.get("pages", ""),
        published=issued,
        **_get_shared_paper_fields(found),
    )


def _build_book_paper(found: Found) -> Paper:
    """Return a book or a chapter; only a chapter has a title besides the book's."""
    chapter = "title" in found
    book_title = found.get("book title", "")
    found.setdefault("title", book_title)
    return Paper(
        ids=_parse_ids(found, "doi", *(() if chapter else ("electronic doi",))),
        authors=_choose_authors(found, "authors", "book authors", "editors", "book editors"),
        journal=book_title,
        pages=found.get("bookshelf") or found.get("pages", ""),
        published=found.get("issued") or found.get("contributed", ""),
        **_get_shared_paper_fields(found),
    )


def _get_shared_paper_fields(found: Found) -> dict[str, Any]:
    title, vernacular = found.get("title", ""), found.get("vernacular title", "")
    return {
        "title": vernacular or title if title in ("", "[Not Available].") else title,
        "vernacular_title": vernacular,
        "abstract": found.get("abstract", ""),
        "other_abstracts": tuple(found.get("other abstracts", ())),
        "volume": found.get("volume", ""),
        "entered": found.get("entrez", ""),
        "revised": found.get("revised", ""),
        "released": found.get("pmc-release", ""),
        "languages": tuple(found.get("languages", ())),
        "publication_types": tuple(found.get("publication types", ())),
        "mesh": tuple(found.get("mesh", ())),
        "keywords": tuple(dict.fromkeys(found.get("keywords", ()))),
        "notices": tuple(found.get("notices", ())),
        "reference_count": found.get("references", 0),
    }


def _choose_authors(found: Found, *lists: str) -> tuple[Author, ...]:
    """Return the first author or editor list that is not empty."""
    return next((tuple(people) for name in lists if (people := found.get(name))), ())


def _parse_ids(found: Found, *dois: str) -> Ids:
    """Return the record's identifiers; an invalid DOI (a page number, a sentence) is skipped."""
    doi = next(
        (doi for name in dois for text in found.get(name, ()) if (doi := _normalize_doi(text))), ""
    )
    return Ids(
        doi=doi,
        pmid=found.get("pmid", ""),
        pmcid=found.get("pmc") or found.get("pmcid", ""),
        arxiv=found.get("arxiv", ""),
    )


def _normalize_doi(text: str) -> str:
    if _PLAIN_DOI.fullmatch(text):
        return text
    try:
        ids = Ids.parse(text)
    except BadRequest:
        return ""
    return ids.doi or (ids.arxiv and f"10.48550/arxiv.{ids.arxiv}")


def collect_record_fields(element: _Element) -> Found:
    """Return the fields of a record by name; missing fields are left out."""
    found: Found = {}
    _apply_readers_to_children(element, _RECORD, found)
    return found


def _apply_readers_to_children(element: _Element, readers: Readers, found: Found) -> None:
    reader_of = readers.get
    for child in list_children(element):
        if reader := reader_of(child.tag):
            reader(child, found)


def _make_first_value_reader(
    name: str, read: Callable[[_Element], Any] = get_readable_text
) -> Reader:
    """Return a reader that keeps the first value of *read* that is not empty."""

    def read_element(element: _Element, found: Found) -> None:
        if value := read(element):
            found.setdefault(name, value)

    return read_element


def _make_all_values_reader(
    name: str, read: Callable[[_Element], Any] = get_readable_text
) -> Reader:
    """Return a reader for a repeatable element that keeps all values in order."""

    def read_element(element: _Element, found: Found) -> None:
        if value := read(element):
            found.setdefault(name, []).append(value)

    return read_element


def _make_child_list_reader(
    name: str, tag: str, read: Callable[[_Element], Any] = get_readable_text
) -> Reader:
    """Return a reader for a list element that keeps all its children *tag* in order."""

    def read_element(element: _Element, found: Found) -> None:
        values = [
            value for child in list_children(element) if child.tag == tag and (value := read(child))
        ]
        found.setdefault(name, []).extend(values)

    return read_element


def _make_children_reader(readers: Readers) -> Reader:
    """Return a reader of the children of an element."""
    return lambda element, found: _apply_readers_to_children(element, readers, found)


def get_pmid_digits(element: _Element) -> str:
    """Return the digits of a PMID element, without its version."""
    return _to_pmid_digits(element.text or "")


def _to_pmid_digits(text: str) -> str:
    digits = text.strip().lstrip("0")
    return digits if digits.isascii() and digits.isdigit() else ""


def list_cited_pmids(element: _Element) -> tuple[int, ...]:
    """Return the distinct PMIDs in the reference lists of a record, in order."""
    found = map(_to_pmid_digits, cast("list[str]", _CITED(element)))
    return tuple(dict.fromkeys(int(pmid) for pmid in found if 0 < len(pmid) <= _LONGEST_PMID))


def _read_article_id(element: _Element, found: Found) -> None:
    kind = element.get("IdType")
    if kind == "doi":
        found.setdefault("doi", []).append(get_readable_text(element))
    elif kind == "bookaccession":
        found.setdefault("bookshelf", get_readable_text(element))
    elif kind in ("pmc", "pmcid") and (match := _PMCID.search(element.text or "")):
        found.setdefault(kind, match[0].upper())


def _read_location_id(element: _Element, found: Found) -> None:
    if element.get("ValidYN") == "N":
        return
    text = get_readable_text(element)
    if element.get("EIdType") == "doi":
        found.setdefault("electronic doi", []).append(text)
    elif match := re.match(r"arXiv:(\S+?)(?:v\d+)?$", text, re.I):
        found.setdefault("arxiv", match[1].lower())


def _read_reference_count(element: _Element, found: Found) -> None:
    """Count the references; a list may contain further lists with titles of their own."""
    found["references"] = found.get("references", 0) + sum(1 for _ in element.iter("Reference"))


def _read_abstract(element: _Element) -> str:
    return "\n\n".join(
        paragraph
        for child in list_children(element)
        if child.tag == "AbstractText" and (paragraph := _read_abstract_paragraph(child))
    )


def _read_abstract_paragraph(element: _Element) -> str:
    text, label = get_readable_text(element), one_line(element.get("Label", "")).rstrip(": ")
    if not text or not label or label.upper() == "UNLABELLED":
        return text
    prefix = f"{label.upper()}:"
    return text if text[: len(prefix)].upper().startswith(prefix) else f"{label}: {text}"


def _read_other_abstract(element: _Element) -> tuple[str, str] | None:
    text = _read_abstract(element)
    kind, language = (one_line(element.get(name, "")) for name in ("Type", "Language"))
    kind = kind or "Other"
    return (f"{kind} ({language})" if language else kind, text) if text else None


def _make_author_list_reader(prefix: str = "") -> Reader:
    """Return a reader for an author list, in which an invalid entry precedes its correction."""

    def read_element(element: _Element, found: Found) -> None:
        who = "editors" if element.get("Type") == "editors" else "authors"
        found.setdefault(prefix + who, []).extend(
            author
            for child in list_children(element)
            if child.tag == "Author"
            and child.get("ValidYN") != "N"
            and (author := _read_author(child))
        )

    return read_element


def _read_author(element: _Element) -> Author | None:
    """Return the author in an ``Author`` element; None without a name."""
    parts: dict[str, str] = {}
    affiliations: list[str] = []
    for child in list_children(element):
        tag = child.tag
        if tag == "AffiliationInfo":
            affiliations += [
                text
                for part in list_children(child)
                if part.tag == "Affiliation" and (text := get_readable_text(part))
            ]
        elif tag != "Identifier":
            parts[tag] = get_readable_text(child)
        elif child.get("Source") == "ORCID":
            parts["orcid"] = _normalize_orcid(child.text or "")
    given, collective = parts.get("ForeName", ""), parts.get("CollectiveName", "")
    last_name = parts.get("LastName", "")
    family = last_name or given
    if not family and not collective:
        return None
    return Author(
        family=family,
        given=given if last_name else "",
        initials=parts.get("Initials", ""),
        suffix=parts.get("Suffix", "").lstrip(", "),
        collective=collective,
        orcid=parts.get("orcid", ""),
        affiliations=tuple(affiliations),
    )


def _normalize_orcid(text: str) -> str:
    """Return the bare ORCID of any spelling: a URL, with or without hyphens."""
    match = _ORCID.search(text)
    return "-".join(match.groups()).upper() if match else ""


def _format_mesh_heading(element: _Element) -> str:
    return "/".join(
        [
            f"*{name}" if child.get("MajorTopicYN") == "Y" else name
            for child in list_children(element)
            if (name := get_readable_text(child))
        ]
    )


def _read_linked_notice(element: _Element) -> Notice | None:
    kind = _NOTICES.get(element.get("RefType", ""))
    if kind is None:
        return None
    pmid, source = element.find("PMID"), element.find("RefSource")
    return Notice(kind, get_readable_text(source), "" if pmid is None else get_pmid_digits(pmid))


def _read_pages(element: _Element) -> str:
    """Return a page range as PubMed prints it (``11-9`` is 11 to 19), else first and last page."""
    parts = {child.tag: get_readable_text(child) for child in list_children(element)}
    span = (parts.get("StartPage", ""), parts.get("EndPage", ""))
    return parts.get("MedlinePgn") or "-".join(part for part in span if part)


def _read_history_dates(element: _Element, found: Found) -> None:
    for child in list_children(element):
        status = child.get("PubStatus")
        if status in ("entrez", "pmc-release") and (day := _read_date(child)):
            found.setdefault(status, day)


def _read_date(element: _Element) -> str:
    """Return a date in any of PubMed's forms as ISO 8601, as precise as it is."""
    parts = {child.tag: (child.text or "").strip() for child in list_children(element)}
    if span := parts.get("MedlineDate"):
        return parse_printed_date(span)
    month = parts.get("Month") or parts.get("Season", "")
    return _to_iso_date(parts.get("Year", ""), month, parts.get("Day", ""))


def parse_printed_date(text: str) -> str:
    """Return a printed date (``1998 Dec-1999 Jan``, ``2026 Feb 14``) as an ISO 8601 date.

    >>> texts = "2026 Feb 14", "1998 Dec-1999 Jan", "2000 Spring"
    >>> [parse_printed_date(text) for text in texts]
    ['2026-02-14', '1998-12', '2000']
    """
    match = _SPAN.search(text)
    return _to_iso_date(*match.groups("")) if match else ""


@lru_cache(4096)
def _to_iso_date(year: str, month: str = "", day: str = "") -> str:
    if not re.fullmatch(r"[12]\d{3}", year, re.A):
        return ""
    number = int(month) if month.isdecimal() else _MONTHS.get(month[:3].lower(), 0)
    if not 1 <= number <= 12:
        return year
    last = calendar.monthrange(int(year), number)[1]
    if day.isdecimal() and 1 <= int(day) <= last:
        return f"{year}-{number:02}-{int(day):02}"
    return f"{year}-{number:02}"


_CITED = XPath("PubmedData/ReferenceList//ArticleId[@IdType='pubmed']/text()", smart_strings=False)
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


def _read_publication_model(element: _Element, found: Found) -> None:
    if element.get("PubModel") in ("Electronic-eCollection", "Electronic-Print"):
        found["without print"] = True
    _apply_readers_to_children(element, _ARTICLE, found)


_ID_LIST = _make_children_reader({"ArticleId": _read_article_id})
_KEYWORDS = _make_child_list_reader("keywords", "Keyword")
_SHARED: Readers = {
    "PMID": _make_first_value_reader("pmid", get_pmid_digits),
    "DateRevised": _make_first_value_reader("revised", _read_date),
    "ArticleTitle": _make_first_value_reader("title"),
    "VernacularTitle": _make_first_value_reader("vernacular title"),
    "Pagination": _make_first_value_reader("pages", _read_pages),
    "Abstract": _make_first_value_reader("abstract", _read_abstract),
    "AuthorList": _make_author_list_reader(),
    "Language": _make_all_values_reader("languages"),
    "KeywordList": _KEYWORDS,
}
_ARTICLE: Readers = _SHARED | {
    "Journal": _make_children_reader(
        {
            "ISSN": _make_first_value_reader("issn"),
            "JournalIssue": _make_children_reader(
                {
                    "Volume": _make_first_value_reader("volume"),
                    "Issue": _make_first_value_reader("issue"),
                    "PubDate": _make_first_value_reader("issued", _read_date),
                }
            ),
            "Title": _make_first_value_reader("journal"),
            "ISOAbbreviation": _make_first_value_reader("iso abbreviation"),
        }
    ),
    "ELocationID": _read_location_id,
    "PublicationTypeList": _make_child_list_reader("publication types", "PublicationType"),
    "ArticleDate": _make_first_value_reader("online", _read_date),
}
_CITATION: Readers = _SHARED | {
    "Article": _read_publication_model,
    "MedlineJournalInfo": _make_children_reader(
        {
            "MedlineTA": _make_first_value_reader("nlm abbreviation"),
            "ISSNLinking": _make_first_value_reader("linking issn"),
        }
    ),
    "MeshHeadingList": _make_child_list_reader("mesh", "MeshHeading", _format_mesh_heading),
    "CommentsCorrectionsList": _make_child_list_reader(
        "notices", "CommentsCorrections", _read_linked_notice
    ),
    "OtherAbstract": _make_all_values_reader("other abstracts", _read_other_abstract),
}
_BOOK: Readers = {
    "BookTitle": _make_first_value_reader("book title"),
    "PubDate": _make_first_value_reader("issued", _read_date),
    "AuthorList": _make_author_list_reader("book "),
    "Volume": _make_first_value_reader("volume"),
    "ELocationID": _read_location_id,
}
_RECORD: Readers = {
    "MedlineCitation": _make_children_reader(_CITATION),
    "BookDocument": _make_children_reader(
        _SHARED
        | {
            "ArticleIdList": _ID_LIST,
            "Book": _make_children_reader(_BOOK),
            "PublicationType": _make_all_values_reader("publication types"),
            "ContributionDate": _make_first_value_reader("contributed", _read_date),
        }
    ),
    "PubmedData": _make_children_reader(
        {
            "History": _read_history_dates,
            "ArticleIdList": _ID_LIST,
            "ReferenceList": _read_reference_count,
        }
    ),
    "PubmedBookData": _make_children_reader(
        {"History": _read_history_dates, "ArticleIdList": _ID_LIST}
    ),
}
