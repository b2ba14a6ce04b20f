"""Decisions by hand: a person overrules the judges about one text, and may undo it.

A decision is recorded with its reason wherever the text is shown; no audit touches it. A text that
somebody rejected is not taken again from any source.
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
from .audit import judge_stored, update_ledgers
from .reading import find

Decision = Literal["full_text", "rejected"]


def keep(ladder: Ladder, paper: str | int | Ids, decided: Decision, because: str) -> StoredPaper:
    """Decide by hand that the text on the shelf is the whole paper, or that it is not.

    Parameters
    ----------
    ladder : Ladder
        Of the shelf.
    paper : str
        Any identifier, or the name of a file on the shelf.
    decided : str
        ``full_text`` or ``rejected``.
    because : str
        The reason; it is shown in list, index, report and lock.

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
    changed = replace(stored, kind=decided, verdict="by_hand", evidence=because, judges=0)
    verdicts = ladder.shelf.verdicts
    change = verdicts.forget_rejections if decided == "full_text" else verdicts.reject_by_hand
    return _update_harvests(ladder, change(changed))


def undo(ladder: Ladder, paper: str | int | Ids) -> StoredPaper:
    """Undo a decision by hand: the judges decide again.

    Raises
    ------
    BadRequest
        Nothing was decided by hand.
    NotFound
        The paper is not on the shelf.
    """
    shelf = ladder.shelf
    stored = find(str(paper), shelf)
    decided = shelf.verdicts.decided_by_hand(stored)
    if not decided and not shelf.verdicts.has_rejections(stored):
        msg = f"Nobody decided about {stored.paper.ids} by hand."
        raise BadRequest(msg, f"See what the judges say: server.py audit '{stored.paper.ids.key}'")
    changed = judge_stored(decided, shelf, formats.read) if decided else stored
    return _update_harvests(ladder, shelf.verdicts.forget_rejections(changed))


def _update_harvests(ladder: Ladder, changed: StoredPaper) -> StoredPaper:
    """Write the change into the ledgers of the harvests."""
    if changed.kind in ("full_text", "rejected"):
        ledgers = Ledgers(ladder)
        try:
            update_ledgers(ledgers, changed)
        finally:
            ledgers.close()
    return changed
