"""The papers of a harvest that came without an identifier: what they are, or why nobody can say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..download.ladder import Ladder
from ..lists.pasted import Entry
from ..model.identifiers import Ids
from ..search.resolve import Resolution, resolve
from ..shelf.ledger import Ledger

IDENTIFIED_AT_ONCE = 50
_LOOK = "Look at them (server.py resolve LIST), and put the right identifier into the list."


def identify(
    ledger: Ledger, numbers: Sequence[int], ladder: Ladder
) -> Iterator[tuple[int, Resolution]]:
    """What some papers of a job are, by what its list says of them.

    Those that were reopened are looked for again; see `..search.resolve`.
    """
    asked = ledger.wanted(numbers)
    for anew in (False, True):
        chosen = [number for number, (*_, round_) in asked.items() if bool(round_) is anew]
        entries = (Entry(asked[number][1], Ids(), ledger.paper(number)) for number in chosen)
        yield from zip(chosen, resolve(entries, ladder.web, ladder.sources, anew=anew), strict=True)


def why_nameless(found: Resolution) -> str:
    """Why a paper has no identifier still, with what it may be."""
    head = f"“{found.asked}” came without an identifier"
    may_be = f"It may be {'; or '.join(map(str, found.candidates))}." if found.candidates else ""
    if found.status == "could_not_tell":
        return f"{head}, and could not be looked for: {found.message} {may_be}".strip()
    if found.status == "unreadable":
        return f"{head}, and says too little to be looked for."
    if not found.candidates:
        return f"{head}, and nothing like it was found."
    return f"{head}, and no paper is it for sure. {found.message} {may_be} {_LOOK}".replace(
        "  ", " "
    )
