"""A person overrules the judges about one text, and may take it back.

What was decided by hand is recorded as such wherever the text is shown, with the reason; no audit
touches it. A text that somebody rejected is not taken again, whoever offers it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from .. import formats
from ..download.ladder import Ladder
from ..errors import BadRequest
from ..harvest.told import Ledgers
from ..model.identifiers import Ids
from ..model.paper import StoredPaper
from ..store import ADOPTED
from ..system.plain_text import one_line
from .audit import judged_again, tell
from .reading import find

As = Literal["full_text", "rejected"]


def keep(ladder: Ladder, paper: str | int | Ids, decided: As, because: str) -> StoredPaper:
    """Say by hand that the text on the shelf is the whole paper, or that it is not.

    Parameters
    ----------
    ladder : Ladder
        Of the shelf.
    paper : str
        Any identifier, or the name of a file on the shelf.
    decided : str
        ``full_text`` or ``rejected``.
    because : str
        The reason, for whoever reads list, index, report or lock.

    Raises
    ------
    BadRequest
        No reason is given, or there is no text to decide about.
    NotFound
        The paper is not on the shelf.
    """
    because = one_line(because)
    if decided not in ("full_text", "rejected"):
        raise BadRequest(f"{decided!r} is no decision.", "Give full_text or rejected.")
    if not because:
        raise BadRequest("A decision by hand needs a reason.", 'Say it: --because "…".')
    stored = find(str(paper), ladder.shelf)
    if stored.kind in ("abstract", "record") and not (
        decided == "full_text" and stored.via == ADOPTED
    ):
        msg = f"Of {stored.paper.ids} only the {stored.kind} is on the shelf."
        hint = "Drop its text into the shelf's inbox/, then: server.py inbox --accept"
        raise BadRequest(msg, hint)
    said = replace(stored, kind=decided, verdict="by_hand", evidence=because, judges=0)
    verdicts = ladder.shelf.verdicts
    change = verdicts.forget_rejections if decided == "full_text" else verdicts.reject_by_hand
    return _told(ladder, change(said))


def undo(ladder: Ladder, paper: str | int | Ids) -> StoredPaper:
    """Take back what was decided by hand: the judges have the word again.

    Raises
    ------
    BadRequest
        Nothing was.
    NotFound
        The paper is not on the shelf.
    """
    shelf = ladder.shelf
    stored = find(str(paper), shelf)
    decided = shelf.verdicts.decided_by_hand(stored)
    if not decided and not shelf.verdicts.has_rejections(stored):
        msg = f"Nobody decided about {stored.paper.ids} by hand."
        raise BadRequest(msg, f"See what the judges say: server.py audit '{stored.paper.ids.key}'")
    said = judged_again(decided, shelf, formats.read) if decided else stored
    return _told(ladder, shelf.verdicts.forget_rejections(said))


def _told(ladder: Ladder, said: StoredPaper) -> StoredPaper:
    """The harvests learn of it, too."""
    if said.kind in ("full_text", "rejected"):
        ledgers = Ledgers(ladder)
        try:
            tell(ledgers, said)
        finally:
            ledgers.close()
    return said
