"""PubMed's XML, read record by record: what efetch answers and what the bulk files hold.

One parser for articles, books and deletions. It streams (a 30,000-record file needs the memory of
one record), visits every element of a record once, and looks only at *child paths*: a record also
carries the identifiers of its references, comments and investigators, which are not its own.

What goes where, beyond the obvious:

- ``title`` and ``abstract`` are as PubMed prints them (trailing dot, ``[Translated title].``), with
  markup made readable by `.inline_markup`; an empty or ``[Not Available].`` title gives way to the
  vernacular one. A structured abstract is ``LABEL: text`` paragraphs with blank lines between.
- ``published`` is the date of the issue, made more precise by the electronic date where the two
  agree; for journals without print issues (``Electronic-eCollection``, ``Electronic-Print``) the
  electronic date. A span (``1998 Dec-1999 Jan``) counts from its beginning, a season is its year.
- ``journal_abbreviation`` is NLM's (``MedlineTA``). ``mesh`` is one entry a heading as MEDLINE
  writes it: ``Descriptor/qualifier/*major qualifier`` or ``*Descriptor``.
- ``other_abstracts`` pairs are ``("plain-language-summary (eng)", text)``.
- A book chapter has its own title, the book's in ``journal`` and its Bookshelf accession (``NBK…``)
  in ``pages``; editors are its authors only when it has no others.
- ``notices`` are those *about* the paper (``RetractionIn``), not the one it is (``RetractionOf``).

Facts from ``pubmed_250101.dtd`` and NLM's description of MEDLINE/PubMed data elements.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from ...errors import BadContent, BadRequest, Miss, Unreachable
from ...model.identifiers import Ids
from ...model.paper import Author, Paper
from ..safe_xml import SAFE_OPTIONS
from .fields import own_pmid, record_facts
from .inline_markup import readable_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.etree import XMLPullParser, _Element

    from .fields import Found

_CHUNK = 1 << 18
_KINDS = ("PubmedArticle", "PubmedBookArticle", "DeleteCitation")
# A DOI as `Ids.parse` would leave it: reading a million records is worth the short cut.
_PLAIN_DOI = re.compile(r"10\.\d{4,9}/[\w./()-]*\w", re.A)
_ROOTS = frozenset({"PubmedArticleSet", *_KINDS})


@dataclass(frozen=True, slots=True)
class Deleted:
    """PMIDs that PubMed deleted: every copy of them is to be deleted, too."""

    pmids: tuple[str, ...]


def read_records(source: BinaryIO | bytes) -> Iterator[Paper | Deleted]:
    """Read a ``PubmedArticleSet`` as a stream, in its order.

    Parameters
    ----------
    source : binary file or bytes
        The XML, unpacked (open ``.xml.gz`` with `gzip.open`). Read forward only, never closed.

    Yields
    ------
    Paper or Deleted
        Nothing for an empty set: that is how efetch answers for PMIDs it does not know.

    Raises
    ------
    Unreachable
        NCBI answered with an error of its own (``<ERROR>``, a JSON error): try again later.
    BadContent
        An error that stays one (unusable ids), not PubMed's XML, or XML that is broken; whatever
        was complete before has been yielded, and ``details["after"]`` is the last PMID of it.
    """
    for record, _ in read_with_elements(source):
        yield record


def read_with_elements(source: BinaryIO | bytes) -> Iterator[tuple[Paper | Deleted, _Element]]:
    """`read_records` with the XML of each record, for what a `Paper` does not hold.

    An element is emptied when the next record is taken.
    """
    stream = io.BytesIO(source) if isinstance(source, bytes) else source
    parser, start, last = _parser(), b"", ""
    while True:
        chunk, broken = _feed(stream, parser)
        start = start or chunk.lstrip()[:2000]
        for _, found in parser.read_events():
            element = cast("_Element", found)
            record = _record(element)
            if isinstance(record, Paper):
                last = record.ids.pmid
            yield record, element
            _forget(element)
        if broken:
            raise _broken_answer(start, last, broken)
        if not chunk:
            return


def _parser() -> XMLPullParser:
    from lxml import etree

    return etree.XMLPullParser(
        events=("end",),
        tag=(*_KINDS, "ERROR"),
        **SAFE_OPTIONS,
        remove_comments=True,
        remove_pis=True,
        collect_ids=False,
    )


def _feed(stream: BinaryIO, parser: XMLPullParser) -> tuple[bytes, str]:
    """Parse the next chunk: it (empty at the end), and what is broken about it."""
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


def _broken_answer(start: bytes, last: str, broken: str) -> Miss:
    """What to raise for a body that is not PubMed's XML, or not to its end."""
    if last:
        msg = f"PubMed's XML is broken after PMID {last}: {broken}."
        return BadContent(msg, "Ask for the rest again.", verdict="partial", after=last)
    if not start:
        return BadContent("PubMed's answer is empty.", "Ask again.", verdict="empty")
    if reason := _json_error(start):
        return _ncbi_error(reason)
    msg = f"PubMed's answer is not PubMed XML: {broken}."
    return BadContent(msg, "Ask again.", verdict="error_page")


def _json_error(start: bytes) -> str:
    """The message in a JSON error; nothing else of it, for it may repeat the caller's key."""
    try:
        answer = json.loads(start, strict=False)
    except ValueError:
        return ""
    return str(answer.get("error", "")) if isinstance(answer, dict) else ""


def _ncbi_error(text: str) -> Miss:
    """What to raise for an error message of NCBI (facts sheet: NCBI E-utilities errors)."""
    shown = " ".join(text.split())[:300] or "no reason given"
    msg = f"NCBI answered with an error: {shown}."
    if re.search(r"ID list is empty|API key|unable to obtain query|invalid", shown, re.I):
        return BadContent(msg, "Asking again will not help.", verdict="error_page")
    if "rate limit" in shown.lower():
        return Unreachable(msg, "Ask again in a second.", status=429)
    return Unreachable(msg, "Ask again later.")


def _forget(element: _Element) -> None:
    """Free a record that was read and everything before it, so that memory stays flat."""
    element.clear()
    parent = element.getparent()
    if parent is not None:
        del parent[: parent.index(element)]


def _record(element: _Element) -> Paper | Deleted:
    if element.tag == "ERROR":
        raise _ncbi_error(readable_text(element))
    if element.tag == "DeleteCitation":
        return Deleted(tuple(own_pmid(child) for child in element if child.tag == "PMID"))
    found = record_facts(element)
    return _book(found) if element.tag == "PubmedBookArticle" else _article(found)


# --- Assembly ----------------------------------------------------------------------------------


def _article(found: Found) -> Paper:
    issued, online = found.get("issued", ""), found.get("online", "")
    if online.startswith(issued) or "without print" in found:
        issued = online or issued
    return Paper(
        ids=_ids(found, "doi", "electronic doi"),
        authors=_people(found, "authors", "editors"),
        journal=found.get("journal", ""),
        journal_abbreviation=found.get("nlm abbreviation") or found.get("iso abbreviation", ""),
        issn=found.get("issn") or found.get("linking issn", ""),
        issue=found.get("issue", ""),
        pages=found.get("pages", ""),
        published=issued,
        **_common(found),
    )


def _book(found: Found) -> Paper:
    """A book, or a chapter of one: only a chapter has a title beside the book's."""
    chapter = "title" in found
    book_title = found.get("book title", "")
    found.setdefault("title", book_title)
    return Paper(
        ids=_ids(found, "doi", *(() if chapter else ("electronic doi",))),
        authors=_people(found, "authors", "book authors", "editors", "book editors"),
        journal=book_title,
        pages=found.get("bookshelf") or found.get("pages", ""),
        published=found.get("issued") or found.get("contributed", ""),
        **_common(found),
    )


def _common(found: Found) -> dict[str, Any]:
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


def _people(found: Found, *lists: str) -> tuple[Author, ...]:
    """The first list that names anybody."""
    return next((tuple(people) for name in lists if (people := found.get(name))), ())


def _ids(found: Found, *dois: str) -> Ids:
    """The record's own names; a DOI that is none (a page number, a sentence) is passed over."""
    doi = next((doi for name in dois for text in found.get(name, ()) if (doi := _doi(text))), "")
    return Ids(
        doi=doi,
        pmid=found.get("pmid", ""),
        pmcid=found.get("pmc") or found.get("pmcid", ""),
        arxiv=found.get("arxiv", ""),
    )


def _doi(text: str) -> str:
    if _PLAIN_DOI.fullmatch(text):
        return text
    try:
        ids = Ids.parse(text)
    except BadRequest:
        return ""
    return ids.doi or (ids.arxiv and f"10.48550/arxiv.{ids.arxiv}")
