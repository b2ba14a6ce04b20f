"""Find papers related to a paper: similar papers, citing papers, and cited papers.

NCBI's links come first. It has only the citations that PMC or the publisher supplied, so where its
list is shorter than wanted, other sites are asked in turn, and the longest list is returned under
the name of its site: lists are never mixed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Literal

from ...errors import BadRequest, NotAvailable, NotConfigured, NotFound, SourceMiss, StoreFailed
from ...http import Web
from ...model.identifiers import Ids
from ...model.paper import Paper, get_field_names
from ...model.tabular import Table, TabularResult
from ...sources.europepmc import Kind, LinkedPaper
from ...sources.eutils_services import Link, LinkName, fetch_paper_links
from ...sources.pubmed import fetch_papers
from ...sources.source import find_citations, find_records, recall_papers
from ..citation_indexes import INDEXES, CitationIndex

Relationship = Literal["pubmed_similar_articles", "pubmed_citedin", "pubmed_references"]
MAX_RELATED = 50
_AT_NCBI: dict[Relationship, LinkName] = {
    "pubmed_similar_articles": "pubmed_pubmed",
    "pubmed_citedin": "pubmed_pubmed_citedin",
    "pubmed_references": "pubmed_pubmed_refs",
}
_ELSEWHERE: dict[Relationship, Kind] = {
    "pubmed_citedin": "citations",
    "pubmed_references": "references",
}


@dataclass(frozen=True, slots=True)
class RelatedPaper:
    """A related paper; ``pmid`` is empty if PubMed lacks the paper, ``score`` is NCBI's."""

    pmid: str = ""
    title: str = ""
    authors: str = ""
    journal: str = ""
    year: str = ""
    doi: str = ""
    retracted: bool = False
    score: int | None = None


@dataclass(frozen=True, slots=True)
class RelatedPapers(TabularResult):
    """A page of a list, the list's length, and the site it is from.

    ``next_start`` is where the next page begins; None at the end of what the site shows.
    """

    articles: tuple[RelatedPaper, ...]
    total: int
    url: str
    source: str = ""
    warnings: tuple[str, ...] = ()
    next_start: int | None = None

    def to_table(self) -> Table:
        """Return a table with a row for each paper."""
        return Table.from_rows(get_field_names(RelatedPaper()), map(asdict, self.articles))


_Asks = Callable[[str, Relationship, int, Web], RelatedPapers | None]


def find_related_papers(
    pmid: str, kind: Relationship, most: int, web: Web, *, start: int = 0
) -> RelatedPapers:
    """Return at most *most* papers of a list, from number *start* on, with their titles.

    Pages with the same *most* are of the same list.

    Raises
    ------
    NotFound
        PubMed has no such paper.
    Unreachable
        None of the sites that may have the list answered.
    """
    if kind not in _AT_NCBI:
        msg = f"There is no relationship {kind!r}."
        raise BadRequest(msg, f"It is one of {', '.join(_AT_NCBI)}.")
    if not 1 <= most <= MAX_RELATED:
        msg = f"max_related_results is {most}; it must lie between 1 and {MAX_RELATED}."
        raise BadRequest(msg, f"Ask for {MAX_RELATED} at the most.")
    listed = _find_longest_list(pmid, kind, most, start + most, web)
    return _add_records(pmid, _cut_related_page(listed, start, most), web)


def _cut_related_page(listed: RelatedPapers, start: int, most: int) -> RelatedPapers:
    """Return the papers from number *start* on, as far as the site shows its list."""
    page = listed.articles[start : start + most]
    end = start + len(page)
    if end >= listed.total:
        return replace(listed, articles=page)
    if len(listed.articles) >= start + most:
        return replace(listed, articles=page, next_start=end)
    shown = len(listed.articles)
    told = f"{listed.source} shows the first {shown:,} of {listed.total:,}; e_link_url leads there."
    return replace(listed, articles=page, warnings=(*listed.warnings, told))


def _find_longest_list(
    pmid: str, kind: Relationship, most: int, reach: int, web: Web
) -> RelatedPapers:
    """Ask the sources in turn until a list has *most* papers; return that, else the longest.

    Each source is asked for up to *reach* papers. Raises an error if no source has a list.
    """
    best: RelatedPapers | None = None
    silent: dict[str, SourceMiss] = {}
    for source, ask in _LISTS.items():
        try:
            listed = ask(pmid, kind, reach, web)
        except SourceMiss as miss:
            silent[source] = miss
            continue
        if listed and (best is None or listed.total > best.total):
            best = replace(listed, source=listed.source or source)
        if best and best.total >= most:
            break
    if best is None:
        raise next(iter(silent.values()))
    warnings = (f"{source} could not be asked: {miss.message}" for source, miss in silent.items())
    return replace(best, warnings=tuple(warnings))


def _fetch_ncbi_list(pmid: str, kind: Relationship, most: int, web: Web) -> RelatedPapers:
    found, url = fetch_paper_links(pmid, _AT_NCBI[kind], web)
    return RelatedPapers(tuple(map(_ncbi_link_to_paper, found[:most])), len(found), url)


def _fetch_index_list(
    index: CitationIndex, pmid: str, kind: Relationship, most: int, web: Web
) -> RelatedPapers | None:
    """Return an index's list; None for similar papers, or without the key that it wants.

    Without one OpenAlex refuses, and Semantic Scholar's shared pool mostly answers 429.
    """
    if kind not in _ELSEWHERE or (index.key and not web.settings.key(index.key)):
        return None
    try:
        total, rows, url = index.lists(Ids(pmid=pmid), _ELSEWHERE[kind], most, web)
    except NotConfigured as refused:
        raise NotAvailable(refused.message, refused.hint) from None
    return RelatedPapers(tuple(map(_linked_row_to_paper, rows)), total, url)


def _read_local_list(pmid: str, kind: Relationship, most: int, web: Web) -> RelatedPapers | None:
    """Return a list from the local table of citations; None without a table."""
    if kind not in _ELSEWHERE or (citations := find_citations(web.settings, fresh=True)) is None:
        return None
    ask = citations.cited if kind == "pubmed_references" else citations.citing
    try:
        edges = ask([int(pmid)])[int(pmid)]
    except StoreFailed as damaged:
        raise NotAvailable(damaged.message, damaged.hint) from None
    listed = tuple(RelatedPaper(str(edge.pmid)) for edge in edges[:most])
    return RelatedPapers(listed, len(edges), "", citations.label)


# The sites in the order in which they are asked, by the name that is shown; the answer is None
# where a site has no list of that kind, or only for a key.
_LISTS: dict[str, _Asks] = {
    "mirror": _read_local_list,
    "NCBI ELink": _fetch_ncbi_list,
    **{
        index.name: partial(_fetch_index_list, index)
        for index in INDEXES
        if index.name in ("Europe PMC", "OpenAlex", "Semantic Scholar")
    },
}


def _add_records(pmid: str, relations: RelatedPapers, web: Web) -> RelatedPapers:
    """Add PubMed's record of each paper; the request also shows whether *pmid* exists."""
    wanted = [article.pmid for article in relations.articles if article.pmid]
    warnings = relations.warnings
    every = [Ids(pmid=one) for one in (pmid, *wanted)]
    held = {ids.pmid: paper for ids, paper in find_records(every, web.settings).items()}
    left = [one for one in (pmid, *wanted) if one not in held]
    try:
        known = held | (fetch_papers(left, web) if left else {})
    except SourceMiss as miss:
        known = held | recall_papers("pubmed", wanted, web)
        if not wanted or any(one not in known for one in wanted):
            warnings += (f"Titles could not be had from PubMed: {miss.message}",)
    else:
        if pmid not in known and not relations.articles:
            raise NotFound(f"PubMed has no record PMID {pmid}.", "Check the number.")
    articles = tuple(
        _fill_from_record(article, known.get(article.pmid)) for article in relations.articles
    )
    return replace(relations, articles=articles, warnings=warnings)


def _fill_from_record(article: RelatedPaper, paper: Paper | None) -> RelatedPaper:
    if paper is None:
        return article
    return replace(
        article,
        title=paper.title,
        authors=_shorten_authors([author.name for author in paper.authors]),
        journal=paper.journal_abbreviation or paper.journal,
        year=paper.year,
        doi=paper.ids.doi,
        retracted=paper.retracted,
    )


def _ncbi_link_to_paper(link: Link) -> RelatedPaper:
    return RelatedPaper(link.pmid, score=link.score)


def _linked_row_to_paper(row: LinkedPaper) -> RelatedPaper:
    names = _shorten_authors([name.strip() for name in row.authors.split(",") if name.strip()])
    return RelatedPaper(row.pmid, row.title, names, row.journal, row.year, row.doi)


def _shorten_authors(names: Sequence[str]) -> str:
    """Return at most three names, so that a list of papers stays short."""
    return ", ".join(names[:3]) + (", et al." if len(names) > 3 else "")
