"""What the world knows about one invented paper, and where it can be had.

One `Record` is rendered as PubMed XML, JATS, HTML, PDF and every service's JSON; nothing about a
paper is written twice. The bigger corpus (recorded articles) uses the same record with ``files``.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

Person = tuple[str, str]


@dataclass(frozen=True)
class Journal:
    """A journal: title, abbreviation, ISSN, publisher, DOI prefix."""

    title: str
    short: str
    issn: str
    publisher: str
    prefix: str


@dataclass(frozen=True)
class Record:
    """One paper.

    ``branch`` says which branch of the ladder it exercises. ``title`` and all prose are XML
    fragments that may hold ``<i>``, ``<sub>`` and ``<sup>``. The fields from ``cloud`` on say what
    each service does with it:

    - ``cloud``: versions in the PMC Cloud Service, () = not in the data sets
    - ``efetch``: ``body``, ``front`` (publisher does not allow downloading) or "" (not available)
    - ``europepmc``: whether ``fullTextXML`` has it
    - ``unpaywall``: ``pdf``, ``html``, ``pmc``, ``landing``, ``fake_pdf``, ``scan``, ``closed``,
      ``unknown``
    - ``site``: the family of the publisher's pages, one host each
    - ``page``: what the publisher's page is, see `publishers`
    - ``jina``: ``page``, or ``blocked`` for who has no key
    """

    branch: str
    title: str
    journal: Journal
    topic: str = ""
    pmid: str = ""
    pmcid: str = ""
    doi: str = ""
    arxiv: str = ""
    authors: tuple[Person, ...] = ()
    collective: str = ""
    published: str = "2025-03-14"
    entered: str = "2025-03-20"
    volume: str = "12"
    issue: str = "3"
    pages: str = "101-112"
    kind: str = "article"
    abstract: str = "structured"
    words: int = 1100
    features: frozenset[str] = frozenset()
    types: tuple[str, ...] = ("Journal Article",)
    mesh: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    language: str = "eng"
    vernacular: str = ""
    notices: tuple[tuple[str, str, str], ...] = ()
    license: str = "CC BY"
    manuscript: bool = False
    released: str = ""
    cloud: tuple[int, ...] = ()
    efetch: str = ""
    europepmc: bool = False
    unpaywall: str = "closed"
    site: str = "meadow"
    page: str = "paywall"
    jina: str = "page"
    files: Mapping[str, Path] = field(default_factory=dict, compare=False, hash=False)

    @property
    def plain_title(self) -> str:
        """The title as text."""
        return plain(self.title)

    @property
    def year(self) -> str:
        """Year of publication."""
        return self.published[:4]

    @property
    def retracted(self) -> bool:
        """Whether this paper (not a notice) was retracted."""
        return "Retracted Publication" in self.types

    @property
    def embargoed(self) -> bool:
        """Whether PMC may not show it yet."""
        return bool(self.released)

    @property
    def number(self) -> str:
        """The PMCID without its prefix."""
        return self.pmcid.removeprefix("PMC")


class Corpus:
    """All papers of a world, found by any of their names."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.records = list(records)
        self.by_pmid = {r.pmid: r for r in self.records if r.pmid}
        self.by_pmcid = {r.pmcid: r for r in self.records if r.pmcid}
        self.by_doi = {r.doi.lower(): r for r in self.records if r.doi}
        self.by_arxiv = {r.arxiv: r for r in self.records if r.arxiv}

    def branch(self, name: str) -> Record:
        """The first paper of a branch."""
        return next(record for record in self.records if record.branch == name)


def plain(fragment: str) -> str:
    """Text of an XML fragment."""
    return html.unescape(re.sub(r"<[^>]+>", "", fragment))
