"""The library's door: the address at which a reader's own library resolves a paper.

We make a link, a person opens it in their browser: nothing is fetched, no login imitated. Three
kinds, each of one setting: an OpenURL resolver (ANSI/NISO Z39.88-2004, in key-encoded values), a
proxy prefix (EZproxy, OpenAthens) and LibKey (Third Iron's linking syntax).
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
from .labels import links

if TYPE_CHECKING:
    from ..settings import Settings

_BLANKS = ("{url}", "{url_encoded}", "{doi}", "{pmid}")


@dataclass(frozen=True, slots=True)
class ReadersLibrary:
    """A library's doors, as the settings name them; empty where there is none.

    ``resolver`` is the address of an OpenURL resolver, ``proxy`` a prefix or a template with the
    blanks ``{url}``, ``{url_encoded}``, ``{doi}``, ``{pmid}``, ``libkey`` the library's number.
    """

    resolver: str = ""
    proxy: str = ""
    libkey: str = ""

    def __bool__(self) -> bool:
        """Whether there is any door."""
        return bool(self.resolver or self.proxy or self.libkey)

    @classmethod
    def of(cls, settings: Settings) -> ReadersLibrary:
        """The reader's library.

        Raises
        ------
        BadRequest
            An address is none, or not of the web.
        """
        for name in ("papers_openurl", "papers_ezproxy"):
            address = getattr(settings, name)
            if address and not _is_web(address):
                msg = f"{name.upper()} is no address: {address!r}."
                raise BadRequest(msg, "Give one that begins with https://, as the library has it.")
        if settings.papers_libkey and not settings.papers_libkey.isdigit():
            msg = f"PAPERS_LIBKEY is no library's number: {settings.papers_libkey!r}."
            raise BadRequest(msg, "It stands in the addresses of your LibKey: /libraries/NUMBER/.")
        return cls(settings.papers_openurl, settings.papers_ezproxy, settings.papers_libkey)

    def link(self, paper: Paper) -> str:
        """Where this library would have the paper; empty without a library or a name of the paper.

        LibKey knows what the library holds and leads there at once, a resolver offers what it
        holds, a proxy opens the publisher's page: asked for in this order.
        """
        ids = paper.ids
        if self.libkey and (ids.doi or ids.pmid):
            return f"https://libkey.io/libraries/{self.libkey}/{_quoted(ids.doi or ids.pmid)}"
        if self.resolver and (ids or paper.title):
            return open_url(self.resolver, paper)
        if self.proxy and (found := links(ids)):
            return proxied(self.proxy, found[0].url, ids)
        return ""


def open_url(resolver: str, paper: Paper) -> str:
    """A paper as a question to an OpenURL resolver.

    >>> open_url("https://lib.edu/sfx?", Paper(Ids(doi="10.1000/a"), title="T"))[-58:]
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


def proxied(proxy: str, url: str, ids: Ids) -> str:
    """An address as it is opened through a library's proxy.

    A prefix gets it unencoded (EZproxy's ``login?url=``) unless it ends in ``qurl=`` or is
    OpenAthens' redirector, which want it encoded.

    >>> proxied("https://ez.lib.edu/login?url=", "https://doi.org/10.1/a", Ids())
    'https://ez.lib.edu/login?url=https://doi.org/10.1/a'
    >>> proxied("https://go.openathens.net/redirector/l.edu?url=", "https://doi.org/10.1/a", Ids())
    'https://go.openathens.net/redirector/l.edu?url=https%3A%2F%2Fdoi.org%2F10.1%2Fa'
    """
    encoded = quote(url, safe="")
    if any(blank in proxy for blank in _BLANKS):
        filled = dict(zip(_BLANKS, (url, encoded, _quoted(ids.doi), ids.pmid), strict=True))
        return re.sub(r"\{\w+\}", lambda blank: filled.get(blank[0], blank[0]), proxy)
    wants_encoded = proxy.endswith("qurl=") or "openathens.net/redirector/" in proxy
    return proxy + (encoded if wants_encoded else url)


def _is_web(address: str) -> bool:
    try:
        parts = urlsplit(re.sub(r"\{\w+\}", "x", address))
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def _quoted(name: str) -> str:
    return quote(replace_surrogates(name), safe="/:;().-_")
