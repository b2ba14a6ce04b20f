"""A review at a glance, for a view inside a chat and for a model: where it stands, what is open.

The same numbers as the page and figure of `review report`, as rows that are bounded: counts, what
came since the published state, who could not tell, numbers that only people know, and the records
of citation searching that nobody screened yet, the most led to first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..command_line import command_line
from ..reports import prisma
from ..reports.board import to_prisma_rows
from ..reports.page import to_short_line
from .ledger import Event
from .report import headline
from .standing import Standing
from .updating import IN_WORDS, Change, changes_of, silent_in, since_published, urgency

if TYPE_CHECKING:
    from .review import Review

_SHOWN = 20  # changes, and candidates of one page
_MOST = 12  # remarks, and who could not tell
_TITLE, _DETAIL = 160, 200  # characters


def board(review: Review, *, start: int = 0) -> dict[str, Any]:
    """The board of a review; *start* is the first of the candidates, ``next_start`` goes on."""
    protocol, every, events = review.protocol(), review.standings(), review.events()
    flow = prisma.build_flow(review.numbers())
    searched = [event.at for event in events if event.what == "update"]
    waiting = _candidates(every, events)
    page = waiting[start : start + _SHOWN]
    silent = silent_in(events)
    made = {
        "review": review.name,
        "title": to_short_line(protocol.title or review.name, _TITLE),
        "question": to_short_line(protocol.question, 2 * _DETAIL),
        "searched_at": searched[-1] if searched else "",
        "counts": [{"name": name, "n": n} for name, n in headline(every)],
        "conflicts": sum("conflict" in (one.first, one.second) for one in every),
        "changes": _changes(every, events),
        "could_not_tell": [to_short_line(told, _DETAIL) for told in silent[:_MOST]],
        "prisma": to_prisma_rows(flow),
        "open_numbers": _open_numbers(flow),
        "remarks": [to_short_line(remark, _DETAIL) for remark in flow.remarks[:_MOST]],
        "candidates": page,
        "waiting": len(waiting),
        "next_start": start + _SHOWN if start + _SHOWN < len(waiting) else None,
    }
    return made | {"steps": _steps(review.name, made, every)}


def _open_numbers(flow: prisma.Flow) -> list[str]:
    """The boxes without a number; those of the two columns have the same words."""
    return [
        f"{count.words.rstrip('*')}{' (other methods)' * box.column.startswith('other')}"
        for box in flow.boxes
        for count in box.counts
        if count.n is None
    ]


def _changes(every: Sequence[Standing], events: Sequence[Event]) -> dict[str, Any]:
    """What came since the published state, else at the last update."""
    day, later = since_published(events)
    updates = [at for at, event in enumerate(events) if event.what == "update"]
    if not day:
        later = list(events[updates[-1] :]) if updates else []
    records = {one.record.key: one.record for one in every}
    came = list(changes_of(later, records.values()))
    came.sort(key=lambda one: urgency(one.outcome))
    counts = Counter(IN_WORDS[one.outcome] for one in came)

    def row(one: Change) -> dict[str, str]:
        paper = records[one.key].paper
        title = to_short_line(paper.title or records[one.key].asked, _TITLE)
        named = {"paper": str(paper.ids or one.key), "title": title}
        return {
            "what": IN_WORDS[one.outcome],
            **named,
            "detail": to_short_line(one.detail, _DETAIL),
        }

    return {
        "since": f"the state published {day[:10]}" if day else "the last update",
        "counts": [{"what": what, "n": n} for what, n in counts.items()],
        "rows": [row(one) for one in came[:_SHOWN]],
    }


def _candidates(every: Sequence[Standing], events: Sequence[Event]) -> list[dict[str, Any]]:
    """Records of citation searching that nobody screened, the most led to first."""
    leads: dict[str, list[str]] = {}
    for event in events:
        leads |= event.detail.get("leads", {})
    rows = [
        {
            "key": one.record.key,
            "paper": str(one.record.paper.ids or one.record.key),
            "title": to_short_line(one.record.paper.title or one.record.asked, _TITLE),
            "year": one.record.paper.year,
            "led_to_by": len(leads[one.record.key]),
        }
        for one in every
        if one.record.key in leads and not one.screened
    ]
    return sorted(rows, key=lambda row: -row["led_to_by"])


def _steps(name: str, made: dict[str, Any], every: Sequence[Standing]) -> list[str]:
    """What to do next, the most urgent first."""
    steps = []
    if made["could_not_tell"] or not made["searched_at"]:
        steps.append(command_line(f"review update {name}"))
    if made["conflicts"]:
        report = command_line(f"review report {name}")
        steps.append(f"settle {made['conflicts']:,} conflicts: conflicts.csv of {report}")
    if any(one.first == "undecided" and not one.assessed for one in every):
        export = command_line(f"review export {name} --for rayyan")
        import_ = command_line(f"review import {name} FILE")
        steps.append(f"{export}, screen, {import_}")
    if made["open_numbers"]:
        steps.append("fill in what only you know: prisma in protocol.yaml")
    return steps
