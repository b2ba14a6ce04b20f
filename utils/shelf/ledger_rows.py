"""Values as the tables of a ledger have them, and back."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

from ..lists.pasted import Entry
from ..model.identifiers import Ids
from ..model.job import State
from ..model.paper import Attempt, Paper, StoredPaper, paper_from, to_row
from ..system.plain_text import encodable

Asked = tuple[str, Ids] | Entry
"""What was asked for, and the identifiers in it; without any, what a list says of the paper."""


def asked_row(entry: Asked) -> tuple[str, str, str | None]:
    """Return what was asked for, as the table of papers has it."""
    asked, ids, paper = Entry(*entry)
    described = to_json(to_row(paper)) if paper and not ids else None
    return encodable(asked), ids_row(ids), described


def ids_row(ids: Ids) -> str:
    """Return identifiers as the table of papers has them; ``{}`` for none."""
    named = {name: value for name, value in to_row(ids).items() if value}
    return to_json(named)


def end_values(
    stored: StoredPaper, sha256: str, reason: str = "", detail: str = ""
) -> dict[str, str]:
    """Return what the table of papers has of a paper that ended with a file."""
    return {
        "state": stored.kind,
        "paper": to_json(to_row(stored.paper)),
        "file": Path(stored.path).name,
        "source": stored.source,
        "via": stored.via,
        "license": stored.license,
        "version": stored.version,
        "sha256": sha256,
        "reason": reason,
        "detail": encodable(detail),
    }


def attempt_row(attempt: Attempt) -> tuple[str | int | float, ...]:
    """Return an attempt as the table of attempts has it."""
    return (
        attempt.source,
        attempt.outcome,
        encodable(attempt.detail),
        encodable(attempt.url),
        attempt.status,
        attempt.seconds,
        attempt.at,
    )


def read_state(text: str) -> State:
    """Return the state that a row names; an unknown one counts as pending."""
    states: tuple[State, ...] = get_args(State)
    return next((state for state in states if state == text), "pending")


@lru_cache(maxsize=200)  # between two rungs the same paper is read again, and by each report
def read_paper(row: str) -> Paper:
    """Read back the paper that a row holds as JSON."""
    return paper_from(json.loads(row))


def to_json(value: Any) -> str:
    """Return *value* as compact JSON."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
