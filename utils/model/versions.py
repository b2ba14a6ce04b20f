"""Versions of a paper: which one a text is, and which one serves a request.

A preprint, the accepted manuscript and the published version are three texts of one paper. NISO's
Journal Article Versions (RP-8-2008) and the locators of open copies (``submittedVersion`` …) have
words of their own for them, which are turned into these three here.

Who asks by DOI or PMID means the published version; an arXiv identifier names the preprint, and a
PMCID the copy that PMC keeps, which may be the accepted manuscript. A paper that is a preprint and
nothing else is served as that, by whatever name it is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .identifiers import Ids
from .paper import Paper, StoredPaper, Version
from .sites import ROUTES

OTHER_VERSION = "other_version"
"""Outcome of an attempt that brought a text, but not of the version that was asked for."""

NAMES: dict[Version, str] = {
    "preprint": "preprint",
    "accepted": "accepted manuscript",
    "published": "published version",
}
STAND_INS: tuple[Version, ...] = ("preprint", "accepted")
"""Versions of a text that are not the published one."""
PREPRINT_DOI = re.compile(
    r"10\.1101/(?:\d{6}|(?:19|20)\d\d\.)|10\.64898/|10\.21203/rs\.|10\.20944/preprints"
    r"|10\.31234/|10\.31219/|10\.26434/|10\.36227/|10\.2139/ssrn|10\.22541/au|10\.32388/"
)
"""The beginnings of DOIs that preprint servers give away."""

_ORDER: tuple[Version, ...] = ("preprint", "accepted", "published")
_SERVING: dict[Version, frozenset[Version]] = {
    "preprint": frozenset({"preprint", ""}),
    "accepted": frozenset({"accepted", "published", ""}),
    "published": frozenset({"published", ""}),
}
_BY_LOCATORS: dict[object, Version] = {
    "submittedVersion": "preprint",
    "acceptedVersion": "accepted",
    "publishedVersion": "published",
}
# What the routes brought before texts said themselves which version they are.
_BY_ROUTE = {via: route.version for via, route in ROUTES.items() if route.version}
_PREPRINT_HOSTS = re.compile(
    r"https?://(?:[a-z0-9-]{1,40}\.){0,4}(?:ar|bior|medr|chemr)xiv\.org/", re.I
)
_PREPRINT_KINDS = {"preprint", "posted-content"}


def meant(asked: Ids) -> Version:
    """The version that these identifiers ask for.

    >>> meant(Ids(arxiv="2601.00001")), meant(Ids(arxiv="2601.00001", doi="10.1000/a"))
    ('preprint', 'published')
    """
    if asked.doi or asked.pmid:
        return "published"
    if asked.pmcid:
        return "accepted"
    return "preprint" if asked.arxiv else "published"


def fits(wants: Version, version: Version, paper: Paper) -> bool:
    """Return whether a text of *paper* in *version* is what was asked for.

    Of a text of which nobody said what version it is, nothing else is known either: it serves.
    """
    return version in _SERVING[wants or "published"] or (
        version == "preprint" and only_a_preprint(paper)
    )


def serves(wants: Version, stored: StoredPaper) -> bool:
    """Return whether what is on the shelf is what was asked for; an abstract never is."""
    return stored.kind == "full_text" and fits(wants, stored.version, stored.paper)


def fitness(wants: Version, stored: StoredPaper) -> tuple[bool, bool, bool, int]:
    """Return a key that sorts the texts of one paper by how well they serve, best last."""
    slot = text_slot(stored)
    is_text = stored.kind == "full_text"
    return is_text, serves(wants, stored), slot == wants, _ORDER.index(slot)


def best_for(wants: Version, texts: Iterable[StoredPaper]) -> StoredPaper | None:
    """Return the text of a paper that serves best; of equals the first."""
    return max(texts, key=lambda stored: fitness(wants, stored), default=None)


def text_slot(stored: StoredPaper) -> Version:
    """The version under which a text lies on the shelf: one whose version is unknown, as published.

    There is one text of each.
    """
    return stored.version or "published"


def only_a_preprint(paper: Paper) -> bool:
    """Return whether the names of a paper are those of a preprint, and of no article.

    >>> only_a_preprint(Paper(Ids(doi="10.1101/2024.01.02.574123")))
    True
    >>> only_a_preprint(Paper(Ids(doi="10.1000/a", arxiv="2601.00001")))
    False
    """
    ids = paper.ids
    if ids.doi and PREPRINT_DOI.match(ids.doi):
        return True
    called = bool(_PREPRINT_KINDS & {kind.casefold() for kind in paper.publication_types})
    if ids.arxiv:  # its own DOI is held as that: any other is the article's
        return not ids.doi and (called or not (ids.pmid or ids.pmcid))
    return called


def by_locator(word: object) -> Version:
    """Return the version for a word of Unpaywall and OpenAlex.

    >>> by_locator("acceptedVersion"), by_locator(None)
    ('accepted', '')
    """
    return _BY_LOCATORS.get(word, "") if isinstance(word, str) else ""


def by_host(url: str) -> Version:
    """Return the version of texts at an address whose host has only one version.

    >>> by_host("https://export.arxiv.org/pdf/2601.00001"), by_host("https://arxiv.org.example/")
    ('preprint', '')
    """
    return "preprint" if _PREPRINT_HOSTS.match(url) else ""


def by_route(via: str, paper: Paper, url: str = "") -> Version:
    """The version of a text that an older program filed, by how it came and from where."""
    if via in _BY_ROUTE and only_a_preprint(paper):
        return "preprint"
    return by_host(url) or _BY_ROUTE.get(via, "")
