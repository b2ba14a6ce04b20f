"""What a published generation holds: papers by PMID, and all of it in SQL."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import StoreFailed
from .columns import paper_of
from .generations import Generations, connect
from .parts import ROWS

if TYPE_CHECKING:
    import duckdb

    from ..model.paper import Paper


def papers(pmids: Iterable[int], generations: Generations) -> dict[int, Paper]:
    """The records of papers by PMID; what is not among them, the generation does not have.

    Raises
    ------
    EmptyStore
        There is no generation yet.
    StoreFailed
        A part is gone or damaged.
    """
    from pyarrow import ArrowInvalid, parquet

    generation = generations.require_current()
    live = generations.folder / generation.name / "live.parquet"
    try:
        rows = parquet.read_table(live, filters=[("pmid", "in", sorted(set(pmids)))])
        places: dict[int, list[int]] = defaultdict(list)
        for row in rows.to_pylist():
            places[row["sequence"]].append(row["position"])
        files = {file.order: file for file in generations.files(generation) if file.order in places}
        found = [
            paper_of(row)
            for order, positions in places.items()
            for row in _rows(files[order].part(generations.mirror), sorted(positions))
        ]
    except (ArrowInvalid, OSError) as error:
        hint = "See what is damaged: server.py mirror verify"
        raise StoreFailed(f"The mirror cannot be read: {error}.", hint) from error
    return {int(paper.ids.pmid): paper for paper in found}


def _rows(part: Path, positions: Sequence[int]) -> Iterable[dict[str, object]]:
    """The rows of a part at some positions; only their row groups are read."""
    from pyarrow import parquet

    with parquet.ParquetFile(part) as file:
        for group in sorted({position // ROWS for position in positions}):
            table = file.read_row_group(group)
            inside = [
                position - group * ROWS for position in positions if position // ROWS == group
            ]
            yield from table.take(inside).to_pylist()


def open_sql(generations: Generations) -> duckdb.DuckDBPyConnection:
    """A DuckDB with the views ``records`` and ``passages``: the rows that count, no other.

    It stays with the generation that is published now.

    Raises
    ------
    EmptyStore
        There is no generation yet.
    """
    generation = generations.require_current()
    db = connect(generations.mirror)
    live = _list([generations.folder / generation.name / "live.parquet"])
    files = generations.files(generation)
    for name, kind in (("records", ""), ("passages", "-passages")):
        parts = _list([file.part(generations.mirror, kind) for file in files])
        query = f"""
            SELECT row.* FROM read_parquet({parts}) AS row SEMI JOIN read_parquet({live}) AS live
            ON row.sequence = live.sequence AND row.position = live.position
        """  # noqa: S608 - paths of our own
        db.execute(f"CREATE VIEW {name} AS {query}")
    return db


def _list(paths: Iterable[Path]) -> str:
    """Paths as a list in SQL."""
    return "[" + ", ".join("'" + str(path).replace("'", "''") + "'" for path in paths) + "]"
