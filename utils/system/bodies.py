"""Store the bodies of responses, each once, in a file named by its checksum.

The journal of requests, the shelf's raw files and the quarantine hold the same bytes: they
are compressed once and linked, not copied. PDF files, whose streams are compressed already, are
kept as they came, so that a copy for people can be linked, too. Nothing is flushed to the disk
here, because every body is compared with its name when it is read: what a power cut tore counts as
absent, and is asked for again. `link_or_write`, for bodies that are kept for good, flushes.
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
"""Days after which a body that was not sent again is forgotten."""
MAX_TOTAL_BYTES = 2 * 1024**3
"""What all bodies may take on the disk, without those that the shelf holds anyway."""

_DAY_S = 86400.0
_GZIP_LEVEL = 6
_PDF_START = b"%PDF-"


@dataclass(frozen=True, slots=True)
class _BodyFile:
    """A file of the store: its time, its size (0 for a file that the shelf links) and its path."""

    at: float
    size: int
    path: Path


def pack_body(body: bytes) -> bytes:
    """Return the bytes that a file holds for *body*: a PDF as it is, anything else compressed."""
    return body if body.startswith(_PDF_START) else gzip.compress(body, _GZIP_LEVEL, mtime=0)


def unpack_body(data: bytes) -> bytes:
    """Return the body that `pack_body` packed.

    Raises
    ------
    OSError, EOFError, zlib.error
        The data are damaged.
    """
    return data if data.startswith(_PDF_START) else gzip.decompress(data)


def find_suffix(path: Path) -> str:
    """Return the suffix for the packed body in *path*: "" for a PDF, otherwise ``.gz``."""
    with path.open("rb") as file:
        return "" if file.read(len(_PDF_START)) == _PDF_START else ".gz"


class BodyStore:
    """The bodies in one folder, shared by all processes of a shelf.

    Parameters
    ----------
    folder : Path
        Made (0700) with the first body.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, body: bytes) -> str:
        """Store *body*; return the name to `get` it by.

        Raises
        ------
        StoreFailed
            The disk refuses.
        """
        name = hashlib.sha256(body).hexdigest()
        path = self._build_path(name, body)
        with safe_files.disk_errors(path):
            if path.exists() and self.get(name) is not None:
                os.utime(path)  # its days begin anew
                return name
            for folder in (self.folder, path.parent):
                safe_files.make_folder(folder, 0o700)
            part = safe_files.build_part_path(path)
            try:
                with part.open("xb") as file:
                    part.chmod(0o600)
                    safe_files.inherit_group(part)
                    file.write(pack_body(body))
                safe_files.replace_file(part, path)
            finally:
                part.unlink(missing_ok=True)
        return name

    def get(self, name: str) -> bytes | None:
        """Return the body of this name; None if the file is missing or damaged."""
        for path in (self._build_path(name), self._build_path(name, _PDF_START)):
            with contextlib.suppress(OSError, EOFError, zlib.error):
                body = unpack_body(path.read_bytes())
                return body if hashlib.sha256(body).hexdigest() == name else None
        return None

    def link_or_write(self, body: bytes, target: Path) -> None:
        """Link the stored *body* to the new file *target*; otherwise write and flush *target*.

        Raises
        ------
        StoreFailed
            The disk refuses.
        """
        name = hashlib.sha256(body).hexdigest()
        if self.get(name) is not None:
            with contextlib.suppress(OSError):  # swept just now, or no hard links here
                os.link(self._build_path(name, body), target)
        if target.exists():
            safe_files.flush_file(target)
        else:
            safe_files.write_part(target, pack_body(body))

    def delete_old(self, most_bytes: int = MAX_TOTAL_BYTES) -> int:
        """Delete old bodies, and the oldest beyond *most_bytes*; return the number of files.

        What came within the hour stays. A body that is being read, or linked by the shelf, lives
        on there: only its name goes.
        """
        now, swept, room = time.time(), 0, most_bytes
        for file in sorted(self._list_files(), key=lambda file: -file.at):
            room -= file.size
            age = now - file.at
            too_much = room < 0 and file.size > 0
            if age > safe_files.STALE_AFTER_S and (age > MAX_AGE_DAYS * _DAY_S or too_much):
                with contextlib.suppress(OSError):
                    file.path.unlink()
                    swept += 1
        return swept

    def _list_files(self) -> list[_BodyFile]:
        """Return all files of the store."""
        found = []
        for folder in self.folder.glob("[0-9a-f][0-9a-f]"):
            safe_files.delete_stale_parts(folder)
            with contextlib.suppress(OSError), os.scandir(folder) as entries:
                for entry in entries:
                    with contextlib.suppress(OSError):
                        status = entry.stat(follow_symlinks=False)
                        own = status.st_nlink <= 1  # 0: Windows does not say
                        found.append(
                            _BodyFile(status.st_mtime, status.st_size * own, Path(entry.path))
                        )
        return found

    def _build_path(self, name: str, body: bytes = b"") -> Path:
        """Return the path of the body of this name."""
        suffix = "pdf" if body.startswith(_PDF_START) else "gz"
        return self.folder / name[:2] / f"{name}.{suffix}"
