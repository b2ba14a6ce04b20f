"""What the world knows about one invented paper, and where it can be had.

One `Record` is rendered as PubMed XML, JATS, HTML, PDF and every service's JSON; nothing about a
paper is written twice. The bigger corpus (recorded articles) uses the same record with ``files``.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.world.field import Field

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

    @property
    def plain_title(self) -> str:
        """The title as text."""
        return plain(self.title)

    @property
    def last_revised(self) -> str:
        """The day of the last revision; that of coming in, where there was none."""
        return self.revised or self.entered

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
    def expected(self) -> str:
        """What a perfect downloader ends with: ``full_text``, ``abstract`` or ``record``."""
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
    """All papers of a world, found by any of their names."""

    def __init__(self, records: Iterable[Record], field: Field | None = None) -> None:
        own = list(records)
        self.records = Papers(own, field or ())
        self.by_pmid = Names({r.pmid: r for r in own if r.pmid}, field and field.by_pmid)
        self.by_pmcid = Names({r.pmcid: r for r in own if r.pmcid}, field and field.by_pmcid)
        self.by_doi = Names({r.doi.lower(): r for r in own if r.doi}, field and field.by_doi)
        self.by_arxiv = Names({r.arxiv: r for r in own if r.arxiv}, field and field.by_arxiv)

    def branch(self, name: str) -> Record:
        """The first paper of a branch."""
        return next(record for record in self.records if record.branch == name)


class Names(dict[str, Record]):
    """Papers by one kind of name; those of the field are made when asked for, and not listed."""

    def __init__(
        self, known: Mapping[str, Record], field: Callable[[str], Record | None] | None
    ) -> None:
        super().__init__(known)
        self.field = field or (lambda name: None)

    def __missing__(self, name: str) -> Record:
        if record := self.field(name):
            return record
        raise KeyError(name)

    def get(self, name: str, default: Any = None) -> Any:
        """The paper, or *default*."""
        return super().get(name) or self.field(name) or default


class Papers(Sequence[Record]):
    """Some papers, and behind them those of the field, one at a time."""

    def __init__(self, own: list[Record], field: Sequence[Record]) -> None:
        self.own = own
        self.field = field

    def __len__(self) -> int:
        return len(self.own) + len(self.field)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[place] for place in range(len(self))[at]]
        at = range(len(self))[at]
        return self.own[at] if at < len(self.own) else self.field[at - len(self.own)]

    def __iter__(self) -> Iterator[Record]:
        yield from self.own
        yield from self.field


def plain(fragment: str) -> str:
    """Text of an XML fragment."""
    return html.unescape(re.sub(r"<[^>]+>", "", fragment))
