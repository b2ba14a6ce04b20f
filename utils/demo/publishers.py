"""The demo's publisher sites, each on its own host; ``Record.page`` selects the page of a paper.

``article`` the whole paper · ``paywall`` · ``forbidden`` 403 for every script · ``captcha`` (403) ·
``wrong_paper``
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote

from . import pages, walls
from .records import Record
from .wire import HTML, Call, Reply, text

if TYPE_CHECKING:
    from .internet import Internet

Page = Callable[[Record, Call], Reply]


def get_article_path(record: Record) -> str:
    """Return the path of a paper's page at its publisher."""
    return f"/articles/{quote(record.doi, safe='')}"


def article(record: Record, call: Call) -> Reply:
    """Return the publisher's page of a paper."""
    make = pages.paywall_page if record.page == "paywall" else pages.build_article_page
    return text(make(record, call.host, record.site), HTML)


def forbidden() -> Reply:
    """Return a page with status 403."""
    return text(
        "<html><head><title>403 Forbidden</title></head><h1>Forbidden</h1></html>", HTML, 403
    )


def gone() -> Reply:
    """Return a page with status 404."""
    return text("<html><title>404</title><h1>Page not found</h1></html>", HTML, 404)


PAGES: dict[str, Page] = {
    "captcha": lambda record, call: walls.captcha(403),
    "forbidden": lambda record, call: forbidden(),
    "wrong_paper": lambda record, call: walls.wrong_paper(),
}
SERVED: dict[str, Page] = {
    "/articles/": lambda record, call: PAGES.get(record.page, article)(record, call)
}


def site(name: str, call: Call, internet: Internet, served: Mapping[str, Page] = SERVED) -> Reply:
    """Return the reply of a publisher's site."""
    for prefix, serve in served.items():
        if call.path.startswith(prefix):
            doi = call.path.removeprefix(prefix).removesuffix(".pdf").removesuffix(".xml").lower()
            record = internet.corpus.by_doi.get(doi)
            if record and record.site == name:
                return serve(record, call)
    return gone()
