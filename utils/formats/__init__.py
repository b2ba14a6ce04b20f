"""From fetched bytes to accepted markdown: a reader for each media type, then the judges."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from urllib.parse import urlsplit

from ..errors import BadContent
from ..model.paper import Document, Fetched, Media, Paper
from .licenses import best_license

__all__ = ["JUDGES", "READERS", "VERSIONS", "best_license", "extractor", "read", "with_provenance"]

_FIRST_ERROR = 400  # HTTP status
# Of a page with an error status, "refused" says more than these; a captcha or login stays.
_VAGUE = {"error_page", "refused", "not_a_paper", "wrong_paper", "empty"}
# Raised by whoever changes what the judges say: `audit` then asks them about the shelf again.
JUDGES = 2
# Raised by whoever changes what a reader writes: `reextract` then renews the texts on the shelf.
VERSIONS: dict[Media, int] = {"jats": 4, "html": 5, "pdf": 3, "markdown": 2, "latex": 3}
# Read by name, so that no parser is imported before it is needed.
READERS: dict[Media, str] = {
    "jats": "jats",
    "html": "html",
    "pdf": "pdf",
    "markdown": "plain_markdown",
    "latex": "latex",
}


def read(fetched: Fetched, paper: Paper, *, identified: bool = False) -> Document:
    """Convert what was fetched, and make sure that it is this paper, in full.

    What is *identified* already (a file by its name, without a record to compare it with) is only
    checked for being the whole of a paper.

    Raises
    ------
    BadContent
        It is something else; ``details["verdict"]`` says what: a login page, a captcha, a stub,
        another paper.
    """
    from ..judges.check import judge

    reader = import_module(f".{READERS[fetched.media]}", __package__)
    try:
        document = with_provenance(reader.read(fetched), fetched, paper)
        by_name = identified and not document.ids.shares(paper.ids)
        document = judge(replace(document, ids=paper.ids) if by_name else document, paper)
    except BadContent as bad:
        raise _refusal(bad, fetched) from bad
    if by_name:  # the last piece of evidence rests on the ids replaced above
        whole = document.evidence.rpartition("; ")[0] or document.evidence
        document = replace(document, evidence=f"{whole}; which paper it is, its name says")
    return document


def with_provenance(document: Document, fetched: Fetched, paper: Paper) -> Document:
    """The document with its license and version, by itself, its site and record; and its reader."""
    from .versions import version_of

    return replace(
        document,
        license=best_license(document.license, fetched.license, paper.license),
        extractor=extractor(fetched.media),
        version=version_of(fetched, document, paper),
    )


def _refusal(bad: BadContent, fetched: Fetched) -> BadContent:
    """The error for a page with an HTTP error status: ``refused``, unless the verdict says more."""
    if fetched.status < _FIRST_ERROR or bad.outcome not in _VAGUE:
        return bad
    site = urlsplit(fetched.url).hostname or fetched.source
    msg = f"{site} refused: HTTP {fetched.status}, and no paper ({bad.message.rstrip('.')})."
    hint = "Open it in a browser or through a library, or try again later."
    return BadContent(msg, hint, verdict="refused", status=fetched.status)


def extractor(media: Media) -> str:
    """The reader of a kind of content, with its version, such as ``jats 1``."""
    return f"{media} {VERSIONS[media]}"
