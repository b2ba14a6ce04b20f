"""Verdicts on texts that are on the shelf already: a refusal is a result here, not an error.

All of them are judged through here, so that a file taken in, one changed by hand and one that is
audited are judged alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..errors import BadContent
from ..model.paper import Document, Fetched, Media, Paper, Verdict
from . import read as read_here

Read = Callable[..., Document]
"""`formats.read`, or the same in other processes (`aside.read_in_child`)."""

_SHORTEST = 200  # characters
_OTHER_FORMS = {
    "<!doctype": "an HTML page",
    "<html": "an HTML page",
    "<?xml": "XML",
    "%pdf": "a PDF",
    "{": "data for programs",
}


class JudgedText(NamedTuple):
    """A verdict and its evidence; ``document`` is what was accepted."""

    verdict: Verdict
    evidence: str
    document: Document | None = None


def judge_fetched(fetched: Fetched, paper: Paper, read: Read = read_here) -> JudgedText:
    """Whether what a site sent is all of *paper*.

    Without a record of the paper there is nothing to compare it with: the name of the file says
    which paper it is.
    """
    try:
        document = read(fetched, paper, identified=not paper.recorded_by)
    except BadContent as bad:
        return JudgedText(_verdict(bad), str(bad.details.get("evidence") or bad.message))
    return JudgedText(document.verdict, document.evidence, document)


def judge_text(text: str, paper: Paper, read: Read = read_here) -> JudgedText:
    """Whether *text*, a file without its header, is all of *paper*."""
    return judge_fetched(_to_fetched(text, "markdown"), paper, read)


def judge_foreign_text(text: str, paper: Paper, read: Read = read_here) -> JudgedText:
    """The same for a file written by another program, which may hold anything."""
    stripped = text.strip().removeprefix("\ufeff").strip()
    if form := next((f for start, f in _OTHER_FORMS.items() if _begins(stripped, start)), ""):
        seen = judge_fetched(_to_fetched(text, "html"), paper, read) if "HTML" in form else None
        if seen and not seen.document and seen.verdict != "wrong_paper":
            return seen
        return JudgedText("not_a_paper", f"the file is {form}, no text")
    if "\x00" in stripped[:1000]:
        return JudgedText("not_a_paper", "the file is no text")
    if len(stripped) < _SHORTEST:
        return JudgedText("not_a_paper" if stripped else "empty", f"{len(stripped)} characters")
    return judge_text(text, paper, read)


def _begins(text: str, start: str) -> bool:
    return text[: len(start)].lower() == start


def _to_fetched(text: str, media: Media) -> Fetched:
    body = text.encode("utf-8", "replace")
    return Fetched(body, media, "", "the shelf", "shelf", charset="utf-8")


def _verdict(bad: BadContent) -> Verdict:
    found: Verdict = bad.details.get("verdict", "not_a_paper")
    return found
