"""Add a user's library of PDF files to the shelf.

The library is a folder with subfolders: of Zotero, Mendeley, Papers, JabRef or EndNote, or made by
hand. Each PDF file is read once, in a child process, because a PDF may be made to break readers.
Files are then worked on in groups:

1. The identifiers that a reference file, the metadata of the PDF, its first pages or its name
   give are looked up in one batch. The text must agree with the record that is found: a first page
   also cites, and a correction or a supplement prints the identifier of another paper.
2. What is not settled is compared with the papers on the shelf by its title, and then searched for
   by title, ten titles in one request.
3. A file that fits exactly one paper is filed, judged like a download. Any other is reported with
   the reason, the papers that it may be, and what to type to decide.

Nothing in the folder is changed, moved or deleted. The shelf copies the PDF files, links them, or
uses them where they are (`..shelf.pdf_files`).
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ..download.ladder import Ladder
from ..errors import BadContent, BadRequest, NotFound, PaperError
from ..harvest.jobs import Ledgers
from ..http import MAX_BODY_BYTES
from ..lists.attachments import AttachedPaper, match_papers_to_files, read_attached_papers
from ..model.identifiers import Ids
from ..model.paper import Document, Paper, StoredPaper
from ..search.reference_search import STEPS, WantedReference, iterate_candidates
from ..shelf.pdf_files import HeldBy, UserPdf
from ..system.plain_text import one_line
from ..system.safe_files import disk_errors
from .adoption_journal import (
    AdoptedFile,
    AdoptionJournal,
    State,
    build_filing_command,
    format_display_path,
    hash_file_state,
    list_pdf_files,
)
from .file_matching import FileMatch, FileMatcher, JudgedMatch, match_file
from .inbox import find_same_version, save_accepted_text
from .inbox_files import InboxFile, hash_names, read_submitted_file

_AT_ONCE = 50  # files whose texts are in memory
_READERS = 2  # child processes that read PDF files
_MAX_CANDIDATES = 5
_TITLE_MIN_WORDS = 4  # words of a title that is searched for
_UNREADABLE: dict[str, State] = {"login": "encrypted", "scanned": "scanned"}
_REFERENCE_SUFFIXES = (".bib", ".ris", ".rdf", ".xml")
_PLACE = "your folder"
_SAME_PAPER = "It is the same paper as"
_CHANGED = "It changed while it was read. Run this again."
_FOUND_AGAIN = "It is the PDF of a text on the shelf, moved or changed since; it is used again."
_SCANNED = (
    "Its pages are pictures. To read their text, run: "
    'pip install "papershelf[ocr]" (checkout: uv sync --inexact --extra ocr)'
)


class _ReadFile(NamedTuple):
    """A file that was read: the papers it may contain, or the reason why it cannot be matched."""

    path: Path
    mark: str
    sha256: str = ""
    match: FileMatch | None = None
    state: State = "unreadable"
    detail: str = ""


@dataclass(slots=True)
class _FileGroup:
    """Files that are matched together, without those whose outcome is certain."""

    matches: dict[Path, FileMatch]
    judged: dict[Path, JudgedMatch] = field(default_factory=dict)
    silent: dict[Path, str] = field(default_factory=dict)


class FolderAdoption:
    """Adds the PDF files of a folder to the shelf; iterating over it does the work.

    Parameters
    ----------
    ladder : Ladder
        The shelf, and the sources of records.
    folder : Path
        The folder, or one file in it.
    asks_sources : bool, optional
        Whether records are looked up and titles searched for at sites.
    dry_run : bool, optional
        Whether nothing is written.
    decided : Ids, optional
        The paper that the one file is, as a person says.
    references : sequence of Path, optional
        Reference files that say which PDF file belongs to which paper. Those that lie in the folder
        itself are used, too.
    again : bool, optional
        Whether files that are not on the shelf are read again although they did not change.
    held_by : str, optional
        How the shelf holds the files: ``copy``; ``link`` (a copy-on-write clone, or else a hard
        link); ``place`` (the shelf records where they are).

    Raises
    ------
    BadRequest
        The folder does not exist, cannot be read, or belongs to the shelf; or its files cannot be
        linked.
    """

    def __init__(
        self,
        ladder: Ladder,
        folder: Path,
        *,
        asks_sources: bool = True,
        dry_run: bool = False,
        decided: Ids | None = None,
        references: Sequence[Path] = (),
        again: bool = False,
        held_by: HeldBy = "copy",
    ) -> None:
        self.ladder, self.dry_run, self._held_by = ladder, dry_run, held_by
        self._decided = decided or Ids()
        path = folder.expanduser().absolute()
        self.folder = path.parent if path.is_file() else path
        _require_adoptable_folder(path, ladder.shelf.folder, self._decided)
        self.files, self._unread = (
            ([path], []) if path.is_file() else list_pdf_files(path, ladder.shelf.folder.absolute())
        )
        if held_by == "link" and self.files and not dry_run:
            ladder.shelf.require_linkable_file(self.files[0])
        if asks_sources:
            ladder.web.settings.require_email("NCBI")
        beside = _list_reference_files(self.folder)
        self._attached, self.unread_references = _read_reference_files(
            references, beside, self.files
        )
        listed = {one.ids: one for papers in self._attached.values() for one in papers if one.ids}
        self._matcher = FileMatcher(ladder, asks_sources, listed)
        lists = [hash_file_state(one) for one in (*references, *beside)]
        basis = hash_names(asks_sources, again and id(self), self._decided, *lists)
        self._journal = AdoptionJournal.open(ladder.shelf.folder, self.folder, basis)
        self._first_files: dict[str, str] = {}  # by the checksum of the bytes, and by the paper
        self._ledgers = Ledgers(ladder)

    def __iter__(self) -> Iterator[AdoptedFile]:
        """Yield what became of each file, files that an earlier run settled first."""
        yield from self._unread
        left = []
        for path in self.files:
            known = self._find_earlier_result(path)
            if known:
                yield known
            else:
                left.append(path)
        with closing(self._ledgers), ThreadPoolExecutor(_READERS) as readers:
            for group in _iterate_read_groups(left, self._read_file, readers):
                yield from self._record_group_results(group)

    def _find_earlier_result(self, path: Path) -> AdoptedFile | None:
        """Return the result of an earlier run, unless its paper is no longer on the shelf."""
        known = self._journal.find_earlier_result(path)
        if known is None or self._decided:
            return None
        if known.state == "duplicate" and not known.paper:
            return None  # a killed run may have recorded a copy before its original was filed
        if known.file_path:
            if self.ladder.shelf.find_text(Ids.maybe(known.paper)) is None:
                return None
            self._first_files.setdefault(known.file_path, known.file)
        self._first_files.setdefault(self._journal.sha256[hash_file_state(path)], known.file)
        return known

    # -- reading -----------------------------------------------------------------------------

    def _read_file(self, path: Path) -> _ReadFile:
        """Read one file; runs in a thread."""
        unread = _ReadFile(path, hash_file_state(path))
        try:
            found = path.lstat()
            if not (stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)):
                return unread._replace(detail="It is not a file.")
            if found.st_size > MAX_BODY_BYTES:
                detail = f"It is larger than {MAX_BODY_BYTES >> 20} MB."
                return unread._replace(state="too_large", detail=detail)
            content = read_submitted_file(path, _PLACE)
        except OSError as error:
            return unread._replace(detail=f"It could not be opened: {error.strerror}.")
        except BadContent as bad:
            is_open = os.access(path, os.R_OK) and not path.is_symlink()
            state: State = "not_pdf" if is_open else "unreadable"
            return unread._replace(state=state, detail=bad.message)
        return self._read_pdf_text(content, unread)

    def _read_pdf_text(self, content: InboxFile, unread: _ReadFile) -> _ReadFile:
        """Read the text of a PDF file, unless another file has the same bytes."""
        if content.fetched.media != "pdf":
            detail = "Its content is not a PDF, whatever its name says."
            return unread._replace(state="not_pdf", detail=detail)
        unread = unread._replace(sha256=hashlib.sha256(content.fetched.body).hexdigest())
        shown = format_display_path(unread.path, self.folder)
        first = self._first_files.setdefault(unread.sha256, shown)
        if first != shown:
            # A reference file may name this copy, and not the one that was read first.
            if unread.path not in self._attached or self.folder / first in self._attached:
                detail = f"It has the same bytes as {first}."
                return unread._replace(state="duplicate", detail=detail)
            self._first_files[unread.sha256] = shown
        try:
            match = match_file(unread.path, content)
        except BadContent as bad:
            state = _UNREADABLE.get(bad.outcome, "damaged")
            return unread._replace(state=state, detail=bad.message)
        if self._decided:
            match = replace(match, claimed_ids=Ids(), name_ids=self._decided, titles=())
            return unread._replace(match=match)
        attached = self._attached.get(unread.path, ())
        printed = match.document.ids if match.document else Ids()
        titles = (one.title for one in attached if not one.ids and one.title)
        match = replace(
            match,
            more_ids=(*(one.ids for one in attached), printed),
            titles=(*titles, *match.titles),
        )
        return unread._replace(match=match)

    # -- settling ----------------------------------------------------------------------------

    def _record_group_results(self, group: Sequence[_ReadFile]) -> Iterator[AdoptedFile]:
        """Yield the result of each file of a group, and write it to the journal."""
        read_files = {one.path: one for one in group}
        for path, result in self._match_group(group):
            if not self.dry_run:
                one = read_files[path]
                self._journal.append_result(one.mark, one.sha256, result)
            yield result

    def _match_group(self, read_files: Sequence[_ReadFile]) -> Iterator[tuple[Path, AdoptedFile]]:
        for one in read_files:
            if one.match is None:
                yield one.path, self._to_result(one.path, one.state, one.detail)
        group = _FileGroup({one.path: one.match for one in read_files if one.match is not None})
        self._matcher.load_match_records(list(group.matches.values()))
        yield from self._file_certain_matches(group)
        for path, match in group.matches.items():
            same_title = self._matcher.find_stored_by_titles(match.titles)
            group.matches[path] = replace(match, same_title=same_title)
        yield from self._file_certain_matches(group)
        if self._matcher.asks_sources:
            yield from self._search_titles(group)
        for path, match in group.matches.items():
            yield (
                path,
                self._build_unfiled_result(
                    match, group.judged.get(path), group.silent.get(path, "")
                ),
            )

    def _file_certain_matches(self, group: _FileGroup) -> Iterator[tuple[Path, AdoptedFile]]:
        """File texts that match exactly one candidate, and remove them from the group."""
        for path, match in list(group.matches.items()):
            result = self._judge_and_file(match, group)
            if result:
                del group.matches[path]
                yield path, result

    def _judge_and_file(self, match: FileMatch, group: _FileGroup) -> AdoptedFile | None:
        try:
            content = read_submitted_file(match.path, _PLACE)
        except (OSError, BadContent):
            return self._to_result(match.path, "postponed", _CHANGED)
        if match.get_document(content) is None:
            return self._to_result(match.path, "postponed", _CHANGED)
        judged = self._matcher.judge_match(match, content, strict=not self._decided)
        group.judged[match.path] = judged
        if len(judged.fitting) != 1:
            return None
        return self._file_paper(match.path, content, *judged.fitting[0])

    def _search_titles(self, group: _FileGroup) -> Iterator[tuple[Path, AdoptedFile]]:
        """Search sites in turn for the titles of files that have no certain match yet."""
        wanted = {
            path: WantedReference(Paper(Ids(), title=title))
            for path, match in group.matches.items()
            if (title := _choose_likeliest_title(match))
        }
        ladder = self.ladder
        for step in STEPS:
            left = [one for path, one in wanted.items() if path in group.matches]
            step(left, ladder.web, ladder.sources)
            for path in list(group.matches):
                if path in wanted:
                    match = group.matches[path]
                    alike = (paper for paper, _ in iterate_candidates(wanted[path]))
                    found = tuple(paper for paper in alike if _has_paper_title(paper, match))
                    group.matches[path] = replace(match, found_by_title=found)
                    group.silent[path] = " ".join(wanted[path].silent.values())
            yield from self._file_certain_matches(group)

    # -- filing ------------------------------------------------------------------------------

    def _file_paper(
        self, path: Path, content: InboxFile, paper: Paper, document: Document
    ) -> AdoptedFile:
        """File a text that the judges accept for a paper, unless the shelf has the paper."""
        shelf = self.ladder.shelf
        present = find_same_version(shelf, paper, document)
        shown = format_display_path(path, self.folder)
        key = present.path if present else f"{paper.ids.key} {document.version}"
        first = self._first_files.setdefault(key, shown)
        if present and not (present.is_doubtful and first == shown):
            return self._report_paper_on_shelf(path, content, present, first)
        if first != shown:  # in a dry run
            return self._to_result(path, "duplicate", f"{_SAME_PAPER} {first}.", paper)
        if self.dry_run:
            return self._to_result(path, "ready", document.evidence, paper)
        own = UserPdf(path, self._held_by)
        try:
            stored, detail = save_accepted_text(shelf, path, content, paper, document, own)
        except BadRequest as refusal:
            return self._to_result(path, "not_linked", refusal.text, paper)
        self._first_files[stored.path] = shown
        self._ledgers.record_arrival(stored)
        return self._to_result(path, "filed", detail, stored.paper, stored)

    def _report_paper_on_shelf(
        self, path: Path, content: InboxFile, present: StoredPaper, first: str
    ) -> AdoptedFile:
        """Return the result for a paper that is on the shelf already; add the PDF to its text."""
        shelf, paper = self.ladder.shelf, present.paper
        raw = shelf.read_raw_answer(present)
        if raw and raw.fetched.body == content.fetched.body:  # a killed run filed it
            return self._to_result(path, "filed", present.evidence, paper, present)
        if first != format_display_path(path, self.folder):
            return self._to_result(path, "duplicate", f"{_SAME_PAPER} {first}.", paper, present)
        has_changed = bool(shelf.pdfs.find_pdf_problem(present))
        wants_pdf = has_changed or (shelf.keep_pdfs and not shelf.pdfs.find_pdf(present))
        if wants_pdf and not self.dry_run:
            try:
                self._add_pdf(path, content, present)
            except BadRequest as refusal:
                return self._to_result(path, "not_linked", refusal.text, paper, present)
        if has_changed:
            return self._to_result(path, "filed", _FOUND_AGAIN, paper, present)
        detail = f"The shelf has its full text, by {present.via}; it stays."
        return self._to_result(path, "on_shelf", detail, paper, present)

    def _add_pdf(self, path: Path, content: InboxFile, present: StoredPaper) -> None:
        """Add the PDF to a text on the shelf, as a copy or as the user's own file."""
        fetched = replace(content.fetched, ids=present.paper.ids)
        if self._held_by == "copy":
            self.ladder.shelf.store_pdf(present, fetched)
        else:
            self.ladder.shelf.use_user_pdf(present, fetched, UserPdf(path, self._held_by))

    # -- reporting ---------------------------------------------------------------------------

    def _build_unfiled_result(
        self, match: FileMatch, judged: JudgedMatch | None, silent: str
    ) -> AdoptedFile:
        """Return the result of a file that is not filed."""
        path = match.path
        if match.document and match.document.verdict == "scanned":
            return self._to_result(path, "scanned", _SCANNED)
        troubles = [one for ids in match.names for one in self._matcher.find_records(ids)]
        for trouble in troubles:
            if isinstance(trouble, PaperError) and not isinstance(trouble, NotFound | BadRequest):
                return self._to_result(path, "postponed", trouble.message)
        if silent:
            return self._to_result(path, "postponed", silent)
        judged = judged or JudgedMatch((), ())
        for paper, bad in judged.refused:
            if bad.outcome != "wrong_paper":
                state: State = "not_paper" if bad.outcome == "not_a_paper" else "rejected"
                return self._to_result(path, state, bad.message, paper)
        fitting = [paper for paper, _ in judged.fitting]
        refused = [(paper, bad) for paper, bad in judged.refused if _has_paper_title(paper, match)]
        if fitting or refused:
            papers = [*fitting, *(paper for paper, _ in refused)][:_MAX_CANDIDATES]
            detail = "It fits several papers." if fitting else refused[0][1].message
            candidates = tuple(f"{one.ids} {one_line(one.title)}".strip() for one in papers)
            result = self._to_result(path, "unsure", detail)
            command = build_filing_command(path, papers[0].ids.key.partition(":")[2])
            return replace(result, candidates=candidates, command=command)
        return self._build_unknown_result(match)

    def _build_unknown_result(self, match: FileMatch) -> AdoptedFile:
        from ..judges.check import judge_completeness

        assert match.document
        judged = judge_completeness(match.document, Paper(Ids()))
        if judged.verdict in ("scanned", "empty"):
            return self._to_result(match.path, "scanned", _SCANNED)
        if judged.is_rejection:
            return self._to_result(match.path, "not_paper", f"{judged.evidence}.")
        title = one_line(_choose_likeliest_title(match))
        named = " or ".join(str(ids) for ids in match.names)
        says = ", ".join(filter(None, (f"title: {title}" if title else "", named)))
        detail = f"No paper was found that it is ({says or 'it gives no title'})."
        if not self._matcher.asks_sources:
            detail += " No site was asked: leave --no-lookup out."
        result = self._to_result(match.path, "unknown", detail)
        return replace(result, command=build_filing_command(match.path))

    def _to_result(
        self,
        path: Path,
        state: State,
        detail: str,
        paper: Paper | None = None,
        stored: StoredPaper | None = None,
    ) -> AdoptedFile:
        shown = format_display_path(path, self.folder)
        name, title = (str(paper.ids), one_line(paper.title)) if paper else ("", "")
        return AdoptedFile(
            shown, state, one_line(detail), name, title, stored.path if stored else ""
        )


def _require_adoptable_folder(path: Path, shelf: Path, decided: Ids) -> None:
    if not path.exists():
        raise BadRequest(f"{path} does not exist.", "Give the folder that has your PDF files.")
    if path.resolve().is_relative_to(shelf.resolve()):
        raise BadRequest(f"{path} belongs to the shelf.", "Give a folder of another program.")
    if decided and path.is_dir():
        msg = "--as names the paper of one file, but a folder was given."
        raise BadRequest(msg, "Give the file.")


def _list_reference_files(folder: Path) -> list[Path]:
    """Return the reference files in a folder."""
    found = (path for path in folder.iterdir() if path.suffix.lower() in _REFERENCE_SUFFIXES)
    return sorted(path for path in found if path.is_file() and not path.is_symlink())


def _read_reference_files(
    given: Sequence[Path], beside: Sequence[Path], files: Sequence[Path]
) -> tuple[dict[Path, tuple[Paper, ...]], list[str]]:
    """Return the papers attached to files, and the names of damaged reference files.

    Raises
    ------
    BadRequest
        A reference file that was given cannot be read.
    """
    papers: list[AttachedPaper] = []
    damaged: list[str] = []
    for path in dict.fromkeys((*given, *beside)):
        try:
            with disk_errors(path, "read"):
                papers += read_attached_papers(path.read_bytes(), path.name)
        except PaperError as error:
            if path in given:
                raise
            damaged.append(
                f"{format_display_path(path, path.parent)} was not used: {error.message}"
            )
    return match_papers_to_files(papers, files), damaged


def _iterate_read_groups(
    paths: Sequence[Path], read_one: Callable[[Path], _ReadFile], readers: ThreadPoolExecutor
) -> Iterator[list[_ReadFile]]:
    """Yield the read files in groups; the next group is read while one group is processed."""
    waiting = iter(paths)
    before: list[Future[_ReadFile]] = []
    while True:
        group = [readers.submit(read_one, path) for path in islice(waiting, _AT_ONCE)]
        if before:
            yield [future.result() for future in before]
        if not group:
            return
        before = group


def _choose_likeliest_title(match: FileMatch) -> str:
    """Return the text of a file that is most likely its title."""
    from ..judges.titles import count_distinctive_words

    fit = (title for title in match.titles if count_distinctive_words(title) >= _TITLE_MIN_WORDS)
    return next(fit, "")


def _has_paper_title(paper: Paper, match: FileMatch) -> bool:
    """Return whether a file has nearly the title of a paper, or prints it at its beginning."""
    from ..judges.thresholds import NEAR_TITLE_LIKENESS, OPENING_CHARS
    from ..judges.titles import is_title_printed, measure_title_likeness

    if any(
        measure_title_likeness(paper.title, title) >= NEAR_TITLE_LIKENESS for title in match.titles
    ):
        return True
    opening = match.document.markdown[:OPENING_CHARS] if match.document else ""
    return is_title_printed(opening, paper.title)
