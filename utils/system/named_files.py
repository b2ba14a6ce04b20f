"""Build errors for a file that the user names and that cannot be read or written."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import BadRequest
from .nearest import find_nearest_name


def build_unreadable_error(path: Path, error: OSError | ValueError | None = None) -> BadRequest:
    """Return the error for a file that the user named: missing, a folder, or not readable."""
    name = str(path).replace("\0", "")
    details = {"file": name}
    if "\0" in str(path):
        return BadRequest(f"{name} is not a valid path.", "Check the path.", **details)
    try:
        if path.is_dir():
            return BadRequest(f"{name} is a folder.", "Name a file in it.", **details)
        is_there = path.exists()
    except (OSError, ValueError):  # no right to look into its folder; a name with a zero byte
        is_there = False
    if isinstance(error, PermissionError):
        hint = "Change its permissions, or copy it to a folder of your own."
        return BadRequest(f"{name} cannot be read: you lack the permission.", hint, **details)
    if is_there:
        why = getattr(error, "strerror", None) or "it is not an ordinary file"
        hint = "Copy it to another folder, and name the copy."
        return BadRequest(f"{name} cannot be read: {why}.", hint, **details)
    return BadRequest(f"There is no file {name}.", _suggest_existing_file(path), **details)


def require_existing_file(path: Path) -> None:
    """Raise an error if a file that the user named is missing, or not a file.

    Raises
    ------
    BadRequest
        The file is missing, or not readable.
    """
    try:
        if path.is_file():
            return
    except (OSError, ValueError) as error:
        raise build_unreadable_error(path, error) from None
    raise build_unreadable_error(path)


def require_writable_path(path: Path) -> None:
    """Raise an error if an output path is a folder, or its folder is missing or not writable.

    Raises
    ------
    BadRequest
        The file cannot be written.
    """
    if os.path.isdir(path):  # noqa: PTH112 - False where its folder may not be looked into
        raise BadRequest(f"{path} is a folder.", "Name a file in it.", file=str(path))
    folder = path.absolute().parent
    if not os.path.isdir(folder):  # noqa: PTH112
        msg = f"{path} cannot be written: there is no folder {folder}."
        raise BadRequest(msg, "Make the folder first, or name another file.", file=str(path))
    effective = os.access in os.supports_effective_ids
    if not os.access(folder, os.W_OK | os.X_OK, effective_ids=effective):
        msg = f"{path} cannot be written: you may not write into {folder}."
        raise BadRequest(msg, "Name a file in a folder of your own.", file=str(path))


def _suggest_existing_file(path: Path) -> str:
    """Return a hint: the file with the closest name, or the folder that was searched."""
    folder = path.absolute().parent
    try:
        names = [file.name for file in folder.iterdir()]
    except (OSError, ValueError):
        return f"Check the path: the folder {folder} is missing or cannot be read."
    if closest := find_nearest_name(path.name, names):
        return f"Did you mean {path.with_name(closest)}?"
    return f"Check its name; it was looked for in {folder}."
