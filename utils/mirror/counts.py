"""Where a mirror and PubMed differ, PMID by PMID, in as few questions as that takes.

Both are counted by the day a record came into PubMed (EDAT); a stretch of days is halved as long as
its counts differ, one question a half, and of the days that are left PubMed lists the PMIDs. Days
with as many records here as there are taken for equal.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import accumulate
from typing import TYPE_CHECKING

from ..errors import SourceMiss
from ..sources.eutils import count, esearch
from ..sources.pubmed import LAST_HIT
from .reading import open_sql

if TYPE_CHECKING:
    from ..http import Web
    from .generations import Generations

MOST = 200
"""Questions to PubMed, at the most: about a minute without a key."""
_FIRST, _LAST = date(1900, 1, 1), date(2100, 12, 31)
_DAY = timedelta(days=1)
_NAMES = 100  # PMIDs in one question


@dataclass(slots=True)
class Differences:
    """What a mirror and PubMed do not have in common.

    ``here`` and ``at_pubmed`` are how many papers each has; ``only_here`` and ``only_at_pubmed``
    PMIDs; ``untold`` says of which days the difference could not be told PMID by PMID, and why.
    """

    here: int
    at_pubmed: int
    only_here: list[int] = field(default_factory=list)
    only_at_pubmed: list[int] = field(default_factory=list)
    untold: list[str] = field(default_factory=list)
    requests: int = 0

    @property
    def difference(self) -> int:
        """How many more papers PubMed has."""
        return self.at_pubmed - self.here


def differences(generations: Generations, web: Web, most: int = MOST) -> Differences:
    """Compare the published generation with PubMed as it is now.

    Raises
    ------
    EmptyStore
        There is no generation yet.
    Unreachable
        PubMed did not say how many papers it has.
    """
    papers = generations.require_current().papers
    found = Differences(papers, count("pubmed", "all[filter]", web), requests=1)
    if found.difference:
        _Comparison(generations, web, found, most).run()
    return found


class _Comparison:
    """One comparison, day by day."""

    def __init__(self, generations: Generations, web: Web, found: Differences, most: int) -> None:
        self._db = open_sql(generations)
        self._web, self._found, self._left = web, found, most
        rows = self._db.sql("SELECT entered, count(*) FROM records GROUP BY 1").fetchall()
        undated = "SELECT pmid FROM records WHERE coalesce(entered, '') = '' ORDER BY pmid"
        self._undated: list[int] = [row[0] for row in self._db.sql(undated).fetchall()]
        counts = sorted((day, number) for day, number in rows if day)
        self._days: list[str] = [day for day, _ in counts]
        self._sums: list[int] = [0, *accumulate(number for _, number in counts)]

    def run(self) -> None:
        with closing(self._db):
            try:
                there = self._there(_FIRST, _LAST)
                self._narrow(_FIRST, _LAST, there)
                self._list_undated()
            except (SourceMiss, _Enough) as error:
                self._found.untold.append(str(error))
        self._found.only_here.sort()
        self._found.only_at_pubmed.sort()

    def _narrow(self, first: date, last: date, there: int) -> None:
        """Go to the days that differ, the newest first: there most is to be found."""
        if there == self._here(first, last):
            return
        if first == last:
            self._list(first, there)
            return
        middle = first + (last - first) // 2
        newer = self._there(middle + _DAY, last)
        self._narrow(middle + _DAY, last, newer)
        self._narrow(first, middle, there - newer)

    def _list(self, day: date, there: int) -> None:
        if there > LAST_HIT:
            more = f"{there - self._here(day, day):+,}"
            self._found.untold.append(f"{day}: {more} papers; PubMed lists {LAST_HIT:,} at most.")
            return
        self._ask()
        told = esearch("pubmed", {"term": _term(day, day), "retmax": LAST_HIT}, self._web)
        theirs = {int(uid) for uid in told.uids if uid.isdecimal()}
        query = "SELECT pmid FROM records WHERE entered = ?"
        ours = {row[0] for row in self._db.sql(query, params=[day.isoformat()]).fetchall()}
        self._found.only_here += ours - theirs
        self._found.only_at_pubmed += theirs - ours

    def _list_undated(self) -> None:
        """Records here without a day are asked for by name."""
        for at in range(0, len(self._undated), _NAMES):
            some = set(self._undated[at : at + _NAMES])
            self._ask()
            term = " OR ".join(f"{pmid}[uid]" for pmid in sorted(some))
            told = esearch("pubmed", {"term": term, "retmax": LAST_HIT}, self._web)
            theirs = {int(uid) for uid in told.uids if uid.isdecimal()}
            self._found.only_here += some - theirs
            self._found.only_at_pubmed = [
                pmid for pmid in self._found.only_at_pubmed if pmid not in some
            ]

    def _here(self, first: date, last: date) -> int:
        begin = bisect_left(self._days, first.isoformat())
        return self._sums[bisect_right(self._days, last.isoformat())] - self._sums[begin]

    def _there(self, first: date, last: date) -> int:
        self._ask()
        return count("pubmed", _term(first, last), self._web)

    def _ask(self) -> None:
        if self._left <= 0:
            raise _Enough("The rest was not compared: so many questions are enough for PubMed.")
        self._left -= 1
        self._found.requests += 1


class _Enough(Exception):
    pass


def _term(first: date, last: date) -> str:
    return f'"{first:%Y/%m/%d}"[edat] : "{last:%Y/%m/%d}"[edat]'


def lines_of(found: Differences, shown: int = 20) -> Iterator[str]:
    """The differences in words."""
    for what, pmids in (
        ("here only (PubMed deleted them, or moved their day)", found.only_here),
        ("at PubMed only (newer than the mirror's files)", found.only_at_pubmed),
    ):
        if pmids:
            more = f" and {len(pmids) - shown:,} more" if len(pmids) > shown else ""
            yield f"{len(pmids):,} {what}: {', '.join(map(str, pmids[:shown]))}{more}"
    yield from (f"could not tell: {one}" for one in found.untold)
