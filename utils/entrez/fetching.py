"""Records of any database as they are: fetched, counted, and the missing ones named.

EFetch leaves out what it does not know without a word. Where fewer records came than were asked
for, ESummary is asked which of them it knows; where that cannot be told, it is said.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..errors import BadContent, EntrezFailed, Miss, NotOffered, Unreachable
from ..sources.eutils.efetch import efetch
from ..sources.eutils.esummary import esummary
from ..sources.loose_json import mapping, text
from ..system.plain_text import plain_json
from ..web import Answer, Web
from .asked import Asked, Missing, Part, require_between
from .databases import Form
from .histories import forgotten, is_forgotten
from .record_texts import Records, split_records, stretch

MOST_RECORDS = 200
MOST_CHARS = 1_000_000
_MOST_SUMMARIES = 500
_REMEMBERED_DAYS = 0.1
_LARGEST_KEPT = 20_000_000
_UNKNOWN = "NCBI knows no such record"


@dataclass(frozen=True, slots=True)
class Fetch:
    """A bounded stretch of records as text.

    ``text`` holds ``records`` whole records; ``cut`` says that it ends within one. ``next_start``
    and ``next_offset`` ask for what follows, with the same identifiers and the same ``most``;
    ``next_start`` is None at the end. ``not_found`` are identifiers without a record.
    """

    database: str
    rettype: str
    retmode: str
    gives: str
    total: int
    start: int
    text: str
    records: int
    cut: bool
    next_start: int | None
    next_offset: int
    not_found: tuple[Missing, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Came:
    """What came for a part: bodies as they were sent, their records, and what did not come."""

    bodies: tuple[bytes, ...]
    records: Records
    not_found: tuple[Missing, ...] = ()
    warnings: tuple[str, ...] = ()


def fetch(
    which: Asked, form: Form, web: Web, *, start: int, most: int, offset: int, max_chars: int
) -> Fetch:
    """See `.Entrez.fetch`."""
    hint = "Page with next_start, or stage the records and ask them in SQL."
    require_between("most", most, 1, MOST_RECORDS, hint)
    require_between("max_chars", max_chars, 200, MOST_CHARS, hint)
    require_between("start", start, 0, max(0, which.total - 1), "start counts from 0.")
    part = which.part(start, most)
    came = _remembered(which, part, form, web) or brought(which, part, form, web)
    size = sum(map(len, came.records.pieces))
    require_between("offset", offset, 0, size, "Use next_offset as it was given.")
    shown = stretch(came.records, offset, max_chars)
    if (more := shown.end < size) and not came.warnings:
        _remember(which, part, form, came, web)
    end = start + part.size
    return Fetch(
        which.database.name, form.rettype, form.retmode, form.gives, which.total, start,
        shown.text, shown.whole, shown.cut,
        start if more else end if end < which.total else None,
        shown.end if more else 0,
        came.not_found, came.warnings,
    )  # fmt: skip


def brought(which: Asked, part: Part, form: Form, web: Web) -> Came:
    """The records of a part; an answer that is too large is asked for in halves.

    Raises
    ------
    EntrezFailed
        The database refuses, or one record alone is too large.
    NotFound
        NCBI has forgotten the history.
    Unreachable
        NCBI did not answer, or not with records.
    """
    try:
        return _in_one(which, part, form, web)
    except BadContent as error:
        if part.size == 1:
            msg = f"A record of {which.database.name} is too large: {error.message}"
            raise EntrezFailed(msg, "Ask for another rettype, or for its summary.") from None
    halves = [brought(which, half, form, web) for half in halved(part)]
    return _joined(halves)


def halved(part: Part) -> tuple[Part, Part]:
    """The same records in two requests."""
    half = part.size // 2
    if part.uids:
        parts = part.uids[:half], part.uids[half:]
        first, second = (Part({"id": ",".join(uids)}, uids, len(uids)) for uids in parts)
        return first, second
    start = part.params["retstart"]
    return (
        replace(part, params={**part.params, "retmax": half}, size=half),
        replace(
            part,
            params={**part.params, "retstart": start + half, "retmax": part.size - half},
            size=part.size - half,
        ),
    )


def _joined(halves: Sequence[Came]) -> Came:
    first, second = halves
    both = replace(
        first.records if first.records.head else second.records,
        pieces=first.records.pieces + second.records.pieces,
    )
    warnings = tuple(dict.fromkeys(first.warnings + second.warnings))
    return Came(first.bodies + second.bodies, both, first.not_found + second.not_found, warnings)


def _in_one(which: Asked, part: Part, form: Form, web: Web) -> Came:
    found = [Records(())]

    def read(answer: Answer) -> None:
        found[:] = [split_records(answer, form)]

    how = {"rettype": form.rettype, "retmode": form.retmode, **dict(form.also)}
    try:
        answer = efetch(which.database.name, part.params, how, web, read)
    except Unreachable as error:
        if which.place and is_forgotten(error):
            raise forgotten(which.place) from None
        raise
    except NotOffered as refused:
        return _without_unknown(which, part, form, web, refused)
    if answer is None:
        return Came((), Records(()), tuple(Missing(uid, _UNKNOWN) for uid in part.uids))
    came = _accounted_for(which, part, Came((answer.body,), found[0]), web)
    return replace(came, warnings=came.warnings + _another_form(found[0], form))


def _another_form(records: Records, form: Form) -> tuple[str, ...]:
    """A word on records that came in another form: NCBI falls back in silence."""
    if not records.pieces or not records.root or records.root in form.gives:
        return ()
    return (f"NCBI sent <{records.root}> in place of {form.gives}.",)


def _without_unknown(which: Asked, part: Part, form: Form, web: Web, refused: NotOffered) -> Came:
    """A list that was refused for one of its identifiers, without those nobody knows."""
    unknown = unknown_ids(which, part.uids, web) if refused.details.get("status") == 400 else ()
    if not unknown:
        msg = f"{which.database.name} refused {form.name}: {refused.message}"
        raise EntrezFailed(msg, "Check the identifiers and the rettype.", *refused.hints)
    names = {one.id for one in unknown}
    if not (rest := tuple(uid for uid in part.uids if uid not in names)):
        return Came((), Records(()), unknown)
    came = brought(which, Part({"id": ",".join(rest)}, rest, len(rest)), form, web)
    return replace(came, not_found=unknown + came.not_found)


def _accounted_for(which: Asked, part: Part, came: Came, web: Web) -> Came:
    """What came, with a word on what did not."""
    records = came.records
    told = {uid.upper(): reason for uid, reason in records.refused.items()}
    missing = tuple(Missing(uid, told[uid]) for uid in part.uids if uid in told)
    lack = part.size - len(missing) - len(records.pieces)
    if records.counted and lack <= 0:
        return replace(came, not_found=missing)
    if not part.uids:
        words = f"{lack:,} of {part.size:,} records did not come; the history does not tell which."
        return replace(came, warnings=(words,) if records.counted and lack else ())
    rest = [uid for uid in part.uids if uid not in told]
    try:
        unknown = unknown_ids(which, rest, web)
    except Miss as error:
        words = f"Could not tell whether all identifiers have a record: {error.message}"
        return replace(came, not_found=missing, warnings=(words,))
    unsure = records.counted and lack > len(unknown)
    if unsure and not records.pieces:
        msg = f"NCBI sent no records of {which.database.name}, though it has summaries of them."
        raise Unreachable(msg, "Try again in a minute, or ask for another rettype.")
    words = f"{lack - len(unknown):,} records did not come, though NCBI has summaries of them."
    return replace(came, not_found=missing + unknown, warnings=(words,) if unsure else ())


def unknown_ids(which: Asked, uids: Sequence[str], web: Web) -> tuple[Missing, ...]:
    """Those of the identifiers that ESummary does not know either."""
    return looked_up(which.database.name, uids, web)[1]


def looked_up(
    database: str, names: Sequence[str], web: Web
) -> tuple[dict[str, str], tuple[Missing, ...]]:
    """The UID behind each identifier, as ESummary knows it, and those it does not know."""
    uids: dict[str, str] = {}
    unknown: list[Missing] = []
    for at in range(0, len(names), _MOST_SUMMARIES):
        batch = names[at : at + _MOST_SUMMARIES]
        found = esummary({"db": database, "retmode": "json", "id": ",".join(batch)}, web)
        known = known_names(found.records)
        uids |= {name: known[name] for name in batch if name in known}
        unknown += [
            Missing(name, found.refused.get(name) or _UNKNOWN)
            for name in batch
            if name not in known
        ]
    return uids, tuple(unknown)


def known_names(records: dict[str, dict[str, object]]) -> dict[str, str]:
    """The UID behind every name a record may have been asked for by."""
    named: dict[str, str] = {}
    for uid, row in records.items():
        for name in (row.get("accessionversion"), row.get("caption"), row.get("gi"), uid):
            if words := text(name):
                named[words.upper()] = uid
    return named


def _key(which: Asked, part: Part, form: Form) -> str:
    told = plain_json([which.database.name, form.name, sorted(part.params.items())])
    return hashlib.sha256(told.encode()).hexdigest()


def _remember(which: Asked, part: Part, form: Form, came: Came, web: Web) -> None:
    """Keep an answer of which more will be asked for, unless something in it could not be told."""
    if sum(map(len, came.records.pieces)) > _LARGEST_KEPT:
        return
    kept = {
        "pieces": list(came.records.pieces),
        "ends": [came.records.head, came.records.tail],
        "missing": [[one.id, one.reason] for one in came.not_found],
    }
    web.memory.keep("efetch", _key(which, part, form), kept, _REMEMBERED_DAYS)


def _remembered(which: Asked, part: Part, form: Form, web: Web) -> Came | None:
    kept = mapping(web.memory.recall("efetch", _key(which, part, form)))
    try:
        head, tail = map(str, kept["ends"])
        records = Records(tuple(map(str, kept["pieces"])), head, tail)
        missing = tuple(Missing(str(uid), str(reason)) for uid, reason in kept["missing"])
        return Came((), records, missing)
    except (LookupError, TypeError, ValueError):  # nothing, or what another version kept
        return None
