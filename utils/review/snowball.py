"""Citation searching: what papers cite (backward), and who cites them (forward).

No index has all citations, so all are asked for every paper, and their lists are united: the
reference lists of texts on the shelf, NCBI's links, Europe PMC, and with your keys OpenAlex and
Semantic Scholar. Records of one paper become one by the judge of same papers; each names who led to
it, and those that most papers lead to come first. PRISMA counts them as *citation searching*, and
PRISMA-S (item 5) wants directions and indexes named.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..download.lookup import records
from ..errors import NotConfigured, PaperError, SourceMiss
from ..lists.pasted import ids_of_record
from ..literature.fused_results import group_records
from ..model.identifiers import Ids
from ..model.paper import Author, Paper
from ..outline import outline, section_words
from ..sources import Source
from ..sources import openalex as openalex_links
from ..sources import semantic_scholar as semantic_scholar_links
from ..sources.europepmc import Kind, Linked, fetch_linked
from ..sources.eutils_links import LinkName, fetch_paper_links
from ..store import Shelf
from ..web import Web

Direction = Literal["backward", "forward"]
DIRECTIONS: tuple[Direction, ...] = ("backward", "forward")
_KINDS: dict[Direction, Kind] = {"backward": "references", "forward": "citations"}
_AT_NCBI: dict[Direction, LinkName] = {
    "backward": "pubmed_pubmed_refs",
    "forward": "pubmed_pubmed_citedin",
}
_MOST = 1_000  # of one paper's list: what Europe PMC sends at once
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
class Snowball:
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
    """

    candidates: tuple[Candidate, ...]
    known: int
    indexes: tuple[str, ...]
    notes: tuple[str, ...]


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
        candidates, again = _united(leads, [*held, *(one.paper for one in found)], number)
        met += again if number == 1 else 0
        candidates = chase.with_records(candidates)
        found += candidates
        beginning = [one.paper for one in candidates[:most]]
        if not beginning:
            break
    found.sort(key=lambda one: (-len(one.seeds), one.round))
    return Snowball(tuple(found), met, chase.indexes, chase.notes)


_Found = tuple[Paper, Lead]


def _united(
    found: Sequence[_Found], held: Sequence[Paper], number: int
) -> tuple[list[Candidate], int]:
    """Candidates, each paper once, the most led to first; how many papers were held already."""
    every = [_bare(paper) for paper in held] + [paper for paper, _ in found]
    made, met = [], 0
    for group in group_records(every).groups:
        rows = [at - len(held) for at in group if at >= len(held)]
        if group[0] < len(held):  # groups begin with their first record
            met += bool(rows)
            continue
        paper = max((found[at][0] for at in rows), key=_told)
        for at in rows:
            paper = replace(paper, ids=paper.ids | found[at][0].ids)
        leads = tuple(dict.fromkeys(found[at][1] for at in rows))
        made.append(Candidate(paper, leads, number))
    made.sort(key=lambda one: -len(one.seeds))
    return made, met


def _bare(paper: Paper) -> Paper:
    return replace(paper, abstract="", other_abstracts=(), mesh=(), keywords=())


def _told(paper: Paper) -> int:
    """How much a row says of its paper."""
    return sum(map(bool, (paper.title, paper.authors, paper.journal, paper.published, paper.ids)))


_Asks = Callable[[Paper, Direction, Web], tuple[int, list[Linked]]]


class _Chase:
    """All indexes, asked about one paper after another; what they did not answer is counted."""

    def __init__(self, shelf: Shelf, web: Web, sources: Sequence[Source]) -> None:
        self._shelf = shelf
        self._web = web
        self._sources = sources
        self._asks = _indexes(web)
        self._answered: dict[str, None] = {}
        self._silent: Counter[str] = Counter()
        self._why: dict[str, str] = {}
        self._cut: Counter[str] = Counter()

    @property
    def indexes(self) -> tuple[str, ...]:
        return tuple(self._answered)

    @property
    def notes(self) -> tuple[str, ...]:
        silent = (
            f"{name} could not be asked about {n:,} of the lists: {self._why[name]}"
            for name, n in self._silent.items()
        )
        cut = (f"{name} showed only a part of {n:,} lists." for name, n in self._cut.items())
        return (*silent, *cut)

    def of(self, seed: Paper, directions: Iterable[Direction]) -> Iterator[_Found]:
        """Whatever the indexes say that *seed* cites, or is cited by."""
        name = str(seed.ids) if seed.ids else seed.title[:100]
        for direction in directions:
            for index, ask in self._asks.items():
                for row in self._ask(index, ask, seed, direction):
                    yield _paper_of(row), Lead(name, direction, index)
            if direction == "backward":
                for ids in self._in_text(seed):
                    yield Paper(ids), Lead(name, direction, SHELF)

    def _ask(self, index: str, ask: _Asks, seed: Paper, direction: Direction) -> list[Linked]:
        try:
            total, rows = ask(seed, direction, self._web)
        except (SourceMiss, NotConfigured) as miss:
            self._silent[index] += 1
            self._why[index] = miss.message
            return []
        self._answered[index] = None
        self._cut[index] += len(rows) < total
        self._cut += Counter()  # without noughts
        return rows

    def _in_text(self, seed: Paper) -> list[Ids]:
        """The identifiers in the reference list of a text on the shelf."""
        stored = self._shelf.find(seed.ids) if seed.ids else None
        if stored is None or stored.kind != "full_text":
            return []
        text = self._shelf.read_text(stored)
        parts = outline(text, section_words(stored.sections))
        found = [
            ids
            for part in parts
            if "references" in part.roles
            for line in text[part.start : part.end].splitlines()
            if (ids := identifiers_in(line)) and not set(ids.names()) & set(seed.ids.names())
        ]
        if found:
            self._answered[SHELF] = None
        return list(dict.fromkeys(found))

    def with_records(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The candidates with what databases know of them."""
        wanted = dict.fromkeys(one.paper.ids for one in candidates if one.paper.ids)
        known = dict(records(wanted, self._shelf, self._web, self._sources))
        made = []
        for one in candidates:
            paper: Paper | PaperError | None = known.get(one.paper.ids)
            if isinstance(paper, Paper):
                one = replace(one, paper=replace(paper, ids=paper.ids | one.paper.ids))  # noqa: PLW2901
            made.append(one)
        return made


def identifiers_in(reference: str) -> Ids:
    """The DOI and PMID printed in one reference.

    >>> identifiers_in("3. Roe J. On moss. 2019. doi: 10.1000/moss.1. PMID: 7").names()
    ['doi:10.1000/moss.1', 'pmid:7']
    """
    doi, pmid = _DOI.search(reference), _PMID.search(reference)
    return ids_of_record(
        {"doi": doi[0].rstrip(".") if doi else "", "pmid": pmid[1] if pmid else ""}
    )


def _paper_of(row: Linked) -> Paper:
    """A row of a list as the paper it describes."""
    ids = ids_of_record({"pmid": row.pmid, "doi": row.doi})
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


def _indexes(web: Web) -> Mapping[str, _Asks]:
    """The indexes that can be asked here, by the names that are shown."""
    asks: dict[str, _Asks] = {"NCBI ELink": _ask_ncbi, "Europe PMC": _ask_europepmc}
    if web.settings.key("openalex_api_key"):
        asks["OpenAlex"] = _asker(openalex_links.fetch_linked)
    if web.settings.key("semantic_scholar_api_key"):
        asks["Semantic Scholar"] = _asker(semantic_scholar_links.fetch_linked)
    return asks


def _ask_ncbi(seed: Paper, direction: Direction, web: Web) -> tuple[int, list[Linked]]:
    if not seed.ids.pmid:
        return 0, []
    links, _ = fetch_paper_links(seed.ids.pmid, _AT_NCBI[direction], web)
    return len(links), [Linked(pmid=link.pmid) for link in links]


def _ask_europepmc(seed: Paper, direction: Direction, web: Web) -> tuple[int, list[Linked]]:
    if not seed.ids.pmid:
        return 0, []
    total, rows, _ = fetch_linked(seed.ids.pmid, _KINDS[direction], _MOST, web)
    return total, rows


def _asker(lists: Callable[[Ids, Kind, int, Web], tuple[int, list[Linked], str]]) -> _Asks:
    def ask(seed: Paper, direction: Direction, web: Web) -> tuple[int, list[Linked]]:
        if not (seed.ids.doi or seed.ids.pmid):
            return 0, []
        total, rows, _ = lists(seed.ids, _KINDS[direction], _MOST, web)
        return total, rows

    return ask
