"""Publishers' sites and a repository, each on a host of its own.

``Record.page`` decides what a site does with a paper:

``article`` the whole paper · ``pdf`` landing page with ``citation_pdf_url`` · ``paywall`` ·
``multi_hop`` two redirects that need their cookie · ``meta_refresh`` · ``picky`` 403 unless the
headers are plain (``Accept`` absent or ``*/*``, no ``Accept-Language``) · ``forbidden`` 403 for
every script · ``captcha`` (403) · ``captcha_200`` · ``bot_check`` · ``cookie_wall`` · ``login`` ·
``error_page`` · ``wrong_paper`` · ``front_matter`` · ``partial`` · ``html_as_pdf`` · ``scan`` ·
``gone`` (404)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.world import walls
from tests.world.pdf import pdf_of, scan_of
from utils.demo import pages, publishers
from utils.demo.jats import article, document
from utils.demo.prose import body
from utils.demo.publishers import PAGES, Page, forbidden, get_article_path, gone
from utils.demo.records import Record
from utils.demo.wire import HTML, PDF, XML, Call, Reply, redirect, text

if TYPE_CHECKING:
    from tests.world import World


def site(name: str, call: Call, world: World) -> Reply:
    """One publisher."""
    served = {"/articles/": _article, "/pdf/": _pdf, "/mining/": _xml}
    if call.path.endswith("/fig1.jpg"):
        return Reply(200, pages.PICTURE, "image/jpeg")
    if call.path == "/robots.txt":
        return text("User-agent: *\nDisallow: /login\n", "text/plain")
    return publishers.site(name, call, world, served)


def _article(record: Record, call: Call) -> Reply:
    special: dict[str, Page] = PAGES | {
        "multi_hop": _multi_hop, "meta_refresh": _meta_refresh, "picky": _picky,
        "gone": lambda record, call: gone(),
        "captcha_200": lambda record, call: walls.captcha(),
        "bot_check": lambda record, call: walls.bot_check(),
        "cookie_wall": lambda record, call: walls.cookie_wall(),
        "login": lambda record, call: walls.login(),
        "error_page": lambda record, call: walls.error_page(),
    }  # fmt: skip
    if serve := special.get(record.page):
        return serve(record, call)
    return text(page_of(record, call.host), HTML)


def page_of(record: Record, base: str) -> str:
    """The publisher's page as a person with a browser sees it."""
    if record.page == "paywall":
        return pages.paywall_page(record, base, record.site)
    if record.page == "front_matter":
        return front_matter_page(record, base, record.site)
    if record.page == "partial":
        return partial_page(record, base, record.site)
    if record.page in {"pdf", "html_as_pdf", "scan"}:
        return pages.abstract_page(record, base, record.site, pdf=True)
    return pages.build_article_page(record, base, record.site)


def _picky(record: Record, call: Call) -> Reply:
    """Offended by headers only a clever client sends; content with plain ones."""
    plain = call.header("accept") in {"", "*/*"} and not call.header("accept-language")
    return text(page_of(record, call.host), HTML) if plain else forbidden()


def _multi_hop(record: Record, call: Call) -> Reply:
    """Sets a cookie, comes back, and shows the paper to who kept the cookie."""
    if call.params.get("hop") == "2":
        if "session=kept" in call.header("cookie"):
            return text(page_of(record, call.host), HTML)
        return walls.cookie_wall()
    hop = "2" if call.params.get("hop") == "1" else "1"
    where = f"{get_article_path(record)}?hop={hop}"
    return redirect(where, 303, Set_Cookie="session=kept; Path=/")


def _meta_refresh(record: Record, call: Call) -> Reply:
    if call.params.get("view") == "full":
        return text(page_of(record, call.host), HTML)
    where = f"{get_article_path(record)}?view=full"
    return text(
        '<html><head><title>Redirecting</title><meta http-equiv="refresh" '
        f'content="0; url={where}">'
        f'</head><body><p>Redirecting to <a href="{where}">the article</a>.</p></body></html>',
        HTML,
    )


def _xml(record: Record, call: Call) -> Reply:
    return text(article(record), XML)


def _pdf(record: Record, call: Call) -> Reply:
    if record.page == "html_as_pdf":
        return Reply(200, walls.captcha().body, PDF)
    if record.page == "scan":
        return Reply(200, scan_of(record), PDF)
    if record.page in {"pdf", "article"}:
        return Reply(200, pdf_of(record), PDF)
    return forbidden()


def repository(call: Call, world: World) -> Reply:
    """A university's repository: copies Unpaywall points to."""
    if call.path.endswith("/fig1.jpg"):
        return Reply(200, pages.PICTURE, "image/jpeg")
    doi = re.sub("/(?:download|source[.]xml|file/main[.]pdf)$", "", call.path[6:]).lower()
    record = world.corpus.by_doi.get(doi)
    if record is None or not call.path.startswith("/item/"):
        return gone()
    if record.unpaywall == "dead":
        return gone()
    if call.path.endswith("/source.xml"):
        return Reply(200, document(record), XML)
    if call.path.endswith(("/download", ".pdf")):
        if record.unpaywall == "fake_pdf":
            return Reply(200, walls.login().body, PDF)
        return Reply(200, scan_of(record) if record.unpaywall == "scan" else pdf_of(record), PDF)
    if record.unpaywall == "html":
        return text(pages.build_article_page(record, call.host, "meadow"), HTML)
    return text(pages.abstract_page(record, call.host, "meadow", pdf=False), HTML)


def partial_page(record: Record, base: str, family: str) -> str:
    """The abstract and the first lines, then a button."""
    first = body(record)[0][1][0].split(". ")[0]
    more = f"<h2>Introduction</h2><p>{first}…</p><p><a href='/full'>Continue reading</a></p>"
    return pages.abstract_page(record, base, family, pdf=False, more=more)


def front_matter_page(record: Record, base: str, family: str) -> str:
    """Title, abstract and references: everything but the paper."""
    return pages.abstract_page(
        record, base, family, pdf=False, more=pages.list_references(record, family)
    )
