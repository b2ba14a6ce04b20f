"""Edges: one citation each, the PMID that cites, the one cited, and who says so; as columns.

A file of edges is sorted by one end and then the other, each pair once. While they are put together
an edge is one number, so that sorting and comparing them is sorting numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..errors import BadContent, PaperError, StoreFailed
from ..system import safe_files
from .parts import ROWS, PartFile, digest_of

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    Numbers = np.ndarray[Any, np.dtype[np.int64]]

EDGES = 1
"""The version of what is made here; after a change all is made anew."""
SPAN = 200_000
"""PMIDs whose edges lie in one file: some four million, which take 100 bytes each to sort."""
SOURCES = {"nih_occ": 1, "pubmed": 2}
"""Who says that one cites the other: NIH's Open Citation Collection, PubMed's record of it."""
GROUP = 1 << 16  # rows of a row group: who asks about one PMID reads one or two
_BITS, _BOTH = 27, 2  # of a PMID, and of who says so
_MOST = 1 << _BITS
End = Literal["citing", "cited"]
ENDS: tuple[End, End] = ("citing", "cited")


@dataclass(frozen=True, slots=True)
class Slice:
    """A stretch of NIH's table, as it is sent to whoever reads it: whole lines, without header."""

    file: str
    part: str
    number: int


@dataclass(frozen=True, slots=True)
class Span:
    """The PMIDs from *first* on whose edges are put together, as it is sent to whoever does it.

    ``parts`` are files of edges sorted by the end ``by``; ``records`` the parts of PubMed's records
    by the order of their file, ``live`` the rows of them that count (both empty: none). ``sorted``
    is the file that is made, ``turned`` one more with the same edges, sorted by the other end
    (empty: none).
    """

    first: int
    by: End
    parts: tuple[str, ...]
    sorted: str
    turned: str = ""
    live: str = ""
    records: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Made:
    """What became of a stretch or span; ``reason`` says why there is nothing of it."""

    key: int
    edges: int = 0
    by_source: tuple[int, int] = (0, 0)
    digest: str = ""
    reason: str = ""


def read_slice(job: Slice) -> Made:
    """Make a sorted file of edges of a stretch of NIH's table, unless it is there.

    Raises
    ------
    StoreFailed
        The disk cannot be used.
    """
    part = Path(job.part)
    try:
        if not part.exists():
            write_edges(part, _in_order(_table_of(Path(job.file)), "citing"), "citing")
    except PaperError as error:
        if isinstance(error, StoreFailed):
            raise
        return Made(job.number, reason=error.message)
    return _made(job.number, part)


def join_span(job: Span) -> Made:
    """Put the edges of a span together, each once, unless that is done.

    Raises
    ------
    StoreFailed
        A part is gone or damaged, or the disk cannot be used.
    """
    made = Path(job.sorted)
    if not (made.exists() and (not job.turned or Path(job.turned).exists())):
        edges = _united([*_of_parts(job), *_of_records(job)])
        if job.turned:
            write_edges(Path(job.turned), _in_order(edges, _other(job.by)), _other(job.by))
        write_edges(made, edges, job.by)
    return _made(job.first, made)


def _made(key: int, path: Path) -> Made:
    """What a file of edges says of itself."""
    import pyarrow.compute as pc
    from pyarrow import parquet

    with readable(path):
        said = parquet.read_table(path, columns=["sources"])["sources"]
        counts = [int(pc.sum(pc.equal(pc.bit_wise_and(said, bit), bit)).as_py() or 0)
                  for bit in SOURCES.values()]  # fmt: skip
    return Made(key, len(said), (counts[0], counts[1]), digest_of(path))


def schema() -> pa.Schema:
    """The columns of a file of edges; ``sources`` is the sum of `SOURCES`."""
    import pyarrow as pa

    return pa.schema([("citing", pa.int32()), ("cited", pa.int32()), ("sources", pa.uint8())])


def write_edges(path: Path, edges: Numbers, by: End) -> None:
    """Write sorted edges whose high end is *by*."""
    import numpy as np
    import pyarrow as pa

    columns = {"sources": (edges & ((1 << _BOTH) - 1)).astype(np.uint8)}
    columns[by] = (edges >> (_BITS + _BOTH)).astype(np.int32)
    columns[_other(by)] = ((edges >> _BOTH) & (_MOST - 1)).astype(np.int32)
    arrays = [pa.array(columns[name]) for name in schema().names]
    with PartFile(path, schema(), dictionaries=["sources"], packed=ENDS) as file:
        batch = pa.RecordBatch.from_arrays(arrays, schema=schema())
        for at in range(0, len(edges), GROUP):
            file.write(batch.slice(at, GROUP))
        file.commit()


def _other(end: End) -> End:
    return "cited" if end == "citing" else "citing"


def _numbers(citing: Any, cited: Any, sources: Any, by: End) -> Numbers:
    """Edges as numbers: one end, the other, who says so."""
    import numpy as np

    high, low = (citing, cited) if by == "citing" else (cited, citing)
    made: Numbers = (
        (high.astype(np.int64) << (_BITS + _BOTH)) | (low.astype(np.int64) << _BOTH) | sources
    )
    return made


def _united(some: Sequence[Numbers]) -> Numbers:
    """Edges in order, each pair once, with all who say so."""
    import numpy as np

    edges = np.concatenate([*some, np.empty(0, np.int64)])
    edges.sort()
    if not len(edges):
        return edges
    begins = np.flatnonzero(np.diff(edges >> _BOTH, prepend=-1))
    united: Numbers = np.bitwise_or.reduceat(edges, begins)  # a pair's numbers differ there alone
    return united


def _in_order(edges: Numbers, by: End) -> Numbers:
    """Edges, which come with the citing end high, in the order of *by*, each once."""
    if by == "citing":
        return _united([edges])
    high, low = edges >> (_BITS + _BOTH), (edges >> _BOTH) & (_MOST - 1)
    return _united([_numbers(high, low, edges & ((1 << _BOTH) - 1), by)])


def _table_of(file: Path) -> Numbers:
    """NIH's lines as edges."""
    import pyarrow as pa
    from pyarrow import csv

    options: dict[str, Any] = {
        "read_options": csv.ReadOptions(use_threads=False, column_names=list(ENDS)),
        "convert_options": csv.ConvertOptions(column_types=dict.fromkeys(ENDS, pa.int32())),
    }
    try:
        with safe_files.disk(file, "read"):
            table = csv.read_csv(file, **options)
    except pa.ArrowInvalid as error:
        msg = f"It is no table of PMIDs: {str(error).splitlines()[0][:200]}"
        raise BadContent(msg, verdict="not_a_paper") from None
    for name in ENDS:
        if table[name].null_count or not ((ends := table[name].to_numpy()) > 0).all():
            raise BadContent("A number in it is no PMID.", verdict="not_a_paper")
        if (ends >= _MOST).any():
            raise BadContent("A number in it is too large for a PMID.", verdict="not_a_paper")
    citing, cited = (table[name].to_numpy() for name in ENDS)
    return _numbers(citing, cited, SOURCES["nih_occ"], "citing")


def _of_parts(job: Span) -> Iterator[Numbers]:
    """The edges of a span in the files that are given."""
    for part in job.parts:
        table = rows_between(Path(part), job.by, job.first, job.first + SPAN)
        citing, cited, said = (table[name].to_numpy() for name in (*ENDS, "sources"))
        yield _numbers(citing, cited, said, job.by)


def _of_records(job: Span) -> Iterator[Numbers]:
    """The edges in PubMed's records that count, of a span."""
    import numpy as np

    if not job.live:
        return
    live, parts = live_in(Path(job.live), job.first), dict(job.records)
    for order in np.unique(live["sequence"]):
        chosen = live["sequence"] == order
        pmids, positions = live["pmid"][chosen], live["position"][chosen]
        yield from _cited_in(Path(parts[int(order)]), pmids, positions)


def live_in(live: Path, first: int) -> dict[str, Any]:
    """The rows that count of a span: ``pmid``, ``sequence`` and ``position``."""
    table = rows_between(live, "pmid", first, first + SPAN)
    return {name: table[name].to_numpy() for name in ("pmid", "sequence", "position")}


def _cited_in(part: Path, pmids: Any, positions: Any) -> Iterator[Numbers]:
    """What the records at some positions of a part cite."""
    import numpy as np
    from pyarrow import parquet

    with readable(part), parquet.ParquetFile(part) as file:
        for group in np.unique(positions // ROWS):
            inside = positions // ROWS == group
            column = file.read_row_group(int(group), ["cited"])["cited"].combine_chunks()
            lists = column.take(positions[inside] % ROWS)
            lengths = lists.value_lengths().fill_null(0).to_numpy()
            citing, cited = np.repeat(pmids[inside], lengths), lists.flatten().to_numpy()
            sound = citing < _MOST
            yield _numbers(citing[sound], cited[sound], SOURCES["pubmed"], "citing")


def rows_between(path: Path, column: str, first: int, end: int) -> pa.Table:
    """The rows of a file, sorted by *column* or not, whose value lies in ``[first, end)``."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import parquet

    with readable(path), parquet.ParquetFile(path) as file:
        about, at = file.metadata, file.schema_arrow.get_field_index(column)
        groups = []
        for group in range(about.num_row_groups):
            said = about.row_group(group).column(at).statistics
            if said.max >= first and said.min < end:
                groups.append(group)
        table = file.read_row_groups(groups) if groups else file.schema_arrow.empty_table()
    first_one, end_one = (pa.scalar(one, pa.int32()) for one in (first, end))
    low = pc.greater_equal(table[column], first_one)
    chosen: pa.Table = table.filter(pc.and_(low, pc.less(table[column], end_one)))
    return chosen


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Say of a file that is gone or damaged what to do about it."""
    from pyarrow import ArrowInvalid

    try:
        yield
    except (ArrowInvalid, OSError) as error:
        hint = "Delete it if it is damaged, and run: server.py mirror citations"
        raise StoreFailed(f"{path} cannot be read: {error}.", hint) from error


def named_after(*facts: str) -> str:
    """The name of what is made of *facts*: sixteen digits of their SHA-256."""
    return hashlib.sha256("\n".join((str(EDGES), *facts)).encode()).hexdigest()[:16]
