"""Convert PDFs to markdown, with the identifiers on their first pages.

A child process reads the PDF (`.child`); this module checks its answer. A PDF of page images has
pages and no words. If the extra ``ocr`` is installed, the words are recognised (`.ocr`); otherwise
the verdict is ``scanned``.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from ...errors import BadContent
from ...judges.thresholds import SCAN_MAX_WORDS_PER_PAGE
from ...model.identifiers import Ids
from ...model.paper import Document, Fetched, PageDoubts, Paper, TextDoubts, Verdict
from ...outline.sections import measure_text
from ...outline.words import count_words
from .. import get_extractor_name
from ..child_processes import ChildReadError
from . import ocr
from .child import read_pages_in_child

__all__ = ["read_document"]

_DOI = re.compile(r"10\.\d{4,9}(?:\.\d+)*/[^\s\"<>|]+[^\s\"<>|.,;:)\]]")
_CITE_AS = re.compile(rf"cite this article as.{{0,600}}?({_DOI.pattern})", re.I | re.S)
_PMID = re.compile(r"\bPMID:?\s*(\d{4,8})\b")
_PMCID = re.compile(r"\bPMC\d{4,9}\b")
_ARXIV = re.compile(r"\barXiv:(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?", re.I)
_CREATIVE_COMMONS = re.compile(r"https?://creativecommons\.org/[a-z/0-9.\-]+", re.I)
_BY_HAND = "Recognise its text with another program, and drop the result into the inbox."
_HEAD = 1024  # bytes; readers accept what stands before "%PDF-" within these


def read_document(fetched: Fetched) -> Document:
    """Convert a PDF to a document.

    Raises
    ------
    BadContent
        The bytes are not a PDF (``not_a_paper``, or the wall that a page in its place shows), need
        a password (``login``), or cannot be read (``not_a_paper``).
    """
    if b"%PDF-" not in fetched.body[:_HEAD]:
        _raise_not_a_pdf_error(fetched)
    try:
        found = read_pages_in_child(fetched.body)
    except ChildReadError as error:
        msg = f"The PDF from {fetched.source} could not be read: {error}."
        raise BadContent(
            msg, "The file is damaged, or built to attack parsers.", verdict="not_a_paper"
        ) from error
    if found.get("error") == "password":
        msg = f"The PDF from {fetched.source} is encrypted and needs a password."
        raise BadContent(msg, "Only its owner can open it.", verdict="login")
    if found.get("error"):
        msg = f"The PDF from {fetched.source} is damaged."
        raise BadContent(msg, "Another source may have an intact copy.", verdict="not_a_paper")
    if _is_scanned_pdf(found) and ocr.is_ocr_installed():
        found = _recognise_scan(fetched, found)
    markdown, title, opening = found["markdown"], found["title"], found["opening"]
    counted = measure_text(markdown)
    number, count = found["numbered"]
    lost = f"the last page is numbered {number} of {count}" if number < count else ""
    if unread := found.get("unread"):
        lost = f"text recognition failed on {len(unread)} of {found['pages']} pages"
    licence = _CREATIVE_COMMONS.search(re.sub(r"\s+", "", opening))
    return Document(
        markdown=markdown,
        title=title,
        abstract=counted.abstract,
        ids=_find_ids_in_pdf(opening, markdown),
        license=fetched.license or (licence[0] if licence else ""),
        retracted=bool(re.match(r"\W*retracted\b", title, re.I)),
        body_words=counted.body_words,
        headings=counted.headings,
        references=counted.references,
        pages=found["pages"],
        verdict="partial" if lost else "full_text",
        evidence=lost,
        extractor=found.get("extractor", ""),
        doubts=_parse_child_doubts(found["doubts"]),
    )


def _parse_child_doubts(reported: dict[str, Any]) -> TextDoubts:
    """Return the doubts that the child process reported."""
    foreign = {
        word: {at: (font, letter) for at, font, letter in places}
        for word, places in reported["foreign"].items()
    }
    return TextDoubts(tuple(PageDoubts(**page) for page in reported["pages"]), foreign)


def _is_scanned_pdf(found: dict[str, Any]) -> bool:
    """Return whether a PDF's pages contain hardly any words, like page images."""
    return bool(
        found["pages"] and count_words(found["markdown"]) < SCAN_MAX_WORDS_PER_PAGE * found["pages"]
    )


def _recognise_scan(fetched: Fetched, found: dict[str, Any]) -> dict[str, Any]:
    """Return the recognised text of a scan, or *found* if recognition cannot run.

    Raises
    ------
    BadContent
        Hardly any words are recognised, or the scan has too many pages (verdict ``scanned``).
    """
    pages = found["pages"]
    if pages > ocr.MOST_PAGES:
        msg = f"The PDF from {fetched.source} is a scan of {pages} pages; {ocr.MOST_PAGES} are read"
        raise BadContent(f"{msg} by text recognition.", _BY_HAND, verdict="scanned")
    read_ = ocr.recognise_pages(fetched.body, pages)
    if read_ is None:
        return found
    if _is_scanned_pdf(read_):
        printed, recognised = (count_words(one["markdown"]) for one in (found, read_))
        if printed and printed >= recognised:
            return found  # few words, and no picture of any
        msg = f"Text recognition found hardly a word in the {pages} pages from {fetched.source}."
        raise BadContent(msg, _BY_HAND, verdict="scanned")
    confidence = f"mean confidence {read_['confidence']:.2f}"
    made_by = f"{read_['engine']} ({confidence}), {get_extractor_name('pdf')}"
    return {**read_, "extractor": made_by}


def _find_ids_in_pdf(opening: str, markdown: str) -> Ids:
    """Return the identifiers on the first pages: the most frequent DOI, and unique others.

    The first page may also cite; the paper's own DOI is at least as frequent there as any other,
    and first.
    """
    found = Ids()
    dois = Counter(match[0].lower() for match in _DOI.finditer(opening))
    if dois:
        found = Ids.maybe(dois.most_common(1)[0][0])
    elif cited := _CITE_AS.search(markdown):
        found = Ids.maybe(cited[1])
    for pattern, form in ((_PMID, "PMID: {}"), (_ARXIV, "arXiv:{}"), (_PMCID, "{}")):
        named = {match[match.lastindex or 0] for match in pattern.finditer(opening)}
        if len(named) == 1:
            found |= Ids.maybe(form.format(named.pop()))
    return found


def _raise_not_a_pdf_error(fetched: Fetched) -> None:
    """Raise `BadContent` for bytes that are not a PDF, usually a web page."""
    from dataclasses import replace

    from ...judges.check import judge_completeness
    from .. import import_reader_module

    verdict: Verdict = "not_a_paper"
    kind = "Something other than a PDF was served"
    try:
        page = import_reader_module("html").read_document(replace(fetched, media="html"))
    except BadContent as error:
        verdict = "empty" if error.outcome == "empty" else verdict
    else:
        kind = "A web page was served instead of a PDF"
        shown = judge_completeness(page, Paper(ids=page.ids, title=page.title)).verdict
        verdict = verdict if shown in ("full_text", "empty") else shown
    msg = f"{kind} by {fetched.source}."
    raise BadContent(
        msg, "Open the address in a browser to see what the site wants.", verdict=verdict
    )
