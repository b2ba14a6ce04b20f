"""What every database says of its records in brief, as fields; never more than asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import Unreachable
from ..sources.eutils.docsums import SILENT, Summaries
from ..sources.eutils.esummary import esummary
from ..system.plain_text import plain_json
from ..web import Web
from .asked import Asked, Missing, Part, require_between
from .fetching import MOST_CHARS, known_names
from .histories import forgotten, is_forgotten

MOST_SUMMARIES = 500


@dataclass(frozen=True, slots=True)
class Summary:
    """A record in brief: ``fields`` are the database's own, ``left_out`` those that had no room.

    ``asked`` is the identifier it was asked for by, where that is not its UID.
    """

    uid: str
    asked: str
    fields: Mapping[str, Any]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SummaryPage:
    """Records in brief, in the order asked for; ``next_start`` is where the next page begins."""

    database: str
    total: int
    start: int
    records: tuple[Summary, ...]
    next_start: int | None
    not_found: tuple[Missing, ...]
    warnings: tuple[str, ...] = ()


def summary(which: Asked, web: Web, *, start: int, most: int, max_chars: int) -> SummaryPage:
    """See `.Entrez.summary`."""
    hint = "Page with next_start, or stage the records and ask them in SQL."
    require_between("most", most, 1, MOST_SUMMARIES, hint)
    require_between("max_chars", max_chars, 200, MOST_CHARS, hint)
    require_between("start", start, 0, max(0, which.total - 1), "start counts from 0.")
    part = which.part(start, most)
    found = summed(which, part, web)
    uids, names = part.uids or found.uids[: part.size], known_names(found.records)
    shown: list[Summary] = []
    missing: list[Missing] = []
    room, taken = max_chars, 0
    for name in uids:
        uid = names.get(name.upper(), "")
        if uid:
            one = _brief(uid, name, found.records[uid], room if shown else max_chars)
            if shown and one.left_out:
                break
            room -= len(plain_json(one.fields))
            shown.append(one)
        else:
            missing.append(Missing(name, found.refused.get(name) or SILENT))
        taken += 1
    end = start + (taken if taken < len(uids) else part.size)
    return SummaryPage(
        which.database.name, which.total, start, tuple(shown), end if end < which.total else None,
        tuple(missing), _lacking(part, len(uids)),
    )  # fmt: skip


def summed(which: Asked, part: Part, web: Web) -> Summaries:
    """ESummary's answer to a part.

    Raises
    ------
    NotFound
        NCBI has forgotten the history.
    Unreachable
        NCBI did not answer.
    """
    asked = {"db": which.database.name, "retmode": "json", "version": "2.0", **part.params}
    try:
        return esummary(asked, web)
    except Unreachable as error:
        if which.place and is_forgotten(error):
            raise forgotten(which.place) from None
        raise


def _lacking(part: Part, came: int) -> tuple[str, ...]:
    """A word on a page of the history that came shorter than it is."""
    lack = part.size - came
    return (f"NCBI sent {came:,} of the {part.size:,} summaries of this page.",) if lack > 0 else ()


def _brief(uid: str, name: str, row: Mapping[str, Any], room: int) -> Summary:
    """The fields of a record, one after the other, as long as there is room."""
    fields: dict[str, Any] = {}
    left_out = []
    for key, value in row.items():
        size = len(plain_json({key: value}))
        if size <= room:
            fields[key] = value
            room -= size
        else:
            left_out.append(key)
    return Summary(uid, "" if name == uid else name, fields, tuple(left_out))
