"""Resolve the links of a page to web addresses or to places on the same page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from .claims import to_absolute_url

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

_SEARCH_URL = re.compile(
    r"https?://scholar\.google\.[a-z.]+/"
)  # for a name or a title, not the thing
_SCHEMES = ("http", "https", "mailto", "ftp")
_RESOLVER_URL = re.compile(r"https?://(?:(?:dx\.)?doi\.org|hdl\.handle\.net)/")
_PAGE_URL_NAMES = ("og:url", "citation_abstract_html_url", "citation_fulltext_html_url")


class PageLinks:
    """A page's links, resolved against the page's address ``url``.

    Parameters
    ----------
    soup : BeautifulSoup
        The page, with its head.
    url : str
        The URL from which the page was fetched.
    """

    def __init__(self, soup: BeautifulSoup, url: str) -> None:
        own = [str(tag.get("href") or "") for tag in soup.find_all("link", rel="canonical")]
        own += [
            str(tag.get("content") or "")
            for tag in soup.find_all("meta")
            if (tag.get("property") or tag.get("name")) in _PAGE_URL_NAMES
        ]
        stated = [address for text in own if (address := to_absolute_url(url, text))]
        base = soup.find("base", href=True)
        self.url = to_absolute_url(url, str(base["href"])) if base is not None else url
        if stated and _RESOLVER_URL.match(self.url):
            self.url = stated[0]  # a resolver's address is not the page's own
        self._own = {_normalize_url(address) for address in (url, self.url, *stated)}

    def resolve_link(self, href: str) -> str:
        """Return *href* as a safe absolute URL; empty if it leads to a place on this page."""
        target = to_safe_url(self.url, href)
        inside = _normalize_url(target) in self._own and "#" in href
        return "" if inside else target


def _normalize_url(address: str) -> str:
    """Return a URL without scheme, ``www.`` and fragment, for comparison."""
    return re.sub(r"^https?://(?:www\.)?", "", address.partition("#")[0]).rstrip("/").lower()


def to_safe_url(base: str, href: str) -> str:
    r"""Return *href* as an absolute URL with a safe scheme; else empty.

    >>> to_safe_url("https://a.test/x", "#ref1")
    ''
    >>> to_safe_url("https://a.test/x", "Java\tscript:y()")
    ''
    """
    bare = re.sub(r"[\x00-\x20<>]+", "", href)
    if not bare or bare.startswith("#"):
        return ""
    try:
        scheme = urlsplit(bare).scheme.lower()
    except ValueError:
        return ""
    if scheme in ("mailto", "ftp"):
        target = bare
    elif scheme and scheme not in _SCHEMES:
        return ""
    else:
        target = to_absolute_url(base, bare)
    if target.partition("#")[0] == base.partition("#")[0] or _SEARCH_URL.match(target):
        return ""
    return target.replace("(", "%28").replace(")", "%29")
