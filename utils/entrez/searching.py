"""Search Entrez databases, count hits, suggest spellings, follow links, and describe databases.

Hits are counted with one request per database: EGQuery, made for that purpose, has redirected to a
host inside NCBI's own network since 2024 (https://github.com/ropensci/rentrez/issues/217, September
2026). EInfo lists the databases, and describes the contents and options of each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from ..errors import BadRequest, PaperError, SourceMiss
from ..http import Web
from ..search.pubmed.search import normalize_query
from ..sources import Query
from ..sources.eutils import Hits, count_records, fetch_database, fetch_database_names, run_esearch
from ..sources.eutils_services import (
    LinkList,
    LinkSet,
    fetch_link_names,
    fetch_links,
    fetch_spelling,
)
from ..sources.loose_json import to_count, to_dicts, to_short_text, to_text
from ..system.plain_text import one_line, shorten
from .databases import (
    DATABASES,
    EntrezDatabase,
    RecordFormat,
    make_default_database_entry,
    normalize_database_name,
)
from .selection import (
    PUBMED_WALL,
    History,
    find_database,
    parse_database_ids,
    require_in_range,
    store_history_location,
)

MAX_HITS = 10_000
NO_HISTORY = "Nothing was found: there is no history of it."
_PARALLEL_REQUESTS = 4
_SORT_ORDER = re.compile(r"[\w ./+-]{0,40}", re.A)
_DATE_TYPE = re.compile(r"[a-z]{2,8}", re.A)
_PUBMED_SORTS = {"author": "Author", "journal": "JournalName", "journalname": "JournalName"}
MAX_LINKED_IDS = 200
MAX_LINKS = 10_000
_MAX_LINKS_IN_TOTAL = 20_000
_SCORED_COMMAND = "neighbor_score"


@dataclass(frozen=True, slots=True)
class DatabaseSearch:
    """The result of a search: a page of identifiers, their total, and a history if requested.

    ``understood`` is the database's own reading of the term; ``ids`` is one page, from ``start``
    on; ``next_start`` is the start of the next page, None at the end; ``history`` is the whole
    result, if it was to be kept; ``warnings`` say what was ignored or not found.
    """

    database: str
    term: str
    understood: str
    total: int
    ids: tuple[str, ...]
    start: int
    next_start: int | None
    history: History | None
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SpellingSuggestion:
    """A database's spelling of a term; ``corrected`` is empty without a suggestion."""

    database: str
    term: str
    corrected: str
    replaced: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DatabaseCount:
    """The number of records that a term finds in a database."""

    database: str
    title: str
    total: int


@dataclass(frozen=True, slots=True)
class UnansweredDatabase:
    """A database that did not answer, with the reason."""

    database: str
    reason: str


@dataclass(frozen=True, slots=True)
class GlobalCounts:
    """The hits of a term in all databases, most hits first.

    ``nothing_in`` are the databases without hits; ``could_not_tell`` those that did not answer and
    may have hits.
    """

    term: str
    counts: tuple[DatabaseCount, ...]
    nothing_in: tuple[str, ...]
    could_not_tell: tuple[UnansweredDatabase, ...]


def search_database(database: str, term: str, web: Web, **options: Any) -> DatabaseSearch:
    """Search a database, with the options of `.Entrez.search`."""
    return _SearchRequest(find_database(database, web), web, **options).send_search(term)


@dataclass(frozen=True, slots=True)
class _SearchRequest:
    """A search of one database with its options."""

    database: EntrezDatabase
    web: Web
    start: int = 0
    most: int = 20
    sort: str = ""
    keep: bool = False
    min_date: str = ""
    max_date: str = ""
    date_type: str = ""

    def send_search(self, term: str) -> DatabaseSearch:
        """Send the search, and return its result."""
        params = self.build_search_params(term)
        size = params["retmax"]
        hits = run_esearch(self.database.name, params, self.web)
        uids, warnings = hits.uids[:size], hits.warnings
        reachable = _count_reachable_hits(self.database, hits.total)
        if len(uids) < (expected := max(0, min(size, reachable - self.start))):
            warnings += (f"Entrez sent {len(uids)} of the {expected} identifiers of this page.",)
        end = self.start + (len(uids) or size)
        kept, more = self._save_search_history(term, hits)
        warnings += more + build_hit_limit_warnings(self.database, hits.total)
        return DatabaseSearch(
            self.database.name, params["term"], hits.translation, hits.total, uids, self.start,
            end if size and end < reachable else None, kept, warnings,
        )  # fmt: skip

    def build_search_params(self, term: str) -> dict[str, Any]:
        """Return the validated parameters of ESearch.

        Raises `BadRequest` for options that cannot be sent.
        """
        query = normalize_query(Query(term, min_date=self.min_date, max_date=self.max_date))
        hint = "Narrow the search, page with start, or set keep: then all hits are a history."
        require_in_range("max_results", self.most, 0, MAX_HITS, hint)
        wall = _count_reachable_hits(self.database, 10**9)
        require_in_range(
            "start", self.start, 0, wall - 1, "Narrow the search, for example by date."
        )
        kind = (one_line(self.date_type).lower() or "pdat") if query.min_date else ""
        if kind and not _DATE_TYPE.fullmatch(kind):
            msg = f"date_type is {shorten(one_line(kind), 40)!r}."
            raise BadRequest(msg, "pdat (published), mdat (changed) or, in PubMed, edat (entered).")
        return {
            "term": query.text.strip(),
            "retstart": self.start,
            "retmax": min(self.most, wall - self.start),
            "sort": self._resolve_sort_order(),
            "usehistory": "y" if self.keep else "",
            "datetype": kind,
            "mindate": query.min_date,
            "maxdate": query.max_date,
        }

    def _resolve_sort_order(self) -> str:
        if not _SORT_ORDER.fullmatch(order := self.sort.strip()):
            msg = f"sort is {shorten(one_line(order), 40)!r}."
            raise BadRequest(msg, "relevance, pub_date, or a sort that the database's page offers.")
        return _PUBMED_SORTS.get(order.lower(), order) if self.database.name == "pubmed" else order

    def _save_search_history(self, term: str, hits: Hits) -> tuple[History | None, tuple[str, ...]]:
        if not self.keep:
            return None, ()
        if not hits.total:
            return None, (NO_HISTORY,)
        if not (hits.web_env and hits.query_key):
            return None, ("NCBI kept no history of this search.",)
        there = (hits.web_env, hits.query_key)
        place = store_history_location(
            self.database.name, one_line(term), hits.total, there, self.web
        )
        if place is None:
            return None, ("The history could not be remembered: the disk keeps nothing.",)
        return place.history, ()


def build_hit_limit_warnings(database: EntrezDatabase, total: int) -> tuple[str, ...]:
    """Return a warning if PubMed does not return all hits of a search."""
    reachable = _count_reachable_hits(database, total)
    if total == reachable:
        return ()
    limit = f"PubMed hands out the first {reachable:,} of {total:,} hits only"
    return (f"{limit}: narrow the search by date, or stage it.",)


def _count_reachable_hits(database: EntrezDatabase, total: int) -> int:
    return min(total, PUBMED_WALL) if database.name == "pubmed" else total


def suggest_spelling(database: str, term: str, web: Web) -> SpellingSuggestion:
    """Return a database's spelling suggestion for a term."""
    home = find_database(database, web)
    words = " ".join(normalize_query(Query(term)).text.split())
    corrected, replaced = fetch_spelling(words, web, home.name)
    same = corrected.casefold() == words.casefold()
    return SpellingSuggestion(home.name, words, "" if same else corrected, replaced)


def count_hits_by_database(term: str, databases: Iterable[str], web: Web) -> GlobalCounts:
    """Return a term's hits in each database, with one small request per database."""
    words = normalize_query(Query(term)).text.strip()
    chosen = [find_database(name, web) for name in dict.fromkeys(databases)]
    wanted = chosen or [one for one in DATABASES.values() if one.everywhere]
    web.settings.require_email("NCBI")
    with ThreadPoolExecutor(_PARALLEL_REQUESTS) as pool:
        answers = dict(
            zip(
                wanted,
                pool.map(lambda one: _count_hits_or_error(one, words, web), wanted),
                strict=True,
            )
        )
    if all(isinstance(answer, SourceMiss) for answer in answers.values()):
        raise next(answer for answer in answers.values() if isinstance(answer, SourceMiss))
    return _build_global_counts(words, answers)


def _count_hits_or_error(database: EntrezDatabase, term: str, web: Web) -> int | PaperError:
    try:
        return count_records(database.name, term, web)
    except PaperError as error:
        return error


def _build_global_counts(
    term: str, answers: Mapping[EntrezDatabase, int | PaperError]
) -> GlobalCounts:
    found = [
        DatabaseCount(one.name, one.title, n)
        for one, n in answers.items()
        if isinstance(n, int) and n
    ]
    return GlobalCounts(
        term=term,
        counts=tuple(sorted(found, key=lambda one: -one.total)),
        nothing_in=tuple(one.name for one, answer in answers.items() if answer == 0),
        could_not_tell=tuple(
            UnansweredDatabase(one.name, error.message)
            for one, error in answers.items()
            if isinstance(error, PaperError)
        ),
    )


@dataclass(frozen=True, slots=True)
class LinkedRecords:
    """Records linked by one kind of link: ``ids`` from ``start`` on, of ``total``.

    ``scores`` has one score per identifier if the database gives any, comparable only within one
    list. If only the kinds were requested, ``total`` is None and ``title`` describes the kind.
    """

    link_name: str
    database: str
    total: int | None
    ids: tuple[str, ...]
    scores: tuple[int | None, ...] = ()
    title: str = ""


@dataclass(frozen=True, slots=True)
class RecordLinks:
    """The links of one identifier; empty if the database has no links or no such identifier."""

    id: str
    links: tuple[LinkedRecords, ...]


@dataclass(frozen=True, slots=True)
class LinkPage:
    """Links of several identifiers, in their order; ``next_start`` starts each list's next page."""

    database_from: str
    database_to: str
    link_name: str
    records: tuple[RecordLinks, ...]
    start: int
    next_start: int | None
    could_not_tell: tuple[str, ...] = ()


def find_links(
    database_from: str,
    ids: str | int | Iterable[str | int],
    database_to: str,
    link_name: str,
    web: Web,
    *,
    scores: bool,
    start: int,
    most: int,
) -> LinkPage:
    """Return linked records; see `.Entrez.link`."""
    home = find_database(database_from, web)
    target = find_database(database_to, web) if database_to else None
    name = normalize_database_name(link_name)
    hint = "Page with next_start, or give fewer identifiers."
    require_in_range("max_results", most, 1, MAX_LINKS, hint)
    require_in_range("start", start, 0, 10**7, "start counts from 0.")
    uids = parse_database_ids(home, ids)
    require_in_range(
        "The number of identifiers", len(uids), 1, MAX_LINKED_IDS, "Give them in parts."
    )
    require_in_range(
        f"max_results for {len(uids)} identifiers", most, 1, _MAX_LINKS_IN_TOTAL // len(uids), hint
    )
    _require_known_link_kind(home, target, name, web)
    target_name = target.name if target else _get_target_database(name)
    params = {"dbfrom": home.name, "db": target_name, "id": uids}
    if not (target or name):
        sets = fetch_link_names({"dbfrom": home.name, "id": uids}, web)
    else:
        # Scores need another command, which does not accept a linkname.
        how = {"cmd": _SCORED_COMMAND} if scores else {"cmd": "neighbor", "linkname": name}
        sets = fetch_links({**params, **how}, web)
    return _build_links(home, target_name, name, uids, sets, start, most)


def _get_target_database(name: str) -> str:
    """Return the database that a link leads to, the second word of the link's name."""
    return name.split("_")[1] if name.count("_") else ""


def _require_known_link_kind(
    home: EntrezDatabase, target: EntrezDatabase | None, name: str, web: Web
) -> None:
    """Reject a kind of link that the database lacks, if NCBI can say so."""
    if not (target or name):
        return
    try:
        rows = to_dicts(fetch_database(home.name, web)[0].get("linklist"))
    except SourceMiss:
        return  # the request itself will show an error
    kinds = {to_text(row.get("name")): to_text(row.get("dbto")) for row in rows}
    if not kinds:
        return
    near = get_close_matches(name, kinds, 3, 0.6) if name else []
    hints = [f"Did you mean {', '.join(near)}?"] if near else []
    able = ", ".join(sorted(set(kinds.values())))
    if name and name not in kinds:
        msg = f"{home.name} has no links called {shorten(one_line(name), 60)!r}."
        raise BadRequest(msg, *hints, f"Links lead from {home.name} to: {able}.")
    if target and name and kinds[name] != target.name:
        msg = f"{name} leads to {kinds[name]}, not to {target.name}."
        raise BadRequest(msg, f"Leave out link_name, or link to {kinds[name]}.")
    if target and target.name not in kinds.values():
        msg = f"No links lead from {home.name} to {target.name}."
        raise BadRequest(msg, f"They lead to: {able}.")


def _build_links(
    home: EntrezDatabase, target: str, name: str, uids: Sequence[str], sets: Sequence[LinkSet],
    start: int, most: int,
) -> LinkPage:  # fmt: skip
    found = _match_link_sets_to_ids(uids, sets)
    wanted = {
        uid: [row for row in one.lists if not name or row.name == name]
        for uid, one in found.items()
    }
    longest = max((len(row.uids) for rows in wanted.values() for row in rows), default=0)
    unanswered = [
        f"{uid}: {shorten(one.trouble, 200)}" for uid, one in found.items() if one.trouble
    ]
    unanswered += [f"{uid}: NCBI said nothing of its links" for uid in uids if uid not in found]
    records = tuple(
        RecordLinks(uid, tuple(_cut_linked_records(row, start, most) for row in wanted[uid]))
        for uid in uids
        if uid in wanted
    )
    more = start + most < longest
    return LinkPage(
        home.name, target, name, records, start, start + most if more else None, tuple(unanswered)
    )


def _match_link_sets_to_ids(uids: Sequence[str], sets: Sequence[LinkSet]) -> dict[str, LinkSet]:
    """Return each identifier's link set, matched by identifier, or else by position."""
    by_word = {uid: one for one in sets for uid in one.uids if len(one.uids) == 1}
    in_order = dict(zip(uids, sets, strict=True)) if len(sets) == len(uids) else {}
    found = {uid: by_word.get(uid) or in_order.get(uid) for uid in uids}
    return {uid: one for uid, one in found.items() if one is not None}


def _cut_linked_records(row: LinkList, start: int, most: int) -> LinkedRecords:
    if row.menu:
        return LinkedRecords(row.name, row.database, None, (), title=row.menu)
    scores = row.scores[start : start + most] if any(s is not None for s in row.scores) else ()
    ids = row.uids[start : start + most]
    return LinkedRecords(row.name, row.database, len(row.uids), ids, scores)


@dataclass(frozen=True, slots=True)
class SearchField:
    """A search field, used as ``term[name]``; ``terms`` is the number of distinct terms."""

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
    """A database's record count, search fields, links and record formats.

    ``records`` and ``last_update`` (NCBI's own words) are current. ``fetch`` lists EFetch's
    formats, default first, and is empty if only summaries exist; ``staged_from`` is the format for
    datasets; ``url`` is the address of the request. Hidden search fields are left out.
    """

    name: str
    title: str
    description: str
    records: int
    last_update: str
    uid: str
    example: str
    fetch: tuple[RecordFormat, ...]
    staged_from: str
    fields: tuple[SearchField, ...]
    links: tuple[LinkKind, ...]
    url: str = ""


@dataclass(frozen=True, slots=True)
class DatabaseRow:
    """A database in one line; ``fetch`` describes EFetch's formats."""

    name: str
    title: str
    uid: str
    example: str
    fetch: tuple[str, ...]
    staged_from: str


@dataclass(frozen=True, slots=True)
class DatabaseList:
    """All Entrez databases, with literature and the most used first."""

    databases: tuple[DatabaseRow, ...]
    warnings: tuple[str, ...] = ()


def list_databases(web: Web) -> DatabaseList:
    """Return NCBI's current databases, or the databases in our table with a warning."""
    try:
        today = fetch_database_names(web)
    except SourceMiss as error:
        warning = f"NCBI could not be asked which databases there are today: {error.message}"
        return DatabaseList(tuple(map(_to_database_row, DATABASES.values())), (warning,))
    known = [one for one in DATABASES.values() if one.name in today]
    new = [make_default_database_entry(name) for name in today if name not in DATABASES]
    gone = [one.name for one in DATABASES.values() if one.name not in today]
    warnings = (f"NCBI does not list {', '.join(gone)} any more.",) if gone else ()
    return DatabaseList(tuple(map(_to_database_row, [*known, *new])), warnings)


def fetch_database_info(name: str, web: Web) -> DatabaseInfo:
    """Return EInfo's description of a database, completed from our table."""
    known = find_database(name, web)
    info, url = fetch_database(known.name, web)
    return DatabaseInfo(
        name=known.name,
        title=known.title if known.name in DATABASES else to_short_text(info.get("menuname")),
        description=to_short_text(info.get("description")),
        records=to_count(info.get("count")) or 0,
        last_update=to_short_text(info.get("lastupdate")),
        uid=known.uid,
        example=known.example,
        fetch=known.forms,
        staged_from=_describe_dataset_form(known),
        fields=tuple(
            _to_search_field(row)
            for row in to_dicts(info.get("fieldlist"))
            if to_short_text(row.get("ishidden")) != "Y"
        ),
        links=tuple(map(_to_link_kind, to_dicts(info.get("linklist")))),
        url=url,
    )


def _to_database_row(database: EntrezDatabase) -> DatabaseRow:
    forms = tuple(f"{form.name} ({form.gives})" for form in database.forms)
    staged = _describe_dataset_form(database)
    return DatabaseRow(database.name, database.title, database.uid, database.example, forms, staged)


def _describe_dataset_form(database: EntrezDatabase) -> str:
    return database.staged.name if database.staged else "summaries"


def _to_search_field(row: Mapping[str, Any]) -> SearchField:
    return SearchField(
        name=to_short_text(row.get("name")),
        title=to_short_text(row.get("fullname")),
        description=to_short_text(row.get("description")),
        terms=to_count(row.get("termcount")) or 0,
        is_date=to_short_text(row.get("isdate")) == "Y",
        is_number=to_short_text(row.get("isnumerical")) == "Y",
    )


def _to_link_kind(row: Mapping[str, Any]) -> LinkKind:
    names = ("name", "menu", "description", "dbto")
    return LinkKind(*(to_short_text(row.get(name)) for name in names))
