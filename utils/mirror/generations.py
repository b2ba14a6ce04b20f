"""Generations: which row of which part counts, published by one pointer.

Of each PMID the last row counts: that of the file with the highest number, and there the last one.
If it is a deletion, no row counts. Of PubMed's few papers with several versions the highest version
counts that is not deleted. So the order in which files came, or were read, cannot matter.

A generation is a folder of three files: ``live.parquet`` (the rows that count, by PMID),
``names.parquet`` (papers by DOI or PMCID, texts by PMID or DOI) and ``manifest.parquet`` (the
source files). The file ``current`` names the published generation; it is replaced in one step, so
that no reader sees half of a generation.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..command_line import command_line
from ..errors import EmptyStore, NotFound, StoreFailed, UnknownName
from ..model.paper import utc_now
from ..system import safe_files
from .manifest import FILE_COLUMNS, SourceFile
from .parts import READERS, open_part_file

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from ..model.identifiers import Ids

T = TypeVar("T")
NAMES = "names.parquet"
FILES = ("live.parquet", NAMES, "manifest.parquet")
"""The files of a generation, beside its own description."""
KEYS = {"pubmed": "pmid", "pmc": "pmcid"}
"""By source, the column that identifies the paper of a row."""
_KEPT = 2  # the published generation, and the one before it
_ROWS = 1 << 16  # of a row group: a search for a PMID reads one
_MEMORY = "2GB"
_MAKING = ".making-"
_ORDER = "sequence::BIGINT * 1000000 + position"
_PART_ROWS = "SELECT {key}, version, sequence, position, deleted FROM read_parquet($parts)"
_EARLIER_ROWS = "SELECT {key}, version, sequence, position, false FROM read_parquet($earlier)"
_LIVE = f"""
    WITH last AS (
        SELECT {{key}}, version, max({_ORDER}) AS place, arg_max(deleted, {_ORDER}) AS deleted
        FROM ({{rows}}) GROUP BY {{key}}, version
    )
    SELECT {{key}}, version, (place // 1000000)::INTEGER AS sequence,
           (place % 1000000)::INTEGER AS position
    FROM (
        SELECT {{key}}, max(version) AS version, arg_max(place, version) AS place
        FROM last WHERE NOT deleted GROUP BY {{key}}
    ) ORDER BY {{key}}
"""  # noqa: S608 - of constants
_WITHDRAWN = """
    SELECT count(*) FROM read_parquet($parts) AS row SEMI JOIN read_parquet($earlier) AS live
    ON row.{key} = live.{key} AND row.version = live.version
    WHERE row.deleted AND row.version > 1
"""
_LIVE_ROWS = """
    FROM read_parquet($parts) AS row SEMI JOIN read_parquet($live) AS live
    ON row.sequence = live.sequence AND row.position = live.position
"""
_NEW_NAMES = {
    "pubmed": f"""
        SELECT * FROM (SELECT unnest([row.doi, row.pmcid]) AS name, row.pmid {_LIVE_ROWS})
        WHERE name IS NOT NULL
    """,  # noqa: S608 - of constants
    "pmc": f"SELECT row.pmid, lower(row.doi) AS doi, row.pmcid {_LIVE_ROWS}",
}
_NAME_COLUMNS = {
    "pubmed": {"name": "string", "pmid": "int32"},
    "pmc": {"pmid": "int32", "doi": "string", "pmcid": "int32"},
}
_NAME_OPTIONS: dict[str, dict[str, Any]] = {
    "pubmed": {
        "use_dictionary": False,
        "column_encoding": {"name": "DELTA_BYTE_ARRAY", "pmid": "PLAIN"},
    },
}
_KEPT_NAMES = """
    SELECT named.* FROM read_parquet($earlier) AS named
    SEMI JOIN (SELECT * FROM read_parquet($live) WHERE sequence <= $last) AS live
    ON named.{key} = live.{key}
"""


@dataclass(frozen=True, slots=True)
class Generation:
    """A state of a whole database.

    ``name`` holds its last file and the beginning of ``digest``, a SHA-256 over the parts and over
    the rows that count: the same files give the same digest, wherever they were read. ``papers`` is
    the number of PMIDs that count. ``missing`` are files without a part, each with its reason.
    """

    name: str
    source: str
    digest: str
    papers: int
    records: int
    deletions: int
    passages: int
    files: int
    bytes: int
    missing: dict[str, str]
    tools: dict[str, str]
    made_at: str

    @property
    def year(self) -> int:
        """The year of its baseline, two digits."""
        return int(self.name.partition("n")[0])


class Generations:
    """The generations of one source in a mirror."""

    def __init__(self, folder: Path, source: str) -> None:
        self.mirror, self.source = folder, source
        self.folder = folder / "generation" / source
        self._pointer = folder / "current" / source

    def get_published(self) -> Generation | None:
        """Return the published generation; None without one.

        Raises
        ------
        NotFound
            It is gone, or damaged.
        """
        if not (name := self._read_pointer()):
            return None
        if found := read_facts(Generation, self.folder / name / "generation.json"):
            return found
        msg = f"The published generation, {name}, is gone or damaged."
        raise NotFound(msg, f"Make it again: {command_line(f'mirror {self.source}')}")

    def _read_pointer(self) -> str:
        """Return the name of the published generation; empty without one."""
        with safe_files.disk_errors(self._pointer, "read"), suppress(FileNotFoundError):
            return self._pointer.read_text(encoding="utf-8").strip()
        return ""

    def get_complete(self) -> Generation | None:
        """Return the published generation; None without one, or if a file of it is missing."""
        with suppress(NotFound):
            current = self.get_published()
            if current and all((self.folder / current.name / name).exists() for name in FILES):
                return current
        return None

    def get_published_name(self) -> str:
        """Return the published generation's name, even if damaged; empty without one.

        If no pointer is here, the newest generation here counts.
        """
        if name := self._read_pointer():
            return name
        here = (path.name for path in self.folder.glob("[!.]*-*"))
        return max(here, key=lambda name: name.partition("-")[0], default="")

    def require_current(self) -> Generation:
        """Return the published generation.

        Raises
        ------
        EmptyStore
            There is none yet.
        """
        if current := self.get_published():
            return current
        msg = f"There is no mirror of {self.source} in {self.mirror}."
        raise EmptyStore(msg, f"Make it: {command_line(f'mirror {self.source}')}")

    def read_generation(self, name: str) -> Generation:
        """Return a generation by name.

        Raises
        ------
        UnknownName
            No generation has that name.
        """
        path = self.folder / Path(name).name / "generation.json"
        if found := read_facts(Generation, path):
            return found
        known = ", ".join(one.name for one in self.list_generations())
        hint = f"Choose among {known}." if known else "None was published yet."
        raise UnknownName(f"There is no generation {name}.", hint)

    def list_generations(self) -> list[Generation]:
        """Return all generations, the newest last."""
        paths = self.folder.glob("[!.]*/generation.json")
        found = [one for path in paths if (one := read_facts(Generation, path))]
        return sorted(found, key=lambda one: (one.name.partition("-")[0], one.made_at))

    def publish(self, name: str) -> Generation:
        """Make a generation the one that searches use."""
        generation = self.read_generation(name)
        safe_files.make_folder(self._pointer.parent)
        safe_files.write_file(self._pointer, f"{generation.name}\n".encode())
        return generation

    def build(self, files: Sequence[SourceFile], missing: dict[str, str]) -> Generation:
        """Make a generation from files that were read; it is not published yet.

        Raises
        ------
        StoreFailed
            A part is gone or damaged, or the disk refuses.
        """
        for killed in self.folder.glob(f"{_MAKING}*"):
            shutil.rmtree(killed, ignore_errors=True)
        making = self.folder / f"{_MAKING}{files[-1].sequence}"
        safe_files.make_folder(making)
        generation = self.write_tables(files, missing, making, self._find_earlier(files))
        self._move_into_place(making, generation)
        return generation

    def write_tables(
        self,
        files: Sequence[SourceFile],
        missing: dict[str, str],
        folder: Path,
        earlier: Generation | None = None,
    ) -> Generation:
        """Write the tables of a generation into an empty folder.

        With an *earlier* generation, only the parts that it lacks are read; see `_find_earlier`.
        """
        parts = [str(file.get_part_path(self.mirror)) for file in files]
        new = parts[earlier.files if earlier else 0 :]
        with closing(open_duckdb(self.mirror)) as db:
            papers, rows = self._write_live(db, new, folder, earlier)
            self._write_names(db, new, folder, earlier)
        self._write_manifest(files, folder)
        digest = _compute_digest(files, rows)
        return Generation(
            name=f"{files[-1].sequence}-{digest[:12]}",
            source=self.source,
            digest=digest,
            papers=papers,
            **{name: sum(getattr(file, name) for file in files)
               for name in ("records", "deletions", "passages", "bytes")},
            files=len(files),
            missing=missing,
            tools=_list_tools(self.source),
            made_at=utc_now(),
        )  # fmt: skip

    def _find_earlier(self, files: Sequence[SourceFile]) -> Generation | None:
        """Return the published generation if its rows and those of newer files suffice.

        They do not suffice if one of its files changed, or if a later version of a paper is
        deleted: then an earlier version may count again, and all parts have to be read.
        """
        if (current := self.get_complete()) is None or len(files) <= current.files:
            return None
        same = zip(self.list_files(current), files, strict=False)
        if any((one.order, one.digest) != (other.order, other.digest) for one, other in same):
            return None
        params = {
            "parts": [str(file.get_part_path(self.mirror)) for file in files[current.files :]],
            "earlier": str(self.folder / current.name / "live.parquet"),
        }
        query = _WITHDRAWN.format(key=KEYS[self.source])
        with closing(open_duckdb(self.mirror)) as db, explain_query_errors("The parts"):
            [[withdrawn]] = db.execute(query, params).fetchall()
        return None if withdrawn else current

    def _move_into_place(self, making: Path, generation: Generation) -> None:
        """Move a finished generation to its folder, or replace the files there.

        A generation of that name may be published (with other reasons for missing files), or be
        damaged. Its files are replaced one by one, so that each is there at any time.
        """
        text = json.dumps(asdict(generation), indent=1).encode()
        safe_files.write_file(making / "generation.json", text)
        place = self.folder / generation.name
        with safe_files.disk_errors(place):
            if place.exists():
                for path in sorted(making.iterdir()):
                    path.replace(place / path.name)
                making.rmdir()
            else:
                making.replace(place)
            safe_files.flush_folder(self.folder)

    def _write_live(
        self,
        db: duckdb.DuckDBPyConnection,
        parts: list[str],
        folder: Path,
        earlier: Generation | None,
    ) -> tuple[int, str]:
        """Write the rows that count; return their number and their SHA-256."""
        params: dict[str, Any] = {"parts": parts}
        rows, path, key = _PART_ROWS, folder / "live.parquet", KEYS[self.source]
        if earlier:
            params["earlier"] = str(self.folder / earlier.name / path.name)
            rows = f"{rows} UNION ALL {_EARLIER_ROWS}"
        query = _LIVE.format(key=key, rows=rows.format(key=key))
        columns = {key: "int32", "version": "int16", "sequence": "int32", "position": "int32"}
        digest = hashlib.sha256()

        def hash_tables() -> Iterator[pa.Table]:
            for table in read_even_tables(db, query, params, columns):
                for column in table.columns:
                    digest.update(column.combine_chunks().to_numpy().tobytes())
                yield table

        count = _write_tables(path, columns, hash_tables())
        return count, digest.hexdigest()

    def _write_names(
        self,
        db: duckdb.DuckDBPyConnection,
        parts: list[str],
        folder: Path,
        earlier: Generation | None,
    ) -> None:
        """Write the names of the rows that count: DOI and PMCID by PMID, or PMID and DOI."""
        params: dict[str, Any] = {"parts": parts, "live": str(folder / "live.parquet")}
        query = _NEW_NAMES[self.source]
        if earlier:
            params["earlier"] = str(self.folder / earlier.name / NAMES)
            params["last"] = self.list_files(earlier)[-1].order
            query += f" UNION ALL {_KEPT_NAMES.format(key=KEYS[self.source])}"
        columns = _NAME_COLUMNS[self.source]
        tables = read_even_tables(db, f"{query} ORDER BY ALL", params, columns)
        _write_tables(folder / NAMES, columns, tables, **_NAME_OPTIONS.get(self.source, {}))

    def _write_manifest(self, files: Sequence[SourceFile], folder: Path) -> None:
        """Write the table of a generation's files."""
        import pyarrow as pa

        table = pa.Table.from_pylist([asdict(file) for file in files])
        with open_part_file(folder / "manifest.parquet", table.schema) as writer:
            writer.write_table(table)

    def list_files(self, generation: Generation) -> list[SourceFile]:
        """Return the files of a generation."""
        from pyarrow import parquet

        with safe_files.disk_errors(self.folder, "read"):
            table = parquet.read_table(self.folder / generation.name / "manifest.parquet")
        return [*map(SourceFile, *table.select(FILE_COLUMNS).to_pydict().values())]

    def count_live_rows(self, generation: Generation) -> dict[int, int]:
        """Return the number of rows that count in each file, by the order of the file."""
        from pyarrow import parquet

        with safe_files.disk_errors(self.folder, "read"):
            path = self.folder / generation.name / "live.parquet"
            counts = parquet.read_table(path, columns=["sequence"])["sequence"].value_counts()
        found = {file.order: 0 for file in self.list_files(generation)}
        return found | {one["values"]: one["counts"] for one in counts.to_pylist()}

    def delete_old_generations(self) -> list[SourceFile]:
        """Delete all but the last two published generations; return the files of the others."""
        current = self.get_published()
        others = [one for one in self.list_generations() if current and one.name != current.name]
        for one in others[: -(_KEPT - 1)]:
            shutil.rmtree(self.folder / one.name, ignore_errors=True)
        return [file for one in self.list_generations() for file in self.list_files(one)]


def open_duckdb(folder: Path) -> duckdb.DuckDBPyConnection:
    """Open a DuckDB that uses at most 2 GB of memory, and the folder beyond that."""
    import duckdb

    spill = folder / "tmp"
    options: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": _MEMORY, "temp_directory": str(spill), "autoinstall_known_extensions": False
    }  # fmt: skip
    return duckdb.connect(config=options)


def read_even_tables(
    db: duckdb.DuckDBPyConnection,
    query: str,
    params: list[Any] | dict[str, Any],
    columns: dict[str, str] | None = None,
) -> Iterator[pa.Table]:
    """Yield the rows of a query in tables of the same length, with *columns* of these types.

    Raises
    ------
    StoreFailed
        A part is gone or damaged, or the disk refuses.
    """
    import pyarrow as pa

    with explain_query_errors("The parts"):
        reader = db.sql(query, params=params).to_arrow_reader(_ROWS)
        schema = pa.schema([*columns.items()]) if columns else reader.schema
        held: list[pa.RecordBatch] = []
        for batch in reader:
            held.append(batch)
            while sum(one.num_rows for one in held) >= _ROWS:
                table = pa.Table.from_batches(held)
                yield table.slice(0, _ROWS).cast(schema)
                held = table.slice(_ROWS).to_batches()
        if held:
            yield pa.Table.from_batches(held).cast(schema)


def write_query_result(
    db: duckdb.DuckDBPyConnection, query: str, path: Path, params: dict[str, Any]
) -> None:
    """Write the result of a query to a Parquet file, which appears once it is complete."""
    safe_files.make_folder(path.parent)
    with safe_files.replace_flushed(path) as part:
        copy = f"COPY ({query}) TO $file (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2)"
        db.execute(copy, {"file": str(part), **params})


@contextmanager
def explain_query_errors(what: str) -> Iterator[None]:
    """Raise errors of DuckDB as `StoreFailed`; *what* names what a query joins."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        hint = f"To name damaged parts: {command_line('mirror verify')}"
        if "No space left" in str(error):
            hint = "The disk is full: free some space and try again."
        raise StoreFailed(f"{what} cannot be joined: {str(error).splitlines()[0]}", hint) from error


def read_facts(kind: type[T], path: Path) -> T | None:
    """Return an object of *kind* from a JSON file of its fields; None if it cannot be read."""
    try:
        return kind(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _compute_digest(files: Sequence[SourceFile], rows: str) -> str:
    """Return the SHA-256 of a generation, from its parts and the digest of its rows."""
    lines = [f"{one.sequence} {one.md5} {one.digest} {one.passages_digest}" for one in files]
    return hashlib.sha256("\n".join([*lines, rows]).encode()).hexdigest()


def _list_tools(source: str) -> dict[str, str]:
    """Return the versions of the libraries, because others may write other bytes."""
    from importlib.metadata import version as version_of

    from ..system.process import get_version

    libraries = {name: version_of(name) for name in ("pyarrow", "duckdb", "lxml")}
    return {"papershelf": get_version(), "reader": str(READERS[source]), **libraries}


def _write_tables(
    path: Path, columns: dict[str, str], tables: Iterable[pa.Table], **options: Any
) -> int:
    """Write tables to a new Parquet file, a row group each; return the number of its rows."""
    import pyarrow as pa

    rows = 0
    with open_part_file(path, pa.schema([*columns.items()]), **options) as writer:
        for table in tables:
            writer.write_table(table, row_group_size=_ROWS)
            rows += table.num_rows
    return rows


def find_pmids(
    wanted: Iterable[Ids], generations: Generations, generation: Generation
) -> dict[Ids, int]:
    """Return the PMID of each paper, by PMID, DOI or PMCID.

    A name that several records have belongs to none of them.
    """
    from pyarrow import parquet

    from .reading import explain_unreadable

    known = {ids: int(ids.pmid) for ids in wanted if ids.pmid}
    asked = {ids: {ids.doi, ids.pmcid} - {""} for ids in wanted if not ids.pmid}
    names = sorted({name for some in asked.values() for name in some})
    path = generations.folder / generation.name / NAMES
    if not names or not path.exists():
        return known
    with explain_unreadable():
        rows = parquet.read_table(path, filters=[("name", "in", names)]).to_pylist()
    found: dict[str, set[int]] = defaultdict(set)
    for row in rows:
        found[row["name"]].add(row["pmid"])
    for ids, some in asked.items():
        pmids = {pmid for name in some for pmid in found.get(name, ())}
        if len(pmids) == 1:
            known[ids] = pmids.pop()
    return known
