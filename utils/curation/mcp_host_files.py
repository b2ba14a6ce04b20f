"""Write this server into the settings of MCP hosts, and remove it again.

Each host keeps a list of servers in a file of its own (`HOSTS`). A change is planned first
(`plan_host_change`), so that it can be shown, and written after (`write_changes`): what stood in
the file is copied beside it, and a journal in the user's configuration folder remembers the change
for `undo_changes`. A file that holds comments is refused: they would be lost.

Where the files are, as of November 2026: the documentation of each host; for Claude Desktop from
the Store of Windows, whose file lies in a folder of the package,
https://github.com/anthropics/claude-code/issues/26073.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..command_line import command_line
from ..errors import BadRequest
from ..settings import find_program_folders
from ..system.safe_files import disk_errors, make_folder, replace_file
from .mcp_hosts import HOSTS, NAME, McpHost, Server, render_toml_table

_BACKUP = ".before-papershelf"
_INDENT = re.compile(r"^\{\r?\n([ \t]+)\"")
_TABLE = re.compile(
    rf"^\[mcp_servers\.{NAME}(?:\.[^\]\n]*)?\][^\n]*\n?(?:(?!\[)[^\n]*\n?)*", re.MULTILINE
)
"""Our tables of a TOML file, each up to the next header."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A planned change of a file; a new file has no ``before``."""

    about: str
    file: Path
    before: str | None
    after: str

    @property
    def difference(self) -> str:
        """The change as a unified diff; empty where nothing changes."""
        old, new = (self.before or "").splitlines(), self.after.splitlines()
        return "\n".join(difflib.unified_diff(old, new, str(self.file), "new", lineterm="", n=0))


def find_host_files(
    folders: Mapping[str, str] | None = None, platform: str = sys.platform
) -> dict[McpHost, Path]:
    """Return the MCP hosts on this machine, each with the file that lists its servers.

    Parameters
    ----------
    folders : mapping, optional
        Where the patterns of `HOSTS` start; by default `find_program_folders` of this process.
    platform : str
        The system, as ``sys.platform`` spells it.
    """
    bases = {name: Path(at) for name, at in (folders or find_program_folders(platform)).items()}
    found: dict[McpHost, Path] = {}
    for host in HOSTS:
        if host.sign and not _expand_pattern(host.sign, bases):
            continue
        for pattern in host.files.get(platform, host.files[""]):
            parent, _, name = pattern.rpartition("/")
            if parents := _expand_pattern(parent, bases):
                files = [folder / name for folder in parents]
                found[host] = next((file for file in files if file.exists()), files[0])
                break
    return found


def _expand_pattern(pattern: str, bases: Mapping[str, Path]) -> list[Path]:
    """Return the existing paths that match a pattern such as ``{home}/.claude``."""
    base, _, rest = pattern.partition("/")
    folder = bases[base.strip("{}")]
    return sorted(folder.glob(rest)) if rest else [folder] * folder.exists()


def plan_host_change(host: McpHost, file: Path, server: Server | None) -> FileChange:
    """Return the planned change of a host's file: *server* added to its list, or removed.

    Raises
    ------
    BadRequest
        The file cannot be changed without losing something: it holds comments, or has another
        form than the host's documentation gives it.
    """
    try:
        before = read_text_if_exists(file)
        text = before or ""
        after = (
            _edit_toml_settings(text, server)
            if file.suffix == ".toml"
            else _edit_json_settings(host, text, server)
        )
    except (ValueError, TypeError, AttributeError):
        msg = f"{file} contains comments, which would be lost, or has an unusual form."
        raise BadRequest(
            msg, f"Edit it by hand, as shown by: {command_line('setup doctor --hosts')}"
        ) from None
    return FileChange(host.name, file, before, after)


def _edit_json_settings(host: McpHost, text: str, server: Server | None) -> str:
    whole = json.loads(text or "{}")
    servers = whole.setdefault(host.table, {})
    if server is None:
        servers.pop(NAME, None)
    else:
        servers.update({NAME: host.entry(server)})
    indent = found[1] if (found := _INDENT.match(text)) else "  "
    return json.dumps(whole, indent=indent, ensure_ascii=False) + "\n"


def _edit_toml_settings(text: str, server: Server | None) -> str:
    rest = _TABLE.sub("", text)
    if NAME in tomllib.loads(rest).get("mcp_servers", {}):
        raise ValueError  # spelled as an inline table
    if server is None:
        return rest.rstrip("\n") + "\n"
    return "\n\n".join(filter(None, (rest.rstrip("\n"), render_toml_table(server)))) + "\n"


def write_changes(changes: Iterable[FileChange], journal: Path) -> None:
    """Back up and write files, and record the changes in a journal for `undo_changes`.

    Parameters
    ----------
    journal : Path
        The file of `undo_changes`.

    Raises
    ------
    StoreFailed
        The disk refuses; files written before stay, and can be undone.
    """
    undoable = {entry["file"]: entry for entry in _read_journal(journal)}
    for change in changes:
        file = change.file.resolve()  # dotfiles are often links into another folder
        _require_unchanged(change)
        backup = file.with_name(file.name + _BACKUP)
        make_folder(file.parent)
        known = undoable.get(str(file))
        if not known or known["written"] != _hash_text(change.before):
            with disk_errors(backup):
                if change.before is None:
                    backup.unlink(missing_ok=True)
                else:
                    shutil.copy2(file, backup)
        _replace_file(file, change.after)
        undoable[str(file)] = {
            "about": change.about,
            "file": str(file),
            "written": _hash_text(change.after),
        }
        _write_journal(journal, list(undoable.values()))


def _require_unchanged(change: FileChange) -> None:
    """Refuse to overwrite what another program wrote since the change was planned."""
    now = read_text_if_exists(change.file)
    if now != change.before:
        msg = f"{change.file} was changed by another program in the meantime."
        raise BadRequest(msg, "Close that program, and type the same command again.")


def undo_changes(journal: Path) -> list[str]:
    """Undo what `write_changes` did, and return a sentence on each file.

    A file that nobody changed since becomes what it was. From one that was changed since, only our
    entry is taken out.
    """
    told, kept = [], []
    for entry in _read_journal(journal):
        file = Path(entry["file"])
        sentence = _undo_change(file, entry)
        told.append(sentence or f"{file} has changed since and was left as it is.")
        if not sentence:
            kept.append(entry)
    _write_journal(journal, kept)
    return told


def _undo_change(file: Path, entry: Mapping[str, str]) -> str:
    """Undo one change; return a sentence about it, or "" if nothing could be undone."""
    backup = file.with_name(file.name + _BACKUP)
    if not file.exists():
        return f"{file} no longer exists."
    if _hash_text(file.read_bytes().decode("utf-8", "replace")) == entry["written"]:
        with disk_errors(file):
            if backup.exists():
                replace_file(backup, file)
                return f"{file} was restored to its earlier state."
            file.unlink()
            return f"{file} was created by setup and has been deleted."
    host = next((host for host in HOSTS if host.name == entry["about"]), None)
    try:
        change = host and plan_host_change(host, file, None)
    except BadRequest:
        return ""
    if not change:
        return ""
    _replace_file(file, change.after)
    return f"{file} has changed since; only Papershelf's entry was removed."


def read_text_if_exists(file: Path) -> str | None:
    """Return a file's text; None if the file does not exist."""
    with disk_errors(file, "read"):
        return file.read_bytes().decode("utf-8-sig") if file.exists() else None


def _replace_file(file: Path, text: str) -> None:
    """Replace a file atomically; a new file is readable for its owner only, as it may hold keys."""
    with disk_errors(file):
        mode = file.stat().st_mode & 0o777 if file.exists() else 0o600
        number, part = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
        try:
            with os.fdopen(number, "wb") as open_part:
                open_part.write(text.encode())
                open_part.flush()
                os.fsync(open_part.fileno())
            Path(part).chmod(mode)
            replace_file(Path(part), file)
        except BaseException:
            Path(part).unlink(missing_ok=True)
            raise


def _read_journal(journal: Path) -> list[dict[str, str]]:
    """Return the changes that can be undone; none where the journal cannot be read."""
    try:
        entries = json.loads(journal.read_text(encoding="utf-8"))
        return [dict(entry) for entry in entries if {"file", "written", "about"} <= set(entry)]
    except (OSError, ValueError, TypeError):
        return []


def _write_journal(journal: Path, entries: Sequence[Mapping[str, Any]]) -> None:
    make_folder(journal.parent)
    _replace_file(journal, json.dumps(list(entries), indent=1))


def _hash_text(text: str | None) -> str:
    return "" if text is None else hashlib.sha256(text.encode()).hexdigest()
