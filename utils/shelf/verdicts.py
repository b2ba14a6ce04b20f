"""The verdicts on the texts of a shelf, and how they change while the texts stay.

A file of ours carries kind and verdict in its header, which is written anew; a foreign file is not
touched, and only its record changes. Nothing is deleted.
"""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import NotFound, StoreFailed
from ..model.identifiers import Ids
from ..model.paper import Document, StoredPaper
from ..readers import JUDGE_VERSION
from ..system import safe_files
from ..system.plain_text import clean_text, one_line
from . import paper_file
from .catalogue import CatalogueBroken, healing
from .record import Record, sha256
from .shelf_writer import Plan, ShelfWriter

log = logging.getLogger(__name__)

_TOGETHER = 100
_JUDGED = "judged by"


def describe_due(texts: int) -> str:
    """Return a sentence saying that only older judges have seen *texts* texts.

    >>> describe_due(1), describe_due(1200)
    ('1 text was not seen by the present judges', '1,200 texts were not seen by the present judges')
    """
    noun = "1 text was" if texts == 1 else f"{texts:,} texts were"
    return f"{noun} not seen by the present judges"


class Verdicts:
    """The verdicts of one shelf.

    Parameters
    ----------
    filing : Filing
    surveyed : callable
        Has the catalogue know every file; False where there is none.
    heal : callable
        Makes a damaged catalogue again.
    """

    def __init__(
        self,
        writer: ShelfWriter,
        survey: Callable[[], bool],
        heal: Callable[[CatalogueBroken], None],
    ) -> None:
        self._writer = writer
        self._catalogue = writer.catalogue
        self._survey = survey
        self.heal = heal

    @healing
    def files(self, *kinds: str) -> list[str]:
        """The names of the files of these kinds, the oldest first."""
        return self._catalogue.files(kinds) if self._survey() else []

    @healing
    def due(self) -> int:
        """Return how many texts today's judges have not seen, without decisions by hand."""
        if not self._survey() or self._catalogue.note(_JUDGED) == str(JUDGE_VERSION):
            return 0
        if found := self._catalogue.unjudged(JUDGE_VERSION):
            return found
        try:  # whatever comes is judged as it comes: nobody need look through all again
            self._catalogue.set_note(_JUDGED, str(JUDGE_VERSION))
        except StoreFailed as error:
            log.info("The shelf is only read: %s", error.text)
        return 0

    @healing
    def state(self, changed: StoredPaper) -> StoredPaper:
        """Have the shelf say of a text what *said* says: kind, verdict, evidence, judges.

        Raises
        ------
        NotFound
            Its file is gone, or was changed meanwhile.
        StoreFailed
            The disk refused; nothing has changed.
        """
        return self._restate_text(changed).stored

    @healing
    def state_all(self, many: Iterable[StoredPaper]) -> None:
        """State verdicts of texts whose header stays, in one change for a hundred of them.

        Those that are gone or were changed meanwhile are passed over.
        """
        several = iter(many)
        while batch := list(itertools.islice(several, _TOGETHER)):
            self._restate_batch(batch)

    @healing
    def reject_by_hand(self, changed: StoredPaper) -> StoredPaper:
        """State a rejection, and refuse the same text from now on."""
        digest = _compute_digest(self._writer.read(Record(changed)))
        return self._restate_text(changed, refusing=(digest, changed.evidence)).stored

    @healing
    def forget_rejections(self, changed: StoredPaper) -> StoredPaper:
        """State a verdict, and refuse no text of the paper any more."""
        done = self._restate_text(changed, forgiving=True)
        with self._catalogue.writing():
            for entry, record in self._writer.same_paper(done.ids):
                if record.refused:  # the entry of another version remembers, too
                    self._writer.amend(entry, replace(record, refused=()))
        return done.stored

    @healing
    def rejection_reason(self, ids: Ids, document: Document) -> str:
        """Return why a person rejected this very text of a paper; else empty."""
        if not self._catalogue.exists():
            return ""
        known = dict(one for _, record in self._writer.same_paper(ids) for one in record.refused)
        return known.get(_compute_digest(clean_text(document.markdown)), "") if known else ""

    @healing
    def has_rejections(self, stored: StoredPaper) -> bool:
        """Return whether a person rejected a text of this paper."""
        return any(record.refused for _, record in self._writer.same_paper(stored.paper.ids))

    @healing
    def versions(self, ids: Ids) -> list[StoredPaper]:
        """Return all that the catalogue has of a paper."""
        if not self._survey():
            return []
        return [record.stored for _, record in self._writer.same_paper(ids)]

    def decided_by_hand(self, stored: StoredPaper) -> StoredPaper | None:
        """Return the paper's text that a person decided about, else another version's."""
        by_hand = [one for one in self.versions(stored.paper.ids) if one.by_hand]
        return next((one for one in by_hand if one.path == stored.path), (*by_hand, None)[0])

    def _restate_text(
        self,
        changed: StoredPaper,
        *,
        refusing: tuple[str, str] | None = None,
        forgiving: bool = False,
    ) -> Record:
        def plan() -> Plan:
            planned = self._plan(changed)
            if planned is None:
                msg = f"{Path(changed.path).name} was deleted or changed meanwhile."
                raise NotFound(msg, "Look it up again.")
            before = () if forgiving else planned.record.refused
            after = (*before, refusing) if refusing else before
            return replace(planned, record=replace(planned.record, refused=after))

        return self._writer.change_announced(plan, self._writer.restate)

    def _plan(self, changed: StoredPaper) -> Plan | None:
        """The change of an entry, whatever else is known of it stays; None when it is another now.

        A file that a hand has just changed is judged anew before anything is said of it.
        """
        entry = self._catalogue.by_file(Path(changed.path).name)
        if entry is None or safe_files.read_stamp(Path(changed.path)) != (
            entry.size,
            entry.mtime_ns,
        ):
            return None
        known = Record.from_json(entry.record, self._writer.folder)
        return Plan(_with_verdict(known, changed), writes=False, same=((entry, known),))

    def _restate_batch(self, batch: Sequence[StoredPaper]) -> None:
        writer, catalogue = self._writer, self._catalogue
        with catalogue.writing():
            for changed in batch:
                catalogue.announce_change(Path(changed.path).name, "register", time.time())
        with catalogue.writing():
            plans = [plan for changed in batch if (plan := self._plan(changed))]
            records = [plan.record for plan in plans]
            written = [(writer.record_path(r.file), r.to_json().encode()) for r in records]
            safe_files.write_files(written)
            for plan in plans:
                writer.enter(plan.record, plan.same)
            for changed in batch:
                catalogue.done(Path(changed.path).name, "register")


def _with_verdict(known: Record, changed: StoredPaper) -> Record:
    stored = replace(
        known.stored,
        kind=changed.kind,
        verdict=changed.verdict,
        evidence=one_line(changed.evidence),
        judges=changed.judges,
    )
    return replace(known, stored=stored)


def _compute_digest(text: str) -> str:
    """Return the checksum of a text without its header."""
    return sha256(paper_file.body_of(text).strip("\n").encode("utf-8", "replace"))
