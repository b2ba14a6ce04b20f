"""From the links of an open-access locator to what lies behind them.

Unpaywall and OpenAlex both name the places where a DOI has an open copy, in nearly the same words:
the best first, a PDF before the page that leads to it, each with its license and version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ..errors import Miss
from ..model.identifiers import Ids
from ..model.paper import Fetched, Version
from ..web import Web
from .archive import captured
from .publisher import landing_page, pages_at

MOST = 4
"""Copies of one paper that are asked for."""

_GONE = (404, 410)
_LATER: dict[Version, int] = {"accepted": 1, "preprint": 2}
_RESOLVER = re.compile(r"https?://(?:dx\.|www\.)?doi\.org/", re.I)
_ARXIV = re.compile(r"https?://(?:www\.|export\.)?arxiv\.org/", re.I)


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


def different(copies: Iterable[OpenCopy]) -> list[OpenCopy]:
    """Each place once, where it came first; accepted manuscripts and preprints last."""
    places: dict[str, OpenCopy] = {}
    for copy in copies:
        places.setdefault(copy.place, copy)
    return sorted(places.values(), key=lambda copy: _LATER.get(copy.version, 0))


def what_lies_at(
    copies: Iterable[OpenCopy], web: Web, *, source: str, via: str
) -> Iterator[Fetched | Miss]:
    """What lies at each of the *copies*; see `publisher.pages_at`."""
    for copy in copies:
        try:
            url = _for_programs(copy.url, web)
        except Miss as miss:
            yield miss
            continue
        for found in _pages_or_captures(url, web, copy, source, via):
            yield replace(found, version=copy.version) if isinstance(found, Fetched) else found


def _pages_or_captures(
    url: str, web: Web, copy: OpenCopy, source: str, via: str
) -> Iterator[Fetched | Miss]:
    """What lies at *url*; where it is gone, what the Internet Archive kept of it."""
    for found in pages_at(url, web, source=source, via=via, license_=copy.license):
        capture = ""
        if isinstance(found, Miss) and found.details.get("status") in _GONE:
            try:
                capture = captured(url, web)
            except Miss:
                capture = ""  # then the link is dead, and that is all we can say
        if capture:
            yield from pages_at(capture, web, source=source, via=via, license_=copy.license)
        else:
            yield found


def _for_programs(url: str, web: Web) -> str:
    """ArXiv's pages are for people; it keeps another host for programs.

    Where a DOI leads is asked once for all rungs: the publisher's own page is the same one.
    """
    if _ARXIV.match(url) and (arxiv := Ids.maybe(url).arxiv):
        return f"{web.settings.address('arxiv')}/pdf/{arxiv}"
    return landing_page(doi, web) if (doi := _doi(url, web)) else url


def _doi(url: str, web: Web) -> str:
    """The DOI that an address of the resolver is for; empty for other addresses."""
    url = re.sub(rf"^{re.escape(web.settings.address('doi'))}/", "https://doi.org/", url)
    return Ids.maybe(url).doi if _RESOLVER.match(url) else ""
