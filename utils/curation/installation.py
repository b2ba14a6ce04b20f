"""The settings file of an installation, and the command that updates the installation."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from pathlib import Path

from ..command_line import IN_CHECKOUT, ROOT, command_line
from ..errors import BadRequest, NotConfigured
from ..settings import (
    find_user_settings_file,
    get_uv_path,
    load_settings,
    map_variables_to_fields,
)
from .mcp_host_files import FileChange, read_text_if_exists

SETTINGS = "settings"
"""What a change of the settings file is called in the journal."""


def get_settings_file() -> Path:
    """Return the path of the user's settings file.

    Raises
    ------
    NotConfigured
        This user has no home folder.
    """
    if file := find_user_settings_file():
        return file
    msg = "This user has no home folder for a settings file."
    raise NotConfigured(msg, "Set HOME, or give settings as environment variables.")


def get_journal_file() -> Path:
    """Return the path of the journal that `undo_changes` reads."""
    return get_settings_file().with_name("setup.json")


def plan_settings_change(values: Mapping[str, str], file: Path) -> FileChange:
    """Return the planned change of the settings file: *values* set, other lines unchanged.

    Parameters
    ----------
    values : mapping
        Variables and their values; an empty value takes the variable out.

    Raises
    ------
    BadRequest
        There is no such setting, or its value cannot be used.
    """
    if strange := set(values) - set(map_variables_to_fields()):
        msg = f"There is no setting {', '.join(sorted(strange))}."
        raise BadRequest(msg, f"To list all settings: {command_line('setup settings')}")
    for name, value in values.items():
        if any(sign in value for sign in "\r\n\0"):
            raise BadRequest(f"The value of {name} is more than one line.", "Give it as one line.")
    before = read_text_if_exists(file)
    return FileChange(SETTINGS, file, before, _replace_setting_lines(before or "", values))


def require_valid_settings(values: Mapping[str, str]) -> None:
    """Raise `BadRequest` for an unknown setting, or a value that its setting cannot have."""
    plan_settings_change(values, get_settings_file())
    fields = map_variables_to_fields()
    given = {fields[name]: value for name, value in values.items() if value}
    settings = load_settings(**given)
    if "pubmed_email" in given and (fault := settings.email_problem):
        msg = f"{given['pubmed_email']} {fault}."
        raise BadRequest(msg, "Give an address that NCBI can reach you at.")


def _replace_setting_lines(text: str, values: Mapping[str, str]) -> str:
    """Return the text of a settings file with *values* in place of those it has."""
    from dotenv.parser import parse_stream

    left = {name: value for name, value in values.items() if value}
    lines: list[str] = []
    for binding in parse_stream(io.StringIO(text)):
        if binding.key not in values:
            lines.append(binding.original.string)
        elif binding.key in left:
            lines.append(_format_setting_line(binding.key, left.pop(binding.key)))
    if lines and not lines[-1].endswith("\n"):
        lines.append("\n")
    return "".join([*lines, *(_format_setting_line(name, value) for name, value in left.items())])


def _format_setting_line(name: str, value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"{name}='{escaped}'\n"


def describe_update(prefix: str = sys.prefix) -> str:
    """Return the command that brings this installation up to date.

    Parameters
    ----------
    prefix : str
        The folder of the Python environment that we run in.
    """
    parts = Path(prefix).parts
    if IN_CHECKOUT:
        return f"git -C {ROOT} pull"
    if prefix == "/opt/papershelf":
        return "docker compose build --pull && docker compose up -d"
    if "pipx" in parts:
        return "pipx upgrade papershelf"
    if "tools" in parts and "uv" in parts:
        return "uv tool upgrade papershelf"
    if any(part.startswith("archive-v") for part in parts):
        return "uvx papershelf@latest"
    if get_uv_path():
        return "uv pip install --upgrade papershelf"
    return f"{sys.executable} -m pip install --upgrade papershelf"
