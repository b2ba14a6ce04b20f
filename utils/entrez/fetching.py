"""Fetch records of any database as they are, and name the missing ones.

EFetch leaves out unknown identifiers silently. Where fewer records came than were requested,
ESummary is asked which of them it knows; where that stays unknown, a warning says so.
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
from .asked import Missing, Part, Selection, require_between
from .databases import Form
from .histories import explain_expiry
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
class FetchedPart:
    """The answer to a part: bodies as they were sent, their records, and the missing ones."""

    bodies: tuple[bytes, ...]
    records: Records
    not_found: tuple[Missing, ...] = ()
    warnings: tuple[str, ...] = ()


def fetch(
    selection: Selection,
    form: Form,
    web: Web,
    *,
    start: int,
    most: int,
    offset: int,
    max_chars: int,
) -> Fetch:
    """See `.Entrez.fetch`."""
    hint = "Page with next_start, or stage the records and ask them in SQL."
    require_between("most", most, 1, MOST_RECORDS, hint)
    require_between("max_chars", max_chars, 200, MOST_CHARS, hint)
    require_between("start", start, 0, max(0, selection.total - 1), "start counts from 0.")
    part = selection.part(start, most)
    fetched = _recall(selection, part, form, web) or fetch_part(selection, part, form, web)
    size = sum(map(len, fetched.records.pieces))
    require_between("offset", offset, 0, size, "Use next_offset as it was given.")
    shown = stretch(fetched.records, offset, max_chars)
    if (more := shown.end < size) and not fetched.warnings:
        _remember(selection, part, form, fetched, web)
    end = start + part.size
    return Fetch(
        selection.database.name, form.rettype, form.retmode, form.gives, selection.total, start,
        shown.text, shown.whole, shown.cut,
        start if more else end if end < selection.total else None,
        shown.end if more else 0,
        fetched.not_found, fetched.warnings,
    )  # fmt: skip


def fetch_part(selection: Selection, part: Part, form: Form, web: Web) -> FetchedPart:
    """The records of a part; where the answer is too large, fetched in halves.

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
        return _fetch_at_once(selection, part, form, web)
    except BadContent as error:
        if part.size == 1:
            msg = f"A record of {selection.database.name} is too large: {error.message}"
            raise EntrezFailed(msg, "Ask for another rettype, or for its summary.") from None
    return _join([fetch_part(selection, half, form, web) for half in halved(part)])


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


def _join(halves: Sequence[FetchedPart]) -> FetchedPart:
    first, second = halves
    both = replace(
        first.records if first.records.head else second.records,
        pieces=first.records.pieces + second.records.pieces,
    )
    warnings = tuple(dict.fromkeys(first.warnings + second.warnings))
    return FetchedPart(
        first.bodies + second.bodies, both, first.not_found + second.not_found, warnings
    )


def _fetch_at_once(selection: Selection, part: Part, form: Form, web: Web) -> FetchedPart:
    found = [Records(())]

    def read(answer: Answer) -> None:
        found[:] = [split_records(answer, form)]

    how = {"rettype": form.rettype, "retmode": form.retmode, **dict(form.also)}
    try:
        with explain_expiry(selection.place):
            answer = efetch(selection.database.name, part.params, how, web, read)
    except NotOffered as refusal:
        return _fetch_without_unknown(selection, part, form, web, refusal)
    if answer is None:
        return FetchedPart((), Records(()), tuple(Missing(uid, _UNKNOWN) for uid in part.uids))
    fetched = _account_for_missing(selection, part, FetchedPart((answer.body,), found[0]), web)
    return replace(fetched, warnings=fetched.warnings + _form_warnings(found[0], form))


def _form_warnings(records: Records, form: Form) -> tuple[str, ...]:
    """A warning where records came in another form: NCBI falls back in silence."""
    if not records.pieces or not records.root or records.root in form.gives:
        return ()
    return (f"NCBI sent <{records.root}> in place of {form.gives}.",)


def _fetch_without_unknown(
    selection: Selection, part: Part, form: Form, web: Web, refused: NotOffered
) -> FetchedPart:
    """Fetch a part that was refused for an identifier nobody knows, without those."""
    unknown = (
        find_unknown_ids(selection, part.uids, web) if refused.details.get("status") == 400 else ()
    )
    if not unknown:
        msg = f"{selection.database.name} refused {form.name}: {refused.message}"
        raise EntrezFailed(msg, "Check the identifiers and the rettype.", *refused.hints)
    names = {one.id for one in unknown}
    if not (rest := tuple(uid for uid in part.uids if uid not in names)):
        return FetchedPart((), Records(()), unknown)
    fetched = fetch_part(selection, Part({"id": ",".join(rest)}, rest, len(rest)), form, web)
    return replace(fetched, not_found=unknown + fetched.not_found)


def _account_for_missing(
    selection: Selection, part: Part, fetched: FetchedPart, web: Web
) -> FetchedPart:
    """Name the records that did not come, or warn that some are missing."""
    records = fetched.records
    reasons = {uid.upper(): reason for uid, reason in records.refused.items()}
    missing = tuple(Missing(uid, reasons[uid]) for uid in part.uids if uid in reasons)
    lack = part.size - len(missing) - len(records.pieces)
    if records.counted and lack <= 0:
        return replace(fetched, not_found=missing)
    if not part.uids:
        warning = (
            f"{lack:,} of {part.size:,} records did not come; the history does not tell which."
        )
        return replace(fetched, warnings=(warning,) if records.counted and lack else ())
    rest = [uid for uid in part.uids if uid not in reasons]
    try:
        unknown = find_unknown_ids(selection, rest, web)
    except Miss as error:
        warning = f"Could not tell whether all identifiers have a record: {error.message}"
        return replace(fetched, not_found=missing, warnings=(warning,))
    unsure = records.counted and lack > len(unknown)
    if unsure and not records.pieces:
        msg = f"NCBI sent no records of {selection.database.name}, though it has summaries of them."
        raise Unreachable(msg, "Try again in a minute, or ask for another rettype.")
    warning = f"{lack - len(unknown):,} records did not come, though NCBI has summaries of them."
    return replace(fetched, not_found=missing + unknown, warnings=(warning,) if unsure else ())


def find_unknown_ids(selection: Selection, uids: Sequence[str], web: Web) -> tuple[Missing, ...]:
    """The identifiers that ESummary does not know either."""
    return look_up(selection.database.name, uids, web)[1]


def look_up(
    database: str, names: Sequence[str], web: Web
) -> tuple[dict[str, str], tuple[Missing, ...]]:
    """The UID behind each identifier, as ESummary knows it, and those it does not know."""
    uids: dict[str, str] = {}
    unknown: list[Missing] = []
    for at in range(0, len(names), _MOST_SUMMARIES):
        batch = names[at : at + _MOST_SUMMARIES]
        found = esummary({"db": database, "retmode": "json", "id": ",".join(batch)}, web)
        known = uids_by_name(found.records)
        uids |= {name: known[name] for name in batch if name in known}
        unknown += [
            Missing(name, found.refused.get(name) or _UNKNOWN)
            for name in batch
            if name not in known
        ]
    return uids, tuple(unknown)


def uids_by_name(records: dict[str, dict[str, object]]) -> dict[str, str]:
    """The UID by every identifier a record may have been requested by."""
    uids: dict[str, str] = {}
    for uid, row in records.items():
        for value in (row.get("accessionversion"), row.get("caption"), row.get("gi"), uid):
            if name := text(value):
                uids[name.upper()] = uid
    return uids


def _key(selection: Selection, part: Part, form: Form) -> str:
    request = plain_json([selection.database.name, form.name, sorted(part.params.items())])
    return hashlib.sha256(request.encode()).hexdigest()


def _remember(selection: Selection, part: Part, form: Form, fetched: FetchedPart, web: Web) -> None:
    """Keep an answer that will be read on, unless it is too large."""
    if sum(map(len, fetched.records.pieces)) > _LARGEST_KEPT:
        return
    kept = {
        "pieces": list(fetched.records.pieces),
        "ends": [fetched.records.head, fetched.records.tail],
        "missing": [[one.id, one.reason] for one in fetched.not_found],
    }
    web.memory.keep("efetch", _key(selection, part, form), kept, _REMEMBERED_DAYS)


def _recall(selection: Selection, part: Part, form: Form, web: Web) -> FetchedPart | None:
    kept = mapping(web.memory.recall("efetch", _key(selection, part, form)))
    try:
        head, tail = map(str, kept["ends"])
        records = Records(tuple(map(str, kept["pieces"])), head, tail)
        missing = tuple(Missing(str(uid), str(reason)) for uid, reason in kept["missing"])
        return FetchedPart((), records, missing)
    except (LookupError, TypeError, ValueError):  # nothing, or what another version kept
        return None
