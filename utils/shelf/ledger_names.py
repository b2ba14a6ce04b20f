"""Under which names papers are entered in a ledger, and which of them are one paper."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping

from ..model.identifiers import Ids
from ..model.paper import Paper
from ..model.versions import meant
from ..system.plain_text import encodable


class Listed:
    """Finds, among the papers of a list, those that share a name with newly identified ones.

    Parameters
    ----------
    db : sqlite3.Connection
        Of the ledger; it is being written to.
    papers : Mapping[int, Paper]
        Those that are to be entered.
    """

    def __init__(self, db: sqlite3.Connection, papers: Mapping[int, Paper]) -> None:
        names = json.dumps([name for paper in papers.values() for name in names_of(paper.ids)])
        owned = "SELECT name, number FROM names WHERE name IN (SELECT value FROM json_each(?))"
        self._owners: dict[str, int] = dict(db.execute(owned, (names,)))
        told = """SELECT number, ids, asked FROM papers
            WHERE number IN (SELECT value FROM json_each(?))"""
        rows = db.execute(told, (json.dumps([*papers, *self._owners.values()]),)).fetchall()
        self._ids = {number: Ids(**json.loads(ids)) for number, ids, _ in rows}
        self._asked: dict[int, str] = {number: asked for number, _, asked in rows}

    def enter(self, number: int, paper: Paper) -> int:
        """Take a paper in; 0, or the number of the one before it that is the same."""
        names = names_of(paper.ids)
        for first in sorted({self._owners[name] for name in names if name in self._owners}):
            as_asked = {asks_for_preprint(self._asked[one]) for one in (first, number)}
            if first != number and len(as_asked) == 1 and not paper.ids.clash(self._ids[first]):
                return first
        self._ids[number] = paper.ids
        self._owners = dict.fromkeys(names, number) | self._owners
        return 0


def names_of(ids: Ids) -> list[str]:
    """The names of a paper, but for those that no database can hold."""
    return [name for name in ids.names() if name == encodable(name)]


def asks_for_preprint(asked: str) -> bool:
    """Whether what was asked for is the preprint of a paper."""
    return meant(Ids.maybe(asked)) == "preprint"
