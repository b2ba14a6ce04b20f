"""Writing files so that no reader ever sees half of one, and never outside the shelf.

A file is written beside its target, flushed to the disk and renamed over it: a reader sees the
old bytes or the new ones, also after ``kill -9`` or a power cut. Errors of the operating system
become `StoreFailed` with the file's name and what to do about it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

from ..errors import BadRequest, StoreFailed
from . import sharing
from .plain_text import encodable

PRIVATE = sharing.PRIVATE
STALE_AFTER = 3600.0
_FLUSHES = 16
_PIECE = 1 << 16
_HINTS = {
    errno.ENOSPC: "The disk is full: free some space and try again.",
    errno.EDQUOT: "The disk quota is used up: free some space and try again.",
    errno.EROFS: "The disk is read-only: point PAPERS_DIR at a folder that can be written.",
    errno.EACCES: "Check the folder's permissions or point PAPERS_DIR at another one.",
    errno.EPERM: "Check the folder's permissions or point PAPERS_DIR at another one.",
    errno.ENOTDIR: "A file is in the way where a folder is needed: move it or change PAPERS_DIR.",
    errno.EISDIR: "A folder is there where a file is needed: name a file.",
    errno.ENOLCK: "This file system gives no locks: keep the shelf on a local disk (PAPERS_DIR).",
    errno.EMFILE: "Too many files are open: raise the limit (ulimit -n) or run fewer workers.",
}
_FORBIDDEN = {errno.EACCES, errno.EPERM}


@contextlib.contextmanager
def disk(path: Path, doing: str = "write") -> Iterator[None]:
    """Raise errors of the operating system as `StoreFailed`.

    Raises
    ------
    StoreFailed
        Anything went wrong with *path*.
    """
    try:
        yield
    except OSError as error:
        # An open file that fails is known to the system by a number only.
        where = path if isinstance(error.filename, int) else error.filename or path
        if error.errno in _FORBIDDEN and (access_error := sharing.access_error(Path(where), doing)):
            raise access_error from error
        msg = f"Could not {doing} {where}: {error.strerror or error}."
        hint = _HINTS.get(error.errno or 0, "Check the disk and the folder in PAPERS_DIR.")
        raise StoreFailed(msg, hint, file=str(where)) from error


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Create *folder* and its parents; *mode* also corrects one that is too open."""
    with disk(folder, "create"):
        sharing.make_folder(folder, mode)


def write_whole(path: Path, data: bytes) -> None:
    """Write *data* to *path*, all or nothing, and have it on the disk before returning."""
    part = part_of(path)
    with disk(path), _delete_afterwards(part):
        write_part(part, data)
        part.replace(path)
        sync_folder(path.parent)


def write_all(files: Sequence[tuple[Path, bytes]]) -> None:
    """Write many files, each all or nothing; flushed side by side, which disks do together."""
    from concurrent.futures import ThreadPoolExecutor

    parts = [(part_of(path), path, data) for path, data in files]
    with ExitStack() as leftovers:
        for part, path, _ in parts:
            leftovers.enter_context(disk(path))
            leftovers.enter_context(_delete_afterwards(part))
        with ThreadPoolExecutor(_FLUSHES) as pool:
            list(pool.map(lambda entry: write_part(entry[0], entry[2]), parts))
        for part, path, _ in parts:
            part.replace(path)
        for folder in {path.parent for _, path, _ in parts}:
            sync_folder(folder)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """A long text file, written line by line, that takes the place of *path* when the block ends.

    When the block fails, or wrote what is there already, *path* stays as it was.

    Raises
    ------
    StoreFailed
        The disk refuses.
    """
    part = part_of(path)
    try:
        with disk(part):
            file = part.open("x", encoding="utf-8", errors="replace", newline="")
            sharing.inherit_group(part)
        with file:
            yield file
            with disk(part):
                file.flush()
                if _same_bytes(part, path):
                    return
                os.fsync(file.fileno())
        with disk(path):
            part.replace(path)
            sync_folder(path.parent)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def _same_bytes(one: Path, other: Path) -> bool:
    """Whether two files hold the same; False where one cannot be read."""
    try:
        with one.open("rb") as ours, other.open("rb") as theirs:
            if os.fstat(ours.fileno()).st_size != os.fstat(theirs.fileno()).st_size:
                return False
            while piece := ours.read(_PIECE):
                if piece != theirs.read(_PIECE):
                    return False
            return True
    except OSError:
        return False


def write_new(path: Path, data: bytes) -> bool:
    """Like `write_whole`, but never over something: False when *path* is taken."""
    part = part_of(path)
    with disk(path), _delete_afterwards(part):
        write_part(part, data)
        try:
            os.link(part, path)
        except FileExistsError:
            return False
        except OSError:  # a file system without hard links
            if path.exists():
                return False
            part.replace(path)
        sync_folder(path.parent)
    return True


def copy(source: Path, target: Path) -> bool:
    """Copy a file; False when *target* exists and holds something else."""
    with disk(source, "read"):
        data = source.read_bytes()
    make_folder(target.parent)
    if write_new(target, data):
        return True
    with disk(target, "read"):
        return target.is_file() and target.read_bytes() == data


@contextlib.contextmanager
def _delete_afterwards(part: Path) -> Iterator[None]:
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def part_of(path: Path) -> Path:
    """A name that nobody else writes to, from where a file can be renamed to *path*.

    Beside it; for what lies among a shelf's papers, in the shelf's private folder.
    """
    # The stem is cut, since a name near the limit of 255 bytes has no room for the ending.
    name = f".{path.name[:120]}.{os.getpid()}.{secrets.token_hex(4)}.part"
    private = path.parent / PRIVATE
    with contextlib.suppress(OSError):  # somebody may have put the private folder on another disk
        if private.stat().st_dev == path.parent.stat().st_dev:
            return private / name
    return path.with_name(name)


def write_part(part: Path, data: bytes) -> None:
    """Write a new file and have its bytes on the disk."""
    # "x": never follow or reuse something somebody has put there.
    with disk(part), part.open("xb") as file:
        sharing.inherit_group(part)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def flush(path: Path) -> None:
    """Have the bytes of a finished file on the disk."""
    with disk(path), path.open("r+b") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Make a rename durable; without this a power cut may undo it."""
    if os.name == "nt":  # Windows cannot open folders, and orders renames itself
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def stamp(path: Path) -> tuple[int, int]:
    """Return size and time of a file, by which a change is noticed; (-1, -1) for none."""
    try:
        status = os.stat(path)  # noqa: PTH116 - a third of the cost, on every find
    except OSError:
        return -1, -1
    return status.st_size, status.st_mtime_ns


def remove(path: Path) -> None:
    """Delete *path* if it is there."""
    with disk(path, "delete"):
        path.unlink(missing_ok=True)


def move_folder(folder: Path, target: Path) -> None:
    """Rename *folder* to *target*; where that is taken, it lies within, under its own name."""
    place, number = target, 1
    while place.exists():
        place = target / (folder.name if number == 1 else f"{number}-{folder.name}")
        number += 1
    with disk(folder):
        folder.rename(place)
        sync_folder(place.parent)
        sync_folder(folder.parent)


@contextlib.contextmanager
def exclusive_lock(path: Path) -> Iterator[None]:
    """Hold *path* as a lock among processes; the system frees it when its holder dies."""
    try:
        import fcntl
    except ImportError:  # Windows: a file in use cannot be moved there, which is lock enough
        yield
        return
    with disk(path, "lock"), path.open("ab") as file:
        sharing.inherit_group(path)
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def sweep(folder: Path) -> int:
    """Delete what writers killed more than an hour ago left behind; return how many."""
    swept = 0
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        for entry in found:
            if entry.name.startswith(".") and entry.name.endswith(".part"):
                with contextlib.suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_mtime < time.time() - STALE_AFTER:
                        Path(entry.path).unlink()
                        swept += 1
    return swept


def confined(folder: Path, wanted: str) -> Path:
    """The path of *wanted* (given by a user or a model), if it lies on the shelf.

    Relative paths hang on *folder*. Links are followed before judging.

    Raises
    ------
    BadRequest
        It leads out of the folder, into its private part, or is not a .txt or .md file.
    """
    hint = f"Give a name like my_paper.txt; it is written inside {folder}."
    unfit = any(ord(c) < 32 or ord(c) == 127 for c in wanted) or wanted != encodable(wanted)
    if unfit or not wanted.strip():
        raise BadRequest(f"{wanted!r} is not a usable file name.", hint)
    if os.name != "nt" and "\\" in wanted:
        raise BadRequest(f"{wanted!r} contains a backslash.", hint)
    given = Path(wanted)
    if ".." in given.parts:
        raise BadRequest(f"{wanted!r} contains '..'.", hint)
    home = folder.resolve()
    try:
        target = (home / given).resolve()
        circular = any(part.is_symlink() for part in (target, *target.parents))  # from 3.13 on
    except (OSError, RuntimeError) as error:  # RuntimeError: so until 3.12
        raise BadRequest(f"{wanted!r} cannot be resolved: {error}.", hint) from None
    if circular:
        raise BadRequest(f"{wanted!r} holds a link that leads in circles.", hint)
    if not target.is_relative_to(home) or target == home:
        raise BadRequest(f"{wanted!r} is outside the papers folder.", hint)
    if any(part.startswith(".") for part in target.relative_to(home).parts):
        raise BadRequest(f"{wanted!r} is a hidden file or folder.", hint)
    if target.suffix.lower() not in {".txt", ".md"}:
        raise BadRequest(f"{wanted!r} does not end in .txt or .md.", hint)
    return target
