"""The published table of citations: what papers cite and who cites them, without any request."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..command_line import command_line
from ..errors import EmptyStore, PaperError, StoreFailed
from ..http.messages import is_answer_fresh
from ..settings import Settings
from ..system import safe_files
from .generations import open_duckdb, read_facts
from .parts import compute_sha256
from .verify import Verified

if TYPE_CHECKING:
    import duckdb

log = logging.getLogger(__name__)
DAYS = 45.0
"""Days for which a table replaces a site's own list: NIH's collection appears once a month."""
End = Literal["citing", "cited"]
ENDS: tuple[End, End] = ("citing", "cited")
SOURCES = {"nih_occ": 1, "pubmed": 2}
"""The sources of a citation, as bits: NIH's Open Citation Collection, and PubMed's record."""
LABELS = {"nih_occ": "NIH Open Citation Collection", "pubmed": "PubMed's records"}
_KEPT = 2  # the published table, and the one before it
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

    @property
    def indexes(self) -> dict[str, str]:
        """The indexes it is made of, each with its day."""
        days = {"nih_occ": self.collection, "pubmed": self.pubmed.partition("-")[0]}
        return {key: f"{label}, {days[key]}" for key, label in LABELS.items() if days[key]}

    @property
    def label(self) -> str:
        """The sources of the citations, for people."""
        nih = f"{LABELS['nih_occ']} {self.collection}" if self.collection else ""
        of = f"{LABELS['pubmed']} to {self.pubmed.partition('-')[0]}" if self.pubmed else ""
        return f"mirror ({', '.join(filter(None, (nih, of)))})"


def get_citations_folder(folder: Path) -> Path:
    """Return the folder of a mirror's citation files."""
    return folder / "part" / "citations"


def get_table_files(folder: Path, table: CitationTable) -> list[Path]:
    """Return the two files of a table: sorted by citing paper, and by cited paper."""
    return [get_citations_folder(folder) / end / f"{table.name}.parquet" for end in ENDS]


class Tables:
    """The tables of citations of a mirror."""

    def __init__(self, folder: Path) -> None:
        self.mirror = folder
        self.folder = folder / "generation" / "citations"
        self._pointer = folder / "current" / "citations"

    def get_published(self) -> CitationTable | None:
        """Return the published table; None without a readable one."""
        with suppress(OSError, ValueError):
            name = self._pointer.read_text(encoding="utf-8").strip()
            return read_facts(CitationTable, self.folder / f"{name}.json")
        return None

    @property
    def is_damaged(self) -> bool:
        """True if a published table is missing, or cannot be read."""
        return self._pointer.exists() and self.get_published() is None

    def list_tables(self) -> list[CitationTable]:
        """Return all tables, the newest last."""
        paths = self.folder.glob("*.json")
        found = [one for path in paths if (one := read_facts(CitationTable, path))]
        return sorted(found, key=lambda one: one.made_at)

    def publish(self, table: CitationTable) -> None:
        """Make *table* the one in use."""
        for place in (self.folder, self._pointer.parent):
            safe_files.make_folder(place)
        text = json.dumps(asdict(table), indent=1).encode()
        safe_files.write_file(self.folder / f"{table.name}.json", text)
        safe_files.write_file(self._pointer, f"{table.name}\n".encode())

    def delete_old_tables(self) -> list[CitationTable]:
        """Delete all tables except the last two published; return the remaining ones."""
        current = self.get_published()
        others = [one for one in self.list_tables() if current and one.name != current.name]
        for one in others[: -(_KEPT - 1)]:
            safe_files.delete_if_exists(self.folder / f"{one.name}.json")
        return self.list_tables()


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
        current = Tables(folder).get_published()
        if current is None:
            msg = f"There is no table of citations in {folder}."
            raise EmptyStore(msg, f"Make it: {command_line('mirror citations')}")
        self.table: CitationTable = current
        self.label, self.indexes = current.label, current.indexes

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
        path = get_citations_folder(self._mirror) / by / f"{self.table.name}.parquet"
        query = f"SELECT {other}, sources FROM read_parquet(?) WHERE {by} = ? ORDER BY 1 DESC"  # noqa: S608
        try:
            with closing(self._database.cursor()) as db:
                for pmid, edges in found.items():
                    rows = db.execute(query, [str(path), pmid]).fetchall()
                    edges += [Edge(one, _decode_sources(said)) for one, said in rows]
        except duckdb.Error as error:
            hint = f"Delete it if it is damaged, and run: {command_line('mirror citations')}"
            msg = f"{path} cannot be read: {str(error).splitlines()[0]}"
            raise StoreFailed(msg, hint) from error
        return found


def _decode_sources(said: int) -> tuple[str, ...]:
    """Return the names of the sources of a citation, from its bits."""
    return tuple(name for name, bit in SOURCES.items() if said & bit)


def verify_table(folder: Path) -> Iterator[Verified]:
    """Compare the files of the published table with the SHA-256 recorded when they were made.

    Raises
    ------
    EmptyStore
        There is no table yet.
    """
    table = Citations(folder).table
    for end, path in zip(ENDS, get_table_files(folder, table), strict=True):
        name = f"{end}/{path.name}"
        if not path.exists():
            yield Verified(name, (f"{name} is gone: {_AGAIN}",), table.edges)
        elif compute_sha256(path) != table.digests[end]:
            fault = f"{name} is damaged: delete it, and {_AGAIN}"
            yield Verified(name, (fault,), table.edges)
        else:
            yield Verified(name, (), table.edges)


def open_citations(settings: Settings, *, fresh: bool = False) -> Citations | None:
    """Return the mirror's table of citations; None without one.

    Where a *fresh* one is wanted, one that is older than `DAYS` counts only offline.
    """
    folder = settings.mirror_folder
    if not (folder / "current" / "citations").exists() or find_spec("pyarrow") is None:
        return None
    try:
        found = Citations(folder)
    except PaperError as error:
        log.warning("The mirror's citations were not asked: %s", error.text)
        return None
    made_at = datetime.fromisoformat(found.table.made_at).timestamp()
    usable = not fresh or settings.papers_offline or is_answer_fresh(made_at, DAYS)
    return found if usable else None
