"""The tables of a dataset in SQLite: their names, their values, notes beside them, and their file.

The main table has one row for each record and ``uid`` as its key. Every other table has ``uid``
too, so that it joins the main one, and ``position``, the place in its list, from 1. A table with
tables of its own below it has a key ``<table>_id``, to which those refer. Names are words that need
no quotes in a query. Notes hold missing and repeated records and warnings. The file is written
whole or not at all.

A column's type is what *all* its values allow. Text that is a number without loss becomes one
(identifiers with leading zeros, versions such as ``1.10`` and words stay text); dates as NCBI
writes them (``2012/11/22 00:00``, ``1968 Aug``, ``22-NOV-2012``) become ISO 8601 where a column
holds nothing else. NCBI's date of the year 1 means that there is none.
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
    inherit_group,
    replace_file,
    sync_folder,
)

ABOUT = "_dataset"
"""The table in which a dataset is described."""
_LONGEST = 60
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)
# Words people write with capitals inside.
_ODD = re.compile(
    r"InChI|HomoloGene|EPub|XLogP|MeSH|PubMed|PubChem|ClinVar|GenBank|RefSeq|BioSample|BioProject|dbSNP|dbVar"
    r"|dbGaP|mRNA|cDNA|tRNA|rRNA|DOIs|PMIDs|PMCID|IDs"
)
_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_OTHER = re.compile(r"[^a-z0-9]+")
# https://www.sqlite.org/lang_keywords.html, but those that are good names and never misread (key).
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
_BATCH = 200  # rows that wait; a text may have megabytes
_CACHE = 64_000  # KiB
_NAMED = 10
Scalar: TypeAlias = "str | int | float | bool"
Kind = Literal["whole", "year", "fraction", "decimal", "date", "no date", "word"]
Type = Literal["INTEGER", "REAL", "DATE", "TEXT"]
_WHOLE = re.compile(r"0|-?[1-9]\d{0,17}", re.A)
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d", re.A)
_DECIMAL = re.compile(r"-?\d{1,20}\.\d{1,20}(?:[eE][+-]?\d{1,3})?|-?\d{1,3}[eE]-\d{1,3}", re.A)
_NO_DATE = re.compile(r"0{0,3}1/01/01(?: 00:00(?::00)?)?|0001-01-01(?:[ T]00:00:00)?")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?P<name>{'|'.join(_MONTHS)})"
_TIME = r"(?:[ T](?P<time>\d\d:\d\d(?::\d\d)?)(?P<rest>(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?))?"
_DATES = tuple(
    re.compile(form, re.A | re.I)
    for form in (
        rf"(?P<year>\d{{4}})[/-](?P<month>\d\d?)[/-](?P<day>\d\d?){_TIME}",
        rf"(?P<year>\d{{4}}) {_MONTH}(?: (?P<day>\d\d?))?",
        rf"(?P<day>\d\d?)-{_MONTH}-(?P<year>\d{{4}})",
    )
)
_UNSORTED = re.compile(r"(?:^|_)(?:version|build|release|id|acc|accession|accver|name)$")
_WHOLE_KINDS, _NUMBERS, _DATED = (
    {"whole", "year"},
    {"whole", "year", "fraction", "decimal"},
    {"date", "no date", "year"},
)


def plain(name: str) -> str:
    """A site's name for a field in small letters, digits and underscores.

    >>> plain("PubDate"), plain("GBSeq_feature-table"), plain("InChIKey"), plain("DS_MeSHTerms")
    ('pub_date', 'gbseq_feature_table', 'inchi_key', 'ds_mesh_terms')
    """
    text = unicodedata.normalize("NFKD", name[:200]).encode("ascii", "ignore").decode()
    text = _ODD.sub(lambda found: found[0].capitalize(), text)
    if not text.isupper():
        text = _BORDER.sub("_", text)
    return _OTHER.sub("_", text.lower()).strip("_").replace("gb_seq", "gbseq")


def joined(path: Iterable[str]) -> str:
    """The name of a field within fields; what a name repeats of the one before is left out.

    >>> joined(["organism", "taxId"]), joined(["SourceDb", "SourceDbData", "SrcDb"])
    ('organism_tax_id', 'source_db_data_src_db')
    """
    words: list[str] = []
    for name in map(plain, path):
        if words and (name == words[-1] or name.startswith(f"{words[-1]}_")):
            words.pop()
        if name:
            words.append(name)
    return "_".join(words)


def unique(name: str, taken: set[str]) -> str:
    """*name* as an identifier that is no keyword and not in *taken*, to which it is added.

    >>> taken = {"uid"}
    >>> unique("uid", taken), unique("order", taken), unique("3_utr", taken), unique("", taken)
    ('uid_2', 'order_', 'n_3_utr', 'field')
    """
    while len(name) > _LONGEST and "_" in name:
        name = name.partition("_")[2]  # the last words tell most
    made = name[:_LONGEST].strip("_") or "field"
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


def quoted(name: str) -> str:
    """*name* as a statement can hold it: in quotation marks only where it needs them.

    >>> quoted("uid"), quoted("order"), quoted('a"b')
    ('uid', '"order"', '"a""b"')
    """
    if _PLAIN.fullmatch(name) and name.lower() not in KEYWORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


@dataclass(slots=True)
class Table:
    """A table: its own columns with their types, and its relations to others.

    ``columns`` come after the keys in every row; ``keyed`` tells that other tables refer to it;
    ``indexes`` are columns that queries search by.
    """

    name: str
    columns: list[tuple[str, str]]
    parent: Table | None = None
    keyed: bool = False
    indexes: tuple[str, ...] = ()
    uid: str = "INTEGER"

    @property
    def key(self) -> str:
        """The column that other tables refer to."""
        return f"{self.name}_id" if self.parent else UID

    @property
    def main(self) -> Table:
        """The table of the records."""
        return self.parent.main if self.parent else self

    @property
    def keys(self) -> list[str]:
        """The columns before its own: key, parent's key, uid, position, as far as it has them."""
        if self.parent is None:
            return [UID]
        own = [self.key] if self.keyed else []
        link = [] if self.parent.parent is None else [self.parent.key]
        return [*own, *link, UID, POSITION]

    def definition(self) -> str:
        """The statement that creates it."""
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

    def index_definitions(self) -> list[str]:
        """The statements that create its indexes, those of its key apart."""
        links = [UID] if self.parent and self.parent.parent else []
        return [
            f"CREATE INDEX {self.name}__{column} ON {self.name}({column})"
            for column in (*links, *self.indexes)
        ]

    def insertion(self) -> str:
        """The statement that adds a row."""
        marks = ", ".join("?" * (len(self.keys) + len(self.columns)))
        return f"INSERT INTO {self.name} VALUES ({marks})"  # noqa: S608  # a name of ours


class Tables:
    """The tables of one dataset, filled row by row."""

    def __init__(self, database: sqlite3.Connection, tables: Sequence[Table]) -> None:
        self.database = database
        self.tables = tables
        self._waiting: dict[str, list[Row]] = {table.name: [] for table in tables}
        self._statements = {table.name: table.insertion() for table in tables}
        for table in tables:
            database.execute(table.definition())

    def add(self, table: Table, row: Row) -> None:
        """Add a row, keys first."""
        waiting = self._waiting[table.name]
        waiting.append(row)
        if len(waiting) >= _BATCH:
            self._flush(table.name)

    def _flush(self, *names: str) -> None:
        for name in names or self._waiting:
            if waiting := self._waiting[name]:
                self.database.executemany(self._statements[name], waiting)
                waiting.clear()

    def forget(self, uid: object) -> None:
        """Delete a record from every table."""
        self._flush()
        for table in reversed(self.tables):
            deletion = f"DELETE FROM {table.name} WHERE {UID} = ?"  # noqa: S608  # a name of ours
            self.database.execute(deletion, (uid,))

    def finish(self) -> dict[str, int]:
        """Write the rows still buffered and the indexes; returns the number of rows by table."""
        self._flush()
        counts: dict[str, int] = {}
        for table in self.tables:
            for statement in table.index_definitions():
                self.database.execute(statement)
            count = f"SELECT count(*) FROM {table.name}"  # noqa: S608  # a name of ours
            [(counts[table.name],)] = self.database.execute(count)
        return counts


@contextlib.contextmanager
def whole_database(file: Path) -> Iterator[sqlite3.Connection]:
    """A database that takes the place of *file* when the block ends, checked and on the disk.

    When the block fails, nothing is left behind and *file* stays as it was.

    Raises
    ------
    StoreFailed
        The disk refuses.
    InvariantFailed
        A row refers to one that is not there.
    """
    part = build_part_path(file)
    try:
        with _disk_errors(file), contextlib.closing(_open(part)) as database:
            yield database
            _require_references(database, file)
            database.execute("ANALYZE")
            database.commit()
        with disk_errors(file):
            with part.open("rb+") as draft:
                os.fsync(draft.fileno())
            replace_file(part, file)
            sync_folder(file.parent)
    finally:
        for leftover in (part, part.with_name(f"{part.name}-journal")):
            with contextlib.suppress(OSError):
                leftover.unlink(missing_ok=True)


def _open(part: Path) -> sqlite3.Connection:
    with disk_errors(part):
        part.touch(exist_ok=False)
        inherit_group(part)
    database = sqlite3.connect(part)
    # Nobody else knows the file yet, and when anything fails it is deleted: no journal is needed.
    for pragma in ("journal_mode=OFF", "synchronous=OFF", "locking_mode=EXCLUSIVE"):
        database.execute(f"PRAGMA {pragma}")
    database.execute(f"PRAGMA cache_size=-{_CACHE}")
    database.execute("BEGIN")
    return database


def _require_references(database: sqlite3.Connection, file: Path) -> None:
    if astray := database.execute("PRAGMA foreign_key_check").fetchone():
        msg = f"In {file.name}, a row of {astray[0]} belongs to no row of {astray[2]}."
        raise InvariantFailed(msg, "Stage it again, and report it if it happens again.")


@contextlib.contextmanager
def _disk_errors(file: Path) -> Iterator[None]:
    """Turn a full disk into `StoreFailed`; SQLite's other errors are bugs of ours."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if not sqlite.is_disk_full(error):
            raise
        msg = f"Could not write {file}: {error}."
        raise StoreFailed(msg, "Free some space and stage it again.", file=str(file)) from error


class Notes:
    """What happened while the pages were read.

    ``empty_fields`` are those the database has and no record fills: they are no columns;
    ``nameless`` counts records that were left out, since nothing tells them apart.
    """

    def __init__(self) -> None:
        self.missing: dict[str, None] = {}
        self.empty_fields: list[str] = []
        self.nameless = 0
        self._again: dict[str, int] = {}
        self._words: list[str] = []
        self._numbers = 0

    def next_number(self) -> int:
        """The number of the next record, from 1."""
        self._numbers += 1
        return self._numbers

    def add_missing(self, uid: str) -> None:
        """Note that the database has no record of that name."""
        self.missing[uid] = None

    def add_repeated(self, uid: object) -> None:
        """Note that a record came again; the last one counts."""
        self._again[str(uid)] = self._again.get(str(uid), 0) + 1

    def add_warning(self, words: str) -> None:
        """Add a warning, in a sentence."""
        self._words.append(words)

    def warnings(self) -> Iterator[str]:
        """All notes, in sentences."""
        yield from self._words
        if self._again:
            count = f"{len(self._again):,} record{'s' if len(self._again) > 1 else ''}"
            yield f"{count} came more than once, the last one counts: {_named(self._again)}."
        if self.nameless:
            yield f"Records without an identifier were left out: {self.nameless:,}."
        if self.missing:
            yield f"Not found: {_named(self.missing)} ({len(self.missing):,} in all)."


def _named(uids: Collection[str]) -> str:
    """The first ten of some identifiers."""
    return ", ".join(islice(uids, _NAMED)) + (", …" if len(uids) > _NAMED else "")


def kind_of(value: Scalar) -> Kind:
    """The kind of a value, from which the type of its column follows.

    >>> kind_of("0042"), kind_of("42"), kind_of("1.5"), kind_of("1968 Aug"), kind_of(True)
    ('word', 'whole', 'decimal', 'date', 'whole')
    """
    if isinstance(value, str):
        return _kind_of_text(value) if value[:1] in "-0123456789" else "word"
    if isinstance(value, float):
        return "fraction" if math.isfinite(value) else "word"
    if not -(2**63) <= value < 2**63:
        return "word"
    return "year" if 1500 <= value < 2100 else "whole"


def _kind_of_text(text: str) -> Kind:
    if _WHOLE.fullmatch(text):
        return "year" if _YEAR.fullmatch(text) else "whole"
    if _DECIMAL.fullmatch(text):
        return "decimal" if math.isfinite(float(text)) else "word"
    if len(text) > 40:
        return "word"
    if _NO_DATE.fullmatch(text):
        return "no date"
    return "date" if iso(text) else "word"


def type_of(kinds: Collection[Kind], name: str) -> Type:
    """The type of a column that holds values of these *kinds*.

    >>> type_of({"whole", "fraction"}, "score"), type_of({"year", "date"}, "pub_date")
    ('REAL', 'DATE')
    """
    seen = set(kinds)
    if seen <= _WHOLE_KINDS:
        return "INTEGER"
    if seen <= _NUMBERS and not ("decimal" in seen and _UNSORTED.search(name)):
        return "REAL"
    return "DATE" if "date" in seen and seen <= _DATED else "TEXT"


def converted(value: Scalar, kind: Type) -> Scalar | None:
    """A value in the type of its column.

    >>> converted("2012/11/22 00:00", "DATE"), converted("7", "INTEGER"), converted(True, "TEXT")
    ('2012-11-22', 7, 'true')
    """
    if kind == "TEXT":
        return fit(value) if isinstance(value, str) else str(value).lower()
    if kind == "DATE":
        text = str(value)
        return iso(text) or (None if _NO_DATE.fullmatch(text) else text)
    return int(value) if kind == "INTEGER" else float(value)


def fit(text: str) -> str:
    """Text that can be shown: no character in it acts or hides."""
    return text if text.isprintable() else clean_text(text)


@lru_cache(4096)
def iso(text: str) -> str:
    """A date of one of NCBI's forms as ISO 8601, empty for anything else.

    >>> iso("2012/11/22 13:05"), iso("1968 Aug"), iso("22-NOV-2012"), iso("2012/13/22")
    ('2012-11-22 13:05', '1968-08', '2012-11-22', '')
    """
    match = next((found for form in _DATES if (found := form.fullmatch(text))), None)
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
