"""The shelf: a folder of papers that are found by any identifier and changed atomically.

`Shelf` is the only class of this package that other packages need. The files are authoritative. The
catalogue in ``.papershelf`` makes lookups fast, and is rebuilt from the files if it is lost or
damaged. Nothing is created before the first write. `TextCacheKey` is the key under which values
computed from a text are cached in memory.
"""

from __future__ import annotations

import contextlib
import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Unpack, get_args
from unicodedata import normalize

from ..errors import BadRequest, NotFound, StoreFailed
from ..judges.comparison import get_comparable_article_type
from ..model.identifiers import Ids
from ..model.paper import Attempt, Document, Fetched, Kind, Paper, StoredPaper, Version
from ..model.versions import UNPUBLISHED_VERSIONS, choose_best_text, infer_requested_version
from ..system import safe_files
from ..system.locks import require_working_locks
from . import paper_file, quarantine
from .catalogue import Catalogue, CatalogueDamaged, CatalogueEntry, repair_and_retry
from .conversion import Form, TextConversion
from .listing import ListingFilter, ListingOptions
from .pdf_files import PdfFile, UserPdf, clone_user_pdf, get_pdf_path
from .reconciliation import SURVEYED, RebuildReport, Reconciler
from .record import (
    RawAnswer,
    ShelfEntry,
    ShelfRecord,
    build_abstract_record,
    build_full_text_record,
    build_renewed_record,
    compute_sha256,
    merge_papers,
    replace_unencodable,
)
from .shelf_writer import KeepBytes, ShelfWriter, file_papers_together
from .vault import read_text_file
from .verdicts import Verdicts

log = logging.getLogger(__name__)
_SQLITE_MAX_INTEGER = 2**63 - 1
_JOURNAL_CACHE_S = 600
_MOST_OF_JOURNAL = 200  # papers
_KEPT = {"full_text", "doubtful", "partial", "by_hand"}


class Shelf:
    """One folder of papers, found by any identifier; safe for several threads and processes.

    Parameters
    ----------
    folder : Path
        ``PAPERS_DIR``; created with the first paper.
    keep_pdfs : bool, optional
        Whether a text that is read from a PDF gets that PDF next to it.
    form : str, optional
        The form of new texts: ``txt`` or ``md``.
    keys : str, optional
        The pattern of the citation keys in notes (`..citations.keys`).
    """

    def __init__(
        self, folder: Path, *, keep_pdfs: bool = False, form: Form = "txt", keys: str = ""
    ) -> None:
        self.keep_pdfs = keep_pdfs
        self.folder = Path(folder).absolute()
        self._private = self.folder / safe_files.PRIVATE_FOLDER
        self._catalogue = Catalogue(self._private / "catalogue.db")
        self._writer = ShelfWriter(self.folder, self._catalogue, f".{form}")
        self.keys = self._writer.vault.keys = keys
        self._stock = Reconciler(self._writer)
        self._catalogue.fill = self._stock.fill_catalogue
        self._opened = False
        self._journals: dict[str, tuple[float, list[tuple[str, int, list[str]]]]] = {}
        self.verdicts = Verdicts(self._writer, self._catalogue_all_files, self.repair_catalogue)
        self.pdfs = self._stock.pdfs

    def __enter__(self) -> Shelf:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Bring ``index.csv`` up to date and close the catalogue."""
        try:
            if self._opened:
                self._writer.repair_index()
        except (StoreFailed, CatalogueDamaged) as error:
            log.warning("index.csv is behind: %s", error)
        finally:
            self._opened = False
            self._catalogue.close()

    @repair_and_retry
    def find_text(self, ids: Ids, wants: Version = "") -> StoredPaper | None:
        """Return the best text of the paper with any of *ids*, if its file exists; send no request.

        Of several texts, the version that is wanted, or the one nearest to it; *wants* is what
        *ids* mean unless said otherwise. A file that lies under the paper's name without being
        catalogued is taken in.
        """
        return choose_best_text(wants or infer_requested_version(ids), self.find_texts(ids))

    @repair_and_retry
    def find_texts(self, ids: Ids) -> list[StoredPaper]:
        """Return every text of a paper; see `find_text`."""
        if not ids:
            return []
        if self._open_catalogue() and (records := self._find_catalogued_records(ids)):
            return [record.stored for record in records]
        return [stored] if (stored := self._register_uncatalogued_file(ids)) else []

    @repair_and_retry
    def find_full_texts(self, ids: Ids) -> list[StoredPaper]:
        """Return the full texts of a paper."""
        entries = (
            self._catalogue.find_entries_by_names(ids.names())
            if ids and self._open_catalogue()
            else []
        )
        if entries and all(e.kind != "full_text" and self._is_unchanged(e) for e in entries):
            return []
        return [stored for stored in self.find_texts(ids) if stored.kind == "full_text"]

    @repair_and_retry
    def list_journal_word_counts(self, paper: Paper, without: str = "") -> tuple[int, ...]:
        """Return the word counts of a journal's full papers of the same kind.

        The catalogue is asked once in ten minutes for each journal.
        """
        kind = get_comparable_article_type(paper.publication_types)
        if not paper.journal or kind == "short" or not self._open_catalogue():
            return ()
        asked_at, rows = self._journals.get(paper.journal, (-inf, []))
        if time.monotonic() - asked_at > _JOURNAL_CACHE_S:
            rows = self._catalogue.list_journal_word_counts(paper.journal, _MOST_OF_JOURNAL)
            self._journals[paper.journal] = time.monotonic(), rows
        return tuple(
            n
            for file, n, types in rows
            if file != without and get_comparable_article_type(types) == kind
        )

    @repair_and_retry
    def find_papers_without_text(self, many: Iterable[Ids]) -> set[Ids]:
        """Return the papers that have no text on the shelf, with one query for all."""
        wanted = set(many)
        names = {name for ids in wanted for name in ids.names()}
        known = self._catalogue.find_known_names(names) if self._open_catalogue() else set()
        unknown = {ids for ids in wanted if known.isdisjoint(ids.names())}
        return {ids for ids in unknown if not any(self._stock.find_uncatalogued_files(ids))}

    @repair_and_retry
    def find_paper_by_file(self, name: str) -> StoredPaper | None:
        """Return the paper whose file has this name, in either form, with or without its ending."""
        # A name with accents may have been typed composed and stored decomposed, as on a Mac.
        spelled = (name, normalize("NFC", name), normalize("NFD", name))
        named = (file for one in spelled for file in paper_file.list_form_names(one))
        forms = [file for file in dict.fromkeys(named) if paper_file.is_usable_name(file)]
        for form in forms:
            if self._open_catalogue() and (entry := self._catalogue.find_entry_by_file(form)):
                record = self._load_current_record(entry)
                return record.stored if record else None
        path = next((path for form in forms if (path := self.folder / form).is_file()), None)
        if path is None or (found := self._stock.load_record(path, Ids())) is None:
            return None
        return self._register_file(found)

    def _find_catalogued_records(self, ids: Ids) -> list[ShelfRecord]:
        before: list[CatalogueEntry] = []
        while (entries := self._catalogue.find_entries_by_names(ids.names())) and entries != before:
            there = [self._load_current_record(entry) for entry in entries]
            found = [record for record in there if record and not record.ids.clash(ids)]
            if found:
                return sorted(found, key=lambda record: record.rank, reverse=True)
            before = entries  # gone, or just replaced by another process: look once more
        return []

    def _load_current_record(self, entry: CatalogueEntry) -> ShelfRecord | None:
        """Return the record of an entry, updated if its file changed; None if the file is gone."""
        if self._is_unchanged(entry):
            return ShelfRecord.from_json(entry.record, self.folder)
        return self._stock.refresh_entry(entry)

    def _is_unchanged(self, entry: CatalogueEntry) -> bool:
        return safe_files.read_file_stamp(self.folder / entry.file) == (entry.size, entry.mtime_ns)

    def _register_uncatalogued_file(self, ids: Ids) -> StoredPaper | None:
        """Register a file that has a name of the paper and no entry; return None without one."""
        return (
            self._register_file(found)
            if (found := self._stock.find_uncatalogued_record(ids))
            else None
        )

    def _register_file(self, found: ShelfRecord) -> StoredPaper:
        """Register an existing file; on a read-only shelf, only read the file."""
        try:
            self._open_catalogue(create=True)
            entered = self._writer.register_file(found, fresh=False)
            self._stock.finish_announced_changes()
        except StoreFailed as error:
            log.warning("%s is read without being catalogued: %s", found.file, error.text)
            return found.stored
        return entered.stored

    @repair_and_retry
    def save_full_text(
        self,
        paper: Paper,
        document: Document,
        fetched: Fetched,
        *,
        source: str,
        attempts: Sequence[Attempt],
        own_file: UserPdf | None = None,
    ) -> StoredPaper:
        """Save a full text, in place of an abstract if there is one.

        `.shelf_writer` says what is written and in which order. *own_file* is a person's file with
        the fetched bytes, which is linked or used where it is.

        Returns what is on the shelf afterwards: the better text that was there already, if any.

        Raises
        ------
        BadRequest
            The person's file cannot be linked, or has changed. Nothing has changed on the shelf.
        StoreFailed
            The disk refused. Nothing has changed, or the text is there without its PDF.
        """
        if document.verdict not in _KEPT or not document.markdown.strip():
            msg = f"{document.verdict} is not a text for the shelf; it belongs in the quarantine"
            raise ValueError(msg)
        new = build_full_text_record(paper, document, fetched, source, attempts)
        self._open_catalogue(create=True)
        self._quarantine_partial_pdf(new)
        part = safe_files.build_part_path(self._writer.raw / "new")
        try:
            keep_bytes = self._writer.stage_fetched_bytes(fetched, own_file, part)
            stored = self._file_paper(
                new,
                lambda record: paper_file.build_full_text_file(record.stored, document.markdown),
                keep_bytes,
            )
        finally:
            safe_files.delete_if_exists(part)
        if self.keep_pdfs and fetched.media == "pdf":
            self.store_source_pdf(stored)
        return stored

    def _quarantine_partial_pdf(self, new: ShelfRecord) -> None:
        """Move the PDF of an incomplete text, which *new* will replace, to the quarantine."""
        for _, old in self._writer.find_competing_entries(new):
            if old.media != "pdf" or old.stored.verdict != "partial" or old.rank >= new.rank:
                continue
            part = self._writer.read_fetched_answer(old)
            if part and self.pdfs.has_same_bytes(old.stored, part.body):
                reason = f"the PDF of {old.file}, a part of the paper; a whole text replaced it"
                self.quarantine_content(old.ids, part, "partial", reason)
                self.pdfs.delete_pdf(old.stored)

    @repair_and_retry
    def save_abstract(
        self, paper: Paper, attempts: Sequence[Attempt], *, via: str = "pubmed"
    ) -> StoredPaper:
        """Save the abstract of a paper without an available full text; an existing full text stays.

        Raises
        ------
        StoreFailed
            The disk refused; nothing has changed.
        """
        self._open_catalogue(create=True)
        return self._file_paper(
            build_abstract_record(paper, attempts, via),
            lambda made: paper_file.build_abstract_file(made.stored),
        )

    @repair_and_retry
    def save_abstracts(self, papers: Sequence[Paper]) -> Sequence[StoredPaper]:
        """Save many abstracts, before any site is asked for full texts; see `save_abstract`."""
        self._open_catalogue(create=True)
        new = [build_abstract_record(paper, (), paper.recorded_by) for paper in papers]
        for record in new:
            self._register_legacy_file(record.ids)
        filed = file_papers_together(
            self._writer, new, lambda made: paper_file.build_abstract_file(made.stored)
        )
        self._stock.finish_announced_changes()
        return [record.stored for record in filed]

    def _file_paper(
        self,
        new: ShelfRecord,
        render: Callable[[ShelfRecord], str],
        keep_bytes: KeepBytes | None = None,
    ) -> StoredPaper:
        self._register_legacy_file(new.ids)
        try:
            record = self._writer.file_paper(new, render, keep_bytes)
        except (BadRequest, StoreFailed):
            with contextlib.suppress(StoreFailed):  # else whoever comes next does it
                self._stock.finish_announced_changes(failed=True)
            raise
        self._stock.finish_announced_changes()
        return record.stored

    def _register_legacy_file(self, ids: Ids) -> None:
        """Register the older program's file of a paper that has no entry."""
        if not self._catalogue.find_entries_by_names(ids.names()):
            self._register_uncatalogued_file(ids)

    @repair_and_retry
    def add_metadata(self, stored: StoredPaper, known: Paper | Ids) -> StoredPaper:
        """Add identifiers or metadata to a stored paper.

        Costs nothing when there is nothing new in it.

        Raises
        ------
        BadRequest
            *known* contradicts what the shelf knows of the stored one.
        """
        record = self._get_record(stored)
        paper = replace_unencodable(known if isinstance(known, Paper) else Paper(known))
        if clash := record.ids.clash(paper.ids):
            raise BadRequest(f"{record.file} is another paper: {clash}.")
        if merge_papers(paper, record.stored.paper) == record.stored.paper:
            return record.stored
        learnt = self._writer.add_metadata(record, paper).stored
        self._stock.finish_announced_changes()
        return learnt

    @repair_and_retry
    def record_attempts(self, stored: StoredPaper, attempts: Sequence[Attempt]) -> StoredPaper:
        """Record the attempts to get another version of a stored text; the text stays.

        Raises
        ------
        StoreFailed
            The disk refused; nothing has changed.
        """
        record = self._writer.record_attempts(Path(stored.path).name, attempts)
        return record.stored if record else stored

    @repair_and_retry
    def annotate(self, ids: Ids, tags: tuple[str, ...], note: str) -> None:
        """Replace the reader's tags and note of a paper, in the record of each of its texts.

        Raises
        ------
        StoreFailed
            The disk refused; nothing has changed.
        """
        for stored in self.find_texts(ids):
            self._writer.annotate_text(Path(stored.path).name, tags, note)

    def _get_record(self, stored: StoredPaper) -> ShelfRecord:
        file = Path(stored.path).name
        self._open_catalogue(create=True)
        if entry := self._catalogue.find_entry_by_file(file):
            return ShelfRecord.from_json(entry.record, self.folder)
        msg = f"{file} is not on the shelf."
        raise NotFound(msg, "It may have been deleted or replaced: look it up again.")

    def quarantine_content(self, ids: Ids, fetched: Fetched, verdict: str, reason: str) -> Path:
        """Store rejected content with the reason in the quarantine; return its path.

        Raises
        ------
        StoreFailed
            The disk refused.
        """
        self._writer.create_folders()
        folder = self._private / "quarantine"
        return quarantine.quarantine_content(
            folder, self._writer.bodies, ids, fetched, verdict, reason
        )

    def read_text(self, stored: StoredPaper) -> str:
        """Return the whole file, with its header (`paper_file.strip_header` removes it).

        Raises
        ------
        StoreFailed
            The file cannot be read.
        """
        return self._writer.read_text(ShelfRecord(stored))

    @repair_and_retry
    def read_raw_answer(self, stored: StoredPaper) -> RawAnswer | None:
        """Return the bytes that the site sent; None if they were not kept."""
        return self._writer.read_raw_answer(self._get_record(stored))

    def resolve_copy_path(self, output_path: str) -> Path:
        """Return the full path of *output_path*, if a copy may be written there.

        Raises
        ------
        BadRequest
            It leads out of the folder, is hidden, or is not a .txt or .md file.
        """
        return safe_files.resolve_shelf_path(self.folder, output_path)

    @repair_and_retry
    def store_source_pdf(self, stored: StoredPaper) -> PdfFile | None:
        """Store the PDF that a text was read from next to it; None for a text from another form.

        Raises
        ------
        StoreFailed
            The disk refused.
        """
        record = self._get_record(stored)
        if record.media != "pdf" or (fetched := self._writer.read_fetched_answer(record)) is None:
            return None
        return self.store_pdf(stored, fetched, same_bytes=self._writer.find_raw_file(record))

    def require_linkable_file(self, path: Path) -> None:
        """Raise `StoreFailed` if a user's file cannot be linked into the shelf."""
        self._writer.create_folders()
        self.pdfs.require_linkable_file(path)

    @repair_and_retry
    def use_user_pdf(self, stored: StoredPaper, fetched: Fetched, own: UserPdf) -> None:
        """Make a person's file the PDF of a text, without a copy; see `.pdf_files.PdfFiles`.

        Raises
        ------
        BadRequest
            The file cannot be linked, or has changed.
        StoreFailed
            The disk refused.
        """
        part = safe_files.build_part_path(get_pdf_path(stored))
        try:
            if clone_user_pdf(own, fetched.body, part):
                self.store_pdf(stored, fetched, same_bytes=part)
            elif self.pdfs.use_user_pdf(stored, fetched, own):
                self.refresh_note(Path(stored.path).name)
        finally:
            safe_files.delete_if_exists(part)

    @repair_and_retry
    def store_pdf(
        self,
        stored: StoredPaper,
        fetched: Fetched,
        *,
        attempts: Sequence[Attempt] = (),
        same_bytes: Path | None = None,
    ) -> PdfFile:
        """Store a PDF next to its text, and link it in a note; see `.pdf_files.PdfFiles.store_pdf`.

        Raises
        ------
        StoreFailed
            The disk refused.
        """
        pdf = self.pdfs.store_pdf(stored, fetched, attempts=attempts, same_bytes=same_bytes)
        self.refresh_note(Path(stored.path).name)
        return pdf

    @repair_and_retry
    def refresh_note(self, file: str, citekey: str = "") -> bool:
        """Update tags, PDF and links of a note; return whether the note changed.

        *citekey* is the note's new citation key.

        Raises
        ------
        StoreFailed
            The disk refused.
        """
        return self._open_catalogue() and self._writer.refresh_note(file, citekey)

    @repair_and_retry
    def convert_text(self, file: str, form: Form, *, dry_run: bool = False) -> str:
        """Convert a text to another form; return the reason if it is not converted, else "".

        Raises
        ------
        NotFound
            The text is gone.
        StoreFailed
            The disk refused; the text is there in one of both forms, or in both.
        """
        stored = self.find_paper_by_file(file)
        if stored is None:
            raise NotFound(f"{file} is not on the shelf.")
        conversion = TextConversion(self._writer, Path(stored.path).name, form)
        if (reason := conversion.explain_obstacle()) or dry_run:
            return reason
        try:
            conversion.convert_text()
        finally:
            self._stock.finish_announced_changes(failed=True)
        return ""

    @repair_and_retry
    def replace_text_by_rereading(self, stored: StoredPaper, document: Document) -> StoredPaper:
        """Replace a stored text by a better reading of the same bytes; origin and attempts stay."""
        better = build_renewed_record(self._get_record(stored), document)
        return self._file_paper(
            better, lambda made: paper_file.build_full_text_file(made.stored, document.markdown)
        )

    @repair_and_retry
    def copy_text_to(self, stored: StoredPaper, output_path: str) -> Path:
        """Write a copy of a stored paper inside the folder, under a name that the caller chose.

        Raises
        ------
        BadRequest
            The name leads elsewhere, or something else lies there already.
        """
        target = self.resolve_copy_path(output_path)
        source = Path(stored.path)
        if target == source.resolve():
            return target
        entry = self._catalogue.find_entry_by_file(target.name) if self._open_catalogue() else None
        if entry is not None and target.parent == self.folder.resolve():
            msg = f"{output_path!r} is the file of another paper on the shelf."
            raise BadRequest(msg, "Choose another name.")
        with safe_files.disk_errors(source, "read"):
            # A copy that ends in .txt is plain text; every other copy is the file as it is.
            is_plain = target.suffix.lower() == paper_file.TEXT
            data = read_text_file(source, stored) if is_plain else source.read_bytes()
        if not safe_files.write_unless_different(data, target):
            msg = f"{output_path!r} exists already, with other content."
            raise BadRequest(msg, "Choose another name, or delete that file first.")
        return target

    @repair_and_retry
    def list_papers(
        self,
        *,
        among: frozenset[str] | None = None,
        start: int = 0,
        max_results: int = 20,
        **filters: Unpack[ListingOptions],
    ) -> tuple[int, list[StoredPaper]]:
        """Return the number of matches and one page: by relevance for words, else newest first.

        *among* are names of papers (as `Ids.names` has them), of which one must be the paper's. The
        filters are described at `.listing.ListingFilter`; *has_pdf* leaves out texts without a PDF
        next to them.

        Raises
        ------
        BadRequest
            A filter has a value that cannot be.
        """
        stems = self.pdfs.list_pdf_stems() if filters.get("has_pdf") else None
        wanted = ListingFilter.from_options(filters, among, stems)
        if start < 0 or max_results < 0:
            msg = f"start is {start} and max_results is {max_results}; neither can be negative."
            raise BadRequest(msg)
        if wanted.max_date and wanted.min_date > wanted.max_date:
            msg = f"The first year, {wanted.min_date}, is later than the last, {wanted.max_date}."
            raise BadRequest(msg, "Swap them.")
        start = min(start, _SQLITE_MAX_INTEGER)
        if not self._catalogue_all_files():
            return 0, []
        before = -1
        while True:
            total, entries = self._catalogue.search_entries(wanted, start, max_results)
            there = [self._load_current_record(entry) for entry in entries]
            found = [record.stored for record in there if record]
            if len(found) == len(entries) or total == before:
                return total, found
            before = total  # files deleted by hand have just left the catalogue: look again

    @repair_and_retry
    def find_lost_text(self, name: str) -> StoredPaper | None:
        """Return the paper whose file of this name is missing; None if the file exists."""
        names = [
            file for file in paper_file.list_form_names(name) if paper_file.is_usable_name(file)
        ]
        entries = [
            self._catalogue.find_entry_by_file(file) for file in names if self._open_catalogue()
        ]
        entry = next(filter(None, entries), None)
        if entry is None or (self.folder / entry.file).is_file():
            return None
        return ShelfRecord.from_json(entry.record, self.folder).stored

    @repair_and_retry
    def restore_text(self, name: str) -> StoredPaper | None:
        """Restore a lost file from the kept bytes; return None if they do not give the text.

        Raises
        ------
        StoreFailed
            The disk refused; nothing has changed.
        """
        made = self._stock.restore_file(name)
        return made.stored if made else None

    @repair_and_retry
    def list_entries(self) -> list[ShelfEntry]:
        """Return every text on the shelf, newest first, ten times as fast as `list_papers`."""
        if not self._catalogue_all_files():
            return []
        missing = self._stock.find_missing_files()
        return [
            ShelfEntry(file, kind, Ids(**ids), via, license_, compute_sha256(record.encode()))
            for file, kind, record, facts in self._catalogue.list_texts()
            if file not in missing
            for ids, via, license_ in [json.loads(facts)]
        ]

    @repair_and_retry
    def list_papers_without_text(self) -> Iterator[tuple[Ids, str]]:
        """Return identifiers and title of every paper without a full text."""
        rows = self._catalogue.list_papers_without_text() if self._catalogue_all_files() else []
        return ((Ids(**json.loads(ids)), title) for ids, title in rows)

    @repair_and_retry
    def count_papers(self) -> dict[str, int]:
        """Count the files on the disk: papers, texts of each kind, retracted and rejected texts.

        ``preprint`` and ``accepted`` are the full texts that are not the published version.
        """
        none = dict.fromkeys(("papers", *get_args(Kind), *UNPUBLISHED_VERSIONS, "retracted"), 0)
        known = self._catalogue_all_files()
        found = self._catalogue.count_papers(self._stock.find_missing_files()) if known else none
        return {
            **found,
            "quarantined": quarantine.count_rejected_files(self._private / "quarantine"),
        }

    @repair_and_retry
    def rebuild_catalogue(self) -> RebuildReport:
        """Rebuild the catalogue and ``index.csv`` from the files alone."""
        self._open_catalogue(create=True)
        return self._stock.rebuild_catalogue()

    def _catalogue_all_files(self) -> bool:
        """Catalogue every file, also foreign ones; return False if there are no files."""
        if not self._open_catalogue():
            if not self._stock.list_text_files():
                return False
            self._open_catalogue(create=True)
        if not self._catalogue.get_fact(SURVEYED):
            try:
                self._stock.rebuild_catalogue()
            except StoreFailed as error:
                log.warning("The shelf is only read, and listed as it is: %s", error.text)
        return True

    def _open_catalogue(self, create: bool = False) -> bool:
        """Open the catalogue, or create it; return False if it is missing and not created."""
        if self._opened and self._catalogue.exists():
            return True
        self._require_shelf_access()
        if not (create or self._catalogue.exists() or self._stock.has_records()):
            return False
        if not self._catalogue.exists():
            self._writer.create_folders()
            require_working_locks(self._private)
        self._opened = True
        if not self._catalogue.get_fact("complete"):  # left so by an older version
            self._stock.rebuild_catalogue()
        self._stock.clean_up_shelf()
        return True

    def _require_shelf_access(self) -> None:
        """Share the shelf if requested; raise if another user's permissions prevent access."""
        if access_error := safe_files.find_access_error(self._private, "look into", reading=True):
            raise access_error
        safe_files.share_shelf_if_requested(self.folder)
        if self._private.is_dir():
            require_working_locks(self._private)

    def repair_catalogue(self, error: CatalogueDamaged) -> None:
        """Move a damaged catalogue aside, and rebuild it from the files."""
        log.warning("The catalogue is damaged (%s): making it again from the files.", error)
        self._catalogue.move_damaged_file_aside()
        self._opened = False
        self._open_catalogue(create=True)


@dataclass(frozen=True, slots=True)
class TextCacheKey:
    """A cache key for a text, which changes when the text's file or its raw bytes change.

    Two keys are equal if path, size, times and checksum are; the paper and its shelf are only
    carried along, to read the text with.
    """

    path: str
    sha256: str
    saved_at: str
    size: int
    mtime_ns: int
    stored: StoredPaper = field(compare=False)
    shelf: Shelf = field(compare=False)

    @classmethod
    def from_stored(cls, stored: StoredPaper, shelf: Shelf) -> TextCacheKey:
        """Return the key of a text as it is now; a missing file has the size -1."""
        stamp = safe_files.read_file_stamp(Path(stored.path))
        return cls(stored.path, stored.sha256, stored.saved_at, *stamp, stored, shelf)
