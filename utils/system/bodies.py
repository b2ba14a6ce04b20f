"""Store response bodies, each once, in a file named by its checksum.

The journal of requests, the shelf's raw files and the quarantine hold the same bytes: they
are compressed once and linked, not copied. PDF files, whose streams are compressed already, are
stored unchanged, so that a user's copy can be linked, too. Nothing is flushed to disk here, because
every body is compared with its checksum when it is read: a body that a power cut damaged counts as
missing, and is requested again. `link_or_write_body`, for bodies that are kept for good, flushes.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import time
import zlib
from dataclasses import dataclass
from pathlib import Path

from . import safe_files

BODIES_FOLDER = "bodies"
MAX_AGE_DAYS = 30.0
"""Days after which a body that was not sent again is deleted."""
MAX_TOTAL_BYTES = 2 * 1024**3
"""The limit for all bodies on disk, without those that the shelf links to."""

_DAY_S = 86400.0
_GZIP_LEVEL = 6
_PDF_START = b"%PDF-"


@dataclass(frozen=True, slots=True)
class _BodyFile:
    """A file of the store: its time, its size (0 if the shelf links to it) and its path."""

    at: float
    size: int
    path: Path


def pack_body(body: bytes) -> bytes:
    """Return the bytes to store for *body*: a PDF unchanged, anything else compressed."""
    return body if body.startswith(_PDF_START) else gzip.compress(body, _GZIP_LEVEL, mtime=0)


def unpack_body(data: bytes) -> bytes:
    """Return the body that `pack_body` packed.

    Raises
    ------
    OSError, EOFError, zlib.error
        The data are damaged.
    """
    return data if data.startswith(_PDF_START) else gzip.decompress(data)


def find_body_suffix(path: Path) -> str:
    """Return the suffix of the stored body in *path*: "" for a PDF, otherwise ``.gz``."""
    with path.open("rb") as file:
        return "" if file.read(len(_PDF_START)) == _PDF_START else ".gz"


class BodyStore:
    """The bodies in one folder, shared by all processes of a shelf.

    Parameters
    ----------
    folder : Path
        Created (0700) with the first body.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def store_body(self, body: bytes) -> str:
        """Store *body*, and return the name for `read_body`.

        Raises
        ------
        StoreFailed
            The disk refuses.
        """
        name = hashlib.sha256(body).hexdigest()
        path = self._build_body_path(name, body)
        with safe_files.disk_errors(path):
            if path.exists() and self.read_body(name) is not None:
                os.utime(path)  # its age starts again
                return name
            for folder in (self.folder, path.parent):
                safe_files.make_folder(folder, 0o700)
            part = safe_files.build_part_path(path)
            try:
                with part.open("xb") as file:
                    part.chmod(0o600)
                    safe_files.inherit_group_rights(part)
                    file.write(pack_body(body))
                safe_files.replace_file(part, path)
            finally:
                part.unlink(missing_ok=True)
        return name

    def read_body(self, name: str) -> bytes | None:
        """Return the body with this name; None if the file is missing or damaged."""
        for path in (self._build_body_path(name), self._build_body_path(name, _PDF_START)):
            with contextlib.suppress(OSError, EOFError, zlib.error):
                body = unpack_body(path.read_bytes())
                return body if hashlib.sha256(body).hexdigest() == name else None
        return None

    def link_or_write_body(self, body: bytes, target: Path) -> None:
        """Link the stored *body* to the new file *target*; otherwise write and flush *target*.

        Raises
        ------
        StoreFailed
            The disk refuses.
        """
        name = hashlib.sha256(body).hexdigest()
        if self.read_body(name) is not None:
            with contextlib.suppress(OSError):  # just deleted, or no hard links
                os.link(self._build_body_path(name, body), target)
        if target.exists():
            safe_files.flush_file(target)
        else:
            safe_files.write_flushed_file(target, pack_body(body))

    def delete_old_bodies(self, most_bytes: int = MAX_TOTAL_BYTES) -> int:
        """Delete old bodies, and the oldest beyond *most_bytes*; return the number of files.

        Bodies of the last hour stay. A body that is being read, or that the shelf links to,
        survives under its other name.
        """
        now, count, room = time.time(), 0, most_bytes
        for file in sorted(self._list_body_files(), key=lambda file: -file.at):
            room -= file.size
            age = now - file.at
            too_much = room < 0 and file.size > 0
            if age > safe_files.STALE_AFTER_S and (age > MAX_AGE_DAYS * _DAY_S or too_much):
                with contextlib.suppress(OSError):
                    file.path.unlink()
                    count += 1
        return count

    def _list_body_files(self) -> list[_BodyFile]:
        """Return all files of the store."""
        files = []
        for folder in self.folder.glob("[0-9a-f][0-9a-f]"):
            safe_files.delete_stale_temporary_files(folder)
            with contextlib.suppress(OSError), os.scandir(folder) as entries:
                for entry in entries:
                    with contextlib.suppress(OSError):
                        status = entry.stat(follow_symlinks=False)
                        own = status.st_nlink <= 1  # 0: unknown on Windows
                        files.append(
                            _BodyFile(status.st_mtime, status.st_size * own, Path(entry.path))
                        )
        return files

    def _build_body_path(self, name: str, body: bytes = b"") -> Path:
        """Return the path for the body with this name."""
        suffix = "pdf" if body.startswith(_PDF_START) else "gz"
        return self.folder / name[:2] / f"{name}.{suffix}"
