"""Render the page of a checked manuscript: faults first, each with its place and passage.

Like the harvest page, the page loads no external file and has no script; Jinja escapes every text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..reports.page import render_template

_REFERENCES = {
    "wrong_paper": "The identifier is of another paper",
    "not_found": "Not found",
    "differs": "Differs from its record",
    "unsure": "Not sure which paper it is",
    "could_not_tell": "Could not be told",
}
_WARNINGS = {
    "retracted": "Retracted",
    "retraction_notice": "Notice of a retraction",
    "expression_of_concern": "Expression of concern",
    "preprint": "A preprint that was published",
    "corrected": "Was corrected",
}
_CLAIMS = {
    "altered": "Altered",
    "absent": "Not in the cited text",
    "elsewhere": "In the cited text, but not about this",
    "no_full_text": "The full text is not here",
    "weak": "The nearest passage",
    "uncited": "No citation of its own",
}
_CLAIM_FAULTS = ("altered", "absent", "elsewhere")
_REFERENCE_FAULTS = ("wrong_paper", "not_found", "differs")


def render_check_page(row: Mapping[str, Any]) -> str:
    """Render the HTML page of a check, given its JSON form (`..manuscript.checking.Check.row`)."""
    accepted = row["accepted"]
    references = row["references"]
    claims = [one for one in row["claims"] if one["fingerprint"] not in accepted]
    left = [one for one in references if one["fingerprint"] not in accepted]
    pairs = [(one, w) for one in references for w in one["warnings"]]
    warned = [(one, w) for one, w in pairs if w["fingerprint"] not in accepted]
    unlisted = [one for one in row["unlisted"] if one["fingerprint"] not in accepted]
    faults = [one for one in claims if one["outcome"] in _CLAIM_FAULTS]
    faulty = [one for one in left if one["status"] in _REFERENCE_FAULTS]
    verified = [one for one in references if one["status"] == "verified"]
    return render_template(
        "check.html",
        row=row,
        labels=_REFERENCES | _WARNINGS | _CLAIMS,
        headline=[
            ("References verified", len(verified), len(references)),
            ("Retracted, superseded", len(warned), 0),
            ("References at fault", len(faulty) + len(unlisted), 0),
            ("Quotations, numbers at fault", len(faults), 0),
        ],
        warned=_sort_by_kind(warned, [one[1]["kind"] for one in warned], _WARNINGS),
        faulty=faulty,
        unlisted=unlisted,
        open_references=[one for one in left if one["status"] in ("unsure", "could_not_tell")],
        faults=faults,
        unread=[one for one in claims if one["outcome"] == "no_full_text"],
        weak=[one for one in claims if one["outcome"] == "weak"],
        uncited=[one for one in claims if one["outcome"] == "uncited"],
        fine=[one for one in claims if one["outcome"] == "verified"],
    )


def _sort_by_kind(rows: Sequence[Any], kinds: Sequence[str], order: Mapping[str, str]) -> list[Any]:
    """Return rows in the order in which the kinds are listed in *order*."""
    places = {kind: at for at, kind in enumerate(order)}
    ranked = sorted(range(len(rows)), key=lambda at: places.get(kinds[at], len(places)))
    return [rows[at] for at in ranked]
