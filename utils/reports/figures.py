"""Count the numbers of a harvest's report in one pass over its papers.

Memory grows only by one number per paper (the time it ended) and by the names of journals: a
hundred thousand papers take about ten megabytes.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime

from ..model.job import Harvested, PaperState
from ..system.plain_text import one_line

MAX_ROWS_SHOWN = 200
"""Maximum number of papers in a table of the page; the rest are in the CSV files."""

STATES: tuple[PaperState, ...] = ("full_text", "abstract", "record", "failed", "pending")
# The detail that a harvest records for a source that was skipped.
_SKIPPED_DETAIL = "the site was out, and was passed over"
_NAME_MAX_CHARS = 160  # characters of a journal's name, a license or an outcome that are kept

Split = Counter[str]
"""The number of papers of a group in each `State`."""


@dataclass(slots=True)
class FirstPapers:
    """The first papers of a kind, and the number of all papers of that kind."""

    total: int = 0
    rows: list[Harvested] = field(default_factory=list)

    def add_paper(self, row: Harvested) -> None:
        """Count a paper, and keep its row if there is room."""
        self.total += 1
        if len(self.rows) < MAX_ROWS_SHOWN:
            self.rows.append(row)


@dataclass(slots=True)
class HarvestFigures:
    """The numbers in a harvest's page and diagram.

    Parameters
    ----------
    states : Split
        Papers by state.
    years, journals, reasons : dict of str to Split
        Papers by state for each publication year (empty: unknown), journal and reason.
    via, licenses, versions : Counter
        Full texts by route, by license and by version of the paper.
    by_hand : FirstRows
        Full texts that a person accepted against the judges' verdict.
    doubtful : FirstRows
        Full texts that the judges kept with doubts.
    routes : dict of str to Counter
        The outcomes of each route of the ladder for the papers it was tried for.
    times : dict of PaperState to array
        The times at which papers ended, in seconds since 1970, unsorted.
    """

    states: Split = field(default_factory=Counter)
    years: dict[str, Split] = field(default_factory=lambda: defaultdict(Counter))
    journals: dict[str, Split] = field(default_factory=lambda: defaultdict(Counter))
    reasons: dict[str, Split] = field(default_factory=lambda: defaultdict(Counter))
    via: Counter[str] = field(default_factory=Counter)
    licenses: Counter[str] = field(default_factory=Counter)
    versions: Counter[str] = field(default_factory=Counter)
    routes: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    times: dict[str, array[float]] = field(default_factory=lambda: defaultdict(lambda: array("d")))
    papers: FirstPapers = field(default_factory=FirstPapers)
    missing: FirstPapers = field(default_factory=FirstPapers)
    retracted: FirstPapers = field(default_factory=FirstPapers)
    concerns: FirstPapers = field(default_factory=FirstPapers)
    by_hand: FirstPapers = field(default_factory=FirstPapers)
    doubtful: FirstPapers = field(default_factory=FirstPapers)

    @property
    def total(self) -> int:
        """The number of papers, whatever their outcome."""
        return self.states.total()

    @property
    def ended(self) -> int:
        """The number of papers whose outcome is known."""
        return self.total - self.states["pending"]

    def add_paper(self, row: Harvested) -> None:
        """Count one paper."""
        paper, state = row.paper, row.state
        self.states[state] += 1
        self.years[paper.year if _is_year(paper.year) else ""][state] += 1
        journal = one_line(paper.journal or paper.journal_abbreviation)[:_NAME_MAX_CHARS]
        self.journals[journal][state] += 1
        self.papers.add_paper(row)
        if state == "full_text":
            self.via[row.via[:_NAME_MAX_CHARS]] += 1
            self.licenses[one_line(row.license)[:_NAME_MAX_CHARS]] += 1
            self.versions[row.version] += 1
            if row.reason == "by_hand":
                self.by_hand.add_paper(row)
            elif row.reason == "doubtful":
                self.doubtful.add_paper(row)
        elif state != "pending":
            self.reasons[row.reason[:_NAME_MAX_CHARS]][state] += 1
            self.missing.add_paper(row)
        for source, outcome in _list_tried_routes(row).items():
            self.routes[source[:_NAME_MAX_CHARS]][outcome[:_NAME_MAX_CHARS]] += 1
        self._count_notices(row)
        if state != "pending" and (at := _to_timestamp(row.ended_at)):
            self.times[state].append(at)

    def _count_notices(self, row: Harvested) -> None:
        if row.paper.retracted:
            self.retracted.add_paper(row)
        elif any(notice.kind == "expression_of_concern" for notice in row.paper.notices):
            self.concerns.add_paper(row)


def _list_tried_routes(row: Harvested) -> dict[str, str]:
    """Return the routes that were tried for a paper, each with its last outcome."""
    return {
        attempt.source: attempt.outcome
        for attempt in row.attempts
        if attempt.outcome != "skipped" and attempt.detail != _SKIPPED_DETAIL
    }


def _is_year(text: str) -> bool:
    return len(text) == 4 and text.isascii() and text.isdigit()


def _to_timestamp(moment: str) -> float:
    try:
        return datetime.fromisoformat(moment).timestamp()
    except (ValueError, OverflowError):
        return 0.0
