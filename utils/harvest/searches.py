"""Several searches and lists as one list of papers: every hit of each, every paper once.

Each search is counted under its name (site, query as run, day, hits), as PRISMA-S wants a review to
report it (Rethlefsen et al., Syst Rev 2021, items 1, 8, 13). Which records are one paper is judged
as in the merged search; a preprint and its article are two.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..download.ladder import Ladder
from ..download.records import fetch_records
from ..errors import BadRequest, Unreachable
from ..http import Web
from ..lists.described import paper_to_entry
from ..lists.pasted import Entry, merge_entries
from ..model.identifiers import Ids
from ..model.job import Search
from ..model.paper import Paper, SearchResult, utc_now
from ..search.fused_results import group_records
from ..search.pubmed.search import find_every_pmid
from ..search.search import strip_field_tags
from ..sources import Query, Source

_PUBMED = "pubmed"
_PAGE = 1000  # the most any site sends at once; their `search` pages where they send fewer


@dataclass(frozen=True, slots=True)
class Wanted:
    """A query for one site; ``asked`` is what the user wrote."""

    source: Source
    query: Query
    asked: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Collected:
    """The papers of several searches and lists.

    Parameters
    ----------
    papers : tuple of Entry
        Each once, in the order in which it was first found.
    searches : tuple of Search
        What each search and list brought.
    duplicates : int
        How many records were of a paper that another record had brought.
    notes : tuple of str
        What a reviewer has to know about the hits.
    silent : tuple of (int, str)
        Searches that were spared and not answered: their place, and why.
    """

    papers: tuple[Entry, ...]
    searches: tuple[Search, ...]
    duplicates: int
    notes: tuple[str, ...]
    silent: tuple[tuple[int, str], ...] = ()


def wanted_searches(
    queries: str | Query | Sequence[str | Query], among: Sequence[str], sources: Sequence[Source]
) -> list[Wanted]:
    """Every query for every site it is meant for.

    A query that begins with a site's name (``europepmc: SRC:PPR AND moss``) is for that site alone,
    and is sent as it is; any other is for all sites *among* which is searched (PubMed, when none is
    named), and those beside PubMed get its words without PubMed's field tags.

    Raises
    ------
    BadRequest
        A site cannot be searched, or nothing is left of a query.
    """
    able = {source.name: source for source in sources if source.search}
    if strange := [name for name in among if name not in able]:
        msg = f"{', '.join(strange)} cannot be searched."
        raise BadRequest(msg, f"Choose among {', '.join(able)}.")
    wanted: list[Wanted] = []
    for asked in [queries] if isinstance(queries, str | Query) else queries:
        query = asked if isinstance(asked, Query) else Query(asked)
        if not query.text:
            continue
        name, colon, text = query.text.partition(":")
        if colon and (own := able.get(name.strip().lower())):
            wanted.append(_for_site(own, text.strip(), query))
            continue
        for one in dict.fromkeys(among or (_PUBMED,)):
            bare, warnings = strip_field_tags(query.text) if one != _PUBMED else (query.text, ())
            wanted.append(_for_site(able[one], bare, query, warnings))
    return wanted


def _for_site(source: Source, text: str, asked: Query, warnings: tuple[str, ...] = ()) -> Wanted:
    if not text.strip():
        msg = f"Nothing is left to ask {source.title} for."
        raise BadRequest(msg, f"Give it words, or a query of its own: {source.name}: …")
    query = replace(asked, text=text, max_results=_PAGE, start=0, sort_by="pub_date")
    return Wanted(source, query, asked.text, warnings)


def collect(
    wanted: Sequence[Wanted],
    lists: Mapping[str, Sequence[Entry]],
    ladder: Ladder,
    known: Sequence[Paper] = (),
    *,
    spared: Container[int] = (),
) -> Collected:
    """Every hit of every search, and every entry of every list, but for papers *known* already.

    Searches whose place is among the *spared* may remain without an answer, which is told.

    Raises
    ------
    BadRequest, NotConfigured, Unreachable
        A search could not be made: a review that lacks a database without saying so is worse than
        none. What came of the others is remembered, and asked for again at no cost.
    """
    hits = _Hits(ladder)
    silent = []
    for at, one in enumerate(wanted):
        try:
            hits.search(one)
        except Unreachable as miss:
            if at not in spared:
                raise
            silent.append((at, miss.message))
    for name, entries in lists.items():
        hits.take_list(name, entries)
    return replace(hits.collected(known), silent=tuple(silent))


@dataclass(slots=True)
class _Hits:
    """Records in the order in which they came, each with what is known of it."""

    ladder: Ladder
    entries: list[Entry] = field(default_factory=list)
    papers: list[Paper | None] = field(default_factory=list)
    searches: list[Search] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def search(self, wanted: Wanted) -> None:
        """Take every hit of one search."""
        before, site = len(self.entries), wanted.source.title
        take = self._search_pubmed if wanted.source.name == _PUBMED else self._page_through
        try:
            hits, understood = take(wanted)
        except Unreachable as miss:
            del self.entries[before:], self.papers[before:]
            msg = f"{site} could not be searched: {miss.message}"
            hint = "Ask again later, or leave that site out (--source); there is no harvest yet."
            raise Unreachable(msg, hint, **miss.details) from miss
        taken = len(self.entries) - before
        if taken < hits:
            self.notes.append(f"{site} hands out {taken:,} of its {hits:,} hits.")
        self.notes += [f"{site}: {warning}" for warning in wanted.warnings]
        query, day = wanted.query.text, utc_now()
        self.searches.append(
            Search(wanted.source.name, site, query, understood, hits, taken, searched_at=day)
        )

    def _search_pubmed(self, wanted: Wanted) -> tuple[int, str]:
        found = find_every_pmid(wanted.query, self.ladder.web)
        for page in found.pages:
            for pmid in page:
                self._add(Entry(f"PMID {pmid}", Ids(pmid=pmid)), None)
        self.notes += [f"PubMed: {warning}" for warning in found.warnings]
        return found.total, found.effective_query

    def _page_through(self, wanted: Wanted) -> tuple[int, str]:
        hits, understood, warnings = 0, wanted.query.text, dict[str, None]()
        for page in _pages(wanted, self.ladder.web):
            hits, understood = page.total, page.effective_query or understood
            warnings |= dict.fromkeys(page.warnings)
            for paper in page.papers:
                where = f"{wanted.source.title}, hit {len(self.entries) + 1}"
                self._add(paper_to_entry(paper, where), paper)
        self.notes += [f"{wanted.source.title}: {warning}" for warning in warnings]
        return hits, understood

    def take_list(self, name: str, entries: Sequence[Entry]) -> None:
        """Take the entries of one list."""
        for entry in entries:
            self._add(entry, entry.paper)
        taken = len(entries)
        self.searches.append(Search("", name, "", "", taken, taken, searched_at=utc_now()))

    def _add(self, entry: Entry, paper: Paper | None) -> None:
        self.entries.append(entry)
        self.papers.append(paper and _without_prose(paper))

    def collected(self, known: Sequence[Paper]) -> Collected:
        """The papers, each once, without those *known*."""
        self._look_up()
        every = [*known, *(paper or Paper(Ids()) for paper in self.papers)]
        families = group_records(every)
        fresh = [
            self._entry([every[at].ids for at in group], group[0] - len(known))
            for group in families.groups
            if group[0] >= len(known)  # groups begin with their first record
        ]
        held = sum(at >= len(known) for g in families.groups if g[0] < len(known) for at in g)
        once = merge_entries(fresh)
        duplicates = len(self.entries) - held - len(once.papers)
        notes = (*self.notes, *families.contradictions, *once.contradictions)
        return Collected(once.papers, tuple(self.searches), duplicates, tuple(dict.fromkeys(notes)))

    def _entry(self, names: Sequence[Ids], first: int) -> Entry:
        asked, ids, paper = self.entries[first]
        for more in names:
            ids |= more
        return Entry(asked, ids, None if ids else paper)

    def _look_up(self) -> None:
        """Learn what the bare identifiers are, as far as anybody answers."""
        bare = [at for at, paper in enumerate(self.papers) if paper is None]
        wanted = dict.fromkeys(self.entries[at].ids for at in bare if self.entries[at].ids)
        shelf, web, sources = self.ladder.shelf, self.ladder.web, self.ladder.sources
        found = dict(fetch_records(wanted, shelf, web, sources))
        silent = 0
        for at in bare:
            ids = self.entries[at].ids
            outcome = found.get(ids)
            silent += bool(ids) and not isinstance(outcome, Paper)
            paper = outcome if isinstance(outcome, Paper) else Paper(ids)
            self.papers[at] = _without_prose(paper)
        if silent:
            what = "record was" if silent == 1 else "records were"
            self.notes.append(f"{silent:,} {what} compared by identifiers only: nobody told more.")


def _without_prose(paper: Paper) -> Paper:
    """Return only the fields that tell papers apart, to spare memory."""
    return replace(paper, abstract="", other_abstracts=(), mesh=(), keywords=())


def _pages(wanted: Wanted, web: Web) -> Iterator[SearchResult]:
    search, start = wanted.source.search, 0
    assert search is not None
    while True:
        page = search(replace(wanted.query, start=start), web)
        yield page
        if page.next_start is None or page.next_start <= start:
            return
        start = page.next_start
