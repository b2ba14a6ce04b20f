"""What a published generation holds: papers by PMID, and all of it in SQL."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..command_line import command_line
from ..errors import StoreFailed
from .columns import build_paper
from .generations import KEYS, Generation, Generations, open_duckdb

if TYPE_CHECKING:
    import duckdb

    from ..model.paper import Paper


def read_papers(pmids: Iterable[int], generations: Generations) -> dict[int, Paper]:
    """Return the records of papers by PMID; papers outside the generation are missing.

    Raises
    ------
    EmptyStore
        There is no generation yet.
    StoreFailed
        A part is gone or damaged.
    """
    generation = generations.require_current()
    places: dict[int, list[int]] = defaultdict(list)
    for order, position in find_live_places(pmids, generations, generation).values():
        places[order].append(position)
    files = {
        file.order: file for file in generations.list_files(generation) if file.order in places
    }
    found = [
        build_paper(row)
        for order, positions in places.items()
        for row in read_rows_at(files[order].get_part_path(generations.mirror), sorted(positions))
    ]
    return {int(paper.ids.pmid): paper for paper in found}


def find_live_places(
    names: Iterable[int], generations: Generations, generation: Generation
) -> dict[int, tuple[int, int]]:
    """Return the file and position of the row that counts, for each PMID or PMCID.

    No more of them are live.
    """
    from pyarrow import parquet

    key = KEYS[generations.source]
    wanted = sorted(set(names))
    path = generations.folder / generation.name / "live.parquet"
    with explain_unreadable():
        rows = parquet.read_table(path, filters=[(key, "in", wanted)]) if wanted else None
    found = rows.to_pylist() if rows else []
    return {row[key]: (row["sequence"], row["position"]) for row in found}


def read_rows_at(
    part: Path, positions: Sequence[int], columns: Sequence[str] = ()
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a part at some positions, in order; reads only their row groups."""
    from pyarrow import parquet

    by_group: dict[int, list[int]] = defaultdict(list)
    with explain_unreadable(), parquet.ParquetFile(part) as file:
        groups = range(file.num_row_groups)
        ends = list(accumulate(file.metadata.row_group(at).num_rows for at in groups))
        for position in positions:
            group = bisect_right(ends, position)
            by_group[group].append(position - (ends[group - 1] if group else 0))
        for group, inside in sorted(by_group.items()):
            table = file.read_row_group(group, list(columns) or None)
            yield from table.take(inside).to_pylist()


def read_passages_at(
    part: Path, positions: Sequence[int], columns: Sequence[str] = ()
) -> Iterator[dict[str, Any]]:
    """Yield the passages of the records at some positions, in order; see `read_rows_at`."""
    from pyarrow import compute, parquet

    with explain_unreadable(), parquet.ParquetFile(part) as file:
        at = file.schema_arrow.get_field_index("position")
        for group in range(file.num_row_groups):
            span = file.metadata.row_group(group).column(at).statistics
            wanted = [one for one in positions if span.min <= one <= span.max]
            if wanted:
                table = file.read_row_group(group, list(columns) or None)
                held = compute.is_in(table["position"], compute.cast(wanted, "int32"))
                yield from table.filter(held).to_pylist()


@contextmanager
def explain_unreadable() -> Iterator[None]:
    """Raise errors of reading Parquet files as `StoreFailed`, with what to do."""
    from pyarrow import ArrowInvalid

    try:
        yield
    except (ArrowInvalid, OSError) as error:
        hint = f"See what is damaged: {command_line('mirror verify')}"
        raise StoreFailed(f"The mirror cannot be read: {error}.", hint) from error


def open_sql(generations: Generations) -> duckdb.DuckDBPyConnection:
    """Open a DuckDB with the views ``records`` and ``passages``: only rows that count.

    It stays with the generation that is published now.

    Raises
    ------
    EmptyStore
        There is no generation yet.
    """
    generation = generations.require_current()
    db = open_duckdb(generations.mirror)
    live = _to_sql_list([generations.folder / generation.name / "live.parquet"])
    files = generations.list_files(generation)
    for name, kind in (("records", ""), ("passages", "-passages")):
        parts = _to_sql_list([file.get_part_path(generations.mirror, kind) for file in files])
        query = f"""
            SELECT row.* FROM read_parquet({parts}) AS row SEMI JOIN read_parquet({live}) AS live
            ON row.sequence = live.sequence AND row.position = live.position
        """  # noqa: S608 - paths of our own
        db.execute(f"CREATE VIEW {name} AS {query}")
    return db


def _to_sql_list(paths: Iterable[Path]) -> str:
    """Return paths as a list in SQL."""
    return "[" + ", ".join("'" + str(path).replace("'", "''") + "'" for path in paths) + "]"
