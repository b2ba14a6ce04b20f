"""Edges: one citation each, the PMID that cites, the one cited, and who says so; as columns.

A file of edges is sorted by one end and then the other, each pair once. While they are put together
an edge is one number, so that sorting and comparing them is sorting numbers (`sorting`); they are
read, sorted and written some at a time, so that memory does not grow with their number.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..errors import BadContent, PaperError, StoreFailed
from ..system import safe_files
from .parts import ROWS, PartFile, digest_of
from .sorting import FLAGS, Sorter, evenly

if TYPE_CHECKING:
    import pyarrow as pa

    from .sorting import Numbers

EDGES = 1
"""The version of what is made here; after a change all is made anew."""
SPAN = 200_000
"""PMIDs whose edges lie in one file: some four million, in the densest spans thrice as many."""
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
    """What became of a stretch or span; ``reason`` says why there is nothing of it.

    ``cpu`` are seconds of one core that it took (0: it was there already).
    """

    key: int
    edges: int = 0
    by_source: tuple[int, int] = (0, 0)
    digest: str = ""
    reason: str = ""
    cpu: float = 0.0


def read_slice(job: Slice) -> Made:
    """Make a sorted file of edges of a stretch of NIH's table, unless it is there.

    Raises
    ------
    StoreFailed
        The disk cannot be used.
    """
    part, began = Path(job.part), time.process_time()
    already = part.exists()
    try:
        if not already:
            _write(part, _pairs_in(Path(job.file)), "citing")
    except PaperError as error:
        if isinstance(error, StoreFailed):
            raise
        return Made(job.number, reason=error.message)
    return _made(job.number, part, None if already else began)


def join_span(job: Span) -> Made:
    """Put the edges of a span together, each once, unless that is done.

    Raises
    ------
    StoreFailed
        A part is gone or damaged, or the disk cannot be used.
    """
    made, began = Path(job.sorted), time.process_time()
    already = made.exists() and (not job.turned or Path(job.turned).exists())
    if not already:
        _write(made, chain(_of_parts(job), _of_records(job)), job.by, job.turned)
    return _made(job.first, made, None if already else began)


def _made(key: int, path: Path, began: float | None) -> Made:
    """What a file of edges says of itself, and what it took since *began* to make it."""
    from pyarrow import parquet

    edges, counts = 0, dict.fromkeys(SOURCES.values(), 0)
    with readable(path), parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(GROUP, columns=["sources"], use_threads=False):
            said = batch.column(0).to_numpy()
            edges += len(said)
            for bit in counts:
                counts[bit] += int(((said & bit) > 0).sum())
    digest = digest_of(path)
    cpu = 0.0 if began is None else round(time.process_time() - began, 3)
    return Made(key, edges, (counts[1], counts[2]), digest, cpu=cpu)


def schema() -> pa.Schema:
    """The columns of a file of edges; ``sources`` is the sum of `SOURCES`."""
    import pyarrow as pa

    return pa.schema([("citing", pa.int32()), ("cited", pa.int32()), ("sources", pa.uint8())])


def _write(path: Path, some: Iterable[Numbers], by: End, turned: str = "") -> None:
    """Write edges that come in any order, whose high end is *by*, and once more *turned*.

    That is there first: where both are wanted, the file at *path* says that they are there.
    """
    safe_files.make_folder(path.parent)
    edges, other = Sorter(path.parent), Sorter(path.parent)
    for numbers in some:
        edges.add(numbers)
    with EdgeFile(path, by) as file:
        for numbers in evenly(edges.pieces(), GROUP):
            file.write_edges(numbers)
            if turned:
                other.add(_turned(numbers))
        if turned:
            with EdgeFile(Path(turned), _other(by)) as second:
                for numbers in evenly(other.pieces(), GROUP):
                    second.write_edges(numbers)
                second.commit()
        file.commit()


class EdgeFile(PartFile):
    """A file of edges, sorted by one end; a row group is `GROUP` of them."""

    def __init__(self, path: Path, by: End) -> None:
        super().__init__(path, schema(), dictionaries=["sources"], packed=ENDS)
        self._by: End = by

    def write_edges(self, edges: Numbers) -> None:
        """Add a row group, whose edges come after those that are there."""
        import numpy as np
        import pyarrow as pa

        columns = {"sources": (edges & FLAGS).astype(np.uint8)}
        columns[self._by] = (edges >> (_BITS + _BOTH)).astype(np.int32)
        columns[_other(self._by)] = ((edges >> _BOTH) & (_MOST - 1)).astype(np.int32)
        arrays = [pa.array(columns[name]) for name in schema().names]
        self.write(pa.RecordBatch.from_arrays(arrays, schema=schema()))


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


def _turned(edges: Numbers) -> Numbers:
    """The same edges with the other end high."""
    high, low = edges >> (_BITS + _BOTH), (edges >> _BOTH) & (_MOST - 1)
    return (low << (_BITS + _BOTH)) | (high << _BOTH) | (edges & FLAGS)


def _pairs_in(file: Path) -> Iterator[Numbers]:
    """NIH's lines as edges."""
    import pyarrow as pa
    from pyarrow import csv

    options: dict[str, Any] = {
        "read_options": csv.ReadOptions(use_threads=False, column_names=list(ENDS)),
        "convert_options": csv.ConvertOptions(column_types=dict.fromkeys(ENDS, pa.int32())),
    }
    try:
        with safe_files.disk(file, "read"), csv.open_csv(file, **options) as batches:
            for batch in batches:
                citing, cited = (_sound(batch.column(name)) for name in ENDS)
                yield _numbers(citing, cited, SOURCES["nih_occ"], "citing")
    except pa.ArrowInvalid as error:
        msg = f"It is no table of PMIDs: {str(error).splitlines()[0][:200]}"
        raise BadContent(msg, verdict="not_a_paper") from None


def _sound(column: pa.Array) -> Any:
    """A column of PMIDs."""
    numbers = column.to_numpy(zero_copy_only=False)
    if column.null_count or not (numbers > 0).all():
        raise BadContent("A number in it is no PMID.", verdict="not_a_paper")
    if (numbers >= _MOST).any():
        raise BadContent("A number in it is too large for a PMID.", verdict="not_a_paper")
    return numbers


def _of_parts(job: Span) -> Iterator[Numbers]:
    """The edges of a span in the files that are given."""
    for part in job.parts:
        for batch in _batches_between(Path(part), job.by, job.first, job.first + SPAN):
            citing, cited, said = (batch[name].to_numpy() for name in (*ENDS, "sources"))
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

    with readable(part, "pubmed"), parquet.ParquetFile(part) as file:
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
    from pyarrow import parquet

    found = list(_batches_between(path, column, first, end))
    with readable(path):
        return pa.Table.from_batches(found, None if found else parquet.read_schema(path))


def _batches_between(path: Path, column: str, first: int, end: int) -> Iterator[pa.RecordBatch]:
    """The same rows, some at a time."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import parquet

    first_one, end_one = (pa.scalar(one, pa.int32()) for one in (first, end))
    with readable(path), parquet.ParquetFile(path) as file:
        about, at = file.metadata, file.schema_arrow.get_field_index(column)
        groups = []
        for group in range(about.num_row_groups):
            said = about.row_group(group).column(at).statistics
            if said.max >= first and said.min < end:
                groups.append(group)
        for batch in file.iter_batches(GROUP, groups, use_threads=False) if groups else ():
            low = pc.greater_equal(batch[column], first_one)
            yield batch.filter(pc.and_(low, pc.less(batch[column], end_one)))


@contextmanager
def readable(path: Path, source: str = "citations") -> Iterator[None]:
    """Say of a file that is gone or damaged what to do about it."""
    from pyarrow import ArrowInvalid

    try:
        yield
    except (ArrowInvalid, OSError) as error:
        hint = f"Delete it if it is damaged, and run: server.py mirror {source}"
        raise StoreFailed(f"{path} cannot be read: {error}.", hint) from error


def named_after(*facts: str) -> str:
    """The name of what is made of *facts*: sixteen digits of their SHA-256."""
    return hashlib.sha256("\n".join((str(EDGES), *facts)).encode()).hexdigest()[:16]
