"""From what a site sent to markdown we trust: readers by media type, then the two judges."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from urllib.parse import urlsplit

from ..errors import BadContent
from ..model.paper import Document, Fetched, Media, Paper
from .licenses import best as best_license

__all__ = ["JUDGES", "READERS", "VERSIONS", "best_license", "extractor", "named", "read"]

_ERRORS = 400  # HTTP statuses from here on
# Of a door that is shut, a captcha or a login says more than that it is.
_TELL_NOTHING = {"error_page", "refused", "not_a_paper", "wrong_paper", "empty"}
# Raised by whoever changes what the judges say: `audit` then asks them about the shelf again.
JUDGES = 2
# Raised by whoever changes what a reader writes: `reextract` then renews the texts on the shelf.
VERSIONS: dict[Media, int] = {
    "jats": 4,
    "elsevier": 1,
    "html": 5,
    "pdf": 3,
    "markdown": 2,
    "latex": 3,
}
# Read by name, so that no parser is imported before it is needed.
READERS: dict[Media, str] = {
    "jats": "jats",
    "elsevier": "elsevier",
    "html": "html",
    "pdf": "pdf",
    "markdown": "plain_markdown",
    "latex": "latex",
}


def read(fetched: Fetched, paper: Paper, *, identified: bool = False) -> Document:
    """Convert what was fetched, and make sure it is this paper, in full.

    Whoever has *identified* it otherwise (a file by its name, where there is no record to compare
    it with) only asks whether it is the whole of a paper.

    Raises
    ------
    BadContent
        It is something else; ``details["verdict"]`` says what: a login page, a captcha, a stub,
        another paper.
    """
    from ..judges.check import judge

    reader = import_module(f".{READERS[fetched.media]}", __package__)
    try:
        document = named(reader.read(fetched), fetched, paper)
        by_name = identified and not document.ids.shares(paper.ids)
        found = judge(replace(document, ids=paper.ids) if by_name else document, paper)
    except BadContent as bad:
        raise _refusal(bad, fetched) from bad
    if by_name:  # the last of the evidence is what we have just put into its mouth
        whole = found.evidence.rpartition("; ")[0] or found.evidence
        found = replace(found, evidence=f"{whole}; which paper it is, its name says")
    return found


def named(document: Document, fetched: Fetched, paper: Paper) -> Document:
    """A document with what it, its site and its record together say of it."""
    from .versions import version_of

    return replace(
        document,
        license=best_license(document.license, fetched.license, paper.license),
        extractor=extractor(fetched.media),
        version=version_of(fetched, document, paper),
    )


def _refusal(bad: BadContent, fetched: Fetched) -> BadContent:
    """What a page that came with an error's status amounts to: a door shut, unless it says more."""
    if fetched.status < _ERRORS or bad.outcome not in _TELL_NOTHING:
        return bad
    site = urlsplit(fetched.url).hostname or fetched.source
    msg = f"{site} refused: HTTP {fetched.status}, and no paper ({bad.message.rstrip('.')})."
    hint = "Open it in a browser or through a library, or try again later."
    return BadContent(msg, hint, verdict="refused", status=fetched.status)


def extractor(media: Media) -> str:
    """The reader of a kind of content, with its version, such as ``jats 1``."""
    return f"{media} {VERSIONS[media]}"
