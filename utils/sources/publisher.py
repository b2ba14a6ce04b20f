"""The publisher's own page behind a DOI, the PDF it names, and open copies that locators name.

No challenge is solved and no login imitated: what a publisher shows to anybody who says honestly
who they are is what there is. https://www.doi.org/the-identifier/resources/handbook/

Unpaywall and OpenAlex both name the places where a DOI has an open copy, in nearly the same words:
the best first, a PDF before the page that leads to it, each with its license and version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote, urljoin, urlsplit

from ..errors import BadContent, NotAvailable, SourceMiss
from ..http import Answer, Rate, Web
from ..model.identifiers import Ids
from ..model.paper import Fetched, Media, Paper, Version
from ..model.site import Address
from .archive import find_capture
from .source import Route, Source, one_by_one

_HEADERS = {
    "Accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,*/*;q=0.5",
    "Accept-Language": "en",
}
_CLOSED_DOORS = frozenset({401, 403, 405})
_MOST_PDFS = 2
_REMEMBERED_DAYS = 30.0
MOST = 4
"""Copies of one paper that are asked for."""
_GONE = (404, 410)
_LATER: dict[Version, int] = {"accepted": 1, "preprint": 2}
_JATS = re.compile(
    rb"\s*(?:<\?[^>]*>\s*)*(?:<!DOCTYPE article\b|<article\b[^>]*\b(?:dtd-version|article-type)=)"
)
_PROLOGUE = 4096
_PICTURE = re.compile(rb"\xff\xd8\xff|\x89PNG\r\n|GIF8|RIFF.{4}WEBP|II\*\0|MM\0\*|%PDF-|%!PS", re.S)
_RESOLVER = re.compile(r"https?://(?:dx\.|www\.)?doi\.org/", re.I)
_ARXIV = re.compile(r"https?://(?:www\.|export\.)?arxiv\.org/", re.I)


def fetch_full_text(paper: Paper, web: Web) -> Iterator[Fetched | SourceMiss]:
    """Fetch what the publisher shows where the DOI leads: the page, then its PDF."""
    target = find_landing_page(paper.ids.doi, web)
    yield from fetch_pages(target, web, source=SOURCE.name, via="publisher")


def fetch_pages(
    url: str, web: Web, *, source: str, via: str, license_: str = ""
) -> Iterator[Fetched | SourceMiss]:
    """Fetch the page at *url* (following one ``meta refresh``), then the PDFs it names.

    Used for publishers' pages and for repositories alike. What cannot be had is yielded as a
    `SourceMiss`, so that the next candidate is still tried.
    """
    from ..readers import html

    try:
        page = _to_fetched(_open(url, web), source, via, license_)
        if page.media == "html" and (target := html.find_refresh_target(page)):
            page = _to_fetched(_open(target, web), source, via, license_)
    except SourceMiss as miss:
        yield miss
        return
    yield page
    if page.media != "html":
        return
    for link in html.find_pdf_links(page)[:_MOST_PDFS]:
        try:
            # A link that says it is a PDF is judged as one: a login page in its place is found out.
            answer = _open(link, web)
        except SourceMiss as miss:
            yield miss
            continue
        yield _to_fetched(answer, source, via, license_, media="pdf")


def leads_to(doi: str, web: Web, hosts: Sequence[str]) -> bool:
    """Return whether a DOI leads to one of these hosts, or to a name below one of them."""
    host = urlsplit(find_landing_page(doi, web)).hostname or ""
    return any(host == one or host.endswith(f".{one}") for one in hosts)


def quoted_doi(doi: str) -> str:
    """A DOI in an address: all but the letters DOIs are made of escaped, for old ones hold "<"."""
    return quote(doi, safe="/:()-._")


def find_landing_page(doi: str, web: Web) -> str:
    """The address a DOI is registered with, found in one request that is remembered.

    Raises
    ------
    NotAvailable
        The DOI is registered nowhere.
    """
    if remembered := web.cache.get("landing_page", doi):
        return str(remembered)
    # Everything but the letters DOIs are made of is escaped: old SICI suffixes hold "<" and "#".
    url = f"{web.settings.address('doi')}/{quote(doi, safe='/:;()-._')}"

    def remember(answer: Answer) -> None:  # before the request is over: a death costs no second one
        if target := answer.headers.get("Location", ""):
            web.cache.put("landing_page", doi, urljoin(url, target), days=_REMEMBERED_DAYS)

    answer = web.get(url, headers=_HEADERS, follow=False, check=remember)
    target = answer.headers.get("Location", "")
    if not target:
        msg = f"The DOI resolver leads nowhere for doi:{doi}."
        raise NotAvailable(msg, "Check the DOI.")
    return urljoin(url, target)


def _open(url: str, web: Web) -> Answer:
    """The answer of an address, also a refusal with a page: judges tell a captcha from a login.

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


def _to_fetched(answer: Answer, source: str, via: str, license_: str, media: str = "") -> Fetched:
    return Fetched(
        body=answer.body,
        media="pdf" if media == "pdf" else _media(answer.body),
        url=answer.url,
        source=source,
        via=via,
        license=license_,
        charset=answer.charset,
        status=answer.status,
    )


def fetch_picture(url: str, web: Web, most_bytes: int) -> bytes:
    """The bytes of a picture that a page shows.

    Raises
    ------
    BadContent
        What came is no picture, or has more than *most_bytes*.
    """
    return web.get(url, headers=_HEADERS, check=require_picture, limit=most_bytes).body


def require_picture(answer: Answer) -> None:
    """Refuse what is no picture, such as a page that says to log in.

    Raises
    ------
    BadContent
        Neither its first bytes nor its form are those of one.
    """
    head = answer.body[:1024]
    if not (_PICTURE.match(head) or (b"<svg" in head and b"<html" not in head.lower())):
        msg = f"{answer.host} sent something that is not a picture."
        raise BadContent(msg, "Open the address in a browser.", verdict="not_a_paper")


def _media(body: bytes) -> Media:
    if b"%PDF-" in body[:1024]:
        return "pdf"
    return "jats" if _JATS.match(body[:_PROLOGUE]) else "html"


SOURCE = Source(
    name="publisher",
    about="The publisher's page behind the DOI, and the PDF it names",
    addresses=(Address("doi", "https://doi.org", "DOI resolver"),),
    many_hosts=True,
    label="DOI",
    rates=(
        Rate("doi", ("doi",), every=0.2, in_flight=4),
        # After a burst both answer 429 with a Retry-After of 100 s (November 2026; see
        # https://github.com/amirkiarafiei/open-scholar-peer/issues/5).
        Rate(
            "biorxiv",
            (),
            every=3.0,
            in_flight=1,
            backoff=100.0,
            hosts=("biorxiv.org", "medrxiv.org"),
        ),
    ),
    routes=(
        Route(
            "publisher",
            ("doi",),
            one_by_one(fetch_full_text),
            share=0.6,
            has_pdfs=True,
            label="Publisher’s site",
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class OpenCopy:
    """A link to a copy, and the license and version it is said to have there."""

    url: str
    license: str = ""
    version: Version = ""

    @property
    def place(self) -> str:
        """The link without what two spellings of it differ in."""
        return re.sub(r"^https?://(?:www\.)?", "", self.url).rstrip("/")


def distinct(copies: Iterable[OpenCopy]) -> list[OpenCopy]:
    """Each place once, where it came first; accepted manuscripts and preprints last."""
    places: dict[str, OpenCopy] = {}
    for copy in copies:
        places.setdefault(copy.place, copy)
    return sorted(places.values(), key=lambda copy: _LATER.get(copy.version, 0))


def fetch_copies(
    copies: Iterable[OpenCopy], web: Web, *, source: str, via: str
) -> Iterator[Fetched | SourceMiss]:
    """Fetch each of the *copies*; see `publisher.fetch_pages`."""
    for copy in copies:
        try:
            url = _address_for_programs(copy.url, web)
        except SourceMiss as miss:
            yield miss
            continue
        for found in _fetch_pages_or_captures(url, web, copy, source, via):
            yield replace(found, version=copy.version) if isinstance(found, Fetched) else found


def _fetch_pages_or_captures(
    url: str, web: Web, copy: OpenCopy, source: str, via: str
) -> Iterator[Fetched | SourceMiss]:
    """Fetch what lies at *url*; where it is gone, what the Internet Archive kept of it."""
    for found in fetch_pages(url, web, source=source, via=via, license_=copy.license):
        capture = ""
        if isinstance(found, SourceMiss) and found.details.get("status") in _GONE:
            try:
                capture = find_capture(url, web)
            except SourceMiss:
                capture = ""  # then the link is dead, and that is all we can say
        if capture:
            yield from fetch_pages(capture, web, source=source, via=via, license_=copy.license)
        else:
            yield found


def _address_for_programs(url: str, web: Web) -> str:
    """The address to ask: arXiv keeps another host for programs, and a DOI is resolved.

    A DOI is resolved once for all rungs: the publisher's rung asks for the same page.
    """
    if _ARXIV.match(url) and (arxiv := Ids.maybe(url).arxiv):
        return f"{web.settings.address('arxiv')}/pdf/{arxiv}"
    return find_landing_page(doi, web) if (doi := _doi(url, web)) else url


def _doi(url: str, web: Web) -> str:
    """The DOI that an address of the resolver is for; empty for other addresses."""
    url = re.sub(rf"^{re.escape(web.settings.address('doi'))}/", "https://doi.org/", url)
    return Ids.maybe(url).doi if _RESOLVER.match(url) else ""
