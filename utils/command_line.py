"""Spell the command that runs Papershelf on this machine, for hints, pages and help texts.

`command_line` is the only place that spells them. Over MCP, `utils.mcp.hints` puts the tool that
does the same in their place.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
IN_CHECKOUT = (ROOT / "server.py").exists()
PROGRAM = "uv run server.py" if IN_CHECKOUT else "papershelf"


def command_line(words: str = "") -> str:
    """Return what a person types to run a command, such as ``shelf audit --fix``."""
    return f"{PROGRAM} {words}".rstrip()


def install_command(extra: str) -> str:
    """Return what a person types to install an extra; in a checkout other extras stay installed."""
    return f'uv sync --inexact --extra {extra} (or: pip install "papershelf[{extra}]")'
