"""The demo's doi.org: status 302 to the publisher's page, 404 for an unregistered DOI."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .publishers import get_article_path
from .records import Record
from .wire import HTML, Call, Reply, redirect, text

if TYPE_CHECKING:
    from .internet import Internet


def get_landing_page(record: Record, internet: Internet) -> str:
    """Return the URL to which a DOI leads."""
    if record.journal.title == "arXiv":
        return f"{internet.url('arxiv')}/abs/{record.arxiv}"
    return internet.url(record.site) + get_article_path(record)


def doi(call: Call, internet: Internet) -> Reply:
    """Return a redirect to the landing page of a DOI, or the page "DOI Not Found"."""
    name = call.path.removeprefix("/")
    record = internet.corpus.by_doi.get(name.lower())
    if record:
        return redirect(get_landing_page(record, internet), 302, Vary="Accept")
    return text(
        f"<html><head><title>Error: DOI Not Found</title></head><body><h1>DOI Not Found</h1><p>"
        f"{escape(name)}</p></body></html>",
        HTML,
        404,
    )
