"""The database and the records of a request, checked before it is sent."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from dataclasses import dataclass
from typing import Any

from ..errors import BadRequest, PaperError
from ..sources.eutils.einfo import fetch_database_names
from ..web import Web
from .databases import DATABASES, Database, generic, no_such_database, plain_name
from .histories import Place, recall
from .identifiers import read_ids

# PubMed hands out no more of any search, from the history server neither (facts of August 2026).
PUBMED_WALL = 9_999


@dataclass(frozen=True, slots=True)
class Missing:
    """An identifier without a record, and what NCBI says of it."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the selected records: the parameters of their request, and their identifiers.

    ``uids`` is empty where only the history server knows them; ``size`` how many there are.
    """

    params: dict[str, Any]
    uids: tuple[str, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Selection:
    """Records of a database: by identifier, or as the history server knows them."""

    database: Database
    uids: tuple[str, ...] = ()
    place: Place | None = None

    @property
    def total(self) -> int:
        """How many records can be requested of NCBI."""
        if self.place is None:
            return len(self.uids)
        total = self.place.history.total
        return min(total, PUBMED_WALL) if self.database.name == "pubmed" else total

    def part(self, start: int, size: int) -> Part:
        """The records from *start* on, at most *size* of them.

        Raises
        ------
        BadRequest
            It begins behind the last one.
        """
        if start >= self.total:
            msg = f"start is {start:,}, but there are {self.total:,} records to be had."
            raise BadRequest(msg, "start counts from 0; use next_start.")
        size = min(size, self.total - start)
        if self.place is not None:
            return Part(self.place.stretch(start, size), (), size)
        uids = self.uids[start : start + size]
        return Part({"id": ",".join(uids)}, uids, size)


def find_database(name: str, web: Web) -> Database:
    """The database of that name; NCBI is asked where our table lacks it.

    Raises
    ------
    BadRequest
        There is none.
    """
    plain = plain_name(name)
    if plain in DATABASES:
        return DATABASES[plain]
    try:
        today = fetch_database_names(web)
    except PaperError as error:
        refused = no_such_database(name)
        hint = f"NCBI could not be asked whether it is new: {error.message}"
        raise BadRequest(refused.message, *refused.hints, hint) from None
    if plain in today:
        return generic(plain)
    raise no_such_database(name, today)


def select_records(
    database: Database, ids: str | int | Iterable[str | int], history: str, web: Web
) -> Selection:
    """The records with these identifiers, or of a history.

    Raises
    ------
    BadRequest
        Neither or both are given, or they cannot be used.
    NotFound
        The history is not known any more.
    """
    if history and is_given(ids):
        raise BadRequest("ids and history are both given.", "Give one of them.")
    if history:
        return Selection(database, place=recall(history, database.name, web))
    return Selection(database, tuple(read_ids(database, ids)))


def is_given(ids: str | int | Iterable[str | int]) -> bool:
    """Whether there are any identifiers; an iterator counts as some."""
    return len(ids) > 0 if isinstance(ids, Sized) else True


def require_between(name: str, value: int, least: int, most: int, hint: str) -> None:
    """Refuse a number out of range.

    Raises
    ------
    BadRequest
        With *hint* for what to do instead.
    """
    if not least <= value <= most:
        msg = f"{name} is {value:,}; it must lie between {least:,} and {most:,}."
        raise BadRequest(msg, hint)
