"""The publisher's own page behind a DOI, and the PDF it names.

No challenge is solved and no login imitated: what a publisher shows to anybody who says honestly
who they are is what there is. https://www.doi.org/the-identifier/resources/handbook/
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import quote, urljoin, urlsplit

from ..errors import BadContent, Miss, NotOffered
from ..model.paper import Fetched, Paper
from ..web import Answer, Rate, Web
from .source import Route, Source, one_by_one

_HEADERS = {
    "Accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,*/*;q=0.5",
    "Accept-Language": "en",
}
_CLOSED_DOORS = frozenset({401, 403, 405})
_MOST_PDFS = 2
_REMEMBERED_DAYS = 30.0


def full_text(paper: Paper, web: Web) -> Iterator[Fetched | Miss]:
    """What the publisher shows, wherever the DOI leads: the page, then its PDF."""
    target = landing_page(paper.ids.doi, web)
    yield from pages_at(target, web, source=SOURCE.name, via="publisher")


def pages_at(
    url: str, web: Web, *, source: str, via: str, license_: str = ""
) -> Iterator[Fetched | Miss]:
    """What lies at *url*: a page (following one ``meta refresh``), then the PDFs it names.

    Used for publishers' pages and for repositories alike. What cannot be had is yielded as a
    `Miss`, so that the next candidate is still tried.
    """
    from ..formats import html

    try:
        page = _fetched(_open(url, web), source, via, license_)
        if page.media == "html" and (target := html.refresh_target(page)):
            page = _fetched(_open(target, web), source, via, license_)
    except Miss as miss:
        yield miss
        return
    yield page
    if page.media != "html":
        return
    for link in html.pdf_links(page)[:_MOST_PDFS]:
        try:
            # A link that says it is a PDF is judged as one: a login page in its place is found out.
            answer = _open(link, web)
        except Miss as miss:
            yield miss
            continue
        yield _fetched(answer, source, via, license_, media="pdf")


def leads_to(doi: str, web: Web, hosts: Sequence[str]) -> bool:
    """Whether a DOI leads to one of these hosts, or to a name below one of them."""
    host = urlsplit(landing_page(doi, web)).hostname or ""
    return any(host == one or host.endswith(f".{one}") for one in hosts)


def quoted_doi(doi: str) -> str:
    """A DOI in an address: all but the letters DOIs are made of escaped, for old ones hold "<"."""
    return quote(doi, safe="/:()-._")


def landing_page(doi: str, web: Web) -> str:
    """The address a DOI is registered with, found in one request that is remembered.

    Raises
    ------
    NotOffered
        The DOI is registered nowhere.
    """
    if remembered := web.memory.recall("landing_page", doi):
        return str(remembered)
    # Everything but the letters DOIs are made of is escaped: old SICI suffixes hold "<" and "#".
    url = f"{web.settings.address('doi')}/{quote(doi, safe='/:;()-._')}"
    answer = web.get(url, headers=_HEADERS, follow=False)
    target = answer.headers.get("Location", "")
    if not target:
        msg = f"The DOI resolver leads nowhere for doi:{doi}."
        raise NotOffered(msg, "Check the DOI.")
    web.memory.keep("landing_page", doi, urljoin(url, target), days=_REMEMBERED_DAYS)
    return urljoin(url, target)


def _open(url: str, web: Web) -> Answer:
    """What lies there, also behind a closed door: the judges tell a captcha from a login.

    Some sites turn away a client that says which languages it reads, and not a plain one.
    """
    answer = web.get(url, headers=_HEADERS, allow=_CLOSED_DOORS, kept=True)
    if answer.status in _CLOSED_DOORS:
        answer = web.get(url, plain=True, allow=_CLOSED_DOORS, kept=True)
    if answer.status in _CLOSED_DOORS and not answer.body.strip():
        msg = f"{answer.host} refused: HTTP {answer.status}, and nothing else."
        hint = "Open it in a browser or through a library, or try again later."
        raise BadContent(msg, hint, verdict="refused", status=answer.status)
    return answer


def _fetched(answer: Answer, source: str, via: str, license_: str, media: str = "") -> Fetched:
    is_pdf = media == "pdf" or b"%PDF-" in answer.body[:1024]
    return Fetched(
        body=answer.body,
        media="pdf" if is_pdf else "html",
        url=answer.url,
        source=source,
        via=via,
        license=license_,
        charset=answer.charset,
        status=answer.status,
    )


SOURCE = Source(
    name="publisher",
    about="The publisher's page behind the DOI, and the PDF it names",
    label="DOI",
    rates=(Rate("doi", ("doi",), every=0.2, in_flight=4),),
    routes=(Route("publisher", ("doi",), one_by_one(full_text), shares=(0.75, 0.1)),),
)
