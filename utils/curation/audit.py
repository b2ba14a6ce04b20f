"""Everything on the shelf before both judges again.

A text whose bytes were kept is read anew from them, any other is judged as the file it is. What
comes out otherwise than before is told, with the evidence; with *fix* the shelf takes the
consequences: a text that fails is ``rejected``, stays where it is, is served no more and asked for
anew, also by the harvests that counted it. Nothing is deleted, nobody is asked, and what somebody
decided by hand is left as it is.
"""

from __future__ import annotations

import logging
import os
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from typing import Any, Literal

from ..download.ladder import Ladder
from ..errors import NotFound, StoreFailed
from ..formats import JUDGES
from ..formats.aside import read_aside
from ..formats.judging import Read, judged
from ..harvest.told import Ledgers
from ..model.identifiers import Ids
from ..model.paper import StoredPaper
from ..store import Shelf, judge_again, with_judgement
from ..store.records import RawAnswer
from .reading import find

log = logging.getLogger(__name__)

_TEXTS = ("full_text", "rejected")
_READERS = 4
_AHEAD = 4  # files under way for each reader
_STAMPED = 100  # texts whose verdict stays are noted together


@dataclass(frozen=True, slots=True)
class Audited:
    """What the judges say of one text now.

    Parameters
    ----------
    outcome : str
        ``unchanged``; ``changed``; ``by_hand`` (somebody decided, and the judges were not asked);
        ``not_read`` (the file cannot be read: ``evidence`` says why).
    was, now : str
        Its kind, or the verdict of what was rejected.
    evidence : str
        What the verdict rests on.
    jobs : tuple of str
        Harvests that were told.
    """

    paper: str
    title: str
    outcome: Literal["unchanged", "changed", "by_hand", "not_read"]
    was: str
    now: str
    evidence: str
    file_path: str
    jobs: tuple[str, ...] = ()

    def row(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return {**asdict(self), "jobs": list(self.jobs)}


@dataclass(slots=True)
class Audit:
    """An audit; going through it does the work.

    Parameters
    ----------
    ladder : Ladder
        Of the shelf.
    files : sequence of str
        The texts to look at.
    fix : bool
        Whether the shelf takes the consequences.
    """

    ladder: Ladder
    files: Sequence[str]
    fix: bool = False
    read: Read = read_aside
    _stamped: list[StoredPaper] = field(default_factory=list)

    @property
    def shelf(self) -> Shelf:
        """What is audited."""
        return self.ladder.shelf

    def __iter__(self) -> Iterator[Audited]:
        """Judge every text, on all cores, and tell them in the order of the shelf.

        Raises
        ------
        StoreFailed
            The disk refuses the consequences.
        """
        ledgers = Ledgers(self.ladder)
        try:
            for stored, said in self._seen():
                yield self._consequence(stored, said, ledgers)
            self._stamp()
        finally:
            ledgers.close()

    def _seen(self) -> Iterator[tuple[StoredPaper, StoredPaper | Exception]]:
        """Each text that is there, and what is to be said of it; a few files ahead."""
        readers = min(_READERS, os.cpu_count() or 1)
        pool = ThreadPoolExecutor(readers, "audit")
        files = iter(self.files)
        under_way: deque[Future[tuple[StoredPaper, StoredPaper | Exception] | None]] = deque()
        try:
            while True:
                for file in islice(files, readers * _AHEAD - len(under_way)):
                    under_way.append(pool.submit(self._look, file))
                if not under_way:
                    return
                if found := under_way.popleft().result():
                    yield found
        finally:
            # Whoever stops listening (Ctrl-C, a closed pipe) wants no further text judged.
            pool.shutdown(wait=False, cancel_futures=True)

    def _look(self, file: str) -> tuple[StoredPaper, StoredPaper | Exception] | None:
        stored = self.shelf.find_by_file(file)
        if stored is None:  # gone since
            return None
        try:
            return stored, stored if stored.by_hand else judged_again(stored, self.shelf, self.read)
        except (StoreFailed, RuntimeError) as error:  # of one text; the others are still told
            return stored, error

    def _consequence(
        self, stored: StoredPaper, said: StoredPaper | Exception, ledgers: Ledgers
    ) -> Audited:
        was = now = shown(stored)
        if isinstance(said, Exception):
            return _audited(stored, "not_read", was, now, str(said))
        if stored.by_hand:
            return _audited(stored, "by_hand", was, now, stored.evidence)
        told: tuple[str, ...] = ()
        if self.fix and said.kind == "rejected":
            # First, and each time: an audit that was killed in between is made good by the next.
            told = tell(ledgers, said)
        if (now := shown(said)) == was:
            if self.fix:
                self._stamp(stored, said)
            return _audited(stored, "unchanged", was, now, said.evidence, told)
        if self.fix:
            try:
                said = self.shelf.verdicts.state(said)
            except NotFound as gone:
                return _audited(stored, "not_read", was, was, str(gone))
            told = told or tell(ledgers, said)
        return _audited(said, "changed", was, now, said.evidence, told)

    def _stamp(self, *confirmed: StoredPaper) -> None:
        """Note that today's judges confirm a text; many at once, and all that are left at last."""
        if confirmed:
            stored, said = confirmed
            kept = stored.evidence if said.kind == "rejected" else said.evidence
            self._stamped.append(replace(stored, evidence=kept, judges=JUDGES))
        if self._stamped and (not confirmed or len(self._stamped) >= _STAMPED):
            self.shelf.verdicts.state_all(self._stamped)
            self._stamped = []


def audit(ladder: Ladder, papers: Sequence[str | int | Ids] = (), *, fix: bool = False) -> Audit:
    """Judge texts of the shelf again.

    Parameters
    ----------
    ladder : Ladder
        Of the shelf.
    papers : sequence, optional
        Identifiers or file names, each for all versions of its paper; everything when empty.
    fix : bool, optional
        Take the consequences; else nothing is written.

    Raises
    ------
    NotFound
        A paper is not on the shelf.
    """
    shelf = ladder.shelf
    if not papers:
        return Audit(ladder, shelf.verdicts.files(*_TEXTS), fix)
    named = [find(str(paper), shelf) for paper in papers]
    texts = (one for stored in named for one in shelf.verdicts.versions(stored))
    files = dict.fromkeys(_name(one) for one in texts if one.kind in _TEXTS)
    return Audit(ladder, list(files), fix)


def judged_again(stored: StoredPaper, shelf: Shelf, read: Read = read_aside) -> StoredPaper:
    """*stored* with what today's judges say of its text; nothing is written.

    Raises
    ------
    StoreFailed
        The file cannot be read.
    """
    kept = _kept(stored, shelf)
    if kept and kept.ours:
        return with_judgement(stored, judged(kept.fetched, stored.paper, read))
    return judge_again(stored, shelf.read_text(stored), read)


def tell(ledgers: Ledgers, said: StoredPaper) -> tuple[str, ...]:
    """Have the harvests know of a text that has come, or is none any more."""
    return ledgers.record_arrival(said) if said.kind == "full_text" else ledgers.record_loss(said)


def shown(stored: StoredPaper) -> str:
    """What a stored paper is, in one word: its kind, or as what it was rejected.

    >>> from utils.model.paper import Paper
    >>> shown(StoredPaper(Paper(Ids()), "rejected", "", "", "", "", verdict="login"))
    'login'
    """
    return stored.verdict if stored.kind == "rejected" and not stored.by_hand else stored.kind


def _kept(stored: StoredPaper, shelf: Shelf) -> RawAnswer | None:
    with suppress(StoreFailed, EOFError, zlib.error):  # damaged: its text is still there
        return shelf.raw(stored)
    log.warning("What was kept of %s is damaged; its text is judged.", stored.path)
    return None


def _audited(
    stored: StoredPaper,
    outcome: Literal["unchanged", "changed", "by_hand", "not_read"],
    was: str,
    now: str,
    evidence: str,
    jobs: tuple[str, ...] = (),
) -> Audited:
    paper = stored.paper
    return Audited(str(paper.ids), paper.title, outcome, was, now, evidence, stored.path, jobs)


def _name(stored: StoredPaper) -> str:
    return stored.path.replace("\\", "/").rpartition("/")[2]
