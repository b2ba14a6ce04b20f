"""The published table of citations: what papers cite and who cites them, without any request."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..command_line import command_line
from ..errors import EmptyStore, StoreFailed
from ..system import safe_files
from .generations import open_duckdb, read_facts
from .parts import compute_sha256
from .verify import Verified

if TYPE_CHECKING:
    import duckdb

End = Literal["citing", "cited"]
ENDS: tuple[End, End] = ("citing", "cited")
SOURCES = {"nih_occ": 1, "pubmed": 2}
"""The sources of a citation, as bits: NIH's Open Citation Collection, and PubMed's record."""
_LABELS = {"nih_occ": "NIH Open Citation Collection", "pubmed": "PubMed's records"}
_AGAIN = f"to make it again: {command_line('mirror citations')}"


@dataclass(frozen=True, slots=True)
class CitationTable:
    """A state of the table of citations.

    ``collection`` is the day of NIH's snapshot, and ``pubmed`` the generation of records (empty:
    not used). Of all ``edges``, ``nih_occ`` are in NIH's collection and ``records`` in the records;
    many are in both. ``digests`` are the SHA-256 of its two files, one sorted by each end. ``rate``
    is the number of edges that one core of this machine joined in a second (0: unknown).
    """

    name: str
    collection: str
    pubmed: str
    edges: int
    nih_occ: int
    records: int
    digests: dict[str, str]
    made_at: str
    rate: float = 0.0


def get_table_files(folder: Path, name: str) -> list[Path]:
    """Return the two files of a table: sorted by citing paper, and by cited paper."""
    return [folder / "part" / "citations" / end / f"{name}.parquet" for end in ENDS]


def get_pointer(folder: Path) -> Path:
    """Return the file that says which table is published, and what is in the table."""
    return folder / "current" / "citations"


def get_published_table(folder: Path) -> CitationTable | None:
    """Return the published table of a mirror; None without a readable one."""
    return read_facts(CitationTable, get_pointer(folder))


def publish_table(folder: Path, table: CitationTable) -> None:
    """Make *table* the one in use."""
    safe_files.make_folder(get_pointer(folder).parent)
    safe_files.write_file(get_pointer(folder), json.dumps(asdict(table), indent=1).encode())


@dataclass(frozen=True, slots=True)
class Edge:
    """A paper at the other end of a citation, and who says so (of `SOURCES`)."""

    pmid: int
    sources: tuple[str, ...]


class Citations:
    """Asks the published table.

    Raises
    ------
    EmptyStore
        There is none yet.
    """

    def __init__(self, folder: Path) -> None:
        self._mirror = folder
        current = get_published_table(folder)
        if current is None:
            msg = f"There is no table of citations in {folder}."
            raise EmptyStore(msg, f"Make it: {command_line('mirror citations')}")
        self.table: CitationTable = current
        days = {"nih_occ": current.collection, "pubmed": current.pubmed.partition("-")[0]}
        self.indexes = {key: f"{label}, {days[key]}" for key, label in _LABELS.items() if days[key]}
        self.label = f"mirror ({'; '.join(self.indexes.values())})"

    def cited(self, pmids: Iterable[int]) -> dict[int, list[Edge]]:
        """Return the papers that each paper cites, the newest first; empty where unknown.

        Raises
        ------
        StoreFailed
            A file of the table is gone or damaged.
        """
        return self._query_table(pmids, "citing", "cited")

    def citing(self, pmids: Iterable[int]) -> dict[int, list[Edge]]:
        """Return the papers that cite each paper, the newest first; see `cited`."""
        return self._query_table(pmids, "cited", "citing")

    @cached_property
    def _database(self) -> duckdb.DuckDBPyConnection:
        """The shared DuckDB connection; each thread queries through its own cursor."""
        return open_duckdb(self._mirror)

    def _query_table(self, pmids: Iterable[int], by: End, other: End) -> dict[int, list[Edge]]:
        import duckdb

        found: dict[int, list[Edge]] = {pmid: [] for pmid in pmids}
        path = get_table_files(self._mirror, self.table.name)[ENDS.index(by)]
        query = f"SELECT {other}, sources FROM read_parquet(?) WHERE {by} = ? ORDER BY 1 DESC"  # noqa: S608
        try:
            with closing(self._database.cursor()) as db:
                for pmid, edges in found.items():
                    for one, bits in db.execute(query, [str(path), pmid]).fetchall():
                        names = tuple(name for name, bit in SOURCES.items() if bits & bit)
                        edges.append(Edge(one, names))
        except duckdb.Error as error:
            hint = f"Delete it if it is damaged, and run: {command_line('mirror citations')}"
            msg = f"{path} cannot be read: {str(error).splitlines()[0]}"
            raise StoreFailed(msg, hint) from error
        return found


def verify_table(folder: Path) -> Iterator[Verified]:
    """Compare the files of the published table with the SHA-256 recorded when they were made.

    Raises
    ------
    EmptyStore
        There is no table yet.
    """
    table = Citations(folder).table
    for end, path in zip(ENDS, get_table_files(folder, table.name), strict=True):
        name = f"{end}/{path.name}"
        if not path.exists():
            faults: tuple[str, ...] = (f"{name} is gone: {_AGAIN}",)
        elif compute_sha256(path) != table.digests[end]:
            faults = (f"{name} is damaged: delete it, and {_AGAIN}",)
        else:
            faults = ()
        yield Verified(name, faults, table.edges)
