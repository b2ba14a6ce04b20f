"""The two indexes of words that an embedded finder can have.

SQLite's FTS5 is always there. A query of ten common words takes it some 100 ms over 100,000
passages and grows with them, so that beyond 20,000 tantivy (extra ``[scale]``) takes over where it
is installed: 4 ms. Both stem English words, fold accents, weigh the title three times and the
section one and a half times, and rank by BM25.

Either is made again from the words kept in ``texts``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from ..model.passage import Filters
from .embedded_schema import About, Words, condition


class Entry(NamedTuple):
    """A passage as an index of words takes it."""

    number: int
    words: Words
    about: About


class WordIndex(Protocol):
    """Finds passages by words, within the transaction it is given."""

    name: str

    def put(self, db: sqlite3.Connection, entries: Sequence[Entry]) -> None:
        """Add passages, none of which is in it."""
        ...

    def drop(self, db: sqlite3.Connection, entries: Sequence[tuple[int, Words]]) -> None:
        """Forget passages, given the words they were put with."""
        ...

    def search(
        self, db: sqlite3.Connection, terms: Sequence[str], limit: int, filters: Filters
    ) -> list[tuple[int, float]]:
        """Numbers of passages with any of the terms, by BM25 (higher is better), best first."""
        ...


class Fts5:
    """The index inside ``words.db``: without a copy of the texts, which ``texts`` has."""

    name = "fts5"

    def put(self, db: sqlite3.Connection, entries: Sequence[Entry]) -> None:
        """See `WordIndex`."""
        rows = ((entry.number, *entry.words) for entry in entries)
        db.executemany("INSERT INTO words (rowid, title, section, text) VALUES (?, ?, ?, ?)", rows)

    def drop(self, db: sqlite3.Connection, entries: Sequence[tuple[int, Words]]) -> None:
        """See `WordIndex`."""
        # SQLite before 3.43 forgets a row of such a table only when told what stood in it.
        command = "INSERT INTO words (words, rowid, title, section, text) VALUES ('delete',?,?,?,?)"
        db.executemany(command, ((number, *words) for number, words in entries))

    def search(
        self, db: sqlite3.Connection, terms: Sequence[str], limit: int, filters: Filters
    ) -> list[tuple[int, float]]:
        """See `WordIndex`."""
        clause, values = condition(filters)
        # FTS5 hands out its rows in the order of their rank: CROSS keeps it the outer loop, so
        # that the filter looks at no more rows than it must to fill the limit.
        query = f"""
            SELECT passages.id, -words.rank FROM words
            CROSS JOIN passages ON passages.id = words.rowid
            CROSS JOIN abouts ON abouts.id = passages.about
            WHERE words MATCH ? AND {clause} ORDER BY words.rank LIMIT ?
        """  # noqa: S608
        matching = " OR ".join(f'"{term}"' for term in terms)
        return db.execute(query, (matching, *values, limit)).fetchall()

    def empty(self, db: sqlite3.Connection) -> None:
        """Forget everything."""
        db.execute("INSERT INTO words (words) VALUES ('delete-all')")


def every_entry(db: sqlite3.Connection) -> Iterable[Entry]:
    """All entries, to fill an index again."""
    found = db.execute(
        "SELECT passages.id, words, year, journal, types, kind, retracted FROM passages "
        "JOIN texts USING (id) JOIN abouts ON abouts.id = passages.about"
    )
    for number, words, *about in found:
        yield Entry(number, Words.unpacked(words), About(*about))
