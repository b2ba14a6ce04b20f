"""Records and references of papers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .namespace import Namespace

if TYPE_CHECKING:
    from ..errors import PaperError
    from ..harvest.jobs import RequestedPapers
    from ..model.identifiers import Ids
    from ..model.paper import Paper
    from ..search.resolve import Resolution


class References(Namespace):
    """Records of papers, and references made of them."""

    def records(self, papers: Iterable[str | int | Ids]) -> list[tuple[Ids, Paper | PaperError]]:
        """Return each paper's record, or why there is none; see `..download.records.fetch_records`.

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
        """Return the same; for a named version of an arXiv paper, the record of that version."""
        asked = list(papers)
        known = zip(asked, self.records(asked), strict=True)
        return [(ids, self._match_version(paper, record)) for paper, (ids, record) in known]

    def _match_version(
        self, paper: str | int | Ids, record: Paper | PaperError
    ) -> Paper | PaperError:
        from ..citations import name_version
        from ..errors import PaperError
        from ..model.identifiers import find_arxiv_version

        version = find_arxiv_version(paper) if isinstance(paper, str) else ""
        if not version or isinstance(record, PaperError):
            return record
        try:
            return name_version(self._library.arxiv.paper(str(paper)), version)
        except PaperError as absent:
            return absent

    def citations(self, papers: Iterable[Paper], styles: Iterable[str]) -> list[dict[str, Any]]:
        """Return each paper's reference in each of *styles*; see `..citations.format_citations`."""
        from ..citations import format_citations

        return format_citations(list(papers), list(styles))

    def resolve(self, papers: RequestedPapers, *, anew: bool = False) -> Iterator[Resolution]:
        """Find the papers of a list that name no identifier; see `..search.resolve`.

        ``entries_in`` of `..lists.references` reads the list.
        """
        from ..harvest.jobs import to_entry
        from ..search.resolve import resolve_entries
        from ..sources import SOURCES

        return resolve_entries(map(to_entry, papers), self._library.web, SOURCES, anew=anew)
