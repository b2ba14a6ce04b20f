"""Compaction: merge PMC's small bundles, and the parts made of them, into few larger ones.

Each update of a mirror of PMC adds at least one bundle, however few articles changed. Later updates
replace most of its rows in time. So thousands of small files with few current rows would remain.

1. `group_small_files` selects files of which at most half a batch of rows counts, and forms groups
   that fill a batch.
2. `find_kept_rows` selects the rows of each group that are kept: the last one of each article
   version. The row of an article that is gone is kept only while an older row of it lies elsewhere.
3. `merge_files` is a job for any engine. It writes the members of these rows to one bundle, and
   their rows to two parts. These are the bytes that `.texts.read_texts` would make of that bundle,
   so that `mirror verify` can make them again.
4. `merge_small_files` replaces the files of a group by the merged one in one transaction of the
   manifest. The merged file takes the place of the last file of its group.

A run that is killed before step 4 leaves files that nothing refers to; the next update deletes
them. The old files stay until no kept generation refers to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import SourceMiss
from .bundles import Member, get_bundle_md5, read_members, write_bundle
from .engines import Lost, Run
from .generations import explain_query_errors, open_duckdb
from .manifest import KINDS, Manifest, SourceFile
from .objects import ObjectTable
from .parts import describe_parts
from .reading import explain_unreadable
from .texts import ROWS, write_text_parts

if TYPE_CHECKING:
    import pyarrow as pa

MIN_SMALL_FILES = 32
"""Small files from which compaction is worth its time."""
_ORDER = "sequence::BIGINT * 1000000 + position"
_KEPT_ROWS = f"""
    SELECT sequence, position FROM (
        SELECT sequence, position, number, deleted AND state <> 'text' AS is_gone,
               max({_ORDER}) OVER versions = {_ORDER} AS is_last,
               min(number) OVER versions < max(number) OVER versions AS is_elsewhere
        FROM (
            SELECT pmcid, version, sequence, position, deleted, state,
                   coalesce(number, -1) AS number
            FROM read_parquet($parts) LEFT JOIN (
                SELECT unnest($orders) AS sequence, unnest($numbers) AS number
            ) USING (sequence)
        ) WINDOW versions AS (PARTITION BY pmcid, version)
    ) WHERE number >= 0 AND is_last AND (is_elsewhere OR NOT is_gone) ORDER BY sequence, position
"""  # noqa: S608 - of constants


@dataclass(frozen=True, slots=True)
class MergeJob:
    """Files to be merged, and the positions of the rows that are kept of each."""

    mirror: str
    files: tuple[SourceFile, ...]
    positions: tuple[tuple[int, ...], ...]


def merge_small_files(
    folder: Path, files: Sequence[SourceFile], live: Mapping[int, int], size: int, run: Run
) -> None:
    """Merge the small files of a mirror of PMC, if there are many.

    Parameters
    ----------
    folder : Path
        The folder of the mirror.
    files : sequence of SourceFile
        All files that are read, in order.
    live : mapping of int
        The number of rows that count by the order of a file; a file without one counts whole.
    size : int
        The number of rows of a full file.
    run : Run
        The engine.

    Raises
    ------
    StoreFailed
        A part is damaged, or the disk refuses.
    """
    groups = group_small_files(files, live, size)
    if sum(map(len, groups)) < MIN_SMALL_FILES:
        return
    kept = find_kept_rows(folder, files, groups)
    jobs = [
        MergeJob(str(folder), tuple(group), tuple(kept.get(file.order, ()) for file in group))
        for group in groups
        if any(file.order in kept for file in group)
    ]
    for merged in run(merge_files, jobs):
        if not isinstance(merged, Lost) and merged:
            old, new = merged
            ObjectTable(folder).move_to_batch([file.order for file in old], new.order)
            Manifest(folder).replace_files(old, [new])


def group_small_files(
    files: Sequence[SourceFile], live: Mapping[int, int], size: int
) -> list[list[SourceFile]]:
    """Return the small files in order, in groups of about *size* rows; each has several files."""
    groups: list[list[SourceFile]] = [[]]
    rows = 0
    for file in files:
        count = live.get(file.order, file.records + file.deletions)
        if 2 * count <= size:
            if rows + count > size:
                groups.append([])
                rows = 0
            groups[-1].append(file)
            rows += count
    return [group for group in groups if len(group) > 1]


def find_kept_rows(
    folder: Path, files: Sequence[SourceFile], groups: Sequence[Sequence[SourceFile]]
) -> dict[int, tuple[int, ...]]:
    """Return the positions of the rows that a merge keeps, by the order of their file."""
    numbers = {file.order: number for number, group in enumerate(groups) for file in group}
    params = {
        "parts": [str(file.get_part_path(folder)) for file in files],
        "orders": list(numbers),
        "numbers": list(numbers.values()),
    }
    with closing(open_duckdb(folder)) as db, explain_query_errors("The parts"):
        rows = db.execute(_KEPT_ROWS, params).fetchall()
    return {
        order: tuple(position for _, position in some)
        for order, some in groupby(rows, lambda row: row[0])
    }


def merge_files(job: MergeJob) -> tuple[tuple[SourceFile, ...], SourceFile] | None:
    """Write the bundle and the parts of merged files; return the old files and the new one.

    Return None if a bundle or a part is damaged: then its group stays as it is.

    Raises
    ------
    StoreFailed
        The disk refuses.
    """
    folder, last = Path(job.mirror), job.files[-1]
    place, members = folder / "source" / last.source, list[Member]()
    try:
        for file, positions in zip(job.files, job.positions, strict=True):
            rows = [one for one in read_members(place / file.name) if one.has_row]
            members += [rows[position] for position in positions]
        bundle = write_bundle(members, place, last.sequence)
        md5 = get_bundle_md5(bundle)
        merged = replace(last, name=bundle.name, size=bundle.stat().st_size, md5=md5)
        reading = merged.to_job(bundle, folder)
        if not (reading.records.exists() and reading.passages.exists()):
            write_text_parts(reading, _iterate_merged_batches(job))
    except SourceMiss:
        return None
    cpu = round(sum(file.cpu for file in job.files), 3)
    return job.files, merged.add_part(replace(describe_parts(reading), cpu=cpu), md5)


def _iterate_merged_batches(job: MergeJob) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
    """Yield the kept rows and their passages in batches, with new positions."""
    import pyarrow as pa

    folder, order, start = Path(job.mirror), job.files[-1].order, 0
    tables = list[tuple[pa.Table, pa.Table]]()
    for file, positions in zip(job.files, job.positions, strict=True):
        if positions:
            kinds = (file.get_part_path(folder, kind) for kind in KINDS)
            texts, passages = (_read_rows(path, positions) for path in kinds)
            tables.append(
                tuple(_move_rows(one, order, positions, start) for one in (texts, passages))
            )
            start += len(positions)
    texts, passages = (pa.concat_tables(some) for some in zip(*tables, strict=True))
    places = passages["position"].to_numpy()
    for at in range(0, len(texts), ROWS):
        first, end = np.searchsorted(places, (at, at + ROWS))
        yield _to_batch(texts.slice(at, ROWS)), _to_batch(passages.slice(first, end - first))


def _read_rows(path: Path, positions: Sequence[int]) -> pa.Table:
    """Return the rows of a part at some positions."""
    import pyarrow as pa
    from pyarrow import compute, parquet

    with explain_unreadable():
        table = parquet.read_table(path, partitioning=None)
    wanted = compute.is_in(table["position"], pa.array(positions, pa.int32()))
    return table.filter(wanted).replace_schema_metadata()


def _move_rows(table: pa.Table, order: int, positions: Sequence[int], start: int) -> pa.Table:
    """Return rows as those of another file, in which they follow each other from *start*."""
    import pyarrow as pa

    places = np.searchsorted(positions, table["position"].to_numpy()) + start
    sequences = np.full(len(table), order)
    for name, values in (("sequence", sequences), ("position", places)):
        column = table.schema.get_field_index(name)
        table = table.set_column(column, name, pa.array(values, pa.int32()))
    return table


def _to_batch(table: pa.Table) -> pa.RecordBatch:
    """Return a table as one batch."""
    import pyarrow as pa

    schema, columns = table.schema, [column.combine_chunks() for column in table.columns]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
