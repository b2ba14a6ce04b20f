"""Validate the database and the identifiers of a request before sending.

Identifiers are accepted in the spellings that people paste, which show the database. UIDs are whole
numbers up to 2^64 - 1 (EPost's limit); the sequence databases take accession.version as well. The
other spellings are those of the databases' own pages: ``PMC…``, ``rs…``, ``SAMN…``, ``PRJNA…``,
``GCF_…``, ``NM_…``. https://www.ncbi.nlm.nih.gov/books/NBK25497/

A request may name a history instead of identifiers: a result on NCBI's history server. Anyone can
use NCBI's ``WebEnv`` and ``query_key``, and they mean nothing to a reader, so a caller gets a name
of ours, ``h_…``. The shelf's cache keeps that name for eight hours. NCBI publishes no lifetime and
sometimes deletes a history earlier, which the next request detects.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from ..errors import BadRequest, NotFound, PaperError, Unreachable
from ..http import Web
from ..sources.eutils import fetch_database_names
from ..sources.loose_json import to_count, to_dict, to_text
from ..system.plain_text import one_line, shorten
from .databases import (
    DATABASES,
    EntrezDatabase,
    build_unknown_database_error,
    make_default_database_entry,
    normalize_database_name,
)

HISTORY_HOURS = 8
_HANDLE = re.compile(r"h_[0-9a-f]{16}", re.A)
_CACHE_KIND = "entrez_history"
# PubMed returns no more hits of any search, not even from the history server (August 2026).
PUBMED_WALL = 9_999
MAX_IDS = 10_000
LARGEST_UID = 2**64 - 1
_MAX_NAMED_IDS = 5
_NUMBER = re.compile(r"\d{1,20}", re.A)
_ACCESSION = re.compile(r"(?=\w*\d)[A-Z0-9]{1,10}(?:_[A-Z0-9]{1,20})?(?:\.\d{1,3})?", re.A | re.I)
_SEPARATORS = re.compile(r"[\s,;]+")
# The pattern of an identifier, its kind in words, and the database where it is found.
_ID_KINDS = tuple(
    (re.compile(pattern, re.A | re.I), kind, database)
    for pattern, kind, database in (
        (r"PMC\d+(?:\.\d+)?", "a PMCID", "pmc"),
        (r"(?:doi:|https?://\S*doi\.org/)?10\.\d{4,9}/\S+", "a DOI", "pubmed"),
        (r"[rs]s\d+", "an rs or ss number of dbSNP", "snp"),
        (r"(?:RCV|VCV|SCV)\d+(?:\.\d+)?", "an accession of ClinVar", "clinvar"),
        (r"SAM[NED][A-Z]?\d+", "an accession of BioSample", "biosample"),
        (r"PRJ[NED][A-Z]\d+", "an accession of BioProject", "bioproject"),
        (r"[SED]R[APRSX]\d+", "an accession of the Sequence Read Archive", "sra"),
        (r"GC[AF]_\d+(?:\.\d+)?", "an accession of Assembly", "assembly"),
        (r"G(?:SE|SM|PL|DS)\d+", "an accession of GEO", "gds"),
        (r"(?:NP|XP|YP|WP|AP)_\d+(?:\.\d+)?", "an accession of Protein", "protein"),
        (r"[A-Z]{2}_\d+(?:\.\d+)?", "an accession of RefSeq", "nuccore"),
        (r"[nes]s(?:td|v)\d+|[nes]sv\d+", "an accession of dbVar", "dbvar"),
        (r"phs\d+(?:\.\S+)?", "an accession of dbGaP", "gap"),
        (r"ENS[A-Z]*\d+(?:\.\d+)?", "an Ensembl identifier", "gene"),
        (r"[DC]\d{6,9}", "an identifier of MeSH", "mesh"),
        (r"[A-Z]{14}-[A-Z]{10}-[A-Z]", "an InChIKey", "pccompound"),
    )
)
_ID_LABELS = (
    "pmid",
    "pmcid",
    "uid",
    "id",
    "gi",
    "taxid",
    "geneid",
    "cid",
    "sid",
    "aid",
    "mim",
    "omim",
)
_LABEL = re.compile(rf"(?:{'|'.join(_ID_LABELS)}):(?=\w)", re.I)


@dataclass(frozen=True, slots=True)
class MissingRecord:
    """An identifier without a record, and NCBI's reason."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class SelectionPart:
    """A part of the selected records: the request parameters and the identifiers.

    ``uids`` is empty if only the history server has them; ``size`` is their number.
    """

    params: dict[str, Any]
    uids: tuple[str, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Selection:
    """Selected records of a database, by identifiers or by a history on NCBI's server."""

    database: EntrezDatabase
    uids: tuple[str, ...] = ()
    place: HistoryLocation | None = None

    @property
    def total(self) -> int:
        """The number of records that can be requested from NCBI."""
        if self.place is None:
            return len(self.uids)
        total = self.place.history.total
        return min(total, PUBMED_WALL) if self.database.name == "pubmed" else total

    def get_part(self, start: int, size: int) -> SelectionPart:
        """Return the records from *start* on, at most *size* records.

        Raises
        ------
        BadRequest
            *start* is after the last record.
        """
        if start >= self.total:
            msg = f"start is {start:,}, but there are {self.total:,} records."
            raise BadRequest(msg, "start counts from 0; use next_start.")
        size = min(size, self.total - start)
        if self.place is not None:
            return SelectionPart(self.place.to_params(start, size), (), size)
        uids = self.uids[start : start + size]
        return SelectionPart({"id": ",".join(uids)}, uids, size)


def find_database(name: str, web: Web) -> EntrezDatabase:
    """Return the database with that name; ask NCBI if our table lacks the name.

    Raises
    ------
    BadRequest
        The database does not exist.
    """
    plain = normalize_database_name(name)
    if plain in DATABASES:
        return DATABASES[plain]
    try:
        today = fetch_database_names(web)
    except PaperError as error:
        refused = build_unknown_database_error(name)
        hint = f"NCBI could not say whether it is new: {error.message}"
        raise BadRequest(refused.message, *refused.hints, hint) from None
    if plain in today:
        return make_default_database_entry(plain)
    raise build_unknown_database_error(name, today)


def select_records(
    database: EntrezDatabase, ids: str | int | Iterable[str | int], history: str, web: Web
) -> Selection:
    """Return the selection for these identifiers or for a history.

    Raises
    ------
    BadRequest
        Neither or both are given, or the identifiers are invalid.
    NotFound
        The history is unknown or has expired.
    """
    if history and has_ids(ids):
        raise BadRequest("ids and history are both given.", "Give one of them.")
    if history:
        return Selection(database, place=load_history_location(history, database.name, web))
    return Selection(database, tuple(parse_database_ids(database, ids)))


def has_ids(ids: str | int | Iterable[str | int]) -> bool:
    """Return whether any identifier is given; an iterator counts as non-empty."""
    return len(ids) > 0 if isinstance(ids, Sized) else True


def require_in_range(name: str, value: int, least: int, most: int, hint: str) -> None:
    """Raise `BadRequest` if a number is out of range.

    Raises
    ------
    BadRequest
        With *hint* for what to do instead.
    """
    if not least <= value <= most:
        msg = f"{name} is {value:,}; it must lie between {least:,} and {most:,}."
        raise BadRequest(msg, hint)


def parse_database_ids(database: EntrezDatabase, ids: str | int | Iterable[str | int]) -> list[str]:
    """Return the distinct identifiers of *database* in NCBI's spelling, in order.

    Text is split at commas, semicolons and blanks.

    Raises
    ------
    BadRequest
        There are not valid identifiers, too many, or some of another kind; nothing was sent.
    """
    values = [ids] if isinstance(ids, str | int) else list(ids)
    words = [word for one in values for word in _SEPARATORS.split(str(one)) if word]
    read = {word: _parse_database_id(database, word) for word in dict.fromkeys(words)}
    if unfit := [word for word, uid in read.items() if not uid]:
        raise _build_invalid_ids_error(database, unfit)
    found = list(dict.fromkeys(uid for uid in read.values() if uid))
    if not found:
        msg = f"No identifiers of {database.name} are given."
        raise BadRequest(msg, f"It takes {database.uid}s, such as {database.example}.")
    if len(found) > MAX_IDS:
        msg = f"{len(found):,} identifiers are given; {MAX_IDS:,} is the most."
        raise BadRequest(msg, "Give them in parts, or search for them and use the history.")
    return found


def _parse_database_id(database: EntrezDatabase, word: str) -> str:
    """Return the identifier in *word*, or "" if *word* is not an identifier of this database."""
    bare = _LABEL.sub("", word, count=1)
    if database.prefix and bare.casefold().startswith(database.prefix.casefold()):
        bare = bare[len(database.prefix) :]
    if _NUMBER.fullmatch(bare):
        return str(int(bare)) if 0 < int(bare) <= LARGEST_UID else ""
    fits = database.accessions and _ACCESSION.fullmatch(bare)
    return bare.upper() if fits and _find_home_database(bare) in {"", "protein", "nuccore"} else ""


def _find_home_database(word: str) -> str:
    """Return the database to which an identifier of this pattern belongs, or ""."""
    return next((name for pattern, _, name in _ID_KINDS if pattern.fullmatch(word)), "")


def _build_invalid_ids_error(database: EntrezDatabase, unfit: list[str]) -> BadRequest:
    shown = ", ".join(repr(shorten(one_line(word), 40)) for word in unfit[:_MAX_NAMED_IDS])
    more = f" and {len(unfit) - _MAX_NAMED_IDS:,} more" if len(unfit) > _MAX_NAMED_IDS else ""
    verb = "is not a valid identifier" if len(unfit) == 1 else "are not valid identifiers"
    msg = f"{shown}{more} {verb} of {database.name}."
    takes = f"{database.name} takes {database.uid}s, such as {database.example}."
    return BadRequest(
        msg, *_suggest_database_for_id(database, unfit[0]), takes, ids=unfit[:_MAX_NAMED_IDS]
    )


def _suggest_database_for_id(database: EntrezDatabase, word: str) -> list[str]:
    """Return hints for an identifier of another database or kind."""
    found = next(
        ((kind, name) for pattern, kind, name in _ID_KINDS if pattern.fullmatch(word)), None
    )
    if found is None:
        plain = shorten(one_line(word), 40)
        return [f"Search {database.name} for {plain!r} to find its {database.uid}."]
    kind, home = found
    hints = [f"{word[:60]} is {kind}."]
    if home == "pmc" and database.name == "pubmed":
        return [*hints, "Ask database pmc for it, or convert it to a PMID with convert_ids."]
    if home == database.name:
        field = "[doi]" if kind == "a DOI" else ""
        return [*hints, f"Search {home} for {word[:60]}{field} to find its {database.uid}."]
    if _parse_database_id(DATABASES[home], word):
        return [*hints, f"Ask database {home} for it, and link from there to {database.name}."]
    return [*hints, f"Search {home} for it, and link from there to {database.name}."]


@dataclass(frozen=True, slots=True)
class History:
    """A search result stored at NCBI, requested by ``id`` instead of by its identifiers.

    ``made_by`` is the search or the number of posted identifiers, ``total`` the number of records,
    ``expires`` the latest time of deletion (ISO 8601, UTC).
    """

    id: str
    database: str
    made_by: str
    total: int
    expires: str


@dataclass(frozen=True, slots=True)
class HistoryLocation:
    """NCBI's own address of a history, which is not shown to users."""

    history: History
    web_env: str
    query_key: str

    def to_params(self, start: int, size: int) -> dict[str, Any]:
        """Return the parameters that request a part of the history."""
        where = {"WebEnv": self.web_env, "query_key": self.query_key}
        return {**where, "retstart": start, "retmax": size}


def store_history_location(
    database: str, made_by: str, total: int, place: tuple[str, str], web: Web
) -> HistoryLocation | None:
    """Store NCBI's names of a history under a new identifier; return None if writing fails."""
    moment = datetime.fromtimestamp(time.time(), UTC) + timedelta(hours=HISTORY_HOURS)
    name = f"h_{secrets.token_hex(8)}"
    expires = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    made = HistoryLocation(History(name, database, shorten(made_by, 200), total, expires), *place)
    web.cache.put(_CACHE_KIND, name, asdict(made), HISTORY_HOURS / 24)
    return made if web.cache.get(_CACHE_KIND, name) else None


def load_history_location(name: str, database: str, web: Web) -> HistoryLocation:
    """Return NCBI's names of the history with this identifier.

    Raises
    ------
    BadRequest
        The name is not a history's, or its records are from another database.
    NotFound
        The history is unknown or has expired.
    """
    name = one_line(name)
    if not _HANDLE.fullmatch(name):
        msg = f"{shorten(name, 40)!r} is not a known history."
        raise BadRequest(msg, "A search with keep and post return one: h_ and 16 characters.")
    kept = _parse_history_location(to_dict(web.cache.get(_CACHE_KIND, name)))
    if kept is None:
        msg = f"The history {name} is not known here (any more)."
        again = "Search again with keep, or post the identifiers again."
        raise NotFound(
            msg, again, f"A history lives {HISTORY_HOURS} hours on the shelf it was made for."
        )
    if kept.history.database != database:
        msg = f"The history {name} holds records of {kept.history.database}, not of {database}."
        raise BadRequest(msg, f"Ask with database={kept.history.database}, or link to {database}.")
    return kept


def _parse_history_location(row: Mapping[str, Any]) -> HistoryLocation | None:
    history = to_dict(row.get("history"))
    names = ("id", "database", "made_by", "expires")
    total, place = (
        to_count(history.get("total")),
        [to_text(row.get(n)) for n in ("web_env", "query_key")],
    )
    if total is None or not all(place):
        return None
    history = {name: to_text(history.get(name)) for name in names}
    return HistoryLocation(History(**history, total=total), *place)


@contextmanager
def convert_expiry_error(place: HistoryLocation | None) -> Iterator[None]:
    """Inside, raise `NotFound` in place of the error for a history that NCBI deleted early."""
    try:
        yield
    except Unreachable as error:
        if place is None or not error.details.get("expired"):
            raise
        msg = f"NCBI has forgotten the history {place.history.id} ({place.history.made_by})."
        hint = "Search again with keep, or post the identifiers again."
        raise NotFound(msg, hint) from None
