"""SQLite tables of a dataset: their names, values, notes and file.

The main table has one row for each record and ``uid`` as its key. Every other table has ``uid``
too, to join the main table, and ``position``, the place in its list, from 1. A table with child
tables has a key ``<table>_id``, to which the child tables refer. Names are words that need no
quotes in a query. Notes hold missing and repeated records and warnings. The file is written
completely or not at all.

A column has the type that *all* its values allow. Text that is a number without loss becomes a
number (identifiers with leading zeros, versions such as ``1.10`` and words stay text). Dates as
NCBI writes them (``2012/11/22 00:00``, ``1968 Aug``, ``22-NOV-2012``) become ISO 8601 if a column
has nothing else. NCBI's date in the year 1 means that the date is missing.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import sqlite3
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ...errors import InvariantFailed, StoreFailed
from ...system import sqlite
from ...system.plain_text import clean_text
from ...system.safe_files import (
    build_part_path,
    disk_errors,
    flush_folder,
    inherit_group_rights,
    replace_file,
)

ABOUT = "_dataset"
"""The table in which a dataset is described."""
_NAME_MAX_CHARS = 60
_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
# Words with capitals inside.
_MIXED_CASE_WORDS = re.compile(
    r"InChI|HomoloGene|EPub|XLogP|MeSH|PubMed|PubChem|ClinVar|GenBank|RefSeq|BioSample|BioProject|dbSNP|dbVar"
    r"|dbGaP|mRNA|cDNA|tRNA|rRNA|DOIs|PMIDs|PMCID|IDs"
)
_WORD_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NON_NAME_CHARS = re.compile(r"[^a-z0-9]+")
# https://www.sqlite.org/lang_keywords.html, except good names that are never ambiguous (key).
_RESERVED = """
    add all alter always analyze and as asc attach autoincrement begin between by cascade case
    cast check collate commit conflict constraint create cross current_date current_time
    current_timestamp default deferrable deferred delete desc detach distinct do drop each else
    end escape except exclude exclusive exists explain fail filter for foreign from full
    generated glob group having if ignore immediate in index indexed initially inner insert
    instead intersect into is isnull join left like limit match materialized natural no not
    nothing notnull null nulls of offset on or order others outer over partition pragma primary
    raise recursive references regexp reindex rename replace restrict returning right rollback
    savepoint select set table temp temporary then ties to transaction trigger unbounded union
    unique update using vacuum values virtual when where window with without rowid oid
"""
KEYWORDS = frozenset(_RESERVED.split())
Row: TypeAlias = "Sequence[Any]"
UID, POSITION = "uid", "position"
_BATCH_ROWS = 200  # rows that wait; a text may have megabytes
_CACHE_KIB = 64_000  # KiB
_MAX_NAMED = 10
Scalar: TypeAlias = "str | int | float | bool"
ValueKind = Literal["whole", "year", "fraction", "decimal", "date", "no date", "word"]
ColumnType = Literal["INTEGER", "REAL", "DATE", "TEXT"]
_WHOLE = re.compile(r"0|-?[1-9]\d{0,17}", re.A)
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d", re.A)
_DECIMAL = re.compile(r"-?\d{1,20}\.\d{1,20}(?:[eE][+-]?\d{1,3})?|-?\d{1,3}[eE]-\d{1,3}", re.A)
_NO_DATE = re.compile(r"0{0,3}1/01/01(?: 00:00(?::00)?)?|0001-01-01(?:[ T]00:00:00)?")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?P<name>{'|'.join(_MONTHS)})"
_TIME = r"(?:[ T](?P<time>\d\d:\d\d(?::\d\d)?)(?P<rest>(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?))?"
_DATE_PATTERNS = tuple(
    re.compile(form, re.A | re.I)
    for form in (
        rf"(?P<year>\d{{4}})[/-](?P<month>\d\d?)[/-](?P<day>\d\d?){_TIME}",
        rf"(?P<year>\d{{4}}) {_MONTH}(?: (?P<day>\d\d?))?",
        rf"(?P<day>\d\d?)-{_MONTH}-(?P<year>\d{{4}})",
    )
)
_TEXT_NAME_ENDING = re.compile(r"(?:^|_)(?:version|build|release|id|acc|accession|accver|name)$")
_WHOLE_KINDS, _NUMBER_KINDS, _DATE_KINDS = (
    {"whole", "year"},
    {"whole", "year", "fraction", "decimal"},
    {"date", "no date", "year"},
)


def to_column_name(name: str) -> str:
    """Convert a source's field name to lower-case letters, digits and underscores.

    >>> [to_column_name(name) for name in ("PubDate", "GBSeq_feature-table", "DS_MeSHTerms")]
    ['pub_date', 'gbseq_feature_table', 'ds_mesh_terms']
    """
    text = unicodedata.normalize("NFKD", name[:200]).encode("ascii", "ignore").decode()
    text = _MIXED_CASE_WORDS.sub(lambda found: found[0].capitalize(), text)
    if not text.isupper():
        text = _WORD_BORDER.sub("_", text)
    return _NON_NAME_CHARS.sub("_", text.lower()).strip("_").replace("gb_seq", "gbseq")


def join_field_path(path: Iterable[str]) -> str:
    """Return the column name of a nested field, without parts that repeat the preceding part.

    >>> join_field_path(["organism", "taxId"])
    'organism_tax_id'
    >>> join_field_path(["SourceDb", "SourceDbData", "SrcDb"])
    'source_db_data_src_db'
    """
    words: list[str] = []
    for name in map(to_column_name, path):
        if words and (name == words[-1] or name.startswith(f"{words[-1]}_")):
            words.pop()
        if name:
            words.append(name)
    return "_".join(words)


def to_unique_identifier(name: str, taken: set[str]) -> str:
    """Return *name* as an identifier that is not a keyword nor in *taken*, and add it to *taken*.

    >>> taken = {"uid"}
    >>> [to_unique_identifier(name, taken) for name in ("uid", "order", "3_utr", "")]
    ['uid_2', 'order_', 'n_3_utr', 'field']
    """
    while len(name) > _NAME_MAX_CHARS and "_" in name:
        name = name.partition("_")[2]  # the last words say most
    made = name[:_NAME_MAX_CHARS].strip("_") or "field"
    if made[0].isdigit():
        made = f"n_{made}"
    if made in KEYWORDS or made.startswith("sqlite_"):
        made += "_"
    number, base = 1, made
    while made in taken:
        number += 1
        made = f"{base.rstrip('_')}_{number}"
    taken.add(made)
    return made


def quote_sql_name(name: str) -> str:
    """Return *name* as an SQL identifier, quoted only if necessary.

    >>> quote_sql_name("uid"), quote_sql_name("order"), quote_sql_name('a"b')
    ('uid', '"order"', '"a""b"')
    """
    if _PLAIN_NAME.fullmatch(name) and name.lower() not in KEYWORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


@dataclass(slots=True)
class TableDefinition:
    """The definition of a table: its columns with types, and its relations to other tables.

    ``columns`` come after the keys in every row; ``keyed``: other tables refer to this table;
    ``indexes`` are columns that queries search by.
    """

    name: str
    columns: list[tuple[str, str]]
    parent: TableDefinition | None = None
    keyed: bool = False
    indexes: tuple[str, ...] = ()
    uid: str = "INTEGER"

    @property
    def key(self) -> str:
        """The column that other tables reference."""
        return f"{self.name}_id" if self.parent else UID

    @property
    def main(self) -> TableDefinition:
        """The table that has one row for each record."""
        return self.parent.main if self.parent else self

    @property
    def keys(self) -> list[str]:
        """The key columns that precede the table's own: key, parent's key, uid, position."""
        if self.parent is None:
            return [UID]
        own = [self.key] if self.keyed else []
        link = [] if self.parent.parent is None else [self.parent.key]
        return [*own, *link, UID, POSITION]

    def to_create_sql(self) -> str:
        """Return the statement that creates the table."""
        if self.parent is None:
            lines = [f"{UID} {self.uid} PRIMARY KEY NOT NULL"]
        else:
            main, above = self.main, self.parent
            lines = [f"{self.key} INTEGER PRIMARY KEY"] if self.keyed else []
            if above is not main:
                lines.append(f"{above.key} INTEGER NOT NULL REFERENCES {above.name}({above.key})")
            lines.append(f"{UID} {main.uid} NOT NULL REFERENCES {main.name}({UID})")
            lines.append(f"{POSITION} INTEGER NOT NULL")
        lines += [f"{name} {kind}" for name, kind in self.columns]
        if self.parent is not None:
            constraint = "UNIQUE" if self.keyed else "PRIMARY KEY"
            lines.append(f"{constraint} ({self.parent.key}, {POSITION})")
        return f"CREATE TABLE {self.name} (\n  " + ",\n  ".join(lines) + "\n)"

    def to_index_sql(self) -> list[str]:
        """Return the statements that create the table's indexes, except the primary key."""
        links = [UID] if self.parent and self.parent.parent else []
        return [
            f"CREATE INDEX {self.name}__{column} ON {self.name}({column})"
            for column in (*links, *self.indexes)
        ]

    def to_insert_sql(self) -> str:
        """Return the statement that inserts a row."""
        marks = ", ".join("?" * (len(self.keys) + len(self.columns)))
        return f"INSERT INTO {self.name} VALUES ({marks})"  # noqa: S608  # a name of ours


class TableWriter:
    """Writes the rows of one dataset's tables."""

    def __init__(self, database: sqlite3.Connection, tables: Sequence[TableDefinition]) -> None:
        self.database = database
        self.tables = tables
        self._waiting: dict[str, list[Row]] = {table.name: [] for table in tables}
        self._statements = {table.name: table.to_insert_sql() for table in tables}
        for table in tables:
            database.execute(table.to_create_sql())

    def add_row(self, table: TableDefinition, row: Row) -> None:
        """Add a row; its key columns come first."""
        waiting = self._waiting[table.name]
        waiting.append(row)
        if len(waiting) >= _BATCH_ROWS:
            self._write_buffered_rows(table.name)

    def _write_buffered_rows(self, *names: str) -> None:
        for name in names or self._waiting:
            if waiting := self._waiting[name]:
                self.database.executemany(self._statements[name], waiting)
                waiting.clear()

    def delete_record(self, uid: object) -> None:
        """Delete a record from every table."""
        self._write_buffered_rows()
        for table in reversed(self.tables):
            deletion = f"DELETE FROM {table.name} WHERE {UID} = ?"  # noqa: S608  # a name of ours
            self.database.execute(deletion, (uid,))

    def finish_tables(self) -> dict[str, int]:
        """Write the buffered rows and the indexes, and return the number of rows by table."""
        self._write_buffered_rows()
        counts: dict[str, int] = {}
        for table in self.tables:
            for statement in table.to_index_sql():
                self.database.execute(statement)
            count = f"SELECT count(*) FROM {table.name}"  # noqa: S608  # a name of ours
            [(counts[table.name],)] = self.database.execute(count)
        return counts


@contextlib.contextmanager
def create_dataset_database(file: Path) -> Iterator[sqlite3.Connection]:
    """Open a database that replaces *file* when the block ends, checked and synced to disk.

    If the block fails, nothing is left behind and *file* stays unchanged.

    Raises
    ------
    StoreFailed
        The disk refuses.
    InvariantFailed
        A row refers to a missing row.
    """
    part = build_part_path(file)
    try:
        with _convert_disk_errors(file), contextlib.closing(_open_draft_database(part)) as database:
            yield database
            _require_valid_foreign_keys(database, file)
            database.execute("ANALYZE")
            database.commit()
        with disk_errors(file):
            with part.open("rb+") as draft:
                os.fsync(draft.fileno())
            replace_file(part, file)
            flush_folder(file.parent)
    finally:
        for leftover in (part, part.with_name(f"{part.name}-journal")):
            with contextlib.suppress(OSError):
                leftover.unlink(missing_ok=True)


def _open_draft_database(part: Path) -> sqlite3.Connection:
    with disk_errors(part):
        part.touch(exist_ok=False)
        inherit_group_rights(part)
    database = sqlite3.connect(part)
    # No other process uses the file yet, and it is deleted on any failure: no journal is needed.
    for pragma in ("journal_mode=OFF", "synchronous=OFF", "locking_mode=EXCLUSIVE"):
        database.execute(f"PRAGMA {pragma}")
    database.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
    database.execute("BEGIN")
    return database


def _require_valid_foreign_keys(database: sqlite3.Connection, file: Path) -> None:
    if astray := database.execute("PRAGMA foreign_key_check").fetchone():
        msg = f"In {file.name}, a row of {astray[0]} belongs to no row of {astray[2]}."
        raise InvariantFailed(msg, "Stage it again, and report it if it happens again.")


@contextlib.contextmanager
def _convert_disk_errors(file: Path) -> Iterator[None]:
    """Convert a full-disk error to `StoreFailed`; other SQLite errors are bugs."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if not sqlite.is_disk_full_error(error):
            raise
        msg = f"Could not write {file}: {error}."
        raise StoreFailed(msg, "Free some space and stage it again.", file=str(file)) from error


class StagingNotes:
    """Notes about missing and repeated records, collected while pages are read.

    ``empty_fields`` are fields of the database that no record fills; they do not become columns.
    ``nameless`` counts records that were left out because they have no identifier.
    """

    def __init__(self) -> None:
        self.missing: dict[str, None] = {}
        self.empty_fields: list[str] = []
        self.nameless = 0
        self._again: dict[str, int] = {}
        self._words: list[str] = []
        self._numbers = 0

    def get_next_record_number(self) -> int:
        """Return the number of the next record, from 1."""
        self._numbers += 1
        return self._numbers

    def add_missing_id(self, uid: str) -> None:
        """Add a note that the database has no record with this identifier."""
        self.missing[uid] = None

    def add_repeated_id(self, uid: object) -> None:
        """Add a note that an identifier occurred again; the last record is used."""
        self._again[str(uid)] = self._again.get(str(uid), 0) + 1

    def add_warning(self, words: str) -> None:
        """Add a warning that is a complete sentence."""
        self._words.append(words)

    def iterate_warnings(self) -> Iterator[str]:
        """Yield all notes as sentences."""
        yield from self._words
        if self._again:
            count = f"{len(self._again):,} record{'s' if len(self._again) > 1 else ''}"
            first = _format_first_ids(self._again)
            yield f"{count} came more than once, the last one counts: {first}."
        if self.nameless:
            yield f"Records without an identifier were left out: {self.nameless:,}."
        if self.missing:
            yield f"Not found: {_format_first_ids(self.missing)} ({len(self.missing):,} in all)."


def _format_first_ids(uids: Collection[str]) -> str:
    """Return the first ten identifiers as text."""
    return ", ".join(islice(uids, _MAX_NAMED)) + (", …" if len(uids) > _MAX_NAMED else "")


def classify_cell_value(value: Scalar) -> ValueKind:
    """Return the kind of a value, which determines its column's type.

    >>> [classify_cell_value(value) for value in ("0042", "42", "1.5", "1968 Aug", True)]
    ['word', 'whole', 'decimal', 'date', 'whole']
    """
    if isinstance(value, str):
        return _classify_text(value) if value[:1] in "-0123456789" else "word"
    if isinstance(value, float):
        return "fraction" if math.isfinite(value) else "word"
    if not -(2**63) <= value < 2**63:
        return "word"
    return "year" if 1500 <= value < 2100 else "whole"


def _classify_text(text: str) -> ValueKind:
    if _WHOLE.fullmatch(text):
        return "year" if _YEAR.fullmatch(text) else "whole"
    if _DECIMAL.fullmatch(text):
        return "decimal" if math.isfinite(float(text)) else "word"
    if len(text) > 40:
        return "word"
    if _NO_DATE.fullmatch(text):
        return "no date"
    return "date" if to_iso_date(text) else "word"


def choose_column_type(kinds: Collection[ValueKind], name: str) -> ColumnType:
    """Return the type of a column that holds values of these *kinds*.

    >>> choose_column_type({"whole", "fraction"}, "score")
    'REAL'
    >>> choose_column_type({"year", "date"}, "pub_date")
    'DATE'
    """
    seen = set(kinds)
    if seen <= _WHOLE_KINDS:
        return "INTEGER"
    if seen <= _NUMBER_KINDS and not ("decimal" in seen and _TEXT_NAME_ENDING.search(name)):
        return "REAL"
    return "DATE" if "date" in seen and seen <= _DATE_KINDS else "TEXT"


def convert_to_column_type(value: Scalar, kind: ColumnType) -> Scalar | None:
    """Return a value in the type of its column.

    >>> convert_to_column_type("2012/11/22 00:00", "DATE"), convert_to_column_type(True, "TEXT")
    ('2012-11-22', 'true')
    """
    if kind == "TEXT":
        return clean_cell_text(value) if isinstance(value, str) else str(value).lower()
    if kind == "DATE":
        text = str(value)
        return to_iso_date(text) or (None if _NO_DATE.fullmatch(text) else text)
    return int(value) if kind == "INTEGER" else float(value)


def clean_cell_text(text: str) -> str:
    """Return text without control characters and hidden characters."""
    return text if text.isprintable() else clean_text(text)


@lru_cache(4096)
def to_iso_date(text: str) -> str:
    """Convert a date in one of NCBI's formats to ISO 8601; return "" for any other text.

    >>> dates = ("2012/11/22 13:05", "1968 Aug", "22-NOV-2012", "2012/13/22")
    >>> [to_iso_date(text) for text in dates]
    ['2012-11-22 13:05', '1968-08', '2012-11-22', '']
    """
    match = next((found for form in _DATE_PATTERNS if (found := form.fullmatch(text))), None)
    if not match:
        return ""
    parts = match.groupdict()
    named = (parts.get("name") or "").lower()
    month = _MONTHS.index(named) + 1 if named else int(parts["month"])
    try:
        day = date(int(parts["year"]), month, int(parts["day"] or 1)).isoformat()
    except ValueError:
        return ""
    time = (parts.get("time") or "") + (parts.get("rest") or "")
    if not parts["day"]:
        return day[:7]
    return day if time.strip("0:.TZ") == "" else f"{day} {time}"
