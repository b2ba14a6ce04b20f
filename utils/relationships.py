"""Papers around a paper: similar ones, those that cite it, those it cites.

NCBI's links come first. It knows only the citations that PMC or the publisher supplied, so where
its list is shorter than asked for, Europe PMC is asked too, and the longer list is shown under the
name of who made it: lists are never mixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from .errors import BadRequest, Miss, NotFound
from .paper import Paper
from .sources.elink import Link, LinkName, links
from .sources.europepmc_links import Kind, Linked, linked
from .sources.pubmed import fetch
from .web import Web

Relationship = Literal["pubmed_similar_articles", "pubmed_citedin", "pubmed_references"]
MOST = 50
_AT_NCBI: dict[Relationship, LinkName] = {
    "pubmed_similar_articles": "pubmed_pubmed",
    "pubmed_citedin": "pubmed_pubmed_citedin",
    "pubmed_references": "pubmed_pubmed_refs",
}
_AT_EUROPE_PMC: dict[Relationship, Kind] = {
    "pubmed_citedin": "citations",
    "pubmed_references": "references",
}


@dataclass(frozen=True, slots=True)
class Related:
    """A paper on a list; ``pmid`` is empty where it is not in PubMed, ``score`` NCBI's own."""

    pmid: str = ""
    title: str = ""
    authors: str = ""
    journal: str = ""
    year: str = ""
    doi: str = ""
    retracted: bool = False
    score: int | None = None


@dataclass(frozen=True, slots=True)
class Relations:
    """A list: its first papers, how long it is, and who made it."""

    articles: tuple[Related, ...]
    total: int
    source: str
    url: str
    warnings: tuple[str, ...] = ()


def related(pmid: str, kind: Relationship, most: int, web: Web) -> Relations:
    """The first *most* papers of a list, with their titles.

    Raises
    ------
    NotFound
        PubMed has no such paper.
    Unreachable
        Nobody who could know the list answered.
    """
    if kind not in _AT_NCBI:
        msg = f"There is no relationship {kind!r}."
        raise BadRequest(msg, f"It is one of {', '.join(_AT_NCBI)}.")
    if not 1 <= most <= MOST:
        msg = f"max_related_results is {most}; it must lie between 1 and {MOST}."
        raise BadRequest(msg)
    relations, silent = _at_ncbi(pmid, kind, most, web)
    if (other := _AT_EUROPE_PMC.get(kind)) and (relations is None or relations.total < most):
        relations = _longer(relations, pmid, other, most, web)
    if relations is None:
        assert silent is not None
        raise silent
    if silent:
        told = f"NCBI's links could not be had: {silent.message}"
        relations = replace(relations, warnings=(*relations.warnings, told))
    return _enriched(pmid, relations, web)


def _at_ncbi(
    pmid: str, kind: Relationship, most: int, web: Web
) -> tuple[Relations | None, Miss | None]:
    try:
        found, url = links(pmid, _AT_NCBI[kind], web)
    except Miss as miss:
        return None, miss
    shown = tuple(_of_ncbi(link) for link in found[:most])
    return Relations(shown, len(found), "NCBI ELink", url), None


def _longer(ours: Relations | None, pmid: str, kind: Kind, most: int, web: Web) -> Relations | None:
    """NCBI's list, or Europe PMC's where that is longer."""
    try:
        total, rows, url = linked(pmid, kind, most, web)
    except Miss as miss:
        told = f"Europe PMC could not be asked for more: {miss.message}"
        return ours and replace(ours, warnings=(told,))
    if ours and ours.total >= total:
        return ours
    return Relations(tuple(map(_of_europe_pmc, rows)), total, "Europe PMC", url)


def _enriched(pmid: str, relations: Relations, web: Web) -> Relations:
    """With what PubMed says about each, in one request that also tells whether *pmid* exists."""
    wanted = [article.pmid for article in relations.articles if article.pmid]
    try:
        known = fetch([pmid, *wanted], web)
    except Miss as miss:
        told = f"Titles could not be had from PubMed: {miss.message}"
        return replace(relations, warnings=(*relations.warnings, told))
    if pmid not in known and not relations.articles:
        raise NotFound(f"PubMed has no record PMID {pmid}.", "Check the number.")
    articles = tuple(
        _with_record(article, known.get(article.pmid)) for article in relations.articles
    )
    return replace(relations, articles=articles)


def _with_record(article: Related, paper: Paper | None) -> Related:
    if paper is None:
        return article
    return replace(
        article,
        title=paper.title,
        authors=_authors([author.name for author in paper.authors]),
        journal=paper.journal_abbreviation or paper.journal,
        year=paper.year,
        doi=paper.ids.doi,
        retracted=paper.retracted,
    )


def _of_ncbi(link: Link) -> Related:
    return Related(link.pmid, score=link.score)


def _of_europe_pmc(row: Linked) -> Related:
    names = _authors([name.strip() for name in row.authors.split(",") if name.strip()])
    return Related(row.pmid, row.title, names, row.journal, row.year, row.doi)


def _authors(names: Sequence[str]) -> str:
    """Three names at the most: a list of lists must stay short."""
    return ", ".join(names[:3]) + (", et al." if len(names) > 3 else "")
