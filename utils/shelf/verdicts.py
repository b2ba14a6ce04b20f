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
from .catalogue import CatalogueDamaged, repair_and_retry
from .record import ShelfRecord, compute_sha256
from .shelf_writer import FilingPlan, ShelfWriter

log = logging.getLogger(__name__)

_TOGETHER = 100
_JUDGED = "judged by"


def describe_unjudged_texts(texts: int) -> str:
    """Return a sentence with the number of texts that the present judges have not judged.

    >>> describe_unjudged_texts(1), describe_unjudged_texts(1200)
    ('1 text was not seen by the present judges', '1,200 texts were not seen by the present judges')
    """
    noun = "1 text was" if texts == 1 else f"{texts:,} texts were"
    return f"{noun} not seen by the present judges"


class Verdicts:
    """The verdicts of one shelf.

    Parameters
    ----------
    writer : ShelfWriter
    survey : callable
        Catalogues every file; returns False if there are no files.
    repair_catalogue : callable
        Rebuilds a damaged catalogue.
    """

    def __init__(
        self,
        writer: ShelfWriter,
        survey: Callable[[], bool],
        repair_catalogue: Callable[[CatalogueDamaged], None],
    ) -> None:
        self._writer = writer
        self._catalogue = writer.catalogue
        self._survey = survey
        self.repair_catalogue = repair_catalogue

    @repair_and_retry
    def list_text_files(self, *kinds: str) -> list[str]:
        """Return the names of the files of these kinds, the oldest first."""
        return self._catalogue.list_files(kinds) if self._survey() else []

    @repair_and_retry
    def count_unjudged_texts(self) -> int:
        """Return how many texts the present judges have not judged, without manual decisions."""
        if not self._survey() or self._catalogue.get_fact(_JUDGED) == str(JUDGE_VERSION):
            return 0
        if found := self._catalogue.count_unjudged_texts(JUDGE_VERSION):
            return found
        try:  # whatever comes is judged as it comes: nobody need look through all again
            self._catalogue.set_fact(_JUDGED, str(JUDGE_VERSION))
        except StoreFailed as error:
            log.info("The shelf cannot be written, and is only read: %s", error.text)
        return 0

    @repair_and_retry
    def set_verdict(self, changed: StoredPaper) -> StoredPaper:
        """Store kind, verdict, evidence and judges of *changed* as the text's own.

        Raises
        ------
        NotFound
            Its file is gone, or was changed meanwhile.
        StoreFailed
            The disk refused; nothing has changed.
        """
        return self._store_verdict(changed).stored

    @repair_and_retry
    def set_verdicts(self, many: Iterable[StoredPaper]) -> None:
        """Store the verdicts of many texts whose headers stay, a hundred in one change.

        Those that are gone or were changed meanwhile are passed over.
        """
        several = iter(many)
        while batch := list(itertools.islice(several, _TOGETHER)):
            self._store_verdict_batch(batch)

    @repair_and_retry
    def reject_text(self, changed: StoredPaper) -> StoredPaper:
        """Store a rejection by a person, and reject the same text from now on."""
        digest = _hash_text_body(self._writer.read_text(ShelfRecord(changed)))
        return self._store_verdict(changed, refusing=(digest, changed.evidence)).stored

    @repair_and_retry
    def clear_rejections(self, changed: StoredPaper) -> StoredPaper:
        """Store a verdict, and delete all rejections of the paper's texts by a person."""
        done = self._store_verdict(changed, forgiving=True)
        with self._catalogue.open_transaction():
            for entry, record in self._writer.find_entries(done.ids):
                if record.refused:  # the entry of another version remembers, too
                    self._writer.update_record(entry, replace(record, refused=()))
        return done.stored

    @repair_and_retry
    def find_rejection_reason(self, ids: Ids, document: Document) -> str:
        """Return the reason why a person rejected exactly this text; "" without a rejection."""
        if not self._catalogue.exists():
            return ""
        known = dict(one for _, record in self._writer.find_entries(ids) for one in record.refused)
        return known.get(_hash_text_body(clean_text(document.markdown)), "") if known else ""

    @repair_and_retry
    def has_rejections(self, stored: StoredPaper) -> bool:
        """Return whether a person rejected a text of this paper."""
        return any(record.refused for _, record in self._writer.find_entries(stored.paper.ids))

    @repair_and_retry
    def list_text_versions(self, ids: Ids) -> list[StoredPaper]:
        """Return every catalogued text of a paper."""
        if not self._survey():
            return []
        return [record.stored for _, record in self._writer.find_entries(ids)]

    def find_manual_decision(self, stored: StoredPaper) -> StoredPaper | None:
        """Return the text with a manual decision: this version, otherwise another version."""
        by_hand = [one for one in self.list_text_versions(stored.paper.ids) if one.by_hand]
        return next((one for one in by_hand if one.path == stored.path), (*by_hand, None)[0])

    def _store_verdict(
        self,
        changed: StoredPaper,
        *,
        refusing: tuple[str, str] | None = None,
        forgiving: bool = False,
    ) -> ShelfRecord:
        def plan_change() -> FilingPlan:
            planned = self._plan_update(changed)
            if planned is None:
                msg = f"{Path(changed.path).name} was deleted or changed meanwhile."
                raise NotFound(msg, "Look it up again.")
            before = () if forgiving else planned.record.refused
            after = (*before, refusing) if refusing else before
            return replace(planned, record=replace(planned.record, refused=after))

        return self._writer.run_announced_change(plan_change, self._writer.rewrite_header)

    def _plan_update(self, changed: StoredPaper) -> FilingPlan | None:
        """Return the planned change of an entry; None if its file was deleted or changed meanwhile.

        A file that a hand has just changed is judged anew before anything is said of it.
        """
        entry = self._catalogue.find_entry_by_file(Path(changed.path).name)
        if entry is None or safe_files.read_file_stamp(Path(changed.path)) != (
            entry.size,
            entry.mtime_ns,
        ):
            return None
        known = ShelfRecord.from_json(entry.record, self._writer.folder)
        return FilingPlan(_replace_verdict(known, changed), writes=False, same=((entry, known),))

    def _store_verdict_batch(self, batch: Sequence[StoredPaper]) -> None:
        writer, catalogue = self._writer, self._catalogue
        with catalogue.open_transaction():
            for changed in batch:
                catalogue.announce_change(Path(changed.path).name, "register", time.time())
        with catalogue.open_transaction():
            plans = [plan for changed in batch if (plan := self._plan_update(changed))]
            records = [plan.record for plan in plans]
            written = [(writer.get_record_path(r.file), r.to_json().encode()) for r in records]
            safe_files.write_files(written)
            for plan in plans:
                writer.catalogue_record(plan.record, plan.same)
            for changed in batch:
                catalogue.clear_announcement(Path(changed.path).name, "register")


def _replace_verdict(known: ShelfRecord, changed: StoredPaper) -> ShelfRecord:
    stored = replace(
        known.stored,
        kind=changed.kind,
        verdict=changed.verdict,
        evidence=one_line(changed.evidence),
        judges=changed.judges,
    )
    return replace(known, stored=stored)


def _hash_text_body(text: str) -> str:
    """Return the checksum of a text without its header."""
    return compute_sha256(paper_file.strip_header(text).strip("\n").encode("utf-8", "replace"))
