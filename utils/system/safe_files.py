"""Write files atomically, so that no reader sees half of one, and share them with a group.

Whole: a file is written beside its target, flushed to the disk and renamed over it. A reader sees
the old bytes or the new ones, also after ``kill -9`` or a power cut. Errors of the operating system
become `StoreFailed` with the file's name and what to do about it.

Shared: a folder with the setgid bit that its group may write to is a group's, as everywhere on
Unix. What is made in one follows it, whatever the umask of its maker: files can be read and written
by the group (0660), folders likewise, and pass it on (2770). So nobody has to agree on anything but
the folder. A shelf's private part is made a group's only on request (``PAPERS_SHARED``), and tells
for the whole shelf whether it is; on Windows a folder's own list of rights is inherited.

`create_folder` raises `OSError`, for callers that can do without; `make_folder` raises
`StoreFailed`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shlex
import stat
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TextIO

from ..command_line import command_line
from ..errors import BadRequest, StoreFailed
from .plain_text import replace_surrogates

STALE_AFTER_S = 3600.0
_FLUSH_THREADS = 16
_PIECE_BYTES = 1 << 16
_HINT_BY_ERRNO = {
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
_OPEN_ELSEWHERE = {5, 32}  # Windows: access denied, sharing violation
_OPEN_ELSEWHERE_WAITS_S = (0.05, 0.15, 0.3, 0.5, 1.0)
_WINDOWS_PATH_MAX = 259  # characters, where long paths are not turned on
_LONG_PATHS = (
    f"Windows opens paths of at most {_WINDOWS_PATH_MAX} characters. Set PAPERS_DIR to a short "
    r"folder such as C:\papers, or turn long paths on as an administrator: reg add "
    r"HKLM\SYSTEM\CurrentControlSet\Control\FileSystem /v LongPathsEnabled /t REG_DWORD /d 1 /f"
)
_UNFIT_EVERYWHERE = re.compile(r'[<>:"|?*]')
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(\..*)?", re.I)
_FORBIDDEN = {errno.EACCES, errno.EPERM}


@contextlib.contextmanager
def disk_errors(path: Path, doing: str = "write") -> Iterator[None]:
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
        if error.errno in _FORBIDDEN and (barred := find_access_error(Path(where), doing)):
            raise barred from error
        msg = f"Could not {doing} {where}: {error.strerror or error}."
        hint = _HINT_BY_ERRNO.get(error.errno or 0, "Check the disk and the folder in PAPERS_DIR.")
        if os.name == "nt" and len(str(where)) > _WINDOWS_PATH_MAX:
            hint = _LONG_PATHS
        raise StoreFailed(msg, hint, file=str(where)) from error


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Create *folder* and its parents; *mode* also corrects a folder that is too open."""
    with disk_errors(folder, "create"):
        create_folder(folder, mode)


def replace_file(part: Path, path: Path) -> None:
    """Rename *part* to *path*, over what is there.

    Windows refuses while another program has *path* open: a virus scanner, an indexer, a reader.
    Those take a moment, so the rename is tried again for two seconds.
    """
    for wait_s in _OPEN_ELSEWHERE_WAITS_S:
        try:
            part.replace(path)
        except PermissionError as error:
            if getattr(error, "winerror", 0) not in _OPEN_ELSEWHERE:
                raise
            time.sleep(wait_s)
        else:
            return
    part.replace(path)


def write_file(path: Path, data: bytes) -> None:
    """Write *data* to *path* atomically, and flush to the disk before returning."""
    part = build_part_path(path)
    with disk_errors(path), _delete_afterwards(part):
        write_part(part, data)
        replace_file(part, path)
        sync_folder(path.parent)


def write_files(files: Sequence[tuple[Path, bytes]]) -> None:
    """Write many files, each atomically; flush them in parallel, which disks combine."""
    from concurrent.futures import ThreadPoolExecutor

    parts = [(build_part_path(path), path, data) for path, data in files]
    with ExitStack() as leftovers:
        for part, path, _ in parts:
            leftovers.enter_context(disk_errors(path))
            leftovers.enter_context(_delete_afterwards(part))
        with ThreadPoolExecutor(_FLUSH_THREADS) as pool:
            list(pool.map(lambda entry: write_part(entry[0], entry[2]), parts))
        for part, path, _ in parts:
            replace_file(part, path)
        for folder in {path.parent for _, path, _ in parts}:
            sync_folder(folder)


@contextlib.contextmanager
def replace_text_file(path: Path) -> Iterator[TextIO]:
    """Open a text file that atomically replaces *path* when the block ends.

    When the block fails, or wrote what is there already, *path* stays as it was.

    Raises
    ------
    StoreFailed
        The disk refuses.
    """
    part = build_part_path(path)
    try:
        with disk_errors(part):
            file = part.open("x", encoding="utf-8", errors="replace", newline="")
            inherit_group(part)
        with file:
            yield file
            with disk_errors(part):
                file.flush()
                if _have_same_bytes(part, path):
                    return
                os.fsync(file.fileno())
        with disk_errors(path):
            replace_file(part, path)
            sync_folder(path.parent)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def _have_same_bytes(one: Path, other: Path) -> bool:
    """Return whether two files have the same content; False if one cannot be read."""
    try:
        with one.open("rb") as ours, other.open("rb") as theirs:
            if os.fstat(ours.fileno()).st_size != os.fstat(theirs.fileno()).st_size:
                return False
            while piece := ours.read(_PIECE_BYTES):
                if piece != theirs.read(_PIECE_BYTES):
                    return False
            return True
    except OSError:
        return False


def write_new_file(path: Path, data: bytes) -> bool:
    """Write *data* to *path* like `write_file`; return False if *path* exists."""
    part = build_part_path(path)
    with disk_errors(path), _delete_afterwards(part):
        write_part(part, data)
        try:
            os.link(part, path)
        except FileExistsError:
            return False
        except OSError:  # a file system without hard links
            if path.exists():
                return False
            replace_file(part, path)
        sync_folder(path.parent)
    return True


def copy_file(source: Path, target: Path) -> bool:
    """Copy a file; return False if *target* exists with other content."""
    with disk_errors(source, "read"):
        data = source.read_bytes()
    return write_copy(data, target)


def write_copy(data: bytes, target: Path) -> bool:
    """Write a file; return False if *target* exists with other content."""
    make_folder(target.parent)
    if write_new_file(target, data):
        return True
    with disk_errors(target, "read"):
        return target.is_file() and target.read_bytes() == data


@contextlib.contextmanager
def _delete_afterwards(part: Path) -> Iterator[None]:
    """Delete *part* when the block ends."""
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def build_part_path(path: Path) -> Path:
    """Return a unique temporary path from which a file can be renamed to *path*.

    Beside it; for what lies among a shelf's papers, in the shelf's private folder.
    """
    # The stem is cut, since a name near the limit of 255 bytes has no room for the ending.
    name = f".{path.name[:120]}.{os.getpid()}.{os.urandom(4).hex()}.part"
    private = path.parent / PRIVATE_FOLDER
    with contextlib.suppress(OSError):  # somebody may have put the private folder on another disk
        if private.stat().st_dev == path.parent.stat().st_dev:
            return private / name
    return path.with_name(name)


def write_part(part: Path, data: bytes) -> None:
    """Write a new file and flush it to the disk."""
    # "x": never follow or reuse something somebody has put there.
    with disk_errors(part), part.open("xb") as file:
        inherit_group(part)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def flush_file(path: Path) -> None:
    """Flush the bytes of a finished file to the disk."""
    with disk_errors(path), path.open("r+b") as file:
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


def read_stamp(path: Path) -> tuple[int, int]:
    """Return the size and modification time of a file, to detect changes; (-1, -1) if missing."""
    try:
        status = os.stat(path)  # noqa: PTH116 - a third of the cost, on every find
    except OSError:
        return -1, -1
    return status.st_size, status.st_mtime_ns


def delete_file(path: Path) -> None:
    """Delete *path* if it exists."""
    with disk_errors(path, "delete"):
        path.unlink(missing_ok=True)


def move_folder(folder: Path, target: Path) -> None:
    """Rename *folder* to *target*; if *target* exists, move *folder* into it."""
    place, number = target, 1
    while place.exists():
        place = target / (folder.name if number == 1 else f"{number}-{folder.name}")
        number += 1
    with disk_errors(folder):
        folder.rename(place)
        sync_folder(place.parent)
        sync_folder(folder.parent)


@contextlib.contextmanager
def exclusive_lock(path: Path) -> Iterator[None]:
    """Hold a lock on *path* among processes; the system frees the lock when its holder dies."""
    try:
        import fcntl
    except ImportError:  # Windows: a file in use cannot be moved there, which is lock enough
        yield
        return
    with disk_errors(path, "lock"), path.open("ab") as file:
        inherit_group(path)
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def delete_stale_parts(folder: Path) -> int:
    """Delete temporary files that killed writers left over an hour ago; return their number."""
    swept = 0
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        for entry in found:
            if entry.name.startswith(".") and entry.name.endswith(".part"):
                with contextlib.suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_mtime < time.time() - STALE_AFTER_S:
                        Path(entry.path).unlink()
                        swept += 1
    return swept


def is_device_name(name: str) -> bool:
    """Return whether Windows reserves a file name for a device, whatever its ending.

    >>> is_device_name("con"), is_device_name("NUL.txt"), is_device_name("console.txt")
    (True, True, False)
    """
    return _DEVICE.fullmatch(name) is not None


def _is_unportable_part(part: str) -> bool:
    """Return whether some system refuses a part of a path, or reads it as a device."""
    if part in {".", ".."}:
        return False
    return is_device_name(part) or part[-1] in ". " or bool(_UNFIT_EVERYWHERE.search(part))


def resolve_on_shelf(folder: Path, wanted: str) -> Path:
    """Resolve a path given by a user or a model; reject a path off the shelf.

    Relative paths hang on *folder*. Links are followed before judging.

    Raises
    ------
    BadRequest
        It leads out of the folder, into its private part, or is not a .txt or .md file.
    """
    hint = f"Give a name like my_paper.txt; it is written inside {folder}."
    unfit = any(ord(c) < 32 or ord(c) == 127 for c in wanted) or wanted != replace_surrogates(
        wanted
    )
    if unfit or not wanted.strip():
        raise BadRequest(f"{wanted!r} is not a usable file name.", hint)
    if os.name != "nt" and "\\" in wanted:
        raise BadRequest(f"{wanted!r} contains a backslash.", hint)
    given = Path(wanted)
    if part := next(filter(_is_unportable_part, given.relative_to(given.anchor).parts), ""):
        raise BadRequest(f"{part!r} is not a file name that every system takes.", hint)
    if ".." in given.parts:
        raise BadRequest(f"{wanted!r} contains '..'.", hint)
    home = folder.resolve()
    try:
        target = (home / given).resolve()
        circular = any(part.is_symlink() for part in (target, *target.parents))  # from 3.13 on
    except (OSError, RuntimeError, UnicodeEncodeError) as error:  # RuntimeError: so until 3.12
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


PRIVATE_FOLDER = ".papershelf"

_GROUP_FOLDER = stat.S_ISGID | stat.S_IRWXG
_GROUP_FILE = stat.S_IRGRP | stat.S_IWGRP
_OTHERS = stat.S_IRWXO
_requested: set[Path] = set()


def request_sharing(shelf: Path) -> None:
    """Request that *shelf* be shared with its folder's group on first use; no disk access yet."""
    if os.name != "nt":
        _requested.add(shelf.absolute())


def is_group_folder(folder: Path) -> bool:
    """Return whether *folder* belongs to a group that may write to it."""
    return _get_mode(folder) & _GROUP_FOLDER == _GROUP_FOLDER


def inherit_group(path: Path) -> None:
    """Give the group its rights on the new file *path*, if its folder is a group's.

    Another person's file stays as it is: whoever made it has done the same.
    """
    if not _is_shared(path.parent):
        return
    with suppress(OSError):
        _grant_group(path)


def _is_shared(folder: Path) -> bool:
    """Return whether new files in *folder* are the group's; a shelf's private folder decides."""
    if os.name == "nt":
        return False
    return (
        _get_mode(folder / PRIVATE_FOLDER) or _get_mode(folder)
    ) & _GROUP_FOLDER == _GROUP_FOLDER


def _get_mode(path: Path) -> int:
    """Return the mode of a path; 0 if the path is missing or inaccessible."""
    try:
        return path.stat().st_mode
    except OSError:
        return 0


def create_shared(path: Path) -> None:
    """Create a group's database as an empty file that the group may write to.

    SQLite gives a new file no more than 0644, and the files beside it what the first one has.
    """
    if not _is_shared(path.parent):
        return
    with suppress(OSError):  # it is there; or SQLite is refused as well, and says so
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        _grant_group(path)


def create_folder(folder: Path, mode: int = 0o777) -> None:
    """Create *folder* and its parents; *mode* also corrects a folder that is too open.

    Raises
    ------
    OSError
        The disk refuses, or it is somebody else's and too open.
    """
    for one in reversed((folder, *folder.parents)):
        if not one.is_dir():
            private = one == folder or PRIVATE_FOLDER in one.parts
            one.mkdir(mode if private else 0o777, exist_ok=True)
            inherit_group(one)
        if one.name == PRIVATE_FOLDER:
            share_if_requested(one.parent)
    if mode == 0o777 or is_group_folder(folder):
        return
    if folder.name != PRIVATE_FOLDER and _is_shared(folder.parent):
        inherit_group(folder)
    elif stat.S_IMODE(folder.stat().st_mode) != mode:
        folder.chmod(mode)


def share_if_requested(shelf: Path) -> None:
    """Give our files of a shelf to its folder's group, once, if sharing was requested."""
    private = shelf / PRIVATE_FOLDER
    if shelf.absolute() not in _requested or not private.is_dir() or is_group_folder(private):
        return
    group = shelf.stat().st_gid
    paths = (shelf, *_walk_shelf(shelf))
    names = Counter(map(_get_inode, paths))
    for path in paths:
        with suppress(OSError):  # gone by now, or the file system knows no modes
            if path.is_file() and path.lstat().st_nlink > names[_get_inode(path)]:
                continue  # also a file of a person elsewhere, whose mode is theirs
            _give_to_group(path, group, closed=path != shelf and PRIVATE_FOLDER in path.parts)
    if not is_group_folder(private):
        _requested.discard(shelf.absolute())  # somebody else's, or no such thing here: not again


def _get_inode(path: Path) -> tuple[int, int]:
    """Return what identifies a file under all its names; zeros for a missing file."""
    with suppress(OSError):
        status = path.lstat()
        return status.st_dev, status.st_ino
    return 0, 0


def _give_to_group(path: Path, group: int, *, closed: bool) -> None:
    """Give our own file or folder to the group."""
    status = path.lstat()
    if os.geteuid() not in (0, status.st_uid) or stat.S_ISLNK(status.st_mode):
        return
    if status.st_gid != group:
        os.chown(path, -1, group)
    _grant_group(path, closed=closed)


def _walk_shelf(shelf: Path) -> Iterator[Path]:
    """Yield the paths of a shelf, its private folder last: its mode marks the shelf as shared."""
    for root, folders, files in os.walk(shelf, topdown=False):
        inside = Path(root).relative_to(shelf).parts
        hidden = [name for name in inside if name.startswith(".")]
        if hidden in ([], [PRIVATE_FOLDER]):
            shown = (name for name in (*files, *folders) if hidden or not name.startswith("."))
            yield from (Path(root, name) for name in shown if ".log" not in name)
    yield shelf / PRIVATE_FOLDER


def _grant_group(path: Path, *, closed: bool = False) -> None:
    """Add the group's rights; *closed* removes the rights of others."""
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return
    wanted = stat.S_IMODE(mode) | (_GROUP_FOLDER if stat.S_ISDIR(mode) else _GROUP_FILE)
    if closed:
        wanted &= ~_OTHERS
    if wanted != stat.S_IMODE(mode):
        path.chmod(wanted)


# -- other people's files ----------------------------------------------------------------------


def find_access_error(
    path: Path, doing: str = "use", *, reading: bool = False
) -> StoreFailed | None:
    """Return the error if another person's file or folder bars us from *path*, else None.

    *reading* asks for the right to read only.
    """
    if os.name == "nt" or (found := _find_barrier(path, reading)) is None:
        return None
    culprit, status = found
    owner = _get_user_name(status.st_uid)
    whose = "it" if culprit == path else culprit
    msg = f"Could not {doing} {path}: {whose} belongs to {owner}"
    shelf = _find_shelf(path)
    if not _is_shelf(shelf):
        msg += "."
    elif not is_group_folder(shelf / PRIVATE_FOLDER):
        msg += ", who has not shared it."
    elif status.st_gid in (os.getegid(), *os.getgroups()):
        msg += ", and its group may not write to it."
    else:
        msg += f" and to the group {_get_group_name(status.st_gid)}, and you are not in it."
    return StoreFailed(
        msg, _suggest_remedy(shelf, culprit, status, owner), file=str(path), owner=owner
    )


def _find_barrier(path: Path, reading: bool) -> tuple[Path, os.stat_result] | None:
    """Return the nearest existing path to *path*, if another person owns and closed it."""
    for one in (path, *path.parents):
        try:
            status = one.stat()
        except OSError:
            continue
        needed = (
            os.R_OK | (0 if reading else os.W_OK) | (os.X_OK if stat.S_ISDIR(status.st_mode) else 0)
        )
        closed = status.st_uid != os.geteuid() and not os.access(one, needed)
        return (one, status) if closed else None
    return None


def _suggest_remedy(shelf: Path, culprit: Path, status: os.stat_result, owner: str) -> str:
    """Return advice about a barrier, as commands that can be pasted."""
    elsewhere = "or point PAPERS_DIR at a folder of your own."
    if not _is_shelf(shelf):
        return f"Ask {owner} for a folder there, {elsewhere}"
    if not is_group_folder(shelf / PRIVATE_FOLDER):
        where = shlex.quote(str(shelf))
        share = f"PAPERS_SHARED=true {command_line(f'harvest status --papers-dir {where}')}"
        if not is_group_folder(shelf) or shelf.stat().st_gid not in (os.getegid(), *os.getgroups()):
            share = f"chgrp GROUP {where} && {share}"
        return (
            f"To share this shelf, {owner} runs once: {share} – and all of you set "
            f"PAPERS_SHARED=true; {elsewhere}"
        )
    if status.st_gid in (os.getegid(), *os.getgroups()):
        rights = "g+rwxs" if stat.S_ISDIR(status.st_mode) else "g+rw"
        return f"{owner} runs: chmod {rights} {shlex.quote(str(culprit))} – {elsewhere}"
    group = _get_group_name(status.st_gid)
    join = f"sudo usermod -aG {shlex.quote(group)} {shlex.quote(_get_user_name(os.geteuid()))}"
    return f"Have yourself added ({join}) and sign in again, {elsewhere}"


def _find_shelf(path: Path) -> Path:
    """Return the shelf around *path*, or else the parent folder."""
    inside = next((one for one in (path, *path.parents) if one.name == PRIVATE_FOLDER), None)
    if inside is not None:
        return inside.parent
    return next(
        (one for one in (path, *path.parents) if (one / PRIVATE_FOLDER).exists()), path.parent
    )


def _is_shelf(folder: Path) -> bool:
    """Return whether a folder has the private folder of a shelf."""
    try:
        (folder / PRIVATE_FOLDER).lstat()
    except PermissionError:
        return True  # whose it is does not even let us look
    except OSError:
        return False
    return True


def _get_user_name(number: int) -> str:
    """Return the name of a user by number."""
    import pwd

    with suppress(KeyError):
        return pwd.getpwuid(number).pw_name
    return f"user {number}"


def _get_group_name(number: int) -> str:
    """Return the name of a group by number."""
    import grp

    with suppress(KeyError):
        return grp.getgrgid(number).gr_name
    return str(number)
