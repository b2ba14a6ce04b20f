"""Zotero libraries of a library."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model.tabular import ResultList
from ..system.plain_text import one_line
from .namespace import Namespace

if TYPE_CHECKING:
    from ..lists.pasted import Entry


class Zotero(Namespace):
    """Papers from a Zotero library, and into it."""

    def pull(self, collection: str = "", *, database: str | Path = "") -> ResultList[Entry]:
        """Return the papers of a Zotero library or collection; see `..zotero.pull_papers`.

        Parameters
        ----------
        collection : str, optional
            The name, path or key of a collection.
        database : path, optional
            The file ``zotero.sqlite``, read instead of the running Zotero.
        """
        from ..lists.pasted import Entry
        from ..zotero import pull_papers

        file = Path(database) if database else None
        papers = pull_papers(self._library.settings, collection, file)
        entries = [Entry(str(one.ids) or one_line(one.title), one.ids, one) for one in papers]
        return ResultList(entries, tuple(papers[0].short_row()), _to_row)


def _to_row(entry: Entry) -> dict[str, Any]:
    return entry.paper.short_row() if entry.paper else {}
