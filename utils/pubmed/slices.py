"""Every hit of a PubMed search, also beyond the 9,999 that PubMed hands out.

A longer search is cut into stretches of the Entrez date until each fits. Not of the publication
date: records that carry only a year count as the first of January, and such days hold hundreds of
thousands. A day that does not fit is cut by yes-or-no questions, which part any set exactly. The
counts are reconciled all the way: what a half does not hold, its sibling must; the whole range must
hold what the search found. (Facts sheet 1.3, measured August 2026.)
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta

from ..errors import Unreachable
from ..sources import Query
from ..sources.pubmed import LAST_HIT, Hits, count_hits, fetch_first_hits
from ..web import Web

_BEGINNING, _END = date(1900, 1, 1), date(2100, 12, 31)
_DAY = timedelta(days=1)
# PubMed grows by about 4.5 % a year: a guess at where the hits lie that saves requests, no more.
_GROWTH = 0.045 / 365.25
# Slices meant to be this full still fit when the guess is a tenth off.
_FULL = 0.9 * LAST_HIT
_QUESTIONS = ("hasabstract", "english[la]", "humans[mh]", '"journal article"[pt]', "medline[sb]")


@dataclass(frozen=True, slots=True)
class Sweep:
    """Every hit of a search, in pages of at most 9,999 PMIDs.

    Parameters
    ----------
    total : int
        What PubMed counted for the whole search.
    effective_query : str
        What PubMed understood.
    warnings : list of str
        Grows while ``pages`` are read: figures that do not agree.
    pages : iterator of tuple of str
        No PMID comes twice. Raises `Unreachable` in the middle when PubMed does not answer, or
        contradicts itself: then nothing is known about the rest. Another call starts anew.
    """

    total: int
    effective_query: str
    warnings: list[str]
    pages: Iterator[tuple[str, ...]]


def sweep(query: Query, web: Web) -> Sweep:
    """Find every hit of *query*; its ``start``, ``max_results`` and order are ignored.

    Raises
    ------
    Unreachable
        PubMed did not answer the search at all.
    """
    whole = fetch_first_hits(query, web)
    warnings = list(whole.warnings)
    if whole.total <= LAST_HIT:
        pages = iter([whole.pmids] if whole.pmids else [])
    else:
        pages = _Slicer(query, web, whole.total, warnings).pages()
    return Sweep(whole.total, whole.effective_query, warnings, pages)


@dataclass(frozen=True, slots=True)
class _Slice:
    """A stretch of Entrez dates, and answers to yes-or-no questions."""

    first: date = _BEGINNING
    last: date = _END
    answers: tuple[str, ...] = ()

    def __str__(self) -> str:
        days = f'"{self.first:%Y/%m/%d}"[edat] : "{self.last:%Y/%m/%d}"[edat]'
        return " ".join([f"AND ({days})", *self.answers])

    def parts(self, share: float) -> tuple[_Slice, _Slice] | None:
        """Two slices that hold what this one holds; None when it cannot be cut any more.

        The earlier one is meant to hold *share* of the hits.
        """
        if self.first < self.last:
            cut = _cut(self.first, self.last, share)
            return replace(self, last=cut), replace(self, first=cut + _DAY)
        if len(self.answers) == len(_QUESTIONS):
            return None
        question = _QUESTIONS[len(self.answers)]
        yes, no = (*self.answers, f"AND {question}"), (*self.answers, f"NOT {question}")
        return replace(self, answers=yes), replace(self, answers=no)

    @property
    def weight(self) -> float:
        """How many hits lie here, by the guess, in units of its own."""
        days = (_sensible(self.first, self.last) - self.first).days + 1
        return math.exp(_GROWTH * (self.first - _BEGINNING).days) * math.expm1(_GROWTH * days)


def _sensible(first: date, last: date) -> date:
    """*last*, but not the future, where no hits are (nor in the past of a clock gone wrong)."""
    tomorrow = datetime.fromtimestamp(time.time(), UTC).date() + _DAY
    return min(last, tomorrow) if first < tomorrow else last


def _cut(first: date, last: date, share: float) -> date:
    """The last day of an earlier part that holds *share* of the weight."""
    days = (_sensible(first, last) - first).days
    reach = math.log1p(share * math.expm1(_GROWTH * days)) / _GROWTH
    return first + max(0, min(int(reach), days - 1)) * _DAY


@dataclass(slots=True)
class _Slicer:
    query: Query
    web: Web
    total: int
    warnings: list[str]
    seen: set[int] = field(default_factory=set)
    density: float = 0.0

    def pages(self) -> Iterator[tuple[str, ...]]:
        whole = _Slice()
        count = self._count_whole(whole)
        waiting = [(whole, count)]
        self.density = count / whole.weight
        while waiting:
            part, expected = waiting.pop()
            parts = part.parts(self._share(part)) if expected > LAST_HIT else None
            chosen = parts[0] if parts else part
            hits = fetch_first_hits(self.query, self.web, str(chosen))
            _require_agreement(expected, hits.total, part, whole=parts is None)
            # Neighbouring dates are alike; where there was nothing, the next step is longer.
            self.density = hits.total / chosen.weight or self.density / 4
            if parts and hits.total < expected:
                waiting.append((parts[1], expected - hits.total))
            if hits.total > LAST_HIT and chosen.parts(0.5):
                waiting.append((chosen, hits.total))
            elif new := self._take_new(hits, chosen):
                yield new
        if len(self.seen) != count:
            warning = f"PubMed counted {count:,} hits, and its slices by Entrez date held"
            self.warnings.append(f"{warning} {len(self.seen):,}.")

    def _share(self, part: _Slice) -> float:
        """What of *part* makes one full slice; never more than half, so that any search ends."""
        return min(0.5, _FULL / (self.density * part.weight))

    def _count_whole(self, whole: _Slice) -> int:
        count = count_hits(self.query, self.web, str(whole))
        if not count:
            _require_agreement(self.total, count, whole, whole=True)
        if count != self.total:
            warning = f"PubMed counts {self.total:,} hits, {count:,} of them by Entrez date"
            self.warnings.append(f"{warning}: {abs(self.total - count):,} may be missing.")
        return count

    def _take_new(self, hits: Hits, part: _Slice) -> tuple[str, ...]:
        if (lost := hits.total - len(hits.pmids)) > 0:
            warning = f"{hits.total:,} hits share the Entrez date {part.first:%Y/%m/%d}"
            self.warnings.append(f"{warning}; PubMed does not hand out {lost:,} of them.")
        new = tuple(pmid for pmid in hits.pmids if int(pmid) not in self.seen)
        self.seen.update(map(int, new))
        return new


def _require_agreement(expected: int, counted: int, part: _Slice, *, whole: bool) -> None:
    """A part may hold fewer than *expected*, the *whole* may not, and neither may hold more.

    Small differences are records that came in meanwhile; others mean that we cannot tell.
    """
    slack = max(10, expected // 100)
    least = expected - slack if whole else 0
    if least <= counted <= expected + slack:
        return
    days = f"{part.first:%Y/%m/%d} to {part.last:%Y/%m/%d}"
    msg = f"PubMed contradicts itself: {expected:,} and {counted:,} hits for Entrez dates {days}."
    raise Unreachable(msg, "Run the search again in a few minutes.")
