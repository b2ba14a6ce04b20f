"""What each route brought of a list: first, alone, at what cost; with and without keys.

A paper is credited to the first route, in the order of the ladder, that had a text of it, whatever
version that is. Which route alone could have brought it is known only of papers for which every
route that is open answered.

``yield.csv``, ``yield_groups.csv`` and ``yields_papers.csv``: the same as rows.
"""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ..model.identifiers import Ids
from ..system.plain_text import cell
from ..system.safe_files import replacing
from .labels import route_label
from .publishers import publisher_of

ROUTES, GROUPS, PAPERS = "yield.csv", "yield_groups.csv", "yields_papers.csv"
PAPER_COLUMNS = (
    *("asked", "pmid", "pmcid", "doi", "arxiv", "year", "publisher", "first", "had_by"),
    *("answered", "asked_everywhere"),
)
_NEARLY = 0.9  # of the papers with a text
WITH_TEXT = ("saved", "other_version")
"""Outcomes of attempts that brought a text: of the version asked for, or of another one."""


class LadderRoute(NamedTuple):
    """A route of the ladder: its name, the setting of the key it needs, whether that is set."""

    via: str
    key: str = ""
    has_key: bool = True


@dataclass(frozen=True, slots=True)
class PaperYield:
    """What is known of one paper.

    Parameters
    ----------
    order : tuple of str
        The routes open to it, first to last.
    had : Mapping of str to str
        The routes that had a text, each with one of `WITH_TEXT`.
    answered : frozenset of str
        The routes that answered, with a text or without.
    known : bool
        Whether the shelf was ever asked for it.
    """

    asked: str
    ids: Ids
    year: str = ""
    order: tuple[str, ...] = ()
    had: Mapping[str, str] = field(default_factory=dict)
    answered: frozenset[str] = frozenset()
    known: bool = True

    @property
    def complete(self) -> bool:
        """Whether every route that is open to it answered."""
        return self.known and self.answered.issuperset(self.order)

    def first(self, without: Iterable[str] = ()) -> str:
        """The route that brings it, where those *without* are not asked; empty for none."""
        ranked = [*self.order, *sorted(self.had.keys() - set(self.order))]
        return next((via for via in ranked if via in self.had and via not in without), "")


@dataclass(frozen=True, slots=True)
class RouteYield:
    """One route of the ladder, or ``manual``: what came by hand.

    Parameters
    ----------
    has_key : bool
        False where the route needs a key that is not set: nobody is asked.
    asked, had, first, better : int
        Papers it answered about, of which it had a text, to which it was the first; of which
        an earlier route had another version only.
    only : int or None
        Papers for which all routes answered, and no other had a text; None where that is known of
        too few (see `YieldFigures.all_asked`).
    cumulative, without_keys : int
        Papers with a text after this route and those before it; the same without keyed routes.
    measured : int
        For how many papers requests and seconds were counted.
    """

    via: str
    label: str
    key: str
    has_key: bool
    asked: int
    had: int
    first: int
    only: int | None
    better: int
    cumulative: int
    without_keys: int
    measured: int
    requests: float
    seconds: float


@dataclass(frozen=True, slots=True)
class GroupYield:
    """Papers of one year, or of one publisher: how many, with text, and by whom first."""

    by: str
    name: str
    papers: int
    full_text: int
    first: Mapping[str, int]


@dataclass(slots=True)
class YieldFigures:
    """The counts of a list, paper by paper.

    *costs* are (measured papers, requests, seconds) by route.
    """

    ladder: tuple[LadderRoute, ...]
    costs: Mapping[str, tuple[int, float, float]] = field(default_factory=dict)
    papers: list[PaperYield] = field(default_factory=list)

    @property
    def total(self) -> int:
        """Papers of the list."""
        return len(self.papers)

    @property
    def known(self) -> int:
        """Papers that a harvest of this shelf asked for."""
        return sum(paper.known for paper in self.papers)

    @property
    def with_text(self) -> int:
        """Papers of which some route had a text."""
        return sum(bool(paper.had) for paper in self.papers)

    @property
    def complete(self) -> int:
        """Papers for which every route that is open to them answered."""
        return sum(paper.complete for paper in self.papers)

    @property
    def all_asked(self) -> bool:
        """Whether it is known of nearly every text who else has it.

        Nearly: of thousands of papers, there is always a host that did not answer.
        """
        of_texts = [paper.complete for paper in self.papers if paper.had]
        return sum(of_texts) >= _NEARLY * len(of_texts) > 0

    def routes(self) -> tuple[RouteYield, ...]:
        """Every route, in the order of the ladder; what came by other ways last."""
        keyed = {route.via for route in self.ladder if route.key}
        counts = _count(self.papers, keyed)
        inside = {route.via for route in self.ladder}
        outside = [LadderRoute(via) for via in sorted(counts.had.keys() - inside)]
        rows, so_far, bare = [], 0, 0
        for via, key, has_key in (*self.ladder, *outside):
            so_far += counts.first[via]
            bare += counts.bare[via]
            measured, requests, seconds = self.costs.get(via, (0, 0.0, 0.0))
            rows.append(
                RouteYield(
                    *(via, route_label(via), key, has_key),
                    asked=counts.asked[via],
                    had=counts.had[via],
                    first=counts.first[via],
                    only=counts.only[via] if self.all_asked else None,
                    better=counts.better[via],
                    cumulative=so_far,
                    without_keys=bare,
                    measured=measured,
                    requests=round(requests, 1),
                    seconds=round(seconds, 1),
                )
            )
        return tuple(rows)

    def lost_without(self) -> dict[str, int]:
        """By key that a route needs, how many texts would be missing without it, at the most.

        Where not every route was asked, others may have them, too. With two keys or more, the
        entry ``all of them`` says it of all.
        """
        by_key: dict[str, set[str]] = defaultdict(set)
        for route in self.ladder:
            if route.key and route.has_key:
                by_key[route.key].add(route.via)
        if len(by_key) > 1:
            by_key["all of them"] = set().union(*by_key.values())
        return {
            key: sum(bool(one.had) and one.had.keys() <= vias for one in self.papers)
            for key, vias in by_key.items()
        }

    def groups(self) -> tuple[GroupYield, ...]:
        """By year, the latest first, then by publisher, the largest first."""
        years, publishers = _Groups(), _Groups()
        for paper in self.papers:
            years.add(paper.year or "unknown", paper)
            publishers.add(publisher_of(paper.ids.doi), paper)
        by_year = sorted(years.rows("year"), key=lambda one: (one.name.isdigit(), one.name))
        return (
            *reversed(by_year),
            *sorted(publishers.rows("publisher"), key=lambda one: (-one.papers, one.name)),
        )

    def row(self) -> dict[str, Any]:
        """All of it but the papers, for JSON."""
        return {
            "papers": self.total,
            "known": self.known,
            "with_text": self.with_text,
            "asked_everywhere": self.complete,
            "routes": [asdict(route) for route in self.routes()],
            "lost_without": self.lost_without(),
            "groups": [asdict(group) | {"first": dict(group.first)} for group in self.groups()],
        }

    def write(self, folder: Path) -> None:
        """Write the three tables."""
        routes = self.routes()
        vias = [route.via for route in routes]
        columns = RouteYield.__slots__
        _write_table(folder / ROUTES, columns, map(_route_cells, routes))
        heads = ("by", "group", "papers", "full_text", *vias)
        groups = (_group_cells(group, vias) for group in self.groups())
        _write_table(folder / GROUPS, heads, groups)
        _write_table(folder / PAPERS, PAPER_COLUMNS, map(_paper_cells, self.papers))


def _route_cells(one: RouteYield) -> list[object]:
    values = (getattr(one, name) for name in RouteYield.__slots__)
    return ["" if value is None else value for value in values]


def _group_cells(one: GroupYield, vias: Iterable[str]) -> list[object]:
    first = (one.first.get(via, 0) for via in vias)
    return [one.by, cell(one.name), one.papers, one.full_text, *first]


def _paper_cells(one: PaperYield) -> list[object]:
    ids = one.ids
    arxiv = f"arXiv:{ids.arxiv}" if ids.arxiv else ""  # 2511.0410 is no number
    texts = (one.asked, ids.pmid, ids.pmcid, ids.doi, arxiv, one.year, publisher_of(ids.doi))
    routes = (one.first(), " ".join(sorted(one.had)), " ".join(sorted(one.answered)))
    return [*map(cell, texts), *routes, one.complete]


@dataclass(slots=True)
class _Counts:
    asked: Counter[str] = field(default_factory=Counter)
    had: Counter[str] = field(default_factory=Counter)
    first: Counter[str] = field(default_factory=Counter)
    only: Counter[str] = field(default_factory=Counter)
    better: Counter[str] = field(default_factory=Counter)
    bare: Counter[str] = field(default_factory=Counter)


def _count(papers: Iterable[PaperYield], keyed: set[str]) -> _Counts:
    counts = _Counts()
    for paper in papers:
        counts.asked.update(paper.answered)
        counts.had.update(paper.had.keys())
        if not paper.had:
            continue
        first = paper.first()
        counts.first[first] += 1
        if len(paper.had) == 1 and paper.complete:
            counts.only.update(paper.had.keys())
        if bare := paper.first(without=keyed):
            counts.bare[bare] += 1
        meant = [via for via, outcome in paper.had.items() if outcome == "saved"]
        if meant and first not in meant:
            counts.better[paper.first(without=paper.had.keys() - set(meant))] += 1
    return counts


class _Groups:
    def __init__(self) -> None:
        self._papers: Counter[str] = Counter()
        self._first: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, name: str, paper: PaperYield) -> None:
        self._papers[name] += 1
        if first := paper.first():
            self._first[name][first] += 1

    def rows(self, by: str) -> list[GroupYield]:
        return [
            GroupYield(by, name, number, self._first[name].total(), self._first[name])
            for name, number in self._papers.items()
        ]


def _write_table(path: Path, heads: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    with replacing(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(heads)
        writer.writerows(rows)
