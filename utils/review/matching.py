"""Which record of a review a row of a decision file is.

By our key, where the program kept it; else by identifiers; else by the judge of same papers; else
by the whole title, where a single record has it and the years agree: some programs hand out little
more. A row that could be several records, or none, is named, and decides nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..judges.titles import telling_words, title_words
from ..lists.decisions import ScreenedRecord
from ..model.paper import Paper
from ..search.fused_results import group_records
from ..system.plain_text import one_line
from .ledger import Record

_TELLING = 4  # words of a title that stand for a paper
Unmatched = tuple[str, str, str]
"""Place in the file, title, and why it is no record of the review."""


@dataclass(frozen=True, slots=True)
class Matched:
    """The rows of a file by the keys of records, and those that are none."""

    rows: tuple[tuple[str, ScreenedRecord], ...]
    unmatched: tuple[Unmatched, ...]


def match(rows: Sequence[ScreenedRecord], records: Sequence[Record]) -> Matched:
    """Find the record of each row."""
    keys = {record.key for record in records}
    names: defaultdict[str, set[str]] = defaultdict(set)
    for record in records:
        for name in record.paper.ids.names():
            names[name].add(record.key)
    found: dict[int, str] = {}
    unmatched: dict[int, str] = {}
    for at, row in enumerate(rows):
        if row.key in keys:
            found[at] = row.key
            continue
        of_names = set().union(*(names.get(name, set()) for name in row.paper.ids.names()))
        if len(of_names) == 1:
            [found[at]] = of_names
        elif of_names:
            unmatched[at] = "its identifiers are those of several records"
    open_ = [at for at in range(len(rows)) if at not in found and at not in unmatched]
    titled = _by_title(records)
    for at, judged in _judged(rows, open_, records).items():
        key = judged or _titled(rows[at].paper, titled)
        if key:
            found[at] = key
        else:
            unmatched[at] = "it is no record of this review, as far as title and authors tell"
    return Matched(
        tuple((found[at], rows[at]) for at in sorted(found)),
        tuple(
            (rows[at].where, one_line(rows[at].paper.title)[:300], unmatched[at])
            for at in sorted(unmatched)
        ),
    )


def _judged(
    rows: Sequence[ScreenedRecord], open_: Sequence[int], records: Sequence[Record]
) -> dict[int, str]:
    """The keys of rows by the judge of same papers; empty where none is the same."""
    if not open_:
        return {}
    papers = [_bare(record.paper) for record in records]
    papers += [_bare(rows[at].paper) for at in open_]
    found: dict[int, str] = dict.fromkeys(open_, "")
    for group in group_records(papers).groups:
        ours = [records[at].key for at in group if at < len(records)]
        theirs = [open_[at - len(records)] for at in group if at >= len(records)]
        if len(ours) == 1:
            found |= dict.fromkeys(theirs, ours[0])
    return found


def _by_title(records: Sequence[Record]) -> dict[tuple[str, ...], list[Record]]:
    """Records by the words of their titles; titles that tell little are left out."""
    found: defaultdict[tuple[str, ...], list[Record]] = defaultdict(list)
    for record in records:
        if telling_words(record.paper.title) >= _TELLING:
            found[tuple(title_words(record.paper.title))].append(record)
    return found


def _titled(paper: Paper, titled: Mapping[tuple[str, ...], Sequence[Record]]) -> str:
    """The key of the one record with this title, unless year or identifiers speak against it."""
    same = titled.get(tuple(title_words(paper.title)), ())
    if len(same) != 1:
        return ""
    [record] = same
    years = {paper.year, record.paper.year} - {""}
    return "" if len(years) > 1 or record.paper.ids.clash(paper.ids) else record.key


def _bare(paper: Paper) -> Paper:
    return replace(paper, abstract="", other_abstracts=(), mesh=(), keywords=())
