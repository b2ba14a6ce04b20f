"""Match the rows of a decision file to the records of a review.

Rows are matched in this order:

1. by Papershelf's key, if the program preserved it;
2. by Rayyan's key, if an earlier import had it;
3. by identifiers;
4. by same-paper matching (`..search.fused_results.group_records`);
5. by the whole title, if only one record has it and the years agree.

A row that matches several records or none is reported, and its decision is not counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from ..judges.titles import count_distinctive_words, split_title_words
from ..lists.decisions import ScreenedRecord
from ..model.paper import Paper
from ..search.fused_results import group_records
from ..system.plain_text import one_line
from .ledger import PairAnswer, ReviewRecord

_MIN_DISTINCTIVE_WORDS = 4  # distinctive words that a title needs to identify a paper
Unmatched = tuple[str, str, str]
"""Place in the file, title, and the reason why the row matches no record."""


@dataclass(frozen=True, slots=True)
class MatchedRows:
    """The matched rows of a file with the keys of their records, and the unmatched rows."""

    rows: tuple[tuple[str, ScreenedRecord], ...]
    unmatched: tuple[Unmatched, ...]


def match_rows(
    rows: Sequence[ScreenedRecord],
    records: Sequence[ReviewRecord],
    rayyan_keys: Mapping[str, str] | None = None,
    answers: Sequence[PairAnswer] = (),
) -> MatchedRows:
    """Find the record of each row; *rayyan_keys* are our keys by the keys of earlier imports.

    Records that are not duplicates by the *answers* of people are told apart.
    """
    ids_by_key = {record.key: record.paper.ids for record in records}
    names: defaultdict[str, set[str]] = defaultdict(set)
    for record in records:
        for name in record.paper.ids.names():
            names[name].add(record.key)
    found: dict[int, str] = {}
    unmatched: dict[int, str] = {}
    for at, row in enumerate(rows):
        earlier = (rayyan_keys or {}).get(row.rayyan_key, "")
        if earlier in ids_by_key and ids_by_key[earlier].clash(row.paper.ids):
            earlier = ""
        key = row.key if row.key in ids_by_key else earlier
        if key in ids_by_key:
            found[at] = key
            continue
        of_names = set().union(*(names.get(name, set()) for name in row.paper.ids.names()))
        if len(of_names) == 1:
            [found[at]] = of_names
        elif of_names:
            unmatched[at] = "its identifiers are those of several records"
    open_ = [at for at in range(len(rows)) if at not in found and at not in unmatched]
    titled = _index_records_by_title(records)
    for at, judged in _match_by_same_paper(rows, open_, records, answers).items():
        key = judged or _find_key_by_title(rows[at].paper, titled)
        if key:
            found[at] = key
        else:
            unmatched[at] = "no record of this review has its title and authors"
    unmatched |= _remove_unknown_pairs(rows, found, ids_by_key)
    return MatchedRows(
        tuple((found[at], rows[at]) for at in sorted(found)),
        tuple(
            (rows[at].where, one_line(rows[at].paper.title)[:300], unmatched[at])
            for at in sorted(unmatched)
        ),
    )


def _remove_unknown_pairs(
    rows: Sequence[ScreenedRecord], found: dict[int, str], keys: Collection[str]
) -> dict[int, str]:
    """Remove answers about pairs without a second record from *found*; return the reasons."""
    why = "its column duplicate_of does not name another record of this review"
    unknown = {
        at: why
        for at, key in found.items()
        for one in rows[at].decisions
        if one.stage == "duplicates" and (one.reasons[0] == key or one.reasons[0] not in keys)
    }
    for at in unknown:
        del found[at]
    return unknown


def _match_by_same_paper(
    rows: Sequence[ScreenedRecord],
    open_: Sequence[int],
    records: Sequence[ReviewRecord],
    answers: Sequence[PairAnswer],
) -> dict[int, str]:
    """Return the keys of rows by same-paper matching; empty for a row without a match."""
    if not open_:
        return {}
    papers = [_strip_abstract(record.paper) for record in records]
    papers += [_strip_abstract(rows[at].paper) for at in open_]
    found: dict[int, str] = dict.fromkeys(open_, "")
    apart = list_pairs_apart([record.key for record in records], answers)
    for group in group_records(papers, apart).groups:
        ours = [records[at].key for at in group if at < len(records)]
        theirs = [open_[at - len(records)] for at in group if at >= len(records)]
        if len(ours) == 1:
            found |= dict.fromkeys(theirs, ours[0])
    return found


def _index_records_by_title(
    records: Sequence[ReviewRecord],
) -> dict[tuple[str, ...], list[ReviewRecord]]:
    """Index records by the words of their titles; short titles are left out."""
    found: defaultdict[tuple[str, ...], list[ReviewRecord]] = defaultdict(list)
    for record in records:
        if count_distinctive_words(record.paper.title) >= _MIN_DISTINCTIVE_WORDS:
            found[tuple(split_title_words(record.paper.title))].append(record)
    return found


def _find_key_by_title(
    paper: Paper, titled: Mapping[tuple[str, ...], Sequence[ReviewRecord]]
) -> str:
    """Return the key of the only record with this title; empty if year or identifiers differ."""
    same = titled.get(tuple(split_title_words(paper.title)), ())
    if len(same) != 1:
        return ""
    [record] = same
    years = {paper.year, record.paper.year} - {""}
    return "" if len(years) > 1 or record.paper.ids.clash(paper.ids) else record.key


def list_pairs_apart(keys: Sequence[str], answers: Sequence[PairAnswer]) -> set[tuple[int, int]]:
    """Return the places of each two records that are not duplicates, as people answered."""
    places = {key: at for at, key in enumerate(keys)}
    pairs = [(one.key, one.other) for one in answers if one.choice == "not_duplicate"]
    known = [pair for pair in pairs if {*pair} <= places.keys()]
    return {(min(a, b), max(a, b)) for a, b in ((places[a], places[b]) for a, b in known)}


def _strip_abstract(paper: Paper) -> Paper:
    """Return the paper without abstract and keywords, which matching does not need."""
    return replace(paper, abstract="", other_abstracts=(), mesh=(), keywords=())
