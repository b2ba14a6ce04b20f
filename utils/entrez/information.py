"""Which databases Entrez has, and what one of them holds and offers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import SourceMiss
from ..http import Web
from ..sources.eutils import fetch_database, fetch_database_names
from ..sources.loose_json import mappings, short_text, whole
from .databases import DATABASES, Database, Form, generic
from .selection import find_database


@dataclass(frozen=True, slots=True)
class Field:
    """A search field: ``term[name]``; ``terms`` is how many different terms it holds."""

    name: str
    title: str
    description: str
    terms: int
    is_date: bool
    is_number: bool


@dataclass(frozen=True, slots=True)
class LinkKind:
    """A kind of link from this database to another."""

    name: str
    title: str
    description: str
    database: str


@dataclass(frozen=True, slots=True)
class DatabaseInfo:
    """What a database holds and offers.

    ``records`` and ``last_update`` (NCBI's own words) are of today; ``fetch`` are the forms EFetch
    gives, the first by default, none where summaries are all there is; ``staged_from`` what a
    dataset of it is made of; ``url`` the address of the request. Hidden search fields are left out.
    """

    name: str
    title: str
    description: str
    records: int
    last_update: str
    uid: str
    example: str
    fetch: tuple[Form, ...]
    staged_from: str
    fields: tuple[Field, ...]
    links: tuple[LinkKind, ...]
    url: str = ""


@dataclass(frozen=True, slots=True)
class DatabaseRow:
    """A database in one line; ``fetch`` are the forms EFetch gives, in words."""

    name: str
    title: str
    uid: str
    example: str
    fetch: tuple[str, ...]
    staged_from: str


@dataclass(frozen=True, slots=True)
class DatabaseList:
    """All databases of Entrez, those of the literature and the most asked first."""

    databases: tuple[DatabaseRow, ...]
    warnings: tuple[str, ...] = ()


def list_databases(web: Web) -> DatabaseList:
    """The databases there are today; else those of our table, with a warning."""
    try:
        today = fetch_database_names(web)
    except SourceMiss as error:
        warning = f"NCBI could not be asked which databases there are today: {error.message}"
        return DatabaseList(tuple(map(_row, DATABASES.values())), (warning,))
    known = [one for one in DATABASES.values() if one.name in today]
    new = [generic(name) for name in today if name not in DATABASES]
    gone = [one.name for one in DATABASES.values() if one.name not in today]
    warnings = (f"NCBI does not list {', '.join(gone)} any more.",) if gone else ()
    return DatabaseList(tuple(map(_row, [*known, *new])), warnings)


def fetch_database_info(name: str, web: Web) -> DatabaseInfo:
    """EInfo's answer about a database, with what our table knows of it."""
    known = find_database(name, web)
    info, url = fetch_database(known.name, web)
    return DatabaseInfo(
        name=known.name,
        title=known.title if known.name in DATABASES else short_text(info.get("menuname")),
        description=short_text(info.get("description")),
        records=whole(info.get("count")) or 0,
        last_update=short_text(info.get("lastupdate")),
        uid=known.uid,
        example=known.example,
        fetch=known.forms,
        staged_from=_staged_from(known),
        fields=tuple(
            _field(row)
            for row in mappings(info.get("fieldlist"))
            if short_text(row.get("ishidden")) != "Y"
        ),
        links=tuple(map(_link, mappings(info.get("linklist")))),
        url=url,
    )


def _row(database: Database) -> DatabaseRow:
    forms = tuple(f"{form.name} ({form.gives})" for form in database.forms)
    staged = _staged_from(database)
    return DatabaseRow(database.name, database.title, database.uid, database.example, forms, staged)


def _staged_from(database: Database) -> str:
    return database.staged.name if database.staged else "summaries"


def _field(row: Mapping[str, Any]) -> Field:
    return Field(
        name=short_text(row.get("name")),
        title=short_text(row.get("fullname")),
        description=short_text(row.get("description")),
        terms=whole(row.get("termcount")) or 0,
        is_date=short_text(row.get("isdate")) == "Y",
        is_number=short_text(row.get("isnumerical")) == "Y",
    )


def _link(row: Mapping[str, Any]) -> LinkKind:
    names = ("name", "menu", "description", "dbto")
    return LinkKind(*(short_text(row.get(name)) for name in names))
