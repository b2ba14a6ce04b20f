"""Methods of a library that maintain the shelf."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..system.keyword_options import accept_former_options
from .namespace import Namespace

if TYPE_CHECKING:
    from pathlib import Path

    from ..curation.audit import Audit, Decision, RereadText
    from ..curation.conversion import FormChange
    from ..curation.folder_adoption import FolderAdoption
    from ..curation.inbox import InboxResult
    from ..curation.recheck import Change
    from ..model.identifiers import Ids
    from ..model.paper import StoredPaper
    from ..shelf import RebuildReport
    from ..shelf.conversion import Form
    from ..shelf.pdf_files import HeldBy

_FIRST_RECHECK_S, _RECHECK_INTERVAL_S = 600.0, 12 * 3600.0


class Upkeep(Namespace):
    """Methods that file new papers, judge stored texts again, and renew the texts."""

    def put_in_inbox(self, name: str, body: bytes) -> Path:
        """Write a paper's file into the folder ``inbox/``, for `take_in`."""
        from ..curation.inbox import FOLDER
        from ..curation.inbox_files import write_inbox_file

        return write_inbox_file(self._library.shelf.folder / FOLDER, name, body)

    def take_in(self, *, accept: str = "", folder: str | Path = "") -> Iterator[InboxResult]:
        """File the papers in the folder ``inbox/``; see `..curation.inbox.file_inbox`.

        Papers that are asked for are copied from *folder*; see `..curation.inbox_watch`.
        """
        from ..curation.inbox import file_inbox
        from ..curation.inbox_watch import file_wanted_papers_of_folder

        yield from file_inbox(self._library.ladder, accept=accept)
        if folder:
            yield from file_wanted_papers_of_folder(self._library.ladder, folder)

    def watch_inbox(
        self, *, accept: str = "", folder: str | Path = ""
    ) -> Generator[InboxResult, None, None]:
        """File papers as they arrive, without end; see `..curation.inbox_watch.watch_inbox`."""
        from ..curation.inbox_watch import watch_inbox

        return watch_inbox(self._library.ladder, accept=accept, folder=folder)

    @accept_former_options(asks_sources="lookup")
    def adopt(
        self,
        folder: str | Path,
        *,
        paper: str | int | Ids = "",
        lookup: bool = True,
        dry_run: bool = False,
        references: Sequence[str | Path] = (),
        again: bool = False,
        by: HeldBy = "copy",
    ) -> FolderAdoption:
        """Add the PDF files of a folder to the shelf; iterating over the result does the work.

        *by* is ``copy``, ``link`` or ``place`` (the files stay where they are). With *paper*,
        *folder* is one file, which is that paper. See
        `..curation.folder_adoption.FolderAdoption`.
        """
        from pathlib import Path

        from ..curation.folder_adoption import FolderAdoption
        from ..model.identifiers import Ids

        return FolderAdoption(
            self._library.ladder,
            Path(folder),
            asks_sources=lookup,
            dry_run=dry_run,
            decided=Ids.parse(paper) if paper else Ids(),
            references=[Path(one) for one in references],
            again=again,
            held_by=by,
        )

    def audit(self, papers: Iterable[str | int | Ids] = (), *, fix: bool = False) -> Audit:
        """Return an audit of the shelf; iterating over the audit judges the texts again."""
        from ..curation.audit import audit_texts

        return audit_texts(self._library.ladder, list(papers), fix=fix)

    def keep(self, paper: str | int | Ids, decided: Decision, because: str) -> StoredPaper:
        """Record your own verdict on one text; `undo_keep` restores the judges' verdict."""
        from ..curation.audit import record_manual_verdict

        return record_manual_verdict(self._library.ladder, paper, decided, because)

    def undo_keep(self, paper: str | int | Ids) -> StoredPaper:
        """Remove your own verdict on a text, so that the judges decide again."""
        from ..curation.audit import undo_manual_verdict

        return undo_manual_verdict(self._library.ladder, paper)

    def annotate(
        self, paper: str | int | Ids, *, tags: Sequence[str] | None = None, note: str | None = None
    ) -> StoredPaper:
        """Replace the reader's own tags or note of a paper; see `..curation.annotation`."""
        from ..curation.annotation import annotate_paper

        return annotate_paper(self._library.shelf, paper, tags=tags, note=note)

    def recheck(self, *, crossref: bool = True) -> Iterator[Change]:
        """Look up every paper of the shelf again; see `..curation.recheck.recheck_papers`."""
        from ..curation.recheck import recheck_papers

        return recheck_papers(self._library.shelf, self._library.web, crossref=crossref)

    def recheck_texts(self, *, limit: int = 0, due: bool = False) -> Iterator[Change]:
        """Fetch full texts that became available later; see `..curation.text_recheck`.

        With *due*, only of papers that are due today; see `..curation.daily_recheck`.
        """
        from ..curation.daily_recheck import recheck_due_texts
        from ..curation.text_recheck import recheck_texts

        ladder = self._library.ladder
        return recheck_due_texts(ladder) if due else recheck_texts(ladder, limit=limit)

    def recheck_daily(self) -> threading.Event:
        """Fetch due texts twice a day in a thread, first after ten minutes, as servers do.

        Set the returned event to end the thread. See `..curation.daily_recheck`.
        """
        stopped = threading.Event()

        def look() -> None:
            """Wait and fetch, until `stopped` is set."""
            wait_s = _FIRST_RECHECK_S
            while not stopped.wait(wait_s):
                from ..curation.daily_recheck import find_due_texts

                find_due_texts(self._library.ladder)
                wait_s = _RECHECK_INTERVAL_S

        if self._library.settings.papers_recheck_per_day:
            threading.Thread(target=look, name="recheck", daemon=True).start()
        return stopped

    def rebuild(self) -> RebuildReport:
        """Rebuild the catalogue and ``index.csv`` from the files."""
        return self._library.shelf.rebuild_catalogue()

    def reextract(self, *, everything: bool = False) -> Iterator[RereadText]:
        """Read the kept downloads again with the current readers; see `..curation.audit`."""
        from ..curation.audit import reread_texts

        return reread_texts(self._library.shelf, everything=everything)

    def convert(self, form: Form, *, dry_run: bool = False) -> Iterator[FormChange]:
        """Convert texts to files or notes; iterating does the work. See `..curation.conversion`."""
        from ..curation.conversion import convert_texts

        return convert_texts(self._library.ladder, form, dry_run=dry_run)

    def write_references(self, *, job_id: str = "", keys: str = "") -> list[Path]:
        """Write ``references.ris`` and ``references.bib`` of the shelf, or of a harvest.

        ``keys`` is the pattern of BibTeX keys instead of ``PAPERS_KEYS``; see `..citations.keys`.
        """
        from ..citations.keys import parse_key_pattern
        from ..harvest.jobs import list_harvested_papers, list_shelf_papers, write_references

        keys = keys or self._library.settings.papers_keys
        parse_key_pattern(keys)  # refused before anything is written
        if job_id:
            harvest = self._library.harvest(job_id=job_id)
            harvest.report()
            rows = harvest.ledger.read_outcomes
            return write_references(lambda: list_harvested_papers(rows()), harvest.folder, keys)
        shelf = self._library.shelf
        # With letters behind equal keys, the oldest paper comes first, so that keys stay.
        order = (lambda papers: reversed(list(papers))) if keys else iter
        return write_references(lambda: order(list_shelf_papers(shelf)), shelf.folder, keys)
