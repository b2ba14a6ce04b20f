"""Full texts of a mirror of PMC, asked for as if they lay on the shelf: for reading only.

What is on the shelf goes before, where a paper is named; a passage that was found in the mirror is
of its own text, which goes by the name of the article version (``PMC7759461.1``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..command_line import command_line
from ..errors import NotFound
from ..model.identifiers import Ids
from ..model.paper import Notice, Paper, StoredPaper
from .lookup import VIA, pmcids_of
from .reading import live_places, rows_at

if TYPE_CHECKING:
    from ..model.paper import Version
    from ..shelf import Shelf
    from .passages import Snapshot

_NAME = re.compile(r"PMC(\d{1,9})\.\d+")
_COLUMNS = (
    *("pmid", "doi", "pmcid", "version", "title", "journal", "year", "license"),
    *("text_version", "retracted", "verdict", "evidence"),
)
"""What is kept of a text, besides its words."""


class ShelfAndMirror:
    """A shelf and a mirror of PMC as one `..corpus.searchable.SearchedTexts`."""

    def __init__(self, shelf: Shelf, snapshot: Snapshot) -> None:
        self._shelf, self._snapshot = shelf, snapshot

    def find_by_file(self, name: str) -> StoredPaper | None:
        """The text of this name: an article version of the mirror, or a file of the shelf."""
        if (told := _NAME.fullmatch(name.strip())) and (row := self._row(int(told[1]), _COLUMNS)):
            return _stored(row)
        return self._shelf.find_by_file(name)

    def find(self, ids: Ids, wants: Version = "") -> StoredPaper | None:
        """The paper: its full text on the shelf, else in the mirror, else what the shelf has."""
        stored = self._shelf.find(ids, wants)
        if stored and stored.kind == "full_text":
            return stored
        named = self._pmcid(ids)
        row = self._row(named, _COLUMNS) if named else None
        return _stored(row) if row else stored

    def read_text(self, stored: StoredPaper) -> str:
        """The whole text.

        Raises
        ------
        NotFound
            The generation does not count it any more.
        StoreFailed
            It cannot be read.
        """
        told = _NAME.fullmatch(stored.path)
        if stored.via != VIA or not told:
            return self._shelf.read_text(stored)
        if row := self._row(int(told[1]), ("text",)):
            return str(row["text"])
        raise NotFound(
            f"{stored.path} is no longer in the mirror.", f"Run: {command_line('mirror index')}"
        )

    def _pmcid(self, ids: Ids) -> int:
        generations, generation = self._snapshot.generations, self._snapshot.generation
        return pmcids_of([ids], generations.folder / generation.name).get(ids, 0)

    def _row(self, pmcid: int, columns: Sequence[str]) -> dict[str, Any] | None:
        generations, generation = self._snapshot.generations, self._snapshot.generation
        place = live_places([pmcid], generations, generation).get(pmcid)
        if place is None:
            return None
        order, position = place
        part = next(file for file in self._snapshot.files if file.order == order).part
        return next(rows_at(part(generations.mirror), [position], columns), None)


def _stored(row: dict[str, Any]) -> StoredPaper:
    """A text of the mirror, with what its part says of it."""
    ids = Ids(
        pmid=str(row["pmid"] or ""), doi=row["doi"] or "", pmcid=f"PMC{row['pmcid']}"
    )  # fmt: skip
    paper = Paper(
        ids,
        title=row["title"] or "",
        journal=row["journal"] or "",
        published=str(row["year"] or ""),
        license=row["license"] or "",
        notices=(Notice("retraction"),) if row["retracted"] else (),
    )
    return StoredPaper(
        paper,
        kind="full_text",
        path=f"PMC{row['pmcid']}.{row['version']}",
        source="PMC",
        via=VIA,
        sha256="",
        license=row["license"] or "",
        verdict=row["verdict"],
        version=row["text_version"] or "",
        evidence=row["evidence"] or "",
    )
