"""One paper, asked for several times under different names: found before anything is fetched.

A reviewer's list is put together from several databases; the same paper comes as a PMID from one,
a DOI from another, and with both from a third. Entries that share any identifier are one paper,
also through a third one. Two entries that share one identifier and contradict each other in
another are not: one of the two is wrong, nobody here knows which, so both stay and are named. A
preprint that is asked for by its own name, beside its article, is a report of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..model.identifiers import Ids
from ..model.versions import meant
from .pasted import Entry


@dataclass(frozen=True, slots=True)
class Merged:
    """A list of papers without duplicates.

    Parameters
    ----------
    papers : tuple of Entry
        In the order in which each was first asked for, by its first name, with all identifiers.
    duplicates : int
        How many entries named a paper a second time.
    contradictions : tuple of str
        Entries kept apart although they share an identifier: one sentence each.
    """

    papers: tuple[Entry, ...]
    duplicates: int
    contradictions: tuple[str, ...] = ()


def merged(entries: Iterable[Entry]) -> Merged:
    """Merge entries that share an identifier, transitively; without one, those worded the same."""
    groups = _Groups()
    for entry in entries:
        groups.take(entry)
    papers = tuple(groups.papers.values())
    return Merged(papers, groups.taken - len(papers), tuple(groups.contradictions))


class _Groups:
    """A union-find whose roots are places in the list: the first mention stands for the paper."""

    def __init__(self) -> None:
        self.papers: dict[int, Entry] = {}
        self.contradictions: list[str] = []
        self._parents: list[int] = []
        self._places: dict[str, int] = {}

    @property
    def taken(self) -> int:
        return len(self._parents)

    def take(self, entry: Entry) -> None:
        place = len(self._parents)
        self._parents.append(place)
        names = entry.ids.names() or [f"asked:{' '.join(entry.asked.lower().split())}"]
        if meant(Ids.maybe(entry.asked) or entry.ids) == "preprint":
            names = [f"preprint {name}" for name in names]
        known = {self._root(self._places[name]): name for name in names if name in self._places}
        self.papers[place] = entry
        # The first mention takes in the others, so that papers stay in the order of the list.
        for root, name in sorted(known.items()):
            place = self._unite(root, place, name)
        for name in names:
            self._places.setdefault(name, place)

    def _root(self, place: int) -> int:
        while self._parents[place] != place:
            self._parents[place] = self._parents[self._parents[place]]
            place = self._parents[place]
        return place

    def _unite(self, one: int, other: int, name: str) -> int:
        first, second = sorted((one, other))
        ours, theirs = self.papers[first], self.papers[second]
        if clash := ours.ids.clash(theirs.ids):
            said = f"{ours.asked} and {theirs.asked} share {name}, but contradict each other"
            self.contradictions.append(f"{said}: {clash}. They are kept apart.")
            return other
        self._parents[second] = first
        self.papers[first] = Entry(ours.asked, ours.ids | theirs.ids)
        del self.papers[second]
        return first
