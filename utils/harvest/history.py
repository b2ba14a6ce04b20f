"""What the harvests of a shelf were told before: by route, what became of each paper."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from ..errors import StoreFailed
from ..model.paper import INCONCLUSIVE, Attempt, who_answered
from ..model.versions import OTHER_VERSION
from ..store.ledger import Ledger
from ..system.safe_files import disk

log = logging.getLogger(__name__)
_Z = 1.96  # of the normal distribution, for an interval of 95 %
ENOUGH = 30
"""Papers that reached a route before a shelf's own share says more than the published one."""

Told = dict[str, list[Attempt]]
"""By route, the attempts that ended in an answer."""


def ledgers_folder(shelf: Path) -> Path:
    """Where the ledgers of a shelf lie."""
    return shelf / ".papershelf" / "jobs"


def each_ledger(shelf: Path) -> Iterator[Ledger]:
    """Every ledger of a shelf, opened one after the other; damaged ones are left out."""
    with disk(ledgers_folder(shelf), "read"):
        paths = sorted(ledgers_folder(shelf).glob("*.db"))
    for path in paths:
        try:
            ledger = Ledger(path)
        except StoreFailed as damaged:  # the others are still worth reading
            log.warning("%s", damaged)
            continue
        with closing(ledger):
            yield ledger


def told(attempts: Iterable[Attempt]) -> Told:
    """What routes answered; those that could not tell, or were not really asked, are left out."""
    asked = [one for one in attempts if one.outcome != "skipped" and not _is_needless(one)]
    answered = who_answered(asked, INCONCLUSIVE)
    routes: Told = {}
    for one in asked:
        if one.source in answered:
            routes.setdefault(one.source, []).append(one)
    return routes


def _is_needless(attempt: Attempt) -> bool:
    """Whether nobody was asked: a text that came has an address."""
    return attempt.outcome == OTHER_VERSION and not attempt.url


class Share(NamedTuple):
    """Of the papers that reached a route, the part that ended there: at least, at most."""

    least: float
    most: float
    papers: int


def learned_shares(shelf: Path, enough: int = ENOUGH) -> dict[str, Share]:
    """The shares of the routes that at least so many papers of a shelf's harvests reached.

    As Wilson's interval of 95 % (Wilson, J Am Stat Assoc 1927;22:209).
    """
    reached: Counter[str] = Counter()
    ended: Counter[str] = Counter()
    for ledger in each_ledger(shelf):
        with suppress(StoreFailed):  # a damaged one teaches nothing
            for (via, outcome), number in Counter(_last_words(ledger)).items():
                reached[via] += number
                ended[via] += number * (outcome == "saved")
    return {
        via: Share(*wilson(ended[via], number), number)
        for via, number in reached.items()
        if number >= enough
    }


def _last_words(ledger: Ledger) -> Iterator[tuple[str, str]]:
    """Every route that answered about a paper, with the outcome."""
    for _, tried in ledger.tried():
        for via, attempts in told(tried).items():
            yield via, attempts[-1].outcome


def wilson(hits: int, number: int, z: float = _Z) -> tuple[float, float]:
    """The interval in which a share lies of which *hits* out of *number* were seen.

    >>> [round(end, 3) for end in wilson(8, 10)]
    [0.49, 0.943]
    """
    share = hits / number
    middle = (share + z * z / (2 * number)) / (1 + z * z / number)
    half = (
        z / (1 + z * z / number) * math.sqrt(share * (1 - share) / number + (z / number) ** 2 / 4)
    )
    return max(0.0, middle - half), min(1.0, middle + half)
