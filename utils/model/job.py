"""Data classes of a harvest: the job, and the outcome of every requested paper."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from ..system.plain_text import one_line
from .paper import Attempt, Paper
from .tabular import Table, TabularResult
from .verdicts import MEANINGS

PaperSelection = Literal["all", "retrieved", "not_retrieved"]
JobStatus = Literal["running", "interrupted", "cancelled", "done"]
PaperState = Literal["pending", "full_text", "abstract", "record", "failed"]
# The order in which a reviewer needs the outcomes, when several routes failed: a fault of ours says
# nothing about the paper; an unavailable site may still have it; a closed text can be fetched by
# hand; a text that no site offers may not exist.
_OUTCOMES_BY_INFORMATION = ("failed", "unreachable", *MEANINGS, "not_offered")


def find_most_informative_failure(attempts: Iterable[Attempt]) -> Attempt | None:
    """Return the failed attempt that best explains where the text is available; None without one.

    >>> tried = [Attempt("pmc_cloud", "not_offered"), Attempt("publisher", "paywall")]
    >>> find_most_informative_failure(tried).outcome
    'paywall'
    """
    named = [attempt for attempt in attempts if attempt.outcome in _OUTCOMES_BY_INFORMATION]
    return min(
        named, key=lambda attempt: _OUTCOMES_BY_INFORMATION.index(attempt.outcome), default=None
    )


@dataclass(frozen=True, slots=True)
class Harvested:
    """One paper of a job, with its outcome.

    Parameters
    ----------
    number : int
        The paper's place in the list, from 1.
    asked : str
        The user's input: an identifier, or the citation of a record without identifier.
    state : State
        ``pending`` until it ends, once, as one of the others (``record`` is a citation only).
    paper : Paper
        The known metadata; at least the identifiers.
    file : str
        The name of the paper's file on the shelf; empty for ``failed``.
    source, via, license, version : str
        Facts about the text, as in `StoredPaper`.
    sha256 : str
        The checksum of the text without the header of the file: the same on every shelf.
    reason : str
        Why there is no full text, in one word: the outcome of an `Attempt`, or ``not_found``,
        ``could_not_tell``, ``no_identifier``, ``bad_request``. Empty for ``full_text``, except
        ``by_hand`` if a person accepted the text and ``doubtful`` if the judges have doubts; then
        ``detail`` is the reason given.
    detail : str
        The reason in a sentence.
    ended_at : str
        When the paper was finished (ISO 8601, UTC).
    identity : str
        For a record without identifier: the matched paper, the confidence of the match (0 to 1),
        and the evidence.
    """

    number: int
    asked: str
    state: PaperState
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
class JobCounts:
    """The progress of a job. ``requested`` counts papers after duplicates were merged.

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
class Coverage(TabularResult):
    """The sources of a job's texts, and the reasons why other papers have none.

    Parameters
    ----------
    sources : dict of str to int
        The number of full texts by route; the most productive first.
    reasons : dict of str to int
        The number of papers without a full text by `Harvested.reason`; the most frequent first.
    """

    sources: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)

    def to_table(self) -> Table:
        """Return a row for each route that supplied full texts, and for each reason without one."""
        found = (("full text", via, papers) for via, papers in self.sources.items())
        missing = (("no full text", reason, papers) for reason, papers in self.reasons.items())
        return Table(("outcome", "route_or_reason", "papers"), [*found, *missing])


@dataclass(frozen=True, slots=True)
class SiteWait:
    """The papers of a running harvest that wait for one site.

    Parameters
    ----------
    site : str
        The name of the site, for people.
    papers : int
        The number of papers that wait for the site.
    until : str
        When an unavailable site is asked again; for any other site, when it is likely to be done.
    since, said : str
        Since when a site is unavailable, and its last response; empty for a site that is only slow.
    """

    site: str
    papers: int
    until: str
    since: str = ""
    said: str = ""

    def __str__(self) -> str:
        """Describe the wait in one sentence, in local time."""
        papers = f"{self.papers:,} paper{'s' * (self.papers != 1)}"
        wait = "waits" if self.papers == 1 else "wait"
        if not self.since:
            until = _format_local_time(self.until)
            return f"{papers} still {wait} for {self.site} until about {until}"
        head = (
            f"{self.site} has been unavailable since {_format_local_time(self.since)}; next try at"
        )
        said = f" ({one_line(self.said)[:120].rstrip('. ')})" if self.said else ""
        return f"{head} {_format_local_time(self.until)}, and {papers} {wait} for it{said}"


def _format_local_time(at: str) -> str:
    """Return the hour and minute of an ISO timestamp in local time."""
    return datetime.fromisoformat(at).astimezone().strftime("%H:%M")


@dataclass(frozen=True, slots=True)
class JobSearch:
    """One search or list from which a job was created.

    Parameters
    ----------
    source : str
        The site that was searched, as in `..model.sites`; empty for a list.
    name : str
        The name of the site for people, or the name of the list.
    query, effective_query : str
        The query as sent, and as the site understood it, if the site says so.
    hits, taken : int
        The number of hits that the site counted, and the number of records it returned.
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
    """A harvest: its queries, counts and dates.

    Parameters
    ----------
    job_id : str
        Derived from the request, so that the same command finds the same job.
    title : str
        For people: the query, or the origin of the identifiers.
    query, effective_query : str
        The queries as sent and as the sites understood them, one line each; empty for lists.
    hits : int
        Records found by the queries, or identifiers given, before duplicates were merged.
    duplicates : int
        The number of merged duplicates.
    begun_at, ended_at : str
        ISO 8601, UTC; ``ended_at`` is empty until no paper is pending.
    waits : tuple of Wait
        The sites that papers wait for, as the process that works on the job reported last.
    searches : tuple of Search
        The searches and lists of the job; empty for jobs of older versions.
    cancelled_at : str
        When the job was cancelled (ISO 8601, UTC); empty again after it was resumed.
    """

    job_id: str
    title: str
    query: str = ""
    effective_query: str = ""
    hits: int = 0
    duplicates: int = 0
    begun_at: str = ""
    ended_at: str = ""
    counts: JobCounts = field(default_factory=JobCounts)
    notes: tuple[str, ...] = ()
    waits: tuple[SiteWait, ...] = ()
    searches: tuple[JobSearch, ...] = ()
    cancelled_at: str = ""

    def get_status(self, *, running: bool) -> JobStatus:
        """Return the job's status; *running* is True while a process works on the job."""
        if running:
            return "running"
        if not self.counts.pending:
            return "done"
        return "cancelled" if self.cancelled_at else "interrupted"

    def row(self) -> dict[str, Any]:
        """Return the counts under the names that ``harvest_papers`` promises."""
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
