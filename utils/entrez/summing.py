"""Summaries: records in brief as fields, in pages of a bounded size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..sources.eutils.docsums import SILENT, Summaries
from ..sources.eutils.esummary import esummary
from ..system.plain_text import plain_json
from ..web import Web
from .asked import Missing, Part, Selection, require_between
from .fetching import MOST_CHARS, uids_by_name
from .histories import explain_expiry

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


def summary(
    selection: Selection, web: Web, *, start: int, most: int, max_chars: int
) -> SummaryPage:
    """See `.Entrez.summary`."""
    hint = "Page with next_start, or stage the records and ask them in SQL."
    require_between("most", most, 1, MOST_SUMMARIES, hint)
    require_between("max_chars", max_chars, 200, MOST_CHARS, hint)
    require_between("start", start, 0, max(0, selection.total - 1), "start counts from 0.")
    part = selection.part(start, most)
    found = fetch_summaries(selection, part, web)
    uids, names = part.uids or found.uids[: part.size], uids_by_name(found.records)
    shown: list[Summary] = []
    missing: list[Missing] = []
    room, taken = max_chars, 0
    for name in uids:
        uid = names.get(name.upper(), "")
        if uid:
            one = _summary_within(uid, name, found.records[uid], room if shown else max_chars)
            if shown and one.left_out:
                break
            room -= len(plain_json(one.fields))
            shown.append(one)
        else:
            missing.append(Missing(name, found.refused.get(name) or SILENT))
        taken += 1
    end = start + (taken if taken < len(uids) else part.size)
    return SummaryPage(
        selection.database.name, selection.total, start, tuple(shown),
        end if end < selection.total else None, tuple(missing), _shortfall_warning(part, len(uids)),
    )  # fmt: skip


def fetch_summaries(selection: Selection, part: Part, web: Web) -> Summaries:
    """ESummary's answer to a part.

    Raises
    ------
    NotFound
        NCBI has forgotten the history.
    Unreachable
        NCBI did not answer.
    """
    params = {"db": selection.database.name, "retmode": "json", "version": "2.0", **part.params}
    with explain_expiry(selection.place):
        return esummary(params, web)


def _shortfall_warning(part: Part, received: int) -> tuple[str, ...]:
    """A warning where a page of the history came shorter than it is."""
    lack = part.size - received
    return (
        (f"NCBI sent {received:,} of the {part.size:,} summaries of this page.",)
        if lack > 0
        else ()
    )


def _summary_within(uid: str, name: str, row: Mapping[str, Any], room: int) -> Summary:
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
