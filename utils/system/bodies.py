"""The bodies of answers, each once, in a file named by its checksum.

The journal of requests, the shelf's raw files and the quarantine hold the same bytes: they
are compressed once and linked, not copied. PDF files, whose streams are compressed already, are
kept as they came, so that a copy for people can be linked, too. Nothing is flushed to the disk
here, because every body is compared with its name when it is read: what a power cut tore counts as
absent, and is asked for again. `link_to`, for bodies that are kept for good, flushes.
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

FOLDER = "bodies"
KEPT_DAYS = 30.0
"""Days after which a body that was not sent again is forgotten."""
MOST_BYTES = 2 * 1024**3
"""What all bodies may take on the disk, without those that the shelf holds anyway."""

_DAY = 86400.0
_LEVEL = 6
_PLAIN = b"%PDF-"


@dataclass(frozen=True, slots=True)
class _File:
    at: float
    size: int
    path: Path


def pack_body(body: bytes) -> bytes:
    """Return the bytes that a file holds for *body*: a PDF as it is, anything else compressed."""
    return body if body.startswith(_PLAIN) else gzip.compress(body, _LEVEL, mtime=0)


def unpack_body(data: bytes) -> bytes:
    """Return the body that `pack_body` made *data* of.

    Raises
    ------
    OSError, EOFError, zlib.error
        The data are damaged.
    """
    return data if data.startswith(_PLAIN) else gzip.decompress(data)


def find_suffix(path: Path) -> str:
    """Return ``.gz``, or nothing where the packed body in *path* is a PDF as it came."""
    with path.open("rb") as file:
        return "" if file.read(len(_PLAIN)) == _PLAIN else ".gz"


class Bodies:
    """The bodies in one folder, shared by all processes of a shelf.

    Parameters
    ----------
    folder : Path
        Made (0700) with the first body.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, body: bytes) -> str:
        """Keep *body*; returns the name to `get` it by.

        Raises
        ------
        StoreFailed
            The disk refuses.
        """
        name = hashlib.sha256(body).hexdigest()
        path = self._path(name, body)
        with safe_files.disk(path):
            if path.exists() and self.get(name) is not None:
                os.utime(path)  # its days begin anew
                return name
            for folder in (self.folder, path.parent):
                safe_files.make_folder(folder, 0o700)
            part = safe_files.part_of(path)
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
        """The body of this name; None where it is gone or damaged."""
        for path in (self._path(name), self._path(name, _PLAIN)):
            with contextlib.suppress(OSError, EOFError, zlib.error):
                body = unpack_body(path.read_bytes())
                return body if hashlib.sha256(body).hexdigest() == name else None
        return None

    def link_to(self, body: bytes, target: Path) -> None:
        """Write *body*, packed and flushed, to the new file *target*; linked if it is here.

        Raises
        ------
        StoreFailed
            The disk refuses.
        """
        name = hashlib.sha256(body).hexdigest()
        if self.get(name) is not None:
            with contextlib.suppress(OSError):  # swept just now, or no hard links here
                os.link(self._path(name, body), target)
        if target.exists():
            safe_files.flush(target)
        else:
            safe_files.write_part(target, pack_body(body))

    def sweep(self, most_bytes: int = MOST_BYTES) -> int:
        """Delete what is old, and the oldest beyond *most_bytes*; returns how many files.

        What came within the hour stays. A body that is being read, or linked by the shelf, lives
        on there: only its name goes.
        """
        now, swept, room = time.time(), 0, most_bytes
        for file in sorted(self._files(), key=lambda file: -file.at):
            room -= file.size
            age = now - file.at
            too_much = room < 0 and file.size > 0
            if age > safe_files.STALE_AFTER_S and (age > KEPT_DAYS * _DAY or too_much):
                with contextlib.suppress(OSError):
                    file.path.unlink()
                    swept += 1
        return swept

    def _files(self) -> list[_File]:
        found = []
        for folder in self.folder.glob("[0-9a-f][0-9a-f]"):
            safe_files.sweep(folder)
            with contextlib.suppress(OSError), os.scandir(folder) as entries:
                for entry in entries:
                    with contextlib.suppress(OSError):
                        status = entry.stat(follow_symlinks=False)
                        own = status.st_nlink <= 1  # 0: Windows does not say
                        found.append(_File(status.st_mtime, status.st_size * own, Path(entry.path)))
        return found

    def _path(self, name: str, body: bytes = b"") -> Path:
        suffix = "pdf" if body.startswith(_PLAIN) else "gz"
        return self.folder / name[:2] / f"{name}.{suffix}"
