"""Make the table of citations from NIH's Open Citation Collection and PubMed's reference lists.

1. NIH's newest collection is fetched and read once, into a file of pairs that stays. Of one that
   cannot be read the reason stays, so that it is not fetched again.
2. DuckDB joins the pairs and the reference lists into one table of edges, each pair once: one file
   sorted by the citing paper, and one sorted by the cited paper. It works within a fixed memory and
   spills to the mirror's disk.
3. The table is published by one pointer. A run that is killed leaves the former table in place.

A table is named after NIH's file and the generation of records, so that it is not made again when
nothing has changed.
"""

from __future__ import annotations

import time
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

from ..command_line import command_line
from ..errors import BadContent, EmptyStore, NotAvailable, Unreachable
from ..model.paper import utc_now
from ..sources import citation_collection as nih
from ..system import safe_files
from .citation_table import (
    ENDS,
    SOURCES,
    CitationTable,
    get_published_table,
    get_table_files,
    publish_table,
)
from .generations import (
    Generation,
    Generations,
    explain_query_errors,
    open_duckdb,
    write_query_result,
)
from .locks import exclusive_lock
from .parts import compute_sha256, open_part_file
from .reading import open_sql

if TYPE_CHECKING:
    from ..http import Web

_BLOCK = 1 << 24  # bytes of NIH's table that are read at once
_BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, KeyError, EOFError, NotImplementedError)
_OF_NIH = f"SELECT citing, cited, {SOURCES['nih_occ']} AS source FROM read_parquet($pairs)"  # noqa: S608
_OF_RECORDS = f"SELECT pmid, unnest(cited), {SOURCES['pubmed']} FROM records"  # noqa: S608
_JOIN = """
    SELECT citing, cited, bit_or(source)::UTINYINT AS sources
    FROM ({rows}) AS row(citing, cited, source) GROUP BY citing, cited ORDER BY citing, cited
"""
_TURN = "SELECT * FROM read_parquet($made) ORDER BY cited, citing"
_COUNT = f"""
    SELECT count(*), count(*) FILTER (sources & {SOURCES["nih_occ"]} > 0),
           count(*) FILTER (sources & {SOURCES["pubmed"]} > 0) FROM read_parquet($made)
"""  # noqa: S608 - numbers of our own
T = TypeVar("T")
Steps: TypeAlias = "Generator[CitationsProgress, None, T]"


@dataclass(frozen=True, slots=True)
class CitationsProgress:
    """The progress: ``done`` of ``total`` (bytes, or files) of this ``step``.

    At the end ``table`` is what is published now, ``changed`` whether this run published it;
    ``notes`` say what could not be fetched.
    """

    step: str = "looking"
    done: int = 0
    total: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    unreachable: bool = False
    table: CitationTable | None = None
    changed: bool = False


def update(folder: Path, web: Web, *, keep: bool = False) -> Iterator[CitationsProgress]:
    """Bring the table of citations of a mirror up to date; iterating over it does the work.

    Parameters
    ----------
    folder : Path
        The folder of the mirror, whose published records are used.
    web : Web
        A client for this update alone.
    keep : bool, optional
        Whether NIH's newest ZIP stays once it is read.

    Raises
    ------
    StoreBusy
        Another process updates the table.
    EmptyStore
        The mirror has no records of PubMed, and NIH's collection cannot be fetched.
    StoreFailed
        The disk refuses, or a part is damaged; what was made stays.
    """
    safe_files.make_folder(_get_nih_folder(folder))
    with exclusive_lock(folder / "citations.lock", f"the citations in {folder}"):
        for place in (_get_nih_folder(folder), *_get_table_folders(folder)):
            safe_files.delete_stale_temporary_files(place)
        yield from _Update(folder, web, keep).run_steps()


def get_pairs_path(folder: Path, snapshot: nih.Snapshot) -> Path:
    """Return the file of the pairs of NIH's collection."""
    return _get_nih_folder(folder) / f"{snapshot.published}-{snapshot.md5[:12]}.parquet"


def is_read(pairs: Path) -> bool:
    """Return whether NIH's collection was read into its file of pairs, or rejected."""
    return pairs.exists() or _get_reason_path(pairs).exists()


@dataclass(slots=True)
class _Update:
    """One run."""

    folder: Path
    web: Web
    keep: bool
    progress: CitationsProgress = field(default_factory=CitationsProgress)
    began: float = field(default_factory=time.monotonic)

    def run_steps(self) -> Iterator[CitationsProgress]:
        """Fetch, read, join and publish."""
        yield self._advance_progress()
        pairs = yield from self._find_pairs()
        generation = Generations(self.folder, "pubmed").get_published()
        sources = (pairs.stem if pairs else "", generation.name if generation else "")
        name = "+".join(filter(None, sources))
        if not name:
            why = " ".join(self.progress.notes) or "The mirror has no citations."
            raise EmptyStore(why, f"Run it again, or first: {command_line('mirror pubmed')}")
        before = table = get_published_table(self.folder)
        whole = all(path.exists() for path in get_table_files(self.folder, name))
        if table is None or table.name != name or not whole:
            table = yield from self._make_table(name, pairs, generation)
            publish_table(self.folder, table)
            self._advance_progress(changed=True)
        self._delete_unused(pairs, {one.name for one in (before, table) if one})
        yield self._advance_progress(step="done", table=table)

    def _find_pairs(self) -> Steps[Path | None]:
        """Return the pairs of NIH's newest collection; else the newest pairs on this disk."""
        unreachable = False
        try:
            snapshot = nih.find_newest_snapshot(self.web)
            pairs = get_pairs_path(self.folder, snapshot)
            if not is_read(pairs):
                yield from self._read_snapshot(snapshot, pairs)
            if pairs.exists():
                return pairs
            reason = _get_reason_path(pairs).read_text(encoding="utf-8")
            why = f"NIH's collection of {snapshot.published} is set aside: {reason}"
        except (Unreachable, NotAvailable, BadContent) as error:
            why, unreachable = error.message, isinstance(error, Unreachable)
        here = max(_get_nih_folder(self.folder).glob("*.parquet"), default=None)
        has = f"that of {_get_day(here)} is used" if here else "none is here yet"
        note = f"NIH's newest collection could not be fetched, {has}: {why}"
        self._advance_progress(notes=(note,), unreachable=unreachable)
        return here

    def _read_snapshot(self, snapshot: nih.Snapshot, pairs: Path) -> Steps[None]:
        """Fetch a collection and read its pairs, or write down why it has none."""
        path = pairs.with_suffix(".zip")
        if not path.exists():
            for size in nih.fetch_snapshot(snapshot, path, self.web):
                yield self._advance_progress(step="fetching", done=size, total=snapshot.size)
        try:
            for done, total in read_pairs(path, pairs):
                yield self._advance_progress(step="reading", done=done, total=total)
        except BadContent as error:
            safe_files.write_file(_get_reason_path(pairs), error.message.encode())
        if not (self.keep and pairs.exists()):
            safe_files.delete_if_exists(path)

    def _make_table(
        self, name: str, pairs: Path | None, generation: Generation | None
    ) -> Steps[CitationTable]:
        """Join both sources, in both orders."""
        began, generations = time.process_time(), Generations(self.folder, "pubmed")
        citing, cited = get_table_files(self.folder, name)
        sources = ((_OF_NIH, pairs), (_OF_RECORDS, generation))
        rows = " UNION ALL ".join(query for query, source in sources if source)
        opened = open_sql(generations) if generation else open_duckdb(self.folder)
        with explain_query_errors("The citations"), closing(opened) as db:
            yield self._advance_progress(step="joining", done=0, total=len(ENDS))
            read = {"pairs": str(pairs)} if pairs else {}
            write_query_result(db, _JOIN.format(rows=rows), citing, read)
            yield self._advance_progress(done=1)
            made = {"made": str(citing)}
            write_query_result(db, _TURN, cited, made)
            edges, nih_occ, records = db.execute(_COUNT, made).fetchone() or (0, 0, 0)
        seconds = time.process_time() - began
        return CitationTable(
            name=name,
            collection=_get_day(pairs) if pairs else "",
            pubmed=generation.name if generation else "",
            edges=edges,
            nih_occ=nih_occ,
            records=records,
            digests=dict(zip(ENDS, map(compute_sha256, (citing, cited)), strict=True)),
            made_at=utc_now(),
            rate=round(edges / seconds) if seconds else 0.0,
        )

    def _delete_unused(self, pairs: Path | None, names: set[str]) -> None:
        """Delete tables other than the named ones, and what NIH published before these pairs."""
        unused = [
            path
            for folder in _get_table_folders(self.folder)
            for path in folder.glob("*.parquet")
            if path.stem not in names
        ]
        if pairs:  # a fetch that broke off begins with a full stop
            unused += [
                path for path in pairs.parent.iterdir() if path.name.lstrip(".") < _get_day(pairs)
            ]
        for path in unused:
            safe_files.delete_if_exists(path)

    def _advance_progress(self, **facts: Any) -> CitationsProgress:
        seconds = time.monotonic() - self.began
        self.progress = replace(self.progress, **facts, seconds=seconds)
        return self.progress


def _get_nih_folder(folder: Path) -> Path:
    """Return the folder of NIH's collections."""
    return folder / "source" / "citations"


def _get_table_folders(folder: Path) -> list[Path]:
    return [path.parent for path in get_table_files(folder, "")]


def _get_reason_path(pairs: Path) -> Path:
    """Return the file that says why a collection has no pairs."""
    return pairs.with_suffix(".rejected")


def _get_day(pairs: Path) -> str:
    """Return the day on which NIH published these pairs."""
    return pairs.stem.rpartition("-")[0]


def read_pairs(path: Path, pairs: Path) -> Iterator[tuple[int, int]]:
    """Convert NIH's table in a ZIP file to Parquet; yield the bytes read and their total.

    Raises
    ------
    BadContent
        The file is not NIH's ZIP, or holds something other than PMIDs.
    """
    import pyarrow as pa
    from pyarrow import compute, csv

    schema = pa.schema([(end, pa.int32()) for end in ENDS])
    reading = csv.ReadOptions(use_threads=False, column_names=list(ENDS), block_size=_BLOCK)
    converting = csv.ConvertOptions(column_types=schema)
    try:
        with zipfile.ZipFile(path) as packed, packed.open(nih.TABLE_NAME) as table:
            head = table.readline(1000).decode("utf-8-sig", "replace")
            if tuple(name.strip().strip('"') for name in head.split(",")) != nih.HEADER:
                _reject(f"its columns are {head.strip()[:80]!r}, not {', '.join(nih.HEADER)}")
            total = packed.getinfo(nih.TABLE_NAME).file_size
            with open_part_file(pairs, schema, use_dictionary=[]) as file:
                for batch in csv.open_csv(table, reading, convert_options=converting):
                    for column in batch.columns:
                        if column.null_count or compute.min(column).as_py() < 1:
                            _reject("a number in it is not a valid PMID")
                    file.write_batch(batch)
                    if table.tell() > nih.MAX_BYTES:
                        _reject("it unpacks to more than 100 GB")
                    yield table.tell(), total
    except (pa.ArrowInvalid, *_BROKEN_ZIP) as error:
        _reject(str(error).splitlines()[0][:200])


def _reject(reason: str) -> NoReturn:
    """Raise an error that says why a file is not NIH's collection."""
    msg = f"It is not a ZIP file with NIH's table of citations: {reason}."
    raise BadContent(msg, verdict="not_a_paper")
