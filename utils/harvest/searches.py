"""Combine several searches and lists into one list of papers, without duplicates.

Each search is recorded with its site, query as run, day and hits, as PRISMA-S asks reviews to
report searches (Rethlefsen et al., Syst Rev 2021, items 1, 8, 13). Records of one paper are
recognised as in the merged search; a preprint and its article are two papers.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..download.ladder import Ladder
from ..download.records import fetch_records
from ..errors import BadRequest, Unreachable
from ..http import Web
from ..lists.described import parsed_paper_to_entry
from ..lists.pasted import ListEntry, merge_duplicate_entries
from ..model.identifiers import Ids
from ..model.job import JobSearch
from ..model.paper import Paper, SearchResult, utc_now
from ..search.fused_results import group_records
from ..search.pubmed.search import find_every_pmid
from ..search.search import strip_field_tags
from ..sources import Query, Source
from ..system.nearest import suggest_nearest_name

_PUBMED = "pubmed"
_PAGE = 1000  # the largest page any site sends; the `run_search` of other sites pages by itself


@dataclass(frozen=True, slots=True)
class SiteQuery:
    """A query for one site; ``asked`` is the user's text."""

    source: Source
    query: Query
    asked: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CollectedPapers:
    """The papers of several searches and lists.

    Parameters
    ----------
    papers : tuple of Entry
        Every paper once, in the order of its first record.
    searches : tuple of Search
        The hits of each search and list.
    duplicates : int
        Count of records whose paper an earlier record had brought.
    notes : tuple of str
        Notes about the hits for a reviewer.
    silent : tuple of (int, str)
        Optional searches without an answer: position and reason.
    """

    papers: tuple[ListEntry, ...]
    searches: tuple[JobSearch, ...]
    duplicates: int
    notes: tuple[str, ...]
    silent: tuple[tuple[int, str], ...] = ()


def build_site_queries(
    queries: str | Query | Sequence[str | Query], among: Sequence[str], sources: Sequence[Source]
) -> list[SiteQuery]:
    """Return every query for every site to send it to.

    A query that begins with a site's name (``europepmc: SRC:PPR AND moss``) is sent to that site
    only, unchanged. Any other query is sent to all sites *among* which to search (by default
    PubMed). Sites other than PubMed receive the words of the query without PubMed's field tags.

    Raises
    ------
    BadRequest
        A site cannot be searched, or a query has no words besides field tags.
    """
    able = {source.name: source for source in sources if source.search}
    if unknown := [name for name in among if name not in able]:
        msg = f"{', '.join(unknown)} cannot be searched."
        raise BadRequest(
            msg, suggest_nearest_name(unknown[0], able), f"Choose among {', '.join(able)}."
        )
    wanted: list[SiteQuery] = []
    for asked in [queries] if isinstance(queries, str | Query) else queries:
        query = asked if isinstance(asked, Query) else Query(asked)
        if not query.text:
            continue
        name, colon, text = query.text.partition(":")
        if colon and (own := able.get(name.strip().lower())):
            wanted.append(_to_site_query(own, text.strip(), query))
            continue
        for site in dict.fromkeys(among or (_PUBMED,)):
            bare, warnings = strip_field_tags(query.text) if site != _PUBMED else (query.text, ())
            wanted.append(_to_site_query(able[site], bare, query, warnings))
    return wanted


def _to_site_query(
    source: Source, text: str, asked: Query, warnings: tuple[str, ...] = ()
) -> SiteQuery:
    """Return a query for one site, newest papers first."""
    if not text.strip():
        msg = f"The query leaves nothing to ask {source.title} for."
        raise BadRequest(msg, f"Give it words, or a query of its own: {source.name}: …")
    query = replace(asked, text=text, max_results=_PAGE, start=0, sort_by="pub_date")
    return SiteQuery(source, query, asked.text, warnings)


def collect_papers(
    wanted: Sequence[SiteQuery],
    lists: Mapping[str, Sequence[ListEntry]],
    ladder: Ladder,
    known: Sequence[Paper] = (),
    *,
    spared: Container[int] = (),
) -> CollectedPapers:
    """Return the papers of every search and list, without those *known* already.

    Searches whose position is in *spared* may fail; `Collected.silent` lists these failures.

    Raises
    ------
    BadRequest, NotConfigured, Unreachable
        A search failed: a review that silently lacks a database is worse than no review. The
        results of the other searches are cached, so that a retry costs nothing.
    """
    hits = _PaperCollector(ladder)
    silent = []
    for at, query in enumerate(wanted):
        try:
            hits.run_search(query)
        except Unreachable as miss:
            if at not in spared:
                raise
            silent.append((at, miss.message))
    for name, entries in lists.items():
        hits.add_list(name, entries)
    return replace(hits.deduplicate(known), silent=tuple(silent))


@dataclass(slots=True)
class _PaperCollector:
    """The collected records in their order of arrival, each with its paper if known."""

    ladder: Ladder
    entries: list[ListEntry] = field(default_factory=list)
    papers: list[Paper | None] = field(default_factory=list)
    searches: list[JobSearch] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def run_search(self, wanted: SiteQuery) -> None:
        """Add every hit of one search."""
        before, site = len(self.entries), wanted.source.title
        take = self._search_pubmed if wanted.source.name == _PUBMED else self._collect_pages
        try:
            hits, understood = take(wanted)
        except Unreachable as miss:
            del self.entries[before:], self.papers[before:]
            msg = f"{site} could not be searched: {miss.message}"
            hint = "Try again later, or leave that site out (--source). No harvest was started."
            raise Unreachable(msg, hint, **miss.details) from miss
        taken = len(self.entries) - before
        if taken < hits:
            self.notes.append(f"{site} returns only {taken:,} of its {hits:,} hits.")
        self.notes += [f"{site}: {warning}" for warning in wanted.warnings]
        query, day = wanted.query.text, utc_now()
        self.searches.append(
            JobSearch(wanted.source.name, site, query, understood, hits, taken, searched_at=day)
        )

    def _search_pubmed(self, wanted: SiteQuery) -> tuple[int, str]:
        """Add every PMID that PubMed finds; return the hit count and the query as run."""
        found = find_every_pmid(wanted.query, self.ladder.web)
        for page in found.pages:
            for pmid in page:
                self._append_record(ListEntry(f"PMID {pmid}", Ids(pmid=pmid)), None)
        self.notes += [f"PubMed: {warning}" for warning in found.warnings]
        return found.total, found.effective_query

    def _collect_pages(self, wanted: SiteQuery) -> tuple[int, str]:
        """Add every hit that a site pages through; return the hit count and the query as run."""
        hits, understood, warnings = 0, wanted.query.text, dict[str, None]()
        for page in _fetch_pages(wanted, self.ladder.web):
            hits, understood = page.total, page.effective_query or understood
            warnings |= dict.fromkeys(page.warnings)
            for paper in page.papers:
                where = f"{wanted.source.title}, hit {len(self.entries) + 1}"
                self._append_record(parsed_paper_to_entry(paper, where), paper)
        self.notes += [f"{wanted.source.title}: {warning}" for warning in warnings]
        return hits, understood

    def add_list(self, name: str, entries: Sequence[ListEntry]) -> None:
        """Add the entries of one list."""
        for entry in entries:
            self._append_record(entry, entry.paper)
        taken = len(entries)
        self.searches.append(JobSearch("", name, "", "", taken, taken, searched_at=utc_now()))

    def _append_record(self, entry: ListEntry, paper: Paper | None) -> None:
        """Append a record and its paper."""
        self.entries.append(entry)
        self.papers.append(paper and _keep_identifying_fields(paper))

    def deduplicate(self, known: Sequence[Paper]) -> CollectedPapers:
        """Return the collected papers without duplicates and without those *known*."""
        self._look_up_bare_identifiers()
        every = [*known, *(paper or Paper(Ids()) for paper in self.papers)]
        families = group_records(every)
        fresh = [
            self._merge_group([every[at].ids for at in group], group[0] - len(known))
            for group in families.groups
            if group[0] >= len(known)  # groups begin with their first record
        ]
        held = sum(at >= len(known) for g in families.groups if g[0] < len(known) for at in g)
        once = merge_duplicate_entries(fresh)
        duplicates = len(self.entries) - held - len(once.papers)
        notes = (*self.notes, *families.contradictions, *once.contradictions)
        return CollectedPapers(
            once.papers, tuple(self.searches), duplicates, tuple(dict.fromkeys(notes))
        )

    def _merge_group(self, names: Sequence[Ids], first: int) -> ListEntry:
        """Return the first entry of a group, with the identifiers of the whole group."""
        asked, ids, paper, *_ = self.entries[first]
        for more in names:
            ids |= more
        return ListEntry(asked, ids, None if ids else paper)

    def _look_up_bare_identifiers(self) -> None:
        """Look up the records of bare identifiers, as far as the sources answer."""
        bare = [at for at, paper in enumerate(self.papers) if paper is None]
        wanted = dict.fromkeys(self.entries[at].ids for at in bare if self.entries[at].ids)
        shelf, web, sources = self.ladder.shelf, self.ladder.web, self.ladder.sources
        outcomes = dict(fetch_records(wanted, shelf, web, sources))
        silent = 0
        for at in bare:
            ids = self.entries[at].ids
            outcome = outcomes.get(ids)
            silent += bool(ids) and not isinstance(outcome, Paper)
            paper = outcome if isinstance(outcome, Paper) else Paper(ids)
            self.papers[at] = _keep_identifying_fields(paper)
        if silent:
            what = "record was" if silent == 1 else "records were"
            self.notes.append(
                f"{silent:,} {what} compared by identifiers only: no source answered."
            )


def _keep_identifying_fields(paper: Paper) -> Paper:
    """Return a paper with the fields that identify it only, to save memory."""
    return replace(paper, abstract="", other_abstracts=(), mesh=(), keywords=())


def _fetch_pages(wanted: SiteQuery, web: Web) -> Iterator[SearchResult]:
    """Yield the pages of a search until the site has no more."""
    search, start = wanted.source.search, 0
    assert search is not None
    while True:
        page = search(replace(wanted.query, start=start), web)
        yield page
        if page.next_start is None or page.next_start <= start:
            return
        start = page.next_start
