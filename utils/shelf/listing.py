"""The filters of a listing of the shelf, and their SQL over the catalogue's tables."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import get_args

from ..errors import BadRequest
from ..model.paper import Kind
from ..system.plain_text import encodable

_INDEXED = "words JOIN papers ON papers.id = words.rowid"
_LOOKED_THROUGH = "papers JOIN texts ON texts.id = papers.id"
_NEWEST = "papers.filed DESC"
_AMONG = """papers.id IN (SELECT names.paper FROM names
    WHERE names.name IN (SELECT value FROM json_each(?)))"""
# As a whole name, as NLM abbreviates it (without points), or by its ISSN.
_OF_JOURNAL = """(papers.journal LIKE ? ESCAPE '\\'
    OR json_extract(papers.record, '$.stored.paper.journal_abbreviation') LIKE ? ESCAPE '\\'
    OR json_extract(papers.record, '$.stored.paper.issn') = ? COLLATE NOCASE)"""


@dataclass(frozen=True, slots=True)
class ListingFilter:
    """The filters of a listing; empty means any.

    Every word of ``text`` must be in title or abstract; ``journal`` is part of a journal's name
    or of NLM's abbreviation of it, or its ISSN; a paper goes by one of the names in ``among``,
    where that is not None.

    Raises
    ------
    BadRequest
        A filter has a value that cannot be.
    """

    text: str = ""
    kind: str = ""
    year_from: str = ""
    year_to: str = ""
    journal: str = ""
    among: frozenset[str] | None = None

    def __post_init__(self) -> None:
        if self.kind not in {"", *get_args(Kind)}:
            raise BadRequest(f"{self.kind!r} is no kind.", f"Give {', '.join(get_args(Kind))}.")
        for year in filter(None, (self.year_from, self.year_to)):
            if not re.fullmatch(r"[0-9]{4}", year):
                raise BadRequest(f"{year!r} is no year.", "Give four digits.")

    def as_sql(self, fts: bool) -> tuple[str, list[str], list[object], str]:
        """Tables, conditions, their values, and the order; words by index where there is one."""
        tables, order = "papers", _NEWEST
        where: list[str] = []
        values: list[object] = []
        words = re.findall(r"\w+", self.text)
        if words and fts:
            tables, order = _INDEXED, f"bm25(words, 4.0, 1.0), {_NEWEST}"
            where.append("words MATCH ?")
            # Quoted, so that what a user types is never an operator of the index.
            values.append(" ".join(f'"{word}"' for word in words))
        elif words:
            tables = _LOOKED_THROUGH
            where += ["texts.title || ' ' || texts.abstract LIKE ? ESCAPE '\\'"] * len(words)
            values += [_like_pattern(word) for word in words]
        elif self.text.strip():
            where.append("0")  # nothing but punctuation: no paper has it as a word
        for condition, value in (
            ("papers.kind = ?", self.kind),
            ("papers.year >= ?", self.year_from),
            ("papers.year <> '' AND papers.year <= ?", self.year_to),
        ):
            if value:
                where.append(condition)
                values.append(value)
        if self.journal:
            where.append(_OF_JOURNAL)
            abbreviated = self.journal.replace(".", "")
            values += [_like_pattern(self.journal), _like_pattern(abbreviated)]
            values.append(encodable(self.journal))
        if self.among is not None:
            where.append(_AMONG)
            values.append(json.dumps(sorted(self.among)))
        return tables, where, values, order


def _like_pattern(text: str) -> str:
    escaped = re.sub(r"([\\%_])", r"\\\1", encodable(text))
    return f"%{escaped}%"
