"""The bodies of answers, each once, in a file named by its checksum.

The journal of requests, the shelf's raw files and the quarantine hold the same bytes: they
are compressed once and linked, not copied. Nothing is flushed to the disk here, because every body
is compared with its name when it is read: what a power cut tore counts as absent, and is asked for
again. `link_to`, for bodies that are kept for good, flushes.
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


@dataclass(frozen=True, slots=True)
class _File:
    at: float
    size: int
    path: Path


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
        path = self._path(name)
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
                    file.write(gzip.compress(body, _LEVEL, mtime=0))
                part.replace(path)
            finally:
                part.unlink(missing_ok=True)
        return name

    def get(self, name: str) -> bytes | None:
        """The body of this name; None where it is gone or damaged."""
        try:
            body = gzip.decompress(self._path(name).read_bytes())
        except (OSError, EOFError, zlib.error):
            return None
        return body if hashlib.sha256(body).hexdigest() == name else None

    def link_to(self, body: bytes, target: Path) -> None:
        """Write *body*, compressed and flushed, to the new file *target*; linked if it is here.

        Raises
        ------
        StoreFailed
            The disk refuses.
        """
        name = hashlib.sha256(body).hexdigest()
        if self.get(name) is not None:
            with contextlib.suppress(OSError):  # swept just now, or no hard links here
                os.link(self._path(name), target)
        if target.exists():
            safe_files.flush(target)
        else:
            safe_files.write_part(target, gzip.compress(body, _LEVEL, mtime=0))

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

    def _path(self, name: str) -> Path:
        return self.folder / name[:2] / f"{name}.gz"
