"""Determine which version of a paper a text is, and which version satisfies a request.

A preprint, the accepted manuscript and the published version are three texts of one paper. NISO's
Journal Article Versions (RP-8-2008) and the locators of open copies (``submittedVersion`` …) have
their own terms, which this module maps to the three.

A DOI or PMID requests the published version, an arXiv identifier the preprint, and a PMCID the copy
in PMC, which may be the accepted manuscript. A paper that exists as a preprint only is returned as
a preprint, whatever identifier was given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .identifiers import Ids
from .paper import Paper, StoredPaper, Version
from .sites import ROUTES

OTHER_VERSION = "other_version"
"""Outcome of an attempt that brought a text of another version than requested."""

VERSION_NAMES: dict[Version, str] = {
    "preprint": "preprint",
    "accepted": "accepted manuscript",
    "published": "published version",
}
UNPUBLISHED_VERSIONS: tuple[Version, ...] = ("preprint", "accepted")
"""Versions of a text that are not the published one."""
PREPRINT_DOI = re.compile(
    r"10\.1101/(?:\d{6}|(?:19|20)\d\d\.)|10\.64898/|10\.21203/rs\.|10\.20944/preprints"
    r"|10\.31234/|10\.31219/|10\.26434/|10\.36227/|10\.2139/ssrn|10\.22541/au|10\.32388/"
)
"""The prefixes of DOIs that preprint servers register."""

_VERSION_ORDER: tuple[Version, ...] = ("preprint", "accepted", "published")
_ACCEPTED_VERSIONS: dict[Version, frozenset[Version]] = {
    "preprint": frozenset({"preprint", ""}),
    "accepted": frozenset({"accepted", "published", ""}),
    "published": frozenset({"published", ""}),
}
_VERSION_BY_LOCATOR: dict[object, Version] = {
    "submittedVersion": "preprint",
    "acceptedVersion": "accepted",
    "publishedVersion": "published",
}
# The versions of texts filed before each text recorded its own version.
_VERSION_BY_ROUTE = {via: route.version for via, route in ROUTES.items() if route.version}
_PREPRINT_HOSTS = re.compile(
    r"https?://(?:[a-z0-9-]{1,40}\.){0,4}(?:ar|bior|medr|chemr)xiv\.org/", re.I
)
_PREPRINT_KINDS = {"preprint", "posted-content"}


def infer_requested_version(asked: Ids) -> Version:
    """Return the version of the text that a request with these identifiers means.

    >>> arxiv = "2601.00001"
    >>> [infer_requested_version(Ids(arxiv=arxiv, doi=doi)) for doi in ("", "10.1000/a")]
    ['preprint', 'published']
    """
    if asked.doi or asked.pmid:
        return "published"
    if asked.pmcid:
        return "accepted"
    return "preprint" if asked.arxiv else "published"


def is_accepted_version(wants: Version, version: Version, paper: Paper) -> bool:
    """Return whether a text of *paper* in *version* satisfies a request for *wants*.

    A text of unknown version is accepted.
    """
    return version in _ACCEPTED_VERSIONS[wants or "published"] or (
        version == "preprint" and is_only_preprint(paper)
    )


def is_request_satisfied(wants: Version, stored: StoredPaper) -> bool:
    """Return whether a text on the shelf satisfies the request; an abstract never does."""
    return stored.kind == "full_text" and is_accepted_version(wants, stored.version, stored.paper)


def build_text_sort_key(wants: Version, stored: StoredPaper) -> tuple[bool, bool, bool, int]:
    """Return a sort key of how well a text satisfies the request; the best text sorts last."""
    slot = get_shelf_version(stored)
    is_text = stored.kind == "full_text"
    return is_text, is_request_satisfied(wants, stored), slot == wants, _VERSION_ORDER.index(slot)


def choose_best_text(wants: Version, texts: Iterable[StoredPaper]) -> StoredPaper | None:
    """Return the text that satisfies the request best; the first of equally good texts."""
    return max(texts, key=lambda stored: build_text_sort_key(wants, stored), default=None)


def get_shelf_version(stored: StoredPaper) -> Version:
    """Return the version under which a text is shelved: ``published`` if its version is unknown.

    The shelf keeps one text of each version.
    """
    return stored.version or "published"


def is_only_preprint(paper: Paper) -> bool:
    """Return whether the identifiers belong to a preprint without a published article.

    >>> is_only_preprint(Paper(Ids(doi="10.1101/2024.01.02.574123")))
    True
    >>> is_only_preprint(Paper(Ids(doi="10.1000/a", arxiv="2601.00001")))
    False
    """
    ids = paper.ids
    if ids.doi and PREPRINT_DOI.match(ids.doi):
        return True
    called = bool(_PREPRINT_KINDS & {kind.casefold() for kind in paper.publication_types})
    if ids.arxiv:  # `Ids` keeps arXiv's own DOI as ``arxiv``: another DOI is the article's
        return not ids.doi and (called or not (ids.pmid or ids.pmcid))
    return called


def get_locator_version(word: object) -> Version:
    """Return our name for a location's version in Unpaywall or OpenAlex.

    >>> get_locator_version("acceptedVersion"), get_locator_version(None)
    ('accepted', '')
    """
    return _VERSION_BY_LOCATOR.get(word, "") if isinstance(word, str) else ""


def infer_version_from_url(url: str) -> Version:
    """Return the version of texts at an address, if the host serves only one version.

    >>> infer_version_from_url("https://export.arxiv.org/pdf/2601.00001"), infer_version_from_url("https://arxiv.org.example/")
    ('preprint', '')
    """
    return "preprint" if _PREPRINT_HOSTS.match(url) else ""


def infer_version_from_route(via: str, paper: Paper, url: str = "") -> Version:
    """Return the version of a text saved by an older release, from its route and address."""
    if via in _VERSION_BY_ROUTE and is_only_preprint(paper):
        return "preprint"
    return infer_version_from_url(url) or _VERSION_BY_ROUTE.get(via, "")
