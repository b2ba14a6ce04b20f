"""What keeps a library's shelf in order."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .rooms import Rooms

if TYPE_CHECKING:
    from ..curation.audit import Audit, Decision, Renewal
    from ..curation.health_check import Check
    from ..curation.inbox import InboxResult
    from ..curation.recheck import Change
    from ..curation.verification import Verification
    from ..errors import PaperError
    from ..model.identifiers import Ids
    from ..model.paper import Paper, StoredPaper
    from ..shelf import RebuildReport


class UpkeepVerbs(Rooms):
    """The verbs of filing, judging again and renewing."""

    def take_in(self, *, accept: str = "", folder: str | Path = "") -> Iterator[InboxResult]:
        """File what was dropped into ``inbox/``; see `..curation.inbox.take_in`.

        Papers that are asked for are copied from *folder*; see `..curation.inbox_watch`.
        """
        from ..curation.inbox import take_in
        from ..curation.inbox_watch import take_in_from

        yield from take_in(self._ladder, accept=accept)
        if folder:
            yield from take_in_from(self._ladder, folder)

    def watch_inbox(
        self, *, accept: str = "", folder: str | Path = ""
    ) -> Generator[InboxResult, None, None]:
        """File what arrives, for ever; see `..curation.inbox_watch.watch`."""
        from ..curation.inbox_watch import watch

        return watch(self._ladder, accept=accept, folder=folder)

    def verify(
        self,
        files: Iterable[str | Path],
        *,
        paper: str | int | Ids = "",
        record: str | Path | Mapping[str, Any] | None = None,
    ) -> Iterator[Verification | PaperError]:
        """Judge files that are not on the shelf, offline; see `..curation.verification`.

        Parameters
        ----------
        files : iterable of path
            HTML, PDF, XML of JATS or Elsevier, markdown or text.
        paper : identifier, optional
            The paper that each file should be; its record is taken from the shelf if it is there.
        record : mapping or path, optional
            The record of that paper as an item of CSL-JSON, or the file that holds it.

        Yields
        ------
        Verification or PaperError
            One for each file, in their order; an error for a file that cannot be read.

        Raises
        ------
        BadRequest
            The identifier or record is invalid.
        """
        from ..curation.verification import Pair, verify_all

        compared = self._paper_to_compare(paper, record)
        return verify_all([Pair(str(file), Path(file), compared) for file in files])

    def verify_pairs(self, pairs: str | Path) -> Iterator[Verification | PaperError]:
        """Judge the files of a JSON list of ``{"file", "url", "record"}``, as `verify` does."""
        from ..curation.verification import read_pairs, verify_all

        return verify_all(read_pairs(Path(pairs)))

    def _paper_to_compare(
        self, paper: str | int | Ids, record: str | Path | Mapping[str, Any] | None
    ) -> Paper | None:
        from ..curation.verification import paper_of_csl, read_record
        from ..model.identifiers import Ids
        from ..model.paper import Paper

        known = None
        if record is not None:
            known = (
                read_record(Path(record))
                if isinstance(record, str | Path)
                else paper_of_csl(record)
            )
        if not paper:
            return known
        ids = Ids.parse(paper)
        if known is not None:
            return replace(known, ids=ids | known.ids)
        stored = self.shelf.find(ids)
        return stored.paper if stored else Paper(ids)

    def audit(self, papers: Iterable[str | int | Ids] = (), *, fix: bool = False) -> Audit:
        """Judge the shelf again; iterating over it does the work. See `..curation.audit`."""
        from ..curation.audit import audit

        return audit(self._ladder, list(papers), fix=fix)

    def keep(self, paper: str | int | Ids, decided: Decision, because: str) -> StoredPaper:
        """Overrule the judges about one text, reversibly; see `..curation.audit.keep`."""
        from ..curation.audit import keep

        return keep(self._ladder, paper, decided, because)

    def undo_keep(self, paper: str | int | Ids) -> StoredPaper:
        """Let the judges decide about a text again; see `..curation.audit.undo`."""
        from ..curation.audit import undo

        return undo(self._ladder, paper)

    def recheck(self, *, crossref: bool = True) -> Iterator[Change]:
        """Ask again about every paper of the shelf; see `..curation.recheck.recheck`."""
        from ..curation.recheck import recheck

        return recheck(self.shelf, self.web, crossref=crossref)

    def write_references(self) -> list[Path]:
        """Write ``references.ris`` and ``references.bib`` of everything on the shelf."""
        from ..harvest.jobs import of_shelf, write_references

        return write_references(lambda: of_shelf(self.shelf), self.shelf.folder)

    def rebuild(self) -> RebuildReport:
        """Make the catalogue and ``index.csv`` again from the files alone."""
        return self.shelf.rebuild()

    def reextract(self, *, everything: bool = False) -> Iterator[Renewal]:
        """Read the kept bytes again with today's readers; see `..curation.audit.renew`."""
        from ..curation.audit import renew

        return renew(self.shelf, everything=everything)

    def doctor(self) -> list[Check]:
        """What works here and what does not; see `..curation.health_check.examine`."""
        from ..curation.health_check import examine
        from ..sources import SOURCES

        return examine(self.settings, self.web, SOURCES, self.shelf)
