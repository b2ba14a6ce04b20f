"""Skills over MCP: how a review, a survey of a gene, a check of citations is done with these tools.

Each folder here is one skill, its ``SKILL.md`` for an assistant to read when the work comes up
(extension ``io.modelcontextprotocol/skills`` of 2026-07-28, with a digest for each file;
https://github.com/modelcontextprotocol/ext-skills). Hosts of older protocols read the same files
as resources ``skill://NAME/SKILL.md``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastmcp import FastMCP

FOLDER = Path(__file__).parent


def add_to(server: FastMCP[Any]) -> None:
    """Offer every skill of this folder."""
    from .listing import Skills

    server.add_provider(Skills(FOLDER))
