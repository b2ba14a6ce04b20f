"""Pages of an Entrez database become a file of typed, related tables.

PubMed and PMC have tables laid out by hand; every other database gets those that all its records
together ask for. The file is whole or not there at all. What it is, and what is worth knowing about
it, stands in its table ``_dataset``.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ..errors import BadRequest
from .inferred_tables import InferredTables
from .names import ABOUT
from .notes import Notes
from .page import Form, Page
from .pmc_tables import PmcTables
from .pubmed_tables import PubmedTables
from .tables import whole_database

_MOST_NAMED = 1000


@dataclass(frozen=True, slots=True)
class Built:
    """What a dataset has become.

    ``tables`` are rows by table, the table of the records first; ``not_found`` the identifiers
    that the database has no record of; ``warnings`` whole sentences.
    """

    file: Path
    records: int
    tables: Mapping[str, int]
    not_found: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    size: int = 0


class _Reading(Protocol):
    def add(self, page: Page) -> None: ...

    def finish(self) -> dict[str, int]: ...


def build(
    pages: Iterable[Page], file: Path, about: Mapping[str, str], notes: Notes | None = None
) -> Built:
    """Read *pages* into tables in a new SQLite *file*.

    Parameters
    ----------
    pages : iterable of Page
        Answers of one database in one form, in any number; each is let go when it is read.
    file : Path
        Where the dataset is to be; an older one there is replaced.
    about : mapping
        What the table ``_dataset`` is to say: ``id``, ``database``, ``title``, ``form``,
        ``created``, ``expires``, ``papershelf``; the numbers are added here. ``database`` and
        ``form`` are what a dataset without pages goes by.
    notes : Notes, optional
        Where *pages* themselves leave a word, until the last of them has come.

    Raises
    ------
    BadRequest
        The pages are of several databases or forms.
    EntrezFailed, Unreachable, BadContent
        A page is an error, broken, or not in its form; no file is left then.
    StoreFailed
        The disk refuses.
    """
    notes = notes or Notes()
    with whole_database(file) as database:
        reading: _Reading | None = None
        kind: tuple[str, Form] | None = None
        for page in pages:
            if kind not in (None, (page.database, page.form)):
                msg = f"A dataset of {kind} cannot take a page of {page.database} ({page.form})."
                raise BadRequest(msg, "Stage them one by one.")
            kind = page.database, page.form
            reading = reading or _reading(*kind, database, notes)
            reading.add(page)
        reading = reading or _reading(
            about.get("database", ""), about.get("form", ""), database, notes
        )
        tables = reading.finish()
        records = next(iter(tables.values()))
        _describe(database, about, records, notes)
    return Built(
        file, records, tables, tuple(notes.missing), tuple(notes.warnings()), file.stat().st_size
    )


def _reading(database: str, form: str, connection: sqlite3.Connection, notes: Notes) -> _Reading:
    if form == "pubmed_xml":
        return PubmedTables(connection, notes)
    if form == "pmc_xml":
        return PmcTables(connection, notes)
    return InferredTables(connection, database or "records", notes)


def _describe(
    connection: sqlite3.Connection, about: Mapping[str, str], records: int, notes: Notes
) -> None:
    """Write what the dataset is; lists are JSON."""
    told = {
        **about,
        "records": str(records),
        "not_found": json.dumps(list(notes.missing)[:_MOST_NAMED]),
        "warnings": json.dumps(list(notes.warnings())),
        "empty_fields": json.dumps(notes.empty_fields[:_MOST_NAMED]),
    }
    connection.execute(f"CREATE TABLE {ABOUT} (name TEXT PRIMARY KEY NOT NULL, value TEXT)")
    connection.executemany(f"INSERT INTO {ABOUT} VALUES (?, ?)", told.items())  # noqa: S608
