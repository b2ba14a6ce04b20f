"""Harvests brought up to date with texts that came, or were rejected, outside of them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from ..download.ladder import Ladder
from ..model.paper import Paper, StoredPaper
from ..store import body_of
from ..store.ledger import Ledger
from .jobs import Harvest, every_job, of_id

_LEAST_WORDS = 4  # words of a title that stand for a citation without identifier


@dataclass(slots=True)
class Ledgers:
    """The ledgers of a shelf, each opened once; closing them brings the reports up to date."""

    ladder: Ladder
    _all: list[Ledger] | None = None
    _touched: dict[str, Ledger] = field(default_factory=dict)

    @property
    def all(self) -> list[Ledger]:
        """Every ledger, opened when first needed."""
        if self._all is None:
            self._all = [of_id(job.job_id, self.ladder) for job in every_job(self.ladder)]
        return self._all

    def record_arrival(self, stored: StoredPaper) -> tuple[str, ...]:
        """Record a text in the harvests that lacked it; which they are."""
        text = body_of(self.ladder.shelf.read_text(stored))
        sha256 = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        changed = []
        for ledger in self.all:
            numbers = {*ledger.numbers_of(stored.paper.ids), *_cited(ledger, stored.paper)}
            if sum(ledger.record_brought(number, stored, sha256) for number in sorted(numbers)):
                changed.append(ledger.path.stem)
            if numbers:  # also where it was told before, and we were killed before its report
                self._touched[ledger.path.stem] = ledger
        return tuple(changed)

    def record_loss(self, stored: StoredPaper) -> tuple[str, ...]:
        """Reopen a paper in the harvests that counted its text, rejected since; which they are."""
        changed = []
        file = stored.path.replace("\\", "/").rpartition("/")[2]
        for ledger in self.all:
            numbers = ledger.numbers_of(stored.paper.ids)
            if sum(ledger.reopen_lost(number, file) for number in numbers):
                changed.append(ledger.path.stem)
            if numbers:
                self._touched[ledger.path.stem] = ledger
        return tuple(changed)

    def close(self) -> None:
        """Write the reports of the changed harvests anew, and close the ledgers."""
        for ledger in self._touched.values():
            Harvest(ledger, self.ladder).report()
        for ledger in self._all or ():
            ledger.close()


def _cited(ledger: Ledger, paper: Paper) -> list[int]:
    """Papers of a harvest that were asked for in words only, and are this one."""
    from ..judges.likeness import telling_words, title_words

    title = " ".join(title_words(paper.title))
    if telling_words(paper.title) < _LEAST_WORDS:
        return []
    return [n for n, asked in ledger.nameless() if title in " ".join(title_words(asked))]
