"""Screen the records of a review one by one, as the desk does.

Decisions go into the same ledger as those of imported files. A decision that is undone is not
deleted: the ledger gets a new row, which withdraws the decision or restores the former one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from ..errors import BadRequest, UnknownName
from ..lists.decisions import STAGES, Choice, Decision, PairChoice, ScreenedRecord, Stage
from ..search.fused_results import group_records
from ..system.plain_text import one_line
from .ledger import PairAnswer, filter_decisions_by_stage
from .matching import list_pairs_apart
from .standing import CONSENSUS, ScreeningStatus

if TYPE_CHECKING:
    from .review import Review

_MAX_NAME_CHARS = 60
_MAX_REASON_CHARS = 300


@dataclass(frozen=True, slots=True)
class ScreeningQueue:
    """The records of one stage, for one screener.

    ``waiting`` are those that the screener has not decided, ``decided`` how many he or she has.
    """

    waiting: tuple[ScreeningStatus, ...]
    decided: int


@dataclass(frozen=True, slots=True)
class PossibleDuplicate:
    """Two records that may be one paper, and what they have in common."""

    first: ScreeningStatus
    second: ScreeningStatus
    reason: str


def record_decision(
    review: Review, key: str, screener: str, choice: str, *, stage: str, reason: str = ""
) -> None:
    """Record the decision of one screener on one record; the latest decision counts.

    A decision that counts already is not recorded again.

    Raises
    ------
    BadRequest
        The screener has no name, the choice or stage is unknown, or a full text is excluded
        without a reason.
    UnknownName
        The review has no such record.
    """
    name, checked = require_screener_name(screener), require_stage(stage)
    if choice not in get_args(Choice):
        raise BadRequest(f"{choice!r} is not a decision.", "Give include, exclude or maybe.")
    reason = one_line(reason)[:_MAX_REASON_CHARS]
    if checked == "full_text" and choice == "exclude" and not reason:
        msg = "A report is excluded with a reason, which PRISMA counts."
        raise BadRequest(msg, "Choose a criterion, or write the reason.")
    standing = _find_screening_status(review, key)
    decision = Decision(name, choice, checked, (reason,) if reason else ())  # type: ignore[arg-type]
    if decision not in standing.decisions:
        _add_decision(review, standing, decision)


def record_pair_answer(
    review: Review, key: str, other: str, choice: str, *, screener: str = ""
) -> None:
    """Record that one record is the duplicate of another, or that it is not.

    The latest answer about a pair counts, whoever gave it (*consensus* without a name). An answer
    that counts already is not recorded again.

    Raises
    ------
    BadRequest
        The answer is unknown, the screener has no name, or the records are one and the same.
    UnknownName
        The review has no such record.
    """
    name = require_screener_name(screener or CONSENSUS)
    if choice not in get_args(PairChoice):
        raise BadRequest(f"{choice!r} is not an answer.", "Give duplicate or not_duplicate.")
    standing, stays = (_find_screening_status(review, one) for one in (key, other))
    if key == other:
        raise BadRequest(f"{key} was given twice.", "Give the keys of two records.")
    known = {(one.key, one.other): one.choice for one in review.ledger.list_pair_answers()}
    pairs = ((key, other), (other, key))
    if choice == "duplicate" and stays.duplicate_of == key and not known.keys() & {*pairs}:
        msg = f"{other} was itself removed as a duplicate of {key}."
        raise BadRequest(msg, "Answer the pairs by which that record was removed first.")
    if choice not in [known.get(pair) for pair in pairs[: 1 + (choice == "not_duplicate")]]:
        _add_decision(review, standing, Decision(name, choice, "duplicates", (other,)))  # type: ignore[arg-type]


def _add_decision(review: Review, standing: ScreeningStatus, decision: Decision) -> None:
    """Record a decision on a record in the ledger."""
    record = standing.record
    detail = {"rows": 1, "matched": 1, "by": {decision.screener: 1}, "file": ""}
    with review.ledger.record_event("decisions", detail) as writer:
        row = ScreenedRecord("", record.key, record.paper, decisions=(decision,))
        writer.add_decisions([(record.key, row)])


def undo_decision(review: Review, key: str, screener: str, *, stage: str) -> None:
    """Undo the latest decision of a screener on a record; a former decision counts again."""
    name, checked = require_screener_name(screener), require_stage(stage)
    standing = _find_screening_status(review, key)
    if name not in {one.screener for one in filter_decisions_by_stage(standing.decisions, checked)}:
        return
    former = review.ledger.find_former_decision(key, checked, name)
    detail = {"rows": 1, "matched": 1, "by": {name: 1}, "file": "", "undone": key}
    with review.ledger.record_event("decisions", detail) as writer:
        if former:
            row = ScreenedRecord("", key, standing.record.paper, decisions=(former,))
            writer.add_decisions([(key, row)])
        else:
            writer.withdraw_decision(key, checked, name)


def build_screening_queue(
    standings: Sequence[ScreeningStatus], screener: str, stage: Stage, places: Mapping[str, int]
) -> ScreeningQueue:
    """Return the records that a screener has not decided at a stage, the likeliest first.

    Parameters
    ----------
    places : mapping
        The places of records in the order of screening, by key; others keep their order behind.
    """
    members = [
        one
        for one in standings
        if (stage == "title_abstract" and not one.duplicate_of) or one.is_sought
    ]
    decided = [one for one in members if _has_decided(one, screener, stage)]
    done = {one.record.key for one in decided}
    waiting = [one for one in members if one.record.key not in done]
    waiting.sort(key=lambda one: places.get(one.record.key, len(standings) + 1))
    return ScreeningQueue(tuple(waiting), len(decided))


def list_conflicts(standings: Sequence[ScreeningStatus]) -> list[tuple[ScreeningStatus, Stage]]:
    """Return the records on which screeners disagree, each with its stage."""
    outcomes = [(one, stage) for one in standings for stage in STAGES]
    return [
        (one, stage)
        for one, stage in outcomes
        if (one.first if stage == "title_abstract" else one.second) == "conflict"
    ]


def list_duplicates(
    standings: Sequence[ScreeningStatus], answers: Sequence[PairAnswer]
) -> list[PossibleDuplicate]:
    """Return pairs of records that may be one paper, for a person to look at.

    An update has merged what is certainly one paper. Excluded records and pairs with an answer are
    left out.
    """
    open_ = [one for one in standings if one.first not in ("exclude", "duplicate")]
    apart = list_pairs_apart([one.record.key for one in open_], answers)
    found = group_records([one.record.paper for one in open_], apart)
    pairs = [
        (group[0], other, found.reasons[other].reason)
        for group in found.groups
        for other in group[1:]
        if other in found.reasons
    ]
    pairs += [
        (found.groups[one][0], found.groups[other][0], judgement.reason)
        for one, other, judgement in found.links
    ]
    pairs = [pair for pair in pairs if tuple(sorted(pair[:2])) not in apart]
    return [PossibleDuplicate(open_[one], open_[other], reason) for one, other, reason in pairs]


def require_screener_name(name: str) -> str:
    """Return the name of a screener on one line.

    Raises
    ------
    BadRequest
        The name is empty or too long.
    """
    name = one_line(name)
    if not 0 < len(name) <= _MAX_NAME_CHARS:
        msg = f"The name of a screener has 1 to {_MAX_NAME_CHARS} characters."
        raise BadRequest(msg, "Give the name under which you screen.")
    return name


def require_stage(stage: str) -> Stage:
    """Return a stage of screening.

    Raises
    ------
    BadRequest
        There is no such stage.
    """
    for known in STAGES:
        if stage == known:
            return known
    raise BadRequest(f"There is no stage {stage[:40]!r}.", f"Give {' or '.join(STAGES)}.")


def _has_decided(standing: ScreeningStatus, screener: str, stage: Stage) -> bool:
    return any(
        one.screener == screener for one in filter_decisions_by_stage(standing.decisions, stage)
    )


def _find_screening_status(review: Review, key: str) -> ScreeningStatus:
    for standing in review.standings():
        if standing.record.key == key:
            return standing
    msg = f"The review {review.name} has no record {key[:40]!r}."
    raise UnknownName(msg, "Open the list of records again.")
