"""Write files atomically, so that readers never see half a file, and share them with a group.

Atomic: a file is written next to its target, flushed to disk and renamed over it. A reader sees the
old bytes or the new ones, even after ``kill -9`` or a power cut. Errors of the operating system
become `StoreFailed` with the file's name and a hint.

Shared: a folder with the setgid bit that its group may write to belongs to the group, as usual on
Unix. New files and folders in it get the same rights whatever the umask: the group may read and
write files (0660) and folders, which pass the rights on (2770). A shelf's private folder is given
to a group only on request (``PAPERS_SHARED``); its mode tells whether the whole shelf is shared. On
Windows a folder's access list is inherited.

`create_folder` raises `OSError`, for callers that can continue without the folder; `make_folder`
raises `StoreFailed`.
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
_FOLDER_STALE_AFTER_S = 86_400.0
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
    """In the block, convert errors of the operating system to `StoreFailed`.

    Raises
    ------
    StoreFailed
        The operating system reported an error for *path*.
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
    """Create *folder* like `create_folder`, but raise `StoreFailed` if the disk refuses."""
    with disk_errors(folder, "create"):
        create_folder(folder, mode)


def replace_file(part: Path, path: Path) -> None:
    """Rename *part* to *path*, replacing an existing file.

    Windows refuses while another program has *path* open, such as a virus scanner. The rename is
    therefore repeated for two seconds.
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
    """Write *data* to *path* atomically, and flush it to disk before returning."""
    part = build_part_path(path)
    with disk_errors(path), _delete_at_exit(part):
        write_flushed_file(part, data)
        replace_file(part, path)
        flush_folder(path.parent)


@contextlib.contextmanager
def replace_flushed(path: Path) -> Iterator[Path]:
    """Yield the path of a new file, which is flushed and replaces *path* when the block ends.

    If the block fails, nothing is left behind and *path* stays unchanged.

    Raises
    ------
    StoreFailed
        The disk refuses.
    """
    part = build_part_path(path)
    with disk_errors(path), _delete_at_exit(part):
        yield part
        flush_file(part)
        replace_file(part, path)
        flush_folder(path.parent)


def write_files(files: Sequence[tuple[Path, bytes]]) -> None:
    """Write many files, each atomically; flush them in parallel, which disks combine."""
    from concurrent.futures import ThreadPoolExecutor

    parts = [(build_part_path(path), path, data) for path, data in files]
    with ExitStack() as leftovers:
        for part, path, _ in parts:
            leftovers.enter_context(disk_errors(path))
            leftovers.enter_context(_delete_at_exit(part))
        with ThreadPoolExecutor(_FLUSH_THREADS) as pool:
            list(pool.map(lambda entry: write_flushed_file(entry[0], entry[2]), parts))
        for part, path, _ in parts:
            replace_file(part, path)
        for folder in {path.parent for _, path, _ in parts}:
            flush_folder(folder)


@contextlib.contextmanager
def replace_text_file(path: Path) -> Iterator[TextIO]:
    """Open a text file that atomically replaces *path* when the block ends.

    If the block fails, or writes the same content, *path* stays unchanged.

    Raises
    ------
    StoreFailed
        The disk refuses.
    """
    part = build_part_path(path)
    try:
        with disk_errors(part):
            file = part.open("x", encoding="utf-8", errors="replace", newline="")
            inherit_group_rights(part)
        with file:
            yield file
            with disk_errors(part):
                file.flush()
                if _has_same_content(part, path):
                    return
                os.fsync(file.fileno())
        with disk_errors(path):
            replace_file(part, path)
            flush_folder(path.parent)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def _has_same_content(one: Path, other: Path) -> bool:
    """Return whether two files have the same content; False if either cannot be read."""
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


def write_if_absent(path: Path, data: bytes) -> bool:
    """Write *data* to *path* like `write_file`; return False if *path* exists."""
    part = build_part_path(path)
    with disk_errors(path), _delete_at_exit(part):
        write_flushed_file(part, data)
        try:
            os.link(part, path)
        except FileExistsError:
            return False
        except OSError:  # a file system without hard links
            if path.exists():
                return False
            replace_file(part, path)
        flush_folder(path.parent)
    return True


def copy_unless_different(source: Path, target: Path) -> bool:
    """Copy a file; return False if *target* exists with other content."""
    with disk_errors(source, "read"):
        data = source.read_bytes()
    return write_unless_different(data, target)


def write_unless_different(data: bytes, target: Path) -> bool:
    """Write a file; return False if *target* exists with other content."""
    make_folder(target.parent)
    if write_if_absent(target, data):
        return True
    with disk_errors(target, "read"):
        return target.is_file() and target.read_bytes() == data


@contextlib.contextmanager
def _delete_at_exit(part: Path) -> Iterator[None]:
    """Delete *part* when the block ends."""
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def build_part_path(path: Path) -> Path:
    """Return a unique temporary path from which a file can be renamed to *path*.

    It is in the same folder; for a paper's file, in the shelf's private folder.
    """
    # The stem is cut, since a name near the limit of 255 bytes has no room for the ending.
    name = f".{path.name[:120]}.{os.getpid()}.{os.urandom(4).hex()}.part"
    private = path.parent / PRIVATE_FOLDER
    with contextlib.suppress(OSError):  # the private folder may be on another disk
        if private.stat().st_dev == path.parent.stat().st_dev:
            return private / name
    return path.with_name(name)


def write_flushed_file(part: Path, data: bytes) -> None:
    """Write a new file and flush it to disk."""
    # "x": never follow or reuse a file or link that exists already.
    with disk_errors(part), part.open("xb") as file:
        inherit_group_rights(part)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def flush_file(path: Path) -> None:
    """Flush the bytes of a finished file to disk."""
    with disk_errors(path), path.open("r+b") as file:
        os.fsync(file.fileno())


def flush_folder(folder: Path) -> None:
    """Make a rename durable; without this a power cut may undo it."""
    if os.name == "nt":  # Windows cannot open folders, and orders renames itself
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_file_stamp(path: Path) -> tuple[int, int]:
    """Return the size and modification time of a file, to detect changes; (-1, -1) if missing."""
    try:
        status = os.stat(path)  # noqa: PTH116 - a third of the cost, on every find
    except OSError:
        return -1, -1
    return status.st_size, status.st_mtime_ns


def delete_if_exists(path: Path) -> None:
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
        flush_folder(place.parent)
        flush_folder(folder.parent)


@contextlib.contextmanager
def exclusive_lock(path: Path) -> Iterator[None]:
    """Hold a lock on *path* against other processes; the system frees it if the process dies."""
    try:
        import fcntl
    except ImportError:  # Windows: a file in use cannot be moved there, which is lock enough
        yield
        return
    with disk_errors(path, "lock"), path.open("ab") as file:
        inherit_group_rights(path)
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def delete_stale_temporary_files(folder: Path) -> int:
    """Delete temporary files of killed writers after an hour, and temporary folders after a day.

    Returns how many were deleted.
    """
    import shutil

    count = 0
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not (entry.name.startswith(".") and entry.name.endswith(".part")):
                continue
            with contextlib.suppress(OSError):
                is_folder = entry.is_dir(follow_symlinks=False)
                age = time.time() - entry.stat(follow_symlinks=False).st_mtime
                if age > (_FOLDER_STALE_AFTER_S if is_folder else STALE_AFTER_S):
                    shutil.rmtree(entry.path) if is_folder else Path(entry.path).unlink()
                    count += 1
    return count


@contextlib.contextmanager
def open_temporary_folder(parent: Path) -> Iterator[Path]:
    """Make a folder in *parent*; delete it at the end, or a day after its process was killed."""
    import tempfile

    delete_stale_temporary_files(parent)
    with tempfile.TemporaryDirectory(dir=parent, prefix=".", suffix=".part") as name:
        yield Path(name)


def is_device_name(name: str) -> bool:
    """Return whether Windows reserves a file name for a device, regardless of its extension.

    >>> is_device_name("con"), is_device_name("NUL.txt"), is_device_name("console.txt")
    (True, True, False)
    """
    return _DEVICE.fullmatch(name) is not None


def _is_unportable_name(part: str) -> bool:
    """Return whether some operating system rejects a path component, or treats it as a device."""
    if part in {".", ".."}:
        return False
    return is_device_name(part) or part[-1] in ". " or bool(_UNFIT_EVERYWHERE.search(part))


def resolve_shelf_path(folder: Path, wanted: str) -> Path:
    """Resolve a path from a user or a model; reject a path outside the shelf.

    Relative paths start at *folder*. Links are followed before the path is checked.

    Raises
    ------
    BadRequest
        The path leads out of the folder or into its private folder, or is not a .txt or .md file.
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
    if part := next(filter(_is_unportable_name, given.relative_to(given.anchor).parts), ""):
        raise BadRequest(f"{part!r} is not a file name on every operating system.", hint)
    if ".." in given.parts:
        raise BadRequest(f"{wanted!r} contains '..'.", hint)
    home = folder.resolve()
    try:
        target = (home / given).resolve()
        circular = any(part.is_symlink() for part in (target, *target.parents))  # from 3.13 on
    except (OSError, RuntimeError, UnicodeEncodeError) as error:  # RuntimeError: so until 3.12
        raise BadRequest(f"{wanted!r} cannot be resolved: {error}.", hint) from None
    if circular:
        raise BadRequest(f"{wanted!r} contains a link that leads back to itself.", hint)
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


def request_group_sharing(shelf: Path) -> None:
    """Request that *shelf* be shared with its folder's group at first use; no disk access yet."""
    if os.name != "nt":
        _requested.add(shelf.absolute())


def is_group_folder(folder: Path) -> bool:
    """Return whether *folder* belongs to a group that may write to it."""
    return _get_mode(folder) & _GROUP_FOLDER == _GROUP_FOLDER


def inherit_group_rights(path: Path) -> None:
    """Give the group rights on the new file *path*, if its folder belongs to a group.

    Another user's file stays unchanged: its creator has granted the rights already.
    """
    if not _is_shared_with_group(path.parent):
        return
    with suppress(OSError):
        _grant_group_rights(path)


def _is_shared_with_group(folder: Path) -> bool:
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


def create_shared_file(path: Path) -> None:
    """Create an empty database file to which the folder's group may write.

    SQLite creates files with at most 0644, and gives companion files the mode of the database.
    """
    if not _is_shared_with_group(path.parent):
        return
    with suppress(OSError):  # it exists; or SQLite will report the same error
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        _grant_group_rights(path)


def create_folder(folder: Path, mode: int = 0o777) -> None:
    """Create *folder* and its parents; *mode* also corrects a folder that is too open.

    Raises
    ------
    OSError
        The disk refuses, or another user owns the folder and its mode is too open.
    """
    for part in reversed((folder, *folder.parents)):
        if not part.is_dir():
            private = part == folder or PRIVATE_FOLDER in part.parts
            part.mkdir(mode if private else 0o777, exist_ok=True)
            inherit_group_rights(part)
        if part.name == PRIVATE_FOLDER:
            share_shelf_if_requested(part.parent)
    if mode == 0o777 or is_group_folder(folder):
        return
    if folder.name != PRIVATE_FOLDER and _is_shared_with_group(folder.parent):
        inherit_group_rights(folder)
    elif stat.S_IMODE(folder.stat().st_mode) != mode:
        folder.chmod(mode)


def share_shelf_if_requested(shelf: Path) -> None:
    """Give our files on a shelf to its folder's group, once, if sharing was requested."""
    private = shelf / PRIVATE_FOLDER
    if shelf.absolute() not in _requested or not private.is_dir() or is_group_folder(private):
        return
    group = shelf.stat().st_gid
    paths = (shelf, *_iterate_shelf_paths(shelf))
    names = Counter(map(_get_device_and_inode, paths))
    for path in paths:
        with suppress(OSError):  # deleted meanwhile, or a file system without modes
            if path.is_file() and path.lstat().st_nlink > names[_get_device_and_inode(path)]:
                continue  # a hard link also outside the shelf, where the mode matters
            _give_to_group(path, group, closed=path != shelf and PRIVATE_FOLDER in path.parts)
    if not is_group_folder(private):
        _requested.discard(
            shelf.absolute()
        )  # another user's, or modes are unsupported: do not try again


def _get_device_and_inode(path: Path) -> tuple[int, int]:
    """Return the device and inode of a file; zeros for a missing file."""
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
    _grant_group_rights(path, closed=closed)


def _iterate_shelf_paths(shelf: Path) -> Iterator[Path]:
    """Yield the paths of a shelf, last the private folder, whose mode marks a shared shelf."""
    for root, folders, files in os.walk(shelf, topdown=False):
        inside = Path(root).relative_to(shelf).parts
        hidden = [name for name in inside if name.startswith(".")]
        if hidden in ([], [PRIVATE_FOLDER]):
            shown = (name for name in (*files, *folders) if hidden or not name.startswith("."))
            yield from (Path(root, name) for name in shown if ".log" not in name)
    yield shelf / PRIVATE_FOLDER


def _grant_group_rights(path: Path, *, closed: bool = False) -> None:
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
    """Return the error if another user's permissions prevent access to *path*, else None.

    With *reading*, only the right to read is required.
    """
    if os.name == "nt" or (closed := _find_closed_path(path, reading)) is None:
        return None
    closed_path, status = closed
    owner = _get_user_name(status.st_uid)
    whose = "it" if closed_path == path else closed_path
    msg = f"Could not {doing} {path}: {whose} belongs to {owner}"
    shelf = _find_enclosing_shelf(path)
    if not _has_private_folder(shelf):
        msg += "."
    elif not is_group_folder(shelf / PRIVATE_FOLDER):
        msg += ", who has not shared it."
    elif status.st_gid in (os.getegid(), *os.getgroups()):
        msg += ", and its group may not write to it."
    else:
        msg += f" and to the group {_get_group_name(status.st_gid)}, and you are not in it."
    return StoreFailed(
        msg, _suggest_permission_fix(shelf, closed_path, status, owner), file=str(path), owner=owner
    )


def _find_closed_path(path: Path, reading: bool) -> tuple[Path, os.stat_result] | None:
    """Return *path* or its nearest existing parent, if another user owns and closed it."""
    for part in (path, *path.parents):
        try:
            status = part.stat()
        except OSError:
            continue
        needed = (
            os.R_OK | (0 if reading else os.W_OK) | (os.X_OK if stat.S_ISDIR(status.st_mode) else 0)
        )
        closed = status.st_uid != os.geteuid() and not os.access(part, needed)
        return (part, status) if closed else None
    return None


def _suggest_permission_fix(
    shelf: Path, closed_path: Path, status: os.stat_result, owner: str
) -> str:
    """Return advice about a closed path, as commands that can be pasted."""
    elsewhere = "or point PAPERS_DIR at a folder of your own."
    if not _has_private_folder(shelf):
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
        return f"{owner} runs: chmod {rights} {shlex.quote(str(closed_path))} – {elsewhere}"
    group = _get_group_name(status.st_gid)
    join = f"sudo usermod -aG {shlex.quote(group)} {shlex.quote(_get_user_name(os.geteuid()))}"
    return f"Have yourself added ({join}) and sign in again, {elsewhere}"


def _find_enclosing_shelf(path: Path) -> Path:
    """Return the shelf that contains *path*, or else the parent folder."""
    private = next((part for part in (path, *path.parents) if part.name == PRIVATE_FOLDER), None)
    if private is not None:
        return private.parent
    return next(
        (part for part in (path, *path.parents) if (part / PRIVATE_FOLDER).exists()), path.parent
    )


def _has_private_folder(folder: Path) -> bool:
    """Return whether a folder has the private folder of a shelf."""
    try:
        (folder / PRIVATE_FOLDER).lstat()
    except PermissionError:
        return True  # its owner does not even let us look
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
