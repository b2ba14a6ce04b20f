"""The datasets of a folder: listing, finding and deleting them, and when they expire.

A dataset is a file, ``<database>_<8 hexadecimal digits>.db``. It stays for seven days after it was
last used; that moment is the file's time of modification, since its bytes never change. All of
them together may take 2 GB: beyond that, those go first that were used least recently.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path

from ...errors import BadRequest, NotFound, StoreFailed
from ...system import safe_files
from ...system.plain_text import one_line, shorten
from .schema import about

DAYS = 7
MOST_BYTES = 2 * 10**9
_DAY = 86_400.0
_ENDING = ".db"
_ID = re.compile(r"[a-z][a-z0-9_]{0,39}_[0-9a-f]{8}")
_NAMED = 3  # datasets in a suggestion


@dataclass(frozen=True, slots=True)
class Dataset:
    """One dataset of a folder.

    Parameters
    ----------
    id, database, title : str
        Its identifier, the database it came from, and what it holds.
    records : int or None
        Rows of its main table; None where that is not known.
    size : int
        Bytes.
    created, used, expires : str
        ISO 8601 in UTC. Using it moves ``expires`` to seven days later.
    broken : str
        Why it cannot be read; empty if it can.
    """

    id: str
    database: str
    title: str
    records: int | None
    size: int
    created: str
    used: str
    expires: str
    broken: str = ""


@dataclass(frozen=True, slots=True)
class Swept:
    """A dataset that was deleted, why (``unused`` or ``space``), and its bytes."""

    id: str
    reason: str
    size: int


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    used: float
    size: int

    @property
    def id(self) -> str:
        return self.path.stem


def datasets(folder: Path) -> list[Dataset]:
    """Every dataset of *folder*, the last used first; broken ones are among them, and say so."""
    return [_to_dataset(file) for file in _files(folder)]


def find(folder: Path, name: str) -> Path:
    """The file of the dataset *name*; this counts as use, so its days begin anew.

    Raises
    ------
    BadRequest
        That can be no dataset's name.
    NotFound
        There is no such dataset (any more); the suggestions name those there are.
    """
    file = _path(folder, name)
    with contextlib.suppress(OSError):  # a folder that cannot be written: it stays as it is
        os.utime(file, (time.time(), time.time()))
    return file


def forget(folder: Path, name: str) -> int:
    """Delete the dataset *name*; returns how many bytes that frees.

    Raises
    ------
    BadRequest, NotFound
        As `find`.
    StoreFailed
        The disk refuses.
    """
    file = _path(folder, name)
    with safe_files.disk_errors(file, "delete"):
        size = file.lstat().st_size
    safe_files.delete_file(file)
    return size


def sweep(folder: Path, now: float | None = None, most_bytes: int = MOST_BYTES) -> list[Swept]:
    """Delete the datasets not used for seven days, then those beyond *most_bytes*.

    Parameters
    ----------
    folder : Path
        That of the datasets; it need not exist.
    now : float, optional
        Seconds since 1970; the clock's if not given.
    most_bytes : int
        The most all may take together. The last used stays, however large it is.
    """
    if now is None:
        now = time.time()
    safe_files.delete_stale_parts(folder)
    swept, taken = [], 0
    for place, file in enumerate(_files(folder)):
        taken += file.size
        if file.used + DAYS * _DAY < now:
            reason = "unused"
        elif place and taken > most_bytes:
            reason = "space"
        else:
            continue
        with contextlib.suppress(StoreFailed):  # somebody has it open (Windows): next time
            safe_files.delete_file(file.path)
            swept.append(Swept(file.id, reason, file.size))
            taken -= file.size
    return swept


def _path(folder: Path, name: str) -> Path:
    """The file of a name, which cannot lead out of *folder*."""
    wanted = name.strip().removesuffix(_ENDING)
    file = folder / f"{wanted}{_ENDING}"
    if not _ID.fullmatch(wanted):
        msg = f"{shorten(one_line(name), 60)!r} is not a dataset."
        form = "A dataset is named like gene_0a1b2c3d: database, underscore, 8 digits."
        raise BadRequest(msg, *_suggestions(folder, wanted), form)
    if not file.is_file():
        msg = f"There is no dataset {wanted} (any more)."
        stay = f"A dataset stays for {DAYS} days after it was last used: stage the records again."
        raise NotFound(msg, *_suggestions(folder, wanted), stay)
    return file


def _suggestions(folder: Path, wanted: str) -> Iterator[str]:
    files = _files(folder)
    near = get_close_matches(wanted[:60], [file.id for file in files], 1, 0.7)
    if near:
        yield f"Did you mean {near[0]}?"
    others = [file for file in files if file.id not in near][:_NAMED]
    if others:
        last_used = ", ".join(_in_brief(_to_dataset(file)) for file in others)
        yield f"The last used: {last_used}."
    elif not near:
        yield "There is none yet: stage some records first."


def _in_brief(dataset: Dataset) -> str:
    title = shorten(dataset.title, 60)
    return f"{dataset.id} ({title})" if title else dataset.id


def _files(folder: Path) -> list[_File]:
    """The files that are named like a dataset, the last used first."""
    found = []
    with contextlib.suppress(FileNotFoundError), safe_files.disk_errors(folder, "list"):
        entries = list(os.scandir(folder)) if folder.exists() else []
        for entry in entries:
            path = Path(entry.path)
            if path.suffix == _ENDING and _ID.fullmatch(path.stem) and entry.is_file():
                with contextlib.suppress(FileNotFoundError):  # just now swept by somebody else
                    status = entry.stat()
                    found.append(_File(path, status.st_mtime, status.st_size))
    return sorted(found, key=lambda file: (-file.used, file.id))


def _to_dataset(file: _File) -> Dataset:
    facts, broken = _read_about(file.path)
    records = facts.get("records", "")
    return Dataset(
        id=file.id,
        database=facts.get("database") or file.id.rpartition("_")[0],
        title=one_line(facts.get("title", "")),
        records=int(records) if records.isdecimal() and len(records) < 16 else None,
        size=file.size,
        created=facts.get("created") or moment(file.used),
        used=moment(file.used),
        expires=moment(file.used + DAYS * _DAY),
        broken=broken,
    )


def _read_about(file: Path) -> tuple[dict[str, str], str]:
    try:
        facts = about(file)
    except StoreFailed as error:
        return {}, error.message
    return facts, "" if facts else f"{file.stem} does not say what it is."


def moment(seconds: float) -> str:
    """Seconds since 1970 as ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
