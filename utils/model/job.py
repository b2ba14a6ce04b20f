"""The nouns of a harvest: the job, and the outcome of every paper it was asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from ..system.plain_text import one_line
from .paper import Attempt, Paper
from .tabular import Table, Tabular
from .verdicts import MEANINGS

Which = Literal["all", "retrieved", "not_retrieved"]
Standing = Literal["running", "interrupted", "cancelled", "done"]
State = Literal["pending", "full_text", "abstract", "record", "failed"]
# What a reviewer must know first, when several rungs failed for different reasons: a mistake of
# ours says nothing about the paper; where a site was out nobody can tell yet; a text that is there
# but closed to us can be had by hand; one that nobody offers perhaps not at all.
_BY_INFORMATION = ("failed", "unreachable", *MEANINGS, "not_offered")


def most_informative(attempts: Iterable[Attempt]) -> Attempt | None:
    """The attempt without a text that says most about where the text could be had.

    >>> tried = [Attempt("pmc_cloud", "not_offered"), Attempt("publisher", "paywall")]
    >>> most_informative(tried).outcome
    'paywall'
    """
    named = [attempt for attempt in attempts if attempt.outcome in _BY_INFORMATION]
    return min(named, key=lambda attempt: _BY_INFORMATION.index(attempt.outcome), default=None)


@dataclass(frozen=True, slots=True)
class Harvested:
    """One paper of a job, and its whole story.

    Parameters
    ----------
    number : int
        Its place in the list, from 1.
    asked : str
        What the user gave: an identifier, or the citation of a record without one.
    state : State
        ``pending`` until it ends, once, as one of the others (``record`` is a citation only).
    paper : Paper
        What is known about it; at the least its identifiers.
    file : str
        Its file on the shelf, a bare name; empty for ``failed``.
    source, via, license, version : str
        Of its text, as in `StoredPaper`.
    sha256 : str
        Of the text itself, without the header of the file: the same on every shelf.
    reason : str
        Why there is no full text, in one word: the outcome of an `Attempt`, or ``not_found``,
        ``could_not_tell``, ``no_identifier``, ``bad_request``. Empty for ``full_text``, but for
        ``by_hand`` where somebody accepted it, ``doubtful`` where the judges have doubts; then
        ``detail`` is the reason given.
    detail : str
        The same in a sentence.
    ended_at : str
        When it ended (ISO 8601, UTC).
    identity : str
        Of a record that came without identifier: which paper was found to be meant, how sure that
        is (0 to 1), and why.
    """

    number: int
    asked: str
    state: State
    paper: Paper
    file: str = ""
    source: str = ""
    via: str = ""
    license: str = ""
    version: str = ""
    sha256: str = ""
    reason: str = ""
    detail: str = ""
    attempts: tuple[Attempt, ...] = ()
    ended_at: str = ""
    identity: str = ""

    def row(self) -> dict[str, Any]:
        """Return the paper and its outcome as one row of a table."""
        own = {name: getattr(self, name) for name in _OWN_COLUMNS}
        return self.paper.short_row() | {"retracted": self.paper.retracted} | own


_OWN_COLUMNS = (
    *("number", "state", "reason", "detail", "via", "license", "version", "file", "asked"),
    *("ended_at", "identity"),
)
HARVESTED_COLUMNS = (
    *("number", "title", "first_author", "year", "journal", "retracted"),
    *_OWN_COLUMNS[1:],
    *("pmid", "doi", "pmcid"),
)
"""The columns of `Harvested.row` that tables have."""


@dataclass(frozen=True, slots=True)
class Counts:
    """The progress of a job. ``requested`` counts papers, after duplicates were merged.

    ``preprint`` and ``accepted`` are the full texts among them that are not the published version.
    """

    requested: int = 0
    full_text: int = 0
    abstract: int = 0
    failed: int = 0
    pending: int = 0
    record: int = 0
    preprint: int = 0
    accepted: int = 0


@dataclass(frozen=True, slots=True)
class Coverage(Tabular):
    """The origin of a job's texts, and why other papers have none.

    Parameters
    ----------
    sources : dict of str to int
        By route, how many full texts came that way; the most fruitful first.
    reasons : dict of str to int
        By `Harvested.reason`, how many papers ended without a full text; the commonest first.
    """

    sources: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)

    def to_table(self) -> Table:
        """Return a row for each route of full texts, and for each reason why there is none."""
        found = (("full text", via, papers) for via, papers in self.sources.items())
        missing = (("no full text", reason, papers) for reason, papers in self.reasons.items())
        return Table(("outcome", "route_or_reason", "papers"), [*found, *missing])


@dataclass(frozen=True, slots=True)
class Wait:
    """Papers of a running harvest that wait for one site: it is out, or all that remains is there.

    Parameters
    ----------
    site : str
        For people: where it is asked.
    papers : int
        How many wait for it.
    until : str
        When a site that is out is asked again; of any other, about when it is through.
    since, said : str
        Since when a site is out, and what it answered last; empty for one that is only slow.
    """

    site: str
    papers: int
    until: str
    since: str = ""
    said: str = ""

    def __str__(self) -> str:
        """In a sentence, with the hours of the clock on the wall."""
        papers = f"{self.papers:,} paper{'s' * (self.papers != 1)}"
        wait = "waits" if self.papers == 1 else "wait"
        if not self.since:
            return f"{papers} still {wait} for {self.site} until about {_hour(self.until)}"
        head = f"{self.site} has been out since {_hour(self.since)}, is asked again at"
        said = f" ({one_line(self.said)[:120].rstrip('. ')})" if self.said else ""
        return f"{head} {_hour(self.until)}, and {papers} {wait} for it{said}"


def _hour(at: str) -> str:
    return datetime.fromisoformat(at).astimezone().strftime("%H:%M")


@dataclass(frozen=True, slots=True)
class Search:
    """One search, or one list, that a job was made from.

    Parameters
    ----------
    source : str
        The site that was searched, as in `..model.sites`; empty for a list.
    name : str
        That of the site for people, or of the list.
    query, effective_query : str
        What was sent, and what the site understood, where it says so.
    hits, taken : int
        What the site counted, and how many records it handed out.
    searched_at : str
        ISO 8601, UTC.
    """

    source: str
    name: str
    query: str = ""
    effective_query: str = ""
    hits: int = 0
    taken: int = 0
    searched_at: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """A harvest, from the question to the counts.

    Parameters
    ----------
    job_id : str
        Made from what was asked, so that the same command finds the same job.
    title : str
        For people: the query, or where the identifiers came from.
    query, effective_query : str
        What was asked and what the sites understood, a line for each search; empty for lists.
    hits : int
        Records found by the queries, or identifiers given, before duplicates were merged.
    duplicates : int
        How many of those named a paper a second time.
    begun_at, ended_at : str
        ISO 8601, UTC; ``ended_at`` is empty until no paper is pending.
    waits : tuple of Wait
        What papers wait for, as the process that works on the job said last.
    searches : tuple of Search
        What it was made from; empty for jobs of older versions.
    cancelled_at : str
        When somebody had it stopped (ISO 8601, UTC); empty since it was taken up again.
    """

    job_id: str
    title: str
    query: str = ""
    effective_query: str = ""
    hits: int = 0
    duplicates: int = 0
    begun_at: str = ""
    ended_at: str = ""
    counts: Counts = field(default_factory=Counts)
    notes: tuple[str, ...] = ()
    waits: tuple[Wait, ...] = ()
    searches: tuple[Search, ...] = ()
    cancelled_at: str = ""

    def standing(self, *, running: bool) -> Standing:
        """Return the job's state in words; *running* says whether some process works on it."""
        if running:
            return "running"
        if not self.counts.pending:
            return "done"
        return "cancelled" if self.cancelled_at else "interrupted"

    def row(self) -> dict[str, Any]:
        """The counts, as the contract of ``harvest_papers`` words them."""
        counts = self.counts
        return {
            "requested": counts.requested,
            "full_text": counts.full_text,
            "preprint": counts.preprint,
            "accepted": counts.accepted,
            "abstract": counts.abstract,
            "record": counts.record,
            "failed": counts.failed,
            "pending": counts.pending,
        }
