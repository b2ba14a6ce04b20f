"""Bring the catalogue in line with the files.

- A change that a killed writer left half done is finished or undone.
- A file edited by hand is judged again.
- A file that the disk cut is made again from the kept bytes (`.restoration`).
- A deleted file loses its entry.
- A lost catalogue is made again from the records, and from files that have none.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from .. import readers as formats
from ..errors import StoreFailed
from ..model.identifiers import Ids
from ..model.paper import now
from ..readers.reader_processes import read_in_child
from ..system import safe_files
from . import adoption, paper_file, restoration
from .catalogue import Entry
from .record import ADOPTED, Record, sha256
from .shelf_writer import MEDIA, ShelfWriter

log = logging.getLogger(__name__)

SURVEYED = "surveyed and judged"
"""The note of a catalogue that has an entry for every file, foreign files included."""
Judged = dict[str, tuple[tuple[int, int], Record | None]]
"""By a file's name: its size and time, and its record if it is a paper."""
_MANY = 8  # files that are worth the start of reading processes
_READERS = 4
_GIVEN_UP_AFTER = 600.0
_WEEK = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """What was found when the catalogue was made again from the files.

    ``ignored`` lists the text files that were not entered, each with the reason.
    """

    full_text: int = 0
    abstracts: int = 0
    records: int = 0
    rejected: int = 0
    adopted: int = 0
    ignored: tuple[tuple[str, str], ...] = ()


class Reconciler:
    """Brings the catalogue of one shelf in line with the shelf's files."""

    def __init__(self, writer: ShelfWriter) -> None:
        self.writer = writer
        self.folder = writer.folder
        self.catalogue = writer.catalogue
        self._capitals: dict[str, str] | None = None

    # -- unfinished changes ------------------------------------------------------------------

    def tidy(self) -> None:
        """Finish the changes of killed writers; leave a read-only shelf alone."""
        try:
            self.clear_away(failed=True)  # a change of this process noted before it opens the shelf
            self.writer.settle_index()
            swept = float(self.catalogue.note("swept") or 0)
            if not swept <= time.time() <= swept + _WEEK:
                writer = self.writer
                for folder in (self.folder, writer.private, writer.raw, writer.records):
                    safe_files.sweep(folder)
                self.catalogue.set_note("swept", str(time.time()))
        except StoreFailed as error:
            log.warning("The shelf is only read: %s", error)

    def clear_away(self, failed: bool = False) -> None:
        """Delete superseded files, and finish the changes of killed writers.

        Parameters
        ----------
        failed : bool, optional
            This process has just given up a change of its own, which is finished, too.
        """
        unfinished = self.catalogue.unfinished()
        if not unfinished:
            return
        for file, task, pid, since in unfinished:
            given_up = failed and pid == os.getpid()
            late = time.time() - since > _GIVEN_UP_AFTER
            if task == "register" and (given_up or late or not _is_running(pid)):
                self.finish(file)
        # Read again, because a change that was just finished may have superseded a file.
        for file, task, _, _ in self.catalogue.unfinished():
            if task != "register":
                with self.catalogue.writing():
                    if self.catalogue.by_file(file) is None:
                        self._remove(file, text=task == "remove")
                    self.catalogue.done(file, task)

    def finish(self, file: str) -> None:
        """Finish the change of a file if its text was written, else undo the change."""
        with self.catalogue.writing():
            path = self.folder / file
            entry = self.catalogue.by_file(file)
            known = Record.from_json(entry.record, self.folder) if entry else None
            with safe_files.disk(path, "read"):
                digest = sha256(path.read_bytes()) if path.is_file() else ""
            if known and digest == known.stored.sha256:
                self.writer.write_record(known)  # the text was never replaced
            elif (found := self.from_file(path, Ids())) is not None:
                log.info("Finished filing %s, left half done by its writer.", file)
                self.writer.register(found)
            elif not digest and not known:
                self._remove(file, text=False)
            self.catalogue.done(file, "register")

    def _remove(self, file: str, *, text: bool) -> None:
        if text:
            safe_files.remove(self.folder / file)
        if self._hand_on_objects(file):
            safe_files.remove(self.writer.record_path(file))
        for media in MEDIA:
            safe_files.remove(self.writer.raw / f"{file.removesuffix('.txt')}.{media}.gz")

    def _hand_on_objects(self, file: str) -> bool:
        """Move a removed text's folder of figures and tables to the text that replaced it.

        Returns False where no text did: folder and record wait, as after a renaming by hand.
        """
        folder = paper_file.objects_folder(self.folder / file)
        if not folder.is_dir() or (old := self.writer.record_of(file)) is None:
            return True
        heirs = [one for _, one in self.writer.rivals(old) if one.file != file]
        if not heirs:
            return False
        heir = max(heirs, key=lambda one: one.rank)
        safe_files.move_folder(folder, paper_file.objects_folder(Path(heir.stored.path)))
        return True

    # -- files changed from outside ----------------------------------------------------------

    def from_file(self, path: Path, asked: Ids) -> Record | None:
        """Return the record of the file at *path*, or make one; None if it is not a paper."""
        record = self.writer.record_of(path.name)
        with safe_files.disk(path, "read"):
            if record is None:
                return adoption.adopt(path, asked)
            if not path.is_file():
                return None
            if asked and (record.ids.clash(asked) or not record.ids.shares(asked)):
                return None
            return restoration.compare(record, path, self.writer)

    def reread(self, entry: Entry) -> Record | None:
        """Update an entry whose file was changed or deleted by hand; None if it is gone."""
        record = Record.from_json(entry.record, self.folder)
        path = self.folder / entry.file
        with safe_files.disk(path, "read"):
            found = restoration.compare(record, path, self.writer) if path.is_file() else None
        try:
            with self.catalogue.writing():
                there = self.catalogue.by_file(entry.file)
                if there != entry:  # another process has just updated it
                    return Record.from_json(there.record, self.folder) if there else None
                if found is not None:
                    self.writer.amend(entry, found)
                else:
                    log.info("%s is gone or not a paper any more.", entry.file)
                    self.catalogue.drop(entry.id)
                    self._remove(entry.file, text=False)
                    self.writer.note_change(None)
        except StoreFailed as error:
            log.warning("The catalogue is behind the files: %s", error)
        return found

    def missing_files(self) -> frozenset[str]:
        """Return the catalogued files that are gone; read those again that were changed."""
        there: dict[str, tuple[int, int]] = {}
        with safe_files.disk(self.folder, "read"), os.scandir(self.folder) as found:
            for one in found:
                if one.name.endswith(".txt"):
                    status = one.stat()
                    there[one.name] = (status.st_size, status.st_mtime_ns)
        stamps = self.catalogue.stamps()
        for file, stamp in stamps.items():
            changed = file in there and there[file] != stamp
            if changed and (entry := self.catalogue.by_file(file)):
                self.reread(entry)
        return frozenset(stamps.keys() - there.keys())

    def restore(self, file: str) -> Record | None:
        """Make a lost file again from the kept bytes; None where that cannot be done."""
        with self.catalogue.writing():
            if (entry := self.catalogue.by_file(file)) is None:
                return None
            record = Record.from_json(entry.record, self.folder)
            if (made := restoration.restore(record, self.writer)) is None:
                return None
            return self.writer.amend(entry, made)

    def uncatalogued(self, ids: Ids) -> Record | None:
        """Return the best of a paper's files that have no entry; a full text before an abstract."""
        found = [
            record for path in self.uncatalogued_files(ids) if (record := self.from_file(path, ids))
        ]
        return max(found, key=lambda record: record.rank, default=None)

    def uncatalogued_files(self, ids: Ids) -> Iterator[Path]:
        """Yield the files under a paper's names that have no entry."""
        names = paper_file.candidates(ids)
        if ids.doi and (
            spelled := self._traditional_name(f"{paper_file.traditional(ids.doi)}.txt")
        ):
            names.insert(1, spelled)
        for name in names:
            path = self.folder / name
            if not paper_file.plain(name) or not path.is_file():
                continue
            if self.catalogue.exists() and self.catalogue.by_file(name) is not None:
                continue  # another paper's
            yield path

    def _traditional_name(self, name: str) -> str:
        """Return the name of a file whose DOI the older program spelled with capitals."""
        if self._capitals is None:
            names = [path.name for path in self.texts()]
            self._capitals = {n.lower(): n for n in names if n[:3] == "10." and n != n.lower()}
        return self._capitals.get(name.lower(), "")

    # -- from nothing ------------------------------------------------------------------------

    def rebuild(self) -> RebuildReport:
        """Make the catalogue and ``index.csv`` again from the files."""
        self.writer.prepare()
        self._capitals = None
        judged = self._judge_foreign_files()
        with self.catalogue.writing():
            self.catalogue.clear()
            ignored = self._enter_files(judged)
            self.writer.rewrite_index()
        self.clear_away()
        counts = self.catalogue.counts()
        return RebuildReport(
            full_text=counts["full_text"],
            abstracts=counts["abstract"],
            records=counts["record"],
            rejected=counts["rejected"],
            adopted=self.catalogue.adopted(ADOPTED),
            ignored=ignored,
        )

    def fill(self) -> None:
        """Enter the files that have a record into a new catalogue, within its first transaction.

        Foreign files take long to judge: they are entered by the first listing, or when one of
        them is asked for.
        """
        if self.has_records():
            log.warning("The catalogue is missing: making it again from the files.")
        self._enter_files(None)
        if self.catalogue.size():
            self.writer.rewrite_index()

    def _enter_files(self, judged: Judged | None) -> tuple[tuple[str, str], ...]:
        """Enter the files that have a record, and, where they are *judged*, the foreign ones.

        Returns the files that were not entered, each with the reason.
        """
        known, foreign = self._split_files()
        reasons: list[tuple[str, str]] = []
        with self.writer.defer_index():
            for record in known:
                self.writer.register(record)
            if judged is not None:
                reasons = [(path.name, self._take_in(path, judged)) for path in foreign]
        self.catalogue.set_note("complete", now())
        if judged is not None or not foreign:  # else one may be a recorded file under a new name
            self._drop_records_without_file()
            self.catalogue.set_note(SURVEYED, now())
        return tuple((file, reason) for file, reason in reasons if reason)

    def _drop_records_without_file(self) -> None:
        for path in sorted(self.writer.records.glob("*.json")):
            if not (self.folder / f"{path.stem}.txt").exists():
                self._remove(f"{path.stem}.txt", text=False)

    def _judge_foreign_files(self) -> Judged:
        """Judge foreign files before the catalogue is locked, because it may take long.

        Many are read in processes, on every core, that survive whatever they read.
        """
        judged: Judged = {}
        there = [path for path in self.texts() if paper_file.plain(path.name)]
        foreign = [path for path in there if not self.writer.record_path(path.name).exists()]
        read = read_in_child if len(foreign) > _MANY else formats.read

        def look(path: Path) -> None:
            with contextlib.suppress(OSError):  # the file is read again, and then reported
                stamp = safe_files.stamp(path)
                judged[path.name] = stamp, adoption.adopt(path, Ids(), read)

        with ThreadPoolExecutor(_READERS if len(foreign) > _MANY else 1) as pool:
            list(pool.map(look, foreign))
        return judged

    def _split_files(self) -> tuple[list[Record], list[Path]]:
        """The files with a record, the oldest first, and those without."""
        known: list[Record] = []
        foreign: list[Path] = []
        for path in self.texts():
            if (record := self.writer.record_of(path.name)) is not None:
                with safe_files.disk(path, "read"):
                    record = restoration.compare(record, path, self.writer)
            if record is not None:
                known.append(record)
            else:
                foreign.append(path)
        return sorted(known, key=lambda record: (record.order, record.file)), foreign

    def _take_in(self, path: Path, judged: Judged) -> str:
        """Enter a file that has no record; return the reason where that is not done."""
        if not paper_file.plain(path.name):  # bytes of an old encoding: no catalogue can hold them
            return "its name is not UTF-8"
        stamp, found = judged.get(path.name, (None, None))
        if stamp != safe_files.stamp(path):
            found = self.from_file(path, Ids())
        if found is None:
            return adoption.describe_refusal(path)
        for _, record in self.writer.rivals(found):
            if record.rank >= found.rank:
                rejected = f"rejected ({found.stored.verdict}), " * (
                    found.stored.kind == "rejected"
                )
                return f"{rejected}another copy of {record.file}"
        self.writer.register(found, fresh=False)
        return ""

    def texts(self) -> list[Path]:
        """Return every text file of the shelf, by name."""
        if not self.folder.is_dir():
            return []
        with safe_files.disk(self.folder, "read"), os.scandir(self.folder) as found:
            names = [e.name for e in found if e.name.endswith(".txt") and e.name[0] != "."]
        return [self.folder / name for name in sorted(names)]

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
