"""Rebuild a corpus from a lock file: harvest its papers, and report the differences.

A lock file (`..reports.lock_file`) holds identifiers and checksums. A harvest of its papers fetches
the texts that the sites offer today. A text may differ because its source sends another text,
because it came from another source, or because a newer reader writes it differently.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ..download.ladder import Ladder
from ..lists.pasted import ListEntry
from ..model.identifiers import Ids
from ..model.job import Harvested
from ..reports import (
    CorpusDifferences,
    CorpusLock,
    IdsIndex,
    LockedPaper,
    PaperDifference,
    compare_lock,
)
from ..shelf.ledger import Ledger
from ..system.plain_text import one_line, to_spreadsheet_cell
from ..system.process import get_version
from ..system.safe_files import make_folder, replace_text_file, write_file
from .jobs import Harvest, open_list_job

TABLE, SUMMARY = "differences.csv", "differences.txt"
COLUMNS = (
    *("change", "why", "pmid", "pmcid", "doi", "arxiv", "title", "kind_then", "kind_now"),
    *("via_then", "via_now", "sha256_then", "sha256_now", "file", "version_then", "version_now"),
)
# In the order of their importance for a reviewer; see `Differences`.
CHANGES = ("retracted", "gone", "lost", "changed", "gained", "new")
_MAX_TITLE_CHARS = 80


@dataclass(frozen=True, slots=True)
class CorpusComparison:
    """The comparison of a rebuilt corpus with its lock.

    Parameters
    ----------
    differences : Differences
    still_abstract : int
        Papers without full text in the lock and in the harvest.
    sentences : tuple of str
        The comparison in sentences, as in ``differences.txt``.
    table : Path
        ``differences.csv``: one row for each change of a paper, with the reason.
    """

    differences: CorpusDifferences
    still_abstract: int
    sentences: tuple[str, ...]
    table: Path


def open_lock_job(lock: CorpusLock, ladder: Ladder) -> Ledger:
    """Return the job that fetches the papers of a lock; the same job each time.

    Raises
    ------
    BadRequest
        The lock lists no papers.
    """
    entries = [ListEntry(_get_requested_identifier(paper), paper.ids) for paper in lock.papers]
    about = one_line(lock.query)[:_MAX_TITLE_CHARS] or f"{len(entries):,} papers"
    return open_list_job(entries, f"{about} as of {one_line(lock.made_at)[:10]}", ladder)


def _get_requested_identifier(paper: LockedPaper) -> str:
    """Return the identifier to request a paper by: a preprint's own, if the lock has one."""
    as_preprint = paper.version == "preprint" and paper.ids.arxiv
    return str(Ids(arxiv=paper.ids.arxiv) if as_preprint else paper.ids)


def compare_with_lock(lock: CorpusLock, harvest: Harvest) -> CorpusComparison:
    """Compare a harvest with the lock it was made from, and write the differences.

    Writes ``differences.csv`` and ``differences.txt`` into the folder of the harvest's report.

    Raises
    ------
    StoreFailed
        A file cannot be written.
    """
    found = compare_lock(lock, harvest.ledger.read_outcomes())
    rows, still = _find_differences(found, lock, harvest)
    found = _mark_unlisted_as_gone(found, rows)
    path = harvest.folder / TABLE
    make_folder(harvest.folder)
    reasons: Counter[str] = Counter()
    with replace_text_file(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for change in CHANGES:
            for difference in getattr(found, change):
                row = rows.find_value(difference.ids)
                why = _explain_change(change, difference, row, lock)
                reasons[why] += change == "changed"
                writer.writerow(
                    map(to_spreadsheet_cell, _build_change_cells(change, why, difference, row))
                )
    sentences = (*found.sentences, *_summarize_reasons(reasons, still))
    text = "".join(f"{sentence}\n" for sentence in sentences)
    write_file(harvest.folder / SUMMARY, text.encode("utf-8", "replace"))
    return CorpusComparison(found, still, sentences, path)


Rows = IdsIndex[Harvested]


def _find_differences(
    found: CorpusDifferences, lock: CorpusLock, harvest: Harvest
) -> tuple[Rows, int]:
    """Return the rows of papers that differ, and the count of papers still without full text."""
    before = IdsIndex((was.ids, was) for was in lock.papers)
    wanted = {
        name
        for change in CHANGES
        for difference in getattr(found, change)
        for name in difference.ids.names()
    }
    rows: list[tuple[Ids, Harvested]] = []
    still = 0
    for row in harvest.ledger.read_outcomes():
        ids = row.paper.ids
        was = before.find_value(ids) if row.state in ("abstract", "record") else None
        still += was is not None and was.kind in ("abstract", "record")
        if not wanted.isdisjoint(ids.names()):
            rows.append((ids, row))
    return IdsIndex(rows), still


def _mark_unlisted_as_gone(found: CorpusDifferences, rows: Rows) -> CorpusDifferences:
    """Move papers that no source lists any more from *lost* to *gone*."""

    def is_unknown_to_sources(difference: PaperDifference) -> bool:
        row = rows.find_value(difference.ids)
        return row is not None and row.reason == "not_found"

    gone = tuple(filter(is_unknown_to_sources, found.lost))
    lost = tuple(difference for difference in found.lost if difference not in gone)
    return replace(found, lost=lost, gone=(*found.gone, *gone))


def _explain_change(
    change: str, difference: PaperDifference, row: Harvested | None, lock: CorpusLock
) -> str:
    """Return the reason for a change in a few words, as far as lock and harvest show it."""
    was, now = difference.before, difference.after
    if change == "changed" and was and now:
        if was.version and now.version and was.version != now.version:
            return f"another version: {was.version} then, {now.version} now"
        if was.via and was.via != now.via:
            return f"another source: {was.via} then, {now.via} now"
        if lock.made_by and lock.made_by != f"Papershelf {get_version()}":
            return f"another reader ({lock.made_by} then), or a changed text at the source"
        return "a changed text at the source" if was.via else "not known"
    if change == "retracted" and row:
        notices = (n.reference for n in row.paper.notices if n.kind == "retraction")
        return one_line(next(notices, "") or "retracted since")
    if change == "gained" and now:
        return f"by {now.via}" if now.via else "a more complete text now"
    if change == "new":
        return "not in the lock"
    return one_line(row.detail or row.reason) if row else "not part of this harvest"


def _build_change_cells(
    change: str, why: str, difference: PaperDifference, row: Harvested | None
) -> Iterator[str]:
    """Yield the cells of a change's row, in the order of `COLUMNS`."""
    was, now = difference.before or LockedPaper(Ids()), difference.after or LockedPaper(Ids())
    ids = difference.ids
    yield from (change, why, ids.pmid, ids.pmcid, ids.doi)
    yield (
        f"arXiv:{ids.arxiv}" if ids.arxiv else ""
    )  # so that a spreadsheet does not read 2511.0410 as a number
    yield row.paper.title if row else ""
    yield from (was.kind, now.kind, was.via, now.via, was.sha256, now.sha256)
    yield row.file if row else ""
    yield from (was.version, now.version)


def _summarize_reasons(reasons: Counter[str], still: int) -> Iterator[str]:
    """Yield a sentence for each reason of changed texts, and one for papers without full text."""
    for why, n in reasons.most_common():
        if n:
            yield f"{n:,} {'text differs' if n == 1 else 'texts differ'} – {why}."
    if still:
        yield f"{still:,} {'is' if still == 1 else 'are'} still without full text."
