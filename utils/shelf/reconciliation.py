"""Update the catalogue from the files on the shelf, and repair interrupted changes.

- A change that a killed writer left half done is finished or undone.
- A deleted file loses its entry.
- A lost catalogue is made again from the records, and from files that have none.
- A file of ours with another header: the header is read again.
- A text that a hand edited still has nine tenths of its lines, or the judges accept it.
- A text that was cut is the beginning of what we wrote, as a full disk or a killed copy leaves it.
  It is made again from the kept bytes.
- Where something else lies in its place, the judges reject it. The text is made again from the kept
  bytes, and what lay there is moved to the quarantine. Without kept bytes the paper is
  ``rejected``, so that nothing serves it and it is asked for again.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from .. import readers as formats
from ..errors import StoreFailed
from ..model.identifiers import Ids
from ..model.paper import Document, Fetched, Paper, StoredPaper, utc_now
from ..readers.reader_processes import read_and_judge_in_child
from ..system import safe_files
from . import adoption, paper_file, quarantine
from .catalogue import CatalogueEntry
from .record import (
    ADOPTED,
    WITHOUT_TEXT,
    ShelfRecord,
    build_renewed_record,
    build_sections,
    compute_sha256,
)
from .shelf_writer import ShelfWriter, add_checksum
from .vault import is_text_file, read_text_file

log = logging.getLogger(__name__)

SURVEYED = "surveyed and judged"
"""The note of a catalogue that has an entry for every file, foreign files included."""
Judged = dict[str, tuple[tuple[int, int], ShelfRecord | None]]
"""By a file's name: its size and time, and its record if it is a paper."""
_MANY = 8  # files that are worth the start of reading processes
_READERS = 4
_GIVEN_UP_AFTER = 600.0
_WEEK = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """The result of rebuilding the catalogue from the files.

    ``ignored`` lists the text files that were not entered, each with the reason.
    """

    full_text: int = 0
    abstracts: int = 0
    records: int = 0
    rejected: int = 0
    adopted: int = 0
    ignored: tuple[tuple[str, str], ...] = ()


class Reconciler:
    """Updates the catalogue of one shelf from the shelf's files."""

    def __init__(self, writer: ShelfWriter) -> None:
        self.writer = writer
        self.folder = writer.folder
        self.catalogue = writer.catalogue
        self.pdfs = writer.pdfs
        self._capitals: dict[str, str] | None = None

    # -- unfinished changes ------------------------------------------------------------------

    def clean_up_shelf(self) -> None:
        """Finish the changes of killed writers, and delete stale parts; skip a read-only shelf."""
        try:
            self.finish_announced_changes(
                failed=True
            )  # a change of this process noted before it opens the shelf
            self.writer.repair_index()
            swept = float(self.catalogue.get_fact("swept") or 0)
            if not swept <= time.time() <= swept + _WEEK:
                writer = self.writer
                for folder in (self.folder, writer.private, writer.raw, writer.records):
                    safe_files.delete_stale_temporary_files(folder)
                self.catalogue.set_fact("swept", str(time.time()))
        except StoreFailed as error:
            log.warning("The shelf cannot be written, and is only read: %s", error.text)

    def finish_announced_changes(self, failed: bool = False) -> None:
        """Delete superseded files, and finish the changes of killed writers.

        Parameters
        ----------
        failed : bool, optional
            This process has just given up a change of its own, which is finished, too.
        """
        unfinished = self.catalogue.list_unfinished_changes()
        if not unfinished:
            return
        for file, task, pid, since in unfinished:
            given_up = failed and pid == os.getpid()
            late = time.time() - since > _GIVEN_UP_AFTER
            if task == "register" and (given_up or late or not _is_running(pid)):
                self.finish_announced_change(file)
        # Read again, because a change that was just finished may have superseded a file.
        for file, task, _, _ in self.catalogue.list_unfinished_changes():
            if task != "register":
                with self.catalogue.open_transaction():
                    if self.catalogue.find_entry_by_file(file) is None:
                        self._remove_files(file, text=task == "remove")
                    self.catalogue.clear_announcement(file, task)

    def finish_announced_change(self, file: str) -> None:
        """Finish the change of a file if its text was written, else undo the change."""
        with self.catalogue.open_transaction():
            path = self.folder / file
            entry = self.catalogue.find_entry_by_file(file)
            known = ShelfRecord.from_json(entry.record, self.folder) if entry else None
            with safe_files.disk_errors(path, "read"):
                digest = compute_sha256(read_text_file(path)) if path.is_file() else ""
            if known and digest == known.stored.sha256:
                self.writer.write_record(known)  # the text was never replaced
            elif (found := self.load_record(path, Ids())) is not None:
                log.info("Finished filing %s, which its writer had left unfinished.", file)
                self.writer.register_file(found)
            elif not digest and not known:
                self._remove_files(file, text=False)
            self.catalogue.clear_announcement(file, "register")

    def _remove_files(self, file: str, *, text: bool) -> None:
        """Delete the files of a text; if its other form exists, delete only this text file."""
        if text:
            safe_files.delete_if_exists(self.folder / file)
        for other in paper_file.list_form_names(file)[1:]:
            if entry := self.catalogue.find_entry_by_file(other):
                self.writer.write_record(ShelfRecord.from_json(entry.record, self.folder))
                return
        if self._transfer_objects(file):
            safe_files.delete_if_exists(self.writer.get_record_path(file))
        self.writer.delete_raw_bytes(file)

    def _transfer_objects(self, file: str) -> bool:
        """Move a removed text's PDF, figures and tables to the text that replaced it.

        Returns False where no text did: they and the record wait, as after a renaming by hand.
        """
        folder = paper_file.get_objects_folder(self.folder / file)
        if (old := self.writer.read_record(file)) is None:
            return True
        if not (folder.is_dir() or self.pdfs.has_pdf_record(old.stored)):
            return True
        heirs = [one for _, one in self.writer.find_competing_entries(old) if one.file != file]
        if not heirs:
            return False
        heir = max(heirs, key=lambda one: one.rank)
        if folder.is_dir():
            safe_files.move_folder(folder, paper_file.get_objects_folder(Path(heir.stored.path)))
        self.pdfs.transfer_pdf(old.stored, heir.stored)
        return True

    # -- files changed from outside ----------------------------------------------------------

    def load_record(self, path: Path, asked: Ids) -> ShelfRecord | None:
        """Return the record of the file at *path*, or create one; None if it is not a paper."""
        record = self.writer.read_record(path.name)
        with safe_files.disk_errors(path, "read"):
            if record is None:
                return adoption.adopt_file(path, asked)
            if not path.is_file():
                return None
            if asked and (record.ids.clash(asked) or not record.ids.shares(asked)):
                return None
            return update_record_from_file(record, path, self.writer)

    def refresh_entry(self, entry: CatalogueEntry) -> ShelfRecord | None:
        """Update an entry whose file was changed or deleted by hand; return None if it is gone."""
        record = ShelfRecord.from_json(entry.record, self.folder)
        path = self.folder / entry.file
        with safe_files.disk_errors(path, "read"):
            found = update_record_from_file(record, path, self.writer) if path.is_file() else None
        try:
            with self.catalogue.open_transaction():
                there = self.catalogue.find_entry_by_file(entry.file)
                if there != entry:  # another process has just updated it
                    return ShelfRecord.from_json(there.record, self.folder) if there else None
                if found is not None:
                    self.writer.update_record(entry, found)
                else:
                    log.info("%s is gone or not a paper any more.", entry.file)
                    self.catalogue.delete_entry(entry.id)
                    self._remove_files(entry.file, text=False)
                    self.writer.update_index(None)
        except StoreFailed as error:
            log.warning("The catalogue is behind the files: %s", error.text)
        return found

    def find_missing_files(self) -> frozenset[str]:
        """Return the catalogued files that are missing; update the entries of changed files."""
        there: dict[str, tuple[int, int]] = {}
        with safe_files.disk_errors(self.folder, "read"), os.scandir(self.folder) as found:
            for one in found:
                if paper_file.has_text_ending(one.name):
                    status = one.stat()
                    there[one.name] = (status.st_size, status.st_mtime_ns)
        stamps = self.catalogue.read_file_stamps()
        for file, stamp in stamps.items():
            changed = file in there and there[file] != stamp
            if changed and (entry := self.catalogue.find_entry_by_file(file)):
                self.refresh_entry(entry)
        return frozenset(stamps.keys() - there.keys())

    def restore_file(self, file: str) -> ShelfRecord | None:
        """Restore a lost file from the kept bytes; return None if that is impossible."""
        with self.catalogue.open_transaction():
            if (entry := self.catalogue.find_entry_by_file(file)) is None:
                return None
            record = ShelfRecord.from_json(entry.record, self.folder)
            if (made := restore_text(record, self.writer)) is None:
                return None
            return self.writer.update_record(entry, made)

    def find_uncatalogued_record(self, ids: Ids) -> ShelfRecord | None:
        """Return the record of a paper's best uncatalogued file, full texts first."""
        found = [
            record
            for path in self.find_uncatalogued_files(ids)
            if (record := self.load_record(path, ids))
        ]
        return max(found, key=lambda record: record.rank, default=None)

    def find_uncatalogued_files(self, ids: Ids) -> Iterator[Path]:
        """Yield files that are named after the paper but have no entry in the catalogue."""
        names = paper_file.list_candidate_names(ids)
        traditional = paper_file.to_legacy_name(ids.doi) + paper_file.TEXT
        if ids.doi and (spelled := self._find_capitalized_name(traditional)):
            names.insert(1, spelled)
        for name in names:
            path = self.folder / name
            if not paper_file.is_usable_name(name) or not path.is_file():
                continue
            if self.catalogue.exists() and self.catalogue.find_entry_by_file(name) is not None:
                continue  # another paper's
            yield path

    def _find_capitalized_name(self, name: str) -> str:
        """Return the existing file name that differs from *name* only in capitals."""
        if self._capitals is None:
            names = [path.name for path in self.list_text_files()]
            self._capitals = {n.lower(): n for n in names if n[:3] == "10." and n != n.lower()}
        return self._capitals.get(name.lower(), "")

    # -- from nothing ------------------------------------------------------------------------

    def rebuild_catalogue(self) -> RebuildReport:
        """Rebuild the catalogue and ``index.csv`` from the files."""
        self.writer.create_folders()
        self._capitals = None
        judged = self._judge_foreign_files()
        with self.catalogue.open_transaction():
            self.catalogue.delete_all_entries()
            ignored = self._register_files(judged)
            self.writer.rewrite_index()
        self.finish_announced_changes()
        counts = self.catalogue.count_papers()
        return RebuildReport(
            full_text=counts["full_text"],
            abstracts=counts["abstract"],
            records=counts["record"],
            rejected=counts["rejected"],
            adopted=self.catalogue.count_entries_by_route(ADOPTED),
            ignored=ignored,
        )

    def fill_catalogue(self) -> None:
        """Enter the files that have a record into a new catalogue, within its first transaction.

        Foreign files take long to judge: they are entered by the first listing, or when one of
        them is asked for.
        """
        if self.has_records():
            log.warning("The catalogue is missing: making it again from the files.")
        self._register_files(None)
        if self.catalogue.count_entries():
            self.writer.rewrite_index()

    def _register_files(self, judged: Judged | None) -> tuple[tuple[str, str], ...]:
        """Register the files that have a record, and foreign files if *judged* is given.

        Returns the files that were not entered, each with the reason.
        """
        known, foreign = self._partition_files()
        reasons: list[tuple[str, str]] = []
        with self.writer.suspend_index_updates():
            for record in known:
                self.writer.register_file(record)
            if judged is not None:
                reasons = [
                    (path.name, self._register_foreign_file(path, judged)) for path in foreign
                ]
        self.catalogue.set_fact("complete", utc_now())
        if judged is not None or not foreign:  # else one may be a recorded file under a new name
            self._drop_records_without_file()
            self.catalogue.set_fact(SURVEYED, utc_now())
        return tuple((file, reason) for file, reason in reasons if reason)

    def _drop_records_without_file(self) -> None:
        for path in sorted(self.writer.records.glob("*.json")):
            forms = paper_file.list_form_names(path.stem + paper_file.TEXT)
            if not any((self.folder / form).exists() for form in forms):
                self._remove_files(forms[0], text=False)

    def _judge_foreign_files(self) -> Judged:
        """Judge foreign files before the catalogue is locked, because it may take long.

        Many are read in processes, on every core, that survive whatever they read.
        """
        judged: Judged = {}
        there = [path for path in self.list_text_files() if paper_file.is_usable_name(path.name)]
        foreign = [path for path in there if not self.writer.get_record_path(path.name).exists()]
        read = read_and_judge_in_child if len(foreign) > _MANY else formats.read_and_judge

        def judge_file(path: Path) -> None:
            with contextlib.suppress(OSError):  # the file is read again, and then reported
                stamp = safe_files.read_file_stamp(path)
                judged[path.name] = stamp, adoption.adopt_file(path, Ids(), read)

        with ThreadPoolExecutor(_READERS if len(foreign) > _MANY else 1) as pool:
            list(pool.map(judge_file, foreign))
        return judged

    def _partition_files(self) -> tuple[list[ShelfRecord], list[Path]]:
        """Return the files with a record, the oldest first, and the files without one."""
        known: list[ShelfRecord] = []
        foreign: list[Path] = []
        for path in self.list_text_files():
            if (record := self.writer.read_record(path.name)) is not None:
                with safe_files.disk_errors(path, "read"):
                    record = update_record_from_file(record, path, self.writer)
            if record is not None:
                known.append(record)
            else:
                foreign.append(path)
        return sorted(known, key=lambda record: (record.order, record.file)), foreign

    def _register_foreign_file(self, path: Path, judged: Judged) -> str:
        """Register a file that has no record; return the reason if it is rejected."""
        if not paper_file.is_usable_name(
            path.name
        ):  # bytes of an old encoding: no catalogue can hold them
            return "its name is not UTF-8"
        stamp, found = judged.get(path.name, (None, None))
        if stamp != safe_files.read_file_stamp(path):
            found = self.load_record(path, Ids())
        if found is None:
            return adoption.explain_adoption_refusal(path)
        for _, record in self.writer.find_competing_entries(found):
            if record.rank >= found.rank:
                rejected = f"rejected ({found.stored.verdict}), " * (
                    found.stored.kind == "rejected"
                )
                return f"{rejected}another copy of {record.file}"
        self.writer.register_file(found, fresh=False)
        return ""

    def list_text_files(self) -> list[Path]:
        """Return every text file of the shelf, by name."""
        if not self.folder.is_dir():
            return []
        with safe_files.disk_errors(self.folder, "read"), os.scandir(self.folder) as found:
            names = [
                e.name for e in found if paper_file.has_text_ending(e.name) and e.name[0] != "."
            ]
            paths = [self.folder / name for name in sorted(names)]
            return [path for path in paths if self._is_text_file(path)]

    def _is_text_file(self, path: Path) -> bool:
        """Return whether a file may be a paper's text; a person's own notes are not."""
        is_plain = path.suffix.lower() == paper_file.TEXT
        return is_plain or self.writer.read_record(path.name) is not None or is_text_file(path)

    def has_records(self) -> bool:
        """Return whether there are records, from which a lost catalogue can be made."""
        return any(self.writer.records.glob("*.json"))


def _is_running(pid: int) -> bool:
    if os.name == "nt":  # there, asking with signal 0 would end the process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


_EDITED_SHARE = 0.9  # of a text's lines that an edited text still has


def update_record_from_file(
    record: ShelfRecord, path: Path, writer: ShelfWriter
) -> ShelfRecord | None:
    """Return a record updated from its file; None if the file has another content.

    Raises
    ------
    OSError
        The file cannot be read.
    """
    data = read_text_file(path, record.stored)
    text = data.decode("utf-8", "replace")
    if compute_sha256(data) == record.stored.sha256:
        if record.stored.sections:
            return record
        stored = replace(record.stored, sections=build_sections(text, record.stored))
        return replace(record, stored=stored)
    ours = paper_file.parse_paper_file(text)
    if ours is not None and ours.ids.clash(record.ids):
        return None
    if ours is not None and _is_body_unchanged(record, ours.body):
        return _build_edited_record(record, data, ours)
    try:
        return _restore_or_judge(record, data, ours, writer)
    except StoreFailed as error:
        log.warning("%s is damaged and cannot be made again: %s", path.name, error.text)
        return None


def restore_text(record: ShelfRecord, writer: ShelfWriter) -> ShelfRecord | None:
    """Write a missing file again; return None if nothing was kept to write it from.

    Raises
    ------
    StoreFailed
        The disk refused.
    """
    if record.stored.kind in WITHOUT_TEXT and record.stored.via != ADOPTED:
        return _rewrite_abstract(record, writer)
    document = _read_kept_document(record, writer)
    return _rewrite_full_text(record, document, writer) if document else None


def _is_body_unchanged(record: ShelfRecord, body: str) -> bool:
    """Return whether the text below the header is exactly as we wrote it."""
    whole = paper_file.add_header(record.stored, body).encode("utf-8", "replace")
    return compute_sha256(whole) == record.written


def _restore_or_judge(
    record: ShelfRecord, data: bytes, ours: paper_file.PaperFile | None, writer: ShelfWriter
) -> ShelfRecord | None:
    if record.stored.kind in WITHOUT_TEXT:
        if record.stored.via != ADOPTED and _is_truncated(
            data, paper_file.build_abstract_file(record.stored)
        ):
            _warn_of_changed_file(record, "was cut on the disk; it was written again")
            return _rewrite_abstract(record, writer)
        return _judge_edited_text(_build_edited_record(record, data, ours), data)
    document = _read_kept_document(record, writer)
    if document is None:
        return _judge_edited_text(_build_edited_record(record, data, ours), data)
    whole = paper_file.build_full_text_body(document.markdown)
    body = ours.body if ours else data.decode("utf-8", "replace")
    if _is_truncated(data, paper_file.build_full_text_file(record.stored, document.markdown)) or (
        ours and _is_truncated(body.encode("utf-8", "replace"), whole)
    ):
        _warn_of_changed_file(
            record, f"was cut on the disk ({len(data):,} bytes); made again from the kept bytes"
        )
        return _rewrite_full_text(record, document, writer)
    edited = _build_edited_record(record, data, ours)
    if edited and ours and _has_most_lines(body, whole):
        return edited
    judged = _judge_edited_text(edited, data)
    if judged and judged.stored.kind != "rejected":
        return judged
    if judged:
        _quarantine_replacement(judged, data, writer)
    _warn_of_changed_file(
        record, "held something else than its paper; made again from the kept bytes"
    )
    return _rewrite_full_text(record, document, writer)


def _is_truncated(data: bytes, whole: str) -> bool:
    """Return whether *data* is the beginning of a text, or has blocks of zeros."""
    start = data.decode("utf-8", "replace").rstrip("\ufffd").encode("utf-8", "replace")
    expected = whole.encode("utf-8", "replace")
    return b"\0" in data or (len(start) < len(expected) and expected.startswith(start))


def _has_most_lines(body: str, whole: str) -> bool:
    """Return whether an edited text still has nearly all lines of the original text."""
    expected = [line for line in whole.splitlines() if line.strip()]
    there = set(body.splitlines())
    kept = sum(line in there for line in expected)
    return kept >= _EDITED_SHARE * len(expected)


def _read_kept_document(record: ShelfRecord, writer: ShelfWriter) -> Document | None:
    """Read the kept bytes of a site again; return None if they give no complete text."""
    stored = record.stored
    if (
        stored.kind != "full_text"
        or stored.by_hand
        or not formats.is_built_in_reader(record.extractor)
    ):
        return None
    try:
        fetched = writer.read_fetched_answer(record)
        seen = formats.judge_fetched_response(fetched, stored.paper) if fetched else None
    except (StoreFailed, EOFError, zlib.error, RuntimeError) as error:
        log.warning("The stored download of %s cannot be read: %s", record.file, error)
        return None
    return seen.document if seen else None


def _build_edited_record(
    record: ShelfRecord, data: bytes, ours: paper_file.PaperFile | None
) -> ShelfRecord | None:
    """Return the record of a manually edited text, unjudged; None if the text is blank."""
    text = data.decode("utf-8", "replace")
    if adoption.is_blank(ours.body if ours else text):
        return None
    stored = ours.apply_header(record.stored) if ours else record.stored
    stored = replace(stored, sha256=compute_sha256(data), sections=build_sections(text, stored))
    return replace(record, stored=stored, words=len((ours.body if ours else text).split()))


def _judge_edited_text(edited: ShelfRecord | None, data: bytes) -> ShelfRecord | None:
    """Judge an edited text, unless a person decided about it."""
    if edited is None or edited.stored.by_hand:
        return edited
    text = data.decode("utf-8", "replace")
    if adoption.is_foreign_text(text):
        # The name said who it is: what a hand typed need not have the record's words.
        named = replace(edited.stored, paper=Paper(edited.ids))
        seen = adoption.judge_foreign_file(named, text)
        stored = replace(seen, paper=edited.stored.paper, version="", preprint_version="")
    elif edited.stored.kind == "full_text":
        stored = adoption.rejudge_text(edited.stored, text)
    else:
        return edited
    return replace(edited, stored=replace(stored, sections=build_sections(text, stored)))


def _rewrite_full_text(record: ShelfRecord, document: Document, writer: ShelfWriter) -> ShelfRecord:
    better = build_renewed_record(record, document)
    return _write_text_and_checksum(
        better, paper_file.build_full_text_file(better.stored, document.markdown), writer
    )


def _rewrite_abstract(record: ShelfRecord, writer: ShelfWriter) -> ShelfRecord:
    return _write_text_and_checksum(record, paper_file.build_abstract_file(record.stored), writer)


def _write_text_and_checksum(record: ShelfRecord, text: str, writer: ShelfWriter) -> ShelfRecord:
    data = text.encode("utf-8", "replace")
    writer.write_text_file(record, data)
    return add_checksum(replace(record, written=compute_sha256(data)), data)


def _quarantine_replacement(judged: ShelfRecord, data: bytes, writer: ShelfWriter) -> None:
    """Move content that replaced a text to the quarantine."""
    stored: StoredPaper = judged.stored
    found = Fetched(data, "markdown", "", "the shelf", "shelf")
    reason = f"lay in {judged.file}: {stored.evidence}"
    folder = writer.private / "quarantine"
    quarantine.quarantine_content(folder, writer.bodies, judged.ids, found, stored.verdict, reason)


def _warn_of_changed_file(record: ShelfRecord, what: str) -> None:
    log.warning("%s %s.", record.file, what)
