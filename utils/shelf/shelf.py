"""The shelf: the folder of papers, found by any name, changed all or nothing.

The one class of this package that others use. The files are the truth; the catalogue in
``.papershelf`` finds them at once and is made again from them when it is lost or damaged. Nothing
is created until the first write. `TextFile` is the key for what is computed from a text and kept in
memory.
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
from ..judges.comparison import get_compared_type
from ..model.identifiers import Ids
from ..model.paper import Attempt, Document, Fetched, Kind, Paper, StoredPaper, Version
from ..model.versions import UNPUBLISHED_VERSIONS, choose_best_text, infer_version
from ..system import safe_files
from ..system.locks import require_locks
from . import paper_file, quarantine
from .catalogue import Catalogue, CatalogueBroken, Entry, healing
from .conversion import Conversion, Form
from .listing import ListFilters, ListingFilter
from .pdf_files import OwnFile, PdfFile, clone_own_file, get_pdf_path
from .reconciliation import SURVEYED, RebuildReport, Reconciler
from .record import (
    RawAnswer,
    Record,
    abstract_record,
    full_text_record,
    merge_papers,
    renewed_record,
    writable,
)
from .shelf_writer import KeepBytes, ShelfWriter, file_together
from .vault import read_file
from .verdicts import Verdicts

log = logging.getLogger(__name__)
_SQLITE_MAX_INTEGER = 2**63 - 1
_JOURNAL_CACHE_S = 600
_MOST_OF_JOURNAL = 200  # papers
_KEPT = {"full_text", "doubtful", "partial", "by_hand"}


class Shelf:
    """One folder of papers. Safe to use from several threads and processes at once.

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
        self._catalogue.fill = self._stock.fill
        self._opened = False
        self._journals: dict[str, tuple[float, list[tuple[str, int, list[str]]]]] = {}
        self.verdicts = Verdicts(self._writer, self._survey, self.heal)
        self.pdfs = self._stock.pdfs

    def __enter__(self) -> Shelf:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Bring ``index.csv`` up to date and close the catalogue."""
        try:
            if self._opened:
                self._writer.settle_index()
        except (StoreFailed, CatalogueBroken) as error:
            log.warning("index.csv is behind: %s", error)
        finally:
            self._opened = False
            self._catalogue.close()

    @healing
    def find(self, ids: Ids, wants: Version = "") -> StoredPaper | None:
        """Return the paper with any of *ids*, if its file is there; sends no request.

        Of several texts, the version that is wanted, or the one nearest to it; *wants* is what
        *ids* mean unless said otherwise. A file that lies under the paper's name without being
        catalogued is taken in.
        """
        return choose_best_text(wants or infer_version(ids), self.find_texts(ids))

    @healing
    def find_texts(self, ids: Ids) -> list[StoredPaper]:
        """Return everything there is of a paper, of each version the newest first; see `find`."""
        if not ids:
            return []
        if self._ready() and (records := self._find_catalogued(ids)):
            return [record.stored for record in records]
        return [stored] if (stored := self._take_in(ids)) else []

    @healing
    def full_texts(self, ids: Ids) -> list[StoredPaper]:
        """Return the full texts of a paper."""
        entries = self._catalogue.by_names(ids.names()) if ids and self._ready() else []
        if entries and all(e.kind != "full_text" and self._is_unchanged(e) for e in entries):
            return []
        return [stored for stored in self.find_texts(ids) if stored.kind == "full_text"]

    @healing
    def words_in_journal(self, paper: Paper, without: str = "") -> tuple[int, ...]:
        """Return the words of the journal's whole papers of the same kind, *without* one file.

        The catalogue is asked once in ten minutes for each journal.
        """
        kind = get_compared_type(paper.publication_types)
        if not paper.journal or kind == "short" or not self._ready():
            return ()
        asked_at, rows = self._journals.get(paper.journal, (-inf, []))
        if time.monotonic() - asked_at > _JOURNAL_CACHE_S:
            rows = self._catalogue.words_in_journal(paper.journal, _MOST_OF_JOURNAL)
            self._journals[paper.journal] = time.monotonic(), rows
        return tuple(
            n for file, n, types in rows if file != without and get_compared_type(types) == kind
        )

    @healing
    def absent(self, many: Iterable[Ids]) -> set[Ids]:
        """Return the papers for which `find` would find nothing, with one query for all."""
        wanted = set(many)
        names = {name for ids in wanted for name in ids.names()}
        known = self._catalogue.known(names) if self._ready() else set()
        unknown = {ids for ids in wanted if known.isdisjoint(ids.names())}
        return {ids for ids in unknown if not any(self._stock.uncatalogued_files(ids))}

    @healing
    def find_by_file(self, name: str) -> StoredPaper | None:
        """Return the paper whose file has this name, in any form, with or without its ending."""
        # A name with accents may have been typed composed and stored decomposed, as on a Mac.
        spelled = (name, normalize("NFC", name), normalize("NFD", name))
        named = (file for one in spelled for file in paper_file.list_forms(one))
        forms = [file for file in dict.fromkeys(named) if paper_file.is_usable_name(file)]
        for form in forms:
            if self._ready() and (entry := self._catalogue.by_file(form)):
                record = self._current_record(entry)
                return record.stored if record else None
        path = next((path for form in forms if (path := self.folder / form).is_file()), None)
        if path is None or (found := self._stock.from_file(path, Ids())) is None:
            return None
        return self._enter(found)

    def _find_catalogued(self, ids: Ids) -> list[Record]:
        before: list[Entry] = []
        while (entries := self._catalogue.by_names(ids.names())) and entries != before:
            there = [self._current_record(entry) for entry in entries]
            found = [record for record in there if record and not record.ids.clash(ids)]
            if found:
                return sorted(found, key=lambda record: record.rank, reverse=True)
            before = entries  # gone, or just replaced by another process: look once more
        return []

    def _current_record(self, entry: Entry) -> Record | None:
        """Return the record of an entry, read again if its file changed; None if it is gone."""
        if self._is_unchanged(entry):
            return Record.from_json(entry.record, self.folder)
        return self._stock.reread(entry)

    def _is_unchanged(self, entry: Entry) -> bool:
        return safe_files.read_stamp(self.folder / entry.file) == (entry.size, entry.mtime_ns)

    def _take_in(self, ids: Ids) -> StoredPaper | None:
        """Return a file under one of the paper's names that is not in the catalogue."""
        return self._enter(found) if (found := self._stock.uncatalogued(ids)) else None

    def _enter(self, found: Record) -> StoredPaper:
        """Catalogue an existing file; a read-only shelf is still read."""
        try:
            self._ready(create=True)
            entered = self._writer.register(found, fresh=False)
            self._stock.clear_away()
        except StoreFailed as error:
            log.warning("%s is read without being catalogued: %s", found.file, error.text)
            return found.stored
        return entered.stored

    @healing
    def save(
        self,
        paper: Paper,
        document: Document,
        fetched: Fetched,
        *,
        source: str,
        attempts: Sequence[Attempt],
        own_file: OwnFile | None = None,
    ) -> StoredPaper:
        """Put a full text on the shelf, in place of an abstract if there is one.

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
            msg = f"{document.verdict} is not a text to be kept; it belongs in the quarantine"
            raise ValueError(msg)
        new = full_text_record(paper, document, fetched, source, attempts)
        self._ready(create=True)
        self._set_aside_part(new)
        part = safe_files.build_part_path(self._writer.raw / "new")
        try:
            keep_bytes = self._writer.stage_bytes(fetched, own_file, part)
            stored = self._file_paper(
                new,
                lambda record: paper_file.to_full_text(record.stored, document.markdown),
                keep_bytes,
            )
        finally:
            safe_files.delete_file(part)
        if self.keep_pdfs and fetched.media == "pdf":
            self.keep_pdf(stored)
        return stored

    def _set_aside_part(self, new: Record) -> None:
        """Move the PDF of a part of a paper, which a whole text will replace, to the quarantine."""
        for _, old in self._writer.rivals(new):
            if old.media != "pdf" or old.stored.verdict != "partial" or old.rank >= new.rank:
                continue
            part = self._writer.fetched_of(old)
            if part and self.pdfs.holds(old.stored, part.body):
                reason = f"the PDF of {old.file}, a part of the paper; a whole text replaced it"
                self.quarantine(old.ids, part, "partial", reason)
                self.pdfs.remove(old.stored)

    @healing
    def save_abstract(
        self, paper: Paper, attempts: Sequence[Attempt], *, via: str = "pubmed"
    ) -> StoredPaper:
        """Keep the abstract of a paper without an available full text; a full text stays.

        Raises
        ------
        StoreFailed
            The disk refused; nothing has changed.
        """
        self._ready(create=True)
        return self._file_paper(
            abstract_record(paper, attempts, via),
            lambda made: paper_file.to_abstract_file(made.stored),
        )

    @healing
    def save_abstracts(self, papers: Sequence[Paper]) -> Sequence[StoredPaper]:
        """Keep abstracts before anybody is asked for the texts; see `save_abstract`."""
        self._ready(create=True)
        new = [abstract_record(paper, (), paper.recorded_by) for paper in papers]
        for record in new:
            self._take_in_first(record.ids)
        filed = file_together(
            self._writer, new, lambda made: paper_file.to_abstract_file(made.stored)
        )
        self._stock.clear_away()
        return [record.stored for record in filed]

    def _file_paper(
        self, new: Record, render: Callable[[Record], str], keep_bytes: KeepBytes | None = None
    ) -> StoredPaper:
        self._take_in_first(new.ids)
        try:
            record = self._writer.file(new, render, keep_bytes)
        except (BadRequest, StoreFailed):
            with contextlib.suppress(StoreFailed):  # else whoever comes next does it
                self._stock.clear_away(failed=True)
            raise
        self._stock.clear_away()
        return record.stored

    def _take_in_first(self, ids: Ids) -> None:
        """Catalogue a file of the older program under one of these names."""
        if not self._catalogue.by_names(ids.names()):
            self._take_in(ids)

    @healing
    def learn(self, stored: StoredPaper, known: Paper | Ids) -> StoredPaper:
        """Add identifiers or metadata to a stored paper, e.g. one the older program saved.

        Costs nothing when there is nothing new in it.

        Raises
        ------
        BadRequest
            *known* contradicts what the shelf knows of the stored one.
        """
        record = self._get_record(stored)
        paper = writable(known if isinstance(known, Paper) else Paper(known))
        if clash := record.ids.clash(paper.ids):
            raise BadRequest(f"{record.file} is another paper: {clash}.")
        if merge_papers(paper, record.stored.paper) == record.stored.paper:
            return record.stored
        learnt = self._writer.learn(record, paper).stored
        self._stock.clear_away()
        return learnt

    @healing
    def record_attempts(self, stored: StoredPaper, attempts: Sequence[Attempt]) -> StoredPaper:
        """Record the attempts at another version of a stored text; the text stays.

        Raises
        ------
        StoreFailed
            The disk refused; nothing has changed.
        """
        record = self._writer.record_attempts(Path(stored.path).name, attempts)
        return record.stored if record else stored

    def _get_record(self, stored: StoredPaper) -> Record:
        file = Path(stored.path).name
        self._ready(create=True)
        if entry := self._catalogue.by_file(file):
            return Record.from_json(entry.record, self.folder)
        msg = f"{file} is not on the shelf."
        raise NotFound(msg, "It may have been deleted or replaced: look it up again.")

    def quarantine(self, ids: Ids, fetched: Fetched, verdict: str, reason: str) -> Path:
        """Keep rejected content with the reason, away from the shelf; return its file.

        Raises
        ------
        StoreFailed
            The disk refused.
        """
        self._writer.prepare()
        folder = self._private / "quarantine"
        return quarantine.quarantine_content(
            folder, self._writer.bodies, ids, fetched, verdict, reason
        )

    def read_text(self, stored: StoredPaper) -> str:
        """Return the whole file, header included (`paper_file.body_of` removes it).

        Raises
        ------
        StoreFailed
            The file cannot be read.
        """
        return self._writer.read(Record(stored))

    @healing
    def raw(self, stored: StoredPaper) -> RawAnswer | None:
        """Return the untouched bytes that the site sent; None if they were not kept."""
        return self._writer.raw_of(self._get_record(stored))

    def confined(self, output_path: str) -> Path:
        """Return the place of *output_path*, if a copy may be written there.

        Raises
        ------
        BadRequest
            It leads out of the folder, is hidden, or is not a .txt or .md file.
        """
        return safe_files.resolve_on_shelf(self.folder, output_path)

    @healing
    def keep_pdf(self, stored: StoredPaper) -> PdfFile | None:
        """Put the PDF that a text was read from next to it; None if it was read from another form.

        Raises
        ------
        StoreFailed
            The disk refused.
        """
        record = self._get_record(stored)
        if record.media != "pdf" or (fetched := self._writer.fetched_of(record)) is None:
            return None
        return self.add_pdf(stored, fetched, same_bytes=self._writer.find_raw(record))

    def check_link(self, path: Path) -> None:
        """Check that a person's file can be linked; see `.pdf_files.PdfFiles.check_link`."""
        self._writer.prepare()
        self.pdfs.check_link(path)

    @healing
    def hold_pdf(self, stored: StoredPaper, fetched: Fetched, own: OwnFile) -> None:
        """Make a person's file the PDF of a text, without a copy; see `.pdf_files.PdfFiles.hold`.

        Raises
        ------
        BadRequest
            The file cannot be linked, or has changed.
        StoreFailed
            The disk refused.
        """
        part = safe_files.build_part_path(get_pdf_path(stored))
        try:
            if clone_own_file(own, fetched.body, part):
                self.add_pdf(stored, fetched, same_bytes=part)
            elif self.pdfs.hold(stored, fetched, own):
                self.refresh_note(Path(stored.path).name)
        finally:
            safe_files.delete_file(part)

    @healing
    def add_pdf(
        self,
        stored: StoredPaper,
        fetched: Fetched,
        *,
        attempts: Sequence[Attempt] = (),
        same_bytes: Path | None = None,
    ) -> PdfFile:
        """Put a PDF next to its text, and link it in a note; see `.pdf_files.PdfFiles.keep`.

        Raises
        ------
        StoreFailed
            The disk refused.
        """
        pdf = self.pdfs.keep(stored, fetched, attempts=attempts, same_bytes=same_bytes)
        self.refresh_note(Path(stored.path).name)
        return pdf

    @healing
    def refresh_note(self, file: str, citekey: str = "") -> bool:
        """Bring tags, PDF and links of a note up to date; return whether the note changed.

        *citekey* is the note's new citation key.

        Raises
        ------
        StoreFailed
            The disk refused.
        """
        return self._ready() and self._writer.refresh_note(file, citekey)

    @healing
    def convert(self, file: str, form: Form, *, dry_run: bool = False) -> str:
        """Change the form of a text; return why the text keeps its form, else "".

        Raises
        ------
        NotFound
            The text is gone.
        StoreFailed
            The disk refused; the text is there in one of both forms, or in both.
        """
        stored = self.find_by_file(file)
        if stored is None:
            raise NotFound(f"{file} is not on the shelf.")
        conversion = Conversion(self._writer, Path(stored.path).name, form)
        if (reason := conversion.find_obstacle()) or dry_run:
            return reason
        try:
            conversion.carry_out()
        finally:
            self._stock.clear_away(failed=True)
        return ""

    @healing
    def renew(self, stored: StoredPaper, document: Document) -> StoredPaper:
        """Replace a stored text by a better reading of the same bytes; its story stays."""
        better = renewed_record(self._get_record(stored), document)
        return self._file_paper(
            better, lambda made: paper_file.to_full_text(made.stored, document.markdown)
        )

    @healing
    def copy_to(self, stored: StoredPaper, output_path: str) -> Path:
        """Write a copy of a stored paper under a name the caller chose, inside the folder.

        Raises
        ------
        BadRequest
            The name leads elsewhere, or something else lies there already.
        """
        target = self.confined(output_path)
        source = Path(stored.path)
        if target == source.resolve():
            return target
        entry = self._catalogue.by_file(target.name) if self._ready() else None
        if entry is not None and target.parent == self.folder.resolve():
            msg = f"{output_path!r} is the file of another paper on the shelf."
            raise BadRequest(msg, "Choose another name.")
        with safe_files.disk_errors(source, "read"):
            # A copy that ends in .txt is plain text; every other copy is the file as it is.
            is_plain = target.suffix.lower() == paper_file.TEXT
            data = read_file(source, stored) if is_plain else source.read_bytes()
        if not safe_files.write_copy(data, target):
            msg = f"{output_path!r} exists already and holds something else."
            raise BadRequest(msg, "Choose another name, or delete that file first.")
        return target

    @healing
    def list(
        self,
        *,
        among: frozenset[str] | None = None,
        start: int = 0,
        max_results: int = 20,
        **filters: Unpack[ListFilters],
    ) -> tuple[int, list[StoredPaper]]:
        """Return the number of matches and a page of them: best first for words, else newest.

        *among* are names of papers (as `Ids.names` has them), of which one must be the paper's. The
        filters are described at `.listing.ListingFilter`; *has_pdf* leaves out texts without a PDF
        next to them.

        Raises
        ------
        BadRequest
            A filter has a value that cannot be.
        """
        stems = self.pdfs.list_stems() if filters.get("has_pdf") else None
        wanted = ListingFilter.from_options(filters, among, stems)
        if start < 0 or max_results < 0:
            msg = f"start is {start} and max_results is {max_results}; neither can be negative."
            raise BadRequest(msg)
        if wanted.max_date and wanted.min_date > wanted.max_date:
            msg = f"The first year, {wanted.min_date}, is later than the last, {wanted.max_date}."
            raise BadRequest(msg, "Swap them.")
        start = min(start, _SQLITE_MAX_INTEGER)
        if not self._survey():
            return 0, []
        before = -1
        while True:
            total, entries = self._catalogue.search(wanted, start, max_results)
            there = [self._current_record(entry) for entry in entries]
            found = [record.stored for record in there if record]
            if len(found) == len(entries) or total == before:
                return total, found
            before = total  # files deleted by hand have just left the catalogue: look again

    @healing
    def lost(self, name: str) -> StoredPaper | None:
        """Return the paper whose file of this name is gone, None where the file is there."""
        names = [file for file in paper_file.list_forms(name) if paper_file.is_usable_name(file)]
        entries = [self._catalogue.by_file(file) for file in names if self._ready()]
        entry = next(filter(None, entries), None)
        if entry is None or (self.folder / entry.file).is_file():
            return None
        return Record.from_json(entry.record, self.folder).stored

    @healing
    def restore(self, name: str) -> StoredPaper | None:
        """Make a lost file again from the kept bytes; None where they do not give the text.

        Raises
        ------
        StoreFailed
            The disk refused; nothing has changed.
        """
        made = self._stock.restore(name)
        return made.stored if made else None

    @healing
    def lacking(self) -> Iterator[tuple[Ids, str]]:
        """Return identifiers and title of every paper without a full text."""
        rows = self._catalogue.lacking() if self._survey() else []
        return ((Ids(**json.loads(ids)), title) for ids, title in rows)

    @healing
    def counts(self) -> dict[str, int]:
        """Count the files on the disk: papers, texts of each kind, retracted and rejected ones.

        ``preprint`` and ``accepted`` are the full texts that are not the published version.
        """
        none = dict.fromkeys(("papers", *get_args(Kind), *UNPUBLISHED_VERSIONS, "retracted"), 0)
        known = self._survey()
        found = self._catalogue.counts(self._stock.missing_files()) if known else none
        return {**found, "quarantined": quarantine.count(self._private / "quarantine")}

    @healing
    def rebuild(self) -> RebuildReport:
        """Make the catalogue and ``index.csv`` again from the files alone."""
        self._ready(create=True)
        return self._stock.rebuild()

    def _survey(self) -> bool:
        """Catalogue every file, the older program's too; return False without files."""
        if not self._ready():
            if not self._stock.texts():
                return False
            self._ready(create=True)
        if not self._catalogue.note(SURVEYED):
            try:
                self._stock.rebuild()
            except StoreFailed as error:
                log.warning("The shelf is only read, and listed as it is: %s", error.text)
        return True

    def _ready(self, create: bool = False) -> bool:
        """Open the catalogue, or create it; return False if it is missing and not created."""
        if self._opened and self._catalogue.exists():
            return True
        self._require_access()
        if not (create or self._catalogue.exists() or self._stock.has_records()):
            return False
        if not self._catalogue.exists():
            self._writer.prepare()
            require_locks(self._private)
        self._opened = True
        if not self._catalogue.note("complete"):  # left so by an older version
            self._stock.rebuild()
        self._stock.tidy()
        return True

    def _require_access(self) -> None:
        """Share the shelf if requested; raise where another user's permissions prevent access."""
        if access_error := safe_files.find_access_error(self._private, "look into", reading=True):
            raise access_error
        safe_files.share_if_requested(self.folder)
        if self._private.is_dir():
            require_locks(self._private)

    def heal(self, error: CatalogueBroken) -> None:
        """Set a damaged catalogue aside and make it again from the files."""
        log.warning("The catalogue is damaged (%s): making it again from the files.", error)
        self._catalogue.move_aside()
        self._opened = False
        self._ready(create=True)


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text by the facts of which one at least changes when its file or its raw bytes do.

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
    def of(cls, stored: StoredPaper, shelf: Shelf) -> TextFile:
        """Return the key of a text as it is now; a missing file has the size -1."""
        stamp = safe_files.read_stamp(Path(stored.path))
        return cls(stored.path, stored.sha256, stored.saved_at, *stamp, stored, shelf)
