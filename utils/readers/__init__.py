"""Convert what a site sent into trusted markdown: the media type's reader, then both judges.

Texts already on the shelf go through the same functions, so that imported, hand-edited and audited
files are judged alike. For those files a rejection is a result, not an error.

The front of a JATS article or the first page of a PDF says which version of the paper it is.
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
from ..model.paper import Document, Fetched, Media, Paper, Route, Verdict, Version
from ..model.verdicts import NO_COMPARISON, Comparison
from ..model.versions import is_only_preprint, version_from_url
from .licenses import choose_license

__all__ = [
    "JUDGE_VERSION",
    "READER_MODULES",
    "READER_VERSIONS",
    "add_provenance",
    "choose_license",
    "extract",
    "get_extractor",
    "get_reader",
    "read",
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
"""`readers.read`, or the same in other processes (`aside.read_in_child`)."""
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


def read(
    fetched: Fetched,
    paper: Paper,
    *,
    identified: bool = False,
    comparison: Comparison = NO_COMPARISON,
    unjudged: Document | None = None,
) -> Document:
    """Convert a fetched response and verify that the text is this paper, in full.

    A file that its name *identified* already, without a record for comparison, is only checked for
    being the whole of a paper. *comparison* is what `judges.comparison` compares with. *unjudged*
    is what the reader made of the same bytes, where they were read before.

    Raises
    ------
    BadContent
        The response is something else; ``details["verdict"]`` names it: a login page, a captcha,
        a stub, another paper. ``details["copy"]`` describes the part of a paper that came, as
        `judges.comparison.Copy`.
    """
    from ..judges.check import judge_document

    document = None
    try:
        document = extract(fetched, paper, unjudged)
        by_name = identified and not document.ids.shares(paper.ids)
        named = replace(document, ids=paper.ids) if by_name else document
        document = judge_document(named, paper, comparison)
    except BadContent as bad:
        if document and bad.outcome == "partial":
            from ..judges.comparison import measure_copy

            part = measure_copy(document.markdown, fetched.via, document.version)
            bad.details["copy"] = part._asdict()
        raise _to_refusal(bad, fetched) from bad
    if not is_local_reader(document.extractor):
        document = replace(document, evidence=f"{document.evidence}; read by {document.extractor}")
    if by_name:  # the last piece of evidence rests on the ids replaced above
        whole = document.evidence.rpartition("; ")[0] or document.evidence
        document = replace(document, evidence=f"{whole}; the file's name says which paper it is")
    return document


def extract(fetched: Fetched, paper: Paper, unjudged: Document | None = None) -> Document:
    """Convert a fetched response to a document without judging the document.

    *unjudged* as in `read`.

    Raises
    ------
    BadContent
        The response holds no readable text.
    """
    document = unjudged or get_reader(fetched.media).read(fetched)
    if document.doubts is not None:
        from .pdf.glyphs import correct_letters

        document = correct_letters(document, paper)
    return add_provenance(document, fetched, paper)


def get_reader(media: Media) -> ModuleType:
    """Return the reader of a media type; it is imported here."""
    return import_module(f".{READER_MODULES[media]}", __package__)


def add_provenance(document: Document, fetched: Fetched, paper: Paper) -> Document:
    """Return the document with its reader, and with the licence and version that are known."""
    return replace(
        document,
        license=choose_license(document.license, fetched.license, paper.license),
        extractor=document.extractor or get_extractor(fetched.media),
        version=find_version(fetched, document, paper),
        route=get_route(fetched),
    )


def get_route(fetched: Fetched) -> Route:
    """Return how a text came, which decides how much evidence against the text is needed."""
    if fetched.media in _STRUCTURED:
        return "structured"
    if fetched.via in _PUBLISHER_ROUTES:
        return "publisher"
    return "copy" if fetched.via in _COPY_ROUTES else ""


def _to_refusal(bad: BadContent, fetched: Fetched) -> BadContent:
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


def get_extractor(media: Media) -> str:
    """Return the reader of a media type with its version, such as ``jats 1``."""
    return f"{media} {READER_VERSIONS[media]}"


def is_local_reader(extractor: str) -> bool:
    """Return whether a reader of this package made a text, without a server or text recognition.

    >>> is_local_reader("pdf 3"), is_local_reader("GROBID 0.8.1, tei 1")
    (True, False)
    """
    return not extractor or extractor.partition(" ")[0] in READER_MODULES


class JudgedText(NamedTuple):
    """A verdict and its evidence; ``document`` is what was accepted."""

    verdict: Verdict
    evidence: str
    document: Document | None = None


def judge_fetched(fetched: Fetched, paper: Paper, read: Read = read) -> JudgedText:
    """Judge whether what a site sent is all of *paper*.

    Without a record of the paper there is nothing to compare with: the file's name identifies the
    paper.
    """
    try:
        document = read(fetched, paper, identified=not paper.recorded_by)
    except BadContent as bad:
        return JudgedText(_get_verdict(bad), str(bad.details.get("evidence") or bad.message))
    return JudgedText(document.verdict, document.evidence, document)


def judge_text(text: str, paper: Paper, read: Read = read) -> JudgedText:
    """Judge whether *text*, a file's text without its header, is all of *paper*."""
    return judge_fetched(_to_fetched(text, "markdown"), paper, read)


def judge_foreign_text(text: str, paper: Paper, read: Read = read) -> JudgedText:
    """Judge a file that another program wrote and that may hold anything."""
    stripped = text.strip().removeprefix("\ufeff").strip()
    if form := next(
        (f for start, f in _FORMATS_BY_START.items() if _begins_with(stripped, start)), ""
    ):
        seen = judge_fetched(_to_fetched(text, "html"), paper, read) if "HTML" in form else None
        if seen and not seen.document and seen.verdict != "wrong_paper":
            return seen
        return JudgedText("not_a_paper", f"the file is {form}, not text")
    if "\x00" in stripped[:1000]:
        return JudgedText("not_a_paper", "the file is not text")
    if len(stripped) < _MIN_TEXT_CHARS:
        return JudgedText("not_a_paper" if stripped else "empty", f"{len(stripped)} characters")
    return judge_text(text, paper, read)


def _begins_with(text: str, start: str) -> bool:
    """Return whether *text* begins with *start*, in any case."""
    return text[: len(start)].lower() == start


def _to_fetched(text: str, media: Media) -> Fetched:
    """Wrap a text from the shelf as if it had been fetched."""
    body = text.encode("utf-8", "replace")
    return Fetched(body, media, "", "the shelf", "shelf", charset="utf-8")


def _get_verdict(bad: BadContent) -> Verdict:
    """Return the verdict that an error carries."""
    found: Verdict = bad.details.get("verdict", "not_a_paper")
    return found


def find_version(fetched: Fetched, document: Document, paper: Paper) -> Version:
    """Return the version of a text: stated by the text itself, else by its site.

    A text with an arXiv identifier and no DOI is a preprint where the site stated nothing.
    """
    if fetched.media == "jats" and (stated := _find_stated_version(fetched.body)):
        return stated
    if is_only_preprint(paper):
        return "preprint"
    if fetched.version or not document.ids.arxiv or document.ids.doi:
        return fetched.version or version_from_url(fetched.url)
    return "preprint"


def _find_stated_version(jats: bytes) -> Version:
    """Return the version that the front of an article states; empty if it states none."""
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
