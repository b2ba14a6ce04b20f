"""List, find and delete the datasets of a folder, and determine when the datasets expire.

A dataset is a file, ``<database>_<8 hexadecimal digits>.db``. It is kept for seven days after its
last use; the file's modification time records that use, since its bytes never change. All datasets
together may take 2 GB; beyond that, the least recently used are deleted first.
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
from .schema import read_description

KEEP_DAYS = 7
MAX_TOTAL_BYTES = 2 * 10**9
_DAY_S = 86_400.0
_EXTENSION = ".db"
_ID = re.compile(r"[a-z][a-z0-9_]{0,39}_[0-9a-f]{8}")
_MAX_SUGGESTED = 3  # datasets in a suggestion


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """One dataset of a folder.

    Parameters
    ----------
    id, database, title : str
        Its identifier, source database, and contents.
    records : int or None
        Rows of its main table; None if unknown.
    size : int
        Bytes.
    created, used, expires : str
        ISO 8601 in UTC. Each use moves ``expires`` to seven days later.
    broken : str
        Why the dataset cannot be read; empty if it can.
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
class DeletedDataset:
    """A deleted dataset, the reason (``unused`` or ``space``), and its bytes."""

    id: str
    reason: str
    size: int


@dataclass(frozen=True, slots=True)
class _DatasetFile:
    """A file of a dataset, with its size and the time of its last use."""

    path: Path
    used: float
    size: int

    @property
    def id(self) -> str:
        return self.path.stem


def list_datasets(folder: Path) -> list[DatasetInfo]:
    """Return every dataset of *folder*, last used first; broken datasets are marked."""
    return [_read_dataset_info(file) for file in _list_dataset_files(folder)]


def find_dataset_file(folder: Path, name: str) -> Path:
    """Return the file of the dataset *name*, and record this use, which delays its deletion.

    Raises
    ------
    BadRequest
        The name cannot be a dataset's.
    NotFound
        The dataset does not exist or has expired; the suggestions name existing ones.
    """
    file = _resolve_dataset_path(folder, name)
    with contextlib.suppress(OSError):  # the folder is read-only: the time stays unchanged
        os.utime(file, (time.time(), time.time()))
    return file


def delete_dataset(folder: Path, name: str) -> int:
    """Delete the dataset *name*, and return the number of bytes freed.

    Raises
    ------
    BadRequest, NotFound
        As `find_dataset_file`.
    StoreFailed
        The disk refuses.
    """
    file = _resolve_dataset_path(folder, name)
    with safe_files.disk_errors(file, "delete"):
        size = file.lstat().st_size
    safe_files.delete_if_exists(file)
    return size


def delete_expired_datasets(
    folder: Path, now: float | None = None, most_bytes: int = MAX_TOTAL_BYTES
) -> list[DeletedDataset]:
    """Delete datasets not used for seven days, then the least recently used beyond *most_bytes*.

    Parameters
    ----------
    folder : Path
        The folder of the datasets; it need not exist.
    now : float, optional
        Seconds since 1970; the present time if not given.
    most_bytes : int
        The limit for all datasets together. The last used one stays, however large.
    """
    if now is None:
        now = time.time()
    safe_files.delete_stale_temporary_files(folder)
    swept, taken = [], 0
    for place, file in enumerate(_list_dataset_files(folder)):
        taken += file.size
        if file.used + KEEP_DAYS * _DAY_S < now:
            reason = "unused"
        elif place and taken > most_bytes:
            reason = "space"
        else:
            continue
        with contextlib.suppress(StoreFailed):  # open in another process (Windows): retry next time
            safe_files.delete_if_exists(file.path)
            swept.append(DeletedDataset(file.id, reason, file.size))
            taken -= file.size
    return swept


def _resolve_dataset_path(folder: Path, name: str) -> Path:
    """Return the path for a dataset's name; the path is always inside *folder*."""
    wanted = name.strip().removesuffix(_EXTENSION)
    file = folder / f"{wanted}{_EXTENSION}"
    if not _ID.fullmatch(wanted):
        msg = f"{shorten(one_line(name), 60)!r} is not a dataset."
        form = "A dataset is named like gene_0a1b2c3d: database, underscore, 8 digits."
        raise BadRequest(msg, *_suggest_datasets(folder, wanted), form)
    if not file.is_file():
        msg = f"There is no dataset {wanted} (any more)."
        stay = (
            f"A dataset stays for {KEEP_DAYS} days after it was last used: stage the records again."
        )
        raise NotFound(msg, *_suggest_datasets(folder, wanted), stay)
    return file


def _suggest_datasets(folder: Path, wanted: str) -> Iterator[str]:
    files = _list_dataset_files(folder)
    near = get_close_matches(wanted[:60], [file.id for file in files], 1, 0.7)
    if near:
        yield f"Did you mean {near[0]}?"
    others = [file for file in files if file.id not in near][:_MAX_SUGGESTED]
    if others:
        last_used = ", ".join(_describe_dataset(_read_dataset_info(file)) for file in others)
        yield f"The last used: {last_used}."
    elif not near:
        yield "There is none yet: stage some records first."


def _describe_dataset(dataset: DatasetInfo) -> str:
    title = shorten(dataset.title, 60)
    return f"{dataset.id} ({title})" if title else dataset.id


def _list_dataset_files(folder: Path) -> list[_DatasetFile]:
    """Return the files that are named like a dataset, last used first."""
    found = []
    with contextlib.suppress(FileNotFoundError), safe_files.disk_errors(folder, "list"):
        entries = list(os.scandir(folder)) if folder.exists() else []
        for entry in entries:
            path = Path(entry.path)
            if path.suffix == _EXTENSION and _ID.fullmatch(path.stem) and entry.is_file():
                with contextlib.suppress(FileNotFoundError):  # just deleted by another process
                    status = entry.stat()
                    found.append(_DatasetFile(path, status.st_mtime, status.st_size))
    return sorted(found, key=lambda file: (-file.used, file.id))


def _read_dataset_info(file: _DatasetFile) -> DatasetInfo:
    facts, broken = _read_description_or_error(file.path)
    records = facts.get("records", "")
    return DatasetInfo(
        id=file.id,
        database=facts.get("database") or file.id.rpartition("_")[0],
        title=one_line(facts.get("title", "")),
        records=int(records) if records.isdecimal() and len(records) < 16 else None,
        size=file.size,
        created=facts.get("created") or format_utc_time(file.used),
        used=format_utc_time(file.used),
        expires=format_utc_time(file.used + KEEP_DAYS * _DAY_S),
        broken=broken,
    )


def _read_description_or_error(file: Path) -> tuple[dict[str, str], str]:
    try:
        facts = read_description(file)
    except StoreFailed as error:
        return {}, error.message
    return facts, "" if facts else f"{file.stem} does not say what it is."


def format_utc_time(seconds: float) -> str:
    """Return seconds since 1970 as ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
