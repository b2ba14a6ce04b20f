"""Derive each record's status from the screeners' decisions, and the numbers of PRISMA's boxes.

Screeners who agree decide. If they disagree, the record is a conflict until the protocol's resolver
or the screener *consensus* decides. *Maybe* passes on to the full text, as in Rayyan. As long as
some screeners have not decided, the outcome is open unless the resolver has decided.

A record that a person called the duplicate of another one counts as PRISMA counts the duplicates
that the searches removed: it is neither screened nor sought, whatever was decided on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..lists.decisions import Decision, Stage
from ..model.job import PaperState
from ..reports.prisma import PrismaNumbers, merge_reviewers_numbers
from .ledger import PairAnswer, ReviewRecord, SearchRun, filter_decisions_by_stage
from .protocol import PROTOCOL_FILE, Protocol

Outcome = Literal["include", "exclude", "conflict", "undecided", "duplicate"]
CONSENSUS = "consensus"
"""The name of the screener that stands for all screeners, as in Covidence exports."""


@dataclass(frozen=True, slots=True)
class ScreeningStatus:
    """The status of one record at each stage.

    Parameters
    ----------
    first, second : Outcome
        The outcome by title and abstract, and the outcome by full text.
    reason : str
        The reason for excluding the report: the resolver's, else the first screener's.
    by_tool : bool
        True if only automation tools excluded the record.
    duplicate_of : str
        The key of the record that stays, if this record is the duplicate of another.
    """

    record: ReviewRecord
    decisions: tuple[Decision, ...]
    first: Outcome
    second: Outcome
    reason: str = ""
    by_tool: bool = False
    duplicate_of: str = ""

    def row(self) -> dict[str, Any]:
        """Return the record and its outcomes as one row of a table."""
        outcomes = {"title_abstract": self.first, "full_text": self.second}
        origin = {"key": self.record.key, "arm": self.record.arm}
        screened = {"by_tool": self.by_tool, "decisions": len(self.decisions)}
        return self.record.paper.row() | origin | outcomes | {"reason": self.reason} | screened

    @property
    def is_assessed(self) -> bool:
        """True if the full text has been judged."""
        return not self.duplicate_of and any(d.stage == "full_text" for d in self.decisions)

    @property
    def is_screened(self) -> bool:
        """True if the record has been judged at any stage."""
        return bool(self.decisions) and not self.duplicate_of

    @property
    def is_wanted(self) -> bool:
        """True unless the record was excluded by title and abstract, or is a duplicate."""
        return self.first not in ("exclude", "duplicate") or self.is_assessed

    @property
    def is_sought(self) -> bool:
        """True if the report is to be retrieved."""
        return self.first == "include" or self.is_assessed


STANDING_COLUMNS = (
    *("title", "authors", "year", "journal", "title_abstract", "full_text", "reason", "by_tool"),
    *("decisions", "arm", "pmid", "doi", "key"),
)
"""The columns of `Standing.row` in tables."""


def derive_screening_statuses(
    records: Sequence[ReviewRecord],
    decisions: Mapping[str, Sequence[Decision]],
    protocol: Protocol,
    answers: Iterable[PairAnswer] = (),
) -> list[ScreeningStatus]:
    """Return the status of every record."""
    duplicates = find_duplicates_by_hand({record.key for record in records}, answers)
    made = []
    for record in records:
        told = tuple(decisions.get(record.key, ()))
        if kept := duplicates.get(record.key):
            why = f"duplicate of {kept}"
            made.append(
                ScreeningStatus(record, told, "duplicate", "duplicate", why, duplicate_of=kept)
            )
            continue
        outcomes = [
            derive_stage_outcome(filter_decisions_by_stage(told, stage), protocol)
            for stage in _STAGES
        ]
        reason = (
            _find_reason(filter_decisions_by_stage(told, "full_text"), protocol)
            if outcomes[1] == "exclude"
            else ""
        )
        tools = set(protocol.automation)
        excluders = {
            d.screener
            for d in filter_decisions_by_stage(told, "title_abstract")
            if d.choice == "exclude"
        }
        by_tool = outcomes[0] == "exclude" and bool(excluders) and excluders <= tools
        made.append(ScreeningStatus(record, told, outcomes[0], outcomes[1], reason, by_tool))
    return made


_STAGES: tuple[Stage, Stage] = ("title_abstract", "full_text")


def find_duplicates_by_hand(keys: Collection[str], answers: Iterable[PairAnswer]) -> dict[str, str]:
    """Return the record that stays for each record that a person called its duplicate.

    An answer that would remove the last record of a paper is left out.
    """
    kept: dict[str, str] = {}

    def find_kept(key: str) -> str:
        """Return the record that stays for a record."""
        while key in kept:
            key = kept[key]
        return key

    for one in answers:
        if one.choice == "duplicate" and {one.key, one.other} <= set(keys):
            before = kept.pop(one.key, "")
            if (stays := find_kept(one.other)) != one.key:
                kept[one.key] = stays
            elif before:
                kept[one.key] = before
    return {key: find_kept(key) for key in kept}


def derive_stage_outcome(decisions: Sequence[Decision], protocol: Protocol) -> Outcome:
    """Return the outcome of one record at one stage."""
    resolved = [one for one in decisions if _is_resolving(one, protocol)]
    if resolved:
        return "exclude" if resolved[-1].choice == "exclude" else "include"
    choices = {one.choice for one in decisions}
    if "exclude" in choices and len(choices) > 1:
        return "conflict"
    if len(decisions) < protocol.screeners:
        return "undecided"
    if decisions and decisions[0].stage == "full_text" and "maybe" in choices:
        return "undecided"
    return "exclude" if choices == {"exclude"} else "include"


def _is_resolving(decision: Decision, protocol: Protocol) -> bool:
    """Return whether a decision settles conflicts: by the resolver or by consensus."""
    names = {CONSENSUS, protocol.resolver.lower()} - {""}
    return decision.screener.lower() in names and decision.choice != "maybe"


def _find_reason(decisions: Sequence[Decision], protocol: Protocol) -> str:
    """Return the reason for an exclusion, the resolver's first."""
    excluding = [one for one in decisions if one.choice == "exclude" and one.reasons]
    excluding.sort(key=lambda one: not _is_resolving(one, protocol))
    return excluding[0].reasons[0] if excluding else ""


def count_prisma_numbers(
    every: Sequence[ScreeningStatus],
    searches: Sequence[SearchRun],
    text_of: Callable[[ReviewRecord], PaperState | None],
    protocol: Protocol,
) -> PrismaNumbers:
    """Return the counts for PRISMA's boxes.

    Parameters
    ----------
    text_of : callable
        Returns the state of a record's full text; None if it was not sought yet.
    """
    by_hand = sum(bool(one.duplicate_of) and one.record.arm == "databases" for one in every)
    every = [one for one in every if not one.duplicate_of]
    ours = [one for one in every if one.record.arm == "databases"]
    others = [one for one in every if one.record.arm == "other"]
    databases = _count_hits_by_search(searches, "database")
    registers = _count_hits_by_search(searches, "register")
    taken = sum(one.search.taken for one in searches if one.arm == "databases")
    removed = taken - len(ours) - by_hand  # by the searches
    screened = [one for one in ours if one.is_screened]
    excluded = [one for one in ours if one.first == "exclude" and not one.is_assessed]
    tools = sum(one.by_tool for one in excluded) if protocol.automation else None
    known: dict[str, object] = {}
    if others:
        known |= _count_other_methods(searches, others, text_of)
    if any(one.is_sought for one in ours):
        known |= _count_retrieval("dbr", [one for one in ours if one.is_sought], text_of)
    kept = [one for one in every if one.second == "include"]
    any_text = any(one.is_assessed for one in every)
    counted = PrismaNumbers(
        databases=databases,
        registers=registers,
        duplicates=max(0, removed) + by_hand if searches else by_hand or None,
        excluded_automatic=0 if searches else None,
        excluded_other=0 if searches else None,
        records_screened=len(screened) if screened else None,
        records_excluded=len(excluded) if screened else None,
        excluded_by_tools=tools if screened else None,
        new_reports=len(kept) if any_text else None,
        remarks=tuple(_iterate_remarks(every, searches, removed, text_of)),
        **known,  # type: ignore[arg-type]
    )
    return merge_reviewers_numbers(counted, protocol.prisma, f"{PROTOCOL_FILE}, prisma")


def _count_hits_by_search(searches: Sequence[SearchRun], kind: str) -> tuple[tuple[str, int], ...]:
    found: Counter[str] = Counter()
    for one in searches:
        if one.kind == kind:
            found[one.search.name] += one.search.hits
    return tuple(found.items())


def _count_other_methods(
    searches: Sequence[SearchRun],
    others: Sequence[ScreeningStatus],
    text_of: Callable[[ReviewRecord], PaperState | None],
) -> dict[str, object]:
    """Return the numbers of the column of other methods."""
    kinds = {"website": "website_results", "organisation": "organisation_results"}
    kinds["citation searching"] = "citations_results"
    found: dict[str, object] = {}
    for kind, name in kinds.items():
        counted = _count_hits_by_search(searches, kind)
        found[name] = sum(n for _, n in counted) if counted else 0
    if not any(one.is_screened for one in others):
        return found
    return found | _count_retrieval("other", [one for one in others if one.is_sought], text_of)


def _count_retrieval(
    arm: str,
    sought: Sequence[ScreeningStatus],
    text_of: Callable[[ReviewRecord], PaperState | None],
) -> dict[str, object]:
    """Return reports sought, not retrieved, assessed and excluded; None if not known yet."""
    states = [None if one.is_assessed else text_of(one.record) for one in sought]
    missing = sum(state in ("abstract", "record", "failed") for state in states)
    tried = any(states) or all(one.is_assessed for one in sought)
    assessed = [one for one in sought if one.is_assessed]
    reasons = Counter(one.reason for one in assessed if one.second == "exclude")
    return {
        f"{arm}_sought_reports": len(sought),
        f"{arm}_notretrieved_reports": missing if tried else None,
        f"{arm}_assessed": len(assessed) if assessed else None,
        f"{arm}_excluded": tuple(reasons.most_common()) if assessed else None,
    }


def _iterate_remarks(
    every: Sequence[ScreeningStatus],
    searches: Sequence[SearchRun],
    duplicates: int,
    text_of: Callable[[ReviewRecord], PaperState | None],
) -> Iterable[str]:
    """Yield remarks on incomplete numbers."""
    unseen = sum(max(0, one.search.hits - one.search.taken) for one in searches)
    if unseen:
        yield f"{unseen:,} of the records identified were not returned by the site."
    if duplicates < 0:
        yield f"{-duplicates:,} records that an earlier search found are no longer found."
    for words, stage in (("Records", "first"), ("Reports", "second")):
        conflicts = sum(getattr(one, stage) == "conflict" for one in every)
        if conflicts:
            yield f"{words} on which screeners disagree, not resolved (n = {conflicts:,})."
    if not any(one.is_screened for one in every):
        return
    waiting = sum(one.first == "undecided" and not one.is_assessed for one in every)
    if waiting:
        yield f"Records not decided by all screeners yet (n = {waiting:,})."
    untold = sum(one.is_assessed and one.second == "undecided" for one in every)
    if untold:
        yield f"Reports not decided by all screeners yet (n = {untold:,})."
    open_ = [one for one in every if one.is_sought and not one.is_assessed]
    untried = sum(text_of(one.record) in (None, "pending") for one in open_)
    unread = sum(text_of(one.record) == "full_text" for one in open_)
    if untried:
        yield f"Reports sought, not tried yet (n = {untried:,})."
    if unread:
        yield f"Reports retrieved, not assessed yet (n = {unread:,})."
