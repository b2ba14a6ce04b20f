"""The manifest: the table of all source files of a mirror, and of what became of each.

It is one SQLite file, written by one process, and an index only: each part says itself what it
holds.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Literal

from ..command_line import command_line
from ..model.paper import utc_now
from ..system import safe_files
from ..system.sqlite import transaction
from .locks import open_table
from .parts import READERS, Part, ReadJob, get_part_path

State = Literal["listed", "done", "damaged", "aside", "vanished"]
FILE = "manifest.db"
_REBUILT = (
    f"Delete it; to make it again from the listing and the parts: {command_line('mirror pubmed')}"
)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a source, and what became of it.

    ``order`` is its place as a number, ``listed`` its entry in the listing (if the entry changes,
    the file under this name has changed), ``size`` its bytes by the listing. Of a file that is
    ``done``, ``bytes`` is the size of its parts, ``digest`` and ``passages_digest`` their SHA-256,
    and ``seconds`` and ``cpu`` the time that reading took. ``reason`` says why a file is set aside
    (``aside``), was gone before it was fetched (``vanished``), or has parts that must be made again
    (``damaged``).
    """

    source: str
    name: str
    folder: str
    sequence: str
    order: int
    listed: str = ""
    size: int = 0
    state: State = "listed"
    md5: str = ""
    reader: int = 0
    records: int = 0
    deletions: int = 0
    passages: int = 0
    digest: str = ""
    passages_digest: str = ""
    bytes: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    reason: str = ""
    at: str = ""

    @property
    def content_digest(self) -> str:
        """The first 16 digits of a SHA-256 over both parts."""
        both = f"{self.digest} {self.passages_digest}".encode()
        return hashlib.sha256(both).hexdigest()[:16]

    @property
    def year(self) -> int:
        """The year of its baseline, two digits."""
        return self.order // YEAR

    @property
    def number(self) -> int:
        """The file's number in its year."""
        return self.order % YEAR

    @property
    def is_read(self) -> bool:
        """True if the file was read by today's reader."""
        return self.state == "done" and self.reader == READERS[self.source]

    def add_part(self, part: Part, md5: str) -> SourceFile:
        """Return the file as it is after reading: with what its parts hold, or why it has none."""
        made = asdict(part)
        del made["name"]
        state: State = "aside" if part.reason else "done"
        reader = READERS[self.source]
        return replace(self, **made, state=state, md5=md5, reader=reader, at=utc_now())

    def has_current_parts(self, folder: Path) -> bool:
        """Return whether today's reader read the file and both parts have their recorded size."""
        with suppress(FileNotFoundError):
            sizes = [self.get_part_path(folder, kind).stat().st_size for kind in KINDS]
            return self.is_read and sum(sizes) == self.bytes
        return False

    @property
    def had_parts(self) -> bool:
        """True if today's reader once made parts of the file."""
        return bool(self.digest) and self.reader == READERS[self.source]

    def delete_damaged_parts(self, folder: Path) -> None:
        """Delete the parts of a file that is due, so that they are made again."""
        for kind in KINDS if self.had_parts else ():
            safe_files.delete_if_exists(self.get_part_path(folder, kind))

    def get_part_path(self, folder: Path, kind: str = "") -> Path:
        """Return the path of the records; with ``-passages``, the path of the passages."""
        return get_part_path(folder, f"{self.source}{kind}", self.sequence, self.md5, self.reader)

    def get_source_path(self, folder: Path) -> Path:
        """Return the path of the fetched file; a file there is complete, and has that MD5."""
        name = self.name if self.source == "pmc" else f"{self.sequence}-{self.md5}.xml.gz"
        return folder / "source" / self.source / name

    def to_job(self, path: Path, folder: Path) -> ReadJob:
        """Return the job that reads the file at *path* into the parts of a mirror's folder."""
        about = (self.source, self.name, self.sequence, self.order, self.md5)
        return ReadJob(str(path), *about, str(folder))


YEAR = 100_000
"""A file's place as a number is year × this + number."""
KINDS = ("", "-passages")
"""Suffixes of a source's folders of parts: none for records."""
FILE_COLUMNS = [one.name for one in fields(SourceFile)]
_KINDS = {"int": "INTEGER", "float": "REAL"}
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS sources ("
    + ", ".join(f'"{one.name}" {_KINDS.get(str(one.type), "TEXT")}' for one in fields(SourceFile))
    + ", PRIMARY KEY (source, name))"
)


class Manifest:
    """The table of a mirror's sources.

    Raises
    ------
    StoreFailed
        By every method: the file cannot be read or written.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE

    def _open_database(self, *, write: bool = True) -> AbstractContextManager[sqlite3.Connection]:
        return open_table(self._path, _SCHEMA, _REBUILT, write=write)

    def list_files(self, source: str) -> list[SourceFile]:
        """Return all files ever listed, in order."""
        # With the table's name, because SQLite takes an unknown quoted name for a text.
        columns = ", ".join(f'sources."{name}"' for name in FILE_COLUMNS)
        with self._open_database(write=False) as db:
            rows = db.execute(
                f'SELECT {columns} FROM sources WHERE source = ? ORDER BY "order"',  # noqa: S608
                (source,),
            )
            return [SourceFile(*row) for row in rows]

    def add_listing(self, listed: Iterable[SourceFile]) -> list[SourceFile]:
        """Add the files of a listing; return those that are new or have changed."""
        listed = list(listed)
        known = {file.name: file for file in self.list_files(listed[0].source)} if listed else {}
        changed = [
            file
            for file in listed
            if (old := known.get(file.name)) is None
            or (old.listed, old.folder) != (file.listed, file.folder)
        ]
        self.replace_files([], changed)
        return changed

    def record_part(self, file: SourceFile, part: Part, md5: str) -> SourceFile:
        """Record the parts of a file, or why it has none."""
        done = file.add_part(part, md5)
        self.replace_files([], [done])
        return done

    def record_failure(self, file: SourceFile, state: State, reason: str) -> SourceFile:
        """Record why a file was not read."""
        failed = replace(file, state=state, reason=reason, at=utc_now())
        self.replace_files([], [failed])
        return failed

    def mark_damaged(self, file: SourceFile, reason: str) -> None:
        """Record that the parts of a file have to be made again by the next update."""
        known = {one.name: one for one in self.list_files(file.source)}.get(file.name)
        if known and known.is_read and known.md5 == file.md5:
            self.record_failure(known, "damaged", reason)

    def replace_files(self, old: Iterable[SourceFile], new: Iterable[SourceFile]) -> None:
        """Delete the rows of *old* files, and write those of *new* ones, in one transaction."""
        keys = [(file.source, file.name) for file in old]
        rows = [tuple(getattr(file, name) for name in FILE_COLUMNS) for file in new]
        if keys or rows:
            marks = ", ".join("?" for _ in FILE_COLUMNS)
            with self._open_database() as db, transaction(db):
                db.executemany("DELETE FROM sources WHERE source = ? AND name = ?", keys)
                db.executemany(f"INSERT OR REPLACE INTO sources VALUES ({marks})", rows)  # noqa: S608
