"""One shelf, several people: what is written in a group's folder is the group's.

A folder with the setgid bit that its group may write to is a group's, as everywhere on Unix. What
is made in one follows it, whatever the umask of who makes it: files can be read and written by the
group (0660), folders likewise, and pass it on (2770). So nobody has to agree on anything but the
folder. A shelf's private part is made a group's only where that is wished (``PAPERS_SHARED``), and
says for the whole shelf whether it is; on Windows a folder's own list of rights is inherited.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ..errors import StoreFailed

PRIVATE = ".papershelf"

_FOLDER = stat.S_ISGID | stat.S_IRWXG
_FILE = stat.S_IRGRP | stat.S_IWGRP
_OTHERS = stat.S_IRWXO
_requested: set[Path] = set()


def request_sharing(shelf: Path) -> None:
    """Request that *shelf* be shared with its folder's group on first use. No disk access yet."""
    if os.name != "nt":
        _requested.add(shelf.absolute())


def is_group(folder: Path) -> bool:
    """Whether *folder* itself is a group's."""
    return _mode(folder) & _FOLDER == _FOLDER


def inherit_group(path: Path) -> None:
    """Give the group its rights on *path*, just made, if its folder is a group's.

    Another person's file stays as it is: whoever made it has done the same.
    """
    if not _is_shared(path.parent):
        return
    with suppress(OSError):
        _grant_group(path)


def _is_shared(folder: Path) -> bool:
    """Whether what is made in *folder* is to be a group's: in a shelf, its private part tells."""
    if os.name == "nt":
        return False
    return (_mode(folder / PRIVATE) or _mode(folder)) & _FOLDER == _FOLDER


def _mode(path: Path) -> int:
    """0 where there is nothing, or nothing for us."""
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


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Create *folder* and its parents; *mode* also corrects one that is too open.

    Raises
    ------
    OSError
        The disk refuses, or it is somebody else's and too open.
    """
    for one in reversed((folder, *folder.parents)):
        if not one.is_dir():
            private = one == folder or PRIVATE in one.parts
            one.mkdir(mode if private else 0o777, exist_ok=True)
            inherit_group(one)
        if one.name == PRIVATE:
            share_if_requested(one.parent)
    if mode == 0o777 or is_group(folder):
        return
    if folder.name != PRIVATE and _is_shared(folder.parent):
        inherit_group(folder)
    elif stat.S_IMODE(folder.stat().st_mode) != mode:
        folder.chmod(mode)


def share_if_requested(shelf: Path) -> None:
    """Give our files of a shelf to its folder's group, once, if that was requested."""
    private = shelf / PRIVATE
    if shelf.absolute() not in _requested or not private.is_dir() or is_group(private):
        return
    group = shelf.stat().st_gid
    for path in (shelf, *_shelf_paths(shelf)):
        with suppress(OSError):  # gone by now, or the file system knows no modes
            _hand_over(path, group, closed=path != shelf and PRIVATE in path.parts)
    if not is_group(private):
        _requested.discard(shelf.absolute())  # somebody else's, or no such thing here: not again


def _hand_over(path: Path, group: int, *, closed: bool) -> None:
    status = path.lstat()
    if os.geteuid() not in (0, status.st_uid) or stat.S_ISLNK(status.st_mode):
        return
    if status.st_gid != group:
        os.chown(path, -1, group)
    _grant_group(path, closed=closed)


def _shelf_paths(shelf: Path) -> Iterator[Path]:
    """The paths of a shelf, its private folder last: its mode says that all are shared."""
    for root, folders, files in os.walk(shelf, topdown=False):
        inside = Path(root).relative_to(shelf).parts
        hidden = [name for name in inside if name.startswith(".")]
        if hidden in ([], [PRIVATE]):
            shown = (name for name in (*files, *folders) if hidden or not name.startswith("."))
            yield from (Path(root, name) for name in shown if ".log" not in name)
    yield shelf / PRIVATE


def _grant_group(path: Path, *, closed: bool = False) -> None:
    """Add the group's rights; *closed* removes those of others."""
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return
    wanted = stat.S_IMODE(mode) | (_FOLDER if stat.S_ISDIR(mode) else _FILE)
    if closed:
        wanted &= ~_OTHERS
    if wanted != stat.S_IMODE(mode):
        path.chmod(wanted)


# -- other people's files ----------------------------------------------------------------------


def access_error(path: Path, doing: str = "use", *, reading: bool = False) -> StoreFailed | None:
    """The error if another person's file or folder bars us from *path*, else None.

    *reading* asks for the right to read only.
    """
    if os.name == "nt" or (found := _find_barrier(path, reading)) is None:
        return None
    culprit, status = found
    owner = _user(status.st_uid)
    whose = "it" if culprit == path else culprit
    msg = f"Could not {doing} {path}: {whose} belongs to {owner}"
    shelf = _shelf_of(path)
    if not _is_shelf(shelf):
        msg += "."
    elif not is_group(shelf / PRIVATE):
        msg += ", who has not shared it."
    elif status.st_gid in (os.getegid(), *os.getgroups()):
        msg += ", and its group may not write to it."
    else:
        msg += f" and to the group {_group(status.st_gid)}, and you are not in it."
    return StoreFailed(msg, _remedy(shelf, culprit, status, owner), file=str(path), owner=owner)


def _find_barrier(path: Path, reading: bool) -> tuple[Path, os.stat_result] | None:
    """The nearest existing path to *path*, if it is another person's and closed to us."""
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


def _remedy(shelf: Path, culprit: Path, status: os.stat_result, owner: str) -> str:
    """What to do about it, in commands that can be pasted."""
    elsewhere = "or point PAPERS_DIR at a folder of your own."
    if not _is_shelf(shelf):
        return f"Ask {owner} for a folder there, {elsewhere}"
    if not is_group(shelf / PRIVATE):
        where = shlex.quote(str(shelf))
        share = f"PAPERS_SHARED=true server.py status --papers-dir {where}"
        if not is_group(shelf) or shelf.stat().st_gid not in (os.getegid(), *os.getgroups()):
            share = f"chgrp GROUP {where} && {share}"
        return (
            f"To share this shelf, {owner} runs once: {share} – and all of you set "
            f"PAPERS_SHARED=true; {elsewhere}"
        )
    if status.st_gid in (os.getegid(), *os.getgroups()):
        rights = "g+rwxs" if stat.S_ISDIR(status.st_mode) else "g+rw"
        return f"{owner} runs: chmod {rights} {shlex.quote(str(culprit))} – {elsewhere}"
    group = _group(status.st_gid)
    join = f"sudo usermod -aG {shlex.quote(group)} {shlex.quote(_user(os.geteuid()))}"
    return f"Have yourself added ({join}) and sign in again, {elsewhere}"


def _shelf_of(path: Path) -> Path:
    inside = next((one for one in (path, *path.parents) if one.name == PRIVATE), None)
    if inside is not None:
        return inside.parent
    return next((one for one in (path, *path.parents) if (one / PRIVATE).exists()), path.parent)


def _is_shelf(folder: Path) -> bool:
    try:
        (folder / PRIVATE).lstat()
    except PermissionError:
        return True  # whose it is does not even let us look
    except OSError:
        return False
    return True


def _user(number: int) -> str:
    import pwd

    with suppress(KeyError):
        return pwd.getpwuid(number).pw_name
    return f"user {number}"


def _group(number: int) -> str:
    import grp

    with suppress(KeyError):
        return grp.getgrgid(number).gr_name
    return str(number)
