"""Papers of a generation by DOI or PMCID, texts by PMID or DOI: ``names.parquet``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..system import safe_files

if TYPE_CHECKING:
    import pyarrow as pa

    from ..model.identifiers import Ids
    from .generations import Generation, Generations

FILE = "names.parquet"
_LIVE = """
    FROM read_parquet(?) AS row SEMI JOIN read_parquet(?) AS live
    ON row.sequence = live.sequence AND row.position = live.position
"""
_NAMES = f"""
    SELECT name, pmid FROM (
        SELECT unnest([row.doi, row.pmcid]) AS name, row.pmid AS pmid {_LIVE}
    ) WHERE name IS NOT NULL ORDER BY name, pmid
"""  # noqa: S608 - of constants
_TEXT_NAMES = f"SELECT row.pmid, lower(row.doi) AS doi, row.pmcid {_LIVE} ORDER BY ALL"


def write_names(parts: list[str], folder: Path, mirror: Path) -> None:
    """Write the names of PubMed's rows that count, as ``live.parquet`` in *folder* says.

    Raises
    ------
    StoreFailed
        A part is gone or damaged, or the disk refuses.
    """
    import pyarrow as pa

    schema = pa.schema([("name", pa.string()), ("pmid", pa.int32())])
    packed = {"name": "DELTA_BYTE_ARRAY", "pmid": "PLAIN"}
    options = {"use_dictionary": False, "column_encoding": packed}
    _write(_NAMES, parts, folder, mirror, schema, options)


def write_text_names(parts: list[str], folder: Path, mirror: Path) -> None:
    """Write under which PMID and DOI each of PMC's texts that count is known; as `write_names`."""
    import pyarrow as pa

    columns = [("pmid", pa.int32()), ("doi", pa.string()), ("pmcid", pa.int32())]
    _write(_TEXT_NAMES, parts, folder, mirror, pa.schema(columns), {})


def _write(
    query: str, parts: list[str], folder: Path, mirror: Path, schema: pa.Schema, options: Any
) -> None:
    from pyarrow import parquet

    from .generations import connect, even_tables

    path, live = folder / FILE, str(folder / "live.parquet")
    with closing(connect(mirror)) as db, safe_files.disk(path), path.open("xb") as file:
        with parquet.ParquetWriter(file, schema, compression="zstd", **options) as writer:
            for table in even_tables(db, query, [parts, live]):
                writer.write_table(table.cast(schema), row_group_size=table.num_rows)
        safe_files.flush(path)


def pmids_of(
    wanted: Iterable[Ids], generations: Generations, generation: Generation
) -> dict[Ids, int]:
    """The PMID of each paper, by its own, its DOI or its PMCID.

    A name that several records have is nobody's, and so is any name of a generation that was made
    before there was an index of them.
    """
    from pyarrow import parquet

    from .reading import readable

    known = {ids: int(ids.pmid) for ids in wanted if ids.pmid}
    asked = {ids: {ids.doi, ids.pmcid} - {""} for ids in wanted if not ids.pmid}
    names = sorted({name for some in asked.values() for name in some})
    path = generations.folder / generation.name / FILE
    if not names or not path.exists():
        return known
    with readable():
        rows = parquet.read_table(path, filters=[("name", "in", names)]).to_pylist()
    found: dict[str, set[int]] = defaultdict(set)
    for row in rows:
        found[row["name"]].add(row["pmid"])
    for ids, some in asked.items():
        pmids = {pmid for name in some for pmid in found.get(name, ())}
        if len(pmids) == 1:
            known[ids] = pmids.pop()
    return known
