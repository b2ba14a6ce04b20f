"""The shelf as a table: filters of a listing, and ``index.csv`` for pandas, R, Excel and people.

A listing is one query to the catalogue (`ListingFilter.to_sql_clauses`). A new paper is appended to
``index.csv`` as a line. If a line changes, the whole file is written to a temporary file, which
then replaces the old file; a change that affects no line writes nothing. The catalogue stores the
rows, and the size, time and inode of the file, so that a file that was truncated by a crash or
edited by hand is detected and written again.
"""

from __future__ import annotations

import csv
import io
import json
import logging
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypedDict, get_args

from ..command_line import command_line
from ..errors import BadRequest
from ..model.paper import Kind, Verdict, Version
from ..model.permissions import PERMISSION_COLUMNS
from ..system import safe_files
from ..system.plain_text import one_line, replace_surrogates, to_spreadsheet_cell
from .record import ShelfRecord

_INDEXED = "words JOIN papers ON papers.id = words.rowid"
_LOOKED_THROUGH = "papers JOIN texts ON texts.id = papers.id"
_NEWEST = "papers.filed DESC"
_ORDERS = {
    "newest": _NEWEST,
    "year": f"papers.year DESC, {_NEWEST}",
    "oldest": f"papers.year = '', papers.year, {_NEWEST}",
    "title": "papers.title COLLATE NOCASE",
    "author": "papers.authors COLLATE NOCASE",
    "journal": f"papers.journal = '', papers.journal COLLATE NOCASE, {_NEWEST}",
}
SORT_ORDERS = tuple(_ORDERS)
"""The names of the orders of a listing."""
_WITH_LICENSE = "(papers.license = ? COLLATE NOCASE OR papers.license LIKE ? ESCAPE '\\')"
_BY_AUTHOR = "papers.authors LIKE ? ESCAPE '\\'"
_WITH_TAG = "'; ' || papers.tags || '; ' LIKE ? ESCAPE '\\'"
_AMONG = """papers.id IN (SELECT names.paper FROM names
    WHERE names.name IN (SELECT value FROM json_each(?)))"""
# The letters of the endings .txt and .md are cut off, up to the full stop before them.
_WITH_STEM = "rtrim(papers.file, 'txmd') IN (SELECT value || '.' FROM json_each(?))"
# As a whole name, as NLM abbreviates it (without points), or by its ISSN.
_OF_JOURNAL = """(papers.journal LIKE ? ESCAPE '\\'
    OR papers.abbreviation LIKE ? ESCAPE '\\' OR papers.issn = ? COLLATE NOCASE)"""


class ListingOptions(TypedDict, total=False):
    """The options by which callers of `.shelf.Shelf.list_papers` filter a listing."""

    text: str
    kind: str
    min_date: str | int
    max_date: str | int
    journal: str
    has_pdf: bool
    author: str
    version: str
    license: str
    verdict: str
    retracted: bool
    tag: str
    sort_by: str
    prefix: bool


@dataclass(frozen=True, slots=True)
class ListingFilter:
    """The filter of a listing; an empty field does not filter.

    Every word of ``text`` must be in title or abstract, with ``prefix`` the beginning of the last
    one; ``journal`` is part of a journal's name or of NLM's abbreviation of it, or its ISSN; a
    paper goes by one of the names in ``among``, and its file's stem is one of ``stems``, where
    these are not None. ``author`` is part of the authors' names, ``license`` a licence with or
    without its version, ``tag`` a whole tag of the reader, and ``sort_by`` one of `SORT_ORDERS`.

    Raises
    ------
    BadRequest
        A filter has a value that cannot be.
    """

    text: str = ""
    kind: str = ""
    min_date: str = ""
    max_date: str = ""
    journal: str = ""
    among: frozenset[str] | None = None
    stems: frozenset[str] | None = None
    author: str = ""
    version: str = ""
    license: str = ""
    verdict: str = ""
    retracted: bool = False
    tag: str = ""
    sort_by: str = ""
    prefix: bool = False

    def __post_init__(self) -> None:
        if self.kind not in {"", *get_args(Kind)}:
            kinds = ", ".join(get_args(Kind))
            raise BadRequest(f"{self.kind!r} is not a valid kind.", f"Give {kinds}.")
        for year in filter(None, (self.min_date, self.max_date)):
            if not re.fullmatch(r"[0-9]{4}", year):
                raise BadRequest(f"{year!r} is not a valid year.", "Give four digits.")
        for name, value, known in (
            ("version", self.version, tuple(filter(None, get_args(Version)))),
            ("verdict", self.verdict, get_args(Verdict)),
            ("order", self.sort_by, SORT_ORDERS),
        ):
            if value and value not in known:
                msg = f"{value!r} is not a valid {name}."
                raise BadRequest(msg, f"Give {', '.join(known)}.")

    @classmethod
    def from_options(
        cls, options: ListingOptions, among: frozenset[str] | None, stems: frozenset[str] | None
    ) -> ListingFilter:
        """Return the filter that a caller's options describe."""
        given = {name: value for name, value in options.items() if name not in ("text", "has_pdf")}
        cleaned: dict[str, Any] = {
            name: value if isinstance(value, bool) else str(value).strip()
            for name, value in given.items()
        }
        return cls(text=options.get("text", ""), among=among, stems=stems, **cleaned)

    def to_sql_clauses(self, fts: bool) -> tuple[str, list[str], list[object], str]:
        """Return tables, conditions, values and order of a query; *fts*: use the text index."""
        tables, order = "papers", _NEWEST
        where: list[str] = []
        values: list[object] = []
        words = re.findall(r"\w+", self.text)
        if words and fts:
            tables, order = _INDEXED, f"bm25(words, 4.0, 1.0), {_NEWEST}"
            where.append("words MATCH ?")
            # Quoted, so that what a user types is never an operator of the index.
            values.append(" ".join(f'"{word}"' for word in words) + "*" * self.prefix)
        elif words:
            tables = _LOOKED_THROUGH
            where += ["texts.title || ' ' || texts.abstract LIKE ? ESCAPE '\\'"] * len(words)
            values += [_to_like_pattern(word) for word in words]
        elif self.text.strip():
            where.append("0")  # nothing but punctuation: no paper has it as a word
        for condition, found in self._iterate_sql_conditions():
            where.append(condition)
            values += found
        return tables, where, values, _ORDERS.get(self.sort_by, order)

    def _iterate_sql_conditions(self) -> Iterator[tuple[str, list[object]]]:
        """Yield the conditions other than words, each with its values."""
        for condition, value in (
            ("papers.kind = ?", self.kind),
            ("papers.year >= ?", self.min_date),
            ("papers.year <> '' AND papers.year <= ?", self.max_date),
            ("papers.version = ?", self.version),
            ("papers.verdict = ?", self.verdict),
            (_WITH_TAG, self.tag and _to_like_pattern(f"; {self.tag}; ")),
            (_BY_AUTHOR, self.author and _to_like_pattern(self.author)),
        ):
            if value:
                yield condition, [value]
        if self.retracted:
            yield "papers.retracted", []
        if self.license:
            named = replace_surrogates(self.license)
            yield _WITH_LICENSE, [named, _to_like_pattern(f"{named} ")[1:]]
        if self.journal:
            abbreviated = self.journal.replace(".", "")
            patterns: list[object] = [_to_like_pattern(self.journal), _to_like_pattern(abbreviated)]
            yield _OF_JOURNAL, [*patterns, replace_surrogates(self.journal)]
        if self.among is not None:
            yield _AMONG, [json.dumps(sorted(self.among))]
        if self.stems is not None:
            yield _WITH_STEM, [json.dumps(sorted(self.stems))]


def _to_like_pattern(text: str) -> str:
    escaped = re.sub(r"([\\%_])", r"\\\1", replace_surrogates(text))
    return f"%{escaped}%"


log = logging.getLogger(__name__)
COLUMNS = (
    *("key", "pmid", "pmcid", "doi", "arxiv", "title", "authors", "journal", "year", "kind"),
    *("source", "via", "license", "retracted", "verdict", "words", "file", "sha256", "saved_at"),
    *("version", "preprint_version", "evidence", "tags", "note"),
    *PERMISSION_COLUMNS,
)
_OLD_FILE = "index.jsonl"
_OLD_FILE_START = b'{"key": "'
_OLD_FILE_REMOVED = (
    "%s was removed, because it is not kept up to date any more: read index.csv, or the output of "
    f"`{command_line('list --json')}`."
)


def to_index_row(record: ShelfRecord) -> str:
    """Return a paper's row of ``index.csv`` as JSON."""
    stored, paper, ids = record.stored, record.stored.paper, record.ids
    row = {
        "key": ids.key,
        "pmid": ids.pmid,
        "pmcid": ids.pmcid,
        "doi": ids.doi,
        "arxiv": f"arXiv:{ids.arxiv}" if ids.arxiv else "",  # 2511.0410 is no number
        "title": one_line(paper.title),
        "authors": one_line(paper.author_names),
        "journal": one_line(paper.journal),
        "year": paper.year,
        "kind": stored.kind,
        "source": stored.source,
        "via": stored.via,
        "license": one_line(stored.license),
        "retracted": paper.retracted,
        "verdict": stored.verdict,
        "words": record.words,
        "file": record.file,
        "sha256": stored.sha256,
        "saved_at": stored.saved_at,
        "version": stored.version,
        "preprint_version": stored.preprint_version,
        "evidence": stored.evidence,
        "tags": "; ".join(paper.tags),
        "note": one_line(paper.note),
        **stored.permissions.to_row(),
    }
    return json.dumps(row, ensure_ascii=False)


class IndexTable:
    """The file ``index.csv`` of one folder; callers hold the catalogue's write lock."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "index.csv"
        self._old_file_checked = False

    def describe_file_state(self) -> str:
        """Return size, time, inode and columns of the file, which a manual edit changes.

        The size alone would miss a writer killed after the rename: a row may change and keep its
        length. A file with other columns, of an older version, is written again, too.
        """
        try:
            status = self._path.stat()
        except OSError:
            return "absent"
        stamp = f"{status.st_size}:{status.st_mtime_ns}:{status.st_ino}"
        return f"{stamp} {len(COLUMNS)} columns"

    def append_row(self, line: str) -> None:
        """Append a paper to the file, which exists."""
        # Not flushed to the disk: after a power cut the length differs, and it is written again.
        with safe_files.disk_errors(self._path), self._path.open("ab") as file:
            file.write(_to_csv_row(line).encode("utf-8", "replace"))

    def write_rows(self, lines: Iterable[str]) -> None:
        """Write the whole file; leave it in place if it would stay the same."""
        with safe_files.disk_errors(self._path), safe_files.replace_text_file(self._path) as table:
            table.write(",".join(COLUMNS) + "\n")
            table.writelines(map(_to_csv_row, lines))
        if not self._old_file_checked:
            self._old_file_checked = True
            self._delete_old_index()

    def _delete_old_index(self) -> None:
        """Delete the outdated ``index.jsonl`` of an older version."""
        path = self._path.with_name(_OLD_FILE)
        try:
            with path.open("rb") as file:
                ours = file.read(len(_OLD_FILE_START)) in (_OLD_FILE_START, b"")
            if ours:
                path.unlink()
                log.warning(_OLD_FILE_REMOVED, path)
        except FileNotFoundError:
            return
        except OSError as error:
            log.warning("%s is not kept up to date any more. Delete it: %s.", path, error)


@lru_cache(maxsize=250)  # a small shelf is written again at every change of one line
def _to_csv_row(line: str) -> str:
    """Return a row of the catalogue as a line of ``index.csv``."""
    row = json.loads(line)
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(
        to_spreadsheet_cell(row.get(column, "")) for column in COLUMNS
    )
    return out.getvalue()
