"""The records of the demo's invented papers, and where their texts are available.

One `Record` is rendered as PubMed XML, JATS, HTML, PDF and every service's JSON.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

Person = tuple[str, str]
# What a publisher's page may be when it leads to the whole paper.
OPEN_PAGES = frozenset({"article", "pdf", "multi_hop", "meta_refresh", "picky"})


@dataclass(frozen=True)
class Journal:
    """A journal: title, abbreviation, ISSN, publisher, DOI prefix."""

    title: str
    short: str
    issn: str
    publisher: str
    prefix: str


class PreparedText(Protocol):
    """A prepared text, for a paper whose text is not generated."""

    def sections(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return title and paragraphs of each section."""

    def abstract(self) -> tuple[tuple[str, str], ...]:
        """Return label and text of each part of the abstract."""

    def references(self) -> tuple[tuple[str, str, str, str, str], ...]:
        """Return authors, title, journal, year and DOI of the works cited."""


@dataclass(frozen=True)
class Record:
    """An invented paper of the demo.

    ``branch`` says which branch of the ladder it exercises. ``title`` and all prose are XML
    fragments that may hold ``<i>``, ``<sub>`` and ``<sup>``. The fields from ``cloud`` on say what
    each service does with it:

    - ``cloud``: versions in the PMC Cloud Service, () = not in the data sets
    - ``efetch``: ``body``, ``front`` (publisher does not allow downloading) or "" (not available)
    - ``europepmc``: whether ``fullTextXML`` has it
    - ``unpaywall``: ``pdf``, ``html``, ``pmc``, ``landing``, ``fake_pdf``, ``scan``, ``closed``,
      ``unknown``, ``dead`` (a link to a PDF that is gone, and archived)
    - ``openalex``: the same words, for the copies OpenAlex names; "" those of Unpaywall
    - ``openalex_file``: ``pdf``, or a ``page`` in its place, which OpenAlex keeps for a cent; ""
    - ``core``: ``file`` (CORE's own copy), ``text`` (its words only), ``stub`` (their beginning),
      ``walled`` (a copy behind a wall), ``elsewhere`` (a link to the repository), ``other`` (a file
      of another paper), ``bare`` (the record only), "" (unknown)
    - ``scholar``: what Semantic Scholar names as an open copy: ``copy`` (at a repository), ``doi``,
      ``walled`` (a page no program is shown); "" that of Unpaywall, if it is a PDF
    - ``preprint``: the number Europe PMC gives a preprint
    - ``site``: the family of the publisher's pages, one host each
    - ``page``: what the publisher's page is, see `publishers`
    - ``jina``: ``page``, or ``blocked`` for who has no key
    - ``mined``: whose service for text mining has it: ``elsevier``, ``wiley``, ``springer``, or
      ``crossref``: a link registered there (``crossref_later``: not before a license begins); ""
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
    revised: str = ""
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
    openalex: str = ""
    openalex_file: str = ""
    core: str = ""
    scholar: str = ""
    preprint: str = ""
    site: str = "meadow"
    page: str = "paywall"
    jina: str = "page"
    mined: str = ""
    files: Mapping[str, Path] = field(default_factory=dict, compare=False, hash=False)
    recorded: PreparedText | None = field(default=None, compare=False)

    @property
    def plain_title(self) -> str:
        """The title as text."""
        return strip_markup(self.title)

    @property
    def last_revised(self) -> str:
        """The day of the last revision, or else the day of entry."""
        return self.revised or self.entered

    @property
    def year(self) -> str:
        """The year of publication."""
        return self.published[:4]

    @property
    def retracted(self) -> bool:
        """True if this paper (not a notice) was retracted."""
        return "Retracted Publication" in self.types

    @property
    def embargoed(self) -> bool:
        """True if PMC may not show the paper yet."""
        return bool(self.released)

    @property
    def expected(self) -> str:
        """The best possible result: ``full_text``, ``abstract`` or ``record``."""
        in_pmc = self.cloud or self.efetch == "body" or self.europepmc
        named = {self.unpaywall, self.openalex} & {"pdf", "html", "dead"}
        copy = self.arxiv or (self.doi and (named or self.scholar == "copy"))
        page = self.page in OPEN_PAGES or (self.page == "forbidden" and self.jina == "page")
        page = page or self.mined == "crossref"
        if in_pmc or copy or (self.doi and page):
            return "full_text"
        return "record" if self.abstract == "none" else "abstract"

    @property
    def number(self) -> str:
        """The PMCID without its prefix."""
        return self.pmcid.removeprefix("PMC")


class Corpus:
    """Records, indexed by each of their identifiers."""

    def __init__(self, records: Iterable[Record]) -> None:
        own = list(records)
        self.records: Sequence[Record] = own
        self.by_pmid = {record.pmid: record for record in own if record.pmid}
        self.by_pmcid = {record.pmcid: record for record in own if record.pmcid}
        self.by_doi = {record.doi.lower(): record for record in own if record.doi}


def strip_markup(fragment: str) -> str:
    """Return the text of an XML fragment."""
    return html.unescape(re.sub(r"<[^>]+>", "", fragment))
