"""Convert fetched bytes into verified markdown: the media type's reader runs, then both judges.

Texts already on the shelf are judged by the same functions, so that imported, edited and audited
files are treated alike. For these files a rejection is a result, not an error.

The front matter of a JATS article or the first page of a PDF states the version of the paper.
Publishers use the terms of NISO's Journal Article Versions (RP-8-2008); PMC and preprint servers
have their own. A manuscript number alone proves nothing, because publishers number every
submission. Only numbers of systems for accepted manuscripts (NIHMS, Europe PMC) count.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from types import ModuleType
from typing import NamedTuple
from urllib.parse import urlsplit

from ..errors import BadContent
from ..model.licenses import choose_license
from ..model.paper import Document, Fetched, Media, Paper, Route, Verdict, Version
from ..model.verdicts import NO_COMPARISON, ComparisonData
from ..model.versions import infer_version_from_url, is_only_preprint

__all__ = [
    "JUDGE_VERSION",
    "READER_MODULES",
    "READER_VERSIONS",
    "add_provenance_fields",
    "choose_license",
    "convert_to_document",
    "get_extractor_name",
    "import_reader_module",
    "read_and_judge",
]

_MIN_ERROR_STATUS = 400  # HTTP status
_STRUCTURED: tuple[Media, ...] = ("jats", "elsevier")
# Routes of `..model.sites`, and of the inbox.
_PUBLISHER_ROUTES = {"publisher", "crossref", "elsevier", "springer", "springer_tdm", "wiley"}
_COPY_ROUTES = {
    *("core", "openalex", "openalex_content", "semantic_scholar", "unpaywall"),
    *("jina", "jina_search", "manual"),
}
# For a page with an error status, "refused" replaces these verdicts; a captcha or login stays.
_VAGUE_VERDICTS = {"error_page", "refused", "not_a_paper", "wrong_paper", "empty"}
# Raise with each change of the judges' verdicts: `audit` then judges the shelf again.
JUDGE_VERSION = 5
# Raise with each change of a reader's output: `reextract` then renews the texts on the shelf.
READER_VERSIONS: dict[Media, int] = {
    "jats": 5,
    "elsevier": 1,
    "html": 8,
    "pdf": 7,
    "markdown": 3,
    "latex": 4,
}
# Imported by name on first use, so that no parser is loaded without need.
READER_MODULES: dict[Media, str] = {
    "jats": "jats",
    "elsevier": "elsevier",
    "html": "html",
    "pdf": "pdf.reader",
    "markdown": "plain_markdown",
    "latex": "latex",
}
Read = Callable[..., Document]
"""`readers.read_and_judge`, or `reader_processes.read_and_judge_in_child`."""
_MIN_TEXT_CHARS = 200  # characters
_FORMATS_BY_START = {
    "<!doctype": "an HTML page",
    "<html": "an HTML page",
    "<?xml": "XML",
    "%pdf": "a PDF",
    "{": "data for programs",
}
_MAX_FRONT_BYTES = 400_000  # bytes: a front matter with three thousand authors
_BODY = re.compile(rb"<body[\s>]")
_ARTICLE = re.compile(rb"<article\s[^<>]{0,2000}")
_ARTICLE_VERSION = re.compile(rb"<article-version(?=[\s>])([^<>]{0,600})>([^<>]{0,100})")
_MANUSCRIPT = re.compile(
    rb"""pub-id-type\s{0,9}=\s{0,9}["']manuscript["'][^<>]{0,200}>\s{0,99}"""
    rb"""(?:nihms|nihpa|hhmims|ems|ukms|cams|halms)-?\d""",
    re.I,
)
_VERSION_PATTERNS: tuple[tuple[re.Pattern[bytes], Version], ...] = (
    (re.compile(rb"\b[ec]?vor\b|version[ -]of[ -]record", re.I), "published"),
    (re.compile(rb"\baa?m\b|accepted[ -]manuscript", re.I), "accepted"),
    (re.compile(rb"\b(?:ao|smur)\b|pre-?print|author'?s[ -]original|submitted", re.I), "preprint"),
)


def read_and_judge(
    fetched: Fetched,
    paper: Paper,
    *,
    identified: bool = False,
    comparison: ComparisonData = NO_COMPARISON,
    unjudged: Document | None = None,
) -> Document:
    """Convert a fetched response and verify that the text is the whole requested paper.

    If the file name *identified* the paper and there is no record to compare with, only
    completeness is judged. *comparison* has the copies for `judges.comparison`. *unjudged* is the
    document of an earlier reading of the same bytes.

    Raises
    ------
    BadContent
        The response is not the paper; ``details["verdict"]`` states what it is: a login page, a
        captcha, a stub, another paper. ``details["copy"]`` describes a partial text as
        `model.verdicts.TextCopy`.
    """
    from ..judges.check import judge_document

    document = None
    try:
        document = convert_to_document(fetched, paper, unjudged)
        by_name = identified and not document.ids.shares(paper.ids)
        named = replace(document, ids=paper.ids) if by_name else document
        document = judge_document(named, paper, comparison)
    except BadContent as bad:
        if document and bad.outcome == "partial":
            from ..judges.comparison import measure_copy

            part = measure_copy(document.markdown, fetched.via, document.version)
            bad.details["copy"] = part._asdict()
        raise _build_status_error(bad, fetched) from bad
    if not is_built_in_reader(document.extractor):
        document = replace(document, evidence=f"{document.evidence}; read by {document.extractor}")
    if by_name:  # the last piece of evidence rests on the ids replaced above
        whole = document.evidence.rpartition("; ")[0] or document.evidence
        document = replace(document, evidence=f"{whole}; the file's name says which paper it is")
    return document


def convert_to_document(
    fetched: Fetched, paper: Paper, unjudged: Document | None = None
) -> Document:
    """Convert a fetched response to a document without judging it.

    *unjudged* as in `read_and_judge`.

    Raises
    ------
    BadContent
        The response holds no readable text.
    """
    document = unjudged or import_reader_module(fetched.media).read_document(fetched)
    if document.doubts is not None:
        from .pdf.glyphs import correct_misnamed_letters

        document = correct_misnamed_letters(document, paper)
    return add_provenance_fields(document, fetched, paper)


def import_reader_module(media: Media) -> ModuleType:
    """Import and return the reader module for a media type."""
    return import_module(f".{READER_MODULES[media]}", __package__)


def add_provenance_fields(document: Document, fetched: Fetched, paper: Paper) -> Document:
    """Return the document with its reader's name, and with licence and version where known."""
    return replace(
        document,
        license=choose_license(document.license, fetched.license, paper.license),
        extractor=document.extractor or get_extractor_name(fetched.media),
        version=determine_text_version(fetched, document, paper),
        route=classify_route_trust(fetched),
    )


def classify_route_trust(fetched: Fetched) -> Route:
    """Return the kind of route that delivered a text; it determines how strictly to judge."""
    if fetched.media in _STRUCTURED:
        return "structured"
    if fetched.via in _PUBLISHER_ROUTES:
        return "publisher"
    return "copy" if fetched.via in _COPY_ROUTES else ""


def _build_status_error(bad: BadContent, fetched: Fetched) -> BadContent:
    """Return the error for a page with an HTTP error status."""
    if fetched.status < _MIN_ERROR_STATUS or bad.outcome not in _VAGUE_VERDICTS:
        return bad
    site = urlsplit(fetched.url).hostname or fetched.source
    msg = (
        f"{site} refused access (HTTP {fetched.status}) instead of sending the paper "
        f"({bad.message.rstrip('.')})."
    )
    hint = "Open it in a browser or through a library, or try again later."
    return BadContent(msg, hint, verdict="refused", status=fetched.status)


def get_extractor_name(media: Media) -> str:
    """Return the name and version of a media type's reader, such as ``jats 1``."""
    return f"{media} {READER_VERSIONS[media]}"


def is_built_in_reader(extractor: str) -> bool:
    """Return whether a reader of this package made a text, without an external service or OCR.

    >>> is_built_in_reader("pdf 3"), is_built_in_reader("GROBID 0.8.1, tei 1")
    (True, False)
    """
    return not extractor or extractor.partition(" ")[0] in READER_MODULES


class JudgedText(NamedTuple):
    """A verdict with its evidence; ``document`` is the accepted document, or None."""

    verdict: Verdict
    evidence: str
    document: Document | None = None


def judge_fetched_response(
    fetched: Fetched, paper: Paper, read: Read = read_and_judge
) -> JudgedText:
    """Judge whether a fetched response is the whole text of *paper*.

    Without a record to compare with, the file name identifies the paper.
    """
    try:
        document = read(fetched, paper, identified=not paper.recorded_by)
    except BadContent as bad:
        return JudgedText(_get_error_verdict(bad), str(bad.details.get("evidence") or bad.message))
    return JudgedText(document.verdict, document.evidence, document)


def judge_shelf_text(text: str, paper: Paper, read: Read = read_and_judge) -> JudgedText:
    """Judge whether *text*, a shelf file without its header, is the whole text of *paper*."""
    return judge_fetched_response(_wrap_text_as_fetched(text, "markdown"), paper, read)


def judge_foreign_text(text: str, paper: Paper, read: Read = read_and_judge) -> JudgedText:
    """Judge a text file that another program wrote; its content is not trusted."""
    stripped = text.strip().removeprefix("\ufeff").strip()
    if form := next(
        (f for start, f in _FORMATS_BY_START.items() if _is_prefix_ignoring_case(stripped, start)),
        "",
    ):
        seen = (
            judge_fetched_response(_wrap_text_as_fetched(text, "html"), paper, read)
            if "HTML" in form
            else None
        )
        if seen and not seen.document and seen.verdict != "wrong_paper":
            return seen
        return JudgedText("not_a_paper", f"the file is {form}, not text")
    if "\x00" in stripped[:1000]:
        return JudgedText("not_a_paper", "the file is not text")
    if len(stripped) < _MIN_TEXT_CHARS:
        return JudgedText("not_a_paper" if stripped else "empty", f"{len(stripped)} characters")
    return judge_shelf_text(text, paper, read)


def _is_prefix_ignoring_case(text: str, start: str) -> bool:
    """Return whether *text* starts with *start*, ignoring case."""
    return text[: len(start)].lower() == start


def _wrap_text_as_fetched(text: str, media: Media) -> Fetched:
    """Return a text from the shelf as if it had been fetched."""
    body = text.encode("utf-8", "replace")
    return Fetched(body, media, "", "the shelf", "shelf", charset="utf-8")


def _get_error_verdict(bad: BadContent) -> Verdict:
    """Return the verdict stored in an error, or the default."""
    found: Verdict = bad.details.get("verdict", "not_a_paper")
    return found


def determine_text_version(fetched: Fetched, document: Document, paper: Paper) -> Version:
    """Return the version of a text, as the text itself states it or as its site implies.

    A text with an arXiv identifier and without a DOI is a preprint, unless the site states
    otherwise.
    """
    if fetched.media == "jats" and (stated := _find_version_in_jats(fetched.body)):
        return stated
    if is_only_preprint(paper):
        return "preprint"
    if fetched.version or not document.ids.arxiv or document.ids.doi:
        return fetched.version or infer_version_from_url(fetched.url)
    return "preprint"


def _find_version_in_jats(jats: bytes) -> Version:
    """Return the version stated in the front matter of an article; else empty."""
    front = jats[:_MAX_FRONT_BYTES]
    if body := _BODY.search(front):
        front = front[: body.start()]
    for marks in _ARTICLE_VERSION.finditer(front):
        for words, version in _VERSION_PATTERNS:
            if words.search(marks[1]) or words.search(marks[2]):
                return version
    if _MANUSCRIPT.search(front):
        return "accepted"
    article = _ARTICLE.search(front)
    return "preprint" if article and b'"preprint"' in article[0] else ""
