"""Render a checked manuscript as an HTML page: findings first, with their places and passages.

Like the harvest page, the page loads no external file and has no script; Jinja escapes every text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..reports.page import render_template
from .statements import DIFFERING, SIGNS

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
_ELEMENTS = {
    "same": "The same",
    "turned": "Turned",
    "altered": "Altered",
    "absent": "Not in the cited text",
    "elsewhere": "In the cited text, but not about this",
    "no_full_text": "The full text is not here",
    "uncited": "No citation of its own",
    "not_compared": "Not compared",
}
_RESULTS = {
    "agrees": "Every element agrees",
    "differs": "An element differs",
    "not_judged": "Not judged",
}
_REFERENCE_FAULTS = ("wrong_paper", "not_found", "differs")


def render_check_page(row: Mapping[str, Any]) -> str:
    """Render the HTML page of a check from its JSON form (`ManuscriptCheck.row`)."""
    accepted = row["accepted"]
    references = row["references"]
    elements = [
        sentence
        for sentence in _list_elements_with_sentences(row)
        if sentence["fingerprint"] not in accepted
    ]
    left = [reference for reference in references if reference["fingerprint"] not in accepted]
    pairs = [(reference, w) for reference in references for w in reference["warnings"]]
    warned = [(one, w) for one, w in pairs if w["fingerprint"] not in accepted]
    unlisted = [one for one in row["unlisted"] if one["fingerprint"] not in accepted]
    faults = [element for element in elements if element["outcome"] in DIFFERING]
    faulty = [one for one in left if one["status"] in _REFERENCE_FAULTS]
    verified = [reference for reference in references if reference["status"] == "verified"]
    return render_template(
        "check.html",
        row=row,
        labels=_REFERENCES | _WARNINGS | _ELEMENTS | _RESULTS,
        signs=SIGNS,
        headline=[
            ("References verified", len(verified), len(references)),
            ("Retracted, superseded", len(warned), 0),
            ("References at fault", len(faulty) + len(unlisted), 0),
            ("Elements that differ", len(faults), 0),
        ],
        warned=_sort_by_kind(warned, [one[1]["kind"] for one in warned], _WARNINGS),
        faulty=faulty,
        unlisted=unlisted,
        open_references=[one for one in left if one["status"] in ("unsure", "could_not_tell")],
        faults=faults,
        unread=[element for element in elements if element["outcome"] == "no_full_text"],
        uncited=[element for element in elements if element["outcome"] == "uncited"],
        statements={
            result: [one for one in row["statements"] if one["result"] == result]
            for result in ("not_judged", "agrees")
        },
    )


def _list_elements_with_sentences(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the elements of all statements, each with its sentence and citations."""
    return [
        {**element, "sentence": statement["sentence"], "keys": statement["keys"]}
        for statement in row["statements"]
        for element in statement["elements"]
    ]


def _sort_by_kind(rows: Sequence[Any], kinds: Sequence[str], order: Mapping[str, str]) -> list[Any]:
    """Return rows in the order in which the kinds are listed in *order*."""
    places = {kind: at for at, kind in enumerate(order)}
    ranked = sorted(range(len(rows)), key=lambda at: places.get(kinds[at], len(places)))
    return [rows[at] for at in ranked]
