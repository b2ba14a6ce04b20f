"""The one place that changes the shelf: which file a paper gets, what it replaces, what is noted.

Every change happens under the catalogue's write lock, which all threads and processes share, and
in one order: raw bytes, record, text, catalogue, index. Before it begins, the file's name is
written to ``unfinished``; whoever finds such a note of a dead process brings the catalogue in
line with the file. Superseded files go last, when what replaces them is on the disk.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import StoreFailed
from ..paper import Ids, Paper, now
from . import adoption, file_names, index_files, paper_file, safe_files
from .catalogue import Catalogue, Entry, NewEntry
from .records import ADOPTED, RebuildReport, Record, joined, sha256

log = logging.getLogger(__name__)

_GIVEN_UP_AFTER = 600.0
_DAY = 86_400.0
_SMALL = 5_000
"""Entries up to which a changed row has the index files written anew at once."""

Render = Callable[[Record], str]


@dataclass(frozen=True, slots=True)
class Plan:
    """What filing one paper will do: the record to come, and the entries it takes over."""

    record: Record
    writes: bool
    same: tuple[tuple[Entry, Record], ...]


class Filing:
    """Writes to one shelf."""

    def __init__(self, folder: Path, catalogue: Catalogue) -> None:
        self.folder = folder
        self.private = folder / safe_files.PRIVATE
        self.records = self.private / "records"
        self.raw = self.private / "raw"
        self.catalogue = catalogue
        self.index = index_files.IndexFiles(folder)
        self._rewrite_at = 0.0

    def prepare(self) -> None:
        """Create the folders."""
        safe_files.make_folder(self.folder)
        safe_files.make_folder(self.private, 0o700)
        for folder in (self.records, self.raw):
            safe_files.make_folder(folder, 0o700)

    # -- filing ------------------------------------------------------------------------------

    def file(self, new: Record, render: Render, raw: Path | None = None) -> Record:
        """Put a paper on the shelf unless what is there is more of it; return what is there now.

        *new* has no path yet; *render* makes the text, *raw* is a finished part file to be kept.
        """
        while True:
            with self.catalogue.writing():
                planned = self._plan(new).record.file
                self.catalogue.begin(planned, "register", time.time())
            with self.catalogue.writing():
                plan = self._plan(new)
                if plan.record.file == planned:
                    return self._carry_out(plan, render, raw)
                self.catalogue.done(planned)

    def _carry_out(self, plan: Plan, render: Render, raw: Path | None) -> Record:
        record = plan.record
        text = None
        if plan.writes:
            text = render(record).encode("utf-8", "replace")
            record = replace(record, stored=replace(record.stored, sha256=sha256(text)))
            self._keep_raw(record, raw)
        elif _newly_retracted(plan):
            record, text = self._with_notice(record)
        self._write_record(record)
        if text is not None:
            safe_files.write_whole(Path(record.stored.path), text)
        self._enter(record, plan.same)
        self.catalogue.done(record.file)
        return record

    def _keep_raw(self, record: Record, raw: Path | None) -> None:
        if raw is None:
            return
        kept = self.raw / record.raw
        with safe_files.disk(kept):
            raw.replace(kept)
            safe_files.sync_folder(self.raw)

    def _with_notice(self, record: Record) -> tuple[Record, bytes | None]:
        """A paper of ours was retracted since: its file must say so in its first line."""
        found = paper_file.parse(self.read(record))
        if found is None:
            return record, None
        make = paper_file.full_text
        text = (
            make(record.stored, found.body)
            if record.stored.kind == "full_text"
            else paper_file.abstract_only(record.stored)
        ).encode("utf-8", "replace")
        return replace(record, stored=replace(record.stored, sha256=sha256(text))), text

    def register(self, found: Record, *, fresh: bool = True) -> Record:
        """Enter a file that is already there; *fresh* metadata wins over what is known."""
        with self.catalogue.writing():
            same = self._same(found.ids)
            paper = _united(found.stored.paper, same, fresh)
            known = [record for _, record in same if record.file != found.file]
            best = max([found, *known], key=lambda record: (record.rank, record is not found))
            record = replace(best.of(paper), order=max(found.order, *(r.order for _, r in same), 0))
            self._write_record(record)
            self._enter(record, same)
            if record.file != found.file and self._record_of(found.file):
                self._discard(found)
        return record

    def learn(self, record: Record, paper: Paper) -> Record:
        """Add what is now known about a stored paper; entries that prove to be one are joined."""
        with self.catalogue.writing():
            known = joined(paper, record.stored.paper)
            return self.register(replace(record.of(known), order=self._next()))

    def note_attempts(self, entry: Entry, record: Record) -> Record:
        """Replace an entry's story without touching its file or its names."""
        with self.catalogue.writing():
            self._write_record(record)
            self.catalogue.put(self._row(record), (), entry.id)
            self._update_index(None)
        return record

    # -- planning ----------------------------------------------------------------------------

    def _plan(self, new: Record) -> Plan:
        same = self._same(new.ids)
        paper = _united(new.stored.paper, same, fresh=True)
        new = replace(new.of(paper), order=self._next())
        there = [record for _, record in same if Path(record.stored.path).is_file()]
        best = max(there, key=lambda record: record.rank, default=None)
        if best is not None and best.rank > new.rank:
            kept = replace(best.of(paper), order=new.order)
            return Plan(kept, writes=False, same=same)
        if best is not None and best.stored.kind == new.stored.kind:
            name = best.file
        else:
            name = self._free_name(paper.ids, new, {record.file for _, record in same})
        raw = f"{name.removesuffix('.txt')}.{new.raw}.gz" if new.raw else ""
        stored = replace(new.stored, path=str(self.folder / name))
        return Plan(replace(new, stored=stored, raw=raw), writes=True, same=same)

    def _same(self, ids: Ids) -> tuple[tuple[Entry, Record], ...]:
        """The entries that are this paper; one that contradicts it stays a paper of its own."""
        found: list[tuple[Entry, Record]] = []
        for entry in self.catalogue.by_names(ids.names()):
            record = Record.from_json(entry.record, self.folder)
            if not ids.clash(record.ids):
                ids |= record.ids
                found.append((entry, record))
        return tuple(found)

    def _free_name(self, ids: Ids, new: Record, ours: set[str]) -> str:
        stem = file_names.stem(ids, new.stored.kind)
        marked = file_names.apart(stem, ids.key)
        longer = file_names.apart(stem, " ".join(ids.names()))
        for name in (f"{stem}.txt", f"{marked}.txt"):
            if name in ours or not self._taken(name, ids):
                return name
        return f"{longer}.txt"

    def _taken(self, name: str, ids: Ids) -> bool:
        if self.catalogue.by_file(name) is not None:
            return True
        path = self.folder / name
        if not path.exists():
            return False
        with safe_files.disk(path, "read"):
            # A saved error page of the older program may go; another paper's text may not.
            found = adoption.adopt(path, Ids())
            if found is None:
                text = path.read_text(encoding="utf-8", errors="replace")
                return adoption.kind_of(text) is not None
            return bool(found.ids.clash(ids)) or not found.ids.shares(ids)

    def _next(self) -> int:
        return max(int(time.time() * 1e9), self.catalogue.newest() + 1)

    # -- the catalogue and the index ---------------------------------------------------------

    def _enter(self, record: Record, same: tuple[tuple[Entry, Record], ...]) -> None:
        """Make *record* the one entry of its paper, in place of *same*."""
        catalogue = self.catalogue
        entries = [entry for entry, _ in same]
        there = catalogue.by_file(record.file)
        if there is not None and there.file == record.file and there not in entries:
            entries.append(there)  # the file was another paper's before somebody replaced it
        for entry in entries[1:]:
            catalogue.drop(entry.id)
        row = self._row(record)
        catalogue.put(row, record.ids.names(), entries[0].id if entries else None)
        for _, old in same:
            if old.file != record.file:
                self._discard(old)
        self._update_index(None if entries else row.line)

    def _row(self, record: Record) -> NewEntry:
        stored = record.stored
        path = Path(stored.path)
        with safe_files.disk(path, "read"):
            status = path.stat()
        return NewEntry(
            file=record.file,
            kind=stored.kind,
            year=stored.paper.year,
            journal=stored.paper.journal,
            retracted=stored.paper.retracted,
            filed=record.order,
            size=status.st_size,
            mtime_ns=status.st_mtime_ns,
            line=index_files.line(record),
            record=record.to_json(),
        )

    def _update_index(self, added: str | None) -> None:
        """Bring the index files in line; *added* is a new paper's line, None means a change."""
        catalogue = self.catalogue
        whole = self.index.sizes() == catalogue.note("index_sizes")
        if whole and added is not None:
            self.index.append([added])
            catalogue.set_note("index_sizes", self.index.sizes())
        elif whole:
            catalogue.set_note("index_late", "1")
        if not whole or catalogue.note("index_late"):
            # Writing 100,000 rows takes a second: in bulk, changes are gathered so that this
            # never takes more than a twentieth of the time. `settle` writes what is left.
            if not whole or catalogue.size() <= _SMALL or time.monotonic() > self._rewrite_at:
                self._rewrite_index()

    def _rewrite_index(self) -> None:
        began = time.monotonic()
        self.index.rewrite(self.catalogue.lines())
        self._rewrite_at = time.monotonic() + 20 * (time.monotonic() - began)
        self.catalogue.set_note("index_sizes", self.index.sizes())
        self.catalogue.set_note("index_late", "")

    def settle(self) -> None:
        """Write the index files anew if they are torn, edited or behind."""
        catalogue = self.catalogue
        if self.index.sizes() == catalogue.note("index_sizes") and not catalogue.note("index_late"):
            return
        with catalogue.writing():
            self._rewrite_index()

    # -- files -------------------------------------------------------------------------------

    def read(self, record: Record) -> str:
        """The text of a stored paper."""
        path = Path(record.stored.path)
        with safe_files.disk(path, "read"):
            return path.read_bytes().decode("utf-8", "replace")

    def _record_path(self, file: str) -> Path:
        return self.records / f"{file.removesuffix('.txt')}.json"

    def _write_record(self, record: Record) -> None:
        self.prepare()
        safe_files.write_whole(self._record_path(record.file), record.to_json().encode())

    def _record_of(self, file: str) -> Record | None:
        path = self._record_path(file)
        try:
            record = Record.from_json(path.read_text(encoding="utf-8"), self.folder)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            log.warning("The record %s cannot be used: %s", path, error)
            return None
        return record if record.file == file else None

    def _discard(self, old: Record) -> None:
        """Have a superseded file deleted once the change is committed."""
        keep = old.stored.via == ADOPTED and old.stored.kind == "full_text"
        self.catalogue.begin(old.file, "forget" if keep else "remove", time.time())

    def clear_away(self, *, mine: bool = True) -> None:
        """Delete superseded files, and finish what a killed writer left half done."""
        for file, task, pid, since in self.catalogue.unfinished():
            if task == "register":
                if mine and _running(pid) and time.time() - since < _GIVEN_UP_AFTER:
                    continue
                self._finish(file)
                continue
            with self.catalogue.writing():
                if self.catalogue.by_file(file) is None:
                    self._remove(file, text=task == "remove")
                self.catalogue.done(file)

    def _finish(self, file: str) -> None:
        with self.catalogue.writing():
            found = self.from_file(self.folder / file, Ids())
            if found is not None:
                log.info("Finished filing %s, left half done by a writer that ended.", file)
                self.register(found)
            self.catalogue.done(file)

    def _remove(self, file: str, *, text: bool) -> None:
        base = file.removesuffix(".txt")
        if text:
            safe_files.remove(self.folder / file)
        safe_files.remove(self._record_path(file))
        for media in ("jats", "html", "pdf", "markdown"):
            safe_files.remove(self.raw / f"{base}.{media}.gz")

    # -- taking in what is there -------------------------------------------------------------

    def from_file(self, path: Path, asked: Ids) -> Record | None:
        """What lies at *path*, by our record of it or by its content; None if it is no paper."""
        record = self._record_of(path.name)
        with safe_files.disk(path, "read"):
            if record is None:
                return adoption.adopt(path, asked)
            if not path.is_file():
                return None
            if asked and (record.ids.clash(asked) or not record.ids.shares(asked)):
                return None
            return _compared(record, path)

    def reread(self, entry: Entry) -> Record | None:
        """An entry whose file changed or went away behind our back; None if it is gone."""
        record = Record.from_json(entry.record, self.folder)
        path = self.folder / entry.file
        with safe_files.disk(path, "read"):
            found = _compared(record, path) if path.is_file() else None
        try:
            with self.catalogue.writing():
                if self.catalogue.by_file(entry.file) != entry:
                    return found  # somebody else has just seen to it
                if found is not None:
                    self.note_attempts(entry, found)
                elif not path.exists() or path.is_file():
                    self.catalogue.drop(entry.id)
                    self._remove(entry.file, text=False)
                    self._update_index(None)
        except StoreFailed as error:
            log.warning("The catalogue is behind the files: %s", error)
        return found

    def rebuild(self) -> RebuildReport:
        """Make catalogue and index from the files alone."""
        self.prepare()
        ignored: list[tuple[str, str]] = []
        adopted = 0
        with self.catalogue.writing():
            self.catalogue.clear()
            foreign: list[Path] = []
            known: list[Record] = []
            for path in self.texts():
                record = self.from_file(path, Ids()) if self._record_of(path.name) else None
                known.append(record) if record else foreign.append(path)
            with self._quiet_index():
                for record in sorted(known, key=lambda record: (record.order, record.file)):
                    self.register(record)
                for path in foreign:
                    reason = self._take_in(path)
                    adopted += not reason
                    if reason:
                        ignored.append((path.name, reason))
            self._drop_orphans()
            self.catalogue.set_note("surveyed", now())
            self._rewrite_index()
        self.clear_away()
        counts = self.catalogue.counts()
        return RebuildReport(counts["full_text"], counts["abstract"], adopted, tuple(ignored))

    def _take_in(self, path: Path) -> str:
        """Adopt a file without a record; else say why not."""
        found = self.from_file(path, Ids())
        if found is None:
            return "empty, an error page, or not to be told which paper it is"
        same = self._same(found.ids)
        if any(record.rank >= found.rank for _, record in same):
            return f"another copy of {same[0][1].file}"
        self.register(found, fresh=False)
        return ""

    @contextlib.contextmanager
    def _quiet_index(self) -> Iterator[None]:
        """While the catalogue is filled, the index waits."""
        self._update_index = lambda added: None  # type: ignore[method-assign]
        try:
            yield
        finally:
            del self._update_index

    def _drop_orphans(self) -> None:
        """Records whose text somebody deleted describe nothing."""
        for path in sorted(self.records.glob("*.json")):
            file = f"{path.stem}.txt"
            if not (self.folder / file).exists():
                self._remove(file, text=False)

    def texts(self) -> list[Path]:
        """Every text file of the shelf, by name."""
        if not self.folder.is_dir():
            return []
        with safe_files.disk(self.folder, "read"), os.scandir(self.folder) as found:
            names = [e.name for e in found if e.name.endswith(".txt") and e.name[0] != "."]
        return [self.folder / name for name in sorted(names)]


def _united(paper: Paper, same: tuple[tuple[Entry, Record], ...], fresh: bool) -> Paper:
    for _, record in same:
        old = record.stored.paper
        paper = joined(paper, old) if fresh else joined(old, paper)
    return paper


def _newly_retracted(plan: Plan) -> bool:
    if plan.record.stored.via == ADOPTED or not plan.record.stored.paper.retracted:
        return False
    return any(
        record.file == plan.record.file and not record.stored.paper.retracted
        for _, record in plan.same
    )


def _compared(record: Record, path: Path) -> Record | None:
    """A record held against its file, which may have been edited by hand or replaced."""
    data = path.read_bytes()
    if sha256(data) == record.stored.sha256:
        return record
    text = data.decode("utf-8", "replace")
    ours = paper_file.parse(text)
    if not data.strip() or (ours is None and adoption.kind_of(text) is None):
        return None
    stored = replace(record.stored, sha256=sha256(data))
    body = ours.body if ours else text
    if ours is not None and ours.header.get("Retrieved", "") > stored.saved_at:
        pass
    return replace(record, stored=stored, words=len(body.split()))


def _running(pid: int) -> bool:
    if os.name == "nt":  # there, asking with signal 0 would end the process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
