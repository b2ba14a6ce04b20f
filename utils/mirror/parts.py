"""One source file becomes two parts: Parquet files of its records and of its passages.

``part/<source>/<sequence>-<md5>-p<reader version>.parquet`` is all that identifies a part: what is
there under its name is whole, and whoever makes it again writes the same bytes. So work that is
done twice, or was killed, does no harm. Rows stand in the order of the source file; a PMID may come
several times, and a deletion is a row, too (``deleted``): which of them counts says a generation.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import BadContent, SourceMiss
from ..model.paper import Paper
from ..model.passage import Passage
from ..outline.cut import split_into_passages
from ..readers import JUDGE_VERSION
from ..readers.pubmed import (
    DeletedRecords,
    get_pmid_digits,
    iterate_records_with_xml,
    list_cited_pmids,
)
from ..system import safe_files
from .columns import (
    find_dictionary_columns,
    make_passage_batch,
    make_passage_schema,
    make_record_batch,
    make_record_schema,
)
from .engines import pause_garbage_collection

if TYPE_CHECKING:
    from lxml.etree import _Element
    from pyarrow import RecordBatch, Schema
    from pyarrow.parquet import ParquetWriter

READERS = {"pubmed": 2, "pmc": 100 * JUDGE_VERSION + 6}
"""By source, the version of what reads and cuts, and of PMC's texts judges; after a change of what
it makes, all parts of that source are made anew."""
ROWS = 2_000
"""Records that are held at once, and stand in one row group."""
FACTS = b"papershelf"
"""Under this name a part says what is in it."""


@dataclass(frozen=True, slots=True)
class ReadJob:
    """A source file to be read, as it is sent to a worker.

    ``file`` is the path of the packed XML, ``sequence`` its place (``26n0001``), ``order`` the same
    as a number, ``folder`` that of the mirror.
    """

    file: str
    source: str
    name: str
    sequence: str
    order: int
    md5: str
    folder: str

    @property
    def records(self) -> Path:
        """The part with the records."""
        return get_part_path(Path(self.folder), self.source, self.sequence, self.md5)

    @property
    def passages(self) -> Path:
        """The part with the passages."""
        return get_part_path(Path(self.folder), f"{self.source}-passages", self.sequence, self.md5)


@dataclass(frozen=True, slots=True)
class Part:
    """The outcome for a source file.

    ``digest`` and ``passages_digest`` are the SHA-256 of the two parts; ``records``, ``deletions``
    and ``passages`` their rows; ``seconds`` what reading took (0: it was there already), ``cpu``
    of one core. ``reason`` says why there is none; then all of these are empty.
    """

    name: str
    records: int = 0
    deletions: int = 0
    passages: int = 0
    digest: str = ""
    passages_digest: str = ""
    bytes: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    reason: str = ""


def get_part_path(folder: Path, source: str, sequence: str, md5: str, reader: int = 0) -> Path:
    """Return the path of a part made by a reader, or (0) by today's."""
    reader = reader or READERS[source.partition("-")[0]]
    return folder / "part" / source / f"{sequence}-{md5}-p{reader}.parquet"


def read_part(job: ReadJob) -> Part:
    """Make the parts of a source file, unless they are there.

    Raises
    ------
    StoreFailed
        The file or the disk cannot be used; nothing is left of the parts.
    """
    return make_missing_parts(job, _make_parts)


def make_missing_parts(job: ReadJob, make: Callable[[ReadJob], None]) -> Part:
    """Make the parts of a job that are missing; if the file is broken, return the reason."""
    if job.records.exists() and job.passages.exists():
        return describe_parts(job)
    began, cpu = time.perf_counter(), time.process_time()
    try:
        with pause_garbage_collection():
            make(job)
    except SourceMiss as error:
        return Part(job.name, reason=error.message)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    return replace(describe_parts(job), seconds=round(seconds, 3), cpu=round(cpu, 3))


def describe_parts(job: ReadJob) -> Part:
    """Return what existing parts hold, from their metadata."""
    from pyarrow import parquet

    with safe_files.disk_errors(job.records, "read"):
        facts = json.loads(parquet.read_metadata(job.records).metadata[FACTS])
    return Part(
        job.name,
        records=facts["records"],
        deletions=facts["deletions"],
        passages=facts["passages"],
        digest=compute_sha256(job.records),
        passages_digest=compute_sha256(job.passages),
        bytes=job.records.stat().st_size + job.passages.stat().st_size,
    )


def compute_sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with safe_files.disk_errors(path, "read"), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_parts(
    job: ReadJob,
    schema: Schema,
    batches: Iterable[tuple[RecordBatch, RecordBatch | None]],
    dictionaries: Sequence[str],
) -> None:
    """Write both parts from batches of records, each with its passages.

    The records get their name last: their presence means that both parts are complete.
    """
    counts: Counter[str] = Counter()
    with open_part_file(job.records, schema, use_dictionary=dictionaries) as records:
        columns = make_passage_schema()
        lists = find_dictionary_columns(columns)
        with open_part_file(job.passages, columns, use_dictionary=lists) as passages:
            for rows, cut in batches:
                deleted = rows["deleted"].true_count
                counts.update(deletions=deleted, records=len(rows) - deleted)
                records.write_batch(rows)
                if cut is not None and len(cut):
                    counts.update(passages=len(cut))
                    passages.write_batch(cut)
        facts = {name: counts[name] for name in ("records", "deletions", "passages")}
        about = json.dumps({"file": job.name, "md5": job.md5, **facts})
        records.add_key_value_metadata({FACTS: about})


def _make_parts(job: ReadJob) -> None:
    """Read a file of PubMed, and write both parts."""
    schema = make_record_schema()
    write_parts(job, schema, _make_batches(job), find_dictionary_columns(schema))


def _make_batches(job: ReadJob) -> Iterator[tuple[RecordBatch, RecordBatch | None]]:
    """Yield records and their passages in batches."""
    rows = ((position, *row) for position, row in enumerate(_read_rows(job)))
    while some := list(islice(rows, ROWS)):
        found = [
            (position, pmid, passage)
            for position, pmid, *_, paper in some
            if paper is not None
            for passage in _cut_passages(paper)
        ]
        passages = make_passage_batch(job.order, found) if found else None
        yield make_record_batch(job.order, some), passages


def _read_rows(job: ReadJob) -> Iterator[tuple[int, int, tuple[int, ...], Paper | None]]:
    """Yield PMID, version, cited PMIDs and record of each row of a file, in order."""
    with safe_files.disk_errors(Path(job.file), "read"), gzip.open(job.file) as source:
        for record, element in iterate_records_with_xml(source):  # type: ignore[arg-type]
            if isinstance(record, DeletedRecords):
                yield from ((*_get_pmid(pmid), (), None) for pmid in element.iter("PMID"))
            else:
                yield (*_get_pmid(element.find("*/PMID")), list_cited_pmids(element), record)


def _get_pmid(element: _Element | None) -> tuple[int, int]:
    """Return a PMID and its version; few papers have several."""
    pmid = "" if element is None else get_pmid_digits(element)
    if element is None or not pmid:
        msg = "A record in it has no PMID."
        raise BadContent(msg, verdict="not_a_paper")
    version = element.get("Version", "1")
    return int(pmid), int(version) if version.isdecimal() else 1


def _cut_passages(paper: Paper) -> list[Passage]:
    """Return the passages of title and abstract, cut as in a corpus."""
    text = f"{paper.title}\n\n{paper.abstract}".rstrip()
    return split_into_passages(
        text, paper=f"pmid:{paper.ids.pmid}", title=paper.title, kind="abstract"
    )


@contextmanager
def open_part_file(path: Path, schema: Schema, **options: Any) -> Iterator[ParquetWriter]:
    """Yield a writer of a Parquet file, which appears under its name when the block ends.

    If the block fails, nothing is left behind.

    Raises
    ------
    StoreFailed
        The disk refuses.
    """
    from pyarrow import parquet

    safe_files.make_folder(path.parent)
    with (
        safe_files.replace_flushed(path) as part,
        part.open("xb") as file,
        parquet.ParquetWriter(file, schema, compression="zstd", **options) as writer,
    ):
        yield writer
