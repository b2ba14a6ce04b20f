"""Make the table of citations from NIH's Open Citation Collection and PubMed's reference lists.

DuckDB joins both into one table of edges, each pair once: one file sorted by the citing paper, and
one sorted by the cited paper. It works within a fixed memory and spills to the mirror's disk. NIH's
collection is read once, into a file of pairs that stays.

A table is named after NIH's file and the generation of records, so that it is not made again when
nothing has changed. It is published by one pointer, as a generation of records is; a run that is
killed leaves the former table in place.
"""

from __future__ import annotations

import hashlib
import json
import time
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ..command_line import command_line
from ..errors import BadContent, EmptyStore, NotAvailable, Unreachable
from ..model.paper import utc_now
from ..sources.citation_collection import (
    HEADER,
    MAX_BYTES,
    TABLE_NAME,
    Snapshot,
    fetch_snapshot,
    find_newest_snapshot,
)
from ..system import safe_files
from .citation_table import (
    ENDS,
    SOURCES,
    CitationTable,
    Tables,
    get_citations_folder,
    get_table_files,
)
from .generations import (
    Generation,
    Generations,
    explain_query_errors,
    open_duckdb,
    read_facts,
)
from .locks import exclusive_lock
from .parts import PartFile, compute_sha256
from .reading import open_sql

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from ..http import Web

_FORM = "2"  # of a table; after a change of the form all tables are made again
_MOST_PMID = 1 << 27
_BLOCK = 1 << 24  # bytes of NIH's table that are read at once
_NO_ZIP = (zipfile.BadZipFile, zlib.error, KeyError, EOFError, NotImplementedError)
_MAKE = f"""
    COPY (
        SELECT citing, cited, bit_or(source)::UTINYINT AS sources FROM (
            SELECT citing, cited, {SOURCES["nih_occ"]} AS source FROM nih
            UNION ALL
            SELECT pmid AS citing, unnest(cited) AS cited, {SOURCES["pubmed"]} AS source
            FROM records WHERE pmid < {_MOST_PMID}
        ) GROUP BY citing, cited ORDER BY citing, cited
    ) TO $file (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2)
"""  # noqa: S608 - numbers of our own
_TURN = """
    COPY (SELECT * FROM read_parquet($made) ORDER BY cited, citing)
    TO $file (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2)
"""
_COUNT = f"""
    SELECT count(*), count(*) FILTER (sources & {SOURCES["nih_occ"]} > 0),
           count(*) FILTER (sources & {SOURCES["pubmed"]} > 0) FROM read_parquet($file)
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


@dataclass(frozen=True, slots=True)
class Collection:
    """NIH's collection on this disk: its day and MD5; ``reason`` says why it is unusable."""

    published: str
    md5: str
    reason: str = ""

    def get_pairs_path(self, folder: Path) -> Path:
        """Return the file of its pairs."""
        return get_citations_folder(folder) / f"nih-{self.md5}.parquet"

    def get_note_path(self, folder: Path) -> Path:
        """Return the path of the file that records that the collection was read."""
        return get_citations_folder(folder) / f"nih-{self.md5}.json"


def update(folder: Path, web: Web, *, keep: bool = False) -> Iterator[CitationsProgress]:
    """Bring the table of citations of a mirror up to date; iterating over it does the work.

    Parameters
    ----------
    folder : Path
        The folder of the mirror, whose published records are used.
    web : Web
        A client for this update alone.
    keep : bool, optional
        Whether NIH's ZIP stays once it is read.

    Raises
    ------
    StoreBusy
        Another process updates the table.
    EmptyStore
        The mirror has no records of PubMed, and NIH's collection cannot be fetched.
    StoreFailed
        The disk refuses, or a part is damaged; what was made stays.
    """
    place = get_citations_folder(folder)
    safe_files.make_folder(place)
    with exclusive_lock(folder / "citations.lock", f"the citations in {folder}"):
        for one in (place, *(place / end for end in ENDS)):
            safe_files.delete_stale_temporary_files(one)
        yield from _Update(folder, web, keep).run_steps()


def list_collections(folder: Path) -> list[Collection]:
    """Return the collections that were read or rejected, the newest last."""
    notes = get_citations_folder(folder).glob("nih-*.json")
    found = [one for path in notes if (one := read_facts(Collection, path))]
    here = [one for one in found if one.reason or one.get_pairs_path(folder).exists()]
    return sorted(here, key=lambda one: one.published)


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
        collection = yield from self._find_collection()
        generation = Generations(self.folder, "pubmed").get_published()
        if collection is None and generation is None:
            why = " ".join(self.progress.notes) or "The mirror has no citations."
            raise EmptyStore(why, f"Run it again, or first: {command_line('mirror pubmed')}")
        tables, name = Tables(self.folder), _build_table_name(collection, generation)
        before = tables.get_published()
        whole = before and all(path.exists() for path in get_table_files(self.folder, before))
        if before is None or before.name != name or not whole:
            table = yield from self._make_table(name, collection, generation)
            tables.publish(table)
            self._advance_progress(changed=True)
        self._delete_unused(tables, collection)
        yield self._advance_progress(step="done", table=tables.get_published())

    def _find_collection(self) -> Steps[Collection | None]:
        """Find NIH's newest collection, and read it; else the one on this disk."""
        known = list_collections(self.folder)
        try:
            snapshot = find_newest_snapshot(self.web)
            here = next((one for one in known if one.md5 == snapshot.md5), None)
            here = here or (yield from self._read_snapshot(snapshot))
        except (Unreachable, NotAvailable, BadContent) as error:
            down = isinstance(error, Unreachable)
            return self._choose_earlier_collection(known, error.message, unreachable=down)
        if here.reason:
            reason = f"NIH's collection of {here.published} is set aside: {here.reason}"
            return self._choose_earlier_collection(
                [one for one in known if one is not here], reason
            )
        return here

    def _choose_earlier_collection(
        self, known: list[Collection], why: str, *, unreachable: bool = False
    ) -> Collection | None:
        """Return the newest usable collection here, and note why none could be fetched."""
        usable = [one for one in known if not one.reason]
        has = f"that of {usable[-1].published} is used" if usable else "none is here yet"
        note = f"NIH's newest collection could not be fetched, {has}: {why}"
        self._advance_progress(notes=(*self.progress.notes, note), unreachable=unreachable)
        return usable[-1] if usable else None

    def _read_snapshot(self, snapshot: Snapshot) -> Steps[Collection]:
        """Fetch a snapshot and read its pairs."""
        path = self._zip_folder / f"{snapshot.published}-{snapshot.md5}.zip"
        safe_files.make_folder(path.parent)
        if not path.exists():
            for size in fetch_snapshot(snapshot, path, self.web):
                yield self._advance_progress(step="fetching", done=size, total=snapshot.size)
        collection = Collection(snapshot.published, snapshot.md5)
        try:
            for done, total in read_pairs(path, collection.get_pairs_path(self.folder)):
                yield self._advance_progress(step="reading", done=done, total=total)
        except BadContent as error:
            collection = replace(collection, reason=error.message)
        text = json.dumps(asdict(collection)).encode()
        safe_files.write_file(collection.get_note_path(self.folder), text)
        if not self.keep or collection.reason:
            safe_files.delete_if_exists(path)
        return collection

    def _make_table(
        self, name: str, collection: Collection | None, generation: Generation | None
    ) -> Steps[CitationTable]:
        """Join both sources, in both orders."""
        began = time.process_time()
        citing, cited = (
            get_citations_folder(self.folder) / end / f"{name}.parquet" for end in ENDS
        )
        with (
            explain_query_errors("The citations"),
            closing(self._open_database(collection, generation)) as db,
        ):
            yield self._advance_progress(step="joining", done=0, total=len(ENDS))
            _write_query_result(db, _MAKE, citing)
            yield self._advance_progress(done=1)
            _write_query_result(db, _TURN, cited, made=str(citing))
            row = db.execute(_COUNT, {"file": str(citing)}).fetchone() or (0, 0, 0)
        seconds = time.process_time() - began
        return CitationTable(
            name=name,
            collection=collection.published if collection else "",
            pubmed=generation.name if generation else "",
            edges=row[0],
            nih_occ=row[1],
            records=row[2],
            digests=dict(zip(ENDS, map(compute_sha256, (citing, cited)), strict=True)),
            made_at=utc_now(),
            rate=round(row[0] / seconds) if seconds else 0.0,
        )

    def _open_database(
        self, collection: Collection | None, generation: Generation | None
    ) -> duckdb.DuckDBPyConnection:
        """Return a DuckDB with the views ``records`` and ``nih``."""
        if generation:
            db = open_sql(Generations(self.folder, "pubmed"))
        else:
            db = open_duckdb(self.folder)
            db.execute("CREATE VIEW records AS SELECT 1 AS pmid, [1] AS cited WHERE false")
        pairs = "SELECT 1 AS citing, 1 AS cited WHERE false"
        if collection:
            path = str(collection.get_pairs_path(self.folder)).replace("'", "''")
            pairs = f"SELECT * FROM read_parquet('{path}')"  # noqa: S608 - a path of our own
        db.execute(f"CREATE VIEW nih AS {pairs}")
        return db

    def _delete_unused(self, tables: Tables, collection: Collection | None) -> None:
        """Delete what neither the published table nor the one before needs."""
        needed = {
            path for one in tables.delete_old_tables() for path in get_table_files(self.folder, one)
        }
        for end in ENDS:
            for path in (get_citations_folder(self.folder) / end).glob("*.parquet"):
                if path not in needed:
                    safe_files.delete_if_exists(path)
        for one in list_collections(self.folder):
            if collection and one.published < collection.published:
                safe_files.delete_if_exists(one.get_pairs_path(self.folder))
                safe_files.delete_if_exists(one.get_note_path(self.folder))
        for path in self._zip_folder.glob(".*.fetched"):
            if collection and path.name[1:] < collection.published:
                safe_files.delete_if_exists(path)

    @property
    def _zip_folder(self) -> Path:
        """The folder of NIH's ZIP files."""
        return self.folder / "source" / "citations"

    def _advance_progress(self, **facts: Any) -> CitationsProgress:
        seconds = time.monotonic() - self.began
        self.progress = replace(self.progress, **facts, seconds=seconds)
        return self.progress


def _build_table_name(collection: Collection | None, generation: Generation | None) -> str:
    """Return the table's name, made of the collection and the generation that it is built from."""
    day, of = collection.published if collection else "", generation.name if generation else ""
    facts = (_FORM, collection.md5 if collection else "", generation.digest if generation else "")
    begins = "+".join(filter(None, (day, of.partition("-")[0])))
    return f"{begins}-{hashlib.sha256(chr(10).join(facts).encode()).hexdigest()[:12]}"


def _write_query_result(
    db: duckdb.DuckDBPyConnection, query: str, path: Path, **params: str
) -> None:
    """Write the result of a query to a file, which appears once it is complete."""
    safe_files.make_folder(path.parent)
    part = safe_files.build_part_path(path)
    try:
        db.execute(query, {"file": str(part), **params})
        safe_files.flush_file(part)
        with safe_files.disk_errors(path):
            safe_files.replace_file(part, path)
            safe_files.flush_folder(path.parent)
    finally:
        safe_files.delete_if_exists(part)


def read_pairs(path: Path, pairs: Path) -> Iterator[tuple[int, int]]:
    """Convert NIH's table in a ZIP file to Parquet; yield the bytes read and their total.

    Raises
    ------
    BadContent
        The file is not NIH's ZIP, or holds something other than PMIDs.
    """
    import pyarrow as pa

    try:
        with zipfile.ZipFile(path) as packed, packed.open(TABLE_NAME) as table:
            head = table.readline(1000).decode("utf-8-sig", "replace")
            if tuple(name.strip().strip('"') for name in head.split(",")) != HEADER:
                msg = f"Its columns are {head.strip()[:80]!r}, not {', '.join(HEADER)}."
                raise BadContent(msg, verdict="not_a_paper")
            total = packed.getinfo(TABLE_NAME).file_size
            with PartFile(pairs, _make_schema(), dictionaries=[]) as file:
                for batch in _read_batches(table):
                    file.write_row_group(batch)
                    if table.tell() > MAX_BYTES:
                        raise BadContent("It unpacks to more than 100 GB.", verdict="not_a_paper")
                    yield table.tell(), total
                file.commit()
    except pa.ArrowInvalid as error:
        msg = f"The file is not a table of PMIDs: {str(error).splitlines()[0][:200]}"
        raise BadContent(msg, verdict="not_a_paper") from None
    except _NO_ZIP as error:
        msg = f"The file is not a ZIP with {TABLE_NAME}: {error}"
        raise BadContent(msg, verdict="not_a_paper") from None


def _make_schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema([(end, pa.int32()) for end in ENDS])


def _read_batches(table: Any) -> Iterator[pa.RecordBatch]:
    """Yield NIH's pairs in batches, after checking that each number is a PMID."""
    import pyarrow.compute as pc
    from pyarrow import csv

    columns = {field.name: field.type for field in _make_schema()}
    reading = csv.ReadOptions(use_threads=False, column_names=list(ENDS), block_size=_BLOCK)
    converting = csv.ConvertOptions(column_types=columns)
    for batch in csv.open_csv(table, read_options=reading, convert_options=converting):
        for column in batch.columns:
            least, most = pc.min_max(column).values()
            if column.null_count or least.as_py() < 1:
                raise BadContent("A number in it is not a valid PMID.", verdict="not_a_paper")
            if most.as_py() >= _MOST_PMID:
                raise BadContent("A number in it is too large for a PMID.", verdict="not_a_paper")
        yield batch
