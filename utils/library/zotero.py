"""Methods of a library for reading from and writing to Zotero."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model.tabular import ResultList
from ..system.plain_text import one_line
from .namespace import Namespace

if TYPE_CHECKING:
    from ..harvest.jobs import RequestedPapers
    from ..lists.pasted import ListEntry
    from ..zotero.push import Attach, Push


class Zotero(Namespace):
    """Papers from a Zotero library, and into it."""

    def pull(self, collection: str = "", *, database: str | Path = "") -> ResultList[ListEntry]:
        """Return the papers of a Zotero library or collection; see `..zotero.fetch_papers`.

        Parameters
        ----------
        collection : str, optional
            The name, path or key of a collection.
        database : path, optional
            The file ``zotero.sqlite``, read instead of the running Zotero.
        """
        from ..lists.pasted import ListEntry
        from ..zotero import fetch_papers

        file = Path(database) if database else None
        papers = fetch_papers(self._library.settings, collection, file)
        entries = [ListEntry(str(one.ids) or one_line(one.title), one.ids, one) for one in papers]
        return ResultList(entries, tuple(papers[0].short_row()), _to_row)

    def push(
        self,
        papers: str | RequestedPapers | Mapping[str, RequestedPapers] = (),
        *,
        collection: str = "",
        attach: Attach = "linked",
        title: str = "",
        dry_run: bool = True,
        undo: bool = False,
    ) -> Push:
        """Add papers to a Zotero library, or undo the last push; see `..zotero`.

        Parameters
        ----------
        papers : str, iterable, or mapping of str to iterable
            The name of a harvest or review; or lists, as `Library.harvest` takes them.
        collection : str, optional
            The name or key of the collection; made where none has the name.
        attach : str, optional
            ``linked`` to the files on the shelf, ``stored`` in Zotero, or ``none``.
        title : str, optional
            The title that the harvest of the lists was given.
        dry_run : bool, optional
            Write nothing into Zotero.
        undo : bool, optional
            Instead, take back the last push of this shelf.
        """
        from ..zotero import push_papers_to_zotero, undo_last_push
        from .finding import find_harvested

        settings, shelf = self._library.settings, self._library.shelf
        if undo:
            return undo_last_push(settings, shelf, dry_run=dry_run)
        rows = find_harvested(self._library, papers, title).rows
        where = settings, shelf, rows
        return push_papers_to_zotero(*where, collection=collection, attach=attach, dry_run=dry_run)


def _to_row(entry: ListEntry) -> dict[str, Any]:
    return entry.paper.short_row() if entry.paper else {}
