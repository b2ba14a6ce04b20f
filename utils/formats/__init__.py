"""From what a site sent to markdown we trust: readers by media type, then the two judges."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from ..paper import Document, Fetched, Media, Paper
from .licenses import best as best_license

__all__ = ["READERS", "VERSIONS", "best_license", "extractor", "read"]

# Raised by whoever changes what a reader writes: `reextract` then renews the texts on the shelf.
VERSIONS: dict[Media, int] = {"jats": 3, "html": 4, "pdf": 2, "markdown": 2, "latex": 2}
# Read by name, so that no parser is imported before it is needed.
READERS: dict[Media, str] = {
    "jats": "jats",
    "html": "html",
    "pdf": "pdf",
    "markdown": "plain_markdown",
    "latex": "latex",
}


def read(fetched: Fetched, paper: Paper) -> Document:
    """Convert what was fetched, and make sure it is this paper, in full.

    Raises
    ------
    BadContent
        It is something else; ``details["verdict"]`` says what: a login page, a captcha, a stub,
        another paper.
    """
    from .check import judge

    reader = import_module(f".{READERS[fetched.media]}", __package__)
    document = reader.read(fetched)
    license_ = best_license(document.license, fetched.license, paper.license)
    return judge(replace(document, license=license_, extractor=extractor(fetched.media)), paper)


def extractor(media: Media) -> str:
    """The reader of a kind of content, with its version, such as ``jats 1``."""
    return f"{media} {VERSIONS[media]}"
