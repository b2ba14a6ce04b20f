"""Methods of a library for records and references."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..system.keyword_options import accept_former_options
from .namespace import Namespace

if TYPE_CHECKING:
    from pathlib import Path

    from ..errors import PaperError
    from ..harvest.jobs import RequestedPapers
    from ..model.identifiers import Ids
    from ..model.paper import Paper
    from ..packs import Pack
    from ..search.resolve import Resolution


class References(Namespace):
    """Records of papers, and references formatted from them."""

    def records(self, papers: Iterable[str | int | Ids]) -> list[tuple[Ids, Paper | PaperError]]:
        """Return each paper's record or error; see `..download.records.fetch_records`.

        What is no identifier stands in its place, with the error that names it.
        """
        from ..download.records import fetch_records
        from ..model.identifiers import Ids
        from ..sources import SOURCES

        read = [Ids.try_parse(paper) for paper in papers]
        wanted = (ids for ids in read if isinstance(ids, Ids))
        known = iter(fetch_records(wanted, self._library.shelf, self._library.web, SOURCES))
        return [next(known) if isinstance(ids, Ids) else (Ids(), ids) for ids in read]

    def records_to_cite(
        self, papers: Iterable[str | int | Ids]
    ) -> list[tuple[Ids, Paper | PaperError]]:
        """Return the same as `records`, but for an arXiv version, that version's record."""
        asked = list(papers)
        known = zip(asked, self.records(asked), strict=True)
        return [(ids, self._match_version(paper, record)) for paper, (ids, record) in known]

    def _match_version(
        self, paper: str | int | Ids, record: Paper | PaperError
    ) -> Paper | PaperError:
        from ..citations import add_version_to_arxiv_id
        from ..errors import PaperError
        from ..model.identifiers import find_arxiv_version

        version = find_arxiv_version(paper) if isinstance(paper, str) else ""
        if not version or isinstance(record, PaperError):
            return record
        try:
            return add_version_to_arxiv_id(self._library.arxiv.paper(str(paper)), version)
        except PaperError as absent:
            return absent

    def citations(
        self, papers: Iterable[Paper], styles: Iterable[str], *, keys: str = ""
    ) -> list[dict[str, Any]]:
        """Return each paper's reference in each of *styles*; see `..citations.format_citations`.

        ``keys`` is the pattern of BibTeX keys instead of ``PAPERS_KEYS``.
        """
        from ..citations import format_citations

        keys = keys or self._library.settings.papers_keys
        return format_citations(list(papers), list(styles), keys)

    @accept_former_options(anew="again")
    def resolve(self, papers: RequestedPapers, *, again: bool = False) -> Iterator[Resolution]:
        """Find the papers of entries that have no identifier; see `..search.resolve`.

        ``entries_in`` of `..lists.references` reads the list.
        """
        from ..harvest.jobs import to_entry
        from ..search.resolve import resolve_entries
        from ..sources import SOURCES

        return resolve_entries(map(to_entry, papers), self._library.web, SOURCES, anew=again)

    @accept_former_options(path="output")
    def pack(  # noqa: PLR0913 - the options of a pack
        self,
        papers: str | RequestedPapers | Mapping[str, RequestedPapers],
        program: str = "folder",
        *,
        output: str | Path = "",
        zipped: bool = False,
        title: str = "",
        names: str = "",
        keys: str = "",
        own_use: bool = False,
        render: bool = False,
        dry_run: bool = False,
    ) -> Pack:
        """Pack references with their PDF files for a program; see `..packs.pack_references`.

        Parameters
        ----------
        papers : str, iterable, or mapping of str to iterable
            The name of a harvest or review; or lists, as `Library.harvest` takes them. Lists that
            were harvested bring the reasons why papers are missing.
        program : str, optional
            ``covidence``, ``endnote``, ``folder``, ``rayyan`` or ``zotero``.
        path : path, optional
            The folder; or the ZIP, if the name ends with ``.zip``. Else a folder in ``packs/`` of
            the shelf.
        zipped : bool, optional
            Write a ZIP, and append ``.zip`` to a name without it.
        title : str, optional
            The title that the harvest of the lists was given.
        names : str, optional
            The pattern of the file names; see `..packs.names`.
        keys : str, optional
            The pattern of citation keys instead of ``PAPERS_KEYS``; see `..citations.keys`.
        own_use : bool, optional
            Include files that may not be passed on, or whose licence is unknown.
        render : bool, optional
            Print the text of a paper that has no PDF (extra ``render``).
        dry_run : bool, optional
            Write nothing.

        Raises
        ------
        BadRequest
            There is no such harvest, review or program.
        """
        from pathlib import Path

        from ..packs import DEFAULT_PATTERN, pack_references
        from ..reports.library_links import ReadersLibrary
        from .finding import find_harvested

        found = find_harvested(self._library, papers, title)
        folder = self._library.settings.papers_dir / "packs"
        target = Path(output) if output else folder / f"{found.name}-{program}"
        if zipped and target.suffix.lower() != ".zip":
            target = target.with_name(f"{target.name}.zip")
        return pack_references(
            *(found.rows, program, target),
            self._library.shelf,
            title=found.title,
            names=names or DEFAULT_PATTERN,
            keys=keys or self._library.settings.papers_keys,
            own_use=own_use,
            render=render,
            library=ReadersLibrary.from_settings(self._library.settings),
            dry_run=dry_run,
        )
