"""Citation searching: what papers cite (backward), and who cites them (forward).

No index has all citations, so all are asked for every paper, and their lists are united: the
reference lists of texts on the shelf and the indexes of `..search.citation_indexes`. Records of one
paper become one by the judge of same papers, references without identifiers are looked for as
`resolve` does, and what is not sure stays a title; each names who led to it, and those that most
papers lead to come first. PRISMA counts them as *citation searching*, and PRISMA-S (item 5) wants
directions and indexes named.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

from ..download.records import fetch_records
from ..errors import NotConfigured, PaperError, SourceMiss
from ..http import Web
from ..judges.titles import telling_words, title_words
from ..lists.pasted import Entry, collect_ids
from ..model.identifiers import Ids
from ..model.paper import PAPER_COLUMNS, Author, Paper
from ..model.tabular import Table, Tabular
from ..outline import outline, section_words
from ..search.citation_indexes import DIRECTIONS, KINDS, MOST, Direction, Index, find_indexes
from ..search.fused_results import group_records
from ..search.resolve import resolve
from ..shelf import Shelf
from ..sources import Source
from ..sources.europepmc import Kind, Linked
from ..sources.loose_json import mapping
from ..system.plain_text import one_line

_REMEMBERED_DAYS = 0.5  # shorter than the time between two updates from cron
_MOST_RESOLVED = 200  # candidates without identifiers that are looked for, the most led to first
_TELLING = 4  # words of a title that stand for a paper in a printed line
_LONGEST_LINE, _SHORTEST_LINE = 500, 30  # characters of a printed reference
SHELF = "texts on the shelf"
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\])>,;]+")
_PMID = re.compile(r"\bPMID:?\s*(\d{1,8})\b")


@dataclass(frozen=True, slots=True)
class Lead:
    """Who led to a candidate: a paper, in which direction, and the index that said so."""

    seed: str
    direction: Direction
    index: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A paper that others led to."""

    paper: Paper
    leads: tuple[Lead, ...]
    round: int = 1

    @property
    def seeds(self) -> tuple[str, ...]:
        """The papers that lead to it, each once."""
        return tuple(dict.fromkeys(lead.seed for lead in self.leads))

    @property
    def indexes(self) -> tuple[str, ...]:
        """The indexes that said so, each once."""
        return tuple(dict.fromkeys(lead.index for lead in self.leads))


@dataclass(frozen=True, slots=True)
class Snowball(Tabular):
    """What citation searching brought.

    Parameters
    ----------
    candidates : tuple of Candidate
        Those that most papers lead to first; none is among the papers known before.
    known : int
        Papers that were led to and known before.
    indexes : tuple of str
        The indexes that were asked and answered.
    notes : tuple of str
        What could not be asked, or not whole: absence there proves nothing.
    unmatched : tuple of (str, str)
        References printed in texts on the shelf that name no identifier and no paper that an index
        led to: the seed, and the reference. None of them is a candidate.
    """

    candidates: tuple[Candidate, ...]
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
        return Table.of((*PAPER_COLUMNS, "led_to_by", "indexes", "round"), rows)


def snowball(
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
        Papers that are no candidates, such as those screened already; the seeds are none either.
    rounds : int, optional
        A second round searches the citations of the first one's candidates, and so on.
    most : int, optional
        Candidates of a round that the next one begins with: those that most papers lead to.
    """
    chase = _Chase(shelf, web, sources)
    held = [*known, *seeds]
    found: list[Candidate] = []
    beginning = list(seeds)
    met = 0
    for number in range(1, rounds + 1):
        leads = [lead for seed in beginning for lead in chase.of(seed, directions)]
        known_now = [*held, *(one.paper for one in found)]
        candidates, again = _united(leads, known_now, number)
        candidates = chase.with_records(chase.resolved(candidates))
        # What databases tell of bare identifiers may show that two candidates are one.
        leads = [(one.paper, lead) for one in candidates for lead in one.leads]
        candidates, more = _united(leads, known_now, number)
        met += again + more if number == 1 else 0
        found += candidates
        beginning = [one.paper for one in candidates[:most]]
        if not beginning:
            break
    found.sort(key=lambda one: (-len(one.seeds), one.round))
    return Snowball(tuple(found), met, chase.indexes, chase.notes, chase.unmatched)


_Found = tuple[Paper, Lead]


def _united(
    found: Sequence[_Found], held: Sequence[Paper], number: int
) -> tuple[list[Candidate], int]:
    """Candidates, each paper once, the most led to first; how many papers were held already."""
    leads: dict[Paper, list[Lead]] = {}  # an index describes a paper alike to all who lead to it
    for paper, lead in found:
        leads.setdefault(paper, []).append(lead)
    told = list(leads)
    made, met = [], 0
    for group in group_records([*map(_bare, held), *told]).groups:
        rows = [told[at - len(held)] for at in group if at >= len(held)]
        if group[0] < len(held):  # groups begin with their first record
            met += bool(rows)
            continue
        paper = max(rows, key=_told)
        for row in rows:
            paper = replace(paper, ids=paper.ids | row.ids)
        led = dict.fromkeys(lead for row in rows for lead in leads[row])
        made.append(Candidate(paper, tuple(led), number))
    made = _each_once(made)
    made.sort(key=lambda one: -len(one.seeds))
    return made, met


def _each_once(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Candidates, those that share an identifier and contradict in none as one.

    What indexes print as titles may differ where their identifiers say that it is one paper.
    """
    made: dict[int, Candidate] = {}
    named: dict[str, int] = {}
    for at, one in enumerate(candidates):
        names = one.paper.ids.names()
        first = next((named[name] for name in names if name in named), at)
        before = made.get(first)
        if before is not None and not before.paper.ids.clash(one.paper.ids):
            paper = max(before.paper, one.paper, key=_told)
            paper = replace(paper, ids=before.paper.ids | one.paper.ids)
            leads = tuple(dict.fromkeys((*before.leads, *one.leads)))
            made[first] = replace(before, paper=paper, leads=leads)
        else:
            made[at] = one
            first = at
        named |= dict.fromkeys(names, first)
    return list(made.values())


def _bare(paper: Paper) -> Paper:
    return replace(paper, abstract="", other_abstracts=(), mesh=(), keywords=())


def _told(paper: Paper) -> int:
    """How much a row says of its paper."""
    return sum(map(bool, (paper.title, paper.authors, paper.journal, paper.published, paper.ids)))


class _Chase:
    """All indexes, asked about one paper after another; what they did not answer is counted."""

    def __init__(self, shelf: Shelf, web: Web, sources: Sequence[Source]) -> None:
        self._shelf = shelf
        self._web = web
        self._sources = sources
        self._indexes = find_indexes(web.settings)
        self._answered: dict[str, None] = {}
        self._silent: Counter[str] = Counter()
        self._why: dict[str, str] = {}
        self._cut: Counter[str] = Counter()
        self._more: list[str] = []
        self._unmatched: dict[tuple[str, str], None] = {}

    @property
    def indexes(self) -> tuple[str, ...]:
        return tuple(self._answered)

    @property
    def unmatched(self) -> tuple[tuple[str, str], ...]:
        return tuple(self._unmatched)

    @property
    def notes(self) -> tuple[str, ...]:
        silent = (
            f"{name} could not be asked about {n:,} of the lists: {self._why[name]}"
            for name, n in self._silent.items()
        )
        cut = (f"{name} showed only a part of {n:,} lists." for name, n in self._cut.items())
        return (*silent, *cut, *self._more)

    def of(self, seed: Paper, directions: Iterable[Direction]) -> Iterator[_Found]:
        """Whatever the indexes say that *seed* cites, or is cited by."""
        name = str(seed.ids) if seed.ids else seed.title[:100]
        for direction in directions:
            named: list[str] = []
            for index in self._indexes:
                if index.can_ask(seed.ids):
                    for row in self._ask(index, seed.ids, direction):
                        named.append(row.title)
                        yield _paper_of(row), Lead(name, direction, index.name)
            if direction == "backward":
                for ids in self._in_text(seed, name, named):
                    yield Paper(ids), Lead(name, direction, SHELF)

    def _ask(self, index: Index, ids: Ids, direction: Direction) -> list[Linked]:
        try:
            total, rows = self._list(index, ids, KINDS[direction])
        except (SourceMiss, NotConfigured) as miss:
            self._silent[index.name] += 1
            self._why[index.name] = miss.message
            return []
        self._answered[index.name] = None
        self._cut[index.name] += len(rows) < total
        self._cut += Counter()  # without noughts
        return rows

    def _list(self, index: Index, ids: Ids, kind: Kind) -> tuple[int, list[Linked]]:
        """One list, remembered for half a day: a search that was killed goes on where it was."""
        name = f"{index.name} {kind} {'|'.join(ids.names())}"
        if kept := mapping(self._web.cache.get("linked", name)):
            with suppress(LookupError, TypeError):
                return int(kept["total"]), [Linked(**row) for row in kept["rows"]]
        total, rows, _ = index.lists(ids, kind, MOST, self._web)
        kept = {"total": total, "rows": [asdict(row) for row in rows]}
        self._web.cache.put("linked", name, kept, _REMEMBERED_DAYS)
        return total, rows

    def _in_text(self, seed: Paper, name: str, titles: Iterable[str]) -> list[Ids]:
        """The identifiers in the reference list of a text on the shelf.

        A printed reference without any, and with none of the *titles* that indexes name in it, is
        listed as unmatched.
        """
        printed = self._printed(seed)
        known = [
            f" {' '.join(title_words(title))} " for title in titles if telling_words(title) > 3
        ]
        found: dict[Ids, None] = {}
        for line in printed:
            ids = identifiers_in(line)
            if ids:
                found |= {} if set(ids.names()) & set(seed.ids.names()) else {ids: None}
            elif not any(title in _spaced(line) for title in known):
                self._unmatched[name, one_line(line)[:_LONGEST_LINE]] = None
        if found:
            self._answered[SHELF] = None
        return list(found)

    def _printed(self, seed: Paper) -> list[str]:
        """The lines of the reference list of its text on the shelf."""
        stored = self._shelf.find(seed.ids) if seed.ids else None
        if stored is None or stored.kind != "full_text":
            return []
        text = self._shelf.read_text(stored)
        return [
            line
            for part in outline(text, section_words(stored.sections))
            if "references" in part.roles
            for line in text[part.start : part.end].splitlines()
            if len(line) > _SHORTEST_LINE and not line.startswith("#")
        ]

    def resolved(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The candidates, those without identifiers with the ones of which the judge is sure."""
        bare = [at for at, one in enumerate(candidates) if not one.paper.ids][:_MOST_RESOLVED]
        asked = [Entry(candidates[at].paper.title, Ids(), candidates[at].paper) for at in bare]
        made, silent = list(candidates), 0
        for at, told in zip(bare, resolve(asked, self._web, self._sources), strict=True):
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

    def with_records(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The candidates with what databases know of them."""
        wanted = dict.fromkeys(one.paper.ids for one in candidates if one.paper.ids)
        known = dict(fetch_records(wanted, self._shelf, self._web, self._sources))
        made = []
        for one in candidates:
            paper: Paper | PaperError | None = known.get(one.paper.ids)
            if isinstance(paper, Paper):
                one = replace(one, paper=replace(paper, ids=paper.ids | one.paper.ids))  # noqa: PLW2901
            made.append(one)
        return made


def _spaced(words: str) -> str:
    """Words that can be looked for in others, whole."""
    return f" {' '.join(title_words(words))} "


def identifiers_in(reference: str) -> Ids:
    """The DOI and PMID printed in one reference.

    >>> identifiers_in("3. Roe J. On moss. 2019. doi: 10.1000/moss.1. PMID: 7").names()
    ['doi:10.1000/moss.1', 'pmid:7']
    """
    doi, pmid = _DOI.search(reference), _PMID.search(reference)
    return collect_ids({"doi": doi[0].rstrip(".") if doi else "", "pmid": pmid[1] if pmid else ""})


def _paper_of(row: Linked) -> Paper:
    """A row of a list as the paper it describes."""
    ids = collect_ids({"pmid": row.pmid, "doi": row.doi})
    names = (name.strip() for name in row.authors.split(","))
    authors = tuple(Author(*_parts(name)) for name in names if name)
    title = row.title.removesuffix(".")
    return Paper(ids, title, authors=authors, journal=row.journal, published=row.year)


def _parts(name: str) -> tuple[str, str, str]:
    """Family name, given name and initials, of ``Roe JA`` or ``Jane Roe``."""
    family, _, initials = name.rpartition(" ")
    if family and initials.isupper() and len(initials) <= 4:
        return family, "", initials
    return initials, family, ""
