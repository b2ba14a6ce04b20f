"""Results that stay on NCBI's history server, under names of our own.

NCBI's ``WebEnv`` and ``query_key`` are anybody's who has them and say nothing; what a caller gets
is ``h_…``. It is remembered in the shelf's own memory for eight hours: NCBI publishes no lifetime,
and forgets sooner at times, which a request finds out.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from ..errors import BadRequest, NotFound, Unreachable
from ..http import Web
from ..sources.loose_json import mapping, text, whole
from ..system.plain_text import one_line, shortened

HOURS = 8
_HANDLE = re.compile(r"h_[0-9a-f]{16}", re.A)
_KIND = "entrez_history"


@dataclass(frozen=True, slots=True)
class History:
    """A result that NCBI keeps: ask for it by ``id`` instead of by its identifiers.

    ``made_by`` is the search, or how many identifiers were posted; ``total`` the number of records;
    ``expires`` when it is forgotten at the latest (ISO 8601, UTC).
    """

    id: str
    database: str
    made_by: str
    total: int
    expires: str


@dataclass(frozen=True, slots=True)
class Place:
    """NCBI's names for a history; never shown."""

    history: History
    web_env: str
    query_key: str

    def stretch(self, start: int, size: int) -> dict[str, Any]:
        """The parameters that request a part of it."""
        where = {"WebEnv": self.web_env, "query_key": self.query_key}
        return {**where, "retstart": start, "retmax": size}


def remember(
    database: str, made_by: str, total: int, place: tuple[str, str], web: Web
) -> Place | None:
    """Keep a place under a new name; None where the disk keeps nothing."""
    moment = datetime.fromtimestamp(time.time(), UTC) + timedelta(hours=HOURS)
    name = f"h_{secrets.token_hex(8)}"
    expires = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    made = Place(History(name, database, shortened(made_by, 200), total, expires), *place)
    web.cache.put(_KIND, name, asdict(made), HOURS / 24)
    return made if web.cache.get(_KIND, name) else None


def recall(name: str, database: str, web: Web) -> Place:
    """The place behind a name.

    Raises
    ------
    BadRequest
        It is no name of a history, or its records are of another database.
    NotFound
        Nobody knows it (any more).
    """
    name = one_line(name)
    if not _HANDLE.fullmatch(name):
        msg = f"{shortened(name, 40)!r} is no history."
        raise BadRequest(msg, "A search with keep and post return one: h_ and 16 characters.")
    kept = _to_place(mapping(web.cache.get(_KIND, name)))
    if kept is None:
        msg = f"The history {name} is not known here (any more)."
        again = "Search again with keep, or post the identifiers again."
        raise NotFound(msg, again, f"A history lives {HOURS} hours on the shelf it was made for.")
    if kept.history.database != database:
        msg = f"The history {name} holds records of {kept.history.database}, not of {database}."
        raise BadRequest(msg, f"Ask with database={kept.history.database}, or link to {database}.")
    return kept


def _to_place(row: Mapping[str, Any]) -> Place | None:
    history = mapping(row.get("history"))
    names = ("id", "database", "made_by", "expires")
    total, place = whole(history.get("total")), [text(row.get(n)) for n in ("web_env", "query_key")]
    if total is None or not all(place):
        return None
    history = {name: text(history.get(name)) for name in names}
    return Place(History(**history, total=total), *place)


@contextmanager
def explain_expiry(place: Place | None) -> Iterator[None]:
    """Raise `NotFound` where NCBI has forgotten a history before its time."""
    try:
        yield
    except Unreachable as error:
        if place is None or not error.details.get("expired"):
            raise
        msg = f"NCBI has forgotten the history {place.history.id} ({place.history.made_by})."
        hint = "Search again with keep, or post the identifiers again."
        raise NotFound(msg, hint) from None
