"""The judges' word as an answer, where their no is no error: about what is on the shelf already.

Everything that lies there is judged through here, so that a file taken in, one that a hand
changed and one that is audited are told by the same measure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..errors import BadContent
from ..model.paper import Document, Fetched, Media, Paper, Verdict
from . import read as read_here

Read = Callable[..., Document]
"""`formats.read`, or the same in other processes (`aside.read_aside`)."""

_SHORTEST = 200  # characters
_OTHER_FORMS = {
    "<!doctype": "an HTML page",
    "<html": "an HTML page",
    "<?xml": "XML",
    "%pdf": "a PDF",
    "{": "data for programs",
}


class Judged(NamedTuple):
    """What the judges said, and on what ground; ``document`` is what they let pass."""

    verdict: Verdict
    evidence: str
    document: Document | None = None


def judged(fetched: Fetched, paper: Paper, read: Read = read_here) -> Judged:
    """Whether what a site sent is all of *paper*.

    Where nobody has a record of the paper, there is nothing to compare: which one it is was told
    by the name it came under.
    """
    try:
        document = read(fetched, paper, identified=not paper.recorded_by)
    except BadContent as bad:
        return Judged(_verdict(bad), str(bad.details.get("evidence") or bad.message))
    return Judged(document.verdict, document.evidence, document)


def judged_text(text: str, paper: Paper, read: Read = read_here) -> Judged:
    """Whether *text* is all of *paper*: what remains of a file without its header."""
    return judged(_as_fetched(text, "markdown"), paper, read)


def judged_foreign(text: str, paper: Paper, read: Read = read_here) -> Judged:
    """The same of a file that somebody else wrote, who may have saved anything as a text."""
    stripped = text.strip().removeprefix("\ufeff").strip()
    if form := next((f for start, f in _OTHER_FORMS.items() if _begins(stripped, start)), ""):
        seen = judged(_as_fetched(text, "html"), paper, read) if "HTML" in form else None
        if seen and not seen.document and seen.verdict != "wrong_paper":
            return seen
        return Judged("not_a_paper", f"the file is {form}, no text")
    if "\x00" in stripped[:1000]:
        return Judged("not_a_paper", "the file is no text")
    if len(stripped) < _SHORTEST:
        return Judged("not_a_paper" if stripped else "empty", f"{len(stripped)} characters")
    return judged_text(text, paper, read)


def _begins(text: str, start: str) -> bool:
    return text[: len(start)].lower() == start


def _as_fetched(text: str, media: Media) -> Fetched:
    body = text.encode("utf-8", "replace")
    return Fetched(body, media, "", "the shelf", "shelf", charset="utf-8")


def _verdict(bad: BadContent) -> Verdict:
    found: Verdict = bad.details.get("verdict", "not_a_paper")
    return found
