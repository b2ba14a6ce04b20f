"""What the desk says about kinds, verdicts and outcomes, in words."""

from __future__ import annotations

from ..model.paper import Attempt, Kind, StoredPaper
from ..model.verdicts import MEANINGS, MissingTextReason
from ..reports.labels import get_missing_reason, get_route_label

KIND_NAMES: dict[Kind, str] = {
    "full_text": "Full text",
    "abstract": "Abstract only",
    "record": "Record only",
    "rejected": "Rejected text",
}
_WHOLE = MissingTextReason(
    "Whole paper",
    "The text was judged to be the whole paper, and to be this paper.",
    "",
)
_BY_HAND = MissingTextReason("Decided by hand", "A person decided about this text.", "")
_OUTCOMES = {
    "saved": "gave the text",
    "skipped": "was not asked",
    "other_version": "has another version only",
}


def describe_verdict(verdict: str) -> MissingTextReason:
    """Return the name, meaning and advice of a verdict."""
    if verdict == "full_text":
        return _WHOLE
    if verdict == "by_hand":
        return _BY_HAND
    return MEANINGS[verdict].reason if verdict in MEANINGS else get_missing_reason(verdict)


def describe_attempt(attempt: Attempt) -> tuple[str, str, str]:
    """Return who was asked, what the answer was, and its details."""
    answer = _OUTCOMES.get(attempt.outcome) or get_missing_reason(attempt.outcome).name
    return get_route_label(attempt.source), answer, attempt.detail


def describe_origin(stored: StoredPaper) -> str:
    """Return where a text came from, in one sentence."""
    day = stored.saved_at[:10]
    if stored.via == "manual":
        return f"Added by hand on {day}."
    return f"From {get_route_label(stored.via) if stored.via else stored.source}, on {day}."
