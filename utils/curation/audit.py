"""Judge every text of the shelf again, and record manual verdicts that overrule the judges.

A text whose bytes were kept is read again from them; any other text is judged as it is, and
so is what the user's server or text recognition read in a PDF, because an audit asks nobody.
Changed verdicts are reported with their evidence. With *fix* they are written: a text that fails is
``rejected``, stays where it is, is no longer served, and is asked for again, also by the harvests
that counted it. A text whose file is gone is made again from the kept bytes. Nothing is deleted and
no site is asked.

A person's decision is recorded with its reason and shown wherever the text is shown. No audit
changes it, and a text that somebody rejected is not taken again from any source.

`reread_texts` makes texts again from the kept bytes when a reader has become better. A text is only
replaced by one that passes both judges; a reading that fails them is reported, and the text that
was there stays.
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
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from .. import readers as formats
from ..command_line import command_line
from ..download.ladder import Ladder
from ..errors import BadContent, BadRequest, NotFound, StoreFailed
from ..harvest.jobs import Ledgers
from ..model.identifiers import Ids
from ..model.paper import Fetched, StoredPaper
from ..model.verdicts import ComparisonData
from ..readers import JUDGE_VERSION, Read, judge_fetched_response
from ..readers.reader_processes import read_and_judge_in_child
from ..shelf import ADOPTED, Shelf, add_judged_kind_and_verdict, rejudge_text
from ..shelf.record import RawAnswer
from ..system.plain_text import one_line
from .conversion import refresh_notes
from .reading import find_stored_paper

log = logging.getLogger(__name__)
_AUDITED_KINDS = ("full_text", "rejected")
_READERS = 4
_FILES_PER_READER = 4  # files under way for each reader
_CONFIRM_BATCH = 100  # texts whose verdict stays are written together
Decision = Literal["full_text", "rejected"]
Outcome = Literal["unchanged", "changed", "by_hand", "not_read", "lost", "restored", "pdf_missing"]
_LOST = "The file is missing. audit --fix restores it from the stored download, where there is one."
_RESTORED = "The file was missing; it was restored from the stored download."
_NOTHING_KEPT = (
    "The file is missing and no download was stored, so the paper will be downloaded again."
)


@dataclass(frozen=True, slots=True)
class AuditResult:
    """The verdict of the current judges about one text.

    Parameters
    ----------
    outcome : str
        ``unchanged``; ``changed``; ``by_hand`` (decided by hand: not judged); ``not_read`` (the
        file cannot be read: ``evidence`` says why); ``lost`` (the file is gone); ``restored`` (it
        was gone, and is made again from the kept bytes); ``pdf_missing`` (the person's file that
        is its PDF was moved or changed: ``evidence`` says what to type).
    was, now : str
        Its kind, or the verdict of what was rejected.
    evidence : str
        What the verdict rests on.
    jobs : tuple of str
        Harvests whose ledgers were changed.
    """

    paper: str
    title: str
    outcome: Outcome
    was: str
    now: str
    evidence: str
    file_path: str
    jobs: tuple[str, ...] = ()

    def row(self) -> dict[str, Any]:
        """Return the fields as a JSON-serialisable dict."""
        return {**asdict(self), "jobs": list(self.jobs)}


class _JudgedText(NamedTuple):
    """A text, its new verdict or the error, and the problem with its PDF."""

    stored: StoredPaper
    judged: StoredPaper | Exception
    pdf_problem: str


@dataclass(slots=True)
class Audit:
    """An audit; iterating over it does the work.

    Parameters
    ----------
    ladder : Ladder
        Of the shelf.
    files : sequence of str
        The texts to look at.
    fix : bool
        Whether changed verdicts are written.
    """

    ladder: Ladder
    files: Sequence[str]
    fix: bool = False
    read: Read = read_and_judge_in_child
    _confirmed: list[StoredPaper] = field(default_factory=list)

    @property
    def shelf(self) -> Shelf:
        """The shelf that is audited."""
        return self.ladder.shelf

    def __iter__(self) -> Iterator[AuditResult]:
        """Judge every text on all cores: lost texts first, the others in the order of the shelf.

        Raises
        ------
        StoreFailed
            A changed verdict cannot be written.
        """
        ledgers = Ledgers(self.ladder)
        try:
            present = []
            for file in self.files:
                if lost := self.shelf.find_lost_text(file):
                    yield self._restore_lost_text(lost, ledgers)
                else:
                    present.append(file)
            for one in self._judge_texts(present):
                result = self._apply_verdict(one.stored, one.judged, ledgers)
                yield _add_pdf_problem(result, one.pdf_problem)
            self._store_confirmations()
            if self.fix:
                refresh_notes(self.shelf)
        finally:
            ledgers.close()

    def _restore_lost_text(self, lost: StoredPaper, ledgers: Ledgers) -> AuditResult:
        """Restore a lost text from the stored download; else remove it and reopen its paper."""
        was = get_kind_or_verdict(lost)
        if not self.fix:
            return _build_audit_result(lost, "lost", was, was, _LOST)
        file = _get_file_name(lost)
        if made := self.shelf.restore_text(file):
            return _build_audit_result(made, "restored", was, get_kind_or_verdict(made), _RESTORED)
        self.shelf.find_paper_by_file(file)  # which takes it out of the catalogue
        return _build_audit_result(lost, "lost", was, was, _NOTHING_KEPT, ledgers.record_loss(lost))

    def _judge_texts(self, names: Sequence[str]) -> Iterator[_JudgedText]:
        """Yield each existing text with today's verdict; some files are judged ahead."""
        readers = min(_READERS, os.cpu_count() or 1)
        pool = ThreadPoolExecutor(readers, "audit")
        files = iter(names)
        under_way: deque[Future[_JudgedText | None]] = deque()
        try:
            while True:
                for file in islice(files, readers * _FILES_PER_READER - len(under_way)):
                    under_way.append(pool.submit(self._judge_text_file, file))
                if not under_way:
                    return
                if judged_text := under_way.popleft().result():
                    yield judged_text
        finally:
            # After Ctrl-C or a closed pipe, no further text is judged.
            pool.shutdown(wait=False, cancel_futures=True)

    def _judge_text_file(self, file: str) -> _JudgedText | None:
        """Judge a text again; None if the file is gone."""
        stored = self.shelf.find_paper_by_file(file)
        if stored is None:  # gone since
            return None
        problem = self.shelf.pdfs.find_pdf_problem(stored, reads_bytes=True)
        try:
            judged = stored if stored.by_hand else judge_stored_text(stored, self.shelf, self.read)
        except (StoreFailed, RuntimeError) as error:  # of one text; the others go on
            return _JudgedText(stored, error, problem)
        return _JudgedText(stored, judged, problem)

    def _apply_verdict(
        self, stored: StoredPaper, judged_text: StoredPaper | Exception, ledgers: Ledgers
    ) -> AuditResult:
        """Write a changed verdict if `fix` is set, and return the result."""
        was = now = get_kind_or_verdict(stored)
        if isinstance(judged_text, Exception):
            return _build_audit_result(stored, "not_read", was, now, str(judged_text))
        if stored.by_hand:
            return _build_audit_result(stored, "by_hand", was, now, stored.evidence)
        jobs: tuple[str, ...] = ()
        if self.fix and judged_text.kind == "rejected":
            # First, and each time: the next audit completes one that was killed in between.
            jobs = update_ledgers(ledgers, judged_text)
        if (now := get_kind_or_verdict(judged_text)) == was:
            if self.fix:
                self._store_confirmations(stored, judged_text)
            return _build_audit_result(stored, "unchanged", was, now, judged_text.evidence, jobs)
        if self.fix:
            try:
                judged_text = self.shelf.verdicts.set_verdict(judged_text)
            except NotFound as gone:
                return _build_audit_result(stored, "not_read", was, was, gone.text)
            jobs = jobs or update_ledgers(ledgers, judged_text)
        return _build_audit_result(judged_text, "changed", was, now, judged_text.evidence, jobs)

    def _store_confirmations(self, *confirmed: StoredPaper) -> None:
        """Store verdicts that the judges confirmed, in batches; without arguments, the rest."""
        if confirmed:
            stored, judged_text = confirmed
            kept = stored.evidence if judged_text.kind == "rejected" else judged_text.evidence
            self._confirmed.append(replace(stored, evidence=kept, judges=JUDGE_VERSION))
        if self._confirmed and (not confirmed or len(self._confirmed) >= _CONFIRM_BATCH):
            self.shelf.verdicts.set_verdicts(self._confirmed)
            self._confirmed = []


def audit_texts(
    ladder: Ladder, papers: Sequence[str | int | Ids] = (), *, fix: bool = False
) -> Audit:
    """Return an audit that judges texts on the shelf again when it is iterated over.

    Parameters
    ----------
    ladder : Ladder
        Of the shelf.
    papers : sequence, optional
        Identifiers or file names, each for all versions of its paper; everything when empty.
    fix : bool, optional
        Write changed verdicts; else nothing is written.

    Raises
    ------
    NotFound
        A paper is not on the shelf.
    """
    shelf = ladder.shelf
    if not papers:
        every = shelf.verdicts.list_text_files(*_AUDITED_KINDS)
        every += [
            file
            for file in shelf.verdicts.list_text_files("abstract", "record")
            if shelf.find_lost_text(file)
        ]
        return Audit(ladder, every, fix)
    texts = (one for paper in papers for one in _list_versions(str(paper), shelf))
    files = dict.fromkeys(
        _get_file_name(one)
        for one in texts
        if one.kind in _AUDITED_KINDS or shelf.find_lost_text(_get_file_name(one))
    )
    return Audit(ladder, list(files), fix)


def _list_versions(paper: str, shelf: Shelf) -> list[StoredPaper]:
    """Return all texts of a paper that the shelf has or has lost."""
    lost = shelf.find_lost_text(paper.strip())
    ids = lost.paper.ids if lost else Ids.maybe(paper)
    known = shelf.verdicts.list_text_versions(ids) if ids else []
    if any(
        shelf.find_lost_text(_get_file_name(one)) for one in known
    ):  # which looking the paper up would drop
        return known
    return shelf.verdicts.list_text_versions(find_stored_paper(paper, shelf).paper.ids)


def judge_stored_text(
    stored: StoredPaper, shelf: Shelf, read: Read = read_and_judge_in_child
) -> StoredPaper:
    """Return *stored* with the verdict of today's judges; nothing is written.

    Raises
    ------
    StoreFailed
        The file cannot be read.
    """
    words = shelf.list_journal_word_counts(stored.paper, Path(stored.path).name)
    read = partial(read, comparison=ComparisonData(journal_words=words))
    raw = _read_kept_answer(stored, shelf)
    if raw and raw.ours and formats.is_built_in_reader(raw.extractor):
        return add_judged_kind_and_verdict(
            stored, judge_fetched_response(raw.fetched, stored.paper, read)
        )
    return rejudge_text(stored, shelf.read_text(stored), read)


def update_ledgers(ledgers: Ledgers, stored: StoredPaper) -> tuple[str, ...]:
    """Record in the ledgers that a text became or ceased to be a full text; return job IDs."""
    return (
        ledgers.record_arrival(stored)
        if stored.kind == "full_text"
        else ledgers.record_loss(stored)
    )


def get_kind_or_verdict(stored: StoredPaper) -> str:
    """Return a stored paper's kind, or its verdict if it was rejected or kept with doubts.

    >>> from utils.model.paper import Paper
    >>> get_kind_or_verdict(StoredPaper(Paper(Ids()), "rejected", "", "", "", "", verdict="login"))
    'login'
    """
    is_named = stored.is_doubtful or (stored.kind == "rejected" and not stored.by_hand)
    return stored.verdict if is_named else stored.kind


def _read_kept_answer(stored: StoredPaper, shelf: Shelf) -> RawAnswer | None:
    """Return the kept bytes of a text; None if missing or damaged."""
    with suppress(StoreFailed, EOFError, zlib.error):  # damaged: its text is still there
        return shelf.read_raw_answer(stored)
    log.warning("The stored download of %s is damaged; its text is judged instead.", stored.path)
    return None


def _build_audit_result(
    stored: StoredPaper,
    outcome: Outcome,
    was: str,
    now: str,
    evidence: str,
    jobs: tuple[str, ...] = (),
) -> AuditResult:
    paper = stored.paper
    return AuditResult(str(paper.ids), paper.title, outcome, was, now, evidence, stored.path, jobs)


def _add_pdf_problem(result: AuditResult, problem: str) -> AuditResult:
    """Return a result that also reports what is wrong with the PDF of the text."""
    if not problem:
        return result
    if result.outcome in ("unchanged", "by_hand"):
        return replace(result, outcome="pdf_missing", evidence=problem)
    return replace(result, evidence=f"{result.evidence} {problem}")


def _get_file_name(stored: StoredPaper) -> str:
    return stored.path.replace("\\", "/").rpartition("/")[2]


def record_manual_verdict(
    ladder: Ladder, paper: str | int | Ids, decided: Decision, because: str
) -> StoredPaper:
    """Record by hand whether the text on the shelf is the whole paper.

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
        raise BadRequest(f"{decided!r} is not a decision.", "Give full_text or rejected.")
    if not because:
        raise BadRequest("A decision by hand needs a reason.", 'Give it: because="a short letter"')
    stored = find_stored_paper(str(paper), ladder.shelf)
    if stored.kind in ("abstract", "record") and not (
        decided == "full_text" and stored.via == ADOPTED
    ):
        msg = f"Only the {stored.kind} of {stored.paper.ids} is on the shelf."
        hint = (
            f"Drop its text into the shelf's inbox/, then: {command_line('harvest inbox --accept')}"
        )
        raise BadRequest(msg, hint)
    changed = replace(stored, kind=decided, verdict="by_hand", evidence=because, judges=0)
    verdicts = ladder.shelf.verdicts
    change = verdicts.clear_rejections if decided == "full_text" else verdicts.reject_text
    return _update_harvest_ledgers(ladder, change(changed))


def undo_manual_verdict(ladder: Ladder, paper: str | int | Ids) -> StoredPaper:
    """Undo a manual verdict, so that the judges decide again; return the text.

    Raises
    ------
    BadRequest
        Nothing was decided by hand.
    NotFound
        The paper is not on the shelf.
    """
    shelf = ladder.shelf
    stored = find_stored_paper(str(paper), shelf)
    decided = shelf.verdicts.find_manual_decision(stored)
    if not decided and not shelf.verdicts.has_rejections(stored):
        msg = f"{stored.paper.ids} has no decision by hand."
        audit = command_line(f"shelf audit '{stored.paper.ids.key}'")
        raise BadRequest(msg, f"To see the judges' verdict: {audit}")
    changed = judge_stored_text(decided, shelf, formats.read_and_judge) if decided else stored
    return _update_harvest_ledgers(ladder, shelf.verdicts.clear_rejections(changed))


def _update_harvest_ledgers(ladder: Ladder, changed: StoredPaper) -> StoredPaper:
    """Write the change into the ledgers of the harvests."""
    if changed.kind in ("full_text", "rejected"):
        ledgers = Ledgers(ladder)
        try:
            update_ledgers(ledgers, changed)
        finally:
            ledgers.close()
    return changed


@dataclass(frozen=True, slots=True)
class RereadText:
    """The outcome for one text: ``changed``, ``unchanged``, or ``kept``, and the reason."""

    paper: str
    outcome: Literal["changed", "unchanged", "kept"]
    detail: str
    file_path: str

    def row(self) -> dict[str, Any]:
        """Return the fields as a JSON-serialisable dict."""
        return asdict(self)


def reread_texts(shelf: Shelf, *, everything: bool = False) -> Iterator[RereadText]:
    """Read the kept downloads again with the current readers; yield the outcome of each text.

    Parameters
    ----------
    shelf : Shelf
    everything : bool, optional
        Also texts that the present version of their reader made.

    Yields
    ------
    Renewal
        One for each full text whose bytes were kept and whose reader has changed. A text that
        was edited by hand is kept.
    """
    for file in shelf.verdicts.list_text_files("full_text"):
        stored = shelf.find_paper_by_file(file)
        raw = shelf.read_raw_answer(stored) if stored else None
        if not stored or not raw:
            continue
        if not everything and raw.extractor == formats.get_extractor_name(raw.fetched.media):
            continue
        if not formats.is_built_in_reader(raw.extractor):
            detail = (
                f"{raw.extractor} read it better than Papershelf's reader (download --force "
                "fetches the text again)"
            )
            yield RereadText(str(stored.paper.ids), "kept", detail, stored.path)
        elif raw.ours:
            yield _reread_text(stored, raw.fetched, shelf)
        else:
            detail = "the file was changed by hand (download --force replaces it)"
            yield RereadText(str(stored.paper.ids), "kept", detail, stored.path)


def _reread_text(stored: StoredPaper, fetched: Fetched, shelf: Shelf) -> RereadText:
    """Read the kept download of a text again, and replace the text if the result differs."""
    name, path = str(stored.paper.ids), stored.path
    try:
        document = formats.read_and_judge(fetched, stored.paper)
    except BadContent as bad:
        return RereadText(
            name, "kept", f"the current reader says {bad.outcome}: {bad.message}", path
        )
    if document.verdict == "partial" != stored.verdict:
        return RereadText(name, "kept", f"today's reader finds a part: {document.evidence}", path)
    before = len(shelf.read_text(stored))
    renewed = shelf.replace_text_by_rereading(stored, document)
    if renewed.sha256 == stored.sha256:
        return RereadText(name, "unchanged", "the same text", path)
    after = len(shelf.read_text(renewed))
    return RereadText(name, "changed", f"{after - before:+,} characters", renewed.path)
