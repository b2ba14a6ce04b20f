"""Search citations: the papers that seeds cite (backward), and the papers that cite them (forward).

No index has all citations. So every index is asked about every seed paper, and the results are
merged:

1. Collect the reference lists of texts on the shelf and the lists of `..search.citation_indexes`.
2. Merge records of the same paper (`..search.fused_results.group_records`).
3. Search for references without identifiers (`..search.resolve`); an uncertain one stays a title.
4. Sort the candidates by the number of seed papers that lead to them.

Each candidate names the seeds that led to it. PRISMA counts the candidates as *citation searching*,
and PRISMA-S (item 5) requires directions and indexes to be named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

from ..download.records import fetch_records
from ..errors import NotConfigured, PaperError, SourceMiss, Unreachable
from ..http import Web
from ..judges.titles import count_distinctive_words, split_title_words
from ..lists.pasted import ListEntry, collect_field_ids
from ..lists.printed_references import find_printed_ids, iterate_reference_lines
from ..model.identifiers import Ids
from ..model.paper import PAPER_COLUMNS, Author, Paper
from ..model.tabular import Table, TabularResult
from ..search.citation_indexes import (
    DIRECTIONS,
    KINDS,
    MAX_LINKED,
    CitationIndex,
    Direction,
    list_citation_indexes,
)
from ..search.fused_results import group_records
from ..search.resolve import resolve_entries
from ..shelf import Shelf
from ..sources import Source
from ..sources.europepmc import Kind, LinkedPaper
from ..sources.loose_json import to_dict
from ..system.plain_text import one_line

_CACHE_DAYS = 0.5  # shorter than the time between two updates from cron
_MAX_RESOLVED = 200  # candidates without identifiers that are searched for, most cited first
_MIN_DISTINCTIVE_WORDS = (
    4  # distinctive words that a title needs to identify a paper in a printed line
)
_LONGEST_LINE = 500  # characters of a printed reference
SHELF_INDEX = "texts on the shelf"


@dataclass(frozen=True, slots=True)
class CitationLead:
    """The seed paper that led to a candidate, the direction, and the citation index."""

    seed: str
    direction: Direction
    index: str


@dataclass(frozen=True, slots=True)
class CitationCandidate:
    """A paper found by citation searching."""

    paper: Paper
    leads: tuple[CitationLead, ...]
    round: int = 1

    @property
    def seeds(self) -> tuple[str, ...]:
        """The seed papers that led to the candidate, each once."""
        return tuple(dict.fromkeys(lead.seed for lead in self.leads))

    @property
    def indexes(self) -> tuple[str, ...]:
        """The indexes that list the citation, each once."""
        return tuple(dict.fromkeys(lead.index for lead in self.leads))


@dataclass(frozen=True, slots=True)
class Snowball(TabularResult):
    """The result of citation searching: candidates, counts and missing answers.

    Parameters
    ----------
    candidates : tuple of Candidate
        New papers, sorted by the number of seeds that lead to them.
    known : int
        The number of papers that were found but already known.
    indexes : tuple of str
        The indexes that answered.
    notes : tuple of str
        Requests that failed or returned only a part: a missing candidate proves nothing then.
    unmatched : tuple of (str, str)
        Printed references of texts on the shelf without an identifier or a match in an index: the
        seed, and the reference. They are not candidates.
    """

    candidates: tuple[CitationCandidate, ...]
    known: int
    indexes: tuple[str, ...]
    notes: tuple[str, ...]
    unmatched: tuple[tuple[str, str], ...] = ()

    def to_table(self) -> Table:
        """Return a row for each candidate."""
        rows = (
            one.paper.row() | {"led_to_by": one.seeds, "indexes": one.indexes, "round": one.round}
            for one in self.candidates
        )
        return Table.from_rows((*PAPER_COLUMNS, "led_to_by", "indexes", "round"), rows)


def search_citations(
    seeds: Sequence[Paper],
    shelf: Shelf,
    web: Web,
    sources: Sequence[Source],
    *,
    known: Sequence[Paper] = (),
    directions: Sequence[Direction] = DIRECTIONS,
    rounds: int = 1,
    most: int = 50,
) -> Snowball:
    """Search the citations of *seeds*.

    Parameters
    ----------
    known : sequence of Paper
        Papers that are not candidates, such as those screened already. The seeds are added to them.
    rounds : int, optional
        Each further round searches the citations of the previous round's candidates.
    most : int, optional
        The number of candidates that the next round starts with, most cited first.
    """
    chase = _CitationSearch(shelf, web, sources)
    held = [*known, *seeds]
    found: list[CitationCandidate] = []
    beginning = list(seeds)
    met = 0
    for number in range(1, rounds + 1):
        leads = [lead for seed in beginning for lead in chase.find_leads(seed, directions)]
        known_now = [*held, *(one.paper for one in found)]
        candidates, again = _merge_leads(leads, known_now, number)
        candidates = chase.add_records(chase.resolve_candidates(candidates))
        # The records fetched may show that two candidates are the same paper.
        leads = [(one.paper, lead) for one in candidates for lead in one.leads]
        candidates, more = _merge_leads(leads, known_now, number)
        met += again + more if number == 1 else 0
        found += candidates
        beginning = [one.paper for one in candidates[:most]]
        if not beginning:
            break
    found.sort(key=lambda one: (-len(one.seeds), one.round))
    return Snowball(tuple(found), met, chase.indexes, chase.notes, chase.unmatched)


_Found = tuple[Paper, CitationLead]


def _merge_leads(
    found: Sequence[_Found], held: Sequence[Paper], number: int
) -> tuple[list[CitationCandidate], int]:
    """Merge leads into candidates, most cited first; also count papers already known."""
    leads: dict[Paper, list[CitationLead]] = {}  # an index returns the same record for every seed
    for paper, lead in found:
        leads.setdefault(paper, []).append(lead)
    told = list(leads)
    made, met = [], 0
    for group in group_records([*map(_strip_abstract, held), *told]).groups:
        rows = [told[at - len(held)] for at in group if at >= len(held)]
        if group[0] < len(held):  # groups begin with their first record
            met += bool(rows)
            continue
        paper = max(rows, key=_count_known_details)
        for row in rows:
            paper = replace(paper, ids=paper.ids | row.ids)
        led = dict.fromkeys(lead for row in rows for lead in leads[row])
        made.append(CitationCandidate(paper, tuple(led), number))
    made = _merge_by_identifier(made)
    made.sort(key=lambda one: -len(one.seeds))
    return made, met


def _merge_by_identifier(candidates: Sequence[CitationCandidate]) -> list[CitationCandidate]:
    """Merge candidates that share an identifier without contradicting each other.

    Indexes may have different titles for the same identifier.
    """
    made: dict[int, CitationCandidate] = {}
    named: dict[str, int] = {}
    for at, one in enumerate(candidates):
        names = one.paper.ids.names()
        first = next((named[name] for name in names if name in named), at)
        before = made.get(first)
        if before is not None and not before.paper.ids.clash(one.paper.ids):
            paper = max(before.paper, one.paper, key=_count_known_details)
            paper = replace(paper, ids=before.paper.ids | one.paper.ids)
            leads = tuple(dict.fromkeys((*before.leads, *one.leads)))
            made[first] = replace(before, paper=paper, leads=leads)
        else:
            made[at] = one
            first = at
        named |= dict.fromkeys(names, first)
    return list(made.values())


def _strip_abstract(paper: Paper) -> Paper:
    """Return the paper without abstract and keywords, which matching does not need."""
    return replace(paper, abstract="", other_abstracts=(), mesh=(), keywords=())


def _count_known_details(paper: Paper) -> int:
    """Count the details that a record has."""
    return sum(map(bool, (paper.title, paper.authors, paper.journal, paper.published, paper.ids)))


class _CitationSearch:
    """Queries all citation indexes for one paper after another, and counts missing answers.

    An index that cannot be reached is asked once, and twice if it has answered before: each try
    takes half a minute. It is named with the number of lists that it was not asked for.
    """

    def __init__(self, shelf: Shelf, web: Web, sources: Sequence[Source]) -> None:
        self._shelf = shelf
        self._web = web
        self._sources = sources
        self._indexes = list_citation_indexes(web.settings)
        self._answered: dict[str, None] = {}
        self._silent: Counter[str] = Counter()
        self._why: dict[str, str] = {}
        self._failures: Counter[str] = Counter()
        self._cut: Counter[str] = Counter()
        self._more: list[str] = []
        self._unmatched: dict[tuple[str, str], None] = {}

    @property
    def indexes(self) -> tuple[str, ...]:
        """The indexes that answered."""
        return tuple(self._answered)

    @property
    def unmatched(self) -> tuple[tuple[str, str], ...]:
        """The printed references without identifier and match."""
        return tuple(self._unmatched)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about missing and incomplete answers."""
        silent = (
            f"{name} could not be asked about {n:,} of the lists: {self._why[name]}"
            for name, n in self._silent.items()
        )
        cut = (f"{name} showed only a part of {n:,} lists." for name, n in self._cut.items())
        return (*silent, *cut, *self._more)

    def find_leads(self, seed: Paper, directions: Iterable[Direction]) -> Iterator[_Found]:
        """Yield the papers that *seed* cites, or that cite it, by all indexes."""
        name = str(seed.ids) if seed.ids else seed.title[:100]
        for direction in directions:
            named: list[str] = []
            for index in self._indexes:
                if index.accepts(seed.ids):
                    for row in self._fetch_index_list(index, seed.ids, direction):
                        named.append(row.title)
                        yield _linked_row_to_paper(row), CitationLead(name, direction, index.name)
            if direction == "backward":
                for ids in self._find_printed_ids(seed, name, named):
                    yield Paper(ids), CitationLead(name, direction, SHELF_INDEX)

    def _fetch_index_list(
        self, index: CitationIndex, ids: Ids, direction: Direction
    ) -> list[LinkedPaper]:
        """Return an index's list; an error is counted, and the list is then empty."""
        is_dead = self._failures[index.name] > (index.name in self._answered)
        try:
            total, rows = self._fetch_cached_list(index, ids, KINDS[direction], cached_only=is_dead)
        except (SourceMiss, NotConfigured) as miss:
            self._silent[index.name] += 1
            self._why.setdefault(index.name, miss.message)
            self._failures[index.name] += isinstance(miss, Unreachable)
            return []
        self._failures[index.name] *= is_dead
        self._answered[index.name] = None
        self._cut[index.name] += len(rows) < total
        self._cut += Counter()  # drops zero counts
        return rows

    def _fetch_cached_list(
        self, index: CitationIndex, ids: Ids, kind: Kind, *, cached_only: bool
    ) -> tuple[int, list[LinkedPaper]]:
        """Return one list, cached for half a day so that an interrupted search can resume."""
        name = f"{index.name} {kind} {'|'.join(ids.names())}"
        if kept := to_dict(self._web.cache.get("linked", name)):
            with suppress(LookupError, TypeError):
                return int(kept["total"]), [LinkedPaper(**row) for row in kept["rows"]]
        if cached_only:
            raise Unreachable(self._why[index.name])
        total, rows, _ = index.lists(ids, kind, MAX_LINKED, self._web)
        kept = {"total": total, "rows": [asdict(row) for row in rows]}
        self._web.cache.put("linked", name, kept, _CACHE_DAYS)
        return total, rows

    def _find_printed_ids(self, seed: Paper, name: str, titles: Iterable[str]) -> list[Ids]:
        """Return the identifiers in the reference list of a text on the shelf.

        A printed reference without an identifier and without any of the *titles* from indexes is
        recorded as unmatched.
        """
        printed = self._read_printed_references(seed)
        known = [
            f" {' '.join(split_title_words(title))} "
            for title in titles
            if count_distinctive_words(title) > 3
        ]
        found: dict[Ids, None] = {}
        for line in printed:
            ids = find_printed_ids(line)
            if ids:
                found |= {} if set(ids.names()) & set(seed.ids.names()) else {ids: None}
            elif not any(title in _normalize_title(line) for title in known):
                self._unmatched[name, one_line(line)[:_LONGEST_LINE]] = None
        if found:
            self._answered[SHELF_INDEX] = None
        return list(found)

    def _read_printed_references(self, seed: Paper) -> list[str]:
        """Return the reference lines of a paper's text on the shelf."""
        stored = self._shelf.find_text(seed.ids) if seed.ids else None
        if stored is None or stored.kind != "full_text":
            return []
        return list(iterate_reference_lines(self._shelf.read_text(stored), stored.sections))

    def resolve_candidates(
        self, candidates: Sequence[CitationCandidate]
    ) -> list[CitationCandidate]:
        """Add identifiers to the candidates that a title search identifies with certainty."""
        bare = [at for at, one in enumerate(candidates) if not one.paper.ids][:_MAX_RESOLVED]
        asked = [ListEntry(candidates[at].paper.title, Ids(), candidates[at].paper) for at in bare]
        made, silent = list(candidates), 0
        for at, told in zip(bare, resolve_entries(asked, self._web, self._sources), strict=True):
            silent += told.status == "could_not_tell"
            paper = replace(made[at].paper, ids=told.ids)
            made[at] = replace(made[at], paper=paper)
        if silent:
            many = "reference" if silent == 1 else "references"
            self._more.append(f"{silent:,} {many} without identifiers could not be looked for.")
        left = sum(not one.paper.ids for one in made)
        if left:
            many = "candidate has" if left == 1 else "candidates have"
            self._more.append(f"{left:,} {many} no identifier: look at the titles.")
        return made

    def add_records(self, candidates: Sequence[CitationCandidate]) -> list[CitationCandidate]:
        """Replace the candidates' papers by the databases' records."""
        wanted = dict.fromkeys(one.paper.ids for one in candidates if one.paper.ids)
        known = dict(fetch_records(wanted, self._shelf, self._web, self._sources))
        made = []
        for one in candidates:
            paper: Paper | PaperError | None = known.get(one.paper.ids)
            if isinstance(paper, Paper):
                one = replace(one, paper=replace(paper, ids=paper.ids | one.paper.ids))  # noqa: PLW2901
            made.append(one)
        return made


def _normalize_title(words: str) -> str:
    """Return normalised words between blanks, so that whole titles can be found in them."""
    return f" {' '.join(split_title_words(words))} "


def _linked_row_to_paper(row: LinkedPaper) -> Paper:
    """Convert a row of an index's list to a paper."""
    ids = collect_field_ids({"pmid": row.pmid, "doi": row.doi})
    names = (name.strip() for name in row.authors.split(","))
    authors = tuple(Author(*_split_author_name(name)) for name in names if name)
    title = row.title.removesuffix(".")
    return Paper(ids, title, authors=authors, journal=row.journal, published=row.year)


def _split_author_name(name: str) -> tuple[str, str, str]:
    """Return family name, given name and initials of ``Roe JA`` or ``Jane Roe``."""
    family, _, initials = name.rpartition(" ")
    if family and initials.isupper() and len(initials) <= 4:
        return family, "", initials
    return initials, family, ""
