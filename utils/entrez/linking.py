"""The records of one database that are linked with records of another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from ..errors import BadRequest, SourceMiss
from ..http import Web
from ..sources.eutils import fetch_database
from ..sources.eutils_services import LinkList, LinkSet, fetch_link_names, fetch_links
from ..sources.loose_json import mappings, text
from ..system.plain_text import one_line, shortened
from .databases import Database, plain_name
from .selection import find_database, read_ids, require_between

MOST_LINKED = 200
MOST_LINKS = 10_000
_MOST_IN_ALL = 20_000
_SCORED = "neighbor_score"


@dataclass(frozen=True, slots=True)
class Linked:
    """One kind of link of one record: ``ids`` from ``start`` on, of ``total``.

    ``scores`` stand beside them where the database has any; they compare within one list only.
    Where only the kinds were asked for, ``total`` is None and ``title`` says what the kind is.
    """

    link_name: str
    database: str
    total: int | None
    ids: tuple[str, ...]
    scores: tuple[int | None, ...] = ()
    title: str = ""


@dataclass(frozen=True, slots=True)
class LinksOfOne:
    """The links of one identifier; none when the database knows none, or not the identifier."""

    id: str
    links: tuple[Linked, ...]


@dataclass(frozen=True, slots=True)
class Links:
    """Links, one entry an identifier; ``next_start`` asks for more of each list."""

    database_from: str
    database_to: str
    link_name: str
    records: tuple[LinksOfOne, ...]
    start: int
    next_start: int | None
    could_not_tell: tuple[str, ...] = ()


def link(
    database_from: str,
    ids: str | int | Iterable[str | int],
    database_to: str,
    link_name: str,
    web: Web,
    *,
    scores: bool,
    start: int,
    most: int,
) -> Links:
    """See `.Entrez.link`."""
    home = find_database(database_from, web)
    target = find_database(database_to, web) if database_to else None
    name = plain_name(link_name)
    hint = "Page with next_start, or give fewer identifiers."
    require_between("most", most, 1, MOST_LINKS, hint)
    require_between("start", start, 0, 10**7, "start counts from 0.")
    uids = read_ids(home, ids)
    require_between("The number of identifiers", len(uids), 1, MOST_LINKED, "Give them in parts.")
    require_between(f"most for {len(uids)} identifiers", most, 1, _MOST_IN_ALL // len(uids), hint)
    _require_kind(home, target, name, web)
    target_name = target.name if target else _target_of(name)
    params = {"dbfrom": home.name, "db": target_name, "id": uids}
    if not (target or name):
        sets = fetch_link_names({"dbfrom": home.name, "id": uids}, web)
    else:
        # Scores come with a command of their own, which takes no linkname.
        how = {"cmd": _SCORED} if scores else {"cmd": "neighbor", "linkname": name}
        sets = fetch_links({**params, **how}, web)
    return _links(home, target_name, name, uids, sets, start, most)


def _target_of(name: str) -> str:
    """The database a link leads to, which is the second word of its name."""
    return name.split("_")[1] if name.count("_") else ""


def _require_kind(home: Database, target: Database | None, name: str, web: Web) -> None:
    """Refuse a kind of link that the database does not have, when NCBI can say so."""
    if not (target or name):
        return
    try:
        rows = mappings(fetch_database(home.name, web)[0].get("linklist"))
    except SourceMiss:
        return  # the request itself will show
    kinds = {text(row.get("name")): text(row.get("dbto")) for row in rows}
    if not kinds:
        return
    near = get_close_matches(name, kinds, 3, 0.6) if name else []
    hints = [f"Did you mean {', '.join(near)}?"] if near else []
    able = ", ".join(sorted(set(kinds.values())))
    if name and name not in kinds:
        msg = f"{home.name} has no links called {shortened(one_line(name), 60)!r}."
        raise BadRequest(msg, *hints, f"Links lead from {home.name} to: {able}.")
    if target and name and kinds[name] != target.name:
        msg = f"{name} leads to {kinds[name]}, not to {target.name}."
        raise BadRequest(msg, f"Leave out link_name, or link to {kinds[name]}.")
    if target and target.name not in kinds.values():
        msg = f"No links lead from {home.name} to {target.name}."
        raise BadRequest(msg, f"They lead to: {able}.")


def _links(
    home: Database, target: str, name: str, uids: Sequence[str], sets: Sequence[LinkSet],
    start: int, most: int,
) -> Links:  # fmt: skip
    found = _by_identifier(uids, sets)
    wanted = {
        uid: [row for row in one.lists if not name or row.name == name]
        for uid, one in found.items()
    }
    longest = max((len(row.uids) for rows in wanted.values() for row in rows), default=0)
    unanswered = [
        f"{uid}: {shortened(one.trouble, 200)}" for uid, one in found.items() if one.trouble
    ]
    unanswered += [f"{uid}: NCBI said nothing of its links" for uid in uids if uid not in found]
    records = tuple(
        LinksOfOne(uid, tuple(_page(row, start, most) for row in wanted[uid]))
        for uid in uids
        if uid in wanted
    )
    more = start + most < longest
    return Links(
        home.name, target, name, records, start, start + most if more else None, tuple(unanswered)
    )


def _by_identifier(uids: Sequence[str], sets: Sequence[LinkSet]) -> dict[str, LinkSet]:
    """The link set of each identifier: the one that names it, else the one at its place."""
    by_word = {uid: one for one in sets for uid in one.uids if len(one.uids) == 1}
    in_order = dict(zip(uids, sets, strict=True)) if len(sets) == len(uids) else {}
    found = {uid: by_word.get(uid) or in_order.get(uid) for uid in uids}
    return {uid: one for uid, one in found.items() if one is not None}


def _page(row: LinkList, start: int, most: int) -> Linked:
    if row.menu:
        return Linked(row.name, row.database, None, (), title=row.menu)
    scores = row.scores[start : start + most] if any(s is not None for s in row.scores) else ()
    ids = row.uids[start : start + most]
    return Linked(row.name, row.database, len(row.uids), ids, scores)
