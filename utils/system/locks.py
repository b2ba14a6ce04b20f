"""File locks: test whether a file system supports them, and name the process that holds a lock.

SQLite and all files that several processes may write rely on locks. Some network drives refuse
locks (NFS without its lock service, some SMB and FUSE mounts), some give one lock to two processes.
A database in WAL mode is for the processes of one machine only, which share memory. So a shelf's
file system is tested once, and only on network drives (`require_working_locks`).
https://www.sqlite.org/lockingv3.html#how_to_corrupt, https://www.sqlite.org/wal.html

A file beside a lock names its holder (`record_lock_holder`), for the message to whoever waits for
it.
"""

from __future__ import annotations

import logging
import os
import platform
import shlex
import subprocess
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from ..errors import StoreFailed
from .plain_text import one_line
from .safe_files import build_part_path, delete_if_exists, inherit_group_rights

if sys.platform != "win32":
    import fcntl

log = logging.getLogger(__name__)

_LOCAL_FILE_SYSTEMS = {
    *("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs"),
    *("jfs", "nilfs2", "reiserfs", "bcachefs", "tmpfs", "ramfs", "overlay", "aufs"),
    *("apfs", "hfs", "hfsplus", "ntfs", "ntfs3", "fuseblk"),
    *("vfat", "exfat", "squashfs", "iso9660", "udf", "rootfs", "ecryptfs"),
}
_LOCK_TIMEOUT_S = 20.0
_POLL_S = 0.05
# In a process of its own, because a drive may not answer at all, and because a process does not see
# its own POSIX locks, which SQLite uses.
_PROBE = """
import fcntl, os, sys
for lock in fcntl.lockf, fcntl.flock:
    with open(sys.argv[1], "r+b") as ours:
        try:
            lock(ours, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            sys.exit(print(f"it refuses locks ({error.strerror})"))
        if not (child := os.fork()):
            try:
                with open(sys.argv[1], "r+b") as theirs:
                    lock(theirs, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os._exit(0)
            os._exit(1)
        if os.waitpid(child, 0)[1]:
            sys.exit(print("it gives one lock to two processes at once"))
"""
_checked_folders: set[Path] = set()
_held_files: dict[Path, BinaryIO] = {}


def require_working_locks(folder: Path) -> None:
    """Reject a folder whose file system does not enforce locks between processes or machines.

    Raises
    ------
    StoreFailed
        Locks do not work there, or another machine is using it.
    """
    if folder in _checked_folders:
        return
    kind = find_file_system_type(folder)
    if kind and kind not in _LOCAL_FILE_SYSTEMS and os.access(folder, os.W_OK):
        if fault := _test_locks(folder):
            msg = f"{folder} lies on a network drive ({kind}) that cannot keep a shelf: {fault}."
            raise StoreFailed(msg, _build_local_disk_hint(folder), file=str(folder))
        _claim_folder(folder, kind)
    _checked_folders.add(folder)


def find_file_system_type(folder: Path) -> str:
    """Return the type of a folder's file system, as Linux names it; "" if unknown."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    folder, nearest, kind = folder.resolve(), Path("/"), ""
    for line in mounts.splitlines():
        mount, _, details = line.partition(" - ")
        point = Path(_unescape_mount_point(mount.split()[4]))
        if folder.is_relative_to(point) and len(point.parts) >= len(nearest.parts):
            nearest, kind = point, details.split()[0]
    return kind


def _unescape_mount_point(point: str) -> str:
    """Decode the octal escapes of a mount point in ``mountinfo``."""
    for code, sign in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        point = point.replace(code, sign)
    return point


def _test_locks(folder: Path) -> str:
    """Return what is wrong with locks in *folder*; "" if locks work."""
    trial = build_part_path(folder / "locks")
    try:
        trial.touch()
        command = [sys.executable, "-S", "-P", "-c", _PROBE, str(trial)]
        completed = subprocess.run(  # noqa: S603 - ourselves
            command,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_LOCK_TIMEOUT_S,
            check=True,
        )
        return completed.stdout.strip()
    except subprocess.TimeoutExpired:
        return f"it did not answer within {_LOCK_TIMEOUT_S:.0f} seconds when asked for a lock"
    except (OSError, subprocess.SubprocessError) as error:
        log.warning("Locks in %s could not be tested: %s", folder, error)
        return ""
    finally:
        with suppress(StoreFailed):
            delete_if_exists(trial)


def _claim_folder(folder: Path, kind: str) -> None:
    """Claim the folder for this machine as long as this process runs.

    All processes of a machine share one lock; a process that gets it exclusively signs the file.
    """
    path, until = folder / "machine", time.monotonic() + _LOCK_TIMEOUT_S
    try:
        file = path.open("a+b")
    except OSError:
        return
    inherit_group_rights(path)
    while not _try_write_signature(file):
        if time.monotonic() > until or _read_signature(file) not in (
            b"",
            _build_machine_signature(),
        ):
            name = _read_signature(file).decode("utf-8", "replace").partition(" ")[0]
            file.close()
            msg = (
                f"{folder} lies on a network drive ({kind}), and the machine {name} is using it: "
                "a shelf is for one machine at a time."
            )
            hint = f"Wait until {name} is done, or work there; or {_build_local_disk_hint(folder)}"
            raise StoreFailed(msg, hint, file=str(folder))
        time.sleep(_POLL_S)
    _held_files[folder] = file


def _try_write_signature(file: BinaryIO) -> bool:
    """Write the signature, share the lock, and return whether the signature is this machine's."""
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        file.truncate(0)
        file.write(_build_machine_signature())
        file.flush()
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return _read_signature(file) == _build_machine_signature()
    return False


def _read_signature(file: BinaryIO) -> bytes:
    """Return the signature in the lock file."""
    file.seek(0)
    return file.read(500)


def _build_machine_signature() -> bytes:
    """Return the name and the boot identifier of this machine."""
    boot = ""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{platform.node() or 'unnamed'} {boot}".encode()


def _build_local_disk_hint(folder: Path) -> str:
    """Return the advice to keep the shelf on a local disk."""
    here = shlex.quote(str(folder.parent))
    return (
        f"keep the shelf on a local disk (export PAPERS_DIR=~/papers) and copy it when it is "
        f"done: rsync -a ~/papers/ {here}"
    )


UNKNOWN_HOLDER = "Another process"
_MAX_HOLDER_CHARS = 200


def describe_process() -> str:
    """Return a name for this process and its machine, for messages to other processes."""
    return f"Process {os.getpid()} on {platform.node() or 'a machine without a name'}"


def record_lock_holder(path: Path) -> None:
    """Write this process's name next to a lock; ignore disk errors."""
    since = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds")
    with suppress(OSError):
        path.touch(mode=0o600)
        inherit_group_rights(path)
        path.write_text(f"{describe_process()}, since {since}", encoding="utf-8")


def read_lock_holder(path: Path) -> str:
    """Return the process that last recorded itself as the lock's holder."""
    with suppress(OSError):
        return one_line(path.read_text("utf-8", "replace")[:_MAX_HOLDER_CHARS]) or UNKNOWN_HOLDER
    return UNKNOWN_HOLDER
