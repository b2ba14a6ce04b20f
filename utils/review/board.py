"""Build the board of a review: progress and open tasks, for a view inside a chat and a model.

The board has the same numbers as the page and figure of `review report`, as a limited number of
rows: counts, changes since the published state, sources that did not respond, numbers that only
people know, and unscreened records of citation searching, most cited first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..command_line import command_line
from ..reports import prisma
from ..reports.board import to_prisma_rows
from ..reports.page import shorten_to_line
from .ledger import ReviewEvent
from .report import count_headline_numbers
from .standing import ScreeningStatus
from .updating import (
    CHANGE_LABELS,
    ReviewChange,
    get_urgency_rank,
    list_changes,
    list_unanswered_sources,
    split_events_at_publication,
)

if TYPE_CHECKING:
    from .review import Review

_MAX_ROWS = 20  # changes, and candidates of one page
_MAX_REMARKS = 12  # also of sources without an answer
_TITLE_MAX_CHARS, _DETAIL_MAX_CHARS = 160, 200  # characters


def build_review_board(review: Review, *, start: int = 0) -> dict[str, Any]:
    """Return the board of a review as JSON; *start* is the number of the first candidate shown."""
    protocol, every, events = review.protocol(), review.standings(), review.events()
    flow = prisma.build_prisma_flow(review.numbers())
    searched = [event.at for event in events if event.what == "update"]
    waiting = _list_candidate_rows(every, events)
    page = waiting[start : start + _MAX_ROWS]
    silent = list_unanswered_sources(events)
    made = {
        "review": review.name,
        "title": shorten_to_line(protocol.title or review.name, _TITLE_MAX_CHARS),
        "question": shorten_to_line(protocol.question, 2 * _DETAIL_MAX_CHARS),
        "searched_at": searched[-1] if searched else "",
        "counts": [{"name": name, "n": n} for name, n in count_headline_numbers(every)],
        "conflicts": sum("conflict" in (one.first, one.second) for one in every),
        "changes": _build_changes_row(every, events),
        "could_not_tell": [
            shorten_to_line(told, _DETAIL_MAX_CHARS) for told in silent[:_MAX_REMARKS]
        ],
        "prisma": to_prisma_rows(flow),
        "open_numbers": _list_unknown_numbers(flow),
        "remarks": [
            shorten_to_line(remark, _DETAIL_MAX_CHARS) for remark in flow.remarks[:_MAX_REMARKS]
        ],
        "candidates": page,
        "waiting": len(waiting),
        "next_start": start + _MAX_ROWS if start + _MAX_ROWS < len(waiting) else None,
    }
    return made | {"steps": _list_next_steps(review.name, made, every)}


def _list_unknown_numbers(flow: prisma.PrismaFlow) -> list[str]:
    """Return the boxes without a number, with the column where the words are the same."""
    return [
        f"{count.words.rstrip('*')}{' (other methods)' * box.column.startswith('other')}"
        for box in flow.boxes
        for count in box.counts
        if count.n is None
    ]


def _build_changes_row(
    every: Sequence[ScreeningStatus], events: Sequence[ReviewEvent]
) -> dict[str, Any]:
    """Return the changes since the published state, else of the last update."""
    day, later = split_events_at_publication(events)
    updates = [at for at, event in enumerate(events) if event.what == "update"]
    if not day:
        later = list(events[updates[-1] :]) if updates else []
    records = {one.record.key: one.record for one in every}
    came = list(list_changes(later, records.values()))
    came.sort(key=lambda one: get_urgency_rank(one.outcome))
    counts = Counter(CHANGE_LABELS[one.outcome] for one in came)

    def to_change_row(one: ReviewChange) -> dict[str, str]:
        paper = records[one.key].paper
        title = shorten_to_line(paper.title or records[one.key].asked, _TITLE_MAX_CHARS)
        named = {"paper": str(paper.ids or one.key), "title": title}
        return {
            "what": CHANGE_LABELS[one.outcome],
            **named,
            "detail": shorten_to_line(one.detail, _DETAIL_MAX_CHARS),
        }

    return {
        "since": f"the review was published on {day[:10]}" if day else "the last update",
        "counts": [{"what": what, "n": n} for what, n in counts.items()],
        "rows": [to_change_row(one) for one in came[:_MAX_ROWS]],
    }


def _list_candidate_rows(
    every: Sequence[ScreeningStatus], events: Sequence[ReviewEvent]
) -> list[dict[str, Any]]:
    """Return unscreened records of citation searching, the most cited first."""
    leads: dict[str, list[str]] = {}
    for event in events:
        leads |= event.detail.get("leads", {})
    rows = [
        {
            "key": one.record.key,
            "paper": str(one.record.paper.ids or one.record.key),
            "title": shorten_to_line(one.record.paper.title or one.record.asked, _TITLE_MAX_CHARS),
            "year": one.record.paper.year,
            "led_to_by": len(leads[one.record.key]),
        }
        for one in every
        if one.record.key in leads and not (one.is_screened or one.duplicate_of)
    ]
    return sorted(rows, key=lambda row: -row["led_to_by"])


def _list_next_steps(
    name: str, made: dict[str, Any], every: Sequence[ScreeningStatus]
) -> list[str]:
    """Return the next steps, the most urgent first."""
    steps = []
    if made["could_not_tell"] or not made["searched_at"]:
        steps.append(command_line(f"review update {name}"))
    if made["conflicts"]:
        report = command_line(f"review report {name}")
        steps.append(f"settle {made['conflicts']:,} conflicts: conflicts.csv of {report}")
    if any(one.first == "undecided" and not one.is_assessed for one in every):
        export = command_line(f"review export {name} --for rayyan")
        import_ = command_line(f"review import {name} FILE")
        steps.append(f"{export}, screen, {import_}")
    if made["open_numbers"]:
        steps.append("fill in what only you know: prisma in protocol.yaml")
    return steps
