"""Locks of files: whether a file system keeps them, and which process holds one.

SQLite and everything else here that several processes may write relies on locks. Some network
drives refuse them (NFS without its lock service, some SMB and FUSE mounts), some give one lock to
two. A database in WAL mode is for the processes of one machine only, which share memory. So a
shelf's file system is tried once, and only on network drives (`require_locks`).
https://www.sqlite.org/lockingv3.html#how_to_corrupt, https://www.sqlite.org/wal.html

A file beside a lock names its holder (`sign_holder`), for the message to whoever waits for it.
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
from .safe_files import inherit_group, part_of, remove

if sys.platform != "win32":
    import fcntl

log = logging.getLogger(__name__)

_LOCAL = {
    *("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs"),
    *("jfs", "nilfs2", "reiserfs", "bcachefs", "tmpfs", "ramfs", "overlay", "aufs"),
    *("apfs", "hfs", "hfsplus", "ntfs", "ntfs3", "fuseblk"),
    *("vfat", "exfat", "squashfs", "iso9660", "udf", "rootfs", "ecryptfs"),
}
_PATIENCE_S = 20.0
_POLL_S = 0.05
# In a process of its own: a drive may not answer at all, and of the locks that SQLite takes, a
# process sees only those of others.
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
_examined: set[Path] = set()
_held: dict[Path, BinaryIO] = {}


def require_locks(folder: Path) -> None:
    """Refuse a folder whose file system does not keep processes, or machines, apart.

    Raises
    ------
    StoreFailed
        Locks do not work there, or another machine is using it.
    """
    if folder in _examined:
        return
    kind = file_system_of(folder)
    if kind and kind not in _LOCAL and os.access(folder, os.W_OK):
        if fault := _lock_fault(folder):
            msg = f"{folder} lies on a network drive ({kind}) that cannot keep a shelf: {fault}."
            raise StoreFailed(msg, _local_disk_hint(folder), file=str(folder))
        _claim_for_machine(folder, kind)
    _examined.add(folder)


def file_system_of(folder: Path) -> str:
    """The kind of file system a folder lies on, as Linux calls it; empty where nobody says."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    folder, nearest, kind = folder.resolve(), Path("/"), ""
    for line in mounts.splitlines():
        place, _, system = line.partition(" - ")
        point = Path(_unescape(place.split()[4]))
        if folder.is_relative_to(point) and len(point.parts) >= len(nearest.parts):
            nearest, kind = point, system.split()[0]
    return kind


def _unescape(point: str) -> str:
    for code, sign in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        point = point.replace(code, sign)
    return point


def _lock_fault(folder: Path) -> str:
    """Return the fault of locks in *folder*; empty if they work."""
    trial = part_of(folder / "locks")
    try:
        trial.touch()
        command = [sys.executable, "-S", "-P", "-c", _PROBE, str(trial)]
        done = subprocess.run(  # noqa: S603 - ourselves
            command,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_PATIENCE_S,
            check=True,
        )
        return done.stdout.strip()
    except subprocess.TimeoutExpired:
        return f"it did not answer within {_PATIENCE_S:.0f} seconds when asked for a lock"
    except (OSError, subprocess.SubprocessError) as error:
        log.warning("Whether %s keeps processes apart could not be tried: %s", folder, error)
        return ""
    finally:
        with suppress(StoreFailed):
            remove(trial)


def _claim_for_machine(folder: Path, kind: str) -> None:
    """Claim the folder for this machine, for as long as this process lives.

    All processes of a machine share one lock; whoever gets it exclusively writes the signature.
    """
    path, until = folder / "machine", time.monotonic() + _PATIENCE_S
    try:
        file = path.open("a+b")
    except OSError:
        return
    inherit_group(path)
    while not _sign(file):
        if time.monotonic() > until or _signature(file) not in (b"", _machine_signature()):
            name = _signature(file).decode("utf-8", "replace").partition(" ")[0]
            file.close()
            msg = (
                f"{folder} lies on a network drive ({kind}), and the machine {name} is using it: "
                "a shelf is for one machine at a time."
            )
            hint = f"Wait until {name} is done, or work there; or {_local_disk_hint(folder)}"
            raise StoreFailed(msg, hint, file=str(folder))
        time.sleep(_POLL_S)
    _held[folder] = file


def _sign(file: BinaryIO) -> bool:
    """Try to sign and to share the lock; whether the signature is that of this machine."""
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        file.truncate(0)
        file.write(_machine_signature())
        file.flush()
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return _signature(file) == _machine_signature()
    return False


def _signature(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read(500)


def _machine_signature() -> bytes:
    """The name and the boot identifier of this machine."""
    boot = ""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{platform.node() or 'unnamed'} {boot}".encode()


def _local_disk_hint(folder: Path) -> str:
    here = shlex.quote(str(folder.parent))
    return (
        f"keep the shelf on a local disk (export PAPERS_DIR=~/papers) and copy it when it is "
        f"done: rsync -a ~/papers/ {here}"
    )


UNKNOWN = "Another process"
_HOLDER_CHARS = 200


def describe_process() -> str:
    """Return the name of this process for messages to others."""
    return f"Process {os.getpid()} on {platform.node() or 'a machine without a name'}"


def sign_holder(path: Path) -> None:
    """Write beside a lock that this process has it; a disk that refuses is none of its business."""
    since = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds")
    with suppress(OSError):
        path.touch(mode=0o600)
        inherit_group(path)
        path.write_text(f"{describe_process()}, since {since}", encoding="utf-8")


def read_holder(path: Path) -> str:
    """Return the process that signed last."""
    with suppress(OSError):
        return one_line(path.read_text("utf-8", "replace")[:_HOLDER_CHARS]) or UNKNOWN
    return UNKNOWN
