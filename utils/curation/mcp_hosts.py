"""Build the settings with which each MCP host starts this server.

A host on the desktop starts without the shell's ``PATH`` and without its variables. So the command
is absolute, and every setting that only the shell knows stands beside it; what the settings files
say the server reads itself. Keys are named, never shown. `.mcp_host_files` writes the entries.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from ..settings import Settings, find_user_settings_file, get_uv_path, load_file_settings

NAME = "papershelf"
"""The server's name in a host's list."""
Server = dict[str, Any]
"""A server as most hosts spell it: ``command``, ``args`` and ``env``."""


@dataclass(frozen=True, slots=True, eq=False)
class McpHost:
    """A program that starts MCP servers, and the file where it keeps its list of them.

    ``shown`` says for people where the file is; ``files`` gives patterns of its path by
    ``sys.platform`` (under ``""`` for all other systems), best first, from the folders ``home``,
    ``config`` (of programs' settings), ``local`` (Windows' local data) and ``codex``; ``table`` is
    the member that holds the servers and ``entry`` spells one. Where the file lies in the home
    folder itself, ``sign`` is a path that is there only where the program is.
    """

    name: str
    shown: str
    table: str
    files: Mapping[str, tuple[str, ...]]
    entry: Callable[[Server], Server] = dict
    sign: str = ""


def _to_opencode_entry(server: Server) -> Server:
    command = [server["command"], *server["args"]]
    return {"type": "local", "command": command, "environment": server["env"]}


_DESKTOP = "Claude/claude_desktop_config.json"
HOSTS = (
    McpHost(
        "Claude Code",
        "~/.claude.json",
        "mcpServers",
        {"": ("{home}/.claude.json",)},
        sign="{home}/.claude",
    ),
    McpHost(
        "Claude Desktop",
        "claude_desktop_config.json",
        "mcpServers",
        {
            # From the Store it reads a folder of its package: the first two, newer ones first.
            "win32": (
                "{local}/Claude-Data/[Cc]laude*/claude_desktop_config.json",
                "{local}/Packages/Claude_*/LocalCache/Roaming/" + _DESKTOP,
                "{config}/" + _DESKTOP,
            ),
            "": ("{config}/" + _DESKTOP,),
        },
    ),
    McpHost("Cursor", "~/.cursor/mcp.json", "mcpServers", {"": ("{home}/.cursor/mcp.json",)}),
    McpHost(
        "Gemini CLI",
        "~/.gemini/settings.json",
        "mcpServers",
        {"": ("{home}/.gemini/settings.json",)},
    ),
    McpHost(
        "Windsurf",
        "~/.codeium/windsurf/mcp_config.json",
        "mcpServers",
        {"": ("{home}/.codeium/windsurf/mcp_config.json",)},
    ),
    McpHost(
        "VS Code",
        "mcp.json of the user, or .vscode/mcp.json",
        "servers",
        {"": ("{config}/Code/User/mcp.json",)},
        lambda server: {"type": "stdio", **server},
    ),
    McpHost("Codex", "~/.codex/config.toml", "mcp_servers", {"": ("{codex}/config.toml",)}),
    McpHost(
        "opencode",
        "~/.config/opencode/opencode.json",
        "mcp",
        {"": ("{home}/.config/opencode/opencode.json",)},
        _to_opencode_entry,
    ),
    McpHost(
        "Zed",
        "settings.json",
        "context_servers",
        {"darwin": ("{home}/.config/zed/settings.json",), "win32": ("{config}/Zed/settings.json",)}
        | {"": ("{config}/zed/settings.json",)},
    ),
)
# How a server over stdio is reached is settled by who starts it.
_OF_HTTP = {
    *("mcp_transport_type", "mcp_http_host", "mcp_http_port", "mcp_allowed_origins"),
    *("mcp_auth_secret_key", "mcp_auth_jwks_uri", "mcp_auth_issuer", "mcp_auth_audience"),
}
_PROXIES = {"papers_proxy", "https_proxy", "http_proxy", "all_proxy"}
_PATHS = {
    *("ssl_cert_file", "ssl_cert_dir", "requests_ca_bundle", "curl_ca_bundle"),
    "embeddings_model",
    "reranker_model",
}


def build_server_command(root: Path) -> list[str]:
    """Return the absolute command of this server: of the uv that started it, else of its Python.

    Parameters
    ----------
    root : Path
        The folder of the checkout, or where the package is installed.
    """
    if not (root / "server.py").exists():
        return [sys.executable, "-m", "papershelf"]
    uv = get_uv_path()
    if uv and Path(sys.prefix) == root / ".venv":  # which is the one that uv would take
        return [uv, "run", "--directory", str(root), "server.py"]
    return [sys.executable, str(root / "server.py")]


def build_environment(settings: Settings) -> dict[str, str]:
    """Return the variables that a host must set: settings that are not in a settings file."""
    known = load_file_settings()
    return {
        variable: value
        for name, variable in _iterate_setting_variables()
        if getattr(settings, name) != getattr(known, name)
        and (value := _format_setting_value(name, getattr(settings, name)))
    }


def list_secret_variables(settings: Settings) -> list[str]:
    """Return the variables with secrets that the server would not read from files."""
    known = load_file_settings()
    return [
        variable
        for name, variable in _iterate_setting_variables()
        if (value := getattr(settings, name)) != getattr(known, name)
        and value not in (None, "")
        and not _format_setting_value(name, value)
    ]


def build_host_settings(
    settings: Settings, command: Sequence[str], *, windows: bool = os.name == "nt"
) -> dict[str, str]:
    """Return the settings to paste, by host; secrets are left out.

    Parameters
    ----------
    command : sequence of str
        How the server is started (`build_server_command`).
    windows : bool
        Whether the shell that the line for Claude Code is pasted into is one of Windows.
    """
    server = build_server_entry(settings, command)
    if not settings.contact:
        server["env"] = {"PUBMED_EMAIL": "YOUR ADDRESS"} | server["env"]
    return {
        f"{host.name} ({host.shown})" if host.sign == "" else host.name: _render_host_settings(
            host, server, windows=windows
        )
        for host in HOSTS
    }


def build_server_entry(settings: Settings, command: Sequence[str]) -> Server:
    """Return this server's entry for a host's file; keys are never included.

    Parameters
    ----------
    command : sequence of str
        How the server is started (`build_server_command`).
    """
    words = [*command, *_build_transport_arguments(settings)]
    return {"command": words[0], "args": words[1:], "env": build_environment(settings)}


def _render_host_settings(host: McpHost, server: Server, *, windows: bool) -> str:
    """Return the text to paste for *host*: a part of its settings file, or a shell command."""
    if host.name == "Claude Code":
        words = [server["command"], *server["args"]]
        variables = [
            word for name, value in server["env"].items() for word in ("--env", f"{name}={value}")
        ]
        line = ["claude", "mcp", "add", NAME, "--scope", "user", *variables, "--", *words]
        return subprocess.list2cmdline(line) if windows else shlex.join(line)
    if host.name == "Codex":
        return render_toml_table(server)
    return json.dumps({host.table: {NAME: host.entry(server)}}, indent=2, ensure_ascii=False)


def describe_missing_keys(settings: Settings, root: Path) -> str:
    """Return a sentence on the secrets that were left out; empty if none was."""
    if not (names := list_secret_variables(settings)):
        return ""
    told = (
        f"Secret, so not printed: {', '.join(names)}. Assistants do not see your shell's variables:"
    )
    file = root / ".env" if (root / "server.py").exists() else find_user_settings_file()
    if file is None:
        return f"{told} write each next to the other settings there, by name and value."
    return f"{told} write NAME=value into {file}, which the server reads itself."


def _iterate_setting_variables() -> Iterator[tuple[str, str]]:
    """Yield each setting that concerns a server over stdio, with its variable."""
    for name, field in Settings.model_fields.items():
        if name not in _OF_HTTP:
            choices: Sequence[Any] = getattr(field.validation_alias, "choices", [name.upper()])
            yield name, str(choices[0])


def _format_setting_value(name: str, value: Any) -> str:
    """Return a setting's value as text; empty for a secret or possible secret."""
    if isinstance(value, SecretStr):
        shown = value.get_secret_value() if name in _PROXIES else ""
    elif isinstance(value, bool):
        shown = str(value).lower()
    elif isinstance(value, tuple):
        shown = ",".join(value)
    else:
        shown = _make_path_absolute(name, "" if value is None else str(value))
    # An address may hold a password, where it is the address of a site; an e-mail address not.
    return "" if "@" in shown and "//" in shown else shown


def _make_path_absolute(name: str, value: str) -> str:
    """Make a relative path absolute, so that it works from every folder."""
    here = Path(value).expanduser()
    return str(here.absolute()) if value and name in _PATHS and here.exists() else value


def _build_transport_arguments(settings: Settings) -> list[str]:
    return [] if settings.mcp_transport_type == "stdio" else ["--transport", "stdio"]


def render_toml_table(server: Server) -> str:
    """Return the server as a table of TOML, where strings and lists of them are spelled as in JSON.

    All but one character: TOML wants DEL escaped, and takes no half of a surrogate pair for one.
    """

    def to_toml_value(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

    lines = [f"{key} = {to_toml_value(server[key])}" for key in ("command", "args")]
    env = [f"{name} = {to_toml_value(value)}" for name, value in server["env"].items()]
    parts = [f"[mcp_servers.{NAME}]", *lines, "", f"[mcp_servers.{NAME}.env]", *env]
    return "\n".join(parts)
