"""Write the files of a pack as a folder or a ZIP, completely or not at all.

The files are written next to the target, as ``.NAME.part``, and renamed once all are on the disk. A
reader therefore finds either the old pack or the new one. After a kill, the same command continues
without rewriting the files in the unfinished folder. Between the two renames of a folder, the old
pack is ``.NAME.old``; the next run restores it.

``pack.json`` lists the checksum of each file. A pack is replaced only if it has not changed since
it was written, so that annotations and files of other programs are not lost.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ..errors import BadRequest, StoreFailed
from ..system.safe_files import (
    delete_if_exists,
    disk_errors,
    exclusive_lock,
    flush_file,
    flush_folder,
    inherit_group_rights,
    make_folder,
    replace_file,
    write_file,
)

MANIFEST = "pack.json"
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # the same content makes the same ZIP
_SYSTEM_FILES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
Digests = Mapping[str, str]


class PackFile(NamedTuple):
    """One file of a pack: its path, its size in bytes, and a function that reads its content."""

    path: str
    size: int
    read: Callable[[], bytes]


def write_pack(target: Path, files: Sequence[PackFile], lock: Path) -> bool:
    """Write a pack as a ZIP if the name ends with ``.zip``, or else as a folder.

    Parameters
    ----------
    lock : Path
        The lock file that prevents two processes from writing the same pack.

    Returns
    -------
    bool
        False if an identical pack already exists.

    Raises
    ------
    BadRequest
        *target* is not a pack, or is a pack that another program changed.
    StoreFailed
        The disk reports an error. An old pack is left unchanged.
    """
    target = target.absolute()
    make_folder(target.parent)
    with exclusive_lock(lock), disk_errors(target):
        _recover_interrupted_replacement(target)
        digests = {file.path: _compute_sha256(_read_file_content(file)) for file in files}
        if has_zip_suffix(target):
            return _write_zip(target, files, digests)
        return _write_folder(target, files, digests)


def has_zip_suffix(target: Path) -> bool:
    """Return whether a path ends with ``.zip``."""
    return target.suffix.lower() == ".zip"


def _write_folder(target: Path, files: Sequence[PackFile], digests: Digests) -> bool:
    if _read_folder_digests(target) == digests:
        return False
    part, old = _build_sibling_path(target, "part"), _build_sibling_path(target, "old")
    _delete_unlisted_files(part, digests)
    _require_free_space(target, [file for file in files if not (part / file.path).exists()])
    try:
        for file in files:
            _write_folder_file(part / file.path, file, digests[file.path])
        write_file(part / MANIFEST, _format_manifest(digests))
    except StoreFailed:
        shutil.rmtree(part, ignore_errors=True)  # a full disk needs the space
        raise
    if target.exists():
        target.rename(old)
    part.rename(target)
    flush_folder(target.parent)
    shutil.rmtree(old, ignore_errors=True)
    return True


def _write_folder_file(path: Path, file: PackFile, digest: str) -> None:
    """Write one file of a folder, unless an interrupted run has already written it."""
    with suppress(OSError):
        if path.stat().st_size == file.size and _compute_sha256(path.read_bytes()) == digest:
            return
    make_folder(path.parent)
    write_file(path, _read_verified_content(file, digest))


def _write_zip(target: Path, files: Sequence[PackFile], digests: Digests) -> bool:
    if _read_zip_digests(target) == digests:
        return False
    part = _build_sibling_path(target, "part")
    delete_if_exists(part)
    _require_free_space(target, files)
    try:
        with zipfile.ZipFile(part, "w") as archive:
            inherit_group_rights(part)
            archive.writestr(zipfile.ZipInfo(MANIFEST, _EARLIEST), _format_manifest(digests))
            for file in files:
                member = zipfile.ZipInfo(file.path, _EARLIEST)
                member.external_attr = 0o644 << 16
                archive.writestr(member, _read_verified_content(file, digests[file.path]))
        flush_file(part)
        replace_file(part, target)
    except (OSError, StoreFailed):
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise
    flush_folder(target.parent)
    return True


def _build_sibling_path(target: Path, ending: str) -> Path:
    return target.with_name(f".{target.name}.{ending}")


def _recover_interrupted_replacement(target: Path) -> None:
    """Complete or revert a folder replacement that a killed run left unfinished."""
    old = _build_sibling_path(target, "old")
    if not old.exists():
        return
    if target.exists():
        shutil.rmtree(old)
    else:
        old.rename(target)


def _delete_unlisted_files(part: Path, digests: Digests) -> None:
    """Delete the files in an unfinished folder that do not belong to this pack."""
    for path in _iterate_files_below(part):
        if path.relative_to(part).as_posix() not in digests:
            path.unlink()


def _require_free_space(target: Path, files: Sequence[PackFile]) -> None:
    needed = sum(file.size for file in files)
    free = shutil.disk_usage(target.parent).free
    if free < needed:
        msg = f"The pack needs {needed / 1e6:,.0f} MB; the disk has {free / 1e6:,.0f} MB free."
        raise StoreFailed(msg, "Free some space, or write the pack to another disk: --output PATH.")


def _read_file_content(file: PackFile) -> bytes:
    with disk_errors(Path(file.path), "read"):
        return file.read()


def _read_verified_content(file: PackFile, digest: str) -> bytes:
    """Return the content of a file; raise an error if its checksum changed."""
    data = _read_file_content(file)
    if _compute_sha256(data) != digest:
        msg = f"{file.path} changed on the shelf while the pack was written."
        raise StoreFailed(msg, "Run the command again.")
    return data


def _compute_sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _format_manifest(digests: Digests) -> bytes:
    return json.dumps({"made_by": "Papershelf", "files": digests}, indent=1).encode()


def _parse_manifest(data: bytes) -> dict[str, str] | None:
    """Return the checksums that a manifest lists; None if it is not a manifest."""
    with suppress(ValueError):
        manifest = json.loads(data)
        if isinstance(manifest, dict) and isinstance(files := manifest.get("files"), dict):
            return files
    return None


def _read_folder_digests(target: Path) -> dict[str, str] | None:
    """Return the checksums of the folder at *target*; None if it is missing or empty.

    Raises
    ------
    BadRequest
        Something else is there, or the pack was changed after it was written.
    """
    if not target.exists():
        return None
    there = [path for path in _iterate_files_below(target) if path.name not in _SYSTEM_FILES]
    if target.is_dir() and not there:
        return None
    manifest = target / MANIFEST
    digests = _parse_manifest(manifest.read_bytes()) if manifest.is_file() else None
    if digests is None:
        raise _build_not_a_pack_error(target)
    for path in there:
        name = path.relative_to(target).as_posix()
        if name != MANIFEST and digests.get(name) != _compute_sha256(path.read_bytes()):
            msg = f"{path} was added or changed after the pack was written."
            raise BadRequest(msg, "Move it elsewhere, or write another pack with --output PATH.")
    is_whole = len(there) == len(digests) + 1
    return digests if is_whole else {}


def _read_zip_digests(target: Path) -> dict[str, str] | None:
    """Return the checksums of the ZIP at *target*; None if there is no file.

    Raises
    ------
    BadRequest
        It is not a pack, or was changed after it was written.
    """
    if not target.exists():
        return None
    with suppress(OSError, KeyError, zipfile.BadZipFile), zipfile.ZipFile(target) as archive:
        digests = _parse_manifest(archive.read(MANIFEST))
        if digests is not None:
            members = {name for name in archive.namelist() if name != MANIFEST}
            now = {name: _compute_sha256(archive.read(name)) for name in members}
            if now != digests:
                msg = f"{target} was changed after the pack was written."
                raise BadRequest(msg, "Move it elsewhere, or write another pack: --output PATH.")
            return digests
    raise _build_not_a_pack_error(target)


def _build_not_a_pack_error(target: Path) -> BadRequest:
    msg = f"{target} already exists and is not a pack."
    return BadRequest(msg, "Write the pack elsewhere: --output PATH.")


def _iterate_files_below(folder: Path) -> Iterator[Path]:
    for place, _, names in os.walk(folder):
        yield from (Path(place) / name for name in names)
