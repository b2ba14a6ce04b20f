"""Fetch the publisher's page behind a DOI, its PDF, and open copies that locators name.

No challenge is solved and no login imitated: what a publisher shows to anybody who says honestly
who they are is what there is. https://www.doi.org/the-identifier/resources/handbook/

Unpaywall and OpenAlex both name the places where a DOI has an open copy, in nearly the same words:
the best first, a PDF before the page that leads to it, each with its license and version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

from ..errors import BadContent, NotAvailable, SourceMiss
from ..http import Answer, Rate, Web
from ..model.identifiers import Ids
from ..model.paper import Fetched, Media, Paper, Version
from ..model.site import Address
from ..model.versions import get_locator_version
from .archive import find_capture
from .loose_json import to_text
from .source import Route, Source, one_by_one

_HEADERS = {
    "Accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,*/*;q=0.5",
    "Accept-Language": "en",
}
_REFUSAL_STATUSES = frozenset({401, 403, 405})
_MAX_PDFS = 2
_LANDING_PAGE_DAYS = 30.0
MAX_COPIES = 4
"""Copies of one paper that are asked for."""
_GONE_STATUSES = (404, 410)
_VERSION_RANK: dict[Version, int] = {"accepted": 1, "preprint": 2}
_JATS = re.compile(
    rb"\s*(?:<\?[^>]*>\s*)*(?:<!DOCTYPE article\b|<article\b[^>]*\b(?:dtd-version|article-type)=)"
)
_PROLOGUE_BYTES = 4096
_PICTURE = re.compile(rb"\xff\xd8\xff|\x89PNG\r\n|GIF8|RIFF.{4}WEBP|II\*\0|MM\0\*|%PDF-|%!PS", re.S)
_RESOLVER = re.compile(r"https?://(?:dx\.|www\.)?doi\.org/", re.I)
_ARCHIVE_PAGES = (
    (re.compile(r"oai:HAL:([\w-]+)", re.I), "https://hal.science/{}"),
    (re.compile(r"oai:osti\.gov:(\d+)", re.I), "https://www.osti.gov/biblio/{}"),
)
"""Pages of archives, by the identifiers of their records in OAI-PMH."""
_ARXIV = re.compile(r"https?://(?:www\.|export\.)?arxiv\.org/", re.I)


def fetch_full_text(paper: Paper, web: Web) -> Iterator[Fetched | SourceMiss]:
    """Fetch the publisher's page behind the DOI, then its PDF."""
    target = find_landing_page(paper.ids.doi, web)
    yield from fetch_page_and_pdfs(target, web, source=SOURCE.name, via="publisher")


def fetch_page_and_pdfs(
    url: str, web: Web, *, source: str, via: str, license_: str = ""
) -> Iterator[Fetched | SourceMiss]:
    """Fetch the page at *url* (following one ``meta refresh``), then its PDFs.

    Used for publishers' pages and for repositories alike. What cannot be had is yielded as a
    `SourceMiss`, so that the next candidate is still tried.
    """
    from ..readers import html

    try:
        page = _to_fetched(_fetch_answer(url, web), source, via, license_)
        if page.media == "html" and (target := html.find_meta_refresh_url(page)):
            page = _to_fetched(_fetch_answer(target, web), source, via, license_)
    except SourceMiss as miss:
        yield miss
        return
    yield page
    if page.media != "html":
        return
    for link in html.find_pdf_links(page)[:_MAX_PDFS]:
        try:
            # A link that says it is a PDF is judged as one: a login page in its place is found out.
            answer = _fetch_answer(link, web)
        except SourceMiss as miss:
            yield miss
            continue
        yield _to_fetched(answer, source, via, license_, media="pdf")


def is_doi_of_host(doi: str, web: Web, hosts: Sequence[str]) -> bool:
    """Return whether a DOI leads to one of these hosts, or to a subdomain of one."""
    host = urlsplit(find_landing_page(doi, web)).hostname or ""
    return any(host == one or host.endswith(f".{one}") for one in hosts)


def quote_doi(doi: str) -> str:
    """Return a DOI percent-encoded for an address; old DOIs contain "<"."""
    return quote(doi, safe="/:()-._")


def find_landing_page(doi: str, web: Web) -> str:
    """Return the address registered for a DOI, found in one request that is cached.

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
            web.cache.put("landing_page", doi, urljoin(url, target), days=_LANDING_PAGE_DAYS)

    answer = web.get(url, headers=_HEADERS, follow=False, check=remember)
    target = answer.headers.get("Location", "")
    if not target:
        msg = f"The DOI resolver leads nowhere for doi:{doi}."
        raise NotAvailable(msg, "Check the DOI.")
    return urljoin(url, target)


def _fetch_answer(url: str, web: Web) -> Answer:
    """Return the answer of an address, also a refusal with a page, which the judges classify.

    Some sites turn away a client that says which languages it reads, and not a plain one.
    """
    answer = web.get(url, headers=_HEADERS, allow=_REFUSAL_STATUSES, kept=True)
    if answer.status in _REFUSAL_STATUSES:
        answer = web.get(url, plain=True, allow=_REFUSAL_STATUSES, kept=True)
    if answer.status in _REFUSAL_STATUSES and not answer.body.strip():
        msg = f"{answer.host} refused access (HTTP {answer.status}) without an explanation."
        hint = "Open it in a browser or through a library, or try again later."
        raise BadContent(msg, hint, verdict="refused", status=answer.status)
    return answer


def _to_fetched(answer: Answer, source: str, via: str, license_: str, media: str = "") -> Fetched:
    """Return an answer as a fetched text."""
    return Fetched(
        body=answer.body,
        media="pdf" if media == "pdf" else _detect_media(answer.body),
        url=answer.url,
        source=source,
        via=via,
        license=license_,
        charset=answer.charset,
        status=answer.status,
    )


def fetch_picture(url: str, web: Web, most_bytes: int) -> bytes:
    """Fetch a picture that a page shows.

    Raises
    ------
    BadContent
        What came is no picture, or has more than *most_bytes*.
    """
    return web.get(url, headers=_HEADERS, check=require_picture, limit=most_bytes).body


def require_picture(answer: Answer) -> None:
    """Reject content that is not a picture, such as a login page.

    Raises
    ------
    BadContent
        Neither its first bytes nor its form are those of one.
    """
    head = answer.body[:1024]
    if not (_PICTURE.match(head) or (b"<svg" in head and b"<html" not in head.lower())):
        msg = f"{answer.host} sent something that is not a picture."
        raise BadContent(msg, "Open the address in a browser.", verdict="not_a_paper")


def _detect_media(body: bytes) -> Media:
    """Return the media type by the first bytes."""
    if b"%PDF-" in body[:1024]:
        return "pdf"
    return "jats" if _JATS.match(body[:_PROLOGUE_BYTES]) else "html"


SOURCE = Source(
    name="publisher",
    about="The publisher's page behind the DOI, and the PDF it names",
    addresses=(Address("doi", "https://doi.org", "DOI resolver"),),
    many_hosts=True,
    label="DOI",
    rates=(Rate("doi", ("doi",), every=0.2, in_flight=4),),
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
    """A link to a copy, with its stated license and version."""

    url: str
    license: str = ""
    version: Version = ""

    @property
    def place(self) -> str:
        """The link without scheme, ``www`` and final slash, for comparison."""
        return re.sub(r"^https?://(?:www\.)?", "", self.url).rstrip("/")


def list_location_copies(
    place: Mapping[str, Any], names: Sequence[str], record_id: str
) -> Iterator[OpenCopy]:
    """Yield the copies at a locator's location, whose links are under these *names*.

    A location that only names the DOI may tell the archive by its *record_id*.
    """
    links = [link for name in names if (link := to_text(place.get(name)))]
    if all(map(_RESOLVER.match, links)):
        for pattern, page in _ARCHIVE_PAGES:
            links += [page.format(number) for number in pattern.findall(record_id)]
    for link in links:
        version = get_locator_version(place.get("version"))
        yield OpenCopy(link, to_text(place.get("license")), version)


def deduplicate_copies(copies: Iterable[OpenCopy]) -> list[OpenCopy]:
    """Return each place once; accepted manuscripts and preprints last."""
    places: dict[str, OpenCopy] = {}
    for copy in copies:
        places.setdefault(copy.place, copy)
    return sorted(places.values(), key=lambda copy: _VERSION_RANK.get(copy.version, 0))


def fetch_copies(
    copies: Iterable[OpenCopy], web: Web, *, source: str, via: str
) -> Iterator[Fetched | SourceMiss]:
    """Fetch each of the *copies*; see `fetch_page_and_pdfs`. Errors have the copy's ``url``."""
    for copy in copies:
        try:
            url = _resolve_url(copy.url, web)
        except SourceMiss as miss:
            miss.details["url"] = copy.url
            yield miss
            continue
        for found in _fetch_pages_or_captures(url, web, copy, source, via):
            if isinstance(found, Fetched):
                yield replace(found, version=copy.version)
            else:
                found.details["url"] = copy.url
                yield found


def _fetch_pages_or_captures(
    url: str, web: Web, copy: OpenCopy, source: str, via: str
) -> Iterator[Fetched | SourceMiss]:
    """Fetch the page at *url*, or the Internet Archive's capture if it is gone."""
    for found in fetch_page_and_pdfs(url, web, source=source, via=via, license_=copy.license):
        capture = ""
        if isinstance(found, SourceMiss) and found.details.get("status") in _GONE_STATUSES:
            try:
                capture = find_capture(url, web)
            except SourceMiss:
                capture = ""  # then the link is dead, and that is all we can say
        if capture:
            yield from fetch_page_and_pdfs(
                capture, web, source=source, via=via, license_=copy.license
            )
        else:
            yield found


def _resolve_url(url: str, web: Web) -> str:
    """Return the address to request: arXiv's host for programs, or the page of a DOI.

    A DOI is resolved once for all rungs: the publisher's rung asks for the same page.
    """
    if _ARXIV.match(url) and (arxiv := Ids.maybe(url).arxiv):
        return f"{web.settings.address('arxiv')}/pdf/{arxiv}"
    return find_landing_page(doi, web) if (doi := _find_doi(url, web)) else url


def _find_doi(url: str, web: Web) -> str:
    """Return the DOI in an address of the resolver; "" for other addresses."""
    url = re.sub(rf"^{re.escape(web.settings.address('doi'))}/", "https://doi.org/", url)
    return Ids.maybe(url).doi if _RESOLVER.match(url) else ""
