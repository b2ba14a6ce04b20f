"""The words that run Papershelf on this machine, for hints, pages and help texts."""

from __future__ import annotations

from .process import IN_CHECKOUT

PROGRAM = "uv run server.py" if IN_CHECKOUT else "papershelf"


def command_line(words: str = "") -> str:
    """Return the command that a person types for *words*: ``shelf audit --fix``.

    Over MCP, `utils.mcp.advice` puts the tool in its place.
    """
    return f"{PROGRAM} {words}".rstrip()
