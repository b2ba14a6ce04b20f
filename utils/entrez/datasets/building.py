"""Build a file of typed, related tables from pages of an Entrez database.

PubMed and PMC have tables with a fixed layout; those of every other database are inferred from all
its records. The file is complete or absent. The table ``_dataset`` describes it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ...errors import BadRequest
from .inferred_tables import InferredTables
from .pmc_tables import PmcTables
from .pubmed_tables import PubmedTables
from .tables import ABOUT, StagingNotes, create_dataset_database
from .trees import PageForm, RawRecordPage

_MAX_NAMED = 1000


@dataclass(frozen=True, slots=True)
class BuiltDataset:
    """The outcome of building a dataset: the number of records, and of rows by table.

    ``tables`` are rows by table, the table of the records first; ``not_found`` the identifiers
    that the database has no record of; ``warnings`` whole sentences.
    """

    file: Path
    records: int
    tables: Mapping[str, int]
    not_found: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    size: int = 0


class _PageReader(Protocol):
    def add_page(self, page: RawRecordPage) -> None: ...

    def finish_tables(self) -> dict[str, int]: ...


def build_dataset(
    pages: Iterable[RawRecordPage],
    file: Path,
    about: Mapping[str, str],
    notes: StagingNotes | None = None,
) -> BuiltDataset:
    """Read *pages* into tables in a new SQLite *file*.

    Parameters
    ----------
    pages : iterable of Page
        Answers of one database in one format, in any number; a page is dropped after reading.
    file : Path
        The dataset's path; an older file is replaced.
    about : mapping
        The rows of the table ``_dataset``: ``id``, ``database``, ``title``, ``form``, ``created``,
        ``expires``, ``papershelf``; numbers are added by this function. ``database`` and ``form``
        are used where there are no pages.
    notes : Notes, optional
        Notes to which *pages* add entries until the last page has arrived.

    Raises
    ------
    BadRequest
        The pages are of several databases or forms.
    EntrezFailed, Unreachable, BadContent
        A page is an error, broken, or not in its format; no file is left then.
    StoreFailed
        The disk refuses.
    """
    notes = notes or StagingNotes()
    with create_dataset_database(file) as database:
        reader: _PageReader | None = None
        form: tuple[str, PageForm] | None = None
        for page in pages:
            if form not in (None, (page.database, page.form)):
                msg = f"A dataset of {form} cannot take a page of {page.database} ({page.form})."
                raise BadRequest(msg, "Stage them one by one.")
            form = page.database, page.form
            reader = reader or _choose_page_reader(*form, database, notes)
            reader.add_page(page)
        reader = reader or _choose_page_reader(
            about.get("database", ""), about.get("form", ""), database, notes
        )
        tables = reader.finish_tables()
        records = next(iter(tables.values()))
        _write_description_table(database, about, records, notes)
    return BuiltDataset(
        file,
        records,
        tables,
        tuple(notes.missing),
        tuple(notes.iterate_warnings()),
        file.stat().st_size,
    )


def _choose_page_reader(
    database: str, form: str, connection: sqlite3.Connection, notes: StagingNotes
) -> _PageReader:
    if form == "pubmed_xml":
        return PubmedTables(connection, notes)
    if form == "pmc_xml":
        return PmcTables(connection, notes)
    return InferredTables(connection, database or "records", notes)


def _write_description_table(
    connection: sqlite3.Connection, about: Mapping[str, str], records: int, notes: StagingNotes
) -> None:
    """Write the table that describes the dataset, with lists as JSON."""
    rows = {
        **about,
        "records": str(records),
        "not_found": json.dumps(list(notes.missing)[:_MAX_NAMED]),
        "warnings": json.dumps(list(notes.iterate_warnings())),
        "empty_fields": json.dumps(notes.empty_fields[:_MAX_NAMED]),
    }
    connection.execute(f"CREATE TABLE {ABOUT} (name TEXT PRIMARY KEY NOT NULL, value TEXT)")
    connection.executemany(f"INSERT INTO {ABOUT} VALUES (?, ?)", rows.items())  # noqa: S608
