"""What to paste into the settings of each MCP host, so that it starts this very server.

A host on the desktop starts without the shell's ``PATH`` and without its variables. So the command
is absolute, and every setting that only the shell knows stands beside it; what ``.env`` says beside
``server.py`` the server reads itself. Keys are named, never shown.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from ..settings import Settings, load_file_settings, uv_path

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


def server_command(root: Path) -> list[str]:
    """The absolute command of this server: by the uv that started us, else by our own Python.

    Parameters
    ----------
    root : Path
        The folder of the checkout, or where the package is installed.
    """
    if not (root / "server.py").exists():
        return [sys.executable, "-m", "papershelf"]
    uv = uv_path()
    if uv and Path(sys.prefix) == root / ".venv":  # which is the one that uv would take
        return [uv, "run", "--directory", str(root), "server.py"]
    return [sys.executable, str(root / "server.py")]


def environment(settings: Settings) -> dict[str, str]:
    """What a host must hand over, by variable: all that is in force and not found without it."""
    known = load_file_settings()
    return {
        variable: value
        for name, variable in _variables()
        if getattr(settings, name) != getattr(known, name)
        and (value := _spelled(name, getattr(settings, name)))
    }


def unprinted(settings: Settings) -> list[str]:
    """The variables in force that hold secrets and that the server would not find by itself."""
    known = load_file_settings()
    return [
        variable
        for name, variable in _variables()
        if (value := getattr(settings, name)) != getattr(known, name)
        and value not in (None, "")
        and not _spelled(name, value)
    ]


def host_settings(
    settings: Settings, command: Sequence[str], *, windows: bool = os.name == "nt"
) -> dict[str, str]:
    """What to paste, by the host and where it goes; never a key.

    Parameters
    ----------
    command : sequence of str
        How the server is started (`server_command`).
    windows : bool
        Whether the shell that the line for Claude Code is pasted into is one of Windows.
    """
    words = [*command, *_stdio_only(settings)]
    missing = {} if settings.contact else {"PUBMED_EMAIL": "YOUR ADDRESS"}
    env = missing | environment(settings)
    server = {"command": words[0], "args": words[1:], "env": env}
    usual = _json({"mcpServers": {"papershelf": server}})
    variables = [word for name, value in env.items() for word in ("--env", f"{name}={value}")]
    line = ["claude", "mcp", "add", "papershelf", "--scope", "user", *variables, "--", *words]
    opencode = {"type": "local", "command": words, "environment": env}
    return {
        "Claude Code": subprocess.list2cmdline(line) if windows else shlex.join(line),
        "Claude Desktop (claude_desktop_config.json)": usual,
        "Cursor (~/.cursor/mcp.json)": usual,
        "Gemini CLI (~/.gemini/settings.json)": usual,
        "Windsurf (~/.codeium/windsurf/mcp_config.json)": usual,
        "VS Code (.vscode/mcp.json)": _json(
            {"servers": {"papershelf": {"type": "stdio", **server}}}
        ),
        "Codex (~/.codex/config.toml)": _toml(server),
        "opencode (~/.config/opencode/opencode.json)": _json({"mcp": {"papershelf": opencode}}),
        "Zed (settings.json)": _json({"context_servers": {"papershelf": server}}),
    }


def about_keys(settings: Settings, root: Path) -> str:
    """A sentence on the secrets that were not printed; empty where none is missing."""
    if not (names := unprinted(settings)):
        return ""
    told = f"Secret, so not printed: {', '.join(names)}. Hosts do not know what your shell knows:"
    if (root / "server.py").exists():
        return f"{told} write NAME=value into {root / '.env'}, which the server reads itself."
    return f"{told} write each beside the other settings there, by name and value."


def _variables() -> Iterator[tuple[str, str]]:
    """The settings that concern a server over stdio, each with the variable that sets it."""
    for name, field in Settings.model_fields.items():
        if name not in _OF_HTTP:
            choices: Sequence[Any] = getattr(field.validation_alias, "choices", [name.upper()])
            yield name, str(choices[0])


def _spelled(name: str, value: Any) -> str:
    """A value as its variable spells it; empty where it is, or may hold, a secret."""
    if isinstance(value, SecretStr):
        shown = value.get_secret_value() if name in _PROXIES else ""
    elif isinstance(value, bool):
        shown = str(value).lower()
    elif isinstance(value, tuple):
        shown = ",".join(value)
    else:
        shown = _from_anywhere(name, "" if value is None else str(value))
    # An address may hold a password, where it is the address of a site; an e-mail address not.
    return "" if "@" in shown and "//" in shown else shown


def _from_anywhere(name: str, value: str) -> str:
    """A path that was meant from the current folder, as it is found from every other."""
    here = Path(value).expanduser()
    return str(here.absolute()) if value and name in _PATHS and here.exists() else value


def _stdio_only(settings: Settings) -> list[str]:
    return [] if settings.mcp_transport_type == "stdio" else ["--transport", "stdio"]


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _toml(server: dict[str, Any]) -> str:
    """The server as a table of TOML, where strings and lists of them are spelled as in JSON.

    All but one character: TOML wants DEL escaped, and takes no half of a surrogate pair for one.
    """

    def spelled(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

    lines = [f"{key} = {spelled(server[key])}" for key in ("command", "args")]
    env = [f"{name} = {spelled(value)}" for name, value in server["env"].items()]
    parts = ["[mcp_servers.papershelf]", *lines, "", "[mcp_servers.papershelf.env]", *env]
    return "\n".join(parts)
