"""Build links through which a reader's library provides a paper.

The program only builds links; a person opens them in a browser. Nothing is fetched and no login is
imitated. Three settings give three kinds of link: an OpenURL resolver (ANSI/NISO Z39.88-2004, in
key-encoded values), a proxy prefix (EZproxy, OpenAthens) and LibKey (Third Iron's linking syntax).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode, urlsplit

from ..errors import BadRequest
from ..model.identifiers import Ids
from ..model.paper import Paper
from ..system.plain_text import replace_surrogates
from .labels import build_paper_links

if TYPE_CHECKING:
    from ..settings import Settings

_PLACEHOLDERS = ("{url}", "{url_encoded}", "{doi}", "{pmid}")


@dataclass(frozen=True, slots=True)
class ReadersLibrary:
    """The reader's library by its link settings; settings that are not set are empty.

    ``resolver`` is the address of an OpenURL resolver, ``proxy`` a prefix or a template with the
    blanks ``{url}``, ``{url_encoded}``, ``{doi}``, ``{pmid}``, ``libkey`` the library's number.
    """

    resolver: str = ""
    proxy: str = ""
    libkey: str = ""

    def __bool__(self) -> bool:
        """Return whether any setting is given."""
        return bool(self.resolver or self.proxy or self.libkey)

    @classmethod
    def from_settings(cls, settings: Settings) -> ReadersLibrary:
        """Return the reader's library, with its settings validated.

        Raises
        ------
        BadRequest
            An address is not a web address.
        """
        for name in ("papers_openurl", "papers_ezproxy"):
            address = getattr(settings, name)
            if address and not _is_web_address(address):
                msg = f"{name.upper()} is not a web address: {address!r}."
                raise BadRequest(
                    msg, "Give an address that begins with https://, as your library states it."
                )
        if settings.papers_libkey and not settings.papers_libkey.isdigit():
            msg = f"PAPERS_LIBKEY is not a library number: {settings.papers_libkey!r}."
            raise BadRequest(msg, "Take the number from your LibKey addresses: /libraries/NUMBER/.")
        return cls(settings.papers_openurl, settings.papers_ezproxy, settings.papers_libkey)

    def build_link(self, paper: Paper) -> str:
        """Return the library's link to a paper; empty without a library or an identifier.

        LibKey is preferred because it leads directly to a text that the library holds. A resolver
        shows a choice of holdings, and a proxy opens the publisher's page.
        """
        ids = paper.ids
        if self.libkey and (ids.doi or ids.pmid):
            return f"https://libkey.io/libraries/{self.libkey}/{_quote_id(ids.doi or ids.pmid)}"
        if self.resolver and (ids or paper.title):
            return build_openurl(self.resolver, paper)
        if self.proxy and (found := build_paper_links(ids)):
            return build_proxy_url(self.proxy, found[0].url, ids)
        return ""


def build_openurl(resolver: str, paper: Paper) -> str:
    """Build the OpenURL of a paper for a resolver.

    >>> build_openurl("https://lib.edu/sfx?", Paper(Ids(doi="10.1000/a"), title="T"))[-58:]
    'genre=article&rft_id=info%3Adoi%2F10.1000%2Fa&rft.atitle=T'
    """
    said = [
        ("url_ver", "Z39.88-2004"),
        ("ctx_ver", "Z39.88-2004"),
        ("ctx_enc", "info:ofi/enc:UTF-8"),
        ("rfr_id", "info:sid/papershelf"),
        ("rft_val_fmt", "info:ofi/fmt:kev:mtx:journal"),
        ("rft.genre", "preprint" if paper.ids.arxiv and not paper.journal else "article"),
    ]
    names = ((kind, getattr(paper.ids, kind)) for kind in ("doi", "pmid", "arxiv"))
    said += [("rft_id", f"info:{kind}/{name}") for kind, name in names if name]
    author = paper.authors[0] if paper.authors else None
    start, _, end = paper.pages.partition("-")
    about = {
        "atitle": paper.title,
        "jtitle": paper.journal,
        "stitle": paper.journal_abbreviation,
        "issn": paper.issn,
        "volume": paper.volume,
        "issue": paper.issue,
        "spage": start,
        "epage": end,
        "date": paper.published,
        "aulast": author.family if author else "",
        "aufirst": author.given if author else "",
    }
    said += [(f"rft.{name}", value) for name, value in about.items() if value]
    joint = "" if resolver.endswith(("?", "&")) else "&" if "?" in resolver else "?"
    return resolver + joint + urlencode([(name, replace_surrogates(value)) for name, value in said])


def build_proxy_url(proxy: str, url: str, ids: Ids) -> str:
    """Return an address with the library's proxy before it.

    The address is appended unencoded (EZproxy's ``login?url=``) unless the prefix ends in ``qurl=``
    or is OpenAthens' redirector, which require it encoded.

    >>> build_proxy_url("https://ez.lib.edu/login?url=", "https://doi.org/10.1/a", Ids())
    'https://ez.lib.edu/login?url=https://doi.org/10.1/a'
    >>> redirector = "https://go.openathens.net/redirector/l.edu?url="
    >>> build_proxy_url(redirector, "https://doi.org/10.1/a", Ids())
    'https://go.openathens.net/redirector/l.edu?url=https%3A%2F%2Fdoi.org%2F10.1%2Fa'
    """
    encoded = quote(url, safe="")
    if any(blank in proxy for blank in _PLACEHOLDERS):
        filled = dict(zip(_PLACEHOLDERS, (url, encoded, _quote_id(ids.doi), ids.pmid), strict=True))
        return re.sub(r"\{\w+\}", lambda blank: filled.get(blank[0], blank[0]), proxy)
    wants_encoded = proxy.endswith("qurl=") or "openathens.net/redirector/" in proxy
    return proxy + (encoded if wants_encoded else url)


def _is_web_address(address: str) -> bool:
    try:
        parts = urlsplit(re.sub(r"\{\w+\}", "x", address))
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def _quote_id(name: str) -> str:
    return quote(replace_surrogates(name), safe="/:;().-_")
