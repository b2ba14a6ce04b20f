"""Write to the shelf: choose a paper's file, replace what it supersedes, keep its record.

Every change happens under the catalogue's write lock, which all threads and processes share, and
in one order: raw bytes, record, text, catalogue, ``index.csv``. Before a change begins, the file's
name is written to ``unfinished``, so that `.reconciliation` can finish the change of a killed
writer. Superseded files are deleted last, when their replacement is on the disk.

Many new papers are filed in one change, in a tenth of the time. The order is the same, but all
files are flushed side by side, and the catalogue is committed twice for all of them.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import cast, get_args

from ..model.identifiers import Ids
from ..model.paper import Attempt, Fetched, Media, Paper
from ..model.versions import build_text_sort_key, is_only_preprint
from ..system import bodies, safe_files
from ..system.bodies import BodyStore
from . import adoption, paper_file
from .catalogue import Catalogue, CatalogueEntry, NewCatalogueEntry
from .listing import IndexTable, to_index_row
from .pdf_files import PdfFiles, UserPdf, clone_user_pdf
from .record import (
    ADOPTED,
    WITHOUT_TEXT,
    RawAnswer,
    ShelfRecord,
    add_identifiers_from,
    build_sections,
    compute_sha256,
    merge_papers,
    replace_unencodable,
)
from .vault import Vault, read_text_file

log = logging.getLogger(__name__)
_TEXT = 2  # the lowest rank of a text
_SMALL = 200
"""Entries up to which a changed row has the index files written anew at once."""
MEDIA = get_args(Media)
Render = Callable[[ShelfRecord], str]
KeepBytes = Callable[[ShelfRecord], None]
Entries = tuple[tuple[CatalogueEntry, ShelfRecord], ...]


@dataclass(frozen=True, slots=True)
class FilingPlan:
    """A planned change of one paper: the new record, and the entries that it replaces."""

    record: ShelfRecord
    writes: bool
    same: Entries


class ShelfWriter:
    """Writes to one shelf; new texts get files that end in *form*."""

    def __init__(self, folder: Path, catalogue: Catalogue, form: str = paper_file.TEXT) -> None:
        self.folder = folder
        self.form = form
        self.vault = Vault(folder, catalogue)
        self.private = folder / safe_files.PRIVATE_FOLDER
        self.records = self.private / "records"
        self.raw = self.private / "raw"
        self.pdfs = PdfFiles(folder)
        self.bodies = BodyStore(self.private / "fetched" / bodies.BODIES_FOLDER)
        self.catalogue = catalogue
        self.index = IndexTable(folder)
        self._index_waits = False
        self._rewrite_at = 0.0

    def create_folders(self) -> None:
        """Create the shelf's folders."""
        safe_files.make_folder(self.folder)
        safe_files.make_folder(self.private, 0o700)
        for folder in (self.records, self.raw):
            safe_files.make_folder(folder, 0o700)

    # -- filing ------------------------------------------------------------------------------

    def file_paper(
        self, new: ShelfRecord, render: Render, keep_bytes: KeepBytes | None = None
    ) -> ShelfRecord:
        """Put a paper on the shelf unless a better text exists; return the record that is kept.

        *new* has no path yet; *render* makes the text, *keep_bytes* keeps the fetched bytes.
        """

        def carry_out(plan: FilingPlan) -> ShelfRecord:
            if not plan.writes:
                return self.register_kept_text(plan)
            if keep_bytes:
                keep_bytes(plan.record)
            data = render(plan.record).encode("utf-8", "replace")
            return self.replace_text(
                replace(plan.record, written=compute_sha256(data)), data, plan.same
            )

        return self.run_announced_change(lambda: self.plan_filing(new), carry_out)

    def run_announced_change(
        self, plan: Callable[[], FilingPlan], carry_out: Callable[[FilingPlan], ShelfRecord]
    ) -> ShelfRecord:
        """Announce in the catalogue which file is about to change, then change it."""
        while True:
            with self.catalogue.open_transaction():
                planned = plan().record.file
                self.catalogue.announce_change(planned, "register", time.time())
            with self.catalogue.open_transaction():
                current = plan()
                if current.record.file == planned:
                    record = carry_out(current)
                    self.catalogue.clear_announcement(planned)
                    return record
                self.catalogue.clear_announcement(
                    planned, "register"
                )  # another process took the name in between

    def register_kept_text(self, plan: FilingPlan) -> ShelfRecord:
        """Register a text that stays; only a new retraction changes its header."""
        return (
            self.rewrite_header(plan) if _is_newly_retracted(plan) else self._register_record(plan)
        )

    def rewrite_header(self, plan: FilingPlan) -> ShelfRecord:
        """Register a text that stays, and write its header again if the file is ours."""
        record = plan.record
        before = self.read_bytes(record)
        after = _replace_header(record, before)
        if after == before:
            return self._register_record(plan)
        # The checksum as written vouches for a file that nobody has edited since.
        written = (
            compute_sha256(after) if compute_sha256(before) == record.written else record.written
        )
        return self.replace_text(replace(record, written=written), after, plan.same)

    def _register_record(self, plan: FilingPlan) -> ShelfRecord:
        self.write_record(plan.record)
        self.catalogue_record(plan.record, plan.same)
        return plan.record

    def replace_text(self, record: ShelfRecord, data: bytes, same: Entries) -> ShelfRecord:
        """Write record and file of a text, and register the text in place of *same*."""
        record = add_checksum(record, data)
        self.write_record(record)
        self.write_text_file(record, data)
        self.catalogue_record(record, same)
        return record

    def write_text_file(self, record: ShelfRecord, data: bytes) -> None:
        """Write the file of a text, in the form that its ending states."""
        path = Path(record.stored.path)
        with safe_files.disk_errors(path, "read"):
            whole = self.vault.build_text_file(record, data)
        safe_files.write_file(path, whole)

    def stage_fetched_bytes(self, fetched: Fetched, own: UserPdf | None, part: Path) -> KeepBytes:
        """Write the fetched bytes to *part*; return how to keep them with a record.

        A person's *own* file that is linked or used where it is takes the place of these bytes.
        """
        if own is None or own.held_by == "copy":
            self.bodies.link_or_write_body(fetched.body, part)
        elif clone_user_pdf(own, fetched.body, part):
            safe_files.flush_file(part)
        else:
            return partial(self._use_user_pdf, fetched=fetched, own=own, part=part)
        return partial(self._keep_raw_bytes, raw=part)

    def _use_user_pdf(
        self, record: ShelfRecord, fetched: Fetched, own: UserPdf, part: Path
    ) -> None:
        if self.pdfs.use_user_pdf(record.stored, fetched, own):
            self.delete_raw_bytes(record.file)
        else:  # another PDF of a person is next to the text
            self.bodies.link_or_write_body(fetched.body, part)
            self._keep_raw_bytes(record, part)

    def _keep_raw_bytes(self, record: ShelfRecord, raw: Path) -> None:
        kept = self.raw / f"{record.stem}.{record.media}{bodies.find_body_suffix(raw)}"
        with safe_files.disk_errors(kept):
            safe_files.replace_file(raw, kept)
            safe_files.flush_folder(self.raw)
        self.delete_raw_bytes(record.file, but=kept)

    def delete_raw_bytes(self, file: str, but: Path | None = None) -> None:
        """Delete the kept bytes of a text file, all or all except *but*."""
        for media in MEDIA:
            for path in self._build_raw_paths(file, media):
                if path != but:
                    safe_files.delete_if_exists(path)

    def _build_raw_paths(self, file: str, media: str) -> tuple[Path, Path]:
        name = f"{paper_file.strip_ending(file)}.{media}"
        return self.raw / f"{name}.gz", self.raw / name

    def find_raw_file(self, record: ShelfRecord) -> Path | None:
        """Return the file with the bytes that the site sent; None if they were not kept."""
        if not record.media:
            return None
        paths = self._build_raw_paths(record.file, record.media)
        return next((path for path in paths if path.is_file()), None)

    def register_file(self, found: ShelfRecord, *, fresh: bool = True) -> ShelfRecord:
        """Register an existing file; with *fresh*, its metadata wins over the known metadata."""
        with self.catalogue.open_transaction():
            record = self.register_kept_text(self._plan_registration(found, fresh))
            if record.file != found.file and self.read_record(found.file):
                self._announce_removal(found)
        return record

    def add_metadata(self, record: ShelfRecord, paper: Paper) -> ShelfRecord:
        """Add metadata to a stored paper; merge entries that prove to be the same paper."""
        known = record.replace_metadata(merge_papers(paper, record.stored.paper))
        return self.run_announced_change(
            lambda: self._plan_registration(
                replace(known, order=self._get_next_order_number()), fresh=True
            ),
            self.register_kept_text,
        )

    def update_record(self, entry: CatalogueEntry, record: ShelfRecord) -> ShelfRecord:
        """Replace an entry's record; its file and its names stay."""
        with self.catalogue.open_transaction():
            self.write_record(record)
            row = self._to_new_entry(record)
            self.catalogue.write_entry(row, (), entry.id)
            if not _has_same_index_row(ShelfRecord.from_json(entry.record, self.folder), row):
                self.update_index(None)
        return record

    def refresh_note(self, file: str, citekey: str = "") -> bool:
        """Write a note again if its facts beyond the text have changed; return whether they had."""
        with self.catalogue.open_transaction():
            if not file.endswith(paper_file.NOTE) or not (
                entry := self.catalogue.find_entry_by_file(file)
            ):
                return False
            record = ShelfRecord.from_json(entry.record, self.folder)
            path = Path(record.stored.path)
            with safe_files.disk_errors(path, "read"):
                if not path.is_file():
                    return False
                whole = self.vault.build_text_file(
                    record, read_text_file(path, record.stored), citekey
                )
                if whole == path.read_bytes():
                    return False
            safe_files.write_file(path, whole)
            self.update_record(entry, record)
            return True

    def record_attempts(self, file: str, attempts: Sequence[Attempt]) -> ShelfRecord | None:
        """Replace the attempts in a text's record; return None if the text is gone."""
        with self.catalogue.open_transaction():
            if (entry := self.catalogue.find_entry_by_file(file)) is None:
                return None
            record = ShelfRecord.from_json(entry.record, self.folder)
            stored = replace_unencodable(replace(record.stored, attempts=tuple(attempts)))
            return self.update_record(entry, replace(record, stored=stored))

    def annotate_text(self, file: str, tags: tuple[str, ...], note: str) -> None:
        """Replace the reader's tags and note of a text, unless the text is gone."""
        with self.catalogue.open_transaction():
            if entry := self.catalogue.find_entry_by_file(file):
                record = ShelfRecord.from_json(entry.record, self.folder)
                paper = replace_unencodable(replace(record.stored.paper, tags=tags, note=note))
                self.update_record(entry, record.replace_metadata(paper))
                self.refresh_note(file)

    # -- planning ----------------------------------------------------------------------------

    def plan_filing(self, new: ShelfRecord) -> FilingPlan:
        """Return the change that filing *new* would make now."""
        same = self.find_competing_entries(new)
        paper = self._merge_metadata(new.stored.paper, same, fresh=True)
        new = replace(
            new.replace_metadata(paper),
            order=self._get_next_order_number(),
            refused=_merge_rejected_texts(new, same),
        )
        there = [record for _, record in same if Path(record.stored.path).is_file()]
        best = max(there, key=lambda record: record.rank, default=None)
        if best is not None and best.rank > new.rank:
            return FilingPlan(
                replace(best.replace_metadata(paper), order=new.order), writes=False, same=same
            )
        if best is not None and best.rank == new.rank < _TEXT and self._is_foreign_file(best):
            return FilingPlan(
                _replace_attempts(best.replace_metadata(paper), new), writes=False, same=same
            )
        if best is not None and best.stored.kind == new.stored.kind:
            name = best.file
        else:
            ours = {record.file for _, record in same if record.stored.kind != "rejected"}
            name = self._choose_file_name(new, ours)
        stored = replace(new.stored, path=str(self.folder / name))
        return FilingPlan(replace(new, stored=stored), writes=True, same=same)

    def _plan_registration(self, found: ShelfRecord, fresh: bool) -> FilingPlan:
        same = self.find_competing_entries(found)
        paper = self._merge_metadata(found.stored.paper, same, fresh)
        known = [
            record
            for _, record in same
            if record.file != found.file and not record.is_other_form_of(found)
        ]
        best = max([found, *known], key=lambda record: (record.rank, record is not found))
        order = max(found.order, *(record.order for _, record in same), 0)
        best = replace(
            best.replace_metadata(paper), order=order, refused=_merge_rejected_texts(found, same)
        )
        return FilingPlan(best, writes=False, same=same)

    def find_entries(self, ids: Ids) -> Entries:
        """Return the entries of a paper, except entries with a contradicting identifier."""
        found: list[tuple[CatalogueEntry, ShelfRecord]] = []
        for entry in self.catalogue.find_entries_by_names(ids.names()):
            record = ShelfRecord.from_json(entry.record, self.folder)
            if not ids.clash(record.ids):
                ids |= record.ids
                found.append((entry, record))
        return tuple(found)

    def find_competing_entries(self, one: ShelfRecord) -> Entries:
        """Return the entries of a paper that compete with *one* for the place on the shelf.

        These are the entries of its own version and abstracts. An abstract has no place beside a
        text of any version: the best text stands for it.
        """
        every = self.find_entries(one.ids)
        texts = [pair for pair in every if pair[1].stored.kind == "full_text"]
        if one.stored.kind in WITHOUT_TEXT and texts:
            best = max(texts, key=lambda pair: build_text_sort_key("published", pair[1].stored))
            every = tuple(p for p in every if p is best or p[1].stored.kind in WITHOUT_TEXT)
        return tuple(pair for pair in every if one.competes_with(pair[1]))

    def _merge_metadata(self, paper: Paper, same: Entries, fresh: bool) -> Paper:
        """Merge the metadata of one text's records; add the identifiers of other versions."""
        for _, record in same:
            old = record.stored.paper
            paper = merge_papers(paper, old) if fresh else merge_papers(old, paper)
        for _, record in self.find_entries(paper.ids):
            paper = add_identifiers_from(paper, record.stored.paper)
        return paper

    def _choose_file_name(self, new: ShelfRecord, ours: set[str]) -> str:
        ids, stored = new.ids, new.stored
        version = "" if is_only_preprint(stored.paper) else stored.version
        stem = paper_file.build_file_stem(ids, stored.kind, version)
        our_stems = {paper_file.strip_ending(file) for file in ours}
        for mark in ("", ids.key, " ".join(ids.names())):
            name = paper_file.append_short_hash(stem, mark) if mark else stem
            if name in our_stems or not any(
                map(self._is_name_taken, paper_file.list_form_names(name))
            ):
                return name + self.form
        return paper_file.append_short_hash(stem, str(self._get_next_order_number())) + self.form

    def _is_name_taken(self, name: str) -> bool:
        """Return whether another paper, or a file that is not a paper, has this name."""
        if self.catalogue.find_entry_by_file(name) is not None:
            return True
        path = self.folder / name
        if not path.exists():
            return False
        with safe_files.disk_errors(path, "read"):
            if not path.is_file():
                return True
            text = path.read_text(encoding="utf-8", errors="replace")
            return not adoption.is_blank(text)

    def _get_next_order_number(self) -> int:
        return max(int(time.time() * 1e9), self.catalogue.get_highest_order_number() + 1)

    # -- the catalogue and the index ---------------------------------------------------------

    def catalogue_record(self, record: ShelfRecord, same: Entries) -> None:
        """Make *record* the only entry of its text, in place of *same*."""
        entries = {entry.id: entry for entry, _ in same}
        there = self.catalogue.find_entry_by_file(record.file)
        if there is not None and there.file == record.file:
            entries[there.id] = there  # of another paper, whose file a person replaced by this one
        numbers = sorted(entries)
        for number in numbers[1:]:
            self.catalogue.delete_entry(number)
        row = self._to_new_entry(record)
        beside = [entry.id for entry, _ in self.find_entries(record.ids) if entry.id not in entries]
        self.catalogue.write_entry(row, record.ids.names(), numbers[0] if numbers else None, beside)
        for _, old in same:
            if old.file != record.file:
                self._announce_removal(old)
        before = [known for entry, known in same if [entry.id] == numbers]
        if not (before and _has_same_index_row(before[0], row)):
            self.update_index(None if numbers else row.line)

    def _to_new_entry(self, record: ShelfRecord) -> NewCatalogueEntry:
        stored = record.stored
        path = Path(stored.path)
        with safe_files.disk_errors(path, "read"):
            status = path.stat()
        return NewCatalogueEntry(
            file=record.file,
            kind=stored.kind,
            version=stored.version,
            year=stored.paper.year,
            journal=stored.paper.journal,
            retracted=stored.paper.retracted,
            filed=record.order,
            size=status.st_size,
            mtime_ns=status.st_mtime_ns,
            line=to_index_row(record),
            record=record.to_json(),
        )

    def update_index(self, added: str | None) -> None:
        """Update ``index.csv``; *added* is a new paper's row, None if a row changed."""
        if self._index_waits:
            return
        catalogue = self.catalogue
        whole = self.index.describe_file_state() == catalogue.get_fact("index_state")
        if whole and added is not None:
            self.index.append_row(added)
            catalogue.set_fact("index_state", self.index.describe_file_state())
        elif whole:
            catalogue.set_fact("index_late", "1")
        # Writing 100,000 rows takes a second: on a large shelf, changes are gathered so that this
        # never takes more than a twentieth of the time. `Shelf.close` writes the rest.
        due = catalogue.count_entries() <= _SMALL or time.monotonic() > self._rewrite_at
        if not whole or (due and catalogue.get_fact("index_late")):
            self.rewrite_index()

    def rewrite_index(self) -> None:
        """Write ``index.csv`` again, under the write lock."""
        began = time.monotonic()
        self.index.write_rows(self.catalogue.read_index_rows())
        self._rewrite_at = time.monotonic() + 20 * (time.monotonic() - began)
        self.catalogue.set_fact("index_state", self.index.describe_file_state())
        self.catalogue.set_fact("index_late", "")

    def repair_index(self) -> None:
        """Write ``index.csv`` again if it is damaged, edited or out of date."""
        catalogue = self.catalogue
        if self.index.describe_file_state() == catalogue.get_fact(
            "index_state"
        ) and not catalogue.get_fact("index_late"):
            return
        with catalogue.open_transaction():
            self.rewrite_index()

    @contextlib.contextmanager
    def suspend_index_updates(self) -> Iterator[None]:
        """Leave ``index.csv`` unchanged within the block, while the catalogue is filled."""
        self._index_waits = True
        try:
            yield
        finally:
            self._index_waits = False

    # -- files -------------------------------------------------------------------------------

    def read_text(self, record: ShelfRecord) -> str:
        """Return the text of a stored paper's file."""
        return self.read_bytes(record).decode("utf-8", "replace")

    def read_bytes(self, record: ShelfRecord) -> bytes:
        """Return the bytes of a stored paper's file, as plain text."""
        path = Path(record.stored.path)
        with safe_files.disk_errors(path, "read"):
            return read_text_file(path, record.stored)

    def _is_foreign_file(self, record: ShelfRecord) -> bool:
        """Return whether a record's file was written by another program or a person."""
        there = record.stored.via == ADOPTED and Path(record.stored.path).is_file()
        return there and adoption.is_foreign_text(self.read_text(record))

    def read_raw_answer(self, record: ShelfRecord) -> RawAnswer | None:
        """Return what the site sent, and whether the file is made of it; None if not kept."""
        if (fetched := self.read_fetched_answer(record)) is None:
            return None
        ours = compute_sha256(self.read_bytes(record)) == record.written
        return RawAnswer(fetched, record.extractor, ours)

    def read_fetched_answer(self, record: ShelfRecord) -> Fetched | None:
        """Return the answer of the site from the kept bytes; None if they were not kept."""
        with safe_files.disk_errors(self.raw, "read"):
            path = self.find_raw_file(record)
            body = bodies.unpack_body(path.read_bytes()) if path else None
        if body is None and record.media == "pdf":
            body = self.pdfs.read_user_pdf(record.stored)
        if body is None:
            return None
        stored = record.stored
        return Fetched(
            body,
            cast("Media", record.media),
            record.url,
            stored.source,
            stored.via,
            charset=record.charset,
            ids=record.named,
            version=stored.version,
        )

    def get_record_path(self, file: str) -> Path:
        """Return the path of a text file's record."""
        return self.records / f"{paper_file.strip_ending(file)}.json"

    def write_record(self, record: ShelfRecord) -> None:
        """Write the record, unless the same bytes are on the disk."""
        path, data = self.get_record_path(record.file), record.to_json().encode()
        with contextlib.suppress(OSError):
            if path.read_bytes() == data:
                return
        self.create_folders()
        safe_files.write_file(path, data)

    def read_record(self, file: str) -> ShelfRecord | None:
        """Read a text file's record from the disk; return None if it cannot be used."""
        path = self.get_record_path(file)
        try:
            text = path.read_text(encoding="utf-8")
            record = ShelfRecord.from_json(text, self.folder)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            log.warning("The record %s cannot be used: %s", path, error)
            return None
        if record.file != file and not self._is_other_form(record, file):
            return None
        record = replace(record, stored=replace(record.stored, path=str(self.folder / file)))
        return (
            replace_unencodable(record) if "\\ud" in text else record
        )  # a surrogate, as JSON spells it

    def _is_other_form(self, record: ShelfRecord, file: str) -> bool:
        """Return whether *file* is the other form of a record whose own file is gone."""
        return (
            file in paper_file.list_form_names(record.file)
            and not Path(record.stored.path).exists()
        )

    def _announce_removal(self, old: ShelfRecord) -> None:
        """Mark a superseded file for deletion after the change is committed.

        A foreign or a rejected file stays on the disk, without an entry.
        """
        keep = old.stored.kind == "rejected" or self._is_foreign_file(old)
        self.catalogue.announce_change(old.file, "forget" if keep else "remove", time.time())


def _replace_header(record: ShelfRecord, data: bytes) -> bytes:
    """Return a file of ours with the header of its record; a foreign file as it is."""
    found = paper_file.parse_paper_file(data.decode("utf-8", "replace"))
    if found is None or record.stored.via == ADOPTED:
        return data
    return paper_file.add_header(record.stored, found.body).encode("utf-8", "replace")


def _replace_attempts(there: ShelfRecord, new: ShelfRecord) -> ShelfRecord:
    """Return the record of a foreign abstract with the new attempts to get its full text."""
    tried, at = new.stored.attempts, new.stored.saved_at
    stored = replace(there.stored, attempts=tried, saved_at=at)
    return replace(there, stored=stored, order=new.order)


def add_checksum(record: ShelfRecord, data: bytes) -> ShelfRecord:
    """Return the record with the checksum and the sections of its file."""
    parts = build_sections(data.decode("utf-8", "replace"), record.stored)
    return replace(
        record, stored=replace(record.stored, sha256=compute_sha256(data), sections=parts)
    )


def _merge_rejected_texts(record: ShelfRecord, same: Entries) -> tuple[tuple[str, str], ...]:
    """Return the texts of a paper that a person rejected, from all of its entries."""
    every = (one for known in (*(known for _, known in same), record) for one in known.refused)
    return tuple(dict(every).items())


def _has_same_index_row(before: ShelfRecord, row: NewCatalogueEntry) -> bool:
    """Return whether an entry's row in ``index.csv`` and its position stay the same."""
    return before.order == row.filed and to_index_row(before) == row.line


def _is_newly_retracted(plan: FilingPlan) -> bool:
    if plan.record.stored.via == ADOPTED or not plan.record.stored.paper.retracted:
        return False
    return any(
        record.file == plan.record.file and not record.stored.paper.retracted
        for _, record in plan.same
    )


def file_papers_together(
    writer: ShelfWriter, new: Sequence[ShelfRecord], render: Render
) -> list[ShelfRecord]:
    """Put many papers on the shelf; return the record kept of each, in their order.

    A paper that is on the shelf already, or needs the file of another one, is filed by itself.
    """
    catalogue = writer.catalogue
    with catalogue.open_transaction():
        planned = _plan_new_papers(writer, new)
        for file in planned:
            catalogue.announce_change(file, "register", time.time())
    filed: dict[int, ShelfRecord] = {}
    with catalogue.open_transaction():
        current = _plan_new_papers(writer, new)
        files: list[tuple[Path, bytes]] = []
        for file in planned.keys() & current.keys():
            number, record = current[file]
            data = render(record).encode("utf-8", "replace")
            filed[number] = record = add_checksum(
                replace(record, written=compute_sha256(data)), data
            )
            files += [(writer.get_record_path(file), record.to_json().encode())]
            files += [(writer.folder / file, writer.vault.build_text_file(record, data))]
        writer.create_folders()
        safe_files.write_files(files)
        for record in filed.values():
            writer.catalogue_record(record, ())
        for file in planned:
            catalogue.clear_announcement(file, "" if file in current else "register")
    return [filed.get(number) or writer.file_paper(one, render) for number, one in enumerate(new)]


def _plan_new_papers(
    writer: ShelfWriter, new: Sequence[ShelfRecord]
) -> dict[str, tuple[int, ShelfRecord]]:
    """Return the papers that replace nothing, by file, with their positions in the list."""
    found: dict[str, tuple[int, ShelfRecord]] = {}
    names: set[str] = set()
    for number, one in enumerate(new):
        plan = writer.plan_filing(one)
        if not plan.same and plan.record.file not in found and names.isdisjoint(one.ids.names()):
            found[plan.record.file] = number, plan.record
        names.update(one.ids.names())
    return found
