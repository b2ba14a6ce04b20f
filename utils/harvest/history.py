"""What the harvests of a shelf were told before: by route, what became of each paper.

A harvest asks until it has a text, so the routes behind the first one were told nothing; one that
asks all (`Job.ask_all`) goes on.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ..errors import StoreFailed
from ..lists.pasted import Entry
from ..model.identifiers import Ids
from ..model.job import Harvested
from ..model.paper import INCONCLUSIVE, Attempt, Paper, who_answered
from ..model.versions import OTHER_VERSION
from ..store.ledger import Ledger
from ..system.safe_files import disk

log = logging.getLogger(__name__)
_Z = 1.96  # of the normal distribution, for an interval of 95 %
ENOUGH = 30
"""Papers that reached a route before a shelf's own share says more than the published one."""

Told = dict[str, list[Attempt]]
"""By route, the attempts that ended in an answer."""


def ledgers_folder(shelf: Path) -> Path:
    """Where the ledgers of a shelf lie."""
    return shelf / ".papershelf" / "jobs"


def each_ledger(shelf: Path) -> Iterator[Ledger]:
    """Every ledger of a shelf, opened one after the other; damaged ones are left out."""
    with disk(ledgers_folder(shelf), "read"):
        paths = sorted(ledgers_folder(shelf).glob("*.db"))
    for path in paths:
        try:
            ledger = Ledger(path)
        except StoreFailed as damaged:  # the others are still worth reading
            log.warning("%s", damaged)
            continue
        with closing(ledger):
            yield ledger


def told(attempts: Iterable[Attempt]) -> Told:
    """What routes answered; those that could not tell, or were not really asked, are left out."""
    asked = [one for one in attempts if one.outcome != "skipped" and not _is_needless(one)]
    answered = who_answered(asked, INCONCLUSIVE)
    routes: Told = {}
    for one in asked:
        if one.source in answered:
            routes.setdefault(one.source, []).append(one)
    return routes


def _is_needless(attempt: Attempt) -> bool:
    """Whether nobody was asked: a text that came has an address."""
    return attempt.outcome == OTHER_VERSION and not attempt.url


@dataclass(slots=True)
class Known:
    """One paper of a list: its record, if a harvest had it, and what routes told of it."""

    entry: Entry
    paper: Paper
    told: Told = field(default_factory=dict)
    harvested: bool = False

    def learn(self, row: Harvested, routes: Told) -> None:
        """Add what one harvest was told; of two answers of a route the later one stands."""
        if row.paper.recorded_by or not self.harvested:
            self.paper = row.paper
        self.harvested = True
        for via, attempts in routes.items():
            before = self.told.get(via)
            if not before or before[-1].at <= attempts[-1].at:
                self.told[via] = attempts


@dataclass(slots=True)
class Cost:
    """What a route took for papers of a list.

    *measured* is for how many papers it was counted: harvests of earlier versions did not.
    """

    asked: int = 0
    measured: int = 0
    requests: float = 0.0
    seconds: float = 0.0


class Gathered(NamedTuple):
    """The papers of a list, in its order, and by route what they cost."""

    papers: list[Known]
    costs: dict[str, Cost]


def gather(entries: Sequence[Entry], shelf: Path, *, but: str = "") -> Gathered:
    """What the ledgers of a shelf know of the papers of a list; asks nobody.

    Parameters
    ----------
    but : str
        The name of a job whose ledger is left out.
    """
    papers = [Known(entry, Paper(entry.ids)) for entry in entries]
    places = _Places(papers)
    costs: dict[str, Cost] = {}
    for ledger in each_ledger(shelf):
        if ledger.path.stem != but:
            _gather_from(ledger, places, costs)
    return Gathered(papers, costs)


def without_duplicates(papers: Sequence[Known]) -> list[Known]:
    """Each paper once: names that looked different in the list may be those of one paper."""
    names = {name for one in papers if one.harvested for name in one.paper.ids.names()}
    return [one for one in papers if one.harvested or names.isdisjoint(one.entry.ids.names())]


def _gather_from(ledger: Ledger, places: _Places, costs: dict[str, Cost]) -> None:
    asked: Counter[str] = Counter()
    listed: Counter[str] = Counter()
    for row in ledger.rows():
        routes = {one.source for one in row.attempts if not _is_needless(one)}
        asked.update(routes)
        if known := places.find(row):
            listed.update(routes)
            known.learn(row, told(row.attempts))
    taken = ledger.costs()
    for via, number in listed.items():
        cost = costs.setdefault(via, Cost())
        cost.asked += number
        if via in taken:  # of a harvest of more papers, their part
            part = number / asked[via]
            cost.measured += number
            cost.requests += taken[via][0] * part
            cost.seconds += taken[via][1] * part


class _Places:
    """Finds the papers of a list under any of their names."""

    def __init__(self, papers: Sequence[Known]) -> None:
        self._by_name: dict[str, Known] = {}
        self._by_words: dict[str, Known] = {}
        for known in papers:
            for name in known.entry.ids.names():
                self._by_name.setdefault(name, known)
            if not known.entry.ids:
                self._by_words.setdefault(known.entry.asked, known)

    def find(self, row: Harvested) -> Known | None:
        """The paper of the list that a harvest's is, if it is one."""
        for name in row.paper.ids.names():
            known = self._by_name.get(name)
            if known and not known.entry.ids.clash(row.paper.ids):
                return known
        return self._by_words.get(row.asked)


def told_elsewhere(ledger: Ledger, shelf: Path) -> dict[int, Mapping[str, Sequence[Attempt]]]:
    """By number, what routes told other harvests of the papers of this one.

    Texts of another version are answers, too, but stay in the ledger that had them.
    """
    rows = [(row.number, Entry(row.asked, row.paper.ids or Ids())) for row in ledger.rows()]
    found = gather([entry for _, entry in rows], shelf, but=ledger.path.stem).papers
    return {
        number: {
            via: [one for one in attempts if one.outcome != OTHER_VERSION]
            for via, attempts in known.told.items()
        }
        for (number, _), known in zip(rows, found, strict=True)
        if known.told
    }


class Share(NamedTuple):
    """Of the papers that reached a route, the part that ended there: at least, at most."""

    least: float
    most: float
    papers: int


def learned_shares(shelf: Path, enough: int = ENOUGH) -> dict[str, Share]:
    """The shares of the routes that at least so many papers of a shelf's harvests reached.

    As Wilson's interval of 95 % (Wilson, J Am Stat Assoc 1927;22:209). Harvests that ask all are
    left out: there, papers reach a route that had their text before.
    """
    reached: Counter[str] = Counter()
    ended: Counter[str] = Counter()
    for ledger in each_ledger(shelf):
        with suppress(StoreFailed):  # a damaged one teaches nothing
            last = Counter(() if ledger.job().ask_all else _last_words(ledger))
            for (via, outcome), number in last.items():
                reached[via] += number
                ended[via] += number * (outcome == "saved")
    return {
        via: Share(*wilson(ended[via], number), number)
        for via, number in reached.items()
        if number >= enough
    }


def _last_words(ledger: Ledger) -> Iterator[tuple[str, str]]:
    """Every route that answered about a paper, with the outcome."""
    for _, tried in ledger.tried():
        for via, attempts in told(tried).items():
            yield via, attempts[-1].outcome


def wilson(hits: int, number: int, z: float = _Z) -> tuple[float, float]:
    """The interval in which a share lies of which *hits* out of *number* were seen.

    >>> [round(end, 3) for end in wilson(8, 10)]
    [0.49, 0.943]
    """
    share = hits / number
    middle = (share + z * z / (2 * number)) / (1 + z * z / number)
    half = (
        z / (1 + z * z / number) * math.sqrt(share * (1 - share) / number + (z / number) ** 2 / 4)
    )
    return max(0.0, middle - half), min(1.0, middle + half)
