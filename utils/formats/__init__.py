"""From what a site sent to markdown we trust: readers by media type, then the two judges."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from ..paper import Document, Fetched, Media, Paper
from .licenses import best as best_license

__all__ = ["JUDGES", "READERS", "VERSIONS", "best_license", "extractor", "read"]

# Raised by whoever changes what the judges say: `audit` then asks them about the shelf again.
JUDGES = 1
# Raised by whoever changes what a reader writes: `reextract` then renews the texts on the shelf.
VERSIONS: dict[Media, int] = {"jats": 2, "html": 3, "pdf": 2, "markdown": 2, "latex": 1}
# Read by name, so that no parser is imported before it is needed.
READERS: dict[Media, str] = {
    "jats": "jats",
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
    from .check import judge

    reader = import_module(f".{READERS[fetched.media]}", __package__)
    document = reader.read(fetched)
    by_name = identified and not document.ids.shares(paper.ids)
    if by_name:
        document = replace(document, ids=paper.ids)
    license_ = best_license(document.license, fetched.license, paper.license)
    document = replace(document, license=license_, extractor=extractor(fetched.media))
    found = judge(document, paper)
    if by_name:  # the last of the evidence is what we have just put into its mouth
        whole = found.evidence.rpartition("; ")[0] or found.evidence
        found = replace(found, evidence=f"{whole}; which paper it is, its name says")
    return found


def extractor(media: Media) -> str:
    """The reader of a kind of content, with its version, such as ``jats 1``."""
    return f"{media} {VERSIONS[media]}"
